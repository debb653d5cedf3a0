//! Reading policing, and making its element.

use forebay_elements::policer::{BucketParameters, PeakParameters, Policer, PolicerPlan};
use forebay_engine::Network;
use forebay_network::{FlowId, LinkId};
use forebay_parameters::{Parameters, Problem, Section};

use crate::plan::links::LinkPlan;
use crate::plan::sections::{POLICING_SECTIONS, PolicingParameters};

/// Policing of a group of flows as the scenario describes it.
pub(crate) struct PolicingPlan {
    /// Before which link of the way it stands.
    pub(crate) place: usize,
    peak: Option<PeakParameters>,
    bucket: Option<BucketParameters>,
}

/// Read the policing of the flows in `flow`, whose way is `there`; `None` if there is none.
pub(crate) fn read_policing(
    flow: &Section<'_>,
    has_calls: bool,
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Result<Option<PolicingPlan>, Problem> {
    let Some(section) = flow.section("policing")? else { return Ok(None) };
    if has_calls {
        return Err(flow.fail("policing", "calls come and go: they cannot be policed one by one"));
    }
    let PolicingParameters { at } = PolicingParameters::read_among(&section, POLICING_SECTIONS)?;
    let near = |link: &usize| links[*link].from.as_str();
    let place = match &at {
        None => 1,
        Some(node) => there.iter().position(|link| near(link) == node).ok_or_else(|| {
            let nodes: Vec<&str> = there.iter().map(near).collect();
            let message = format!(
                "\"{node}\" is no node that a link of these flows begins at; those are {}",
                nodes.join(", ")
            );
            section.fail("at", message)
        })?,
    };
    if place >= there.len() {
        let message = "these flows pass one link only: give `at`, the node before it";
        return Err(section.fail("", message));
    }
    let peak = match section.section("peak")? {
        Some(inner) => {
            let peak = PeakParameters::read(&inner)?;
            peak.check(&inner)?;
            Some(peak)
        }
        None => None,
    };
    let bucket = match section.section("bucket")? {
        Some(inner) => {
            let bucket = BucketParameters::read(&inner)?;
            bucket.check(&inner)?;
            Some(bucket)
        }
        None => None,
    };
    if peak.is_none() && bucket.is_none() {
        return Err(section.fail("", "polices nothing: give peak = {...} or bucket = {...}"));
    }
    Ok(Some(PolicingPlan { place, peak, bucket }))
}

impl PolicingPlan {
    /// Make the policer of `count` flows from `first` on, in front of `link`.
    pub(crate) fn wire(&self, first: FlowId, count: u32, link: LinkId, network: &mut Network) {
        let plan = PolicerPlan {
            flows: (first, count),
            link,
            peak: self.peak.clone(),
            bucket: self.bucket.clone(),
        };
        network.add(Box::new(Policer::new(plan)));
    }
}
