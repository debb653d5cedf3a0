//! Reading real-time media and making its senders and receivers.

use forebay_elements::FlowGroup;
use forebay_elements::media::{MediaParameters, MediaReceivers, MediaRoutes, MediaSenders};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::adaptation::{self, AdaptationKind, Adaptations};
use forebay_network::{Destination, FlowId, RouteId};
use forebay_parameters::{Parameters, Problem, Section, choose_or};
use forebay_units::Rate;

use crate::sections::MEDIA_MECHANISMS;

/// Real-time media as the scenario describes it.
pub(crate) struct MediaPlan {
    parameters: MediaParameters,
    kind: AdaptationKind,
}

/// Read the media of the flows in `flow`, which have links back unless `one_way`.
pub(crate) fn read_media(flow: &Section<'_>, one_way: bool) -> Result<MediaPlan, Problem> {
    if let Some(key) = ["traffic", "linked"].iter().find(|key| flow.node(key).is_some()) {
        let message = "media make their own frames: use media.frame_rate and media.max_rate";
        return Err(flow.fail(key, message));
    }
    let section = flow.section("media")?.expect("the key is present");
    let parameters = MediaParameters::read_among(&section, MEDIA_MECHANISMS)?;
    parameters.check(&section)?;
    let (entry, inner) = choose_or::<Adaptations>(&section, "adaptation", adaptation::DEFAULT)?;
    let kind = (entry.build)(&inner)?;
    if kind.reports.is_some() && one_way {
        let message = "receivers report to their senders, but no links lead back to them";
        return Err(section.fail("adaptation", message));
    }
    Ok(MediaPlan { parameters, kind })
}

impl MediaPlan {
    /// The size of the largest packet in bytes.
    pub(crate) fn largest(&self) -> u64 {
        self.parameters.largest()
    }

    /// The rate of one flow, if nothing changes it.
    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        self.kind.reports.is_none().then(|| self.parameters.start())
    }

    /// Returns true if its receivers are an element: if they report.
    pub(crate) fn has_receivers(&self) -> bool {
        self.kind.reports.is_some()
    }

    /// Destination of its packets, given the element of its receivers.
    pub(crate) fn end(&self, receivers: Destination, network: &mut Network) -> Destination {
        if self.has_receivers() {
            return receivers;
        }
        network.add_sink(self.parameters.header.bytes()).into()
    }

    /// Make the senders of `group`, and the receivers of its `count` flows if there are such: with
    /// the route `back` that reports take.
    pub(crate) fn wire(
        &self,
        group: FlowGroup,
        count: u32,
        back: impl FnOnce(&mut Network) -> RouteId,
        (network, streams): (&mut Network, &Streams),
    ) {
        let flows: (FlowId, u32) = (group.first, count);
        let marking = group.marking;
        let back = self.kind.reports.as_ref().map(|reports| (reports, back(network)));
        network.add(Box::new(MediaSenders::new(group, &self.parameters, &self.kind, streams)));
        if let Some((reports, back)) = back {
            let place = MediaRoutes { flows, back, marking };
            network.add(Box::new(MediaReceivers::new(place, &self.parameters, reports)));
        }
    }
}
