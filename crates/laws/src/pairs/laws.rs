//! The ways in which flows are laid between nodes.

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use super::BuildPairs;
use super::contract::{NodeSets, Pairing};

pub(super) const ALL: Entry<BuildPairs> = Entry {
    name: "all",
    summary: "Every pair of different nodes in turn: all to all, or all to one.",
    source: "Dally and Towles, Principles and Practices of Interconnection Networks, Morgan \
             Kaufmann, 2004",
    example: "",
    fields: &[],
    probes: &[],
    build: &|section| {
        section.refuse_unknown(&[])?;
        Ok(Box::new(All))
    },
};

pub(super) const RANDOM: Entry<BuildPairs> = Entry {
    name: "random",
    summary: "Each flow between two different nodes at random, all pairs being equally likely.",
    source: "Alizadeh et al. (pFabric), SIGCOMM 2013, section 5.1",
    example: "",
    fields: &[],
    probes: &[],
    build: &|section| {
        section.refuse_unknown(&[])?;
        Ok(Box::new(Random))
    },
};

pub(super) const PERMUTATION: Entry<BuildPairs> = Entry {
    name: "permutation",
    summary: "Each node sends to one other, and receives from one: a random permutation without \
              fixed points.",
    source: "Handley et al. (NDP), SIGCOMM 2017, section 6",
    example: "",
    fields: &[],
    probes: &[],
    build: &|section| {
        section.refuse_unknown(&[])?;
        Ok(Box::new(Permutation))
    },
};

pub(super) const INCAST: Entry<BuildPairs> = Entry {
    name: "incast",
    summary: "Many to one: each target, in turn, has flows from several different nodes at random.",
    source: "Vasudevan et al., Safe and effective fine-grained TCP retransmissions for datacenter \
             communication, SIGCOMM 2009; Alizadeh et al. (DCTCP), SIGCOMM 2010, \
             section 4.2.1",
    example: "fan_in = 1",
    fields: IncastParameters::FIELDS,
    probes: &[],
    build: &incast,
};

parameters! {
    /// Parameters of incast.
    pub struct IncastParameters {
        /// Senders of each target.
        fan_in: u32, "Vasudevan et al., SIGCOMM 2009";
    }
}

fn incast(section: &Section<'_>) -> Result<Box<dyn Pairing>, Problem> {
    let IncastParameters { fan_in } = IncastParameters::read(section)?;
    if fan_in == 0 {
        return Err(section.fail("fan_in", "is zero; allowed are numbers from 1"));
    }
    Ok(Box::new(Incast { fan_in }))
}

struct All;

impl Pairing for All {
    fn count(&self, nodes: &NodeSets) -> Result<u64, String> {
        let both = nodes.from.iter().filter(|node| nodes.to.contains(node)).count();
        Ok((nodes.from.len() * nodes.to.len() - both) as u64)
    }

    fn pair(&self, nodes: &NodeSets, flows: u32, _stream: &mut Stream) -> Vec<(u32, u32)> {
        let pairs: Vec<(u32, u32)> = nodes.pairs().take(flows as usize).collect();
        pairs.iter().copied().cycle().take(flows as usize).collect()
    }
}

struct Random;

impl Pairing for Random {
    fn count(&self, nodes: &NodeSets) -> Result<u64, String> {
        All.count(nodes)
    }

    fn pair(&self, nodes: &NodeSets, flows: u32, stream: &mut Stream) -> Vec<(u32, u32)> {
        let mut any = |of: &[u32]| of[stream.below(of.len() as u64) as usize];
        let mut pair = || {
            loop {
                let (from, to) = (any(&nodes.from), any(&nodes.to));
                if from != to {
                    return (from, to);
                }
            }
        };
        (0..flows).map(|_| pair()).collect()
    }
}

struct Permutation;

impl Pairing for Permutation {
    fn count(&self, nodes: &NodeSets) -> Result<u64, String> {
        if nodes.from != nodes.to {
            return Err("is of the nodes of one list; from and to are different".to_owned());
        }
        Ok(nodes.from.len() as u64)
    }

    /// Permutations are drawn (R. Durstenfeld, CACM 7 (1964) 420) until one has no fixed point:
    /// about e times.
    fn pair(&self, nodes: &NodeSets, flows: u32, stream: &mut Stream) -> Vec<(u32, u32)> {
        let mut to = nodes.from.clone();
        loop {
            shuffle(&mut to, stream);
            if to.iter().zip(&nodes.from).all(|(to, from)| to != from) {
                break;
            }
        }
        nodes.from.iter().copied().zip(to).cycle().take(flows as usize).collect()
    }
}

struct Incast {
    fan_in: u32,
}

impl Pairing for Incast {
    fn count(&self, nodes: &NodeSets) -> Result<u64, String> {
        let all = nodes.from.len();
        let least = nodes.to.iter().map(|to| all - usize::from(nodes.from.contains(to))).min();
        let least = least.unwrap_or(0);
        if self.fan_in as usize > least {
            return Err(format!("asks {} nodes, and there are {least} others", self.fan_in));
        }
        Ok(u64::from(self.fan_in) * nodes.to.len() as u64)
    }

    fn pair(&self, nodes: &NodeSets, flows: u32, stream: &mut Stream) -> Vec<(u32, u32)> {
        let mut pairs = Vec::with_capacity(flows as usize);
        for to in nodes.to.iter().cycle() {
            let mut from: Vec<u32> = nodes.from.iter().copied().filter(|from| from != to).collect();
            shuffle(&mut from, stream);
            let room = flows as usize - pairs.len();
            pairs.extend(
                from.into_iter().take((self.fan_in as usize).min(room)).map(|from| (from, *to)),
            );
            if pairs.len() == flows as usize {
                break;
            }
        }
        pairs
    }
}

fn shuffle(all: &mut [u32], stream: &mut Stream) {
    for last in (1..all.len()).rev() {
        all.swap(last, stream.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    fn stream() -> Stream {
        Streams::new(1, 0).named("pairs")
    }

    fn sets(from: impl IntoIterator<Item = u32>, to: impl IntoIterator<Item = u32>) -> NodeSets {
        NodeSets { from: from.into_iter().collect(), to: to.into_iter().collect() }
    }

    /// All to all are n (n - 1) flows, all to one those of the others, client by client, so that
    /// the connections of a client follow each other.
    #[test]
    fn all_pairs_come_target_by_target() {
        assert_eq!(All.count(&sets(0..5, 0..5)), Ok(20));
        let nodes = sets(0..3, [2, 5]);
        assert_eq!(All.count(&nodes), Ok(5));
        let pairs = All.pair(&nodes, 7, &mut stream());
        assert_eq!(pairs, [(0, 2), (1, 2), (0, 5), (1, 5), (2, 5), (0, 2), (1, 2)]);
    }

    /// Random pairs join different nodes, each of the 12 of 4 nodes as often: of 12,000 flows 1000
    /// each, chi-square with 11 degrees of freedom below 31.3 at the level 0.001.
    #[test]
    fn random_pairs_are_equally_likely() {
        let pairs = Random.pair(&sets(0..4, 0..4), 12_000, &mut stream());
        let mut counts = [0.0_f64; 16];
        pairs.iter().for_each(|(from, to)| counts[(4 * from + to) as usize] += 1.0);
        let square = |x: f64| x * x;
        let chi: f64 = pairs_of_four().map(|at| square(counts[at] - 1000.0) / 1000.0).sum();
        assert!(chi < 31.3 && (0..4).all(|at| counts[5 * at] == 0.0), "{counts:?}");
    }

    fn pairs_of_four() -> impl Iterator<Item = usize> {
        (0..16).filter(|at| at / 4 != at % 4)
    }

    /// In a permutation every node sends once and receives once, never to itself.
    #[test]
    fn a_permutation_takes_each_node_once() {
        let nodes = sets(0..50, 0..50);
        assert_eq!(Permutation.count(&nodes), Ok(50));
        assert!(Permutation.count(&sets(0..3, 0..2)).is_err());
        let mut stream = stream();
        for _ in 0..20 {
            let pairs = Permutation.pair(&nodes, 50, &mut stream);
            assert!(pairs.iter().all(|(from, to)| from != to));
            let [mut from, mut to]: [Vec<u32>; 2] = [
                pairs.iter().map(|pair| pair.0).collect(),
                pairs.iter().map(|pair| pair.1).collect(),
            ];
            from.sort_unstable();
            to.sort_unstable();
            assert_eq!([&from, &to], [&nodes.from; 2]);
        }
    }

    /// Each target has senders that differ from it and from each other, and no more than there are
    /// can be asked for.
    #[test]
    fn the_senders_of_an_incast_differ() {
        let nodes = sets(0..10, 0..10);
        let incast = Incast { fan_in: 9 };
        assert_eq!(incast.count(&nodes), Ok(90));
        assert!(Incast { fan_in: 10 }.count(&nodes).unwrap_err().contains("there are 9 others"));
        let pairs = incast.pair(&nodes, 90, &mut stream());
        for (client, own) in pairs.chunks(9).enumerate() {
            let mut from: Vec<u32> = own.iter().map(|pair| pair.0).collect();
            from.sort_unstable();
            from.dedup();
            assert!(from.len() == 9 && own.iter().all(|pair| pair.1 == client as u32));
        }
        let few = Incast { fan_in: 3 }.pair(&sets(0..10, [0]), 7, &mut stream());
        assert_eq!(few.len(), 7);
    }
}
