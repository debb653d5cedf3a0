//! The contracts of laws: mechanisms that only decide.
//!
//! Each is handed the time, facts and a random stream of its own, and returns a decision. So each
//! is tested by arithmetic, and the same object could decide over real packets.

use std::hint::select_unpredictable;

use forebay_kernel::Stream;
use forebay_units::{Size, Span, Time};

use crate::{DropReason, Footprint, Packet};

/// How much waits in a queue; the packet being transmitted does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
}

impl Backlog {
    /// Count `packet` in.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// Count `packet` out.
    #[inline]
    pub fn remove(&mut self, packet: Footprint) {
        debug_assert!(self.packets > 0 && self.bytes >= u64::from(packet.size()));
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }

    /// The same if it `goes`, which is chosen without a jump.
    #[inline(always)]
    pub fn remove_if(&mut self, goes: bool, packet: Footprint) {
        debug_assert!(!goes || self.packets > 0 && self.bytes >= u64::from(packet.size()));
        self.packets -= u32::from(goes);
        self.bytes -= select_unpredictable(goes, u64::from(packet.size()), 0);
    }
}

/// The facts of an arrival at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The present.
    pub now: Time,
    /// The packet that wants in.
    pub packet: &'a Packet,
    /// What waits, without this packet.
    pub backlog: Backlog,
    /// If the link is idle (nothing waits, nothing is being transmitted): since when.
    pub idle_since: Option<Time>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on.
    Accept,
    /// It goes on with the CE codepoint set. Only for packets that are ECN-capable.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// Where an average queue lies among its thresholds, or of the range in which a law keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Region {
    /// Below the minimum threshold.
    #[default]
    Below = 0,
    /// From the minimum to the maximum threshold.
    Between = 1,
    /// Above the maximum threshold.
    Above = 2,
}

impl Region {
    /// The region's name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Between => "between",
            Self::Above => "above",
        }
    }
}

/// What a queue law has changed in itself: where it takes the average to be, and the maximum
/// probabilities that follow from it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adjustment {
    /// Of which precedence; 0 where a law knows none.
    pub precedence: u8,
    /// The average queue from which it followed, in the unit of the law's thresholds.
    pub average: f64,
    /// Where the average lies now.
    pub region: Region,
    /// Whether it was at or above the middle threshold when it last lay between the others.
    pub above_middle: bool,
    /// The maximum probability that grows and shrinks.
    pub dynamic_probability: f64,
    /// The maximum probability in use.
    pub max_probability: f64,
}

/// Management of a first-in-first-out queue whose decisions all fall when a packet arrives: tail
/// drop, RED, RIO and their kin.
///
/// Because nothing is decided later, the departure of an accepted packet is known at its arrival,
/// and a link under such a law costs one event a packet.
pub trait QueueManager: Send {
    /// Decide on an arriving packet. An accepted (or marked) packet is in the queue from now on.
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict;

    /// A packet accepted earlier left the queue at `at` to be transmitted. Told of every accepted
    /// packet, also of one that waited for no time; in order, and before any later
    /// [`QueueManager::admit`], but not necessarily at once. Another law may take a packet out of
    /// the middle of the queue (CHOKe): then this is told of it at that time.
    fn departed(&mut self, _packet: Footprint, _at: Time) {}

    /// The same if one `left`; if not, `packet` and `at` mean nothing. Which of both is a toss-up
    /// mostly: for laws that can do without a jump.
    #[inline]
    fn departed_if(&mut self, left: bool, packet: Footprint, at: Time) {
        if left {
            self.departed(packet, at);
        }
    }

    /// Whether a packet that finds the link idle always passes unchanged, and leaves no trace.
    fn is_transparent(&self) -> bool {
        false
    }

    /// What the law has changed in itself since it was last asked, the latest of each precedence.
    /// Asked after every arrival where somebody observes, else never.
    fn adjustments(&mut self, _tell: &mut dyn FnMut(&Adjustment)) {}

    /// Inner quantities worth plotting, such as averages: told by name.
    fn gauges(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// A packet that a discipline lets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// Whether it is marked on its way out: it gets the CE codepoint. Only for packets that are
    /// ECN-capable. (What was marked on its way in has it already.)
    pub marked: bool,
}

/// Where a discipline puts packets that it drops.
pub type Discard<'a> = dyn FnMut(Packet, DropReason) + 'a;

/// A queue that keeps its packets itself and chooses which goes next: schedulers, and laws that
/// decide when a packet leaves (CoDel).
pub trait QueueDiscipline: Send {
    /// Decide on an arriving packet: take it in (marked, if that is the verdict), or drop it.
    /// Others that are dropped in its place are handed to `discard`.
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict;

    /// The packet to be transmitted next; `None` if none waits.
    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure>;

    /// The same of who neither [drops nor marks](QueueDiscipline::drops_when_leaving) packets then:
    /// the packet is lent, so that it need not be moved.
    fn let_go(&mut self, _now: Time) -> Option<&Packet> {
        unreachable!("asked only of who says that it neither drops nor marks what leaves")
    }

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Whether it may drop packets in [`QueueDiscipline::dequeue`], or mark them.
    fn drops_when_leaving(&self) -> bool {
        true
    }

    /// As [`QueueManager::is_transparent`]: then such a packet need not be handed to it.
    fn is_transparent(&self) -> bool {
        false
    }

    /// As [`QueueManager::adjustments`].
    fn adjustments(&mut self, _tell: &mut dyn FnMut(&Adjustment)) {}

    /// Inner quantities worth plotting: told by name.
    fn gauges(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// A meter, marker or policer: looks at each packet as it passes and may change its precedence.
pub trait Conditioner: Send {
    /// Mark `packet`, or condemn it.
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict;

    /// The earliest time from `now` on at which a packet of `size` would be coloured green, without
    /// charging it; [`Time::NEVER`] if it never would; `None` if this law cannot tell.
    fn green_at(&self, _size: Size, _now: Time) -> Option<Time> {
        None
    }

    /// The largest packet, in bytes, that a full bucket could colour green (the committed burst
    /// size): smaller than the packets that pass, it would be a meter that nothing conforms to.
    fn smallest_burst(&self) -> Option<u64> {
        None
    }

    /// Whether it adapts to the round-trip times of its flows: then senders whose packets pass it
    /// tell theirs ([`Packet::srtt`]).
    fn hears_rtt(&self) -> bool {
        false
    }

    /// Inner quantities worth plotting, such as bucket levels: told by name.
    fn gauges(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// When a shaper lets packets go.
pub trait ShapingLaw: Send {
    /// A packet arrived; `backlog` is what waits with it.
    fn arrived(&mut self, packet: &Packet, backlog: Backlog, now: Time);

    /// When the packet at the head may leave, given `backlog` including it, the release of its
    /// predecessor, and the conditioner behind the shaper if there is one. Asked again after every
    /// arrival. A time in the past means now.
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

    /// Inner quantities worth plotting: told by name.
    fn gauges(&self, _tell: &mut dyn FnMut(&str, f64)) {}
}

/// One step of a traffic pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Burst {
    /// Time from the previous burst (the first: from the start of the flow).
    pub gap: Span,
    /// What is offered then: the size of a datagram on the wire, or bytes written to a TCP
    /// connection.
    pub size: Size,
}

/// What an application sends, and when.
pub trait Traffic: Send {
    /// The next burst; `None` when the application has nothing more to send.
    fn next(&mut self, stream: &mut Stream) -> Option<Burst>;

    /// The gap, if all bursts but the first are this far apart and of one size for ever. Lets a
    /// thousand such flows share one event.
    fn constant_gap(&self) -> Option<Span> {
        None
    }
}

/// The window of a sender, in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
    /// Sender maximum segment size.
    pub smss: f64,
}

/// The facts of an acknowledgement of new data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ack {
    /// The present.
    pub now: Time,
    /// Bytes newly acknowledged that count for growth: at most one window of them, and without byte
    /// counting at most one segment (RFC 5681, section 3.1).
    pub acked: f64,
    /// Bytes outstanding before this acknowledgement.
    pub flight: f64,
    /// Round-trip time measured by it, if any.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time, if known.
    pub srtt: Option<Span>,
    /// Whether it carries ECN-Echo.
    pub ece: bool,
}

/// Why a sender must slow down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// A segment was lost and fast retransmit repairs it.
    Loss,
    /// ECN-Echo.
    Ecn,
    /// The retransmission timer expired; `first` unless the same segment timed out before.
    Timeout {
        /// Whether this is the first timeout of the segment.
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

/// Congestion control: how the window follows acknowledgements and congestion. Loss recovery,
/// timers and sending belong to the sender.
pub trait CongestionControl: Send {
    /// New data was acknowledged outside loss recovery: open the window.
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack);

    /// Congestion was signalled while `flight` bytes were in the network, as far as the sender
    /// knows and never more than the window: set threshold and window to the values that hold once
    /// recovery is over (a timeout: to start over from).
    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, now: Time);
}
