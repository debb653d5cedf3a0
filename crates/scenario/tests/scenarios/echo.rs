//! Round-trip times of datagrams that are echoed, against the times that links take.

use forebay_elements::udp::RoundTripResult;
use forebay_scenario::{RunResult, Scenario};

use crate::support::{checked, flow, link};

/// Datagrams of 125 B, 0.1 ms on 10 Mbit/s, every 10 ms from time 0 to below 1 s, with 10 ms each
/// way: `there` and `back` are more of each way, `udp` more of the flow, `more` the rest.
fn pings(there: &str, back: &str, udp: &str, more: &str) -> String {
    format!(
        "duration = \"2 s\"\n[links.there]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         delay = \"10 ms\"\nduplex = false\n{there}[links.back]\nfrom = \"b\"\nto = \"a\"\n\
         rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nduplex = false\n{back}\
         [flows.ping]\nfrom = \"a\"\nto = \"b\"\nstop = \"1 s\"\nudp = {{ echo = true }}\n\
         traffic = {{ cbr = {{ rate = \"100 kbit/s\", size = \"125 B\", \
         random_phase = false }} }}\n{udp}{more}"
    )
}

fn trips(result: &RunResult) -> RoundTripResult {
    let rows = result.rows::<RoundTripResult>();
    assert_eq!(rows.len(), 1);
    rows[0].clone()
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.unwrap();
    assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
}

/// A round trip takes what both ways take: 0.1 + 10 ms each, 20.2 ms, of every datagram. An echo is
/// as large as its datagram, so the way back carries the same, and is no data of the flow.
#[test]
fn a_round_trip_takes_what_both_ways_take() {
    let result = checked(&pings("", "", "", ""));
    let row = trips(&result);
    assert_eq!((row.name.as_str(), row.sent, row.returned, row.duplicates), ("ping", 100, 100, 0));
    assert_eq!((row.lost_there, row.lost_back, row.loss_ratio), (0, 0, Some(0.0)));
    let times = [row.mean_rtt_s, row.min_rtt_s, row.p50_rtt_s, row.p95_rtt_s, row.p99_rtt_s];
    times.into_iter().chain([row.max_rtt_s]).for_each(|time| near(time, 20.2e-3));
    assert_eq!(link(&result, "back").departed_bytes[0], 12_500);
    let counted = &flow(&result, "ping").counted;
    assert_eq!(
        (counted.sent_packets, counted.delivered_packets, counted.sent_acks),
        (100, 100, 100)
    );
    // 97 B of 125 are payload, as without echoes.
    assert!((counted.goodput_bps - 100.0 * 97.0 * 8.0 / 2.0).abs() < 1e-9);
    let silent = pings("", "", "", "").replace("{ echo = true }", "{ echo = false }");
    let silent = checked(&silent);
    assert!(silent.rows::<RoundTripResult>().is_empty());
    let (one, other) = (&flow(&silent, "ping").counted, counted);
    assert_eq!((one.goodput_bps, one.mean_delay_s), (other.goodput_bps, other.mean_delay_s));
    assert_eq!((one.sent_acks, link(&silent, "back").departed_bytes[0]), (0, 0));
}

/// Losses are told by the way on which they happen. Datagram n is at the far end at 10 n + 10.1 ms
/// and its echo back at 10 n + 20.2 ms: an outage there from 100 to 200 ms takes n = 9 to 18, and
/// one back from 500 to 540 ms n = 48 to 51.
#[test]
fn losses_are_told_by_their_way() {
    let outage = |down: u64, up: u64| {
        format!("impairment = {{ outage = {{ down = [\"{down} ms\"], up = [\"{up} ms\"] }} }}\n")
    };
    let row = trips(&checked(&pings(&outage(100, 200), &outage(500, 540), "", "")));
    assert_eq!((row.sent, row.lost_there, row.lost_back, row.returned), (100, 10, 4, 86));
    assert_eq!(row.loss_ratio, Some(0.14));
    near(row.max_rtt_s, 20.2e-3);
    let dead = "impairment = { loss = { probability = 1 } }\n";
    let none = trips(&checked(&pings("", dead, "", "")));
    assert_eq!((none.returned, none.loss_ratio, none.mean_rtt_s), (0, Some(1.0), None));
    assert_eq!((none.min_rtt_s, none.p99_rtt_s, none.max_rtt_s), (None, None, None));
}

/// A datagram counts once, with the first of its echoes (RFC 2681, section 2.5): doubled on the way
/// there, each has two, of which the first took 20.2 ms.
#[test]
fn a_datagram_counts_once() {
    let doubled = "impairment = { duplication = { probability = 1 } }\n";
    let row = trips(&checked(&pings(doubled, "", "", "")));
    assert_eq!((row.sent, row.returned, row.duplicates), (100, 100, 100));
    assert_eq!((row.lost_there, row.lost_back), (0, 0));
    near(row.max_rtt_s, 20.2e-3);
}

/// Echoes are of the class of their datagrams, unless they are given another. The way back is
/// offered twice its rate in packets of 1000 B, 0.8 ms each, up to 50 of which wait: an echo of
/// class EF waits for one in transmission at most, one of best effort behind up to 50, or is lost.
/// Between two departures 2 packets arrive on average, so that k places are free with probability
/// 0.203^k (the root of x = exp(-2 (1 - x))): more than 8 hardly ever, nor do more than 4 echoes
/// wait.
#[test]
fn echoes_are_of_the_class_of_their_datagrams() {
    let queue = "queue = { priority = { dscp = [\"EF\"], classes = [\"droptail\", \
                 { droptail = { limit = \"50 packets\" } }] } }\n";
    let flood = "[flows.flood]\nfrom = \"b\"\nto = \"a\"\nudp = {}\n\
                 traffic = { poisson = { rate = \"20 Mbit/s\", size = \"1000 B\" } }\n";
    let ping = |echo: &str| {
        let text = pings("", queue, "dscp = \"EF\"\nstart = \"200 ms\"\n", flood);
        trips(&checked(&text.replace("{ echo = true }", echo)))
    };
    let kept = ping("{ echo = true }");
    assert_eq!((kept.sent, kept.returned), (80, 80));
    assert!(kept.max_rtt_s.unwrap() <= 21.0e-3 + 1e-12, "{kept:?}");
    let other = ping("{ echo = true, echo_dscp = \"BE\" }");
    assert!(other.lost_back > 0 && other.lost_there == 0, "{other:?}");
    let waiting = |packets: f64| 20.2e-3 + packets * 0.8e-3;
    assert!(other.min_rtt_s.unwrap() >= waiting(50.0 - 8.0 - 4.0), "{other:?}");
    assert!(other.max_rtt_s.unwrap() <= waiting(50.0), "{other:?}");
}

/// Results are those of the window: with a warm-up of 495 ms the 52 echoes count that come back
/// later, of datagrams 48 (at 500.2 ms) to 99, and the 50 datagrams that are sent later.
#[test]
fn round_trips_count_in_the_window() {
    let row = trips(&checked(&format!("warm_up = \"495 ms\"\n{}", pings("", "", "", ""))));
    assert_eq!((row.sent, row.returned), (50, 52));
}

/// Traffic of every kind can be echoed, and flows of a group count together: nothing is lost
/// where queues are long enough, so all that was sent before the last 100 ms has come back.
#[test]
fn every_traffic_can_be_echoed() {
    for traffic in [
        "poisson = { rate = \"1 Mbit/s\", size = \"500 B\" }",
        "on_off = { rate = \"1 Mbit/s\", size = \"500 B\" }",
        "voice = { codec = \"g711_20ms\" }",
        "video = { line_rate = \"2 Mbit/s\" }",
        "pulses = { rate = \"2 Mbit/s\", size = \"700 B\" }",
    ] {
        let text = pings("", "", "count = 3\n", "");
        let cbr = "cbr = { rate = \"100 kbit/s\", size = \"125 B\", random_phase = false }";
        assert!(text.contains(cbr));
        let row = trips(&checked(&text.replace(cbr, traffic)));
        assert!(row.sent > 0 && row.returned == row.sent, "{traffic}: {row:?}");
        assert!(row.min_rtt_s.unwrap() >= 20.0e-3, "{traffic}: {row:?}");
    }
}

/// Flows between several nodes are echoed along the way back of each: between the leaves of a star
/// with 1 ms each to its hub a round trip takes four links of 1.1 ms.
#[test]
fn flows_between_several_nodes_are_echoed() {
    let leaf = |name: &str| {
        format!(
            "[links.{name}]\nfrom = \"{name}\"\nto = \"hub\"\nrate = \"10 Mbit/s\"\n\
             delay = \"1 ms\"\n"
        )
    };
    let text = format!(
        "duration = \"1 s\"\n{}{}{}[flows.all]\nfrom = [\"x\", \"y\", \"z\"]\n\
         to = [\"x\", \"y\", \"z\"]\nstop = \"0.9 s\"\nudp = {{ echo = true }}\n\
         traffic = {{ cbr = {{ rate = \"10 kbit/s\", size = \"125 B\" }} }}\n",
        leaf("x"),
        leaf("y"),
        leaf("z")
    );
    let row = trips(&checked(&text));
    // Nine datagrams of each of the six pairs, one every 0.1 s.
    assert_eq!((row.sent, row.returned, row.lost_there + row.lost_back), (54, 54, 0));
    near(row.min_rtt_s, 4.4e-3);
}

/// Wrong echoes are refused with their key.
#[test]
fn wrong_echoes_are_refused_with_their_key() {
    let one_way = "[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                   duplex = false\n[flows.x]\nfrom = \"a\"\nto = \"b\"\n\
                   traffic = { cbr = { rate = \"8 kbit/s\", size = \"100 B\" } }\n";
    for (udp, path, words) in [
        ("{ echo = true }", "flows.x.udp.echo", "no links lead from \"b\" back to \"a\""),
        ("{ echo_dscp = \"EF\" }", "flows.x.udp.echo_dscp", "goes with echo = true"),
        ("{ echo = \"yes\" }", "flows.x.udp.echo", "true or false"),
    ] {
        let text = format!("duration = \"1 s\"\n{one_way}udp = {udp}\n");
        let error = Scenario::parse(&text, "test.toml", &[]).err().expect(path);
        assert_eq!(error.problem.path, path, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}
