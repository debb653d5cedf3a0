//! Switches whose ports share a memory, in whole networks.

use forebay_scenario::{RunResult, Scenario, SwitchResult};

use crate::bad_input::{Case, case, check_all};
use crate::support::{checked, link, record, run};

/// A port of the switch `s`: its number, the precedence of its packets, its queue, and the time
/// from which twice as much comes as it carries.
type Port = (usize, u32, &'static str, &'static str);

/// A switch `s` whose section says `memory`, with these ports of 4 Mbit/s, to each of which 8
/// Mbit/s lead in packets of 1000 B.
fn scenario(memory: &str, ports: &[Port]) -> String {
    let mut text = format!(
        "duration = \"6 s\"\nwarm_up = \"2 s\"\nrecord.series = \"100 ms\"\n\
         [switches.s]\n{memory}\n"
    );
    for (at, (number, precedence, queue, start)) in ports.iter().enumerate() {
        // Several groups of flows can lead to one port.
        if ports[..at].iter().all(|(other, ..)| other != number) {
            text += &format!(
                "[links.out{number}]\nfrom = \"s\"\nto = \"d{number}\"\nduplex = false\n\
                 rate = \"4 Mbit/s\"\ndelay = \"2 ms\"\nqueue = {queue}\n"
            );
        }
        text += &format!(
            "[links.in{at}]\nfrom = \"a{at}\"\nto = \"s\"\nrate = \"100 Mbit/s\"\n\
             delay = \"{at}1 us\"\nduplex = false\n\
             [flows.f{at}]\nfrom = \"a{at}\"\nto = \"d{number}\"\nstart = \"{start}\"\n\
             precedence = {precedence}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"8 Mbit/s\", size = \"1000 B\" }} }}\n"
        );
    }
    text
}

const TAIL: &str = "\"droptail\"";

/// Ports 0 to n - 1, overloaded from the start.
fn busy(n: usize) -> Vec<Port> {
    (0..n).map(|number| (number, 0, TAIL, "0 s")).collect()
}

fn switch(result: &RunResult) -> &SwitchResult {
    &result.rows::<SwitchResult>()[0]
}

/// Under dynamic thresholds n ports that always have packets hold alpha B / (1 + n alpha) each, and
/// B / (1 + n alpha) stays free (Choudhury and Hahne 1998): of 120 kB with alpha = 1,
/// one port holds 60 kB and each of five 20 kB; with alpha = 2, one 80 kB and each of five 21.8 kB.
/// Packets of a size of p are taken in by what was free before, so that it is at most alpha (B + p)
/// / (1 + n alpha), and a port adds one when it is one short.
#[test]
fn busy_ports_hold_what_the_steady_state_of_dynamic_thresholds_gives_them() {
    for (alpha, n) in [(1.0, 1), (1.0, 5), (2.0, 1), (2.0, 5)] {
        let memory =
            format!("memory = \"120 kB\"\nsharing = {{ dynamic = {{ alpha = {alpha:.1} }} }}");
        let result = checked(&scenario(&memory, &busy(n)));
        let share = 120.0 * alpha / (1.0 + n as f64 * alpha);
        let most = 121.0 * alpha / (1.0 + n as f64 * alpha);
        for number in 0..n {
            let waiting = link(&result, &format!("out{number}")).mean_queue_packets;
            assert!((share - 2.0..=most).contains(&waiting), "{alpha} {n}: {waiting}");
        }
        let row = switch(&result);
        let expected = 1000.0 * share * n as f64;
        assert!((row.mean_used_bytes - expected).abs() < 2000.0 * n as f64, "{row:?}");
        assert!(row.max_used_bytes as f64 <= 1000.0 * most * n as f64, "{row:?}");
        // Half of what comes finds no room: 500 packets a second and port, over 4 s.
        assert!(row.refused_packets.abs_diff(2000 * n as u64) < 20, "{row:?}");
        assert_eq!(row.refused_bytes, 1000 * row.refused_packets);
    }
}

/// A reservation is there when the shared part is full, so that a port is never locked out: of 16
/// kB, 4 kB are reserved for each of two ports. The first takes its own and all that is shared, 12
/// kB; the second, which comes later, still gets its 4 kB.
#[test]
fn a_reservation_is_kept_for_a_port_that_comes_late() {
    let memory = "memory = \"16 kB\"\nreserved = \"4 kB\"\nsharing = \"complete\"";
    let result = checked(&scenario(memory, &[(0, 0, TAIL, "0 s"), (1, 0, TAIL, "1 s")]));
    for (number, most) in [(0, 12), (1, 4)] {
        assert_eq!(link(&result, &format!("out{number}")).max_queue_packets, most);
    }
    assert_eq!(switch(&result).max_used_bytes, 16_000);
}

/// Under complete sharing a port takes all the memory: of 20 kB the one that is overloaded alone
/// has 20 packets waiting.
#[test]
fn one_port_takes_all_of_a_memory_that_is_shared_completely() {
    let result = checked(&scenario("memory = \"20 kB\"\nsharing = \"complete\"", &busy(1)));
    assert_eq!(link(&result, "out0").max_queue_packets, 20);
    assert_eq!(switch(&result).max_used_bytes, 20_000);
}

/// Under static thresholds a port has its limit, whatever others hold: 5 packets alone, and 5 each
/// beside another one.
#[test]
fn static_thresholds_do_not_depend_on_other_ports() {
    let memory = "memory = \"20 kB\"\nsharing = { static = { limit = \"5 kB\" } }";
    for n in [1, 2] {
        let result = checked(&scenario(memory, &busy(n)));
        for number in 0..n {
            assert_eq!(link(&result, &format!("out{number}")).max_queue_packets, 5);
        }
        assert_eq!(switch(&result).max_used_bytes, 5000 * n as u64);
    }
}

/// Queues of one port have factors of their own, by the precedence of packets: with alphas 4 and
/// 0.5, F free bytes and B = 55 kB, 4 F + F / 2 + F = B gives F = 10 kB, 40 kB for precedence 0 and
/// 5 kB for all others. So a switch tells classes apart where memory is scarce.
#[test]
fn precedences_draw_on_queues_with_thresholds_of_their_own() {
    let memory = "memory = \"55 kB\"\nqueues = 2\n\
                  sharing = { dynamic = { alphas = [4.0, 0.5] } }";
    let ports = [(0, 0, TAIL, "0 s"), (0, 3, TAIL, "0 s")];
    let text = scenario(memory, &ports);
    let result = checked(&text);
    let waiting = link(&result, "out0").mean_queue_packets;
    assert!((42.0..=45.1).contains(&waiting), "{waiting}");
    // Priority by precedence serves the first class alone, which fills the port: the second, which
    // comes later, takes its 5 kB and gets no further.
    let priority =
        "{ priority = { classify = \"precedence\", classes = [\"droptail\", \"droptail\"] } }";
    let result =
        checked(&scenario(memory, &[ports[0], (0, 3, TAIL, "1 s")]).replace(TAIL, priority));
    let out = link(&result, "out0");
    assert_eq!(out.departed_packets[3], 0, "{out:?}");
    let waiting = out.mean_queue_packets;
    assert!((42.0..=45.1).contains(&waiting), "{waiting}");
}

/// A packet that is dropped from the queue gives its memory back: under CoDel and under a scheduler
/// that drops from its longest queue a port stays busy to the end, with no more in its memory than
/// waits.
#[test]
fn packets_dropped_from_the_queue_give_their_memory_back() {
    for queue in ["\"codel\"", "{ fq_codel = { limit = \"10 packets\" } }", "\"cake\""] {
        let queue = if queue == "\"cake\"" { "{ cake = { rate = \"3 Mbit/s\" } }" } else { queue };
        let text = scenario("memory = \"40 kB\"", &[(0, 0, TAIL, "0 s"), (1, 0, TAIL, "0 s")]);
        let result = checked(&text.replace(TAIL, queue));
        for name in ["out0", "out1"] {
            let out = link(&result, name);
            assert!(out.utilization > 0.74, "{queue} {out:?}");
            assert!(out.drops > switch(&result).refused_packets / 2, "{queue} {out:?}");
        }
    }
}

/// A port at which nothing waits passes packets on without memory: it carries a load below its rate
/// while another fills all of the memory.
#[test]
fn an_idle_port_needs_no_memory() {
    let text = scenario("memory = \"20 kB\"\nsharing = \"complete\"", &busy(2));
    let half = "udp = {}\ntraffic = { cbr = { rate = \"8 Mbit/s\"";
    let (before, after) = text.rsplit_once(half).unwrap();
    let result =
        checked(&format!("{before}udp = {{}}\ntraffic = {{ cbr = {{ rate = \"3 Mbit/s\"{after}"));
    assert_eq!(link(&result, "out1").drops, 0);
    assert!(link(&result, "out0").drops > 1000);
}

/// Links of any kind can be ports, and what is there is counted right: one that changes its rate,
/// one with opportunities, one that is down at times, one with background traffic, and one whose
/// queue shapes.
#[test]
fn links_of_any_kind_are_ports() {
    for kind in [
        "rate_steps = [{ at = \"1 s\", rate = \"0 bit/s\" }, \
         { at = \"3 s\", rate = \"5 Mbit/s\" }]",
        "trace = { text = \"0\\n3\\n3\\n11\\n20\\n\" }",
        "failure = { down = [\"3 s\"], up = [\"4 s\"], waiting = \"kept\" }",
        "residual = \"500 B\"",
        "shaper = { leaky = { rate = \"5 Mbit/s\" } }",
    ] {
        let text = scenario("memory = \"30 kB\"\nreserved = \"2 kB\"", &busy(3));
        let text = text.replace("to = \"d1\"\nduplex", &format!("to = \"d1\"\n{kind}\nduplex"));
        let row = switch(&checked(&text)).clone();
        assert!(row.max_used_bytes <= 30_000 && row.mean_used_bytes > 5000.0, "{kind} {row:?}");
    }
    let tbf = "{ tbf = { rate = \"3 Mbit/s\", burst = \"5 kB\", queue = \"droptail\" } }";
    checked(&scenario("memory = \"30 kB\"", &busy(3)).replace(TAIL, tbf));
}

/// Records change nothing, and show memory and threshold: in the steady state of two ports with
/// alpha = 1 each is a third of 90 kB.
#[test]
fn series_show_the_memory_and_the_threshold() {
    let text = scenario("memory = \"90 kB\"", &busy(2));
    let (result, tables) = record(&text);
    assert_eq!(result.digest, run(&text).digest);
    let series = tables.iter().find(|table| table.name == "series/links.out0").unwrap();
    let last = |name: &str| *crate::support::floats(series, name).last().unwrap();
    assert!((last("memory_bytes") - 60_000.0).abs() <= 3000.0, "{}", last("memory_bytes"));
    let threshold = last("memory_threshold_bytes");
    assert!((threshold - 30_000.0).abs() <= 3000.0, "{threshold}");
}

/// Without switches there are no rows of them.
#[test]
fn other_networks_have_no_rows() {
    let text = scenario("memory = \"90 kB\"", &busy(1));
    let text = text.replace("[switches.s]\nmemory = \"90 kB\"\n", "");
    assert_eq!(run(&text).rows::<SwitchResult>(), []);
}

const RIGHT: &str = r#"duration = "10 s"

[links.one]
from = "a"
to = "tor"
rate = "10 Mbit/s"

[links.two]
from = "tor"
to = "b"
rate = "10 Mbit/s"
duplex = false

[switches.tor]
memory = "40 kB"
reserved = "1 kB"
queues = 2
sharing = { dynamic = { alphas = [1.0, 2.0] } }

[flows.tcp]
from = "a"
to = "b"
udp = {}
traffic = { cbr = { rate = "1 Mbit/s", size = "500 B" } }
"#;

const SHARING: &str = "sharing = { dynamic = { alphas = [1.0, 2.0] } }";

const CASES: &[Case] = &[
    case("[switches.tor]", "[switches.tar] #!", "switches.tar", &["\"tar\"", "\"tor\"?"]),
    case("[switches.tor]", "[switches.b] #!", "switches.b", &["no link leaves"]),
    case("memory = \"40 kB\"", "memory = \"0 B\" #!", "switches.tor.memory", &["is zero"]),
    case(
        "[switches.tor]\nmemory = \"40 kB\"",
        "[switches.tor] #!",
        "switches.tor.memory",
        &["is missing"],
    ),
    case(
        "reserved = \"1 kB\"",
        "reserved = \"10001 B\" #!",
        "switches.tor.reserved",
        &["each of 4 queues", "up to 10 kB"],
    ),
    case("queues = 2", "queues = 0 #!", "switches.tor.queues", &["1 to 64"]),
    case("queues = 2", "queues = 65 #!", "switches.tor.queues", &["1 to 64"]),
    case("queues = 2", "queus = 2 #!", "switches.tor.queus", &["\"queues\"?"]),
    case(
        "[1.0, 2.0] } }",
        "[1.0] } } #!",
        "switches.tor.sharing.dynamic.alphas",
        &["has 1 values", "of a port: 2"],
    ),
    case(
        SHARING,
        "sharing = { static = { limit = \"36001 B\" } } #!",
        "switches.tor.sharing.static.limit",
        &["36 kB"],
    ),
    case(SHARING, "sharing = \"dynamics\" #!", "switches.tor.sharing", &["\"dynamic\"?"]),
];

/// Memories that no switch can have are refused where they are wrong, with what is allowed.
#[test]
fn wrong_memories_are_refused() {
    Scenario::parse(RIGHT, "right.toml", &[]).unwrap();
    check_all(RIGHT, CASES);
    let ring = "[rings.r]\nstations = [\"tor\", \"y\", \"z\"]\nrate = \"50 Mbit/s\"\n\
                delay = \"1 ms\"\nfairness = \"none\"\n[flows.tcp]";
    let error =
        Scenario::parse(&RIGHT.replace("[flows.tcp]", ring), "ring.toml", &[]).err().unwrap();
    assert!(error.to_string().contains("is part of a subnetwork"), "{error}");
}
