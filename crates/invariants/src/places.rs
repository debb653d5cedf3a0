//! Knowledge of a network that a checker needs: plain data, gathered when it is wired.

use forebay_network::{Backlog, Paid, RouteId};
use forebay_units::{Rate, Size, Span, Time};

use crate::Offer;

/// A link.
#[derive(Clone, Debug)]
pub struct LinkPlace {
    /// Its name.
    pub name: String,
    /// Rate of its transmitter.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// Changes over time, if there are any.
    pub changes: Option<Changes>,
    /// The nodes that it joins.
    pub ends: (String, String),
    /// Limits of its buffer, if it has any.
    pub limit: BufferLimit,
    /// True if it may be idle while packets wait: for the rest of a packet of background traffic,
    /// or because a fairness law or a queue that shapes says so.
    pub may_idle: bool,
    /// The ring that it is a span of.
    pub ring: Option<RingPlace>,
    /// True if it has a shaper, or its queue shapes.
    pub shapes: bool,
    /// True if it shares the memory of a switch, which may refuse packets before its queue does.
    pub shares: bool,
    /// True if a conditioner, or a policer in front of it, may drop packets.
    pub polices: bool,
    /// True if a conditioner clears the ECN field.
    pub bleaches: bool,
    /// True if its queue tells packets apart by the ECN field.
    pub by_ecn: bool,
    /// True if its queue may move a flow to another class while packets of it wait.
    pub reorders: bool,
    /// True if its wire loses or duplicates packets.
    pub impaired: bool,
    /// The buckets of its only conditioner whose payments can be told from outside.
    pub buckets: Vec<BucketPlace>,
}

/// Changes of a link over time.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Capacity that it offers; `None` if that is too much to list.
    pub offer: Option<Offer>,
    /// Its propagation delay, if that does not change.
    pub delay: Option<Span>,
    /// Its least propagation delay.
    pub least_delay: Span,
}

/// Limits of a buffer; `None` for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferLimit {
    /// Most packets that wait.
    pub packets: Option<u64>,
    /// Most bytes that wait.
    pub bytes: Option<u64>,
}

impl BufferLimit {
    /// Returns true if there is any limit.
    pub(crate) fn is_some(&self) -> bool {
        self.packets.is_some() || self.bytes.is_some()
    }

    /// Returns true if `backlog` may wait.
    pub(crate) fn holds(&self, backlog: Backlog) -> bool {
        let Backlog { packets, bytes } = backlog;
        self.packets.is_none_or(|most| u64::from(packets) <= most)
            && self.bytes.is_none_or(|most| bytes <= most)
    }
}

/// A bucket that pays for packets at a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BucketPlace {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// The most that can be paid for at once, in bytes.
    pub depth: f64,
    /// Packets that it pays for.
    pub paid: Paid,
}

/// The ring of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingPlace {
    /// Number of the ring.
    pub ring: usize,
    /// The highest precedence of high priority, if there is any.
    pub high: Option<u8>,
    /// Sizes of the transit buffers, of high and low priority.
    pub buffers: (Size, Size),
}

/// Origin of the packets of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FlowKind {
    /// Datagrams.
    Datagrams,
    /// A TCP connection: segment size, bytes of header in each segment, loss probes.
    Tcp {
        /// Sender maximum segment size, in bytes.
        mss: u64,
        /// Bytes of each packet that are no data.
        overhead: u64,
        /// True if the sender sends loss probes.
        probes: bool,
    },
    /// Calls: flow `first` is the first of its class.
    Calls {
        /// The first flow of the class.
        first: usize,
    },
    /// A paced source with the least rate that it goes at while it sends, over its nominal rate, if
    /// it goes by explicit rates.
    Paced {
        /// Minimum over peak cell rate.
        floor: Option<f64>,
    },
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowPlace {
    /// Its name.
    pub name: String,
    /// Origin of its packets.
    pub kind: FlowKind,
    /// The node of the sender.
    pub from: String,
    /// The node of the receiver.
    pub to: String,
}

/// Role of an element for the packets that it receives.
#[derive(Clone, Debug, Default)]
pub enum ElementPlace {
    /// A host, where their route ends.
    #[default]
    Host,
    /// The entrance to one of these links: a queue, a shaper, a ring.
    Links(Vec<usize>),
    /// A policer in front of this link.
    Policer(usize),
    /// A part of the wire of `link`, which packets pass after another element, if it is not the
    /// first.
    Wire {
        /// The link.
        link: usize,
        /// The part before it.
        after: Option<u32>,
    },
}

/// A route.
#[derive(Clone, Debug)]
pub enum RoutePlace {
    /// Over these links.
    Over(Vec<usize>),
    /// On one of the shortest ways between two nodes.
    Between {
        /// The node where it begins.
        from: String,
        /// The node where it ends.
        to: String,
        /// Links of such a way.
        hops: usize,
    },
}

/// A network.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Links by number.
    pub links: Vec<LinkPlace>,
    /// Flows by number.
    pub flows: Vec<FlowPlace>,
    /// Each route, by its number; `None` for routes that are not known.
    pub routes: Vec<Option<RoutePlace>>,
    /// Role of each element, by its number.
    pub elements: Vec<ElementPlace>,
    /// Time at which the run ends.
    pub end: Time,
}

impl LinkPlace {
    /// A link under tail drop without limit, for tests and as a start.
    #[must_use]
    pub fn plain(name: &str, rate: Rate, delay: Span) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            delay,
            changes: None,
            ends: ("a".to_owned(), "b".to_owned()),
            limit: BufferLimit::default(),
            may_idle: false,
            ring: None,
            shapes: false,
            shares: false,
            polices: false,
            bleaches: false,
            by_ecn: false,
            reorders: false,
            impaired: false,
            buckets: Vec::new(),
        }
    }
}

impl LinkPlace {
    /// The least time from the queue of the link to its far end, for a packet of `size`.
    pub(crate) fn least_time(&self, size: Size) -> Span {
        match &self.changes {
            None => self.rate.transmission_time(size) + self.delay,
            Some(changes) => changes.least_delay,
        }
    }

    /// Its least propagation delay.
    pub(crate) fn least_delay(&self) -> Span {
        self.changes.as_ref().map_or(self.delay, |changes| changes.least_delay)
    }
}

impl Places {
    /// The links of `route`, if these are known beforehand.
    pub(crate) fn route(&self, route: RouteId) -> Option<&[usize]> {
        match self.routes.get(route.index())?.as_ref()? {
            RoutePlace::Over(links) => Some(links),
            RoutePlace::Between { .. } => None,
        }
    }

    /// The ends of `route`, if that is what is known of it, and the links between them.
    pub(crate) fn ends(&self, route: RouteId) -> Option<(&str, &str, usize)> {
        match self.routes.get(route.index())?.as_ref()? {
            RoutePlace::Over(_) => None,
            RoutePlace::Between { from, to, hops } => Some((from, to, *hops)),
        }
    }
}
