//! Lookahead analysis: which elements can send packets ahead of their simulation time, which ones
//! receive them that way, and which hosts can be deferred.
//!
//! The protocol is that of conservative logical processes: each channel carries packets in
//! timestamp order, and a receiver advances as far as all its channels are known (Chandy and Misra,
//! CACM 24 (1981) 198-206). The lookahead is the propagation delay of links.

use std::collections::BTreeSet;

use forebay_kernel::{ChannelTable, MAX_CHANNELS};
use forebay_network::{
    ChannelId, Departures, Destination, ElementId, ExecutionMode, ReceiverId, SinkId,
};
use forebay_units::{Rate, Size, Span};

use crate::boundary::PartitionMap;
use crate::partition::Partition;
use crate::slot::{HostGroup, NO_GROUP};

/// Span by which hosts are deferred where only sinks, or no elements at all, depend on them. Any
/// span would give the same trajectory, but a run must end soon after it is interrupted.
const SINK_SLACK: Span = Span::from_ms(10);

/// A link that leads to sinks and to other elements does not send ahead if less than this can be in
/// flight on it: batches would be so small that events cost less. In `p2-64-routers` both cost the
/// same where 2.5 packets arrive within one propagation delay, an eighth of this in packets of
/// 1000 B.
const MIN_IN_FLIGHT: Size = Size::from_bytes(20_000);

/// Determine the lookahead of all elements of `whole`, which `partition_map` may place in several
/// partitions, and build the channels and host groups that follow from it. With `watched`, that is
/// with observers, no element sends ahead and none is deferred.
pub(crate) fn analyse(whole: &mut Partition, partition_map: &PartitionMap<'_>, watched: bool) {
    if watched {
        whole.core.modes = vec![ExecutionMode::default(); whole.slots.len()];
        return;
    }
    let mut analysis = Analysis::new(whole, partition_map);
    while analysis.refute() {}
    let slacks: Vec<Span> = analysis.groups.iter().map(|members| analysis.slack(members)).collect();
    let inputs_of = analysis.inputs_of();
    let modes = analysis.modes(&slacks);
    let groups = analysis.groups.iter().zip(&slacks);
    let groups: Vec<HostGroup> =
        groups.map(|(members, slack)| HostGroup::new(members.clone(), *slack)).collect();
    let (group_of, elements) = (analysis.group_of, whole.slots.len());
    for (me, _) in ElementId::all(elements).zip(&modes).filter(|(_, mode)| mode.sends_ahead()) {
        whole.core.routes.assign_channels(me, &|next| {
            let receiver = match next {
                Destination::Element(next) => match group_of[next.index()] {
                    NO_GROUP => next.index(),
                    group => groups[group as usize].host()?.index(),
                },
                Destination::Sink(sink) => elements + sink.index(),
            };
            let channel = inputs_of[receiver].0.binary_search(&me).ok()?;
            Some((ReceiverId::new(receiver), ChannelId::new(channel)))
        });
    }
    for (group, member) in
        (0..).zip(&groups).flat_map(|(at, group)| group.members().iter().map(move |m| (at, *m)))
    {
        for route in whole.routes_from(member) {
            let first = whole.core.routes.first(route).element();
            if group_of[first.index()] != group {
                whole.core.routes.assign_first_channel(route);
            }
        }
    }
    let channels = ChannelTable::new(&inputs_of);
    for (slot, group) in whole.slots.iter_mut().zip(group_of) {
        slot.group = group;
    }
    (whole.core.modes, whole.core.channels, whole.groups) = (modes, channels, groups);
}

/// The state of the analysis, a greatest fixed point: every element that could send ahead, take
/// packets from channels or be deferred is assumed to do so, and assumptions that cannot hold are
/// refuted until nothing changes.
struct Analysis<'a> {
    whole: &'a Partition,
    partition_map: &'a PartitionMap<'a>,
    /// Links that lead to each element, in order.
    upstreams: Vec<Vec<ElementId>>,
    /// Element that leads to each sink, if there is exactly one: a link can send ahead to it.
    sole_upstream: Vec<Option<ElementId>>,
    /// True if routes begin at it that no deferrable host declares as its own.
    entered_on_time: Vec<bool>,
    /// True if routes begin at it that a deferrable host declares as its own.
    entered_late: Vec<bool>,
    /// True if it schedules its departures, and only sinks follow that no other element leads to: a
    /// sink takes in what it receives in order.
    quiet: Vec<bool>,
    early: Vec<bool>,
    expects: Vec<bool>,
    /// Host group that each element would be in, [`NO_GROUP`] for none.
    group_of: Vec<u32>,
    /// Members of each host group; empty if it is not deferred.
    groups: Vec<Vec<ElementId>>,
}

impl<'a> Analysis<'a> {
    fn new(whole: &'a Partition, partition_map: &'a PartitionMap<'a>) -> Self {
        let routes = &whole.core.routes;
        let elements = whole.slots.len();
        let mut upstreams = vec![Vec::new(); elements];
        let mut before_sinks = vec![BTreeSet::new(); whole.core.sinks.len()];
        for me in ElementId::all(elements) {
            for sink in routes.following(me).filter_map(Destination::sink) {
                before_sinks[sink.index()].insert(me);
            }
            for next in routes.following(me).filter_map(Destination::element) {
                let upstreams: &mut Vec<ElementId> = &mut upstreams[next.index()];
                if upstreams.last() != Some(&me) {
                    upstreams.push(me);
                }
            }
        }
        let mut declared = vec![false; routes.firsts().count()];
        // Where routes change, a host can enter the network elsewhere than it has declared.
        let candidates = if whole.core.detours.is_some() {
            vec![false; elements]
        } else {
            candidates(whole, partition_map, &upstreams)
        };
        for (me, _) in
            ElementId::all(elements).zip(&candidates).filter(|(_, candidate)| **candidate)
        {
            whole.routes_from(me).for_each(|route| declared[route.index()] = true);
        }
        let (mut entered_on_time, mut entered_late) =
            (vec![false; elements], vec![false; elements]);
        for (first, declared) in routes.firsts().zip(declared) {
            let entered = if declared { &mut entered_late } else { &mut entered_on_time };
            entered[first.index()] = true;
        }
        let schedules =
            |me: ElementId| whole.slots[me.index()].element.lookahead().schedules_departures;
        // A node of a fabric is asked for the next hop when a packet is there. So only boundaries
        // send ahead to one.
        let by_rule = |me: ElementId| routes.node_after(me).is_some();
        let leads = |me: ElementId| {
            let early = !by_rule(me) || partition_map.is_boundary(me);
            early && routes.following(me).next().is_some()
        };
        let only = |mut all: BTreeSet<ElementId>| all.pop_first().filter(|_| all.is_empty());
        let sole_upstream: Vec<Option<ElementId>> = before_sinks.into_iter().map(only).collect();
        let own = |me: ElementId, sink: SinkId| sole_upstream[sink.index()] == Some(me);
        let sinks = |me: ElementId| {
            let mut following = routes.following(me).map(Destination::sink);
            following.all(|sink| sink.is_some_and(|sink| own(me, sink)))
        };
        let all = ElementId::all(elements);
        let early = all.clone().map(|me| schedules(me) && leads(me)).collect();
        let quiet = all.map(|me| schedules(me) && leads(me) && !by_rule(me) && sinks(me)).collect();
        let able = whole.slots.iter().map(|slot| slot.element.lookahead().accepts_ahead);
        let expects = able.zip(&candidates).map(|(able, candidate)| able && !candidate).collect();
        let (group_of, groups) = groups(whole, &candidates);
        Self {
            whole,
            partition_map,
            upstreams,
            sole_upstream,
            entered_on_time,
            entered_late,
            quiet,
            early,
            expects,
            group_of,
            groups,
        }
    }

    /// Drop the assumptions that contradict the others; false if there are none.
    fn refute(&mut self) -> bool {
        let mut refuted = false;
        for me in ElementId::all(self.whole.slots.len()) {
            let at = me.index();
            if self.early[at] && !self.can_be_early(me) {
                (self.early[at], refuted) = (false, true);
            }
            if self.expects[at] && !self.can_expect(me) {
                (self.expects[at], refuted) = (false, true);
            }
        }
        for group in 0..self.groups.len() {
            let members = &self.groups[group];
            if !members.is_empty() && !self.can_be_late(members) {
                for member in std::mem::take(&mut self.groups[group]) {
                    self.group_of[member.index()] = NO_GROUP;
                }
                refuted = true;
            }
        }
        refuted
    }

    /// Returns true if all that follows `me` can take packets ahead of time.
    fn can_be_early(&self, me: ElementId) -> bool {
        let accepts = |next: Destination| match next {
            Destination::Element(next) => {
                let (expects, group) = (self.expects[next.index()], self.group_of[next.index()]);
                expects || group != NO_GROUP || self.partition_map.separates(me, next)
            }
            Destination::Sink(sink) => {
                self.feeds_sink(me, sink) || self.partition_map.is_boundary(me)
            }
        };
        self.whole.core.routes.following(me).all(accepts)
    }

    /// Returns true if `me` is to send ahead to `sink`: nothing else leads to that sink, `me` sends
    /// ahead to other elements too, and enough packets can be in flight.
    fn feeds_sink(&self, me: ElementId, sink: SinkId) -> bool {
        let sole = self.sole_upstream[sink.index()] == Some(me);
        sole && !self.quiet[me.index()] && self.bandwidth_delay(me) >= MIN_IN_FLIGHT
    }

    /// The most that can be in flight on `link`: its bandwidth-delay product.
    fn bandwidth_delay(&self, link: ElementId) -> Size {
        let element = self.whole.slots[link.index()].element.lookahead();
        let bytes = |rate: Rate| rate.bytes_per_second() * element.span.seconds();
        Size::from_bytes(element.rate.map_or(u64::MAX, |rate| bytes(rate) as u64))
    }

    /// Returns true if packets reach `me` only from links that send ahead. Where there are more
    /// than can be merged, it must take time itself, and so its input in batches, which are sorted.
    fn can_expect(&self, me: ElementId) -> bool {
        let upstreams = &self.upstreams[me.index()];
        let no_senders = !self.entered_on_time[me.index()] && !self.entered_late[me.index()];
        let few = (1..=MAX_CHANNELS).contains(&upstreams.len());
        no_senders && (few || self.takes_time(me)) && self.all_early(upstreams)
    }

    /// Returns true if a host group of `members` can be deferred. Packets reach them only from
    /// links that send ahead; no such link is a member, or is handed packets by a member without
    /// delay. And packets leave the group with a delay: members that are links send ahead
    /// themselves, and the elements that members hand packets to receive from members alone and
    /// tolerate late packets.
    fn can_be_late(&self, members: &[ElementId]) -> bool {
        let upstreams = self.upstreams_of(members);
        let downstream = self.downstream_of(members);
        let tolerant = |next: &ElementId| {
            let sole =
                !self.entered_on_time[next.index()] && self.upstreams[next.index()].is_empty();
            let able = self.whole.slots[next.index()].element.lookahead().accepts_ahead;
            sole && able && self.tolerance(*next) > Span::ZERO
        };
        let separate = |upstream: &ElementId| {
            downstream.binary_search(upstream).is_err() && members.binary_search(upstream).is_err()
        };
        let deferrable = |member: &ElementId| {
            let in_time = !self.schedules(*member) || self.takes_time(*member);
            !self.entered_on_time[member.index()] && in_time
        };
        let known = upstreams.len() <= MAX_CHANNELS && self.all_early(&upstreams);
        known
            && upstreams.iter().all(separate)
            && downstream.iter().all(tolerant)
            && members.iter().all(deferrable)
    }

    /// Returns true if `link` sends ahead what leaves it, or leads to sinks only, and has a delay.
    fn takes_time(&self, link: ElementId) -> bool {
        let ahead = self.early[link.index()] || self.quiet[link.index()];
        ahead && self.tolerance(link) > Span::ZERO
    }

    fn schedules(&self, me: ElementId) -> bool {
        self.whole.slots[me.index()].element.lookahead().schedules_departures
    }

    /// The elements that lead to `members`, in order, without members that hand packets on at the
    /// same instant.
    fn upstreams_of(&self, members: &[ElementId]) -> Vec<ElementId> {
        let upstreams = members.iter().flat_map(|member| &self.upstreams[member.index()]);
        let within = |me: &ElementId| !self.schedules(*me) && members.binary_search(me).is_ok();
        in_order(upstreams.copied().filter(|upstream| !within(upstream)).collect())
    }

    /// The elements outside `members` that these hand packets to at the same instant, in order.
    fn downstream_of(&self, members: &[ElementId]) -> Vec<ElementId> {
        let given = members.iter().flat_map(|member| self.whole.immediate_receivers(*member));
        in_order(given.filter(|next| members.binary_search(next).is_err()).collect())
    }

    fn all_early(&self, upstreams: &[ElementId]) -> bool {
        let by_rule = |link: &ElementId| self.whole.core.routes.node_after(*link).is_some();
        upstreams.iter().all(|upstream| self.early[upstream.index()] && !by_rule(upstream))
    }

    /// Returns the span by which `link` may be handed packets late without any effect on what
    /// follows it.
    fn tolerance(&self, link: ElementId) -> Span {
        let ahead = self.whole.slots[link.index()].element.lookahead().span;
        if self.quiet[link.index()] { ahead.max(SINK_SLACK) } else { ahead }
    }

    /// Returns the span by which a host group of these members may be deferred.
    fn slack(&self, members: &[ElementId]) -> Span {
        let links = members.iter().copied().filter(|member| self.schedules(*member));
        let links = links.chain(self.downstream_of(members));
        links.map(|link| self.tolerance(link)).min().unwrap_or(SINK_SLACK)
    }

    /// Returns the execution mode of each element, given the slacks of the host groups.
    fn modes(&self, slacks: &[Span]) -> Vec<ExecutionMode> {
        let handed_late = self.handed_late(slacks);
        let slack_of = |me: ElementId| match self.group_of[me.index()] {
            NO_GROUP => Span::ZERO,
            group => slacks[group as usize],
        };
        let mode = |me: ElementId| {
            let (early, quiet) = (self.early[me.index()], self.quiet[me.index()]);
            let following = self.whole.core.routes.following(me).filter_map(Destination::element);
            let slack = if early { following.map(slack_of).min() } else { None };
            let handed_late = handed_late[me.index()];
            ExecutionMode {
                takes_from_channels: self.expects[me.index()] || handed_late.is_some(),
                departures: match (quiet, early) {
                    (true, _) => Departures::ToSinks,
                    (false, true) => Departures::Ahead,
                    (false, false) => Departures::Timed,
                },
                lazy: (quiet || early) && !self.partition_map.is_boundary(me),
                slack: slack.unwrap_or(Span::ZERO),
                late: handed_late.unwrap_or_else(|| slack_of(me)),
            }
        };
        ElementId::all(self.whole.slots.len()).map(mode).collect()
    }

    /// Returns, for each element, the slack of the host group that hands packets to it, if one
    /// does.
    fn handed_late(&self, slacks: &[Span]) -> Vec<Option<Span>> {
        let mut late = vec![None; self.whole.slots.len()];
        for (members, slack) in self.groups.iter().zip(slacks) {
            for next in self.downstream_of(members) {
                late[next.index()] = Some(*slack);
            }
        }
        late
    }

    /// The upstreams of each element's channels, those of a host group under its first member, and
    /// then of each sink's; and whether these are links.
    fn inputs_of(&self) -> Vec<(Vec<ElementId>, bool)> {
        let elements = self.upstreams.iter().zip(&self.expects);
        let inputs = |(upstreams, expects): (&Vec<ElementId>, &bool)| match expects {
            true => (upstreams.clone(), true),
            false => (Vec::new(), true),
        };
        let mut inputs_of: Vec<(Vec<ElementId>, bool)> = elements.map(inputs).collect();
        for members in self.groups.iter().filter(|members| !members.is_empty()) {
            inputs_of[members[0].index()] = (self.upstreams_of(members), true);
            for next in self.downstream_of(members) {
                inputs_of[next.index()] = (vec![members[0]], false);
            }
        }
        let sinks = SinkId::all(self.sole_upstream.len());
        inputs_of.extend(sinks.zip(&self.sole_upstream).map(|(sink, upstream)| {
            let sender = upstream.filter(|me| self.early[me.index()] && self.feeds_sink(*me, sink));
            (sender.into_iter().collect(), true)
        }));
        inputs_of
    }
}

/// `elements` in order, each once.
fn in_order(mut elements: Vec<ElementId>) -> Vec<ElementId> {
    elements.sort_unstable();
    elements.dedup();
    elements
}

/// The elements that could be deferred as members of a host group, together with those that they
/// hand packets to at the same instant. A link that can take its packets from channels instead is a
/// candidate only where it must be: where packets come both from links and from senders, or from a
/// candidate at the same instant, and at a boundary, where no work may be left for later.
fn candidates(
    whole: &Partition,
    partition_map: &PartitionMap<'_>,
    upstreams: &[Vec<ElementId>],
) -> Vec<bool> {
    let element = |me: ElementId| &whole.slots[me.index()].element;
    let all = ElementId::all(upstreams.len());
    let mut entered = vec![false; upstreams.len()];
    for first in all
        .clone()
        .filter(|me| element(*me).lookahead().can_defer)
        .flat_map(|me| whole.routes_from(me))
    {
        entered[whole.core.routes.first(first).element().index()] = true;
    }
    let at_once = |upstream: &ElementId| {
        let upstream = element(*upstream).lookahead();
        upstream.can_defer && !upstream.schedules_departures
    };
    let must = |me: ElementId| {
        let upstreams = &upstreams[me.index()];
        let mixed = entered[me.index()] && !upstreams.is_empty();
        partition_map.is_boundary(me) || mixed || upstreams.iter().any(at_once)
    };
    let candidate = |me: ElementId| {
        let lookahead = element(me).lookahead();
        lookahead.can_defer && (!lookahead.accepts_ahead || must(me))
    };
    all.map(candidate).collect()
}

/// The host groups that `candidates` would form, as the classes of a union-find structure: each
/// candidate joins those that it hands packets to at the same instant, and those that send into the
/// same elements. The group of each element, and the members of each group in order.
fn groups(whole: &Partition, candidates: &[bool]) -> (Vec<u32>, Vec<Vec<ElementId>>) {
    let elements = whole.slots.len();
    let all_candidates = || ElementId::all(elements).filter(|me| candidates[me.index()]);
    // The first candidate that sends into each element, or the element if it is a candidate
    // itself; and the parent of each element in the union-find forest.
    let mut entrant = vec![None; elements];
    let mut parent: Vec<ElementId> = ElementId::all(elements).collect();
    let root = |parent: &[ElementId], mut me: ElementId| {
        while parent[me.index()] != me {
            me = parent[me.index()];
        }
        me
    };
    for me in all_candidates() {
        for next in whole.immediate_receivers(me) {
            let first = if candidates[next.index()] { next } else { me };
            let entrant = *entrant[next.index()].get_or_insert(first);
            let (one, other) = (root(&parent, entrant), root(&parent, me));
            parent[one.max(other).index()] = one.min(other);
        }
    }
    let (mut group_of, mut groups) = (vec![NO_GROUP; elements], Vec::<Vec<ElementId>>::new());
    for me in all_candidates() {
        let root = root(&parent, me);
        // The root has the lowest number of its class, so it comes first.
        if root == me {
            group_of[root.index()] = groups.len() as u32;
            groups.push(Vec::new());
        }
        let group = group_of[root.index()];
        group_of[me.index()] = group;
        groups[group as usize].push(me);
    }
    (group_of, groups)
}

#[cfg(test)]
mod tests;
