//! The invariants in random networks of every mechanism.

#![expect(
    clippy::disallowed_methods,
    reason = "a variable says how many networks; two halves go side by side"
)]

use std::collections::{BTreeMap, BTreeSet};

use forebay_scenario::{Control, Invariant, RunOptions, Scenario};

use crate::networks::{every_mechanism, network};
use crate::scenarios::{breaches, check};

/// Networks that are run each time the tests are, and by `make validate ONLY=networks`.
const NETWORKS: u64 = 1500;
/// Minimum number of these networks that have each mechanism.
const MIN_NETWORKS: u64 = 10;

/// A variable of the environment as a number.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Number of networks with each mechanism, and of checks of each invariant.
#[derive(Default)]
struct Seen(BTreeMap<String, u64>);

impl Seen {
    fn add(&mut self, name: &str, times: u64) {
        *self.0.entry(name.to_owned()).or_default() += times;
    }

    fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

/// Describes the fault of network `number`, if there is one, with the command that repeats it.
fn trouble(number: u64, seen: &mut Seen) -> Option<String> {
    let network = network(number);
    let mechanisms: BTreeSet<&String> = network.mechanisms.iter().collect();
    let run = std::panic::AssertUnwindSafe(|| {
        (check(&network.scenario), on_two_threads(&network.scenario))
    });
    let found = match std::panic::catch_unwind(run) {
        Ok((report, Ok(divided))) if report.breaches().is_empty() => {
            for invariant in Invariant::ALL {
                seen.add(invariant.name(), report.checked(*invariant));
            }
            for mechanism in mechanisms {
                seen.add(mechanism, 1);
                seen.add(&format!("{mechanism}, divided"), divided.into());
            }
            return None;
        }
        Ok((report, threads)) => breaches(&report) + &threads.err().unwrap_or_default(),
        Err(_) => "panic".to_owned(),
    };
    Some(format!(
        "network {number}:\n{}\n{found}repeat: FOREBAY_NETWORK={number} cargo test \
         -p forebay-scenario --test invariants random\n",
        network.text
    ))
}

/// Returns true if the network is divided on two threads. The error shows a result that differs
/// from that of one thread.
pub fn on_two_threads(scenario: &Scenario) -> Result<bool, String> {
    let on = |threads| {
        let options = RunOptions { threads, ..RunOptions::default() };
        let (result, _) = scenario.run(&options, &Control::default()).unwrap();
        let mut all = serde_json::to_value(&result).unwrap();
        (all["regions"].take() != 1, all.to_string())
    };
    let ((divided, two), (_, one)) = (on(2), on(1));
    if one == two { Ok(divided) } else { Err(format!("on one thread {one}\non two {two}\n")) }
}

/// Every invariant holds in random networks: mechanisms are combined here in ways that no other
/// test has.
#[test]
fn random_networks_break_nothing() {
    let (first, several) = (asked("FOREBAY_NETWORK"), asked("FOREBAY_NETWORKS"));
    let count = several.unwrap_or(if first.is_some() { 1 } else { NETWORKS });
    let first = first.unwrap_or(0);
    // Two halves side by side, as the tests have two cores.
    let half = |offset: u64| {
        let (mut seen, mut found) = (Seen::default(), Vec::new());
        for number in (first..first + count).filter(|number| number % 2 == offset) {
            found.extend(trouble(number, &mut seen));
            assert!(found.len() < 5, "{}", found.join("\n"));
        }
        (seen, found)
    };
    let (even, odd) = std::thread::scope(|scope| {
        let even = scope.spawn(|| half(0));
        let odd = half(1);
        (even.join().unwrap(), odd)
    });
    let found: Vec<String> = even.1.into_iter().chain(odd.1).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    if count >= NETWORKS {
        for name in Invariant::ALL.iter().map(|invariant| invariant.name()) {
            assert!(even.0.of(name) + odd.0.of(name) > 0, "{name} was never checked");
        }
        for (category, name) in every_mechanism() {
            let name = format!("{category} {name}");
            let least = |name: &str, least: u64| {
                let times = even.0.of(name) + odd.0.of(name);
                assert!(times >= least * count / NETWORKS, "{name}: {times} networks only");
            };
            least(&name, MIN_NETWORKS);
            match category {
                "queue" => least(&format!("{name}, a failure"), 1),
                "impairment" => least(&format!("{name}, divided"), 1),
                _ => {}
            }
        }
    }
}
