//! The event list.

use forebay_units::Time;

use crate::ladder::Ladder;

/// Something due: who is to be woken, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When it is due.
    pub time: Time,
    /// Number of the component to wake.
    pub target: u32,
    /// What the component called this event when it scheduled it.
    pub token: u32,
}

/// Pending events, handed out by (time, target, token).
///
/// The order names nothing that happens at run time, such as who inserted first: so it is the same
/// whether a component sets a timer early or late, and in a part of the network that another thread
/// runs. Two events equal in all three are the same event twice.
///
/// Two parts. The events due next stand in a short sorted line, soonest last: handing one out is a
/// pop, and a component that reschedules itself passes the few events due before its next one.
/// Everything from `border` on waits in a four-ary heap, where the many far timers of a network
/// cost nothing until their time comes near.
///
/// The larger a heap, the more steps an event takes through it, and one of a million timers would
/// not even fit into the processor's caches. So a heap that grows too large becomes a [`Ladder`],
/// where an event costs the same however many there are. It hands over what comes before `horizon`,
/// which is sorted and taken from its end; the heap holds what is inserted among it meanwhile.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Sorted, falling; all before `border`, or equal to it.
    near: Vec<Key>,
    /// A heap; none before `border`, all before `horizon`.
    far: Vec<Key>,
    /// What the ladder has handed over: sorted, falling; none before `border`, all before
    /// `horizon`.
    run: Vec<Key>,
    /// Events in the heap beyond which it is divided.
    most: usize,
    /// The greatest possible if nothing is held but the line.
    border: Key,
    ladder: Ladder,
    horizon: Key,
    now: Time,
}

/// Events moved from the heap to the line at a time.
const REFILL: usize = 16;
/// Longest line: beyond it, passing through costs more than the heap.
const LONGEST: usize = 48;

/// Events that the heap may always hold: of more, each costs less in a ladder.
const LARGEST: usize = 128;

/// An event as one number: time, target, token.
pub(crate) type Key = u128;

/// The time of an event in ps.
#[inline(always)]
pub(crate) fn ps(event: Key) -> u64 {
    (event >> 64) as u64
}

#[inline(always)]
fn key(time: Time, target: u32, token: u32) -> Key {
    Key::from(time.ps()) << 64 | Key::from(target) << 32 | Key::from(token)
}

#[inline(always)]
fn event_of(event: Key) -> Event {
    Event { time: Time::from_ps(ps(event)), target: (event >> 32) as u32, token: event as u32 }
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            near: Vec::new(),
            far: Vec::new(),
            run: Vec::new(),
            most: LARGEST,
            border: Key::MAX,
            ladder: Ladder::default(),
            horizon: Key::MAX,
            now: Time::ZERO,
        }
    }
}

impl Agenda {
    /// An empty agenda at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the event handed out last, or reached by [`Agenda::pass_to`].
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len() + self.run.len() + self.ladder.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of the first event.
    #[inline]
    #[must_use]
    pub fn soonest(&mut self) -> Option<Time> {
        self.first().map(|event| Time::from_ps(ps(event)))
    }

    /// A time before which nothing is due, perhaps not the latest: what is known without a search.
    #[inline]
    #[must_use]
    pub fn idle_until(&self) -> Time {
        // All that is not in the line does not come before the border.
        Time::from_ps(ps(self.near.last().copied().unwrap_or(self.border)))
    }

    /// Wake component `target` at `time` with `token`. An instant in the past counts as now.
    #[inline(always)]
    pub fn insert(&mut self, time: Time, target: u32, token: u32) {
        debug_assert!(time >= self.now, "an event in the past: {time:?} before {:?}", self.now);
        let event = key(time.max(self.now), target, token);
        if event >= self.border {
            self.insert_far(event);
            return;
        }
        let mut at = self.near.len();
        self.near.push(event);
        let line = self.near.as_mut_slice();
        while at > 0 && line[at - 1] < event {
            line[at] = line[at - 1];
            at -= 1;
        }
        line[at] = event;
        if self.near.len() > LONGEST {
            self.shorten();
        }
    }

    /// Take the first event if it is due at or before `limit`; time moves on to it.
    #[inline(always)]
    pub fn take(&mut self, limit: Time) -> Option<Event> {
        let event = self.first()?;
        (Time::from_ps(ps(event)) <= limit).then(|| self.take_first(event))
    }

    /// Take the first event if it comes before any of `target` at `time`; time moves on to it.
    #[inline]
    pub fn take_before(&mut self, (time, target): (Time, u32)) -> Option<Event> {
        let event = self.first()?;
        (event < key(time, target, 0)).then(|| self.take_first(event))
    }

    /// The events that come next, if they have just been found among very many: for whoever wants
    /// to [fetch](crate::fetch()) what they need. Asked before each event is taken; mostly none.
    #[inline(always)]
    pub fn newcomers(&mut self) -> impl Iterator<Item = Event> {
        let new = self.near.is_empty() && self.ladder.len() > 0;
        if new {
            self.refill();
        }
        let line = if new { self.near.as_slice() } else { &[] };
        line.iter().rev().map(|event| event_of(*event))
    }

    /// Let time pass to `time` when nothing is due before.
    pub fn pass_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// The first event, which stands at the end of the line then.
    #[inline(always)]
    fn first(&mut self) -> Option<Key> {
        if self.near.is_empty() {
            // Lists that are mostly empty are asked as often as others: nothing else is held.
            if self.border == Key::MAX {
                return None;
            }
            self.refill();
        }
        self.near.last().copied()
    }

    /// Take `event`, which is the first; time moves on to it.
    #[inline(always)]
    fn take_first(&mut self, event: Key) -> Event {
        self.near.pop();
        self.now = Time::from_ps(ps(event));
        event_of(event)
    }

    /// Move the later half of the line to the heap.
    #[cold]
    fn shorten(&mut self) {
        for event in self.near.drain(..LONGEST / 2) {
            self.border = self.border.min(event);
            push(&mut self.far, event);
        }
    }

    #[inline]
    fn insert_far(&mut self, event: Key) {
        if event >= self.horizon {
            self.ladder.insert(event);
            return;
        }
        push(&mut self.far, event);
        if self.far.len() > self.most {
            self.divide();
        }
    }

    /// Move the first events of heap and run to the empty line.
    #[cold]
    fn refill(&mut self) {
        if self.far.is_empty() && self.run.is_empty() {
            self.descend();
        }
        let next = |heap: &[Key]| heap.first().copied().unwrap_or(self.horizon);
        let most = self.run.len().saturating_sub(REFILL);
        // Few are inserted into what the ladder has just handed over.
        if self.run.get(most).is_some_and(|last| *last < next(&self.far)) {
            self.near.extend_from_slice(&self.run[most..]);
            self.run.truncate(most);
        } else {
            while self.near.len() < REFILL {
                let soonest = match (self.run.last(), self.far.first()) {
                    (Some(sorted), far) if far.is_none_or(|far| sorted < far) => self.run.pop(),
                    _ => pop(&mut self.far),
                };
                let Some(event) = soonest else { break };
                self.near.push(event);
            }
            self.near.reverse();
        }
        let sorted = self.run.last().copied().unwrap_or(self.horizon);
        self.border = sorted.min(self.far.first().copied().unwrap_or(self.horizon));
    }

    /// Leave all but the first events of heap and run to the ladder, if their times differ.
    #[cold]
    fn divide(&mut self) {
        self.far.append(&mut self.run);
        if self.ladder.take_over(&mut self.far, self.horizon) {
            self.descend();
        } else {
            // What is in order is a heap.
            self.far.sort_unstable();
            self.most *= 2;
        }
    }

    /// Fill the empty run from the ladder.
    fn descend(&mut self) {
        self.most = LARGEST;
        self.horizon = self.ladder.hand_over(&mut self.run);
        self.run.sort_unstable_by(|one, other| other.cmp(one));
    }
}

/// Add `event` to a four-ary heap.
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

/// Take the first event of a four-ary heap.
fn pop(heap: &mut Vec<Key>) -> Option<Key> {
    let last = heap.pop()?;
    let Some(first) = heap.first().copied() else {
        return Some(last);
    };
    let heap = heap.as_mut_slice();
    let mut at = 0;
    while let Some((least, event)) = least_child(heap, at)
        && event < last
    {
        heap[at] = event;
        at = least;
    }
    heap[at] = last;
    Some(first)
}

/// Where the first event below `at` in a four-ary heap is, and which. Of four children, as most
/// have, it is chosen without jumps, which could not be foretold.
#[inline(always)]
fn least_child(heap: &[Key], at: usize) -> Option<(usize, Key)> {
    let first = 4 * at + 1;
    let children = heap.get(first..)?;
    let Some([a, b, c, d]) = children.first_chunk() else {
        return (first..).zip(children.iter().copied()).reduce(sooner);
    };
    let low = sooner((first, *a), (first + 1, *b));
    let high = sooner((first + 2, *c), (first + 3, *d));
    Some(sooner(low, high))
}

/// The sooner of two, each with its place: the first if they are equal. Chosen without a jump.
#[inline(always)]
pub fn sooner<T: Copy + Ord>(one: (usize, T), other: (usize, T)) -> (usize, T) {
    let second = other.1 < one.1;
    (if second { other.0 } else { one.0 }, if second { other.1 } else { one.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// Otherwise causes could come after effects, or ties be broken by accident: the agenda must
    /// hand out what a list sorted by (time, target, token) does, under random mixtures of both
    /// calls.
    #[test]
    fn events_come_in_the_order_of_time_then_target_then_token() {
        let mut stream = Streams::new(3, 0).named("agenda");
        let mut agenda = Agenda::new();
        let mut sorted: Vec<(u64, u32, u32)> = Vec::new();
        for _ in 0..200_000 {
            if stream.happens(0.55) {
                // Few distinct instants, so that ties are common; near and far ones.
                let reach = if stream.happens(0.5) { 8 } else { 200 };
                let time = agenda.now().ps() + stream.below(reach);
                let (target, token) = (stream.below(4) as u32, stream.below(3) as u32);
                agenda.insert(Time::from_ps(time), target, token);
                sorted.push((time, target, token));
            } else {
                let next = sorted.iter().copied().min();
                assert_eq!(agenda.soonest().map(Time::ps), next.map(|(time, ..)| time));
                let taken = agenda.take(Time::NEVER);
                assert_eq!(taken.map(|e| (e.time.ps(), e.target, e.token)), next);
                let at = sorted.iter().position(|entry| Some(*entry) == next);
                at.map(|at| sorted.swap_remove(at));
                assert_eq!(agenda.len(), sorted.len());
            }
            if sorted.len() > 400 {
                while agenda.take(Time::NEVER).is_some() {}
                sorted.clear();
            }
        }
    }

    /// Otherwise a network of a million timers would mix up causes and effects: the same with so
    /// many events that they lie on the rungs of the ladder, some close together, some at one
    /// instant, some far ahead or at the end of time, while others come and go. What is foreseen
    /// begins with what comes next.
    #[test]
    fn very_many_events_come_in_order() {
        let mut stream = Streams::new(4, 0).named("agenda");
        let mut agenda = Agenda::new();
        let mut sorted = std::collections::BTreeSet::new();
        let mut insert = |agenda: &mut Agenda, token: u32| {
            let now = agenda.now().ps();
            let ahead = match stream.below(20) {
                0 => stream.below(1 << 60),
                1 => (u64::MAX - now).saturating_sub(stream.below(2)),
                2..6 => 1_000_000,
                6..9 => stream.below(100),
                _ => stream.below(1_000_000_000),
            };
            let target = stream.below(4) as u32;
            agenda.insert(Time::from_ps(now.saturating_add(ahead)), target, token);
            (now.saturating_add(ahead), target, token)
        };
        for token in 0..100_000 {
            sorted.insert(insert(&mut agenda, token));
        }
        let mut foreseen = 0;
        for token in 100_000..400_000 {
            assert_eq!(agenda.len(), sorted.len());
            let first = sorted.pop_first();
            let (time, target, _) = first.unwrap_or_default();
            let time = Time::from_ps(time);
            assert!(agenda.idle_until() <= time || first.is_none());
            let new: Vec<Event> = agenda.newcomers().collect();
            assert!(new.first().is_none_or(|event| (event.time, event.target) == (time, target)));
            foreseen += new.len();
            assert_eq!(agenda.soonest().map(Time::ps), first.map(|(time, ..)| time));
            assert_eq!(agenda.take_before((time, target)), None);
            let taken = match token % 3 {
                0 => agenda.take_before((time, target + 1)),
                _ => agenda.take(Time::NEVER),
            };
            assert_eq!(taken.map(|e| (e.time.ps(), e.target, e.token)), first);
            // Twice as many go as come, so that the ladder is climbed to its end.
            if token % 2 == 0 {
                sorted.insert(insert(&mut agenda, token));
            }
        }
        assert!(foreseen > 0, "nothing was foreseen");
    }

    /// Otherwise a run until some instant would swallow what comes after it.
    #[test]
    fn nothing_is_taken_beyond_the_limit() {
        let mut agenda = Agenda::new();
        agenda.insert(Time::from_ps(5), 1, 0);
        agenda.insert(Time::from_ps(9), 2, 0);
        assert_eq!(agenda.take(Time::from_ps(5)).map(|e| e.target), Some(1));
        assert_eq!(agenda.take(Time::from_ps(8)), None);
        agenda.pass_to(Time::from_ps(8));
        assert_eq!(agenda.now(), Time::from_ps(8));
        assert_eq!(agenda.take(Time::from_ps(9)).map(|e| e.target), Some(2));
        assert!(agenda.is_empty());
    }
}
