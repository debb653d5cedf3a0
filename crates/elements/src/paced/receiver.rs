//! The far ends of paced flows that look at what arrives, and answer.

use forebay_laws::detector::CongestionNotification;
use forebay_laws::explicit_rate::ResourceCell;
use forebay_network::{
    Context, Ecn, Element, FlowId, LogicalProcess, Lookahead, Marking, OwnCount, Packet,
    PacketKind, RouteId, SackSlot,
};

use super::efcn::{EfcnParameters, Indications};
use super::framing::{Framing, Report};
use super::reassembly::{Completes, Reassembly};
use super::{FrameCount, FrameParameters, PacedParameters};

/// Flows and routes of the receivers of a group of paced flows.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverPlace {
    /// The first flow, and how many there are.
    pub flows: (FlowId, u32),
    /// The route to the sources, if they answer.
    pub back: Option<RouteId>,
    /// Precedence with which answers set out.
    pub marking: Marking,
}

/// The receivers of a group of paced flows: they count as a sink does, and can send packets back
/// to the sources.
///
/// What comes back to a source, as [notifications](Packet::is_notice) do, is counted as an
/// acknowledgement.
pub struct PacedReceivers {
    place: ReceiverPlace,
    /// Bytes of each packet that are not payload.
    header: u16,
    frames: Option<Frames>,
    efcn: Option<Box<Forward>>,
}

/// Forward congestion notification of a group of flows where it is turned back.
struct Forward {
    rule: EfcnParameters,
    size: u16,
    /// Notifications sent.
    sent: u64,
    /// Indications by flow.
    flows: Vec<Indications>,
}

/// The frames of a group of flows where they arrive.
struct Frames {
    framing: Framing,
    /// Size of reports; 0 if there are none.
    report: u16,
    /// Counts by flow.
    counts: Vec<FrameCount>,
    flows: Vec<Reassembly>,
}

impl PacedReceivers {
    /// The receivers at `place` of packets with the parameters of their sources.
    ///
    /// # Panics
    /// If a size is none: scenario reading refuses it.
    #[must_use]
    pub fn new(place: ReceiverPlace, packets: &PacedParameters) -> Self {
        let header = u16::try_from(packets.header.bytes()).expect("checked when read");
        Self { place, header, frames: None, efcn: None }
    }

    /// The same with frames.
    ///
    /// # Panics
    /// If a size is none: scenario reading refuses it.
    #[must_use]
    pub fn with_frames(mut self, frames: &FrameParameters, packets: &PacedParameters) -> Self {
        let report = u16::try_from(frames.report.bytes()).expect("checked when read");
        let flows: Vec<_> = (0..self.place.flows.1).map(|_| Reassembly::default()).collect();
        let counts = vec![FrameCount::default(); flows.len()];
        let report = if frames.retransmit { report } else { 0 };
        self.frames =
            Some(Frames { framing: Framing::new(frames, packets), report, counts, flows });
        self
    }

    /// The same with forward congestion notification by `rule`.
    ///
    /// # Panics
    /// If a size is none: scenario reading refuses it.
    #[must_use]
    pub fn with_efcn(mut self, rule: &EfcnParameters) -> Self {
        let size = u16::try_from(rule.size.bytes()).expect("checked when read");
        let flows = vec![Indications::default(); self.place.flows.1 as usize];
        self.efcn = Some(Box::new(Forward { rule: rule.clone(), size, sent: 0, flows }));
        self
    }

    /// An empty answer of `size` bytes to the source of `packet`; `None` without a way back.
    fn answer(&self, packet: &Packet, size: u16, cx: &Context<'_>) -> Option<Packet> {
        let answer = Packet::data(cx.now(), packet.flow, 0, size, self.place.back?);
        Some(answer.with_marking(self.place.marking).with_kind(PacketKind::Ack))
    }

    /// Send `report` to the source of `packet`.
    fn report(&self, report: &Report, packet: &Packet, size: u16, cx: &mut Context<'_>) {
        let Some(answer) = self.answer(packet, size, cx) else { return };
        let listed = !report.missing.as_slice().is_empty();
        let slot = if listed { cx.sack_blocks().store(report.missing) } else { SackSlot::NONE };
        cx.send(report.written(answer, slot));
    }

    /// A packet of a frame has arrived.
    fn reassemble(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let index = packet.flow.index_in(self.place.flows.0) as usize;
        let Some(frames) = &mut self.frames else { return };
        let (now, size) = (cx.now(), frames.report);
        let count = &mut frames.counts[index];
        let flow = &mut frames.flows[index];
        match flow.take(packet, now, count) {
            Completes::Nothing | Completes::Again => {}
            Completes::Frame { packets, gap } => {
                cx.counters().hand_over(packet.flow, frames.framing.payload(packets));
                if let Some(report) = flow.unasked(gap, now).filter(|_| size > 0) {
                    self.report(&report, packet, size, cx);
                }
            }
            Completes::Poll => {
                let reports: Vec<Report> = flow.answers(packet.created).collect();
                reports.iter().for_each(|report| self.report(report, packet, size, cx));
            }
        }
    }

    /// Send a resource-management cell back as it came; its age is that of the whole round trip.
    #[cold]
    fn turn_around(&self, packet: &Packet, cell: ResourceCell, cx: &mut Context<'_>) {
        let Some(mut answer) = self.answer(packet, packet.size, cx) else { return };
        (answer.created, answer.number) = (packet.created, packet.number);
        cx.send(ResourceCell { backward: true, ..cell }.written(answer));
    }
}

impl PacedReceivers {
    /// Count `packet`, and notify its source if it is one too many that came marked.
    fn indicate(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let (Some(forward), Some(back)) = (&mut self.efcn, self.place.back) else { return };
        let flow = &mut forward.flows[packet.flow.index_in(self.place.flows.0) as usize];
        if !flow.arrives(packet.ecn() == Ecn::Ce, cx.now(), &forward.rule) {
            return;
        }
        // With precedence 0, as what ports signal.
        let notification = Packet::data(cx.now(), packet.flow, forward.sent, forward.size, back);
        forward.sent += 1;
        cx.send(CongestionNotification::Rate.written(notification));
    }
}

impl LogicalProcess for PacedReceivers {}

impl Element for PacedReceivers {
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { can_defer: true, ..Lookahead::host(self.place.back.as_slice()) }
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if self.efcn.is_some() {
            self.indicate(packet, cx);
        }
        if packet.kind() == PacketKind::ResourceCell {
            self.turn_around(packet, ResourceCell::of(packet), cx);
        } else if self.frames.is_some() {
            self.reassemble(packet, cx);
        } else {
            cx.counters()
                .hand_over(packet.flow, u64::from(packet.size.saturating_sub(self.header)));
        }
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        self.frames.as_mut().map_or_else(OwnCount::default, |it| OwnCount::of(&mut it.counts))
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("receivers of paced flows set no timers");
    }
}
