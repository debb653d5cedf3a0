//! The laws as a library that is loaded, and CoDel in C: the same runs as with laws linked in.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_types, reason = "a C compiler is run")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

use forebay_law_abi::load;
use forebay_scenario::{Control, Registry, RunOptions, RunResult, Scenario};

const CONTENTS: &str = "0123456789abcdef";

/// The library that cargo has built beside this test.
fn library() -> PathBuf {
    let beside = std::env::current_exe().unwrap();
    beside.parent().unwrap().join(format!("{DLL_PREFIX}own_law{DLL_SUFFIX}"))
}

/// Forebay's mechanisms, and the laws of a library.
fn registry(library: &Path) -> Registry {
    let mut all = forebay_scenario::registry();
    let laws = load(library, CONTENTS).unwrap_or_else(|error| panic!("{error}"));
    laws.add_to(&mut all, |_| false).unwrap();
    all
}

/// CoDel in C, built by the line at its head.
fn in_c() -> Registry {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("codel{DLL_SUFFIX}"));
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(folder.join("../../crates/law-abi/include"))
        .arg(folder.join("codel.c"))
        .arg("-o")
        .arg(&built)
        .arg("-lm");
    let said = cc.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    registry(&built)
}

/// Connections under `control` and datagrams share a link behind `queue`.
struct Network {
    queue: String,
    control: String,
    rate: &'static str,
    ecn: bool,
}

impl Network {
    fn text(&self) -> String {
        let Self { queue, control, rate, ecn } = self;
        format!(
            r#"
            duration = "20 s"
            [links.core]
            from = "a"
            to = "b"
            rate = "{rate}"
            delay = "20 ms"
            queue = {queue}
            [flows.t]
            from = "a"
            to = "b"
            count = 3
            tcp = {{ profile = "linux", ecn = {ecn}, control = {control} }}
            [flows.u]
            from = "a"
            to = "b"
            udp = {{}}
            traffic = {{ poisson = {{ rate = "300 kbit/s", size = "500 B" }} }}
            "#
        )
    }

    fn run(&self, registry: &Registry, replication: u64) -> RunResult {
        let scenario = Scenario::parse_with(registry, &self.text(), "test.toml", &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { replication, ..RunOptions::default() };
        scenario.run(&options, &Control::default()).unwrap().0
    }
}

/// A law as a library decides as the same one linked in, and draws the same random numbers: runs
/// are equal to the last event, or results of a law moved to a library become others.
#[test]
fn a_library_decides_as_what_is_linked_in() {
    let (linked, loaded) = (own_law::registry().unwrap(), registry(&library()));
    let early = r#"{ early_random = { threshold = "20 packets", probability = 0.3 } }"#;
    let queues = [early, r#"{ rust_codel = { target = "8 ms" } }"#, r#""droptail""#];
    let controls = [r#""cubic""#, r#"{ aimd = { increase = 0.31 } }"#, r#"{ copa = {} }"#];
    for (queue, control) in queues.iter().flat_map(|q| controls.iter().map(move |c| (q, c))) {
        let (queue, control) = ((*queue).to_owned(), (*control).to_owned());
        let network = Network { queue, control, rate: "4 Mbit/s", ecn: false };
        let (own, other) = (network.run(&linked, 1), network.run(&loaded, 1));
        assert_eq!(own.digest, other.digest, "{}", network.text());
    }
}

/// CoDel by the RFC, in Rust and in C, decides as Forebay's: in networks with and without marks,
/// limits and slow links, in each of several replications.
#[test]
fn codel_in_rust_and_in_c_is_codel() {
    let registries = [("rust_codel", registry(&library())), ("c_codel", in_c())];
    for parameters in [
        "",
        "ecn = true",
        "target = \"1 ms\", interval = \"20 ms\"",
        "limit = \"25 packets\", ecn = true",
        "limit = \"20 kB\", mtu = \"600 B\"",
    ] {
        for (rate, ecn) in [("1 Mbit/s", false), ("4 Mbit/s", true), ("30 Mbit/s", true)] {
            let network = |name: &str| Network {
                queue: format!("{{ {name} = {{ {parameters} }} }}"),
                control: r#""cubic""#.to_owned(),
                rate,
                ecn,
            };
            for replication in 0..2 {
                let due = network("codel").run(&registries[0].1, replication);
                for (name, registry) in &registries {
                    let found = network(name).run(registry, replication);
                    let text = network(name).text();
                    assert_eq!(found.digest, due.digest, "{name}, {replication}: {text}");
                }
            }
        }
    }
}

/// A wrong parameter is refused with its key, as where the law is linked in: the law's own checks
/// hold.
#[test]
fn a_library_says_which_parameter_is_wrong() {
    let (linked, loaded) = (own_law::registry().unwrap(), registry(&library()));
    for queue in [
        r#"{ early_random = { threshold = "20 packets", probability = 2.0 } }"#,
        r#"{ early_random = { threshold = 20 } }"#,
        r#"{ rust_codel = { interval = "0 s" } }"#,
        r#"{ rust_codel = { intervall = "1 s" } }"#,
    ] {
        let network = Network {
            queue: queue.to_owned(),
            control: r#""cubic""#.to_owned(),
            rate: "1 Mbit/s",
            ecn: false,
        };
        let problem = |registry: &Registry| {
            Scenario::parse_with(registry, &network.text(), "test.toml", &[]).err().unwrap().problem
        };
        assert_eq!(problem(&loaded), problem(&linked));
    }
}

/// Copa fills a link with a queue of a few packets where CUBIC fills the buffer: by NSDI 2018,
/// section 3, that of a connection goes up and down between nothing and 2.5 / delta packets, and so
/// that of three with delta = 0.5 stays below 15 in the mean. 0.3 Mbit/s of 10 are datagrams.
#[test]
fn copa_keeps_the_queue_short() {
    let link = |control: &str| {
        let network = Network {
            queue: r#"{ droptail = { limit = "200 packets" } }"#.to_owned(),
            control: control.to_owned(),
            rate: "10 Mbit/s",
            ecn: false,
        };
        network.run(&own_law::registry().unwrap(), 0).links[0].clone()
    };
    let (copa, cubic) = (link("{ copa = { competes = false } }"), link("\"cubic\""));
    assert!(copa.mean_queue_packets < 15.0, "{copa:?}");
    assert!(cubic.mean_queue_packets > 100.0, "{cubic:?}");
    assert!(copa.utilization > 0.95, "{copa:?}");
}

/// Copa competes with what fills the buffer, by section 2.2: beside a connection of CUBIC it gets
/// several times what it does in its default mode, which yields to any queue.
#[test]
fn copa_competes_with_cubic() {
    let share = |competes: bool| {
        let group = |name: &str, control: &str| {
            format!(
                r#"
                [flows.{name}]
                from = "a"
                to = "b"
                tcp = {{ profile = "linux", control = {control} }}
                "#
            )
        };
        let copa = format!("{{ copa = {{ competes = {competes} }} }}");
        let text = format!(
            r#"
            duration = "40 s"
            warm_up = "10 s"
            [links.core]
            from = "a"
            to = "b"
            rate = "10 Mbit/s"
            delay = "20 ms"
            queue = {{ droptail = {{ limit = "100 packets" }} }}
            {}
            {}
            "#,
            group("p", &copa),
            group("c", "\"cubic\"")
        );
        let scenario = Scenario::parse_with(&own_law::registry().unwrap(), &text, "test.toml", &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let run = scenario.run(&RunOptions::default(), &Control::default()).unwrap().0;
        let flow = run.flows.iter().find(|flow| flow.group == "p").unwrap();
        flow.counted.goodput_bps / 10e6
    };
    let (alone, competing) = (share(false), share(true));
    assert!(competing > 0.2 && competing > 3.0 * alone, "{competing}, {alone}");
}
