//! Connections that are opened and closed, against the times and packets that this takes.

use crate::support::{flow, link, record, run, trace};
use forebay_scenario::{Counted, TransferResult};

/// One segment of 1460 B, written at the start, over 10 Mbit/s and 50 ms each way with `more`, in a
/// run of so many milliseconds.
fn one_segment(ms: u64, more: &str) -> Counted {
    let text = format!(
        "duration = \"{ms} ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         delay = \"50 ms\"\n{more}\n[flows.x]\nfrom = \"a\"\nto = \"b\"\n\
         [flows.x.traffic.pulses]\nrate = \"11.68 Mbit/s\"\nsize = \"1460 B\"\noff = \"100 s\"\n\
         random_phase = false\n[flows.x.tcp]\nprofile = \"rfc\"\n\
         mss = \"1460 B\"\nhandshake = true\n"
    );
    flow(&run(&text), "x").counted.clone()
}

/// Data follow the handshake: SYN and SYN-ACK of 40 B take 0.032 + 50 ms each, the segment of 1500
/// B 1.2 + 50 ms. All is there at 151.264 ms.
#[test]
fn data_follows_the_handshake() {
    assert_eq!(one_segment(151, "").goodput_bps, 0.0);
    assert!(one_segment(152, "").goodput_bps > 0.0);
}

/// The loss of a SYN costs a second, and not the connection: an outage swallows it, the next one
/// leaves after a second. All is there at 1151.264 ms. The first is no data, and lost once.
#[test]
fn a_lost_syn_costs_a_second() {
    let outage = "impairment = { outage = { down = [\"0 s\"], up = [\"60 ms\"] } }";
    assert_eq!(one_segment(1151, outage).goodput_bps, 0.0);
    let counted = one_segment(1152, outage);
    assert!(counted.goodput_bps > 0.0);
    let counts = (counted.dropped_packets, counted.timeouts, counted.retransmissions);
    assert_eq!(counts, (1, 1, 1));
}

/// The start-up time of a transfer holds the handshake, and what a lost SYN costs: a file of three
/// segments over the link above, whose first has come by 151.264 ms, or by 1151.264 ms where an
/// outage swallows the first SYN. The second file, at 5 s, finds the connection open: 51.2 ms.
#[test]
fn start_up_times_hold_the_handshake() {
    let outage = "impairment = { outage = { down = [\"0 s\"], up = [\"60 ms\"] } }";
    for (more, first, slow) in [("", 151.264e-3, 0.0), (outage, 1151.264e-3, 0.5)] {
        let text = format!(
            "duration = \"8 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
             delay = \"50 ms\"\n{more}\n[flows.x]\nfrom = \"a\"\nto = \"b\"\n\
             traffic = {{ file = {{ size = \"4380 B\", count = 2, interval = \"5 s\" }} }}\n\
             tcp = {{ profile = \"rfc\", mss = \"1460 B\", handshake = true }}\n"
        );
        let result = run(&text);
        let row = &result.rows::<TransferResult>()[0];
        assert_eq!((row.started, row.completed, row.slow_startup_ratio), (2, 2, Some(slow)));
        let (mean, longest) = (row.mean_startup_s.unwrap(), row.p99_startup_s.unwrap());
        assert!((mean - (first + 51.2e-3) / 2.0).abs() < 1e-12, "{mean}");
        assert!((longest - first).abs() < 1e-12 && row.p95_startup_s == Some(longest));
    }
}

/// A queue without room drops SYNs: where it takes none, none arrives.
#[test]
fn a_queue_can_drop_a_syn() {
    let flood = "duration = \"900 ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                 delay = \"1 ms\"\nqueue = { droptail = { limit = \"2 packets\" } }\n\
                 [flows.flood]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n\
                 traffic = { cbr = { rate = \"100 Mbit/s\", size = \"1000 B\" } }\n\
                 [flows.x]\nfrom = \"a\"\nto = \"b\"\nstart = \"500.01 ms\"\n\
                 tcp = { profile = \"rfc\", handshake = true }\n";
    let counted = run(flood);
    let counted = &flow(&counted, "x").counted;
    assert_eq!((counted.sent_packets, counted.dropped_packets), (1, 1));
}

/// The receiver learns that a transfer without end is given up: when its time is over, a FIN of 40
/// B follows what was sent, alone, and is acknowledged.
#[test]
fn a_transfer_that_is_given_up_is_closed() {
    let text = "duration = \"5 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
                delay = \"10 ms\"\n[flows.x]\nfrom = \"a\"\nto = \"b\"\nstop = \"1 s\"\n\
                tcp = { profile = \"rfc\", \
                handshake = true, mss = \"1460 B\", window = \"10 packets\" }\n\
                [record]\ntrace = 100000\n";
    let (result, tables) = record(text);
    let rows = trace(&tables);
    let sent = rows.iter().filter(|row| row.event == "delivered" && row.size > 0);
    let sizes: Vec<u64> = sent.filter(|row| row.kind == "data").map(|row| row.size).collect();
    assert_eq!((sizes.first(), sizes.last()), (Some(&40), Some(&40)));
    assert!(sizes[1..sizes.len() - 1].iter().all(|size| *size == 1500));
    assert_eq!(flow(&result, "x").counted.retransmissions, 0);
    assert_eq!(link(&result, "l").drops, 0);
}
