//! The TCP senders of a group of flows.

use std::sync::Arc;

use forebay_kernel::fetch;
use forebay_network::{
    CongestionControl, Context, ControlNeeds, Counters, Ecn, Element, FlowId, LogicalProcess,
    Lookahead, Marking, Observation, OwnCount, Packet, PacketKind, RouteId, Window,
};
use forebay_units::{Span, Time};

use super::clients::number_and_level;
use super::extension::Extension;
use super::fresh::Fresh;
use super::rto::{Rto, RtoRules};
use super::scoreboard::Scoreboard;
use super::sender_context::SenderContext;
use super::source::Source;
use super::{
    EcnEcho, NewRenoTimer, Pacing, Recovery, RecoveryWindow, SackAtTimeout, TcpParameters,
};
use crate::element::FlowGroup;
use crate::element::end_flow;
use crate::traffic::{TrafficPool, VideoPlan};

/// The TCP senders of a group of flows: one element, so that a million flows are cheap.
///
/// The state that every acknowledgement touches is in one array; the state of the application and
/// the scoreboard of loss recovery are apart. Each flow has one pending event for its
/// retransmission timer: moving the deadline back costs nothing, and an event that comes too early
/// schedules the next.
pub struct TcpSenders {
    pub(super) settings: Settings,
    starts: Vec<Time>,
    pub(super) connections: Vec<Connection>,
    pub(super) cold: ColdState,
}

/// State that few acknowledgements touch.
pub(super) struct ColdState {
    sources: Vec<Source>,
    pub(super) applications: Box<dyn TrafficPool>,
    /// When the first SYN of each connection was sent; empty without handshakes.
    pub(super) opened: Vec<Time>,
    /// Scoreboards of recoveries that are over, for reuse.
    #[allow(clippy::vec_box, reason = "connections hold boxes, and they move between the two")]
    pub(super) spare: Vec<Box<Scoreboard>>,
    /// If writes begin fresh connections.
    pub(super) fresh: Option<Fresh>,
    /// Requests answered by each flow, where it writes on request.
    answered: Vec<u64>,
    /// The video of which it then writes a chunk, if any.
    video: Option<Arc<VideoPlan>>,
}

/// What all senders of a group share, in the form that the arithmetic needs.
pub(super) struct Settings {
    pub(super) first: FlowId,
    pub(super) route: RouteId,
    pub(super) marking: Marking,
    pub(super) stop: Time,
    pub(super) mss: u64,
    pub(super) overhead: u16,
    pub(super) window: f64,
    pub(super) initial_window: f64,
    pub(super) recovery: Recovery,
    /// Proportional rate reduction.
    pub(super) prr: bool,
    pub(super) impatient: bool,
    pub(super) keep_sack: bool,
    pub(super) threshold: u32,
    pub(super) limited_transmit: bool,
    pub(super) byte_counting: bool,
    /// Bytes by which an acknowledgement opens the window in slow start at most.
    pub(super) slow_start_limit: f64,
    pub(super) max_burst: u32,
    pub(super) idle_restart: bool,
    /// Applications write when they are asked to.
    pub(super) on_request: bool,
    pub(super) timestamps: bool,
    pub(super) ecn: bool,
    /// The codepoint of segments that are ECN-capable.
    pub(super) ect: Ecn,
    /// Segments sent again are ECN-capable as well.
    pub(super) ecn_always: bool,
    /// The receiver counts marks (RFC 9768).
    pub(super) accurate: bool,
    /// Congestion control is that of L4S.
    pub(super) l4s: bool,
    pub(super) pacing: Pacing,
    /// Connections are opened and closed.
    pub(super) handshake: bool,
    /// Losses are detected by time.
    pub(super) rack: bool,
    pub(super) tail_loss_probe: bool,
    /// The longest delay of an acknowledgement by the receiver.
    pub(super) max_ack_delay: Span,
    pub(super) signals_srtt: bool,
    pub(super) rules: RtoRules,
}

/// The phase of congestion control and loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The connection is being opened; whether the SYN was sent again.
    Opening { again: bool },
    /// Slow start or congestion avoidance.
    Open,
    /// Repairing losses that duplicate acknowledgements indicate.
    Recovery,
    /// Sending again from the first unacknowledged segment after a timeout.
    Loss,
}

/// The state of one sender. Segments are numbered from 0; "the next" is one beyond the last.
pub(super) struct Connection {
    /// The first segment not acknowledged (SND.UNA).
    pub(super) una: u64,
    /// The next segment to send (SND.NXT); below `max` after a timeout.
    pub(super) nxt: u64,
    /// The next segment never sent.
    pub(super) max: u64,
    /// The next segment that the application has not written.
    pub(super) end: u64,
    /// The first segment not acknowledged that is shorter than one MSS.
    pub(super) short: u64,
    pub(super) window: Window,
    /// When the retransmission timer expires.
    pub(super) deadline: Time,
    /// Time of the pending event of the timer.
    pub(super) pending: Time,
    pub(super) rto: Rto,
    /// The smoothed round-trip time that segments carry, in ps; negative before the first
    /// measurement, and where segments carry none.
    pub(super) signalled_srtt: f64,
    /// The segment that is being timed; `u64::MAX` for none.
    pub(super) timed: u64,
    pub(super) timed_at: Time,
    pub(super) last_sent: Time,
    /// `max` when losses were last detected (the recovery point); 0 before.
    pub(super) recover: u64,
    /// `max` when the window was last reduced; 0 before.
    pub(super) reduced: u64,
    /// The segment that timed out last.
    pub(super) timed_out: u64,
    pub(super) dupacks: u32,
    /// Segments sent by limited transmit since the last new acknowledgement.
    pub(super) limited: u32,
    pub(super) phase: Phase,
    /// A partial acknowledgement has arrived in this recovery.
    pub(super) partial: bool,
    /// The window was reduced: the next new segment carries CWR.
    pub(super) cwr: bool,
    /// Nothing is sent until the timer expires (RFC 3168, section 6.1.2).
    pub(super) held: bool,
    /// The application will not write any more.
    pub(super) finished: bool,
    /// All data has been acknowledged, and the end of the flow reported.
    pub(super) ended: bool,
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) scoreboard: Option<Box<Scoreboard>>,
    /// What only some connections need.
    pub(super) extension: Option<Box<Extension>>,
}

/// Timer token: the index of the flow in the group; the top bit tells a write of the application
/// from the retransmission timer, and the next the release of a paced segment; both, the timer of
/// loss detection.
const WRITE: u32 = 1 << 31;
pub(super) const PACE: u32 = 1 << 30;
pub(super) const LOSS_TIMER: u32 = WRITE | PACE;

impl TcpSenders {
    /// The senders of `group`, one for each of `applications`, each with a congestion control made
    /// by `control`. Acknowledgements are expected from [`super::TcpReceivers`] with equal
    /// parameters.
    ///
    /// # Panics
    /// If the number of `applications` differs from that of the flows of the group, or exceeds
    /// 2^30.
    #[must_use]
    pub fn new(
        group: FlowGroup,
        parameters: &TcpParameters,
        applications: Box<dyn TrafficPool>,
        control: &dyn Fn() -> Box<dyn CongestionControl>,
    ) -> Self {
        let flows = applications.len();
        assert!(flows == group.starts.len(), "one application for each flow");
        assert!(flows <= PACE as usize, "at most 2^30 flows in a group");
        // A control is made for each connection and no more: its factory may draw for each.
        let mut first = (flows > 0).then(control);
        let needs = first.as_ref().map_or_else(ControlNeeds::default, |control| control.needs());
        let settings = Settings::new(&group, parameters, needs);
        let ssthresh = parameters.window_bytes(parameters.initial_ssthresh);
        let window = Window { cwnd: settings.initial_window, ssthresh, smss: settings.mss as f64 };
        let connection = || {
            let control = first.take().unwrap_or_else(control);
            Connection::new(window, Rto::new(&settings.rules), control, &settings)
        };
        let connections = std::iter::repeat_with(connection).take(flows).collect();
        let sources = std::iter::repeat_with(Source::default).take(flows).collect();
        let opened = vec![Time::NEVER; if settings.handshake { flows } else { 0 }];
        let cold = ColdState {
            sources,
            applications,
            opened,
            spare: Vec::new(),
            fresh: None,
            answered: Vec::new(),
            video: None,
        };
        Self { settings, starts: group.starts, connections, cold }
    }

    /// Whether segments carry the smoothed round-trip time of the sender, once it is known, for
    /// conditioners that adapt to it (Liu 2001, section 2.1.1). It is measured by an ideal clock,
    /// whatever the granularity of the timer. It costs no bytes: the conditioner belongs to the
    /// host of the sender.
    #[must_use]
    pub const fn reporting_rtt(mut self, signals: bool) -> Self {
        self.settings.signals_srtt = signals;
        self
    }

    /// The same, whose applications write when [clients](super::Clients) at the receivers ask:
    /// chunks of `video`, if that is given.
    #[must_use]
    pub fn answering(mut self, video: Option<Arc<VideoPlan>>) -> Self {
        self.settings.on_request = true;
        self.cold.video = video;
        self.cold.answered = vec![0; self.connections.len()];
        self
    }

    /// A request arrived: the application writes, unless it has answered this one already.
    #[cold]
    fn asked(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let index = packet.flow.index_in(self.settings.first);
        // It was sent before the flow stopped, and arrives after the flow has ended.
        if self.connections[index as usize].ended {
            return;
        }
        let answered = &mut self.cold.answered[index as usize];
        let (number, chunk) = match &self.cold.video {
            Some(video) => {
                let (number, level) = number_and_level(packet);
                (number, Some(video.bytes(level)))
            }
            None => (packet.number, None),
        };
        if number == *answered + 1 {
            *answered += 1;
            let mut drawn =
                || self.cold.applications.next(index as usize).map(|burst| burst.size.bytes());
            if let Some(due) = chunk.or_else(&mut drawn) {
                self.cold.sources[index as usize].due = due;
                self.sender_context(index, cx).write();
            }
        }
    }

    /// The connection of flow `index`, and the settings of the group.
    pub(super) fn connection(&self, index: u32) -> (&Connection, &Settings) {
        (&self.connections[index as usize], &self.settings)
    }

    /// Prefetch the state of flow `index`.
    fn prefetch(&self, index: u32) {
        fetch(&self.connections[index as usize]);
        fetch(&self.cold.sources[index as usize]);
    }

    pub(super) fn sender_context<'t, 'c>(
        &'t mut self,
        index: u32,
        cx: &'t mut Context<'c>,
    ) -> SenderContext<'t, 'c> {
        SenderContext {
            p: &self.settings,
            c: &mut self.connections[index as usize],
            cold: &mut self.cold,
            index,
            cx,
        }
    }
}

impl Settings {
    fn new(group: &FlowGroup, parameters: &TcpParameters, needs: ControlNeeds) -> Self {
        let (mss, echo) = (parameters.mss.bytes(), parameters.echo());
        Self {
            first: group.first,
            route: group.route,
            marking: group.marking,
            stop: group.stop,
            mss,
            overhead: parameters.overhead(),
            window: parameters.window_bytes(parameters.window),
            initial_window: parameters.initial_window.bytes(mss) as f64,
            recovery: parameters.recovery,
            prr: parameters.recovery_window == RecoveryWindow::Prr,
            impatient: parameters.newreno_timer == NewRenoTimer::Impatient,
            keep_sack: parameters.sack_at_timeout == SackAtTimeout::Keep
                || parameters.detects_by_time(),
            threshold: parameters.dupack_threshold,
            limited_transmit: parameters.limited_transmit,
            byte_counting: parameters.byte_counting,
            slow_start_limit: parameters
                .slow_start_limit
                .map_or(f64::INFINITY, |segments| f64::from(segments) * mss as f64),
            max_burst: parameters.max_burst.unwrap_or(u32::MAX),
            idle_restart: parameters.idle_restart,
            on_request: false,
            timestamps: parameters.timestamps,
            ecn: parameters.ecn,
            ect: if needs.l4s { Ecn::Ect1 } else { Ecn::Ect0 },
            ecn_always: echo == Some(EcnEcho::Rfc8257) || parameters.ecn && needs.l4s,
            accurate: echo == Some(EcnEcho::AccEcn),
            l4s: needs.l4s,
            pacing: parameters.pacing,
            handshake: parameters.handshake,
            rack: parameters.detects_by_time(),
            tail_loss_probe: parameters.probes_tail(),
            max_ack_delay: parameters.ack_delay().unwrap_or(Span::ZERO),
            signals_srtt: false,
            rules: parameters.rto_rules(),
        }
    }
}

impl Connection {
    pub(super) fn new(
        window: Window,
        rto: Rto,
        control: Box<dyn CongestionControl>,
        settings: &Settings,
    ) -> Self {
        let extension = Extension::of(&*control, settings);
        Self {
            una: 0,
            nxt: 0,
            max: 0,
            end: 0,
            short: u64::MAX,
            window,
            deadline: Time::NEVER,
            pending: Time::NEVER,
            rto,
            signalled_srtt: -1.0,
            timed: u64::MAX,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
            recover: 0,
            reduced: 0,
            timed_out: u64::MAX,
            dupacks: 0,
            limited: 0,
            phase: if settings.handshake { Phase::Opening { again: false } } else { Phase::Open },
            partial: false,
            cwr: false,
            held: false,
            finished: false,
            ended: false,
            control,
            scoreboard: None,
            extension,
        }
    }
}

impl LogicalProcess for TcpSenders {
    fn prefetch_timer(&self, token: u32, counters: &Counters) {
        let index = token & !LOSS_TIMER;
        self.prefetch(index);
        if token & LOSS_TIMER == WRITE {
            self.cold.applications.foresee(index as usize);
            fetch(&counters.flows[self.settings.first.nth(index).index()].sent);
        }
    }

    fn prefetch_packet(&self, packet: &Packet) {
        self.prefetch(packet.flow.index_in(self.settings.first));
    }
}

impl Element for TcpSenders {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.settings.on_request {
            return;
        }
        for (index, start) in (0..).zip(std::mem::take(&mut self.starts)) {
            self.sender_context(index, cx).plan_write(start);
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.settings.route))
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if self.settings.on_request && packet.kind() == PacketKind::Report {
            self.asked(packet, cx);
            return;
        }
        let index = packet.flow.index_in(self.settings.first);
        self.sender_context(index, cx).acknowledgement(packet);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let index = token & !LOSS_TIMER;
        let mut sender_context = self.sender_context(index, cx);
        match token - index {
            0 => sender_context.timer(),
            WRITE => sender_context.write(),
            PACE => sender_context.release(),
            _ => sender_context.loss_timer(),
        }
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::default().with_state(self)
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.visit_probes(part, visit);
    }
}

/// The interface of a flow to the simulator: scheduled events and observations.
impl SenderContext<'_, '_> {
    /// The number of the flow in the network.
    pub(super) fn flow(&self) -> FlowId {
        self.p.first.nth(self.index)
    }

    /// What the application has written for the flow.
    pub(super) fn source(&self) -> &Source {
        &self.cold.sources[self.index as usize]
    }

    /// As [`SenderContext::source`], to change it.
    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.cold.sources[self.index as usize]
    }

    /// Schedule the next write of the application, counting from `last`.
    pub(super) fn plan_write(&mut self, last: Time) {
        let burst = self.cold.applications.next(self.index as usize);
        match burst.map(|burst| (last + burst.gap, burst.size.bytes())) {
            Some((at, bytes)) if at < self.p.stop => {
                self.source_mut().due = bytes;
                self.cx.wake_at(at, self.index | WRITE);
            }
            _ => {
                self.c.finished = true;
                if self.p.handshake && self.c.max > 0 && self.c.end == self.c.max {
                    self.close();
                }
                self.end_if_done();
            }
        }
    }

    /// Report the end of the flow once all data is acknowledged.
    pub(super) fn end_if_done(&mut self) {
        if self.c.finished && self.c.una == self.c.end && !self.c.ended {
            self.c.ended = true;
            let flow = self.flow();
            end_flow(flow, self.cx);
        }
    }

    /// Set the retransmission timer to `deadline`.
    #[inline]
    pub(super) fn set_timer(&mut self, deadline: Time) {
        self.c.deadline = deadline;
        if deadline < self.c.pending {
            self.plan_timer(deadline);
        }
    }

    /// Schedule an event of the timer at `deadline`, before any that is pending.
    #[cold]
    #[inline(never)]
    fn plan_timer(&mut self, deadline: Time) {
        self.c.pending = deadline;
        self.cx.wake_at(deadline, self.index);
    }

    /// The present window, for [`SenderContext::observe_window`] to compare with; `None` without
    /// observers.
    #[inline]
    pub(super) fn observed_window(&self) -> Option<Window> {
        self.cx.is_observed().then_some(self.c.window)
    }

    /// Report the window to observers, if it differs from `before`.
    #[inline]
    pub(super) fn observe_window(&mut self, before: Option<Window>) {
        if before.is_some_and(|before| before != self.c.window) {
            let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.c.window);
            self.cx.observe(|| Observation::Window { flow, cwnd, ssthresh });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million flows would not fit into the memory planned for them: 600 B each with receiver,
    /// application and event list.
    #[test]
    fn a_sender_is_small() {
        assert!(size_of::<Connection>() <= 256);
        assert!(size_of::<Source>() <= 40);
    }
}
