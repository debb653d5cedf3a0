//! The two laws in scenarios.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use forebay_scenario::{Control, RunOptions, RunResult, Scenario, catalogue, schema};
use own_law::registry;

/// Three connections under `control` and a datagram flow share a link of 2 Mbit/s behind `queue`.
fn network(queue: &str, control: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        [links.core]
        from = "a"
        to = "b"
        rate = "2 Mbit/s"
        delay = "20 ms"
        queue = {queue}
        [flows.t]
        from = "a"
        to = "b"
        count = 3
        tcp = {{ profile = "rfc", control = {control} }}
        [flows.u]
        from = "a"
        to = "b"
        udp = {{}}
        traffic = {{ poisson = {{ rate = "300 kbit/s", size = "500 B" }} }}
        "#
    )
}

fn run(queue: &str, control: &str) -> RunResult {
    let text = network(queue, control);
    let scenario = Scenario::parse_with(&registry().unwrap(), &text, "test.toml", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    scenario.run(&RunOptions::default(), &Control::default()).unwrap().0
}

/// Laws from outside behave as those that they generalise: with the parameters with which they are
/// laws that Forebay has, tail drop and Reno, a run with them is the same to the last event.
#[test]
fn they_are_what_they_generalise() {
    let usual = run(r#"{ droptail = { limit = "12 packets" } }"#, r#""reno""#);
    let own = run(
        r#"{ early_random = { threshold = "12 packets", probability = 1.0 } }"#,
        r#"{ aimd = { increase = 1.0, decrease = 0.5 } }"#,
    );
    assert!(usual.links[0].drops > 0);
    assert_eq!(own.digest, usual.digest);
    let other = run(r#"{ early_random = { threshold = "12 packets" } }"#, r#""aimd""#);
    assert_ne!(other.digest, usual.digest, "a fixed probability of 0.02 is another law");
}

/// A mechanism of Forebay contains one from outside.
#[test]
fn forebays_own_contain_them() {
    let alone = run(r#"{ early_random = { threshold = "9 packets" } }"#, r#""reno""#);
    let inner = r#"{ early_random = { threshold = "9 packets" } }"#;
    let inside = run(&format!("{{ priority = {{ classes = [{inner}] }} }}"), r#""reno""#);
    assert_eq!(inside.digest, alone.digest, "one class is the queue itself");
}

/// Slips in parameters of a law from outside are refused with their place and the nearest name, as
/// those in Forebay's own; without the registry the law's name is unknown.
#[test]
fn slips_are_refused_with_their_place() {
    let problem = |text: &str| {
        let registry = registry().unwrap();
        Scenario::parse_with(&registry, text, "test.toml", &[]).err().unwrap().problem
    };
    let wrong = problem(&network(
        r#"{ early_random = { threshold = "9 packets", probability = 2 } }"#,
        r#""reno""#,
    ));
    assert_eq!(wrong.path, "links.core.queue.early_random.probability");
    let wrong = problem(&network(r#""droptail""#, r#"{ aimd = { increse = 2.0 } }"#));
    assert!(wrong.message.contains("did you mean \"increase\""), "{}", wrong.message);
    let own = network(r#"{ early_random = { threshold = "9 packets" } }"#, r#""reno""#);
    let wrong = Scenario::parse(&own, "test.toml", &[]).err().unwrap().problem;
    assert!(wrong.message.starts_with("unknown \"early_random\""), "{}", wrong.message);
}

/// Catalogue and schema contain laws from outside: editors and pages know them.
#[test]
fn catalogue_and_schema_have_them() {
    let registry = registry().unwrap();
    for name in ["early_random", "aimd"] {
        assert!(catalogue(&registry).contains(&format!("\"name\":\"{name}\"")), "{name}");
        assert!(schema(&registry).contains(&format!("\"{name}\"")), "{name}");
    }
}

/// A law is refused if its name is taken.
#[test]
fn a_name_is_given_once() {
    let mut registry = registry().unwrap();
    let again: Vec<_> =
        registry.entries::<forebay_laws::queue::Queues>().iter().take(1).copied().collect();
    let refused = registry.add::<forebay_laws::queue::Queues>(&again);
    assert!(refused.unwrap_err().contains("already"));
}
