//! Order in which a source of frames sends: new frames, missing ones again, and polls.
//!
//! The protocol is the selective retransmission of SSCOP (ITU-T Q.2110) without its connection
//! control and window. The source polls its receiver when `poll` has passed since it did last, and
//! at once when it has nothing else to send. The receiver answers with the frames that are missing;
//! unasked it reports a gap when it sees one. The source sends again what is missing, if it was
//! sent before the poll: what was sent later may be under way. A report or a poll that is lost is
//! made up for by the next poll.

use std::collections::{BTreeSet, VecDeque};

use forebay_network::{Packet, PacketKind};
use forebay_units::{Span, Time};

use super::PacedCount;
use super::framing::{Piece, Report};

/// The state of one source.
pub(super) struct Outbox {
    /// Packets of a full frame.
    packets: u64,
    /// Time between polls; `None` if nothing is sent again.
    poll: Option<Span>,
    /// Packets of the transfer that are in no frame yet.
    unframed: u64,
    /// Number of the next new frame (VT(S) of Q.2110).
    next: u64,
    /// Number of the first frame that is not known to have arrived (VT(A)).
    first: u64,
    /// The frames from `first` on.
    waiting: VecDeque<Sent>,
    /// Those of them that are to be sent again.
    missing: BTreeSet<u64>,
    current: Option<Current>,
    /// Frames sent, those sent again counted again.
    transmissions: u64,
    /// True if a poll is to be sent before anything else.
    owed: bool,
    /// Time at which the next poll is due.
    polls_at: Time,
    /// Time at which the latest frame arrived, as the receiver says that nothing is missing.
    arrived: Time,
}

/// A frame that was sent.
#[derive(Clone, Copy)]
struct Sent {
    packets: u64,
    /// Time at which its first packet left, the latest time.
    at: Time,
}

/// The frame that is being sent.
#[derive(Clone, Copy)]
struct Current {
    frame: u64,
    packets: u64,
    place: u64,
    again: bool,
}

/// Continuation after a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// Another is begun.
    Goes,
    /// Nothing until then, unless a report comes before.
    Waits(Time),
    /// The transfer is over.
    Ends,
}

impl Outbox {
    /// For frames of `packets` packets, and with retransmission a poll each `poll`.
    pub(super) fn new(packets: u64, poll: Option<Span>) -> Self {
        Self {
            packets,
            poll,
            unframed: 0,
            next: 0,
            first: 0,
            waiting: VecDeque::new(),
            missing: BTreeSet::new(),
            current: None,
            transmissions: 0,
            owed: false,
            polls_at: Time::NEVER,
            arrived: Time::ZERO,
        }
    }

    /// A transfer of so many packets begins.
    pub(super) fn begin(&mut self, packets: u64, now: Time) {
        self.unframed = packets;
        self.polls_at = self.poll.map_or(Time::NEVER, |poll| now + poll);
    }

    /// Nothing more is sent of the transfer.
    pub(super) fn give_up(&mut self) {
        (self.unframed, self.current, self.owed) = (0, None, false);
        self.first = self.next;
        self.waiting.clear();
        self.missing.clear();
    }

    /// Returns the time at which the latest frame of the transfer arrived, if all have and there is
    /// a way to know.
    pub(super) fn arrived(&self) -> Option<Time> {
        self.poll.map(|_| self.arrived)
    }

    /// `packet` leaves at `now`: what it carries.
    pub(super) fn fill(&mut self, packet: Packet, now: Time, count: &mut PacedCount) -> Packet {
        if self.current.is_none() && self.owes_poll(now) {
            self.owed = false;
            self.polls_at = self.poll.map_or(Time::NEVER, |poll| now + poll);
            count.polls += 1;
            let (frame, transmission) = (self.next, self.transmissions);
            let poll = Piece { frame, transmission, place: 0, last: true };
            return poll.written(packet).with_kind(PacketKind::Poll);
        }
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.begin_frame(now, count),
        };
        let last = current.place + 1 == current.packets;
        let Current { frame, place, again, .. } = current;
        let transmission = self.transmissions - 1;
        if !last {
            current.place += 1;
            self.current = Some(current);
        } else if self.missing.is_empty() && self.unframed == 0 && self.poll.is_some() {
            self.owed = true;
        }
        let packet = Piece { frame, transmission, place, last }.written(packet);
        if again { packet.as_retransmission() } else { packet }
    }

    /// Returns the continuation after what was sent by now.
    pub(super) fn then(&self) -> Then {
        if self.has_more() {
            Then::Goes
        } else if self.poll.is_some() && !self.waiting.is_empty() {
            Then::Waits(self.polls_at)
        } else {
            Then::Ends
        }
    }

    /// The time of the next poll has come while there was nothing to send.
    pub(super) fn polls(&mut self) {
        self.owed = true;
    }

    /// A report has come.
    pub(super) fn on_notification(&mut self, report: &Report) {
        let gaps = report.missing.as_slice();
        if gaps.is_empty() {
            self.arrived = report.time;
        }
        while self.first < report.next && self.waiting.pop_front().is_some() {
            self.missing.remove(&self.first);
            self.first += 1;
        }
        for (from, to) in gaps {
            for frame in (*from).max(self.first)..(*to).min(self.next) {
                let sent = self.waiting[(frame - self.first) as usize];
                let under_way = self.current.is_some_and(|current| current.frame == frame);
                if sent.at < report.time && !under_way {
                    self.missing.insert(frame);
                }
            }
        }
    }

    fn has_more(&self) -> bool {
        let owes = self.owed && !self.waiting.is_empty();
        self.current.is_some() || self.unframed > 0 || !self.missing.is_empty() || owes
    }

    fn owes_poll(&self, now: Time) -> bool {
        !self.waiting.is_empty() && (self.owed || self.polls_at <= now)
    }

    /// The frame to be sent next: the first that is missing, or else a new one.
    fn begin_frame(&mut self, now: Time, count: &mut PacedCount) -> Current {
        self.transmissions += 1;
        count.frames.0 += 1;
        if let Some(frame) = self.missing.pop_first() {
            count.frames.1 += 1;
            let sent = &mut self.waiting[(frame - self.first) as usize];
            sent.at = now;
            return Current { frame, packets: sent.packets, place: 0, again: true };
        }
        let (frame, packets) = (self.next, self.unframed.min(self.packets));
        self.unframed -= packets;
        self.next += 1;
        if self.poll.is_some() {
            self.waiting.push_back(Sent { packets, at: now });
        } else {
            self.first = self.next;
        }
        Current { frame, packets, place: 0, again: false }
    }
}

#[cfg(test)]
mod tests;
