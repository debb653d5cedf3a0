//! The native module `forebay._native`: scenarios in, columns out; scripts of TCP in, verdicts out.
//!
//! [`engine!`] defines the module, with the mechanisms of a registry: those of Forebay in the crate
//! `native`, which a wheel holds, and those of one's own besides in an engine of one's own.
//!
//! This crate converts and nothing else. Runs happen on threads of their own without the
//! interpreter lock; the calling thread hears of finished runs, reports progress and listens for
//! Ctrl-C.

mod aside;
mod batch;
mod convert;
mod files;
mod gym;
mod gym_pool;
mod host;
mod host_stack;
mod laws;
mod memory;

use mimalloc::MiMalloc;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyImportError};
use pyo3::prelude::*;

use files::{expand_scenario, read_beside, read_scenario};

pub use forebay_scenario::Registry;
#[doc(hidden)]
pub use pyo3;

/// Memory of modules: networks are many small allocations, and this allocator takes a quarter off
/// the time of wiring them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

create_exception!(
    forebay._native,
    ScenarioError,
    PyException,
    "A scenario that cannot be run: file, line or key path, what was read and what is allowed."
);

create_exception!(
    forebay._native,
    ScriptError,
    PyException,
    "A script of packets that cannot be run: file, line and column, what was read, what is allowed."
);

create_exception!(
    forebay._native,
    LimitError,
    PyException,
    "A run that exceeds a limit of its job: on packets, memory or time."
);

create_exception!(
    forebay._native,
    LawError,
    PyException,
    "A law from outside that cannot be loaded, or that ended a run: its name, place and time, what \
     it returned and what is allowed."
);

create_exception!(
    forebay._native,
    StackError,
    PyException,
    "A stack or its application that ended a run: the host, the time, and what it did. What it \
     raised is the cause."
);

create_exception!(
    forebay._native,
    EngineError,
    PyException,
    "A run on which the engine failed: a bug in it, not in the scenario."
);

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    forebay_scenario::VERSION
}

/// Returns the build of the engine, 16 hexadecimal digits: a hash of its sources (`build.rs`), and
/// of the library of an engine of one's own (`set_library`).
#[pyfunction]
fn build() -> &'static str {
    batch::build()
}

/// Make the build that of an engine of one's own, of whose library these are the contents, before
/// anything is run.
#[pyfunction]
fn set_library(contents: &[u8]) {
    batch::set_library(contents);
}

/// Every mechanism and every section of a scenario file, as JSON.
#[pyfunction]
fn catalogue() -> String {
    forebay_scenario::catalogue(&laws::registry())
}

/// The kinds of rows of a run, with the titles of their tables, and every column of a result by
/// part: name, unit, meaning and whether it is a headline, as JSON.
#[pyfunction]
fn result_columns() -> String {
    forebay_scenario::result_columns(&laws::registry(), batch::Clocked::COLUMNS)
}

/// Returns the invariants of any run, as JSON: group, name, sentence and source of each invariant.
#[pyfunction]
fn invariants() -> String {
    forebay_scenario::invariants()
}

/// The JSON schema of scenario files.
#[pyfunction]
fn schema() -> String {
    forebay_scenario::schema(&laws::registry())
}

/// Read and check a scenario, with hosts if it has some; describe it as JSON, with the laws from
/// outside that it chooses.
///
/// Raises ScenarioError if it cannot be run.
#[pyfunction]
#[pyo3(signature = (text, name, set, hosts = None))]
fn check(
    py: Python<'_>,
    text: String,
    name: String,
    set: Vec<String>,
    hosts: Option<host::Hosts>,
) -> PyResult<String> {
    let read = move || match hosts {
        None => read_scenario(&text, &name, &set).map_err(|error| error.to_string()),
        Some(hosts) => hosts.scenario(&(text, name, set)).map_err(|error| error.to_string()),
    };
    let described = move || read().map(|scenario| laws::described(&scenario));
    aside::aside(py, described)?.map_err(ScenarioError::new_err)
}

/// A scenario with all that it includes and repeats, as JSON; nothing of it is checked.
///
/// Raises ScenarioError if that cannot be read.
#[pyfunction]
fn expand(text: &str, name: &str) -> PyResult<String> {
    expand_scenario(text, name).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// The text of a scenario file without what stands at the key paths `removed`, and with assignments
/// made in it; comments and layout stay as they are.
///
/// Raises ScenarioError if the text is no TOML, or a path leads nowhere.
#[pyfunction]
fn edit(text: &str, name: &str, removed: Vec<String>, set: Vec<String>) -> PyResult<String> {
    forebay_scenario::edit(text, name, &removed, &set)
        .map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// The text of a data file that the scenario file `name` names as `file`: of a capture, its packets
/// as a table. Raises `ScenarioError` if it cannot be read.
#[pyfunction]
fn data_file(name: &str, file: &str) -> PyResult<String> {
    read_beside(name, file)
        .map(|found| found.text)
        .map_err(|message| ScenarioError::new_err(format!("\"{file}\" {message}")))
}

/// The paths of the files that a scenario includes or names.
///
/// Raises ScenarioError if it cannot be run.
#[pyfunction]
fn files_of(text: &str, name: &str, set: Vec<String>) -> PyResult<Vec<std::path::PathBuf>> {
    files::files_of(text, name, &set).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Run a script of packets that must arrive and be sent on the model of TCP; what came of it, as
/// JSON.
///
/// Raises ScriptError if it cannot be run.
#[pyfunction]
fn tcp_script(text: &str, name: &str, overrides: Vec<String>) -> PyResult<String> {
    forebay_scripts::run_text(text, name, &overrides, &laws::registry())
        .map_err(|error| ScriptError::new_err(error.to_string()))
}

/// Returns what scripts of packets may hold beside packets, as JSON.
#[pyfunction]
fn tcp_script_language() -> String {
    forebay_scripts::language()
}

/// Defines the native module `forebay._native` in a library (`crate-type = ["cdylib"]`) that
/// depends on this crate. Scenarios can choose from what a function without arguments gives:
///
/// ```ignore
/// forebay_python::engine!(own_element::registry);
/// ```
#[macro_export]
macro_rules! engine {
    ($registry:path) => {
        /// The engine, as Python calls it.
        #[$crate::pyo3::pymodule]
        #[pyo3(crate = "::forebay_python::pyo3")]
        fn _native(
            module: &$crate::pyo3::Bound<'_, $crate::pyo3::types::PyModule>,
        ) -> $crate::pyo3::PyResult<()> {
            $crate::fill(module, $registry)
        }
    };
}

/// Fill the native module, where scenarios can choose from what `registry` gives.
///
/// # Errors
/// `ImportError` with what `registry` says as it panics, as where a name is taken.
pub fn fill(module: &Bound<'_, PyModule>, registry: fn() -> Registry) -> PyResult<()> {
    laws::begin(registry).map_err(PyImportError::new_err)?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("ScriptError", module.py().get_type::<ScriptError>())?;
    module.add("LimitError", module.py().get_type::<LimitError>())?;
    module.add("LawError", module.py().get_type::<LawError>())?;
    module.add("StackError", module.py().get_type::<StackError>())?;
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add_function(wrap_pyfunction!(laws::add_laws, module)?)?;
    module.add_function(wrap_pyfunction!(laws::load_laws, module)?)?;
    module.add_function(wrap_pyfunction!(laws::laws, module)?)?;
    module.add_function(wrap_pyfunction!(laws::law_host, module)?)?;
    module.add_function(wrap_pyfunction!(laws::law_layout, module)?)?;
    module.add_function(wrap_pyfunction!(laws::law_header, module)?)?;
    module.add_function(wrap_pyfunction!(laws::set_law_timeout, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(set_library, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(result_columns, module)?)?;
    module.add_function(wrap_pyfunction!(invariants, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(expand, module)?)?;
    module.add_function(wrap_pyfunction!(edit, module)?)?;
    module.add_function(wrap_pyfunction!(data_file, module)?)?;
    module.add_function(wrap_pyfunction!(files_of, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_script, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_script_language, module)?)?;
    module.add_function(wrap_pyfunction!(batch::run_batch, module)?)?;
    module.add_function(wrap_pyfunction!(host::host_addresses, module)?)?;
    module.add_function(wrap_pyfunction!(host::host_certificate, module)?)?;
    module.add_function(wrap_pyfunction!(host::size_bytes, module)?)?;
    module.add_class::<gym::Gym>()?;
    module.add_function(wrap_pyfunction!(gym::gym_series, module)?)?;
    Ok(())
}
