//! Groups of flows between several nodes: which these are, and the ways between them.

use std::collections::BTreeMap;

use forebay_kernel::Streams;
use forebay_laws::pairs::{self, NodeSets, Pairing, Pairs};
use forebay_parameters::{Problem, Section, choose_or};

use crate::plan::around::Around;
use crate::plan::fabrics::{FabricHost, Fabrics};
use crate::plan::node_names::NodeNames;
use crate::plan::sections::FlowParameters;

/// The nodes between which the flows of a group lead, where these are several, or hosts of a
/// fabric.
pub(crate) struct Between {
    /// Nodes of both ends, each once.
    pub(crate) nodes: Vec<EndNode>,
    sets: NodeSets,
    pairing: Box<dyn Pairing>,
    /// Names the random stream of pairs.
    path: String,
    /// The links of each way between two of its nodes, both ways; none within a fabric.
    links: BTreeMap<(u32, u32), Vec<usize>>,
}

/// A node where flows of a group begin or end.
pub(crate) struct EndNode {
    pub(crate) name: String,
    /// The host of a fabric that it is, if it is one.
    pub(crate) host: Option<FabricHost>,
}

/// A way between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way<'w> {
    /// Over these links.
    Links(&'w [usize]),
    /// Between two hosts of a fabric, by rule.
    Rule { fabric: usize, from: u32, to: u32 },
}

/// Flows of a group that lead between the same nodes, of which the numbers follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The first of them in the group, and number.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Between {
    /// The nodes of the group of `section`; `None` if it has one at each end, and these are no
    /// hosts of a fabric.
    pub(crate) fn read(
        section: &Section<'_>,
        parameters: &FlowParameters,
        network: &Around<'_>,
    ) -> Result<Option<Self>, Problem> {
        let FlowParameters { from, to, .. } = parameters;
        let fabrics = &network.fabrics;
        let plain = |names: &NodeNames| {
            names.one().is_some_and(|name| {
                let fabric = fabrics.all.iter().any(|fabric| fabric.name == name);
                !fabric && fabrics.host(name).is_none()
            })
        };
        if plain(from) && plain(to) {
            if section.node("pairs").is_some() {
                let message = "the group has one node at each end; there is nothing to pair";
                return Err(section.fail("pairs", message));
            }
            for (key, name) in [("from", from), ("to", to)] {
                let name = name.one().expect("it is plain");
                fabrics
                    .require(name, network.topology)
                    .map_err(|message| section.fail(key, message))?;
            }
            return Ok(None);
        }
        let mut nodes: Vec<EndNode> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut set = |key: &str, names: &NodeNames| {
            let mut set = Vec::new();
            for name in names.iter().flat_map(|name| fabrics.nodes_of(name)) {
                let known = fabrics.require(&name, network.topology);
                known.map_err(|message| section.fail(key, message))?;
                let number = *numbers.entry(name.clone()).or_insert_with(|| {
                    let host = fabrics.host(&name);
                    nodes.push(EndNode { name: name.clone(), host });
                    nodes.len() as u32 - 1
                });
                if set.contains(&number) && names.one().is_none() {
                    let message = format!("\"{name}\" is there twice; nodes are different");
                    return Err(section.fail(key, message));
                }
                set.push(number);
            }
            Ok(set)
        };
        let sets = NodeSets { from: set("from", from)?, to: set("to", to)? };
        if sets.pairs().next().is_none() {
            let message = format!("\"{to}\" is also the sender's node; a flow joins two nodes");
            return Err(section.fail("to", message));
        }
        refuse_others(section, parameters)?;
        let (entry, inner) = choose_or::<Pairs>(section, "pairs", pairs::DEFAULT)?;
        let pairing = (entry.build)(&inner)?;
        pairing.count(&sets).map_err(|why| section.fail("pairs", why))?;
        let path = format!("{}.pairs", section.path());
        let mut between = Self { nodes, sets, pairing, path, links: BTreeMap::new() };
        between.links = between.find_links(section, network)?;
        Ok(Some(between))
    }

    /// Number of flows if the group does not say it.
    pub(crate) fn count(&self, section: &Section<'_>) -> Result<u32, Problem> {
        let count = self.pairing.count(&self.sets).map_err(|why| section.fail("pairs", why))?;
        u32::try_from(count)
            .map_err(|_| section.fail("count", "is missing; there are too many pairs"))
    }

    /// The links of all ways that do not go by rule.
    fn find_links(
        &self,
        section: &Section<'_>,
        network: &Around<'_>,
    ) -> Result<BTreeMap<(u32, u32), Vec<usize>>, Problem> {
        let mut links = BTreeMap::new();
        let fabric = |number: u32| self.nodes[number as usize].host.map(|host| host.fabric);
        let by_rule =
            |(from, to): &(u32, u32)| fabric(*from).is_some() && fabric(*from) == fabric(*to);
        let mut all = self.sets.from.iter().chain(&self.sets.to);
        let first = fabric(self.sets.from[0]);
        if first.is_some() && all.all(|number| fabric(*number) == first) {
            return Ok(links);
        }
        for (from, to) in self.sets.pairs().filter(|pair| !by_rule(pair)) {
            for (one, other) in [(from, to), (to, from)] {
                let [near, far] = [one, other].map(|number| &*self.nodes[number as usize].name);
                let way = network.topology.shortest(near, far);
                let missing =
                    || section.fail("to", format!("no links lead from \"{near}\" to \"{far}\""));
                links.insert((one, other), way.ok_or_else(missing)?);
            }
        }
        Ok(links)
    }

    /// The links of a way between two of its nodes: of a fabric, the first of several.
    pub(crate) fn links(&self, from: u32, to: u32, fabrics: &Fabrics) -> Vec<usize> {
        match self.way(from, to) {
            Way::Links(links) => links.to_vec(),
            Way::Rule { fabric, from, to } => fabrics.all[fabric].way(from, to),
        }
    }

    /// The links of each way that does not go by rule.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Vec<usize>> {
        self.links.values()
    }

    /// The longest way there, with the way back: the one that stands for all.
    pub(crate) fn longest(&self, fabrics: &Fabrics) -> (Vec<usize>, Vec<usize>) {
        let first = self.sets.from[0];
        let pairs = self.sets.to.iter().map(|to| (first, *to)).chain(self.sets.pairs().take(1));
        let ways = pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| (self.links(from, to, fabrics), self.links(to, from, fabrics)));
        ways.max_by_key(|(there, _)| there.len()).expect("there is a pair")
    }

    /// The way between two of its nodes.
    pub(crate) fn way(&self, from: u32, to: u32) -> Way<'_> {
        match self.links.get(&(from, to)) {
            Some(links) => Way::Links(links),
            None => {
                let host = |number: u32| self.nodes[number as usize].host.expect("ways were found");
                let (from, to) = (host(from), host(to));
                Way::Rule { fabric: from.fabric, from: from.host, to: to.host }
            }
        }
    }

    /// The lanes of `flows` flows in the network with these `streams`, in the order in which flows
    /// are numbered: by target, and unless `in_turn` by source.
    pub(crate) fn lanes(&self, flows: u32, in_turn: bool, streams: &Streams) -> Vec<Lane> {
        let mut pairs = self.pairing.pair(&self.sets, flows, &mut streams.named(&self.path));
        let [from, to] = [&self.sets.from, &self.sets.to].map(|set| {
            let places: BTreeMap<u32, usize> = set.iter().copied().zip(0..).collect();
            move |node: u32| places[&node]
        });
        if in_turn {
            pairs.sort_by_key(|pair| to(pair.1));
        } else {
            pairs.sort_by_key(|pair| (to(pair.1), from(pair.0)));
        }
        let mut lanes: Vec<Lane> = Vec::new();
        for (at, (from, to)) in (0..).zip(pairs) {
            match lanes.last_mut() {
                Some(lane) if (lane.from, lane.to) == (from, to) => lane.count += 1,
                _ => lanes.push(Lane { from, to, first: at, count: 1 }),
            }
        }
        lanes
    }

    /// Number of ways side by side that the flows have at least: where all go to one node, or come
    /// from one, a single one.
    pub(crate) fn abreast(&self) -> f64 {
        self.sets.from.len().min(self.sets.to.len()) as f64
    }

    /// The links that its packets can pass, each with the share of all that is expected there.
    pub(crate) fn loads(&self, fabrics: &Fabrics) -> BTreeMap<usize, f64> {
        let mut loads = BTreeMap::new();
        if let Some(host) = self.nodes[self.sets.from[0] as usize].host {
            return fabrics.all[host.fabric].even_loads();
        }
        let share = 1.0 / self.links.len().max(1) as f64;
        for link in self.links.values().flatten() {
            *loads.entry(*link).or_insert(0.0) += share;
        }
        loads
    }

    /// The nodes of senders, and those of receivers.
    pub(crate) fn ends(&self) -> [impl Iterator<Item = &EndNode>; 2] {
        [&self.sets.from, &self.sets.to]
            .map(|set| set.iter().map(|number| &self.nodes[*number as usize]))
    }
}

/// Refuse keys of a group that go with one node at each end.
fn refuse_others(section: &Section<'_>, parameters: &FlowParameters) -> Result<(), Problem> {
    let FlowParameters { route, host, to_host, aggregate, .. } = parameters;
    let given = [
        ("route", route.is_some()),
        ("host", host.is_some()),
        ("to_host", to_host.is_some()),
        ("aggregate", aggregate.is_some()),
        ("policing", section.node("policing").is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = "goes with one node at each end that is no host of a fabric";
            Err(section.fail(key, message))
        }
    }
}
