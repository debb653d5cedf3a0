//! What stands around the flows of a scenario, as their reading needs it.

use forebay_units::Span;

use crate::calls::AggregatePlan;
use crate::links::LinkPlan;
use crate::topology::Topology;

/// What flows need to know of the rest of the scenario.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) links: &'a [LinkPlan<'a>],
    pub(crate) aggregates: &'a [AggregatePlan],
    pub(crate) duration: Span,
}
