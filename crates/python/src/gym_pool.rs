//! Environments in threads: each thread steps a chunk of them, the calling one too.

#![expect(clippy::disallowed_methods, reason = "environments are stepped side by side")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forebay_gym::{Environment, GymError, State, Template};
use pyo3::prelude::*;

use crate::aside::reason;

/// Interval at which the calling thread looks for Ctrl-C while others are at work.
const TICK: Duration = Duration::from_millis(100);

/// Reason why environments could not be stepped.
pub(crate) enum Failure {
    /// One of them could not, for this reason.
    Of(usize, GymError),
    /// The engine failed on one, for this reason.
    Engine(usize, String),
}

/// Order to an environment.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// Nothing.
    Rest,
    /// Begin the episode of this seed and replication; the one after it is so many replications
    /// later.
    Reset { seed: Option<u64>, replication: u64, stride: u64 },
    /// Step; where the episode is over and `renews`, begin the next.
    Step { renews: bool },
}

impl Order {
    /// Returns true if it begins the next episode where one is over.
    fn renews(self) -> bool {
        matches!(self, Self::Step { renews: true })
    }
}

/// Outcome of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The episode is under way.
    Running = 0,
    /// It is over, as all flows of its agents have ended.
    Terminated = 1,
    /// It is over, as the scenario is.
    Truncated = 2,
    /// It has begun.
    Begun = 3,
}

/// An environment, with what is asked of it and what came of that.
pub(crate) struct Seat {
    environment: Environment,
    pub(crate) order: Order,
    pub(crate) actions: Vec<f64>,
    pub(crate) outcome: Outcome,
    pub(crate) digest: u64,
    stride: u64,
    /// A step is under way.
    stepping: bool,
}

/// Consecutive environments that a thread steps.
pub(crate) struct Chunk {
    /// Number of the first.
    pub(crate) first: usize,
    pub(crate) seats: Vec<Seat>,
    /// Those of them that are done.
    done: usize,
    failure: Option<Failure>,
}

/// All environments, and the threads that step them.
pub(crate) struct Pool {
    /// The first is stepped by the calling thread.
    pub(crate) chunks: Vec<Chunk>,
    workers: Vec<Sender<(usize, Chunk)>>,
    /// A receiver is not shared between threads; a mutex lets it cross into a detached closure.
    finished: Mutex<Receiver<(usize, Chunk)>>,
    cancel: Arc<AtomicBool>,
}

impl Seat {
    fn new(template: &Arc<Template>) -> Self {
        Self {
            environment: Environment::new(Arc::clone(template)),
            order: Order::Rest,
            actions: vec![0.0; template.actions().len()],
            outcome: Outcome::Begun,
            digest: 0,
            stride: 1,
            stepping: false,
        }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Check that the step that was ordered can begin.
    pub(crate) fn check_step(&self) -> Result<(), GymError> {
        if self.order.renews() && self.is_over() {
            return Ok(());
        }
        self.environment.check_step(&self.actions)
    }

    fn is_over(&self) -> bool {
        matches!(self.environment.state(), State::Terminated | State::Truncated)
    }

    /// Give up a step under way, and the episode with it.
    fn abandon(&mut self) {
        if std::mem::take(&mut self.stepping) {
            self.environment.abandon();
        }
    }

    /// Continue what was ordered; whether it is done.
    fn advance(&mut self) -> Result<bool, GymError> {
        let over = self.is_over();
        let environment = &mut self.environment;
        match self.order {
            Order::Rest => return Ok(true),
            Order::Reset { seed, replication, stride } => {
                self.stride = stride;
                environment.reset(seed, replication)?;
                self.outcome = Outcome::Begun;
            }
            Order::Step { .. } if self.stepping => {
                if !environment.proceed()? {
                    return Ok(false);
                }
            }
            Order::Step { renews } => {
                if renews && over {
                    let (seed, replication) = environment.drawn();
                    environment.reset(Some(seed), replication + self.stride)?;
                    (self.outcome, self.digest) = (Outcome::Begun, environment.digest());
                    return Ok(true);
                }
                environment.begin_step(&self.actions)?;
                self.stepping = true;
                if !environment.proceed()? {
                    return Ok(false);
                }
            }
        }
        if self.stepping {
            self.stepping = false;
            self.outcome = match environment.state() {
                State::Terminated => Outcome::Terminated,
                State::Truncated => Outcome::Truncated,
                State::Running | State::Absent => Outcome::Running,
            };
        }
        self.digest = environment.digest();
        Ok(true)
    }
}

impl Chunk {
    fn begin(&mut self) {
        (self.done, self.failure) = (0, None);
    }

    /// Continue; whether all of it is done, or one has failed.
    fn advance(&mut self) -> bool {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            while let Some(seat) = self.seats.get_mut(self.done) {
                if !seat.advance()? {
                    return Ok(false);
                }
                self.done += 1;
            }
            Ok(true)
        }));
        let number = self.first + self.done;
        match outcome {
            Ok(Ok(done)) => return done,
            Ok(Err(error)) => self.failure = Some(Failure::Of(number, error)),
            Err(panic) => {
                let reason = reason(panic.as_ref()).to_owned();
                self.failure = Some(Failure::Engine(number, reason));
            }
        }
        if let Some(seat) = self.seats.get_mut(self.done) {
            seat.stepping = false;
        }
        true
    }
}

impl Pool {
    /// `count` environments of `template` in `threads` threads.
    pub(crate) fn new(template: &Arc<Template>, count: usize, threads: usize) -> Self {
        let threads = threads.clamp(1, count.max(1));
        let mut chunks = Vec::new();
        for thread in 0..threads {
            // The first are as large as the others, or larger by one.
            let first = thread * count / threads;
            let end = (thread + 1) * count / threads;
            let seats = (first..end).map(|_| Seat::new(template)).collect();
            chunks.push(Chunk { first, seats, done: 0, failure: None });
        }
        let cancel = Arc::new(AtomicBool::new(false));
        let (done, finished) = channel();
        let worker = |_: usize| {
            let (sender, receiver) = channel::<(usize, Chunk)>();
            let (done, cancel) = (done.clone(), Arc::clone(&cancel));
            std::thread::spawn(move || {
                for (number, mut chunk) in receiver {
                    while !cancel.load(Ordering::Relaxed) && !chunk.advance() {}
                    if done.send((number, chunk)).is_err() {
                        return;
                    }
                }
            });
            sender
        };
        let workers = (1..threads).map(worker).collect();
        Self { chunks, workers, finished: Mutex::new(finished), cancel }
    }

    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.chunks.iter().flat_map(|chunk| &chunk.seats)
    }

    pub(crate) fn seats_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.chunks.iter_mut().flat_map(|chunk| &mut chunk.seats)
    }

    /// Do what was ordered, in all threads, without the interpreter lock. The first failure, if
    /// there is one.
    ///
    /// # Errors
    /// What a signal handler raised: then steps under way are given up.
    pub(crate) fn work(&mut self, py: Python<'_>) -> PyResult<Option<Failure>> {
        self.cancel.store(false, Ordering::Relaxed);
        self.chunks.iter_mut().for_each(Chunk::begin);
        let mut own = self.chunks.remove(0);
        let mut places: Vec<Option<Chunk>> = Vec::new();
        for (number, (chunk, worker)) in self.chunks.drain(..).zip(&self.workers).enumerate() {
            worker.send((number, chunk)).expect("a thread ends when its pool does");
            places.push(None);
        }
        let mut interrupted = Ok(());
        while interrupted.is_ok() && !py.detach(|| own.advance()) {
            interrupted = self.look(py);
        }
        while places.iter().any(Option::is_none) {
            let finished = &self.finished;
            let message = py
                .detach(|| finished.lock().expect("only this thread locks it").recv_timeout(TICK));
            match message {
                Ok((number, chunk)) => places[number] = Some(chunk),
                Err(RecvTimeoutError::Timeout) if interrupted.is_ok() => {
                    interrupted = self.look(py);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("a thread gives back what it got")
                }
            }
        }
        self.chunks.push(own);
        self.chunks.extend(places.into_iter().flatten());
        if interrupted.is_err() {
            self.seats_mut().for_each(Seat::abandon);
        }
        interrupted?;
        Ok(self.chunks.iter_mut().find_map(|chunk| chunk.failure.take()))
    }

    /// Look for Ctrl-C.
    fn look(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals().inspect_err(|_| self.cancel.store(true, Ordering::Relaxed))
    }
}
