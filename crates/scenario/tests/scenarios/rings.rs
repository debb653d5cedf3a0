//! Packet rings in whole scenarios.

use forebay_laws::fairness::FAIRNESS;
use forebay_scenario::Scenario;

use crate::conservation::check;
use crate::support::{choice, flow, link, read, record, run, run_with, table};

/// Six stations; F and D send to A, the hub, and `more` is added.
fn ring(law: &str, more: &str) -> String {
    format!(
        r#"
duration = "0.3 s"
warm_up = "0.1 s"
[rings.metro]
stations = ["F", "E", "D", "C", "B", "A"]
rate = "622.08 Mbit/s"
delay = "50 us"
fairness = {law}
{more}
"#
    )
}

const CBR: &str = r#"{ cbr = { rate = "800 Mbit/s", size = "1500 B" } }"#;

fn udp(name: &str, from: &str, to: &str, more: &str) -> String {
    format!(
        "[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nudp = {{}}\ntraffic = {CBR}\n{more}\n"
    )
}

const SRP_FA: &str = "{ srp_fa = {} }";

/// Every law with its example.
fn laws() -> Vec<String> {
    FAIRNESS.iter().map(choice).collect()
}

/// An emptied ring has lost and made no packet, in transit or elsewhere: when all sources have
/// stopped and the ring has run empty, every packet sent was delivered or dropped, no span lost one
/// but in the queues of its own host, and what must hold in any run does. Queues of hosts have room
/// for 30 kB, 20 packets, and are asked for more than the ring carries.
#[test]
fn an_emptied_ring_has_lost_nothing() {
    for law in &laws() {
        for transit in ["dual", "single"] {
            let more = format!(
                "transit = \"{transit}\"\nhigh = 0\nhost_limit = \"30 kB\"\n\
                 station.D = {{ committed_high = \"50 Mbit/s\" }}\n\
                 [links.out]\nfrom = \"C\"\nto = \"H\"\nrate = \"200 Mbit/s\"\n{}{}{}{}",
                udp("f", "F", "A", "precedence = 1\nstop = \"10 ms\""),
                udp("e", "E", "B", "precedence = 1\nstop = \"12 ms\""),
                udp("d", "D", "E", "stop = \"8 ms\"").replace("800", "40"),
                "[flows.t]\nfrom = \"F\"\nto = \"H\"\ncount = 3\nprecedence = 1\n\
                 tcp = { profile = \"rfc\", \
                 mss = \"1000 B\" }\ntraffic = { file = { size = \"200 kB\" } }\n",
            );
            let text = ring(law, &more).replace("0.3 s", "3 s").replace("warm_up = \"0.1 s\"", "");
            let scenario = read(&text);
            let (result, _) = run_with(&scenario, 0, false);
            let what = format!("{law} {transit}");
            for flow in &result.flows {
                let counted = &flow.counted;
                let out = counted.delivered_packets + counted.dropped_packets;
                assert_eq!(counted.sent_packets, out, "{what}: {}", flow.name);
                assert!(counted.delivered_packets >= 20, "{what}: {}", flow.name);
            }
            for link in &result.links {
                for at in 0..link.arrived_packets.len() {
                    let out = link.departed_packets[at] + link.dropped_packets[at];
                    assert_eq!(link.arrived_packets[at], out, "{what}: {}", link.name);
                }
                // Nothing enters at C and B, so what is dropped there was in transit.
                let entered = ["outer.F", "outer.E", "inner.D", "inner.F", "inner.E", "inner.C"];
                let host = entered.iter().any(|name| link.name.ends_with(name));
                assert!(host || link.drops == 0, "{what}: {} lost in transit", link.name);
            }
            let drops: u64 = result.links.iter().map(|link| link.drops).sum();
            assert!(drops > 0, "{what}: the load is no overload");
            let departed = result.links.iter().flat_map(|link| &link.departed_packets);
            assert_eq!(departed.sum::<u64>(), result.packet_hops, "{what}");
            check(&what, &scenario, &result);
        }
    }
}

/// Two stations are the smallest ring, and each uses a span of its own: both send all they can to
/// each other, over the two spans of the outer ringlet.
#[test]
fn two_stations_are_a_ring() {
    let flows = udp("there", "F", "A", "") + &udp("back", "A", "F", "");
    let text = ring(SRP_FA, &flows).replace(r#"["F", "E", "D", "C", "B", "A"]"#, r#"["F", "A"]"#);
    let result = run(&text);
    for (name, used) in
        [("outer.F", true), ("outer.A", true), ("inner.F", false), ("inner.A", false)]
    {
        let utilization = link(&result, &format!("metro.{name}")).utilization;
        assert_eq!(utilization > 0.99, used, "{name}: {utilization}");
    }
}

/// Packets take the shorter side: from B to F it is 2 spans on the outer ringlet (B, A, F), from D
/// to F 2 on the inner one; in the middle, both ways are equally long.
#[test]
fn packets_take_the_shorter_side() {
    let flows = udp("b", "B", "F", "precedence = 1") + &udp("d", "D", "F", "precedence = 1");
    let result = run(&ring(SRP_FA, &flows));
    for (name, used) in [
        ("metro.outer.B", true),
        ("metro.outer.A", true),
        ("metro.inner.D", true),
        ("metro.inner.E", true),
        ("metro.outer.F", false),
        ("metro.inner.F", false),
    ] {
        let utilization = link(&result, name).utilization;
        assert_eq!(utilization > 0.99, used, "{name}: {utilization}");
    }
}

/// A route can go the longer side of a ring on purpose.
#[test]
fn a_route_can_go_the_longer_side() {
    let way = r#"route = ["F", "E", "D", "C", "B", "A"]"#;
    let result = run(&ring(SRP_FA, &udp("f", "F", "A", way)));
    assert!(link(&result, "metro.outer.F").utilization > 0.99);
    assert_eq!(link(&result, "metro.inner.F").throughput_bps, 0.0);
}

/// Rings connect hosts beside them: TCP between hosts on links at two stations runs over the ring
/// and back, and gets what the slowest link on the way carries, 1460 of 1500 bytes of 10 Mbit/s.
#[test]
fn tcp_between_hosts_runs_over_a_ring() {
    let hosts = r#"
[links.near]
from = "H1"
to = "F"
rate = "100 Mbit/s"
[links.far]
from = "C"
to = "H2"
rate = "10 Mbit/s"
queue = { droptail = { limit = "100 packets" } }
[flows.tcp]
from = "H1"
to = "H2"
tcp = { profile = "rfc", mss = "1460 B" }
"#;
    for law in &laws() {
        let result = run(&ring(law, hosts).replace("0.3 s", "5 s").replace("0.1 s", "2 s"));
        let goodput = flow(&result, "tcp").counted.goodput_bps;
        let expected = 10e6 * 1460.0 / 1500.0;
        assert!((goodput / expected - 1.0).abs() < 0.02, "{law}: {goodput}");
    }
}

/// The ring of a scenario is the one whose parts are tested: with SRP-fa two backlogged stations
/// get half of the line each; without a law the one downstream gets nothing.
#[test]
fn two_stations_share_by_the_law_chosen() {
    let flows =
        udp("f", "F", "A", "precedence = 1\nroute = [\"F\", \"E\", \"D\", \"C\", \"B\", \"A\"]")
            + &udp("d", "D", "A", "precedence = 1\nroute = [\"D\", \"C\", \"B\", \"A\"]");
    for (law, shares) in [(SRP_FA, [0.5, 0.5]), ("\"none\"", [1.0, 0.0])] {
        let text = ring(law, &flows).replace("0.3 s", "1.2 s").replace("0.1 s", "0.62 s");
        let result = run(&text);
        for (name, share) in ["f", "d"].into_iter().zip(shares) {
            let measured = flow(&result, name).counted.throughput_bps / 622.08e6;
            assert!((measured - share).abs() < 0.02, "{law} {name}: {measured}");
        }
    }
}

/// Runs can be repeated, and recording does not change them.
#[test]
fn recording_does_not_change_a_run() {
    for law in &laws() {
        let classes = "high = 0\nstation.C = { committed_high = \"100 Mbit/s\" }\n".to_owned();
        let flows = classes + &udp("f", "F", "D", "precedence = 1") + &udp("d", "C", "E", "");
        let text = ring(law, &flows).replace("0.3 s", "0.15 s")
            + "[record]\nseries = \"1 ms\"\ntrace = 1000\ndelays = true\n";
        let scenario: Scenario = read(&text);
        let (plain, _) = run_with(&scenario, 0, false);
        let (recorded, _) = run_with(&scenario, 0, true);
        assert_eq!(plain.digest, recorded.digest, "{law}");
        assert_eq!(plain.digest, run_with(&scenario, 0, false).0.digest, "{law}");
    }
}

/// Series show what the law does: each span has its own series, with the allowed rate of the
/// station that it leaves, which is the line for one that is alone.
#[test]
fn series_tell_what_a_station_may_send() {
    let flows = udp("f", "F", "E", "precedence = 1") + "[record]\nseries = \"10 ms\"\n";
    let (_, tables) = record(&ring(SRP_FA, &flows));
    let series = table(&tables, "series/links.metro.outer.F");
    let allowed = crate::support::floats(series, "allow_bps");
    assert!(allowed.iter().all(|bps| (bps / 622.08e6 - 1.0).abs() < 1e-9), "{allowed:?}");
}

/// A wrong ring is refused, and its message points to its place.
#[test]
fn wrong_rings_are_refused_where_they_stand() {
    let good = ring(SRP_FA, &udp("f", "F", "A", ""));
    assert!(Scenario::parse(&good, "test.toml", &[]).is_ok());
    let all = r#"["F", "E", "D", "C", "B", "A"]"#;
    let line = "delay = \"50 us\"";
    let cases: [(&str, &str, &str); 16] = [
        (all, r#"["F"]"#, "rings.metro.stations"),
        (all, r#"["F", "A", "F"]"#, "rings.metro.stations"),
        (line, "delays = [\"1 us\"]", "rings.metro.delays"),
        (line, "delay = \"1 us\"\ndelays = [\"1 us\"]", "rings.metro.delays"),
        (line, "stop = \"520 kB\"", "rings.metro.stop"),
        (line, "low_limit = \"1 kB\"", "rings.metro.low_limit"),
        (line, "high_limit = \"1 kB\"", "rings.metro.high_limit"),
        (line, "high = 64", "rings.metro.high"),
        (line, "station.G = { weight = 1.0 }", "rings.metro.station.G"),
        (line, "station.F = { weight = 0.0 }", "rings.metro.station.F.weight"),
        (line, "station.F = { max_rate = \"1 Gbit/s\" }", "rings.metro.station.F.max_rate"),
        (
            line,
            "station.F = { committed_high = \"400 Mbit/s\" }\n\
             station.E = { committed_low = \"400 Mbit/s\" }",
            "rings.metro.station.E.committed_low",
        ),
        ("srp_fa = {}", "srp_fa = { low_threshold = \"1 MB\" }", "rings.metro.fairness.srp_fa"),
        ("srp_fa", "srp_af", "rings.metro.fairness"),
        ("622.08 Mbit/s", "0 bit/s", "rings.metro.rate"),
        ("1500 B", "1501 B", "flows.f"),
    ];
    for (old, new, path) in cases {
        let text = good.replace(old, new);
        assert_ne!(text, good, "{old}");
        let error = Scenario::parse(&text, "test.toml", &[]).err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{new} was accepted"));
        assert!(error.contains(path), "{new}: {error}");
    }
}

/// A route that enters a ring twice or turns round on it is refused: the ring's table of ways
/// cannot hold it.
#[test]
fn a_ring_is_passed_once_and_on_one_ringlet() {
    let links = "[links.x]\nfrom = \"E\"\nto = \"X\"\nrate = \"1 Gbit/s\"\n\
                 [links.y]\nfrom = \"X\"\nto = \"B\"\nrate = \"1 Gbit/s\"\n";
    let twice = udp("f", "F", "A", r#"route = ["F", "E", "X", "B", "A"]"#);
    let text = ring(SRP_FA, &(links.to_owned() + &twice));
    let error = Scenario::parse(&text, "test.toml", &[]).err().unwrap().to_string();
    assert!(error.contains("flows.f.route") && error.contains("enters a ring twice"), "{error}");
}
