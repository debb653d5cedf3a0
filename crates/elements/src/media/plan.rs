//! Real-time media as a transport of a scenario.

use forebay_laws::adaptation::{self, AdaptationKind, Adaptations};
use forebay_network::FlowId;
use forebay_parameters::{Entry, Parameters, Problem, choose_or};

use super::{MediaParameters, MediaReceivers, MediaRoutes, MediaSenders};
use crate::FlowGroup;
use crate::transport::{End, Facts, FlowReader, Transport, TransportKind, WayBack, Wiring};

/// Real-time media in the table of transports.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "media",
    summary: "Real-time media: frames at a rate that follows receivers' reports.",
    source: "RFC 8698; RFC 8867; RFC 8593",
    example: "media = {}",
    fields: MediaParameters::FIELDS,
    probes: &[],
    build: TransportKind { laws: &["adaptation"], ..TransportKind::new(&read) },
};

/// Real-time media as the scenario describes it.
struct MediaPlan {
    parameters: MediaParameters,
    kind: AdaptationKind,
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    let message = "media make their own frames: use media.frame_rate and media.max_rate";
    group.refuse(&["traffic", "linked"], message)?;
    let parameters = MediaParameters::read_among(group.own, &ENTRY.build.keys())?;
    parameters.check(group.own)?;
    let (entry, inner) = choose_or::<Adaptations>(group.own, "adaptation", adaptation::DEFAULT)?;
    let kind = (entry.build)(&inner)?;
    if kind.reports.is_some() && group.back.is_empty() {
        let message = "receivers report to their senders, but no links lead back to them";
        return Err(group.own.fail("adaptation", message));
    }
    Ok(Box::new(MediaPlan { parameters, kind }))
}

impl Transport for MediaPlan {
    fn facts(&self) -> Facts {
        let reports = self.kind.reports.is_some();
        Facts {
            largest: Some(self.parameters.largest()),
            // Nothing changes the rate of one that hears nothing.
            mean_rate: (!reports).then(|| self.parameters.start()),
            end: if reports {
                End::Receivers
            } else {
                End::Sink { header: self.parameters.header }
            },
            way_back: if reports { WayBack::Any("adaptation") } else { WayBack::None },
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let flows: (FlowId, u32) = (group.first, group.starts.len() as u32);
        let marking = group.marking;
        let back = self.kind.reports.as_ref().map(|reports| (reports, wiring.way_back()));
        let senders = MediaSenders::new(group, &self.parameters, &self.kind, wiring.streams());
        wiring.add(Box::new(senders));
        if let Some((reports, back)) = back {
            let place = MediaRoutes { flows, back, marking };
            wiring.add(Box::new(MediaReceivers::new(place, &self.parameters, reports)));
        }
    }
}
