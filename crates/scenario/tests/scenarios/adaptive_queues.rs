//! Queues whose maximum probabilities move, in whole networks: what observers see of them, and the
//! series that a study of them reads.

use forebay_network::record::RecordTable;

use crate::support::{floats, link, names, record, table, wholes, words};

/// Poisson traffic of three precedences that overloads a link in its first and last third, behind
/// `queue`.
fn network(queue: &str, recorded: &str) -> String {
    let flow = |name: &str, precedence: u32, start: &str, stop: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nprecedence = {precedence}\n\
             start = \"{start}\"\nstop = \"{stop}\"\nudp = {{}}\n\
             traffic = {{ poisson = {{ rate = \"3.6 Mbit/s\", size = \"1000 B\" }} }}\n"
        )
    };
    format!(
        "duration = \"30 s\"\n[links.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
         duplex = false\nqueue = {{ {queue} }}\n{}{}{}{}[record]\n{recorded}\n",
        flow("green", 0, "0 s", "30 s"),
        flow("yellow", 1, "0 s", "30 s"),
        flow("red", 2, "0 s", "10 s"),
        flow("late", 2, "20 s", "30 s"),
    )
}

const ADAPTIVE: &str = "adaptive_redn = { min_threshold = \"5 packets\", \
    middle_threshold = \"10 packets\", max_threshold = \"18 packets\", weight = 0.02 }";
const SELF_CONFIGURING: &str = "self_configuring = { min_threshold = \"5 packets\", \
    max_threshold = \"18 packets\", weight = 0.02 }";

/// The state variables of figure 3.5 of Liu's thesis, under its names.
#[derive(Clone, Copy)]
struct Figure {
    dynamic: f64,
    effective: f64,
    prev_state: &'static str,
    prev_state_mid: &'static str,
}

impl Figure {
    /// The algorithm as it is listed there: minth 5, midth 10 (infinite without a middle
    /// threshold), maxth 18, static maxp 0.1, increment 2, decrement 1/3. `adaptive` is false for
    /// figure 1.2, which knows no static maxp.
    fn step(&mut self, avg: f64, midth: f64, adaptive: bool) {
        if avg < 5.0 && self.prev_state != "below" {
            self.dynamic /= 3.0;
            self.effective = self.dynamic;
            self.prev_state = "below";
        } else if (5.0..=18.0).contains(&avg) {
            if avg < midth && self.prev_state_mid == "above" {
                self.effective = self.dynamic;
                self.prev_state_mid = "below";
            } else if avg >= midth && self.prev_state_mid == "below" {
                if self.dynamic < 0.1 {
                    self.dynamic *= 2.0;
                }
                self.effective = if self.dynamic < 0.1 { 0.1 } else { self.dynamic };
                self.prev_state_mid = "above";
            }
            self.prev_state = "between";
        } else if avg > 18.0 && self.prev_state != "above" {
            if adaptive && self.dynamic < 0.1 {
                self.dynamic = 0.1;
            }
            self.dynamic *= 2.0;
            self.effective = self.dynamic;
            self.prev_state = "above";
        }
    }
}

/// Observers see every change of state, and what the law has changed in it: the listing of figure
/// 3.5 (of figure 1.2), fed with nothing but the averages of the rows told, comes to the
/// probabilities and states of every row; and the last ones, and how often they changed, are those
/// of the probes at the end.
#[test]
fn adjustments_are_the_steps_of_the_published_algorithms() {
    for (queue, adaptive) in [(ADAPTIVE, true), (SELF_CONFIGURING, false)] {
        let recorded = "series = \"10 s\"\nadjustments = true";
        let (_, tables) = record(&network(queue, recorded));
        let log = table(&tables, "adjustments");
        let series = table(&tables, "series/links.core");
        let (averages, regions) = (floats(log, "average"), words(log, "region"));
        let (middles, precedences) = (wholes(log, "above_middle"), wholes(log, "precedence"));
        let probabilities = [floats(log, "dynamic_probability"), floats(log, "max_probability")];
        assert!(names(log, "link").iter().all(|name| name == "core"));
        assert!(floats(log, "time_s").is_sorted());
        for precedence in 0..3 {
            let midth = if adaptive && precedence > 0 { 10.0 } else { f64::INFINITY };
            let mut figure = Figure {
                dynamic: 0.1,
                effective: 0.1,
                prev_state: "below",
                prev_state_mid: "below",
            };
            let mut counts = [0.0; 3];
            for at in (0..averages.len()).filter(|at| precedences[*at] == precedence) {
                let before = figure;
                figure.step(averages[at], midth, adaptive);
                let found = probabilities.map(|column| column[at]);
                assert!((found[0] / figure.dynamic - 1.0).abs() < 1e-12, "{queue} {at}");
                assert!((found[1] / figure.effective - 1.0).abs() < 1e-12, "{queue} {at}");
                assert_eq!(regions[at], figure.prev_state);
                assert_eq!(middles[at] == 1, figure.prev_state_mid == "above");
                counts[0] += f64::from(u8::from(figure.dynamic > before.dynamic));
                counts[1] += f64::from(u8::from(figure.dynamic < before.dynamic));
                counts[2] += f64::from(u8::from(figure.prev_state != before.prev_state));
            }
            assert!(precedence == 0 || counts[2] > 8.0, "{queue}: {precedence} hardly moves");
            let last =
                |name: &str| *floats(series, &format!("{name}.{precedence}")).last().unwrap();
            assert_eq!(["increases", "decreases", "region_changes"].map(last), counts);
            assert!((last("max_probability") / figure.effective - 1.0).abs() < 1e-12);
        }
    }
}

fn adjustments(queue: &str) -> RecordTable {
    let (_, tables) = record(&network(queue, "adjustments = true"));
    table(&tables, "adjustments").clone()
}

/// Adaptive RED moves at the times and by the steps published: at least half a second apart, up by
/// 0.01 (at most a quarter) above the target range, down to nine tenths below it, between 0.01 and
/// 0.5.
#[test]
fn adaptive_red_tells_every_step() {
    let log = adjustments("adaptive_red = { target_delay = \"8 ms\", limit = \"100 packets\" }");
    let (times, values) = (floats(&log, "time_s"), floats(&log, "max_probability"));
    let regions = words(&log, "region");
    let mut before = (0.0, 0.1);
    for at in 0..times.len() {
        let expected = match regions[at] {
            "above" => (before.1 + 0.01_f64.min(before.1 / 4.0)).min(0.5),
            "below" => (before.1 * 0.9).max(0.01),
            other => panic!("{other} is no reason to move"),
        };
        assert!((values[at] - expected).abs() < 1e-15, "{at}: {} is not {expected}", values[at]);
        assert!((0.0..0.5).contains(&(times[at] % 0.5)) && times[at] - before.0 > 0.4);
        before = (times[at], values[at]);
    }
    for region in ["above", "below"] {
        assert!(regions.iter().filter(|found| **found == region).count() > 5, "{region}");
    }
}

/// A law inside a scheduler is open to observers: one class of priority queues is observed exactly
/// as the same law alone.
#[test]
fn laws_inside_a_scheduler_are_observed_too() {
    let inner = adjustments(&format!("priority = {{ classes = [{{ {SELF_CONFIGURING} }}] }}"));
    let alone = adjustments(SELF_CONFIGURING);
    assert!(floats(&alone, "time_s").len() > 20);
    assert_eq!(inner, alone);
}

/// Series add up to the counters of the run: arrivals, drops by cause, marks, and the time average
/// of the packets waiting; delays of a group, weighted with its packets.
#[test]
fn series_add_up_to_the_results() {
    let (result, tables) = record(&network(ADAPTIVE, "series = \"100 ms\""));
    let (core, series) = (link(&result, "core"), table(&tables, "series/links.core"));
    let sum = |name: &str| floats(series, name).iter().sum::<f64>();
    let counted = core.arrived_packets.iter().sum::<u64>() as f64;
    assert_eq!(sum("arrived_packets"), counted);
    assert_eq!(sum("early_drops"), core.drop_reasons.early as f64);
    assert_eq!(sum("forced_drops"), core.drop_reasons.forced as f64);
    assert_eq!(sum("drops"), core.drops as f64);
    assert!(core.drop_reasons.early > 100);
    let mean = sum("mean_queue_packets") / 300.0;
    assert!((mean / core.mean_queue_packets - 1.0).abs() < 1e-12, "300 samples of equal length");
    for group in &result.groups {
        let series = table(&tables, &format!("series/flows.{}", group.name));
        let (delays, rates) = (floats(series, "mean_delay_s"), floats(series, "throughput_bps"));
        let total: f64 = delays
            .iter()
            .zip(rates)
            .filter(|(_, rate)| **rate > 0.0)
            // 0.1 s of packets of 8000 bit.
            .map(|(delay, rate)| delay * rate * 0.1 / 8000.0)
            .sum();
        let mean = total / group.counted.delivered_packets as f64;
        assert!((mean / group.counted.mean_delay_s - 1.0).abs() < 1e-9, "{}", group.name);
        assert!(delays.iter().zip(rates).all(|(delay, rate)| delay.is_nan() == (*rate == 0.0)));
    }
}

/// `series_of` chooses what is sampled, so that a fine series of one link does not cost the memory
/// of one of everything: it leaves out what it does not name, and what it names is the same as
/// without it.
#[test]
fn series_of_chooses_what_is_sampled() {
    let (_, all) = record(&network(ADAPTIVE, "series = \"1 s\""));
    assert_eq!(all.len(), 5, "a link and four groups");
    for (chosen, expected) in [
        ("[\"links.core\", \"flows.red\"]", &["links.core", "flows.red"][..]),
        ("[\"flows\"]", &["flows.green", "flows.late", "flows.red", "flows.yellow"]),
        ("[\"links\", \"links.core\"]", &["links.core"]),
        ("[]", &[]),
    ] {
        let (_, tables) =
            record(&network(ADAPTIVE, &format!("series = \"1 s\"\nseries_of = {chosen}")));
        let mut found: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
        let mut expected: Vec<_> = expected.iter().map(|name| format!("series/{name}")).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        for table in &tables {
            let same = all.iter().find(|other| other.name == table.name);
            // NaN marks samples without a value: compare what is printed.
            assert_eq!(format!("{same:?}"), format!("{:?}", Some(table)));
        }
    }
}
