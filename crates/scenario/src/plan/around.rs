//! Context of a scenario's flows: the parts that their sections refer to.

use forebay_units::Span;

use crate::plan::aggregates::AggregatePlan;
use crate::plan::fabrics::Fabrics;
use crate::plan::links::LinkPlan;
use crate::plan::topology::Topology;

/// The parts of the scenario that the flows refer to.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) links: &'a [LinkPlan<'a>],
    pub(crate) fabrics: &'a Fabrics,
    pub(crate) aggregates: &'a [AggregatePlan<'a>],
    pub(crate) duration: Span,
}
