//! The TCP senders of a group of flows.

use std::sync::Arc;

use forebay_kernel::fetch;
use forebay_network::{
    CongestionControl, Context, ControlNeeds, Counters, Element, FlowId, LogicalProcess, Lookahead,
    Observation, OwnCount, Packet, PacketKind, Window,
};
use forebay_units::Time;

use super::TcpParameters;
use super::clients::number_and_level;
use super::connection::{ColdState, Connection, LOSS_TIMER, PACE, WRITE};
use super::rto::Rto;
use super::sender_context::SenderContext;
use super::settings::Settings;
use super::source::Source;
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

    /// Has segments carry the smoothed round-trip time of the sender, if `signals`, once it is
    /// known, for conditioners that adapt to it (Liu 2001, section 2.1.1). It is measured by an
    /// ideal clock, whatever the granularity of the timer. It costs no bytes: the conditioner
    /// belongs to the host of the sender.
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

    /// Returns the data that the application has written for the flow.
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
