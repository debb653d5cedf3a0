//! The fuzz targets' bodies on every tool chain: over the kept corpora, and over random bytes that
//! are the same each time.

#![expect(clippy::disallowed_methods, reason = "the corpus is files")]

use std::fs;
use std::path::PathBuf;

use forebay_fuzz::BODIES;
use forebay_kernel::{Stream, Streams};

/// Inputs of each kind that a body is given.
const INPUTS: u64 = 2_000;

/// Length of an input in bytes, at most.
const MAX_LENGTH: u64 = 600;

/// Every kept input passes its body: each file of a corpus once broke something, or shows the
/// search what text looks like.
#[test]
fn kept_inputs_pass() {
    for (name, body) in BODIES {
        let kept = corpus(name);
        assert!(!kept.is_empty(), "no corpus for {name}");
        kept.iter().for_each(|input| body(input));
    }
}

/// Random bytes pass every body: what is checked against a plain model agrees with it on ordinary
/// random inputs.
#[test]
fn random_bytes_pass() {
    for (name, body) in BODIES {
        let mut stream = Streams::new(1, 0).named(name);
        (0..INPUTS).for_each(|_| body(&random(&mut stream)));
    }
}

/// Kept inputs with slips pass every body without a panic: pieces of them are cut, repeated,
/// exchanged and spliced.
#[test]
fn mutated_inputs_pass() {
    for (name, body) in BODIES {
        let kept = corpus(name);
        let mut stream = Streams::new(2, 0).named(name);
        for _ in 0..INPUTS {
            let mut input = kept[stream.below(kept.len() as u64) as usize].clone();
            for _ in 0..=stream.below(4) {
                mutate(&mut input, &kept, &mut stream);
            }
            body(&input);
        }
    }
}

/// The inputs kept for a target, in the order of their names; all scenarios and some scripts of the
/// repository for the targets that read such.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![crates.join("../../validation/fuzz/corpus").join(name)];
    if name == "scenario_text" {
        folders.extend(["../../examples", "../scenario/tests/data"].map(|more| crates.join(more)));
    }
    if name == "tcp_script" {
        folders.extend(
            ["rfc3042", "rfc6675", "rfc2018"]
                .map(|rfc| crates.join("../../validation/tcp-scripts").join(rfc)),
        );
    }
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a corpus"));
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files.iter().map(|path| fs::read(path).expect("readable")).collect()
}

fn random(stream: &mut Stream) -> Vec<u8> {
    (0..stream.below(MAX_LENGTH)).map(|_| stream.below(256) as u8).collect()
}

/// One change, of the kinds that a search makes.
fn mutate(input: &mut Vec<u8>, kept: &[Vec<u8>], stream: &mut Stream) {
    let at = stream.below(input.len() as u64 + 1) as usize;
    let end = (at + stream.below(40) as usize).min(input.len());
    match stream.below(5) {
        0 => drop(input.drain(at..end)),
        1 => {
            let piece = input[at..end].to_vec();
            input.splice(at..at, piece);
        }
        2 => input.insert(at, stream.below(256) as u8),
        3 if at < input.len() => input[at] ^= 1 << stream.below(8),
        _ => {
            let other = &kept[stream.below(kept.len() as u64) as usize];
            let from = stream.below(other.len() as u64 + 1) as usize;
            let to = (from + stream.below(60) as usize).min(other.len());
            input.splice(at..end, other[from..to].iter().copied());
        }
    }
}
