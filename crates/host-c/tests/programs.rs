//! Programs in C: the example, and cases that are right or wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "programs are compiled")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this crate.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the library that cargo has built beside this test.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// The program of a C file, linked with the library as `how` says.
fn built(source: &Path, name: &str, how: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"])
        .arg("-I")
        .arg(here().join("include"))
        .arg(source)
        .args(how)
        .arg("-o")
        .arg(&program);
    let said = cc.output().expect("there is a C compiler, or Rust had no linker");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    program
}

/// The same, linked with the shared library.
fn linked(source: &Path, name: &str) -> PathBuf {
    let folder = libraries();
    let folder = folder.to_str().unwrap();
    let path = format!("-Wl,-rpath,{folder}");
    built(source, name, &[&format!("-L{folder}"), "-lforebay_host_c", &path])
}

/// The example.
fn window(name: &str) -> PathBuf {
    linked(&here().join("../../examples/host-c/window.c"), name)
}

/// Words of a program, and its exit status.
fn run(program: &Path, arguments: &[&str]) -> (String, i32) {
    let done = Command::new(program).args(arguments).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    let status = done.status.code().unwrap_or_else(|| panic!("{arguments:?}: {:?}", done.status));
    (String::from_utf8(said).unwrap(), status)
}

/// The number that stands behind `words`.
fn number(said: &str, words: &str) -> f64 {
    let rest = said.split_once(words).unwrap_or_else(|| panic!("{words}: {said}")).1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}

/// A line of 8 Mbit/s and 10 ms each way, for 9.9 s, with `more` about its link.
fn line(name: &str, more: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = format!(
        "name = \"line\"\nduration = \"9.9 s\"\n\n[links.line]\nfrom = \"server\"\n\
         to = \"client\"\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n{more}"
    );
    std::fs::write(&file, text).unwrap();
    file
}

/// A window that is smaller than the path holds sends once a round trip, and a larger one at the
/// rate of the link. A datagram of 1472 B is 1500 B with headers, 1.5 ms at 8 Mbit/s; an answer of
/// 8 B takes 36 us. So a round trip is 1,500 + 10,000 + 36 + 10,000 us, which holds 14 datagrams,
/// and datagram j of round k arrives after k round trips, j + 1 transmissions and 10 ms.
#[test]
fn the_goodput_of_a_window_is_that_of_theory() {
    let (program, file) = (window("theory"), line("theory.toml", ""));
    let goodput = |window: &str| {
        let (said, status) = run(&program, &[file.to_str().unwrap(), window]);
        assert_eq!(status, 0, "{said}");
        assert!(said.contains("of which again: 0"), "{said}");
        number(&said, &format!("window {window}: "))
    };
    let (round, end) = (21_536, 9_900_000);
    let expected = |arrived: i64| (8.0 * 1_472.0 * arrived as f64 / 9.9).round();
    for window in [1, 5, 14] {
        let all =
            (0..).flat_map(|k| (0..window).map(move |j| k * round + (j + 1) * 1_500 + 10_000));
        let arrived = all.take_while(|time| *time <= end).count() as i64;
        assert_eq!(goodput(&window.to_string()), expected(arrived), "{window}");
    }
    assert_eq!(goodput("40"), expected((end - 10_000) / 1_500));
}

/// Each datagram is delivered once, whatever the network loses: what was sent for the first time is
/// delivered but for what is on its way, at most a window.
#[test]
fn what_is_lost_is_sent_again() {
    let loss = "impairments = [{ loss = { probability = 0.02 } }]\n";
    let (program, file) = (window("loss"), line("loss.toml", loss));
    let said = run(&program, &[file.to_str().unwrap(), "40"]).0;
    let again = number(&said, "of which again: ");
    let fresh = number(&said, "datagrams sent: ") - again;
    let delivered = number(&said, "window 40: ") * 9.9 / 8.0 / 1_472.0;
    assert!(again > 0.0, "{said}");
    assert!((fresh - 40.0..=fresh).contains(&delivered.round()), "{delivered} of {fresh}: {said}");
}

/// A run repeats, beside Forebay's CUBIC on a network that comes with it, in another process.
#[test]
fn runs_on_networks_that_are_ready_repeat() {
    let program = window("ready");
    let (said, status) = run(&program, &["bufferbloat", "64"]);
    assert_eq!(status, 0, "{said}");
    assert!(number(&said, "CUBIC beside it: ") > 0.0, "{said}");
    assert_eq!(run(&program, &["bufferbloat", "64"]).0, said);
    assert_ne!(run(&program, &["bufferbloat", "65"]).0, said);
}

/// A network that does not exist is answered with those that do, and status 2.
#[test]
fn errors_of_the_example_are_messages() {
    let program = window("errors");
    let (said, status) = run(&program, &["bufferbloa"]);
    assert_eq!(status, 2);
    let begins = "error: forebay_network_ready: unknown network \"bufferbloa\" (did you mean \
                  \"bufferbloat\"?); there are bbr-draft, ";
    assert!(said.starts_with(begins), "{said}");
    let (said, status) = run(&program, &["none.toml"]);
    assert_eq!(status, 2);
    assert!(said.starts_with("error: none.toml: cannot be read: "), "{said}");
}

/// A stack is handed what the other sent, and the report has what it answered. A datagram of 1472 B
/// that sets out at 50 ms arrives 1.5 ms and 10 ms later; the goodput is what was read until then,
/// when the receiver is done. The sender waits until 70 ms, and fails.
#[test]
fn functions_of_a_stack_and_of_reports_say_what_happens() {
    let (said, status) = run(&linked(&here().join("tests/cases.c"), "features"), &["features"]);
    assert_eq!(status, 0, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let goodput = 8.0 * 1_472.0 / 0.0615;
    let expected = [
        "moves to 10.0.0.3",
        "arrived at 0.0615 s: 1472 B, ECN 1, DSCP 46, from 10.0.0.2:4433",
        "moved at 0.0600 s to 10.0.0.3",
        "a sent 1, 1472 B; failed at 0.0700 s: the peer is silent",
        &format!("b received 1, 1472 B; finished at 0.0615 s with {goodput:.1} bit/s"),
        "figure 11.0, delivered 1472",
        "0.04 s: 0 sent",
        "0.06 s: 1 sent",
        "capture: 0a0d0d0a",
        "value: nan",
        "error: forebay_report_value: hosts/a/figures/owm: unknown name \"owm\" (did you mean \
         \"own\"?); there: own",
        "column: 0",
        "host: 0",
        "error: forebay_report_host: host 9: is not one of 2, counted from 0",
    ];
    for line in expected {
        assert!(lines.contains(&line), "{line}\n{said}");
    }
    let series = "error: forebay_report_column: unknown table \"serie\"";
    assert!(lines.iter().any(|line| line.starts_with(series)), "{said}");
}

/// A stack at fault ends the run with a message that says which, when, and what it did; what is
/// wrong with a network is said by the function that was called first. Datagrams of 101 B and 102 B
/// are packets of 129 B and 130 B.
#[test]
fn faults_are_messages() {
    let program = linked(&here().join("tests/cases.c"), "faults");
    let size = 10 * size_of::<usize>();
    let stack = |what: &str| format!("error: host a at 0.05 s: its stack {what}");
    let cases = [
        ("endless", stack("does not stop transmitting: 65536 datagrams")),
        ("stop", stack("ends the run: no such stream: 7")),
        ("long", stack("ends the run: transmit returned 1473 B; its buffer has 1472 B")),
        ("ecn", stack("ends the run: transmit wrote 4 as ECN field; allowed are 0 to 3")),
        ("dscp", stack("ends the run: transmit wrote 64 as DSCP; allowed are 0 to 63")),
        (
            "differs",
            "error: two runs of the same seed differ in datagram 0: 129 B from a at 0.05 s \
                     (DSCP 46, ECT(1)) in the first, 130 B from a at 0.05 s (DSCP 46, ECT(1)) in \
                     the second"
                .to_owned(),
        ),
        (
            "size",
            format!(
                "error: forebay_network_put: calls: its size is 8 B; a forebay_endpoint of \
                          version 1 of the interface has {size} B"
            ),
        ),
        ("receive", "error: forebay_network_put: calls: receive is NULL".to_owned()),
        (
            "wake",
            "error: forebay_network_put: calls: wake is NULL, though timeout is not".to_owned(),
        ),
        ("calls", "error: forebay_network_put: calls is NULL".to_owned()),
        (
            "host",
            "error: forebay_network_start_at: host 2: is not one of the 2 of this network"
                .to_owned(),
        ),
        ("set", "error: network: durations: unknown key \"durations\"".to_owned()),
        ("text", "error: forebay_network_set: assignment is not UTF-8: name=".to_owned()),
        ("null", "error: forebay_network_capture: link is NULL; allowed is a text".to_owned()),
        ("empty", "error: host b: no stack was put there".to_owned()),
        ("nothing", "error: forebay_run: net is NULL; allowed is a network".to_owned()),
        (
            "again",
            "finished at 0.0615 s\nerror: forebay_run: this network was run before".to_owned(),
        ),
    ];
    for (name, begins) in cases {
        let (said, status) = run(&program, &[name]);
        assert_eq!(status, 0, "{name}: {said}");
        assert!(said.starts_with(&begins), "{name}: {said}\n{begins}");
    }
    let code = run(&program, &["code"]).0;
    let begins = "its stack ends the run: advance returned 5; allowed are 0 to 4";
    assert!(code.contains(begins), "{code}");
}

/// A network that is made and run twice gives the report of the first run, and a host that starts
/// late sends at its start what was due before.
#[test]
fn runs_are_compared_and_hosts_start_late() {
    let program = linked(&here().join("tests/cases.c"), "right");
    assert_eq!(run(&program, &["twice"]), ("finished at 0.0615 s\n".to_owned(), 0));
    assert_eq!(run(&program, &["flow"]), ("finished at 0.0615 s\n".to_owned(), 0));
    assert_eq!(run(&program, &["late"]), ("finished at 0.0915 s\n".to_owned(), 0));
}
