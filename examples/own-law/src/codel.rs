//! CoDel by the pseudo-code of RFC 8289: what a queue discipline of one's own looks like.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, Queue};
use forebay_network::{Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

pub(crate) const ENTRY: Entry<BuildQueue> = Entry {
    name: "rust_codel",
    summary: "Controlled delay, written as RFC 8289 has it.",
    source: "RFC 8289",
    example: r#"
        interval = "40 ms"
        ecn = true
        limit = "12 packets"
    "#,
    fields: CoDelParameters::FIELDS,
    probes: &[Probe {
        name: "drop_count",
        unit: "1",
        meaning: "Drops or marks since the dropping state was entered, as they count.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of CoDel.
    pub struct CoDelParameters {
        /// Sojourn time that a standing queue may have.
        target: Span = "5 ms", "RFC 8289, section 5";
        /// Time for which the sojourn time is above the target before the first drop, above 0.
        interval: Span = "100 ms", "RFC 8289, section 5";
        /// The largest packet: one may always wait.
        mtu: Size = "1500 B", "RFC 8289, section 5 (maxpacket)";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = false, "RFC 3168, section 5";
        /// Buffer size, without the packet being transmitted; unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = CoDelParameters::read(section)?;
    if parameters.interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    Ok(Queue::Disc(Box::new(CoDel {
        parameters,
        packets: VecDeque::new(),
        backlog: Backlog::default(),
        first_above_time: None,
        drop_next: Time::ZERO,
        count: 0,
        lastcount: 0,
        dropping: false,
    })))
}

/// The queue and its state, under the names of the RFC.
struct CoDel {
    parameters: CoDelParameters,
    /// Packets with the times at which they arrived.
    packets: VecDeque<(Time, Packet)>,
    backlog: Backlog,
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

/// A packet taken from the head, and whether it may be dropped.
struct Head {
    packet: Packet,
    ok_to_drop: bool,
}

impl CoDel {
    /// Take the packet at the head; it may be dropped once those before it have waited for the
    /// target or longer during an interval.
    fn dodequeue(&mut self, now: Time) -> Option<Head> {
        let Some((arrived, packet)) = self.packets.pop_front() else {
            self.first_above_time = None;
            return None;
        };
        self.backlog.remove(packet.queued_info());
        let CoDelParameters { target, interval, mtu, .. } = self.parameters;
        if now.since(arrived) < target || self.backlog.bytes <= mtu.bytes() {
            self.first_above_time = None;
            return Some(Head { packet, ok_to_drop: false });
        }
        let above = *self.first_above_time.get_or_insert(now + interval);
        Some(Head { packet, ok_to_drop: now >= above })
    }

    /// The time of the drop after one at `from`.
    fn control_law(&self, from: Time) -> Time {
        from + self.parameters.interval.scaled(1.0 / f64::from(self.count).sqrt())
    }

    fn marks(&self, packet: &Packet) -> bool {
        self.parameters.ecn && packet.is_ecn_capable()
    }

    /// In the dropping state: drop what is due, until a packet is marked instead.
    fn drop_due(
        &mut self,
        mut head: Option<Head>,
        now: Time,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        while let Some(Head { packet, ok_to_drop: true }) = head
            && now >= self.drop_next
        {
            self.count += 1;
            if self.marks(&packet) {
                self.drop_next = self.control_law(self.drop_next);
                return Some(Departure { packet, marked: true });
            }
            discard(packet, DropReason::Forced);
            head = self.dodequeue(now);
            if head.as_ref().is_some_and(|head| head.ok_to_drop) {
                self.drop_next = self.control_law(self.drop_next);
            }
        }
        self.dropping = head.as_ref().is_some_and(|head| head.ok_to_drop);
        head.map(|head| Departure { packet: head.packet, marked: false })
    }

    /// Drop or mark a packet, and enter the dropping state.
    fn start_dropping(
        &mut self,
        packet: Packet,
        now: Time,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let next = if self.marks(&packet) {
            Some(Departure { packet, marked: true })
        } else {
            discard(packet, DropReason::Forced);
            let next = self.dodequeue(now);
            next.map(|head| Departure { packet: head.packet, marked: false })
        };
        self.dropping = true;
        // Soon after the last time, begin near the rate of drops that held the queue then.
        let delta = self.count - self.lastcount;
        let soon = now.since(self.drop_next) < self.parameters.interval.times(16);
        self.count = if delta > 1 && soon { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = self.control_law(now);
        next
    }
}

impl QueueDisc for CoDel {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let fits = match self.parameters.limit {
            None => true,
            Some(Length::Packets(limit)) => u64::from(self.backlog.packets) < limit,
            Some(Length::Bytes(limit)) => {
                self.backlog.bytes.saturating_add(u64::from(packet.size)) <= limit
            }
        };
        // A packet that finds the link idle needs no buffer.
        if !fits && idle_since.is_none() {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.packets.push_back((now, *packet));
        self.backlog.add(packet);
        Verdict::Accept
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let head = self.dodequeue(now);
        if self.dropping {
            return self.drop_due(head, now, discard);
        }
        match head? {
            Head { packet, ok_to_drop: true } => self.start_dropping(packet, now, discard),
            Head { packet, .. } => Some(Departure { packet, marked: false }),
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("drop_count", f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::Echo;

    /// Packets of 1000 B arrive every ms and leave every 2 ms: the one that arrives at n ms is
    /// taken at 2n ms, after n ms. So the sojourn time reaches the target of 5 ms at 10 ms; the
    /// first drop is due an interval of 100 ms later, the second 100 ms after that, and the third
    /// 100 / sqrt(2) = 70.7 ms, which the packet taken at 282 ms is the first to be late for.
    #[test]
    fn drops_come_closer_with_the_root_of_their_number() {
        let echo = Echo::default();
        let section = Section::empty(String::new(), &echo);
        let Ok(Queue::Disc(mut law)) =
            build(&section, &LinkFacts::of(forebay_units::Rate::from_bps(1)))
        else {
            panic!("CoDel is a discipline")
        };
        let mut stream = Streams::new(0, 0).named("test");
        let mut times = Vec::new();
        for ms in 0..400 {
            let now = Time::ZERO + Span::from_ms(ms);
            let packet = Packet::data(now, FlowId::new(0), ms, 1000, RouteId::new(0));
            law.enqueue(&packet, None, now, &mut stream, &mut |_, _| ());
            if ms % 2 == 0 {
                law.dequeue(now, &mut stream, &mut |_, _| times.push(ms));
            }
        }
        assert_eq!(times[..3], [110, 210, 282]);
    }
}
