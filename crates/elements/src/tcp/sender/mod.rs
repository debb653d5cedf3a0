//! The TCP senders of a group of flows.
//!
//! `ack` is the life of an acknowledgement, `recovery` the repair of losses, `send` transmission,
//! `events` all else that a sender is woken for. The rules that these follow stand beside:
//! `segments` is all that is known of the segments outstanding, `loss` finds which are lost,
//! `reduction`, `rto`, `pacing` and `rate` are arithmetic.

mod ack;
mod acknowledgement;
mod connection;
mod events;
mod fresh;
mod frto;
mod handshake;
mod inspect;
mod loss;
mod pacing;
mod pairs;
mod pause;
mod permit;
mod phase;
mod plots;
mod rate;
mod recovery;
mod reduction;
mod rto;
pub mod segments;
mod send;
mod settings;
mod signalling;
mod state;
mod tcb;
mod undo;

use std::sync::Arc;

use forebay_kernel::fetch;
use forebay_laws::traffic::{TrafficPool, VideoPlan};
use forebay_network::{
    CongestionControl, Context, ControlNeeds, Counters, Element, LogicalProcess, Lookahead,
    OwnCount, Packet, PacketKind, Window,
};
use forebay_units::Time;

pub use state::{CongestionState, SenderState};

use super::TcpParameters;
use super::applications::clients::number_and_level;
use super::applications::source::Source;
use crate::FlowGroup;
use connection::{Connection, FIRST_NUMBER, GroupState, LOSS_TIMER, PACE, WRITE};
use loss::Loss;
use rto::Rto;
use segments::Segments;
use settings::Settings;
use tcb::Tcb;

/// The TCP senders of a group of flows: one element, so that a million flows are cheap.
///
/// The state that every acknowledgement touches is in one array; the state of the application and
/// the scoreboard of loss recovery are apart. Each flow has one pending event for its
/// retransmission timer: moving the deadline back costs nothing, and an event that comes too early
/// schedules the next.
pub struct TcpSenders {
    settings: Settings,
    starts: Vec<Time>,
    connections: Vec<Connection>,
    group: GroupState,
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
        let mut made = FIRST_NUMBER;
        let connection = || {
            let mut control = first.take().unwrap_or_else(control);
            control.numbered(made);
            made += 1;
            Connection::new(0, window, Rto::new(&settings.rules), control, &settings)
        };
        let connections = std::iter::repeat_with(connection).take(flows).collect();
        let sources = std::iter::repeat_with(Source::default).take(flows).collect();
        let opened = vec![Time::NEVER; if settings.handshake { flows } else { 0 }];
        let group_state = GroupState {
            sources,
            applications,
            opened,
            spare: Vec::new(),
            fresh: None,
            answered: Vec::new(),
            video: None,
        };
        Self { settings, starts: group.starts, connections, group: group_state }
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
        self.group.video = video;
        self.group.answered = vec![0; self.connections.len()];
        self
    }

    /// A request arrived: the application writes, unless it has answered this one already.
    #[cold]
    fn asked(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let index = packet.flow.index_in(self.settings.first);
        // It was sent before the flow stopped, and arrives after the flow has ended.
        if self.connections[index as usize].tcb.ended {
            return;
        }
        let answered = &mut self.group.answered[index as usize];
        let (number, chunk) = match &self.group.video {
            Some(video) => {
                let (number, level) = number_and_level(packet);
                (number, Some(video.bytes(level)))
            }
            None => (packet.number, None),
        };
        if number == *answered + 1 {
            *answered += 1;
            let mut drawn =
                || self.group.applications.next(index as usize).map(|burst| burst.size.bytes());
            if let Some(due) = chunk.or_else(&mut drawn) {
                self.group.sources[index as usize].due = due;
                self.sender(index, cx).write();
            }
        }
    }

    /// Prefetch the state of flow `index`.
    fn prefetch(&self, index: u32) {
        fetch(&self.connections[index as usize]);
        fetch(&self.group.sources[index as usize]);
    }

    fn sender<'t, 'c>(&'t mut self, index: u32, cx: &'t mut Context<'c>) -> Sender<'t, 'c> {
        let Connection { tcb, loss, segments } = &mut self.connections[index as usize];
        Sender { settings: &self.settings, tcb, loss, segments, group: &mut self.group, index, cx }
    }
}

impl LogicalProcess for TcpSenders {
    fn prefetch_timer(&self, token: u32, counters: &Counters) {
        let index = token & !LOSS_TIMER;
        self.prefetch(index);
        if token & LOSS_TIMER == WRITE {
            self.group.applications.foresee(index as usize);
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
            self.sender(index, cx).plan_write(start);
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
        self.sender(index, cx).on_ack(packet);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let index = token & !LOSS_TIMER;
        let mut sender = self.sender(index, cx);
        match token - index {
            0 => sender.retransmission_timer(),
            WRITE => sender.write(),
            PACE => sender.release(),
            _ => sender.loss_timer(),
        }
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::default().with_state(self)
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.visit_probes(part, visit);
    }
}

/// A sender with all state that it may access while it handles one event.
struct Sender<'t, 'c> {
    settings: &'t Settings,
    tcb: &'t mut Tcb,
    loss: &'t mut Loss,
    segments: &'t mut Option<Box<Segments>>,
    group: &'t mut GroupState,
    index: u32,
    cx: &'t mut Context<'c>,
}

/// Bytes as a float. There are fewer than 2^63, and a signed integer converts in a single
/// instruction.
#[inline]
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}
