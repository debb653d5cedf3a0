//! The applications of a group of flows, side by side.

use forebay_kernel::{Stream, Streams};
use forebay_network::{Burst, Element, Traffic};
use forebay_units::Span;

use crate::element::FlowGroup;
use crate::element::udp::UdpSenders;

/// The applications of a group of flows alike: what each flow remembers lies in one array, so that
/// a million of them cost no allocation each and the next burst of one touches one place in memory.
pub trait TrafficPool: Send {
    /// Number of flows.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next burst of flow `index`; see [`Traffic::next`].
    fn next(&mut self, index: usize) -> Option<Burst>;

    /// The gap between bursts, if it is the same for all flows; see [`Traffic::constant_gap`].
    fn constant_gap(&self) -> Option<Span>;

    /// The senders of `group` that put the bursts of these flows into datagrams. Made here, where
    /// the kind of traffic is known, so that a packet costs no call to find it out.
    fn over_udp(self: Box<Self>, group: FlowGroup) -> Box<dyn Element>;
}

/// Applications with a random stream each.
pub(super) struct Drawing<T>(pub(super) Vec<(T, Stream)>);

impl<T: Traffic + 'static> TrafficPool for Drawing<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn next(&mut self, index: usize) -> Option<Burst> {
        let (traffic, stream) = &mut self.0[index];
        traffic.next(stream)
    }

    fn constant_gap(&self) -> Option<Span> {
        common(self.0.iter().map(|(traffic, _)| traffic.constant_gap()))
    }

    fn over_udp(self: Box<Self>, group: FlowGroup) -> Box<dyn Element> {
        Box::new(UdpSenders::new(group, *self))
    }
}

/// Applications that draw nothing: one stream, which nobody asks, for all of them.
pub(super) struct Fixed<T>(pub(super) Vec<T>, Stream);

impl<T> Fixed<T> {
    pub(super) fn new(flows: Vec<T>) -> Self {
        Self(flows, Streams::new(0, 0).named("nobody draws from this"))
    }
}

impl<T: Traffic + 'static> TrafficPool for Fixed<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn next(&mut self, index: usize) -> Option<Burst> {
        self.0[index].next(&mut self.1)
    }

    fn constant_gap(&self) -> Option<Span> {
        common(self.0.iter().map(Traffic::constant_gap))
    }

    fn over_udp(self: Box<Self>, group: FlowGroup) -> Box<dyn Element> {
        Box::new(UdpSenders::new(group, *self))
    }
}

/// Applications of several kinds.
impl TrafficPool for Vec<(Box<dyn Traffic>, Stream)> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn next(&mut self, index: usize) -> Option<Burst> {
        let (traffic, stream) = &mut self[index];
        traffic.next(stream)
    }

    fn constant_gap(&self) -> Option<Span> {
        common(self.iter().map(|(traffic, _)| traffic.constant_gap()))
    }

    fn over_udp(self: Box<Self>, group: FlowGroup) -> Box<dyn Element> {
        Box::new(UdpSenders::new(group, *self))
    }
}

/// The gap that all have.
fn common(mut gaps: impl Iterator<Item = Option<Span>>) -> Option<Span> {
    let first = gaps.next()??;
    gaps.all(|gap| gap == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::super::{TRAFFICS, TrafficKind};
    use super::*;
    use forebay_parameters::Value;

    fn kind(name: &str, parameters: &[(&str, Value)]) -> TrafficKind {
        let entry = TRAFFICS.iter().find(|entry| entry.name == name).expect("a traffic");
        read(entry.build, parameters).unwrap()
    }

    /// Otherwise flows would send something else in a group than alone: each flow of a group asks
    /// its own law with its own stream, whatever the others do meanwhile.
    #[test]
    fn flows_of_a_group_send_as_if_alone() {
        let text = |text: &str| Value::Text(text.to_owned());
        let rate = [("rate", text("1 Mbit/s")), ("size", text("1000 B"))];
        let file =
            [("size", text("5 kB")), ("count", Value::Integer(3)), ("interval", text("1 s"))];
        for kind in [kind("on_off", &rate), kind("poisson", &rate), kind("file", &file)] {
            let stream = |index: u32| Streams::new(3, 1).numbered("flows.a", u64::from(index));
            let mut group = (kind.pool)(5, &mut |index| stream(index));
            let mut alone: Vec<_> = (0..5)
                .map(|index| {
                    let mut stream = stream(index);
                    ((kind.make)(&mut stream), stream)
                })
                .collect();
            for step in 0..100 {
                // Not in turn: 7 and 5 have no common divisor, squares skip some.
                let index = step * step * 7 % 5;
                let (traffic, stream) = &mut alone[index];
                assert_eq!(group.next(index), traffic.next(stream));
            }
        }
    }

    /// Otherwise a million sources would need more memory than is planned for them: half a kilobyte
    /// for a source with its counters and its timer.
    #[test]
    fn an_application_is_small() {
        assert!(size_of::<(super::super::on_off::OnOff, Stream)>() <= 64);
        assert!(size_of::<super::super::file::File>() <= 32);
    }
}
