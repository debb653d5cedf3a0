//! Senders with the defaults of Linux, beside what a kernel 6.1.192 does with the same flows on the
//! same link: its counts are the numbers here. One flow after another finds a queue full or not by
//! its phase, so that counts agree within a share and not to the packet.

use crate::support::{floats, flow, link, record, run, table};

/// `count` flows with `tcp` from the start, on a link of `mbps` with `queue` and a round trip of
/// `rtt_ms`. Measured from `from` to `to`, in seconds.
fn scenario(
    (mbps, rtt_ms): (u32, u32),
    queue: &str,
    (count, tcp): (u32, &str),
    (from, to): (u32, u32),
) -> String {
    format!(
        "duration = \"{to} s\"\nwarm_up = \"{from} s\"\n[links.core]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"{mbps} Mbit/s\"\ndelay = \"{} ms\"\nqueue = {queue}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\ntcp = {{ {tcp} }}\n",
        rtt_ms / 2
    )
}

fn droptail(packets: u32) -> String {
    format!("{{ droptail = {{ limit = \"{packets} packets\" }} }}")
}

fn drops(text: &str) -> u64 {
    link(&run(text), "core").drops
}

/// BBR keeps as much in flight as Linux's, so that CoDel has enough to drop: in 45 s at 10 Mbit/s
/// and 40 ms Linux loses 405 packets of one flow through `fq_codel` and 2957 of four. What one flow
/// has beyond the path is all that CoDel sees of it, so that with three segments in place of six it
/// loses none; with six at least half as much as Linux.
#[test]
fn bbr_loses_packets_through_fq_codel() {
    let lost =
        |count| drops(&scenario((10, 40), "\"fq_codel\"", (count, "control = \"bbr\""), (15, 60)));
    let (one, four) = (lost(1), lost(4));
    assert!((203..608).contains(&one), "{one}");
    assert!((four as f64 / 2957.0 - 1.0).abs() < 0.15, "{four}");
}

/// The smoothed round-trip time follows the queue as Linux has it: each acknowledgement counts for
/// 1/8 in Linux, and for an eighth of a round trip by RFC 7323. One flow of Reno in front of 59
/// packets at 10 Mbit/s and 40 ms has a 95th percentile of 110.6 ms there. A round trip with a full
/// queue, 61 packets of 1.2 ms with the one in transmission, is 113 ms long, and one grows by 1.2
/// ms: an eighth of a round trip lags by seven, eight acknowledgements of 48 in it by a sixth of
/// one.
#[test]
fn srtt_follows_the_queue_as_linux_has_it() {
    let percentile = |gain: &str| {
        let tcp = format!("control = \"reno\", rtt_gain = \"{gain}\"");
        let text = scenario((10, 40), &droptail(59), (1, &tcp), (10, 60));
        let (_, tables) = record(&(text + "[record]\nseries = \"10 ms\"\n"));
        let mut values = floats(table(&tables, "series/flows.f"), "mean_srtt_s").to_vec();
        values.sort_by(f64::total_cmp);
        1e3 * values[values.len() * 95 / 100]
    };
    let (linux, rfc) = (percentile("sample"), percentile("round_trip"));
    assert!((linux - 110.6).abs() < 1.2, "{linux}");
    assert!((4.0..12.0).contains(&(linux - rfc)), "{linux}, {rfc}");
}

/// The alpha of CUBIC stays below 1 as in Linux; RFC 9438 lets it rise to 1, which is more
/// aggressive: four flows in front of 60 packets at 10 Mbit/s and 40 ms lose 147 packets in 45 s on
/// Linux, without HyStart, and 191 were lost with that alpha.
#[test]
fn alpha_of_cubic_stays_below_one() {
    let tcp = "control = { cubic = { hystart = false } }";
    let lost = drops(&scenario((10, 40), &droptail(60), (4, tcp), (5, 50)));
    assert!((lost as f64 / 147.0 - 1.0).abs() < 0.1, "{lost}");
}

/// The first slow start ends by default before the queue overflows: at 50 Mbit/s and 40 ms 167
/// packets are on the path and as many can wait. HyStart ends it while the window is about that of
/// the path. From there on it grows by a twentieth in a round trip, so that in the one in which the
/// first loss is noticed a twentieth of 334 segments is lost, 17, and no more than twice that until
/// 10 s: K of 334 segments is cbrt(0.3 * 334 / 0.4) = 6.3 s. Without HyStart the window doubles in
/// that round trip, as each acknowledgement opens it by all that it is for: some 334 packets and
/// more.
#[test]
fn hystart_of_linux_ends_slow_start_in_time() {
    let lost = |tcp: &str| drops(&scenario((50, 40), &droptail(167), (1, tcp), (0, 10)));
    let default = lost("");
    assert!(default <= 34, "{default}");
    assert_eq!(default, lost("control = { cubic = { hystart = true } }"));
    assert_eq!(default, lost("control = { cubic = { hystart_law = \"linux\" } }"));
    assert!(lost("control = { cubic = { hystart = false } }") > 334);
    // By the RFCs, slow start ends with a loss; with true, by HyStart++.
    let rfc = "profile = \"rfc\", mss = \"1448 B\", control = { cubic = ";
    let plus_plus = lost(&format!("{rfc}{{ hystart = true }} }}"));
    assert_eq!(
        plus_plus,
        lost(&format!("{rfc}{{ hystart = true, hystart_law = \"rfc9406\" }} }}"))
    );
    assert_ne!(plus_plus, lost(&format!("{rfc}{{}} }}")));
}

/// HighSpeed TCP grows by acknowledgements, not by segments: one flow in front of 60 packets at 10
/// Mbit/s and 40 ms loses 22.7 packets in 45 s on Linux, which counts acknowledgements. Above 38
/// segments that is a segment in a round trip with delayed acknowledgements, from 52 to 93 in 41
/// round trips of 40 to 112 ms, 3.4 to 4.1 s: 11 to 13 losses, of one or two packets each. Counted
/// by segments, growth is up to twice as fast.
#[test]
fn highspeed_counts_acknowledgements() {
    let lost = |tcp: &str| drops(&scenario((10, 40), &droptail(60), (1, tcp), (5, 50)));
    let (linux, rfc) =
        (lost("control = \"highspeed\""), lost("control = { highspeed = { law = \"rfc3649\" } }"));
    assert!((11..=27).contains(&linux), "{linux}");
    assert!(rfc > linux + 5, "{rfc}, {linux}");
}

/// Prague's slow start does not end with its first window: alone through DualPI2 at 50 Mbit/s, it
/// fills at least 45 Mbit/s of the link in the first 60 s on a path of 80 ms, and 40 Mbit/s in 180
/// s on one of 160 ms. At 80 ms the first window of ten leaves in half a round trip, at 3 Mbit/s,
/// and nothing is marked until pacing reaches the rate of the link, with a window of half the path,
/// 167 segments, from five doublings on: 0.4 s and the handshake.
#[test]
fn prague_begins_without_a_queue() {
    let tcp = "control = \"prague\", ecn = true";
    for (rtt_ms, seconds, least) in [(80, 60, 45e6), (160, 180, 40e6)] {
        let text = scenario((50, rtt_ms), "\"dualpi2\"", (1, tcp), (0, seconds));
        let carried = link(&run(&text), "core").throughput_bps;
        assert!(carried > least, "{rtt_ms} ms: {carried}");
    }
    let text = scenario((50, 80), "\"dualpi2\"", (1, tcp), (0, 1));
    let first = run(&text.replace("duration = \"1 s\"", "duration = \"400 ms\""));
    assert_eq!(flow(&first, "f").counted.marked_packets, 0);
}
