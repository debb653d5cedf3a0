//! Wrong changes of links: schedules, traces and their files.

use forebay_scenario::{Scenario, registry};

use crate::bad_input::{Case, case, check_all};

const RIGHT: &str = r#"duration = "10 s"

[links.steps]
from = "a"
to = "r"
rate = "10 Mbit/s"
repeat = "4 s"
rate_steps = [{ at = "1 s", rate = "5 Mbit/s" }, { at = "3 s", rate = "0 bit/s" }]

[links.file]
from = "r"
to = "b"
schedule = { text = "time_s,rate_bps,delay_s\n0,2e6,0.01\n1.5,1e6,0.02\n" }
reverse = { trace = { text = "1\n7\n7\n" } }

[flows.tcp]
from = "a"
to = "b"
tcp = { mss = "536 B" }
"#;

const CASES: &[Case] = &[
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"10 Mbit/s\"\nresidual = \"500 B\" #!",
        "links.steps.residual",
        &["a fixed rate only"],
    ),
    case("rate = \"10 Mbit/s\"", "rate = \"0 bit/s\" #!", "links.steps.rate", &["is zero"]),
    case(
        "[links.steps]\nfrom = \"a\"\nto = \"r\"\nrate = \"10 Mbit/s\"",
        "[links.steps] #!\nfrom = \"a\"\nto = \"r\"",
        "links.steps.rate",
        &["is missing", "\"34 Mbit/s\""],
    ),
    case("repeat = \"4 s\"", "repeat = \"3 s\" #!", "links.steps.repeat", &["not after", "3 s"]),
    case("repeat = \"4 s\"", "repeat = \"200 d\" #!", "links.steps.repeat", &["200 d"]),
    case(
        "repeat = \"4 s\"\nrate_steps = [{ at = \"1 s\", rate = \"5 Mbit/s\" }, \
         { at = \"3 s\", rate = \"0 bit/s\" }]",
        "repeat = \"4 s\"",
        "links.steps.repeat",
        &["no rate_steps"],
    ),
    case(
        "{ at = \"3 s\", rate = \"0 bit/s\" }]",
        "{ at = \"1 s\", rate = \"0 bit/s\" }] #!",
        "links.steps.rate_steps[1].at",
        &["1 s comes after 1 s"],
    ),
    case(
        "{ at = \"3 s\", rate = \"0 bit/s\" }]",
        "{ at = \"3 s\", rate = \"9e15 bit/s\" }] #!",
        "links.steps.rate_steps[1].rate",
        &["too fast"],
    ),
    case(
        "{ at = \"3 s\", rate = \"0 bit/s\" }]",
        "{ at = \"3 s\", ratee = \"0 bit/s\" }] #!",
        "links.steps.rate_steps[1].ratee",
        &["did you mean \"rate\"?"],
    ),
    case(
        "rate_steps = [",
        "trace = { text = \"5\" } #!\nrate_steps = [",
        "links.steps.trace",
        &["rate_steps already"],
    ),
    case(
        "schedule = { text = \"time_s,rate_bps,delay_s\\n0,2e6,0.01\\n1.5,1e6,0.02\\n\" }",
        "schedule = \"rates.csv\" #!",
        "links.file.schedule",
        &["\"rates.csv\"", "no folder", "text"],
    ),
    case(
        "schedule = { text = \"time_s,rate_bps,delay_s\\n0,2e6,0.01\\n1.5,1e6,0.02\\n\" }",
        "schedule = 5 #!",
        "links.file.schedule",
        &["5 is not a file"],
    ),
    case(
        "schedule = { text = \"time_s,rate_bps,delay_s\\n0,2e6,0.01\\n1.5,1e6,0.02\\n\" }",
        "schedule = { name = \"a.csv\" } #!",
        "links.file.schedule",
        &["is not a file"],
    ),
    case("delay_s\\n0", "delay\\n0", "links.file.schedule", &["line 1", "\"delay\"", "delay_s"]),
    case("time_s,rate", "time_s,time_s,rate", "links.file.schedule", &["line 1", "\"time_s\""]),
    case("time_s,rate_bps", "time_s", "links.file.schedule", &["line 1", "no column rate_bps"]),
    case("1.5,1e6,0.02", "1.5,1e6", "links.file.schedule", &["line 3", "2 cells for 3"]),
    case("1.5,1e6", "0,1e6", "links.file.schedule", &["line 3", "not after"]),
    case("1.5,1e6", "1.5,-1", "links.file.schedule", &["line 3", "rate_bps is \"-1\""]),
    case("1.5,1e6", "1.5,fast", "links.file.schedule", &["line 3", "rate_bps is \"fast\""]),
    case("1.5,1e6", "inf,1", "links.file.schedule", &["line 3", "time_s is \"inf\""]),
    case("0.02\\n", "1e9\\n", "links.file.schedule", &["line 3", "delay_s is \"1e9\""]),
    case("0,2e6,0.01\\n1.5,1e6,0.02\\n", "", "links.file.schedule", &["line 1", "no rows"]),
    case("2e6,0.01\\n1.5,1e6", "0,0.01\\n1.5,0", "links.file.schedule", &["no rate above 0"]),
    case(
        "[links.file]\nfrom = \"r\"\nto = \"b\"\n\
         schedule = { text = \"time_s,rate_bps,delay_s\\n0,",
        "[links.file] #!\nfrom = \"r\"\nto = \"b\"\n\
         schedule = { text = \"time_s,rate_bps,delay_s\\n0.1,",
        "links.file.rate",
        &["is missing"],
    ),
    case("1\\n7\\n7\\n", "1\\nx\\n", "links.file.reverse.trace", &["line 2", "\"x\""]),
    case("1\\n7\\n7\\n", "2\\n1\\n", "links.file.reverse.trace", &["line 2", "in order"]),
    case("1\\n7\\n7\\n", "\\n", "links.file.reverse.trace", &["no opportunity"]),
    case("1\\n7\\n7\\n", "0\\n0\\n", "links.file.reverse.trace", &["all opportunities are at 0"]),
    case(
        "1\\n7\\n7\\n",
        "1\\n99999999999999999\\n",
        "links.file.reverse.trace",
        &["line 2", "too long"],
    ),
];

/// Changes of a link that its file cannot mean are refused, without a panic.
#[test]
fn wrong_changes_are_refused() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, CASES);
}

/// Files are found by name beside the scenario, and what they hold is part of the scenario's hash.
#[test]
fn files_are_read_by_name() {
    let text = RIGHT.replace("{ text = \"1\\n7\\n7\\n\" }", "\"up.trace\"");
    let with = |contents: Result<&str, &str>| {
        let files = |name: &str| {
            assert_eq!(name, "up.trace");
            contents.map(|text| text.to_owned().into()).map_err(str::to_owned)
        };
        Scenario::parse_beside(&registry(), &text, "folder/right.toml", &[], &files)
    };
    let right = Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    assert_eq!(with(Ok("1\n7\n7\n")).unwrap().hash(), right.hash());
    assert_ne!(with(Ok("1\n7\n8\n")).unwrap().hash(), right.hash());
    let shown = with(Ok("1\nseven\n")).err().unwrap().to_string();
    assert!(shown.starts_with("folder/right.toml: line 14: links.file.reverse.trace"), "{shown}");
    assert!(shown.contains("\"up.trace\", line 2: \"seven\" is not"), "{shown}");
    let shown = with(Err("is not there")).err().unwrap().to_string();
    assert!(shown.contains("\"up.trace\" is not there"), "{shown}");
}
