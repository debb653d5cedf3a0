//! Results of a run as documents: sums, shares, order.

use forebay_units::{Span, Time};
use serde_json::Value;

use crate::Invariant as Must;
use crate::checker::Checker;
use crate::offer::BIT;
use crate::report::Place;

/// Counters of flows that add up to those of their group.
const SUMMED: &[&str] = &[
    "sent_packets",
    "delivered_packets",
    "dropped_packets",
    "marked_packets",
    "retransmissions",
    "timeouts",
    "sent_acks",
    "dropped_acks",
];
/// Columns that are shares, from 0 to 1.
const SHARES: &[&str] = &["utilization", "max_utilization", "blocking_ratio", "jain_index"];
/// Means and the maxima that they cannot exceed.
const MEANS: &[(&str, &str)] = &[
    ("mean_delay_s", "max_delay_s"),
    ("min_delay_s", "mean_delay_s"),
    ("mean_completion_s", "max_completion_s"),
    ("mean_queue_packets", "max_queue_packets"),
    ("mean_present", "max_present"),
    ("present", "max_present"),
];
/// Names of quantiles from least to largest.
const QUANTILES: &[&str] = &["min", "p05", "p25", "p50", "p75", "p95", "max"];

/// Columns of a row that are quantiles, from least to largest.
const ORDERED: &[&[&str]] = &[
    &[
        "p50_completion_s",
        "p95_completion_s",
        "p99_completion_s",
        "p999_completion_s",
        "max_completion_s",
    ],
    &["min_delay_s", "p50_delay_s", "p95_delay_s", "p99_delay_s", "p999_delay_s", "max_delay_s"],
];

/// The largest packet.
const MAX_PACKET_BITS: f64 = 65_535.0 * 8.0;

/// Sums in floating point, relative.
const ROUNDING: f64 = 1e-9;

impl Checker {
    /// The document of a run's result.
    pub fn check_result(&mut self, result: &Value) {
        for kind in ["flows", "groups", "links", "transfers", "calls", "paced", "rings"] {
            for row in rows(result, kind) {
                let place = format!("{kind}.{}", name(row));
                self.check_row(&place, row);
            }
        }
        for group in rows(result, "groups") {
            self.check_group(group, rows(result, "flows"));
        }
        for (number, link) in rows(result, "links").iter().enumerate() {
            self.check_link(number, link, result["measured_s"].as_f64().unwrap_or(0.0));
            let of_link = |row: &&Value| row["link"] == link["name"];
            let classes: Vec<&Value> = rows(result, "classes").iter().filter(of_link).collect();
            if !classes.is_empty() {
                self.check_classes(number, link, &classes);
            }
        }
    }

    fn check_row(&mut self, place: &str, row: &Value) {
        for share in SHARES {
            if let Some(value) = row[*share].as_f64() {
                let fine = (0.0..=1.0 + ROUNDING).contains(&value);
                self.check(Must::ResultShares, Place::Named(place), fine, || {
                    format!("{share} = {value}")
                });
            }
        }
        for (mean, most) in MEANS {
            if let (Some(mean_value), Some(most_value)) = (row[*mean].as_f64(), row[*most].as_f64())
            {
                let fine = mean_value <= most_value * (1.0 + ROUNDING);
                self.check(Must::ResultShares, Place::Named(place), fine, || {
                    format!("{mean} = {mean_value}, {most} = {most_value}")
                });
            }
        }
        for columns in ORDERED {
            self.check_order(
                place,
                columns.iter().filter_map(|name| row[*name].as_f64()).collect(),
            );
        }
        if let Some(spread) = row["spread"].as_object() {
            for (column, quantiles) in spread {
                self.check_quantiles(&format!("{place}.{column}"), quantiles);
            }
        }
    }

    fn check_quantiles(&mut self, place: &str, quantiles: &Value) {
        self.check_order(
            place,
            QUANTILES.iter().filter_map(|name| quantiles[*name].as_f64()).collect(),
        );
    }

    fn check_order(&mut self, place: &str, values: Vec<f64>) {
        let fine = values.windows(2).all(|pair| pair[0] <= pair[1]);
        self.check(Must::ResultQuantiles, Place::Named(place), fine, || format!("{values:?}"));
    }

    fn check_group(&mut self, group: &Value, flows: &[Value]) {
        let own: Vec<&Value> = flows.iter().filter(|flow| flow["group"] == group["name"]).collect();
        // Large groups have no row for each flow.
        if own.is_empty() {
            return;
        }
        let place = format!("groups.{}", name(group));
        for column in SUMMED {
            let sum: u64 = own.iter().filter_map(|flow| flow[*column].as_u64()).sum();
            let total = group[*column].as_u64().unwrap_or(0);
            self.check(Must::ResultSums, Place::Named(&place), sum == total, || {
                format!("{column}: a sum of {sum}, a total of {total}")
            });
        }
    }

    fn check_link(&mut self, number: usize, link: &Value, measured: f64) {
        let place = format!("links.{}", name(link));
        let drops = link["drops"].as_u64().unwrap_or(0);
        let by_precedence = numbers(&link["dropped_packets"]);
        let reasons = link["drop_reasons"].as_object();
        let by_reason: u64 = reasons.map_or(0, |all| all.values().filter_map(Value::as_u64).sum());
        let fine = drops == by_precedence && drops == by_reason;
        self.check(Must::ResultSums, Place::Named(&place), fine, || {
            format!("{drops} drops, {by_precedence} by precedence, {by_reason} by reason")
        });
        let utilization = link["utilization"].as_f64().unwrap_or(0.0);
        let throughput = link["throughput_bps"].as_f64().unwrap_or(0.0);
        let rate = self.mean_rate(number, measured);
        // A packet whose transmission begins within the window counts as a whole.
        let most = rate * (1.0 + ROUNDING) + MAX_PACKET_BITS / measured;
        let fine = (0.0..=1.0).contains(&utilization) && (0.0..=most).contains(&throughput);
        self.check(Must::ResultUtilization, Place::Named(&place), fine, || {
            format!("a utilization of {utilization}, {throughput} bit/s of {rate}")
        });
    }
}

impl Checker {
    /// The classes of the queue of link `number`, behind conditioners, a shaper and a shared memory
    /// that drop and mark on their own.
    fn check_classes(&mut self, number: usize, link: &Value, classes: &[&Value]) {
        let place = format!("links.{}", name(link));
        let sum = |column: &str| -> u64 {
            classes.iter().filter_map(|class| class[column].as_u64()).sum()
        };
        let reason = |row: &Value, reason: &str| row["drop_reasons"][reason].as_u64().unwrap_or(0);
        let own = |name| -> u64 { classes.iter().map(|class| reason(class, name)).sum() };
        let shares = self.places.links.get(number).is_some_and(|link| link.shares);
        let before = ["policed", "shaper", "overflow"].map(|name| {
            let counts = name != "overflow" || shares;
            if counts { reason(link, name).saturating_sub(own(name)) } else { 0 }
        });
        let arrived = sum("arrived_packets") + before.iter().sum::<u64>();
        let mut pairs = vec![
            ("departed_packets", sum("departed_packets"), numbers(&link["departed_packets"])),
            ("departed_bytes", sum("departed_bytes"), numbers(&link["departed_bytes"])),
            ("arrived_packets", arrived, numbers(&link["arrived_packets"])),
        ];
        let of_queue = ["overflow", "early", "forced", "selective"].into_iter();
        for name in of_queue.filter(|name| *name != "overflow" || !shares) {
            pairs.push((name, own(name), reason(link, name)));
        }
        if self.places.links.get(number).is_some_and(|link| !link.polices) {
            pairs.push(("marks", sum("marks"), link["marks"].as_u64().unwrap_or(0)));
        }
        for (what, sum, total) in pairs {
            self.check(Must::ResultClasses, Place::Named(&place), sum == total, || {
                format!("{what}: a sum of {sum} over the classes, a total of {total}")
            });
        }
        let mean = |row: &Value| row["mean_queue_packets"].as_f64().unwrap_or(0.0);
        let (sum, total): (f64, f64) = (classes.iter().map(|row| mean(row)).sum(), mean(link));
        let fine = (sum - total).abs() <= ROUNDING * total.max(1.0);
        self.check(Must::ResultClasses, Place::Named(&place), fine, || {
            format!("a mean queue of {sum} over the classes, of {total} in all")
        });
    }

    /// Returns the rate that link `number` could carry in the last `measured` seconds of the run,
    /// in bit/s.
    fn mean_rate(&self, number: usize, measured: f64) -> f64 {
        let Some(link) = self.places.links.get(number) else { return f64::MAX };
        let Some(changes) = &link.changes else { return link.rate.bps() as f64 };
        let Some(offer) = &changes.offer else { return f64::MAX };
        let end = self.places.end;
        let from = Time::ZERO + end.since(Time::ZERO + Span::from_seconds(measured));
        offer.between(from, end) as f64 / BIT as f64 / measured
    }
}

fn rows<'v>(result: &'v Value, kind: &str) -> &'v [Value] {
    result[kind].as_array().map_or(&[], Vec::as_slice)
}

fn name(row: &Value) -> &str {
    row["name"].as_str().unwrap_or("?")
}

fn numbers(list: &Value) -> u64 {
    list.as_array().map_or(0, |list| list.iter().filter_map(Value::as_u64).sum())
}
