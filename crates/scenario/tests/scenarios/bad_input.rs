//! Wrong scenarios: each is refused where it is wrong, with what was read and what is allowed.
//!
//! A case changes one place of a right scenario. The line on which the problem must be reported
//! carries the mark `#!`; a case without a mark is a problem of the file as a whole.

use forebay_scenario::Scenario;

use crate::bad_networks::{MECHANISMS, STRUCTURE};

/// A right scenario with a bit of everything.
const RIGHT: &str = r#"name = "right"
duration = "10 s"
warm_up = "1 s"

[links.access]
from = "a"
to = "r"
rate = "10 Mbit/s"
delay = "2 ms"
conditioner = { token_bucket = { cir = "1 Mbit/s", cbs = "3 kB" } }

[links.core]
from = "r"
to = "b"
rate = "2 Mbit/s"
queue = { red = { min_threshold = "5 packets", max_threshold = "15 packets" } }

[links.oneway]
from = "a"
to = "island"
rate = "1 Mbit/s"
duplex = false

[flows.tcp]
from = "a"
to = "b"
count = 2
tcp = { mss = "536 B" }

[flows.udp]
from = "a"
to = "b"
udp = {}
traffic = { poisson = { rate = "1 Mbit/s", size = "500 B" } }

[record]
series = "100 ms"
"#;

/// A change of the right scenario, where the problem must be reported, and what its message must
/// say.
pub struct Case {
    /// Replaced text, and its replacement.
    change: (&'static str, &'static str),
    path: &'static str,
    says: &'static [&'static str],
}

pub const fn case(
    from: &'static str,
    to: &'static str,
    path: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case { change: (from, to), path, says }
}

const UNKNOWN_KEYS: &[Case] = &[
    case(
        "name = \"right\"",
        "nmae = \"right\" #!",
        "nmae",
        &["unknown key \"nmae\"", "did you mean \"name\"", "duration, warm_up, seed"],
    ),
    case("[links.access]", "[lniks.access] #!", "lniks", &["did you mean \"links\"", "flows"]),
    case(
        "delay = \"2 ms\"",
        "dealy = \"2 ms\" #!",
        "links.access.dealy",
        &["did you mean \"delay\"", "from, to, rate"],
    ),
    case(
        "conditioner = {",
        "reverse = { dely = \"1 ms\" } #!\nconditioner = {",
        "links.access.reverse.dely",
        &["did you mean \"delay\"", "rate"],
    ),
    case(
        "cir = \"1 Mbit/s\"",
        "cri = \"1 Mbit/s\"",
        "links.access.conditioner.token_bucket.cri",
        &["did you mean \"cir\"", "cbs"],
    ),
    case(
        "min_threshold = \"5 packets\"",
        "minthreshold = \"5 packets\"",
        "links.core.queue.red.minthreshold",
        &["did you mean \"min_threshold\"", "max_threshold"],
    ),
    case(
        "count = 2",
        "cuont = 2 #!",
        "flows.tcp.cuont",
        &["did you mean \"count\"", "start, stop"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = { msss = \"536 B\" } #!",
        "flows.tcp.tcp.msss",
        &["did you mean \"mss\"", "recovery"],
    ),
    case(
        "udp = {}",
        "udp = { headr = \"8 B\" } #!",
        "flows.udp.udp.headr",
        &["did you mean \"header\""],
    ),
    case(
        "size = \"500 B\"",
        "sise = \"500 B\"",
        "flows.udp.traffic.poisson.sise",
        &["did you mean \"size\"", "rate"],
    ),
    case(
        "series = \"100 ms\"",
        "serie = \"100 ms\" #!",
        "record.serie",
        &["did you mean \"series\"", "trace"],
    ),
    case(
        "{ red = {",
        "{ rde = {",
        "links.core.queue",
        &["unknown \"rde\"", "did you mean \"red\"", "droptail"],
    ),
    case(
        "token_bucket = {",
        "tokenbucket = {",
        "links.access.conditioner",
        &["did you mean \"token_bucket\"", "srtcm"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = { control = \"qubic\" } #!",
        "flows.tcp.tcp.control",
        &["did you mean \"cubic\"", "reno"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = { recovery = \"new-reno\" } #!",
        "flows.tcp.tcp.recovery",
        &["\"new-reno\" is not one of", "did you mean \"newreno\"", "sack"],
    ),
];

const QUANTITIES: &[Case] = &[
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"10\" #!",
        "links.access.rate",
        &["\"10\" has no unit", "\"34 Mbit/s\""],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = 10 #!",
        "links.access.rate",
        &["10 has no unit", "data rate", "\"34 Mbit/s\""],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"10 MB\" #!",
        "links.access.rate",
        &["\"MB\" in \"10 MB\" is not a unit", "Mbit/s"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"10 mbit/s\" #!",
        "links.access.rate",
        &["did you mean \"Mbit/s\""],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"-10 Mbit/s\" #!",
        "links.access.rate",
        &["\"-10 Mbit/s\" is negative", "at least 0"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"0 Mbit/s\" #!",
        "links.access.rate",
        &["is zero", "above 0"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"fast\" #!",
        "links.access.rate",
        &["\"fast\" is not a data rate", "\"34 Mbit/s\""],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"nan Mbit/s\" #!",
        "links.access.rate",
        &["\"nan Mbit/s\" is not a data rate"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"1e40 Mbit/s\" #!",
        "links.access.rate",
        &["\"1e40 Mbit/s\" is too large"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"10 Pbit/s\" #!",
        "links.access.rate",
        &["\"Pbit/s\" in \"10 Pbit/s\" is not a unit", "Tbit/s"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = \"9000 Tbit/s\" #!",
        "links.access.rate",
        &["is too fast", "allowed are up to"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = true #!",
        "links.access.rate",
        &["true is not a data rate"],
    ),
    case(
        "rate = \"10 Mbit/s\"",
        "rate = [\"10 Mbit/s\"] #!",
        "links.access.rate",
        &["a list is not a data rate"],
    ),
    case(
        "delay = \"2 ms\"",
        "delay = \"0.5 ps\" #!",
        "links.access.delay",
        &["finer than the resolution of 1 ps"],
    ),
    case(
        "delay = \"2 ms\"",
        "delay = \"2 kB\" #!",
        "links.access.delay",
        &["\"kB\" in \"2 kB\" is not a unit of a duration", "ms"],
    ),
    case(
        "delay = \"2 ms\"",
        "delay = \"9999 h\" #!",
        "links.access.delay",
        &["\"9999 h\" is too large"],
    ),
    case(
        "duration = \"10 s\"",
        "duration = \"5000 h\" #!",
        "duration",
        &["is too long", "allowed are up to"],
    ),
    case("series = \"100 ms\"", "series = \"0 s\" #!", "record.series", &["is zero"]),
    case("series = \"100 ms\"", "trace = -1 #!", "record.trace", &["-1 is out of range", "0 to"]),
    case("name = \"right\"", "name = 7 #!", "name", &["7 is not a text"]),
    case("name = \"right\"", "seed = -3 #!", "seed", &["-3 is out of range", "0 to"]),
    case("name = \"right\"", "seed = 9223372036854775808 #!", "seed", &["not fit 64 bits"]),
    case(
        "duplex = false",
        "duplex = \"no\" #!",
        "links.oneway.duplex",
        &["\"no\" is not true or false"],
    ),
];

/// The line that carries the mark.
fn marked_line(text: &str) -> Option<u32> {
    let at = text.lines().position(|line| line.contains("#!"))?;
    Some(u32::try_from(at).unwrap() + 1)
}

fn check(right: &str, case: &Case) -> Result<(), String> {
    let (from, to) = case.change;
    assert!(right.contains(from), "{from} is not in the right scenario");
    let mut text = right.replacen(from, to, 1);
    if marked_line(&text).is_none() {
        // The change is within a line: that line is meant.
        let line = right[..right.find(from).unwrap()].matches('\n').count() + 1;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[line - 1] += " #!";
        text = lines.join("\n");
    }
    let Err(error) = Scenario::parse(&text, "wrong.toml", &[]) else {
        return Err(format!("{to}: was accepted"));
    };
    let shown = error.to_string();
    let mut wrong = Vec::new();
    if error.problem.path != case.path {
        wrong.push(format!("expected path {}", case.path));
    }
    if error.problem.line != marked_line(&text) {
        wrong.push(format!("expected line {:?}", marked_line(&text)));
    }
    wrong.extend(
        case.says
            .iter()
            .filter(|words| !error.problem.message.contains(**words))
            .map(|words| format!("expected \"{words}\"")),
    );
    let line = error.problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    if !shown.starts_with(&format!("wrong.toml: {line}")) {
        wrong.push("expected file and line first".to_owned());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{shown}\n    {}", wrong.join("\n    "))) }
}

/// Make each change of `right`, and check what is said of it.
pub fn check_all(right: &str, cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(|case| check(right, case).err()).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The scenario that the cases below change is right: each of them is refused for its own reason.
#[test]
fn the_right_scenario_is_right() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    let cases = UNKNOWN_KEYS.len() + QUANTITIES.len() + MECHANISMS.len() + STRUCTURE.len();
    assert!(cases >= 80, "{cases} cases");
}

/// Unknown keys and names are refused with the nearest known one: a misspelt key is not ignored.
#[test]
fn unknown_keys_and_names_are_refused_with_the_nearest() {
    check_all(RIGHT, UNKNOWN_KEYS);
}

/// Slips in numbers and their units are refused.
#[test]
fn wrong_quantities_are_refused() {
    check_all(RIGHT, QUANTITIES);
}

/// Mechanisms whose parameters contradict each other are refused.
#[test]
fn contradictory_mechanisms_are_refused() {
    check_all(RIGHT, MECHANISMS);
}

/// Networks that cannot carry their flows are refused, without a panic.
#[test]
fn impossible_networks_are_refused() {
    check_all(RIGHT, STRUCTURE);
}
