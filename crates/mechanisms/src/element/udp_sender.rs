//! State of each sender of datagrams.

use forebay_network::{Context, Packet};

use super::FlowGroup;

/// The state of one sender: how many datagrams it has sent, and in the last 16 bits the size of the
/// next. One word, so that it fits beside the state of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sender(u64);

impl Sender {
    /// Set the size of the next datagram.
    #[inline(always)]
    pub(super) fn plan(&mut self, size: u16) {
        self.0 = (self.0 & !0xffff) | u64::from(size);
    }

    /// Send a datagram of flow `index` of `group`.
    #[inline(always)]
    pub(super) fn emit(&mut self, index: u32, group: &FlowGroup, cx: &mut Context<'_>) {
        let (number, size) = (self.0 >> 16, self.0 as u16);
        self.0 += 1 << 16;
        let packet = Packet::data(cx.now(), group.first.nth(index), number, size, group.route);
        cx.send(packet.with_marking(group.marking));
    }
}
