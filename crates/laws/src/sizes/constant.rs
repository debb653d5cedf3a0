//! One size for all transfers.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use super::{BuildSizes, SizeDistribution, check};

pub(super) const ENTRY: Entry<BuildSizes> = Entry {
    name: "constant",
    summary: "All transfers have one size.",
    source: "Law, Simulation Modeling and Analysis, 5th edition, 2015, section 6.2",
    example: r#"size = "20 kB""#,
    fields: ConstantSizeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the constant size.
    pub struct ConstantSizeParameters {
        /// The size.
        size: Size, "-";
    }
}

fn build(section: &Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> {
    let ConstantSizeParameters { size } = ConstantSizeParameters::read(section)?;
    check(section, "size", size)?;
    Ok(Arc::new(Constant(size)))
}

struct Constant(Size);

impl SizeDistribution for Constant {
    fn draw(&self, _stream: &mut Stream) -> Size {
        self.0
    }

    fn mean(&self) -> f64 {
        self.0.bytes() as f64
    }

    fn above(&self, bytes: f64) -> f64 {
        f64::from(u8::from(self.mean() > bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, read};

    /// All transfers have the given size; none and more than the largest are refused.
    #[test]
    fn all_have_the_size() {
        let sizes = read("constant", &[("size", "20 kB".into())]).unwrap();
        assert_eq!(draws(&*sizes, 3), [20_000.0; 3]);
        assert_eq!(sizes.mean(), 20_000.0);
        for wrong in ["0 B", "1001 GB"] {
            let problem = read("constant", &[("size", wrong.into())]).err().unwrap();
            assert_eq!(problem.path, "size");
        }
    }
}
