//! Fabrics: switches of a data centre with many ways between hosts. Their links are those of any
//! network; what is special is that packets are forwarded by rule.

mod fat_tree;
mod leaf_spine;
mod rule;
mod shape;
#[cfg(test)]
mod tests;

use forebay_parameters::{Entry, Problem, Section};
use forebay_units::Rate;

pub use rule::{FabricParts, FabricRule, LinkChange};
pub use shape::{Branch, BuildShape, FabricShape, Shapes, Ways};

/// Every shape of fabrics.
pub static SHAPES: &[Entry<BuildShape>] = &[fat_tree::ENTRY, leaf_spine::ENTRY];

/// The most hosts of a fabric.
const MAX_HOSTS: u32 = 1 << 16;

/// The most by which hosts can send more than links upwards carry.
const MAX_OVERSUBSCRIPTION: f64 = 1000.0;

/// The rate of the links between switches, where `bps` bits a second over the factor that `section`
/// has as `oversubscription`.
fn rate_between(section: &Section<'_>, bps: f64, factor: f64) -> Result<Rate, Problem> {
    if !(factor > 0.0 && factor <= MAX_OVERSUBSCRIPTION) {
        let message = format!(
            "{factor} is out of range; allowed are numbers above 0, up to {MAX_OVERSUBSCRIPTION}"
        );
        return Err(section.fail("oversubscription", message));
    }
    let between = (bps / factor).round();
    if between < 1.0 {
        let message = format!("{factor} leaves the links between switches without a rate");
        return Err(section.fail("oversubscription", message));
    }
    Ok(Rate::from_bps(between as u64))
}
