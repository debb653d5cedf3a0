//! Connections after connection vectors in whole networks: the load that they offer, and what
//! becomes of their exchanges.

use forebay_scenario::{RunResult, TransferResult};

use crate::support::{checked, floats, link, names, record, run, table, wholes};

/// Connections from servers at `a` to `count` clients at `b`, over a link of 1 Gbit/s and 1 ms that
/// they hardly use; segments have 960 B and headers of 40 B.
fn scenario(duration: &str, count: u32, keys: &str) -> String {
    format!(
        "duration = \"{duration}\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
         queue = {{ droptail = {{ limit = \"100000 packets\" }} }}\n\
         [flows.web]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\n\
         traffic.tmix = {{ {keys}, segment = \"960 B\", header = \"40 B\" }}\n\
         [flows.web.tcp]\nprofile = \"rfc\"\nmss = \"960 B\"\ninitial_window = \"10 packets\"\n"
    )
}

fn transfers(result: &RunResult) -> &TransferResult {
    &result.rows::<TransferResult>()[0]
}

/// An empty link carries the load that was asked for. Exchanges come in connections, with 1.41667
/// in the mean and a variance of 0.79861, and connections in trains, by which their number in a
/// long time has three times the variance of a Poisson process, (1 + p) / (1 - p) with p = 1/2. So
/// n connections carry a load with a relative variance of (v / x^2 / 1.41667 + 0.39792 + 3) / n, v
/// and x being variance and mean of a response. Responses of 500 B (v = 0) at 4 Mbit/s are 540 B,
/// and connections 653.6 in a second, 117,647 in 180 s: 0.54 %. Lognormal ones with v = 1.51e9 B^2
/// and x = 11.26 kB, headers included, have v / x^2 = 11.9, and are 14,110 connections at 10 Mbit/s
/// in the same time: 2.9 %. The bounds are five of these. Without the headers that it counts, the
/// first load would be 8 % more. Each client has a connection every 30 s, and one lasts that long
/// with a probability of e^(-0.6 * 30) / 4: its times to think end with a rate of 1 - 0.4 in a
/// second. So none waits.
#[test]
fn an_empty_link_carries_the_load() {
    for (load, keys, deviation) in [
        (4.0, "load = \"4 Mbit/s\", responses = { constant = { size = \"500 B\" } }", 0.0054),
        (10.0, "load = \"10 Mbit/s\"", 0.029),
    ] {
        let keys = format!("{keys}, tail_share = 0.0");
        let text = format!("warm_up = \"20 s\"\n{}", scenario("200 s", 20_000, &keys));
        let result = run(&text);
        let link = link(&result, "l");
        assert_eq!((link.drops, transfers(&result).queued), (0, 0));
        let ratio = link.throughput_bps / (load * 1e6);
        assert!((ratio - 1.0).abs() < 5.0 * deviation, "{load} Mbit/s: {ratio}");
    }
}

/// Every response arrives in full segments and a rest, as the load counts it: what the link carries
/// are the bytes of the responses, and 40 B for each 960 B of them or part of that. Those that were
/// asked for when the group stops are completed by the end.
#[test]
fn responses_are_carried_in_full_segments() {
    let text = scenario("60 s", 1000, "rate = \"20 /s\"")
        .replace("count = 1000\n", "count = 1000\nstop = \"50 s\"\n");
    let (result, tables) = record(&(text + "[record]\ntransfers = true\n"));
    let sizes = wholes(table(&tables, "transfers"), "size_bytes");
    // Of 1000 connections, and a third more exchanges, five standard deviations, sqrt(3400), off.
    assert!((1416 - sizes.len() as i32).abs() < 410, "{}", sizes.len());
    let wire: u64 = sizes.iter().map(|size| size + 40 * size.div_ceil(960)).sum();
    assert_eq!(transfers(&result).unfinished, 0);
    assert_eq!(link(&result, "l").departed_bytes.iter().sum::<u64>(), wire);
}

/// Exchanges of a connection follow each other on it: with two in each, the second on a flow begins
/// at least the server's 20 ms after the first has ended, and the window that the first has opened
/// serves the second. Responses of 20 segments at an initial window of 2 take four rounds of 2, 4,
/// 8 and 6 segments at first, and one on the same connection, from 20 segments in flight on.
#[test]
fn exchanges_go_on_with_their_connection() {
    let keys = "rate = \"2 /s\", persistent = 1.0, next_exchange = 0.0, think = \"0 s\", \
                tail_share = 0.0, responses = { constant = { size = \"19200 B\" } }";
    let text = scenario("60 s", 200, keys)
        .replace("\"1 ms\"", "\"50 ms\"")
        .replace("10 packets", "2 packets\"\ndelayed_ack = false\nrto_min = \"1 s");
    let (_, tables) = record(&(text + "[record]\ntransfers = true\n"));
    let table = table(&tables, "transfers");
    let (flows, begun) = (names(table, "flow"), floats(table, "begun_s"));
    let completion = floats(table, "completion_s");
    let mut pairs = 0;
    for flow in flows.iter().collect::<std::collections::BTreeSet<_>>() {
        let own: Vec<usize> = (0..flows.len()).filter(|at| flows[*at] == *flow).collect();
        for pair in own.chunks_exact(2) {
            let [first, second] = [pair[0], pair[1]];
            let pause = begun[second] - begun[first] - completion[first];
            assert!((pause - 0.02).abs() < 1e-9, "{pause}");
            // A round trip for the request and the first data, and one for each more round.
            let rounds = [first, second].map(|at| (completion[at] / 0.1) as u32);
            assert_eq!(rounds, [4, 1], "{} {}", completion[first], completion[second]);
            pairs += 1;
        }
    }
    assert!(pairs > 60, "{pairs}");
}

/// Too few clients are seen: connections that come while all are open wait, and are counted; and a
/// run breaks no invariant.
#[test]
fn connections_wait_for_a_client() {
    let result = checked(&scenario("20 s", 2, "rate = \"5 /s\""));
    assert!(transfers(&result).queued > 10, "{:?}", transfers(&result));
}
