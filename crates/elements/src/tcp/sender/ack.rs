//! The life of an acknowledgement at a sender, in the order of the standards.

use forebay_network::{Ack, Packet, SackBlocks, Signal};
use forebay_units::Time;

use super::Sender;
use super::acknowledgement::{Acknowledgement, Finding, Kind, duplicate};
use super::phase::Phase;
use super::rto::Rto;
use super::segments::{Cause, Segments};
use super::settings::Detection;
use crate::tcp::Pacing;

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
            self.undo_if_needless(packet, &ack);
            self.send_allowed(Some(&ack));
        } else if ack.kind == Kind::Answer {
            self.opened(packet);
        }
        self.close(packet, &mut ack);
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
            let opening = self.tcb.phase.is_opening();
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
            arrived: 0,
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
            if self.segments.is_some() {
                self.mark_acknowledged(packet, ack);
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
    #[inline(never)]
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
        if self.settings.reports_duplicates {
            ack.duplicate = duplicate(blocks.as_slice(), packet.number);
        }
        self.keep_record(&blocks, packet.number);
        self.begin_sample();
        let (now, echo) = (self.cx.now(), self.settings.echo_of(packet));
        let loss = &mut *self.loss;
        let Some(segments) = self.segments else { return };
        ack.newly_sacked = segments.sack(&blocks, packet.number, now, |number, segment| {
            loss.on_arrival(number, segment, echo, now);
        });
        ack.arrived = ack.newly_sacked;
    }

    #[inline(never)]
    fn mark_acknowledged(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        self.begin_sample();
        let (now, una, echo) = (self.cx.now(), self.tcb.una, self.settings.echo_of(packet));
        let loss = &mut *self.loss;
        let Some(segments) = self.segments else { return };
        ack.arrived += segments
            .advance(una, now, |number, segment| loss.on_arrival(number, segment, echo, now));
    }

    /// Begin a record of segments, if SACK `blocks` beside an acknowledgement of all below `number`
    /// report some and there is none.
    fn keep_record(&mut self, blocks: &SackBlocks, number: u64) {
        let (una, nxt, max) = (self.tcb.una, self.tcb.nxt, self.tcb.max);
        let known = number.max(una);
        let news = |&(first, end): &(u64, u64)| first.max(known) < end.min(max);
        if self.segments.is_some()
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
        *self.segments = Some(segments);
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
        let sacked = self.segments.as_ref().map_or(0, |segments| segments.sacked());
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
        let (loss, segments, state) = self.detection();
        ack.finding = loss.on_ack(segments, ack, &state);
        if self.loss.is_timed() {
            self.plan_loss_timer();
            if ack.finding.repaired && self.tcb.phase == Phase::Open {
                self.reduce_window(Signal::Loss);
            }
        }
    }

    #[cold]
    fn detect_late(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        self.detect_losses(ack);
        self.undo_if_needless(packet, ack);
    }

    /// Stage 5: have congestion control learn from it, if it takes samples, and of the losses.
    #[inline]
    fn sample(&mut self, packet: &Packet, ack: &Acknowledgement) {
        if self.settings.samples {
            self.tell_law(packet, ack);
        }
    }

    #[inline(never)]
    fn tell_law(&mut self, packet: &Packet, ack: &Acknowledgement) {
        self.begin_sample();
        let (now, una, acked) = (self.cx.now(), self.tcb.una, ack.acked as u64);
        let Some(segments) = self.segments else { return };
        let mut sample = segments.sample(now);
        self.notify_losses();
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

    /// An acknowledgement has arrived, and nothing has been taken from it but where it moves
    /// SND.UNA.
    pub(super) fn begin_sample(&mut self) {
        let (unsent, window) = (self.tcb.nxt < self.tcb.end, &self.tcb.window);
        if self.settings.rates
            && let Some(segments) = self.segments
        {
            segments.begin_sample(unsent, window.cwnd, window.smss);
        }
    }

    /// Have congestion control learn of the losses that were found.
    pub(super) fn notify_losses(&mut self) {
        let now = self.cx.now();
        let Some(segments) = self.segments else { return };
        while let Some(lost) = segments.next_loss() {
            self.tcb.control.lost(&mut self.tcb.window, &lost, now);
        }
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
            self.begin_recovery(Some(ack));
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
    pub(super) fn on_ecn_echo(&mut self) {
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
    fn close(&mut self, packet: &Packet, ack: &mut Acknowledgement) {
        match ack.kind {
            Kind::New => {
                self.release_record();
                if self.tcb.finished {
                    self.end_if_done();
                }
            }
            // It can report duplicates of what is all acknowledged.
            Kind::Late => self.detect_late(packet, ack),
            Kind::Duplicate | Kind::Answer | Kind::Other => {}
        }
        self.settle();
    }

    /// Release a record of segments of which SACK reports none, for reuse.
    #[inline]
    pub(super) fn release_record(&mut self) {
        if self.tcb.phase == Phase::Open
            && !self.settings.records
            && let Some(segments) = self.segments.take_if(|segments| segments.sacked() == 0)
        {
            self.group.spare.push(segments);
        }
    }
}
