//! Wrong parameters of congestion controls and of what they need of TCP; see [`crate::bad_input`].

use forebay_scenario::Scenario;

use crate::bad_input::{Case, case, check_all};

const RIGHT: &str = r#"duration = "10 s"

[links.core]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"

[flows.x]
from = "a"
to = "b"
count = 2

[flows.x.tcp]
control = { reno = {} }
pacing = "none"
"#;

const CONTROL: &str = "control = { reno = {} }";
const PACING: &str = "pacing = \"none\"";

/// A wrong value of a parameter of a control: where, and what the message says.
macro_rules! wrong {
    ($($law:literal, $key:literal, $value:literal, $says:expr;)*) => {
        &[$(case(
            CONTROL,
            concat!("control = { ", $law, " = { ", $key, " = ", $value, " } }"),
            concat!("flows.x.tcp.control.", $law, ".", $key),
            $says,
        )),*]
    };
}

const LAWS: &[Case] = wrong! {
    "bbr", "startup_gain", "1.0", &["1 is out of range", "above 1 and up to 10"];
    "bbr", "cwnd_gain", "0.5", &["0.5 is out of range", "1 to 10"];
    "bbr", "bandwidth_rounds", "0", &["0 is out of range", "1 to 100"];
    "bbr", "min_rtt_window", "\"0 s\"", &["0 s is out of range", "above 0 s"];
    "bbr", "probe_rtt_time", "\"200\"", &["has no unit"];
    "bbr", "startup_gains", "2.0", &["did you mean \"startup_gain\""];
    "bbr3", "loss_threshold", "2.0", &["2 is out of range", "0 to 1"];
    "bbr3", "beta", "1.0", &["1 is out of range", "above 0 and below 1"];
    "bbr3", "headroom", "-0.1", &["-0.1 is out of range", "0 to below 1"];
    "bbr3", "probe_rtt_interval", "\"0 s\"", &["0 s is out of range", "above 0 s"];
    "cubic", "c", "0.0", &["0 is out of range", "above 0"];
    "cubic", "beta", "1.0", &["1 is out of range", "above 0 and below 1"];
    "cubic", "beta_ecn", "1.0", &["1 is out of range", "above 0 and below 1"];
    "dctcp", "gain", "0.0", &["0 is out of range", "above 0 and up to 1"];
    "dctcp", "initial_share", "1.5", &["1.5 is out of range", "0 to 1"];
    "binomial", "increase_power", "-1.0", &["-1 is out of range", "0 to 4"];
    "binomial", "decrease_power", "1.5", &["1.5 is out of range", "0 to 1"];
    "binomial", "increase", "0.0", &["0 is out of range", "above 0"];
    "binomial", "decrease", "1.1", &["1.1 is out of range", "above 0 and up to 1"];
    "ledbat", "target", "\"150 ms\"", &["0.15 s is out of range", "up to 100 ms"];
    "ledbat", "gain", "2.0", &["2 is out of range", "above 0 and up to 1"];
    "ledbat", "base_history", "0", &["0 is out of range", "1 to 60"];
    "ledbat", "current_filter", "101", &["101 is out of range", "1 to 100"];
    "ledbat", "allowed_increase", "0", &["0 is out of range", "1 to 1000"];
    "prague", "gain", "0.0", &["0 is out of range", "above 0 and up to 1"];
    "prague", "initial_share", "-0.1", &["-0.1 is out of range", "0 to 1"];
    "prague", "reference_rtt", "25", &["has no unit"];
    "prague", "rtt_transition", "-1", &["-1"];
    "prague", "beta", "1.0", &["1 is out of range", "above 0 and below 1"];
    "prague", "least_window", "0.5", &["0.5 is out of range", "1 and more"];
    "reno", "beta_ecn", "0.0", &["0 is out of range", "above 0 and below 1"];
    "scalable", "increase", "0.0", &["0 is out of range", "above 0 and up to 1"];
    "scalable", "decrease", "1.0", &["1 is out of range", "above 0 and below 1"];
    "vegas", "alpha", "0.0", &["0 is out of range", "above 0"];
    "vegas", "beta", "1.0", &["1 is out of range", "at least alpha, 2"];
    "vegas", "gamma", "-1.0", &["-1 is out of range", "above 0"];
    "westwood", "memory", "1.0", &["1 is out of range", "0 to below 1"];
    "westwood", "least_interval", "50", &["has no unit"];
};

const TCP: &[Case] = &[
    case(PACING, "pacing = \"on\"", "flows.x.tcp.pacing", &["\"on\" is not one of", "window"]),
    case(
        PACING,
        "recovery_window = \"prr\"\nrecovery = \"reno\"",
        "flows.x.tcp.recovery_window",
        &["\"prr\" needs recovery = \"sack\""],
    ),
    case(
        PACING,
        "loss_detection = \"time\"",
        "flows.x.tcp.loss_detection",
        &["\"time\" is not one of dupacks, rack"],
    ),
    case(
        PACING,
        "loss_detection = \"rack\"\nrecovery = \"newreno\"",
        "flows.x.tcp.loss_detection",
        &["\"rack\" needs recovery = \"sack\""],
    ),
    case(
        PACING,
        "sack_at_timeout = \"clear\"\nloss_detection = \"rack\"",
        "flows.x.tcp.sack_at_timeout",
        &["contradicts loss_detection = \"rack\"", "allowed is \"keep\""],
    ),
    case(
        PACING,
        "tail_loss_probe = true\nloss_detection = \"dupacks\"",
        "flows.x.tcp.tail_loss_probe",
        &["needs loss_detection = \"rack\""],
    ),
    case(
        PACING,
        "dsack = true\nrecovery = \"reno\"",
        "flows.x.tcp.dsack",
        &["needs recovery = \"sack\""],
    ),
    case(
        PACING,
        "undo = \"both\"\ndsack = false",
        "flows.x.tcp.undo",
        &["duplicates that the receiver reports", "allowed is \"eifel\""],
    ),
    case(
        PACING,
        "undo = \"eifel\"\ntimestamps = false",
        "flows.x.tcp.undo",
        &["needs timestamps = true", "allowed is \"dsack\""],
    ),
    case(PACING, "undo = \"eifle\"", "flows.x.tcp.undo", &["did you mean \"eifel\""]),
    case(PACING, "frto = 2", "flows.x.tcp.frto", &["is not true or false"]),
    case(PACING, "handshake = \"yes\"", "flows.x.tcp.handshake", &["is not true or false"]),
    case(PACING, "dsack = \"on\"", "flows.x.tcp.dsack", &["is not true or false"]),
    case(PACING, "profile = \"linuks\"", "flows.x.tcp.profile", &["did you mean \"linux\""]),
    case(PACING, "ecn_echo = \"exact\"", "flows.x.tcp.ecn_echo", &["is not one of", "rfc8257"]),
];

/// Parameters for which a law is not defined are refused.
#[test]
fn wrong_parameters_are_refused() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, LAWS);
    check_all(RIGHT, TCP);
}
