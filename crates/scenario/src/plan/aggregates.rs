//! Aggregates of calls: reading them, and making their elements.

use forebay_elements::calls::{Calls, ClassPlan, EdgePlan, ProbingParameters};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::admission::Admissions;
use forebay_laws::termination::Terminations;
use forebay_parameters::{Parameters, Problem, Section, choose, did_you_mean};

use crate::plan::sections::{AGGREGATE_MECHANISMS, AggregateParameters};

/// An ingress-egress aggregate as the scenario describes it.
pub(crate) struct AggregatePlan<'a> {
    pub(crate) name: String,
    section: Section<'a>,
    /// Its control, until a run takes it.
    edge: Option<EdgePlan>,
}

/// Read the section of one aggregate.
pub(crate) fn read_aggregate<'a>(
    name: &str,
    section: Section<'a>,
) -> Result<AggregatePlan<'a>, Problem> {
    let mut plan = AggregatePlan { name: name.to_owned(), section, edge: None };
    plan.renew()?;
    Ok(plan)
}

fn read_edge(section: &Section<'_>) -> Result<EdgePlan, Problem> {
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
    Ok(EdgePlan { rtt, admission, termination, probing })
}

/// The number of the aggregate called `name`.
pub(crate) fn find_aggregate(
    name: &str,
    aggregates: &[AggregatePlan<'_>],
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

impl AggregatePlan<'_> {
    /// Read its control anew if a run has taken it.
    pub(crate) fn renew(&mut self) -> Result<(), Problem> {
        if self.edge.is_none() {
            self.edge = Some(read_edge(&self.section)?);
        }
        Ok(())
    }

    /// Make the element of the aggregate.
    pub(crate) fn wire(
        &mut self,
        classes: Vec<ClassPlan>,
        network: &mut Network,
        streams: &Streams,
    ) {
        let edge = self.edge.take().expect("its control is there for each run");
        network.add(Box::new(Calls::new(classes, edge, self.section.path(), streams)));
    }
}
