//! Calls as a transport of a scenario.

use std::sync::Arc;

use forebay_laws::traffic::{TrafficKind, Traffics};
use forebay_parameters::{Entry, Parameters, Problem, Section, choose, choose_all};
use forebay_units::Span;

use super::{CallCount, CallParameters, CallResult, Calls, ClassPlan, EdgePlan, SurgeParameters};
use crate::FlowGroup;
use crate::inner::{InnerForm, InnerSection};
use crate::rows::{Row, Rows};
use crate::transport::{
    CallLoad, End, Facts, FlowReader, GroupCounts, Packets, Transport, TransportKind, Wiring,
    names_of,
};

/// Calls in the table of transports.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "calls",
    summary: "Calls: flows that arrive, are admitted or blocked, send, and end or are terminated. \
              Their packets are PCN traffic.",
    source: "RFC 5559",
    example: "calls = { initial = 1 }\ntraffic = { voice = { codec = \"g711_20ms\" } }",
    fields: CallParameters::FIELDS,
    probes: &[],
    build: TransportKind {
        sections: &[InnerSection {
            key: "surges",
            summary: "Calls that come with a reroute: a list of such tables.",
            fields: SurgeParameters::FIELDS,
            form: InnerForm::List,
        }],
        rows: &[CallResult::KIND],
        ..TransportKind::new(&read)
    },
};

/// The calls of a group of flows as the scenario describes them.
pub struct CallsPlan {
    parameters: CallParameters,
    surges: Vec<SurgeParameters>,
    media: Arc<[TrafficKind]>,
    /// The load that they are.
    load: CallLoad,
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    let section = group.own;
    let parameters = CallParameters::read_among(section, &ENTRY.build.keys())?;
    parameters.check(section)?;
    let mut surges = Vec::new();
    for inner in section.sections("surges")? {
        let surge = SurgeParameters::read(&inner)?;
        if surge.calls == 0 {
            return Err(inner.fail("calls", "is zero; a surge brings at least one call"));
        }
        if surge.at >= group.duration {
            return Err(inner.fail("at", "is not before the end of the run"));
        }
        surges.push(surge);
    }
    if parameters.rate.is_none() && parameters.initial == 0 && surges.is_empty() {
        let message = "there would never be a call: give rate, initial or surges";
        return Err(section.fail("", message));
    }
    let media = read_media(group.flow)?;
    if group.count != 1 {
        let message = "calls come and go: give calls.initial, calls.rate or calls.surges";
        return Err(group.flow.fail("count", message));
    }
    let (present, key) = present(&parameters, &surges, group.duration);
    let rate = media.iter().filter_map(|kind| kind.mean_rate).map(|rate| rate.bps() as f64).sum();
    let flows = u32::try_from(media.len()).expect("a list fits");
    let load = CallLoad { flows, present, key, rate };
    Ok(Box::new(CallsPlan { parameters, surges, media, load }))
}

fn read_media(flow: &Section<'_>) -> Result<Arc<[TrafficKind]>, Problem> {
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

/// About how many calls there are at a time in a run of `duration`, if none is blocked, and the key
/// that asks for the most of them.
fn present(
    parameters: &CallParameters,
    surges: &[SurgeParameters],
    duration: Span,
) -> (f64, &'static str) {
    let CallParameters { rate, batch, sources, holding, initial, .. } = parameters;
    let per_second = rate.map_or(0.0, |rate| rate.micro_per_hour() as f64 / 3.6e9) * batch;
    let lasts = holding.map_or(duration, |holding| holding.min(duration)).seconds();
    let most = sources.map_or(f64::INFINITY, f64::from);
    let coming = (per_second * lasts).min(most);
    let surges: f64 = surges.iter().map(|surge| f64::from(surge.calls)).sum();
    let initial = f64::from(*initial);
    let keys = [(initial, "initial"), (coming, "rate"), (surges, "surges")];
    let (_, key) = keys.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(keys[0]);
    (initial + coming + surges, key)
}

impl CallsPlan {
    /// The class of calls that `group` is.
    pub fn class(&self, group: FlowGroup) -> ClassPlan {
        ClassPlan {
            path: group.path,
            flow: group.first,
            route: group.route,
            marking: group.marking,
            start: group.starts[0],
            stop: group.stop,
            parameters: self.parameters.clone(),
            surges: self.surges.clone(),
            media: Arc::clone(&self.media),
        }
    }
}

impl Transport for CallsPlan {
    fn facts(&self) -> Facts {
        let sizes = self.media.iter().filter_map(|kind| kind.largest);
        Facts {
            largest: sizes.map(|size| size.bytes()).max(),
            end: End::Senders,
            calls: Some(self.load),
            packets: Packets::Calls,
            ..Facts::default()
        }
    }

    /// Without an aggregate no call is blocked.
    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let path = group.path.clone();
        let classes = vec![self.class(group)];
        let calls = Calls::new(classes, EdgePlan::default(), &path, wiring.streams());
        wiring.add(Box::new(calls));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let (first, measured, aggregate) = (group.passed, group.measured, group.aggregate);
        let name = group.flow_name;
        let counts = group.senders::<Vec<CallCount>>()[first..].iter();
        let row =
            |(index, count)| CallResult::of(name(index), aggregate.to_owned(), count, measured);
        vec![Rows::new((0..self.load.flows).zip(counts).map(row).collect())]
    }
}
