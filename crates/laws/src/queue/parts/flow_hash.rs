//! Mapping of flows to one of many queues: by a hash of their header fields.
//!
//! A [`FlowId`](forebay_network::FlowId) stands for a 5-tuple of addresses, ports and protocol. The
//! acknowledgements of a flow travel in the other direction, so they are another 5-tuple. A
//! [`HostId`](forebay_network::HostId) stands for an address.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::choice;

use crate::{FlowGroups, FlowKeys, LinkFacts};

choice! {
    /// Rule by which a queue is found for a flow.
    pub enum FlowClassifier {
        /// Hash with a secret key: flows may collide.
        Hash = "hash",
        /// Number of the flow: flow f has queue 2 f, its acknowledgements 2 f + 1, modulo the
        /// number of queues, and a host that of its number. With enough queues none collide.
        Number = "number",
    }
}

/// A number for each 5-tuple.
#[inline]
pub(in crate::queue) fn tuple_of(packet: &Packet) -> u64 {
    u64::from(packet.flow.number()) << 1 | u64::from(packet.is_feedback())
}

/// Input of a hash function: a number for each 5-tuple, or for its hosts alone.
pub(in crate::queue) struct Tuples {
    keys: FlowKeys,
    flows: FlowGroups,
}

impl Tuples {
    /// Returns tuples by `keys`, if given, else by flows.
    pub(in crate::queue) fn of(keys: Option<FlowKeys>, facts: &LinkFacts) -> Self {
        Self { keys: keys.unwrap_or(FlowKeys::Flow), flows: facts.flows.clone() }
    }

    /// The number of `packet`.
    #[inline]
    pub(in crate::queue) fn number(&self, packet: &Packet) -> u64 {
        if self.keys == FlowKeys::Flow {
            return tuple_of(packet);
        }
        self.keys.number(packet, &self.flows).map_or(0, u64::from)
    }
}

/// The hash function of a queue discipline, which spreads 5-tuples over queues.
pub(in crate::queue) struct FlowHash {
    classifier: FlowClassifier,
    /// Key of the hash function, mixed; drawn for the first packet if not given.
    key: Option<u64>,
}

impl FlowHash {
    /// A hash function with the key `salt`; if there is none, with a random one.
    pub(in crate::queue) fn new(classifier: FlowClassifier, salt: Option<u64>) -> Self {
        Self { classifier, key: salt.map(mix) }
    }

    /// Replace the key by a random one.
    pub(in crate::queue) fn perturb(&mut self, stream: &mut Stream) {
        self.key = Some(mix(stream.below(u64::MAX)));
    }

    /// The hash of a 5-tuple, 64 bits.
    #[inline]
    pub(in crate::queue) fn hash(&mut self, tuple: u64, stream: &mut Stream) -> u64 {
        let key = *self.key.get_or_insert_with(|| mix(stream.below(u64::MAX)));
        mix(key ^ tuple)
    }

    /// The hash of a 5-tuple or host in 32 bits; the number itself if flows are found by number.
    pub(in crate::queue) fn short(&mut self, number: u64, stream: &mut Stream) -> u32 {
        match self.classifier {
            FlowClassifier::Number => number as u32,
            FlowClassifier::Hash => self.hash(number, stream) as u32,
        }
    }

    /// The queue of a 5-tuple, 0 to `queues` - 1.
    #[inline]
    pub(in crate::queue) fn queue(&mut self, tuple: u64, queues: u32, stream: &mut Stream) -> u32 {
        match self.classifier {
            FlowClassifier::Number => (tuple % u64::from(queues)) as u32,
            FlowClassifier::Hash => {
                let hash = self.hash(tuple, stream);
                ((u128::from(hash) * u128::from(queues)) >> 64) as u32
            }
        }
    }
}

/// The finalizer of SplitMix64, a bijection in which each bit depends on each.
#[inline]
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, PacketKind, RouteId};
    use forebay_units::Time;

    /// Flows share a queue as often as by chance. A flow of n shares its queue of q with another
    /// with probability 1 - (1 - 1/q)^(n - 1), for 100 flows and 1024 queues 9.22 %. The number of
    /// such flows has mean n p = 9.22. The indicators of two flows are almost independent but that
    /// collisions come in pairs, which doubles the variance: over 2000 keys the mean deviates by
    /// sqrt(2 n p (1 - p) / 2000) = 0.092; bound: five times that.
    #[test]
    fn as_many_flows_collide_as_chance_has_it() {
        let stream = &mut Streams::new(1, 0).named("keys");
        for (flows, queues, keys) in [(100_u32, 1024_u32, 2000), (10, 16, 20_000), (50, 37, 2000)] {
            let mut sharing = 0;
            for _ in 0..keys {
                let mut hash = FlowHash::new(FlowClassifier::Hash, None);
                let mut members = vec![0; queues as usize];
                for flow in 0..flows {
                    members[hash.queue(u64::from(flow) << 1, queues, stream) as usize] += 1;
                }
                sharing += members.iter().filter(|count| **count > 1).sum::<u32>();
            }
            let (n, q) = (f64::from(flows), f64::from(queues));
            let p = 1.0 - (0..flows - 1).map(|_| 1.0 - 1.0 / q).product::<f64>();
            let mean = f64::from(sharing) / f64::from(keys);
            let deviation = (2.0 * n * p * (1.0 - p) / f64::from(keys)).sqrt();
            assert!((mean - n * p).abs() < 5.0 * deviation, "{flows} {queues}: {mean} {}", n * p);
        }
    }

    /// Flows spread evenly over the queues. 64,000 consecutive flows over 1000 queues put 64 into
    /// each; chi-square with 999 degrees of freedom has mean 999 and standard deviation 44.7, and
    /// the bound is five of these on either side: too even is no hash either.
    #[test]
    fn flows_spread_evenly() {
        let stream = &mut Streams::new(2, 0).named("keys");
        let mut hash = FlowHash::new(FlowClassifier::Hash, Some(0));
        let mut members = [0.0; 1000];
        (0..64_000).for_each(|tuple| members[hash.queue(tuple, 1000, stream) as usize] += 1.0);
        let chi_square: f64 = members.iter().map(|n: &f64| (n - 64.0) * (n - 64.0) / 64.0).sum();
        assert!((chi_square - 999.0).abs() < 5.0 * 44.7, "{chi_square}");
    }

    /// A hash depends on tuple and key alone: the two directions of a flow are two 5-tuples, so
    /// that its acknowledgements do not always share the queue of its data, a key given is the same
    /// in every run, and one that is drawn is the stream's.
    #[test]
    fn a_hash_depends_on_tuple_and_key_alone() {
        let data = Packet::data(Time::ZERO, FlowId::new(5), 0, 1500, RouteId::new(0));
        let ack = data.with_kind(PacketKind::Ack);
        assert_eq!((tuple_of(&data), tuple_of(&ack)), (10, 11));
        let queue = |salt, tuple, seed| {
            let stream = &mut Streams::new(seed, 0).named("keys");
            FlowHash::new(FlowClassifier::Hash, salt).queue(tuple, 1 << 20, stream)
        };
        assert_eq!(queue(Some(7), 10, 1), queue(Some(7), 10, 2));
        assert_ne!(queue(Some(7), 10, 1), queue(Some(8), 10, 1));
        assert_ne!(queue(Some(7), 10, 1), queue(Some(7), 11, 1));
        assert_eq!(queue(None, 10, 1), queue(None, 10, 1));
        assert_ne!(queue(None, 10, 1), queue(None, 10, 2));
        let stream = &mut Streams::new(1, 0).named("keys");
        let mut hash = FlowHash::new(FlowClassifier::Hash, Some(7));
        let before = hash.queue(10, 1 << 20, stream);
        hash.perturb(stream);
        assert_ne!(hash.queue(10, 1 << 20, stream), before);
        let mut numbers = FlowHash::new(FlowClassifier::Number, None);
        assert_eq!([10, 11, 12, 13].map(|tuple| numbers.queue(tuple, 12, stream)), [10, 11, 0, 1]);
    }
}
