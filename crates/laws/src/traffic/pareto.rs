//! ON/OFF traffic whose ON and OFF times have a Pareto distribution.
//!
//! A Pareto time exceeds x with probability (m / x)^alpha from its minimum m on: the longer it has
//! lasted, the longer it will still last, so that the sum of many such sources is bursty on every
//! time scale.

use forebay_kernel::Stream;
use forebay_kernel::math::{exp, pow};
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, TrafficKind, interval, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "pareto",
    summary: "Pareto ON and OFF times, constant bit rate while on: many such sources together are \
              self-similar, with H = (3 - shape) / 2 for shapes up to 2.",
    source: "Willinger, Taqqu, Sherman and Wilson, IEEE/ACM Transactions on Networking 5(1), 1997",
    example: r#"
        rate = "100 kbit/s"
        size = "250 B"
        shape = 3.0
    "#,
    fields: ParetoParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of Pareto ON/OFF traffic.
    pub struct ParetoParameters {
        /// Bit rate on the wire while on.
        rate: Rate, "-";
        /// Packet size on the wire.
        size: Size, "-";
        /// Mean ON time.
        on: Span = "500 ms", "ns-2, Application/Traffic/Pareto";
        /// Mean OFF time.
        off: Span = "500 ms", "ns-2, Application/Traffic/Pareto";
        /// Shape alpha of both distributions, above 1 and at most 100. Up to 2 their variance is
        /// infinite, and the nearer to 1, the longer a run must be to show the mean rate.
        shape: f64 = 1.5, "ns-2, Application/Traffic/Pareto; Willinger et al. 1997";
    }
}

/// The largest shape: such times hardly vary.
const MAX_SHAPE: f64 = 100.0;

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let ParetoParameters { rate, size, on, off, shape } = ParetoParameters::read(section)?;
    let gap = interval(section, rate, size)?;
    if on == Span::ZERO {
        return Err(section.fail("on", "is zero; allowed are times above 0"));
    }
    if shape <= 1.0 || shape > MAX_SHAPE {
        let message = format!("{shape} is out of range; allowed is above 1, up to {MAX_SHAPE}");
        return Err(section.fail("shape", message));
    }
    let (on, off) = (Times { mean: on, shape }, Times { mean: off, shape });
    let make = move |stream: &mut Stream| Pareto::stationary(gap, size, on, off, stream);
    let mean_rate = Some(rate_of(mean_bits_per_second(gap, size, on, off)));
    Ok(TrafficKind::new(make, Some(size), mean_rate))
}

/// A Pareto distribution of times.
#[derive(Clone, Copy)]
struct Times {
    mean: Span,
    /// Above 1, as others have no mean.
    shape: f64,
}

impl Times {
    /// The minimum m that the mean, m alpha / (alpha - 1), is that of.
    fn minimum(self) -> f64 {
        self.mean.seconds() * (self.shape - 1.0) / self.shape
    }

    /// A time: ln(X / m) is exponential with mean 1 / alpha. (The power of a uniform number, of
    /// which there are 2^53, would have no tail beyond 2^(53 / alpha) m.)
    fn draw(self, stream: &mut Stream) -> Span {
        Span::from_seconds(self.minimum() * exp(stream.exponential() / self.shape))
    }

    /// The time during which an instant chosen at random falls: the longer, the more likely, with
    /// the density x f(x) / mean, which is that of a Pareto time of shape alpha - 1.
    fn draw_around(self, stream: &mut Stream) -> Span {
        Span::from_seconds(self.minimum() * exp(stream.exponential() / (self.shape - 1.0)))
    }
}

/// Packets leave at 0, gap, 2 gap, ... < X of an ON time X: in the mean the sum over k >= 0 of
/// P(X > k gap), every `on + off`.
fn mean_bits_per_second(gap: Span, size: Size, on: Times, off: Times) -> f64 {
    let packets = mean_packets(on.minimum() / gap.seconds(), on.shape);
    size.bits() as f64 * packets / (on.mean.seconds() + off.mean.seconds())
}

/// The sum over k >= 0 of min(1, (minimum / k)^shape).
fn mean_packets(minimum: f64, shape: f64) -> f64 {
    let certain = minimum.floor();
    let beyond = |k: f64| pow(minimum / k, shape);
    let mut sum = certain + 1.0;
    let mut k = certain + 1.0;
    for _ in 0..16 {
        sum += beyond(k);
        k += 1.0;
    }
    // The rest by the formula of Euler and Maclaurin, f(x) = (minimum / x)^shape: the integral from
    // k on, f(k) / 2 and -f'(k) / 12. The next term, f'''(k) / 720, is below 1e-7 of the sum.
    let last = beyond(k);
    sum + last * (k / (shape - 1.0) + 0.5 + shape / (12.0 * k))
}

/// A packet leaves at the start of each ON time and every `gap` after it while the ON time lasts.
struct Pareto {
    gap: Span,
    size: Size,
    on: Times,
    off: Times,
    /// Time to the first packet, until it has been sent.
    lead: Option<Span>,
    /// Rest of the ON time after the packet sent last.
    left: Span,
}

impl Pareto {
    /// A source that has been running for ever.
    fn stationary(gap: Span, size: Size, on: Times, off: Times, stream: &mut Stream) -> Self {
        let activity = on.mean.seconds() / (on.mean.seconds() + off.mean.seconds());
        let is_on = stream.happens(activity);
        let whole = if is_on { on.draw_around(stream) } else { off.draw_around(stream) };
        let age = whole.scaled(stream.uniform());
        let rest = whole - age;
        let wait =
            if is_on { Span::from_ps((gap.ps() - age.ps() % gap.ps()) % gap.ps()) } else { rest };
        let (lead, left) = match is_on {
            true if wait < rest => (wait, rest - wait),
            true => (rest + off.draw(stream), on.draw(stream)),
            false => (rest, on.draw(stream)),
        };
        Self { gap, size, on, off, lead: Some(lead), left }
    }
}

impl Traffic for Pareto {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let gap = if let Some(lead) = self.lead.take() {
            lead
        } else if self.left > self.gap {
            self.left = self.left - self.gap;
            self.gap
        } else {
            let gap = self.left + self.off.draw(stream);
            self.left = self.on.draw(stream);
            gap
        };
        Some(Burst { gap, size: self.size })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::Value;

    const GAP: Span = Span::from_ms(20);

    fn source(shape: f64, stream: &mut Stream) -> Pareto {
        let on = Times { mean: Span::from_ms(500), shape };
        let off = Times { mean: Span::from_ms(750), shape };
        Pareto::stationary(GAP, Size::from_bytes(200), on, off, stream)
    }

    /// Returns true if the shares of `draws` above 2, 10 and 50 times the minimum of a Pareto time
    /// with mean 0.5 s and shape 1.5, 0.5 / 3 s, are (m / x)^1.5 = 0.353553, 0.0316228 and
    /// 2.828e-3. A share deviates by sqrt(p (1 - p) / n); the bound is five times that, so that of
    /// right draws less than one set in 500,000 fails.
    fn is_pareto(draws: &[Span]) -> bool {
        let n = draws.len() as f64;
        [2.0, 10.0, 50.0].iter().all(|x: &f64| {
            let p = 1.0 / (x * x.sqrt());
            let above = draws.iter().filter(|time| time.seconds() > x * 0.5 / 3.0).count();
            (above as f64 / n - p).abs() < 5.0 * (p * (1.0 - p) / n).sqrt()
        })
    }

    /// Times have the tail of Pareto, which gives the traffic its long memory. Of exponential times
    /// of the same mean, e^(-2/3) = 0.513, e^(-10/3) = 0.0357 and e^(-50/3) = 5.8e-8 lie above:
    /// they must fail. Times of a source show as gaps: an OFF time and what is left of the ON time,
    /// which is at most one packet's.
    #[test]
    fn times_have_the_tail_of_pareto() {
        let mut stream = Streams::new(1, 0).named("pareto");
        let times = Times { mean: Span::from_ms(500), shape: 1.5 };
        let draws: Vec<Span> = (0..200_000).map(|_| times.draw(&mut stream)).collect();
        assert!(is_pareto(&draws));
        let exponential = |_| Span::from_ms(500).scaled(stream.exponential());
        assert!(!is_pareto(&(0..200_000).map(exponential).collect::<Vec<_>>()));
        let mut stream = Streams::new(2, 0).named("pareto");
        let off = Times { mean: Span::from_ms(500), shape: 1.5 };
        // ON times of 1 ps: every packet has its own, and gaps are the OFF times.
        let on = Times { mean: Span::from_ps(1), shape: 100.0 };
        let mut law = Pareto::stationary(GAP, Size::from_bytes(200), on, off, &mut stream);
        law.next(&mut stream);
        let gaps: Vec<Span> = (0..200_000).map(|_| law.next(&mut stream).unwrap().gap).collect();
        assert!(is_pareto(&gaps));
    }

    /// The announced rate counts the packets of an ON time. With a gap of m (k0 = 1) and shape 2 an
    /// ON time sends 1 + 1 + 1/4 + 1/9 + ... = 1 + pi^2 / 6 = 2.644934 packets; with shape 4, 1 +
    /// pi^4 / 90 = 2.082323; with a gap of m / 2 and shape 2, 1 + 1 + 4 (pi^2 / 6 - 1) = 4.579736;
    /// with a gap that no ON time reaches, 1; and with many packets X / gap + 1/2.
    #[test]
    fn packets_of_an_on_time_are_counted() {
        let close = |minimum: f64, shape, expected: f64| {
            let mean = mean_packets(minimum, shape);
            assert!((mean / expected - 1.0).abs() < 1e-6, "{minimum} {shape}: {mean}");
        };
        close(1.0, 2.0, 2.644_934);
        close(1.0, 4.0, 2.082_323);
        close(2.0, 2.0, 4.579_736);
        close(0.5, 100.0, 1.0);
        close(1e6, 1.5, 3e6 + 0.5);
        close(1e6, 100.0, 1e8 / 99.0 + 0.5);
    }

    /// The mean rate is the announced one. Shape 3, where the squared coefficient of variation of X
    /// is 1 / (3 (3 - 2)) = 1/3: over n cycles the rate deviates by (1 - 0.4) sqrt(2/3 / n), with
    /// activity 0.4, which is 0.35 % for n = 20,000; the bound is six of that. The tail is heavier
    /// than a normal one: that a single time makes up 2.1 % of the whole, 525 s, which is 1575 m of
    /// an ON time and 1050 m of an OFF time, has a probability of 20,000 (1575^-3 + 1050^-3) =
    /// 2.2e-5.
    #[test]
    fn the_mean_rate_is_the_announced_one() {
        let mut stream = Streams::new(5, 0).named("pareto");
        let mut law = source(3.0, &mut stream);
        let announced = mean_bits_per_second(GAP, law.size, law.on, law.off);
        let (mut time, mut bits) = (0.0, 0.0);
        while time < 1.25 * 20_000.0 {
            let burst = law.next(&mut stream).unwrap();
            time += burst.gap.seconds();
            bits += burst.size.bits() as f64;
        }
        assert!((bits / time / announced - 1.0).abs() < 0.021, "{}", bits / time / announced);
        // Without its half packet an ON time it would be 2 % less.
        assert!((announced / (80_000.0 * 0.4) - 1.0 - 0.020).abs() < 1e-3, "{announced}");
    }

    /// Sources are stationary from the start: a run with heavy tails never forgets a common
    /// beginning. As packets are never closer than the gap of 20 ms (OFF times last at least 250 ms
    /// here, or 7 ms with shape 1.01), one falls into the first 7 ms with probability rate times 7
    /// ms, whatever the shape. Of n = 100,000 sources the share deviates by sqrt(p (1 - p) / n);
    /// the bound is five times that (6e-7). Sources that begin with a new ON or OFF time fail.
    #[test]
    fn sources_are_stationary_from_the_start() {
        for shape in [1.01, 1.5, 3.0] {
            let (mut first, mut expected) = (0, 0.0);
            let n = 100_000;
            for number in 0..n {
                let mut stream = Streams::new(3, 0).numbered("pareto", number);
                let mut law = source(shape, &mut stream);
                let rate = mean_bits_per_second(GAP, law.size, law.on, law.off);
                expected = rate / law.size.bits() as f64 * 7e-3;
                first += u32::from(law.next(&mut stream).unwrap().gap < Span::from_ms(7));
            }
            let share = f64::from(first) / n as f64;
            let bound = 5.0 * (expected * (1.0 - expected) / n as f64).sqrt();
            assert!((share - expected).abs() < bound, "{shape}: {share} is not {expected}");
        }
    }

    /// Packets leave every gap from the start of an ON time on, for as long as it lasts: of 50 ms,
    /// 20 ms apart, at 0, 20 and 40 ms, and, as OFF times are zero here, the first of the next at
    /// 50 ms.
    #[test]
    fn packets_leave_every_gap_of_an_on_time() {
        let times = |ms, shape| Times { mean: Span::from_ms(ms), shape };
        let (lead, left) = (Some(Span::from_ms(5)), Span::from_ms(50));
        let (on, off, size) = (times(1000, 1.5), times(0, 1.5), Size::from_bytes(200));
        let mut law = Pareto { gap: GAP, size, on, off, lead, left };
        let mut stream = Streams::new(4, 0).named("pareto");
        for ms in [5, 20, 20, 10, 20] {
            let burst = law.next(&mut stream).unwrap();
            assert_eq!(burst, Burst { gap: Span::from_ms(ms), size });
        }
    }

    /// Shapes without a mean are refused, and with them ON times of zero.
    #[test]
    fn shapes_without_a_mean_are_refused() {
        let path = |key: &str, value: Value| {
            let mut all = vec![("rate", "80 kbit/s".into()), ("size", "200 B".into())];
            all.extend([("on", "1 s".into()), ("off", "1 s".into()), ("shape", 1.5.into())]);
            let all: Vec<_> = all.into_iter().filter(|(name, _)| *name != key).collect();
            read(&build, &[&all[..], &[(key, value)]].concat()).err().map(|problem| problem.path)
        };
        assert_eq!(path("shape", 1.0.into()).as_deref(), Some("shape"));
        assert_eq!(path("shape", 101.0.into()).as_deref(), Some("shape"));
        assert_eq!(path("on", "0 s".into()).as_deref(), Some("on"));
        assert_eq!(path("off", "0 s".into()), None);
        assert_eq!(path("shape", 1.001.into()), None);
    }
}
