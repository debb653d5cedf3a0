//! The arithmetic that RED, WRED and RIO share: averages, the drop curve and the spacing of drops.

use forebay_kernel::{Stream, math};
use forebay_network::{Arrival, DropReason, Verdict};
use forebay_parameters::{Length, Parameter, Problem, Section, choice};
use forebay_units::{PS_PER_S, Size, Span};

use super::{MOST_PRECEDENCES, fits};
use crate::LinkFacts;

choice! {
    /// How an average decays while its queue is empty.
    pub enum IdleCorrection {
        /// By as many empty samples as typical packets could have been sent (Floyd and Jacobson).
        Fj = "fj",
        /// By the whole number of such packets and one more (ns-2).
        Ns2 = "ns2",
    }
}

choice! {
    /// How early drops are spaced.
    pub enum Spacing {
        /// pb / (1 - count pb): gaps uniform on 1 to 1/pb.
        Uniform = "uniform",
        /// 0 up to count pb = 1, then pb / (2 - count pb): gaps uniform on 1/pb to 2/pb (ns-2's `wait_`).
        Wait = "wait",
        /// pb for every packet alone: gaps geometric.
        Geometric = "geometric",
    }
}

choice! {
    /// Whether the count of packets since the last drop includes the arriving packet.
    pub enum CountConvention {
        /// It does, as in the pseudo-code of the paper and in ns-2.
        Code = "code",
        /// It does not, as in the paper's analysis.
        Analysis = "analysis",
    }
}

choice! {
    /// Whether large packets are dropped more often than small ones.
    pub enum ByteMode {
        /// All packets alike.
        Off = "off",
        /// pb times size / largest size, before spacing (Floyd and Jacobson).
        Fj = "fj",
        /// pa times size / mean size, after spacing over bytes instead of packets (ns-2).
        Ns2 = "ns2",
    }
}

/// Define parameters that end with those that every kind of RED has.
macro_rules! red_parameters {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        forebay_parameters::parameters! {
            $(#[$meta])*
            pub struct $name {
                $($own)*
                /// Weight w of the newest sample in the average queue, above 0 and at most 1.
                weight: f64 = 0.002, "Floyd and Jacobson 1993, section 6";
                /// Let the drop probability rise linearly to 1 between the maximum threshold and
                /// twice the maximum threshold, instead of jumping to 1.
                gentle: bool = false, "Floyd 2000, Recommendation on using the gentle variant";
                /// How early drops are spaced: uniform, wait or geometric.
                spacing: $crate::queue::red_core::Spacing = "uniform",
                    "Floyd and Jacobson 1993, section 7; ns-2 wait_";
                /// Whether the count since the last drop includes the arriving packet (code) or not
                /// (analysis).
                count: $crate::queue::red_core::CountConvention = "code",
                    "Floyd and Jacobson 1993, figure 2 against section 7";
                /// How the average decays over idle time: fj or ns2.
                idle_correction: $crate::queue::red_core::IdleCorrection = "fj",
                    "Floyd and Jacobson 1993, section 4; ns-2 red.cc";
                /// Size of a typical packet: its transmission time is the unit of idle time, and its
                /// size is that of byte mode ns2.
                mean_packet: forebay_units::Size = "500 B", "ns-2 mean_pktsize_";
                /// Whether large packets are dropped more often: off, fj or ns2.
                byte_mode: $crate::queue::red_core::ByteMode = "off",
                    "Floyd and Jacobson 1993, section 4; ns-2 bytes_";
                /// Size of the largest packet, for byte mode fj.
                max_packet: forebay_units::Size = "1500 B",
                    "Floyd and Jacobson 1993, section 4; Ethernet's MTU";
                /// Mark ECN-capable packets instead of dropping them early. Forced drops stay drops.
                ecn: bool = false, "RFC 3168, section 7";
                /// Buffer size, without the packet being transmitted. Unlimited if left out.
                limit: Option<forebay_parameters::Length>, "RFC 7567, section 2";
                /// Follow ns-2 in two details: no early drop while at most one packet (or byte)
                /// waits, and none of the packet with which the average crosses the minimum threshold;
                /// the count also starts anew when the buffer overflows.
                ns2_guards: bool = false, "ns-2 red.cc, enque";
            }
        }

        impl $name {
            fn options(&self) -> $crate::queue::red_core::Options {
                $crate::queue::red_core::Options {
                    weight: self.weight,
                    gentle: self.gentle,
                    spacing: self.spacing,
                    count: self.count,
                    idle_correction: self.idle_correction,
                    mean_packet: self.mean_packet,
                    byte_mode: self.byte_mode,
                    max_packet: self.max_packet,
                    ecn: self.ecn,
                    limit: self.limit,
                    ns2_guards: self.ns2_guards,
                }
            }
        }
    };
}

/// Define parameters of RED with thresholds for each precedence.
macro_rules! precedence_red_parameters {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $crate::queue::red_core::red_parameters! {
            $(#[$meta])*
            pub struct $name {
                /// Minimum threshold of the average for each precedence, from 0 on: as many entries as
                /// precedences, 1 to 64, in bytes or in packets. Packets of higher precedence fall
                /// under the last entry.
                min_threshold: Vec<forebay_parameters::Length>,
                    "Clark and Fang 1998, section III";
                /// Maximum threshold for each precedence, above the minimum threshold.
                max_threshold: Vec<forebay_parameters::Length>,
                    "Clark and Fang 1998, section III";
                /// Drop probability at the maximum threshold for each precedence.
                max_probability: Vec<f64>, "Clark and Fang 1998, section III";
                $($own)*
            }
        }
    };
}

pub(super) use {precedence_red_parameters, red_parameters};

/// The parameters that every kind of RED has, as read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub weight: f64,
    pub gentle: bool,
    pub spacing: Spacing,
    pub count: CountConvention,
    pub idle_correction: IdleCorrection,
    pub mean_packet: Size,
    pub byte_mode: ByteMode,
    pub max_packet: Size,
    pub ecn: bool,
    pub limit: Option<Length>,
    pub ns2_guards: bool,
}

/// What is configured for each class.
pub(super) struct Thresholds<'a> {
    pub min: &'a [Length],
    pub max: &'a [Length],
    pub probability: &'a [f64],
}

/// What all classes of a queue share.
pub(super) struct Core {
    pub averaging: Averaging,
    pub policy: Policy,
    /// Whether queues and averages are in bytes.
    pub in_bytes: bool,
}

impl Core {
    /// Check `options` and `thresholds`; give the shared part and the classes.
    pub fn build(
        section: &Section<'_>,
        facts: &LinkFacts,
        options: Options,
        thresholds: &Thresholds<'_>,
    ) -> Result<(Self, Vec<Class>), Problem> {
        check_options(section, &options)?;
        let in_bytes = check_thresholds(section, thresholds)?;
        let classes = thresholds
            .min
            .iter()
            .zip(thresholds.max)
            .zip(thresholds.probability)
            .map(|((min, max), p)| {
                let (min, max) = (min.amount() as f64, max.amount() as f64);
                Class::new(Curve::new(min, max, *p, options.gentle), options.count)
            })
            .collect();
        let averaging = Averaging::new(&options, facts);
        Ok((
            Self {
                averaging,
                policy: Policy::new(&options),
                in_bytes,
            },
            classes,
        ))
    }
}

fn check_options(section: &Section<'_>, options: &Options) -> Result<(), Problem> {
    let weight = options.weight;
    if !(weight > 0.0 && weight <= 1.0) {
        let message = format!("{weight} is out of range; allowed are weights above 0 and up to 1");
        return Err(section.fail("weight", message));
    }
    for (key, size) in [
        ("mean_packet", options.mean_packet),
        ("max_packet", options.max_packet),
    ] {
        if size.bytes() == 0 {
            return Err(section.fail(key, "is 0 B; allowed are sizes from 1 B"));
        }
    }
    if options.ns2_guards && options.count == CountConvention::Analysis {
        let message = "\"analysis\" contradicts ns2_guards = true; allowed with it is \"code\"";
        return Err(section.fail("count", message));
    }
    Ok(())
}

/// Gives whether the thresholds are in bytes.
fn check_thresholds(section: &Section<'_>, given: &Thresholds<'_>) -> Result<bool, Problem> {
    let [min_key, max_key, probability_key] = ["min_threshold", "max_threshold", "max_probability"];
    let classes = given.min.len();
    if classes == 0 || classes > MOST_PRECEDENCES {
        let message =
            format!("has {classes} entries; allowed are 1 to {MOST_PRECEDENCES} precedences");
        return Err(section.fail(min_key, message));
    }
    for (key, entries) in [
        (max_key, given.max.len()),
        (probability_key, given.probability.len()),
    ] {
        if entries != classes {
            let message =
                format!("has {entries} entries; allowed are {classes}, as many as {min_key} has");
            return Err(section.fail(key, message));
        }
    }
    let at = |i: usize| {
        if classes > 1 {
            format!(" (precedence {i})")
        } else {
            String::new()
        }
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
    }
    Ok(in_bytes)
}

/// How averages follow their queues.
pub(super) struct Averaging {
    weight: f64,
    /// ln(1 - weight).
    ln_keep: f64,
    /// Transmission time of a typical packet in ps.
    packet_ps: f64,
    correction: IdleCorrection,
}

impl Averaging {
    fn new(options: &Options, facts: &LinkFacts) -> Self {
        let bits = 8.0 * options.mean_packet.bytes() as f64;
        Self {
            weight: options.weight,
            // Weight 1 forgets everything at once: minus infinity, kept finite because 0 times
            // infinity is not a number.
            ln_keep: math::ln_1p(-options.weight).max(f64::MIN),
            packet_ps: bits * PS_PER_S as f64 / facts.rate.bps() as f64,
            correction: options.idle_correction,
        }
    }

    /// A packet found `queue` waiting.
    #[inline]
    pub fn sample(&self, average: &mut f64, queue: u64) {
        *average += self.weight * (queue as f64 - *average);
    }

    /// A packet found the queue empty, and it had been for `idle`.
    #[inline]
    pub fn decay(&self, average: &mut f64, idle: Span) {
        if *average > 0.0 {
            let packets = idle.ps() as f64 / self.packet_ps;
            let samples = match self.correction {
                IdleCorrection::Fj => packets,
                IdleCorrection::Ns2 => packets.floor() + 1.0,
            };
            *average *= math::exp(samples * self.ln_keep);
        }
    }
}

/// Drop probability over the average queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    min: f64,
    max: f64,
    /// From here on every packet is dropped.
    top: f64,
    slope: f64,
    gentle_slope: f64,
    gentle_offset: f64,
}

impl Curve {
    pub fn new(min: f64, max: f64, probability: f64, gentle: bool) -> Self {
        Self {
            min,
            max,
            top: if gentle { 2.0 * max } else { max },
            slope: probability / (max - min),
            gentle_slope: (1.0 - probability) / max,
            gentle_offset: 2.0 * probability - 1.0,
        }
    }

    /// Probability at an average from the minimum threshold up to the top.
    #[inline]
    fn rising(&self, average: f64) -> f64 {
        if average < self.max {
            self.slope * (average - self.min)
        } else {
            self.gentle_slope * average + self.gentle_offset
        }
    }
}

/// One class of packets: its curve, and what has passed since its last drop.
#[derive(Clone, Debug)]
pub(super) struct Class {
    curve: Curve,
    count: i64,
    /// Bytes instead of packets, for byte mode ns2.
    count_bytes: u64,
    /// Whether the average was at or above the minimum threshold before (ns-2's `old`).
    entered: bool,
}

impl Class {
    pub fn new(curve: Curve, convention: CountConvention) -> Self {
        Self {
            curve,
            count: fresh(convention),
            count_bytes: 0,
            entered: false,
        }
    }

    #[inline]
    fn restart(&mut self, count: i64) {
        self.count = count;
        self.count_bytes = 0;
    }
}

/// The count below the minimum threshold.
const fn fresh(convention: CountConvention) -> i64 {
    match convention {
        CountConvention::Code => -1,
        CountConvention::Analysis => 0,
    }
}

/// How a verdict follows from average and class.
pub(super) struct Policy {
    spacing: Spacing,
    convention: CountConvention,
    byte_mode: ByteMode,
    mean_packet: u64,
    per_max_packet: f64,
    ecn: bool,
    ns2_guards: bool,
    limit: Option<Length>,
}

impl Policy {
    fn new(options: &Options) -> Self {
        Self {
            spacing: options.spacing,
            convention: options.count,
            byte_mode: options.byte_mode,
            mean_packet: options.mean_packet.bytes(),
            per_max_packet: 1.0 / options.max_packet.bytes() as f64,
            ecn: options.ecn,
            ns2_guards: options.ns2_guards,
            limit: options.limit,
        }
    }

    /// The verdict on an arrival of `class`, whose average has been brought up to date; `queue` is what
    /// the class's average follows.
    #[inline]
    pub fn decide(
        &self,
        class: &mut Class,
        average: f64,
        queue: u64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        let verdict = if average < class.curve.min {
            class.restart(fresh(self.convention));
            class.entered = false;
            Verdict::Accept
        } else {
            self.above_minimum(class, average, queue, arrival, stream)
        };
        if matches!(verdict, Verdict::Drop(_)) || fits(self.limit, arrival) {
            return verdict;
        }
        if self.ns2_guards {
            class.restart(0);
        }
        Verdict::Drop(DropReason::Overflow)
    }

    fn above_minimum(
        &self,
        class: &mut Class,
        average: f64,
        queue: u64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        let size = u64::from(arrival.packet.size);
        if self.ns2_guards && queue <= 1 {
            class.entered = false;
            return Verdict::Accept;
        }
        if average >= class.curve.top {
            class.restart(0);
            return Verdict::Drop(DropReason::Forced);
        }
        if self.ns2_guards && !class.entered {
            (class.count, class.count_bytes, class.entered) = (1, size, true);
            return Verdict::Accept;
        }
        if self.convention == CountConvention::Code {
            class.count += 1;
            class.count_bytes += size;
        }
        if stream.happens(self.spaced(class, average, size)) {
            class.restart(0);
            return if self.ecn && arrival.packet.is_ecn_capable() {
                Verdict::Mark
            } else {
                Verdict::Drop(DropReason::Early)
            };
        }
        if self.convention == CountConvention::Analysis {
            class.count += 1;
            class.count_bytes += size;
        }
        Verdict::Accept
    }

    /// Probability that a packet of `size` is dropped, given the count.
    #[inline]
    fn spaced(&self, class: &Class, average: f64, size: u64) -> f64 {
        let pb = class.curve.rising(average);
        match self.byte_mode {
            ByteMode::Off => self.spacing.probability(pb, class.count as f64),
            ByteMode::Fj => {
                let pb = pb * size as f64 * self.per_max_packet;
                self.spacing.probability(pb, class.count as f64)
            }
            ByteMode::Ns2 => {
                let count = class.count_bytes / self.mean_packet;
                let pa = self.spacing.probability(pb, count as f64);
                if pa < 1.0 {
                    pa * size as f64 / self.mean_packet as f64
                } else {
                    pa
                }
            }
        }
    }
}

impl Spacing {
    /// pa, the probability of a drop given `pb` and the count; 1 or more means a certain drop.
    #[inline]
    fn probability(self, pb: f64, count: f64) -> f64 {
        let progress = count * pb;
        match self {
            Self::Uniform if progress < 1.0 => pb / (1.0 - progress),
            Self::Wait if progress < 1.0 => 0.0,
            Self::Wait if progress < 2.0 => pb / (2.0 - progress),
            Self::Uniform | Self::Wait => 1.0,
            Self::Geometric => pb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(measured: f64, expected: f64, digits: f64) {
        assert!(
            (measured - expected).abs() <= 0.5 * digits,
            "{measured} is not {expected}"
        );
    }

    fn averaging(weight: f64, correction: IdleCorrection) -> Averaging {
        // 1000 B at 10 Mbit/s take 8000 bit / 10^7 bit/s = 0.8 ms.
        Averaging {
            weight,
            ln_keep: math::ln_1p(-weight),
            packet_ps: 0.8e9,
            correction,
        }
    }

    /// Otherwise averages would be faster or slower than the weight says. A constant queue of 50 seen
    /// 100 times from 0 gives 50 (1 - 0.998^100) = 9.0716597656; a queue that grows by one an arrival,
    /// 1 to 50, gives L + 1 + ((1 - w)^(L + 1) - 1) / w = 2.468662 (Floyd and Jacobson 1993, eq. 2).
    #[test]
    fn the_average_is_an_exponential_one() {
        let ewma = averaging(0.002, IdleCorrection::Fj);
        let mut average = 0.0;
        (0..100).for_each(|_| ewma.sample(&mut average, 50));
        near(average, 9.071_659_765_6, 1e-10);
        let mut average = 0.0;
        (1..=50).for_each(|queue| ewma.sample(&mut average, queue));
        near(average, 2.468_662, 1e-6);
    }

    /// Otherwise a burst after a pause would be judged by an old queue. From 10, idle for 0.1 s, that is
    /// 125 packets: 10 * 0.998^125 = 7.7860584729, and with ns-2's one sample more 10 * 0.998^126 =
    /// 7.7704863559. Half a packet more: ns-2 counts whole packets, the paper's exponent is real.
    #[test]
    fn idle_time_decays_the_average() {
        for (ps, fj, ns2) in [
            (100_000_000_000, 7.786_058_472_9, 7.770_486_355_9),
            (
                100_400_000_000,
                10.0 * math::pow(0.998, 125.5),
                7.770_486_355_9,
            ),
        ] {
            let mut average = 10.0;
            averaging(0.002, IdleCorrection::Fj).decay(&mut average, Span::from_ps(ps));
            near(average, fj, 1e-10);
            let mut average = 10.0;
            averaging(0.002, IdleCorrection::Ns2).decay(&mut average, Span::from_ps(ps));
            near(average, ns2, 1e-10);
        }
    }

    /// Otherwise the drop probability would leave the published curve. Thresholds 5 and 15 with maxp 0.1;
    /// 189 and 2520 with 0.1 (Adaptive REDn thesis, eq. 1.2 and 1.3): 0.1 * 189 / 2331 = 0.0081081081,
    /// 0.1 * 811 / 2331 = 0.0347919348, gentle: 0.9 * 3780 / 2520 - 0.8 = 0.55, 0.9 * 2 - 0.8 = 1.
    #[test]
    fn the_drop_curve_is_the_published_one() {
        let plain = Curve::new(5.0, 15.0, 0.1, false);
        near(plain.rising(5.0), 0.0, 1e-15);
        near(plain.rising(10.0), 0.05, 1e-15);
        near(plain.rising(14.99), 0.0999, 1e-15);
        assert_eq!((plain.min, plain.top), (5.0, 15.0));
        let gentle = Curve::new(5.0, 15.0, 0.1, true);
        near(gentle.rising(15.0), 0.1, 1e-15);
        near(gentle.rising(22.5), 0.55, 1e-15);
        assert_eq!(gentle.top, 30.0);
        let wide = Curve::new(189.0, 2520.0, 0.1, true);
        near(wide.rising(378.0), 0.008_108_108_1, 1e-10);
        near(wide.rising(1000.0), 0.034_791_934_8, 1e-10);
        near(wide.rising(3780.0), 0.55, 1e-15);
        assert_eq!(wide.top, 5040.0);
    }

    /// Otherwise gaps between drops would not be distributed as published. With pb = 0.125 (exact in
    /// binary): uniform 0.125 / (1 - 0.125 count), certain from 8 on; wait 0 before 8, then
    /// 0.125 / (2 - 0.125 count), certain from 16 on; the clamp keeps pa from turning negative.
    #[test]
    fn spacing_follows_its_formulas() {
        for (spacing, count, pa) in [
            (Spacing::Uniform, 0.0, 0.125),
            (Spacing::Uniform, 4.0, 0.25),
            (Spacing::Uniform, 7.0, 1.0),
            (Spacing::Uniform, 8.0, 1.0),
            (Spacing::Uniform, 100.0, 1.0),
            (Spacing::Wait, 7.0, 0.0),
            (Spacing::Wait, 8.0, 0.125),
            (Spacing::Wait, 12.0, 0.25),
            (Spacing::Wait, 16.0, 1.0),
            (Spacing::Geometric, 100.0, 0.125),
        ] {
            assert_eq!(spacing.probability(0.125, count), pa, "{spacing:?} {count}");
        }
    }

    fn policy(byte_mode: ByteMode) -> Policy {
        Policy {
            spacing: Spacing::Uniform,
            convention: CountConvention::Code,
            byte_mode,
            mean_packet: 500,
            per_max_packet: 1.0 / 1000.0,
            ecn: false,
            ns2_guards: false,
            limit: None,
        }
    }

    /// Otherwise small packets would be dropped like large ones. At pb = 0.05 with 2900 B counted,
    /// 5 whole mean packets: ns-2 gives 0.05 / (1 - 0.25) * 250 / 500 = 0.033333; the paper scales first:
    /// pb = 0.05 * 250 / 1000 = 0.0125, and with count 5 gives 0.0125 / (1 - 0.0625) = 0.013333.
    #[test]
    fn byte_modes_scale_by_packet_size() {
        // Average 10 on the curve 5 to 15 with maxp 0.1 has pb = 0.05.
        let mut class = Class::new(Curve::new(5.0, 15.0, 0.1, false), CountConvention::Code);
        (class.count, class.count_bytes) = (5, 2900);
        near(
            policy(ByteMode::Ns2).spaced(&class, 10.0, 250),
            0.05 / 0.75 * 0.5,
            1e-15,
        );
        near(
            policy(ByteMode::Fj).spaced(&class, 10.0, 250),
            0.0125 / 0.9375,
            1e-15,
        );
        near(
            policy(ByteMode::Off).spaced(&class, 10.0, 250),
            0.05 / 0.75,
            1e-15,
        );
    }
}
