//! Many runs on many threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use forebay_network::record::RecordTable;
use forebay_scenario::{Control, ResultColumn, RunOptions, Scenario};
use pyo3::prelude::*;

use crate::ScenarioError;
use crate::convert::{Job, tables};

/// How often the calling thread looks for Ctrl-C and reports progress.
const TICK: Duration = Duration::from_millis(100);

const WALL_S: ResultColumn =
    ResultColumn { name: "wall_s", meaning: "Time that the run took, in seconds." };
const SETUP_S: ResultColumn = ResultColumn {
    name: "setup_s",
    meaning: "How much of it passed before simulated time began, in seconds.",
};

/// What is added to the engine's result of a run: the engine knows no clock.
pub(crate) const CLOCKED: [ResultColumn; 2] = [WALL_S, SETUP_S];

/// One run to do.
struct Task {
    scenario: Arc<Scenario>,
    options: RunOptions,
    control: Control,
}

/// A run that is done: which, its result as JSON, and its tables. No result if it was cancelled.
struct Done {
    index: usize,
    outcome: Option<(String, Vec<RecordTable>)>,
}

/// Run all jobs on `threads` threads.
///
/// `done(index, result_json, tables)` is called on this thread as each finishes, in any order;
/// `tick(fractions)` about ten times a second. Ctrl-C stops the batch: finished runs have been
/// reported.
///
/// Raises ScenarioError, before anything runs, if a scenario is wrong.
#[pyfunction]
#[pyo3(signature = (jobs, threads, done, tick = None))]
pub(crate) fn run_batch(
    py: Python<'_>,
    jobs: Vec<Job>,
    threads: usize,
    done: Bound<'_, PyAny>,
    tick: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let tasks = prepare(jobs)?;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.clamp(1, tasks.len().max(1)) {
            let (sender, tasks, next) = (sender.clone(), &tasks, &next);
            scope.spawn(move || work(tasks, next, &sender));
        }
        drop(sender);
        let outcome = listen(py, &tasks, receiver, &done, tick.as_ref());
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
        };
        tasks.push(Task { scenario, options, control: Control::default() });
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

fn perform(task: &Task) -> Option<(String, Vec<RecordTable>)> {
    let begun = std::time::Instant::now();
    // A run that fails on a bug costs that run alone.
    let mut wired = Duration::ZERO;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        task.scenario.run_timed(&task.options, &task.control, || wired = begun.elapsed())
    }));
    match outcome {
        Ok(None) => None,
        Ok(Some((result, tables))) => {
            let mut json = serde_json::to_value(&result).expect("plain data can be written");
            json[SETUP_S.name] = wired.as_secs_f64().into();
            json[WALL_S.name] = begun.elapsed().as_secs_f64().into();
            Some((json.to_string(), tables))
        }
        Err(panic) => {
            let reason = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown reason");
            let json = serde_json::json!({
                "error": reason,
                "scenario_hash": task.scenario.hash(),
                "seed": task.options.seed,
                "replication": task.options.replication,
            });
            Some((json.to_string(), Vec::new()))
        }
    }
}

/// What the calling thread does until all is done.
fn listen(
    py: Python<'_>,
    tasks: &[Task],
    receiver: Receiver<Done>,
    done: &Bound<'_, PyAny>,
    tick: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    // The receiver is not shared between threads; a mutex lets it cross into the detached closure.
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let message =
            py.detach(|| receiver.lock().expect("only this thread locks it").recv_timeout(TICK));
        py.check_signals()?;
        match message {
            Ok(Done { index, outcome: Some((json, columns)) }) => {
                done.call1((index, json, tables(py, columns)?))?;
            }
            Ok(Done { outcome: None, .. }) => {}
            Err(RecvTimeoutError::Timeout) => {
                if let Some(tick) = tick {
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
