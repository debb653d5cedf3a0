//! Reading paced sources and policing, and the ways on which notifications travel back.

use forebay_elements::FlowGroup;
use forebay_elements::Lateness;
use forebay_elements::paced::{
    EfcnParameters, Explicit, FrameParameters, PacedParameters, PacedParts, PacedReceivers,
    PacedSources, ReceiverPlace,
};
use forebay_elements::policer::{BucketParameters, PeakParameters, Policer, PolicerPlan};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::activity::{Activities, ActivityKind};
use forebay_laws::pace::{self, PaceKind, Paces, check_rtt};
use forebay_parameters::{Parameters, Problem, Section, choose, choose_or};
use forebay_units::{Rate, Size, Span};

use crate::around::Around;
use crate::links::LinkPlan;
use crate::sections::{PACED_MECHANISMS, POLICING_SECTIONS, PolicingParameters, names_of};
use forebay_network::{FlowId, LinkId};

/// Paced sources as the scenario describes them.
pub(crate) struct PacedPlan {
    pub(crate) parameters: PacedParameters,
    activity: ActivityKind,
    control: PaceKind,
    rtt: Span,
    frames: Option<FrameParameters>,
    efcn: Option<EfcnParameters>,
}

/// Read the section of paced sources at the beginning of a way over links of `there`.
pub(crate) fn read_paced(
    section: &Section<'_>,
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Result<PacedPlan, Problem> {
    let parameters = PacedParameters::read_among(section, PACED_MECHANISMS)?;
    parameters.check(section)?;
    let (entry, inner) = choose::<Activities>(section, "activity")?.ok_or_else(|| {
        let names = names_of::<Activities>(section);
        section.fail("activity", format!("is missing; paced sources need one of: {names}"))
    })?;
    let activity = (entry.build)(&inner)?;
    let frames = read_frames(section, &parameters, &activity)?;
    let (entry, inner) = choose_or::<Paces>(section, "pace", pace::DEFAULT)?;
    let control = (entry.build)(&inner)?;
    let rtt = match control.rtt {
        Some(rtt) => rtt,
        None => {
            let rtt = propagation(there, links).times(2);
            check_rtt(&inner, rtt)?;
            rtt
        }
    };
    let efcn = read_efcn(section, &control)?;
    Ok(PacedPlan { parameters, activity, control, rtt, frames, efcn })
}

/// Read the forward congestion notification of sources under `control`, if they have it.
fn read_efcn(paced: &Section<'_>, control: &PaceKind) -> Result<Option<EfcnParameters>, Problem> {
    let Some(section) = paced.section("efcn")? else { return Ok(None) };
    let efcn = EfcnParameters::read(&section)?;
    efcn.check(&section)?;
    if control.explicit.is_some() {
        let message =
            "sources that go by explicit rates heed no notifications: use a pace as steps";
        return Err(paced.fail("efcn", message));
    }
    Ok(Some(efcn))
}

/// Read the frames of sources with `parameters` and `activity`, if they have any.
fn read_frames(
    paced: &Section<'_>,
    parameters: &PacedParameters,
    activity: &ActivityKind,
) -> Result<Option<FrameParameters>, Problem> {
    let Some(section) = paced.section("frames")? else { return Ok(None) };
    let frames = FrameParameters::read(&section)?;
    frames.check(parameters, &section)?;
    if !activity.transfers {
        let message = "only transfers are cut into frames: use an activity that has such, as files";
        return Err(paced.fail("frames", message));
    }
    Ok(Some(frames))
}

/// The propagation delay of a way.
fn propagation(there: &[usize], links: &[LinkPlan<'_>]) -> Span {
    there.iter().fold(Span::ZERO, |sum, link| sum + links[*link].delay)
}

impl PacedPlan {
    /// The mean rate of one source that nothing slows down.
    pub(crate) fn mean_rate(&self) -> Rate {
        self.activity.mean_rate
    }

    /// Make the sources of `group`.
    pub(crate) fn wire(&self, group: FlowGroup, network: &mut Network, streams: &Streams) {
        let parts = PacedParts {
            activity: &self.activity.make,
            control: &|| (self.control.make)(self.rtt),
            explicit: self
                .control
                .explicit
                .map(|minimum| Explicit { peak: self.activity.peak_rate, minimum }),
            packets: &self.parameters,
            frames: self.frames.as_ref(),
            efcn: self.efcn.is_some(),
        };
        network.add(Box::new(PacedSources::new(group, &parts, streams)));
    }

    /// Returns true if its receivers are an element.
    pub(crate) fn has_receivers(&self) -> bool {
        self.frames.is_some() || self.efcn.is_some() || self.is_explicit()
    }

    /// The least rate of its sources over their peak rate, if they go by explicit rates.
    pub(crate) fn least_rate(&self) -> Option<f64> {
        self.control.explicit
    }

    /// Returns true if its sources go by explicit rates.
    pub(crate) fn is_explicit(&self) -> bool {
        self.control.explicit.is_some()
    }

    /// The mechanism for which they send packets back to the sources, if they do.
    pub(crate) fn answers(&self) -> Option<&'static str> {
        let frames = self.frames.as_ref().filter(|frames| frames.retransmit).map(|_| "frames");
        let efcn = self.efcn.as_ref().map(|_| "efcn");
        frames.or(efcn).or(self.is_explicit().then_some("pace"))
    }

    /// Make the receivers at `place`.
    pub(crate) fn wire_receivers(&self, place: ReceiverPlace, network: &mut Network) {
        let mut receivers = PacedReceivers::new(place, &self.parameters);
        if let Some(frames) = &self.frames {
            receivers = receivers.with_frames(frames, &self.parameters);
        }
        if let Some(efcn) = &self.efcn {
            receivers = receivers.with_efcn(efcn);
        }
        network.add(Box::new(receivers));
    }

    /// Returns true if its transfers are cut into frames.
    pub(crate) fn has_frames(&self) -> bool {
        self.frames.is_some()
    }
}

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
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Result<Option<PolicingPlan>, Problem> {
    let Some(section) = flow.section("policing")? else { return Ok(None) };
    if flow.node("calls").is_some() {
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

/// A link with a detector, and the links from its near end back to the sources.
pub(crate) type WayBack = (usize, Vec<usize>);

/// The ways on which notifications for the flows in `flow` travel back; `given` says whether the
/// scenario gives their route, to which `back` is the way back then.
pub(crate) fn ways_back(
    flow: &Section<'_>,
    (there, back): (&[usize], &[usize]),
    given: bool,
    network: &Around<'_>,
) -> Result<Vec<WayBack>, Problem> {
    let Some(first) = there.first() else { return Ok(Vec::new()) };
    let source = &network.links[*first].from;
    let detecting = there.iter().enumerate().filter(|(_, link)| network.links[**link].detects);
    detecting
        .map(|(passed, link)| {
            let plan = &network.links[*link];
            let way = match (passed, given) {
                (0, _) => Some(Vec::new()),
                (_, true) => back.len().checked_sub(passed).map(|from| back[from..].to_vec()),
                (_, false) => network.topology.shortest(&plan.from, source),
            };
            way.map(|way| (*link, way)).ok_or_else(|| {
                let message = format!(
                    "links.{} has a detector, but no links lead from \"{}\" back to \"{source}\" \
                     to tell the sources",
                    plan.name, plan.from
                );
                flow.fail("paced", message)
            })
        })
        .collect()
}

/// The way back of flows that go by explicit rates: over the nodes of `there`, since every port
/// there writes into what comes back.
pub(crate) fn way_of_cells(
    flow: &Section<'_>,
    there: &[usize],
    network: &Around<'_>,
) -> Result<Vec<usize>, Problem> {
    let far = there.iter().rev().map(|link| network.links[*link].to.clone());
    let near = there.first().map(|link| network.links[*link].from.clone());
    let nodes: Vec<String> = far.chain(near).collect();
    network.topology.along(&nodes).map_err(|message| {
        let message = format!("cells that bring explicit rates come back the same way; {message}");
        flow.fail("paced", message)
    })
}

/// Measure of the packets of a way that arrive late: more than `after` behind the fastest. `size`
/// is the least that they can have.
pub(crate) fn lateness(
    after: Span,
    size: Size,
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Lateness {
    // Another path can take less time for small packets.
    let fails = links.iter().any(|link| link.failure.is_some());
    let there = if fails { &[] } else { there };
    let floor = there.iter().fold(Span::ZERO, |sum, link| sum + links[*link].least_time(size));
    Lateness::new(after, floor)
}
