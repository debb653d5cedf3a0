//! The event list of a discrete-event simulation (also: pending event set).
//!
//! See D. W. Jones, "An empirical comparison of priority-queue and event-set implementations",
//! CACM 29 (1986) 300-311.

use forebay_units::Time;

use crate::ElementId;
use crate::ladder::{Key, Ladder, ps};

/// An event notice: which element to wake, when, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Time at which it is due.
    pub time: Time,
    /// The element to wake.
    pub target: ElementId,
    /// The element's own identifier of the event, given when it was scheduled.
    pub token: u32,
}

/// Pending events, dequeued in the order of (time, target, token).
///
/// The order depends on nothing that happens at run time, such as the order of insertion: so it is
/// the same whether a component sets a timer early or late, and in a partition that another thread
/// runs. Two events equal in all three are the same event twice.
///
/// There are three levels. The events due next are in `front`, a short array in falling order:
/// dequeuing is a pop from its end, and a component that reschedules itself shifts only the few
/// events due before its next one. All events from `heap_min` on are in a four-ary heap, where the
/// many timers of a network that are due much later cost nothing until their time comes near.
///
/// The larger a heap, the more levels an event passes, and one of a million timers would not even
/// fit into the processor's caches. So a heap that grows too large is moved into a [`Ladder`]
/// queue, where the cost of an event does not depend on their number. The ladder dequeues the
/// events before `ladder_min` into `sorted_run`, which is sorted and taken from its end, while the
/// heap holds what is inserted among them.
#[derive(Clone, Debug)]
pub struct EventList {
    /// In falling order; none after `heap_min`.
    front: Vec<Key>,
    /// A four-ary min-heap; none before `heap_min`, all before `ladder_min`.
    heap: Vec<Key>,
    /// The bucket that the ladder dequeued last, in falling order; none before `heap_min`, all
    /// before `ladder_min`.
    sorted_run: Vec<Key>,
    /// Number of events in the heap beyond which they are moved into the ladder.
    heap_limit: usize,
    /// Lower bound of all events outside the front: of the heap, the sorted run and the ladder.
    /// The greatest key only if there are none.
    heap_min: Key,
    ladder: Ladder,
    /// Lower bound of all events in the ladder; the greatest key only if there are none.
    ladder_min: Key,
    now: Time,
}

/// Number of events moved to the front at a time.
const REFILL: usize = 16;
/// Greatest length of the front: beyond it, insertion costs more than in the heap.
const FRONT_LIMIT: usize = 48;

/// Initial limit of the heap: of more events, each costs less in a ladder.
const HEAP_LIMIT: usize = 64;

#[inline(always)]
fn key(time: Time, target: ElementId, token: u32) -> Key {
    Key::from(time.ps()) << 64 | Key::from(target.number()) << 32 | Key::from(token)
}

#[inline(always)]
fn event_of(event: Key) -> Event {
    let target = ElementId::of_number((event >> 32) as u32);
    Event { time: Time::from_ps(ps(event)), target, token: event as u32 }
}

impl Default for EventList {
    fn default() -> Self {
        Self {
            front: Vec::new(),
            heap: Vec::new(),
            sorted_run: Vec::new(),
            heap_limit: HEAP_LIMIT,
            heap_min: Key::MAX,
            ladder: Ladder::default(),
            ladder_min: Key::MAX,
            now: Time::ZERO,
        }
    }
}

impl EventList {
    /// An empty event list at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The simulation clock: the time of the event taken last, or that given to
    /// [`EventList::advance_to`].
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.front.len() + self.heap.len() + self.sorted_run.len() + self.ladder.len()
    }

    /// Returns true if no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of the first event; `None` if there is none.
    #[inline]
    #[must_use]
    pub fn next_time(&mut self) -> Option<Time> {
        self.first().map(|event| Time::from_ps(ps(event)))
    }

    /// A time before which no event is due, perhaps not the latest such: it takes no search.
    #[inline]
    #[must_use]
    pub fn lower_bound(&self) -> Time {
        // No event outside the front comes before `heap_min`.
        Time::from_ps(ps(self.front.last().copied().unwrap_or(self.heap_min)))
    }

    /// Schedule an event that wakes `target` at `time` with `token`. A time in the past
    /// counts as now.
    #[inline(always)]
    pub fn insert(&mut self, time: Time, target: ElementId, token: u32) {
        debug_assert!(time >= self.now, "event in the past: {time:?} before {:?}", self.now);
        let event = key(time.max(self.now), target, token);
        if event >= self.heap_min {
            self.insert_behind_front(event);
            return;
        }
        let mut at = self.front.len();
        self.front.push(event);
        let front = self.front.as_mut_slice();
        while at > 0 && front[at - 1] < event {
            front[at] = front[at - 1];
            at -= 1;
        }
        front[at] = event;
        if self.front.len() > FRONT_LIMIT {
            self.spill_front();
        }
    }

    /// Dequeue the first event if it is due at or before `limit`, and advance the clock to it.
    #[inline(always)]
    pub fn take(&mut self, limit: Time) -> Option<Event> {
        let event = self.first()?;
        (Time::from_ps(ps(event)) <= limit).then(|| self.take_first(event))
    }

    /// Dequeue the first event if it precedes every possible event of `target` at `time`, and
    /// advance the clock to it.
    #[inline]
    pub fn take_before(&mut self, (time, target): (Time, ElementId)) -> Option<Event> {
        let event = self.first()?;
        (event < key(time, target, 0)).then(|| self.take_first(event))
    }

    /// The events due next, if the front was empty and has just been refilled from a very large
    /// event list: for callers that [prefetch](crate::fetch()) the data these events need. Called
    /// before each event is taken; mostly empty.
    #[inline(always)]
    pub fn refilled(&mut self) -> impl Iterator<Item = Event> {
        let new = self.front.is_empty() && self.ladder.len() > 0;
        if new {
            self.refill();
        }
        let front = if new { self.front.as_slice() } else { &[] };
        front.iter().rev().map(|event| event_of(*event))
    }

    /// Advance the clock to `time`, before which no event is due.
    pub fn advance_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// The first event, which is then at the end of the front.
    #[inline(always)]
    fn first(&mut self) -> Option<Key> {
        if self.front.is_empty() {
            // Event lists that are mostly empty are queried as often as others, so a refill is
            // spared where no events are held outside the front.
            if self.heap_min == Key::MAX {
                return None;
            }
            self.refill();
        }
        self.front.last().copied()
    }

    /// Dequeue `event`, which is the first, and advance the clock to it.
    #[inline(always)]
    fn take_first(&mut self, event: Key) -> Event {
        self.front.pop();
        self.now = Time::from_ps(ps(event));
        event_of(event)
    }

    /// Move the later half of the front to the heap.
    #[cold]
    fn spill_front(&mut self) {
        for event in self.front.drain(..FRONT_LIMIT / 2) {
            self.heap_min = self.heap_min.min(event);
            push(&mut self.heap, event);
        }
    }

    /// Insert an event that does not come before `heap_min`.
    #[inline]
    fn insert_behind_front(&mut self, event: Key) {
        if event >= self.ladder_min {
            self.ladder.insert(event);
            return;
        }
        push(&mut self.heap, event);
        if self.heap.len() > self.heap_limit {
            self.spill_heap();
        }
    }

    /// Move the first events of the heap and the sorted run to the front, which is empty.
    #[cold]
    fn refill(&mut self) {
        if self.heap.is_empty() && self.sorted_run.is_empty() {
            self.refill_run();
        }
        let first_of = |heap: &[Key]| heap.first().copied().unwrap_or(self.ladder_min);
        let start = self.sorted_run.len().saturating_sub(REFILL);
        // The usual case is a copy, as few events are inserted among those that the ladder has just
        // dequeued.
        if self.sorted_run.get(start).is_some_and(|last| *last < first_of(&self.heap)) {
            self.front.extend_from_slice(&self.sorted_run[start..]);
            self.sorted_run.truncate(start);
        } else {
            while self.front.len() < REFILL {
                let first = match (self.sorted_run.last(), self.heap.first()) {
                    (Some(sorted), heap) if heap.is_none_or(|heap| sorted < heap) => {
                        self.sorted_run.pop()
                    }
                    _ => pop(&mut self.heap),
                };
                let Some(event) = first else { break };
                self.front.push(event);
            }
            self.front.reverse();
        }
        let sorted = self.sorted_run.last().copied().unwrap_or(self.ladder_min);
        self.heap_min = sorted.min(self.heap.first().copied().unwrap_or(self.ladder_min));
    }

    /// Move all but the first events of the heap and the sorted run into the ladder, if their times
    /// differ.
    #[cold]
    fn spill_heap(&mut self) {
        self.heap.append(&mut self.sorted_run);
        if self.ladder.add_rung(&mut self.heap, self.ladder_min) {
            self.refill_run();
        } else {
            // A sorted array is a heap.
            self.heap.sort_unstable();
            self.heap_limit *= 2;
        }
    }

    /// Refill the sorted run, which is empty, from the ladder.
    fn refill_run(&mut self) {
        self.heap_limit = HEAP_LIMIT;
        self.ladder_min = self.ladder.pop_bucket(&mut self.sorted_run);
        self.sorted_run.sort_unstable_by(|one, other| other.cmp(one));
    }
}

/// Insert `event` into a four-ary heap.
#[inline]
fn push(heap: &mut Vec<Key>, event: Key) {
    let mut at = heap.len();
    heap.push(event);
    while at > 0 {
        let parent = (at - 1) / 4;
        if event >= heap[parent] {
            break;
        }
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = event;
}

/// Remove the first event of a four-ary heap.
fn pop(heap: &mut Vec<Key>) -> Option<Key> {
    let last = heap.pop()?;
    let Some(first) = heap.first().copied() else {
        return Some(last);
    };
    let heap = heap.as_mut_slice();
    let mut at = 0;
    while let Some((child, event)) = least_child(heap, at)
        && event < last
    {
        heap[at] = event;
        at = child;
    }
    heap[at] = last;
    Some(first)
}

/// The least child of node `at` in a four-ary heap, with its position. Of four children, as most
/// nodes have, it is selected without branches, which could not be predicted.
#[inline(always)]
fn least_child(heap: &[Key], at: usize) -> Option<(usize, Key)> {
    let first = 4 * at + 1;
    let children = heap.get(first..)?;
    let Some([a, b, c, d]) = children.first_chunk() else {
        return (first..).zip(children.iter().copied()).reduce(earlier_of);
    };
    let low = earlier_of((first, *a), (first + 1, *b));
    let high = earlier_of((first + 2, *c), (first + 3, *d));
    Some(earlier_of(low, high))
}

/// The lesser of two, each with its position: the first if they are equal. Selected without a
/// branch.
#[inline(always)]
pub fn earlier_of<T: Copy + Ord>(one: (usize, T), other: (usize, T)) -> (usize, T) {
    let second = other.1 < one.1;
    (if second { other.0 } else { one.0 }, if second { other.1 } else { one.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// The event list dequeues what a list sorted by (time, target, token) does, under random
    /// mixtures of insertions and removals: effects do not precede their causes, and ties are not
    /// broken by accident.
    #[test]
    fn events_come_in_the_order_of_time_then_target_then_token() {
        let mut stream = Streams::new(3, 0).named("event_list");
        let mut event_list = EventList::new();
        let mut sorted: Vec<(u64, ElementId, u32)> = Vec::new();
        for _ in 0..200_000 {
            if stream.happens(0.55) {
                // Few distinct times, so that ties are common; some due soon, some much later.
                let reach = if stream.happens(0.5) { 8 } else { 200 };
                let time = event_list.now().ps() + stream.below(reach);
                let target = ElementId::new(stream.below(4) as usize);
                let token = stream.below(3) as u32;
                event_list.insert(Time::from_ps(time), target, token);
                sorted.push((time, target, token));
            } else {
                let next = sorted.iter().copied().min();
                assert_eq!(event_list.next_time().map(Time::ps), next.map(|(time, ..)| time));
                let taken = event_list.take(Time::NEVER);
                assert_eq!(taken.map(|e| (e.time.ps(), e.target, e.token)), next);
                let at = sorted.iter().position(|entry| Some(*entry) == next);
                at.map(|at| sorted.swap_remove(at));
                assert_eq!(event_list.len(), sorted.len());
            }
            if sorted.len() > 400 {
                while event_list.take(Time::NEVER).is_some() {}
                sorted.clear();
            }
        }
    }

    /// Events come in order in a network of a million timers, too: the same with so many events
    /// that they are on the rungs of the ladder, some close together, some at one instant, some far
    /// ahead or at the end of time, while others are inserted and removed. The events given for
    /// prefetching begin with the one that is dequeued next.
    #[test]
    fn very_many_events_come_in_order() {
        let mut stream = Streams::new(4, 0).named("event_list");
        let mut event_list = EventList::new();
        let mut sorted = std::collections::BTreeSet::new();
        let mut insert = |event_list: &mut EventList, token: u32| {
            let now = event_list.now().ps();
            let ahead = match stream.below(20) {
                0 => stream.below(1 << 60),
                1 => (u64::MAX - now).saturating_sub(stream.below(2)),
                2..6 => 1_000_000,
                6..9 => stream.below(100),
                _ => stream.below(1_000_000_000),
            };
            let target = ElementId::new(stream.below(4) as usize);
            event_list.insert(Time::from_ps(now.saturating_add(ahead)), target, token);
            (now.saturating_add(ahead), target, token)
        };
        for token in 0..100_000 {
            sorted.insert(insert(&mut event_list, token));
        }
        let mut prefetched = 0;
        for token in 100_000..400_000 {
            assert_eq!(event_list.len(), sorted.len());
            let first = sorted.pop_first();
            let (time, target) =
                first.map_or((0, ElementId::new(0)), |(time, target, _)| (time, target));
            let time = Time::from_ps(time);
            assert!(event_list.lower_bound() <= time || first.is_none());
            let new: Vec<Event> = event_list.refilled().collect();
            assert!(new.first().is_none_or(|event| (event.time, event.target) == (time, target)));
            prefetched += new.len();
            assert_eq!(event_list.next_time().map(Time::ps), first.map(|(time, ..)| time));
            assert_eq!(event_list.take_before((time, target)), None);
            let taken = match token % 3 {
                0 => event_list.take_before((time, ElementId::new(target.index() + 1))),
                _ => event_list.take(Time::NEVER),
            };
            assert_eq!(taken.map(|e| (e.time.ps(), e.target, e.token)), first);
            // Twice as many are removed as are inserted, so that the ladder is emptied to its end.
            if token % 2 == 0 {
                sorted.insert(insert(&mut event_list, token));
            }
        }
        assert!(prefetched > 0, "no events were given for prefetching");
    }

    /// Events after the limit stay in the list: a run until some time loses none of them.
    #[test]
    fn nothing_is_taken_beyond_the_limit() {
        let (mut event_list, [one, two]) = (EventList::new(), [1, 2].map(ElementId::new));
        event_list.insert(Time::from_ps(5), one, 0);
        event_list.insert(Time::from_ps(9), two, 0);
        assert_eq!(event_list.take(Time::from_ps(5)).map(|e| e.target), Some(one));
        assert_eq!(event_list.take(Time::from_ps(8)), None);
        event_list.advance_to(Time::from_ps(8));
        assert_eq!(event_list.now(), Time::from_ps(8));
        assert_eq!(event_list.take(Time::from_ps(9)).map(|e| e.target), Some(two));
        assert!(event_list.is_empty());
    }
}
