//! Sizes whose logarithm is normal.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_kernel::math::{erfc, exp, ln};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use super::{BuildSizes, SizeDistribution, check, whole};

pub(super) const ENTRY: Entry<BuildSizes> = Entry {
    name: "lognormal",
    summary: "Sizes whose logarithm has a normal distribution: objects of web pages.",
    source: "Barford and Crovella, SIGMETRICS 1998, section 3.2",
    example: r#"mean = "20 kB""#,
    fields: LognormalParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the lognormal distribution.
    pub struct LognormalParameters {
        /// Mean size.
        mean: Size, "-";
        /// Standard deviation of the natural logarithm of sizes, above 0 and at most 3: by a factor
        /// of e^sigma sizes deviate.
        sigma: f64 = 1.318, "Barford and Crovella, SIGMETRICS 1998, table 2 (body of file sizes)";
    }
}

/// The largest standard deviation: the mean is then that of one size in 20 million.
const MAX_SIGMA: f64 = 3.0;

fn build(section: &Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> {
    let LognormalParameters { mean, sigma } = LognormalParameters::read(section)?;
    check(section, "mean", mean)?;
    if sigma <= 0.0 || sigma > MAX_SIGMA {
        let message = format!("{sigma} is out of range; allowed is above 0, up to {MAX_SIGMA}");
        return Err(section.fail("sigma", message));
    }
    let mean = mean.bytes() as f64;
    Ok(Arc::new(Lognormal { mean, mu: ln(mean) - sigma * sigma / 2.0, sigma }))
}

pub(super) struct Lognormal {
    mean: f64,
    /// Mean of the logarithm, so that that of the size is e^(mu + sigma^2 / 2).
    mu: f64,
    sigma: f64,
}

impl Lognormal {
    pub(super) fn with_median(median: f64, sigma: f64) -> Self {
        Self { mean: median * exp(sigma * sigma / 2.0), mu: ln(median), sigma }
    }
}

impl SizeDistribution for Lognormal {
    fn draw(&self, stream: &mut Stream) -> Size {
        whole(exp(self.mu + self.sigma * stream.normal()))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn above(&self, bytes: f64) -> f64 {
        erfc((ln(bytes) - self.mu) / self.sigma * std::f64::consts::FRAC_1_SQRT_2) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_mean, has_share, read};

    /// Median and mean are those of the distribution. Of a lognormal size the median is e^mu = mean
    /// e^(-sigma^2 / 2), 20,000 e^(-0.868562) = 8391.1 B, and 84.1345 % are below the median times
    /// e^sigma, 31,348.6 B: that of one standard deviation.
    #[test]
    fn median_and_mean_are_those_of_the_distribution() {
        let sizes = read("lognormal", &[("mean", "20 kB".into())]).unwrap();
        let draws = draws(&*sizes, 200_000);
        assert_eq!(sizes.mean(), 20_000.0);
        assert!(has_mean(&draws, 20_000.0));
        assert!(has_share(&draws, 8391.1, 0.5));
        assert!(has_share(&draws, 31_348.6, 0.841_345));
        assert!(!has_share(&draws, 31_348.6, 0.85) && !has_mean(&draws, 21_000.0));
    }

    /// Spreads out of range are refused: no spread at all, or one so wide that no run shows the
    /// mean.
    #[test]
    fn spreads_out_of_range_are_refused() {
        for sigma in [0.0, -1.0, 3.1] {
            let wrong = [("mean", "20 kB".into()), ("sigma", sigma.into())];
            assert_eq!(read("lognormal", &wrong).err().unwrap().path, "sigma");
        }
        assert_eq!(read("lognormal", &[("mean", "0 B".into())]).err().unwrap().path, "mean");
    }
}
