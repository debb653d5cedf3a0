//! Detection and repair of losses by TCP, against what they must cost.

use crate::support::{flow, link, run};
use forebay_scenario::{Counted, FlowResult};

/// One flow over a link of 10 Mbit/s and a round trip of 100 ms, whose wire is `impairment`, with
/// room for all of the receiver's window of 60 segments: nothing is lost but on the wire. Packets
/// have 1500 B, so that the path holds 83.
fn impaired(impairment: &str, duration: &str, traffic: &str, tcp: &str) -> FlowResult {
    let text = format!(
        "duration = \"{duration}\"\n[links.core]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Mbit/s\"\ndelay = \"50 ms\"\nqueue = {{ droptail = {{ limit = \"1 MB\" }} }}\n\
         impairment = {{ {impairment} }}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\n{traffic}\n[flows.x.tcp]\nprofile = \"rfc\"\n\
         mss = \"1460 B\"\nwindow = \"60 packets\"\n{tcp}\n"
    );
    flow(&run(&text), "x").clone()
}

const RACK: &str = "loss_detection = \"rack\"";

/// A retransmission that is lost costs no timeout. Of the packets 1 % are lost: of R
/// retransmissions R/100, each of which RFC 6675 notices by its timer alone; those of one window
/// share a timeout, and at windows of a dozen segments (sqrt(1.5/p) = 12) few do. By time they are
/// noticed by the segments sent behind them. What remains are those behind which nothing arrives
/// for a timeout: all of the two or more segments that are then in flight are lost, once for 10,000
/// retransmissions.
#[test]
fn a_lost_retransmission_costs_no_timeout() {
    let lossy = |tcp| impaired("loss = { probability = 0.01 }", "2000 s", "", tcp).counted;
    let (by_duplicates, by_time) = (lossy(""), lossy(RACK));
    let repeats = by_duplicates.retransmissions as f64;
    assert!(repeats > 1000.0, "{repeats}");
    let timeouts = by_duplicates.timeouts as f64;
    assert!(timeouts > 0.5 * repeats / 100.0, "{timeouts} for {repeats}");
    let (repeats, timeouts) = (by_time.retransmissions, by_time.timeouts);
    assert!(repeats > 1000 && timeouts < 2, "{timeouts} for {repeats}");
    assert!(by_time.goodput_bps > by_duplicates.goodput_bps);
}

/// Reordering is not taken for loss. Delays of up to 20 ms let a packet of 1.2 ms come behind up to
/// 16 that left after it: by duplicate acknowledgements that is a loss time and again, and the
/// window stays below half of what it could be. By time it is within a quarter of the round trip,
/// 25 ms: once a segment has been seen to come late, none is sent again, and the window is the
/// receiver's, 60 segments for each round trip, of 110 ms in the mean and at most 120.
#[test]
fn reordering_is_no_loss() {
    let jitter = "jitter = { mean = \"10 ms\", reorder = true }";
    let reordered = |tcp| impaired(jitter, "30 s", "", tcp).counted;
    let (by_duplicates, by_time) = (reordered(""), reordered(RACK));
    assert!(by_duplicates.retransmissions > 20, "{}", by_duplicates.retransmissions);
    // Until then, a window of slow start at most.
    assert!(by_time.retransmissions <= 16, "{}", by_time.retransmissions);
    assert_eq!(by_time.timeouts, 0);
    let most = 60.0 * 1460.0 * 8.0 / 0.12;
    let (much, little) = (by_time.goodput_bps, by_duplicates.goodput_bps);
    assert!(much > 0.9 * most, "{much} of {most}");
    assert!(little < 0.5 * much, "{little}");
}

/// The last segments of a transfer are probed and do not wait for a timeout of a second. Of six
/// segments, three in the first round trip, an outage swallows those that arrive after 154 ms: the
/// fifth and the sixth, or the latter. Two round trips later, at 305 to 310 ms, the last is sent
/// again; with what that reveals all is there by 0.6 s, when without probes nothing more has been
/// sent.
#[test]
fn the_tail_of_a_transfer_is_probed() {
    let arrived = |tcp: &str| {
        let outage = "outage = { down = [\"154 ms\"], up = [\"170 ms\"] }";
        const ONCE: &str = "traffic = { pulses = { rate = \"70.08 Mbit/s\", \
                            size = \"8760 B\", off = \"10 s\", random_phase = false } }";
        let tcp = format!("delayed_ack = false\n{tcp}");
        impaired(outage, "600 ms", ONCE, &tcp).counted
    };
    let (without, with) = (arrived(""), arrived(RACK));
    let bytes = |counted: &Counted| (counted.goodput_bps * 0.6 / 8.0).round();
    assert_eq!(bytes(&with), 6.0 * 1460.0);
    assert!(bytes(&without) < 6.0 * 1460.0, "{}", bytes(&without));
    assert_eq!((with.timeouts, without.retransmissions), (0, 0));
}

/// Many BBR flows behind a buffer of one bandwidth-delay product keep three times that in flight at
/// times and lose a share of what they send. Where each lost retransmission costs a timeout of a
/// second, and what is SACKed is sent again after it, much of the link's work is lost. By time each
/// loss is repaired by one retransmission, and the application gets what the link can carry: 1460
/// of 1500 B. 20 flows have 3.3 segments each on a path of 40 ms.
#[test]
fn many_bbr_flows_keep_the_link_busy() {
    let shared = |tcp: &str| {
        let text = format!(
            "duration = \"20 s\"\nwarm_up = \"5 s\"\n[links.core]\nfrom = \"a\"\nto = \"b\"\n\
             rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = {{ droptail = {{ limit = \"67 packets\" }} }}\n\
             [flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 20\n[flows.x.tcp]\nprofile = \"rfc\"\n\
             mss = \"1460 B\"\ncontrol = \"bbr\"\n{tcp}\n"
        );
        let result = run(&text);
        let sum = |value: fn(&Counted) -> f64| -> f64 {
            result.flows.iter().map(|flow| value(&flow.counted)).sum()
        };
        let carried = sum(|flow| flow.goodput_bps) / (20e6 * 1460.0 / 1500.0);
        let repeats = sum(|flow| flow.retransmissions as f64);
        let core = link(&result, "core");
        (core.utilization, carried, repeats / core.drops as f64)
    };
    let (_, without, wasteful) = shared("");
    assert!(without < 0.95 && wasteful > 1.2, "{without} {wasteful}");
    let (utilization, carried, repeats) = shared(RACK);
    assert!(utilization > 0.98 && carried > 0.98, "{utilization} {carried}");
    assert!((repeats - 1.0).abs() < 0.02, "{repeats}");
}
