//! Hosts: between what CAKE shares, by what classifiers and policers go, and what results have by
//! host.

use std::fmt::Write;

use forebay_scenario::{HostResult, RunResult, Scenario};
use serde_json::Value as Json;

use crate::support::{read, run};

/// Uploads whose windows follow the network. At a round-trip time of 2.4 ms a flow of 25 Mbit/s
/// keeps a queue of 5 ms, the target, of which CUBIC's decrease to 0.7 of 7.4 ms leaves 2.8 ms: the
/// queue never runs empty, so that its host takes all that it may have.
const TCP: &str = "tcp = {}";

/// Datagrams, more from each flow than any host may send: what a host gets is a matter of the queue
/// alone.
const DATAGRAMS: &str = "udp = {}\ntraffic = { cbr = { rate = \"26 Mbit/s\", size = \"1000 B\" } }";

/// Homes by name, each with a node and a server of its own, and so many flows to it, through one
/// link of 50 Mbit/s with `queue`; `flows` are those of each group.
fn homes(queue: &str, homes: &[(&str, usize)], flows: &str) -> String {
    let mut text = format!(
        "duration = \"8 s\"\nwarm_up = \"3 s\"\n\
         [links.access]\nfrom = \"gw\"\nto = \"isp\"\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n\
         queue = {queue}\n"
    );
    for (home, count) in homes {
        write!(
            text,
            "[links.{home}]\nfrom = \"{home}\"\nto = \"gw\"\nrate = \"1 Gbit/s\"\n\
             delay = \"100 us\"\n\
             [links.s{home}]\nfrom = \"isp\"\nto = \"s{home}\"\nrate = \"1 Gbit/s\"\n\
             delay = \"100 us\"\n\
             [flows.{home}]\nfrom = \"{home}\"\nto = \"s{home}\"\ncount = {count}\n{flows}\n"
        )
        .unwrap();
    }
    text
}

/// The host called `name`.
fn host<'r>(result: &'r RunResult, name: &str) -> &'r HostResult {
    let found = result.hosts.iter().find(|host| host.name == name);
    found.unwrap_or_else(|| panic!("no host {name}"))
}

/// Refuse throughputs that are further than 2 % from their mean.
fn assert_equal_shares(what: &str, shares: &[f64]) {
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(shares.iter().all(|share| (share / mean - 1.0).abs() < 0.02), "{what}: {shares:?}");
}

/// CAKE shares between homes where it says so: a home with nine uploads gets as much as one with a
/// single one. By flows it gets nine times as much.
#[test]
fn cake_shares_between_homes() {
    let shares = |queue: &str| {
        let result = run(&homes(queue, &[("a", 1), ("b", 9)], TCP));
        ["a", "b"].map(|home| host(&result, home).throughput_bps)
    };
    for isolation in
        ["triple_isolate", "dual_srchost", "srchost", "dual_dsthost", "dsthost", "hosts"]
    {
        let queue = format!("{{ cake = {{ isolation = \"{isolation}\" }} }}");
        assert_equal_shares(isolation, &shares(&queue));
    }
    assert_equal_shares("as it comes", &shares("\"cake\""));
    let [one, nine] = shares("{ cake = { isolation = \"flows\" } }");
    assert_equal_shares("by flows", &[one, nine / 9.0]);
}

/// The share of a host depends neither on how many flows it has nor on how many hosts there are.
#[test]
fn eight_hosts_with_one_to_eight_flows_get_equal_shares() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let all: Vec<(&str, usize)> = names.into_iter().zip(1..).collect();
    for isolation in ["triple_isolate", "dual_srchost"] {
        let queue = format!("{{ cake = {{ isolation = \"{isolation}\" }} }}");
        let result = run(&homes(&queue, &all, DATAGRAMS));
        let shares = names.map(|name| host(&result, name).throughput_bps);
        assert_equal_shares(isolation, &shares);
    }
}

/// The packets of a host in one tin do not cost it its share of another: hosts have their flows
/// counted in each tin apart, and share it equally.
#[test]
fn hosts_share_each_of_three_tins() {
    let queue = "{ cake = { tins = \"diffserv3\" } }";
    let mut text = homes(queue, &[("a", 1), ("b", 5)], &format!("dscp = \"CS1\"\n{DATAGRAMS}"));
    for (class, dscp) in [("best", "BE"), ("voice", "EF")] {
        for (home, count) in [("a", 4), ("b", 1)] {
            write!(
                text,
                "[flows.{home}{class}]\nfrom = \"{home}\"\nto = \"s{home}\"\ncount = {count}\n\
                 dscp = \"{dscp}\"\n{DATAGRAMS}\n"
            )
            .unwrap();
        }
    }
    let result = run(&text);
    let of = |name: &str| {
        let found = result.groups.iter().find(|group| group.name == name);
        found.unwrap().counted.throughput_bps
    };
    for tin in ["", "best", "voice"] {
        assert_equal_shares(tin, &["a", "b"].map(|home| of(&format!("{home}{tin}"))));
    }
}

/// Machines behind one node are told apart, and have the same hosts for downloads as for uploads:
/// in a home that is one node two machines share its uplink and its downlink.
#[test]
fn machines_behind_one_node_are_hosts() {
    let queue = "{ cake = { isolation = \"dual_dsthost\" } }";
    let text = format!(
        "duration = \"12 s\"\nwarm_up = \"2 s\"\n\
         [links.dsl]\nfrom = \"home\"\nto = \"isp\"\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n\
         queue = \"cake\"\nreverse = {{ queue = {queue} }}\n\
         [flows.up]\nfrom = \"home\"\nhost = \"laptop\"\nto = \"isp\"\nto_host = \"x\"\n\
         tcp = {{}}\n\
         [flows.more]\nfrom = \"home\"\nhost = \"phone\"\nto = \"isp\"\nto_host = \"y\"\n\
         count = 9\ntcp = {{}}\n\
         [flows.down]\nfrom = \"isp\"\nto = \"home\"\nto_host = \"laptop\"\ntcp = {{}}\n\
         [flows.most]\nfrom = \"isp\"\nto = \"home\"\nto_host = \"phone\"\ncount = 9\ntcp = {{}}\n"
    );
    let result = run(&text);
    let names = ["laptop", "phone"];
    assert_equal_shares("up", &names.map(|name| host(&result, name).throughput_bps));
    assert_equal_shares("down", &names.map(|name| host(&result, name).received_throughput_bps));
    let laptop = host(&result, "laptop");
    assert_eq!((laptop.node.as_str(), laptop.flows_from, laptop.flows_to), ("home", 1, 1));
    let names: Vec<&str> = result.hosts.iter().map(|host| host.name.as_str()).collect();
    // In the order of groups by name: down, more, most, up.
    assert_eq!(names, ["isp", "laptop", "phone", "y", "x"]);
}

/// The names of hosts do not change a run, and the node of a group may be named as its host: the
/// homes of the first test with names of their own, and with their flows counted.
#[test]
fn spellings_of_hosts_give_one_run() {
    let plain = homes("\"cake\"", &[("a", 3), ("b", 3)], TCP);
    let digest = |text: &str| run(text).digest;
    let named = plain
        .replace("from = \"a\"\nto = \"sa\"", "from = \"a\"\nhost = \"x\"\nto = \"sa\"")
        .replace("to = \"sb\"\ncount", "to = \"sb\"\nto_host = \"y\"\ncount");
    assert_ne!(named, plain);
    assert_eq!(digest(&named), digest(&plain));
    // Flows 0 to 2 are those of a, 3 to 5 those of b.
    let counted = "{ cake = { flows_per_source = 3, flows_per_destination = 3 } }";
    assert_eq!(digest(&plain.replace("\"cake\"", counted)), digest(&plain));
    let sources = "{ cake = { flows_per_source = 3 } }";
    assert_eq!(digest(&plain.replace("\"cake\"", sources)), digest(&plain));
    let each = "{ cake = { flows_per_source = 1, flows_per_destination = 1 } }";
    assert_ne!(digest(&plain.replace("\"cake\"", each)), digest(&plain));
    let hash = |text: &str| read(text).hash().to_owned();
    let said =
        plain.replace("from = \"a\"\nto = \"sa\"", "from = \"a\"\nhost = \"a\"\nto = \"sa\"");
    assert_eq!(hash(&said), hash(&plain));
    assert_ne!(hash(&named), hash(&plain));
}

/// Every group says its host: it stands among the resolved parameters.
#[test]
fn every_group_says_its_hosts() {
    let plain = homes("\"cake\"", &[("a", 1)], &format!("to_host = \"server\"\n{TCP}"));
    let described: Json = serde_json::from_str(&read(&plain).describe()).unwrap();
    let resolved = |key: &str| described["resolved"][key].as_str().map(str::to_owned);
    assert_eq!(resolved("flows.a.host").as_deref(), Some("a"));
    assert_eq!(resolved("flows.a.to_host").as_deref(), Some("server"));
    assert_eq!(resolved("links.access.queue.cake.flows_per_source").as_deref(), Some("absent"));
}

/// A host is one, and exists: names of other nodes, a host behind two nodes, and names that no row
/// of a result can have are refused; so are hosts that no flow has where laws name them.
#[test]
fn impossible_hosts_are_refused() {
    let plain = homes("\"droptail\"", &[("a", 1), ("b", 1)], TCP);
    let refused = |text: &str| Scenario::parse(text, "t", &[]).err().unwrap().to_string();
    let host = |name: &str| format!("from = \"a\"\nhost = \"{name}\"\nto = \"sa\"");
    let with = |name: &str| plain.replace("from = \"a\"\nto = \"sa\"", &host(name));
    let message = refused(&with("b"));
    assert!(message.contains("flows.a.host") && message.contains("node of its own"), "{message}");
    let message = refused(&with("x/y"));
    assert!(message.contains("flows.a.host") && message.contains("'/'"), "{message}");
    let both =
        with("x").replace("from = \"b\"\nto = \"sb\"", "from = \"b\"\nhost = \"x\"\nto = \"sb\"");
    let message = refused(&both);
    assert!(
        message.contains("flows.b.host") && message.contains("behind \"a\" already"),
        "{message}"
    );
    let only = "{ droptail = {} }\nconditioner = { only = { src = \"aa\", of = { fixed = { \
                precedence = 1 } } } }";
    let message = refused(&plain.replace("\"droptail\"", only));
    assert!(
        message.contains("conditioner.only.src") && message.contains("did you mean"),
        "{message}"
    );
}

/// A policer for each subscriber is one for all flows of a host, so that more flows do not buy
/// more: of two homes with one and nine uploads each gets the 8 Mbit/s that a bucket of its own
/// lets pass.
#[test]
fn policers_can_be_for_each_subscriber() {
    let bucket = "token_bucket = { cir = \"8 Mbit/s\", cbs = \"100 kB\", excess = \"drop\" }";
    let policed = |keys: &str| {
        let queue = format!(
            "{{ droptail = {{}} }}\nconditioner = {{ per_flow = {{ {keys} of = {{ {bucket} }} }} }}"
        );
        let result = run(&homes(&queue, &[("a", 1), ("b", 9)], DATAGRAMS));
        ["a", "b"].map(|home| host(&result, home).throughput_bps)
    };
    for share in policed("keys = \"src\",") {
        assert!((share / 8e6 - 1.0).abs() < 0.02, "{share}");
    }
    let [one, nine] = policed("");
    assert!(nine > 4.0 * one, "{one} {nine}");
}

/// Queues by hash of the host give homes equal shares, however many flows they have: by source host
/// each home has one queue, or class, in `sfq`, in `fq_codel` and in `drr`.
#[test]
fn queues_by_hash_of_host_share_between_homes() {
    let by_rules = "{ drr = { rules = [{ src = \"a\", class = 0 }], quanta = [\"1500 B\", \
                    \"1500 B\"], classes = [{ codel = {} }, { codel = {} }] } }";
    for queue in [
        "{ sfq = { keys = \"src\", salt = 1 } }",
        "{ fq_codel = { keys = \"dst\", salt = 1 } }",
        "{ fq_codel = { keys = \"src,dst\", salt = 1 } }",
        by_rules,
    ] {
        let result = run(&homes(queue, &[("a", 1), ("b", 9)], DATAGRAMS));
        let shares = ["a", "b"].map(|home| host(&result, home).throughput_bps);
        assert_equal_shares(queue, &shares);
    }
    // PIE drops by chance as packets arrive, so that a queue that is offered 26 Mbit/s for 25 runs
    // empty at times; by flows the home with one of ten would get 5 Mbit/s.
    let queue = "{ fq_pie = { keys = \"src\", salt = 1 } }";
    let share = host(&run(&homes(queue, &[("a", 1), ("b", 9)], DATAGRAMS)), "a").throughput_bps;
    assert!((20e6..25e6).contains(&share), "{share}");
}

/// Packets of every kind of source have hosts that count them: whatever sends, on links and rings,
/// hosts together have sent and received what the groups have.
#[test]
fn every_kind_of_source_has_hosts() {
    let ends = "from = \"a\"\nto = \"b\"\n";
    let police = "per_flow = { keys = \"src\", of = { token_bucket = { cir = \"1 Mbit/s\", \
                  cbs = \"9 kB\", excess = \"drop\" } } }";
    let text = format!(
        "duration = \"2 s\"\n[links.l]\n{ends}rate = \"20 Mbit/s\"\ndelay = \"1 ms\"\n\
         conditioner = {{ {police} }}\nqueue = {{ cake = {{ tins = \"besteffort\" }} }}\n\
         [rings.r]\nstations = [\"x\", \"y\", \"z\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         fairness = \"none\"\n\
         [flows.udp]\n{ends}host = \"one\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"2 Mbit/s\", size = \"500 B\" }} }}\n\
         [flows.media]\n{ends}host = \"two\"\nmedia = {{ adaptation = {{ constant = {{}} }}, \
         max_rate = \"500 kbit/s\" }}\n\
         [flows.calls]\n{ends}host = \"three\"\ncalls = {{ initial = 3 }}\n\
         traffic = {{ voice = {{ codec = \"g711_20ms\" }} }}\n\
         [flows.paced]\n{ends}host = \"four\"\npaced = {{ activity = {{ files = {{ rate = \
         \"100 kbit/s\", start = 1.0 }} }}, pace = \"uncontrolled\" }}\n\
         [flows.ring]\nfrom = \"x\"\nto = \"z\"\nto_host = \"five\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"80 kbit/s\", size = \"200 B\" }} }}\n"
    );
    let result = run(&text);
    let named = ["one", "two", "three", "four", "x"];
    for (name, group) in named.into_iter().zip(["udp", "media", "calls", "paced", "ring"]) {
        let found = result.groups.iter().find(|row| row.name == group).unwrap();
        let (host, counted) = (host(&result, name), &found.counted);
        assert!(counted.sent_packets > 0, "{group}");
        assert_eq!(host.sent_packets, counted.sent_packets, "{group}");
        assert_eq!(host.dropped_packets, counted.dropped_packets, "{group}");
    }
    assert!((host(&result, "one").throughput_bps / 1e6 - 1.0).abs() < 0.05);
    let delivered: u64 = result.groups.iter().map(|row| row.counted.delivered_packets).sum();
    assert_eq!(result.hosts.iter().map(|host| host.received_packets).sum::<u64>(), delivered);
    assert_eq!(host(&result, "five").node, "z");
    assert_eq!(host(&result, "b").sent_packets, 0);
}
