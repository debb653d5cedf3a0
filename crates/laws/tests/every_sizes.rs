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
