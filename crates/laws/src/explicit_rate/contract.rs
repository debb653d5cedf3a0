//! Contract of the rate allocation of a port with explicit rates.

use forebay_network::{FlowId, Packet};
use forebay_units::Time;

/// Divides a port among the sources that take explicit rates from it. Rates are in bit/s.
pub trait ExplicitRate: Send {
    /// A packet has arrived whose source takes no rate from the port: what such packets use is
    /// gone.
    fn passes(&mut self, packet: &Packet, now: Time);

    /// A packet has arrived whose source does; `current` is the rate that a resource-management
    /// cell tells, if it is one.
    fn arrives(&mut self, packet: &Packet, current: Option<f64>, now: Time);

    /// The most that the source of `flow` may send, asked when a cell on its way back carries it.
    fn allows(&mut self, flow: FlowId, now: Time) -> f64;

    /// Inner quantities worth plotting, such as the load factor, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
