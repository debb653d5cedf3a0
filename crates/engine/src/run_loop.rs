//! The event loop of a partition: the next-event time advance of discrete-event simulation (Law,
//! *Simulation Modeling and Analysis*, 5th edition, 2015, section 1.3), and the windows of
//! synchronous conservative execution (Fujimoto, *Parallel and Distributed Simulation Systems*,
//! 2000, section 3.5).

use forebay_network::executive::{Executive, LocalTimers};
use forebay_network::{Context, ElementId, OwnCount};
use forebay_units::Time;

use crate::partition::Partition;
use crate::prefetch::{can_prefetch, prefetch_downstream};
use crate::slot::NO_GROUP;

/// Events of a partition between two looks at whether the run was cancelled.
const EVENTS_BETWEEN_PAUSES: u64 = 1 << 10;

impl Partition {
    /// Start every element, which sets its first timers.
    pub(crate) fn start(&mut self) {
        let now = self.core.event_list.now();
        self.core.prefetches = can_prefetch(&self.core);
        for me in ElementId::all(self.slots.len()) {
            let slot = &mut self.slots[me.index()];
            let group = self.groups.get_mut(slot.group as usize);
            let timers = group.and_then(|group| group.timers.as_deref_mut());
            let local = timers.map(|timers| LocalTimers { timers, arrival_bound: Time::ZERO });
            self.core.stop_if_cancelled();
            slot.element.start(&mut Context::new(&mut self.core, me, now, local));
            self.deliver_pending();
        }
        (0..self.groups.len()).for_each(|group| self.arm_group(group));
        for receiver in self.notified_sinks() {
            self.core.channels.notify_in_batches(receiver);
        }
    }

    /// Handle everything due at or before `limit`, or `budget` events, or one that stood for very
    /// many. Returns false in the latter cases.
    pub(crate) fn advance(&mut self, limit: Time, budget: u64) -> bool {
        let mut remaining = budget;
        let mut complete = true;
        while let Some(event) = self.core.event_list.take(limit) {
            self.core.lbts = event.time.just_before();
            let group = self.slots[event.target.index()].group;
            if group == NO_GROUP {
                if self.core.prefetches {
                    prefetch_downstream(&mut self.core, &self.slots, event.target);
                }
                let slot = &mut self.slots[event.target.index()];
                let cx = &mut Context::of(&mut self.core, event.target, event.time);
                slot.element.wake(event.token, cx);
                self.deliver_pending();
            } else {
                if !self.wake_group(group as usize) {
                    remaining -= 1;
                    complete = false;
                    break;
                }
            }
            remaining -= 1;
            if remaining == 0 {
                complete = false;
                break;
            }
        }
        self.events += budget - remaining;
        complete
    }

    /// An estimate of the work done here so far, in units of a hop. What hosts do by themselves,
    /// such as sending datagrams, costs several times as much as a hop.
    pub(crate) fn work(&self) -> u64 {
        let events = self.events.wrapping_add_signed(self.core.virtual_events);
        self.core.counters.hops + 5 * events.saturating_sub(self.core.counters.hops)
    }

    /// The time of the next event here that could affect another partition.
    pub(crate) fn next_time(&mut self) -> Time {
        let mut next_time = self.core.event_list.next_time().unwrap_or(Time::NEVER);
        for boundary in &self.boundaries {
            next_time = next_time.min(self.core.channels.inputs_mut((*boundary).into()).next().1);
        }
        for index in 0..self.groups_at_boundaries.len() {
            next_time = next_time.min(self.next_time_at(self.groups_at_boundaries[index]));
        }
        next_time
    }

    /// Handle all that is due in a window that ends at `end`. Nothing that concerns boundary links
    /// is deferred past it, as other partitions proceed from what these send ahead.
    pub(crate) fn pass_window(&mut self, end: Time) {
        // Running further ahead would make the work of partitions bursty, and their waits at the
        // barrier longer.
        self.core.sync_time = end;
        while !self.advance(end, EVENTS_BETWEEN_PAUSES) {
            self.core.stop_if_cancelled();
        }
        self.core.event_list.advance_to(end);
        self.core.lbts = end;
        for index in 0..self.groups_at_boundaries.len() {
            self.complete_group(self.groups_at_boundaries[index]);
            self.arm_group(self.groups_at_boundaries[index]);
        }
        for index in 0..self.boundaries.len() {
            let boundary = self.boundaries[index];
            let cx = &mut Context::of(&mut self.core, boundary, end);
            self.slots[boundary.index()].element.on_notify(cx);
            self.deliver_pending();
        }
    }

    /// All that is due up to `limit` has been handled: advance the clock to it.
    pub(crate) fn finish(&mut self, limit: Time) {
        self.core.event_list.advance_to(limit);
        self.core.lbts = limit;
        self.sync_counters();
    }

    /// Bring all counters up to the current time: host groups first, since other elements get
    /// packets of the past from them.
    pub(crate) fn sync_counters(&mut self) {
        self.sync_groups();
        for me in ElementId::all(self.slots.len()) {
            self.sync_element(me);
        }
        for receiver in self.notified_sinks() {
            self.count_at_sink(receiver);
        }
    }

    /// Bring all host groups up to the current time.
    pub(crate) fn sync_groups(&mut self) {
        for group in 0..self.groups.len() {
            self.complete_group(group);
            self.arm_group(group);
        }
    }

    /// Packets inside elements; after [`Partition::sync_counters`].
    pub(crate) fn held(&mut self) -> u64 {
        ElementId::all(self.slots.len()).map(|me| self.own_count(me).held).sum()
    }

    /// Bring the counters of one element up to the current time, after the host groups.
    pub(crate) fn sync_element(&mut self, me: ElementId) {
        self.own_count(me);
        // This may have sent ahead packets that arrive later.
        self.deliver_pending();
    }

    /// Returns the counts that an element shows of itself.
    pub(crate) fn own_count(&mut self, me: ElementId) -> OwnCount<'_> {
        let now = self.core.event_list.now();
        let cx = &mut Context::of(&mut self.core, me, now);
        self.slots[me.index()].element.counters(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::stubs::{Call, SINK, Stubs, idle, link, packet, send_ahead, timers, wire};
    use forebay_network::{Lookahead, LookaheadContext, ReceiverId, RouteId};

    const NONE: Lookahead<'static> = Lookahead::NONE;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// A run handles the events up to its limit, inclusive, and no more than its budget; the rest
    /// is left for the next call, so an interrupted run ends and loses none.
    #[test]
    fn a_run_handles_what_is_due_within_its_limit_and_budget() {
        let mut stubs = Stubs::new();
        stubs.add(NONE, timers(&[(5, 1), (10, 2), (10, 3), (11, 4)]));
        stubs.analyse();
        let partition = &mut stubs.whole;
        partition.start();
        assert!(!partition.advance(at(10), 2));
        assert_eq!(stubs.log.take(), [(0, 5, "wake", 1), (0, 10, "wake", 2)]);
        assert_eq!((partition.events, partition.core.event_list.now()), (2, at(10)));
        // One of two is left until 10: the budget is not spent.
        assert!(partition.advance(at(10), 2));
        assert_eq!(stubs.log.take(), [(0, 10, "wake", 3)]);
        assert!(partition.advance(at(10), u64::MAX));
        assert_eq!((partition.events, stubs.log.take()), (3, vec![]));
        partition.finish(at(10));
        assert!(partition.advance(at(20), u64::MAX));
        assert_eq!(stubs.log.take(), [(0, 10, "count", 0), (0, 11, "wake", 4)]);
        // The clock is at the last event until the run is finished.
        assert_eq!(partition.core.event_list.now(), at(11));
        partition.finish(at(20));
        assert_eq!((partition.core.event_list.now(), partition.core.lbts), (at(20), at(20)));
    }

    /// The lower bound on timestamps is just before the current event: an element takes no packets
    /// from its channels that other events of the same instant may still precede.
    #[test]
    fn the_lower_bound_on_timestamps_is_just_before_the_event() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut stubs = Stubs::new();
        let (bounds, mut set) = (Arc::clone(&seen), timers(&[(5, 0), (9, 0)]));
        stubs.add(NONE, move |call, cx| {
            set(call, cx);
            if call == Call::Wake(0) {
                bounds.lock().unwrap().push(cx.lbts().ps());
            }
        });
        stubs.analyse();
        stubs.whole.start();
        stubs.whole.advance(at(9), u64::MAX);
        assert_eq!(*seen.lock().unwrap(), [4, 8]);
    }

    /// Link 0 (10 ps) leads to host 1, which is deferred; link 2 to link 3, which takes packets
    /// ahead, and to host 4.
    fn two_paths() -> Stubs {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), idle);
        let deferred = Lookahead { can_defer: true, ..NONE };
        stubs.add(deferred, idle);
        stubs.add(wire(10), idle);
        stubs.add(link(10), idle);
        stubs.add(NONE, idle);
        stubs.route(&[0, 1]);
        stubs.route(&[2, 3, 4]);
        stubs.analyse();
        stubs.whole.core.sync_time = at(1000);
        stubs
    }

    /// The next time is that of the first event, or arrival at a link or host group at a boundary:
    /// no window begins after an event that sends a packet into another partition.
    #[test]
    fn the_next_time_is_that_of_all_that_could_affect_another_partition() {
        let mut stubs = two_paths();
        let partition = &mut stubs.whole;
        assert_eq!(partition.next_time(), Time::NEVER);
        send_ahead(&mut partition.core.channels, (1, 0), &packet(1, RouteId::new(0)), at(30));
        send_ahead(&mut partition.core.channels, (3, 0), &packet(2, RouteId::new(1)), at(40));
        partition.core.event_list.insert(at(50), ElementId::new(4), 0);
        // Links and hosts that are not at a boundary do not count.
        assert_eq!(partition.next_time(), at(50));
        partition.boundaries.push(ElementId::new(3));
        assert_eq!(partition.next_time(), at(40));
        partition.groups_at_boundaries.push(0);
        assert_eq!(partition.next_time(), at(30));
    }

    /// A window brings all that concerns a boundary up to its end, hosts before the links that they
    /// send into, and lets nothing run ahead of it: no packet is missing in the partitions that it
    /// crosses into.
    #[test]
    fn a_window_leaves_nothing_undone_at_boundaries() {
        let mut stubs = two_paths();
        let partition = &mut stubs.whole;
        partition.boundaries.push(ElementId::new(3));
        partition.groups_at_boundaries.push(0);
        partition.start();
        send_ahead(&mut partition.core.channels, (1, 0), &packet(1, RouteId::new(0)), at(30));
        send_ahead(&mut partition.core.channels, (1, 0), &packet(2, RouteId::new(0)), at(31));
        partition.core.event_list.insert(at(25), ElementId::new(4), 6);
        partition.core.event_list.insert(at(31), ElementId::new(4), 7);
        partition.pass_window(at(30));
        // The event that is due; then the host, once the link before it has sent what has left, up
        // to the end; then the link at the boundary.
        let expected =
            [(4, 25, "wake", 6), (0, 30, "notify", 0), (1, 30, "receive", 1), (3, 30, "notify", 0)];
        assert_eq!(stubs.log.take(), expected);
        let core = &partition.core;
        assert_eq!((core.sync_time, core.lbts, core.event_list.now()), (at(30), at(30), at(30)));
    }

    /// Host groups are brought up to the end of a run before elements are counted, so counters
    /// include the packets that deferred hosts receive and send by then.
    #[test]
    fn host_groups_come_before_the_counters_of_elements() {
        let mut stubs = two_paths();
        let partition = &mut stubs.whole;
        send_ahead(&mut partition.core.channels, (1, 0), &packet(1, RouteId::new(0)), at(30));
        partition.finish(at(40));
        let counts = (0..5).map(|me| (me, 40, "count", 0));
        let group = [(0, 40, "notify", 0), (1, 30, "receive", 1)];
        assert_eq!(stubs.log.take(), group.into_iter().chain(counts).collect::<Vec<_>>());
        // Each stub says that it holds one packet.
        assert_eq!(partition.held(), 5);
    }

    /// A run starts with its receivers armed: links are notified of what was sent ahead to them in
    /// the start, host groups have an alarm, and sinks are notified in batches.
    #[test]
    fn all_is_armed_when_a_run_starts() {
        let mut stubs = Stubs::new();
        stubs.add(wire(10), |call, cx| {
            if call == Call::Start {
                cx.send_ahead(&packet(1, RouteId::new(1)), Time::from_ps(30));
                cx.send_ahead(&packet(2, RouteId::new(2)), Time::from_ps(31));
            }
        });
        stubs.add(Lookahead { can_defer: true, ..NONE }, timers(&[(70, 1)]));
        stubs.add(link(10), idle);
        stubs.route(&[0, SINK]);
        stubs.route(&[0, 1]);
        stubs.route(&[0, 2]);
        stubs.analyse();
        let partition = &mut stubs.whole;
        partition.start();
        assert_eq!(stubs.log.take(), [(2, 0, "notify", 0)]);
        // Its first packet comes before its timer, and its slack is 10 ms.
        assert_eq!(partition.groups[0].alarm, at(30 + 10_000_000_000));
        let sinks: Vec<ReceiverId> = partition.notified_sinks().collect();
        assert_eq!(sinks, [ReceiverId::new(3)]);
        assert!(partition.core.channels.inputs(ReceiverId::new(3)).is_batched());
    }

    /// Events that are no hops count as five times the work of a hop, so load balancing does not
    /// take partitions of many hosts for as idle as those of links alone.
    #[test]
    fn events_that_are_no_hops_are_five_times_the_work() {
        let mut partition = Partition { events: 12, ..Partition::default() };
        (partition.core.virtual_events, partition.core.counters.hops) = (-2, 4);
        // Ten events, four of them hops: 4 + 5 x 6.
        assert_eq!(partition.work(), 34);
        partition.core.counters.hops = 11;
        assert_eq!(partition.work(), 11);
    }
}
