//! The calls that are there: a table whose places are used again.

use forebay_kernel::Stream;
use forebay_network::Traffic;
use forebay_units::{Span, Time};

/// A flow of a call, from its admission to its end.
pub(super) struct Call {
    /// The application, and the stream that it draws from.
    pub(super) traffic: Box<dyn Traffic>,
    pub(super) stream: Stream,
    /// Row of the element's classes to which it belongs.
    pub(super) row: u32,
    /// Number of earlier uses of the place: tells a call from a former one in the same place.
    generation: u32,
    /// Size of the next packet.
    pub(super) size: u16,
    pub(super) alive: bool,
    /// Time at which the next packet is due; [`Time::NEVER`] if the application has no more.
    pub(super) next: Time,
    /// Time from which packets flow.
    pub(super) media: Time,
    /// Time at which it ends by itself.
    pub(super) end: Time,
    /// Time at which one of its packets last reached the egress node with an excess-traffic mark.
    pub(super) marked: Option<Time>,
    /// Time from the egress node's decision to its effect at the source.
    pub(super) rtt: Span,
    /// Packets sent.
    pub(super) sent: u64,
    pub(super) probe: Option<Box<Probe>>,
}

/// The admission test of a call.
pub(super) struct Probe {
    /// Probes not sent yet.
    pub(super) left: u32,
    /// Time at which the next is due.
    pub(super) next: Time,
    /// Time until which the call can be refused.
    pub(super) until: Time,
}

impl Call {
    /// A call that has sent nothing yet; the table numbers it.
    pub(super) fn new(traffic: Box<dyn Traffic>, stream: Stream, row: u32) -> Self {
        Self {
            traffic,
            stream,
            row,
            generation: 0,
            size: 0,
            alive: true,
            next: Time::NEVER,
            media: Time::ZERO,
            end: Time::NEVER,
            marked: None,
            rtt: Span::ZERO,
            sent: 0,
            probe: None,
        }
    }

    /// Returns the time at which something is due: a probe, a packet, or the end.
    #[inline]
    pub(super) fn due(&self) -> Time {
        let due = self.next.min(self.end);
        match &self.probe {
            None => due,
            Some(probe) => due.min(if probe.left > 0 { probe.next } else { Time::NEVER }),
        }
    }
}

/// Calls by place. A place is free again when its call has ended and its timer has expired, so that
/// a timer never wakes another call.
#[derive(Default)]
pub(super) struct CallTable {
    calls: Vec<Call>,
    free: Vec<u32>,
}

impl CallTable {
    /// Take `call` in: its place.
    pub(super) fn insert(&mut self, mut call: Call) -> u32 {
        if let Some(place) = self.free.pop() {
            let old = &mut self.calls[place as usize];
            call.generation = old.generation.wrapping_add(1);
            *old = call;
            return place;
        }
        self.calls.push(call);
        u32::try_from(self.calls.len() - 1).expect("memory ends before places do")
    }

    /// The call in `place` has ended and its timer has expired: others may have the place.
    pub(super) fn release(&mut self, place: u32) {
        debug_assert!(!self.calls[place as usize].alive);
        self.free.push(place);
    }

    /// The call in `place`.
    #[inline]
    pub(super) fn at(&mut self, place: u32) -> &mut Call {
        &mut self.calls[place as usize]
    }

    /// Returns the tag that packets of the call in `place` carry.
    #[inline]
    pub(super) fn tag(&self, place: u32) -> u64 {
        u64::from(self.calls[place as usize].generation) << 32 | u64::from(place)
    }

    /// The place of the call that `tag` names, while it lives.
    #[inline]
    pub(super) fn find(&self, tag: u64) -> Option<u32> {
        let place = tag as u32;
        let call = self.calls.get(place as usize)?;
        (call.alive && u64::from(call.generation) == tag >> 32).then_some(place)
    }

    /// All calls that live, with their places, in the order of places.
    pub(super) fn living(&self) -> impl Iterator<Item = (u32, &Call)> {
        (0..).zip(&self.calls).filter(|(_, call)| call.alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::Burst;

    struct Silent;
    impl Traffic for Silent {
        fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
            None
        }
    }

    /// A new call in an old place has another tag: a signal for a call that has ended does not
    /// terminate its successor.
    #[test]
    fn a_new_call_in_an_old_place_is_another() {
        let mut table = CallTable::default();
        let call = || Call::new(Box::new(Silent), Streams::new(0, 0).named("call"), 0);
        let first = table.insert(call());
        let tag = table.tag(first);
        assert_eq!(table.find(tag), Some(first));
        table.at(first).alive = false;
        assert_eq!(table.find(tag), None);
        table.release(first);
        let second = table.insert(call());
        assert_eq!((second, table.find(tag)), (first, None));
        assert_eq!(table.find(table.tag(second)), Some(second));
        assert_eq!(table.living().count(), 1);
    }
}
