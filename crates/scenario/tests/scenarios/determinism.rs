//! The same scenario, seed and version give the same trajectory: twice, on any number of threads,
//! with any observers, in debug and release builds, on every platform.
//!
//! The scenarios are the files in `tests/data`. `tests/golden.txt` keeps their digests.

#![expect(clippy::disallowed_methods, reason = "digests are a file; runs go side by side")]

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use forebay_scenario::{FlowResult, RunResult, Scenario};

use crate::support::{behind_another, flow, link, read, record, run, run_with, trace};

fn tests_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Every scenario of `tests/data`, by name.
pub fn every_scenario() -> BTreeMap<String, Scenario> {
    let scenarios = scenarios_in(&tests_folder().join("data"));
    assert!(scenarios.len() >= 8, "the files of tests/data were not found");
    scenarios
}

/// The scenarios of a folder, by name.
fn scenarios_in(folder: &Path) -> BTreeMap<String, Scenario> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, read(&std::fs::read_to_string(&path).unwrap()))
        })
        .collect()
}

/// Everything in a result, as text.
fn everything(result: &RunResult) -> String {
    serde_json::to_string(result).unwrap()
}

/// Runs can be repeated: the same scenario, seed and replication give equal results in every digit
/// and equal records, also behind another replication, which gives others.
#[test]
fn a_run_repeats_itself() {
    for (name, scenario) in every_scenario() {
        let (first, first_tables) = run_with(&scenario, 3, true);
        let (other, again, again_tables) = behind_another(&scenario, 3);
        assert_eq!(everything(&first), everything(&again), "{name}");
        // NaN marks rows without a value: compare what is printed.
        assert_eq!(format!("{first_tables:?}"), format!("{again_tables:?}"), "{name}");
        let random = name != "droptail-reno";
        assert!(!random || other.digest != first.digest, "{name}: replications are alike");
    }
}

/// Recording changes nothing: with series, delays and trace recorded, or with none of them, the
/// trajectory and every counter are the same.
#[test]
fn recording_changes_nothing() {
    for (name, scenario) in every_scenario() {
        let (silent, no_tables) = run_with(&scenario, 0, false);
        let (recorded, tables) = run_with(&scenario, 0, true);
        assert!(no_tables.is_empty());
        assert!(tables.iter().any(|table| table.name == "trace"), "{name}");
        assert!(tables.iter().any(|table| table.name.starts_with("series/")), "{name}");
        assert_eq!(everything(&silent), everything(&recorded), "{name}");
        assert_eq!(scenario.hash(), silent.scenario_hash);
    }
}

/// Results do not depend on the number of threads: the same replications on 1, 2 and 4 threads at
/// once, in whatever order they finish, are equal one by one.
#[test]
fn threads_change_nothing() {
    let scenarios: Vec<(String, Scenario)> = every_scenario().into_iter().collect();
    let jobs: Vec<(usize, u64)> =
        (0..scenarios.len()).flat_map(|at| [0, 1].map(|number| (at, number))).collect();
    let on_threads = |threads: usize| {
        let mut results = vec![String::new(); jobs.len()];
        let share = jobs.len().div_ceil(threads);
        std::thread::scope(|scope| {
            for (jobs, results) in jobs.chunks(share).zip(results.chunks_mut(share)) {
                let scenarios = &scenarios;
                scope.spawn(move || {
                    for ((at, number), result) in jobs.iter().zip(results) {
                        *result = everything(&run_with(&scenarios[*at].1, *number, false).0);
                    }
                });
            }
        });
        results
    };
    let alone = on_threads(1);
    for threads in [2, 4] {
        assert_eq!(on_threads(threads), alone, "{threads} threads");
    }
}

/// Checks what holds in any trajectory, whatever its digest.
fn physics(name: &str, result: &RunResult) {
    for link in &result.links {
        assert!((0.0..=1.0).contains(&link.utilization), "{name}: {}", link.name);
        let waiting = link.max_queue_packets as f64;
        assert!(link.mean_queue_packets <= waiting, "{name}: {}", link.name);
    }
    for flow in &result.flows {
        let counted = &flow.counted;
        assert!(counted.max_delay_s >= counted.mean_delay_s, "{name}: {}", flow.name);
        assert!(counted.delivered_packets > 0, "{name}: {} is starved", flow.name);
    }
    if result.measured_s < result.simulated_s {
        // Packets sent before the window opened are delivered within it.
        return;
    }
    for link in &result.links {
        for precedence in 0..link.arrived_packets.len() {
            let out = link.departed_packets[precedence] + link.dropped_packets[precedence];
            let waiting = link.arrived_packets[precedence].checked_sub(out);
            let most = u64::from(link.max_queue_packets);
            assert!(waiting.is_some_and(|n| n <= most), "{name}: {} {waiting:?}", link.name);
        }
    }
    for flow in &result.flows {
        let counted = &flow.counted;
        let out = counted.delivered_packets + counted.dropped_packets;
        assert!(counted.sent_packets >= out, "{name}: {}", flow.name);
        assert!(counted.goodput_bps <= counted.throughput_bps, "{name}: {}", flow.name);
    }
    let (first, last) = (result.flows.iter().map(|f| f.started_s), result.simulated_s);
    assert!(first.flatten().all(|started| started <= last), "{name}");
}

const GOLDEN_HEAD: &str = "\
# Digests of the scenarios in tests/data and of the examples, replication 0: name, digest, events,
# link traversals. They find change, not wrongness: debug and release builds and all platforms must
# give them. To write this file anew:
# FOREBAY_WRITE_GOLDEN=1 cargo test -p forebay-scenario --test scenarios golden
";

/// Trajectories are those of the file of digests, in debug and release builds and on every
/// platform. Digests find change, not wrongness, so what no trajectory can do is checked beside
/// them. After a change that is meant to move trajectories, write the file anew:
/// `FOREBAY_WRITE_GOLDEN=1 cargo test -p forebay-scenario --test scenarios golden`.
#[test]
fn golden_digests() {
    let path = tests_folder().join("golden.txt");
    let mut text = GOLDEN_HEAD.to_owned();
    let examples = scenarios_in(&tests_folder().join("../../../examples"));
    assert!(examples.len() >= 11, "the examples were not found");
    let examples = examples.into_iter().map(|(name, it)| (format!("examples/{name}"), it));
    for (name, scenario) in every_scenario().into_iter().chain(examples) {
        let (result, _) = run_with(&scenario, 0, false);
        physics(&name, &result);
        let RunResult { digest, events, packet_hops, .. } = &result;
        text += &format!("{name} {digest} {events} {packet_hops}\n");
    }
    if std::env::var_os("FOREBAY_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    for (found, kept) in text.lines().zip(golden.lines()) {
        assert_eq!(found, kept, "found, kept in golden.txt");
    }
    assert_eq!(text.lines().count(), golden.lines().count(), "golden.txt lacks a scenario");
}

/// A network with randomness everywhere, and room for more of it.
fn base(more: &str) -> String {
    format!(
        "duration = \"6 s\"\nwarm_up = \"1 s\"\n\
         [links.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"8 ms\"\n\
         queue = {{ red = {{ limit = \"40 packets\" }} }}\n\
         conditioner = {{ tswtcm = {{ ctr = \"500 kbit/s\", ptr = \"900 kbit/s\" }} }}\n\
         [flows.m]\nfrom = \"a\"\nto = \"b\"\ncount = 3\n\
         start = {{ uniform = [\"0 s\", \"1 s\"] }}\ntcp = {{}}\n\
         [flows.n]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nudp = {{}}\n\
         traffic = {{ on_off = {{ rate = \"600 kbit/s\", size = \"250 B\" }} }}\n{more}"
    )
}

/// Adding a part to a network leaves the random numbers of the others as they are, so that variants
/// can be compared: links and flows elsewhere, named to come before and after the old ones, change
/// no counter of any old flow or link, and neither does a group that shares the old nodes but
/// starts later than everything ends.
#[test]
fn an_unused_part_changes_nobodys_draws() {
    let before = run(&base(""));
    let elsewhere = |name: &str| {
        format!(
            "[links.{name}]\nfrom = \"{name}1\"\nto = \"{name}2\"\nrate = \"1 Mbit/s\"\n\
             queue = {{ red = {{}} }}\n\
             [flows.{name}]\nfrom = \"{name}1\"\nto = \"{name}2\"\ncount = 4\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"400 kbit/s\", size = \"100 B\" }} }}\n"
        )
    };
    let silent = "[flows.idle]\nfrom = \"a\"\nto = \"b\"\ncount = 9\nstart = \"5.999999 s\"\n\
                  udp = {}\ntraffic = { cbr = { rate = \"8 bit/s\", size = \"1000 B\" } }\n";
    for more in [elsewhere("c"), elsewhere("z"), elsewhere("c") + &elsewhere("z"), silent.into()] {
        let after = run(&base(&more));
        assert!(after.flows.len() > before.flows.len());
        for old in &before.flows {
            let new: &FlowResult = flow(&after, &old.name);
            assert_eq!(serde_json::to_string(new).unwrap(), serde_json::to_string(old).unwrap());
        }
        for old in &before.links {
            let new = link(&after, &old.name);
            assert_eq!(serde_json::to_string(new).unwrap(), serde_json::to_string(old).unwrap());
        }
    }
}

/// Variants are compared on the same arrivals: under tail drop and under RED, the same replication
/// sees every datagram sent at the same time with the same size, and another replication does not.
#[test]
fn variants_see_the_same_arrivals() {
    let arrivals = |queue: &str, replication: u64| {
        let text = format!(
            "duration = \"5 s\"\n\
             [links.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\nqueue = {queue}\n\
             [flows.tcp]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n\
             start = {{ uniform = [\"0 s\", \"1 s\"] }}\ntcp = {{}}\n\
             [flows.udp]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nudp = {{}}\n\
             start = {{ uniform = [\"0 s\", \"1 s\"] }}\n\
             traffic = {{ poisson = {{ rate = \"400 kbit/s\", size = \"300 B\", \
             sizes = \"exponential\" }} }}\n[record]\ntrace = 100000\n"
        );
        let (result, tables) = run_with(&read(&text), replication, true);
        let sent = trace(&tables).into_iter();
        let udp = sent.filter(|row| row.event == "sent" && row.flow.starts_with("udp"));
        let starts: Vec<Option<f64>> = result.flows.iter().map(|flow| flow.started_s).collect();
        let drops = link(&result, "core").drops;
        (udp.map(|row| (row.time, row.flow, row.size)).collect::<Vec<_>>(), starts, drops)
    };
    let droptail = arrivals("{ droptail = { limit = \"20 packets\" } }", 5);
    let red = arrivals("{ red = { weight = 0.1 } }", 5);
    assert!(droptail.0.len() > 1000);
    assert_ne!(droptail.2, red.2, "the variants must differ for the comparison to mean anything");
    assert_eq!(droptail.0, red.0);
    assert_eq!(droptail.1, red.1);
    assert_ne!(arrivals("{ red = {} }", 6).0, red.0);
}

/// A run does not depend on how the file spells it: other units, another order of sections and
/// defaults written out give the same hash and the same trajectory; a changed value gives another
/// hash.
#[test]
fn spelling_changes_nothing() {
    let plain = "duration = \"2 s\"\n\
                 [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                 [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 traffic = { poisson = { rate = \"900 kbit/s\", size = \"1 kB\" } }\n";
    let spelt = "flows.x.traffic.poisson.size = \"1000 B\"\n\
                 flows.x.traffic.poisson.sizes = \"fixed\"\n\
                 flows.x.traffic.poisson.rate = \"0.9 Mbit/s\"\n\
                 flows.x.udp.header = \"28 B\"\n\
                 flows.x.to = \"b\"\nflows.x.from = \"a\"\nflows.x.count = 1\n\
                 duration = \"2000 ms\"\nwarm_up = \"0 s\"\nseed = 1\n\
                 [links]\nl = { to = \"b\", from = \"a\", rate = \"1000000 bit/s\", \
                 delay = \"0 s\",\n\
                 queue = \"droptail\", duplex = true }\n[record]\ndelays = true\n";
    let (plain, _) = record(plain);
    let (spelt, _) = record(spelt);
    assert_eq!(plain.digest, spelt.digest);
    assert_eq!(plain.scenario_hash, spelt.scenario_hash);
    let other = run("duration = \"2 s\"\n\
                     [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                     [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                     traffic = { poisson = { rate = \"901 kbit/s\", size = \"1 kB\" } }\n");
    assert_ne!(other.scenario_hash, plain.scenario_hash);
}
