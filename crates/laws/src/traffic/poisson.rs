//! Poisson traffic: exponential gaps.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, SizeLaw, TrafficKind, interval, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "poisson",
    summary: "Packets at exponentially distributed gaps, of fixed or exponential size.",
    source: "draft-elloumi-diffserv-threevstwo-00, section 2 (UDP source)",
    example: r#"
        rate = "100 kbit/s"
        size = "250 B"
    "#,
    fields: PoissonParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of Poisson traffic.
    pub struct PoissonParameters {
        /// Mean bit rate on the wire, IP header included.
        rate: Rate, "-";
        /// Packet size on the wire (its mean, if sizes are exponential).
        size: Size, "-";
        /// Distribution of the sizes.
        sizes: SizeLaw = "fixed", "-";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let PoissonParameters { rate, size, sizes } = PoissonParameters::read(section)?;
    let mean_gap = interval(section, rate, size)?;
    let make = move |_: &mut Stream| Poisson { mean_ps: mean_gap.ps() as f64, size, sizes };
    let mean_rate = Some(rate_of(8.0 * sizes.mean(size) / mean_gap.seconds()));
    Ok(TrafficKind::new(make, Some(size), mean_rate))
}

pub struct Poisson {
    /// The mean gap in ps, converted once and not for each draw.
    mean_ps: f64,
    size: Size,
    sizes: SizeLaw,
}

impl Traffic for Poisson {
    #[inline(always)]
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let gap = Span::nearest(self.mean_ps * stream.exponential());
        Some(Burst { gap, size: self.sizes.draw(self.size, stream) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// Gaps and sizes have exponential moments: exponential gaps have mean 1/lambda and squared
    /// coefficient of variation 1. For n = 100,000 the standard error of the mean is 0.32 % and
    /// that of the second moment sqrt(20/n) = 1.4 %; bounds are five of each.
    #[test]
    fn gaps_and_sizes_have_exponential_moments() {
        let size = Size::from_bytes(1000);
        let mut law = Poisson { mean_ps: 1e8, size, sizes: SizeLaw::Exponential };
        let mut stream = Streams::new(1, 0).named("poisson");
        let (mut gap, mut square, mut bytes) = (0.0, 0.0, 0.0);
        let n = 100_000.0;
        for _ in 0..100_000 {
            let burst = law.next(&mut stream).unwrap();
            let x = burst.gap.seconds() / 1e-4;
            gap += x / n;
            square += x * x / n;
            bytes += burst.size.bytes() as f64 / 1000.0 / n;
        }
        assert!((gap - 1.0).abs() < 0.016, "{gap}");
        assert!((square - 2.0).abs() < 0.071 * 2.0, "{square}");
        assert!((bytes - 1.0).abs() < 0.016, "{bytes}");
    }
}
