//! Tests of the shapes, whatever they are, and of the rule.

use std::sync::Arc;

use forebay_kernel::Streams;
use forebay_laws::path::{PATHS, PathFactory};
use forebay_network::{ElementId, FlowId, ForwardingRule, Packet, RouteId};
use forebay_parameters::Section;
use forebay_units::{Rate, Span, Time};

use super::fat_tree::FatTree;
use super::leaf_spine::LeafSpine;
use super::{FabricParts, FabricRule, FabricShape, LinkChange};

fn shapes() -> Vec<Arc<dyn FabricShape>> {
    let rate = Rate::from_bps(10_000_000_000);
    let mut shapes: Vec<Arc<dyn FabricShape>> = Vec::new();
    for k in [2, 4, 6, 8] {
        shapes.push(Arc::new(FatTree::new(k, rate)));
    }
    for (leaves, spines, hosts) in [(1, 0, 5), (2, 1, 1), (3, 4, 2)] {
        shapes.push(Arc::new(LeafSpine { leaves, spines, hosts, rate, uplink: rate }));
    }
    shapes
}

/// A fat tree of k ports has k^3/4 hosts and 5 k^2/4 switches of k ports each (Al-Fares et al.,
/// section 2.2): of 4, 16 and 20; of 48, 27,648 and 2880.
#[test]
fn fat_trees_have_the_published_sizes() {
    for (k, hosts, switches) in [(4, 16, 20), (48, 27_648, 2880)] {
        let tree = FatTree::new(k, Rate::from_bps(1));
        assert_eq!((tree.hosts(), tree.nodes() - tree.hosts()), (hosts, switches));
        let ports = |switch| tree.neighbours(switch).len();
        assert!((hosts..tree.nodes()).step_by(7).all(|switch| ports(switch) == k as usize));
    }
}

/// Links lead both ways, tiers differ by one, and every node has a name of its own.
#[test]
fn links_lead_both_ways_between_tiers() {
    for shape in shapes() {
        let names: std::collections::BTreeSet<String> =
            (0..shape.nodes()).map(|node| shape.name(node)).collect();
        assert_eq!(names.len(), shape.nodes() as usize);
        for node in 0..shape.nodes() {
            for other in shape.neighbours(node) {
                assert!(shape.neighbours(other).contains(&node));
                assert_eq!(shape.tier(node).abs_diff(shape.tier(other)), 1);
            }
        }
    }
}

/// Distances in links from `goal`, found by breadth-first search over the links alone.
fn distances(shape: &dyn FabricShape, goal: u32) -> Vec<u32> {
    let mut distance = vec![u32::MAX; shape.nodes() as usize];
    distance[goal as usize] = 0;
    let mut reached = vec![goal];
    let mut at = 0;
    while at < reached.len() {
        let node = reached[at];
        for other in shape.neighbours(node) {
            if distance[other as usize] == u32::MAX {
                distance[other as usize] = distance[node as usize] + 1;
                reached.push(other);
            }
        }
        at += 1;
    }
    distance
}

/// The ways of the rule are the shortest, and all of them: those that a search over the links
/// finds. So no load can be spread better without detours.
#[test]
fn the_ways_are_all_the_shortest() {
    for shape in shapes() {
        for goal in 0..shape.hosts() {
            let distance = distances(&*shape, goal);
            for node in (0..shape.nodes()).filter(|node| *node != goal) {
                let nearer = |(_, other): &(u32, u32)| {
                    distance[*other as usize] + 1 == distance[node as usize]
                };
                let shortest: Vec<u32> = (0..)
                    .zip(shape.neighbours(node))
                    .filter(nearer)
                    .map(|(port, _)| port)
                    .collect();
                let ways: Vec<u32> = shape.branch(node).ways(goal).ports().collect();
                assert_eq!(ways, shortest, "{} to {}", shape.name(node), shape.name(goal));
            }
        }
    }
}

/// A rule of `shape` with numbers of elements that tell node and port.
fn rule(shape: &Arc<dyn FabricShape>, changes: Vec<LinkChange>) -> FabricRule {
    let element = |node: u32, port: usize| ElementId::new(node as usize * 100 + port);
    let ports = |node: u32| (0..shape.neighbours(node).len()).map(move |port| element(node, port));
    let section = Section::empty("fabrics.dc".to_owned(), None);
    let spray = PATHS.iter().find(|entry| entry.name == "spray").unwrap();
    let paths: PathFactory = (spray.build)(&section).unwrap();
    let streams = Streams::new(1, 0);
    FabricRule::new(FabricParts {
        shape: Arc::clone(shape),
        ports: (0..shape.nodes()).map(|node| ports(node).collect()).collect(),
        paths,
        streams: (shape.hosts()..shape.nodes())
            .map(|switch| streams.numbered("fabrics.dc.path", u64::from(switch)))
            .collect(),
        changes,
    })
}

/// The nodes that a packet passes from host 0 to `goal`.
fn walk(rule: &mut FabricRule, shape: &dyn FabricShape, goal: u32, now: Time) -> Vec<u32> {
    let packet = Packet::data(now, FlowId::new(1), 0, 1500, RouteId::new(0));
    let mut way = vec![0, shape.neighbours(0)[0]];
    while *way.last().unwrap() != goal {
        let at = *way.last().unwrap();
        let element = rule.next(at, goal, &packet, now).index();
        assert_eq!(element / 100, at as usize, "the port is one of the switch");
        way.push(shape.neighbours(at)[element % 100]);
        assert!(way.len() < 10, "{way:?}");
    }
    way
}

/// Packets reach their goal by shortest ways, over all switches between.
#[test]
fn packets_reach_their_goal_on_all_ways() {
    let shape = &shapes()[1];
    let mut rule = rule(shape, Vec::new());
    let mut cores = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let way = walk(&mut rule, &**shape, 15, Time::ZERO);
        assert_eq!(way.len(), 7);
        cores.insert(way[3]);
    }
    assert_eq!(cores.len(), 4);
    // Hosts of one edge switch, and of one pod.
    assert_eq!(walk(&mut rule, &**shape, 1, Time::ZERO).len(), 3);
    assert_eq!(walk(&mut rule, &**shape, 2, Time::ZERO).len(), 5);
}

/// While a link is down packets take the ways that lead to their goal without it, also where it is
/// far ahead; once it is back they take all. In a fat tree of 4, host 15 is in pod 3: if core 0
/// cannot reach that pod, three cores are left.
#[test]
fn packets_avoid_links_that_are_down() {
    let shape = &shapes()[1];
    let core = shape.nodes() - 4;
    let change =
        |us, fails| LinkChange { at: Time::ZERO + Span::from_us(us), node: core, port: 3, fails };
    let mut rule = rule(shape, vec![change(10, true), change(20, false)]);
    for (us, ways) in [(5, 4), (10, 3), (19, 3), (20, 4)] {
        let now = Time::ZERO + Span::from_us(us);
        let cores: std::collections::BTreeSet<u32> =
            (0..200).map(|_| walk(&mut rule, &**shape, 15, now)[3]).collect();
        assert_eq!((cores.len(), cores.contains(&core)), (ways, ways == 4), "{us}");
        // Other pods are reached by all.
        let others: std::collections::BTreeSet<u32> =
            (0..200).map(|_| walk(&mut rule, &**shape, 7, now)[3]).collect();
        assert_eq!(others.len(), 4);
    }
}
