//! The contracts of laws: mechanisms that only decide.
//!
//! Each is given the time, facts and a random stream of its own, and returns a decision. So each is
//! tested by arithmetic, and the same object could decide on real packets.

use forebay_kernel::Stream;
use forebay_units::{Size, Span, Time};

use crate::{
    BucketState, ClassCount, DropReason, ElementState, FlowId, LawNote, Packet, QueuedInfo,
    StateFact, Window,
};

/// Packets that wait in a queue, without the one being transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
}

impl Backlog {
    /// Add `packet`.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// Remove `packet`.
    #[inline]
    pub fn remove(&mut self, packet: QueuedInfo) {
        debug_assert!(self.packets > 0 && self.bytes >= u64::from(packet.size()));
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }
}

/// The facts of an arrival at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The current time.
    pub now: Time,
    /// The arriving packet.
    pub packet: &'a Packet,
    /// The backlog without this packet.
    pub backlog: Backlog,
    /// Time since which the link is idle (nothing waits, nothing is being transmitted); `None` if
    /// it is not.
    pub idle_since: Option<Time>,
    /// Time since which nothing of this queue waits or is being transmitted, for averages over
    /// time; `None` if something does. At a link as `idle_since`; a class of a scheduler can be
    /// empty while the link transmits for others.
    pub empty_since: Option<Time>,
}

/// The decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is accepted unchanged.
    Accept,
    /// It is accepted with the CE codepoint set. Only for packets that are ECN-capable.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// The admission policy of a first-in-first-out queue, which decides on a packet when it arrives:
/// tail drop, RED, RIO and similar laws.
///
/// Because nothing is decided later, the departure of an accepted packet is known at its arrival,
/// and a link under such a law costs one event per packet.
pub trait DropPolicy: Send {
    /// Decide on an arriving packet. If accepted (or marked), it is in the queue from now on.
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict;

    /// A packet accepted earlier left the queue at `at` to be transmitted. Called for every
    /// accepted packet, also for one that did not wait; in order, and before any later
    /// [`DropPolicy::admit`], but not necessarily at the time. Another law may take a packet out of
    /// the middle of the queue (CHOKe): then this is called at that time.
    fn departed(&mut self, _packet: QueuedInfo, _at: Time) {}

    /// Returns true if a packet that finds the link idle is always accepted unchanged, and does not
    /// affect the state of the law.
    fn is_transparent(&self) -> bool {
        false
    }

    /// Visit the notes that the law has taken since the last call. Called after every arrival in a
    /// run with observers, else never.
    fn notes(&mut self, _visit: &mut dyn FnMut(&LawNote<'_>)) {}

    /// Visit the internal quantities worth plotting, such as averages, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// A packet that a queueing discipline dequeues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// True if it is marked as it is dequeued: it gets the CE codepoint. Only for packets that are
    /// ECN-capable. (A packet marked as it was enqueued has it already.)
    pub marked: bool,
}

/// Knowledge of the packet that a queueing discipline would give next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextPacket {
    /// Its size; `None` if none may leave yet. Nothing is decided by telling it: after an arrival,
    /// another packet may be next.
    Size(Option<u16>),
    /// It decides as it gives a packet, and tells none before.
    Undecided,
}

/// Receives the packets that a queueing discipline drops.
pub type Discard<'a> = dyn FnMut(Packet, DropReason) + 'a;

/// A queueing discipline: it holds its packets itself and chooses the next to transmit. Schedulers,
/// and laws that decide as a packet leaves (CoDel).
pub trait QueueDisc: Send {
    /// Decide on an arriving packet: enqueue it (marked, if that is the verdict), or drop it.
    /// Others that are dropped in its place are handed to `discard`.
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict;

    /// Remove the packet to be transmitted next; `None` if none waits, or if none of those that
    /// wait may leave yet ([`QueueDisc::is_work_conserving`]). Packets that are dropped on this
    /// occasion are handed to `discard`.
    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure>;

    /// Decide on a packet that arrives at a link which is idle since `idle_since`, where none
    /// waits: `None` if it passes to the transmitter at once and unchanged, as it would by
    /// [`QueueDisc::enqueue`] and then [`QueueDisc::dequeue`], which need not be called. Else the
    /// verdict of `enqueue`, as which it has been.
    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        Some(self.enqueue(packet, Some(idle_since), now, stream, discard))
    }

    /// Tell what [`QueueDisc::dequeue`] would give at `now`, where that can be told without giving
    /// it; at least one packet waits. Packets that are dropped on this occasion are handed to
    /// `discard`.
    fn peek(&mut self, _now: Time, _stream: &mut Stream, _discard: &mut Discard<'_>) -> NextPacket {
        NextPacket::Undecided
    }

    /// The backlog.
    fn backlog(&self) -> Backlog;

    /// The part that is taken of the buffer in which packets of `precedence` wait; `None` if it has
    /// no limit, or cannot tell. Whether it tells never changes.
    fn fullness(&self, _precedence: u8) -> Option<f64> {
        None
    }

    /// Returns true if it gives a packet whenever one waits. A discipline that shapes its traffic
    /// does not: then [`QueueDisc::ready_at`] tells when to ask again. The answer never changes.
    fn is_work_conserving(&self) -> bool {
        true
    }

    /// Returns the time at which the next packet can be dequeued if nothing arrives before, given
    /// that packets wait and [`QueueDisc::dequeue`] gave none at `now`: later than `now`;
    /// [`Time::NEVER`] if only an arrival can change that. Too early a time costs an event and
    /// changes no departure. Asked only of disciplines that are not work-conserving.
    fn ready_at(&self, now: Time) -> Time {
        now
    }

    /// Returns true if it may drop packets in [`QueueDisc::dequeue`], or mark them.
    fn drops_at_dequeue(&self) -> bool {
        true
    }

    /// As [`DropPolicy::is_transparent`]: then such a packet need not be enqueued.
    fn is_transparent(&self) -> bool {
        false
    }

    /// As [`DropPolicy::notes`].
    fn notes(&mut self, _visit: &mut dyn FnMut(&LawNote<'_>)) {}

    /// Returns its counts by class up to `now`, if it has classes and was built to count them.
    fn class_counts(&mut self, _now: Time) -> Option<&mut Vec<ClassCount>> {
        None
    }

    /// Visit the internal quantities worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// A traffic conditioner: a meter, marker or policer, which inspects each packet that passes and
/// may change its precedence.
pub trait Conditioner: Send {
    /// Colour `packet`, which sets its precedence, or decide to drop it.
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict;

    /// Returns true if it may change the precedence of packets, or sets it.
    fn colours(&self) -> bool {
        true
    }

    /// The earliest time from `now` on at which a packet of `size` would be coloured green, without
    /// charging it; [`Time::NEVER`] if it never would; `None` if this law cannot determine it.
    fn green_at(&self, _size: Size, _now: Time) -> Option<Time> {
        None
    }

    /// The largest packet, in bytes, that a full bucket could colour green (the committed burst
    /// size): if it is smaller than the packets that pass, nothing conforms to the meter.
    fn smallest_burst(&self) -> Option<u64> {
        None
    }

    /// Returns true if it adapts to the round-trip times of its flows: then senders whose packets
    /// pass it report theirs ([`Packet::srtt`]).
    fn uses_rtt(&self) -> bool {
        false
    }

    /// Visit the internal quantities worth plotting, such as bucket levels, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}

    /// Visit its token buckets with the bounds that they keep, for checks.
    fn buckets(&self, _visit: &mut dyn FnMut(&BucketState)) {}
}

/// The conditioners of a link or shaper, each with its random stream.
impl ElementState for Vec<(Box<dyn Conditioner>, Stream)> {
    fn inspect(&self, _flow: Option<FlowId>, visit: &mut dyn FnMut(StateFact)) {
        for (law, _) in self {
            law.buckets(&mut |bucket| visit(StateFact::Bucket(*bucket)));
        }
    }
}

/// Law by which a shaper releases packets.
pub trait ShaperLaw: Send {
    /// A packet arrived; `backlog` includes it.
    fn arrived(&mut self, packet: &Packet, backlog: Backlog, now: Time);

    /// Returns the time at which the packet at the head may be released, given `backlog` including
    /// it, the release of its predecessor, and the conditioner behind the shaper if there is one.
    /// Called again after every arrival. A time in the past means now.
    fn release_at(
        &self,
        head: &Packet,
        backlog: Backlog,
        last_release: Option<Time>,
        conditioner: Option<&dyn Conditioner>,
        now: Time,
    ) -> Time;

    /// The buffer's limit in bytes.
    fn limit(&self) -> u64;

    /// Visit the internal quantities worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// One step of a traffic pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Burst {
    /// Time from the previous burst (the first: from the start of the flow).
    pub gap: Span,
    /// The load offered then: the size of a datagram on the wire, or bytes written to a TCP
    /// connection.
    pub size: Size,
}

/// Data that an application sends, and their times.
pub trait Traffic: Send {
    /// The next burst; `None` when the application has nothing more to send.
    fn next(&mut self, stream: &mut Stream) -> Option<Burst>;

    /// The gap, if all bursts after the first are this far apart, are of one size and never end.
    /// Lets a thousand such flows share one event.
    fn constant_gap(&self) -> Option<Span> {
        None
    }
}

/// The facts of an acknowledgement of new data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ack {
    /// The current time.
    pub now: Time,
    /// Bytes newly acknowledged that count towards window growth: at most one window of them, and
    /// without byte counting at most one segment (RFC 5681, section 3.1).
    pub acked: f64,
    /// Number of them that count in slow start at most (L of RFC 3465, section 2.2).
    pub slow_start_limit: f64,
    /// Bytes outstanding before this acknowledgement.
    pub flight: f64,
    /// Round-trip time measured by it, if any.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time, if known.
    pub srtt: Option<Span>,
    /// True if it reports marks, by ECN-Echo or by counters.
    pub ece: bool,
}

impl Ack {
    /// Returns the amount by which it opens `window` in slow start: what it acknowledges, within
    /// the limit, and more than one segment only up to the threshold (Linux, net/ipv4/tcp_cong.c:
    /// tcp_slow_start).
    #[inline]
    #[must_use]
    pub fn in_slow_start(&self, window: &Window) -> f64 {
        let most = (window.ssthresh - window.cwnd).max(window.smss);
        self.acked.min(self.slow_start_limit).min(most)
    }
}

/// A congestion signal: why a sender must slow down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// A segment was lost and fast retransmit repairs it.
    Loss,
    /// ECN-Echo.
    Ecn,
    /// The retransmission timer expired; `first` unless the same segment timed out before.
    Timeout {
        /// True if this is the first timeout of the segment.
        first: bool,
    },
}

impl Signal {
    /// The signal's name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Ecn => "ecn",
            Self::Timeout { .. } => "timeout",
        }
    }
}

/// Needs of a congestion control, of sender and receiver, beside acknowledgements and congestion
/// signals. Senders whose law needs nothing pay for nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlNeeds {
    /// A [`RateSample`] of every acknowledgement and a [`LostSegment`] for each that is lost: the
    /// sender keeps a record of each segment, with the state of the connection when it was sent.
    pub samples: bool,
    /// Spares the sender that state: samples are without what follows from it, rates of delivery
    /// above all, and lost segments are not reported.
    pub without_rates: bool,
    /// A receiver that echoes which segments were marked (RFC 8257, section 3.2), and segments that
    /// are ECN-capable even if sent again, where ECN is used at all.
    pub exact_marks: bool,
    /// A scalable control of the L4S architecture (RFC 9331): segments are ECT(1), feedback is that
    /// of RFC 9768, and the law answers every acknowledgement that reports marks, when it will.
    pub l4s: bool,
}

/// Sample that an acknowledgement gives of the network (draft-ietf-ccwg-bbr, section 4.1; earlier
/// draft-cheng-iccrg-delivery-rate-estimation). Volumes are in bytes of data. A law
/// [without rates](ControlNeeds::without_rates) finds `None`, 0 and false in what is marked so.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RateSample {
    /// The current time.
    pub now: Time,
    /// Data that it acknowledges cumulatively for the first time.
    pub acked: u64,
    /// Data that it reports to have arrived for the first time, cumulatively or by SACK.
    pub newly_delivered: u64,
    /// Data found to be lost since the acknowledgement before.
    pub newly_lost: u64,
    /// All that has arrived, as far as the sender knows (C.delivered).
    pub delivered: u64,
    /// C.delivered when the newest segment that it reports was sent (RS.prior_delivered); `None` if
    /// it reports none. A round trip ends with the first segment sent since its end was noted:
    /// where this is at least C.delivered of then. With rates.
    pub prior_delivered: Option<u64>,
    /// The delivery rate, in bytes per second: the lower of the rates of sending and of
    /// acknowledging. `None` if nothing was delivered, or in less than the least round-trip time.
    /// With rates.
    pub rate: Option<f64>,
    /// True if the application limited the flow when that segment was sent. With rates.
    pub app_limited: bool,
    /// Round-trip time of that segment, unless it was sent more than once.
    pub rtt: Option<Span>,
    /// Time from the sending of the segment that the receiver echoes to the sending of the
    /// acknowledgement: the delay one way, with that of the acknowledgement (RFC 7323).
    pub one_way: Span,
    /// Smoothed round-trip time, if known.
    pub srtt: Option<Span>,
    /// Data in the network before this acknowledgement (C.inflight). With rates.
    pub prior_in_flight: u64,
    /// Data in the network now: sent, and neither delivered nor lost.
    pub in_flight: u64,
    /// Data in the network when the newest segment had been sent (P.tx_in_flight). With rates.
    pub sent_in_flight: u64,
    /// Data found to be lost since that segment was sent (RS.lost). With rates.
    pub lost_since: u64,
    /// Losses are being repaired, by fast recovery or after a timeout, and this acknowledgement
    /// does not end that.
    pub recovering: bool,
    /// The window was full at some acknowledgement of the last round trip (C.is_cwnd_limited). With
    /// rates.
    pub cwnd_limited: bool,
    /// Segments leave at a rate, and not as acknowledgements arrive.
    pub paced: bool,
    /// Losses are told apart by SACK (C.has_selective_acks).
    pub selective: bool,
    /// It reports marks: ECN-Echo, or counters that have moved.
    pub ece: bool,
    /// Data that it reports to have arrived marked, by counters (RFC 9768) or, where the receiver
    /// echoes marks exactly, by ECN-Echo; else all that it acknowledges with ECN-Echo.
    pub newly_marked: u64,
    /// The next segment that is to be acknowledged (SND.UNA), by number.
    pub una: u64,
    /// The next segment never sent (SND.MAX).
    pub max: u64,
}

/// A segment that was found to be lost, with the state of the connection when it was sent last (P
/// in draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostSegment {
    /// Its number.
    pub number: u64,
    /// Its bytes of data.
    pub bytes: u64,
    /// Data in the network when it had been sent, with it (P.tx_in_flight).
    pub sent_in_flight: u64,
    /// Data found to be lost since it was sent, with it (C.lost - P.lost).
    pub lost_since: u64,
    /// True if the application limited the flow when it was sent.
    pub app_limited: bool,
    /// Data delivered so far (C.delivered).
    pub delivered: u64,
}

/// Congestion control: how the window follows acknowledgements and congestion. Loss recovery,
/// timers and sending belong to the sender.
pub trait CongestionControl: Send {
    /// Data can be sent: called once, before any is, with the round-trip time of the handshake, if
    /// there was one that measured it.
    fn opened(&mut self, _window: &Window, _rtt: Option<Span>) {}

    /// The number of the connection among those that its group makes in a run, from 2 on: for
    /// what connections would else do alike, as laws have no random stream. Called first of all.
    fn numbered(&mut self, _number: u64) {}

    /// New data was acknowledged outside loss recovery: increase the window.
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was signalled while `flight` bytes were in the network, as far as the sender
    /// knows and never more than the window: set threshold and window to the values that hold once
    /// recovery is over (after a timeout: those to restart from).
    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, now: Time);

    /// The reduction for the last loss or timeout turned out not to have been needed, and is about
    /// to be undone: `window` is still the reduced one. Forget what was taken from it.
    fn undone(&mut self, _window: &Window) {}

    /// Returns the needs of the law beside these two; asked once, of a new connection.
    fn needs(&self) -> ControlNeeds {
        ControlNeeds::default()
    }

    /// An acknowledgement arrived, of new data or not, in any phase: called before all else that
    /// follows from it, if the law [needs](Self::needs) samples.
    fn sampled(&mut self, _window: &mut Window, _sample: &RateSample) {}

    /// A segment was found to be lost: called before [`CongestionControl::sampled`] of the
    /// acknowledgement that tells, or when the retransmission timer expires, if the law
    /// [needs](Self::needs) rates.
    fn lost(&mut self, _window: &mut Window, _segment: &LostSegment, _now: Time) {}

    /// The application writes after all that was sent has been acknowledged: the flow starts again
    /// from idle. Not called where it does so on a fresh connection, which has nothing to restart.
    fn restarted(&mut self, _window: &mut Window, _now: Time) {}

    /// The rate at which segments are to be sent, in bytes of data per second. `None` leaves that
    /// to acknowledgements and to the parameter `pacing`.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// Visit the internal quantities worth plotting, by name. Series show the mean over flows.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
