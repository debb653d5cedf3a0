//! Laws from outside: the registry of this process, and the watch on laws that do not return.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place that reads libraries, and that ends laws by the time of day"
)]

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use forebay_law_abi::{LoadedLaw, LoadedLaws, abi, under_way};
use forebay_scenario::{Registry, Scenario};
use pyo3::prelude::*;
use serde::Serialize;

use crate::LawError;
use crate::aside::reason;

/// A law from outside, as results and `forebay mechanisms` name it.
#[derive(Clone, Serialize)]
pub(crate) struct OuterLaw {
    /// Category in which scenarios choose it.
    category: &'static str,
    /// Name in scenarios.
    name: &'static str,
    /// The file that it was loaded from.
    file: String,
    /// Hash of its source: 16 hexadecimal digits.
    contents: &'static str,
    /// Way in which it runs: `library`, `python`, or a compiler with its version.
    ran_as: String,
    /// Version of the interface.
    abi: u32,
}

/// The mechanisms of this process.
struct Known {
    registry: Registry,
    laws: Vec<OuterLaw>,
}

/// Begin with what `registry` gives.
///
/// # Errors
/// What it says as it panics, as where a name is taken.
pub(crate) fn begin(registry: fn() -> Registry) -> Result<(), String> {
    let begun = catch_unwind(registry).map_err(|panic| reason(panic.as_ref()).to_owned())?;
    known().get_or_insert(Known { registry: begun, laws: Vec::new() });
    Ok(())
}

fn known() -> MutexGuard<'static, Option<Known>> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_known<R>(look: impl FnOnce(&mut Known) -> R) -> R {
    let mut known = known();
    look(known.as_mut().expect("it is begun as the module is made"))
}

/// Every mechanism that scenarios can choose: those of the build, and those that were loaded.
pub(crate) fn registry() -> Registry {
    with_known(|known| known.registry.clone())
}

/// The laws from outside that a scenario with these resolved values chooses.
pub(crate) fn chosen(resolved: &BTreeMap<String, String>) -> Vec<OuterLaw> {
    with_known(|known| {
        let laws = known.laws.iter().filter(|law| {
            let contents = format!("contents {}", law.contents);
            let end = format!(".{}", law.name);
            resolved.iter().any(|(path, value)| *value == contents && path.ends_with(&end))
        });
        laws.cloned().collect()
    })
}

/// The names of laws from outside, for a message about a run that they decide in: `queue
/// "my_codel"`; `None` without any.
pub(crate) fn names(laws: &[OuterLaw]) -> Option<String> {
    let names: Vec<String> =
        laws.iter().map(|law| format!("{} \"{}\"", law.category, law.name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The description of a scenario, with the laws from outside that it chooses under `laws`, as JSON.
pub(crate) fn described(scenario: &Scenario) -> String {
    let (description, laws) = (scenario.describe(), chosen(scenario.parameters()));
    if laws.is_empty() {
        return description;
    }
    let mut all: serde_json::Value =
        serde_json::from_str(&description).expect("a description is JSON");
    all["laws"] = serde_json::to_value(&laws).expect("laws are plain data with names");
    all.to_string()
}

/// True if runs must be waited for: what is written in Python, laws and stacks, must not call an
/// interpreter that ends.
static WAITS: AtomicBool = AtomicBool::new(false);

/// Returns true if runs must be waited for.
pub(crate) fn waits() -> bool {
    WAITS.load(Ordering::Relaxed)
}

/// Have runs be waited for from here on.
pub(crate) fn wait() {
    WAITS.store(true, Ordering::Relaxed);
}

/// The file of laws that were defined in a cell of a notebook.
const NOTEBOOK: &str = "notebook";

/// Add laws to the registry of this process; which, as JSON.
fn add(loaded: &LoadedLaws, file: &str, ran_as: &str) -> Result<String, String> {
    start_watch();
    let laws = loaded.laws().map(|law| OuterLaw {
        category: law.category,
        name: law.name,
        file: file.to_owned(),
        contents: law.contents,
        ran_as: ran_as.to_owned(),
        abi: abi::VERSION,
    });
    let laws: Vec<OuterLaw> = laws.collect();
    with_known(|known| {
        // A cell that is run again after an edit means the law as it is now.
        let is_cell = |law: &OuterLaw| law.file == NOTEBOOK && file == NOTEBOOK;
        let is_same = |law: &OuterLaw, new: &LoadedLaw| {
            is_cell(law) && law.category == new.category && law.name == new.name
        };
        let replaces = |new: &LoadedLaw| known.laws.iter().any(|law| is_same(law, new));
        loaded.add_to(&mut known.registry, replaces)?;
        known.laws.retain(|law| !loaded.laws().any(|new| is_same(law, &new)));
        known.laws.extend_from_slice(&laws);
        Ok::<(), String>(())
    })?;
    Ok(json(&laws))
}

fn json(laws: &[OuterLaw]) -> String {
    serde_json::to_string(laws).expect("laws are plain data with names")
}

fn refused(file: &str) -> impl FnOnce(String) -> PyErr {
    move |message| LawError::new_err(format!("{file}: {message}"))
}

/// Add the laws in the table at an address, which must stay there; which, as JSON.
///
/// `ran_as` says how they run; with `waits`, runs are waited for. Raises LawError if the table is
/// wrong, or a name is taken.
#[pyfunction]
pub(crate) fn add_laws(address: usize, file: &str, ran_as: &str, waits: bool) -> PyResult<String> {
    let loaded = forebay_law_abi::read(address).map_err(refused(file))?;
    let added = add(&loaded, file, ran_as).map_err(refused(file))?;
    if waits {
        wait();
    }
    Ok(added)
}

/// Load the laws of a shared library; which, as JSON. Its code is run from here on.
///
/// Raises LawError if it cannot be loaded.
#[pyfunction]
pub(crate) fn load_laws(py: Python<'_>, path: String) -> PyResult<String> {
    let load = || {
        let bytes = std::fs::read(&path).map_err(|error| format!("cannot be read: {error}"))?;
        let contents = blake3::hash(&bytes).to_hex()[..16].to_owned();
        // A name without a folder would be looked for where the system has its libraries.
        let path = Path::new(&path);
        let path = path.canonicalize().map_err(|error| format!("cannot be read: {error}"))?;
        forebay_law_abi::load(&path, &contents)
    };
    let loaded = py.detach(load).map_err(refused(&path))?;
    add(&loaded, &path, "library").map_err(refused(&path))
}

/// The laws from outside that were loaded, as JSON.
#[pyfunction]
pub(crate) fn laws() -> String {
    with_known(|known| json(&known.laws))
}

/// The address of the functions that laws may call.
#[pyfunction]
pub(crate) fn law_host() -> usize {
    forebay_law_abi::host_address()
}

/// Returns the layout of the interface of laws, as JSON: facts by struct, sizes, numbers.
#[pyfunction]
pub(crate) fn law_layout() -> String {
    abi::layout()
}

/// The C header of the interface of laws.
#[pyfunction]
pub(crate) fn law_header() -> &'static str {
    forebay_law_abi::HEADER
}

/// Most time that a call of a law may take, in ms.
static LIMIT_MS: AtomicU64 = AtomicU64::new(10_000);

/// Set how long a call of a law may take, in seconds, before the process is ended.
#[pyfunction]
pub(crate) fn set_law_timeout(seconds: f64) {
    LIMIT_MS.store((seconds * 1e3) as u64, Ordering::Relaxed);
}

/// Interval at which calls under way are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Exit status where the user's input is wrong.
const WRONG_INPUT: i32 = 2;

/// Watch the calls of laws from a thread of its own: one that does not return ends the process,
/// as nothing else ends such a call.
fn start_watch() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        std::thread::spawn(|| {
            let mut seen: Vec<((usize, u64), Instant)> = Vec::new();
            loop {
                std::thread::sleep(TICK);
                look(&mut seen);
            }
        });
    });
}

/// Look at the calls that are under way, and when each was first seen.
fn look(seen: &mut Vec<((usize, u64), Instant)>) {
    let calls = under_way();
    seen.retain(|(call, _)| calls.iter().any(|known| known.call == *call));
    for each in &calls {
        let Some((_, since)) = seen.iter().find(|(call, _)| *call == each.call) else {
            seen.push((each.call, Instant::now()));
            continue;
        };
        let limit = Duration::from_millis(LIMIT_MS.load(Ordering::Relaxed));
        if since.elapsed() >= limit {
            let seconds = limit.as_secs_f64();
            let told = format!(
                "forebay: error: {}: it did not return within {seconds} s (--law-timeout); the \
                 process was ended\n",
                each.law
            );
            end(&told);
        }
    }
}

/// End the process, whatever its threads are at.
fn end(told: &str) -> ! {
    use std::io::Write;
    // Standard error may be closed.
    let _ = std::io::stderr().write_all(told.as_bytes());
    std::process::exit(WRONG_INPUT)
}
