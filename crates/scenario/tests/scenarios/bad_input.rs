//! Wrong scenarios: each is refused where it is wrong, with what was read and what is allowed.
//!
//! A case changes one place of a right scenario. The line on which the problem must be reported carries
//! the mark `#!`; a case without a mark is a problem of the file as a whole.

use forebay_scenario::Scenario;

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

/// A change of the right scenario, where the problem must be reported, and what its message must say.
struct Case {
    /// What is replaced, and by what.
    change: (&'static str, &'static str),
    path: &'static str,
    says: &'static [&'static str],
}

const fn case(
    from: &'static str,
    to: &'static str,
    path: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case {
        change: (from, to),
        path,
        says,
    }
}

const UNKNOWN_KEYS: &[Case] = &[
    case(
        "name = \"right\"",
        "nmae = \"right\" #!",
        "nmae",
        &[
            "unknown key \"nmae\"",
            "did you mean \"name\"",
            "duration, warm_up, seed",
        ],
    ),
    case(
        "[links.access]",
        "[lniks.access] #!",
        "lniks",
        &["did you mean \"links\"", "flows"],
    ),
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
        &[
            "\"new-reno\" is not one of",
            "did you mean \"newreno\"",
            "sack",
        ],
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
    case(
        "series = \"100 ms\"",
        "series = \"0 s\" #!",
        "record.series",
        &["is zero"],
    ),
    case(
        "series = \"100 ms\"",
        "trace = -1 #!",
        "record.trace",
        &["-1 is out of range", "0 to"],
    ),
    case(
        "name = \"right\"",
        "name = 7 #!",
        "name",
        &["7 is not a text"],
    ),
    case(
        "name = \"right\"",
        "seed = -3 #!",
        "seed",
        &["-3 is out of range", "0 to"],
    ),
    case(
        "name = \"right\"",
        "seed = 9223372036854775808 #!",
        "",
        &["not fit 64 bits"],
    ),
    case(
        "duplex = false",
        "duplex = \"no\" #!",
        "links.oneway.duplex",
        &["\"no\" is not true or false"],
    ),
];

const MECHANISMS: &[Case] = &[
    case(
        "min_threshold = \"5 packets\", max_threshold = \"15 packets\"",
        "min_threshold = \"15 packets\", max_threshold = \"15 packets\"",
        "links.core.queue.red.max_threshold",
        &[
            "\"15 packets\" is not above the minimum threshold",
            "more than",
        ],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 kB\"",
        "links.core.queue.red.max_threshold",
        &["mixes packets and bytes", "allowed here are packets"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = 1.5",
        "links.core.queue.red.max_probability",
        &["1.5 is not a probability", "0 to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = -0.1",
        "links.core.queue.red.max_probability",
        &["-0.1 is not a probability", "0 to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", max_probability = nan",
        "links.core.queue.red.max_probability",
        &["NaN is not a finite number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = inf",
        "links.core.queue.red.weight",
        &["inf is not a finite number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = 0.0",
        "links.core.queue.red.weight",
        &["0 is out of range", "above 0 and up to 1"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", weight = \"0.1\"",
        "links.core.queue.red.weight",
        &["\"0.1\" is not a number"],
    ),
    case(
        "max_threshold = \"15 packets\"",
        "max_threshold = \"15 packets\", limit = \"2.5 packets\"",
        "links.core.queue.red.limit",
        &["finer than the resolution of 1 packet"],
    ),
    case(
        "cbs = \"3 kB\"",
        "cbs = \"300 B\"",
        "links.access.conditioner.token_bucket",
        &[
            "300 B",
            "smaller than the packets of flows.",
            "never conform",
        ],
    ),
    case(
        ", cbs = \"3 kB\"",
        "",
        "links.access.conditioner.token_bucket.cbs",
        &["is missing", "\"1500 B\""],
    ),
    case(
        "queue = { red = {",
        "queue = { droptail = {}, red = {",
        "links.core.queue",
        &["expected one name, found droptail, red", "one of"],
    ),
    case(
        "queue = { red = { min_threshold = \"5 packets\", max_threshold = \"15 packets\" } }",
        "queue = \"rio\" #!",
        "links.core.queue.rio.min_threshold",
        &["is missing"],
    ),
    case(
        "queue = { red = { min_threshold = \"5 packets\", max_threshold = \"15 packets\" } }",
        "queue = 5 #!",
        "links.core.queue",
        &["expected a name, found 5", "droptail"],
    ),
    case(
        "conditioner = { token_bucket",
        "conditioners = { token_bucket",
        "links.access.conditioners",
        &["expected a list, found a table"],
    ),
    case(
        "rate = \"1 Mbit/s\", size = \"500 B\"",
        "rate = \"0 bit/s\", size = \"500 B\"",
        "flows.udp.traffic.poisson.rate",
        &["is zero", "above 0"],
    ),
    case(
        "size = \"500 B\"",
        "size = \"100 kB\"",
        "flows.udp.traffic.poisson.size",
        &["100000 B is not a packet size", "1 B to 65535 B"],
    ),
    case(
        "poisson = { rate = \"1 Mbit/s\", size = \"500 B\" }",
        "cbr = { rate = \"1 Mbit/s\", size = \"500 B\", jitter = 1.5 }",
        "flows.udp.traffic.cbr.jitter",
        &["1.5 is out of range", "0 to 1"],
    ),
    case(
        "mss = \"536 B\"",
        "mss = \"70 kB\"",
        "flows.tcp.tcp.mss",
        &["70 kB", "65535 B"],
    ),
];

const STRUCTURE: &[Case] = &[
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"a\"\nto = \"island\" #!\ncount = 2",
        "flows.tcp.to",
        &["no links lead from \"island\" to \"a\""],
    ),
    case(
        "from = \"a\"\nto = \"b\"\nudp",
        "from = \"island\"\nto = \"b\" #!\nudp",
        "flows.udp.to",
        &["no links lead from \"island\" to \"b\""],
    ),
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"a\"\nto = \"islnad\" #!\ncount = 2",
        "flows.tcp.to",
        &[
            "no link touches a node \"islnad\"",
            "did you mean \"island\"",
            "nodes are",
        ],
    ),
    case(
        "from = \"a\"\nto = \"b\"\ncount = 2",
        "from = \"b\"\nto = \"b\" #!\ncount = 2",
        "flows.tcp.to",
        &["\"b\" is also the sender's node"],
    ),
    case(
        "from = \"r\"\nto = \"b\"",
        "from = \"b\"\nto = \"b\" #!",
        "links.core.to",
        &["\"b\" is also the near end"],
    ),
    case(
        "from = \"a\"\nto = \"island\"",
        "from = \"a\"\nto = \"r\" #!",
        "links.oneway.to",
        &["a link from \"a\" to \"r\" exists already: access"],
    ),
    case(
        "[links.oneway]",
        "[links.core] #!",
        "",
        &["not valid TOML", "duplicate key"],
    ),
    case(
        "duplex = false",
        "duplex = false\nreverse = { delay = \"1 ms\" } #!",
        "links.oneway.reverse",
        &["not duplex"],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"r\", \"a\", \"r\", \"b\"] #!",
        "flows.tcp.route",
        &["passes \"a\" twice"],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"b\"] #!",
        "flows.tcp.route",
        &["no link leads from \"a\" to \"b\"", "links lead to"],
    ),
    case(
        "count = 2",
        "route = [\"r\", \"b\"] #!",
        "flows.tcp.route",
        &["must begin at \"a\" and end at \"b\""],
    ),
    case(
        "count = 2",
        "route = [] #!",
        "flows.tcp.route",
        &["must begin at \"a\" and end at \"b\""],
    ),
    case(
        "count = 2",
        "route = [\"a\", \"q\", \"b\"] #!",
        "flows.tcp.route",
        &["no link touches a node \"q\""],
    ),
    case(
        "count = 2",
        "count = 0 #!",
        "flows.tcp.count",
        &["is zero", "at least one"],
    ),
    case(
        "count = 2",
        "count = 4294967295 #!",
        "flows.tcp.count",
        &["at most 100000000 flows"],
    ),
    case(
        "count = 2",
        "count = 2.5 #!",
        "flows.tcp.count",
        &["2.5 is not a whole number"],
    ),
    case(
        "count = 2",
        "precedence = 64 #!",
        "flows.tcp.precedence",
        &["64 is too large", "0 to 63"],
    ),
    case(
        "count = 2",
        "start = \"10 s\" #!",
        "flows.tcp.start",
        &["10 s is not before the end at 10 s"],
    ),
    case(
        "count = 2",
        "start = \"2 s\"\nstop = \"1 s\" #!",
        "flows.tcp.stop",
        &["1 s is not after the start at 2 s"],
    ),
    case(
        "count = 2",
        "start = { uniform = [\"2 s\", \"1 s\"] } #!",
        "flows.tcp.start",
        &["uniform runs from 2 s to 1 s"],
    ),
    case(
        "count = 2",
        "start = { normal = [\"2 s\", \"1 s\"] } #!",
        "flows.tcp.start",
        &["a table is not a time", "uniform"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = {}\nudp = {} #!",
        "flows.tcp.udp",
        &["either tcp or udp, not both"],
    ),
    case(
        "[flows.tcp]\nfrom = \"a\"\nto = \"b\"\ncount = 2\ntcp = { mss = \"536 B\" }",
        "[flows.tcp] #!\nfrom = \"a\"\nto = \"b\"",
        "flows.tcp",
        &["needs a transport: tcp = {} or udp = {}"],
    ),
    case(
        "traffic = { poisson = { rate = \"1 Mbit/s\", size = \"500 B\" } }",
        "traffic = \"bulk\" #!",
        "flows.udp.traffic",
        &["only TCP can carry it"],
    ),
    case(
        "[flows.udp]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
         traffic = { poisson = { rate = \"1 Mbit/s\", size = \"500 B\" } }",
        "[flows.udp] #!\nfrom = \"a\"\nto = \"b\"\nudp = {}",
        "flows.udp.traffic",
        &["is missing", "poisson"],
    ),
    case(
        "tcp = { mss = \"536 B\" }",
        "tcp = \"reno\" #!",
        "flows.tcp.tcp",
        &["expected a table, found \"reno\""],
    ),
    case(
        "[flows.tcp]\nfrom = \"a\"\n",
        "[flows.tcp] #!\n",
        "flows.tcp.from",
        &["is missing"],
    ),
    case(
        "[links.core]\nfrom = \"r\"\nto = \"b\"\nrate = \"2 Mbit/s\"",
        "[links.core] #!\nfrom = \"r\"\nto = \"b\"",
        "links.core.rate",
        &["is missing", "\"34 Mbit/s\""],
    ),
    case(
        "warm_up = \"1 s\"",
        "warm_up = \"10 s\" #!",
        "warm_up",
        &["10 s leaves nothing to measure of a duration of 10 s"],
    ),
    case(
        "duration = \"10 s\"\nwarm_up = \"1 s\"",
        "duration = \"0 s\" #!",
        "duration",
        &["is zero"],
    ),
];

/// The line that carries the mark.
fn marked_line(text: &str) -> Option<u32> {
    let at = text.lines().position(|line| line.contains("#!"))?;
    Some(u32::try_from(at).unwrap() + 1)
}

fn check(case: &Case) -> Result<(), String> {
    let (from, to) = case.change;
    assert!(RIGHT.contains(from), "{from} is not in the right scenario");
    let mut text = RIGHT.replacen(from, to, 1);
    if marked_line(&text).is_none() {
        // The change is within a line: that line is meant.
        let line = RIGHT[..RIGHT.find(from).unwrap()].matches('\n').count() + 1;
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
    let line = error
        .problem
        .line
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    if !shown.starts_with(&format!("wrong.toml: {line}")) {
        wrong.push("expected file and line first".to_owned());
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{shown}\n    {}", wrong.join("\n    ")))
    }
}

fn check_all(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Otherwise every case below could be refused for a reason that it does not know of.
#[test]
fn the_right_scenario_is_right() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    let cases = UNKNOWN_KEYS.len() + QUANTITIES.len() + MECHANISMS.len() + STRUCTURE.len();
    assert!(cases >= 80, "{cases} cases");
}

/// Otherwise a misspelt key would be ignored, and the run would be of another scenario.
#[test]
fn unknown_keys_and_names_are_refused_with_the_nearest() {
    check_all(UNKNOWN_KEYS);
}

/// Otherwise a slip in a number or its unit would run as another scenario.
#[test]
fn wrong_quantities_are_refused() {
    check_all(QUANTITIES);
}

/// Otherwise a mechanism would run with parameters that contradict each other.
#[test]
fn contradictory_mechanisms_are_refused() {
    check_all(MECHANISMS);
}

/// Otherwise a network that cannot carry its flows would run, or end in a panic.
#[test]
fn impossible_networks_are_refused() {
    check_all(STRUCTURE);
}
