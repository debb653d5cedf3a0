//! Texts that a user writes: whatever they are, the answer is a value or an error.

use forebay_scenario::Scenario;
use forebay_scripts::Script;
use forebay_units::quantity::{
    parse_frequency, parse_packets, parse_rate, parse_size, parse_span, show_frequency, show_rate,
    show_size, show_span,
};

/// The scenario that assignments are made in.
const BASE: &str = r#"
duration = "1 s"

[links.a]
from = "A"
to = "B"
rate = "10 Mbit/s"
delay = "1 ms"
queue.red = { min_threshold = "5 packets", max_threshold = "15 packets", limit = "50 packets" }

[flows.f]
from = "A"
to = "B"
tcp = { profile = "rfc" }
"#;

/// A scenario is read or refused; one that is read says what it is, and the same twice.
pub fn scenario_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    read(text, &[]);
}

/// `--set` reads or refuses what is assigned.
pub fn assignment(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let assignments: Vec<String> = text.lines().take(8).map(str::to_owned).collect();
    read(BASE, &assignments);
}

fn read(text: &str, assignments: &[String]) {
    match Scenario::parse(text, "fuzz.toml", assignments) {
        Ok(scenario) => {
            let again = Scenario::parse(text, "fuzz.toml", assignments).expect("it was read");
            assert_eq!(scenario.describe(), again.describe());
            assert_eq!(scenario.hash(), again.hash());
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("fuzz.toml"), "names no file: {message}");
        }
    }
}

/// A packet script is read and run, or refused with a message that names it.
pub fn tcp_script(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let outcome = Script::read(text, "fuzz.pkt", &[]).and_then(|script| script.run().map(drop));
    if let Err(problem) = outcome {
        let message = problem.to_string();
        assert!(message.starts_with("fuzz.pkt"), "names no script: {message}");
    }
}

/// A quantity is read or refused, and one that is read is read again from its own text.
pub fn quantity(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = parse_packets(text);
    if let Ok(span) = parse_span(text) {
        assert_eq!(parse_span(&show_span(span)), Ok(span), "{text}");
    }
    if let Ok(rate) = parse_rate(text) {
        assert_eq!(parse_rate(&show_rate(rate)), Ok(rate), "{text}");
    }
    if let Ok(size) = parse_size(text) {
        assert_eq!(parse_size(&show_size(size)), Ok(size), "{text}");
    }
    if let Ok(frequency) = parse_frequency(text) {
        assert_eq!(parse_frequency(&show_frequency(frequency)), Ok(frequency), "{text}");
    }
}
