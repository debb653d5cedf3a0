//! The life of an acknowledgement at a sender, in the order of the standards; and the repair of
//! losses, which acknowledgements drive.

use forebay_network::{Ack, Observation, Packet, SackBlocks, Signal, Window};
use forebay_units::{Span, Time};

use super::connection::Phase;
use super::loss::{Detection, Finding};
use super::reduction::{InRecovery, Prr, Reduction};
use super::rto::Rto;
use super::segments::{Cause, Segments};
use super::{Sender, float};
use crate::element::tcp::Pacing;

/// Meaning of an acknowledgement by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It acknowledges new data.
    New,
    /// It acknowledges nothing new, while data is outstanding.
    Duplicate,
    /// It acknowledges nothing new, and nothing is outstanding.
    Late,
    /// It answers the SYN that opens the connection.
    Answer,
    /// A later one has arrived already, or it answers another SYN.
    Other,
}

/// An acknowledgement, as far as the stages have come with it.
pub(super) struct Acknowledgement {
    kind: Kind,
    /// The next segment expected.
    pub(super) number: u64,
    /// It has no SACK option.
    pub(super) bare: bool,
    /// Segments that SACK reports for the first time.
    pub(super) newly_sacked: u64,
    /// Segments that it reports as duplicates (RFC 2883).
    pub(super) duplicate: Option<(u64, u64)>,
    /// Bytes that it acknowledges cumulatively for the first time.
    acked: f64,
    /// Bytes outstanding when it arrived, and round-trip times that these are expected to bring.
    flight: f64,
    expected: u64,
    rtt: Option<Span>,
    /// It reports marks.
    ece: bool,
    finding: Finding,
}

impl Acknowledgement {
    /// Returns true if it acknowledges new data cumulatively.
    pub(super) fn advances(&self) -> bool {
        self.kind == Kind::New
    }
}

/// Duplicates that the first block of an acknowledgement of all below `number` reports (RFC 2883,
/// section 4): those below `number`, or within the second block.
fn duplicate(blocks: &[(u64, u64)], number: u64) -> Option<(u64, u64)> {
    let first = *blocks.first()?;
    let within = |second: &(u64, u64)| second.0 <= first.0 && first.1 <= second.1;
    (first.0 < number || blocks.get(1).is_some_and(within)).then_some(first)
}

impl Sender<'_, '_> {
    /// An acknowledgement arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, packet: &Packet) {
        let before = self.observed_window();
        let mut ack = self.read(packet);
        self.mark_arrived(packet, &mut ack);
        if matches!(ack.kind, Kind::New | Kind::Duplicate) {
            self.measure(packet, &mut ack);
            self.detect_losses(&mut ack);
            self.sample(packet, &ack);
            self.adapt_window(&mut ack);
            self.send_allowed(Some(&ack));
        } else if ack.kind == Kind::Answer {
            self.opened(packet);
        }
        self.close(&mut ack);
        self.observe_window(before);
    }

    /// Stage 1: read the meaning of the number.
    #[inline]
    fn read(&self, packet: &Packet) -> Acknowledgement {
        let (una, max) = (self.tcb.una, self.tcb.max);
        let kind = if packet.number > una {
            Kind::New
        } else if packet.number < una {
            Kind::Other
        } else if max == una {
            let opening = matches!(self.tcb.phase, Phase::Opening { .. });
            if opening { Kind::Answer } else { Kind::Late }
        } else {
            let answers = self.settings.handshake && !self.settings.accurate && packet.is_last();
            if answers { Kind::Other } else { Kind::Duplicate }
        };
        Acknowledgement {
            kind,
            number: packet.number,
            bare: packet.sack_slot().is_none(),
            newly_sacked: 0,
            duplicate: None,
            acked: 0.0,
            flight: 0.0,
            expected: 0,
            rtt: None,
            ece: false,
            finding: Finding::default(),
        }
    }

    /// Stage 2: mark what has arrived, by SACK and cumulatively, and read ECN-Echo or what the
    /// counters of marks have moved by.
    #[inline]
    fn mark_arrived(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        if !ack.bare {
            self.mark_sacked(packet, ack);
        }
        if ack.advances() {
            let number = packet.number.min(self.tcb.max);
            ack.flight = self.bytes(self.tcb.una, self.tcb.nxt) + self.waiting();
            ack.acked = self.bytes(self.tcb.una, number);
            ack.expected = (self.tcb.max - self.tcb.una).div_ceil(2);
            self.tcb.una = number;
            self.tcb.nxt = self.tcb.nxt.max(number);
            self.tcb.limited = 0;
            if self.tcb.segments.is_some() {
                self.mark_acknowledged(packet);
            }
            if number > self.tcb.short {
                self.source_mut().forget_below(number);
                self.tcb.short = self.source().first_short();
            }
        }
        // Where ECN was not agreed on, the flag means nothing (RFC 3168, section 6.1.1).
        ack.ece = self.settings.ecn && self.reports_marks(packet, ack.kind);
    }

    /// Update() of RFC 6675, and the counters of marks beside the blocks.
    #[cold]
    fn mark_sacked(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        let blocks = self.cx.sack_blocks().take(packet.sack_slot());
        if packet.number >= self.tcb.una
            && let Some(feedback) = &mut self.tcb.feedback
        {
            feedback.option = blocks.ecn();
        }
        if blocks.as_slice().is_empty() {
            return;
        }
        ack.duplicate = duplicate(blocks.as_slice(), packet.number);
        self.keep_record(&blocks, packet.number);
        self.tcb.begin_sample();
        let (now, echo) = (self.cx.now(), self.settings.echo_of(packet));
        let loss = &mut self.tcb.loss;
        let Some(segments) = &mut self.tcb.segments else { return };
        ack.newly_sacked = segments.sack(&blocks, packet.number, now, |number, segment| {
            loss.on_arrival(number, segment, echo, now);
        });
    }

    #[cold]
    fn mark_acknowledged(&mut self, packet: &Packet) {
        self.tcb.begin_sample();
        let (now, una, echo) = (self.cx.now(), self.tcb.una, self.settings.echo_of(packet));
        let loss = &mut self.tcb.loss;
        let Some(segments) = &mut self.tcb.segments else { return };
        segments.advance(una, now, |number, segment| loss.on_arrival(number, segment, echo, now));
    }

    /// Begin a record of segments, if SACK `blocks` beside an acknowledgement of all below `number`
    /// report some and there is none.
    fn keep_record(&mut self, blocks: &SackBlocks, number: u64) {
        let (una, nxt, max) = (self.tcb.una, self.tcb.nxt, self.tcb.max);
        let known = number.max(una);
        let news = |&(first, end): &(u64, u64)| first.max(known) < end.min(max);
        if self.tcb.segments.is_some()
            || self.settings.detection != Detection::Sack
            || !blocks.as_slice().iter().any(news)
        {
            return;
        }
        let fresh = || Box::new(Segments::new(una, false, false));
        let mut segments = self.group.spare.pop().unwrap_or_else(fresh);
        segments.begin_at(una);
        for number in una..max {
            let bytes = u16::try_from(self.payload(number)).unwrap_or(u16::MAX);
            segments.sent(number, bytes, Cause::New, Time::ZERO);
            if number >= nxt {
                // A timeout has found it lost.
                segments.lose(number);
            }
        }
        self.tcb.segments = Some(segments);
    }

    /// Returns true if an acknowledgement reports marks. Counters are read of each that may count.
    #[inline]
    fn reports_marks(&mut self, packet: &Packet, kind: Kind) -> bool {
        if !self.settings.accurate {
            return packet.ece();
        }
        if !matches!(kind, Kind::New | Kind::Duplicate) {
            return false;
        }
        let sacked = self.tcb.segments.as_ref().map_or(0, |segments| segments.sacked());
        let echoed = if self.settings.timestamps { packet.timestamp_echo() } else { Time::ZERO };
        let (delivered, mss) = (self.tcb.una + sacked, self.settings.mss);
        let feedback = self.tcb.feedback.as_mut();
        feedback.is_some_and(|it| it.decode(packet.ace(), delivered, echoed, mss))
    }

    /// Stage 3: measure a round-trip time (RFC 6298, section 3), from the timestamp or from the
    /// timed segment.
    #[inline]
    fn measure(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        if !ack.advances() {
            return;
        }
        let now = self.cx.now();
        let (from, expected) = if self.settings.timestamps {
            (packet.timestamp_echo(), ack.expected)
        } else if self.tcb.una > self.tcb.timed {
            self.tcb.timed = u64::MAX;
            (self.tcb.timed_at, 1)
        } else {
            return;
        };
        let measured = Rto::measure(&self.settings.rules, from, now);
        self.tcb.rto.sample(measured, expected, &self.settings.rules);
        let rtt = now.since(from);
        if self.settings.signals_srtt {
            self.tcb.smooth_signalled(rtt, expected, self.settings);
        }
        ack.rtt = Some(rtt);
    }

    /// Stage 4: detect losses.
    #[inline(always)]
    fn detect_losses(&mut self, ack: &mut Acknowledgement) {
        let state = self.circumstances();
        let segments = self.tcb.segments.as_deref_mut();
        ack.finding = self.tcb.loss.on_ack(segments, ack, &state);
        self.plan_loss_timer();
        if ack.finding.repaired && self.tcb.phase == Phase::Open {
            self.reduce_window(Signal::Loss);
        }
    }

    #[cold]
    fn detect_late(&mut self, ack: &mut Acknowledgement) {
        self.detect_losses(ack);
    }

    /// Stage 5: have congestion control learn from it, if it takes samples, and of the losses.
    #[inline]
    fn sample(&mut self, packet: &Packet, ack: &Acknowledgement) {
        if self.settings.samples {
            self.tell_law(packet, ack);
        }
    }

    #[cold]
    fn tell_law(&mut self, packet: &Packet, ack: &Acknowledgement) {
        self.tcb.begin_sample();
        let (now, una, acked) = (self.cx.now(), self.tcb.una, ack.acked as u64);
        let sample = self.tcb.segments.as_mut().and_then(|segments| segments.sample(now));
        self.tcb.notify_losses(now);
        let Some(mut sample) = sample else { return };
        let paced = self.settings.pacing != Pacing::None;
        (sample.acked, sample.ece) = (acked, ack.ece);
        sample.one_way = packet.created.since(packet.timestamp_echo());
        sample.srtt = self.tcb.rto.srtt();
        sample.recovering = self.tcb.phase != Phase::Open && una < self.tcb.recover;
        sample.paced = paced || self.tcb.control.pacing_rate().is_some();
        sample.selective = self.settings.detection != Detection::Dupack;
        sample.newly_marked = match &self.tcb.feedback {
            Some(feedback) => feedback.newly_marked(),
            None if ack.ece => acked,
            None => 0,
        };
        (sample.una, sample.max) = (una, self.tcb.max);
        self.tcb.control.sampled(&mut self.tcb.window, &sample);
    }

    /// Stage 6: reduce the window or let it grow, and begin or end the repair of losses.
    #[inline]
    fn adapt_window(&mut self, ack: &mut Acknowledgement) {
        if self.tcb.phase == Phase::Recovery {
            self.follow_recovery(ack);
        } else {
            if ack.advances() {
                self.grow(ack);
            }
            if ack.ece {
                self.on_ecn_echo();
            }
        }
        if ack.finding.lost && self.tcb.phase != Phase::Recovery {
            self.begin_recovery(ack.newly_sacked);
        }
    }

    /// Let the window grow by an acknowledgement of new data, which ends the repair after a timeout
    /// if it reaches the recovery point.
    #[inline]
    fn grow(&mut self, ack: &Acknowledgement) {
        self.restart_timer();
        let window = self.tcb.window;
        // At most one window, as congestion avoidance adds at most one segment per round trip (RFC
        // 5681, section 3.1); one segment without byte counting.
        let most = if self.settings.byte_counting { window.cwnd } else { window.smss };
        let fact = Ack {
            now: self.cx.now(),
            acked: ack.acked.min(most),
            slow_start_limit: self.settings.slow_start_limit,
            flight: ack.flight,
            rtt: ack.rtt,
            srtt: self.tcb.rto.srtt(),
            ece: ack.ece,
        };
        self.tcb.control.acknowledged(&mut self.tcb.window, &fact);
        if self.tcb.phase == Phase::Loss && self.tcb.una >= self.tcb.recover {
            self.tcb.phase = Phase::Open;
        }
    }

    /// ECN-Echo (RFC 3168, section 6.1.2): reduce the window at most once per window of data.
    fn on_ecn_echo(&mut self) {
        let again = self.tcb.una <= self.tcb.reduced && self.tcb.reduced > 0;
        if !self.settings.ecn || again && !self.settings.l4s {
            return;
        }
        let alone = self.tcb.window.cwnd <= self.tcb.window.smss && !self.settings.l4s;
        self.reduce_window(Signal::Ecn);
        if alone {
            // The window cannot shrink below one segment: the next segment waits for the timer
            // instead.
            self.tcb.held = true;
            self.set_timer(self.cx.now() + self.tcb.rto.timeout());
        }
    }

    /// Release what is not needed any more, and set the timer of loss detection.
    #[inline]
    fn close(&mut self, ack: &mut Acknowledgement) {
        match ack.kind {
            Kind::New => {
                self.release_record();
                if self.tcb.finished {
                    self.end_if_done();
                }
            }
            // It can report duplicates of what is all acknowledged.
            Kind::Late => self.detect_late(ack),
            Kind::Duplicate | Kind::Answer | Kind::Other => {}
        }
        self.settle();
    }

    /// Release a record of segments of which SACK reports none, for reuse.
    #[inline]
    pub(super) fn release_record(&mut self) {
        if self.tcb.phase != Phase::Recovery
            && !self.settings.records
            && let Some(segments) = self.tcb.segments.take_if(|segments| segments.sacked() == 0)
        {
            self.group.spare.push(segments);
        }
    }
}

/// The repair of losses.
impl Sender<'_, '_> {
    /// An acknowledgement arrived while losses are repaired: the window follows it, until all is
    /// repaired.
    fn follow_recovery(&mut self, ack: &mut Acknowledgement) {
        let advances = ack.advances();
        let reduction = self.settings.reduction;
        if advances && (reduction == Reduction::Reno || self.tcb.una >= self.tcb.recover) {
            self.restart_timer();
            self.end_recovery();
            // What it reports by SACK does not begin another (RFC 6675, section 5, step A).
            ack.newly_sacked = 0;
            if ack.ece {
                self.on_ecn_echo();
            }
            return;
        }
        match reduction {
            Reduction::Reno | Reduction::NewReno if !advances => {
                // Each duplicate acknowledgement means that a segment has left the network.
                self.tcb.window.cwnd += self.tcb.window.smss;
            }
            Reduction::Reno | Reduction::NewReno => self.partially_acknowledged(ack.acked),
            Reduction::Pipe | Reduction::Prr => {
                if advances {
                    self.restart_timer();
                }
                if advances || ack.newly_sacked > 0 {
                    self.reduce_in_proportion(advances);
                }
                self.follow_lost_retransmission(ack.finding);
            }
        }
    }

    /// RFC 6582, section 3.2, step 3: retransmit at the next hole, and deflate the window by what
    /// was acknowledged.
    fn partially_acknowledged(&mut self, acked: f64) {
        self.transmit(self.tcb.una, Cause::Lost);
        let window = &mut self.tcb.window;
        let deflated = window.cwnd - acked + if acked >= window.smss { window.smss } else { 0.0 };
        // Where acknowledgements were lost, the window was inflated by less than it is deflated
        // now.
        window.cwnd = deflated.max(window.smss);
        if !self.tcb.partial || !self.settings.impatient {
            self.restart_timer();
        }
        self.tcb.partial = true;
    }

    /// The loss of a retransmission is a further sign of congestion (RFC 5681, section 4.3). With
    /// proportional rate reduction the window follows what arrives instead (RFC 8985, section 9.3).
    pub(super) fn follow_lost_retransmission(&mut self, finding: Finding) {
        let reduced = self.settings.reduction == Reduction::Prr
            || self.tcb.control.pacing_rate().is_some();
        if finding.lost_again && !reduced {
            self.reduce_window(Signal::Loss);
        }
    }

    /// Begin to repair losses, by an acknowledgement that reports `newly_sacked` segments, or by
    /// the timer: reduce the window, record the recovery point, and have the first loss be
    /// repaired.
    pub(super) fn begin_recovery(&mut self, newly_sacked: u64) {
        self.tcb.prr = self.begin_reduction(newly_sacked);
        // A window that was reduced for ECN is not reduced again for the same flight of data,
        // unless marks take less than a loss does.
        let again =
            self.settings.ecn && !self.settings.exact_marks && self.tcb.una < self.tcb.reduced;
        if !again {
            self.reduce_window(Signal::Loss);
        }
        self.tcb.recover = self.tcb.max;
        self.tcb.phase = Phase::Recovery;
        self.tcb.partial = false;
        self.tcb.held = false;
        self.tcb.limited = 0;
        let state = self.circumstances();
        self.tcb.loss.on_recovery(self.tcb.segments.as_deref_mut(), &state);
        if self.tcb.prr.is_some() {
            // Its window has room for one segment at least.
            self.reduce_in_proportion(false);
            return;
        }
        if self.settings.reduction.inflates() {
            self.transmit(self.tcb.una, Cause::Lost);
            // The segments that caused the duplicate acknowledgements have left the network.
            self.tcb.window.cwnd += f64::from(self.settings.threshold) * self.tcb.window.smss;
        } else {
            let lost = self.tcb.first_lost();
            self.transmit(lost.unwrap_or(self.tcb.una), Cause::Lost);
        }
    }

    /// Proportional rate reduction for a recovery that an acknowledgement begins which reports
    /// `newly_sacked` segments (RFC 9937, section 6.1), if it governs it.
    fn begin_reduction(&self, newly_sacked: u64) -> Option<Box<Prr>> {
        if self.settings.reduction != Reduction::Prr || self.tcb.control.pacing_rate().is_some() {
            return None;
        }
        let before = self.tcb.segments.as_ref()?.sacked() - newly_sacked;
        let (una, smss) = (self.tcb.una, self.tcb.window.smss);
        let outstanding = self.bytes(una, self.tcb.nxt) - float(before) * smss;
        Some(Box::new(Prr::begin(outstanding, una + before)))
    }

    /// The window after an acknowledgement in recovery, where it is reduced in proportion.
    fn reduce_in_proportion(&mut self, advances: bool) {
        let in_flight = self.in_flight();
        let (Some(prr), Some(segments)) = (&mut self.tcb.prr, &self.tcb.segments) else { return };
        let window = &mut self.tcb.window;
        let ack = InRecovery {
            arrived: self.tcb.una + segments.sacked(),
            losses: segments.found_lost(),
            advances,
            in_flight,
            ssthresh: window.ssthresh,
            smss: window.smss,
        };
        window.cwnd = prr.window(&ack).max(window.smss);
    }

    /// The losses are repaired: the window is what it was reduced to.
    fn end_recovery(&mut self) {
        let flight = self.bytes(self.tcb.una, self.tcb.nxt);
        let window = &mut self.tcb.window;
        match self.settings.reduction {
            Reduction::Reno => window.cwnd = window.ssthresh,
            Reduction::NewReno => {
                let smss = window.smss;
                window.cwnd = window.ssthresh.min(flight.max(smss) + smss);
            }
            Reduction::Pipe => {}
            Reduction::Prr => {
                if self.tcb.prr.take().is_some() {
                    // RFC 9937, section 6.3.
                    window.cwnd = window.ssthresh;
                }
            }
        }
        self.tcb.phase = Phase::Open;
    }

    /// The retransmission timer expired (RFC 6298, sections 5.4 to 5.6; RFC 5681, section 3.1; RFC
    /// 6582, section 3.2, step 4; RFC 6675, section 5.1).
    pub(super) fn timed_out(&mut self) {
        let flow = self.flow();
        self.cx.counters().flows[flow.index()].timeouts += 1;
        self.cx.observe(|| Observation::Timeout { flow });
        let una = self.tcb.una;
        let first = self.tcb.timed_out != una;
        if self.tcb.phase == Phase::Recovery {
            // The inflation by fast recovery is not part of the window (RFC 5681, section 3.2).
            self.tcb.window.cwnd = self.tcb.window.cwnd.min(self.tcb.window.ssthresh);
        }
        let flight = self.flight_size();
        self.tcb.check_app_limited();
        let state = self.circumstances();
        self.tcb.loss.on_timeout(self.tcb.segments.as_deref_mut(), &state);
        self.tcb.notify_losses(state.now);
        self.reduce_window_from(Signal::Timeout { first }, flight);
        self.tcb.timed_out = una;
        self.tcb.rto.back_off(&self.settings.rules);
        self.tcb.recover = self.tcb.max;
        self.tcb.phase = Phase::Loss;
        self.tcb.limited = 0;
        self.tcb.prr = None;
        self.transmit(una, Cause::Lost);
        if self.settings.goes_back {
            self.tcb.nxt = una + 1;
        }
        self.send_allowed(None);
        self.release_record();
    }

    /// Reduce the window, once for what is outstanding, and signal that to the receiver (CWR).
    fn reduce_window(&mut self, signal: Signal) {
        self.reduce_window_from(signal, self.flight_size());
    }

    /// The same with `flight` bytes in the network.
    fn reduce_window_from(&mut self, signal: Signal, flight: f64) {
        let before = self.tcb.window.cwnd;
        let now = self.cx.now();
        self.tcb.control.congested(&mut self.tcb.window, signal, flight, now);
        if self.settings.l4s && signal == Signal::Ecn && self.tcb.window.cwnd >= before {
            return;
        }
        self.tcb.reduced = self.tcb.max;
        self.tcb.cwr = self.settings.ecn && !self.settings.accurate;
        let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.tcb.window);
        self.cx.observe(|| Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh });
    }

    /// FlightSize as passed to congestion control, in bytes: an estimate of what is in the network,
    /// never more than the window.
    ///
    /// When a loss is detected it is the data between SND.UNA and SND.NXT (RFC 5681, section 2),
    /// without what limited transmit sent (section 3.2, step 2). While losses are being repaired
    /// that range also holds segments that have arrived or are lost, in the end several windows of
    /// them, and a threshold computed from it would exceed the window that has just failed. So pipe
    /// (RFC 6675, section 4) is used then.
    fn flight_size(&self) -> f64 {
        let tcb = &*self.tcb;
        let in_network = match tcb.phase {
            // Pipe has what was sent again without being known to be lost twice.
            Phase::Recovery | Phase::Loss => self.in_flight().min(self.bytes(tcb.una, tcb.max)),
            // Limited transmit sent the last of them, which may be short.
            Phase::Open | Phase::Opening { .. } => {
                let nxt = tcb.nxt.saturating_sub(u64::from(tcb.limited));
                self.bytes(tcb.una, tcb.una.max(nxt))
            }
        };
        in_network.min(tcb.window.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first block reports duplicates if it lies below the cumulative acknowledgement, or
    /// within the second block (RFC 2883, section 4): other blocks report new data.
    #[test]
    fn the_first_block_can_report_duplicates() {
        assert_eq!(duplicate(&[], 5), None);
        assert_eq!(duplicate(&[(6, 7)], 5), None);
        assert_eq!(duplicate(&[(4, 5)], 5), Some((4, 5)));
        assert_eq!(duplicate(&[(8, 9), (6, 7)], 5), None);
        assert_eq!(duplicate(&[(6, 7), (6, 9)], 5), Some((6, 7)));
        assert_eq!(duplicate(&[(6, 9), (6, 7)], 5), None);
    }
}
