//! Paced sources as a transport of a scenario.

use forebay_laws::activity::{Activities, ActivityKind};
use forebay_laws::pace::{self, PaceKind, Paces, check_rtt};
use forebay_parameters::{Entry, Parameters, Problem, Section, choose, choose_or};
use forebay_units::Span;

use super::{
    EfcnParameters, Explicit, FrameCount, FrameParameters, PacedCount, PacedParameters, PacedParts,
    PacedReceivers, PacedResult, PacedSources, ReceiverPlace,
};
use crate::FlowGroup;
use crate::inner::{InnerForm, InnerSection};
use crate::rows::{Row, Rows};
use crate::transport::{
    End, Facts, FlowReader, GroupCounts, Packets, Transport, TransportKind, WayBack, Wiring,
    names_of,
};

/// Paced sources in the table of transports.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "paced",
    summary: "Paced sources: packets at a rate that follows notifications of congestion.",
    source: "COMSAT thesis, chapters 3 to 7; ATM Forum, af-tm-0056.000 (TM 4.0)",
    example: "paced = { activity = { files = { rate = \"100 kbit/s\" } } }",
    fields: PacedParameters::FIELDS,
    probes: &[],
    build: TransportKind {
        laws: &["activity", "pace"],
        sections: &[
            InnerSection {
                key: "frames",
                summary: "Transfers in frames: one with a packet missing is lost, and can be sent \
                          again.",
                fields: FrameParameters::FIELDS,
                form: InnerForm::One,
            },
            InnerSection {
                key: "efcn",
                summary: "Explicit forward congestion notification: receivers notify sources whose \
                          packets come marked.",
                fields: EfcnParameters::FIELDS,
                form: InnerForm::One,
            },
        ],
        rows: &[PacedResult::KIND],
        ..TransportKind::new(&read)
    },
};

/// Paced sources as the scenario describes them.
struct PacedPlan {
    parameters: PacedParameters,
    activity: ActivityKind,
    control: PaceKind,
    rtt: Span,
    frames: Option<FrameParameters>,
    efcn: Option<EfcnParameters>,
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    let message = "paced sources have an activity instead: paced.activity";
    group.refuse(&["traffic", "linked"], message)?;
    let section = group.own;
    let parameters = PacedParameters::read_among(section, &ENTRY.build.keys())?;
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
            let rtt = group.propagation().times(2);
            check_rtt(&inner, rtt)?;
            rtt
        }
    };
    let efcn = read_efcn(section, &control)?;
    Ok(Box::new(PacedPlan { parameters, activity, control, rtt, frames, efcn }))
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

impl PacedPlan {
    fn is_explicit(&self) -> bool {
        self.control.explicit.is_some()
    }

    fn has_receivers(&self) -> bool {
        self.frames.is_some() || self.efcn.is_some() || self.is_explicit()
    }

    /// The way on which receivers answer their sources, if they do.
    fn way_back(&self) -> WayBack {
        if self.is_explicit() {
            return WayBack::SameNodes("pace");
        }
        let frames = self.frames.as_ref().filter(|frames| frames.retransmit).map(|_| "frames");
        let efcn = self.efcn.as_ref().map(|_| "efcn");
        frames.or(efcn).map_or(WayBack::None, WayBack::Any)
    }

    fn sources(&self, group: FlowGroup, wiring: &dyn Wiring) -> PacedSources {
        let peak = self.activity.peak_rate;
        let parts = PacedParts {
            activity: &self.activity.make,
            control: &|| (self.control.make)(self.rtt),
            explicit: self.control.explicit.map(|minimum| Explicit { peak, minimum }),
            packets: &self.parameters,
            frames: self.frames.as_ref(),
            efcn: self.efcn.is_some(),
        };
        PacedSources::new(group, &parts, wiring.streams())
    }

    fn receivers(&self, place: ReceiverPlace) -> PacedReceivers {
        let mut receivers = PacedReceivers::new(place, &self.parameters);
        if let Some(frames) = &self.frames {
            receivers = receivers.with_frames(frames, &self.parameters);
        }
        if let Some(efcn) = &self.efcn {
            receivers = receivers.with_efcn(efcn);
        }
        receivers
    }
}

impl Transport for PacedPlan {
    fn facts(&self) -> Facts {
        let end = if self.has_receivers() {
            End::Receivers
        } else {
            End::Sink { header: self.parameters.header }
        };
        Facts {
            largest: Some(self.parameters.size.bytes()),
            least: self.parameters.size,
            mean_rate: Some(self.activity.mean_rate),
            end,
            way_back: self.way_back(),
            notified: true,
            packets: Packets::Paced { floor: self.control.explicit },
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let flows = (group.first, group.starts.len() as u32);
        let marking = group.marking;
        wiring.add(Box::new(self.sources(group, wiring)));
        if self.has_receivers() {
            let back = (self.way_back() != WayBack::None).then(|| wiring.way_back());
            wiring.add(Box::new(self.receivers(ReceiverPlace { flows, back, marking })));
        }
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let name = group.name.to_owned();
        let frames: Vec<FrameCount> =
            if self.frames.is_some() { group.receivers::<Vec<_>>().clone() } else { Vec::new() };
        let own = group.senders::<Vec<PacedCount>>();
        vec![Rows::one(PacedResult::of(name, own, &frames))]
    }
}
