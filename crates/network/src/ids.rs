//! Identifiers of the parts of a network, a type for each kind, so that none is taken for another.
//! They are made where the network is wired.

pub use forebay_kernel::{ChannelId, ElementId, ReceiverId};

forebay_kernel::identifier! {
    /// A route. [`Packet::route`](crate::Packet::route) is the one that a packet takes.
    RouteId
}

forebay_kernel::identifier! {
    /// A flow: [`Counters::flows`](crate::Counters::flows) are kept for each. Those of a group
    /// follow each other.
    FlowId
}

impl FlowId {
    /// Flow `index`, from 0, of the group of which this is the first.
    #[inline(always)]
    #[must_use]
    pub const fn nth(self, index: u32) -> Self {
        Self(self.0 + index)
    }

    /// Returns its number, from 0, in the group of flows of which `first` is the first.
    #[inline(always)]
    #[must_use]
    pub const fn index_in(self, first: Self) -> u32 {
        self.0 - first.0
    }
}

forebay_kernel::identifier! {
    /// A host: where flows begin and end, as an address is.
    HostId
}

forebay_kernel::identifier! {
    /// A link (one direction), or the span of a ring:
    /// [`Counters::links`](crate::Counters::links) are kept for each.
    LinkId
}

forebay_kernel::identifier! {
    /// A sink: an end of routes that only counts what it receives, and is no element.
    SinkId
}

forebay_kernel::identifier! {
    /// A node of a fabric, a host or a switch, where packets are forwarded by
    /// [rule](crate::ForwardingRule).
    NodeId
}

/// Element or sink to which a hop of a route leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Destination {
    /// To an element, which receives the packet.
    Element(ElementId),
    /// To a sink, which counts it.
    Sink(SinkId),
}

impl From<ElementId> for Destination {
    fn from(element: ElementId) -> Self {
        Self::Element(element)
    }
}

impl From<SinkId> for Destination {
    fn from(sink: SinkId) -> Self {
        Self::Sink(sink)
    }
}

impl Destination {
    /// The element, if it is one.
    #[must_use]
    pub const fn element(self) -> Option<ElementId> {
        match self {
            Self::Element(element) => Some(element),
            Self::Sink(_) => None,
        }
    }

    /// The sink, if it is one.
    #[must_use]
    pub const fn sink(self) -> Option<SinkId> {
        match self {
            Self::Element(_) => None,
            Self::Sink(sink) => Some(sink),
        }
    }
}

/// A [`Destination`], or a node of a fabric that finds it, or none, in one word, so that the
/// forwarding tables stay small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct PackedDestination(u32);

/// Of a packed destination: it is a sink, or a node.
const SINK: u32 = 1 << 31;
const NODE: u32 = 1 << 30;

impl PackedDestination {
    /// No destination.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// `destination` packed.
    ///
    /// # Panics
    /// If a network has 2^30 elements or sinks.
    pub(crate) fn new(destination: Destination) -> Self {
        let (number, bit) = match destination {
            Destination::Element(element) => (element.number(), 0),
            Destination::Sink(sink) => (sink.number(), SINK),
        };
        assert!(number < NODE, "a network has fewer than 2^30 elements or sinks");
        Self(number | bit)
    }

    /// The element that `node` of a fabric finds.
    pub(crate) fn found_at(node: NodeId) -> Self {
        assert!(node.number() < NODE, "a network has fewer than 2^30 nodes of fabrics");
        Self(node.number() | NODE)
    }

    /// The node of a fabric that finds the destination, if one does.
    #[inline(always)]
    pub(crate) fn node(self) -> Option<NodeId> {
        (self.0 & (SINK | NODE) == NODE).then(|| NodeId::of_number(self.0 & !NODE))
    }

    /// The destination, which must be there.
    #[inline(always)]
    pub(crate) fn get(self) -> Destination {
        debug_assert!(self.0 & NODE == 0, "the hop leads nowhere that is known before");
        if self.0 & SINK == 0 {
            Destination::Element(self.to_element())
        } else {
            Destination::Sink(self.to_sink())
        }
    }

    /// The destination where it is known to be an element.
    #[inline(always)]
    pub(crate) fn to_element(self) -> ElementId {
        debug_assert!(self.0 & (SINK | NODE) == 0, "the hop leads to no element");
        ElementId::of_number(self.0)
    }

    /// The destination where it is known to be a sink.
    #[inline(always)]
    pub(crate) fn to_sink(self) -> SinkId {
        debug_assert!(self.0 & SINK != 0 && self != Self::NONE, "the hop leads to no sink");
        SinkId::of_number(self.0 & !SINK)
    }
}
