//! Ladder queue: a pending event set for more events than a heap handles well, which keeps them in
//! buckets by time and sorts a bucket only when its time comes.
//!
//! After W. T. Tang, R. S. M. Goh and I. L.-J. Thng, "Ladder queue: An O(1) priority queue
//! structure for large-scale discrete event simulation", ACM TOMACS 15 (2005) 175-204.

/// An event as one number, which orders it: time, target, token.
pub(crate) type Key = u128;

/// The time of an event in ps.
#[inline(always)]
pub(crate) fn ps(event: Key) -> u64 {
    (event >> 64) as u64
}

/// Events due from some time on: the top and the rungs of a ladder queue. Its bottom, the sorted
/// events due before that time, belongs to the event list.
///
/// The rungs divide time ever more finely: each covers the bucket dequeued last from the rung
/// before it. Inserting appends to a bucket, and buckets are dequeued whole, in order of time. So
/// an event is touched a few times only, and in long runs of memory, however many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladder {
    /// From coarse to fine; the last holds the earliest events.
    rungs: Vec<Rung>,
    /// All events after the first rung, unsorted.
    top: Vec<Key>,
    len: usize,
}

/// Buckets that span equal lengths of time.
#[derive(Clone, Debug)]
struct Rung {
    /// The times in ps at which the first bucket begins and the last one ends.
    start: u64,
    end: u64,
    /// Binary logarithm of the length of a bucket in ps.
    shift: u32,
    buckets: Vec<Vec<Key>>,
    /// The first bucket not dequeued yet.
    current: usize,
}

/// Intended number of events per bucket: few are sorted at less cost each than many, but with still
/// fewer the buckets would cost more than they save.
const BUCKET_EVENTS: usize = 32;

/// Buckets of a rung, about, where events are much denser at its beginning than they could be
/// later.
const MAX_BUCKETS: u64 = 256;

/// The least key of an event at `time`, in ps.
fn first_key_at(time: u64) -> Key {
    Key::from(time) << 64
}

impl Ladder {
    /// Number of events.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Insert an event that is not before the bound that [`Ladder::pop_bucket`] returned last.
    pub(crate) fn insert(&mut self, event: Key) {
        self.len += 1;
        let time = ps(event);
        match self.rungs.iter_mut().rev().find(|rung| time < rung.end) {
            Some(rung) => rung.insert(event),
            None => self.top.push(event),
        }
    }

    /// Move all of `events`, which are those before `ladder_min`, into a new rung. False, with
    /// nothing moved, if they are all due at one time.
    pub(crate) fn add_rung(&mut self, events: &mut Vec<Key>, ladder_min: Key) -> bool {
        let times = || events.iter().map(|event| ps(*event));
        let (Some(start), Some(last)) = (times().min(), times().max()) else {
            return false;
        };
        if start == last {
            return false;
        }
        // Without a bound the ladder is empty, and what comes after the last event goes to `top`.
        let end = if ladder_min == Key::MAX { last } else { ps(ladder_min) };
        self.rungs.push(Rung::new((start, end), last, events.len()));
        events.drain(..).for_each(|event| self.insert(event));
        true
    }

    /// Dequeue the first bucket into `to`, which is empty. Returns a lower bound of all events that
    /// are left here or may be inserted here from now on.
    pub(crate) fn pop_bucket(&mut self, to: &mut Vec<Key>) -> Key {
        while let Some(rung) = self.rungs.last_mut() {
            let Some(bucket) = rung.buckets.get_mut(rung.current) else {
                self.rungs.pop();
                continue;
            };
            rung.current += 1;
            if bucket.is_empty() {
                continue;
            }
            std::mem::swap(to, bucket);
            self.len -= to.len();
            let ladder_min = first_key_at(rung.bucket_start(rung.current));
            // An overfull bucket is divided further, by another rung.
            if to.len() <= 4 * BUCKET_EVENTS || !self.add_rung(to, ladder_min) {
                return ladder_min;
            }
        }
        self.len = 0;
        std::mem::swap(to, &mut self.top);
        if to.len() > 4 * BUCKET_EVENTS && self.add_rung(to, Key::MAX) {
            return self.pop_bucket(to);
        }
        Key::MAX
    }
}

impl Rung {
    /// Empty buckets from `start` to `end` for the given number of events, of which the last is due
    /// at `last`. Those that are inserted later will be about as dense as these.
    fn new((start, end): (u64, u64), last: u64, events: usize) -> Self {
        let buckets = (events / BUCKET_EVENTS).max(2) as u64;
        let dense = ((last - start) / buckets).max(1);
        let shift = dense.max((end - start) / MAX_BUCKETS).ilog2();
        let buckets = ((end - start - 1) >> shift) as usize + 1;
        Self { start, end, shift, buckets: vec![Vec::new(); buckets], current: 0 }
    }

    fn insert(&mut self, event: Key) {
        self.buckets[((ps(event) - self.start) >> self.shift) as usize].push(event);
    }

    /// The time in ps at which bucket `number` begins.
    fn bucket_start(&self, number: usize) -> u64 {
        let from_start = (number as u64).saturating_mul(1 << self.shift);
        self.start.saturating_add(from_start).min(self.end)
    }
}
