//! Filtered input rates of a port by class, and the classes to be slowed when their sum is high.

use forebay_network::Packet;
use forebay_parameters::{Probe, Problem, Section, choice, parameters};
use forebay_units::{Rate, Span, Time};

/// Classes that it tells apart: precedences from 0, of which the higher ones count as the last.
pub(crate) const CLASSES: usize = 4;

/// Probe of every mechanism with such a meter: input rates by precedence.
pub(crate) const INPUT_RATIO: Probe = Probe {
    name: "input_ratio",
    unit: "1",
    meaning: "By precedence: filtered input rate over the link's rate.",
};

/// Probe of every mechanism with such a meter: congestion of the port.
pub(crate) const CONGESTED: Probe = Probe {
    name: "congested",
    unit: "1",
    meaning: "1 while the sum of the input ratios is above the threshold, else 0.",
};

choice! {
    /// Value of the previous interval that the filter remembers.
    pub enum Memory {
        /// The filtered one: first-order low-pass filter.
        Filtered = "filtered",
        /// The measured one: mean of two intervals.
        Raw = "raw",
    }
}

parameters! {
    /// Definition of high input rates of a port, and of the classes that are to be slowed then.
    pub struct RateMeterParameters {
        /// Interval over which input rates are measured, dropped packets included.
        interval: Span = "50 ms", "COMSAT thesis, section 5.1";
        /// Weight of the latest interval in the filtered rate, above 0 and up to 1.
        weight: f64 = 0.8, "COMSAT thesis, section 5.1";
        /// Value of the previous interval that has the rest of the weight.
        memory: Memory = "filtered", "assumed: the thesis says \"the previous value\"";
        /// The port is congested if the filtered rates of all classes are above this share of the
        /// link's rate.
        threshold: f64 = 0.9, "COMSAT thesis, section 5.1";
        /// Classes are notified from the highest precedence down, as many as together have at
        /// least this share of the link's rate; 0 to 1.
        share: f64 = 0.2, "COMSAT thesis, section 5.1";
    }
}

impl RateMeterParameters {
    /// Refuse what measures nothing, or would be congested never or always.
    pub(crate) fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.interval < Span::from_us(1) {
            let message = "is too short to measure a rate; allowed are intervals from 1 us";
            return Err(section.fail("interval", message));
        }
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            let message =
                format!("{} is out of range; allowed are above 0 and up to 1", self.weight);
            return Err(section.fail("weight", message));
        }
        if self.threshold <= 0.0 {
            let message = format!("{} is not above 0", self.threshold);
            return Err(section.fail("threshold", message));
        }
        if !(0.0..=1.0).contains(&self.share) {
            let message = format!("{} is not a share; allowed are 0 to 1", self.share);
            return Err(section.fail("share", message));
        }
        Ok(())
    }
}

/// Measures the input rates of a port by class.
pub(crate) struct RateMeter {
    parameters: RateMeterParameters,
    /// Bits of an interval at the link's rate.
    full: f64,
    /// Time at which the present interval ends.
    end: Time,
    /// Bytes that arrived in it, by class.
    bytes: [u64; CLASSES],
    /// Ratios to the link's rate, by class.
    filtered: [f64; CLASSES],
    measured: [f64; CLASSES],
    /// Classes that are notified; none while the port is not congested.
    eligible: [bool; CLASSES],
}

/// Below this a filtered rate is none: whole silences are skipped.
const NOTHING: f64 = 1e-12;

impl RateMeter {
    /// A meter of a link of `rate`.
    pub(crate) fn new(parameters: RateMeterParameters, rate: Rate) -> Self {
        Self {
            full: rate.bps() as f64 * parameters.interval.seconds(),
            end: Time::ZERO + parameters.interval,
            bytes: [0; CLASSES],
            filtered: [0.0; CLASSES],
            measured: [0.0; CLASSES],
            eligible: [false; CLASSES],
            parameters,
        }
    }

    /// A packet arrives.
    #[inline]
    pub(crate) fn arrives(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.bytes[class_of(packet)] += u64::from(packet.size);
    }

    /// Returns true if the source of `packet` is one of those to be slowed.
    #[inline]
    pub(crate) fn is_eligible(&self, packet: &Packet) -> bool {
        self.eligible[class_of(packet)]
    }

    /// Visit [`INPUT_RATIO`] and [`CONGESTED`].
    pub(crate) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (class, rate) in self.filtered.iter().enumerate() {
            visit(&format!("input_ratio.{class}"), *rate);
        }
        let congested = self.filtered.iter().sum::<f64>() > self.parameters.threshold;
        visit("congested", f64::from(u8::from(congested)));
    }

    /// End the intervals that have ended by `now`. Nothing reads them between arrivals, so that
    /// needs no event; what arrives at the very end belongs to the next interval.
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        if now >= self.end {
            self.close_until(now);
        }
    }

    #[cold]
    fn close_until(&mut self, now: Time) {
        while now >= self.end {
            self.close();
            let interval = self.parameters.interval;
            self.end += interval;
            if self.is_silent() && now >= self.end {
                // All later intervals are alike: they end with nothing.
                let gone = now.since(self.end).ps() / interval.ps() + 1;
                self.end += interval.times(gone);
            }
        }
    }

    fn is_silent(&self) -> bool {
        let rates = self.filtered.iter().chain(&self.measured);
        rates.fold(0.0, |sum, rate| sum + rate) < NOTHING
    }

    /// The present interval ends.
    fn close(&mut self) {
        let RateMeterParameters { weight, memory, threshold, share, .. } = self.parameters;
        let rates = self.filtered.iter_mut().zip(&mut self.measured);
        for ((filtered, measured), bytes) in rates.zip(&mut self.bytes) {
            let new = (std::mem::take(bytes) * 8) as f64 / self.full;
            let old = if memory == Memory::Filtered { *filtered } else { *measured };
            *filtered = weight * new + (1.0 - weight) * old;
            *measured = new;
        }
        self.eligible = eligible(&self.filtered, threshold, share);
    }
}

/// The classes to be notified when their filtered rates are `rates`: if all together exceed
/// `threshold`, from the last up until their sum reaches `share`.
fn eligible(rates: &[f64; CLASSES], threshold: f64, share: f64) -> [bool; CLASSES] {
    let mut chosen = [false; CLASSES];
    if rates.iter().sum::<f64>() <= threshold {
        return chosen;
    }
    let mut sum = 0.0;
    for (rate, chosen) in rates.iter().zip(&mut chosen).rev() {
        *chosen = true;
        sum += rate;
        if sum >= share {
            break;
        }
    }
    chosen
}

/// The class of `packet`.
#[inline]
pub(crate) fn class_of(packet: &Packet) -> usize {
    usize::from(packet.precedence).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Parameters, Table, Value};

    const LINK: Rate = Rate::from_bps(6_000_000);

    fn meter(entries: &[(&str, Value)]) -> Result<RateMeter, Problem> {
        let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = entries.iter().map(entry).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let section = Section::root(&node, &echo).unwrap();
        let parameters = RateMeterParameters::read(&section)?;
        parameters.check(&section)?;
        Ok(RateMeter::new(parameters, LINK))
    }

    fn packet(flow: usize, precedence: u8) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(flow), 0, 50, RouteId::new(0))
            .with_precedence(precedence)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The sources to be slowed are those of the smallest set of classes, from the lowest up, that
    /// has 20 % of the link: the vectors of section 5.1, for classes 1 to 4.
    #[test]
    fn the_smallest_set_of_classes_from_the_lowest_is_eligible() {
        let chosen = |rates| eligible(&rates, 0.9, 0.2);
        // .1, .15, then .45 with class 2.
        assert_eq!(chosen([0.5, 0.3, 0.05, 0.1]), [false, true, true, true]);
        assert_eq!(chosen([0.6, 0.35, 0.0, 0.0]), [false, true, true, true]);
        // .19 is too little: class 1 too.
        assert_eq!(chosen([0.75, 0.19, 0.0, 0.0]), [true, true, true, true]);
        assert_eq!(chosen([0.3, 0.4, 0.1, 0.15]), [false, false, true, true]);
        // A total at the threshold is not above it.
        assert_eq!(chosen([0.5, 0.25, 0.125, 0.0]), [false; 4]);
    }

    /// Input rates are filtered recursively, each with the filtered rate before it. From 0 with
    /// inputs .5, 1, 1, .95, .8 of the link: f = .8 new + .2 f = .4, .88, .976, .9552, .83104. (An
    /// interval of 50 ms at 6 Mbit/s is filled by 750 packets of 50 B, one each 66.7 us.)
    #[test]
    fn input_rates_are_filtered_recursively() {
        let feed = |memory: &str| {
            let mut law = meter(&[("memory", memory.into())]).unwrap();
            let mut seen = Vec::new();
            for (number, share) in [50, 100, 100, 95, 80].into_iter().enumerate() {
                let begin = ms(50 * number as u64);
                for cell in 0..share * 750 / 100 {
                    let at = begin + Span::from_us(60 * cell);
                    law.arrives(&packet(0, (cell % 4) as u8), at);
                }
                law.advance(begin + Span::from_ms(50));
                seen.push(law.filtered.iter().sum::<f64>());
            }
            seen
        };
        let close = |seen: Vec<f64>, expected: [f64; 5]| {
            let pairs = seen.iter().zip(expected);
            assert!(pairs.clone().count() == 5, "{seen:?}");
            // 750 cells are 100 %; of 712.5 the half is lost.
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-3), "{seen:?} {expected:?}");
        };
        close(feed("filtered"), [0.4, 0.88, 0.976, 0.9552, 0.83104]);
        // .8 * .5, .8 + .1, 1, .76 + .2, .64 + .19.
        close(feed("raw"), [0.4, 0.9, 1.0, 0.96, 0.83]);
    }

    /// A port that was not asked for a while does not judge by an old interval: closing intervals
    /// when they are read gives what closing each in its time does.
    #[test]
    fn intervals_closed_late_are_those_closed_in_time() {
        let mut stream = Streams::new(9, 0).named("cells");
        let (mut lazy, mut eager) = (meter(&[]).unwrap(), meter(&[]).unwrap());
        let (mut now, mut tick) = (Time::ZERO, ms(50));
        let mut told = 0;
        for number in 0..40_000 {
            let quiet = number % 5000 == 0;
            now += Span::from_seconds(stream.exponential() * if quiet { 30.0 } else { 6e-5 });
            while tick <= now {
                eager.advance(tick);
                tick += Span::from_ms(50);
            }
            let cell = packet(stream.below(30) as usize, stream.below(4) as u8);
            lazy.arrives(&cell, now);
            eager.arrives(&cell, now);
            assert_eq!(lazy.is_eligible(&cell), eager.is_eligible(&cell), "{now:?}");
            told += u32::from(lazy.is_eligible(&cell));
            assert_eq!(lazy.end, eager.end);
            let differ = |(a, b): (&f64, &f64)| (a - b).abs() > NOTHING;
            assert!(!lazy.filtered.iter().zip(&eager.filtered).any(differ), "{now:?}");
        }
        assert!(told > 100, "{told}");
    }

    /// Parameters that turn detection off, or make every port congested for ever, are refused.
    #[test]
    fn impossible_parameters_are_refused() {
        for (key, value) in [
            ("share", Value::Float(1.1)),
            ("share", Value::Float(-0.1)),
            ("weight", Value::Float(0.0)),
            ("weight", Value::Float(1.5)),
            ("threshold", Value::Float(0.0)),
            ("interval", Value::from("0 s")),
        ] {
            assert_eq!(meter(&[(key, value)]).err().unwrap().path, key);
        }
    }
}
