//! Classes by a hash of the flow, or of its hosts: each of many goes to one of a few classes by
//! chance.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_units::{Span, Time};

use crate::queue::parts::flow_hash::{FlowClassifier, FlowHash, Tuples};

/// A classifier by a hash of the 5-tuple. Where the hash function changes, packets that wait stay
/// in the class that they joined, so that a flow's packets may overtake each other, as under Linux
/// (`tc-flow(8)`).
pub(in crate::queue) struct ClassHash {
    tuples: Tuples,
    hash: FlowHash,
    perturb: Option<Span>,
    next_perturbation: Time,
    perturbations: u64,
    /// 5-tuple of the packet that was admitted last, by class.
    last: Vec<u64>,
    collisions: u64,
}

impl ClassHash {
    /// A classifier by `tuples` for `classes` classes, with the key `salt` if given, which changes
    /// every `perturb`, if that is given.
    pub(in crate::queue) fn new(
        tuples: Tuples,
        classes: usize,
        salt: Option<u64>,
        perturb: Option<Span>,
    ) -> Self {
        Self {
            tuples,
            hash: FlowHash::new(FlowClassifier::Hash, salt),
            perturb,
            next_perturbation: perturb.map_or(Time::NEVER, |period| Time::ZERO + period),
            perturbations: 0,
            last: vec![u64::MAX; classes],
            collisions: 0,
        }
    }

    /// The class of `packet`, which arrives at `now`.
    pub(in crate::queue) fn class(
        &mut self,
        packet: &Packet,
        now: Time,
        stream: &mut Stream,
    ) -> usize {
        if now >= self.next_perturbation
            && let Some(period) = self.perturb
        {
            let missed = now.since(self.next_perturbation).ps() / period.ps();
            self.next_perturbation += period.times(missed + 1);
            self.perturbations += missed + 1;
            self.hash.perturb(stream);
        }
        self.hash.queue(self.tuples.number(packet), self.last.len() as u32, stream) as usize
    }

    /// `packet` was admitted to `class`, in which others waited or not.
    pub(in crate::queue) fn admitted(&mut self, class: usize, packet: &Packet, waited: bool) {
        let tuple = self.tuples.number(packet);
        self.collisions += u64::from(waited && self.last[class] != tuple);
        self.last[class] = tuple;
    }

    /// Packets that were admitted where others waited, the last of them of another flow.
    pub(in crate::queue) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Returns the number of changes of the hash function.
    pub(in crate::queue) fn perturbations(&self) -> u64 {
        self.perturbations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};

    fn by_flow(classes: usize, salt: Option<u64>, perturb: Option<Span>) -> ClassHash {
        let facts = crate::LinkFacts::of(forebay_units::Rate::from_bps(1));
        ClassHash::new(Tuples::of(None, &facts), classes, salt, perturb)
    }

    fn packet(flow: usize) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(flow), 0, 100, RouteId::new(0))
    }

    /// Flows spread over the classes, and each stays in one while the hash function stays. Of 8000
    /// flows over 8 classes each gets 1000 in the mean, with a standard deviation of sqrt(8000 / 8
    /// * 7 / 8) = 29.6; the bound is five of these.
    #[test]
    fn flows_spread_over_classes_and_stay() {
        let stream = &mut Streams::new(3, 0).named("keys");
        let mut hash = by_flow(8, None, None);
        let mut members = [0.0; 8];
        let mut class =
            |flow, ms| hash.class(&packet(flow), Time::ZERO + Span::from_ms(ms), stream);
        for flow in 0..8000 {
            let own = class(flow, 0);
            members[own] += 1.0;
            assert_eq!(class(flow, 5000), own);
        }
        assert!(members.iter().all(|n: &f64| (n - 1000.0).abs() < 5.0 * 29.6), "{members:?}");
    }

    /// The hash function changes every period: at 0, 99, 100, 350 and 399 ms with a period of 100
    /// ms there are three functions, and three changes that are due by then. Under a new function a
    /// flow of 64 classes stays where it was with probability 1/64: of 1000 flows 15.6 in the mean,
    /// with a deviation of 3.9; bound: five.
    #[test]
    fn perturbation_moves_flows() {
        let stream = &mut Streams::new(4, 0).named("keys");
        let mut hash = by_flow(64, Some(7), Some(Span::from_ms(100)));
        let mut at = |ms: u64| -> Vec<usize> {
            let now = Time::ZERO + Span::from_ms(ms);
            (0..1000).map(|flow| hash.class(&packet(flow), now, stream)).collect()
        };
        let all = [0, 99, 100, 350, 399].map(&mut at);
        assert_eq!((&all[0], &all[3]), (&all[1], &all[4]));
        for (before, after) in [(&all[1], &all[2]), (&all[2], &all[3])] {
            let same = before.iter().zip(after).filter(|(a, b)| a == b).count();
            assert!((same as f64 - 15.6).abs() < 5.0 * 3.9, "{same}");
        }
        assert_eq!(hash.perturbations(), 3);
    }

    /// Collisions are counted where flows share a class at a time, and only there: the second flow
    /// finds the first waiting, the third finds nothing, the fourth its own.
    #[test]
    fn packets_collide_with_those_that_wait() {
        let mut hash = by_flow(2, Some(0), None);
        for (flow, waited) in [(0, false), (1, true), (0, false), (0, true)] {
            hash.admitted(0, &packet(flow), waited);
        }
        hash.admitted(1, &packet(2), false);
        assert_eq!(hash.collisions(), 1);
    }
}
