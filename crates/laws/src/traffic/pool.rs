//! The applications of a group of flows, side by side.

use std::any::Any;

use forebay_network::Burst;
use forebay_units::Span;

/// The applications of a group of flows alike: what each flow remembers lies in one array, so that
/// a million of them cost no allocation each and the next burst of one touches one place in memory.
pub trait TrafficPool: Any + Send {
    /// Number of flows.
    fn len(&self) -> usize;

    /// Returns true if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next burst of flow `index`; see [`Traffic::next`](forebay_network::Traffic::next).
    fn next(&mut self, index: usize) -> Option<Burst>;

    /// Particulars of the request for the burst of flow `index` that was given last, where clients
    /// ask for them.
    fn asking(&self, _index: usize) -> Asking {
        Asking::default()
    }

    /// The gap between bursts, if it is the same for all flows; see
    /// [`Traffic::constant_gap`](forebay_network::Traffic::constant_gap).
    fn constant_gap(&self) -> Option<Span>;

    /// Returns the datagrams of flow `index`, over UDP.
    fn datagrams(&mut self, index: usize) -> &mut Datagrams;

    /// Plan the next datagram of flow `index`: its next burst. The gap between the one before, or
    /// the start, and it; `None` if there is none.
    #[inline(always)]
    fn plan(&mut self, index: usize) -> Option<Span> {
        let Burst { gap, size } = self.next(index)?;
        self.datagrams(index).plan(u16::try_from(size.bytes()).unwrap_or(u16::MAX));
        Some(gap)
    }

    /// Something will be asked of flow `index` soon: [fetch](forebay_kernel::fetch) it.
    fn foresee(&self, index: usize);
}

/// Particulars of a request, where a client asks for a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Asking {
    /// Time since the start of the flow at which the client asks, or later if it is not ready then;
    /// `None` if it asks when the gap of the burst has passed since the answer before.
    pub begins: Option<Span>,
    /// True if it asks on the connection of the answer before, though others are fresh.
    pub continues: bool,
    /// Size of the request on the wire, in bytes; `None` for that of the plan.
    pub request: Option<u16>,
}

impl TrafficPool for Box<dyn TrafficPool> {
    fn len(&self) -> usize {
        (**self).len()
    }
    fn next(&mut self, index: usize) -> Option<Burst> {
        (**self).next(index)
    }
    fn asking(&self, index: usize) -> Asking {
        (**self).asking(index)
    }
    fn constant_gap(&self) -> Option<Span> {
        (**self).constant_gap()
    }
    fn datagrams(&mut self, index: usize) -> &mut Datagrams {
        (**self).datagrams(index)
    }
    fn plan(&mut self, index: usize) -> Option<Span> {
        (**self).plan(index)
    }
    fn foresee(&self, index: usize) {
        (**self).foresee(index);
    }
}

/// A datagram that an application sends: its number in its flow, from 0, and its size in bytes,
/// headers included. One word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram(u64);

impl Datagram {
    /// Its number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 >> 16
    }

    /// Its size.
    #[must_use]
    pub const fn size(self) -> u16 {
        self.0 as u16
    }
}

/// The datagrams of one flow: the one that it sends next. One word, so that it fits beside the
/// state of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Datagrams(u64);

impl Datagrams {
    /// Set the size of the next.
    #[inline(always)]
    fn plan(&mut self, size: u16) {
        self.0 = (self.0 & !0xffff) | u64::from(size);
    }

    /// The next: it is sent, and one of the same size follows unless another is planned.
    #[inline(always)]
    pub fn take(&mut self) -> Datagram {
        let next = Datagram(self.0);
        self.0 += 1 << 16;
        next
    }
}
