//! Parallel execution of partitions on several threads, by synchronous conservative windows with a
//! barrier after each (Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).
//!
//! A window begins at the time of the earliest event in any partition and is as long as the
//! lookahead of links at boundaries, so that nothing that happens within it in one partition can
//! affect another before it ends. Between windows partitions exchange the packets that cross a
//! boundary. Where a window begins depends on the trajectory alone, and what a partition does
//! within it on no other partition: no result depends on the number of threads or on their speed.

#![expect(clippy::disallowed_methods, reason = "partitions of one run, in lockstep")]

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, panicking, scope, yield_now};

use forebay_units::{Span, Time};

use crate::assignment::Assignment;
use crate::message_batch::{MessageBatch, RemoteRoute};
use crate::partition::Partition;

/// State that partitions share while they run.
pub(crate) struct Exchange {
    /// Length of a window: the lookahead between partitions.
    ahead: Span,
    threads: usize,
    /// Report of each partition.
    reports: Vec<Report>,
    remotes: Vec<RemoteTraffic>,
    /// The places of those that leave each partition, and of those that come to it.
    leaving: Vec<Vec<usize>>,
    coming: Vec<Vec<usize>>,
    /// As left by the last call.
    assignment: Mutex<Assignment>,
    barrier: Barrier,
}

/// Values that a partition publishes at the end of a window. All shared state is double-buffered,
/// used alternately: reports of one window can still be read while those of the next are written,
/// so one barrier a window is enough. Aligned so that no two share a cache line.
#[derive(Default)]
#[repr(align(128))]
struct Report {
    /// Time at which the next event is due in this partition, or a packet arrives that it has sent
    /// into another.
    next: [AtomicU64; 2],
    /// Events handled so far.
    events: [AtomicU64; 2],
    /// Work done so far.
    work: [AtomicU64; 2],
}

/// A route between partitions and the packets on it.
#[repr(align(128))]
struct RemoteTraffic {
    route: RemoteRoute,
    batches: [Mutex<MessageBatch>; 2],
}

/// A call of [`Exchange::run`].
struct Run<'a, 'b> {
    partitions: &'a [Mutex<&'b mut Partition>],
    /// Assignment of partitions to threads as the call begins.
    assignment: Assignment,
    limit: Time,
    /// Events handled before the call, and how many it handles before it stops.
    begun: u64,
    budget: u64,
    /// Work done before the call.
    worked: u64,
}

/// Work that an event of a budget may stand for in the mean, in hops.
const WORK_OF_EVENTS: u64 = 16;

impl Exchange {
    /// For `count` partitions on at most `threads` threads, with a lookahead of `ahead` at their
    /// boundaries; `routes` lead from some into others.
    pub(crate) fn new(
        (count, threads): (usize, usize),
        ahead: Span,
        routes: Vec<RemoteRoute>,
    ) -> Self {
        assert!(ahead > Span::ZERO, "a link without delay cannot be at a border");
        let threads = threads.clamp(1, count);
        let (mut leaving, mut coming) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (place, route) in routes.iter().enumerate() {
            leaving[route.from].push(place);
            coming[route.to].push(place);
        }
        let remotes = |route| {
            let batches = [(); 2].map(|()| Mutex::new(MessageBatch::new(&route)));
            RemoteTraffic { route, batches }
        };
        Self {
            ahead,
            threads,
            reports: (0..count).map(|_| Report::default()).collect(),
            remotes: routes.into_iter().map(remotes).collect(),
            leaving,
            coming,
            assignment: Mutex::new(Assignment::new(count, threads)),
            barrier: Barrier::new(threads),
        }
    }

    /// Run `partitions` until `limit`, or until the end of the window in which they have handled
    /// `budget` events in all; false in the latter case.
    ///
    /// # Panics
    /// If one of the threads panics, with its message.
    pub(crate) fn run(&self, partitions: &mut [Partition], limit: Time, budget: u64) -> bool {
        let begun = partitions.iter().map(|partition| partition.events).sum();
        let worked = partitions.iter().map(|partition| partition.work()).sum();
        let partitions: Vec<_> = partitions.iter_mut().map(Mutex::new).collect();
        let assignment = lock(&self.assignment).clone();
        let run = Run { partitions: &partitions, assignment, limit, begun, budget, worked };
        scope(|scope| {
            let others = 1..self.threads;
            let run = &run;
            let threads: Vec<_> =
                others.map(|thread| scope.spawn(move || self.work(thread, run))).collect();
            let complete = self.work(0, run);
            for thread in threads {
                if let Err(panic) = thread.join() {
                    resume_unwind(panic);
                }
            }
            complete
        })
    }

    /// The loop of each thread. All see the same reports, so all take the same decisions.
    fn work(&self, thread: usize, run: &Run<'_, '_>) -> bool {
        let _guard = PanicGuard(&self.barrier);
        let mut assignment = run.assignment.clone();
        for phase in [0, 1].into_iter().cycle() {
            for number in assignment.of(thread) {
                self.publish(number, phase, &mut lock(&run.partitions[number]));
            }
            if !self.barrier.wait() {
                break;
            }
            let events = self.reports.iter().map(|r| r.events[phase].load(Ordering::Relaxed));
            let work = self.reports.iter().map(|r| r.work[phase].load(Ordering::Relaxed));
            let next = self.reports.iter().map(|r| r.next[phase].load(Ordering::Relaxed)).min();
            let next = next.map_or(Time::NEVER, Time::from_ps);
            let complete = next > run.limit || next == Time::NEVER;
            let spent = events.sum::<u64>() - run.begun >= run.budget
                || work.clone().sum::<u64>() - run.worked
                    >= run.budget.saturating_mul(WORK_OF_EVENTS);
            let end = Time::from_ps(next.ps().saturating_add(self.ahead.ps() - 1)).min(run.limit);
            assignment.rebalance(work.collect());
            for number in assignment.of(thread) {
                let partition = &mut **lock(&run.partitions[number]);
                self.collect(number, phase, partition);
                if complete {
                    partition.finish(run.limit);
                } else if !spent {
                    partition.pass_window(end);
                }
            }
            if complete || spent {
                if thread == 0 {
                    *lock(&self.assignment) = assignment;
                }
                return complete;
            }
        }
        false
    }

    /// The traffic at these places.
    fn remotes_at<'p>(&'p self, places: &'p [usize]) -> impl Iterator<Item = &'p RemoteTraffic> {
        places.iter().map(|place| &self.remotes[*place])
    }

    /// Publish the report of `partition`, which has reached the end of a window, and the packets
    /// that it has sent into others.
    fn publish(&self, number: usize, phase: usize, partition: &mut Partition) {
        let mut next = partition.next_time();
        for RemoteTraffic { route, batches } in self.remotes_at(&self.leaving[number]) {
            next = next.min(lock(&batches[phase]).take_from(partition, route));
        }
        let report = &self.reports[number];
        report.next[phase].store(next.ps(), Ordering::Relaxed);
        report.events[phase].store(partition.events, Ordering::Relaxed);
        report.work[phase].store(partition.work(), Ordering::Relaxed);
    }

    /// Take the packets that other partitions have sent.
    fn collect(&self, number: usize, phase: usize, partition: &mut Partition) {
        for RemoteTraffic { route, batches } in self.remotes_at(&self.coming[number]) {
            lock(&batches[phase]).deliver_to(partition, route);
        }
    }
}

/// Polls of a waiting thread before it yields its core, where each thread has a core of its own:
/// some microseconds.
const SPINS: u32 = 200;
/// Yields of a waiting thread before it sleeps: about a millisecond where no other thread needs the
/// core.
const YIELDS: u32 = 2000;

/// A centralised barrier: threads spin, then yield, then sleep until all have arrived.
struct Barrier {
    parties: usize,
    spins: u32,
    arrived: AtomicUsize,
    /// Number of times that the barrier has opened.
    generation: AtomicU64,
    /// True if a thread has panicked and will not arrive.
    broken: AtomicBool,
    sleepers: Mutex<usize>,
    wakeup: Condvar,
}

impl Barrier {
    fn new(parties: usize) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            parties,
            spins: if cores < parties { 0 } else { SPINS },
            arrived: AtomicUsize::new(0),
            generation: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            wakeup: Condvar::new(),
        }
    }

    /// Wait until all threads have arrived; false if one never will.
    fn wait(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        let passed = || self.generation.load(Ordering::Acquire) != generation;
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Relaxed);
            self.release();
        } else if !self.poll(&passed) {
            let mut sleepers = lock(&self.sleepers);
            *sleepers += 1;
            while !passed() && !self.broken.load(Ordering::Acquire) {
                sleepers = self.wakeup.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
            }
            *sleepers -= 1;
        }
        !self.broken.load(Ordering::Acquire)
    }

    /// Poll for a while whether the barrier has opened; whether it has.
    fn poll(&self, passed: &impl Fn() -> bool) -> bool {
        for attempt in 0..self.spins + YIELDS {
            if passed() {
                return true;
            }
            if attempt < self.spins { spin_loop() } else { yield_now() }
        }
        false
    }

    /// Open the barrier.
    fn release(&self) {
        self.generation.fetch_add(1, Ordering::Release);
        // A thread checks the generation again under this lock before it sleeps.
        if *lock(&self.sleepers) > 0 {
            self.wakeup.notify_all();
        }
    }
}

/// Breaks the barrier if its thread panics, so that no other thread waits for it.
struct PanicGuard<'a>(&'a Barrier);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.release();
        }
    }
}

/// Lock `mutex`, poisoned or not: a panic of the thread that held it ends the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use super::*;
    use crate::boundary::PartitionMap;
    use crate::lookahead::analyse;
    use crate::stubs::{Call, Log, Logged, Stubs, packet, transmits, wire};
    use forebay_network::{Lookahead, LookaheadContext, Packet, RouteId};

    /// Run `what`, which may not terminate, with a timeout.
    fn soon<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let outcome = what();
            drop(sender);
            outcome
        });
        let ended = receiver.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended, Err::<(), _>(RecvTimeoutError::Disconnected), "it hangs");
        thread.join().unwrap()
    }

    /// A barrier opens once all threads have arrived, in every round: none begins a window before
    /// others have ended the last one.
    #[test]
    fn a_barrier_opens_when_all_have_arrived() {
        soon(|| {
            let (threads, rounds) = (4, 200);
            let (barrier, arrived) = (Barrier::new(threads), AtomicUsize::new(0));
            scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for round in 1..=rounds {
                            arrived.fetch_add(1, Ordering::Relaxed);
                            assert!(barrier.wait());
                            // All have arrived in this round, and none twice in the next.
                            let count = arrived.load(Ordering::Relaxed);
                            assert!((threads * round..threads * (round + 1)).contains(&count));
                        }
                    });
                }
            });
            assert_eq!(barrier.generation.load(Ordering::Relaxed), rounds as u64);
        });
    }

    /// A barrier wakes threads that have waited so long that they sleep.
    #[test]
    fn a_barrier_wakes_those_who_sleep() {
        soon(|| {
            let barrier = Barrier::new(3);
            scope(|scope| {
                let waiters = [(); 2].map(|()| scope.spawn(|| barrier.wait()));
                while *lock(&barrier.sleepers) < 2 {
                    yield_now();
                }
                assert!(barrier.wait());
                assert!(waiters.map(|thread| thread.join().unwrap()).into_iter().all(|open| open));
            });
            assert_eq!(*lock(&barrier.sleepers), 0);
        });
    }

    /// A barrier breaks when a thread panics, whether the others spin or sleep: a bug in an element
    /// does not hang the program.
    #[test]
    fn a_barrier_breaks_on_a_panic() {
        for sleeps in [false, true] {
            soon(move || {
                let barrier = Barrier::new(3);
                scope(|scope| {
                    let waiters = [(); 2].map(|()| scope.spawn(|| barrier.wait()));
                    while sleeps && *lock(&barrier.sleepers) < 2 {
                        yield_now();
                    }
                    let panics = scope.spawn(|| {
                        let _guard = PanicGuard(&barrier);
                        std::panic::resume_unwind(Box::new("a bug"));
                    });
                    assert!(panics.join().is_err());
                    assert!(waiters.map(|thread| thread.join().unwrap()).iter().all(|open| !open));
                });
                // A thread that returns leaves it as it is.
                let barrier = Barrier::new(1);
                drop(PanicGuard(&barrier));
                assert!(barrier.wait());
            });
        }
    }

    /// Hosts 0, 1 and 2, each in a partition of its own with link 3, 4 or 5 that leads to the next;
    /// propagation takes 10, 20 and 15 ps. Each sends a packet at 5 ps and answers each that it
    /// receives with another. Logs of the hosts and the windows in which they were executed.
    fn ring() -> (Vec<Partition>, Exchange, Log, Log) {
        ring_on(1)
    }

    fn ring_on(threads: usize) -> (Vec<Partition>, Exchange, Log, Log) {
        let (mut stubs, windows) = (Stubs::new(), Log::default());
        for host in 0..3 {
            let windows = windows.clone();
            stubs.add(Lookahead::NONE, move |call, cx| match call {
                Call::Start => cx.wake_at(Time::from_ps(5 + host as u64), 0),
                Call::Receive(Packet { number, .. }) => {
                    windows.push((host, cx.now().ps(), "until", cx.sync_time().ps()));
                    cx.send(packet(number + 1, RouteId::new(host)));
                }
                Call::Wake(_) => {
                    cx.send(packet(100 * host as u64, RouteId::new(host)));
                }
                _ => {}
            });
        }
        for span in [10, 20, 15] {
            stubs.add(wire(span), transmits(span));
        }
        for host in 0..3 {
            stubs.route(&[3 + host, (host + 1) % 3]);
        }
        let partition_of = [0, 1, 2, 0, 1, 2];
        let map = PartitionMap::new(&stubs.whole, &partition_of);
        analyse(&mut stubs.whole, &map, false);
        let ahead = map.ahead(&stubs.whole);
        let (mut partitions, routes) = map.divide(stubs.whole, 3);
        partitions.iter_mut().for_each(Partition::start);
        (partitions, Exchange::new((3, threads), ahead, routes), stubs.log, windows)
    }

    /// Each element sees the same packets at the same times in the same order on any number of
    /// threads.
    #[test]
    fn elements_see_the_same_on_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let (mut partitions, exchange, log, _) = ring_on(threads);
            let complete = soon(move || exchange.run(&mut partitions, Time::from_ps(42), u64::MAX));
            assert!(complete);
            let seen = log.take();
            let of = |host: usize| {
                let at = |entry: &&Logged| entry.0 == host && entry.2 != "count";
                seen.iter().filter(at).map(|(_, at, what, number)| (*at, *what, *number)).collect()
            };
            // Host 0 sends at 5, host 1 at 6, host 2 at 7. Packet 0 is at host 1 at 15, 1 at host 2
            // at 35; 100 at host 2 at 26, 101 at host 0 at 41; 200 at host 0 at 22, 201 at host 1
            // at 32.
            let hosts: [Vec<(u64, &str, u64)>; 3] = [of(0), of(1), of(2)];
            let receive = |at, number| (at, "receive", number);
            assert_eq!(hosts[0], [(5, "wake", 0), receive(22, 200), receive(41, 101)]);
            assert_eq!(hosts[1], [(6, "wake", 0), receive(15, 0), receive(32, 201)]);
            assert_eq!(hosts[2], [(7, "wake", 0), receive(26, 100), receive(35, 1)]);
        }
    }

    /// A window begins with the next event, is as long as the lookahead and ends at the limit: no
    /// packet arrives in the past, and threads wait no more often than they must.
    #[test]
    fn a_window_is_as_long_as_the_lookahead_and_ends_at_the_limit() {
        let (mut partitions, exchange, _, windows) = ring();
        assert!(exchange.run(&mut partitions, Time::from_ps(33), u64::MAX));
        // The least propagation delay is 10. The first window is [5, 14], the next begins with the
        // arrival at 15, the next with that at 26, and ends at the limit.
        let mut seen = windows.take();
        seen.sort_by_key(|(_, at, ..)| *at);
        let expected = [
            (1, 15, "until", 24),
            (0, 22, "until", 24),
            (2, 26, "until", 33),
            (1, 32, "until", 33),
        ];
        assert_eq!(seen, expected);
        assert!(partitions.iter().all(|at| at.core.event_list.now() == Time::from_ps(33)));
    }

    /// A run ends with the window in which its budget is spent, and continues with what was in
    /// transit between partitions.
    #[test]
    fn a_spent_budget_ends_the_run_at_the_end_of_a_window() {
        let (mut partitions, exchange, log, _) = ring();
        let hosts = |log: &Log| {
            let calls = log.take();
            calls.iter().filter(|(me, _, what, _)| *me < 3 && *what != "count").count()
        };
        // Three timers, and the window is over.
        assert!(!exchange.run(&mut partitions, Time::from_ps(42), 1));
        assert_eq!((hosts(&log), partitions.iter().map(|at| at.events).sum()), (3, 3));
        // The second window has two arrivals.
        assert!(!exchange.run(&mut partitions, Time::from_ps(42), 2));
        assert_eq!(hosts(&log), 2);
        // Those of 26, 32, 35 and 41 are left.
        assert!(exchange.run(&mut partitions, Time::from_ps(42), u64::MAX));
        assert_eq!(hosts(&log), 4);
    }

    /// A panic on another thread reaches the caller with its message.
    #[test]
    fn a_panic_on_another_thread_reaches_the_caller() {
        let mut stubs = Stubs::new();
        for host in 0..2 {
            stubs.add(Lookahead::NONE, move |call, cx| match call {
                Call::Start => cx.wake_at(Time::from_ps(5), 0),
                Call::Wake(_) if host == 1 => std::panic::resume_unwind(Box::new("a bug")),
                _ => {}
            });
        }
        let map = PartitionMap::new(&stubs.whole, &[0, 1]);
        analyse(&mut stubs.whole, &map, false);
        let (mut partitions, routes) = map.divide(stubs.whole, 2);
        partitions.iter_mut().for_each(Partition::start);
        let exchange = Exchange::new((2, 2), Span::from_ps(10), routes);
        let panic = soon(move || {
            let run = || exchange.run(&mut partitions, Time::from_ps(9), u64::MAX);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err()
        });
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
    }
}
