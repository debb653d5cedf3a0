//! Hops without events and hosts that are run late, against the same networks with an event for
//! everything: an observer is told of all in its time, so with one nobody is told early or run
//! late.

use forebay_kernel::{Stream, Streams};
use forebay_scenario::{RunResult, Scenario};

use crate::support::run_with;

/// One of several.
fn one_of<'t>(draw: &mut Stream, choices: &[&'t str]) -> &'t str {
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
        "{ priority = { classes = [\"droptail\", \"droptail\"] } }",
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
        let delay = one_of(draw, &["0 s", "100 us", "1 ms", "1 ms", "4 ms"]);
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
            "tcp = { delayed_ack = false }",
            "tcp = { recovery = \"newreno\", rto_min = \"200 ms\" }",
            "tcp = { ecn = true, timestamps = true }\ntraffic = { file = { size = \"20 kB\", \
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
/// traversals.
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

/// Otherwise a packet told of early or a host run late would meet another world than in its time:
/// in two hundred random networks digest, events, traversals, and every counter and mean of every
/// flow and link are those of a run that is observed.
#[test]
fn nobody_can_tell_who_was_told_early_or_run_late() {
    let network = |number| random_network(&mut Streams::new(17, number).named("network"));
    let hops: u64 = (0..200).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} traversals in all");
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

/// Otherwise packets of one instant would come in another order where they are told of early: the
/// same in networks in which that is the rule.
#[test]
fn what_comes_at_one_instant_keeps_its_order() {
    let network = |number| network_in_step(&mut Streams::new(18, number).named("network"));
    let hops: u64 = (0..300).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} traversals in all");
}

/// A random chain of routers with users at each end, and paced sources between them: policed or
/// not, told of congestion or not, beside a few datagrams. Most times are whole tenths of
/// milliseconds, so that cells of several sources, releases of policers and ends of transmissions
/// fall into one instant.
pub fn network_of_cells(draw: &mut Stream) -> String {
    let sharing = "partial_buffer_sharing = { limit = \"12 packets\", threshold = \"5 packets\" }";
    let two = format!(
        "{{ priority = {{ map = [0, 1, 0, 1], classes = [{{ droptail = {{ limit = \"9 packets\" }} \
         }}, {{ {sharing} }}] }} }}"
    );
    let mixed = format!("{{ priority = {{ classes = [{{ {sharing} }}, \"codel\"] }} }}");
    let one = format!("{{ {sharing} }}");
    let queues = [&two, &two, &mixed, &one, "{ droptail = { limit = \"20 packets\" } }"];
    let detectors = [
        "",
        "detector = { discard = { hold_off = \"2 ms\" } }",
        "detector = { input_rate = { interval = \"5 ms\", hold_off = \"2 ms\" } }",
        "detector = { input_rate = { interval = \"5 ms\", hold_off = \"0 s\", threshold = 0.5 } }",
    ];
    let mut links = String::new();
    let routers = 2 + draw.below(2);
    let users: Vec<String> = (0..2 + draw.below(2)).map(|number| format!("u{number}")).collect();
    let mut link = |draw: &mut Stream, from: &str, to: &str, rates: &[&str]| {
        // Numbers of elements follow the order of links.
        let name = format!("{}-{from}-{to}", draw.below(1000));
        let (rate, queue) = (one_of(draw, rates), one_of(draw, &queues));
        let delay = one_of(draw, &["0 s", "1 ms", "2 ms", "2 ms", "5 ms"]);
        let detector = one_of(draw, &detectors);
        links += &format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
             delay = \"{delay}\"\nqueue = {queue}\n{detector}\n"
        );
    };
    let fast = ["4 Mbit/s", "8 Mbit/s"];
    users.iter().for_each(|user| link(draw, user, "r0", &fast));
    (1..routers)
        .for_each(|to| link(draw, &format!("r{}", to - 1), &format!("r{to}"), &["2 Mbit/s"]));
    link(draw, &format!("r{}", routers - 1), "peer", &fast);
    let mut flows = String::new();
    for number in 0..2 + draw.below(4) {
        let user = &users[draw.below(users.len() as u64) as usize];
        let (from, to) =
            if draw.below(5) == 0 { ("peer", user.as_str()) } else { (user.as_str(), "peer") };
        let (count, precedence) = (1 + draw.below(5), draw.below(2));
        let activity = one_of(
            draw,
            &[
                "{ sessions = { rate = \"400 kbit/s\", high_time = \"50 ms\", low_time = \"50 ms\" } }",
                "{ sessions = { rate = \"800 kbit/s\", low_rate = \"200 kbit/s\", high_time = \"20 ms\", \
             low_time = \"20 ms\", active = \"100 ms\", idle = \"50 ms\" } }",
                "{ files = { rate = \"800 kbit/s\", size = \"10 kB\", gap = \"100 ms\", start = 1.0 } }",
                "{ files = { rate = \"1 Mbit/s\", size = \"2 kB\", gap = \"30 ms\" } }",
            ],
        );
        let pace = one_of(
            draw,
            &[
                "{ uncontrolled = { rtt = \"20 ms\" } }",
                "{ uncontrolled = { rtt = \"10 ms\", start = 1.0 } }",
                "{ steps = { rtt = \"20 ms\", floor = 0.0, start = 1.0 } }",
                "{ steps = { rtt = \"10 ms\", ceiling = 1.0 } }",
            ],
        );
        let policing = one_of(
            draw,
            &[
                "",
                "policing = { peak = { rate = \"400 kbit/s\" }, \
             bucket = { rate = \"300 kbit/s\", depth = 3, token = \"50 B\" } }",
                "policing = { peak = { rate = \"500 kbit/s\", queue = \"3 packets\", \
             full = \"mark_head\", forced = \"bucket\" }, bucket = { rate = \"300 kbit/s\", \
             depth = 2, token = \"50 B\", queue = \"2 packets\" } }",
                "policing = { bucket = { rate = \"200 kbit/s\", depth = 1, token = \"50 B\", \
             queue = \"9 packets\", full = \"discard\" } }",
            ],
        );
        let stop = one_of(draw, &["", "", "stop = \"350 ms\""]);
        flows += &format!(
            "[flows.f{number}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\n\
             precedence = {precedence}\nlate_after = \"1 ms\"\n{policing}\n{stop}\n\
             [flows.f{number}.paced]\nsize = \"50 B\"\nheader = \"5 B\"\n\
             activity = {activity}\npace = {pace}\n"
        );
    }
    if draw.below(3) == 0 {
        flows += &format!(
            "[flows.datagrams]\nfrom = \"{}\"\nto = \"peer\"\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"300 kbit/s\", size = \"100 B\" }} }}\n",
            users[0]
        );
    }
    format!("duration = \"600 ms\"\nwarm_up = \"100 ms\"\n[record]\ntrace = 1000\n{links}{flows}")
}

/// Otherwise a cell would be policed, be chosen or bring about a notification in another world than
/// in its time, where sources, policers and the links behind them are run late: the same in
/// networks of cells.
#[test]
fn nobody_can_tell_which_cells_were_handled_late() {
    let network = |number| network_of_cells(&mut Streams::new(19, number).named("network"));
    let hops: u64 = (0..300).map(|number| check(&network(number), number)).sum();
    assert!(hops > 200_000, "only {hops} traversals in all");
}
