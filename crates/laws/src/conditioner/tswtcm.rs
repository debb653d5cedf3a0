//! The time sliding window three colour marker.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::quantity::show_rate;
use forebay_units::{Rate, Span, Time};

use super::BuildConditioner;
use super::bucket::{Excess, GREEN, RED, YELLOW};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "tswtcm",
    summary: "Time sliding window marker: estimates the rate, marks its excess by chance.",
    source: "RFC 2859",
    example: r#"
        ctr = "500 kbit/s"
        ptr = "900 kbit/s"
        window = "200 ms"
    "#,
    fields: TswTcmParameters::FIELDS,
    probes: &[Probe { name: "estimated_rate", unit: "bit/s", meaning: "Estimate of the rate." }],
    build: &build,
};

parameters! {
    /// Parameters of the time sliding window three colour marker.
    pub struct TswTcmParameters {
        /// Committed target rate: up to this estimate every packet is green. IP headers count.
        ctr: Rate, "RFC 2859, section 3";
        /// Peak target rate, at least the committed one: above it red appears. Without it there are
        /// two colours, green and yellow.
        ptr: Option<Rate>, "RFC 2859, section 3";
        /// Window over which the rate is estimated, above 0. About a round-trip time suits one TCP
        /// connection, 1 s an aggregate.
        window: Span = "1 s", "RFC 2859, section 2 (AVG_INTERVAL); ns-2 diffserv, TSW2CMPolicer";
        /// Treatment of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2859, section 4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let TswTcmParameters { ctr, ptr, window, excess } = TswTcmParameters::read(section)?;
    if window == Span::ZERO {
        return Err(section.fail("window", "is zero; allowed are windows above 0"));
    }
    if let Some(ptr) = ptr.filter(|ptr| *ptr < ctr) {
        let message = format!(
            "\"{}\" is below the committed rate; allowed is at least \"{}\"",
            show_rate(ptr),
            show_rate(ctr)
        );
        return Err(section.fail("ptr", message));
    }
    Ok(Box::new(TswTcm::new(ctr, ptr, window, excess)))
}

struct TswTcm {
    /// Target rates in byte/s.
    committed: f64,
    peak: f64,
    /// Window in s.
    window: f64,
    /// Estimated rate in byte/s.
    average: f64,
    last: Time,
    excess: Excess,
}

impl TswTcm {
    fn new(ctr: Rate, ptr: Option<Rate>, window: Span, excess: Excess) -> Self {
        Self {
            committed: ctr.bytes_per_second(),
            peak: ptr.map_or(f64::INFINITY, Rate::bytes_per_second),
            window: window.seconds(),
            average: ctr.bytes_per_second(),
            last: Time::ZERO,
            excess,
        }
    }

    /// The estimator of RFC 2859, section 2.
    fn estimate(&mut self, size: u16, now: Time) {
        let bytes = self.average * self.window + f64::from(size);
        self.average = bytes / (now.since(self.last).seconds() + self.window);
        self.last = self.last.max(now);
    }

    /// The colour for a draw `u` from [0, 1): with the estimate r, red has probability (r - PTR) /
    /// r above PTR, and red or yellow (r - CTR) / r above CTR (RFC 2859, section 3). One draw
    /// serves both.
    fn colour(&self, u: f64) -> u8 {
        let level = self.average * (1.0 - u);
        if level > self.peak {
            RED
        } else if level > self.committed {
            YELLOW
        } else {
            GREEN
        }
    }
}

impl Conditioner for TswTcm {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        self.estimate(packet.size, now);
        packet.precedence = self.colour(stream.uniform());
        if packet.precedence == RED { self.excess.verdict() } else { Verdict::Accept }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("estimated_rate", 8.0 * self.average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};

    fn marker(ptr: Option<u64>) -> TswTcm {
        let window = Span::from_ms(100);
        TswTcm::new(Rate::from_bps(1_000_000), ptr.map(Rate::from_bps), window, Excess::Mark)
    }

    /// The rate is estimated with the memory of RFC 2859, section 2. From 125000 B/s with W = 0.1 s
    /// and 1000 B each: (12500 + 1000) / 0.104 = 129807.69, and so on.
    #[test]
    fn the_estimate_follows_its_formula() {
        let mut law = marker(None);
        for (ms, average) in
            [(4, 129_807.692_3), (8, 134_430.473_4), (12, 138_875.455_2), (112, 74_437.727_6)]
        {
            law.estimate(1000, Time::ZERO + Span::from_ms(ms));
            assert!((law.average - average).abs() < 5e-5, "{} at {ms} ms", law.average);
        }
    }

    /// Colours have the probabilities of RFC 2859, section 3: at 300000 B/s over CTR 125000 and PTR
    /// 250000, red 50/300 = 1/6, yellow 125/300 = 5/12, green 5/12. The draws 0, 1/n, ... fall into
    /// the three parts exactly; ends of intervals allow one draw.
    #[test]
    fn colours_have_their_probabilities() {
        let shares = |law: &TswTcm| {
            let mut counts = [0_i32; 3];
            (0..12_000).for_each(|i| {
                counts[usize::from(law.colour(f64::from(i) / 12_000.0))] += 1;
            });
            counts
        };
        let mut law = marker(Some(2_000_000));
        law.average = 300_000.0;
        for (count, expected) in shares(&law).iter().zip([5_000, 5_000, 2_000]) {
            assert!((count - expected).abs() <= 1, "{count} is not {expected}");
        }
        // Two colours: out of profile with 1 - CTR / r = 7/12.
        let mut two = marker(None);
        two.average = 300_000.0;
        for (count, expected) in shares(&two).iter().zip([5_000, 7_000, 0]) {
            assert!((count - expected).abs() <= 1, "{count} is not {expected}");
        }
        two.average = 125_000.0;
        assert_eq!(shares(&two), [12_000, 0, 0], "all green at the committed rate");
    }

    /// Packets at the same instant add up, and nothing is divided by zero: W > 0 keeps the estimate
    /// finite, and each adds 1000 B / 0.1 s = 10000 B/s.
    #[test]
    fn simultaneous_packets_add_up() {
        let mut law = marker(None);
        let mut stream = Streams::new(0, 0).named("test");
        for _ in 0..3 {
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
            law.condition(&mut packet, Time::ZERO, &mut stream);
        }
        assert!((law.average - 155_000.0).abs() < 1e-6);
    }
}
