//! Aggregates of calls: reading them, and making their elements.

use forebay_elements::calls::{Calls, ClassPlan, EdgePlan, ProbingParameters};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::admission::Admissions;
use forebay_laws::termination::Terminations;
use forebay_parameters::{Parameters, Problem, Section, choose, did_you_mean};

use crate::plan::sections::{AGGREGATE_MECHANISMS, AggregateParameters};

/// An ingress-egress aggregate as the scenario describes it.
pub(crate) struct AggregatePlan {
    pub(crate) name: String,
    path: String,
    edge: EdgePlan,
}

/// Read the section of one aggregate.
pub(crate) fn read_aggregate(name: &str, section: &Section<'_>) -> Result<AggregatePlan, Problem> {
    let AggregateParameters { rtt } =
        AggregateParameters::read_among(section, AGGREGATE_MECHANISMS)?;
    let admission = choose::<Admissions>(section, "admission")?
        .map(|(entry, inner)| (entry.build)(&inner))
        .transpose()?;
    let termination = choose::<Terminations>(section, "termination")?
        .map(|(entry, inner)| (entry.build)(&inner))
        .transpose()?;
    let probing = match section.section("probing")? {
        Some(inner) => {
            let probing = ProbingParameters::read(&inner)?;
            probing.check(&inner)?;
            Some(probing)
        }
        None => None,
    };
    let edge = EdgePlan { rtt, admission, termination, probing };
    Ok(AggregatePlan { name: name.to_owned(), path: section.path().to_owned(), edge })
}

/// The number of the aggregate called `name`.
pub(crate) fn find_aggregate(
    name: &str,
    aggregates: &[AggregatePlan],
    flow: &Section<'_>,
) -> Result<usize, Problem> {
    // They were read in the order of their names.
    aggregates.binary_search_by(|aggregate| aggregate.name.as_str().cmp(name)).map_err(|_| {
        let names = || aggregates.iter().map(|aggregate| aggregate.name.as_str());
        let hint = did_you_mean(name, names());
        let known: Vec<&str> = names().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        flow.fail("aggregate", format!("no aggregate \"{name}\"{hint}; there are: {known}"))
    })
}

impl AggregatePlan {
    /// Make the element of the aggregate. Once a plan.
    pub(crate) fn wire(
        &mut self,
        classes: Vec<ClassPlan>,
        network: &mut Network,
        streams: &Streams,
    ) {
        let edge = std::mem::take(&mut self.edge);
        network.add(Box::new(Calls::new(classes, edge, &self.path, streams)));
    }
}
