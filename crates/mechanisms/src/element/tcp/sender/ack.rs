//! The life of an acknowledgement at a sender, in the order of the standards; and the repair of
//! losses, which acknowledgements drive.

use forebay_network::{Ack, Observation, Packet, SackBlocks, Signal, Window};
use forebay_units::{Span, Time};

use super::connection::Phase;
use super::loss::{Detection, Finding, LossDetection, Report};
use super::rate::SampleInputs;
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
struct Acknowledgement<'p> {
    packet: &'p Packet,
    kind: Kind,
    report: Report,
    /// The timestamp that it echoes, if there are any.
    echo: Option<Time>,
    /// Bytes that it acknowledges cumulatively for the first time.
    acked: f64,
    /// Bytes outstanding when it arrived.
    flight: f64,
    /// Round-trip times that the flight is expected to bring.
    expected: u64,
    rtt: Option<Span>,
    /// It reports marks.
    ece: bool,
    finding: Finding,
}

impl Sender<'_, '_> {
    /// An acknowledgement arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, packet: &Packet) {
        let before = self.observed_window();
        let mut ack = self.read(packet);
        self.mark_arrived(&mut ack);
        if matches!(ack.kind, Kind::New | Kind::Duplicate) {
            self.measure(&mut ack);
            self.detect_losses(&mut ack);
            self.sample(&ack);
            self.adapt_window(&mut ack);
            self.send_permitted(&ack);
        } else if ack.kind == Kind::Answer {
            self.opened(packet);
        }
        self.close(&mut ack);
        self.observe_window(before);
    }

    /// Stage 1: read SACK blocks, counters of marks, and the timestamp that is echoed.
    #[inline]
    fn read<'p>(&mut self, packet: &'p Packet) -> Acknowledgement<'p> {
        let mut blocks = SackBlocks::default();
        if !packet.sack_slot().is_none() {
            blocks = self.cx.sack_blocks().take(packet.sack_slot());
            if packet.number >= self.tcb.una
                && let Some(feedback) = &mut self.tcb.feedback
            {
                feedback.option = blocks.ecn();
            }
        }
        let kind = self.kind_of(packet);
        Acknowledgement {
            packet,
            kind,
            report: Report {
                number: packet.number,
                advances: kind == Kind::New,
                blocks,
                bare: packet.sack_slot().is_none(),
                newly_sacked: 0,
            },
            echo: self.settings.timestamps.then(|| packet.timestamp_echo()),
            acked: 0.0,
            flight: 0.0,
            expected: 0,
            rtt: None,
            ece: false,
            finding: Finding::default(),
        }
    }

    #[inline]
    fn kind_of(&self, packet: &Packet) -> Kind {
        let (una, max) = (self.tcb.una, self.tcb.max);
        if packet.number > una {
            Kind::New
        } else if packet.number < una {
            Kind::Other
        } else if max == una {
            let opening = matches!(self.tcb.phase, Phase::Opening { .. });
            if opening { Kind::Answer } else { Kind::Late }
        } else {
            let answers = self.settings.handshake && !self.settings.accurate && packet.is_last();
            if answers { Kind::Other } else { Kind::Duplicate }
        }
    }

    /// Stage 2: mark what has arrived, by SACK (Update() of RFC 6675) and cumulatively, and read
    /// ECN-Echo or what the counters of marks have moved by.
    #[inline]
    fn mark_arrived(&mut self, ack: &mut Acknowledgement<'_>) {
        if !ack.report.blocks.as_slice().is_empty() {
            self.mark_sacked(ack);
        }
        if ack.kind == Kind::New {
            let number = ack.packet.number.min(self.tcb.max);
            ack.flight = self.bytes(self.tcb.una, self.tcb.nxt) + self.waiting();
            ack.acked = self.bytes(self.tcb.una, number);
            ack.expected = (self.tcb.max - self.tcb.una).div_ceil(2);
            self.tcb.una = number;
            self.tcb.nxt = self.tcb.nxt.max(number);
            self.tcb.limited = 0;
            if self.tcb.segments.is_some() {
                self.mark_acknowledged(ack.echo);
            }
            if number > self.tcb.short {
                self.source_mut().forget_below(number);
                self.tcb.short = self.source().first_short();
            }
        }
        // Where ECN was not agreed on, the flag means nothing (RFC 3168, section 6.1.1).
        ack.ece = self.settings.ecn && self.reports_marks(ack.packet, ack.kind);
    }

    #[cold]
    fn mark_sacked(&mut self, ack: &mut Acknowledgement<'_>) {
        self.keep_record(&ack.report);
        self.begin_sample();
        let (now, loss) = (self.cx.now(), &mut self.tcb.loss);
        let Some(segments) = &mut self.tcb.segments else { return };
        let (Report { number, blocks, .. }, echo) = (ack.report, ack.echo);
        ack.report.newly_sacked = segments.sack(&blocks, number, now, |number, segment| {
            loss.on_arrival(number, segment, echo, now);
        });
    }

    #[cold]
    fn mark_acknowledged(&mut self, echo: Option<Time>) {
        self.begin_sample();
        let (now, una, loss) = (self.cx.now(), self.tcb.una, &mut self.tcb.loss);
        if let Some(segments) = &mut self.tcb.segments {
            segments.advance(una, now, |number, segment| {
                loss.on_arrival(number, segment, echo, now);
            });
        }
    }

    /// Begin a record of segments, if SACK reports some and there is none.
    fn keep_record(&mut self, report: &Report) {
        let (una, nxt, max) = (self.tcb.una, self.tcb.nxt, self.tcb.max);
        let known = report.number.max(una);
        let news = |&(first, end): &(u64, u64)| first.max(known) < end.min(max);
        let needed = self.settings.detection == Detection::Sack
            && self.tcb.segments.is_none()
            && report.blocks.as_slice().iter().any(news);
        if !needed {
            return;
        }
        let mut segments =
            self.group.spare.pop().unwrap_or_else(|| Box::new(Segments::new(una, false)));
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

    /// An acknowledgement has arrived, and nothing has been taken from it but where it moves
    /// SND.UNA.
    fn begin_sample(&mut self) {
        let (unsent, window) = (self.tcb.nxt < self.tcb.end, self.tcb.window);
        if let Some(segments) = &mut self.tcb.segments {
            segments.begin_sample(unsent, window.cwnd, window.smss);
        }
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
    fn measure(&mut self, ack: &mut Acknowledgement<'_>) {
        if ack.kind != Kind::New {
            return;
        }
        let now = self.cx.now();
        let (from, expected) = match ack.echo {
            Some(echo) => (echo, ack.expected),
            None if self.tcb.una > self.tcb.timed => {
                self.tcb.timed = u64::MAX;
                (self.tcb.timed_at, 1)
            }
            None => return,
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
    #[inline]
    fn detect_losses(&mut self, ack: &mut Acknowledgement<'_>) {
        let state = self.circumstances();
        let segments = self.tcb.segments.as_deref_mut();
        ack.finding = self.tcb.loss.on_ack(segments, &ack.report, &state);
        self.plan_loss_timer();
        if ack.finding.repaired && self.tcb.phase == Phase::Open {
            self.reduce_window(Signal::Loss);
        }
    }

    /// Stage 5: have congestion control learn from it, if it takes samples, and of the losses.
    #[inline]
    fn sample(&mut self, ack: &Acknowledgement<'_>) {
        let sampled = self.tcb.segments.as_ref().is_some_and(|it| it.is_sampled());
        if sampled {
            self.tell_law(ack);
        }
    }

    #[cold]
    fn tell_law(&mut self, ack: &Acknowledgement<'_>) {
        self.begin_sample();
        let (una, acked) = (self.tcb.una, ack.acked as u64);
        let newly_marked = match &self.tcb.feedback {
            Some(feedback) => feedback.newly_marked(),
            None if ack.ece => acked,
            None => 0,
        };
        let inputs = SampleInputs {
            now: self.cx.now(),
            acked,
            one_way: ack.packet.created.since(ack.packet.timestamp_echo()),
            srtt: self.tcb.rto.srtt(),
            recovering: self.tcb.phase != Phase::Open && una < self.tcb.recover,
            paced: self.settings.pacing != Pacing::None || self.tcb.control.pacing_rate().is_some(),
            selective: self.settings.detection != Detection::Dupack,
            ece: ack.ece,
            newly_marked,
            una,
            max: self.tcb.max,
        };
        let sample = self.tcb.segments.as_mut().and_then(|segments| segments.sample(&inputs));
        self.notify_losses();
        if let Some(sample) = sample {
            self.tcb.control.sampled(&mut self.tcb.window, &sample);
        }
    }

    /// Have congestion control learn of the losses that were found.
    pub(super) fn notify_losses(&mut self) {
        let now = self.cx.now();
        let Some(segments) = &mut self.tcb.segments else { return };
        for lost in segments.take_losses() {
            self.tcb.control.lost(&mut self.tcb.window, &lost, now);
        }
    }

    /// Stage 6: reduce the window or let it grow, and begin or end the repair of losses.
    #[inline]
    fn adapt_window(&mut self, ack: &mut Acknowledgement<'_>) {
        if self.tcb.phase == Phase::Recovery {
            self.follow_recovery(ack);
        } else {
            if ack.kind == Kind::New {
                self.grow(ack);
            }
            if ack.ece {
                self.on_ecn_echo();
            }
        }
        if ack.finding.lost && self.tcb.phase != Phase::Recovery {
            self.begin_recovery(ack.report.newly_sacked);
        }
    }

    /// Let the window grow by an acknowledgement of new data, which ends the repair after a timeout
    /// if it reaches the recovery point.
    #[inline]
    fn grow(&mut self, ack: &Acknowledgement<'_>) {
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

    /// Stage 7: send what the window and the application allow.
    #[inline]
    fn send_permitted(&mut self, ack: &Acknowledgement<'_>) {
        let (segments, state) = (self.tcb.segments.as_deref(), self.circumstances());
        if let Some(permit) = self.tcb.loss.permit_by(&ack.report, segments, &state) {
            self.send_allowed(permit);
        }
    }

    /// Release what is not needed any more, and set the timer of loss detection.
    #[inline]
    fn close(&mut self, ack: &mut Acknowledgement<'_>) {
        match ack.kind {
            Kind::New => {
                self.release_record();
                if self.tcb.finished {
                    self.end_if_done();
                }
            }
            // It can report duplicates of what is all acknowledged.
            Kind::Late => self.detect_losses(ack),
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
    fn follow_recovery(&mut self, ack: &mut Acknowledgement<'_>) {
        let advances = ack.kind == Kind::New;
        let reduction = self.settings.reduction;
        if advances && (reduction == Reduction::Reno || self.tcb.una >= self.tcb.recover) {
            self.restart_timer();
            self.end_recovery();
            // What it reports by SACK does not begin another (RFC 6675, section 5, step A).
            ack.report.newly_sacked = 0;
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
                if advances || ack.report.newly_sacked > 0 {
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
            let lost = self.tcb.loss.first_lost(self.tcb.segments.as_deref_mut(), &state);
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
        self.check_app_limited();
        let state = self.circumstances();
        self.tcb.loss.on_timeout(self.tcb.segments.as_deref_mut(), &state);
        self.notify_losses();
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
        self.send_allowed(self.permit());
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
