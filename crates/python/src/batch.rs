//! Many runs on many threads.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "whole runs go side by side, and how long each took is reported"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use forebay_host::{HostError, Network};
use forebay_network::columns;
use forebay_network::record::RecordTable;
use forebay_scenario::{
    Breach, Control, Invariant, Limits, Replications, Report, RunOptions, RunResult, Scenario,
    Stopped, Ties,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::aside::{aside, reason};
use crate::convert::{Job, tables};
use crate::files::read_scenario;
use crate::host::{Crew, StackReport};
use crate::host_stack::Raised;
use crate::laws::{self, OuterLaw};
use crate::memory::resident;
use crate::{EngineError, LawError, LimitError, ScenarioError, StackError};

/// Interval at which the calling thread looks for Ctrl-C, at limits, and reports progress.
const TICK: Duration = Duration::from_millis(100);

/// Build of the sources of the engine.
const SOURCES: &str = env!("FOREBAY_BUILD");

/// Build of an engine of one's own.
static OWN_BUILD: OnceLock<String> = OnceLock::new();

/// Returns the build of the engine, which results, journals and clusters know it by.
pub(crate) fn build() -> &'static str {
    OWN_BUILD.get().map_or(SOURCES, String::as_str)
}

/// Take the build of this engine from its sources and the contents of the library that has it. Only
/// the first call counts.
pub(crate) fn set_library(contents: &[u8]) {
    let mut hasher = blake3::Hasher::new();
    hasher.update(SOURCES.as_bytes()).update(contents);
    OWN_BUILD.get_or_init(|| hasher.finalize().to_hex()[..16].to_owned());
}

columns! {
    /// Additions to the engine's result of a run: the engine knows no clock, and its own crates
    /// cannot know what they are built into.
    #[derive(Serialize)]
    pub struct Clocked {
        /// Build of the engine: a hash of its sources, which `forebay --version` prints.
        pub build: &'static str = Word,
        /// Time that the run took, in seconds.
        pub wall_s: f64 = Seconds,
        /// The part of it that passed before simulated time began, in seconds.
        pub setup_s: f64 = Seconds,
    }
}

/// The document of a run. It is written as JSON, its `str`, only for who asks: that can take longer
/// than the run.
#[pyclass(frozen)]
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    result: RunResult,
    #[serde(flatten)]
    clocked: Clocked,
    /// Warnings of what can be run and is hardly meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Laws from outside that the scenario chooses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    laws: Vec<OuterLaw>,
    /// Hosts with stacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<StackReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Checks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

#[pymethods]
impl Document {
    fn __str__(&self) -> String {
        serde_json::to_string(self).expect("a result is plain data with names")
    }
}

/// Number of checks of each invariant in a run that broke none.
#[derive(Serialize)]
struct Checks {
    /// Number of invariants that were checked.
    invariants: usize,
    /// Number of checks of each, by name.
    each: BTreeMap<&'static str, u64>,
}

impl Checks {
    fn of(report: &Report) -> Self {
        let all = Invariant::ALL.iter().map(|it| (it.name(), report.checked(*it)));
        let each = all.filter(|(_, times)| *times > 0).collect();
        Self { invariants: report.invariants(), each }
    }
}

/// One run to do.
struct Task {
    scenario: Arc<Scenario>,
    laws: Arc<Vec<OuterLaw>>,
    options: RunOptions,
    check: bool,
    command: Option<String>,
    timeout: Option<Duration>,
    control: Control,
    crew: Option<Crew>,
    /// Time at which a thread began it.
    begun: OnceLock<Instant>,
}

/// All runs of a batch, and how many of them were begun.
struct Batch {
    tasks: Vec<Task>,
    next: AtomicUsize,
}

/// A run that is over: which, and what came of it.
struct Done {
    index: usize,
    outcome: Outcome,
}

enum Outcome {
    /// The result and the tables.
    Result(Box<Document>, Vec<RecordTable>),
    /// It was cancelled, for a reason that the calling thread knows.
    Cancelled,
    /// It exceeded a limit.
    Limit(String),
    /// A law from outside ended it.
    Law(String),
    /// A stack ended it, with what it raised.
    Stack(String, Option<PyErr>),
    /// The engine failed, for this reason.
    Failure(String),
}

/// Run all jobs on `threads` threads.
///
/// `begins(packets, warnings)` is told how many packets each run is expected to send, and the
/// warnings of its scenario, before the first begins. `done(index, document, tables)` is called
/// on this thread as each finishes, in any order, or `failed(index, error)` with a LimitError if it
/// exceeds a limit of its job, a LawError if a law from outside ended it, a StackError if a stack
/// or its application did, or an EngineError if the engine failed on it; `tick(fractions)` about
/// ten times a second. Ctrl-C stops the batch: finished runs have been reported.
///
/// Raises ScenarioError, before anything runs, if a scenario is wrong.
#[pyfunction]
#[pyo3(signature = (jobs, threads, done, failed, tick = None, begins = None))]
pub(crate) fn run_batch(
    py: Python<'_>,
    jobs: Vec<Job>,
    threads: usize,
    done: Bound<'_, PyAny>,
    failed: Bound<'_, PyAny>,
    tick: Option<Bound<'_, PyAny>>,
    begins: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let calls = Calls { done, failed, tick };
    let tasks = aside(py, move || prepare(jobs))?.map_err(ScenarioError::new_err)?;
    if let Some(begins) = begins {
        let scenarios = || tasks.iter().map(|task| &task.scenario);
        let expected: Vec<u64> = scenarios().map(|each| each.expected_packets()).collect();
        let warnings: Vec<Vec<String>> = scenarios().map(|each| warnings_of(each)).collect();
        begins.call1((expected, warnings))?;
    }
    let batch = Arc::new(Batch { tasks, next: AtomicUsize::new(0) });
    let (sender, receiver) = channel();
    let workers = (0..threads.clamp(1, batch.tasks.len().max(1))).map(|_| {
        let (sender, batch) = (sender.clone(), Arc::clone(&batch));
        std::thread::spawn(move || prepared(|| work(&batch, &sender)))
    });
    let workers: Vec<JoinHandle<()>> = workers.collect();
    drop(sender);
    let outcome = Listener::new(&batch, receiver).listen(py, &calls);
    batch.next.store(batch.tasks.len(), Ordering::Relaxed);
    batch.tasks.iter().for_each(Task::cancel);
    // Threads are not waited for: a run that was cancelled ends by itself, but not at once where it
    // is being wired, say. One that calls a law in Python must not outlive the interpreter.
    if laws::waits() {
        py.detach(|| wait_for(&workers));
    }
    outcome
}

/// Most time that threads are waited for: one that does not notice that its run was cancelled calls
/// no law.
const PATIENCE: Duration = Duration::from_secs(10);

/// Wait until all threads have ended, but not for ever.
fn wait_for(workers: &[JoinHandle<()>]) {
    let begun = Instant::now();
    while !workers.iter().all(JoinHandle::is_finished) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns what is hardly meant in a scenario, a sentence each.
fn warnings_of(scenario: &Scenario) -> Vec<String> {
    scenario.warnings().iter().map(ToString::to_string).collect()
}

/// A scenario that was read, and the laws from outside that it chooses.
type Read = (Arc<Scenario>, Arc<Vec<OuterLaw>>);

fn read_of(scenario: Scenario) -> Read {
    let laws = Arc::new(laws::chosen(scenario.parameters()));
    (Arc::new(scenario.undescribed()), laws)
}

/// Check every scenario; equal ones are read once, unless there are hosts with stacks on them.
fn prepare(jobs: Vec<Job>) -> Result<Vec<Task>, String> {
    let mut known: BTreeMap<(String, String, Vec<String>), Read> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(jobs.len());
    for job in jobs {
        let mut assignments = job.assignments;
        if let Some(until) = job.until {
            assignments.push(format!("duration=\"{until}\""));
        }
        let key = (job.text, job.name, assignments);
        let ((scenario, laws), crew) = match (job.hosts, known.get(&key)) {
            (Some(hosts), _) => {
                laws::wait();
                let scenario = hosts.scenario(&key).map_err(|error| error.to_string())?;
                (read_of(scenario), Some(Crew { hosts, source: key }))
            }
            (None, Some(read)) => (read.clone(), None),
            (None, None) => {
                let (text, name, assignments) = &key;
                let scenario = read_scenario(text, name, assignments);
                let read = read_of(scenario.map_err(|error| error.to_string())?);
                known.insert(key, read.clone());
                (read, None)
            }
        };
        let options = RunOptions {
            seed: job.seed,
            replication: job.replication,
            record: job.record,
            threads: job.threads,
            limits: Limits { packets: job.max_packets, memory: job.max_memory },
            ties: match job.ties {
                None => Ties::Listed,
                Some(0) => Ties::Counted,
                Some(number) => Ties::Shuffled(number),
            },
        };
        tasks.push(Task {
            scenario,
            laws,
            options,
            check: job.check,
            command: job.command,
            // No machine runs for longer than the clock can tell.
            timeout: job.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            control: Control::default(),
            crew,
            begun: OnceLock::new(),
        });
    }
    Ok(tasks)
}

/// Have a thread do its work: one that laws in Python are called on is known to the interpreter
/// from the beginning, or each call would make and end what it knows threads by.
fn prepared(work: impl FnOnce() + Send) {
    if laws::waits() { Python::attach(|py| py.detach(work)) } else { work() }
}

/// Does the work of a thread: takes the next task until none is left.
///
/// Tasks of one scenario follow each other as its replications.
fn work(batch: &Batch, sender: &Sender<Done>) {
    let mut last: Option<Replications<'_>> = None;
    loop {
        let index = batch.next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = batch.tasks.get(index) else { return };
        let same = last.take().filter(|runs| std::ptr::eq(runs.scenario(), &*task.scenario));
        let runs = last.insert(same.unwrap_or_else(|| Replications::of(&task.scenario)));
        if sender.send(Done { index, outcome: perform(task, runs) }).is_err() {
            return;
        }
    }
}

/// Result of a run that was not ended.
struct Finished {
    result: RunResult,
    tables: Vec<RecordTable>,
    stacks: Vec<StackReport>,
    report: Option<Report>,
}

fn perform<'b>(task: &'b Task, runs: &mut Replications<'b>) -> Outcome {
    let begun = *task.begun.get_or_init(Instant::now);
    // A run that fails on a bug costs that run alone.
    let mut wired = Duration::ZERO;
    let outcome = catch_unwind(AssertUnwindSafe(|| match &task.crew {
        Some(crew) => task.run_hosts(crew),
        None => task.run_alone(runs, || wired = begun.elapsed()),
    }));
    let Finished { result, tables, stacks, report } = match outcome {
        Ok(Ok(finished)) => finished,
        Ok(Err(outcome)) => return outcome,
        Err(panic) => return Outcome::Failure(reason(panic.as_ref()).to_owned()),
    };
    if let Some(report) = &report
        && !report.breaches().is_empty()
    {
        let broken = breaches(report);
        return match laws::names(&task.laws) {
            Some(laws) => Outcome::Law(format!("{laws}: {broken}")),
            None => Outcome::Failure(broken),
        };
    }
    let document = Document {
        result,
        clocked: Clocked {
            build: build(),
            setup_s: wired.as_secs_f64(),
            wall_s: begun.elapsed().as_secs_f64(),
        },
        warnings: warnings_of(&task.scenario),
        laws: task.laws.to_vec(),
        stacks,
        checks: report.as_ref().map(Checks::of),
        command: task.command.clone(),
    };
    Outcome::Result(Box::new(document), tables)
}

impl Task {
    /// Run it as the scenario has it; `wired` is told when simulated time begins.
    fn run_alone<'b>(
        &'b self,
        runs: &mut Replications<'b>,
        wired: impl FnOnce(),
    ) -> Result<Finished, Outcome> {
        let Self { scenario, options, control, .. } = self;
        let ended = |stopped| match stopped {
            Stopped::Cancelled => Outcome::Cancelled,
            Stopped::Law(fault) => Outcome::Law(fault.to_string()),
            limit => Outcome::Limit(limit.to_string()),
        };
        let (result, tables) = runs.run(options, control, wired).map_err(ended)?;
        let checked = self.check.then(|| scenario.check(options, control, &result)).transpose();
        Ok(Finished { result, tables, stacks: Vec::new(), report: checked.map_err(ended)? })
    }

    /// Run it with hosts that have stacks; twice, if it is checked.
    fn run_hosts(&self, crew: &Crew) -> Result<Finished, Outcome> {
        let Self { options, control, .. } = self;
        let RunOptions { seed, replication, record, limits, .. } = options.clone();
        let raised = Raised::default();
        let network = || crew.network((seed, replication), record, limits, &raised);
        let run = || {
            if self.check {
                let (report, watched) = Network::run_twice_under(seed, control, network)?;
                return Ok((report, Some(watched)));
            }
            Ok((network()?.run_under(seed, control)?, None))
        };
        let ended = run();
        let cause = raised.take();
        match (ended, cause) {
            (Ok((report, watched)), None) => Ok(Finished {
                result: report.result,
                tables: report.tables,
                stacks: report.hosts.into_iter().map(StackReport::of).collect(),
                report: watched,
            }),
            (Ok(_), Some((told, error))) => Err(Outcome::Stack(told, error)),
            (Err(HostError::Cancelled), _) => Err(Outcome::Cancelled),
            (Err(HostError::Limit(limit)), _) => Err(Outcome::Limit(limit)),
            (Err(error), cause) => {
                Err(Outcome::Stack(error.to_string(), cause.and_then(|(_, error)| error)))
            }
        }
    }

    /// Have it stop soon.
    fn cancel(&self) {
        self.control.cancel.store(true, Ordering::Relaxed);
    }

    /// Returns the reason why it is to stop at `now`, if it is.
    fn exceeded(&self, now: Instant) -> Option<String> {
        let (begun, timeout) = self.begun.get().zip(self.timeout)?;
        (now.saturating_duration_since(*begun) >= timeout)
            .then(|| format!("it took longer than {} s, which is the limit", timeout.as_secs_f64()))
    }

    fn fraction(&self) -> f64 {
        let reached = self.control.reached_ps.load(Ordering::Relaxed) as f64;
        (reached / self.scenario.duration().ps().max(1) as f64).min(1.0)
    }
}

/// Describes what a checked run broke: each invariant with place, time and numbers, a line each.
fn breaches(report: &Report) -> String {
    let line = |breach: &Breach| {
        let Breach { invariant, place, at, numbers } = breach;
        let (name, sentence) = (invariant.name(), invariant.sentence());
        format!("\n  {name} at {place}, {} s: {numbers}\n    ({sentence})", at.seconds())
    };
    let mut seen: Vec<Invariant> = Vec::new();
    let first = report.breaches().iter().filter(|breach| {
        let new = !seen.contains(&breach.invariant);
        seen.push(breach.invariant);
        new
    });
    let lines: String = first.map(line).collect();
    format!("it broke what must hold in any run:{lines}")
}

/// Whom Python wants called.
struct Calls<'py> {
    done: Bound<'py, PyAny>,
    failed: Bound<'py, PyAny>,
    tick: Option<Bound<'py, PyAny>>,
}

/// State of the calling thread until all is done.
struct Listener<'b> {
    batch: &'b Batch,
    /// The receiver is not shared between threads; a mutex lets it cross into the detached closure.
    receiver: std::sync::Mutex<Receiver<Done>>,
    /// Runs that were reported to Python: true for each that was.
    reported: Vec<bool>,
    /// Number of those that were not.
    left: usize,
    /// Time of the last look at limits.
    looked: Instant,
    /// Memory that the process held when the batch began.
    memory: Option<u64>,
}

impl<'b> Listener<'b> {
    fn new(batch: &'b Batch, receiver: Receiver<Done>) -> Self {
        let left = batch.tasks.len();
        let receiver = std::sync::Mutex::new(receiver);
        let (reported, looked) = (vec![false; left], Instant::now());
        Self { batch, receiver, reported, left, looked, memory: resident() }
    }

    fn listen(mut self, py: Python<'_>, calls: &Calls<'_>) -> PyResult<()> {
        while self.left > 0 {
            let receiver = &self.receiver;
            let message = py
                .detach(|| receiver.lock().expect("only this thread locks it").recv_timeout(TICK));
            py.check_signals()?;
            match message {
                Ok(done) => self.report(py, done, calls)?,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(tick) = &calls.tick {
                        let fractions: Vec<f64> =
                            self.batch.tasks.iter().map(Task::fraction).collect();
                        tick.call1((fractions,))?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.enforce(py, calls)?;
        }
        Ok(())
    }

    /// Tell Python of a run that is over, once.
    fn report(&mut self, py: Python<'_>, done: Done, calls: &Calls<'_>) -> PyResult<()> {
        let Done { index, outcome } = done;
        if std::mem::replace(&mut self.reported[index], true) {
            return Ok(());
        }
        self.left -= 1;
        let error = match outcome {
            Outcome::Result(document, columns) => {
                calls.done.call1((index, *document, tables(py, columns)?))?;
                return Ok(());
            }
            Outcome::Cancelled => return Ok(()),
            Outcome::Limit(reason) => LimitError::new_err(reason),
            Outcome::Law(reason) => LawError::new_err(reason),
            Outcome::Stack(reason, cause) => {
                let error = StackError::new_err(reason);
                error.set_cause(py, cause);
                error
            }
            Outcome::Failure(reason) => EngineError::new_err(reason),
        };
        calls.failed.call1((index, error.into_value(py)))?;
        Ok(())
    }

    /// Every [`TICK`], stop the runs that take too long, or too much memory. They are reported at
    /// once, before their threads have noticed.
    fn enforce(&mut self, py: Python<'_>, calls: &Calls<'_>) -> PyResult<()> {
        let now = Instant::now();
        if now.duration_since(self.looked) < TICK {
            // Many runs may end meanwhile.
            return Ok(());
        }
        self.looked = now;
        for (index, task) in self.batch.tasks.iter().enumerate() {
            if self.reported[index] {
                continue;
            }
            if let Some(reason) = task.exceeded(now).or_else(|| self.too_large(task)) {
                task.cancel();
                self.report(py, Done { index, outcome: Outcome::Limit(reason) }, calls)?;
            }
        }
        Ok(())
    }

    /// Returns a message if the process holds more than its only run may: what no estimate has
    /// foreseen.
    fn too_large(&self, task: &Task) -> Option<String> {
        let limit = task.options.limits.memory.filter(|_| self.batch.tasks.len() == 1)?;
        let held = resident()?.saturating_sub(self.memory?);
        (held > limit).then(|| format!("it holds {held} B of memory, and may take {limit} B"))
    }
}
