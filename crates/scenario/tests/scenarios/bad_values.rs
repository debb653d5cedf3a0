//! Every kind of key with every kind of wrong value: each scenario is refused at the key, on its
//! line, with what was read and what is allowed.

use forebay_scenario::{Scenario, ScenarioError};

/// Kind of value that a key takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Time,
    Rate,
    Size,
    Length,
    Whole,
    Number,
    Flag,
    Node,
    Nodes,
    Choice,
    Mechanism,
    Table,
}

use Kind::{Choice, Flag, Length, Mechanism, Node, Nodes, Number, Rate, Size, Table, Time, Whole};

/// A key, a right value and its kind.
type Key = (&'static str, &'static str, Kind);

/// A right scenario: sections, and in each its keys.
const RIGHT: &[(&str, &[Key])] = &[
    ("", &[("duration", "\"10 s\"", Time), ("warm_up", "\"1 s\"", Time), ("seed", "3", Whole)]),
    (
        "links.access",
        &[
            ("from", "\"a\"", Node),
            ("to", "\"r\"", Node),
            ("rate", "\"10 Mbit/s\"", Rate),
            ("delay", "\"2 ms\"", Time),
            ("duplex", "true", Flag),
            ("residual", "\"500 B\"", Size),
        ],
    ),
    (
        "links.access.conditioner",
        &[("token_bucket", "{ cir = \"1 Mbit/s\", cbs = \"3 kB\" }", Table)],
    ),
    (
        "links.core",
        &[
            ("from", "\"r\"", Node),
            ("to", "\"b\"", Node),
            ("rate", "\"2 Mbit/s\"", Rate),
            ("reverse", "{ delay = \"5 ms\" }", Table),
        ],
    ),
    (
        "links.core.queue.red",
        &[
            ("min_threshold", "\"5 packets\"", Length),
            ("max_threshold", "\"15 packets\"", Length),
            ("weight", "0.002", Number),
            ("max_probability", "0.1", Number),
            ("gentle", "true", Flag),
            ("byte_mode", "\"off\"", Choice),
            ("limit", "\"30 kB\"", Length),
        ],
    ),
    (
        "flows.t",
        &[
            ("from", "\"a\"", Node),
            ("to", "\"b\"", Node),
            ("route", "[\"a\", \"r\", \"b\"]", Nodes),
            ("count", "2", Whole),
            ("start", "\"1 s\"", Time),
            ("stop", "\"9 s\"", Time),
            ("precedence", "1", Whole),
            ("traffic", "\"bulk\"", Mechanism),
        ],
    ),
    (
        "flows.t.tcp",
        &[
            ("mss", "\"536 B\"", Size),
            ("header", "\"40 B\"", Size),
            ("recovery", "\"sack\"", Choice),
            ("dupack_threshold", "3", Whole),
            ("limited_transmit", "true", Flag),
            ("delayed_ack_timeout", "\"200 ms\"", Time),
            ("control", "\"reno\"", Mechanism),
        ],
    ),
    (
        "flows.u",
        &[
            ("from", "\"a\"", Node),
            ("to", "\"b\"", Node),
            ("udp", "{}", Table),
            ("late_after", "\"20 ms\"", Time),
        ],
    ),
    (
        "flows.u.traffic.cbr",
        &[
            ("rate", "\"1 Mbit/s\"", Rate),
            ("size", "\"500 B\"", Size),
            ("jitter", "0.1", Number),
            ("random_phase", "false", Flag),
        ],
    ),
    (
        "record",
        &[
            ("series", "\"100 ms\"", Time),
            ("delays", "true", Flag),
            ("jitter", "true", Flag),
            ("losses", "true", Flag),
            ("trace", "10", Whole),
            ("flows", "\"each\"", Choice),
        ],
    ),
];

/// Values that no key takes, whatever its kind: as written, and as a message shows them.
const NEVER: Wrong = &[
    ("1979-05-27", "dates are not allowed"),
    ("1979-05-27T07:32:00Z", "dates are not allowed"),
    ("07:32:00", "dates are not allowed"),
    ("99999999999999999999999999", "does not fit 64 bits"),
    ("[[[]]]", "a list"),
    ("[1, 2.5, true]", ""),
    ("[{ a = 1 }]", ""),
];

type Wrong = &'static [(&'static str, &'static str)];

/// Values that no key with a unit takes.
const QUANTITY: Wrong = &[
    ("5", "5 "),
    ("2.5", "2.5 "),
    ("nan", "NaN"),
    ("inf", "inf"),
    ("-1", "-1"),
    ("true", "true"),
    ("\"\"", "\"\""),
    ("\"5\"", "no unit"),
    ("\"5 furlongs\"", "furlongs"),
    ("\"-5 \"", "-5"),
    ("\"nan s\"", "nan"),
    ("\"inf s\"", "inf"),
    ("{}", "a table"),
    ("{ a = 1 }", "a table"),
];
const TIME: Wrong = &[
    ("\"-5 s\"", "negative"),
    ("\"5 kB\"", "kB"),
    ("\"1e400 s\"", "1e400"),
    ("\"99999999999999999999 s\"", "99999999999999999999 s"),
    ("\"0.0000000000001 s\"", "resolution"),
];
const RATE: Wrong = &[
    ("\"-5 bit/s\"", "negative"),
    ("\"5 s\"", "\"s\""),
    ("\"1e400 bit/s\"", "1e400"),
    ("\"99999999999999999999999 bit/s\"", "99999999999999999999999"),
    ("\"0 bit/s\"", "zero"),
];
const SIZE: Wrong = &[
    ("\"-5 B\"", "negative"),
    ("\"5 s\"", "\"s\""),
    ("\"99999999999999999999999 B\"", "99999999999999999999999"),
    ("\"0.5 B\"", "resolution"),
    ("\"5 packets\"", "packets"),
];
const LENGTH: Wrong = &[
    ("\"-5 packets\"", "negative"),
    ("\"-5 s\"", "negative"),
    ("\"5 cells\"", "\"cells\""),
    ("\"5 bdp\"", "\"BDP\""),
];
const WHOLE: Wrong = &[
    ("-1", "-1"),
    ("2.5", "2.5"),
    ("nan", "NaN"),
    ("inf", "inf"),
    ("1e300", "1"),
    ("\"5\"", "\"5\""),
    ("true", "true"),
    ("{}", "a table"),
    ("\"\"", "\"\""),
];
const NUMBER: Wrong = &[
    ("nan", "NaN"),
    ("inf", "inf"),
    ("-inf", "-inf"),
    ("-0.5", "-0.5"),
    ("1e400", "inf"),
    ("7", "7"),
    ("\"0.1\"", "\"0.1\""),
    ("true", "true"),
    ("{}", "a table"),
];
const FLAG: Wrong = &[
    ("1", "1"),
    ("0", "0"),
    ("\"true\"", "\"true\""),
    ("\"yes\"", "\"yes\""),
    ("nan", "NaN"),
    ("{}", "a table"),
];
const NODE: Wrong = &[("5", "5"), ("nan", "NaN"), ("true", "true"), ("{}", "a table")];
const NODES: Wrong = &[
    ("\"a\"", "\"a\""),
    ("5", "5"),
    ("true", "true"),
    ("[]", "must begin"),
    ("[\"a\"]", "must begin"),
    ("[\"a\", \"b\"]", "no link leads"),
    ("[\"a\", \"r\", \"a\", \"b\"]", "twice"),
    ("[\"a\", \"x\", \"b\"]", "\"x\""),
    ("{}", "a table"),
];
const CHOICE: Wrong = &[
    ("\"nonsense\"", "nonsense"),
    ("\"\"", "\"\""),
    ("5", "5"),
    ("true", "true"),
    ("nan", "NaN"),
    ("{}", "a table"),
];
const MECHANISM: Wrong = &[
    ("\"nonsense\"", "nonsense"),
    ("\"\"", "\"\""),
    ("5", "5"),
    ("true", "true"),
    ("{}", ""),
    ("{ nonsense = {} }", "nonsense"),
    ("{ a = {}, b = {} }", ""),
];
const TABLE: Wrong = &[
    ("5", "5"),
    ("nan", "NaN"),
    ("true", "true"),
    ("\"words\"", "words"),
    ("\"\"", "\"\""),
    ("{ nonsense = 1 }", "nonsense"),
];

/// Values that no key of a kind takes, each with what a message shows of it.
fn wrong(kind: Kind) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (quantity, own): (Wrong, Wrong) = match kind {
        Time => (QUANTITY, TIME),
        Rate => (QUANTITY, RATE),
        Size => (QUANTITY, SIZE),
        Length => (QUANTITY, LENGTH),
        Whole => (&[], WHOLE),
        Number => (&[], NUMBER),
        Flag => (&[], FLAG),
        Node => (&[], NODE),
        Nodes => (&[], NODES),
        Choice => (&[], CHOICE),
        Mechanism => (&[], MECHANISM),
        Table => (&[], TABLE),
    };
    quantity.iter().chain(own).chain(NEVER).copied()
}

/// The scenario with `value` in the place of `key` of `section`; nothing if it is `None`. Gives the
/// line of the key as well.
fn text(section: &str, key: &str, value: Option<&str>) -> (String, u32) {
    let (mut text, mut line) = (String::new(), 0);
    for (name, keys) in RIGHT {
        if !name.is_empty() {
            text.push_str(&format!("[{name}]\n"));
        }
        for (each, right, _) in *keys {
            let mut shown = Some(*right);
            if (*name, *each) == (section, key) {
                line = text.lines().count() as u32 + 1;
                shown = value;
            }
            if let Some(shown) = shown {
                text.push_str(&format!("{each} = {shown}\n"));
            }
        }
    }
    (text, line)
}

fn path(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

fn refusal(text: &str) -> Result<ScenarioError, String> {
    match Scenario::parse(text, "wrong.toml", &[]) {
        Ok(_) => Err("was accepted".to_owned()),
        Err(error) => Ok(error),
    }
}

/// Describes the fault in how `value` is refused at `key`, if there is one.
fn fault(section: &str, key: &str, value: &str, says: &str) -> Option<String> {
    let (text, line) = text(section, key, Some(value));
    let path = path(section, key);
    let error = match refusal(&text) {
        Ok(error) => error,
        Err(fault) => return Some(format!("{path} = {value}: {fault}")),
    };
    let problem = &error.problem;
    // What is no value at all has no path yet, and what is wrong within a value a longer one.
    let at = problem.path.is_empty() || problem.path.starts_with(&path);
    let shown = error.to_string();
    let fine = at
        && problem.line == Some(line)
        && shown.starts_with("wrong.toml: line")
        && problem.message.contains(says)
        && !shown.contains('\n');
    (!fine).then(|| format!("{path} = {value}: line {line}, expected \"{says}\":\n    {shown}"))
}

/// Every key of every kind refuses each value that it cannot mean, with a message that says where
/// it is.
#[test]
fn no_key_takes_what_it_cannot_mean() {
    let (right, _) = text("", "", None);
    Scenario::parse(&right, "right.toml", &[]).unwrap();
    let mut cases = 0;
    let mut faults = Vec::new();
    for (section, keys) in RIGHT {
        for (key, _, kind) in *keys {
            for (value, says) in wrong(*kind) {
                cases += 1;
                faults.extend(fault(section, key, value, says));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {cases}:\n{}", faults.len(), faults.join("\n"));
    assert!(cases >= 800, "{cases} cases");
}

/// A key or section that is written twice, and an unknown key in any section, are refused.
#[test]
fn no_section_takes_a_key_twice_or_one_that_it_does_not_know() {
    let mut faults = Vec::new();
    for (section, keys) in RIGHT {
        let (key, right, _) = keys[0];
        let twice = format!("{right}\n{key} = {right}");
        let (text_twice, line) = text(section, key, Some(&twice));
        let unknown = format!("{right}\nnonsense = 1");
        let (text_unknown, _) = text(section, key, Some(&unknown));
        // Two names are a wrong choice as a whole.
        let unknown_at = if section.ends_with("conditioner") { line - 1 } else { line + 1 };
        let header = format!("[{section}]\n");
        let mut cases =
            vec![(text_twice, line + 1, "duplicate key"), (text_unknown, unknown_at, "nonsense")];
        if !section.is_empty() {
            let (right, _) = text("", "", None);
            let end = right.lines().count() as u32 + 1;
            cases.push((format!("{right}{header}"), end, "duplicate key"));
        }
        for (text, line, says) in cases {
            match refusal(&text) {
                Ok(error)
                    if error.problem.line == Some(line) && error.to_string().contains(says) => {}
                other => faults.push(format!("[{section}] line {line}, {says}: {other:?}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A scenario without what it needs is refused: the program chooses no value for it.
#[test]
fn what_is_needed_is_asked_for() {
    let needed = [
        ("", "duration"),
        ("links.access", "from"),
        ("links.access", "to"),
        ("links.access", "rate"),
        ("links.core", "from"),
        ("links.core", "to"),
        ("links.core", "rate"),
        ("flows.t", "from"),
        ("flows.t", "to"),
        ("flows.u", "from"),
        ("flows.u", "to"),
        ("flows.u.traffic.cbr", "rate"),
        ("flows.u.traffic.cbr", "size"),
    ];
    for (section, key) in needed {
        let (text, _) = text(section, key, None);
        let error = refusal(&text).unwrap_or_else(|fault| panic!("{section}.{key}: {fault}"));
        assert_eq!(error.problem.path, path(section, key), "{error}");
        assert!(error.problem.message.contains("is missing"), "{error}");
        assert!(error.problem.line.is_some(), "{error}");
    }
}

/// Scenarios that can be run and are hardly meant are run with a warning.
#[test]
fn what_is_hardly_meant_is_warned_of() {
    for (section, key, value, says) in [
        ("links.access", "delay", "\"2 h\"", "is it a propagation delay?"),
        ("links.core", "reverse", "{ delay = \"720 h\" }", "longer than"),
        ("links.core.queue.red", "max_probability", "0.0", "lets every packet pass"),
        ("flows.t.tcp", "header", "\"20 B\"", "headers of TCP and IP"),
    ] {
        let (text, line) = text(section, key, Some(value));
        let scenario = Scenario::parse(&text, "odd.toml", &[]).unwrap();
        let [warning] = scenario.warnings() else { panic!("{key}: {:?}", scenario.warnings()) };
        assert!(warning.problem.path.starts_with(&path(section, key)), "{warning}");
        assert_eq!(warning.problem.line, Some(line), "{warning}");
        assert!(warning.problem.message.contains(says), "{warning}");
    }
    let (right, _) = text("", "", None);
    assert!(Scenario::parse(&right, "right.toml", &[]).unwrap().warnings().is_empty());
    // More than the clock can tell, and datagrams of less than their headers, are refused.
    for (section, key, value, says) in [
        ("links.access", "delay", "\"2401 h\"", "too long"),
        ("links.core", "reverse", "{ delay = \"4800 h\" }", "too long"),
        ("flows.u", "udp", "{ header = \"501 B\" }", "more than the datagrams"),
    ] {
        let (text, line) = text(section, key, Some(value));
        let error = refusal(&text).unwrap_or_else(|fault| panic!("{key}: {fault}"));
        assert_eq!(error.problem.line, Some(line), "{error}");
        assert!(error.problem.message.contains(says), "{error}");
    }
}
