//! The arithmetic that RED, WRED and RIO share: averages, the drop curve and the spacing of drops.

use forebay_kernel::{Stream, math};
use forebay_network::{Arrival, DropReason, Verdict};
use forebay_parameters::{Length, Problem, Section};
use forebay_units::{PS_PER_S, Size, Span};

use crate::LinkFacts;
use crate::queue::fits;
use crate::queue::parts::red_options::{
    ByteMode, CountConvention, IdleCorrection, Options, Spacing, Thresholds, check_options,
    check_thresholds,
};

/// State that all classes of a queue share.
pub(in crate::queue) struct Core {
    pub averaging: Averaging,
    pub policy: Policy,
    /// True if queues and averages are in bytes.
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
        Ok((Self::new(facts, &options, in_bytes), classes))
    }

    /// The shared part alone; `options` are right.
    pub fn new(facts: &LinkFacts, options: &Options, in_bytes: bool) -> Self {
        let Options { weight, mean_packet, idle_correction, .. } = *options;
        let averaging = Averaging::new(weight, mean_packet, idle_correction, facts);
        Self { averaging, policy: Policy::new(options), in_bytes }
    }
}

/// Rule by which averages follow their queues.
pub(in crate::queue) struct Averaging {
    weight: f64,
    /// ln(1 - weight).
    ln_keep: f64,
    /// Transmission time of a typical packet in ps.
    packet_ps: f64,
    correction: IdleCorrection,
}

impl Averaging {
    pub fn new(
        weight: f64,
        mean_packet: Size,
        correction: IdleCorrection,
        facts: &LinkFacts,
    ) -> Self {
        let bits = 8.0 * mean_packet.bytes() as f64;
        Self {
            weight,
            // Weight 1 forgets everything at once: minus infinity, kept finite because 0 times
            // infinity is not a number.
            ln_keep: math::ln_1p(-weight).max(f64::MIN),
            packet_ps: bits * PS_PER_S as f64 / facts.rate.bps() as f64,
            correction,
        }
    }

    /// The weight of the newest sample.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// A packet found `queue` waiting.
    #[inline]
    pub fn sample(&self, average: &mut f64, queue: f64) {
        *average += self.weight * (queue - *average);
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
pub(in crate::queue) struct Curve {
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
        let top = if gentle { 2.0 * max } else { max };
        let mut curve = Self { min, max, top, slope: 0.0, gentle_slope: 0.0, gentle_offset: 0.0 };
        curve.set_probability(probability);
        curve
    }

    /// Move the probability at the maximum threshold.
    fn set_probability(&mut self, probability: f64) {
        self.slope = probability / (self.max - self.min);
        self.gentle_slope = (1.0 - probability) / self.max;
        self.gentle_offset = 2.0 * probability - 1.0;
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
pub(in crate::queue) struct Class {
    curve: Curve,
    count: i64,
    /// Bytes instead of packets, for byte mode ns2.
    count_bytes: u64,
    /// True if the average was at or above the minimum threshold before (ns-2's `old`).
    entered: bool,
    /// With `Spacing::Drawn`: what count times pb reaches at the next drop, once it is drawn.
    drawn: Option<f64>,
}

impl Class {
    pub fn new(curve: Curve, convention: CountConvention) -> Self {
        Self { curve, count: fresh(convention), count_bytes: 0, entered: false, drawn: None }
    }

    /// Move the probability at the maximum threshold; the count is kept.
    pub fn set_probability(&mut self, probability: f64) {
        self.curve.set_probability(probability);
    }

    #[inline]
    fn restart(&mut self, count: i64) {
        self.count = count;
        self.count_bytes = 0;
        self.drawn = None;
    }
}

/// The count below the minimum threshold.
const fn fresh(convention: CountConvention) -> i64 {
    match convention {
        CountConvention::Code | CountConvention::Linux => -1,
        CountConvention::Analysis => 0,
    }
}

/// Rule by which a verdict follows from average and class.
pub(in crate::queue) struct Policy {
    spacing: Spacing,
    convention: CountConvention,
    byte_mode: ByteMode,
    mean_packet: u64,
    per_max_packet: f64,
    ecn: bool,
    harddrop: bool,
    gentle_ecn: bool,
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
            harddrop: options.harddrop,
            gentle_ecn: options.gentle_ecn,
            ns2_guards: options.ns2_guards,
            limit: options.limit,
        }
    }

    /// The verdict on an arrival of `class`, whose average has been brought up to date; `queue` is
    /// what the class's average follows.
    #[inline]
    pub fn decide(
        &self,
        class: &mut Class,
        average: f64,
        queue: f64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        match self.certain(class, average, queue, arrival) {
            Some(verdict) => verdict,
            None => self.by_chance(class, average, arrival, stream),
        }
    }

    /// As [`decide`](Self::decide), unless it is up to chance.
    #[inline(always)]
    pub fn certain(
        &self,
        class: &mut Class,
        average: f64,
        queue: f64,
        arrival: &Arrival<'_>,
    ) -> Option<Verdict> {
        if average < class.curve.min {
            self.below_minimum(class);
        } else if self.ns2_guards && queue <= 1.0 {
            class.entered = false;
        } else if average >= class.curve.top {
            let linux = self.convention == CountConvention::Linux;
            class.restart(if linux { fresh(self.convention) } else { 0 });
            if self.harddrop || !(self.ecn && arrival.packet.is_ecn_capable()) {
                return Some(Verdict::Drop(DropReason::Forced));
            }
            return Some(self.limited(class, Verdict::Mark, arrival));
        } else if self.ns2_guards && !class.entered {
            let size = u64::from(arrival.packet.size);
            (class.count, class.count_bytes, class.entered) = (1, size, true);
        } else {
            return None;
        }
        Some(self.limited(class, Verdict::Accept, arrival))
    }

    /// The verdict on an arrival of `class` where the queue is not congested, whatever the average
    /// says; the count starts anew as below the minimum threshold if `restart`, or stays.
    #[inline]
    pub fn spare(&self, class: &mut Class, restart: bool, arrival: &Arrival<'_>) -> Verdict {
        if restart {
            self.below_minimum(class);
        }
        self.limited(class, Verdict::Accept, arrival)
    }

    #[inline]
    fn below_minimum(&self, class: &mut Class) {
        class.restart(fresh(self.convention));
        class.entered = false;
    }

    /// `verdict`, or a drop if the buffer is full.
    #[inline(always)]
    fn limited(&self, class: &mut Class, verdict: Verdict, arrival: &Arrival<'_>) -> Verdict {
        if fits(self.limit, arrival) {
            return verdict;
        }
        if self.ns2_guards {
            class.restart(0);
        }
        Verdict::Drop(DropReason::Overflow)
    }

    /// As [`decide`](Self::decide) where nothing is [certain](Self::certain): the average is on the
    /// rising part of the curve.
    #[inline(always)]
    pub fn by_chance(
        &self,
        class: &mut Class,
        average: f64,
        arrival: &Arrival<'_>,
        stream: &mut Stream,
    ) -> Verdict {
        let size = u64::from(arrival.packet.size);
        if self.convention == CountConvention::Code {
            class.count += 1;
            class.count_bytes += size;
        } else if class.count < 0 {
            class.restart(0);
            return self.limited(class, Verdict::Accept, arrival);
        }
        let drops = if self.spacing == Spacing::Drawn {
            self.reaches(class, average, stream)
        } else {
            stream.happens(self.spaced(class, average, size))
        };
        if drops {
            class.restart(0);
            let marks = self.ecn && (self.gentle_ecn || average <= class.curve.max);
            if !(marks && arrival.packet.is_ecn_capable()) {
                return Verdict::Drop(DropReason::Early);
            }
            return self.limited(class, Verdict::Mark, arrival);
        }
        if self.convention != CountConvention::Code {
            class.count += 1;
            class.count_bytes += size;
        }
        self.limited(class, Verdict::Accept, arrival)
    }

    /// Returns true if count times pb reaches what was drawn when the count began, the arriving
    /// packet counted.
    fn reaches(&self, class: &mut Class, average: f64, stream: &mut Stream) -> bool {
        let arriving = i64::from(self.convention != CountConvention::Code);
        let drawn = *class.drawn.get_or_insert_with(|| stream.uniform());
        class.curve.rising(average) * (class.count + arriving) as f64 > drawn
    }

    /// Probability that a packet of `size` is dropped, given the count.
    #[inline(always)]
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
                if pa < 1.0 { pa * size as f64 / self.mean_packet as f64 } else { pa }
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
            Self::Uniform | Self::Drawn if progress < 1.0 => pb / (1.0 - progress),
            Self::Wait if progress < 1.0 => 0.0,
            Self::Wait if progress < 2.0 => pb / (2.0 - progress),
            Self::Uniform | Self::Drawn | Self::Wait => 1.0,
            Self::Geometric => pb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(measured: f64, expected: f64, digits: f64) {
        assert!((measured - expected).abs() <= 0.5 * digits, "{measured} is not {expected}");
    }

    fn averaging(weight: f64, correction: IdleCorrection) -> Averaging {
        // 1000 B at 10 Mbit/s take 8000 bit / 10^7 bit/s = 0.8 ms.
        Averaging { weight, ln_keep: math::ln_1p(-weight), packet_ps: 0.8e9, correction }
    }

    /// Averages are as fast as the weight says. A constant queue of 50 seen 100 times from 0 gives
    /// 50 (1 - 0.998^100) = 9.0716597656; a queue that grows by one an arrival, 1 to 50, gives L +
    /// 1 + ((1 - w)^(L + 1) - 1) / w = 2.468662 (Floyd and Jacobson 1993, eq. 2).
    #[test]
    fn the_average_is_an_exponential_one() {
        let ewma = averaging(0.002, IdleCorrection::Fj);
        let mut average = 0.0;
        (0..100).for_each(|_| ewma.sample(&mut average, 50.0));
        near(average, 9.071_659_765_6, 1e-10);
        let mut average = 0.0;
        (1..=50).for_each(|queue| ewma.sample(&mut average, f64::from(queue)));
        near(average, 2.468_662, 1e-6);
    }

    /// Idle time decays the average, so that a burst after a pause is not judged by an old queue.
    /// From 10, idle for 0.1 s, that is 125 packets: 10 * 0.998^125 = 7.7860584729, and with ns-2's
    /// one sample more 10 * 0.998^126 = 7.7704863559. Half a packet more: ns-2 counts whole
    /// packets, the paper's exponent is real.
    #[test]
    fn idle_time_decays_the_average() {
        for (ps, fj, ns2) in [
            (100_000_000_000, 7.786_058_472_9, 7.770_486_355_9),
            (100_400_000_000, 10.0 * math::pow(0.998, 125.5), 7.770_486_355_9),
        ] {
            let mut average = 10.0;
            averaging(0.002, IdleCorrection::Fj).decay(&mut average, Span::from_ps(ps));
            near(average, fj, 1e-10);
            let mut average = 10.0;
            averaging(0.002, IdleCorrection::Ns2).decay(&mut average, Span::from_ps(ps));
            near(average, ns2, 1e-10);
        }
    }

    /// The drop probability follows the published curve. Thresholds 5 and 15 with maxp 0.1; 189 and
    /// 2520 with 0.1 (Adaptive REDn thesis, eq. 1.2 and 1.3): 0.1 * 189 / 2331 = 0.0081081081, 0.1
    /// * 811 / 2331 = 0.0347919348, gentle: 0.9 * 3780 / 2520 - 0.8 = 0.55, 0.9 * 2 - 0.8 = 1.
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

    /// A maximum probability that moves at run time gives the same curve as one that is configured:
    /// from 0.1 to 0.5, in both phases.
    #[test]
    fn the_curve_follows_its_maximum_probability() {
        let mut moved = Curve::new(189.0, 2520.0, 0.1, true);
        moved.set_probability(0.5);
        // 0.5 * 189 / 2331 = 0.0405405405; 3780 / 2520 * 0.5 + 2 * 0.5 - 1 = 0.75.
        near(moved.rising(378.0), 0.040_540_540_5, 1e-10);
        near(moved.rising(3780.0), 0.75, 1e-15);
        assert_eq!(moved.top, 5040.0);
    }

    /// Gaps between drops are distributed as published. With pb = 0.125 (exact in binary): uniform
    /// 0.125 / (1 - 0.125 count), certain from 8 on; wait 0 before 8, then 0.125 / (2 - 0.125
    /// count), certain from 16 on; the clamp keeps pa from turning negative.
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
            harddrop: true,
            gentle_ecn: true,
            ns2_guards: false,
            limit: None,
        }
    }

    /// A drop comes where the probability has grown to what was drawn after the last one, not by
    /// the chance of each packet (Linux, include/net/red.h: red_mark_probability). On the curve 5
    /// to 15 with maxp 0.1, with 0.3 drawn: at an average of 10 (pb 0.05) the 5th packet makes
    /// 0.25, at 11 (0.06) 0.30 and at 12 (0.07) 0.35; where the average has fallen to 8 (0.03), it
    /// is the 11th. The drop has another number drawn.
    #[test]
    fn a_gap_is_drawn_once() {
        let convention = CountConvention::Linux;
        let policy = Policy { spacing: Spacing::Drawn, convention, ..policy(ByteMode::Off) };
        let mut stream = forebay_kernel::Streams::new(1, 0).named("gap");
        let mut class = Class::new(Curve::new(5.0, 15.0, 0.1, false), convention);
        class.restart(4);
        class.drawn = Some(0.3);
        assert!(!policy.reaches(&mut class, 10.0, &mut stream));
        assert!(!policy.reaches(&mut class, 10.99, &mut stream));
        assert!(policy.reaches(&mut class, 12.0, &mut stream));
        for (count, drops) in [(8, false), (9, false), (10, true)] {
            class.count = count;
            assert_eq!(policy.reaches(&mut class, 8.0, &mut stream), drops, "{count}");
        }
        class.restart(0);
        assert_eq!(class.drawn, None);
    }

    /// Byte modes scale by packet size: small packets are not dropped like large ones. At pb = 0.05
    /// with 2900 B counted, 5 whole mean packets: ns-2 gives 0.05 / (1 - 0.25) * 250 / 500 =
    /// 0.033333; the paper scales first: pb = 0.05 * 250 / 1000 = 0.0125, and with count 5 gives
    /// 0.0125 / (1 - 0.0625) = 0.013333.
    #[test]
    fn byte_modes_scale_by_packet_size() {
        // Average 10 on the curve 5 to 15 with maxp 0.1 has pb = 0.05.
        let mut class = Class::new(Curve::new(5.0, 15.0, 0.1, false), CountConvention::Code);
        (class.count, class.count_bytes) = (5, 2900);
        near(policy(ByteMode::Ns2).spaced(&class, 10.0, 250), 0.05 / 0.75 * 0.5, 1e-15);
        near(policy(ByteMode::Fj).spaced(&class, 10.0, 250), 0.0125 / 0.9375, 1e-15);
        near(policy(ByteMode::Off).spaced(&class, 10.0, 250), 0.05 / 0.75, 1e-15);
    }
}
