//! Storage of the applications of a group of flows: with a random stream each, or without.

use forebay_kernel::{Stream, Streams, fetch};
use forebay_network::{Burst, Traffic};
use forebay_units::Span;

use super::pool::{Datagrams, TrafficPool};

/// The applications of a group of flows, each with its random stream.
#[must_use]
pub fn pool_of<T: Traffic + 'static>(
    flows: impl IntoIterator<Item = (T, Stream)>,
) -> Box<dyn TrafficPool> {
    Box::new(Drawing::new(flows.into_iter()))
}

/// Applications with a random stream each.
pub struct Drawing<T>(Vec<Application<T>>);

/// One of them, with all that is kept of its flow over UDP: most kinds fit into one
/// line of the caches, and each packet waits for one only.
#[repr(align(64))]
struct Application<T> {
    traffic: T,
    stream: Stream,
    datagrams: Datagrams,
}

impl<T> Drawing<T> {
    pub(super) fn new(flows: impl Iterator<Item = (T, Stream)>) -> Self {
        let datagrams = Datagrams::default();
        Self(flows.map(|(traffic, stream)| Application { traffic, stream, datagrams }).collect())
    }
}

impl<T: Traffic + 'static> TrafficPool for Drawing<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn next(&mut self, index: usize) -> Option<Burst> {
        let Application { traffic, stream, .. } = &mut self.0[index];
        traffic.next(stream)
    }

    #[inline(always)]
    fn datagrams(&mut self, index: usize) -> &mut Datagrams {
        &mut self.0[index].datagrams
    }

    #[inline(always)]
    fn foresee(&self, index: usize) {
        fetch(&self.0[index]);
    }

    fn constant_gap(&self) -> Option<Span> {
        common(self.0.iter().map(|application| application.traffic.constant_gap()))
    }
}

/// Applications that draw nothing: one stream, which is never drawn from, for all of them.
pub(super) struct Fixed<T>(Vec<(T, Datagrams)>, Stream);

impl<T> Fixed<T> {
    pub(super) fn new(flows: impl Iterator<Item = T>) -> Self {
        let flows = flows.map(|traffic| (traffic, Datagrams::default())).collect();
        Self(flows, Streams::new(0, 0).named("nobody draws from this"))
    }
}

impl<T: Traffic + 'static> TrafficPool for Fixed<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn next(&mut self, index: usize) -> Option<Burst> {
        self.0[index].0.next(&mut self.1)
    }

    #[inline(always)]
    fn datagrams(&mut self, index: usize) -> &mut Datagrams {
        &mut self.0[index].1
    }

    #[inline(always)]
    fn foresee(&self, index: usize) {
        fetch(&self.0[index]);
    }

    fn constant_gap(&self) -> Option<Span> {
        common(self.0.iter().map(|(traffic, _)| traffic.constant_gap()))
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

    /// Flows of a group send as if alone: each asks its own law with its own stream, whatever the
    /// others do meanwhile.
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

    /// An application is small, so that a million sources fit into the memory planned for them:
    /// half a kilobyte for a source with its counters and its timer.
    #[test]
    fn an_application_is_small() {
        assert_eq!(size_of::<Application<super::super::on_off::OnOff>>(), 64);
        assert!(size_of::<(super::super::file::File<super::super::file::One>, Datagrams)>() <= 40);
    }
}
