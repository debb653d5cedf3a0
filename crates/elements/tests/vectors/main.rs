//! The numeric vectors of the repository, `validation/vectors/`, on the laws of the tables.

#![expect(clippy::disallowed_methods, reason = "the vectors are files")]

mod control;
mod memory;
mod sampled;
mod sender;
#[path = "../../../laws/tests/support/mod.rs"]
#[expect(dead_code, reason = "vectors need no examples and no strange values")]
mod support;
mod vector;

use std::fs;
use std::path::{Path, PathBuf};

use control::ControlVector;
use memory::MemoryVector;
use sampled::SampledVector;
use sender::SenderVector;
use vector::Vector;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/vectors")
}

/// A vector of a queue, of a congestion control, of a shared memory or of a TCP sender.
enum Either {
    Queue(Vector),
    Control(ControlVector),
    Memory(MemoryVector),
    Sampled(SampledVector),
    Sender(SenderVector),
}

impl Either {
    fn run(&self) -> Result<(), String> {
        match self {
            Self::Queue(vector) => vector.run(),
            Self::Control(vector) => vector.run(),
            Self::Memory(vector) => vector.run(),
            Self::Sampled(vector) => vector.run(),
            Self::Sender(vector) => vector.run(),
        }
    }

    /// Name, mechanism, title and source.
    fn words(&self) -> [&str; 4] {
        match self {
            Self::Queue(Vector { name, mechanism, title, source, .. }) => {
                [name, mechanism, title, source]
            }
            Self::Control(ControlVector { name, mechanism, title, source, .. }) => {
                [name, mechanism, title, source]
            }
            Self::Memory(MemoryVector { name, mechanism, title, source, .. }) => {
                [name, mechanism, title, source]
            }
            Self::Sampled(SampledVector { name, mechanism, title, source, .. }) => {
                [name, mechanism, title, source]
            }
            Self::Sender(SenderVector { name, mechanism, title, source, .. }) => {
                [name, mechanism, title, source]
            }
        }
    }
}

/// Every vector by its name below the folder, such as `codel/first-drop`.
fn vectors() -> Vec<Either> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder of vectors is in the repository") {
        let folder = entry.expect("the folder can be read").path();
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for file in files.map(|file| file.expect("the folder can be read").path()) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                found.push(read(&folder, &file));
            }
        }
    }
    found.sort_by(|a, b| a.words()[0].cmp(b.words()[0]));
    found
}

fn read(folder: &Path, file: &Path) -> Either {
    let part =
        |path: Option<&std::ffi::OsStr>| path.and_then(|part| part.to_str()).map(str::to_owned);
    let name = part(folder.file_name()).zip(part(file.file_stem()));
    let (mechanism, case) = name.expect("names of vectors are plain text");
    let text = fs::read_to_string(file).expect("the file can be read");
    let name = format!("{mechanism}/{case}");
    let read = if SampledVector::is_one(&text) {
        SampledVector::read(&name, &text).map(Either::Sampled)
    } else if SenderVector::is_one(&text) {
        SenderVector::read(&name, &text).map(Either::Sender)
    } else if MemoryVector::is_one(&text) {
        MemoryVector::read(&name, &text).map(Either::Memory)
    } else if ControlVector::is_one(&text) {
        ControlVector::read(&name, &text).map(Either::Control)
    } else {
        Vector::read(&name, &text).map(Either::Queue)
    };
    read.unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Mechanisms do what their vectors, and so their standards, say: each vector's departures, drops,
/// marks and states come out as its file has them.
#[test]
fn mechanisms_do_what_their_vectors_say() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    for vector in &vectors {
        if let Err(difference) = vector.run() {
            wrong.push(format!("validation/vectors/{}.toml: {difference}", vector.words()[0]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

/// Vectors say what they rest on, for those who implement a mechanism: each vector lies in the
/// folder of its mechanism and says what it is for and where its expected numbers come from.
#[test]
fn vectors_say_what_they_rest_on() {
    for vector in vectors() {
        let [name, mechanism, title, source] = vector.words();
        assert_eq!(name.split('/').next(), Some(mechanism), "{name}");
        assert!(title.len() > 20 && !title.ends_with('.'), "{name}: a title is a clause");
        assert!(source.len() > 40, "{name}: a source is a section and a derivation");
    }
}

/// Wrong vectors are refused: a number that is not the mechanism's, a key that is not read, and a
/// state between two events are each refused.
#[test]
fn wrong_vectors_are_refused() {
    let text = r#"
        title = "Two packets in a row"
        mechanism = "droptail"
        source = "Two packets of 1000 B at 8 Mbit/s take 1 ms each."
        link_bps = 8000000
        arrivals = [{ at_ns = 0, count = 2, size_bytes = 1000 }]
        parameters = {}
        expected = { departures = [[0, 0], [1, 1000000]] }
    "#;
    let run = |text: &str| Vector::read("droptail/case", text).and_then(|vector| vector.run());
    let wrong = [
        ("[1, 1000000]", "[1, 1000001]", "departures"),
        (", [1, 1000000]]", "]", "departures"),
        ("departures = [[0, 0], [1, 1000000]]", "drops = [[1, 0, \"overflow\"]]", "drops"),
        ("departures = [[0, 0], [1, 1000000]]", "marks = [[1, 0]]", "marks"),
        ("count = 2", "cuont = 2", "cuont"),
        ("\"droptail\"", "\"droptial\"", "droptial"),
        ("parameters = {}", "parameters = { limit = \"many\" }", "limit"),
        ("]] }", "]], state = [{ at_ns = 5, x = 0.5 }] }", "nothing happens at 5 ns"),
        ("]] }", "]], state = [{ at_ns = 0, x = 0.5 }] }", "x is not stated"),
    ];
    assert_refused(run, text, &wrong);
}

/// The same of a congestion control: a wrong window, a key that is not read, a state at an instant
/// at which nothing happens.
#[test]
fn wrong_vectors_of_controls_are_refused() {
    let text = r#"
        title = "Two acknowledgements in slow start"
        mechanism = "reno"
        source = "RFC 5681, section 3.1: each adds a segment of 1000 B, so that 2000 B become 4000."
        mss_bytes = 1000
        window_bytes = 2000
        rtt_ns = 9
        acks = [{ at_ns = 0, count = 2, every_ns = 5, outstanding = 1 }]
        parameters = {}
        expected = { state = [{ at_ns = 5, cwnd_bytes = 4000 }] }
    "#;
    let run = |text: &str| ControlVector::read("reno/case", text).and_then(|vector| vector.run());
    let wrong = [
        ("= 4000", "= 4001", "cwnd_bytes is 4000"),
        ("at_ns = 5", "at_ns = 6", "nothing happens at 6 ns"),
        ("count = 2", "cuont = 2", "cuont"),
        ("cwnd_bytes", "cwnd", "cwnd is not stated"),
        ("\"reno\"", "\"renno\"", "renno"),
        ("parameters = {}", "signals = [{ at_ns = 5, kind = \"x\" }]\nparameters = {}", "kind"),
    ];
    assert_refused(run, text, &wrong);
}

/// The same of a vector of a shared memory: another number of packets taken, and other bytes held.
#[test]
fn wrong_vectors_of_memories_are_refused() {
    let text = r#"
memory = { bytes = 4000, ports = 2 }
title = "Half of a memory for one port"
mechanism = "dynamic"
source = "Choudhury and Hahne 1998, with alpha = 1: 2 kB of 4 kB."
events = [{ port = 0, size_bytes = 1000, count = 3 }]
parameters = {}
expected = { taken = [2], held = [[[2000], [0]]] }
    "#;
    let run = |text: &str| MemoryVector::read("dynamic/case", text).and_then(|it| it.run());
    let wrong = [
        ("taken = [2]", "taken = [3]", "row 0: 2 are taken"),
        ("[[2000], [0]]", "[[2000], [1]]", "row 0: [[2000], [0]] B are held"),
        ("count = 3", "cuont = 3", "cuont"),
        ("\"dynamic\"", "\"dynamics\"", "dynamics"),
    ];
    assert_refused(run, text, &wrong);
}

/// The same of a vector of sends and acknowledgements.
#[test]
fn wrong_sampled_vectors_are_refused() {
    let text = r#"
        title = "Two segments in a round trip of 100 ms"
        mechanism = "bbr3"
        source = "draft-ietf-ccwg-bbr, section 4.1: 2000 B in 100 ms are 160 kbit/s."
        mss_bytes = 1000
        window_bytes = 4000
        sends = [{ at_ns = 0, segments = 2 }]
        acks = [{ at_ns = 100000000, segments = 2 }]
        parameters = {}
        expected = { state = [{ at_ns = 100000000, bandwidth_bps = 160000 }] }
    "#;
    let run = |text: &str| SampledVector::read("bbr3/case", text).and_then(|vector| vector.run());
    let wrong = [
        ("= 160000 ", "= 160001 ", "bandwidth_bps is 160000"),
        ("[{ at_ns = 100000000, b", "[{ at_ns = 100000001, b", "nothing happens at 100000001 ns"),
        ("bandwidth_bps", "bandwidth", "bandwidth is not stated"),
        ("segments = 2", "segment = 2", "segment"),
        ("\"bbr3\"", "\"bbr4\"", "bbr4"),
        (
            "parameters = {}",
            "recoveries = [{ from_ns = 0, to_ns = 1, kind = \"x\" }]\nparameters = {}",
            "kind",
        ),
    ];
    assert_refused(run, text, &wrong);
}

/// The same of a vector of a sender: another window, segment, flag or time than its own, and words
/// that no row has.
#[test]
fn wrong_vectors_of_senders_are_refused() {
    let text = r#"
        title = "Two segments in slow start"
        mechanism = "tcp"
        source = "RFC 5681, section 3.1: each of two acknowledgements opens the window by 1000 B."
        control = "reno"
        ack_delay_ms = 0
        seeds = [7]
        parameters = { profile = "rfc", mss = "1000 B", timestamps = true }
        expected = { episodes = ["""
window 1
0 w2 > f1 c1000 hinf x0
100000 a1 t0 > f1 c2000 x1
200000 a2 t1 > f0 c3000"""] }
    "#;
    let run = |text: &str| SenderVector::read("tcp/case", text).and_then(|vector| vector.run());
    let wrong = [
        ("c2000", "c2001", "1 of 1; seed 7: expected"),
        ("x1", "x1w", "true)"),
        ("x1", "x2", "sent [(2, false)]"),
        ("f0", "f1", "in_flight: Some(1)"),
        ("hinf", "h5000", "ssthresh: 5000.0"),
        ("t1 > f0 c3000", "t1 > f0 c3000\n200001 timer > f0 c1000", "found nothing more"),
        ("\n200000 a2 t1 > f0 c3000", "", "expected nothing more"),
        ("a1 t0", "b1 t0", "b1"),
        ("c3000", "d3000", "d3000"),
        ("window 1", "windows 1", "windows"),
        ("seeds = [7]", "seed = 7\n seeds = [7]", "seed"),
        ("seeds = [7]", "seeds = []", "0 seeds and 1 episodes"),
        ("control = \"reno\"", "control = \"renno\"", "renno"),
    ];
    assert_refused(run, text, &wrong);
}

/// The vector `text` passes, and fails where one part is replaced by another, with a message.
fn assert_refused(
    run: impl Fn(&str) -> Result<(), String>,
    text: &str,
    wrong: &[(&str, &str, &str)],
) {
    assert_eq!(run(text), Ok(()));
    for (from, to, message) in wrong {
        assert!(text.contains(from), "{from}");
        let refusal = run(&text.replace(from, to)).expect_err(to);
        assert!(refusal.contains(message), "{to}: {refusal}");
    }
}
