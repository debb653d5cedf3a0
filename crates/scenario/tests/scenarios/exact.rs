//! Deterministic networks, where arithmetic gives every time to the picosecond.

use std::fmt::Write as _;

use crate::support::{Row, flow, link, ps, record, run, table, trace, wholes};

const MS: u64 = 1_000_000_000;

/// A chain of nodes n0, n1, ... with a duplex link for each `(rate, delay)`, called l0, l1, ...
fn chain(duration: &str, hops: &[(&str, &str)]) -> String {
    let mut text = format!("duration = \"{duration}\"\n");
    for (at, (rate, delay)) in hops.iter().enumerate() {
        let next = at + 1;
        let _ = write!(
            text,
            "[links.l{at}]\nfrom = \"n{at}\"\nto = \"n{next}\"\n\
             rate = \"{rate}\"\ndelay = \"{delay}\"\n"
        );
    }
    text
}

/// Constant bit rate from n0 to node `to`, first packet at once; `more` adds keys.
fn cbr(to: usize, rate: &str, size: &str, more: &str) -> String {
    format!(
        "[flows.x]\nfrom = \"n0\"\nto = \"n{to}\"\nudp = {{ header = \"1 B\" }}\n{more}\n\
         traffic = {{ cbr = {{ rate = \"{rate}\", size = \"{size}\", random_phase = false }} }}\n"
    )
}

fn delivered(rows: &[Row]) -> Vec<u64> {
    rows.iter().filter(|r| r.event == "delivered" && r.is_data()).map(|r| r.time).collect()
}

/// A packet over an idle network takes no other time than its hops': one packet of 576 B (4608 bit)
/// takes, over each hop, its transmission time rounded up to a picosecond, and the propagation
/// delay. 4608 bit take 135,529,411.76.. ps at 34 Mbit/s, 33,151,079.1.. at 139 Mbit/s,
/// 2,984,455,958.5.. at 1.544 Mbit/s, 7,407,407.4.. at 622.08 Mbit/s and 460,800,000 at 10 Mbit/s.
#[test]
fn one_packet_over_unequal_hops() {
    let hops = [
        ("34 Mbit/s", "10 ms"),
        ("139 Mbit/s", "2.5 ms"),
        ("1.544 Mbit/s", "0 s"),
        ("622.08 Mbit/s", "270 ms"),
        ("10 Mbit/s", "1 ps"),
    ];
    let once = "stop = \"1 ps\"";
    let result = run(&(chain("10 s", &hops) + &cbr(5, "1 Mbit/s", "576 B", once)));
    let transmission = 135_529_412 + 33_151_080 + 2_984_455_959 + 7_407_408 + 460_800_000;
    let propagation = 10 * MS + 25 * MS / 10 + 270 * MS + 1;
    let counted = &flow(&result, "x").counted;
    assert_eq!((counted.sent_packets, counted.delivered_packets), (1, 1));
    assert_eq!(ps(counted.mean_delay_s), transmission + propagation);
    assert_eq!(ps(counted.max_delay_s), transmission + propagation);
    assert_eq!(result.packet_hops, 5);
    for (name, busy) in [("l0", 135_529_412), ("l2", 2_984_455_959)] {
        assert_eq!(ps(link(&result, name).utilization * 10.0), busy);
    }
}

/// Packets do not queue without a reason: at load 0.8 a constant bit rate finds every one of six
/// equal servers free, so that packet i, sent at 1.25 i packet times, arrives at 1.25 i + 6. The
/// same with packet times down to 100 ps, where a coarser clock would see ties.
#[test]
fn a_tandem_at_load_0_8_never_queues() {
    for (rate, load, size, packet) in [
        ("8 Mbit/s", "6.4 Mbit/s", "1000 B", MS),
        ("800 Gbit/s", "640 Gbit/s", "100 B", 1000),
        ("800 Gbit/s", "640 Gbit/s", "10 B", 100),
    ] {
        let gap = packet / 4 * 5;
        let duration = format!("{} ps", 1000 * gap);
        let stop = format!("stop = \"{} ps\"", 800 * gap);
        let text = chain(&duration, &[(rate, "0 s"); 6]) + &cbr(6, load, size, &stop);
        let (result, tables) = record(&format!("{text}[record]\ntrace = 1000000\n"));
        let expected: Vec<u64> = (0..800).map(|i| i * gap + 6 * packet).collect();
        assert_eq!(delivered(&trace(&tables)), expected, "{rate}, {size}");
        let counted = &flow(&result, "x").counted;
        assert_eq!(ps(counted.mean_delay_s), 6 * packet);
        for name in ["l0", "l5"] {
            assert_eq!(link(&result, name).max_queue_packets, 0);
            assert_eq!(link(&result, name).utilization, 0.64, "800 packet times in 1250");
        }
    }
}

/// A burst leaves a server at the server's pace: of five packets of 1000 B sent at one instant,
/// packet k (from 1) passes three hops of 8 Mbit/s in k + 2 packet times; behind a fast first hop
/// (0.1 ms) the slow one sets the pace, 0.1 + k ms; before a fast one, k + 0.1 ms.
#[test]
fn a_burst_is_paced_by_the_slowest_hop() {
    let (slow, fast) = (("8 Mbit/s", "1 ms"), ("80 Mbit/s", "1 ms"));
    for (hops, tenths) in [
        (vec![slow, slow, slow], [30, 40, 50, 60, 70]),
        (vec![fast, slow], [11, 21, 31, 41, 51]),
        (vec![slow, fast], [11, 21, 31, 41, 51]),
    ] {
        let more = "count = 5\nstop = \"1 us\"";
        let text = chain("1 s", &hops) + &cbr(hops.len(), "1 Mbit/s", "1000 B", more);
        let result = run(&text);
        for (number, tenth) in tenths.into_iter().enumerate() {
            let counted = &flow(&result, &format!("x[{number}]")).counted;
            let propagation = hops.len() as u64 * MS;
            assert_eq!(ps(counted.max_delay_s), tenth * MS / 10 + propagation, "{number}");
        }
        // Waiting at the first hop only: 0 + 1 + 2 + 3 + 4 packet times in all, over 1 s.
        let packet = if hops[0] == slow { MS } else { MS / 10 };
        assert_eq!(ps(link(&result, "l0").mean_queue_packets), 10 * packet);
        assert_eq!(link(&result, "l0").max_queue_packets, 4);
    }
}

/// A file of `size` over TCP with segments of 1000 B, IP and TCP headers of 40 B, one segment at
/// first, every segment acknowledged.
fn file(to: usize, size: &str) -> String {
    format!(
        "[flows.x]\nfrom = \"n0\"\nto = \"n{to}\"\n\
         traffic = {{ file = {{ size = \"{size}\" }} }}\n\
         tcp = {{ profile = \"rfc\", \
         mss = \"1000 B\", initial_window = \"rfc2001\", delayed_ack = false }}\n"
    )
}

/// TCP adds no time of its own to a transfer: one segment of 1000 B is a packet of 1040 B (8320
/// bit) there and one of 40 B (320 bit) back. At 10 Mbit/s and 2 Mbit/s: 0.832 + 4.16 ms there,
/// 0.032 + 0.16 ms back, and 3 + 7 ms of propagation each way.
#[test]
fn a_file_of_one_segment() {
    let hops = [("10 Mbit/s", "3 ms"), ("2 Mbit/s", "7 ms")];
    let result = run(&(chain("10 s", &hops) + &file(2, "1000 B")));
    let x = flow(&result, "x");
    let there = 832_000_000 + 4_160_000_000 + 10 * MS;
    let back = 32_000_000 + 160_000_000 + 10 * MS;
    assert_eq!(ps(x.counted.mean_delay_s), there);
    assert_eq!(x.ended_s.map(ps), Some(there + back));
    assert_eq!((x.counted.sent_packets, x.counted.sent_acks), (1, 1));
    assert_eq!(x.counted.goodput_bps, 800.0, "1000 B in 10 s");
}

/// Slow start doubles, and its segments leave back to back: with S = 1040 B at 8 Mbit/s = 1.04 ms,
/// A = 40 B = 0.04 ms and 20 ms each way, R = S + A + 40 ms. Segment 0 leaves at 0, segments 1 and
/// 2 at R, 3 and 4 at 2R, 5 and 6 at 2R + S, when the second acknowledgement comes, and wait for
/// those before: 6 is sent from 2R + 3S to 2R + 4S and acknowledged at 3R + 3S.
#[test]
fn a_file_of_seven_segments_takes_three_rounds() {
    let result = run(&(chain("10 s", &[("8 Mbit/s", "20 ms")]) + &file(1, "7000 B")));
    let x = flow(&result, "x");
    let (s, a) = (1_040_000_000, 40_000_000);
    let r = s + a + 40 * MS;
    assert_eq!(x.ended_s.map(ps), Some(3 * r + 3 * s));
    // Waiting: 2 waits S, 4 waits S, 5 waits S, 6 waits 2S.
    let path = s + 20 * MS;
    assert_eq!(ps(x.counted.mean_delay_s * 7.0), 7 * path + 5 * s);
    assert_eq!(ps(x.counted.max_delay_s), path + 2 * s);
    assert_eq!((x.counted.sent_packets, x.counted.retransmissions), (7, 0));
}

/// A packet that arrives at the very instant at which another has left finds the port free, and its
/// room: two constant bit rates of 4 Mbit/s, half a period apart, fill a server of 8 Mbit/s (and
/// the next) without gap and without ever waiting, even where there is no buffer at all.
#[test]
fn ties_of_arrival_and_departure_leave_no_port_idle() {
    let scheduled = "{ priority = { classes = [{ droptail = { limit = \"0 packets\" } }] } }";
    for queue in ["{ droptail = { limit = \"0 packets\" } }", "\"droptail\"", scheduled] {
        let mut text = "duration = \"1 s\"\nwarm_up = \"10 ms\"\n".to_owned();
        for (name, from, to) in [("l0", "n0", "n1"), ("l1", "n1", "n2")] {
            let _ = write!(
                text,
                "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"8 Mbit/s\"\n\
                 queue = {queue}\n"
            );
        }
        text += &cbr(2, "4 Mbit/s", "1000 B", "");
        text += &cbr(2, "4 Mbit/s", "1000 B", "start = \"1 ms\"").replace("flows.x", "flows.y");
        let result = run(&text);
        for name in ["l0", "l1"] {
            let port = link(&result, name);
            assert_eq!(port.utilization, 1.0, "{queue}: {name}");
            assert_eq!((port.drops, port.max_queue_packets), (0, 0), "{queue}: {name}");
        }
        for name in ["x", "y"] {
            assert_eq!(ps(flow(&result, name).counted.max_delay_s), 2 * MS);
        }
    }
}

/// A server at load 1.25 loses a fifth of the packets: every 4 packet times 5 arrive, and with a
/// buffer of one packet exactly one of the 5 finds it taken. Arrivals at 0.8 i; from the third on,
/// the buffer is free again at each end of service.
#[test]
fn a_deterministic_overload_loses_the_excess() {
    let text = "duration = \"12.7992 s\"\n[links.l0]\nfrom = \"n0\"\nto = \"n1\"\n\
                rate = \"8 Mbit/s\"\nqueue = { droptail = { limit = \"1 packets\" } }\n";
    let result = run(&(text.to_owned() + &cbr(1, "10 Mbit/s", "1000 B", "")));
    let counted = &flow(&result, "x").counted;
    // Arrivals at 0, 0.8, .. 12799.2 ms: 16,000 of them; the server ends 12,799 packets and is busy
    // with another, one waits: 12,801 were taken in.
    assert_eq!(counted.sent_packets, 16_000);
    assert_eq!(counted.delivered_packets, 12_799);
    assert_eq!(counted.dropped_packets, 16_000 - 12_801);
    assert_eq!(link(&result, "l0").utilization, 1.0);
}

/// UDP overload, priority, tail drop and TCP with losses, all times a multiple of `unit_ns`
/// nanoseconds.
fn scaled(unit_ns: u64) -> String {
    let time = |units: u64| format!("\"{} ns\"", units * unit_ns);
    let rate = |bits_per_us: u64| format!("\"{} bit/s\"", bits_per_us * 1_000_000 / unit_ns);
    let droptail = "{ droptail = { limit = \"12 packets\" } }";
    format!(
        "duration = {duration}\n\
         [links.access]\nfrom = \"a\"\nto = \"r\"\nrate = {fast}\ndelay = {delay}\n\
         [links.core]\nfrom = \"r\"\nto = \"b\"\nrate = {slow}\ndelay = {delay}\n\
         queue = {{ priority = {{ classes = [{droptail}, {droptail}] }} }}\n\
         [flows.udp]\nfrom = \"a\"\nto = \"b\"\ncount = 3\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = {cbr}, size = \"500 B\", random_phase = false }} }}\n\
         [flows.tcp]\nfrom = \"a\"\nto = \"b\"\nprecedence = 1\ncount = 2\n\
         [flows.tcp.tcp]\nprofile = \"rfc\"\n\
         control = \"reno\"\nmss = \"1000 B\"\ndelayed_ack = false\n\
         rto_tick = {tick}\nrto_min = {rto_min}\nrto_initial = {rto_min}\nrto_max = {duration}\n\
         [record]\ntrace = 100000\n",
        duration = time(1_000_000),
        delay = time(5_000),
        fast = rate(40_000),
        slow = rate(8_000),
        cbr = rate(800),
        tick = time(10),
        rto_min = time(100_000),
    )
}

/// The clock's grain does not reach results: with all times multiplied by 10^k (rates divided by
/// it), every event of the same trajectory happens at 10^k times its instant, over six decades.
#[test]
fn trajectories_scale_with_time() {
    let (base_result, base_tables) = record(&scaled(1));
    let base = trace(&base_tables);
    let counted = &flow(&base_result, "tcp[0]").counted;
    assert!(counted.retransmissions > 0, "the scenario must have losses to be worth comparing");
    assert!(flow(&base_result, "udp[0]").counted.delivered_packets > 100);
    for k in 1..=6 {
        let factor = 10_u64.pow(k);
        let (result, tables) = record(&scaled(factor));
        let rows = trace(&tables);
        assert_eq!(rows.len(), base.len(), "10^{k}");
        for (row, base) in rows.iter().zip(&base) {
            let expected = Row { time: base.time * factor, ..base.clone() };
            assert_eq!(*row, expected, "10^{k}");
        }
        for (flow, base) in result.flows.iter().zip(&base_result.flows) {
            assert_eq!(flow.counted.sent_packets, base.counted.sent_packets);
            assert_eq!(flow.counted.timeouts, base.counted.timeouts);
        }
        for (link, base) in result.links.iter().zip(&base_result.links) {
            assert_eq!(link.utilization, base.utilization, "10^{k}");
            assert_eq!(link.mean_queue_packets, base.mean_queue_packets, "10^{k}");
        }
    }
}

/// The two ways in which links keep their queue, departures scheduled at arrival or packet by
/// packet, are one server: priority with a single class is tail drop, and everything that is
/// counted must agree. Poisson arrivals, so that no order of ties can matter.
#[test]
fn priority_with_one_class_is_its_queue() {
    let text = |queue: &str| {
        format!(
            "duration = \"20 s\"\nwarm_up = \"3 s\"\n\
             [links.access]\nfrom = \"a\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
             [links.core]\nfrom = \"r\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"10 ms\"\n\
             queue = {queue}\n\
             [flows.tcp]\nfrom = \"a\"\nto = \"b\"\ncount = 3\n\
             start = {{ uniform = [\"0 s\", \"1 s\"] }}\ntcp = {{}}\n\
             [flows.udp]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"1 Mbit/s\", size = \"400 B\" }} }}\n"
        )
    };
    let inner = "{ droptail = { limit = \"9 packets\" } }";
    let plain = run(&text(inner));
    let nested = run(&text(&format!("{{ priority = {{ classes = [{inner}] }} }}")));
    assert!(link(&plain, "core").drops > 100);
    let json = |value: &dyn Fn(&forebay_scenario::RunResult) -> serde_json::Value| {
        (value(&plain), value(&nested))
    };
    let (plain_flows, nested_flows) = json(&|run| serde_json::to_value(&run.flows).unwrap());
    assert_eq!(plain_flows, nested_flows);
    let (plain_links, nested_links) = json(&|run| serde_json::to_value(&run.links).unwrap());
    assert_eq!(plain_links, nested_links);
}

/// Flows of a group that start at different times do not disturb each other: with periods of 20 ms
/// from starts drawn within 2 s, each flow sends at its start and every 20 ms after it, whatever
/// else the group holds. The network holds them all, so each packet takes 0.16 ms.
#[test]
fn constant_flows_keep_their_own_times() {
    let text = chain("5 s", &[("10 Mbit/s", "0 s")])
        + &cbr(1, "80 kbit/s", "200 B", "count = 7\nstart = { uniform = [\"0 s\", \"2 s\"] }")
        + "[record]\ntrace = 100000\n";
    let (result, tables) = record(&text);
    let rows = trace(&tables);
    for flow in &result.flows {
        let sent = rows.iter().filter(|r| r.event == "sent" && r.flow == flow.name);
        let times: Vec<u64> = sent.map(|r| r.time).collect();
        assert!(times[0] < 2000 * MS, "{}", flow.name);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 20 * MS), "{}", flow.name);
        assert_eq!(times.len() as u64, (5000 * MS - times[0]) / (20 * MS) + 1, "{}", flow.name);
    }
}

/// Means of long delays do not overflow: 60 packets over a path of 100 hours have delays of 2.16e7
/// s in all, more than a 64-bit count of picoseconds holds; their mean stays 100 h and 1 ms.
#[test]
fn means_of_long_delays_do_not_saturate() {
    let more = "stop = \"60 ms\"";
    let result =
        run(&(chain("101 h", &[("8 Mbit/s", "100 h")]) + &cbr(1, "8 Mbit/s", "1000 B", more)));
    let counted = &flow(&result, "x").counted;
    assert_eq!(counted.delivered_packets, 60);
    assert!((counted.mean_delay_s - 360_000.001).abs() < 1e-6, "{}", counted.mean_delay_s);
    assert_eq!(result.groups[0].counted.mean_delay_s, counted.mean_delay_s);
}

/// Datagrams end at the stop time of their group, whether or not its flows share a timer; the last
/// one is sent before it.
#[test]
fn datagrams_end_at_the_stop_time() {
    for count in [1, 3] {
        let more = format!("count = {count}\nstop = \"25 ms\"");
        let text = chain("1 s", &[("8 Mbit/s", "0 s")]) + &cbr(1, "80 kbit/s", "100 B", &more);
        for flow in &run(&text).flows {
            assert_eq!(flow.ended_s.map(ps), Some(25 * MS));
            assert_eq!(flow.counted.sent_packets, 3, "at 0, 10 and 20 ms");
        }
    }
    let endless = chain("1 s", &[("8 Mbit/s", "0 s")]) + &cbr(1, "80 kbit/s", "100 B", "");
    assert_eq!(flow(&run(&endless), "x").ended_s, None);
}

/// Acknowledgements are served in the class of the data that they answer: both set out with the
/// precedence of their flow.
#[test]
fn acknowledgements_have_the_precedence_of_their_flow() {
    let flow = "[flows.x]\nfrom = \"n0\"\nto = \"n1\"\nprecedence = 2\ntcp = {}\n";
    let result = run(&(chain("1 s", &[("8 Mbit/s", "1 ms")]) + flow));
    for name in ["l0", "l0.reverse"] {
        let arrived = &link(&result, name).arrived_packets;
        assert!(arrived[2] > 100, "{name}: {arrived:?}");
        assert_eq!(arrived.iter().sum::<u64>(), arrived[2], "{name}: {arrived:?}");
    }
}

/// The distribution of delays covers the same packets as the counters beside it: a packet delivered
/// at the very end of the warm-up (sent at 9 ms, 1 ms under way) counts in neither.
#[test]
fn the_window_opens_for_counters_and_delays_alike() {
    let text = chain("1 s", &[("8 Mbit/s", "0 s")]) + &cbr(1, "1 Mbit/s", "1000 B", "");
    let late = text.replace("udp = {}", "start = \"1 ms\"\nudp = {}");
    let (result, tables) = record(&format!("warm_up = \"10 ms\"\n{late}[record]\ndelays = true\n"));
    let packets = wholes(table(&tables, "delays"), "packets");
    // Sent at 1, 9, 17, .. ms; delivered at 2, 10, 18, .. 994 ms: 125, of which two are not
    // counted.
    assert_eq!(flow(&result, "x").counted.delivered_packets, 123);
    assert_eq!(packets.iter().sum::<u64>(), 123);
}
