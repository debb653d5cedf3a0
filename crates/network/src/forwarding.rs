//! Forwarding by rule: where a route passes a fabric, its hops there are not in a table. A switch
//! finds the next from the host that the route leads to, as a longest prefix would tell it, and
//! chooses among ways that are equally short.

use forebay_units::Time;

use crate::ids::PackedDestination;
use crate::{Destination, ElementId, NodeId, Packet, RouteId};

/// The rule by which the switches of a fabric forward.
pub trait ForwardingRule: Send {
    /// Number of its nodes, hosts and switches.
    fn nodes(&self) -> usize;

    /// Returns the element that `packet`, which is at `node`, a switch, at `now`, is handed to on
    /// its way to the host `goal`. Asked in the order in which packets reach that node; both
    /// numbers count from the first node of the rule.
    fn next(&mut self, node: u32, goal: u32, packet: &Packet, now: Time) -> ElementId;

    /// Returns all elements that `node`, if it is a switch, may hand packets to.
    fn following(&self, node: u32) -> Vec<ElementId>;

    /// Returns the rule as it is before the run, for another partition of the network. A node is
    /// asked in one partition only.
    fn fresh(&self) -> Box<dyn ForwardingRule>;
}

/// The rules of all fabrics, and the routes that go by them.
#[derive(Default)]
pub(crate) struct Rules {
    /// The number of the first node of each rule.
    firsts: Vec<u32>,
    rules: Vec<Box<dyn ForwardingRule>>,
    /// The end of each route that goes by rule; of others, nothing.
    goals: Vec<Goal>,
    /// The ends of the routes to each node.
    ends: Vec<Vec<Destination>>,
}

/// The host that a route leads to, and what receives its packets there.
#[derive(Clone, Copy)]
struct Goal {
    node: u32,
    end: PackedDestination,
}

impl Goal {
    const NONE: Self = Self { node: u32::MAX, end: PackedDestination::NONE };
}

impl Rules {
    /// Add a rule; its first node.
    pub(crate) fn add(&mut self, rule: Box<dyn ForwardingRule>) -> NodeId {
        let first = NodeId::new(self.ends.len());
        self.firsts.push(first.number());
        self.ends.resize_with(first.index() + rule.nodes(), Vec::new);
        self.rules.push(rule);
        first
    }

    /// Have `route` lead to the host `node`, and `end` there.
    pub(crate) fn set_goal(&mut self, route: RouteId, node: NodeId, end: Destination) {
        let at = route.index();
        if self.goals.len() <= at {
            self.goals.resize(at + 1, Goal::NONE);
        }
        self.goals[at] = Goal { node: node.number(), end: PackedDestination::new(end) };
        let ends = &mut self.ends[node.index()];
        if !ends.contains(&end) {
            ends.push(end);
        }
    }

    /// The destination of `packet`, which is at `node` at `now`.
    #[inline]
    pub(crate) fn next(&mut self, node: NodeId, packet: &Packet, now: Time) -> Destination {
        let (Goal { node: goal, end }, node) = (self.goals[packet.route.index()], node.number());
        if goal == node {
            return end.get();
        }
        // Most networks have one fabric.
        let rule = match &*self.firsts {
            [_] => 0,
            firsts => firsts.partition_point(|first| *first <= node) - 1,
        };
        let first = self.firsts[rule];
        self.rules[rule].next(node - first, goal - first, packet, now).into()
    }

    /// All destinations that may follow at `node`.
    pub(crate) fn following(&self, node: NodeId) -> Vec<Destination> {
        let node = node.number();
        let rule = self.firsts.partition_point(|first| *first <= node) - 1;
        let onward = self.rules[rule].following(node - self.firsts[rule]);
        let ends = self.ends[node as usize].iter().copied();
        onward.into_iter().map(Destination::from).chain(ends).collect()
    }

    /// The same before the run, for another partition.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            firsts: self.firsts.clone(),
            rules: self.rules.iter().map(|rule| rule.fresh()).collect(),
            goals: self.goals.clone(),
            ends: self.ends.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, SinkId};

    /// A rule of three nodes, that of `goal` at element `base + goal`.
    struct Direct(usize);

    impl ForwardingRule for Direct {
        fn nodes(&self) -> usize {
            3
        }

        fn next(&mut self, _node: u32, goal: u32, _packet: &Packet, _now: Time) -> ElementId {
            ElementId::new(self.0 + goal as usize)
        }

        fn following(&self, node: u32) -> Vec<ElementId> {
            if node == 0 {
                (1..3).map(|goal| ElementId::new(self.0 + goal)).collect()
            } else {
                vec![]
            }
        }

        fn fresh(&self) -> Box<dyn ForwardingRule> {
            Box::new(Self(self.0))
        }
    }

    /// A packet is forwarded by the rule of the fabric that it is in until it is at the host that
    /// its route leads to; there it is handed to the end of the route.
    #[test]
    fn packets_go_by_the_rule_of_their_fabric_up_to_their_host() {
        let mut rules = Rules::default();
        let firsts = [10, 20].map(|base| rules.add(Box::new(Direct(base))));
        assert_eq!(firsts.map(NodeId::index), [0, 3]);
        let ends = [ElementId::new(7).into(), SinkId::new(7).into()];
        for (route, (node, end)) in [(2, ends[0]), (5, ends[1])].into_iter().enumerate() {
            rules.set_goal(RouteId::new(route), NodeId::new(node), end);
        }
        let packet = |route| Packet::data(Time::ZERO, FlowId::new(0), 0, 100, RouteId::new(route));
        let mut next = |node, route| rules.next(NodeId::new(node), &packet(route), Time::ZERO);
        assert_eq!([next(0, 0), next(2, 0)], [ElementId::new(12).into(), ends[0]]);
        assert_eq!([next(3, 1), next(5, 1)], [ElementId::new(22).into(), ends[1]]);
        let mut other = rules.fresh();
        assert_eq!(other.next(NodeId::new(3), &packet(1), Time::ZERO), ElementId::new(22).into());
        let following = |node| rules.following(NodeId::new(node));
        assert_eq!(following(0), [11, 12].map(|at| ElementId::new(at).into()));
        assert_eq!([following(2), following(5)], ends.map(|end| vec![end]));
    }
}
