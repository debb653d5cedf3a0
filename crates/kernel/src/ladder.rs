//! Events too many for a heap: in buckets by time, sorted only when their time comes.

use crate::agenda::{Key, ps};

/// Events due from some horizon on (a ladder queue, after Tang, Goh and Thng, ACM TOMACS 15, 2005).
///
/// The rungs of a ladder divide time ever more finely: each covers the last bucket taken from the
/// rung before it. Inserting appends to a bucket; buckets are handed over whole, in their order. So
/// an event is touched a few times and in long runs of memory, however many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    /// From coarse to fine; the last holds what comes first.
    rungs: Vec<Rung>,
    /// Whatever comes after the first rung.
    later: Vec<Key>,
    held: usize,
}

/// Buckets of equal length in time.
#[derive(Clone, Debug)]
struct Rung {
    /// The time in ps at which the first bucket begins, and that at which the last one ends.
    start: u64,
    end: u64,
    /// Each bucket is two to this power of ps long.
    shift: u32,
    buckets: Vec<Vec<Key>>,
    /// The first bucket not handed over.
    next: usize,
}

/// Events that a bucket should hold: few are sorted at less cost each than many, and still fewer
/// would cost more buckets than they save.
const BUCKET: usize = 64;

/// The first event that could happen at `time`, in ps.
fn first_at(time: u64) -> Key {
    Key::from(time) << 64
}

impl Ladder {
    /// Number of events.
    pub(crate) fn len(&self) -> usize {
        self.held
    }

    /// Insert an event that is not before the horizon given last.
    pub(crate) fn insert(&mut self, event: Key) {
        self.held += 1;
        let time = ps(event);
        match self.rungs.iter_mut().rev().find(|rung| time < rung.end) {
            Some(rung) => rung.insert(event),
            None => self.later.push(event),
        }
    }

    /// Take over all of `events`, which are those before `horizon`: a new rung. False, and nothing
    /// is done, if they all are due at one time.
    pub(crate) fn take_over(&mut self, events: &mut Vec<Key>, horizon: Key) -> bool {
        let times = || events.iter().map(|event| ps(*event));
        let (Some(start), Some(last)) = (times().min(), times().max()) else {
            return false;
        };
        if start == last {
            return false;
        }
        // Without a horizon nothing is held yet, and what comes after the last goes to `later`.
        let end = if horizon == Key::MAX { last } else { ps(horizon) };
        self.rungs.push(Rung::new(start, end, events.len()));
        events.drain(..).for_each(|event| self.insert(event));
        true
    }

    /// Move the first events to `to`, which is empty. Gives the horizon: whatever is left, and
    /// whatever is to be inserted here, does not come before it.
    pub(crate) fn hand_over(&mut self, to: &mut Vec<Key>) -> Key {
        while let Some(rung) = self.rungs.last_mut() {
            let Some(bucket) = rung.buckets.get_mut(rung.next) else {
                self.rungs.pop();
                continue;
            };
            rung.next += 1;
            if bucket.is_empty() {
                continue;
            }
            std::mem::swap(to, bucket);
            self.held -= to.len();
            let horizon = first_at(rung.starts(rung.next));
            // Too many at once: divide them further.
            if to.len() <= 4 * BUCKET || !self.take_over(to, horizon) {
                return horizon;
            }
        }
        self.held = 0;
        std::mem::swap(to, &mut self.later);
        if to.len() > 4 * BUCKET && self.take_over(to, Key::MAX) {
            return self.hand_over(to);
        }
        Key::MAX
    }
}

impl Rung {
    /// Empty buckets from `start` to `end` for so many events.
    fn new(start: u64, end: u64, events: usize) -> Self {
        let buckets = (events / BUCKET).max(2) as u64;
        let shift = ((end - start) / buckets).max(1).ilog2();
        let buckets = ((end - start - 1) >> shift) as usize + 1;
        Self { start, end, shift, buckets: vec![Vec::new(); buckets], next: 0 }
    }

    fn insert(&mut self, event: Key) {
        self.buckets[((ps(event) - self.start) >> self.shift) as usize].push(event);
    }

    /// When bucket `number` begins.
    fn starts(&self, number: usize) -> u64 {
        let from_start = (number as u64).saturating_mul(1 << self.shift);
        self.start.saturating_add(from_start).min(self.end)
    }
}
