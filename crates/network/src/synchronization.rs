//! Synchronization of flows: how many of those at a link lose packets, or are marked, together.

use std::collections::BTreeSet;

use forebay_units::{Span, Time};

use crate::{FlowId, Observation, Observer, RecordTable};

/// Records, by link, loss events and the flows in them, and the same of marks by its queue.
///
/// A loss event begins with a loss when there was none for a round-trip time, and lasts one. Of
/// the flows that are active in it, of which a packet arrives at the queue, those count that lose
/// a packet. The mean over events is the global synchronization ratio (RFC 7928, section 2.4).
/// Data count and requests, and no feedback as acknowledgements are.
pub struct SynchronizationLog {
    window: Window,
    by_link: Vec<AtLink>,
}

/// The time of measurement, and the length of an event.
#[derive(Clone, Copy)]
struct Window {
    from: Time,
    until: Time,
    round_trip: Span,
}

#[derive(Clone, Default)]
struct AtLink {
    /// Flows of which packets came at the time `now`: if an event begins then, they are active in
    /// it, in whichever order they came.
    arrived: Vec<FlowId>,
    now: Time,
    losses: Events,
    marks: Events,
}

/// Events of one kind at a link.
#[derive(Clone, Default)]
struct Events {
    counts: EventCounts,
    last: Option<Time>,
    present: Option<Event>,
}

/// Totals over events that began, and were over, in the time of measurement.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct EventCounts {
    /// Number of events.
    pub events: u64,
    /// Packets that were lost, or marked, in them.
    pub packets: u64,
    /// Sum over events of the share of flows that lost a packet, or had one marked, among those
    /// active.
    pub shares: f64,
}

#[derive(Clone, Debug)]
struct Event {
    begins: Time,
    active: BTreeSet<FlowId>,
    hit: BTreeSet<FlowId>,
    packets: u64,
}

impl Events {
    /// Ends the present event if it is over at `now`.
    fn pass(&mut self, now: Time, window: &Window) {
        if let Some(event) = self.present.take_if(|event| event.begins + window.round_trip <= now) {
            self.counts.add(&event, window);
        }
    }

    /// A packet of `flow` arrives.
    fn active(&mut self, now: Time, flow: FlowId, window: &Window) {
        self.pass(now, window);
        if let Some(event) = &mut self.present {
            event.active.insert(flow);
        }
    }

    /// A packet of `flow` is lost, or marked.
    fn hit(&mut self, now: Time, flow: FlowId, arrived: &[FlowId], window: &Window) {
        self.pass(now, window);
        let last = self.last.replace(now);
        if last.is_none_or(|last| now.since(last) >= window.round_trip) {
            let active = arrived.iter().copied().collect();
            self.present = Some(Event { begins: now, active, hit: BTreeSet::new(), packets: 0 });
        }
        if let Some(event) = &mut self.present {
            event.active.insert(flow);
            event.hit.insert(flow);
            event.packets += 1;
        }
    }
}

impl EventCounts {
    fn add(&mut self, event: &Event, window: &Window) {
        if event.begins >= window.from && event.begins + window.round_trip <= window.until {
            self.events += 1;
            self.packets += event.packets;
            self.shares += event.hit.len() as f64 / event.active.len() as f64;
        }
    }
}

impl SynchronizationLog {
    /// A log of the events at `links` links, of `round_trip` each, from `from` on and before
    /// `until`.
    #[must_use]
    pub fn new(links: usize, (from, until): (Time, Time), round_trip: Span) -> Self {
        Self { window: Window { from, until, round_trip }, by_link: vec![AtLink::default(); links] }
    }

    /// The events of losses and those of marks at each link.
    pub fn by_link(&self) -> impl Iterator<Item = [EventCounts; 2]> {
        self.by_link.iter().map(|at| {
            [&at.losses, &at.marks].map(|events| {
                let mut counts = events.counts;
                // One that lasts to the end is over with it.
                events.present.iter().for_each(|event| counts.add(event, &self.window));
                counts
            })
        })
    }
}

impl Observer for SynchronizationLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        let (link, packet, lost, marked) = match *fact {
            Observation::Enqueued { link, packet, .. } => (link, packet, false, false),
            Observation::Dropped { link, packet, .. } => (link, packet, true, false),
            Observation::Marked { link, packet } => (link, packet, false, true),
            _ => return,
        };
        let (window, flow) = (self.window, packet.flow);
        let Some(at) = self.by_link.get_mut(link.index()).filter(|_| !packet.is_feedback()) else {
            return;
        };
        if at.now != now {
            at.now = now;
            at.arrived.clear();
        }
        at.arrived.push(flow);
        for (events, hit) in [(&mut at.losses, lost), (&mut at.marks, marked)] {
            if hit {
                events.hit(now, flow, &at.arrived, &window);
            } else {
                events.active(now, flow, &window);
            }
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backlog, DropReason, LinkId, Packet, PacketKind, RouteId};

    /// Fate of a packet at a link.
    #[derive(Clone, Copy, PartialEq)]
    enum Fate {
        Queued,
        Lost,
        Marked,
    }
    use Fate::{Lost, Marked, Queued};

    const EVENT: Span = Span::from_ms(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn data(flow: usize) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(flow), 0, 500, RouteId::new(0))
    }

    fn notify(log: &mut SynchronizationLog, ms: u64, packet: &Packet, fate: Fate) {
        let (link, reason) = (LinkId::new(1), DropReason::Overflow);
        let fact = match fate {
            Queued => Observation::Enqueued { link, packet, backlog: Backlog::default() },
            Lost => Observation::Dropped { link, packet, reason },
            Marked => Observation::Marked { link, packet },
        };
        log.observe(at(ms), &fact);
    }

    /// The events of losses and of marks at the second of two links, with `facts`: time in ms,
    /// flow, fate of a packet.
    fn events(window: (u64, u64), facts: &[(u64, usize, Fate)]) -> [EventCounts; 2] {
        let mut log = SynchronizationLog::new(2, (at(window.0), at(window.1)), EVENT);
        for (ms, flow, fate) in facts {
            notify(&mut log, *ms, &data(*flow), *fate);
        }
        let [other, own] = log.by_link().collect::<Vec<_>>()[..] else { panic!("two links") };
        assert_eq!(other, [EventCounts::default(); 2]);
        own
    }

    /// Events are as RFC 7928, section 2.4, and what it cites have them. The first begins at 0: of
    /// flows 0 to 3, which are active before 100 ms, 0 and 2 lose a packet: 1/2. Flow 1's at 150
    /// ms, 120 ms after the last, begins the second, in which flow 3 loses one just before its end,
    /// and no other is active: 1. Flow 0's at 300 ms is in none and begins none, 51 ms after that.
    /// The one at 400 ms, 100 ms later, begins the third: of four, one loses a packet: 1/4.
    #[test]
    fn events_begin_after_a_pause_and_last_a_round_trip() {
        let facts = [
            (0, 0, Lost),
            (10, 1, Queued),
            (20, 2, Lost),
            (30, 2, Lost),
            (99, 3, Queued),
            (100, 4, Queued),
            (150, 1, Lost),
            (249, 3, Lost),
            (250, 2, Queued),
            (300, 0, Lost),
            (400, 0, Lost),
            (410, 1, Queued),
            (420, 2, Queued),
            (430, 3, Queued),
        ];
        let [losses, marks] = events((0, 1000), &facts);
        assert_eq!(losses, EventCounts { events: 3, packets: 6, shares: 0.5 + 1.0 + 0.25 });
        assert_eq!(marks, EventCounts::default());
    }

    /// Arrivals at the time of the loss with which an event begins are in it, before it or after: a
    /// packet of flow 2 is lost, of flows 1 to 3. That of flow 4 came 1 ms before.
    #[test]
    fn arrivals_at_the_time_of_the_loss_are_in_the_event() {
        let facts = [(99, 4, Queued), (100, 1, Queued), (100, 2, Lost), (100, 3, Queued)];
        let three = EventCounts { events: 1, packets: 1, shares: 1.0 / 3.0 };
        assert_eq!(events((0, 1000), &facts)[0], three);
    }

    /// Marks have events of their own, in which flows that lose packets are active, and marks make
    /// flows active in those of losses: flow 0 loses one at 0, flow 1 has one marked at 50 ms and
    /// flow 2 loses one at 140 ms. Losses: [0, 100) with 1 of 2, and then [140, 240) with 1 of 1,
    /// 140 ms later. Marks: [50, 150) with 1 of 2.
    #[test]
    fn marks_have_events_of_their_own() {
        let found = events((0, 1000), &[(0, 0, Lost), (50, 1, Marked), (140, 2, Lost)]);
        assert_eq!(found[0], EventCounts { events: 2, packets: 2, shares: 1.5 });
        assert_eq!(found[1], EventCounts { events: 1, packets: 1, shares: 0.5 });
    }

    /// Events count that lie within the time of measurement: one that begins before it does not,
    /// nor do its losses begin another; nor one that is not over at the end, which 400 ms is of an
    /// event that begins at 300 ms.
    #[test]
    fn events_lie_within_the_time_of_measurement() {
        let facts = [(0, 0, Lost), (60, 1, Lost), (300, 0, Lost), (310, 1, Queued)];
        let one = EventCounts { events: 1, packets: 1, shares: 0.5 };
        assert_eq!(events((50, 400), &facts)[0], one);
        assert_eq!(events((50, 399), &facts)[0], EventCounts::default());
        let both = EventCounts { events: 2, packets: 3, shares: 1.5 };
        assert_eq!(events((0, 400), &facts)[0], both);
    }

    /// Acknowledgements make no flow active, and their losses no event: what a flow sends the other
    /// way does not slow it down here.
    #[test]
    fn acknowledgements_do_not_count() {
        let mut log = SynchronizationLog::new(2, (at(0), at(1000)), EVENT);
        let ack = data(7).with_kind(PacketKind::Ack);
        for (ms, packet, fate) in
            [(0, &ack, Lost), (200, &data(0), Lost), (210, &ack, Queued), (220, &ack, Lost)]
        {
            notify(&mut log, ms, packet, fate);
        }
        let one = EventCounts { events: 1, packets: 1, shares: 1.0 };
        assert_eq!(log.by_link().last().unwrap()[0], one);
    }
}
