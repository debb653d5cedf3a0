//! The event list.

use forebay_units::Time;

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

/// Pending events, handed out by (time, insertion number).
///
/// Two parts. The events due next stand in a short sorted line, soonest last: handing one out is a
/// pop, and a component that reschedules itself passes the few events due before its next one.
/// Everything from `border` on waits in a four-ary heap, where the many far timers of a network
/// cost nothing until their time comes near.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Sorted by falling (time, number); all before `border`, or at it with smaller numbers than in
    /// `far`.
    near: Vec<Entry>,
    /// A heap by (time, number); none before `border`.
    far: Vec<Entry>,
    border: u64,
    inserted: u64,
    now: Time,
}

/// Events moved from the heap to the line at a time.
const REFILL: usize = 16;
/// Longest line: beyond it, passing through costs more than the heap.
const LONGEST: usize = 48;

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    number: u64,
    target: u32,
    token: u32,
}

impl Entry {
    #[inline]
    fn before(&self, other: &Self) -> bool {
        (self.time, self.number) < (other.time, other.number)
    }
}

impl Default for Agenda {
    fn default() -> Self {
        Self { near: Vec::new(), far: Vec::new(), border: u64::MAX, inserted: 0, now: Time::ZERO }
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

    /// Events inserted so far.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wake component `target` at `time` with `token`. An instant in the past counts as now.
    #[inline(always)]
    pub fn insert(&mut self, time: Time, target: u32, token: u32) {
        debug_assert!(time >= self.now, "an event in the past: {time:?} before {:?}", self.now);
        let time = time.max(self.now).ps();
        let entry = Entry { time, number: self.inserted, target, token };
        self.inserted += 1;
        if time >= self.border {
            push(&mut self.far, entry);
            return;
        }
        // Of all events at its instant it is the last inserted, so it comes after them: comparing
        // times is enough.
        let mut at = self.near.len();
        self.near.push(entry);
        while at > 0 && self.near[at - 1].time <= time {
            self.near[at] = self.near[at - 1];
            at -= 1;
        }
        self.near[at] = entry;
        if self.near.len() > LONGEST {
            self.shorten();
        }
    }

    /// Take the first event if it is due at or before `limit`; time moves on to it.
    #[inline(always)]
    pub fn take(&mut self, limit: Time) -> Option<Event> {
        if self.near.is_empty() {
            self.refill();
        }
        let Entry { time, target, token, .. } = *self.near.last()?;
        if time > limit.ps() {
            return None;
        }
        self.near.pop();
        self.now = Time::from_ps(time);
        Some(Event { time: self.now, target, token })
    }

    /// Let time pass to `time` when nothing is due before.
    pub fn pass_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Move the later half of the line to the heap.
    #[cold]
    fn shorten(&mut self) {
        for entry in self.near.drain(..LONGEST / 2) {
            self.border = self.border.min(entry.time);
            push(&mut self.far, entry);
        }
    }

    /// Move the first events of the heap to the empty line.
    #[cold]
    fn refill(&mut self) {
        while self.near.len() < REFILL
            && let Some(entry) = pop(&mut self.far)
        {
            self.near.push(entry);
        }
        self.near.reverse();
        self.border = self.far.first().map_or(u64::MAX, |first| first.time);
    }
}

/// Add `entry` to a four-ary heap.
#[inline]
fn push(heap: &mut Vec<Entry>, entry: Entry) {
    let mut at = heap.len();
    heap.push(entry);
    while at > 0 {
        let parent = (at - 1) / 4;
        if !entry.before(&heap[parent]) {
            break;
        }
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = entry;
}

/// Take the first entry of a four-ary heap.
fn pop(heap: &mut Vec<Entry>) -> Option<Entry> {
    let last = heap.pop()?;
    let Some(first) = heap.first().copied() else {
        return Some(last);
    };
    let heap = heap.as_mut_slice();
    let mut at = 0;
    loop {
        let children = 4 * at + 1;
        if children >= heap.len() {
            break;
        }
        let mut least = children;
        for child in children + 1..(children + 4).min(heap.len()) {
            if heap[child].before(&heap[least]) {
                least = child;
            }
        }
        if !heap[least].before(&last) {
            break;
        }
        heap[at] = heap[least];
        at = least;
    }
    heap[at] = last;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// Otherwise causes could come after effects, or ties be broken by accident: the agenda must
    /// hand out what a list sorted by (time, insertion number) does, under random mixtures of both
    /// calls.
    #[test]
    fn events_come_in_the_order_of_time_then_insertion() {
        let mut stream = Streams::new(3, 0).named("agenda");
        let mut agenda = Agenda::new();
        let mut sorted: Vec<(u64, u64)> = Vec::new();
        let mut number = 0;
        for _ in 0..200_000 {
            if stream.happens(0.55) {
                // Few distinct instants, so that ties are common; near and far ones.
                let reach = if stream.happens(0.5) { 8 } else { 200 };
                let time = agenda.now().ps() + stream.below(reach);
                agenda.insert(Time::from_ps(time), number as u32, 0);
                sorted.push((time, number));
                number += 1;
            } else {
                let next = sorted.iter().copied().min();
                let taken = agenda.take(Time::NEVER);
                assert_eq!(taken.map(|e| (e.time.ps(), u64::from(e.target))), next);
                sorted.retain(|entry| Some(*entry) != next);
                assert_eq!(agenda.len(), sorted.len());
            }
            if sorted.len() > 400 {
                while agenda.take(Time::NEVER).is_some() {}
                sorted.clear();
            }
        }
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
