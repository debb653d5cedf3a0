//! The receivers of media flows: they measure, and report.

use forebay_laws::adaptation::{Arrival, MediaReceiver, Reports};
use forebay_network::{
    Context, Element, FlowId, LogicalProcess, Lookahead, Marking, Packet, PacketKind, RouteId,
};
use forebay_units::{Span, Time};

use super::MediaParameters;
use forebay_network::Ecn;

/// Flows and routes of the receivers of a group of media flows.
#[derive(Clone, Copy, Debug)]
pub struct MediaRoutes {
    /// The first flow, and how many there are.
    pub flows: (FlowId, u32),
    /// The route to the senders.
    pub back: RouteId,
    /// Class and colour with which reports set out.
    pub marking: Marking,
}

/// The receivers of one group of media flows.
///
/// Reports are sent from the first packet on, and cease while none arrives. What they say of time
/// is as in RTCP (RFC 3550, section 6.4.1): when the latest packet was sent, later by the time
/// since it arrived.
pub struct MediaReceivers {
    place: MediaRoutes,
    /// Bytes of each packet that are not payload.
    header: u64,
    report: u16,
    interval: Span,
    receivers: Vec<Receiver>,
}

/// One receiver.
struct Receiver {
    law: Box<dyn MediaReceiver>,
    /// Times at which the latest packet was sent, and at which it arrived.
    latest: (Time, Time),
    /// True if a packet has arrived since the latest report.
    news: bool,
    /// True if the timer of the next report is set.
    armed: bool,
}

impl MediaReceivers {
    /// The receivers at `place`, of packets with `parameters`.
    ///
    /// # Panics
    /// If a size is none: scenario reading refuses it.
    #[must_use]
    pub fn new(place: MediaRoutes, parameters: &MediaParameters, reports: &Reports) -> Self {
        let receiver = |_| Receiver {
            law: (reports.make)(),
            latest: (Time::ZERO, Time::ZERO),
            news: false,
            armed: false,
        };
        Self {
            place,
            header: parameters.header.bytes(),
            report: u16::try_from(parameters.report.bytes()).expect("checked when read"),
            interval: reports.interval,
            receivers: (0..place.flows.1).map(receiver).collect(),
        }
    }
}

impl LogicalProcess for MediaReceivers {}

impl Element for MediaReceivers {
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.place.back))
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let payload = u64::from(packet.size).saturating_sub(self.header);
        cx.counters().hand_over(packet.flow, payload);
        let now = cx.now();
        let index = packet.flow.index_in(self.place.flows.0);
        let receiver = &mut self.receivers[index as usize];
        receiver.law.on_packet(&Arrival {
            now,
            delay: now.since(packet.created),
            number: packet.number,
            size: packet.size,
            marked: packet.ecn() == Ecn::Ce,
        });
        receiver.latest = (packet.created, now);
        receiver.news = true;
        if !std::mem::replace(&mut receiver.armed, true) {
            cx.wake_at(now + self.interval, index);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let receiver = &mut self.receivers[token as usize];
        receiver.armed = std::mem::replace(&mut receiver.news, false);
        if !receiver.armed {
            return;
        }
        cx.wake_at(now + self.interval, token);
        let (sent, arrived) = receiver.latest;
        let echo = sent + now.since(arrived);
        let flow = self.place.flows.0.nth(token);
        let mut report = Packet::data(now, flow, echo.ps(), self.report, self.place.back);
        let said = receiver.law.report(now);
        report.tag = said.word;
        if !said.arrived.as_slice().is_empty() {
            report.set_sack_slot(cx.sack_blocks().store(said.arrived));
        }
        cx.send(report.with_marking(self.place.marking).with_kind(PacketKind::Report));
    }
}
