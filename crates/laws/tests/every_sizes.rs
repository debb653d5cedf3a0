//! Properties of every distribution of sizes in the table.

mod support;

use std::sync::Arc;

use forebay_kernel::Streams;
use forebay_laws::sizes::{BuildSizes, SIZES, SizeDistribution};
use forebay_parameters::{Entry, Problem, Value};
use support::{build, example, strange};

/// The largest size of a transfer, in bytes.
const MAX_BYTES: u64 = 1_000_000_000_000;

fn make(
    entry: &Entry<BuildSizes>,
    parameters: &Value,
) -> Result<Arc<dyn SizeDistribution>, Problem> {
    build(parameters, |section| (entry.build)(section))
}

fn draws(sizes: &dyn SizeDistribution, seed: u64, count: usize) -> Vec<u64> {
    let mut stream = Streams::new(seed, 0).named("sizes");
    (0..count).map(|_| sizes.draw(&mut stream).bytes()).collect()
}

/// Draws are sizes with the stated mean, equal for equal seeds and others for another: the mean of
/// a million draws is within six standard errors of the stated one (2e-9 for right draws), and half
/// a byte of rounding.
#[test]
fn draws_are_sizes_with_the_stated_mean() {
    for entry in SIZES {
        let sizes = make(entry, &example(entry)).expect("examples are sound");
        let found = draws(&*sizes, 1, 1_000_000);
        assert_eq!(found[..1000], draws(&*sizes, 1, 1000), "{}", entry.name);
        let random = found[0] != found[1] || found[1] != found[2];
        assert!(!random || found[..1000] != draws(&*sizes, 2, 1000), "{}", entry.name);
        assert!(found.iter().all(|bytes| (1..=MAX_BYTES).contains(bytes)), "{}", entry.name);
        let n = found.len() as f64;
        let mean = found.iter().map(|bytes| *bytes as f64).sum::<f64>() / n;
        let spread =
            found.iter().map(|bytes| (*bytes as f64 - mean) * (*bytes as f64 - mean)).sum::<f64>();
        let bound = 6.0 * (spread / n).sqrt() / n.sqrt() + 0.5;
        assert!(bound < 0.2 * mean, "{}: {bound} of {mean}", entry.name);
        assert!((mean - sizes.mean()).abs() < bound, "{}: {mean}", entry.name);
    }
}

/// The stated share of sizes above some bytes is that of draws: of a million, at those that 1 % to
/// 99.9 % do not exceed, a share p is within six standard deviations, sqrt(p (1 - p) / 1e6) (2e-9
/// for right draws). All are above nothing, and none above the largest size. Draws are rounded:
/// those above a whole number of bytes were half a byte above it.
#[test]
fn shares_above_are_those_of_draws() {
    for entry in SIZES {
        let sizes = make(entry, &example(entry)).expect("examples are sound");
        let mut found = draws(&*sizes, 3, 1_000_000);
        found.sort_unstable();
        let n = found.len();
        for at in [n / 100, n / 10, n / 2, n * 9 / 10, n * 99 / 100, n * 999 / 1000] {
            let bytes = found[at];
            let above = n - found.partition_point(|draw| *draw <= bytes);
            let stated = sizes.above(bytes as f64 + 0.5);
            let bound = 6.0 * (stated * (1.0 - stated) / n as f64).sqrt() + 1e-9;
            let share = above as f64 / n as f64;
            assert!((share - stated).abs() < bound, "{}: {bytes} B, {share}", entry.name);
        }
        assert_eq!(sizes.above(0.0), 1.0, "{}", entry.name);
        assert!(sizes.above(MAX_BYTES as f64) < 1e-6, "{}", entry.name);
    }
}

/// Strange parameters are refused under their key or survived: no run crashes or hangs, or has
/// sizes that no transfer has.
#[test]
fn strange_parameters_are_refused_or_survived() {
    for entry in SIZES {
        let mut refused = 0;
        for (label, parameters) in strange(&example(entry), entry.fields) {
            match make(entry, &parameters) {
                Ok(sizes) => {
                    let found = draws(&*sizes, 1, 100);
                    let sound = found.iter().all(|bytes| (1..=MAX_BYTES).contains(bytes));
                    assert!(sound && sizes.mean() > 0.0, "{}: {label}", entry.name);
                }
                Err(problem) => {
                    refused += 1;
                    assert!(!problem.path.is_empty(), "{}: {label}", entry.name);
                    assert!(!problem.message.is_empty(), "{}: {label}", entry.name);
                }
            }
        }
        assert!(refused > 0 || entry.fields.is_empty(), "{}: wrong kinds are refused", entry.name);
    }
}
