//! The senders of a group of flows.

use forebay_kernel::fetch;
use forebay_network::{CongestionControl, Context, Element, Ledger, Observation, Packet, Window};
use forebay_units::Time;

use super::rto::{Rto, RtoRules};
use super::scoreboard::Scoreboard;
use super::source::Source;
use super::turn::Turn;
use super::{NewRenoTimer, Recovery, SackAtTimeout, TcpParameters};
use crate::element::FlowGroup;
use crate::traffic::TrafficPool;

/// The TCP senders of a group of flows: one element, so that a million flows are cheap.
///
/// What every acknowledgement touches lies in one array; the application's side and the scoreboard
/// of loss recovery lie apart. Each flow has one pending event for its retransmission timer; moving
/// the deadline back costs nothing, the event that comes too early sets the next one.
pub struct TcpSenders {
    settings: Settings,
    starts: Vec<Time>,
    connections: Vec<Connection>,
    apart: Apart,
}

/// What few acknowledgements touch.
pub(super) struct Apart {
    sources: Vec<Source>,
    pub(super) applications: Box<dyn TrafficPool>,
    /// Scoreboards of recoveries that are over, for the next.
    #[allow(clippy::vec_box, reason = "connections hold boxes, and they move between the two")]
    pub(super) spare: Vec<Box<Scoreboard>>,
}

/// What all senders of a group share, in the form in which the arithmetic needs it.
pub(super) struct Settings {
    pub(super) first: u32,
    pub(super) route: u32,
    pub(super) precedence: u8,
    pub(super) stop: Time,
    pub(super) mss: u64,
    pub(super) overhead: u16,
    pub(super) window: f64,
    pub(super) initial_window: f64,
    pub(super) recovery: Recovery,
    pub(super) impatient: bool,
    pub(super) keep_sack: bool,
    pub(super) threshold: u32,
    pub(super) limited_transmit: bool,
    pub(super) byte_counting: bool,
    pub(super) max_burst: u32,
    pub(super) idle_restart: bool,
    pub(super) timestamps: bool,
    pub(super) ecn: bool,
    pub(super) tell_rtt: bool,
    pub(super) rules: RtoRules,
}

/// What a sender is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Slow start or congestion avoidance.
    Open,
    /// Repairing losses that duplicate acknowledgements told of.
    Recovery,
    /// Sending again from the first unacknowledged segment after a timeout.
    Loss,
}

/// The state of one sender. Numbers of segments count from 0; "the next" is one beyond the last.
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
    /// When the pending event of the timer comes.
    pub(super) pending: Time,
    pub(super) rto: Rto,
    /// The smoothed round-trip time that segments tell, in ps; negative before the first
    /// measurement, and if they tell none.
    pub(super) told: f64,
    /// The segment that is being timed; `u64::MAX` for none.
    pub(super) timed: u64,
    pub(super) timed_at: Time,
    pub(super) last_sent: Time,
    /// `max` when losses were last noticed (the recovery point); 0 before.
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
    /// All has been acknowledged, and the end reported.
    pub(super) ended: bool,
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) board: Option<Box<Scoreboard>>,
}

/// The token of an event: the flow's place in the group, and in the top bit what is due.
const WRITE: u32 = 1 << 31;

impl TcpSenders {
    /// The senders of `group`, one for each of `applications`, with a congestion control made by
    /// `control` each. Acknowledgements are expected from [`super::TcpReceivers`] with equal
    /// parameters.
    ///
    /// # Panics
    /// If `applications` are not as many as the group has, or more than 2^31.
    #[must_use]
    pub fn new(
        group: FlowGroup,
        parameters: &TcpParameters,
        applications: Box<dyn TrafficPool>,
        control: &dyn Fn() -> Box<dyn CongestionControl>,
    ) -> Self {
        let flows = applications.len();
        assert!(flows == group.starts.len(), "one application for each flow");
        assert!(flows <= WRITE as usize, "at most 2^31 flows in a group");
        let settings = Settings::new(&group, parameters);
        let ssthresh = parameters.window_bytes(parameters.initial_ssthresh);
        let window = Window { cwnd: settings.initial_window, ssthresh, smss: settings.mss as f64 };
        let connection = || Connection::new(window, Rto::new(&settings.rules), control());
        let connections = std::iter::repeat_with(connection).take(flows).collect();
        let sources = std::iter::repeat_with(Source::default).take(flows).collect();
        let apart = Apart { sources, applications, spare: Vec::new() };
        Self { settings, starts: group.starts, connections, apart }
    }

    /// Whether segments carry the sender's smoothed round-trip time, once it is known, to
    /// conditioners that adapt to it (Liu 2001, section 2.1.1). Measured by an ideal clock,
    /// whatever the ticks of the timer are. It costs no bytes: the conditioner belongs to the
    /// sender's host.
    #[must_use]
    pub const fn telling_rtt(mut self, tell: bool) -> Self {
        self.settings.tell_rtt = tell;
        self
    }

    /// Fetch the state of flow `index`.
    fn foresee(&self, index: u32) {
        fetch(&self.connections[index as usize]);
        fetch(&self.apart.sources[index as usize]);
    }

    fn turn<'t, 'c>(&'t mut self, index: u32, cx: &'t mut Context<'c>) -> Turn<'t, 'c> {
        Turn {
            p: &self.settings,
            c: &mut self.connections[index as usize],
            apart: &mut self.apart,
            index,
            cx,
        }
    }
}

impl Settings {
    fn new(group: &FlowGroup, parameters: &TcpParameters) -> Self {
        let mss = parameters.mss.bytes();
        Self {
            first: group.first,
            route: group.route,
            precedence: group.precedence,
            stop: group.stop,
            mss,
            overhead: parameters.overhead(),
            window: parameters.window_bytes(parameters.window),
            initial_window: parameters.initial_window.bytes(mss) as f64,
            recovery: parameters.recovery,
            impatient: parameters.newreno_timer == NewRenoTimer::Impatient,
            keep_sack: parameters.sack_at_timeout == SackAtTimeout::Keep,
            threshold: parameters.dupack_threshold,
            limited_transmit: parameters.limited_transmit,
            byte_counting: parameters.byte_counting,
            max_burst: parameters.max_burst.unwrap_or(u32::MAX),
            idle_restart: parameters.idle_restart,
            timestamps: parameters.timestamps,
            ecn: parameters.ecn,
            tell_rtt: false,
            rules: parameters.rto_rules(),
        }
    }
}

impl Connection {
    fn new(window: Window, rto: Rto, control: Box<dyn CongestionControl>) -> Self {
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
            told: -1.0,
            timed: u64::MAX,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
            recover: 0,
            reduced: 0,
            timed_out: u64::MAX,
            dupacks: 0,
            limited: 0,
            phase: Phase::Open,
            partial: false,
            cwr: false,
            held: false,
            finished: false,
            ended: false,
            control,
            board: None,
        }
    }
}

impl Element for TcpSenders {
    fn start(&mut self, cx: &mut Context<'_>) {
        for (index, start) in (0..).zip(std::mem::take(&mut self.starts)) {
            self.turn(index, cx).plan_write(start);
        }
    }

    fn sends(&self) -> &[u32] {
        std::slice::from_ref(&self.settings.route)
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let index = packet.flow - self.settings.first;
        self.turn(index, cx).acknowledgement(packet);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let index = token & !WRITE;
        let mut turn = self.turn(index, cx);
        if token == index {
            turn.timer();
        } else {
            turn.write();
        }
    }

    fn foresee_timer(&self, token: u32, ledger: &Ledger) {
        let index = token & !WRITE;
        self.foresee(index);
        if token != index {
            self.apart.applications.foresee(index as usize);
            fetch(&ledger.flows[(self.settings.first + index) as usize].sent);
        }
    }

    fn foresee_packet(&self, packet: &Packet) {
        self.foresee(packet.flow - self.settings.first);
    }

    /// Means over the flows that have started and not ended.
    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        let (mut flows, mut cwnd, mut flight, mut srtt) = (0.0, 0.0, 0.0, 0.0);
        for connection in self.connections.iter().filter(|c| c.max > 0 && !c.ended) {
            flows += 1.0;
            cwnd += connection.window.cwnd;
            flight += (connection.max - connection.una) as f64;
            srtt += connection.rto.srtt().map_or(0.0, forebay_units::Span::seconds);
        }
        tell("active_flows", flows);
        let share = if flows > 0.0 { 1.0 / flows } else { 0.0 };
        tell("mean_cwnd_bytes", cwnd * share);
        tell("mean_flight_packets", flight * share);
        tell("mean_srtt_s", srtt * share);
    }
}

/// How a flow appears to the outside: planned events and facts told.
impl Turn<'_, '_> {
    /// The number of the flow in the network.
    pub(super) fn flow(&self) -> u32 {
        self.p.first + self.index
    }

    /// What the application has given the flow to send.
    pub(super) fn source(&self) -> &Source {
        &self.apart.sources[self.index as usize]
    }

    /// As [`Turn::source`], to change it.
    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.apart.sources[self.index as usize]
    }

    /// Have the application's next burst written when it is due, counting from `last`.
    pub(super) fn plan_write(&mut self, last: Time) {
        let burst = self.apart.applications.next(self.index as usize);
        match burst.map(|burst| (last + burst.gap, burst.size.bytes())) {
            Some((at, bytes)) if at < self.p.stop => {
                self.source_mut().due = bytes;
                self.cx.wake_at(at, self.index | WRITE);
            }
            _ => {
                self.c.finished = true;
                self.end_if_done();
            }
        }
    }

    /// Report the end once all data is acknowledged.
    pub(super) fn end_if_done(&mut self) {
        if self.c.finished && self.c.una == self.c.end && !self.c.ended {
            self.c.ended = true;
            let flow = self.flow();
            self.cx.ended(flow);
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

    /// Have an event of the timer come at `deadline`, before any that is pending.
    #[cold]
    #[inline(never)]
    fn plan_timer(&mut self, deadline: Time) {
        self.c.pending = deadline;
        self.cx.wake_at(deadline, self.index);
    }

    /// The window, to be compared with what becomes of it, if somebody observes.
    #[inline]
    pub(super) fn window_told(&self) -> Option<Window> {
        self.cx.is_observed().then_some(self.c.window)
    }

    /// Tell observers of the window, if it is another than `before`.
    #[inline]
    pub(super) fn tell_window(&mut self, before: Option<Window>) {
        if before.is_some_and(|before| before != self.c.window) {
            let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.c.window);
            self.cx.observe(|| Observation::Window { flow, cwnd, ssthresh });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a million flows would not fit into the memory planned for them: 600 B each with
    /// receiver, application and agenda.
    #[test]
    fn a_sender_is_small() {
        assert!(size_of::<Connection>() <= 256);
        assert!(size_of::<Source>() <= 40);
    }
}
