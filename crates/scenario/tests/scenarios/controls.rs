//! One flow of each congestion control on one link, against what its theory says.

use crate::support::{floats, flow, link, read, record, run, run_with, table};
use forebay_scenario::{LinkResult, RunResult};

/// Packets have 1500 B.
const BITS: f64 = 12_000.0;

/// A link of `mbps` with `queue`, a round trip of `rtt_ms` without queueing, and `tcp` flows, all
/// from the start. Measured after `warm_up` seconds for 20 s.
fn scenario(mbps: f64, rtt_ms: f64, queue: &str, warm_up: f64, tcp: &[&str]) -> String {
    let mut text = format!(
        "duration = \"{} s\"\nwarm_up = \"{warm_up} s\"\n[links.core]\nfrom = \"a\"\n\
         to = \"b\"\nrate = \"{mbps} Mbit/s\"\ndelay = \"{} ms\"\nqueue = {queue}\n",
        warm_up + 20.0,
        rtt_ms / 2.0
    );
    for (at, tcp) in tcp.iter().enumerate() {
        text += &format!(
            "[flows.f{at}]\nfrom = \"a\"\nto = \"b\"\n[flows.f{at}.tcp]\nprofile = \"rfc\"\n\
             mss = \"1460 B\"\n{tcp}\n"
        );
    }
    text
}

fn droptail(packets: f64) -> String {
    format!("{{ droptail = {{ limit = \"{} packets\" }} }}", packets.round())
}

fn core(text: &str) -> LinkResult {
    link(&run(text), "core").clone()
}

/// Packets that the path holds.
fn held(mbps: f64, rtt_ms: f64) -> f64 {
    mbps * 1e3 * rtt_ms / BITS
}

/// The mean of probe `name` of flow f0 over the measured time.
fn mean_probe(text: &str, name: &str) -> f64 {
    let (_, tables) = record(&format!("{text}[record]\nseries = \"10 ms\"\n"));
    let values = floats(table(&tables, "series/flows.f0"), name);
    let late = &values[values.len() / 2..];
    late.iter().sum::<f64>() / late.len() as f64
}

/// BBR fills the link and not the queue: one flow keeps the link busy but for PROBE_RTT (200 ms and
/// a round trip of 10 s) and keeps at most twice what the path holds in flight, so that at most
/// that much waits, and a few segments; in the mean less than half of it, as each cycle lets the
/// queue out.
#[test]
fn bbr_fills_the_link_and_not_the_queue() {
    for (mbps, rtt_ms) in [(10.0, 40.0), (50.0, 20.0)] {
        let held = held(mbps, rtt_ms);
        let text = scenario(mbps, rtt_ms, &droptail(20.0 * held), 5.0, &["control = \"bbr\""]);
        let core = core(&text);
        assert!(core.utilization > 0.96, "{}", core.utilization);
        assert!(core.mean_queue_packets < 0.5 * held, "{}", core.mean_queue_packets);
        assert!(f64::from(core.max_queue_packets) < held + 10.0, "{}", core.max_queue_packets);
        let bandwidth = mean_probe(&text, "bandwidth_bps");
        // In data: 1460 of 1500 B.
        assert!((bandwidth / (mbps * 1e6 * 1460.0 / 1500.0) - 1.0).abs() < 0.01, "{bandwidth}");
        let min_rtt = mean_probe(&text, "min_rtt_s");
        assert!((min_rtt / (rtt_ms / 1e3) - 1.0).abs() < 0.1, "{min_rtt}");
    }
}

/// BBR's third version fills the link, keeps the queue short and loses little: as above, where
/// ProbeRTT keeps half of what the path holds in flight and comes every 5 s. Behind a buffer of a
/// fifth of that it loses what it tolerates at most, 2 % of a round trip in which it probes, and
/// less in the mean.
#[test]
fn bbr3_fills_the_link_and_loses_little() {
    let (mbps, rtt_ms) = (10.0, 40.0);
    let held = held(mbps, rtt_ms);
    let tcp = ["control = \"bbr3\""];
    let deep = core(&scenario(mbps, rtt_ms, &droptail(20.0 * held), 5.0, &tcp));
    assert!(deep.utilization > 0.95, "{}", deep.utilization);
    assert!(deep.mean_queue_packets < 0.5 * held, "{}", deep.mean_queue_packets);
    assert!(f64::from(deep.max_queue_packets) < 1.25 * held + 10.0, "{}", deep.max_queue_packets);
    let shallow = core(&scenario(mbps, rtt_ms, &droptail(0.2 * held), 5.0, &tcp));
    let lost = shallow.drops as f64 / shallow.arrived_packets.iter().sum::<u64>() as f64;
    assert!(lost < 0.01, "{lost}");
    assert!(shallow.utilization > 0.85, "{}", shallow.utilization);
}

/// HyStart++ ends slow start before the queue overflows: it ends when the round-trip time has grown
/// by 5 ms, an eighth of 40 ms. That shows in the round after the window has doubled beyond the 34
/// packets of the path, with at most 136 of them; five rounds of a quarter of the growth take that
/// to at most 1.25^5 times as much, 415. Without it the window grows by half in the round trip in
/// which the loss is noticed, as an acknowledgement for two segments adds one: of the 634 packets
/// that path and queue hold, about half are lost.
#[test]
fn hystart_ends_slow_start_before_the_queue_overflows() {
    let drops = |hystart: bool| {
        let tcp = format!("control = {{ cubic = {{ hystart = {hystart} }} }}");
        let text = scenario(10.0, 40.0, &droptail(600.0), 0.0, &[&tcp]);
        let text = text.replace("duration = \"20 s\"", "duration = \"5 s\"");
        let core = core(&text);
        (core.drops, core.max_queue_packets)
    };
    let ((lost, _), (kept, queue)) = (drops(false), drops(true));
    assert!((250..400).contains(&lost), "{lost}");
    assert_eq!(kept, 0);
    assert!(queue < 415, "{queue}");
}

/// SEARCH ends slow start behind capacity, and before the queue overflows. In round trips of 40 ms
/// and in the 33.3 packets that the path delivers in each: windows are 0.3, 0.6 and 1.2, and from
/// the first acknowledgement of these on, at time 0, they arrive without a gap. Two packets are
/// sent for each, so that 0.2 + x wait at time x, and one sent at s is acknowledged at 2s + 1.2.
/// The last window of 3.5 delivers 3.5 then. The one a round trip earlier ends at s and delivers
/// 0.6 + s, as 0.3 came before it. Slow start ends where 2(0.6 + s) = 3.5 / 0.65, so at s = 2.09
/// and x = 5.38, or up to a bin later: 5.58 to 5.93 wait, 186 to 198 packets, and one for the two
/// of the last acknowledgement. As the window returns by two, the link stays busy.
#[test]
fn search_ends_slow_start_behind_capacity() {
    let measured = |warm_up: f64| {
        let law = "cubic = { hystart = true, hystart_law = \"search\" }";
        let tcp = format!("delayed_ack = false\ncontrol = {{ {law} }}");
        let text = scenario(10.0, 40.0, &droptail(600.0), warm_up, &[&tcp]);
        let whole = format!("duration = \"{} s\"", warm_up + 20.0);
        core(&text.replace(&whole, "duration = \"2 s\""))
    };
    let (slow_start, behind) = (measured(0.0), measured(1.0));
    assert_eq!(slow_start.drops, 0);
    let queue = slow_start.max_queue_packets;
    assert!((186..=199).contains(&queue), "{queue}");
    assert!(behind.utilization > 0.99, "{}", behind.utilization);
    assert!(behind.max_queue_packets < queue - 33, "{}", behind.max_queue_packets);
}

/// DCTCP keeps the queue at the threshold of marking (Alizadeh and others 2010, section 3.3). One
/// flow at 1 Gbit/s, 400 us and marks from the packet on that finds 21 waiting: W* is 34.3 segments
/// on the path, with one in transmission, and K = 21, so 55.3. In the round trip after the window
/// has reached that all is marked, and the window loses A = W* alpha / 2. It grows by a segment in
/// each round trip but that one, as acknowledgements with the echo do not open it (RFC 3168,
/// section 6.1.2): a cycle takes A + 1 round trips, alpha = 1 / (A + 1), and with W* alpha^2 / 2 +
/// alpha = 1 alpha is 0.173. At most K + 1 wait, and the queue never empties.
///
/// With delayed acknowledgements segments come in pairs of which at first the second alone finds
/// the queue too long: fewer are marked, but not less than half as many.
#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let queue = "{ red = { min_threshold = \"20 packets\", max_threshold = \"21 packets\", \
                 max_probability = 1.0, weight = 1.0, gentle = true, ecn = true, \
                 limit = \"1000 packets\" } }";
    for (delayed_ack, least) in [(false, 0.165), (true, 0.0865)] {
        let tcp = format!("control = \"dctcp\"\necn = true\ndelayed_ack = {delayed_ack}");
        let text = scenario(1000.0, 0.4, queue, 0.5, &[&tcp]).replace("20.5 s", "1 s");
        let (core, share) = (core(&text), mean_probe(&text, "marked_share"));
        let told = format!("{share}, {} packets, {}", core.max_queue_packets, core.utilization);
        assert!((least..0.181).contains(&share), "{told}");
        assert!((21..=23).contains(&core.max_queue_packets), "{told}");
        assert!(core.utilization > 0.9999, "{told}");
        assert_eq!(core.drops, 0);
    }
}

/// Vegas fills the link from a few segments of queue: one flow keeps two to four of its segments
/// waiting, with delayed acknowledgements one more.
#[test]
fn vegas_keeps_a_few_segments_waiting() {
    let text = scenario(10.0, 40.0, &droptail(1000.0), 10.0, &["control = \"vegas\""]);
    let core = core(&text);
    assert!(core.utilization > 0.995, "{}", core.utilization);
    assert!((1.0..5.0).contains(&core.mean_queue_packets), "{}", core.mean_queue_packets);
    assert_eq!(core.drops, 0);
}

/// LEDBAT keeps the queue at its target: 50 ms at 10 Mbit/s are 41.7 packets. Beside Reno, which
/// fills the queue beyond, it yields all but its least window.
#[test]
fn ledbat_keeps_the_target_and_yields() {
    let ledbat = "control = { ledbat = { target = \"50 ms\" } }";
    let alone = core(&scenario(10.0, 40.0, &droptail(1000.0), 30.0, &[ledbat]));
    assert!(alone.utilization > 0.999, "{}", alone.utilization);
    let packets = 0.05 * 10e6 / BITS;
    assert!((alone.mean_queue_packets / packets - 1.0).abs() < 0.1, "{}", alone.mean_queue_packets);
    let both = scenario(10.0, 40.0, &droptail(150.0), 30.0, &[ledbat, "control = \"reno\""]);
    let both = run(&both);
    let (yields, takes) =
        (flow(&both, "f0").counted.goodput_bps, flow(&both, "f1").counted.goodput_bps);
    assert!(yields < 0.1 * takes, "{yields}, {takes}");
}

/// Westwood+ fills the link behind a small buffer, where Reno leaves it idle. With a buffer of 0.2
/// of what the path holds Reno's window goes from 0.6 to 1.2 of that: of 0.4 + 0.2 * 1.1 round
/// trips it fills 0.4 * 0.8 + 0.2 * 1.1, 87 %. Westwood+ begins anew at what the path holds.
#[test]
fn westwood_fills_the_link_behind_a_small_buffer() {
    let held = held(20.0, 60.0);
    let utilization = |control: &str| {
        let tcp = format!("control = \"{control}\"");
        core(&scenario(20.0, 60.0, &droptail(0.2 * held), 20.0, &[&tcp])).utilization
    };
    let (reno, westwood) = (utilization("reno"), utilization("westwood"));
    assert!((reno - 0.871).abs() < 0.03, "{reno}");
    assert!(westwood > 0.97, "{westwood}");
}

/// Scalable TCP needs a seventh of the buffer that Reno does, which is as large as what the path
/// holds: 7/8 of a window fill the path from a buffer of 1/7 of it on.
#[test]
fn scalable_needs_a_seventh_of_a_buffer() {
    let held = held(20.0, 60.0);
    let queue = droptail(held / 6.0);
    let core = core(&scenario(20.0, 60.0, &queue, 20.0, &["control = \"scalable\""]));
    assert!(core.utilization > 0.985, "{}", core.utilization);
}

/// Pacing takes the bursts out of slow start and does not slow a flow down: a paced flow in slow
/// start needs less of a buffer. With a window of Reno's both use the link alike in the end.
#[test]
fn pacing_takes_the_bursts_out_of_slow_start() {
    let most = |pacing: &str| {
        let tcp = format!(
            "pacing = \"{pacing}\"\ninitial_window = \"32 packets\"\nwindow = \"32 packets\""
        );
        let text = scenario(10.0, 40.0, &droptail(1000.0), 0.0, &[&tcp]);
        core(&text).max_queue_packets
    };
    // The window holds less than the path (33 packets); unpaced all of it waits at first.
    assert!(most("none") >= 31, "{}", most("none"));
    let text = scenario(
        10.0,
        40.0,
        &droptail(1000.0),
        1.0,
        &["pacing = \"window\"\nwindow = \"32 packets\""],
    );
    let (result, _): (RunResult, _) = run_with(&read(&text), 0, false);
    let core = link(&result, "core");
    assert!(core.max_queue_packets <= 3, "{}", core.max_queue_packets);
    assert!((core.utilization - 32.0 / 34.3).abs() < 0.03, "{}", core.utilization);
}

/// A flow that names nothing has the defaults of Linux: CUBIC, with packets of 1500 B.
#[test]
fn the_profile_of_linux_is_cubic() {
    let profile = |tcp: &str| {
        let text = scenario(10.0, 40.0, &droptail(50.0), 5.0, &[tcp]);
        let text = text.replace("profile = \"rfc\"\nmss = \"1460 B\"\n", "");
        run(&text).digest
    };
    let linux = profile("");
    assert_eq!(linux, profile("profile = \"linux\""));
    assert_eq!(linux, profile("profile = \"linux\"\ncontrol = \"cubic\"\nmss = \"1448 B\""));
    assert_ne!(linux, profile("profile = \"linux\"\ncontrol = \"reno\""));
}

/// A path that reorders and loses nothing keeps a flow from the rate that it has only if needless
/// recoveries are not undone. A packet has 0.6 ms on the link, and jitter with a mean of 1 ms has
/// some be overtaken by three and sent again. A window that is halved before it exceeds what the
/// path holds uses three quarters of that in the mean, at most. With the threshold of before, slow
/// start leads back at once to where the window was, and on to the limit of the buffer, which holds
/// more than the path: the link is busy all the time but for what a halving there leaves idle.
/// Either sign does.
#[test]
fn reordering_costs_nothing_where_needless_recoveries_are_undone() {
    let used = |undo: &str| {
        let tcp = format!("timestamps = true\ndelayed_ack = false\n{undo}");
        let text = scenario(20.0, 40.0, &droptail(200.0), 5.0, &[&tcp]);
        let jitter = "impairments = [{ jitter = { mean = \"1 ms\", reorder = true } }]";
        core(&text.replacen("[flows.f0]", &format!("{jitter}\n[flows.f0]"), 1)).utilization
    };
    assert!(used("") < 0.75, "{}", used(""));
    for undo in ["dsack", "eifel", "both"] {
        let used = used(&format!("undo = \"{undo}\""));
        assert!(used > 0.97, "{undo}: {used}");
    }
}

/// F-RTO keeps a window from being sent twice after a delay longer than the timeout, as where a
/// mobile host changes its cell: what was on its way is acknowledged behind it, and the second
/// acknowledgement tells. One segment is sent again for each expiry of the timer, instead of all
/// that was outstanding, which is at least what the path holds.
#[test]
fn a_delay_longer_than_the_timeout_costs_one_segment() {
    let sent_again = |recovery: &str, frto: bool| {
        let tcp = format!(
            "recovery = \"{recovery}\"\nfrto = {frto}\nrto_min = \"200 ms\"\n\
             initial_ssthresh = \"60 packets\""
        );
        let text = scenario(20.0, 40.0, &droptail(200.0), 0.0, &[&tcp]);
        let failure = "failure = { down = [\"10 s\"], up = [\"10.5 s\"], waiting = \"kept\" }";
        let text = text.replacen("[flows.f0]", &format!("{failure}\n[flows.f0]"), 1);
        let result = run(&text.replacen("\"20 s\"", "\"11 s\"", 1));
        let flow = flow(&result, "f0");
        (flow.counted.retransmissions, flow.counted.timeouts)
    };
    for recovery in ["newreno", "sack"] {
        let ((without, _), (with, timeouts)) =
            (sent_again(recovery, false), sent_again(recovery, true));
        assert!(without as f64 > held(20.0, 40.0), "{recovery}: {without}");
        assert!(timeouts > 0 && with == timeouts, "{recovery}: {with}, {timeouts} timeouts");
    }
}
