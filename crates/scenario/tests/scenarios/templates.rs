//! Scenarios in several files, and parts that are repeated for each of several sites.

use forebay_scenario::{Scenario, registry};

const TOP: &str = "
name = \"two sites\"
duration = \"1 s\"
include = [\"parts/core.toml\"]

[sites]
each = [{ site = \"north\", rate = \"1 Mbit/s\", calls = 2 },
  { site = \"south\", rate = \"2 Mbit/s\", calls = 3 }]

[sites.links.\"{site}-access\"]
from = \"{site}\"
to = \"hub\"
rate = \"{rate}\"

[sites.flows.\"voice-{site}\"]
from = \"{site}\"
to = \"center\"
count = \"{calls}\"
route = [\"{site}\", \"hub\", \"center\"]
udp = {}
traffic = { cbr = { rate = \"80 kbit/s\", size = \"200 B\" } }
";

const CORE: &str = "
include = [\"../delays.toml\"]
[links.core]
from = \"hub\"
to = \"center\"
rate = \"10 Mbit/s\"
trace = \"core.trace\"
";

const DELAYS: &str = "[links.core]\ndelay = \"5 ms\"\n";

/// The same, written out.
const WHOLE: &str = "
name = \"two sites\"
duration = \"1 s\"
[links.core]
from = \"hub\"
to = \"center\"
delay = \"5 ms\"
rate = \"10 Mbit/s\"
trace = { text = \"1\\n2\\n\" }
[links.north-access]
from = \"north\"
to = \"hub\"
rate = \"1 Mbit/s\"
[links.south-access]
from = \"south\"
to = \"hub\"
rate = \"2 Mbit/s\"
[flows.voice-north]
from = \"north\"
to = \"center\"
count = 2
route = [\"north\", \"hub\", \"center\"]
udp = {}
traffic = { cbr = { rate = \"80 kbit/s\", size = \"200 B\" } }
[flows.voice-south]
from = \"south\"
to = \"center\"
count = 3
route = [\"south\", \"hub\", \"center\"]
udp = {}
traffic = { cbr = { rate = \"80 kbit/s\", size = \"200 B\" } }
";

const FILES: [(&str, &str); 3] =
    [("parts/core.toml", CORE), ("delays.toml", DELAYS), ("parts/core.trace", "1\n2\n")];

/// The scenario of `text` in a folder with `files`.
fn read(text: &str, files: &[(&str, &str)], set: &[&str]) -> Result<Scenario, String> {
    let find = |name: &str| {
        let found = files.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| (*text).to_owned().into()).ok_or_else(|| "is not there".to_owned())
    };
    let set: Vec<String> = set.iter().map(|one| (*one).to_owned()).collect();
    Scenario::parse_beside(&registry(), text, "folder/top.toml", &set, &find)
        .map_err(|error| error.to_string())
}

/// The message about `TOP` with `was` replaced.
fn wrong(was: &str, becomes: &str) -> String {
    assert!(TOP.contains(was), "{was}");
    read(&TOP.replacen(was, becomes, 1), &FILES, &[]).err().expect("it is wrong")
}

/// A network in several files and with sites is the one written out in one file, with its hash and
/// description.
#[test]
fn files_and_sites_give_what_is_written_out() {
    let short = read(TOP, &FILES, &[]).unwrap();
    let whole = Scenario::parse(WHOLE, "whole.toml", &[]).unwrap();
    assert_eq!(short.hash(), whole.hash());
    assert_eq!(short.describe(), whole.describe());
}

/// The text in one piece is a scenario with all parts of its files and sites.
#[test]
fn a_scenario_can_be_had_in_one_piece() {
    let files = |name: &str| {
        let found = FILES.iter().find(|(known, _)| *known == name);
        Ok(found.expect("it is there").1.to_owned().into())
    };
    let text = forebay_scenario::expand(TOP, "folder/top.toml", &files).unwrap();
    let made: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(made["flows"]["voice-south"]["count"], 3);
    assert_eq!(made["links"]["core"]["trace"], "parts/core.trace");
    assert!(made.get("sites").is_none() && made.get("include").is_none());
}

/// `--set` reaches both the sites and what they get.
#[test]
fn assignments_reach_sites_and_what_they_get() {
    let one = read(TOP, &FILES, &["links.north-access.rate=3 Mbit/s"]).unwrap();
    let other = read(TOP, &FILES, &["sites.each.0.rate=3 Mbit/s"]).unwrap();
    assert_eq!(one.hash(), other.hash());
    let text = read(TOP, &FILES, &["sites.links.{site}-access.rat=1"]).err().unwrap();
    assert!(text.contains("links.north-access.rat: unknown key"), "{text}");
}

/// A scenario can have several lists of sites, each with its own parts.
#[test]
fn there_can_be_several_lists_of_sites() {
    let text = TOP.replace("[sites.", "[[sites]].").replace("[[sites]].", "[sites.");
    let list = text.replacen("[sites]", "[[sites]]", 1)
        + "
[[sites]]
each = [\"shop\"]
[sites.links.\"{site}\"]
from = \"{site}\"
to = \"hub\"
rate = \"1 Mbit/s\"
";
    let more = read(&list, &FILES, &[]).unwrap();
    assert!(more.describe().contains("links.shop.rate"), "{}", more.describe());
    assert!(!more.describe().contains("shop-access"));
}

/// Slips in a list of sites, and in what they get, are refused at their place.
#[test]
fn slips_in_sites_are_refused() {
    for (was, becomes, parts) in [
        ("each = [", "ech = [", &["line 6: sites: has no list of sites", "each = ["][..]),
        ("to = \"hub\"", "to = \"{hup}\"", &["sites.links.{site}-access.to", "has no \"hup\""]),
        ("{calls}", "{call}", &["line 18: sites.flows", "did you mean \"calls\"?"]),
        ("count = \"{calls}\"\n", "", &["sites have \"calls\", and nothing has {calls} in it"]),
        ("{site}-access", "access", &["links.access.from: is also at line 11", "{site} in it"]),
        ("{ site = \"south\", ", "{ ", &["sites.each[1]: has calls, rate, the first site calls,"]),
        ("[sites.flows.", "[sites.flow.", &["unknown key \"flow\" (did you mean \"flows\"?)"]),
        ("\"2 Mbit/s\"", "\"2 Mbit\"", &["line 13: links.south-access.rate: "]),
        ("calls = 3", "calls = []", &["flows.voice-south.count", "a list"]),
    ] {
        // Without the core, whose file would be named in front of lines.
        let short = TOP
            .replace("include = [\"parts/core.toml\"]", "")
            .replace("to = \"center\"", "to = \"hub\"")
            .replace(", \"center\"]", "]");
        read(&short, &[], &[]).unwrap();
        let text = read(&short.replacen(was, becomes, 1), &[], &[]);
        let text = text.err().expect("it is wrong");
        assert!(parts.iter().all(|part| text.contains(part)), "{was} -> {becomes}: {text}");
    }
    for (each, part) in [
        ("[]", "line 1: sites.each: the list is empty; sites are names"),
        ("7", "line 1: sites.each: 7 is not a list; sites are names"),
        ("[\"a\", 7]", "line 1: sites.each[1]: 7 is not a site; sites are names"),
    ] {
        let text = read(&format!("sites.each = {each}"), &[], &[]).err().unwrap();
        assert!(text.contains(part), "{text}");
    }
    let many = "1,".repeat(2000);
    let text = wrong("to = \"hub\"", &format!("route = [{many}]\nto = \"hub\""));
    assert!(text.contains("route"), "{text}");
    let each = "\"a\",".repeat(60_000);
    let text = format!("[sites]\neach = [{each}]\n[sites.links.\"{{site}}\"]\nx = [{many}]");
    let text = read(&text, &[], &[]).err().unwrap();
    assert!(text.contains("values; allowed are up to"), "{text}");
}

/// A slip in a file that is included is reported with that file and its line.
#[test]
fn slips_in_included_files_are_placed_there() {
    let with = |name: &str, text: &str| {
        let files: Vec<_> =
            FILES.iter().map(|(own, was)| (*own, if *own == name { text } else { was })).collect();
        read(TOP, &files, &[]).err().expect("it is wrong")
    };
    let core = CORE.replace("10 Mbit/s", "10 Mbit");
    let text = with("parts/core.toml", &core);
    assert!(text.starts_with("folder/parts/core.toml: line 6: links.core.rate: "), "{text}");
    let text = with("delays.toml", "[links.core]\n\ndelai = \"5 ms\"\n");
    assert!(text.starts_with("folder/delays.toml: line 3: links.core.delai: unknown"), "{text}");
    let text = with("delays.toml", "[links.core]\nrate = \"1 Mbit/s\"\n");
    let both = "folder/delays.toml: line 2: links.core.rate: is also at folder/parts/core.toml, \
                line 6;";
    assert!(text.starts_with(both), "{text}");
    let text = with("delays.toml", "[links\n");
    assert!(text.starts_with("folder/delays.toml: line 1: not valid TOML"), "{text}");
    let text = with("delays.toml", "include = [\"top.toml\"]");
    assert!(text.contains("top.toml -> parts/core.toml -> delays.toml -> top.toml"), "{text}");
    let text = with("delays.toml", "include = [\"./parts/core.toml\"]");
    assert!(text.contains("goes round in a circle"), "{text}");
    let text = with("delays.toml", "include = [\"no.toml\"]");
    assert!(text.contains("delays.toml: line 1: include: \"no.toml\" is not there"), "{text}");
    for (was, becomes, part) in [
        ("[\"parts/core.toml\"]", "\"parts/core.toml\"", "is not a list of files"),
        ("[\"parts/core.toml\"]", "[7]", "7 is not a list of files"),
        ("[\"parts", "[\"delays.toml\", \"parts", "is included twice"),
    ] {
        let text = wrong(was, becomes);
        assert!(text.contains(part), "{text}");
    }
    let text = Scenario::parse(TOP, "top.toml", &[]).err().unwrap().to_string();
    assert!(text.contains("this scenario has no folder"), "{text}");
}

/// Chains and numbers of included files are bounded: neither an endless chain nor a long list is
/// followed.
#[test]
fn chains_and_numbers_of_files_are_bounded() {
    let next = |name: &str| {
        let number: u32 = name.trim_end_matches(".toml").parse().unwrap();
        Ok(format!("include = [\"{}.toml\"]", number + 1).into())
    };
    let text = "include = [\"1.toml\"]";
    let error = Scenario::parse_beside(&registry(), text, "top.toml", &[], &next).err().unwrap();
    assert!(error.to_string().contains("allowed are 8 files in a chain"), "{error}");
    let names: Vec<String> = (0..60).map(|number| format!("\"{number}.toml\"")).collect();
    let text = format!("include = [{}]", names.join(", "));
    let empty = |_: &str| Ok("# nothing".to_owned().into());
    let error = Scenario::parse_beside(&registry(), &text, "top.toml", &[], &empty).err().unwrap();
    assert!(error.to_string().contains("allowed are 60"), "{error}");
}
