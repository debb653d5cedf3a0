//! Fifty random networks as files, for tests of whatever reads files: `tests/networks`.

#![expect(clippy::disallowed_methods, reason = "the networks are files, written on demand")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use forebay_scenario::Scenario;

use crate::networks::{Network, network};
use crate::random::on_two_threads;
use crate::scenarios::files;

/// Folder of the files.
const FOLDER: &str = "tests/networks";
/// Number of files.
const COUNT: usize = 50;
/// Number of networks that they are chosen from.
const DRAWN: u64 = 1500;
/// Maximum size of a file, in bytes: small ones are read more easily.
const MAX_BYTES: usize = 2000;

/// The texts of so many of the networks drawn that together have as many mechanisms, and pairs of
/// them, as networks can have which are chosen one by one.
fn chosen() -> Vec<(u64, String)> {
    let drawn = (0..DRAWN).map(|number| (number, network(number)));
    let mut left: Vec<_> = drawn
        .filter(|(_, network)| network.text.len() <= MAX_BYTES)
        .map(|(number, network)| (number, what_is_in(&network), network.text))
        .collect();
    let (mut known, mut chosen) = (BTreeSet::new(), Vec::new());
    while chosen.len() < COUNT {
        let new = |all: &BTreeSet<String>| all.difference(&known).count();
        // The first of those with most that is new.
        let best = (0..left.len()).rev().max_by_key(|at| new(&left[*at].1)).unwrap();
        let (number, all, text) = left.remove(best);
        known.extend(all);
        chosen.push((number, text));
    }
    chosen
}

/// Returns the mechanisms in `network`; if it can be divided, its impairments once more as divided.
fn what_is_in(network: &Network) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = network.mechanisms.iter().cloned().collect();
    if on_two_threads(&network.scenario).unwrap() {
        let impairments = all.iter().filter(|name| name.starts_with("impairment"));
        all.extend(impairments.map(|name| format!("{name}, divided")).collect::<Vec<_>>());
    }
    all
}

/// The files hold as many networks as a test that runs them says, and none is refused. With
/// `FOREBAY_WRITE_NETWORKS=1`, they are written anew.
#[test]
fn the_networks_in_files_can_be_read() {
    if std::env::var_os("FOREBAY_WRITE_NETWORKS").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FOLDER);
        for path in files(FOLDER) {
            fs::remove_file(path).unwrap();
        }
        for (number, text) in chosen() {
            fs::write(folder.join(format!("n{number:04}.toml")), text).unwrap();
        }
    }
    let found = files(FOLDER);
    assert_eq!(found.len(), COUNT);
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        Scenario::parse(&text, &path.to_string_lossy(), &[]).unwrap();
    }
}
