//! Many runs on many threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use forebay_network::columns;
use forebay_network::record::RecordTable;
use forebay_scenario::{Control, RunOptions, RunResult, Scenario};
use pyo3::prelude::*;
use serde::Serialize;

use crate::ScenarioError;
use crate::convert::{Job, tables};

/// How often the calling thread looks for Ctrl-C and reports progress.
const TICK: Duration = Duration::from_millis(100);

/// Which build of the engine this is.
pub(crate) const BUILD: &str = env!("FOREBAY_BUILD");

columns! {
    /// What is added to the engine's result of a run: the engine knows no clock, and its own crates
    /// cannot know what they are built into.
    #[derive(Serialize)]
    pub struct Clocked {
        /// Build of the engine: a hash of its sources, which `forebay --version` prints.
        pub build: &'static str = Word,
        /// Time that the run took, in seconds.
        pub wall_s: f64 = Seconds,
        /// How much of it passed before simulated time began, in seconds.
        pub setup_s: f64 = Seconds,
    }
}

/// The document of a run.
#[derive(Serialize)]
struct Document<'r> {
    #[serde(flatten)]
    result: &'r RunResult,
    #[serde(flatten)]
    clocked: Clocked,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'r str>,
}

/// One run to do.
struct Task {
    scenario: Arc<Scenario>,
    options: RunOptions,
    command: Option<String>,
    control: Control,
}

/// A run that is done: which, and what came of it. Nothing if it was cancelled.
struct Done {
    index: usize,
    outcome: Option<Outcome>,
}

enum Outcome {
    /// The result as JSON, and the tables.
    Result(String, Vec<RecordTable>),
    /// The engine failed, for this reason.
    Failure(String),
}

/// Run all jobs on `threads` threads.
///
/// `done(index, result_json, tables)` is called on this thread as each finishes, in any order, or
/// `failed(index, reason)` if the engine failed on it; `tick(fractions)` about ten times a second.
/// Ctrl-C stops the batch: finished runs have been reported.
///
/// Raises ScenarioError, before anything runs, if a scenario is wrong.
#[pyfunction]
#[pyo3(signature = (jobs, threads, done, failed, tick = None))]
pub(crate) fn run_batch(
    py: Python<'_>,
    jobs: Vec<Job>,
    threads: usize,
    done: Bound<'_, PyAny>,
    failed: Bound<'_, PyAny>,
    tick: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let calls = Calls { done, failed, tick };
    let tasks = prepare(jobs)?;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.clamp(1, tasks.len().max(1)) {
            let (sender, tasks, next) = (sender.clone(), &tasks, &next);
            scope.spawn(move || work(tasks, next, &sender));
        }
        drop(sender);
        let outcome = listen(py, &tasks, receiver, &calls);
        if outcome.is_err() {
            next.store(tasks.len(), Ordering::Relaxed);
            for task in &tasks {
                task.control.cancel.store(true, Ordering::Relaxed);
            }
        }
        outcome
    })
}

/// Check every scenario; equal ones are read once.
fn prepare(jobs: Vec<Job>) -> PyResult<Vec<Task>> {
    let mut known: BTreeMap<(String, String, Vec<String>), Arc<Scenario>> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(jobs.len());
    for job in jobs {
        let mut assignments = job.assignments;
        if let Some(until) = job.until {
            assignments.push(format!("duration=\"{until}\""));
        }
        let key = (job.text, job.name, assignments);
        let scenario = match known.get(&key) {
            Some(scenario) => Arc::clone(scenario),
            None => {
                let (text, name, assignments) = &key;
                let scenario = Scenario::parse(text, name, assignments)
                    .map_err(|error| ScenarioError::new_err(error.to_string()))?;
                let scenario = Arc::new(scenario);
                known.insert(key, Arc::clone(&scenario));
                scenario
            }
        };
        let options = RunOptions {
            seed: job.seed,
            replication: job.replication,
            record: job.record,
            threads: job.threads,
            ..RunOptions::default()
        };
        tasks.push(Task { scenario, options, command: job.command, control: Control::default() });
    }
    Ok(tasks)
}

/// What each thread does: take the next task until none is left.
fn work(tasks: &[Task], next: &AtomicUsize, sender: &Sender<Done>) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(index) else { return };
        if sender.send(Done { index, outcome: perform(task) }).is_err() {
            return;
        }
    }
}

fn perform(task: &Task) -> Option<Outcome> {
    let begun = std::time::Instant::now();
    // A run that fails on a bug costs that run alone.
    let mut wired = Duration::ZERO;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        task.scenario.run_timed(&task.options, &task.control, || wired = begun.elapsed())
    }));
    match outcome {
        Ok(None) => None,
        Ok(Some((result, tables))) => {
            let document = Document {
                result: &result,
                clocked: Clocked {
                    build: BUILD,
                    setup_s: wired.as_secs_f64(),
                    wall_s: begun.elapsed().as_secs_f64(),
                },
                command: task.command.as_deref(),
            };
            let json = serde_json::to_string(&document).expect("a result is plain data with names");
            Some(Outcome::Result(json, tables))
        }
        Err(panic) => {
            let reason = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown reason");
            Some(Outcome::Failure(reason.to_owned()))
        }
    }
}

/// Whom Python wants called.
struct Calls<'py> {
    done: Bound<'py, PyAny>,
    failed: Bound<'py, PyAny>,
    tick: Option<Bound<'py, PyAny>>,
}

/// What the calling thread does until all is done.
fn listen(
    py: Python<'_>,
    tasks: &[Task],
    receiver: Receiver<Done>,
    calls: &Calls<'_>,
) -> PyResult<()> {
    // The receiver is not shared between threads; a mutex lets it cross into the detached closure.
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let message =
            py.detach(|| receiver.lock().expect("only this thread locks it").recv_timeout(TICK));
        py.check_signals()?;
        match message {
            Ok(Done { index, outcome: Some(Outcome::Result(json, columns)) }) => {
                calls.done.call1((index, json, tables(py, columns)?))?;
            }
            Ok(Done { index, outcome: Some(Outcome::Failure(reason)) }) => {
                calls.failed.call1((index, reason))?;
            }
            Ok(Done { outcome: None, .. }) => {}
            Err(RecvTimeoutError::Timeout) => {
                if let Some(tick) = &calls.tick {
                    let fractions: Vec<f64> = tasks.iter().map(fraction).collect();
                    tick.call1((fractions,))?;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn fraction(task: &Task) -> f64 {
    let reached = task.control.reached_ps.load(Ordering::Relaxed) as f64;
    (reached / task.scenario.duration().ps().max(1) as f64).min(1.0)
}
