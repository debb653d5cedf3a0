//! Work of a sender for its extension: samples of delivery rates, pacing, and reading accurate ECN
//! feedback.

use forebay_network::{Packet, SackBlocks};
use forebay_units::Time;

use super::accecn::Feedback;
use super::connection::{PACE, Phase};
use super::delivery::{Around, Delivery};
use super::pacing::window_rate;
use super::sender_context::SenderContext;
use super::{Pacing, Recovery};

/// A connection without one comes here never.
impl SenderContext<'_, '_> {
    fn delivery(&mut self) -> Option<&mut Delivery> {
        self.c.extension.as_mut()?.delivery.as_mut()
    }

    /// Returns the known counters of the receiver.
    pub(super) fn feedback(&mut self) -> Option<&mut Feedback> {
        self.c.extension.as_mut()?.feedback.as_mut()
    }

    /// A write or a timeout is about to be handled, after which the connection may send.
    #[cold]
    pub(super) fn check_app_limited(&mut self) {
        let (unsent, cwnd) = (self.c.nxt < self.c.end, self.c.window.cwnd);
        if let Some(delivery) = self.delivery() {
            delivery.check_app_limited(unsent, cwnd);
        }
    }

    /// An acknowledgement has arrived, and nothing has been taken from it but where it moves
    /// SND.UNA.
    fn begin_sample(&mut self) {
        let (unsent, smss) = (self.c.nxt < self.c.end, self.c.window.smss);
        let cwnd = self.c.window.cwnd;
        if let Some(delivery) = self.delivery() {
            delivery.begin(unsent, cwnd, smss);
        }
    }

    /// Segments were reported by SACK, before the scoreboard takes note of them.
    #[cold]
    pub(super) fn deliver_blocks(&mut self, packet: &Packet, blocks: &SackBlocks, una: u64) {
        self.begin_sample();
        if self.p.rack {
            self.note_duplicates(blocks.as_slice(), packet.number);
        }
        let (now, max, echo) = (self.cx.now(), self.c.max, self.echo(packet));
        let Some(extension) = &mut self.c.extension else { return };
        for &(first, end) in blocks.as_slice() {
            let (mut number, end) = (first.max(una), end.min(max));
            while number < end {
                let next = match &self.c.scoreboard {
                    Some(scoreboard) => scoreboard.hole_from(number),
                    None => number,
                };
                if next == number {
                    extension.deliver(number, echo, now);
                    number += 1;
                } else {
                    number = next;
                }
            }
        }
    }

    /// The retransmission timer expired.
    #[cold]
    pub(super) fn lose_all(&mut self) {
        self.check_app_limited();
        if let Some(delivery) = self.delivery() {
            delivery.lose_all();
        }
        self.notify_losses();
    }

    /// The timestamp that an acknowledgement echoes, where there is that option.
    fn echo(&self, packet: &Packet) -> Option<Time> {
        self.p.timestamps.then(|| packet.timestamp_echo())
    }

    /// Have congestion control learn of the losses that were found.
    pub(super) fn notify_losses(&mut self) {
        let now = self.cx.now();
        let Some(delivery) = self.delivery() else { return };
        for lost in delivery.take_losses() {
            self.c.control.lost(&mut self.c.window, &lost, now);
        }
    }

    /// An acknowledgement that brings `acked` bytes of new data has been taken note of: have
    /// congestion control learn from it. `ece` tells whether it reports marks.
    #[cold]
    pub(super) fn sample(&mut self, packet: &Packet, acked: f64, ece: bool) {
        self.begin_sample();
        let (now, una, max, echo) = (self.cx.now(), self.c.una, self.c.max, self.echo(packet));
        let lost_below = match &self.c.scoreboard {
            Some(scoreboard) if self.p.recovery == Recovery::Sack && !self.p.rack => {
                scoreboard.lost_below(u64::from(self.p.threshold))
            }
            _ => 0,
        };
        let acked = acked as u64;
        let newly_marked = match self.feedback() {
            Some(feedback) => feedback.newly_marked(),
            None if ece => acked,
            None => 0,
        };
        let around = Around {
            now,
            acked,
            one_way: packet.created.since(packet.timestamp_echo()),
            srtt: self.c.rto.srtt(),
            recovering: self.c.phase != Phase::Open && una < self.c.recover,
            paced: self.is_paced(),
            selective: self.p.recovery == Recovery::Sack,
            ece,
            newly_marked,
            una,
            max,
        };
        if let Some(extension) = &mut self.c.extension {
            extension.advance(una, echo, now);
        }
        if self.p.rack {
            self.detect_losses();
            self.judge_probe(packet, acked == 0);
        }
        let Some(delivery) = self.delivery() else { return };
        if lost_below > 0 {
            delivery.lose_below(lost_below);
        }
        let sample = delivery.sample(&around);
        self.notify_losses();
        self.c.control.sampled(&mut self.c.window, &sample);
    }

    /// Segment `number` with `bytes` of data is being sent.
    #[cold]
    pub(super) fn note_sent(&mut self, number: u64, bytes: u16) {
        let now = self.cx.now();
        let rate = self.c.control.pacing_rate().unwrap_or_else(|| match self.p.pacing {
            Pacing::None => f64::INFINITY,
            Pacing::Window => {
                let flight = self.bytes(self.c.una, self.c.nxt.max(self.c.una));
                window_rate(&self.c.window, flight, self.c.rto.srtt())
            }
        });
        let Some(extension) = &mut self.c.extension else { return };
        extension.pacer.sent(f64::from(bytes), rate, now);
        let new = number + 1 == self.c.max;
        let probe = extension.detection.as_mut().is_some_and(|it| it.sent(number, new));
        if let Some(delivery) = &mut extension.delivery {
            delivery.sent(number, bytes, probe, now);
        }
    }

    /// Returns true if segments leave at a rate.
    fn is_paced(&self) -> bool {
        self.p.pacing != Pacing::None || self.c.control.pacing_rate().is_some()
    }

    /// Returns true if pacing has the next segment wait; then an event will come when it need not.
    #[cold]
    pub(super) fn is_paced_out(&mut self) -> bool {
        let now = self.cx.now();
        let Some(wait) = self.c.extension.as_mut().and_then(|it| it.pacer.blocks(now)) else {
            return false;
        };
        if let Some(at) = wait {
            self.cx.wake_at(at, self.index | PACE);
        }
        true
    }

    /// An event of the pacing timer occurred.
    pub(super) fn release(&mut self) {
        let now = self.cx.now();
        if self.c.extension.as_mut().is_some_and(|it| it.pacer.expired(now)) {
            self.send_allowed();
        }
    }
}

/// Use of accurate feedback by a sender.
impl SenderContext<'_, '_> {
    /// Returns true if an acknowledgement reports marks; asked once of each, when the scoreboard
    /// knows of it.
    #[inline]
    pub(super) fn reports_marks(&mut self, packet: &Packet) -> bool {
        if self.p.accurate { self.decode_marks(packet) } else { packet.ece() }
    }

    #[cold]
    fn decode_marks(&mut self, packet: &Packet) -> bool {
        let sacked = self.c.scoreboard.as_ref().map_or(0, |board| board.sacked());
        let echoed = if self.p.timestamps { packet.timestamp_echo() } else { Time::ZERO };
        let (delivered, mss) = (self.c.una + sacked, self.p.mss);
        self.feedback().is_some_and(|it| it.decode(packet.ace(), delivered, echoed, mss))
    }

    /// Note the option beside `blocks`, which arrived with an acknowledgement up to `number`.
    #[cold]
    pub(super) fn note_counts(&mut self, blocks: &SackBlocks, number: u64) {
        if number >= self.c.una
            && let Some(feedback) = self.feedback()
        {
            feedback.option = blocks.ecn();
        }
    }
}
