//! The files that a scenario names: the engine itself opens none.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place that opens a scenario's data files"
)]

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use forebay_scenario::{FileText, Registry, Scenario, ScenarioError, expand, packets_of};

use crate::laws::registry;

/// The largest file that is read: rates for every millisecond of an hour have some 70 MB.
const MAX_BYTES: u64 = 64 << 20;

/// The scenario of `text`, which can name files in the folder of `name`.
pub(crate) fn read_scenario(
    text: &str,
    name: &str,
    assignments: &[String],
) -> Result<Scenario, ScenarioError> {
    read_with(&registry(), text, name, assignments)
}

/// The same, which can choose from the mechanisms of `registry`.
pub(crate) fn read_with(
    registry: &Registry,
    text: &str,
    name: &str,
    assignments: &[String],
) -> Result<Scenario, ScenarioError> {
    Scenario::parse_beside(registry, text, name, assignments, &|file| read_beside(name, file))
}

/// The files that the scenario of `text` reads, by their paths.
pub(crate) fn files_of(
    text: &str,
    name: &str,
    assignments: &[String],
) -> Result<Vec<PathBuf>, ScenarioError> {
    let read = RefCell::new(Vec::new());
    let find = |file: &str| {
        read.borrow_mut().push(folder_of(name).join(file));
        read_beside(name, file)
    };
    Scenario::parse_beside(&registry(), text, name, assignments, &find)?;
    Ok(read.into_inner())
}

/// The scenario of `text` in one piece, as JSON.
pub(crate) fn expand_scenario(text: &str, name: &str) -> Result<String, ScenarioError> {
    expand(text, name, &|file| read_beside(name, file))
}

/// A file that the scenario file `name` names, by its path from there; of a capture, its packets as
/// a table. Or why it cannot be read.
pub(crate) fn read_beside(name: &str, file: &str) -> Result<FileText, String> {
    let folder = folder_of(name);
    // Links are followed first: where a file is, and not how it is called, is what counts.
    let path = folder.join(file).canonicalize();
    let roots = std::env::var_os(ROOTS).filter(|roots| !roots.is_empty());
    if let Some(roots) = roots {
        check_roots(path.as_deref().ok(), &roots)?;
    }
    let path = path.map_err(|error| format!("cannot be read: {error}"))?;
    let is_outside = !folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
    Ok(FileText { text: read(&path)?, is_outside })
}

/// The folder of the file `name`.
fn folder_of(name: &str) -> &Path {
    match Path::new(name).parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The folders below which files that scenarios name must lie, if it is set.
const ROOTS: &str = "FOREBAY_DATA_ROOT";

/// Refuse a file that does not lie below one of `roots`, in the same words whether or not there is
/// one elsewhere.
fn check_roots(path: Option<&Path>, roots: &OsString) -> Result<(), String> {
    let folders: Vec<PathBuf> = std::env::split_paths(roots).collect();
    let mut known = Vec::new();
    for folder in &folders {
        let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
        let fault = || format!("cannot be read: {ROOTS} names {}, no folder", folder.display());
        known.push(found.ok_or_else(fault)?);
    }
    if path.is_some_and(|path| known.iter().any(|folder| path.starts_with(folder))) {
        return Ok(());
    }
    let allowed: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(format!("is no file below {}, where {ROOTS} has it be", allowed.join(" or ")))
}

fn read(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() {
        return Err("is not a file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut file = BufReader::new(file);
    let mut next = |bytes: &mut [u8]| loop {
        match file.read(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done.map_err(|error| format!("cannot be read: {error}")),
        }
    };
    if let Some(packets) = packets_of(&mut next, MAX_BYTES as usize)? {
        return Ok(packets);
    }
    if about.len() > MAX_BYTES {
        return Err(format!("has {} B; allowed are up to {MAX_BYTES} B", about.len()));
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            "is neither text in UTF-8 nor a capture in the format pcap or pcapng".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    })
}
