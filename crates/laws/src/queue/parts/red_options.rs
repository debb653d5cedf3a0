//! The options that RED, WRED and RIO share: defined once, checked once.

use forebay_parameters::{Length, Parameter, Problem, Section, choice, parameters};
use forebay_units::Size;

use crate::queue::MAX_PRECEDENCES;

choice! {
    /// Decay of an average while its queue is empty.
    pub enum IdleCorrection {
        /// Decay by as many empty samples as typical packets could have been sent (Floyd and
        /// Jacobson).
        Fj = "fj",
        /// Decay by the whole number of such packets and one more (ns-2).
        Ns2 = "ns2",
    }
}

choice! {
    /// Spacing of early drops.
    pub enum Spacing {
        /// pb / (1 - count pb): gaps uniform on 1 to 1/pb.
        Uniform = "uniform",
        /// 0 up to count pb = 1, then pb / (2 - count pb): gaps uniform on 1/pb to 2/pb (ns-2's
        /// `wait_`).
        Wait = "wait",
        /// pb for every packet alone: gaps geometric.
        Geometric = "geometric",
        /// Drop once count times pb reaches a number drawn between 0 and 1 after each drop: uniform
        /// gaps while pb stays, later drops where it falls and earlier ones where it rises (Linux).
        Drawn = "drawn",
    }
}

choice! {
    /// Treatment of the arriving packet in the count of packets since the last drop.
    pub enum CountConvention {
        /// It does, as in the pseudo-code of the paper and in ns-2.
        Code = "code",
        /// It does not, as in the paper's analysis.
        Analysis = "analysis",
        /// As in the analysis, but the first packet that finds the average between the thresholds,
        /// after one that did not, is neither counted nor dropped.
        Linux = "linux",
    }
}

choice! {
    /// Influence of a packet's size on its drop probability.
    pub enum ByteMode {
        /// All packets alike.
        Off = "off",
        /// pb times size / largest size, before spacing (Floyd and Jacobson).
        Fj = "fj",
        /// pa times size / mean size, after spacing over bytes instead of packets (ns-2).
        Ns2 = "ns2",
    }
}

parameters! {
    /// The options of every kind of RED.
    pub struct RedOptions {
        /// Let the drop probability rise linearly to 1 between the maximum threshold and twice the
        /// maximum threshold, instead of jumping to 1.
        gentle: bool = false, "Floyd 2000, Recommendation on using the gentle variant";
        /// Spacing of early drops: uniform, wait, geometric or drawn.
        spacing: Spacing = "uniform",
            "Floyd and Jacobson 1993, section 7; ns-2 wait_; Linux include/net/red.h";
        /// Treatment of the arriving packet in the count since the last drop: included (code) or
        /// not (analysis, linux).
        count: CountConvention = "code",
            "Floyd and Jacobson 1993, figure 2 against section 7; Linux include/net/red.h";
        /// Decay of the average over idle time: fj or ns2.
        idle_correction: IdleCorrection = "fj", "Floyd and Jacobson 1993, section 4; ns-2 red.cc";
        /// Size of a typical packet: its transmission time is the unit of idle time, and its size
        /// is that of byte mode ns2.
        mean_packet: Size = "500 B", "ns-2 mean_pktsize_";
        /// Influence of a packet's size, by which large packets are dropped more often: off, fj or
        /// ns2.
        byte_mode: ByteMode = "off", "Floyd and Jacobson 1993, section 4; ns-2 bytes_";
        /// Size of the largest packet, for byte mode fj.
        max_packet: Size = "1500 B", "Floyd and Jacobson 1993, section 4; Ethernet's MTU";
        /// Mark ECN-capable packets instead of dropping them early.
        ecn: bool = false, "RFC 3168, section 7";
        /// Drop ECN-capable packets too where the average lies above the curve, instead of marking
        /// them. Left out: true.
        harddrop: Option<bool>, "RFC 3168, section 7; Linux net/sched/sch_red.c: TC_RED_HARDDROP";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
        /// Follow ns-2 in two details: no early drop while at most one packet (or byte) waits, and
        /// none of the packet with which the average crosses the minimum threshold; the count also
        /// starts anew when the buffer overflows.
        ns2_guards: bool = false, "ns-2 red.cc, enque";
    }
}

impl RedOptions {
    /// The options of a law whose averages have the weight `weight`.
    pub fn with(&self, weight: f64) -> Options {
        let Self { gentle, spacing, count, idle_correction, mean_packet, byte_mode, .. } = *self;
        let Self { max_packet, ecn, harddrop, limit, ns2_guards, .. } = *self;
        Options {
            weight,
            gentle,
            spacing,
            count,
            idle_correction,
            mean_packet,
            byte_mode,
            max_packet,
            ecn,
            harddrop: harddrop.unwrap_or(true),
            gentle_ecn: true,
            limit,
            ns2_guards,
        }
    }
}

parameters! {
    /// The options of RED, WRED and RIO.
    pub struct WeightedOptions {
        /// Weight w of the newest sample in the average queue, above 0 and at most 1.
        weight: f64 = 0.002, "Floyd and Jacobson 1993, section 6";
        ..red: RedOptions;
    }
}

impl WeightedOptions {
    pub fn options(&self) -> Options {
        self.red.with(self.weight)
    }
}

parameters! {
    /// The curve of each precedence.
    pub struct PrecedenceCurves {
        /// Minimum threshold of the average for each precedence, from 0 on: as many entries as
        /// precedences, 1 to 64, in bytes or in packets. Packets of higher precedence fall under
        /// the last entry.
        min_threshold: Vec<Length>, "Clark and Fang 1998, section III";
        /// Maximum threshold for each precedence, above the minimum threshold.
        max_threshold: Vec<Length>, "Clark and Fang 1998, section III";
        /// Drop probability at the maximum threshold for each precedence.
        max_probability: Vec<f64>, "Clark and Fang 1998, section III";
    }
}

impl PrecedenceCurves {
    pub fn thresholds(&self) -> Thresholds<'_> {
        Thresholds {
            min: &self.min_threshold,
            max: &self.max_threshold,
            probability: &self.max_probability,
        }
    }
}

/// The parameters that every kind of RED has, as read.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Options {
    pub weight: f64,
    pub gentle: bool,
    pub spacing: Spacing,
    pub count: CountConvention,
    pub idle_correction: IdleCorrection,
    pub mean_packet: Size,
    pub byte_mode: ByteMode,
    pub max_packet: Size,
    pub ecn: bool,
    /// True if they are dropped where the average lies above the curve.
    pub harddrop: bool,
    /// True if ECN-capable packets are also marked above the maximum threshold.
    pub gentle_ecn: bool,
    pub limit: Option<Length>,
    pub ns2_guards: bool,
}

/// Configuration of each class.
pub(in crate::queue) struct Thresholds<'a> {
    pub min: &'a [Length],
    pub max: &'a [Length],
    pub probability: &'a [f64],
}

pub(in crate::queue) fn check_options(
    section: &Section<'_>,
    options: &Options,
) -> Result<(), Problem> {
    check_average(section, options.weight, options.mean_packet)?;
    check_packet(section, "max_packet", options.max_packet)?;
    if options.ns2_guards && options.count != CountConvention::Code {
        let message = format!(
            "\"{}\" contradicts ns2_guards = true; allowed with it is \"code\"",
            options.count.show()
        );
        return Err(section.fail("count", message));
    }
    if options.spacing == Spacing::Drawn && options.byte_mode != ByteMode::Off {
        let message = format!(
            "\"{}\" contradicts spacing = \"drawn\"; allowed with it is \"off\"",
            options.byte_mode.show()
        );
        return Err(section.fail("byte_mode", message));
    }
    Ok(())
}

/// Refuse a weight that makes no average, and packets without size.
pub(in crate::queue) fn check_average(
    section: &Section<'_>,
    weight: f64,
    mean_packet: Size,
) -> Result<(), Problem> {
    if !(weight > 0.0 && weight <= 1.0) {
        let message = format!("{weight} is out of range; allowed are weights above 0 and up to 1");
        return Err(section.fail("weight", message));
    }
    check_packet(section, "mean_packet", mean_packet)
}

fn check_packet(section: &Section<'_>, key: &str, size: Size) -> Result<(), Problem> {
    if size.bytes() == 0 {
        return Err(section.fail(key, "is 0 B; allowed are sizes from 1 B"));
    }
    Ok(())
}

/// Warn of a maximum probability of 0 under `key`.
pub(in crate::queue) fn warn_of_no_early_drops(section: &Section<'_>, key: &str, at: &str) {
    let message = format!(
        "0{at} lets every packet pass below the maximum threshold; above 0, packets are dropped or \
         marked early"
    );
    section.warn(key, message);
}

/// Refuse thresholds that make no curve; gives whether the thresholds are in bytes.
pub(in crate::queue) fn check_thresholds(
    section: &Section<'_>,
    given: &Thresholds<'_>,
) -> Result<bool, Problem> {
    let [min_key, max_key, probability_key] = ["min_threshold", "max_threshold", "max_probability"];
    let classes = given.min.len();
    if classes == 0 || classes > MAX_PRECEDENCES {
        let message =
            format!("has {classes} entries; allowed are 1 to {MAX_PRECEDENCES} precedences");
        return Err(section.fail(min_key, message));
    }
    for (key, entries) in [(max_key, given.max.len()), (probability_key, given.probability.len())] {
        if entries != classes {
            let message =
                format!("has {entries} entries; allowed are {classes}, as many as {min_key} has");
            return Err(section.fail(key, message));
        }
    }
    let at = |i: usize| {
        if classes > 1 { format!(" (precedence {i})") } else { String::new() }
    };
    let in_bytes = given.min[0].in_bytes();
    for i in 0..classes {
        let (min, max, p) = (given.min[i], given.max[i], given.probability[i]);
        for (key, length) in [(min_key, min), (max_key, max)] {
            if length.in_bytes() != in_bytes {
                let unit = if in_bytes { "bytes" } else { "packets" };
                let message = format!(
                    "\"{}\"{} mixes packets and bytes; allowed here are {unit}, as in {min_key}",
                    length.show(),
                    at(i)
                );
                return Err(section.fail(key, message));
            }
        }
        if max.amount() <= min.amount() {
            let message = format!(
                "\"{}\"{} is not above the minimum threshold; allowed is more than \"{}\"",
                max.show(),
                at(i),
                min.show()
            );
            return Err(section.fail(max_key, message));
        }
        if !(0.0..=1.0).contains(&p) {
            let message = format!("{p}{} is not a probability; allowed are 0 to 1", at(i));
            return Err(section.fail(probability_key, message));
        }
        if p == 0.0 {
            warn_of_no_early_drops(section, probability_key, &at(i));
        }
    }
    Ok(in_bytes)
}
