//! Several regions at once, on several threads.
//!
//! Conservative synchronisation in windows: from the time of the first event anywhere, a window is
//! as long as links at borders know of packets ahead of time, so that nothing that happens within
//! it in one region can matter to another before it ends. Between windows regions hand over what
//! crosses a border. Where a window begins depends on the trajectory alone, and what a region does
//! within it on nobody else: no result depends on threads or on their speed.

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, panicking, scope, yield_now};

use forebay_units::{Span, Time};

use crate::parcels::{Parcels, Road};
use crate::region::Region;

/// What regions share while they run.
pub(crate) struct Exchange {
    /// How long a window is.
    ahead: Span,
    threads: usize,
    /// By region.
    notices: Vec<Notice>,
    traffic: Vec<Traffic>,
    /// As dealt at the end of the last call.
    hands: Mutex<Hands>,
    barrier: Barrier,
}

/// What a region tells the others at the end of a window. Everything shared is there twice, used in
/// turn: who reads what was told of one window is not disturbed by who tells of the next, and one
/// meeting a window is enough. Aligned so that no two share a line of a cache.
#[derive(Default)]
#[repr(align(128))]
struct Notice {
    /// When something is due next here, or where this region has sent packets.
    next: [AtomicU64; 2],
    /// Events handled so far.
    events: [AtomicU64; 2],
    /// What was done so far.
    work: [AtomicU64; 2],
}

/// A road and what goes by it.
#[repr(align(128))]
struct Traffic {
    road: Road,
    parcels: [Mutex<Parcels>; 2],
}

/// A call of [`Exchange::run`].
struct Run<'a, 'b> {
    regions: &'a [Mutex<&'b mut Region>],
    /// Which thread has which regions in hand as it begins.
    hands: Hands,
    limit: Time,
    /// Events handled before, and those to be handled at least now.
    begun: u64,
    budget: u64,
}

impl Exchange {
    /// For `count` regions on at most so many threads, whose borders know of packets so long
    /// `ahead`; `roads` lead from some into others.
    pub(crate) fn new((count, threads): (usize, usize), ahead: Span, roads: Vec<Road>) -> Self {
        assert!(ahead > Span::ZERO, "a link without delay cannot be at a border");
        let threads = threads.clamp(1, count);
        let traffic = |road| {
            let parcels = [(); 2].map(|()| Mutex::new(Parcels::new(&road)));
            Traffic { road, parcels }
        };
        Self {
            ahead,
            threads,
            notices: (0..count).map(|_| Notice::default()).collect(),
            traffic: roads.into_iter().map(traffic).collect(),
            hands: Mutex::new(Hands::new(count, threads)),
            barrier: Barrier::new(threads),
        }
    }

    /// Run `regions` until `limit`, or until the end of the window in which they have handled
    /// `budget` events in all; false in the latter case.
    ///
    /// # Panics
    /// If one of the threads does, with its message.
    pub(crate) fn run(&self, regions: &mut [Region], limit: Time, budget: u64) -> bool {
        let begun = regions.iter().map(|region| region.events).sum();
        let regions: Vec<_> = regions.iter_mut().map(Mutex::new).collect();
        let hands = lock(&self.hands).clone();
        let run = Run { regions: &regions, hands, limit, begun, budget };
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

    /// What each thread does. All see the same notices, so all decide alike.
    fn work(&self, thread: usize, run: &Run<'_, '_>) -> bool {
        let _guard = Guard(&self.barrier);
        let mut hands = run.hands.clone();
        for turn in [0, 1].into_iter().cycle() {
            for number in hands.of(thread) {
                self.tell(number, turn, &mut lock(&run.regions[number]));
            }
            if !self.barrier.wait() {
                break;
            }
            let events = self.notices.iter().map(|n| n.events[turn].load(Ordering::Relaxed));
            let work = self.notices.iter().map(|n| n.work[turn].load(Ordering::Relaxed));
            let next = self.notices.iter().map(|n| n.next[turn].load(Ordering::Relaxed)).min();
            let next = next.map_or(Time::NEVER, Time::from_ps);
            let complete = next > run.limit || next == Time::NEVER;
            let spent = events.sum::<u64>() - run.begun >= run.budget;
            let end = Time::from_ps(next.ps().saturating_add(self.ahead.ps() - 1)).min(run.limit);
            hands.deal(work.collect());
            for number in hands.of(thread) {
                let region = &mut **lock(&run.regions[number]);
                self.collect(number, turn, region);
                if complete {
                    region.finish(run.limit);
                } else if !spent {
                    region.pass_window(end);
                }
            }
            if complete || spent {
                if thread == 0 {
                    *lock(&self.hands) = hands;
                }
                return complete;
            }
        }
        false
    }

    /// Tell the others what they must know of `region`, which has come to the end of a window.
    fn tell(&self, number: usize, turn: usize, region: &mut Region) {
        let mut next = region.soonest();
        for Traffic { road, parcels } in self.traffic.iter().filter(|at| at.road.from == number) {
            next = next.min(lock(&parcels[turn]).leave(region, road));
        }
        let notice = &self.notices[number];
        notice.next[turn].store(next.ps(), Ordering::Relaxed);
        notice.events[turn].store(region.events, Ordering::Relaxed);
        notice.work[turn].store(region.work(), Ordering::Relaxed);
    }

    /// Take what the others have sent.
    fn collect(&self, number: usize, turn: usize, region: &mut Region) {
        for Traffic { road, parcels } in self.traffic.iter().filter(|at| at.road.to == number) {
            lock(&parcels[turn]).arrive(region, road);
        }
    }
}

/// Which thread has which regions in hand. Regions change hands when that spreads the work better:
/// what each has to do is known from what it had to do.
#[derive(Clone)]
struct Hands {
    threads: usize,
    /// By region.
    owner: Vec<usize>,
    /// Work done lately, by region: that of a window counts half after ten.
    heat: Vec<u64>,
    /// Work seen so far, by region.
    seen: Vec<u64>,
}

impl Hands {
    fn new(regions: usize, threads: usize) -> Self {
        let owner = (0..regions).map(|number| number % threads).collect();
        Self { threads, owner, heat: vec![0; regions], seen: vec![0; regions] }
    }

    /// The regions of `thread`.
    fn of(&self, thread: usize) -> impl Iterator<Item = usize> {
        (0..self.owner.len()).filter(move |number| self.owner[*number] == thread)
    }

    /// Deal regions anew if some thread would have considerably less to do than the busiest has.
    /// `work` is what was done so far, by region.
    fn deal(&mut self, work: Vec<u64>) {
        for ((heat, seen), work) in self.heat.iter_mut().zip(&mut self.seen).zip(work) {
            *heat = *heat - *heat / 16 + (work - std::mem::replace(seen, work));
        }
        let mut order: Vec<usize> = (0..self.heat.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(self.heat[*number]));
        let mut load = vec![0; self.threads];
        let mut owner = vec![0; self.heat.len()];
        for number in order {
            let idlest = (0..self.threads).min_by_key(|thread| load[*thread]).unwrap_or(0);
            owner[number] = idlest;
            load[idlest] += self.heat[number];
        }
        let mut known = vec![0; self.threads];
        for (owner, heat) in self.owner.iter().zip(&self.heat) {
            known[*owner] += heat;
        }
        let (most, least): (Option<u64>, Option<u64>) =
            (known.into_iter().max(), load.into_iter().max());
        if least.zip(most).is_some_and(|(least, most)| least < most - most / 20) {
            self.owner = owner;
        }
    }
}

/// Looks before a thread that waits lets others have its core, where each has one of its own: some
/// microseconds.
const SPINS: u32 = 200;
/// Times that it lets others have its core before it sleeps: about a millisecond where nobody wants
/// it.
const YIELDS: u32 = 2000;

/// Where threads wait for each other.
struct Barrier {
    parties: usize,
    spins: u32,
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicU64,
    /// Whether a thread has panicked and will not come.
    broken: AtomicBool,
    sleepers: Mutex<usize>,
    alarm: Condvar,
}

impl Barrier {
    fn new(parties: usize) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            parties,
            spins: if cores < parties { 0 } else { SPINS },
            arrived: AtomicUsize::new(0),
            meetings: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            alarm: Condvar::new(),
        }
    }

    /// Wait until all have come; false if one never will.
    fn wait(&self) -> bool {
        let meetings = self.meetings.load(Ordering::Acquire);
        let met = || self.meetings.load(Ordering::Acquire) != meetings;
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Relaxed);
            self.release();
        } else if !self.watch(&met) {
            let mut sleepers = lock(&self.sleepers);
            *sleepers += 1;
            while !met() && !self.broken.load(Ordering::Acquire) {
                sleepers = self.alarm.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
            }
            *sleepers -= 1;
        }
        !self.broken.load(Ordering::Acquire)
    }

    /// Watch for a while whether all have met.
    fn watch(&self, met: &impl Fn() -> bool) -> bool {
        for look in 0..self.spins + YIELDS {
            if met() {
                return true;
            }
            if look < self.spins { spin_loop() } else { yield_now() }
        }
        false
    }

    /// Let all go on.
    fn release(&self) {
        self.meetings.fetch_add(1, Ordering::Release);
        // Who goes to sleep looks again under this lock.
        if *lock(&self.sleepers) > 0 {
            self.alarm.notify_all();
        }
    }
}

/// Lets nobody wait for a thread that has panicked.
struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.release();
        }
    }
}

/// The lock, whether or not a thread has panicked while it held it: that ends the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
