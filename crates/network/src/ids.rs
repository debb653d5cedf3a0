//! Identifiers of the parts of a network, a type for each kind, so that none is taken for another.
//! They are made where the network is wired.

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

    /// Which flow it is, from 0, of the group of which `first` is the first.
    #[inline(always)]
    #[must_use]
    pub const fn index_in(self, first: Self) -> u32 {
        self.0 - first.0
    }
}

forebay_kernel::identifier! {
    /// A link (one direction), or the span of a ring:
    /// [`Counters::links`](crate::Counters::links) are kept for each.
    LinkId
}
