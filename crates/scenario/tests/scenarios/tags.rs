//! Tags: what results say of all groups, links or hosts that have one, and what goes by them.

use std::fmt::Write;

use forebay_elements::TransfersOfTag;
use forebay_scenario::{LinkResult, RunResult, Scenario, TagResult, TransferResult};

use crate::support::{flow, read, run};

fn tag<'r>(result: &'r RunResult, name: &str) -> &'r TagResult {
    let found = result.rows::<TagResult>().iter().find(|tag| tag.name == name);
    found.unwrap_or_else(|| panic!("no tag {name}"))
}

/// Two links with constant delays, and a group over each: 90 packets a second over the short one,
/// 10 over the long one.
const NEAR_AND_FAR: &str = r#"
    duration = "100 s"
    [links.near]
    from = "a"
    to = "b"
    rate = "1 Gbit/s"
    delay = "10 ms"
    tags = ["paths"]
    [links.far]
    from = "a"
    to = "c"
    rate = "1 Gbit/s"
    delay = "100 ms"
    tags = ["paths", "slow"]
    reverse = { tags = ["back"] }
    [flows.near]
    from = "a"
    to = "b"
    tags = ["all", "odd"]
    udp = {}
    traffic = { cbr = { rate = "72 kbit/s", size = "100 B" } }
    [flows.far]
    from = "a"
    to = "c"
    tags = ["all"]
    udp = {}
    traffic = { cbr = { rate = "8 kbit/s", size = "100 B" } }
    [hosts.a]
    tags = ["sources"]
"#;

/// A tag has the percentiles of all packets of its groups together: of 90 packets that take 10 ms
/// and 10 that take 100 ms the median takes 10 ms and the 95th percentile 100 ms, which is neither
/// a mean nor the worst of those of the groups. Its counters are sums, its goodputs' fairness that
/// of 9 and 1: (9 + 1)^2 / (2 (81 + 1)).
#[test]
fn a_tag_has_the_percentiles_of_all_its_packets() {
    let result = run(NEAR_AND_FAR);
    let all = tag(&result, "all");
    assert_eq!((all.groups, all.flows), (2, 2));
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    assert!(near(all.counted.p50_delay_s, 0.010), "{}", all.counted.p50_delay_s);
    assert!(near(all.counted.p95_delay_s, 0.100), "{}", all.counted.p95_delay_s);
    assert!(near(all.counted.mean_delay_s, 0.9 * 0.010 + 0.1 * 0.100));
    let sum = ["near", "far"].map(|name| flow(&result, name).counted.delivered_packets);
    assert_eq!(all.counted.delivered_packets, sum.iter().sum::<u64>());
    assert!(near(all.jain_index, 100.0 / 164.0), "{}", all.jain_index);
    let odd = tag(&result, "odd");
    assert_eq!(odd.counted.sent_packets, flow(&result, "near").counted.sent_packets);
    assert!((odd.jain_index - 1.0).abs() < 1e-12);
}

/// Groups, links and hosts say which tags they have, a way back those of the way there unless it
/// has its own: lists over a tag are made of them.
#[test]
fn rows_say_which_tags_they_have() {
    let result = run(NEAR_AND_FAR);
    let links: Vec<(&str, String)> = result
        .links
        .iter()
        .map(|LinkResult { name, tags, .. }| (&**name, tags.join(" ")))
        .collect();
    let expected = [
        ("far", "paths slow"),
        ("far.reverse", "back"),
        ("near", "paths"),
        ("near.reverse", "paths"),
    ];
    assert_eq!(links, expected.map(|(name, tags)| (name, tags.to_owned())));
    let groups: Vec<String> = result.groups.iter().map(|group| group.tags.join(" ")).collect();
    assert_eq!(groups, ["all", "all odd"]);
    let hosts: Vec<(&str, usize)> =
        result.hosts.iter().map(|host| (&*host.name, host.tags.len())).collect();
    assert_eq!(hosts, [("a", 1), ("c", 0), ("b", 0)]);
}

/// Transfers of a tag are those of its groups, percentiles included: of 20 transfers of 10 kB and
/// 20 of 1 MB, each over its own link of 10 Mbit/s, the median is that of the small ones and the
/// 95th percentile that of the large ones.
#[test]
fn transfers_of_a_tag_are_those_of_its_groups() {
    let mut text = "duration = \"60 s\"\n".to_owned();
    for (name, size) in [("small", "10 kB"), ("large", "1 MB")] {
        write!(
            text,
            "[links.{name}]\nfrom = \"a\"\nto = \"{name}\"\nrate = \"10 Mbit/s\"\n\
             delay = \"1 ms\"\n[flows.{name}]\nfrom = \"a\"\nto = \"{name}\"\ncount = 20\n\
             start = {{ uniform = [\"0 s\", \"10 s\"] }}\n\
             tags = [\"files\"]\ntcp = {{}}\ntraffic = {{ file = {{ size = \"{size}\" }} }}\n"
        )
        .unwrap();
    }
    let result = run(&text);
    let own = |name: &str| {
        result.rows::<TransferResult>().iter().find(|row| row.name == name).unwrap().clone()
    };
    let (small, large) = (own("small"), own("large"));
    let [TransfersOfTag(all)] = result.rows::<TransfersOfTag>() else { panic!("one tag") };
    assert_eq!((all.name.as_str(), all.completed), ("files", 40));
    assert_eq!(all.completed_bytes, small.completed_bytes + large.completed_bytes);
    // The smallest of the large ones takes 0.8 s, all of the small ones less than that.
    // Percentiles are within 0.8 %.
    let [median, largest] = [all.p50_completion_s, small.max_completion_s].map(Option::unwrap);
    assert!(median <= largest * 1.008, "{all:?}");
    assert!(all.p50_completion_s < large.p50_completion_s);
    assert_eq!(all.max_completion_s, large.max_completion_s);
    // Rank 38 of 40 is rank 18 of the 20 large ones, which is their 90th percentile.
    assert!(all.p95_completion_s >= large.p50_completion_s, "{all:?}");
    assert!(all.p95_completion_s <= large.p95_completion_s, "{all:?}");
}

/// Three groups of 2 Mbit/s, two of them with the tag `homes`, through a link with `conditioner`.
fn conditioned(conditioner: &str) -> Vec<f64> {
    let mut text = format!(
        "duration = \"20 s\"\n[links.bn]\nfrom = \"a\"\nto = \"b\"\nrate = \"100 Mbit/s\"\n\
         delay = \"1 ms\"\nconditioner = {conditioner}\n[hosts.x]\ntags = [\"paid\"]\n"
    );
    for (name, rest) in [
        ("one", "tags = [\"homes\"]\nto_host = \"x\""),
        ("two", "tags = [\"homes\"]\nto_host = \"y\""),
        ("other", "to_host = \"z\""),
    ] {
        write!(
            text,
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\n{rest}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"2 Mbit/s\", size = \"500 B\" }} }}\n"
        )
        .unwrap();
    }
    let result = run(&text);
    ["one", "two", "other"].map(|name| flow(&result, name).counted.throughput_bps / 1e6).into()
}

/// A policer at the gate: 1 Mbit/s.
const POLICER: &str = r#"{ token_bucket = { cir = "1 Mbit/s", cbs = "5 kB", excess = "drop" } }"#;

/// A policer sees the groups of a tag, the hosts of a tag or those behind a node, where it says so;
/// and each group, or all together, have a bucket of their own. The bucket's 5 kB are 0.2 % of
/// 2.5 MB.
#[test]
fn policers_go_by_tag_node_and_group() {
    let only = |which: &str| conditioned(&format!("{{ only = {{ {which}, of = {POLICER} }} }}"));
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    // Both groups of the tag share 1 Mbit/s.
    let shares = only("flows = \"homes\"");
    assert!(near(shares[0] + shares[1], 1.0) && near(shares[2], 2.0), "{shares:?}");
    let shares = only("flows = [\"two\"]");
    assert!(near(shares[0], 2.0) && near(shares[1], 1.0), "{shares:?}");
    let shares = only("dst = \"paid\"");
    assert!(near(shares[0], 1.0) && near(shares[1], 2.0), "{shares:?}");
    // Behind the node are all of them.
    let shares = only("dst = \"b\"");
    assert!(near(shares.iter().sum::<f64>(), 1.0), "{shares:?}");
    let each = format!("{{ per_flow = {{ keys = \"group\", of = {POLICER} }} }}");
    let shares = conditioned(&each);
    assert!(shares.iter().all(|share| near(*share, 1.0)), "{shares:?}");
}

/// Homes by tag and name, each with a leaf of an HTB of 500 kbit/s without a ceiling above: each
/// gets that, however much it sends, with 200 as with few. One class needs no classification.
#[test]
fn htb_has_a_leaf_for_each_of_200_homes() {
    let homes = 200;
    let mut classes = "[{ name = \"all\", rate = \"200 Mbit/s\" }".to_owned();
    let (mut groups, mut flows) = (String::new(), String::new());
    for home in 0..homes {
        write!(
            classes,
            ", {{ name = \"{home}\", parent = \"all\", rate = \"500 kbit/s\", \
             queue = {{ droptail = {{ limit = \"20 packets\" }} }} }}"
        )
        .unwrap();
        write!(groups, "\"home{home}\", ").unwrap();
        write!(
            flows,
            "[flows.{home}]\nfrom = \"a\"\nto = \"b\"\ntags = [\"home{home}\", \"homes\"]\n\
             udp = {{}}\ntraffic = {{ cbr = {{ rate = \"1 Mbit/s\", size = \"500 B\" }} }}\n"
        )
        .unwrap();
    }
    let result = run(&format!(
        "duration = \"10 s\"\nwarm_up = \"2 s\"\n[links.bn]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
         queue = {{ htb = {{ classes = {classes}], flow_groups = [{groups}] }} }}\n{flows}"
    ));
    assert_eq!(tag(&result, "homes").groups, homes);
    for flow in &result.flows {
        let rate = flow.counted.throughput_bps;
        // 2,000 packets of 500 B in 8 s; one more or less at either end.
        assert!((rate / 500e3 - 1.0).abs() < 2.0 / 2000.0, "{} {rate}", flow.name);
    }
    let one = "queue = { htb = { classes = [{ name = \"all\", rate = \"1 Mbit/s\", \
               queue = \"droptail\" }] } }";
    read(&NEAR_AND_FAR.replace("tags = [\"paths\"]", one));
}

/// Wrong tags are refused where they stand: a name that cannot be one, that stands there twice, or
/// that a group, a host or a node has; a host that no flow knows; an unknown tag where something
/// goes by it.
#[test]
fn wrong_tags_are_refused() {
    let refused = |old: &str, new: &str| {
        let text = NEAR_AND_FAR.replacen(old, new, 1);
        assert_ne!(text, NEAR_AND_FAR, "{old}");
        Scenario::parse(&text, "wrong.toml", &[]).err().map_or(String::new(), |it| it.to_string())
    };
    for (old, new, message) in [
        ("[\"all\"]", "[\"a/b\"]", "flows.far.tags: read '/' in a name"),
        ("[\"all\"]", "\"all\"", "flows.far.tags: \"all\" is not a list"),
        ("[\"all\"]", "[\"x\", \"x\"]", "flows.far.tags: \"x\" is there twice"),
        ("[\"all\"]", "[\"near\"]", "flows.far.tags: \"near\" is a group of flows"),
        ("[\"paths\"]", "[\"\"]", "links.near.tags: read a name of 0 bytes"),
        ("[\"sources\"]", "[\"b\"]", "hosts.a.tags: \"b\" is a host or a node"),
        ("hosts.a", "hosts.near", "hosts.near: no flow begins or ends at a host \"near\""),
        ("tags = [\"sources\"]", "tag = 1", "hosts.a.tag: unknown key \"tag\""),
        (
            "tags = [\"paths\"]",
            "conditioner = { only = { flows = \"al\", of = \"efci\" } }",
            "there is no group of flows, nor tag of one, \"al\" (did you mean \"all\"?)",
        ),
        (
            "tags = [\"paths\"]",
            "conditioner = { only = { flows = [], of = \"efci\" } }",
            "flows: is empty: no packet would match",
        ),
    ] {
        let found = refused(old, new);
        assert!(found.contains(message), "{new}: {found}");
    }
}
