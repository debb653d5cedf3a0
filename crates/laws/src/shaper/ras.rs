//! Rate adaptive shapers: the fuller the buffer and the faster the input, the faster the output.

use forebay_kernel::math;
use forebay_network::{Backlog, Conditioner, Packet, ShaperLaw};
use forebay_parameters::{
    Entry, Parameter, Parameters, Probe, Problem, Section, choice, parameters,
};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::BuildShaper;
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildShaper> = Entry {
    name: "ras",
    summary: "Rate adaptive shaper: single rate or two rate, plain or green.",
    source: "RFC 2963",
    example: r#"
        cir = "300 kbit/s"
        cir_threshold = "2 kB"
        mir = "900 kbit/s"
        mir_threshold = "8 kB"
        limit = "12 kB"
    "#,
    fields: RasParameters::FIELDS,
    probes: &[Probe {
        name: "arrival_rate",
        unit: "bit/s",
        meaning: "Estimate of the rate of arrivals.",
    }],
    build: &build,
};

choice! {
    /// Kind of shaper, of the two of RFC 2963.
    pub enum Rates {
        /// srRAS: the rate rises from CIR to MIR.
        Single = "single",
        /// trRAS: the rate rises from CIR over PIR to MIR.
        Two = "two",
    }
}

parameters! {
    /// Parameters of rate adaptive shapers.
    pub struct RasParameters {
        /// Single rate shaper (single, srRAS), for a single rate marker behind it, or two rate
        /// shaper (two, trRAS).
        rates: Rates = "single", "RFC 2963, sections 2.2 and 2.4";
        /// True to look ahead at the marker behind and let a packet go as soon as it is green
        /// (G-srRAS, G-trRAS).
        green: bool = false, "RFC 2963, section 3.1";
        /// Committed information rate, above 0: the rate while the buffer is nearly empty.
        cir: Rate, "RFC 2963, section 2.2";
        /// Buffer occupancy up to which the rate is CIR.
        cir_threshold: Size, "RFC 2963, section 2.2";
        /// Peak information rate, from CIR to MIR; for the two rate shaper.
        pir: Option<Rate>, "RFC 2963, section 2.4";
        /// Buffer occupancy at which the rate is PIR; for the two rate shaper.
        pir_threshold: Option<Size>, "RFC 2963, section 2.4";
        /// Maximum information rate, from CIR (PIR) to the rate of the link. The rate of the link
        /// if left out.
        mir: Option<Rate>, "RFC 2963, section 2.2";
        /// Buffer occupancy from which on the rate is MIR.
        mir_threshold: Size, "RFC 2963, section 2.2";
        /// Time constant K of the estimator of the input rate, above 0.
        window: Span = "100 ms",
            "RFC 2963, section 2.3, names no value; Stoica, Shenker and Zhang 1998: 100 ms";
        /// Buffer size, at least `mir_threshold`. Unlimited if left out.
        limit: Option<Size>, "RFC 2963, section 2.2";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn ShaperLaw>, Problem> {
    let parameters = RasParameters::read(section)?;
    let corners = corners(section, &parameters, facts)?;
    if parameters.cir.bps() == 0 {
        return Err(section.fail("cir", "is zero; allowed are rates above 0"));
    }
    if parameters.window == Span::ZERO {
        return Err(section.fail("window", "is zero; allowed are windows above 0"));
    }
    if let Some(limit) = parameters.limit {
        at_least(section, "limit", &limit, "mir_threshold", &parameters.mir_threshold)?;
    }
    Ok(Box::new(Ras {
        curve: corners.iter().map(Corner::point).collect(),
        line_rate: facts.rate.bytes_per_second(),
        arrival_rate: ArrivalRate::new(parameters.window),
        green: parameters.green,
        limit: parameters.limit.map_or(u64::MAX, Size::bytes),
    }))
}

/// A corner of the rate over the buffer's occupancy, with the keys that it was read from.
struct Corner {
    keys: [&'static str; 2],
    rate: Rate,
    threshold: Size,
}

impl Corner {
    /// Occupancy in bytes, rate in byte/s.
    fn point(&self) -> (f64, f64) {
        (self.threshold.bytes() as f64, self.rate.bytes_per_second())
    }
}

fn corners(
    section: &Section<'_>,
    parameters: &RasParameters,
    facts: &LinkFacts,
) -> Result<Vec<Corner>, Problem> {
    let corner = |keys, rate, threshold| Corner { keys, rate, threshold };
    let committed = corner(["cir", "cir_threshold"], parameters.cir, parameters.cir_threshold);
    let mir = parameters.mir.unwrap_or(facts.rate);
    let maximum = corner(["mir", "mir_threshold"], mir, parameters.mir_threshold);
    let keys = ["pir", "pir_threshold"];
    let given = [parameters.pir.is_some(), parameters.pir_threshold.is_some()];
    let corners = match (parameters.rates, parameters.pir, parameters.pir_threshold) {
        (Rates::Two, Some(rate), Some(threshold)) => {
            vec![committed, corner(keys, rate, threshold), maximum]
        }
        (Rates::Two, ..) => {
            let key = keys[usize::from(given[0])];
            return Err(section.fail(key, "is missing; rates = \"two\" needs it"));
        }
        (Rates::Single, None, None) => vec![committed, maximum],
        (Rates::Single, ..) => {
            let key = keys[usize::from(!given[0])];
            return Err(section.fail(key, "is not allowed here; it belongs to rates = \"two\""));
        }
    };
    for pair in corners.windows(2) {
        let [low, high] = [&pair[0], &pair[1]];
        at_least(section, high.keys[0], &high.rate, low.keys[0], &low.rate)?;
        at_least(section, high.keys[1], &high.threshold, low.keys[1], &low.threshold)?;
    }
    if mir > facts.rate {
        let message = format!(
            "\"{}\" is above the rate of the link; allowed is at most \"{}\"",
            mir.show(),
            facts.rate.show()
        );
        return Err(section.fail("mir", message));
    }
    Ok(corners)
}

/// Refuse a value under `key` that is below that under `other`.
fn at_least<T: Parameter + PartialOrd>(
    section: &Section<'_>,
    key: &str,
    value: &T,
    other: &str,
    least: &T,
) -> Result<(), Problem> {
    if value >= least {
        return Ok(());
    }
    let (read, least) = (value.show(), least.show());
    let message = format!("\"{read}\" is below {other}; allowed is at least \"{least}\"");
    Err(section.fail(key, message))
}

struct Ras {
    /// Occupancy and rate at the corners, both rising.
    curve: Vec<(f64, f64)>,
    line_rate: f64,
    arrival_rate: ArrivalRate,
    green: bool,
    limit: u64,
}

impl Ras {
    /// The shaping rate in byte/s while `bytes` wait: that of the curve, or the estimated rate of
    /// arrivals where it is higher, up to the rate of the line; and MIR once the last threshold is
    /// reached (RFC 2963, sections 2.3 and 2.5).
    fn rate(&self, bytes: f64) -> f64 {
        let (top, maximum) = self.curve[self.curve.len() - 1];
        if bytes >= top {
            return maximum;
        }
        self.curve_at(bytes).max(self.arrival_rate.estimate).min(self.line_rate)
    }

    /// F(q) below the last threshold.
    fn curve_at(&self, bytes: f64) -> f64 {
        if bytes <= self.curve[0].0 {
            return self.curve[0].1;
        }
        let next = self.curve.iter().position(|(threshold, _)| bytes < *threshold);
        let next = next.expect("the occupancy is below the last threshold");
        let ((from, low), (to, high)) = (self.curve[next - 1], self.curve[next]);
        low + (high - low) * (bytes - from) / (to - from)
    }
}

impl ShaperLaw for Ras {
    fn arrived(&mut self, packet: &Packet, _backlog: Backlog, now: Time) {
        self.arrival_rate.arrived(packet.size, now);
    }

    fn release_at(
        &self,
        head: &Packet,
        backlog: Backlog,
        last_release: Option<Time>,
        conditioner: Option<&dyn Conditioner>,
        now: Time,
    ) -> Time {
        let Some(last) = last_release else { return now };
        let seconds = f64::from(head.size) / self.rate(backlog.bytes as f64);
        // Rounded up, so that the shaper is never faster than its rate.
        let span = Span::from_ps((seconds * PS_PER_S as f64).ceil() as u64);
        let by_rate = last + span;
        let by_colour = conditioner
            .filter(|_| self.green)
            .and_then(|law| law.green_at(head.wire_size(), now))
            .unwrap_or(Time::NEVER);
        by_rate.min(by_colour)
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("arrival_rate", 8.0 * self.arrival_rate.estimate);
    }
}

/// The estimated arrival rate EAR: an average that forgets exponentially in time, whatever the
/// packets' sizes and gaps (Stoica, Shenker and Zhang 1998, eq. 5; RFC 2963, section 2.3).
struct ArrivalRate {
    /// Time constant K in s.
    window: f64,
    /// In byte/s.
    estimate: f64,
    last: Time,
}

impl ArrivalRate {
    fn new(window: Span) -> Self {
        Self { window: window.seconds(), estimate: 0.0, last: Time::ZERO }
    }

    fn arrived(&mut self, size: u16, now: Time) {
        let gap = now.since(self.last).seconds();
        let size = f64::from(size);
        if gap > 0.0 {
            let fresh = -math::exp_m1(-gap / self.window);
            self.estimate += fresh * (size / gap - self.estimate);
        } else {
            // The limit of the same formula for packets that arrive at once.
            self.estimate += size / self.window;
        }
        self.last = self.last.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};

    /// CIR 250000 B/s up to 15 kB, PIR 500000 B/s at 30 kB, MIR 4250000 B/s from 60 kB on.
    const CORNERS: [(f64, f64); 3] =
        [(15_000.0, 250_000.0), (30_000.0, 500_000.0), (60_000.0, 4_250_000.0)];

    fn ras(curve: &[(f64, f64)], green: bool) -> Ras {
        Ras {
            curve: curve.to_vec(),
            line_rate: 17_375_000.0,
            arrival_rate: ArrivalRate::new(Span::from_ms(100)),
            green,
            limit: u64::MAX,
        }
    }

    /// The shaper follows the curves of RFC 2963, figures 2 and 3: straight lines through the
    /// corners, so halfway between PIR and MIR 2375000 B/s, and on the single line a quarter of the
    /// way from 15 to 45 kB gives 250000 + 4000000 * 7.5 / 45 = 916666.67 B/s.
    #[test]
    fn the_rate_follows_occupancy() {
        let two = ras(&CORNERS, false);
        for (bytes, rate) in [
            (0.0, 250_000.0),
            (15_000.0, 250_000.0),
            (22_500.0, 375_000.0),
            (30_000.0, 500_000.0),
            (45_000.0, 2_375_000.0),
            (60_000.0, 4_250_000.0),
            (80_000.0, 4_250_000.0),
        ] {
            assert_eq!(two.rate(bytes), rate);
        }
        let single = ras(&[CORNERS[0], CORNERS[2]], false);
        assert!((single.rate(22_500.0) - 916_666.666_7).abs() < 1e-4);
    }

    /// A fast sender is not slowed below its own rate, and the line is not exceeded: EAR counts
    /// where it is higher, the line's rate is the cap, and at the last threshold MIR rules.
    #[test]
    fn the_arrival_rate_lifts_the_shaping_rate() {
        let mut law = ras(&CORNERS, false);
        law.arrival_rate.estimate = 1e6;
        assert_eq!(law.rate(0.0), 1e6);
        assert_eq!(law.rate(45_000.0), 2_375_000.0);
        law.arrival_rate.estimate = 1e9;
        assert_eq!(law.rate(0.0), 17_375_000.0);
        assert_eq!(law.rate(60_000.0), 4_250_000.0);
    }

    /// Input is measured with the memory of the formula. K = 0.1 s, 1000 B after 1, 1, 4 and 100
    /// ms: (1 - e^-0.01) 10^6 = 9950.166 B/s, and so on; two at once add 1000 / 0.1 = 10000 B/s
    /// each.
    #[test]
    fn the_estimator_follows_its_formula() {
        let mut rate = ArrivalRate::new(Span::from_ms(100));
        for (ms, estimate) in [(1, 9950.166), (2, 19_801.327), (6, 28_827.546), (106, 16_926.267)] {
            rate.arrived(1000, Time::ZERO + Span::from_ms(ms));
            assert!((rate.estimate - estimate).abs() < 5e-4, "{} at {ms} ms", rate.estimate);
        }
        let mut burst = ArrivalRate::new(Span::from_ms(100));
        burst.arrived(1000, Time::ZERO);
        burst.arrived(1000, Time::ZERO);
        assert!((burst.estimate - 20_000.0).abs() < 1e-9);
    }

    /// A meter that foresees green at one time.
    struct Oracle(Option<Time>);

    impl Conditioner for Oracle {
        fn condition(
            &mut self,
            _packet: &mut Packet,
            _now: Time,
            _stream: &mut forebay_kernel::Stream,
        ) -> forebay_network::Verdict {
            forebay_network::Verdict::Accept
        }

        fn green_at(&self, _size: Size, _now: Time) -> Option<Time> {
            self.0
        }
    }

    /// A plain shaper does not look ahead, and a green one does not wait for no reason: 1500 B at
    /// 250000 B/s are 6 ms; green at 2.4 ms releases then, green later or never changes nothing.
    #[test]
    fn the_earlier_of_rate_and_colour_releases() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let head = Packet::data(Time::ZERO, FlowId::new(0), 0, 1500, RouteId::new(0));
        let backlog = Backlog { packets: 1, bytes: 1500 };
        let release = |green, foreseen: Option<Time>, last| {
            let meter = Oracle(foreseen);
            ras(&CORNERS, green).release_at(&head, backlog, last, Some(&meter), at(0))
        };
        let last = Some(at(0));
        assert_eq!(release(false, Some(at(2400)), last), at(6000));
        assert_eq!(release(true, Some(at(2400)), last), at(2400));
        assert_eq!(release(true, Some(at(7000)), last), at(6000));
        assert_eq!(release(true, Some(Time::NEVER), last), at(6000));
        assert_eq!(release(true, None, last), at(6000));
        assert_eq!(release(true, Some(at(2400)), None), at(0));
    }

    fn problem(entries: &[(&str, &str)]) -> String {
        let mut table = Table::from([
            ("cir".to_owned(), Node::new("2 Mbit/s".into())),
            ("cir_threshold".to_owned(), Node::new("10 kB".into())),
            ("mir_threshold".to_owned(), Node::new("40 kB".into())),
        ]);
        for (key, value) in entries {
            table.insert((*key).to_owned(), Node::new((*value).into()));
        }
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(139_000_000));
        match build(&Section::root(&node, &echo).unwrap(), &facts) {
            Ok(_) => String::new(),
            Err(problem) => problem.path,
        }
    }

    /// Corners that make no curve, and parameters that have no use, are refused by their key.
    #[test]
    fn wrong_corners_are_refused_by_their_key() {
        assert_eq!(problem(&[]), "");
        assert_eq!(problem(&[("cir", "0 bit/s")]), "cir");
        assert_eq!(problem(&[("mir", "1 Mbit/s")]), "mir");
        assert_eq!(problem(&[("mir", "140 Mbit/s")]), "mir");
        assert_eq!(problem(&[("mir_threshold", "9 kB")]), "mir_threshold");
        assert_eq!(problem(&[("limit", "39 kB")]), "limit");
        assert_eq!(problem(&[("window", "0 s")]), "window");
        assert_eq!(problem(&[("pir", "4 Mbit/s")]), "pir");
        assert_eq!(problem(&[("pir_threshold", "20 kB")]), "pir_threshold");
        let two = ("rates", "two");
        assert_eq!(problem(&[two]), "pir");
        assert_eq!(problem(&[two, ("pir", "4 Mbit/s")]), "pir_threshold");
        let peak = ("pir_threshold", "20 kB");
        assert_eq!(problem(&[two, ("pir", "4 Mbit/s"), peak]), "");
        assert_eq!(problem(&[two, ("pir", "1 Mbit/s"), peak]), "pir");
    }
}
