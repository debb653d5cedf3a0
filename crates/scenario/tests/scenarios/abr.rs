//! Explicit rates over whole networks: shares, round trips and cells against arithmetic.

use forebay_network::record::RecordTable;
use forebay_scenario::{PacedResult, RunResult};

use crate::support::{floats, link, record, run, table, trace};

/// Links u - s1 - s2 - v. The two in the middle have `mbps`, and ERICA with a target of 0.9.
fn network(mbps: [u32; 2], flows: &str) -> String {
    let link = |name: &str, from: &str, to: &str, rate: u32, delay: u32, more: &str| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{delay} ms\"\n{more}\n"
        )
    };
    let erica = "explicit_rate = { erica = { interval = \"20 ms\" } }\n\
                 queue = { priority = { classes = [\"droptail\", \"droptail\"] } }";
    let links = link("user", "u", "s1", 155, 1, "")
        + &link("first", "s1", "s2", mbps[0], 10, erica)
        + &link("second", "s2", "s3", mbps[1], 10, erica)
        + &link("egress", "s3", "v", 155, 1, "");
    format!("duration = \"12 s\"\nwarm_up = \"4 s\"\n{links}{flows}")
}

/// So many sources that always want to send 8 Mbit/s.
fn greedy(name: &str, from: &str, to: &str, count: u32, more: &str) -> String {
    format!(
        "[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\n\
         precedence = 1\n{more}\n\
         [flows.{name}.paced]\npace = {{ abr = {{ icr = 0.05 }} }}\n\
         activity = {{ files = {{ rate = \"8 Mbit/s\", size = \"100 MB\", start = 1.0 }} }}\n"
    )
}

fn paced<'r>(result: &'r RunResult, name: &str) -> &'r PacedResult {
    result.rows::<PacedResult>().iter().find(|row| row.name == name).unwrap()
}

/// Rate that each source of a group sent in Mbit/s, resource-management cells included: 32 cells
/// for 31 of data.
fn rates(result: &RunResult, name: &str) -> Vec<f64> {
    let of = |flow: &&forebay_scenario::FlowResult| flow.group == name;
    let rate = |cells: u64| cells as f64 * 32.0 / 31.0 * 424e-6 / result.measured_s;
    result.flows.iter().filter(of).map(|flow| rate(flow.counted.delivered_packets)).collect()
}

/// Sources at one port share it equally and meet its target. Three sources share 0.9 of 10 Mbit/s;
/// between a load factor of 1 and 1 + delta = 1.1 the law lets all have the highest rate that one
/// has, so they may have up to 3.3 Mbit/s each, and none less than 3 but for the rounding of rates,
/// below 0.2 % each for CCR and ER.
#[test]
fn sources_share_a_port_equally() {
    let result = run(&network([10, 100], &greedy("a", "u", "v", 3, "")));
    let shares = rates(&result, "a");
    assert!(shares.iter().all(|share| (2.988..=3.3).contains(share)), "{shares:?}");
    assert!(spread(&shares) < 1.01, "{shares:?}");
    assert_eq!(result.links.iter().map(|link| link.drops).sum::<u64>(), 0);
}

/// The most over the least.
fn spread(shares: &[f64]) -> f64 {
    let most = shares.iter().copied().fold(0.0, f64::max);
    most / shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The part of a port that a source slowed elsewhere leaves is shared by the others. One long
/// source and four share the first link of 10 Mbit/s, so they have 9/5 = 1.8 Mbit/s each; it leaves
/// 7.2 of the second to two others, 3.6 each, where equal parts would be 3. A load factor up to 1.1
/// stays as it is: 1.8 to 1.98, and from (9 - 1.98)/2 = 3.51 to (9.9 - 1.8)/2 = 4.05, all less the
/// rounding of rates.
#[test]
fn what_an_upstream_bottleneck_leaves_is_shared() {
    let flows = greedy("long", "u", "v", 1, "")
        + &greedy("local", "u", "s2", 4, "")
        + &greedy("near", "s2", "v", 2, "");
    let result = run(&network([10, 10], &flows));
    let mut first = rates(&result, "local");
    first.extend(rates(&result, "long"));
    assert!(first.iter().all(|share| (1.79..=1.98).contains(share)), "{first:?}");
    let near = rates(&result, "near");
    assert!(near.iter().all(|share| (3.49..=4.05).contains(share)), "{near:?}");
    assert!(spread(&first) < 1.01 && spread(&near) < 1.01, "{first:?} {near:?}");
}

/// Datagrams at so many Mbit/s with high priority over the first link.
fn background(mbps: f64, from_s: u32, to_s: u32) -> String {
    format!(
        "[flows.background]\nfrom = \"s1\"\nto = \"s2\"\nstart = \"{from_s} s\"\n\
         stop = \"{to_s} s\"\nudp = {{}}\n\
         traffic = {{ cbr = {{ rate = \"{mbps} Mbit/s\", size = \"53 B\" }} }}\n"
    )
}

/// The values of a column at the samples after `from` up to `to`, in seconds.
fn between(table: &RecordTable, name: &str, from: f64, to: f64) -> Vec<f64> {
    let times = floats(table, "time_s").iter();
    let rows = times.zip(floats(table, name)).filter(|(time, _)| **time > from && **time <= to);
    rows.map(|(_, value)| *value).collect()
}

/// Sources make room for what goes first, and come back: two sources have 0.9 of 10 Mbit/s; while
/// others send 5 Mbit/s at high priority they have 9 - 5 = 4; then 9 again. Up to 1.1 times that is
/// kept, and a 32nd of it are resource-management cells. Load factor, shares and allowed rates show
/// it.
#[test]
fn sources_make_room_and_come_back() {
    let flows = greedy("a", "u", "v", 2, "") + &background(5.0, 4, 8);
    let text = network([10, 100], &flows).replace("warm_up = \"4 s\"", "")
        + "[record]\nseries = \"500 ms\"\n";
    let (_, tables) = record(&text);
    let (flow, port) = (table(&tables, "series/flows.a"), table(&tables, "series/links.first"));
    for (from, to, mbps) in [(2.0, 4.0, 9.0), (5.0, 8.0, 4.0), (9.0, 12.0, 9.0)] {
        let near = |values: Vec<f64>, part: f64, low: f64, high: f64| {
            assert!(values.len() > 3);
            let range = mbps * 1e6 * part * low..=mbps * 1e6 * part * high;
            assert!(
                values.iter().all(|v| range.contains(v)),
                "{from} to {to}: {values:?} {range:?}"
            );
        };
        near(between(flow, "throughput_bps", from, to), 31.0 / 32.0, 0.98, 1.1);
        near(between(flow, "mean_allowed_bps", from, to), 0.5, 0.98, 1.12);
        near(between(port, "capacity_bps", from, to), 1.0, 0.98, 1.02);
        near(between(port, "fair_share_bps", from, to), 0.5, 0.98, 1.02);
        near(between(port, "controlled_bps", from, to), 1.0, 0.98, 1.14);
        let load = between(port, "load_factor", from, to);
        assert!(load.iter().all(|z| (0.98..1.14).contains(z)), "{load:?}");
        assert!(between(port, "active_flows", from, to).iter().all(|number| *number == 2.0));
    }
}

/// A source that may send nothing starts again when it may: 9.5 Mbit/s of others leave nothing of
/// 0.9 times 10, the source stops, and asks out of rate. When they end, the next cell that asks
/// comes within 200 ms, and its answer 44 ms of propagation and an interval of 20 ms later: data
/// flow again in the sample from 6.3 to 6.4 s.
#[test]
fn a_stopped_source_starts_again() {
    let flows = greedy("a", "u", "v", 1, "") + &background(9.5, 4, 6);
    let text = network([10, 100], &flows).replace("warm_up = \"4 s\"", "");
    let (_, tables) = record(&(text + "[record]\nseries = \"100 ms\"\n"));
    let flow = table(&tables, "series/flows.a");
    assert_eq!(between(flow, "throughput_bps", 5.05, 6.05), [0.0; 10]);
    assert!(between(flow, "throughput_bps", 6.35, 6.45)[0] > 0.0);
    assert!(between(flow, "throughput_bps", 7.95, 8.05)[0] > 7e6);
}

/// Resource-management cells are one in 32, all of them come back, and they take their time on the
/// links. One source stops after 10 s, so that all of them have come back after 12: every 32nd cell
/// is one, from the first on; links there carry data and cells, those back carry the cells. A round
/// trip is propagation, 2 * 22 ms, and eight transmissions of 424 bit: the source's cells never
/// meet.
#[test]
fn one_cell_in_32_goes_round() {
    let flows = greedy("a", "u", "v", 1, "stop = \"10 s\"");
    let result = run(&network([10, 100], &flows).replace("warm_up = \"4 s\"", ""));
    let (row, counted) = (paced(&result, "a"), &result.groups[0].counted);
    let (data, cells) = (counted.sent_packets, row.resource_cells);
    assert_eq!(cells, (data + cells).div_ceil(32));
    assert_eq!((counted.delivered_packets, row.resource_cells_back), (data, cells));
    assert!(cells > 5000);
    for name in ["user", "first", "second", "egress"] {
        assert_eq!(link(&result, name).departed_packets, [0, data + cells, 0, 0]);
        assert_eq!(link(&result, &format!("{name}.reverse")).departed_packets, [0, cells, 0, 0]);
    }
    let cell_times: f64 = [155e6, 10e6, 100e6, 155e6].iter().map(|rate| 424.0 / rate).sum();
    let right = 2.0 * (0.022 + cell_times);
    assert!((row.resource_delay_s - right).abs() < 1e-10, "{} {right}", row.resource_delay_s);
}

/// Sources under explicit rates keep the minimum that they are promised: ten sources with a minimum
/// of half of 2 Mbit/s want twice a link of 10 Mbit/s, whose target would leave 0.9 each; all go at
/// 1, a resource-management cell in 32 included.
#[test]
fn a_minimum_is_kept() {
    let flows = greedy("a", "u", "v", 10, "")
        .replace("icr = 0.05", "mcr = 0.5, icr = 0.5")
        .replace("8 Mbit/s", "2 Mbit/s");
    let result = run(&network([10, 100], &flows));
    let shares = rates(&result, "a");
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 1e-3), "{shares:?}");
    assert!(paced(&result, "a").floor_ratio > 0.999);
}

/// A trace names resource-management cells apart from data and acknowledgements.
#[test]
fn traces_name_resource_management_cells() {
    let text = network([10, 100], &greedy("a", "u", "v", 1, "")).replace("12 s", "5 s");
    let (result, tables) = record(&(text + "[record]\ntrace = 3000000\n").replace("4 s", "0 s"));
    let sent =
        trace(&tables).iter().filter(|row| row.event == "sent" && row.kind == "resource").count();
    // Sent by the source, and sent back by the receiver.
    let (cells, back) =
        (paced(&result, "a").resource_cells, paced(&result, "a").resource_cells_back);
    assert!(sent as u64 >= cells + back && sent as u64 <= 2 * cells, "{sent} {cells} {back}");
}
