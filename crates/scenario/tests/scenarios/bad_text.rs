//! Texts that are no scenarios at all, and wrong `--set` assignments.

#![expect(clippy::disallowed_types, reason = "measures how long a refusal takes")]

use std::time::{Duration, Instant};

use forebay_scenario::{Scenario, ScenarioError};

fn refuse(text: &str, assignments: &[&str]) -> ScenarioError {
    let assignments: Vec<String> = assignments.iter().map(|&a| a.to_owned()).collect();
    match Scenario::parse(text, "wrong.toml", &assignments) {
        Ok(_) => panic!("was accepted: {}", text.chars().take(80).collect::<String>()),
        Err(error) => error,
    }
}

/// A file that is not a scenario is refused with a reason and, where there is one, a line.
#[test]
fn texts_that_are_no_scenarios() {
    for (text, line, words) in [
        ("", None, "the file is empty; a scenario needs"),
        ("  \n\t\n", None, "the file is empty"),
        ("# only a comment\n", Some(1), "is missing"),
        ("duration = \"10 s\"\n", Some(1), "at least one of links"),
        ("duration = \"10 s\"\n[links]\n", Some(2), "at least one of links"),
        ("duration = \"10 s\"\nlinks = 5\n", Some(2), "expected a table, found 5"),
        ("duration = \"10 s\"\n[links]\nl = [1]\n", Some(3), "expected a table, found a list"),
        ("duration = \"10 s\"\nduration = \"9 s\"\n", Some(2), "duplicate key"),
        ("{\"duration\": \"10 s\"}", Some(1), "not valid TOML"),
        ("duration: 10 s\n", Some(1), "not valid TOML"),
        ("duration = \"10 s\nx = 1", Some(1), "not valid TOML"),
        ("duration = 10 s\n", Some(1), "not valid TOML"),
        ("\n\n[links.a\nfrom = \"x\"\n", Some(3), "not valid TOML"),
        ("duration = 1979-05-27\n", Some(1), "duration: read the date or time 1979-05-27"),
        ("[links.l]\nrate = 07:32:00\n", Some(2), "links.l.rate: read the date or time 07:32:00"),
        ("a = { b = [1, 1979-05-27] }\n", Some(1), "a.b[1]: read the date or time 1979-05-27"),
        ("[x]\ny = 99999999999999999999\n", Some(2), "x.y: the whole number does not fit"),
        ("<html><body>404</body></html>", Some(1), "not valid TOML"),
        ("\u{0}\u{1}\u{2}", Some(1), "not valid TOML"),
        ("PK\u{3}\u{4}\u{14}", Some(1), "not valid TOML"),
    ] {
        let error = refuse(text, &[]);
        assert_eq!(error.problem.line, line, "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?}: {error}");
        assert!(error.to_string().starts_with("wrong.toml: "), "{error}");
    }
}

const SMALL: &str = "duration = \"1 s\"\nseed = 2\n\
    [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\nqueue = \"droptail\"\n\
    [flows.x]\nfrom = \"a\"\nto = \"b\"\ntcp = {}\n";

/// A slip in `--set` is refused at the key assigned, and blames no line of the file.
#[test]
fn wrong_assignments() {
    let deep = ["a"; 100_000].join(".") + "=1";
    for (assignment, path, words) in [
        ("nonsense", "", vec!["PATH=VALUE", "\"nonsense\""]),
        ("=5", "", vec!["\"\" is not a key path"]),
        ("links..rate=5", "", vec!["\"links..rate\" is not a key path"]),
        (".links=5", "", vec!["is not a key path"]),
        ("duration.x.y=5", "duration", vec!["a table is not a duration"]),
        ("seed.x.y=5", "seed.x", vec!["no table at this place"]),
        ("links.l.rate=10", "links.l.rate", vec!["10 has no unit", "from --set"]),
        ("links.l.rate=5 kB", "links.l.rate", vec!["\"kB\"", "Mbit/s", "from --set"]),
        ("links.l.rate=0 bit/s", "links.l.rate", vec!["is zero"]),
        ("links.l.rat=5 Mbit/s", "links.l.rat", vec!["did you mean \"rate\""]),
        ("links.m.rate=5 Mbit/s", "links.m.from", vec!["is missing"]),
        ("links.l.queue.red.weight=2", "links.l.queue.red.weight", vec!["2 is out of range"]),
        ("links.l.queue=redd", "links.l.queue", vec!["did you mean \"red\""]),
        ("links.l.queue.0=red", "links.l.queue", vec!["unknown \"0\""]),
        ("flows.x.tcp.mss=0 B", "flows.x.tcp.mss", vec!["0 B"]),
        ("flows.x.count=nan", "flows.x.count", vec!["NaN is not a whole number"]),
        ("flows.x.tcp=no", "flows.x.tcp", vec!["expected a table, found \"no\""]),
        ("duration=", "duration", vec!["\"\" is not a duration"]),
        ("duration=1 s\nseed = 2", "duration", vec!["is not a unit"]),
        (&deep, "", vec!["has 100000 keys", "allowed are up to"]),
    ] {
        let error = refuse(SMALL, &[assignment]);
        assert_eq!(error.problem.path, path, "{error}");
        for word in words {
            assert!(error.problem.message.contains(word), "{word}: {error}");
        }
        if path == assignment.split('=').next().unwrap() {
            assert_eq!(error.problem.line, None, "no line of the file is to blame: {error}");
        }
    }
}

fn timed(what: &str, text: &str, words: &str) {
    let begun = Instant::now();
    let error = refuse(text, &[]).to_string();
    let took = begun.elapsed();
    assert!(error.contains(words), "{what}: {error}");
    assert!(error.len() < 4000, "{what}: a message of {} B", error.len());
    assert!(took < Duration::from_secs(10), "{what}: {took:?}");
}

/// A file nested a hundred thousand deep is refused, whatever is nested, and does not overflow the
/// stack.
#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    let keys = vec!["a"; n].join(".");
    let nested = "recur";
    timed("lists", &format!("a = {}{}", "[".repeat(n), "]".repeat(n)), nested);
    timed("open lists", &format!("a = {}", "[".repeat(n)), nested);
    timed("inline tables", &format!("a = {}1{}", "{a=".repeat(n), "}".repeat(n)), nested);
    timed("dotted keys", &format!("{keys} = 1\n"), "nested too deeply");
    timed("headers", &format!("[{keys}]\nb = 1\n"), "nested too deeply");
    timed("lists of tables", &format!("[[{keys}]]\nb = 1\n"), "nested too deeply");
}

/// A key that is too deep has a line, so that it need not be searched for by hand in a long file: a
/// header, a dotted key, or a list of tables is named with its line, and neither what stands in a
/// text nor a cut text of several lines is taken for it.
#[test]
fn keys_that_are_too_deep_have_a_line() {
    let keys = ["a"; 200].join(".");
    let before = format!("duration = \"1 s\"\nname = \"\"\"\n[{keys}]\n\"\"\"\n# [{keys}]\n");
    for line in [format!("[{keys}]"), format!("[[{keys}]]"), format!("{keys} = 1")] {
        for after in ["", "\n", "\n[links.a]\nx = \"\"\"\n\n\"\"\"\n"] {
            let error = refuse(&format!("{before}{line}{after}"), &[]);
            assert_eq!(error.problem.line, Some(6), "{line:.9}: {error}");
            assert!(error.problem.message.contains("nested too deeply"), "{error}");
        }
    }
}

/// Ten megabytes of garbage are refused within seconds, and do not come back as the message.
#[test]
fn huge_texts_are_refused_quickly() {
    let size = 10_000_000;
    timed("letters", &"x".repeat(size), "not valid TOML");
    timed("quotes", &"\"".repeat(size), "not valid TOML");
    timed("equals", &"=".repeat(size), "not valid TOML");
    timed("lines", &"@@@@\n".repeat(size / 5), "not valid TOML");
    timed("control characters", &"\u{1}q{[ \"x\n".repeat(size / 8), "not valid TOML");
    timed("one value", &format!("name = \"{}", "x".repeat(size)), "not valid TOML");
    timed("one key", &format!("{} = 1\n", "x".repeat(size)), "unknown key");
    timed("one word", &format!("duration = \"{}\"\n", "x".repeat(size)), "is not a duration");
    let list = format!("duration = [{}]\n", "1,".repeat(size / 8));
    timed("a list", &list, "a list is not a duration");
    let keys: String = (0..size / 20).map(|n| format!("key{n} = {n}\n")).collect();
    timed("keys", &keys, "unknown key");
}
