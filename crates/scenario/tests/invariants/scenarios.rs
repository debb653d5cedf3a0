//! The invariants in scenarios that were written for other tests, benchmarks and examples.

#![expect(clippy::disallowed_methods, reason = "tests read their data")]

use std::fs;
use std::path::{Path, PathBuf};

use forebay_scenario::{Control, Report, RunOptions, Scenario};

/// The scenario files in `folder` of the repository.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found: Vec<PathBuf> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    found.sort();
    found
}

/// Run `scenario`, and repeat it checked.
pub fn check(scenario: &Scenario) -> Report {
    let (options, control) = (RunOptions::default(), Control::default());
    let (result, _) = scenario.run(&options, &control).unwrap();
    scenario.check(&options, &control, &result).unwrap()
}

/// The breaches in words, a line each.
pub fn breaches(report: &Report) -> String {
    let lines = report.breaches().iter().map(|breach| {
        let (name, at) = (breach.invariant.name(), breach.at.seconds());
        format!("{name} at {}, {at} s: {}\n", breach.place, breach.numbers)
    });
    lines.collect()
}

/// Every invariant holds in networks with which an error was found once. They are kept as text,
/// since the numbers of random networks mean others whenever a mechanism is added.
#[test]
fn networks_that_found_errors_break_nothing() {
    let kept = files("crates/scenario/tests/networks");
    assert!(kept.len() >= 3);
    for path in kept {
        let text = fs::read_to_string(&path).unwrap();
        let report = check(&Scenario::parse(&text, &path.to_string_lossy(), &[]).unwrap());
        assert!(report.breaches().is_empty(), "{}:\n{}", path.display(), breaches(&report));
    }
}

/// Every invariant holds in the scenarios that the other tests use.
#[test]
fn scenarios_of_the_other_tests_break_nothing() {
    let mut found = String::new();
    for path in files("crates/scenario/tests/data") {
        let text = fs::read_to_string(&path).unwrap();
        let scenario = Scenario::parse(&text, &path.to_string_lossy(), &[]).unwrap();
        let report = check(&scenario);
        assert!(report.invariants() > 25, "{}: {}", path.display(), report.invariants());
        if !report.breaches().is_empty() {
            found += &format!("{}:\n{}", path.display(), breaches(&report));
        }
    }
    assert!(found.is_empty(), "{found}");
}

/// Every invariant holds in the examples that users start from.
#[test]
fn examples_break_nothing() {
    let mut found = String::new();
    let short = ["duration=\"2 s\"".to_owned(), "warm_up=\"500 ms\"".to_owned()];
    let mut checked = 0;
    for path in files("examples") {
        let text = fs::read_to_string(&path).unwrap();
        // Some have flows that begin later.
        let name = path.to_string_lossy();
        let Ok(scenario) = Scenario::parse(&text, &name, &short) else { continue };
        checked += 1;
        let report = check(&scenario);
        if !report.breaches().is_empty() {
            found += &format!("{name}:\n{}", breaches(&report));
        }
    }
    assert!(found.is_empty(), "{found}");
    assert!(checked > 10, "{checked}");
}

/// Random networks in which the engine once broke what must hold.
const FOUND: &[(&str, &str)] = &[
    (
        "limited transmit sent short segments, and FlightSize came out negative",
        r#"
        duration = "700 ms"
        seed = 590
        [links.l0]
        from = "n0"
        to = "n1"
        rate = "10 Mbit/s"
        delay = "1 ms"
        [links.l1]
        from = "n1"
        to = "n2"
        rate = "500 kbit/s"
        delay = "1 ms"
        queue = { red = { weight = 0.02, limit = "25 packets", ecn = true } }
        [flows.f0]
        from = "n0"
        to = "n2"
        precedence = 2
        count = 4
        traffic = { poisson = { rate = "100 kbit/s", size = "250 B", sizes = "exponential" } }
        [flows.f0.tcp]
        profile = "rfc"
        recovery = "newreno"
        mss = "1000 B"
        ecn = true
        rto_min = "100 ms"
        rto_initial = "200 ms"
        [flows.f1]
        from = "n2"
        to = "n0"
        precedence = 2
        count = 3
        udp = {}
        [flows.f1.traffic.pulses]
        rate = "175 kbit/s"
        size = "250 B"
        on = "190 ms"
        off = "300 ms"
        random_phase = true
        [flows.f2]
        from = "n0"
        to = "n2"
        precedence = 2
        count = 3
        udp = {}
        traffic = { poisson = { rate = "100 kbit/s", size = "250 B" } }
        "#,
    ),
    (
        "CHOKe emptied a queue, and observed runs counted another event",
        r#"
        duration = "1 s"
        seed = 370
        [links.l0]
        from = "n0"
        to = "n1"
        rate = "10 Mbit/s"
        [links.l1]
        from = "n1"
        to = "n2"
        rate = "10 Mbit/s"
        delay = "15 ms"
        [links.l2]
        from = "n2"
        to = "n3"
        rate = "1 Mbit/s"
        delay = "7 ms"
        [links.l2.queue.choke]
        of = { droptail = { limit = "20 packets" } }
        threshold = "3 packets"
        weight = 0.1
        region = "5 packets"
        [flows.f0]
        from = "n0"
        to = "n3"
        precedence = 1
        count = 4
        [flows.f0.tcp]
        profile = "rfc"
        control = "highspeed"
        recovery = "newreno"
        mss = "300 B"
        ecn = true
        delayed_ack = false
        rto_min = "100 ms"
        rto_initial = "200 ms"
        "#,
    ),
];

/// Every invariant holds in the networks that once showed an error: what was repaired stays
/// repaired.
#[test]
fn what_was_found_does_not_come_back() {
    for (what, text) in FOUND {
        let scenario = Scenario::parse(text, "found.toml", &[]).unwrap();
        let report = check(&scenario);
        assert!(report.breaches().is_empty(), "{what}:\n{}", breaches(&report));
    }
}
