//! The files that a scenario names: the engine itself opens none.

use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use forebay_scenario::{Scenario, ScenarioError, expand, packets_of, registry};

/// The largest file that is read: rates for every millisecond of an hour have some 70 MB.
const LARGEST: u64 = 64 << 20;

/// The scenario of `text`, which can name files in the folder of `name`.
pub(crate) fn read_scenario(
    text: &str,
    name: &str,
    assignments: &[String],
) -> Result<Scenario, ScenarioError> {
    Scenario::parse_beside(&registry(), text, name, assignments, &|file| read_beside(name, file))
}

/// The scenario of `text` in one piece, as JSON.
pub(crate) fn expand_scenario(text: &str, name: &str) -> Result<String, ScenarioError> {
    expand(text, name, &|file| read_beside(name, file))
}

/// The text of a data file in the folder of the scenario file `name`; of a capture, its packets as
/// a table. Or why it cannot be read.
pub(crate) fn read_beside(name: &str, file: &str) -> Result<String, String> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    read(&folder.join(file))
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
    if let Some(packets) = packets_of(&mut next, LARGEST as usize)? {
        return Ok(packets);
    }
    if about.len() > LARGEST {
        return Err(format!("has {} B; allowed are up to {LARGEST} B", about.len()));
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            "is neither text in UTF-8 nor a capture in the format pcap or pcapng".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    })
}
