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
/// A four-ary heap: for the few dozen events that are pending when each busy component holds one, its two
/// or three levels lie in a few cache lines. Taking an event leaves a hole at the root which the next
/// insertion fills: a component that reschedules itself, the commonest case, costs one sift.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    heap: Vec<Entry>,
    hole: bool,
    inserted: u64,
    now: Time,
}

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
        self.heap.len() - usize::from(self.hole)
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wake component `target` at `time` with `token`. An instant in the past counts as now.
    #[inline]
    pub fn insert(&mut self, time: Time, target: u32, token: u32) {
        debug_assert!(time >= self.now, "an event in the past: {time:?} before {:?}", self.now);
        let entry =
            Entry { time: time.max(self.now).ps(), number: self.inserted, target, token };
        self.inserted += 1;
        if self.hole {
            self.hole = false;
            self.sift_down(entry);
        } else {
            self.sift_up(entry);
        }
    }

    /// Take the first event if it is due at or before `limit`; time moves on to it.
    #[inline]
    pub fn take(&mut self, limit: Time) -> Option<Event> {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.heap.pop()
                && !self.heap.is_empty()
            {
                self.sift_down(last);
            }
        }
        let first = self.heap.first()?;
        if first.time > limit.ps() {
            return None;
        }
        self.hole = true;
        self.now = Time::from_ps(first.time);
        Some(Event { time: self.now, target: first.target, token: first.token })
    }

    /// Let time pass to `time` when nothing is due before.
    pub fn pass_to(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    #[inline]
    fn sift_up(&mut self, entry: Entry) {
        let mut at = self.heap.len();
        self.heap.push(entry);
        while at > 0 {
            let parent = (at - 1) / 4;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Put `entry` in at the root, whose own entry is gone.
    #[inline]
    fn sift_down(&mut self, entry: Entry) {
        let heap = self.heap.as_mut_slice();
        let length = heap.len();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            if first >= length {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + 4).min(length) {
                if heap[child].before(&heap[least]) {
                    least = child;
                }
            }
            if !heap[least].before(&entry) {
                break;
            }
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// Otherwise causes could come after effects, or ties be broken by accident: the agenda must hand out
    /// what a list sorted by (time, insertion number) does, under random mixtures of both calls.
    #[test]
    fn events_come_in_the_order_of_time_then_insertion() {
        let mut stream = Streams::new(3, 0).named("agenda");
        let mut agenda = Agenda::new();
        let mut sorted: Vec<(u64, u64)> = Vec::new();
        let mut number = 0;
        for _ in 0..200_000 {
            if stream.happens(0.55) {
                // Few distinct instants, so that ties are common.
                let time = agenda.now().ps() + stream.below(8);
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
            if sorted.len() > 60 {
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
