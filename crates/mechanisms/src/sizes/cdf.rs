//! Sizes by the points of a cumulative distribution.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use super::{BuildSizes, MOST, SizeDistribution, whole};

pub(super) const ENTRY: Entry<BuildSizes> = Entry {
    name: "cdf",
    summary: "Sizes by the points of a cumulative distribution function, linear in between.",
    source: "Law, Simulation Modeling and Analysis, 5th edition, 2015, section 6.2.4",
    example: r#"
        sizes = ["1 kB", "10 kB", "100 kB"]
        shares = [0.3, 0.8, 1.0]
    "#,
    fields: CdfParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of an empirical distribution.
    pub struct CdfParameters {
        /// Sizes, each larger than the one before; at most 10,000 of them.
        sizes: Vec<Size>, "-";
        /// For each size the share of transfers that are not larger: from 0 to 1, never less than
        /// the one before, and 1 in the end. A first share above 0 is that of transfers of just the
        /// first size.
        shares: Vec<f64>, "-";
    }
}

/// The most points: looking one up takes no time, but reading them does.
const MOST_POINTS: usize = 10_000;

fn build(section: &Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> {
    let CdfParameters { sizes, shares } = CdfParameters::read(section)?;
    if sizes.is_empty() || sizes.len() > MOST_POINTS {
        let message = format!("has {} points; allowed are 1 to {MOST_POINTS}", sizes.len());
        return Err(section.fail("sizes", message));
    }
    if shares.len() != sizes.len() {
        let message = format!("has {} entries; sizes has {}", shares.len(), sizes.len());
        return Err(section.fail("shares", message));
    }
    if let Some(at) = sizes.windows(2).position(|pair| pair[1] <= pair[0]) {
        let (before, after) = (sizes[at].bytes(), sizes[at + 1].bytes());
        let message = format!("{after} B follows {before} B; each must be larger than the last");
        return Err(section.fail("sizes", message));
    }
    if let Some(most) = sizes.last().filter(|size| size.bytes() as f64 > MOST) {
        let message = format!("{} B is too large; allowed is up to 1 TB", most.bytes());
        return Err(section.fail("sizes", message));
    }
    let ordered = shares.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || shares[0] < 0.0 {
        let message = "has a share that is negative, or less than the one before it";
        return Err(section.fail("shares", message));
    }
    if shares.last() != Some(&1.0) {
        return Err(section.fail("shares", "does not end with 1: that is all transfers"));
    }
    let bytes = sizes.iter().map(|size| size.bytes() as f64);
    Ok(Arc::new(Cdf::new(bytes.zip(shares).collect())))
}

/// A distribution given by points: sizes in bytes, and shares of sizes up to these.
pub(super) struct Cdf(Vec<(f64, f64)>);

impl Cdf {
    /// The distribution of `points`, in order, the last of share 1.
    pub(super) const fn new(points: Vec<(f64, f64)>) -> Self {
        Self(points)
    }
}

impl SizeDistribution for Cdf {
    /// By inversion.
    fn draw(&self, stream: &mut Stream) -> Size {
        let share = stream.uniform();
        let at = self.0.partition_point(|point| point.1 <= share);
        let (high, above) = self.0[at.min(self.0.len() - 1)];
        let bytes = match at.checked_sub(1) {
            None => high,
            Some(before) => {
                let (low, below) = self.0[before];
                low + (high - low) * (share - below) / (above - below)
            }
        };
        whole(bytes)
    }

    /// What is exactly of the first size, and the middle of each interval by its share.
    fn mean(&self) -> f64 {
        let first = self.0[0].0 * self.0[0].1;
        let middles = self.0.windows(2);
        first
            + middles
                .map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1))
                .sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_mean, has_share, read};
    use super::*;
    use forebay_parameters::{Node, Value};

    fn list(values: &[Value]) -> Value {
        Value::List(values.iter().map(|value| Node::new(value.clone())).collect())
    }

    fn cdf(sizes: &[&str], shares: &[f64]) -> Result<Arc<dyn SizeDistribution>, Problem> {
        let sizes: Vec<Value> = sizes.iter().map(|size| (*size).into()).collect();
        let shares: Vec<Value> = shares.iter().map(|share| (*share).into()).collect();
        read("cdf", &[("sizes", list(&sizes)), ("shares", list(&shares))])
    }

    /// Sizes would follow other shares than those given: 30 % of 1 kB exactly, half between 1 kB
    /// and 10 kB, none up to 50 kB, and the rest up to 100 kB, each evenly. The mean is 0.3 * 1 +
    /// 0.5 * 5.5 + 0.2 * 75 = 18.05 kB.
    #[test]
    fn sizes_are_linear_between_the_points() {
        let sizes = ["1 kB", "10 kB", "50 kB", "100 kB"];
        let sizes = cdf(&sizes, &[0.3, 0.8, 0.8, 1.0]).unwrap();
        assert!((sizes.mean() - 18_050.0).abs() < 1e-9);
        let draws = draws(&*sizes, 200_000);
        assert!(has_mean(&draws, 18_050.0));
        let shares = [(999.0, 0.0), (1000.0, 0.3), (5500.0, 0.55), (10_000.0, 0.8)];
        for (bytes, share) in shares.into_iter().chain([(50_000.0, 0.8), (75_000.0, 0.9)]) {
            assert!(has_share(&draws, bytes, share), "{bytes}");
        }
        assert!(draws.iter().all(|bytes| *bytes <= 100_000.0));
        let one = cdf(&["7 B"], &[1.0]).unwrap();
        assert_eq!((one.mean(), super::super::tests::draws(&*one, 2)), (7.0, vec![7.0; 2]));
    }

    /// Lists that are no distribution would give sizes all the same.
    #[test]
    fn lists_that_are_no_distribution_are_refused() {
        let path = |sizes: &[&str], shares: &[f64]| {
            cdf(sizes, shares).err().map(|problem| problem.path).unwrap_or_default()
        };
        assert_eq!(path(&[], &[]), "sizes");
        assert_eq!(path(&["1 kB", "1 kB"], &[0.5, 1.0]), "sizes");
        assert_eq!(path(&["1 kB", "2 TB"], &[0.5, 1.0]), "sizes");
        assert_eq!(path(&["1 kB", "2 kB"], &[1.0]), "shares");
        assert_eq!(path(&["1 kB", "2 kB"], &[0.5, 0.9]), "shares");
        assert_eq!(path(&["1 kB", "2 kB", "3 kB"], &[0.5, 0.4, 1.0]), "shares");
        assert_eq!(path(&["1 kB", "2 kB"], &[-0.1, 1.0]), "shares");
        assert_eq!(path(&["0 B", "2 kB"], &[0.0, 1.0]), "");
    }
}
