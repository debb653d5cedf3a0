//! The applications of a group of flows, side by side.

use forebay_network::{Burst, Element};
use forebay_units::Span;

use crate::element::FlowGroup;
use crate::element::udp_sender::Sender;

/// The applications of a group of flows alike: what each flow remembers lies in one array, so that
/// a million of them cost no allocation each and the next burst of one touches one place in memory.
pub trait TrafficPool: Send {
    /// Number of flows.
    fn len(&self) -> usize;

    /// Returns true if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next burst of flow `index`; see [`Traffic::next`](forebay_network::Traffic::next).
    fn next(&mut self, index: usize) -> Option<Burst>;

    /// The gap between bursts, if it is the same for all flows; see
    /// [`Traffic::constant_gap`](forebay_network::Traffic::constant_gap).
    fn constant_gap(&self) -> Option<Span>;

    /// Returns the state that the sender of flow `index` keeps, over UDP.
    fn sender(&mut self, index: usize) -> &mut Sender;

    /// Something will be asked of flow `index` soon: [fetch](forebay_kernel::fetch) it.
    fn foresee(&self, index: usize);

    /// The senders of `group` that put the bursts of these flows into datagrams. Made here, where
    /// the kind of traffic is known, so that a packet costs no call to find it out.
    fn over_udp(self: Box<Self>, group: FlowGroup) -> Box<dyn Element>;
}
