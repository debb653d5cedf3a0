//! Counters: statistics of every flow and link, kept whether or not there are observers.

use forebay_units::{Span, Time};

use crate::{DropReason, Lateness, Packet};

/// Number of precedences with counters of their own; higher ones are counted with the last.
pub const PRECEDENCES: usize = 4;

/// Packets and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketBytes {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl PacketBytes {
    /// Count `packet`.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    fn merge(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Counters of a flow. Data packets and acknowledgements are counted separately.
///
/// What changes with each data packet comes first, within one cache line: with a million flows each
/// packet costs a cache miss on the line of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(64))]
pub struct FlowCount {
    /// Data handed to the network by the source, retransmissions included.
    pub sent: PacketBytes,
    /// Data that reached the destination's host, duplicates included.
    pub delivered: PacketBytes,
    /// Payload bytes handed to the receiving application: in order, once.
    pub goodput: u64,
    /// Largest delay of a delivered data packet.
    pub max_delay: Span,
    /// Sum of the delays of delivered data packets, in ps: 64 bits would hold a few minutes of a
    /// fast path (10 Gbit/s over 50 ms).
    pub delay: u128,
    /// Acknowledgements (of a paced source: notifications, reports, and resource-management cells
    /// there and back) sent, delivered and dropped.
    pub acks: [u64; 3],
    /// Data packets marked CE.
    pub marked: u64,
    /// Data dropped.
    pub dropped: PacketBytes,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// When its first packet was sent.
    pub started: Option<Time>,
    /// When it ended, if it has.
    pub ended: Option<Time>,
}

impl FlowCount {
    fn merge(&mut self, other: &Self) {
        self.sent.merge(other.sent);
        self.delivered.merge(other.delivered);
        self.dropped.merge(other.dropped);
        self.marked += other.marked;
        self.goodput += other.goodput;
        self.delay += other.delay;
        self.max_delay = self.max_delay.max(other.max_delay);
        for (mine, other) in self.acks.iter_mut().zip(other.acks) {
            *mine += other;
        }
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.started = self.started.or(other.started);
        self.ended = self.ended.or(other.ended);
    }
}

/// Counters of a link (one direction).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCount {
    /// Packets that arrived, by precedence after conditioning.
    pub arrived: [PacketBytes; PRECEDENCES],
    /// Packets whose transmission began, by precedence.
    pub departed: [PacketBytes; PRECEDENCES],
    /// Packets dropped, by precedence and by [`DropReason`].
    pub dropped: [[u64; DropReason::ALL.len()]; PRECEDENCES],
    /// Packets marked CE (PCN: excess-traffic-marked), by precedence.
    pub marked: [u64; PRECEDENCES],
    /// Packets threshold-marked (PCN), by precedence.
    pub threshold_marked: [u64; PRECEDENCES],
    /// Time spent transmitting, in ps.
    pub busy: u64,
    /// Waiting packets integrated over time, in packet ps.
    pub queue_area: u128,
    /// Largest number of packets that waited.
    pub max_queue: u32,
}

/// Counters of a class of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallCount {
    /// New calls admitted.
    pub admitted: u64,
    /// New calls blocked.
    pub blocked: u64,
    /// Calls that arrived by a reroute, or were present from the start.
    pub rerouted: u64,
    /// Calls that probing refused after they had been admitted.
    pub refused: u64,
    /// Calls ended by flow termination.
    pub terminated: u64,
    /// Calls that ended by themselves.
    pub ended: u64,
    /// Calls present now: a state, which survives a reset.
    pub present: u32,
    /// Largest number of calls present at once.
    pub most: u32,
    /// Calls present integrated over time, in call ps, up to `changed`.
    pub area: u128,
    /// When `present` last changed, or `area` was last read.
    pub changed: Time,
}

impl CallCount {
    /// Set the number of calls present from `now` on.
    pub fn change(&mut self, present: u32, now: Time) {
        self.area += u128::from(self.present) * u128::from(now.since(self.changed).ps());
        self.changed = now;
        self.present = present;
        self.most = self.most.max(present);
    }
}

/// Counters of a paced source, besides those of its flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PacedCount {
    /// Sessions begun.
    pub sessions: u64,
    /// Sessions, and times between sessions, begun.
    pub periods: u64,
    /// Time in sessions, in ps, including silences within them.
    pub session: u64,
    /// The scale of the rate integrated over the time in sessions, in ps over
    /// [`PacedCount::SCALE`]: an integer, so that the sum does not depend on the number of
    /// additions.
    pub scaled: u128,
    /// Time in sessions in which notifications kept the scale at its floor, in ps.
    pub floor: u64,
    /// The nominal rate integrated over the time in sessions, in bit/s ps.
    pub nominal: u128,
    /// The smallest scale within a session, if there was a session.
    pub least: Option<f64>,
    /// Completed transfers of a given volume, and the sum of their durations, in ps.
    pub transfers: (u64, u64),
    /// Notifications accepted, by [`crate::CongestionNotification::place`].
    pub accepted: [u64; 2],
    /// Notifications that arrived and were ignored: between sessions, or too soon after another.
    pub ignored: [u64; 2],
    /// When the first notification arrived.
    pub first_notice: Option<Time>,
    /// When the latest notification arrived.
    pub last_notice: Option<Time>,
    /// The shortest time between two arrivals of notifications.
    pub notice_gap: Option<Span>,
    /// Sum of the delays of notifications, in ps.
    pub notice_delay: u128,
    /// Resource-management cells sent, and those of them that returned.
    pub resource_cells: (u64, u64),
    /// Sum of the round-trip times of the cells that returned, in ps.
    pub resource_delay: u128,
    /// Frames sent, and those of them that were retransmissions.
    pub frames: (u64, u64),
    /// Polls sent.
    pub polls: u64,
    /// Sum of the times from the beginning of completed transfers to the arrival of their latest
    /// frames, in ps.
    pub arrival: u64,
}

impl PacedCount {
    /// The integer that represents a scale of 1: 2^32.
    pub const SCALE: f64 = 4_294_967_296.0;
}

/// Counters of the frames of a flow, kept where they arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameCount {
    /// Frames that arrived complete, each counted once.
    pub whole: u64,
    /// Packets of these frames.
    pub packets: u64,
    /// Duplicates: frames that arrived complete although they had before.
    pub again: u64,
    /// Frames sent or retransmitted that did not arrive complete: known when something arrives that
    /// was sent later.
    pub lost: u64,
}

/// Counters of the policer of a group of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PolicerCount {
    /// Packets that a peak rate controller with a full queue released early, marked.
    pub marked_by_peak: u64,
    /// Packets marked for lack of a token.
    pub marked_by_bucket: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Largest number of packets of one flow that waited at once, in both queues.
    pub max_queue: u32,
}

/// All counters, for one measurement window.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// By flow.
    pub flows: Vec<FlowCount>,
    /// By link.
    pub links: Vec<LinkCount>,
    /// By class of calls.
    pub calls: Vec<CallCount>,
    /// By paced source.
    pub paced: Vec<PacedCount>,
    /// By receiver of frames.
    pub frames: Vec<FrameCount>,
    /// By policer.
    pub policers: Vec<PolicerCount>,
    /// By flow, up to the last flow whose late packets are counted.
    pub lateness: Vec<Lateness>,
    /// When the measurement window began.
    pub since: Time,
    /// Packet hops of the whole run: packets that reached the far end of a link.
    pub hops: u64,
}

impl Counters {
    /// Reset all counters: a new measurement window begins at `now`.
    ///
    /// Start and end of flows are facts of the whole run and are kept.
    pub fn reset(&mut self, now: Time) {
        for flow in &mut self.flows {
            let FlowCount { started, ended, .. } = *flow;
            *flow = FlowCount { started, ended, ..FlowCount::default() };
        }
        self.links.fill(LinkCount::default());
        for calls in &mut self.calls {
            let present = calls.present;
            *calls = CallCount { present, most: present, changed: now, ..CallCount::default() };
        }
        self.paced.fill(PacedCount::default());
        self.frames.fill(FrameCount::default());
        self.policers.fill(PolicerCount::default());
        self.lateness.iter_mut().for_each(Lateness::reset);
        self.since = now;
    }

    /// Add what `other` has counted in another partition in the same measurement window. A link, a
    /// class of calls, a paced source, a receiver of frames, a policer, and start, end and
    /// destination of a flow belong to one partition each.
    pub fn merge(&mut self, other: &Self) {
        self.hops += other.hops;
        for (mine, other) in self.flows.iter_mut().zip(&other.flows) {
            mine.merge(other);
        }
        for (mine, other) in self.links.iter_mut().zip(&other.links) {
            if *other != LinkCount::default() {
                *mine = *other;
            }
        }
        let idle = CallCount { changed: self.since, ..CallCount::default() };
        for (mine, other) in self.calls.iter_mut().zip(&other.calls) {
            if *other != idle {
                *mine = *other;
            }
        }
        for (mine, other) in self.paced.iter_mut().zip(&other.paced) {
            if *other != PacedCount::default() {
                *mine = *other;
            }
        }
        for (mine, other) in self.frames.iter_mut().zip(&other.frames) {
            if *other != FrameCount::default() {
                *mine = *other;
            }
        }
        for (mine, other) in self.policers.iter_mut().zip(&other.policers) {
            if *other != PolicerCount::default() {
                *mine = *other;
            }
        }
        for (mine, other) in self.lateness.iter_mut().zip(&other.lateness) {
            if other.least().is_some() {
                mine.clone_from(other);
            }
        }
    }

    /// The counters of link `link`.
    #[inline]
    pub fn link(&mut self, link: u32) -> &mut LinkCount {
        &mut self.links[link as usize]
    }

    /// Count `packet` as arrived at `link`.
    #[inline]
    pub fn count_arrival(&mut self, link: u32, packet: &Packet) {
        self.links[link as usize].arrived[slot(packet.precedence)].add(packet);
    }

    /// Count `payload` bytes of `flow` as goodput: they reached the receiving application.
    #[inline]
    pub fn hand_over(&mut self, flow: u32, payload: u64) {
        self.flows[flow as usize].goodput += payload;
    }

    /// The counters of the flow of `packet`.
    #[inline]
    pub fn flow(&mut self, packet: &Packet) -> &mut FlowCount {
        &mut self.flows[packet.flow as usize]
    }
}

/// The index of the counters for packets of `precedence`.
#[inline]
pub(crate) fn slot(precedence: u8) -> usize {
    usize::from(precedence).min(PRECEDENCES - 1)
}
