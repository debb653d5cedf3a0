//! Reading calls and the aggregates that control them, and making their elements.

use forebay_elements::calls::{
    CallParameters, Calls, ClassPlan, EdgePlan, ProbingParameters, SurgeParameters,
};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::admission::Admissions;
use forebay_laws::termination::Terminations;
use forebay_laws::traffic::{TrafficKind, Traffics};
use forebay_parameters::{Parameters, Problem, Section, choose, choose_all, did_you_mean};
use forebay_units::{Span, Time};

use crate::sections::{AGGREGATE_MECHANISMS, AggregateParameters, CALL_SECTIONS, names_of};
use forebay_network::{FlowId, Marking, RouteId};

/// The calls of a group of flows as the scenario describes them.
pub(crate) struct CallsPlan {
    pub(crate) parameters: CallParameters,
    surges: Vec<SurgeParameters>,
    media: Vec<TrafficKind>,
}

/// An ingress-egress aggregate as the scenario describes it.
pub(crate) struct AggregatePlan {
    pub(crate) name: String,
    path: String,
    edge: EdgePlan,
}

/// Place of a class of calls in the network.
pub(crate) struct Place {
    /// Component path of its flows.
    pub(crate) path: String,
    /// Its first flow.
    pub(crate) flow: FlowId,
    pub(crate) route: RouteId,
    pub(crate) marking: Marking,
    pub(crate) start: Time,
    pub(crate) stop: Time,
}

/// Read the calls of the group of flows in `flow`, of which `section` is the key `calls`.
pub(crate) fn read_calls(
    flow: &Section<'_>,
    section: &Section<'_>,
    duration: Span,
) -> Result<CallsPlan, Problem> {
    let parameters = CallParameters::read_among(section, CALL_SECTIONS)?;
    parameters.check(section)?;
    let mut surges = Vec::new();
    for inner in section.sections("surges")? {
        let surge = SurgeParameters::read(&inner)?;
        if surge.calls == 0 {
            return Err(inner.fail("calls", "is zero; a surge brings at least one call"));
        }
        if surge.at >= duration {
            return Err(inner.fail("at", "is not before the end of the run"));
        }
        surges.push(surge);
    }
    if parameters.rate.is_none() && parameters.initial == 0 && surges.is_empty() {
        let message = "there would never be a call: give rate, initial or surges";
        return Err(section.fail("", message));
    }
    Ok(CallsPlan { parameters, surges, media: read_media(flow)? })
}

fn read_media(flow: &Section<'_>) -> Result<Vec<TrafficKind>, Problem> {
    let mut chosen = choose_all::<Traffics>(flow, "linked")?;
    if let Some(one) = choose::<Traffics>(flow, "traffic")? {
        if flow.node("linked").is_some() {
            return Err(flow.fail("linked", "there is a traffic already; use one of the two keys"));
        }
        chosen.push(one);
    }
    if chosen.is_empty() {
        let key = if flow.node("linked").is_some() { "linked" } else { "traffic" };
        let message = format!("is missing; calls need one of: {}", names_of::<Traffics>(flow));
        return Err(flow.fail(key, message));
    }
    chosen
        .into_iter()
        .map(|(entry, inner)| {
            let kind = (entry.build)(&inner)?;
            if kind.mean_rate.is_none() {
                return Err(inner.fail("", "this traffic has no mean rate: calls need one"));
            }
            if kind.transfers {
                return Err(inner.fail("", "only TCP can carry transfers; calls send packets"));
            }
            Ok(kind)
        })
        .collect()
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

impl CallsPlan {
    /// Flows of one call.
    pub(crate) fn media(&self) -> usize {
        self.media.len()
    }

    /// The largest packet, in bytes.
    pub(crate) fn largest(&self) -> Option<u64> {
        self.media.iter().filter_map(|kind| kind.largest).map(|size| size.bytes()).max()
    }

    /// About how many calls there are at a time in a run of `duration`, if none is blocked, and the
    /// key that asks for the most of them.
    pub(crate) fn present(&self, duration: Span) -> (f64, &'static str) {
        let CallParameters { rate, batch, sources, holding, initial, .. } = &self.parameters;
        let per_second = rate.map_or(0.0, |rate| rate.micro_per_hour() as f64 / 3.6e9) * batch;
        let lasts = holding.map_or(duration, |holding| holding.min(duration)).seconds();
        let most = sources.map_or(f64::INFINITY, f64::from);
        let coming = (per_second * lasts).min(most);
        let surges: f64 = self.surges.iter().map(|surge| f64::from(surge.calls)).sum();
        let initial = f64::from(*initial);
        let keys = [(initial, "initial"), (coming, "rate"), (surges, "surges")];
        let (_, key) = keys.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(keys[0]);
        (initial + coming + surges, key)
    }

    /// The mean rate of a call, in bit/s.
    pub(crate) fn mean_rate(&self) -> f64 {
        self.media.iter().filter_map(|kind| kind.mean_rate).map(|rate| rate.bps() as f64).sum()
    }

    /// The class of calls at its place in the network. Once a plan.
    pub(crate) fn class(&mut self, place: Place) -> ClassPlan {
        let Place { path, flow, route, marking, start, stop } = place;
        ClassPlan {
            path,
            flow,
            route,
            marking,
            start,
            stop,
            parameters: self.parameters.clone(),
            surges: self.surges.clone(),
            media: std::mem::take(&mut self.media),
        }
    }
}

impl AggregatePlan {
    /// An aggregate without control, for calls that name none.
    pub(crate) fn uncontrolled(path: &str) -> Self {
        Self { name: String::new(), path: path.to_owned(), edge: EdgePlan::default() }
    }

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
