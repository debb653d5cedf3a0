//! Dividing a network into partitions that run at once.
//!
//! A network is cut at links with a long delay, as partitions synchronise once in the least delay
//! between them, so that each has about as much to do as the others and few packets cross. What
//! there is to do is estimated from the flows. All this decides how fast a run is, and nothing
//! else.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::between::Between;
use crate::plan::flows::FlowPlan;
use crate::plan::links::LinkPlan;
use crate::plan::{LaneEnds, Plan, Wired};

/// Time that a hop takes, and what comes with it.
const HOP_S: f64 = 60e-9;
/// Time that it takes in addition to hand a packet over to another partition.
const CROSSING_S: f64 = 40e-9;
/// Time that a barrier of all partitions takes.
const BARRIER_S: f64 = 2e-6;
/// Time that a partition takes in each window besides, to exchange what it has for others.
const WINDOW_S: f64 = 1e-6;
/// Share of its time that a thread may take to exchange, if it could do with fewer partitions.
const MAX_EXCHANGING: f64 = 0.015;
/// Partitions for each thread, at most, that are tried: with several, threads share the work evenly
/// also where it was estimated badly, and caches hold what a partition needs. With windows as short
/// as those of a fabric, each has too little to do in one.
const PARTITIONS_A_THREAD: [usize; 3] = [4, 2, 1];
/// Delays tried.
const MAX_TRIALS: usize = 24;
/// Times that every part of the network may change partitions.
const MAX_ROUNDS: usize = 16;

/// The partition of each element of `wired`, for a run on at most `threads` threads; `None` if the
/// network cannot be divided, or would be no faster.
pub(crate) fn divide(plan: &Plan<'_>, wired: &Wired, threads: usize) -> Option<Vec<u32>> {
    if threads < 2 || plan.links.iter().any(|link| link.failure.is_some()) {
        return None;
    }
    let map = Map::new(plan);
    let mut delays: Vec<u64> =
        map.ways.iter().filter(|way| way.used && way.delay > 0).map(|way| way.delay).collect();
    delays.sort_unstable_by(|a, b| b.cmp(a));
    delays.dedup();
    let stride = delays.len().div_ceil(MAX_TRIALS).max(1);
    let trials = delays.iter().step_by(stride).map(|delay| map.trial(*delay, threads));
    let best = trials.flatten().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let alone = HOP_S * map.work.iter().sum::<f64>();
    (best.0 < alone).then(|| map.of_elements(&best.1, plan, wired))
}

/// The network as it is divided: nodes with all that happens there, and the ways between them.
struct Map<'p> {
    /// Nodes by name.
    nodes: BTreeMap<&'p str, usize>,
    ways: Vec<Way>,
    /// Packets a second, by node.
    work: Vec<f64>,
    /// Pairs of nodes that belong together whatever lies between them.
    pairs: Vec<(usize, usize)>,
}

/// A link.
struct Way {
    from: usize,
    to: usize,
    /// In ps.
    delay: u64,
    /// True if a route passes it.
    used: bool,
    /// Packets a second.
    load: f64,
}

impl<'p> Map<'p> {
    fn new(plan: &'p Plan<'_>) -> Self {
        let mut nodes = BTreeMap::new();
        for link in &plan.links {
            for name in [link.from.as_str(), link.to.as_str()] {
                let next = nodes.len();
                nodes.entry(name).or_insert(next);
            }
        }
        let way = |link: &LinkPlan<'_>| Way {
            from: nodes[link.from.as_str()],
            to: nodes[link.to.as_str()],
            delay: link.delay.ps(),
            used: false,
            load: 0.0,
        };
        let ways = plan.links.iter().map(way).collect();
        let work = vec![0.0; nodes.len()];
        let mut map = Self { nodes: nodes.clone(), ways, work, pairs: Vec::new() };
        // A ring is one element, and a link that changes does not know departures in advance.
        let whole = |link: &LinkPlan<'_>| !link.is_divisible();
        for (way, _) in map.ways.iter().zip(&plan.links).filter(|(_, link)| whole(link)) {
            map.pairs.push((way.from, way.to));
        }
        let shares = shares(plan);
        for flow in &plan.flows {
            let packets = packets_a_second(flow, plan, &shares);
            match &flow.between {
                Some(between) => map.lay_between(flow, between, packets, (plan, &nodes)),
                None => map.lay(flow, packets),
            }
        }
        map.join_pods(plan, &nodes);
        for way in &map.ways {
            map.work[way.from] += way.load;
        }
        map
    }

    /// Let so many packets a second of `flow` leave the nodes of senders and reach those of
    /// receivers, alike, on all ways between these.
    fn lay_between(
        &mut self,
        flow: &FlowPlan,
        between: &Between,
        packets: f64,
        (plan, nodes): (&Plan<'_>, &BTreeMap<&str, usize>),
    ) {
        let packets = packets * (1.0 + flow.facts.acknowledged);
        for ends in between.ends() {
            let ends: Vec<usize> = ends.map(|end| nodes[end.name.as_str()]).collect();
            for node in &ends {
                self.work[*node] += packets / ends.len() as f64;
            }
        }
        for (link, load) in between.loads(&plan.fabrics) {
            self.ways[link].used = true;
            self.ways[link].load += packets * load;
        }
    }

    /// Keep the nodes of each pod of a fabric together: many packets stay there.
    fn join_pods(&mut self, plan: &Plan<'_>, nodes: &BTreeMap<&str, usize>) {
        for fabric in &plan.fabrics.all {
            let shape = &fabric.shape;
            let mut first = BTreeMap::new();
            for node in 0..shape.nodes() {
                let Some(pod) = shape.pod(node) else { continue };
                let name = format!("{}.{}", fabric.name, shape.name(node));
                let own = nodes[name.as_str()];
                let first = *first.entry(pod).or_insert(own);
                self.pairs.push((first, own));
            }
        }
    }

    /// Let so many packets a second of `flow` take their way, and acknowledgements for each second
    /// one.
    fn lay(&mut self, flow: &FlowPlan, packets: f64) {
        let (first, last) = ends(flow, &self.ways);
        if flow.has_calls() {
            self.pairs.push((first, last));
        }
        let acks = packets * flow.facts.acknowledged;
        for (node, load) in [(first, packets + acks), (last, packets + acks)] {
            self.work[node] += load;
        }
        // Notifications are few, but their ways must not be cut where there is no delay.
        for link in flow.ways_back.iter().flat_map(|(_, back)| back) {
            self.ways[*link].used = true;
        }
        let back: &[usize] = if flow.has_receivers() { &flow.back } else { &[] };
        for (links, load) in [(flow.there.as_slice(), packets), (back, acks)] {
            for link in links {
                self.ways[*link].used = true;
                self.ways[*link].load += load;
            }
        }
    }

    /// Divide at links of at least `delay`: time a simulated second, and the partition of each
    /// node.
    fn trial(&self, delay: u64, threads: usize) -> Option<(f64, Vec<usize>)> {
        let short = self.ways.iter().filter(|way| way.used && way.delay < delay);
        let joined = short.map(|way| (way.from, way.to)).chain(self.pairs.iter().copied());
        let part_of = parts(self.work.len(), joined);
        let trials = PARTITIONS_A_THREAD.into_iter();
        let trials = trials.filter_map(|each| self.trial_of(each, &part_of, threads));
        let mut last = None;
        for (time, exchanging, partitions) in trials {
            last = Some((time, partitions));
            if exchanging < MAX_EXCHANGING * time {
                break;
            }
        }
        last
    }

    /// The same for parts that are given, with so many partitions `each` thread; apart, the time in
    /// which they exchange what they have for others.
    fn trial_of(
        &self,
        each: usize,
        part_of: &[usize],
        threads: usize,
    ) -> Option<(f64, f64, Vec<usize>)> {
        let used = self.ways.iter().filter(|way| way.used);
        let ties = used.map(|way| (part_of[way.from], part_of[way.to], way.load));
        let mut parts = Parts::new(part_of, &self.work, ties);
        let count = threads.saturating_mul(each).min(parts.work.len());
        if count < 2 {
            return None;
        }
        parts.grow(count);
        parts.improve(count);
        let partitions: Vec<usize> = part_of.iter().map(|part| parts.partition[*part]).collect();
        let cut = self.ways.iter().filter(|w| w.used && partitions[w.from] != partitions[w.to]);
        let windows = cut.map(|way| way.delay).min().map_or(0.0, |delay| 1e12 / delay as f64);
        let threads = threads.min(count);
        let time = parts.balance(count).time(threads) + BARRIER_S * windows;
        Some((time, WINDOW_S * count.div_ceil(threads) as f64 * windows, partitions))
    }

    /// The partition of each element, given that of each node.
    fn of_elements(&self, partitions: &[usize], plan: &Plan<'_>, wired: &Wired) -> Vec<u32> {
        let mut of = vec![0; wired.network.elements()];
        for ((way, elements), link) in self.ways.iter().zip(&wired.links).zip(&plan.links) {
            // An impaired wire does not know in advance what leaves it, so a cut is before it.
            let (before, beyond) = elements.split_at(link.beyond);
            for (elements, node) in [(before, way.from), (beyond, way.to)] {
                for element in elements {
                    of[element.index()] = partitions[node] as u32;
                }
            }
        }
        for ((flow, senders), lanes) in plan.flows.iter().zip(&wired.senders).zip(&wired.lanes) {
            if let Some(between) = &flow.between {
                for LaneEnds { senders, receivers, lane } in lanes {
                    let lane = lane.expect("the group leads between several nodes");
                    let at = |number: u32| {
                        partitions[self.nodes[between.nodes[number as usize].name.as_str()]] as u32
                    };
                    of[senders.index()] = at(lane.from);
                    if let Some(receivers) = receivers {
                        of[receivers.index()] = at(lane.to);
                    }
                }
                continue;
            }
            let (first, last) = ends(flow, &self.ways);
            of[senders.index()] = partitions[first] as u32;
            if let Some((policer, link)) = flow.policer(*senders) {
                of[policer.index()] = partitions[self.ways[link].from] as u32;
            }
            if flow.has_receivers() {
                of[FlowPlan::receivers(*senders).index()] = partitions[last] as u32;
            }
        }
        of
    }
}

/// The nodes between which a flow leads.
fn ends(flow: &FlowPlan, ways: &[Way]) -> (usize, usize) {
    let first = flow.there.first().expect("a flow joins two nodes");
    let last = flow.there.last().expect("a flow joins two nodes");
    (ways[*first].from, ways[*last].to)
}

/// The share of each link in bit/s that a flow gets which takes what it gets.
fn shares(plan: &Plan<'_>) -> Vec<f64> {
    let mut flows = vec![0.0; plan.links.len()];
    for flow in plan.flows.iter().filter(|flow| flow.mean_rate().is_none()) {
        for link in &flow.there {
            flows[*link] += f64::from(flow.count) / flow.abreast();
        }
    }
    let share = |(link, flows): (&LinkPlan<'_>, f64)| link.rate.bps() as f64 / flows;
    plan.links.iter().zip(flows).map(share).collect()
}

/// About how many packets a second a group of flows sends.
fn packets_a_second(flow: &FlowPlan, plan: &Plan<'_>, shares: &[f64]) -> f64 {
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MAX, f64::min);
    let fastest = least(&mut flow.there.iter().map(|link| plan.links[*link].rate.bps() as f64));
    let share = || least(&mut flow.there.iter().map(|link| shares[*link]));
    let each = flow.mean_rate().map_or_else(share, |rate| rate.bps() as f64);
    let most = flow.rate_in_all(plan.parameters.duration).unwrap_or(f64::MAX);
    let all = (each * f64::from(flow.count)).min(fastest * flow.abreast()).min(most);
    all / (8.0 * flow.largest.max(1) as f64)
}

/// The part that each of `nodes` nodes belongs to, if `joined` pairs are not to be parted. Parts
/// are numbered from 0, in the order of their first nodes.
fn parts(nodes: usize, joined: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut sets = petgraph::unionfind::UnionFind::new(nodes);
    for (one, other) in joined {
        sets.union(one, other);
    }
    let mut numbers = BTreeMap::new();
    let number = |set: usize| {
        let next = numbers.len();
        *numbers.entry(set).or_insert(next)
    };
    sets.into_labeling().into_iter().map(number).collect()
}

/// Parts of the network that are to be put into partitions.
struct Parts {
    /// Packets a second, by part.
    work: Vec<f64>,
    /// Neighbours of each part, and the packets a second between them.
    ties: Vec<BTreeMap<usize, f64>>,
    partition: Vec<usize>,
}

/// The partition of a part that is in none yet.
const NONE: usize = usize::MAX;

impl Parts {
    fn new(
        part_of: &[usize],
        work: &[f64],
        pairs: impl Iterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let count = part_of.iter().max().map_or(0, |last| last + 1);
        let mut parts = Self {
            work: vec![0.0; count],
            ties: vec![BTreeMap::new(); count],
            partition: vec![NONE; count],
        };
        for (part, work) in part_of.iter().zip(work) {
            parts.work[*part] += work;
        }
        for (one, other, load) in pairs.filter(|(one, other, _)| one != other) {
            *parts.ties[one].entry(other).or_insert(0.0) += load;
            *parts.ties[other].entry(one).or_insert(0.0) += load;
        }
        parts
    }

    /// Let one partition after the other grow until it has its share of the work.
    fn grow(&mut self, count: usize) {
        let mut left: f64 = self.work.iter().sum();
        let mut free = self.work.len();
        for partition in 0..count - 1 {
            let share = left / (count - partition) as f64;
            let mut has = 0.0;
            let mut next = self.edge();
            // A part for each of the partitions to come is left over.
            while free >= count - partition {
                if has > 0.0 && has + self.work[next] / 2.0 > share {
                    break;
                }
                self.partition[next] = partition;
                has += self.work[next];
                free -= 1;
                let Some(part) = self.nearest(partition) else { break };
                next = part;
            }
            left -= has;
        }
        for partition in self.partition.iter_mut().filter(|partition| **partition == NONE) {
            *partition = count - 1;
        }
    }

    /// A free part at the edge of the network: of those reached from a free one, the last.
    fn edge(&self) -> usize {
        let free = |part: &usize| self.partition[*part] == NONE;
        let first = (0..self.work.len()).find(free).expect("parts are left for each partition");
        let mut reached = vec![first];
        let mut known = vec![false; self.work.len()];
        known[first] = true;
        let mut at = 0;
        while let Some(part) = reached.get(at).copied() {
            for other in self.ties[part].keys().copied().filter(free) {
                if !std::mem::replace(&mut known[other], true) {
                    reached.push(other);
                }
            }
            at += 1;
        }
        *reached.last().expect("the first is there")
    }

    /// The free part with most ties to `partition`, the first of several; any if none has some.
    fn nearest(&self, partition: usize) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for part in (0..self.work.len()).filter(|part| self.partition[*part] == NONE) {
            let ties = self.between(part, partition);
            if best.is_none_or(|(_, most)| ties > most) {
                best = Some((part, ties));
            }
        }
        best.map(|(part, _)| part)
    }

    /// Packets a second between `part` and parts in `partition`.
    fn between(&self, part: usize, partition: usize) -> f64 {
        let ties = self.ties[part].iter().filter(|(other, _)| self.partition[**other] == partition);
        ties.map(|(_, load)| load).sum()
    }

    /// Move parts to other partitions as long as that saves time.
    fn improve(&mut self, count: usize) {
        let mut balance = self.balance(count);
        for _ in 0..MAX_ROUNDS {
            let before = balance.cost();
            for part in 0..self.work.len() {
                let near: BTreeSet<usize> =
                    self.ties[part].keys().map(|other| self.partition[*other]).collect();
                for partition in near {
                    self.move_if_better(part, partition, &mut balance);
                }
            }
            if balance.cost() >= before {
                return;
            }
        }
    }

    fn move_if_better(&mut self, part: usize, partition: usize, balance: &mut Balance) {
        let home = self.partition[part];
        if partition == home || balance.parts[home] == 1 {
            return;
        }
        let mut moved = balance.clone();
        moved.parts[home] -= 1;
        moved.parts[partition] += 1;
        moved.work[home] -= self.work[part];
        moved.work[partition] += self.work[part];
        moved.crossing += self.between(part, home) - self.between(part, partition);
        if moved.cost() < balance.cost() {
            self.partition[part] = partition;
            *balance = moved;
        }
    }

    fn balance(&self, count: usize) -> Balance {
        let mut balance = Balance { parts: vec![0; count], work: vec![0.0; count], crossing: 0.0 };
        for (part, partition) in self.partition.iter().copied().enumerate() {
            balance.parts[partition] += 1;
            balance.work[partition] += self.work[part];
            let ties: f64 = self.ties[part].values().sum();
            // Each tie is seen from both ends.
            balance.crossing += (ties - self.between(part, partition)) / 2.0;
        }
        balance
    }
}

/// Distribution of work over partitions.
#[derive(Clone)]
struct Balance {
    /// Parts, by partition.
    parts: Vec<usize>,
    /// Packets a second, by partition.
    work: Vec<f64>,
    /// Packets a second that cross a border.
    crossing: f64,
}

impl Balance {
    /// Time of all partitions together if each had as much to do as the busiest.
    fn cost(&self) -> f64 {
        let most = self.work.iter().copied().fold(0.0, f64::max);
        HOP_S * most * self.work.len() as f64 + CROSSING_S * self.crossing
    }

    /// Time that a simulated second takes on so many threads, barriers apart.
    fn time(&self, threads: usize) -> f64 {
        let mut work = self.work.clone();
        work.sort_by(|a, b| b.total_cmp(a));
        let mut load = vec![0.0; threads];
        for work in work {
            load.sort_by(f64::total_cmp);
            load[0] += work;
        }
        let most = load.into_iter().fold(0.0, f64::max);
        HOP_S * most + CROSSING_S * self.crossing / threads as f64
    }
}
