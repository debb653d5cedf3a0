//! Cells: two priorities against theory, paced sources in closed form, and rate-based control of a
//! whole network against its own records.

use std::collections::BTreeMap;

use forebay_kernel::math::exp;
use forebay_network::record::RecordTable;
use forebay_scenario::{LatenessResult, PacedResult, PolicingResult, RunResult};

use crate::statistics::{Interval, interval, replicate};
use crate::support::{floats, link, names, ps, record, run, table, wholes, words};

/// Time of a cell of 53 B at 6 Mbit/s, in seconds.
const CELL_S: f64 = 424.0 / 6e6;

fn group(runs: &[RunResult], name: &str) -> Interval {
    interval(runs, |run| {
        let of = |group: &&forebay_scenario::GroupResult| group.name == name;
        run.groups.iter().find(of).unwrap().counted.mean_delay_s
    })
}

fn paced<'r>(result: &'r RunResult, name: &str) -> &'r PacedResult {
    result.rows::<PacedResult>().iter().find(|row| row.name == name).unwrap()
}

fn policing<'r>(result: &'r RunResult, name: &str) -> &'r PolicingResult {
    result.rows::<PolicingResult>().iter().find(|row| row.name == name).unwrap()
}

fn lateness<'r>(result: &'r RunResult, name: &str) -> &'r LatenessResult {
    result.rows::<LatenessResult>().iter().find(|row| row.name == name).unwrap()
}

/// Poisson cells of both priorities at a load of 0.3 and 0.5, with and without CLP, under `queue`.
fn two_priorities(queue: &str) -> String {
    let flows = [("p0", "1.2", 0), ("p0clp", "0.6", 2), ("p1", "2", 1), ("p1clp", "1", 3)];
    let flow = |(name, rate, precedence): (&str, &str, u32)| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nprecedence = {precedence}\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"{rate} Mbit/s\", size = \"53 B\" }} }}\n"
        )
    };
    let head = "duration = \"21 s\"\nwarm_up = \"1 s\"\n[links.port]\nfrom = \"a\"\nto = \"b\"\n\
                rate = \"6 Mbit/s\"\nduplex = false\n";
    format!("{head}queue = {queue}\n{}", flows.map(flow).concat())
}

/// Cells do not preempt each other, and loss priority does not change who is served: the mean wait
/// of priority k is W0/((1-s_(k-1))(1-s_k)) (Cobham 1954) whatever their CLP; with cells of one
/// size T and loads 0.3 and 0.5, W0 = 0.8 T/2, so the times in the system are T + 0.4 T/0.7 =
/// 1.5714 T and T + 0.4 T/(0.7 * 0.2) = 3.8571 T. Preemptive resume would give T + 0.15 T/0.7 =
/// 1.2143 T and T/0.7 + 0.4 T/0.14 = 4.2857 T, first in first out T + 0.4 T/0.2 = 3 T for all.
#[test]
fn priorities_of_cells_wait_as_cobham_says() {
    let large = "{ partial_buffer_sharing = { limit = \"9999 packets\", \
                 threshold = \"9999 packets\" } }";
    let queue = format!("{{ priority = {{ map = [0, 1, 0, 1], classes = [{large}, {large}] }} }}");
    let runs = replicate(&two_priorities(&queue));
    for (names, right, preemptive) in [
        (["p0", "p0clp"], 1.0 + 0.4 / 0.7, 1.0 + 0.15 / 0.7),
        (["p1", "p1clp"], 1.0 + 0.4 / 0.14, 1.0 / 0.7 + 0.4 / 0.14),
    ] {
        for name in names {
            group(&runs, name).accepts(right * CELL_S);
            group(&runs, name).rejects(preemptive * CELL_S);
            group(&runs, name).rejects(3.0 * CELL_S);
        }
    }
}

/// With one queue all cells wait alike, first in first out, so that the test of priorities cannot
/// pass without them.
#[test]
fn one_queue_of_cells_is_first_in_first_out() {
    let runs = replicate(&two_priorities("\"droptail\""));
    for name in ["p0", "p1clp"] {
        group(&runs, name).accepts(3.0 * CELL_S);
        group(&runs, name).rejects((1.0 + 0.4 / 0.7) * CELL_S);
    }
}

/// One source that sends one file of 1 MB at once, on the thesis' way of 280 ms.
fn one_file(pace: &str) -> String {
    let link = |name: &str, from: &str, to: &str, rate: u32, delay: u32| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{delay} ms\"\n"
        )
    };
    let links = link("user", "u", "s1", 21, 5)
        + &link("satellite", "s1", "s2", 6, 270)
        + &link("egress", "s2", "v", 21, 5);
    format!(
        "duration = \"30 s\"\n{links}\
         [flows.data]\nfrom = \"u\"\nto = \"v\"\n\
         policing = {{ peak = {{ rate = \"5 Mbit/s\" }} }}\n\
         [flows.data.paced]\npace = {pace}\n\
         activity = {{ files = {{ rate = \"500 kbit/s\", gap = \"50000 s\", start = 1.0 }} }}\n"
    )
}

/// An undisturbed file takes the time of its bits at the rates of its source. It is 1 MB in 18868
/// whole cells, 8000032 bit. Slow start sends 250, 300, .., 450 kbit/s for 0.56 s each, 980 kbit in
/// 2.8 s; the rest takes 7020032 / 500000 s: 16.840064 s in all. Where the rate keeps rising by 2 %
/// of the nominal rate each 0.56 s, n further whole steps carry 280 (n + 0.02 n (n-1)/2) kbit. A
/// cell's time is rounded up by a picosecond at most.
#[test]
fn an_undisturbed_file_takes_the_time_of_its_bits() {
    let time = |pace: &str| {
        let result = run(&one_file(pace));
        let row = paced(&result, "data").clone();
        assert_eq!((row.transfers, row.sessions), (1, 1));
        assert_eq!(result.groups[0].counted.sent_packets, 18_868);
        row
    };
    let close = |found: f64, right: f64| assert!((found - right).abs() < 1e-6, "{found} {right}");
    let fixed = time("\"uncontrolled\"");
    close(fixed.transfer_s, 2.8 + 7_020_032.0 / 500e3);
    // 0.5 to 0.9 for 0.56 s each, then 1.
    close(fixed.mean_scale, 8_000_032.0 / 500e3 / fixed.transfer_s);
    close(time("{ uncontrolled = { start = 1.0 } }").transfer_s, 8_000_032.0 / 500e3);
    let mut left = 7_020_032.0 / 500e3;
    let (mut scale, mut steps) = (1.0, 0.0);
    while left > 0.56 * scale {
        left -= 0.56 * scale;
        scale += 0.02;
        steps += 1.0;
    }
    close(time("{ steps = { floor = 0.0 } }").transfer_s, 2.8 + 0.56 * steps + left / scale);
    close(time("{ steps = { floor = 0.0, ceiling = 1.0 } }").transfer_s, fixed.transfer_s);
}

/// Voice and video offer the loads that the thesis computes: in a session 32 and 352 kbit/s, and
/// half of the time there is one. Slow start takes from a session of exponential length, mean 15 s,
/// a share of d times the chance that it reaches that far: 0.5, 0.4, .. 0.1 for 0.56 s each, so the
/// mean scale is 1 - sum of d_i (exp(-0.56 i/15) - exp(-0.56 (i+1)/15)). Packets are of ten cells
/// here, for speed.
#[test]
fn uncontrolled_sources_offer_the_loads_of_the_thesis() {
    let source = |name: &str, rates: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\ncount = 100\n[flows.{name}.paced]\n\
             size = \"530 B\"\npace = {{ uncontrolled = {{ rtt = \"560 ms\" }} }}\n\
             activity = {{ sessions = {{ {rates}, active = \"15 s\" }} }}\n"
        )
    };
    let head = "duration = \"104 s\"\nwarm_up = \"4 s\"\n\
                [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\n";
    let voice = source("voice", "rate = \"64 kbit/s\"");
    let video = source("video", "rate = \"512 kbit/s\", low_rate = \"192 kbit/s\"");
    let runs = replicate(&format!("{head}{voice}{video}"));
    let reached = |step: i32| exp(-0.56 * f64::from(step) / 15.0);
    let lost = |step: i32| 0.1 * f64::from(5 - step) * (reached(step) - reached(step + 1));
    let scale = 1.0 - (0..5).map(lost).sum::<f64>();
    for (name, within) in [("voice", 32e3), ("video", 352e3)] {
        interval(&runs, |run| paced(run, name).nominal_bps).accepts(within);
        interval(&runs, |run| paced(run, name).mean_scale).accepts(scale);
        interval(&runs, |run| paced(run, name).mean_scale).rejects(1.0);
        interval(&runs, |run| paced(run, name).session_s / 100.0 / 100.0).accepts(0.5);
    }
    // A packet that is not full when a session ends is lost: 1 in a thousand, of video.
    let sent = |run: &RunResult| run.groups[0].counted.sent_packets as f64 * 4240.0 / 100.0 / 100.0;
    interval(&runs, sent).accepts(176e3 * scale);
    interval(&runs, sent).rejects(352e3);
}

const CONTROL: &str = include_str!("../data/atm-control.toml");

fn sums<const N: usize>(values: impl Iterator<Item = [u64; N]>) -> [u64; N] {
    values.fold([0; N], |mut sum, value| {
        sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += value);
        sum
    })
}

/// Cells and notifications are conserved on their ways, class by class. Sources stop after 10 s,
/// and the network runs empty: each cell sent was delivered or dropped; on each link arrivals of a
/// class departed or were dropped; the cells with CLP=1 at the satellite link are those that
/// policers marked; and each notification reached its source or was dropped.
#[test]
fn cells_and_notifications_are_conserved_by_class() {
    let text = CONTROL
        .replace("duration = \"12 s\"", "duration = \"20 s\"")
        .replace("late_after = \"1 ms\"", "late_after = \"1 ms\"\nstop = \"10 s\"");
    let result = run(&text);
    for group in &result.groups {
        let counted = &group.counted;
        let out = counted.delivered_packets + counted.dropped_packets;
        assert_eq!(counted.sent_packets, out, "{}", group.name);
        let row = paced(&result, &group.name);
        let heard = row.accepted_rate_notices
            + row.accepted_discard_notices
            + row.ignored_rate_notices
            + row.ignored_discard_notices;
        assert_eq!(counted.sent_acks, heard + counted.dropped_acks, "{}", group.name);
        assert!(heard > 0, "{} heard nothing", group.name);
    }
    for link in &result.links {
        for class in 0..4 {
            let out = link.departed_packets[class] + link.dropped_packets[class];
            assert_eq!(link.arrived_packets[class], out, "{} class {class}", link.name);
        }
    }
    let satellite = link(&result, "satellite");
    let marked = sums(
        result
            .rows::<PolicingResult>()
            .iter()
            .map(|row| [row.marked_by_peak, row.marked_by_bucket]),
    );
    assert!(marked[0] > 0 && marked[1] > 0, "{marked:?}: both mark");
    let clp = satellite.arrived_packets[2] + satellite.arrived_packets[3];
    assert_eq!(clp, marked[0] + marked[1]);
    let dropped: u64 = result.rows::<PolicingResult>().iter().map(|row| row.dropped).sum();
    assert_eq!(satellite.drop_reasons.policed, dropped);
    assert!(satellite.drop_reasons.selective > 0, "nothing was dropped for its CLP");
    // Only cells with CLP=1 are dropped at the thresholds.
    let low = satellite.dropped_packets[2] + satellite.dropped_packets[3];
    assert!(satellite.drop_reasons.selective <= low);
}

/// Scales of each source in time, from the log.
fn scales(tables: &[RecordTable]) -> BTreeMap<String, Vec<(u64, f64)>> {
    let log = table(tables, "paces");
    let mut all: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    let rows = floats(log, "time_s").iter().zip(names(log, "flow")).zip(floats(log, "scale"));
    for ((time, flow), scale) in rows {
        all.entry(flow.clone()).or_default().push((ps(*time), *scale));
    }
    all
}

/// Sources change their rates only in the ways that the control has: each change in a whole run is
/// a step of slow start (+0.1, to 1 at most), a step of 2 % (to the ceiling), a cut by a fifth or a
/// half (to the floor), the beginning of a session at a half, or its end. No voice or video source
/// is below a half of its rate or above it, no data source below zero, and no source is cut twice
/// by high rates within a round trip (twice the 64 ms of the way).
#[test]
fn every_change_of_rate_is_one_that_the_control_has() {
    let (result, tables) = record(CONTROL);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let mut seen = BTreeMap::new();
    for (flow, changes) in scales(&tables) {
        let data = flow.starts_with("data");
        let (floor, ceiling) = if data { (0.0, f64::INFINITY) } else { (0.5, 1.0) };
        let mut before: (u64, f64) = (0, 0.0);
        let mut last_cut = None;
        for (time, scale) in changes {
            let (from, kind) = (before.1, |kind: &'static str, right: bool| right.then_some(kind));
            let found = kind("end", scale == 0.0)
                .or(kind("begin", from == 0.0 && scale == 0.5))
                .or(kind("cut", near(scale, (from * 0.8_f64).max(floor)) && scale <= from))
                .or(kind("half", near(scale, (from * 0.5).max(floor)) && scale <= from))
                .or(kind("step", near(scale, (from + 0.02).min(ceiling))))
                .or(kind("slow start", near(scale, (from + 0.1).min(1.0)) && from >= 0.5));
            let found = found.unwrap_or_else(|| panic!("{flow}: {before:?} to {scale} at {time}"));
            *seen.entry((data, found)).or_insert(0) += 1;
            assert!(scale == 0.0 || scale >= floor && scale <= ceiling, "{flow}: {scale}");
            if found == "begin" {
                last_cut = None;
            }
            if found == "cut" {
                // Twice the propagation of the way, 2 + 60 + 2 ms.
                let gap = last_cut.replace(time).map_or(u64::MAX, |last| time - last);
                assert!(gap >= 128_000_000_000, "{flow}: cut again after {gap} ps");
            }
            before = (time, scale);
        }
    }
    for kind in ["end", "begin", "cut", "half", "step", "slow start"] {
        assert!(seen.contains_key(&(true, kind)), "no {kind} in {seen:?}");
    }
    for name in ["voice", "video"] {
        let row = paced(&result, name);
        assert!(row.least_scale.unwrap() >= 0.5 && row.mean_scale <= 1.0);
        assert!(row.floor_ratio < 1.0, "{row:?}");
    }
    assert!(paced(&result, "voice").floor_ratio > 0.0);
    assert!(paced(&result, "data").least_scale.unwrap() < 0.5);
}

/// Notifications need time to reach their sources: they take the way back, 2 ms and the time of a
/// cell at 8 Mbit/s, and no source gets two within the 20 ms for which the port remembers.
#[test]
fn notifications_take_the_way_back_one_at_a_time() {
    let result = run(CONTROL);
    for row in result.rows::<PacedResult>() {
        let alone = 2e-3 + 424.0 / 8e6;
        assert!(row.notice_delay_s >= alone - 1e-12, "{row:?}");
        assert!(row.notice_delay_s < 2.0 * alone, "{row:?}");
        // Two that leave so far apart arrive closer if the first waits longer.
        assert!(row.least_notice_gap_s.unwrap() > 19.9e-3, "{row:?}");
    }
    let back = link(&result, "user.reverse");
    let sent: u64 = result.groups.iter().map(|group| group.counted.sent_acks).sum();
    assert_eq!(back.departed_packets, [sent, 0, 0, 0]);
}

/// Late cells are those later than the fastest of their source by more than the limit: counted here
/// from the trace, which has every cell.
#[test]
fn late_cells_are_those_of_the_trace() {
    let (result, tables) = record(CONTROL);
    let trace = table(&tables, "trace");
    let (events, flows) = (words(trace, "event"), names(trace, "flow"));
    let (numbers, kinds) = (wholes(trace, "number"), words(trace, "kind"));
    let times = floats(trace, "time_s");
    let mut sent = BTreeMap::new();
    let mut delays: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for row in (0..events.len()).filter(|row| kinds[*row] != "notice") {
        let cell = (flows[row].as_str(), numbers[row]);
        match events[row] {
            "sent" => drop(sent.insert(cell, ps(times[row]))),
            "delivered" => delays.entry(cell.0).or_default().push(ps(times[row]) - sent[&cell]),
            _ => {}
        }
    }
    for name in ["voice", "video", "data"] {
        let of_group = delays.iter().filter(|(flow, _)| flow.starts_with(name));
        let late: usize = of_group
            .map(|(_, delays)| {
                let least = delays.iter().min().unwrap();
                delays.iter().filter(|delay| **delay > least + 1_000_000_000).count()
            })
            .sum();
        assert_eq!(lateness(&result, name).late_packets, late as u64, "{name}");
        assert!(name == "voice" || late > 0, "no cell of {name} is late");
    }
}

/// Bursty cells over a link, policed in front of the next: `policing` of two flows.
fn policed(policing: &str) -> String {
    format!(
        "duration = \"60 s\"\n\
         [links.access]\nfrom = \"a\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [links.core]\nfrom = \"r\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         [flows.cells]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nudp = {{}}\npolicing = {policing}\n\
         traffic = {{ on_off = {{ rate = \"200 kbit/s\", size = \"53 B\" }} }}\n\
         [record]\ntrace = 1000000\n"
    )
}

/// Times in ps and numbers of the cells that reach the second link, by flow and precedence.
fn arrivals(tables: &[RecordTable]) -> BTreeMap<(String, u64), Vec<(u64, u64)>> {
    let trace = table(tables, "trace");
    let (events, links) = (words(trace, "event"), names(trace, "link"));
    let (numbers, classes) = (wholes(trace, "number"), wholes(trace, "precedence"));
    let (times, flows) = (floats(trace, "time_s"), names(trace, "flow"));
    let mut all: BTreeMap<(String, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for row in (0..events.len()).filter(|row| events[*row] == "enqueued" && links[*row] == "core") {
        let key = (flows[row].clone(), classes[row]);
        all.entry(key).or_default().push((ps(times[row]), numbers[row]));
    }
    all
}

/// A peak rate controller spaces cells by its rate, keeps the order and number of those that it
/// holds, and delays no other: at 100 kbit/s cells are 4.24 ms apart at least; discarding, it marks
/// none; letting the head go early, it drops none and keeps the order.
#[test]
fn a_peak_rate_controller_spaces_cells() {
    let (result, tables) =
        record(&policed("{ peak = { rate = \"100 kbit/s\", queue = \"9 packets\" } }"));
    let cells = arrivals(&tables);
    assert_eq!(cells.len(), 2, "two flows, no CLP");
    for times in cells.values() {
        let spaced = |pair: &[(u64, u64)]| pair[1].0 - pair[0].0 >= 4_240_000_000;
        assert!(times.windows(2).all(spaced) && times.len() > 1000);
        assert!(times.windows(2).any(|pair| pair[1].0 - pair[0].0 == 4_240_000_000));
        assert!(times.is_sorted_by_key(|(_, number)| *number));
    }
    let row = policing(&result, "cells");
    assert_eq!((row.marked_by_peak, row.marked_by_bucket, row.max_queue_packets), (0, 0, 9));
    assert!(row.dropped > 0 && row.dropped == link(&result, "core").drop_reasons.policed);
    let text = "{ peak = { rate = \"100 kbit/s\", queue = \"9 packets\", full = \"mark_head\" } }";
    let (result, tables) = record(&policed(text));
    let row = policing(&result, "cells");
    assert!(row.marked_by_peak > 0 && row.dropped == 0, "{row:?}");
    let cells = arrivals(&tables);
    for flow in ["cells[0]", "cells[1]"] {
        let [clear, marked] = [0, 2].map(|class| cells[&(flow.to_owned(), class)].clone());
        // Cells that leave early do not start the timer: those in their time stay apart.
        assert!(clear.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 4_240_000_000), "{flow}");
        let mut all = [clear, marked].concat();
        all.sort_unstable();
        assert!(all.is_sorted_by_key(|(_, number)| *number), "{flow}: cells overtake each other");
    }
    // Where they do, a cell in its time comes no earlier than an interval after one that did not.
    let (_, tables) =
        record(&policed(&text.replace("\"mark_head\"", "\"mark_head\", restart = true")));
    let cells = arrivals(&tables);
    let [clear, marked] = [0, 2].map(|class| cells[&("cells[0]".to_owned(), class)].clone());
    let early = |(time, _): &(u64, u64)| {
        let after = clear.partition_point(|(other, _)| other <= time);
        clear.get(after).is_none_or(|(next, _)| next - time >= 4_240_000_000)
    };
    assert!(!marked.is_empty() && marked.iter().all(early));
}

/// No more unmarked cells pass a leaky bucket than its contract allows: in any window at most D +
/// 1 + rate * window, with a queue or without; and of the cells that a full queue pushes out, all
/// are marked or dropped as asked.
#[test]
fn a_leaky_bucket_bounds_unmarked_cells_in_every_window() {
    for (queue, full) in [(0, "mark_head"), (0, "discard"), (20, "mark_head"), (20, "discard")] {
        let bucket = format!(
            "{{ bucket = {{ rate = \"90 kbit/s\", depth = 30, queue = \"{queue} packets\", \
             full = \"{full}\" }} }}"
        );
        let (result, tables) = record(&policed(&bucket));
        let row = policing(&result, "cells");
        let marks = full == "mark_head";
        assert_eq!((row.marked_by_bucket > 0, row.dropped > 0), (marks, !marks), "{bucket}");
        assert_eq!(row.max_queue_packets, queue, "{bucket}");
        let cells = arrivals(&tables);
        for ((flow, class), times) in cells.iter().filter(|((_, class), _)| *class == 0) {
            let mut least = f64::INFINITY;
            let mut most = f64::NEG_INFINITY;
            for (number, (time, _)) in times.iter().enumerate() {
                let level = number as f64 - 90e3 / 424.0 * *time as f64 / 1e12;
                least = least.min(level);
                most = most.max(level + 1.0 - least);
            }
            assert!(most <= 31.0 + 1e-6, "{bucket} {flow} {class}: {most}");
            assert!(most > 30.0, "{bucket} {flow}: {most} is never near the bound");
        }
    }
}

/// Watching a port does not change it: with a detector that has nothing to say the trajectory is
/// the one without, under two priorities and under tail drop.
#[test]
fn a_silent_detector_changes_nothing() {
    let detector = "detector = { input_rate = { interval = \"20 ms\", hold_off = \"20 ms\" } }\n";
    let silent = "detector = { input_rate = { threshold = 99.0, discards = false } }\n";
    let queue = "[links.satellite.queue.priority]";
    // The same tables somewhere else leave the port with tail drop.
    for place in [queue, "[links.egress.reverse.queue.priority]"] {
        let result = |with: &str| run(&CONTROL.replace(detector, with).replace(queue, place));
        let (without, with) = (result(""), result(silent));
        assert_eq!(without.digest, with.digest, "{place}");
        // Without a detector tail drop schedules departures ahead, and needs fewer events.
        assert!(without.events == with.events || place != queue, "{place}");
        assert!(with.groups.iter().all(|group| group.counted.sent_acks == 0));
    }
}

/// Forward notifications come by the way of the cells: with forward notification every one comes
/// from the far end, over 60 + 2 + 2 ms of links and no queue, a cell at 1.9 and at 8 Mbit/s each;
/// with detection at the port it comes over 2 ms. And the first takes longer by the way there and
/// back, 2 * 62 ms, at least.
#[test]
fn forward_notifications_take_the_way_of_the_cells() {
    let detector = "detector = { input_rate = { interval = \"20 ms\", hold_off = \"20 ms\" } }\n";
    let port = "detector = { input_rate = { interval = \"20 ms\", hold_off = \"20 ms\", \
                discards = false } }\n";
    let marker = "conditioner = { efci = { interval = \"20 ms\" } }\n";
    let hearing = "[flows.voice.paced]\nefcn = { interval = \"20 ms\" }";
    let heard = |text: &str| {
        let result = run(text);
        let row =
            result.rows::<PacedResult>().iter().find(|row| row.name == "voice").unwrap().clone();
        assert!(row.accepted_rate_notices > 10 && row.accepted_discard_notices == 0, "{row:?}");
        let marked: u64 = result.groups.iter().map(|group| group.counted.marked_packets).sum();
        (row.first_notice_s.unwrap(), row.notice_delay_s, marked)
    };
    // Data go with the rest: what is marked is the voice of the lowest class that is there.
    let voice_alone = |with: &str| {
        let text = CONTROL.replace(detector, with).replace("count = 24", "count = 90");
        let until = text.find("[flows.video]").unwrap();
        text[..until].to_owned()
    };
    let backward = heard(&voice_alone(port));
    let forward = heard(&voice_alone(marker).replace("[flows.voice.paced]", hearing));
    assert!((0.002..0.004).contains(&backward.1) && backward.2 == 0, "{backward:?}");
    assert!((0.064..0.066).contains(&forward.1) && forward.2 > 100, "{forward:?}");
    assert!(forward.0 > backward.0 + 0.124, "{backward:?} {forward:?}");
}
