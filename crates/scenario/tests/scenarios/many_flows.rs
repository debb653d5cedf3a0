//! Results of scenarios with many flows: rows of groups in place of rows of flows.

use forebay_network::record::Column;
use forebay_scenario::{Counted, Quantiles, RunResult, Scenario};

use crate::support::{column, read, record, run, table};

/// A mixed dumbbell, short of capacity, of `count` flows a group.
fn dumbbell(count: u32, rest: &str) -> String {
    format!(
        "duration = \"2 s\"\nwarm_up = \"0.5 s\"\n{rest}\n\
         [links.wire]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\n\
         queue = {{ droptail = {{ limit = \"20 packets\" }} }}\n\
         [flows.bulk]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\n\
         start = {{ uniform = [\"0 s\", \"1 s\"] }}\n\
         tcp = {{ profile = \"rfc\" }}\n\
         [flows.burst]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\nudp = {{}}\n\
         traffic = {{ on_off = {{ rate = \"200 kbit/s\", size = \"250 B\", \
         on = \"100 ms\", off = \"100 ms\" }} }}\n"
    )
}

/// The counters that add up over flows.
fn sums(counted: &Counted) -> [u64; 8] {
    [
        counted.sent_packets,
        counted.delivered_packets,
        counted.dropped_packets,
        counted.marked_packets,
        counted.retransmissions,
        counted.timeouts,
        counted.sent_acks,
        counted.dropped_acks,
    ]
}

/// The row of a group describes the flows that it stands for: sums, largest values and quantiles
/// must follow from the rows of the same run's flows, and the run must be the same whichever rows
/// are wanted.
#[test]
fn groups_add_up_to_their_flows() {
    let each = run(&dumbbell(9, "record.flows = \"each\""));
    let groups = run(&dumbbell(9, "record.flows = \"groups\""));
    assert_eq!((&each.digest, &each.scenario_hash), (&groups.digest, &groups.scenario_hash));
    assert!(groups.flows.is_empty() && each.flows.len() == 18);
    for (group, plain) in groups.groups.iter().zip(&each.groups) {
        assert!(plain.spread.is_none());
        let flows = || each.flows.iter().filter(|flow| flow.group == group.name);
        assert_eq!(sums(&group.counted), sums(&plain.counted));
        for at in 0..8 {
            let total: u64 = flows().map(|flow| sums(&flow.counted)[at]).sum();
            assert_eq!(sums(&group.counted)[at], total);
        }
        let largest = flows().map(|flow| flow.counted.max_delay_s).fold(0.0, f64::max);
        assert_eq!(group.counted.max_delay_s, largest);
        assert_eq!(percentiles(&group.counted), percentiles(&plain.counted));
        // The slowest 1 % of a group are not slower than those of its slowest flow, and at least as
        // slow as those of its fastest.
        let at_99 = || flows().map(|flow| flow.counted.p99_delay_s);
        let between = at_99().fold(f64::MAX, f64::min)..=at_99().fold(0.0, f64::max);
        assert!(between.contains(&group.counted.p99_delay_s), "{between:?}");
        let goodputs = || flows().map(|flow| flow.counted.goodput_bps);
        let (sum, squares) = (goodputs().sum::<f64>(), goodputs().map(|x| x * x).sum::<f64>());
        for row in [group, plain] {
            assert!((row.jain_index - sum * sum / (9.0 * squares)).abs() < 1e-9);
        }
        let spread = group.spread.as_ref().expect("it stands for its flows");
        assert_eq!(spread.started, flows().filter(|flow| flow.started_s.is_some()).count() as u64);
        // Of nine values, the k-th smallest is the first that k/9 do not exceed: 5 % need one, 25 %
        // three, 50 % five, 75 % seven and 95 % nine.
        let check = |found: &Quantiles, of: &dyn Fn(&Counted) -> f64| {
            let mut values: Vec<f64> = flows().map(|flow| of(&flow.counted)).collect();
            values.sort_by(f64::total_cmp);
            let Quantiles { min, p05, p25, p50, p75, p95, max } = *found;
            let expected = [0, 0, 2, 4, 6, 8, 8].map(|rank: usize| values[rank]);
            for (value, expected) in [min, p05, p25, p50, p75, p95, max].into_iter().zip(expected) {
                assert!((value - expected).abs() <= 1e-9 * expected, "{value} for {expected}");
            }
        };
        check(&spread.goodput_bps, &|counted| counted.goodput_bps);
        check(&spread.throughput_bps, &|counted| counted.throughput_bps);
        check(&spread.sent_packets, &|counted| counted.sent_packets as f64);
        check(&spread.dropped_packets, &|counted| counted.dropped_packets as f64);
        check(&spread.delivered_packets, &|counted| counted.delivered_packets as f64);
        assert!(flows().all(|flow| flow.counted.delivered_packets > 0), "delays of all are known");
        check(&spread.mean_delay_s, &|counted| counted.mean_delay_s);
    }
}

fn percentiles(counted: &Counted) -> [f64; 5] {
    let Counted { min_delay_s, p50_delay_s, p95_delay_s, p99_delay_s, p999_delay_s, .. } = *counted;
    [min_delay_s, p50_delay_s, p95_delay_s, p99_delay_s, p999_delay_s]
}

fn rows(result: &RunResult, group: &str) -> usize {
    result.flows.iter().filter(|flow| flow.group == group).count()
}

/// Large groups have no rows for their flows unless wanted, and small ones do: groups of up to
/// 10,000 flows have rows unless the scenario says otherwise.
#[test]
fn large_groups_have_no_rows_unless_wanted() {
    let text = |count: u32, rest: &str| {
        format!(
            "duration = \"1 ms\"\n{rest}\n\
             [links.wire]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\n\
             [flows.many]\nfrom = \"a\"\nto = \"b\"\ncount = {count}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"1 Mbit/s\", size = \"1000 B\" }} }}\n\
             [flows.one]\nfrom = \"a\"\nto = \"b\"\ntcp = {{}}\n"
        )
    };
    let result = run(&text(10_001, ""));
    assert_eq!((rows(&result, "many"), rows(&result, "one")), (0, 1));
    assert_eq!((result.groups[0].flows, result.groups[0].spread.is_some()), (10_001, true));
    assert_eq!(rows(&run(&text(10_000, "")), "many"), 10_000);
    assert_eq!(rows(&run(&text(10_001, "record.flows = \"each\"")), "many"), 10_001);
}

/// Rows of a trace and of the log of calls name the flow that they are about: names are made from
/// the numbers of flows, group by group.
#[test]
fn records_name_the_flows_of_every_group() {
    let (result, tables) = record(&dumbbell(3, "record.trace = 100000"));
    let trace = table(&tables, "trace");
    let (Column::Name(flows), Column::Word(events)) =
        (column(trace, "flow"), column(trace, "event"))
    else {
        panic!("flows have names, and events are words")
    };
    for flow in &result.flows {
        let sent = flows
            .iter()
            .zip(events)
            .filter(|(name, event)| **name == flow.name && **event == "sent");
        // The trace has acknowledgements too, and what was sent during the warm-up.
        assert!(sent.count() as u64 >= flow.counted.sent_packets.max(1), "{}", flow.name);
    }
    let names: std::collections::BTreeSet<&str> = flows.iter().map(String::as_str).collect();
    let expected = ["bulk[0]", "bulk[1]", "bulk[2]", "burst[0]", "burst[1]", "burst[2]"];
    assert!(names.into_iter().eq(expected));
}

/// Only two kinds of rows are known: another word is refused.
#[test]
fn only_two_kinds_of_rows_are_known() {
    let text = dumbbell(1, "record.flows = \"all\"");
    let error = Scenario::parse(&text, "test.toml", &[]).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("record.flows") && message.contains("each"), "{message}");
    read(&dumbbell(1, "record.flows = \"each\""));
}
