//! Actions of a TCP sender when an acknowledgement, a write or its timer arrives.

use forebay_network::{Ack, Context, Observation, Packet, Signal, Window};
use forebay_units::{Span, Time};

use super::Recovery;
use super::connection::{ColdState, Connection, Phase};
use super::rto::Rto;
use super::settings::Settings;
use super::source::ENDLESS;

/// A sender with all state that it may access while it handles one event.
pub(super) struct SenderContext<'t, 'c> {
    pub(super) p: &'t Settings,
    pub(super) c: &'t mut Connection,
    pub(super) cold: &'t mut ColdState,
    pub(super) index: u32,
    pub(super) cx: &'t mut Context<'c>,
}

impl SenderContext<'_, '_> {
    /// An acknowledgement arrived.
    #[inline]
    pub(super) fn acknowledgement(&mut self, packet: &Packet) {
        let before = self.observed_window();
        let newly_sacked =
            if packet.sack_slot().is_none() { 0 } else { self.update_scoreboard(packet) };
        let duplicate = packet.number == self.c.una;
        if packet.number > self.c.una {
            self.new_data_acknowledged(packet, newly_sacked);
        } else if packet.number == self.c.una && self.c.max > self.c.una {
            self.duplicate(packet, newly_sacked);
        } else if matches!(self.c.phase, Phase::Opening { .. }) {
            self.opened(packet);
        }
        if self.p.rack {
            self.close_acknowledgement(packet, duplicate);
        }
        self.observe_window(before);
    }

    fn new_data_acknowledged(&mut self, packet: &Packet, newly_sacked: u64) {
        let ack = packet.number.min(self.c.max);
        let flight = self.bytes(self.c.una, self.c.nxt) + self.waiting();
        let acked = self.bytes(self.c.una, ack);
        let samples = (self.c.max - self.c.una).div_ceil(2);
        self.c.una = ack;
        self.c.nxt = self.c.nxt.max(ack);
        self.c.dupacks = 0;
        self.c.limited = 0;
        if let Some(scoreboard) = &mut self.c.scoreboard {
            scoreboard.advance(ack);
        }
        if ack > self.c.short {
            self.source_mut().forget_below(ack);
            self.c.short = self.source().first_short();
        }
        let rtt = self.measure(packet, ack, samples);
        // Where ECN was not agreed on, the flag means nothing (RFC 3168, section 6.1.1).
        let ece = self.p.ecn && self.reports_marks(packet);
        if self.c.extension.is_some() {
            self.sample(packet, acked, ece);
        }
        if self.c.phase == Phase::Recovery {
            self.acknowledged_in_recovery(acked, ece);
        } else {
            self.restart_timer();
            let fact = Ack {
                now: self.cx.now(),
                acked: self.creditable(acked),
                slow_start_limit: self.p.slow_start_limit,
                flight,
                rtt,
                srtt: self.c.rto.srtt(),
                ece,
            };
            self.c.control.acknowledged(&mut self.c.window, &fact);
            if self.c.phase == Phase::Loss && ack >= self.c.recover {
                self.c.phase = Phase::Open;
            }
            if ece {
                self.on_ecn_echo(ack);
            }
            if newly_sacked > 0 || self.p.rack {
                self.duplicate_with_sack(newly_sacked);
            }
            // If that began a recovery, pipe governs transmission, and has been filled.
            if self.c.phase != Phase::Recovery {
                self.transmit();
            }
        }
        if self.c.scoreboard.is_some() {
            self.retire_scoreboard();
        }
        if self.c.finished {
            self.end_if_done();
        }
    }

    /// Returns how many of `acked` bytes let the window grow: at most one window, as congestion
    /// avoidance adds at most one segment per round trip (RFC 5681, section 3.1); one segment
    /// without byte counting.
    #[inline]
    fn creditable(&self, acked: f64) -> f64 {
        let window = &self.c.window;
        acked.min(if self.p.byte_counting { window.cwnd } else { window.smss })
    }

    /// Measure a round-trip time (RFC 6298, section 3), from the timestamp or from the timed
    /// segment.
    #[inline]
    fn measure(&mut self, packet: &Packet, ack: u64, samples: u64) -> Option<Span> {
        let now = self.cx.now();
        let (from, samples) = if self.p.timestamps {
            (packet.timestamp_echo(), samples)
        } else if ack > self.c.timed {
            self.c.timed = u64::MAX;
            (self.c.timed_at, 1)
        } else {
            return None;
        };
        let measured = Rto::measure(&self.p.rules, from, now);
        self.c.rto.sample(measured, samples, &self.p.rules);
        let rtt = now.since(from);
        if self.p.signals_srtt {
            self.smooth_signalled(rtt, samples);
        }
        Some(rtt)
    }

    /// New data was acknowledged (RFC 6298, sections 5.2 and 5.3): restart the timer, or stop it if
    /// nothing is outstanding.
    #[inline]
    pub(super) fn restart_timer(&mut self) {
        if self.c.una == self.c.max {
            self.c.deadline = Time::NEVER;
        } else {
            self.set_timer(self.cx.now() + self.c.rto.timeout());
        }
    }

    /// ECN-Echo (RFC 3168, section 6.1.2): reduce the window at most once per window of data.
    pub(super) fn on_ecn_echo(&mut self, ack: u64) {
        let again = ack <= self.c.reduced && self.c.reduced > 0;
        if !self.p.ecn || again && !self.p.l4s {
            return;
        }
        let alone = self.c.window.cwnd <= self.c.window.smss && !self.p.l4s;
        self.reduce_window(Signal::Ecn);
        if alone {
            // The window cannot shrink below one segment: the next segment waits for the timer
            // instead.
            self.c.held = true;
            self.set_timer(self.cx.now() + self.c.rto.timeout());
        }
    }

    /// Reduce the window, once for what is outstanding, and signal that to the receiver (CWR).
    pub(super) fn reduce_window(&mut self, signal: Signal) {
        self.reduce_window_from(signal, self.flight_size());
    }

    /// The same with `flight` bytes in the network.
    pub(super) fn reduce_window_from(&mut self, signal: Signal, flight: f64) {
        let before = self.c.window.cwnd;
        let now = self.cx.now();
        self.c.control.congested(&mut self.c.window, signal, flight, now);
        if self.p.l4s && signal == Signal::Ecn && self.c.window.cwnd >= before {
            return;
        }
        self.c.reduced = self.c.max;
        self.c.cwr = self.p.ecn && !self.p.accurate;
        let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.c.window);
        self.cx.observe(|| Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh });
    }

    /// Send what the window and the application allow, from SND.NXT on.
    pub(super) fn transmit(&mut self) {
        if self.p.rack {
            self.transmit_marked();
            return;
        }
        let cwnd = self.c.window.cwnd;
        let mut flight = self.in_flight();
        let mut left = self.p.max_burst;
        while left > 0 && self.has_data() {
            if self.c.nxt < self.c.max && self.skip_arrived() {
                continue;
            }
            let size = float(self.payload(self.c.nxt));
            if flight + size > cwnd || !self.receiver_takes(size) || self.c.held {
                break;
            }
            if self.c.extension.is_some() && self.is_paced_out() {
                break;
            }
            let number = self.c.nxt;
            self.send(number);
            self.c.nxt = number + 1;
            flight += size;
            left -= 1;
            if self.c.phase == Phase::Loss
                && let Some(scoreboard) = &mut self.c.scoreboard
            {
                scoreboard.retransmitted(number, self.c.una);
            }
        }
    }

    /// Returns true if a segment of `size` bytes at SND.NXT lies within the window of the receiver.
    #[inline]
    pub(super) fn receiver_takes(&self, size: f64) -> bool {
        let window = self.p.window;
        window == f64::INFINITY || self.bytes(self.c.una, self.c.nxt) + size <= window
    }

    /// Bytes that count against the congestion window. After a timeout: what was sent since and has
    /// not arrived.
    pub(super) fn in_flight(&self) -> f64 {
        if self.p.rack && (self.p.limited_transmit || self.c.phase != Phase::Open) {
            return self.marked_pipe();
        }
        if self.c.phase == Phase::Loss
            && let Some(scoreboard) = &self.c.scoreboard
        {
            let mut resent = scoreboard.resent(self.c.una) * self.p.mss;
            if self.c.short < self.c.max {
                resent -= self.shortfall(|number| u64::from(scoreboard.is_resent(number)));
            }
            return float(resent);
        }
        self.bytes(self.c.una, self.c.nxt)
    }

    /// After a timeout: skip segments that are known to have arrived. Returns whether any were
    /// skipped.
    fn skip_arrived(&mut self) -> bool {
        let Some(scoreboard) = &self.c.scoreboard else {
            return false;
        };
        let hole = scoreboard.hole_from(self.c.nxt);
        let skipped = hole > self.c.nxt;
        self.c.nxt = hole;
        skipped
    }

    /// Returns true if there is a segment to send at SND.NXT. After the stop time of the flow, data
    /// never sent is given up.
    #[inline]
    pub(super) fn has_data(&mut self) -> bool {
        if self.c.nxt >= self.c.max && self.cx.now() >= self.p.stop {
            self.c.finished = true;
            if self.p.handshake && self.c.max > 0 {
                if self.c.end > self.c.max {
                    self.close();
                }
            } else {
                self.c.end = self.c.max;
            }
        }
        self.c.nxt < self.c.end
    }

    /// Transmit segment `number`. Returns its bytes of data.
    pub(super) fn send(&mut self, number: u64) -> f64 {
        let now = self.cx.now();
        let data = u16::try_from(self.payload(number)).expect("a segment fits a packet");
        let size = self.p.overhead + data;
        let mut packet =
            Packet::data(now, self.flow(), number, size, self.p.route).with_marking(self.p.marking);
        if number < self.c.max {
            packet = packet.as_retransmission();
            self.c.unpaired = false;
            // Karn's algorithm: no round-trip time is measured on a segment sent twice.
            self.c.timed = u64::MAX;
            if self.p.ecn_always {
                packet = packet.with_ecn(self.p.ect);
            }
        } else {
            self.c.max = number + 1;
            if self.c.timed == u64::MAX && self.c.phase != Phase::Recovery {
                self.c.timed = number;
                self.c.timed_at = now;
            }
            if self.p.ecn {
                packet = packet.with_ecn(self.p.ect).with_cwr(self.c.cwr);
                self.c.cwr = false;
            }
        }
        if self.p.pushes && !packet.is_retransmission() && self.is_pushed(number, now) {
            packet = packet.as_pushed();
        }
        if self.c.finished && number + 1 == self.c.end {
            packet = packet.as_last(true);
        }
        if self.p.signals_srtt {
            packet = self.signalling(packet);
        }
        self.c.last_sent = now;
        if self.c.deadline == Time::NEVER {
            self.set_timer(now + self.c.rto.timeout());
        }
        if self.c.extension.is_some() {
            self.note_sent(number, data);
        }
        self.cx.send(packet);
        f64::from(data)
    }

    /// Bytes of data in segment `number`.
    #[inline(always)]
    pub(super) fn payload(&self, number: u64) -> u64 {
        if number < self.c.short { self.p.mss } else { self.source().payload(number, self.p.mss) }
    }

    /// Bytes of data in segments `first..end`.
    #[inline(always)]
    pub(super) fn bytes(&self, first: u64, end: u64) -> f64 {
        let mut bytes = (end - first) * self.p.mss;
        if end > self.c.short {
            bytes -= self.source().shortfall(first, end, self.p.mss);
        }
        float(bytes)
    }

    /// Bytes by which short segments fall short of full ones, where segment `number` counts
    /// `times(number)` times.
    #[cold]
    pub(super) fn shortfall(&self, times: impl Fn(u64) -> u64) -> u64 {
        let shorts = self.source().shorts_below(self.c.max);
        shorts.map(|(number, bytes)| times(number) * (self.p.mss - bytes)).sum()
    }

    /// The application writes.
    pub(super) fn write(&mut self) {
        if self.p.pauses && self.source().due == 0 {
            self.pause();
            return;
        }
        let before = self.observed_window();
        let now = self.cx.now();
        let fresh = self.cold.fresh.is_some() && self.begin_afresh();
        if self.c.extension.is_some() {
            self.check_app_limited();
        }
        let idle = !fresh && self.c.una == self.c.max && self.c.max > 0;
        if idle {
            self.c.control.restarted(&mut self.c.window, now);
        }
        if idle
            && self.p.idle_restart
            && now.since(self.c.last_sent) > self.c.rto.timeout()
            && self.c.control.pacing_rate().is_none()
        {
            let cwnd = &mut self.c.window.cwnd;
            *cwnd = cwnd.min(self.p.initial_window);
        }
        let due = self.source().due;
        let (end, max, mss) = (self.c.end, self.c.max, self.p.mss);
        self.c.end = self.source_mut().write(due, end, max, mss);
        self.c.short = self.source().first_short();
        if (self.c.end != ENDLESS || self.p.pauses) && !self.p.on_request {
            self.plan_write(now);
        }
        if matches!(self.c.phase, Phase::Opening { .. }) {
            self.open();
        } else {
            self.send_allowed();
        }
        self.observe_window(before);
    }

    /// Send what may be sent, where nothing has arrived.
    pub(super) fn send_allowed(&mut self) {
        if self.c.phase == Phase::Recovery && self.p.recovery == Recovery::Sack && !self.p.rack {
            self.fill_pipe();
        } else {
            self.transmit();
        }
        if self.p.rack {
            self.plan_probe();
        }
    }

    /// The pending event of the timer occurred.
    pub(super) fn timer(&mut self) {
        let now = self.cx.now();
        if now != self.c.pending {
            return;
        }
        self.c.pending = Time::NEVER;
        let deadline = self.c.deadline;
        if deadline == Time::NEVER {
            return;
        }
        if deadline > now {
            self.set_timer(deadline);
            return;
        }
        if self.p.rack
            && let Some(at) = self.loss_timer_at()
        {
            if at <= now {
                self.loss_timer_expired();
            }
            self.set_timer(at.max(self.c.deadline));
            return;
        }
        self.c.deadline = Time::NEVER;
        let before = self.observed_window();
        let held = std::mem::take(&mut self.c.held);
        if self.c.una < self.c.max {
            self.timed_out();
        } else if matches!(self.c.phase, Phase::Opening { .. }) {
            self.syn_timed_out();
        } else if held {
            self.transmit();
        }
        self.observe_window(before);
    }
}

/// Bytes as a float. There are fewer than 2^63, and a signed integer converts in a single
/// instruction.
#[inline]
pub(super) fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}
