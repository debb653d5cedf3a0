//! Identifiers of the parts of a network, a type for each kind, so that none is taken for another.
//! They are made where the network is wired.

forebay_kernel::identifier! {
    /// A route. [`Packet::route`](crate::Packet::route) is the one that a packet takes.
    RouteId
}
