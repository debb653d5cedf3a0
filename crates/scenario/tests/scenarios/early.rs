//! Hops without events and hosts that are run late, against the same networks with an event for
//! everything: an observer sees everything in its time, so with one no packet is sent ahead and no
//! host is run late.

use forebay_kernel::{Stream, Streams};
use forebay_scenario::{RunResult, Scenario};

use crate::cells::network_of_cells;
use crate::support::run_with;

/// One of several.
pub fn one_of<'t>(draw: &mut Stream, choices: &[&'t str]) -> &'t str {
    choices[draw.below(choices.len() as u64) as usize]
}

/// A random tree of routers with a host or two at each, and flows between hosts. Rates and delays
/// are few, so that much happens at the same instants; queues are short and packets of many sizes,
/// so that any of them may be dropped.
fn random_network(draw: &mut Stream) -> String {
    let queues = [
        "{ droptail = {} }",
        "{ droptail = { limit = \"4 packets\" } }",
        "{ droptail = { limit = \"3 kB\" } }",
        "{ red = { min_threshold = \"2 packets\", max_threshold = \"9 packets\", \
         weight = 0.1, limit = \"20 packets\" } }",
        "{ priority = { classes = [\"droptail\", \"droptail\"], classify = \"precedence\" } }",
        "{ codel = {} }",
    ];
    let meters = [
        "",
        "",
        "",
        "conditioner = { token_bucket = { cir = \"3 Mbit/s\", cbs = \"4 kB\" } }",
        "conditioner = { token_bucket = { cir = \"3 Mbit/s\", cbs = \"4 kB\", \
         excess = \"drop\" } }",
    ];
    let (mut links, mut flows) = (String::new(), String::new());
    let mut link = |draw: &mut Stream, from: String, to: String| {
        let rate = one_of(draw, &["8 Mbit/s", "10 Mbit/s", "40 Mbit/s"]);
        let delay = one_of(draw, &["0 s", "100 us", "1 ms", "1 ms", "4 ms", "20 ms"]);
        let (queue, meter) = (one_of(draw, &queues), one_of(draw, &meters));
        links += &format!(
            "[links.{from}-{to}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
             delay = \"{delay}\"\nqueue = {queue}\n{meter}\n"
        );
    };
    let routers = 2 + draw.below(4);
    let mut hosts = Vec::new();
    for router in 0..routers {
        if router > 0 {
            let other = draw.below(router);
            link(draw, format!("r{other}"), format!("r{router}"));
        }
        for host in 0..1 + draw.below(2) {
            let name = format!("h{router}-{host}");
            link(draw, name.clone(), format!("r{router}"));
            hosts.push(name);
        }
    }
    for number in 0..2 + draw.below(6) {
        let from = draw.below(hosts.len() as u64) as usize;
        let to = (from + 1 + draw.below(hosts.len() as u64 - 1) as usize) % hosts.len();
        let kinds = [
            "tcp = { profile = \"rfc\", delayed_ack = false }",
            "tcp = { profile = \"rfc\", recovery = \"newreno\", rto_min = \"200 ms\" }",
            "tcp = { profile = \"rfc\", \
             ecn = true, timestamps = true }\ntraffic = { file = { size = \"20 kB\", \
             count = 9, interval = \"100 ms\" } }",
            "udp = {}\ntraffic = { cbr = { rate = \"1 Mbit/s\", size = \"1000 B\" } }",
            "udp = {}\ntraffic = { poisson = { rate = \"2 Mbit/s\", size = \"400 B\", \
             sizes = \"exponential\" } }\nstop = \"700 ms\"",
        ];
        let (kind, count) = (one_of(draw, &kinds), 1 + draw.below(3));
        flows += &format!(
            "[flows.f{number}]\nfrom = \"{}\"\nto = \"{}\"\ncount = {count}\n{kind}\n",
            hosts[from], hosts[to]
        );
    }
    format!("duration = \"1 s\"\nwarm_up = \"300 ms\"\n[record]\ntrace = 1000\n{links}{flows}")
}

/// Check that a run of the scenario `text` describes and the same one observed are alike; its
/// hops.
fn check(text: &str, number: u64) -> u64 {
    let scenario =
        Scenario::parse(text, "random.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (early, _) = run_with(&scenario, number, false);
    let (watched, _) = run_with(&scenario, number, true);
    let all = |run: &RunResult| serde_json::to_value(run).unwrap();
    let (one, other) = (all(&early), all(&watched));
    for (key, value) in one.as_object().unwrap() {
        assert_eq!(value, &other[key], "network {number}, {key}:\n{text}");
    }
    early.packet_hops
}

/// A packet sent ahead and a host run late find the state of their time: in two hundred random
/// networks digest, events, hops, and every counter and mean of every flow and link are those of a
/// run that is observed.
#[test]
fn nobody_can_tell_who_was_told_early_or_run_late() {
    let network = |number| random_network(&mut Streams::new(17, number).named("network"));
    let hops: u64 = (0..200).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} hops in all");
}

/// A random tree in which everything takes a whole number of milliseconds, so that packets from
/// several links arrive at each instant at a queue that has not room for all.
fn network_in_step(draw: &mut Stream) -> String {
    let (mut links, mut flows) = (String::new(), String::new());
    let mut link = |draw: &mut Stream, from: &str, to: &str| {
        // Numbers of elements follow the order of links, and settle what comes first.
        let name = format!("{}-{from}-{to}", draw.below(1000));
        let delay = draw.below(3);
        links += &format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"8 Mbit/s\"\n\
             delay = \"{delay} ms\"\nqueue = {{ droptail = {{ limit = \"2 packets\" }} }}\n"
        );
    };
    let (routers, leaves) = (2 + draw.below(4), 2 + draw.below(2));
    for router in 0..routers {
        let here = format!("r{router}");
        if router > 0 {
            let other = format!("r{}", draw.below(router));
            let (from, to) = if draw.below(2) == 0 { (&here, &other) } else { (&other, &here) };
            link(draw, from, to);
        }
        for leaf in 0..leaves {
            link(draw, &format!("h{}", router * leaves + leaf), &here);
        }
    }
    let hosts = routers * leaves;
    for number in 0..3 + draw.below(8) {
        let from = draw.below(hosts);
        let to = (from + 1 + draw.below(hosts - 1)) % hosts;
        let (start, rate) = (draw.below(4), one_of(draw, &["2", "4", "8"]));
        flows += &format!(
            "[flows.f{number}]\nfrom = \"h{from}\"\nto = \"h{to}\"\nstart = \"{start} ms\"\n\
             udp = {{}}\ntraffic.cbr = {{ rate = \"{rate} Mbit/s\", size = \"1000 B\", \
             random_phase = false }}\n"
        );
    }
    format!("duration = \"300 ms\"\n[record]\ntrace = 1000\n{links}{flows}")
}

/// Packets of one instant keep their order where they are sent ahead. The comparison is the same,
/// in networks in which that is the rule.
#[test]
fn what_comes_at_one_instant_keeps_its_order() {
    let network = |number| network_in_step(&mut Streams::new(18, number).named("network"));
    let hops: u64 = (0..300).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} hops in all");
}

/// A cell is policed, chosen, or brings about a notification as in its time, where sources,
/// policers and the links behind them are run late. The comparison is the same, in networks of
/// cells.
#[test]
fn nobody_can_tell_which_cells_were_handled_late() {
    let network = |number| network_of_cells(&mut Streams::new(19, number).named("network"));
    let hops: u64 = (0..300).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} hops in all");
}

/// Looking ahead, which a network does with so many flows, changes nothing: 13,000 flows of three
/// kinds over a queue that is too short, so that there are timers enough for the ladder of the
/// event list, and drops and retransmissions.
#[test]
fn looking_ahead_changes_nothing() {
    let link = |from: &str, to: &str, rate: u32, limit: &str| {
        format!(
            "[links.{from}-{to}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"2 ms\"\nqueue = {{ droptail = {{ limit = \"{limit}\" }} }}\n"
        )
    };
    let group = |name: &str, count: u32, rest: &str| {
        format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\n{rest}\n")
    };
    let start = "start = { uniform = [\"0 s\", \"150 ms\"] }";
    let text = [
        "duration = \"300 ms\"\nwarm_up = \"100 ms\"\n[record]\ntrace = 1000\n".to_owned(),
        link("a", "r", 2000, "1 MB"),
        link("r", "s", 600, "500 kB"),
        link("s", "b", 2000, "1 MB"),
        group("file", 3000, &format!("{start}\ntcp = {{}}\ntraffic.file.size = \"6 kB\"")),
        group(
            "burst",
            9000,
            "udp = {}\ntraffic.on_off = { rate = \"100 kbit/s\", size = \"250 B\", \
             on = \"50 ms\", off = \"50 ms\" }",
        ),
        group("voice", 1000, "udp = {}\ntraffic.cbr = { rate = \"80 kbit/s\", size = \"200 B\" }"),
    ];
    let hops = check(&text.concat(), 0);
    assert!(hops > 100_000, "only {hops} hops");
}
