//! Parallel execution of partitions on several threads, by synchronous conservative windows with a
//! barrier after each (Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).
//!
//! A window begins at the time of the earliest event in any partition and is as long as the
//! lookahead of links at boundaries, so that nothing that happens within it in one partition can
//! affect another before it ends. Between windows partitions exchange the packets that cross a
//! boundary. Where a window begins depends on the trajectory alone, and what a partition does
//! within it on no other partition: no result depends on the number of threads or on their speed.

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, panicking, scope, yield_now};

use forebay_units::{Span, Time};

use crate::message_batch::{MessageBatch, RemoteRoute};
use crate::partition::Partition;

/// What partitions share while they run.
pub(crate) struct Exchange {
    /// Length of a window: the lookahead between partitions.
    ahead: Span,
    threads: usize,
    /// By partition.
    reports: Vec<Report>,
    remotes: Vec<RemoteTraffic>,
    /// As left by the last call.
    assignment: Mutex<Assignment>,
    barrier: Barrier,
}

/// What a partition publishes at the end of a window. All shared state is double-buffered, used
/// alternately: reports of one window can still be read while those of the next are written, so one
/// barrier a window is enough. Aligned so that no two share a cache line.
#[derive(Default)]
#[repr(align(128))]
struct Report {
    /// When the next event is due in this partition, or a packet arrives that it has sent into
    /// another.
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
    /// Which thread runs which partitions as the call begins.
    assignment: Assignment,
    limit: Time,
    /// Events handled before the call, and how many it handles before it stops.
    begun: u64,
    budget: u64,
}

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
        let remotes = |route| {
            let batches = [(); 2].map(|()| Mutex::new(MessageBatch::new(&route)));
            RemoteTraffic { route, batches }
        };
        Self {
            ahead,
            threads,
            reports: (0..count).map(|_| Report::default()).collect(),
            remotes: routes.into_iter().map(remotes).collect(),
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
        let partitions: Vec<_> = partitions.iter_mut().map(Mutex::new).collect();
        let assignment = lock(&self.assignment).clone();
        let run = Run { partitions: &partitions, assignment, limit, begun, budget };
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
            let spent = events.sum::<u64>() - run.begun >= run.budget;
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

    /// Publish the report of `partition`, which has reached the end of a window, and the packets
    /// that it has sent into others.
    fn publish(&self, number: usize, phase: usize, partition: &mut Partition) {
        let mut next = partition.next_time();
        for RemoteTraffic { route, batches } in
            self.remotes.iter().filter(|at| at.route.from == number)
        {
            next = next.min(lock(&batches[phase]).take_from(partition, route));
        }
        let report = &self.reports[number];
        report.next[phase].store(next.ps(), Ordering::Relaxed);
        report.events[phase].store(partition.events, Ordering::Relaxed);
        report.work[phase].store(partition.work(), Ordering::Relaxed);
    }

    /// Take the packets that other partitions have sent.
    fn collect(&self, number: usize, phase: usize, partition: &mut Partition) {
        for RemoteTraffic { route, batches } in
            self.remotes.iter().filter(|at| at.route.to == number)
        {
            lock(&batches[phase]).deliver_to(partition, route);
        }
    }
}

/// Dynamic load balancing: which thread runs which partitions. Partitions migrate when that spreads
/// the work better; the load of each is predicted from its recent work.
#[derive(Clone)]
struct Assignment {
    threads: usize,
    /// The thread of each partition.
    owner: Vec<usize>,
    /// Recent work by partition, an exponentially weighted sum: that of a window counts half after
    /// ten more.
    load: Vec<u64>,
    /// Work seen so far, by partition.
    seen: Vec<u64>,
}

impl Assignment {
    fn new(partitions: usize, threads: usize) -> Self {
        let owner = (0..partitions).map(|number| number % threads).collect();
        Self { threads, owner, load: vec![0; partitions], seen: vec![0; partitions] }
    }

    /// The partitions of `thread`.
    fn of(&self, thread: usize) -> impl Iterator<Item = usize> {
        (0..self.owner.len()).filter(move |number| self.owner[*number] == thread)
    }

    /// Assign partitions anew, in order of falling load and each to the thread with the least, if
    /// that relieves the busiest thread by more than a twentieth of its load. `work` is the work
    /// done so far, by partition.
    fn rebalance(&mut self, work: Vec<u64>) {
        for ((load, seen), work) in self.load.iter_mut().zip(&mut self.seen).zip(work) {
            *load = *load - *load / 16 + (work - std::mem::replace(seen, work));
        }
        let mut order: Vec<usize> = (0..self.load.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(self.load[*number]));
        let mut proposed = vec![0; self.threads];
        let mut owner = vec![0; self.load.len()];
        for number in order {
            let idlest = (0..self.threads).min_by_key(|thread| proposed[*thread]).unwrap_or(0);
            owner[number] = idlest;
            proposed[idlest] += self.load[number];
        }
        let mut current = vec![0; self.threads];
        for (owner, load) in self.owner.iter().zip(&self.load) {
            current[*owner] += load;
        }
        let (before, after): (Option<u64>, Option<u64>) =
            (current.into_iter().max(), proposed.into_iter().max());
        if after.zip(before).is_some_and(|(after, before)| after < before - before / 20) {
            self.owner = owner;
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
    /// How often the barrier has opened.
    generation: AtomicU64,
    /// Whether a thread has panicked and will not arrive.
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
