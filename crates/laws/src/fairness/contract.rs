//! The contract of fairness laws on packet rings: how much the host of a station may send, and what
//! the station advertises to its neighbour upstream.
//!
//! A ring has two ringlets, on which data run opposite ways. There is one law for each station and
//! ringlet; what it reports about data on one ringlet runs upstream, on the other. Distances count
//! spans: the next station downstream is 1 away. Transit, priorities and buffers are the element's;
//! it also carries the messages and knows how long they take.

use forebay_units::{Span, Time};

/// Class of a frame on a ring: the two transit buffers of RFC 2892, section 4.2.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RingClass {
    /// High priority: passes the ring ahead of everything else.
    High = 0,
    /// Low priority: what fairness laws limit.
    Low = 1,
}

/// A frame as a station sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingFrame {
    /// Its size on the ring in bytes.
    pub size: u16,
    /// Its class.
    pub class: RingClass,
    /// Distance downstream of its destination: at least 1.
    pub ahead: u16,
    /// Distance upstream of the station whose host sent it: 0 if it is this one.
    pub behind: u16,
}

/// The buffers of a station on one ringlet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingState {
    /// Bytes in the low-priority transit buffer; in the only one if there is one.
    pub transit: u64,
    /// Time since which the host frame waits that has waited longest, of either class.
    pub waiting_since: Option<Time>,
}

/// Permission for a host frame to go onto the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RingAccess {
    /// It may.
    Open,
    /// Not before this time, unless an event passed to the law changes that.
    Until(Time),
    /// Not before an event passed to the law changes that.
    Closed,
}

/// Demand of the active sources of one station on the spans to a destination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RingDemand {
    /// Distance of the destination downstream of that station.
    pub ahead: u16,
    /// Sum of their committed rates in bit/s.
    pub committed: f64,
    /// Sum of their weights.
    pub weight: f64,
}

/// Advertisement of a station to others.
#[derive(Clone, PartialEq, Debug)]
pub enum RingNotice {
    /// Stations upstream may send no more than this, in the law's own measure of a rate; `None`
    /// sets no limit (the NULL usage of RFC 2892, the FULL_RATE of IEEE 802.17).
    Limit(Option<f64>),
    /// Demands of a station's sources, and the rate that it has to give.
    Demands {
        /// Rate for each unit of weight on the span that leaves the station, in bit/s.
        share: f64,
        /// Demands of its active sources, by destination.
        active: Box<[RingDemand]>,
    },
}

/// A notice on its way upstream.
#[derive(Clone, PartialEq, Debug)]
pub struct RingMessage {
    /// Distance downstream, from the receiving station, of the station that it describes. The
    /// number of stations of the ring if that is the receiver itself.
    pub origin: u16,
    /// Content of the message.
    pub notice: RingNotice,
}

/// Fairness on a ring, at one station and for the data of one ringlet.
pub trait RingFairness: Send {
    /// A frame of the host joins the queue of its destination and class.
    fn queued(&mut self, _frame: &RingFrame, _now: Time) {}

    /// May `frame`, at the head of its queue in the host, go onto the ring? Asked when the
    /// transmitter is free and priorities would let it go.
    fn access(&self, _frame: &RingFrame, _state: &RingState, _now: Time) -> RingAccess {
        RingAccess::Open
    }

    /// A frame of the host goes onto the ring.
    fn sent(&mut self, _frame: &RingFrame, _now: Time) {}

    /// A frame from upstream that continues on the ring enters the transit buffer.
    fn entered(&mut self, _frame: &RingFrame, _now: Time) {}

    /// A frame leaves the transit buffer for the next station.
    fn forwarded(&mut self, _frame: &RingFrame, _now: Time) {}

    /// Returns the interval at which [`RingFairness::interval_ended`] is to be called, if it is.
    fn interval(&self) -> Option<Span> {
        None
    }

    /// An interval has ended. What is advertised to the neighbour upstream, if anything: its
    /// `origin` is 0 if it speaks of this station.
    fn interval_ended(&mut self, _state: &RingState, _now: Time) -> Option<RingMessage> {
        None
    }

    /// The neighbour downstream has told something. Whether the neighbour upstream is to be told
    /// the same at once.
    fn heard(&mut self, _message: &RingMessage, _now: Time) -> bool {
        false
    }

    /// Inner quantities worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
