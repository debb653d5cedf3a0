//! Sizes: how much a transfer carries.

mod cdf;
mod constant;
mod lognormal;
mod pareto;
mod published;

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_parameters::{Category, Entry, Problem, Section};
use forebay_units::Size;

/// A distribution of sizes. A law: it is handed a random stream and answers with a size.
pub trait SizeDistribution: Send + Sync {
    /// A size of at least a byte.
    fn draw(&self, stream: &mut Stream) -> Size;

    /// The mean of the distribution, in bytes. Draws are rounded to whole bytes, which can move
    /// their mean by half a byte.
    fn mean(&self) -> f64;

    /// The share of sizes above so many bytes, before they are rounded to whole ones.
    fn above(&self, bytes: f64) -> f64;
}

/// The mean number of segments of so many bytes that carry a size, to 1 part in 500: one, and one
/// for each k from 1 on with the probability that a size is above k segments.
pub(crate) fn mean_segments(sizes: &dyn SizeDistribution, segment: f64) -> f64 {
    // A size of a byte more than k segments is one of half a byte more that was rounded.
    let above = |k: f64| sizes.above(k * segment + 0.5);
    let (mut sum, mut k) = (1.0, 1.0);
    let mut share = above(k);
    while share > 0.0 && k * segment < MAX_BYTES {
        // One after the other at first, then several at a time, between which shares are linear.
        let step = (k / 256.0).floor().max(1.0);
        let next = above(k + step);
        sum += (share * (step + 1.0) + next * (step - 1.0)) / 2.0;
        (k, share) = (k + step, next);
    }
    sum
}

/// Reads a section of the scenario and gives its distribution.
pub type BuildSizes =
    &'static (dyn Fn(&Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> + Send + Sync);

/// The category of distributions of sizes.
pub enum Sizes {}

impl Category for Sizes {
    const NAME: &'static str = "sizes";
    const CONTRACT: &'static str = "How much a transfer carries.";
    const PLACE: &'static str = "flows.NAME.traffic.transfers";
    const KIND: &'static str = "distribution of sizes such as { pareto = { min = \"5 kB\" } }";
    type Build = BuildSizes;
}

/// Every distribution of sizes.
pub static SIZES: &[Entry<BuildSizes>] = &[
    published::CACHE,
    cdf::ENTRY,
    constant::ENTRY,
    published::DATA_MINING,
    published::HADOOP,
    lognormal::ENTRY,
    pareto::ENTRY,
    published::WEB_SEARCH,
];

/// The largest size that is drawn: 1 TB.
const MAX_BYTES: f64 = 1e12;

/// A size of so many bytes, to the nearest whole byte.
fn whole(bytes: f64) -> Size {
    Size::from_bytes((bytes.clamp(1.0, MAX_BYTES) + 0.5) as u64)
}

/// Refuse sizes that no transfer has.
fn check(section: &Section<'_>, key: &str, size: Size) -> Result<(), Problem> {
    if (1..=MAX_BYTES as u64).contains(&size.bytes()) {
        return Ok(());
    }
    let message = format!("{} B is no size of a transfer; allowed are 1 B to 1 TB", size.bytes());
    Err(section.fail(key, message))
}

/// Lognormal sizes with so many bytes as median, and so large a standard deviation of the natural
/// logarithm.
pub(crate) fn lognormal(median: f64, sigma: f64) -> Arc<dyn SizeDistribution> {
    Arc::new(lognormal::Lognormal::with_median(median, sigma))
}

/// Sizes of a Pareto distribution of this shape between two numbers of bytes.
pub(crate) fn bounded_pareto(min: f64, shape: f64, max: f64) -> Arc<dyn SizeDistribution> {
    Arc::new(pareto::Pareto { min, max, shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Echo, Node, Table, Value};

    /// Reads these parameters as the entry called `name` does.
    pub(super) fn read(
        name: &str,
        parameters: &[(&str, Value)],
    ) -> Result<Arc<dyn SizeDistribution>, Problem> {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = parameters.iter().map(node).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let entry = SIZES.iter().find(|entry| entry.name == name).expect("an entry");
        (entry.build)(&Section::root(&node, &echo)?)
    }

    /// Returns `count` draws, in bytes.
    pub(super) fn draws(sizes: &dyn SizeDistribution, count: usize) -> Vec<f64> {
        let mut stream = Streams::new(1, 0).named("sizes");
        (0..count).map(|_| sizes.draw(&mut stream).bytes() as f64).collect()
    }

    /// Returns true if the mean of `draws` is that of the distribution: within five of its standard
    /// errors, which right draws exceed with a probability of 6e-7, and half a byte of rounding.
    pub(super) fn has_mean(draws: &[f64], mean: f64) -> bool {
        let n = draws.len() as f64;
        let found = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - found) * (x - found)).sum::<f64>() / (n - 1.0);
        let bound = 5.0 * (variance / n).sqrt() + 0.5;
        assert!(bound < 0.1 * mean + 0.5, "it could not fail: {bound} of {mean}");
        (found - mean).abs() < bound
    }

    /// Returns true if a share `p` of draws is at most `bytes`, within five standard deviations of
    /// a share.
    pub(super) fn has_share(draws: &[f64], bytes: f64, p: f64) -> bool {
        let n = draws.len() as f64;
        let found = draws.iter().filter(|x| **x <= bytes).count() as f64 / n;
        (found - p).abs() <= 5.0 * (p * (1.0 - p) / n).sqrt() + 1e-12
    }
    /// Segments are counted by shares above. Of 1460 B each, 1460 B are 1, and 1461 B are 2. Of 1
    /// MB each, 1 TB are 10^6, to the 1 in 500 that is stated. A Pareto size with min = 100 B,
    /// shape 2 and max = 1 TB has 1 + 100^2 / 1000^2 (1 + 1/4 + 1/9 + ...) = 1 + 0.01 pi^2 / 6 =
    /// 1.016449 segments of 1000 B, less what rounding to whole bytes moves: 0.01 * 2 * 0.0005
    /// zeta(3) = 1.2e-5.
    #[test]
    fn segments_are_counted() {
        let constant = |bytes: &str| read("constant", &[("size", bytes.into())]).unwrap();
        assert_eq!(mean_segments(&*constant("1460 B"), 1460.0), 1.0);
        assert_eq!(mean_segments(&*constant("1461 B"), 1460.0), 2.0);
        assert_eq!(mean_segments(&*constant("1 B"), 1460.0), 1.0);
        let large = mean_segments(&*constant("1 TB"), 1e6);
        assert!((large / 1e6 - 1.0).abs() < 0.002, "{large}");
        let pareto = mean_segments(&*bounded_pareto(100.0, 2.0, 1e12), 1e3);
        assert!((pareto - 1.016_449 + 1.2e-5).abs() < 2e-6, "{pareto}");
    }
}
