//! Sizes with a heavy tail.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_kernel::math::{ln, pow};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use super::{BuildSizes, SizeDistribution, check, whole};

pub(super) const ENTRY: Entry<BuildSizes> = Entry {
    name: "pareto",
    summary: "Sizes of a bounded Pareto distribution: few large transfers carry most of the data.",
    source: "Harchol-Balter, Crovella and Murta, J. Parallel Distrib. Comput. 59 (1999) 204-228",
    example: r#"
        min = "5 kB"
        max = "10 MB"
    "#,
    fields: ParetoSizeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the bounded Pareto distribution.
    pub struct ParetoSizeParameters {
        /// Smallest size.
        min: Size, "-";
        /// Shape alpha, above 0 and at most 10: of sizes far below `max`, a share (min / x)^alpha
        /// exceeds x.
        shape: f64 = 1.1, "Barford and Crovella, SIGMETRICS 1998, table 2 (tail of file sizes)";
        /// Largest size.
        max: Size = "1 GB", "-";
    }
}

const MAX_SHAPE: f64 = 10.0;

fn build(section: &Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> {
    let ParetoSizeParameters { min, shape, max } = ParetoSizeParameters::read(section)?;
    check(section, "min", min)?;
    check(section, "max", max)?;
    if max <= min {
        let message = format!("{} B is not above min ({} B)", max.bytes(), min.bytes());
        return Err(section.fail("max", message));
    }
    if shape <= 0.0 || shape > MAX_SHAPE {
        let message = format!("{shape} is out of range; allowed is above 0, up to {MAX_SHAPE}");
        return Err(section.fail("shape", message));
    }
    Ok(Arc::new(Pareto { min: min.bytes() as f64, max: max.bytes() as f64, shape }))
}

pub(super) struct Pareto {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) shape: f64,
}

impl Pareto {
    /// The share that the bound cuts off an unbounded distribution.
    fn cut(&self) -> f64 {
        pow(self.min / self.max, self.shape)
    }
}

impl SizeDistribution for Pareto {
    fn draw(&self, stream: &mut Stream) -> Size {
        // The share of sizes above x is ((min / x)^shape - cut) / (1 - cut).
        let above = stream.uniform() * (1.0 - self.cut());
        whole(self.min * pow(1.0 - above, -1.0 / self.shape))
    }

    /// The integral of x f(x) from min to max, with f(x) = shape min^shape x^(-shape - 1) over the
    /// share that is not cut off.
    fn mean(&self) -> f64 {
        let Self { min, max, shape } = *self;
        let integral = if (shape - 1.0).abs() < 1e-9 {
            min * ln(max / min)
        } else {
            shape / (shape - 1.0) * min * (1.0 - pow(min / max, shape - 1.0))
        };
        integral / (1.0 - self.cut())
    }

    fn above(&self, bytes: f64) -> f64 {
        let bytes = bytes.clamp(self.min, self.max);
        (pow(self.min / bytes, self.shape) - self.cut()) / (1.0 - self.cut())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_mean, has_share, read};

    /// Tail and mean are those of the distribution. From 1 kB to 1 MB with shape 2: cut = 1e-6, so
    /// the share up to 2 kB is (1 - 1/4) / (1 - 1e-6), up to 10 kB 0.99 / (1 - 1e-6), and the mean
    /// 2 (1 - 1e-3) kB / (1 - 1e-6) = 1998.002 B. With shape 1, up to 10 kB: (1 - 1/10) / (1 -
    /// 1e-3) and the mean ln(1000) kB / (1 - 1e-3) = 6914.670 B.
    #[test]
    fn tail_and_mean_are_those_of_the_distribution() {
        let of = |shape: f64| {
            let bounds = [("min", "1 kB".into()), ("max", "1 MB".into()), ("shape", shape.into())];
            read("pareto", &bounds).unwrap()
        };
        let two = of(2.0);
        let found = draws(&*two, 400_000);
        assert!((two.mean() - 1998.002).abs() < 1e-3, "{}", two.mean());
        assert!(has_mean(&found, 1998.002));
        assert!(has_share(&found, 2000.0, 0.75) && has_share(&found, 10_000.0, 0.99));
        let one = of(1.0);
        let found = draws(&*one, 400_000);
        assert!((one.mean() - 6914.670).abs() < 1e-3, "{}", one.mean());
        assert!((of(1.000_001).mean() / one.mean() - 1.0).abs() < 1e-5);
        assert!(has_mean(&found, 6914.670));
        assert!(has_share(&found, 10_000.0, 0.9 / 0.999));
        assert!(found.iter().all(|bytes| (1e3..=1e6).contains(bytes)));
    }

    /// Bounds in the wrong order, and a shape that is none, are refused.
    #[test]
    fn what_is_no_distribution_is_refused() {
        let path = |key, value| {
            let all = [("min", "5 kB".into()), (key, value)];
            read("pareto", &all).err().map(|problem| problem.path)
        };
        assert_eq!(path("max", "5 kB".into()).as_deref(), Some("max"));
        assert_eq!(path("max", "2 TB".into()).as_deref(), Some("max"));
        assert_eq!(path("shape", 0.0.into()).as_deref(), Some("shape"));
        assert_eq!(path("shape", 10.5.into()).as_deref(), Some("shape"));
        assert_eq!(path("shape", 0.9.into()), None);
        assert_eq!(read("pareto", &[("min", "0 B".into())]).err().unwrap().path, "min");
    }
}
