//! Push-out: a full buffer gives up a packet that may be lost first for one that may not.

use forebay_kernel::{RingBuffer, Stream};
use forebay_network::{
    Backlog, Departure, Discard, DropReason, NextPacket, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::partial_sharing::check_high;
use super::{BuildQueue, Queue, fullness};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "push_out",
    summary: "Tail drop, but where the buffer is full, an arrival of low precedence takes the \
              place of the first packet of high precedence.",
    source: "Kroener, Hebuterne, Boyer and Gravey, IEEE JSAC 9(3), 1991; COMSAT thesis on \
             rate-based congestion control with a satellite link, section 4 (second approach)",
    example: r#"
        limit = "12 packets"
        high = 1
    "#,
    fields: PushOutParameters::FIELDS,
    probes: &[Probe {
        name: "pushed_out",
        unit: "packets",
        meaning: "Packets dropped from the queue since the start to make room for others.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of push-out.
    pub struct PushOutParameters {
        /// Buffer size, without the packet being transmitted.
        limit: Length, "Kroener et al. 1991, section II";
        /// The first precedence of packets that may be pushed out, 1 to 63: that of cells with
        /// CLP=1. The queue is searched from its head, and arrivals push out lower precedences
        /// never.
        high: u32 = 2, "ITU-T I.361, section 2.3.3 (cell loss priority)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let PushOutParameters { limit, high } = PushOutParameters::read(section)?;
    let high = check_high(section, high)?;
    Ok(Queue::Disc(Box::new(PushOut {
        limit,
        high,
        waiting: RingBuffer::default(),
        all: Backlog::default(),
        marked: Backlog::default(),
        pushed_out: 0,
    })))
}

struct PushOut {
    limit: Length,
    /// The first precedence that may be pushed out.
    high: u8,
    waiting: RingBuffer<Packet>,
    /// Backlog, and what of it may be pushed out.
    all: Backlog,
    marked: Backlog,
    pushed_out: u64,
}

impl PushOut {
    /// Returns true if there is room for `packet` beside `others`.
    fn fits(&self, packet: &Packet, others: Backlog) -> bool {
        match self.limit {
            Length::Packets(limit) => u64::from(others.packets) < limit,
            Length::Bytes(limit) => others.bytes.saturating_add(u64::from(packet.size)) <= limit,
        }
    }

    /// Drop packets that may be lost first, from the head on, until `packet` fits. Whether it does.
    #[cold]
    fn make_room(&mut self, packet: &Packet, discard: &mut Discard<'_>) -> bool {
        let kept = Backlog {
            packets: self.all.packets - self.marked.packets,
            bytes: self.all.bytes - self.marked.bytes,
        };
        if packet.precedence >= self.high || !self.fits(packet, kept) {
            return false;
        }
        let mut place = 0;
        while !self.fits(packet, self.all) {
            match self.waiting.get(place) {
                Some(found) if found.precedence >= self.high => {
                    let found = self.waiting.remove(place).expect("it was found there");
                    self.forget(&found);
                    self.pushed_out += 1;
                    discard(found, DropReason::Selective);
                }
                Some(_) => place += 1,
                None => return false,
            }
        }
        true
    }

    /// `packet` has left the queue.
    fn forget(&mut self, packet: &Packet) {
        self.all.remove(packet.queued_info());
        if packet.precedence >= self.high {
            self.marked.remove(packet.queued_info());
        }
    }
}

impl QueueDisc for PushOut {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        _now: Time,
        _stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        // A packet that finds the link idle goes straight to the transmitter.
        let room = idle_since.is_some() || self.fits(packet, self.all);
        if !room && !self.make_room(packet, discard) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.waiting.push_back(*packet);
        self.all.add(packet);
        if packet.precedence >= self.high {
            self.marked.add(packet);
        }
        Verdict::Accept
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        if self.waiting.is_empty() {
            return None;
        }
        let packet = *self.waiting.pop_front();
        self.forget(&packet);
        Some(Departure { packet, marked: false })
    }

    fn peek(&mut self, _now: Time, _stream: &mut Stream, _discard: &mut Discard<'_>) -> NextPacket {
        NextPacket::Size(self.waiting.get(0).map(|packet| packet.size))
    }

    fn backlog(&self) -> Backlog {
        self.all
    }

    fn fullness(&self, _precedence: u8) -> Option<f64> {
        fullness(Some(self.limit), self.all)
    }

    fn drops_at_dequeue(&self) -> bool {
        false
    }

    fn is_transparent(&self) -> bool {
        true
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("pushed_out", self.pushed_out as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn make(limit: &str, high: i64) -> Result<Queue, Problem> {
        let entry = |name: &str, value: Value| (name.to_owned(), Node::new(value));
        let table =
            Table::from([entry("limit", limit.into()), entry("high", Value::Integer(high))]);
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(6_000_000));
        build(&Section::root(&node, &echo).unwrap(), &facts)
    }

    /// Returns the packets dropped of `arrivals`, each a number, a precedence and a size, at a busy
    /// link, in order, and those that leave then.
    fn run(limit: &str, arrivals: &[(u64, u8, u16)]) -> (Vec<u64>, Vec<u64>) {
        let Ok(Queue::Disc(mut law)) = make(limit, 2) else { panic!("it keeps its packets") };
        let mut stream = Streams::new(0, 0).named("test");
        let (mut dropped, mut left) = (Vec::new(), Vec::new());
        for &(number, precedence, size) in arrivals {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), number, size, RouteId::new(0))
                .with_precedence(precedence);
            let discard = &mut |packet: Packet, reason| {
                assert_eq!(reason, DropReason::Selective);
                dropped.push(packet.number);
            };
            let verdict = law.enqueue(&packet, None, Time::ZERO, &mut stream, discard);
            if verdict == Verdict::Drop(DropReason::Overflow) {
                dropped.push(number);
            }
        }
        while let Some(next) = law.dequeue(Time::ZERO, &mut stream, &mut |_, _| {}) {
            left.push(next.packet.number);
        }
        assert_eq!(law.backlog(), Backlog::default());
        (dropped, left)
    }

    /// A cell with CLP=0 is not lost while others with CLP=1 wait. Four places hold 0, 1, 2, 3, of
    /// which 1 and 3 have CLP=1: 4 (CLP=0) takes the place of 1, 5 (CLP=0) that of 3; 6 finds only
    /// CLP=0 and is lost, as is 7, which has CLP=1 itself. Those that stay keep their order.
    #[test]
    fn a_marked_cell_makes_room_for_one_that_is_not() {
        let cells = [(0, 0), (1, 2), (2, 1), (3, 3), (4, 0), (5, 1), (6, 0), (7, 2)];
        let cells = cells.map(|(number, precedence)| (number, precedence, 53));
        assert_eq!(run("4 packets", &cells), (vec![1, 3, 6, 7], vec![0, 2, 4, 5]));
    }

    /// No packet is pushed out in vain: 300 B need three of 100 B to go, and where only two may,
    /// none does.
    #[test]
    fn nothing_is_pushed_out_for_a_packet_that_does_not_fit_then() {
        let two = [(0, 2, 100), (1, 0, 100), (2, 2, 100), (3, 0, 300)];
        assert_eq!(run("300 B", &two), (vec![3], vec![0, 1, 2]));
        let three = [(0, 2, 100), (1, 2, 100), (2, 2, 100), (3, 0, 300)];
        assert_eq!(run("300 B", &three), (vec![0, 1, 2], vec![3]));
    }

    /// Precedences with which everything is pushed out, or nothing, are refused.
    #[test]
    fn precedences_that_cannot_be_are_refused() {
        for high in [0, 64] {
            assert_eq!(make("9 packets", high).err().unwrap().path, "high");
        }
    }
}
