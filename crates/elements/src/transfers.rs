//! Transfers: how long the finite writes of TCP applications take to arrive.

use std::collections::VecDeque;

use forebay_laws::traffic::TrafficPool;
use forebay_network::{Distribution, ElementCounters, columns};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf, TagCount};

/// Upper limits of the classes by size, in bytes; the last class has none.
const SIZE_LIMITS: [u64; 3] = [10_000, 100_000, 1_000_000];
const SIZES: usize = SIZE_LIMITS.len() + 1;

/// A start-up time above this is slow: the first retransmission timeout, so that a SYN, its answer
/// or a request was lost (RFC 6298, section 2.1).
const SLOW_STARTUP: Span = Span::from_s(1);

/// Slowdowns are counted in millionths.
const SLOWDOWN: f64 = 1e-6;

columns! {
    /// The transfers of a group of TCP flows: what their applications write at once, or clients ask
    /// for (`requests`). A transfer begins when it is written, or asked for, and is completed when
    /// its last byte has arrived and all before it. Those count that are completed in the window of
    /// measurement, whenever they began. Quantiles are within 0.8 % of the value; null if nothing
    /// was completed.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct TransferResult {
        /// Name of the group.
        pub name: String = Word,
        /// Transfers completed.
        pub completed: u64 = Number + headline as "completed",
        /// Transfers begun and not completed at the end of the run.
        pub unfinished: u64 = Number as "unfinished",
        /// Number of those completed that began when another on their connection was not completed
        /// yet: they waited for it.
        pub queued: u64 = Number,
        /// Their bytes, without headers.
        pub completed_bytes: u64 = Bytes,
        /// Mean completion time in seconds.
        pub mean_completion_s: Option<f64> = Seconds + headline as "mean" over completed,
        /// Median of completion times in seconds.
        pub p50_completion_s: Option<f64> = Seconds as "median" over completed,
        /// The completion time in seconds that 95 % do not exceed.
        pub p95_completion_s: Option<f64> = Seconds as "95 %" over completed,
        /// The completion time in seconds that 99 % do not exceed.
        pub p99_completion_s: Option<f64> = Seconds + headline as "99 %" over completed,
        /// The completion time in seconds that 99.9 % do not exceed.
        pub p999_completion_s: Option<f64> = Seconds over completed,
        /// The longest completion time in seconds.
        pub max_completion_s: Option<f64> = Seconds over completed,
        /// Transfers begun of which the first data arrived, each request of a client by itself.
        pub started: u64 = Number,
        /// Mean start-up time in seconds: from the beginning, by a write or the first packet of a
        /// request, until the application at the far end has the first data; with a handshake where
        /// the connection has one, and all that is lost until then (RFC 7928, section 2.2).
        pub mean_startup_s: Option<f64> = Seconds over started,
        /// The start-up time in seconds that 95 % do not exceed.
        pub p95_startup_s: Option<f64> = Seconds over started,
        /// The start-up time in seconds that 99 % do not exceed.
        pub p99_startup_s: Option<f64> = Seconds over started,
        /// Share of start-up times above 1 s.
        pub slow_startup_ratio: Option<f64> = Share over started,
        /// Mean slowdown: the completion time over the time that the same segments take, sent at
        /// once, on the same links when these are empty.
        pub mean_slowdown: Option<f64> = Number as "slowdown" over completed,
        /// Median of slowdowns.
        pub p50_slowdown: Option<f64> = Number over completed,
        /// The slowdown that 99 % do not exceed.
        pub p99_slowdown: Option<f64> = Number as "99 %" over completed,
        /// Transfers completed by size: below 10 kB, below 100 kB, below 1 MB, and larger.
        pub completed_by_size: Vec<u64> = Number,
        /// Mean slowdown by size, as above.
        pub mean_slowdown_by_size: Vec<Option<f64>> = Number,
        /// Median of slowdowns by size, as above.
        pub p50_slowdown_by_size: Vec<Option<f64>> = Number,
        /// The slowdown that 95 % do not exceed, by size as above.
        pub p95_slowdown_by_size: Vec<Option<f64>> = Number,
        /// The slowdown that 99 % do not exceed, by size as above.
        pub p99_slowdown_by_size: Vec<Option<f64>> = Number,
        /// The slowdown that 99.9 % do not exceed, by size as above.
        pub p999_slowdown_by_size: Vec<Option<f64>> = Number,
    }
}

/// Counts of the transfers of a group of flows.
#[derive(Default)]
pub struct TransferCount {
    completion: Distribution,
    /// Start-up times, and how many of them are [slow](SLOW_STARTUP).
    startup: Distribution,
    slow: u64,
    slowdown: Distribution,
    by_size: [Distribution; SIZES],
    queued: u64,
    bytes: u64,
    unfinished: u64,
}

/// A transfer that has arrived whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completed {
    /// Time at which it was written.
    pub begun: Time,
    /// Its bytes, without headers.
    pub bytes: u64,
    /// The time that its segments take on empty links.
    pub ideal: Span,
}

/// The links of a route when they are empty, for segments of one size.
#[derive(Clone, Debug)]
pub struct EmptyPath {
    links: Vec<Rate>,
    delay: Span,
    mss: u64,
    overhead: u64,
}

impl EmptyPath {
    /// A path over `links`, given the rate and propagation delay of each, that is taken by segments
    /// of at most `mss` bytes of data, each with `overhead` bytes of headers.
    #[must_use]
    pub fn new(links: impl Iterator<Item = (Rate, Span)>, mss: u64, overhead: u64) -> Self {
        let mut path = Self { links: Vec::new(), delay: Span::ZERO, mss, overhead };
        for (rate, delay) in links {
            path.links.push(rate);
            path.delay = path.delay + delay;
        }
        path
    }

    /// The time from the first bit of the first segment at the first link to the last bit of the
    /// last at the far end, if all segments of `bytes` of data are sent at once.
    ///
    /// The segments but the last are alike. So the k-th of them leaves a link when one has crossed
    /// all links so far, and k - 1 more the slowest of these. The last, which is shorter, follows
    /// when it has arrived and they have left.
    #[must_use]
    pub fn time(&self, bytes: u64) -> Span {
        let full = bytes.saturating_sub(1) / self.mss;
        let last = Size::from_bytes(bytes - full * self.mss + self.overhead);
        let segment = Size::from_bytes(self.mss + self.overhead);
        let (mut first, mut slowest, mut end) = (Span::ZERO, Span::ZERO, Span::ZERO);
        for rate in &self.links {
            let one = rate.transmission_time(segment);
            first = first + one;
            slowest = slowest.max(one);
            if full > 0 {
                end = end.max(first + slowest.times(full - 1));
            }
            end = end + rate.transmission_time(last);
        }
        end + self.delay
    }
}

/// Finds out when the transfers of a group of flows are completed, where they arrive.
///
/// A receiver is handed bytes and cannot see where one write ends and the next begins. When an
/// application writes does not depend on the network, so the same application with the same random
/// stream, asked here once more, says it.
pub struct TransferMeter {
    applications: Box<dyn TrafficPool>,
    flows: Vec<Progress>,
    stop: Time,
    path: EmptyPath,
    count: TransferCount,
}

/// The transfers of one flow.
struct Progress {
    /// Bytes handed to the application so far, and bytes of the transfers completed.
    arrived: u64,
    completed: u64,
    /// True if the first data of the next transfer arrived.
    started: bool,
    /// Time at which the last transfer was completed.
    last: Time,
    /// The first transfer that is not completed.
    next: Written,
    /// Those after it that had to be known already; mostly none.
    later: VecDeque<Written>,
}

/// A transfer: when it is written, and the bytes written on its connection by then, its own
/// included.
#[derive(Clone, Copy)]
struct Written {
    at: Time,
    end: u64,
}

impl Written {
    /// Mark that there is no further transfer.
    const NONE: Self = Self { at: Time::NEVER, end: u64::MAX };
}

impl TransferMeter {
    /// Returns the meter of flows that start at `starts` and write nothing from `stop` on; their
    /// `applications` are equal to those that write.
    ///
    /// # Panics
    /// If there is not one application for each flow.
    #[must_use]
    pub fn new(
        mut applications: Box<dyn TrafficPool>,
        starts: &[Time],
        stop: Time,
        path: EmptyPath,
    ) -> Self {
        assert!(applications.len() == starts.len(), "one application for each flow");
        let progress = |(index, start): (usize, &Time)| {
            let before = Written { at: *start, end: 0 };
            let next = write_after(before, &mut *applications, index, stop);
            let last = Time::ZERO;
            let later = VecDeque::new();
            Progress { arrived: 0, completed: 0, started: false, last, next, later }
        };
        let flows = starts.iter().enumerate().map(progress).collect();
        Self { applications, flows, stop, path, count: TransferCount::default() }
    }

    /// `bytes` more were handed to the application of flow `index`.
    pub fn arrived(&mut self, index: u32, bytes: u64) {
        self.flows[index as usize].arrived += bytes;
    }

    /// The next transfer of flow `index` that what has arrived by `now` completes, if any; it is
    /// counted.
    pub fn complete(&mut self, index: u32, now: Time) -> Option<Completed> {
        let index = index as usize;
        let flow = &mut self.flows[index];
        let Written { at, end } = flow.next;
        if flow.arrived > flow.completed && !flow.started {
            flow.started = true;
            self.count.add_start(now.since(at));
        }
        if flow.arrived < end {
            return None;
        }
        flow.started = false;
        let bytes = end - flow.completed;
        flow.completed = end;
        let queued = flow.last > at;
        flow.last = now;
        flow.next = match flow.later.pop_front() {
            Some(next) => next,
            None => write_after(flow.next, &mut *self.applications, index, self.stop),
        };
        let completed = Completed { begun: at, bytes, ideal: self.path.time(bytes) };
        self.count.add(&completed, queued, now);
        Some(completed)
    }

    /// Returns the counts by `now`.
    pub fn count(&mut self, now: Time) -> &mut TransferCount {
        self.count.unfinished = 0;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            loop {
                let last = *flow.later.back().unwrap_or(&flow.next);
                if last.at > now {
                    break;
                }
                flow.later.push_back(write_after(last, &mut *self.applications, index, self.stop));
            }
            let written = std::iter::once(&flow.next).chain(&flow.later);
            self.count.unfinished += written.filter(|it| it.at <= now).count() as u64;
        }
        &mut self.count
    }
}

/// Returns the write of the application of flow `index` after `last`, as
/// [`TcpSenders`](crate::tcp::TcpSenders) have it write.
fn write_after(
    last: Written,
    applications: &mut dyn TrafficPool,
    index: usize,
    stop: Time,
) -> Written {
    let write = applications.next(index).map(|burst| Written {
        at: last.at + burst.gap,
        end: last.end.saturating_add(burst.size.bytes()),
    });
    write.filter(|write| write.at < stop).unwrap_or(Written::NONE)
}

impl TransferCount {
    /// Sets the number of transfers that have begun and are not completed.
    pub fn set_unfinished(&mut self, unfinished: u64) {
        self.unfinished = unfinished;
    }

    /// The first data of a transfer arrived `took` after its beginning.
    pub fn add_start(&mut self, took: Span) {
        self.startup.record(took.ps());
        self.slow += u64::from(took > SLOW_STARTUP);
    }

    /// A transfer was completed at `now`; `queued` says whether it waited for another.
    pub fn add(&mut self, completed: &Completed, queued: bool, now: Time) {
        let took = now.since(completed.begun);
        // A transfer takes time on any link.
        let slowdown = took.ps() as f64 / completed.ideal.ps().max(1) as f64;
        let slowdown = (slowdown / SLOWDOWN + 0.5) as u64;
        self.completion.record(took.ps());
        self.slowdown.record(slowdown);
        let class = SIZE_LIMITS.partition_point(|limit| *limit <= completed.bytes);
        self.by_size[class].record(slowdown);
        self.queued += u64::from(queued);
        self.bytes += completed.bytes;
    }
}

impl ElementCounters for TransferCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

impl Row for TransferResult {
    const KIND: RowKind = RowKind {
        name: "transfers",
        meaning: "A row a group of TCP flows with transfers; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "transfers: completion times and slowdowns")],
        columns: Self::COLUMNS,
    };
}

/// The transfers of all groups that have a tag, which the row is named after.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct TransfersOfTag(pub TransferResult);

impl Row for TransfersOfTag {
    const KIND: RowKind = RowKind {
        name: "transfers_by_tag",
        meaning: "A row a tag of groups of TCP flows with transfers, over all that have it; empty \
                  if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "transfers by tag: completion times and slowdowns")],
        columns: TransferResult::COLUMNS,
    };
}

impl TagCount for TransferCount {
    type Row = TransfersOfTag;

    fn merge(&mut self, other: &Self) {
        self.completion.merge(&other.completion);
        self.startup.merge(&other.startup);
        self.slow += other.slow;
        self.slowdown.merge(&other.slowdown);
        self.by_size.iter_mut().zip(&other.by_size).for_each(|(own, more)| own.merge(more));
        self.queued += other.queued;
        self.bytes += other.bytes;
        self.unfinished += other.unfinished;
    }

    fn row(&self, tag: String) -> TransfersOfTag {
        TransfersOfTag(TransferResult::of(tag, self))
    }
}

impl TransferResult {
    /// The quantities of `count`.
    #[must_use]
    pub fn of(name: String, count: &TransferCount) -> Self {
        let seconds = |ps: f64| ps / PS_PER_S as f64;
        let factor = |millionths: f64| millionths * SLOWDOWN;
        let TransferCount { completion, startup, slowdown, by_size, .. } = count;
        let started = startup.count();
        let completion_at = |p| completion.quantile(p).map(seconds);
        let by_size_at = |p| by_size.iter().map(|own| own.quantile(p).map(factor)).collect();
        Self {
            name,
            completed: completion.count(),
            unfinished: count.unfinished,
            queued: count.queued,
            completed_bytes: count.bytes,
            mean_completion_s: completion.mean().map(seconds),
            p50_completion_s: completion_at(0.5),
            p95_completion_s: completion_at(0.95),
            p99_completion_s: completion_at(0.99),
            p999_completion_s: completion_at(0.999),
            max_completion_s: completion.most().map(seconds),
            started,
            mean_startup_s: startup.mean().map(seconds),
            p95_startup_s: startup.quantile(0.95).map(seconds),
            p99_startup_s: startup.quantile(0.99).map(seconds),
            slow_startup_ratio: (started > 0).then(|| count.slow as f64 / started as f64),
            mean_slowdown: slowdown.mean().map(factor),
            p50_slowdown: slowdown.quantile(0.5).map(factor),
            p99_slowdown: slowdown.quantile(0.99).map(factor),
            completed_by_size: by_size.iter().map(Distribution::count).collect(),
            mean_slowdown_by_size: by_size.iter().map(|own| own.mean().map(factor)).collect(),
            p50_slowdown_by_size: by_size_at(0.5),
            p95_slowdown_by_size: by_size_at(0.95),
            p99_slowdown_by_size: by_size_at(0.99),
            p999_slowdown_by_size: by_size_at(0.999),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::{Stream, Streams};
    use forebay_network::{Burst, Traffic};

    /// Writes so many bytes after so many ms each.
    struct Writes(VecDeque<(u64, u64)>);

    impl Traffic for Writes {
        fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
            let (ms, bytes) = self.0.pop_front()?;
            Some(Burst { gap: Span::from_ms(ms), size: Size::from_bytes(bytes) })
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn path(rates: &[u64]) -> EmptyPath {
        let links = rates.iter().map(|mbps| (Rate::from_bps(mbps * 1_000_000), Span::from_ms(5)));
        EmptyPath::new(links, 960, 40)
    }

    /// One flow that starts at 10 ms and stops at `stop` ms; its link takes 1 ms a segment.
    fn meter(writes: &[(u64, u64)], stop: u64) -> TransferMeter {
        let stream = Streams::new(0, 0).named("test");
        let writes = Writes(writes.iter().copied().collect());
        let pool = forebay_laws::traffic::pool_of([(writes, stream)]);
        TransferMeter::new(pool, &[at(10)], at(stop), path(&[8]))
    }

    /// Every segment that arrives at some time, in bytes and ms, and the completions.
    fn feed(meter: &mut TransferMeter, arrivals: &[(u64, u64)]) -> Vec<(Time, u64, Time)> {
        let mut found = Vec::new();
        for &(bytes, ms) in arrivals {
            meter.arrived(0, bytes);
            while let Some(done) = meter.complete(0, at(ms)) {
                found.push((done.begun, done.bytes, at(ms)));
            }
        }
        found
    }

    /// Slowdowns are relative to an empty path, which takes what its links take. Segments of 960 B
    /// and 40 B of headers take 1 ms at 8 Mbit/s, 0.5 ms at 16; each link adds 5 ms. By hand: one
    /// segment of 8000 bit over one link, 6 ms; three, 8 ms; with 460 B more, whose segment takes
    /// 0.5 ms, 8.5 ms. Over 8, then 16 Mbit/s: the third full one arrives after 3 ms and 0.5 ms,
    /// and one of 460 B, which has come by 3.5 ms and takes 0.25 ms, after 3.75 ms, beside the 10
    /// ms of propagation. Over 16, then 8: the third at 0.5 + 3, the short one behind it, 4 ms. And
    /// over 8, then 9 Mbit/s, a last segment of 1 byte, 41 us, has come by 1.041 ms, and waits
    /// until the one ahead has left at 1 + 8/9 ms; it then takes 328/9 us.
    #[test]
    fn an_empty_path_takes_what_its_links_take() {
        let us = |rates: &[u64], bytes| path(rates).time(bytes).ps().div_ceil(1_000_000);
        assert_eq!(us(&[8], 960), 6_000);
        assert_eq!(us(&[8], 3 * 960), 8_000);
        assert_eq!(us(&[8], 3 * 960 + 460), 8_500);
        assert_eq!(us(&[8, 16], 3 * 960 + 460), 13_750);
        assert_eq!(us(&[16, 8], 3 * 960 + 460), 14_000);
        assert_eq!(us(&[8, 9], 961), (10_000_000_000 + 1_888_888_889 + 36_444_445) / 1_000_000 + 1);
    }

    /// A transfer holds the bytes that the application wrote at once, and ends with the last of
    /// them: 1000 B are written at 10 ms, 500 B at 30 ms and 1500 B at 70 ms. A segment that ends
    /// one transfer and begins the next completes the first only; and one can complete two.
    #[test]
    fn a_transfer_ends_with_its_last_byte() {
        let mut meter = meter(&[(0, 1000), (20, 500), (40, 1500)], 1000);
        let first = feed(&mut meter, &[(960, 20), (300, 35)]);
        assert_eq!(first, [(at(10), 1000, at(35))]);
        assert_eq!(meter.count(at(40)).unfinished, 1);
        assert_eq!(meter.count(at(69)).unfinished, 1);
        assert_eq!(meter.count(at(70)).unfinished, 2);
        let others = feed(&mut meter, &[(900, 80), (840, 81)]);
        assert_eq!(others, [(at(30), 500, at(80)), (at(70), 1500, at(81))]);
        let result = TransferResult::of("x".to_owned(), meter.count(at(100)));
        assert_eq!((result.completed, result.unfinished, result.completed_bytes), (3, 0, 3000));
        // The second was written 5 ms before the first was there, and the third before the second.
        assert_eq!(result.queued, 2);
        // 25, 50 and 11 ms.
        assert!((result.mean_completion_s.unwrap() - 86e-3 / 3.0).abs() < 1e-15);
        assert_eq!(result.max_completion_s, Some(50e-3));
        // Quantiles are those of a histogram with buckets of a 128th.
        assert!((result.p50_completion_s.unwrap() / 25e-3 - 1.0).abs() < 1.0 / 128.0);
        assert!((result.p99_completion_s.unwrap() / 50e-3 - 1.0).abs() < 1.0 / 128.0);
        // First data of the first at 20 ms, of the second in the segment that ends the first, at 35
        // ms, and of the third in that which ends the second, at 80 ms: after 10, 5 and 10 ms.
        assert_eq!((result.started, result.slow_startup_ratio), (3, Some(0.0)));
        assert!((result.mean_startup_s.unwrap() - 25e-3 / 3.0).abs() < 1e-15);
        // On the empty link: 6.08 ms for 1000 B in two segments, 5.54 for 500, 6.58 for 1500.
        let slowest = 50.0 / 5.54;
        assert!((result.p99_slowdown.unwrap() / slowest - 1.0).abs() < 1.0 / 128.0);
        let mean = (25.0 / 6.08 + slowest + 11.0 / 6.58) / 3.0;
        assert!((result.mean_slowdown.unwrap() / mean - 1.0).abs() < 1e-6);
    }

    /// Nothing is begun after the stop time of a flow: a later write does not count as unfinished,
    /// and what was begun and given up does.
    #[test]
    fn nothing_is_begun_after_the_stop() {
        let mut meter = meter(&[(0, 1000), (20, 500), (40, 1500)], 70);
        feed(&mut meter, &[(1000, 20), (200, 50)]);
        let result = TransferResult::of("x".to_owned(), meter.count(at(500)));
        assert_eq!((result.completed, result.unfinished, result.queued), (1, 1, 0));
        meter.count(at(500)).reset(at(500));
        let none = TransferResult::of("x".to_owned(), meter.count(at(600)));
        assert_eq!((none.completed, none.unfinished, none.mean_completion_s), (0, 1, None));
        assert_eq!((none.started, none.mean_startup_s, none.slow_startup_ratio), (0, None, None));
    }

    /// Transfers are classed by size: classes begin at their lower limit.
    #[test]
    fn transfers_are_classed_by_size() {
        let sizes = [1, 9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, 50_000_000];
        let writes: Vec<_> = sizes.iter().map(|bytes| (1, *bytes)).collect();
        let mut meter = meter(&writes, 1000);
        let arrivals: Vec<_> = sizes.iter().map(|bytes| (*bytes, 900)).collect();
        feed(&mut meter, &arrivals);
        let result = TransferResult::of("x".to_owned(), meter.count(at(900)));
        assert_eq!(result.completed_by_size, [2, 2, 2, 2]);
        assert_eq!(result.mean_slowdown_by_size.len(), SIZES);
    }
}
