//! Tests of the lookahead analysis on small networks that are solved by hand.

use forebay_network::executive::Hop;
use forebay_network::{ChannelId, ElementId, Lookahead, ReceiverId, RouteId, SinkId};

use Departures::{Ahead, Timed, ToSinks};

use super::*;
use crate::stubs::{SINK, Stubs, host, link, wire};

const NONE: Lookahead<'static> = Lookahead::NONE;

fn analysed(elements: &[Lookahead<'_>], routes: &[&[usize]]) -> Partition {
    let mut stubs = Stubs::declared(elements, routes);
    stubs.analyse();
    stubs.whole
}

fn departures(whole: &Partition) -> Vec<Departures> {
    whole.core.modes.iter().map(|mode| mode.departures).collect()
}

fn takers(whole: &Partition) -> Vec<usize> {
    let modes = (0..).zip(&whole.core.modes);
    modes.filter(|(_, mode)| mode.takes_from_channels).map(|(me, _)| me).collect()
}

fn groups(whole: &Partition) -> Vec<(Vec<usize>, Span)> {
    let groups = whole.groups.iter().filter(|group| group.host().is_some());
    let numbers = |group: &HostGroup| group.members().iter().map(|me| me.index()).collect();
    groups.map(|group| (numbers(group), group.slack)).collect()
}

fn after(whole: &Partition, element: usize, route: usize) -> Hop {
    whole.core.routes.after(ElementId::new(element), RouteId::new(route))
}

fn only_channel(receiver: usize) -> Option<(ReceiverId, ChannelId)> {
    Some((ReceiverId::new(receiver), ChannelId::ONLY))
}

fn upstreams(whole: &Partition, receiver: usize) -> Vec<usize> {
    let inputs = whole.core.channels.inputs(ReceiverId::new(receiver));
    inputs.upstreams().map(ElementId::index).collect()
}

/// A link sends ahead to a link that takes packets ahead of time, without an event for each, and
/// not to a host that acts on packets at once.
#[test]
fn a_link_sends_ahead_to_a_link_that_takes_packets_ahead() {
    // A sender that is no element here enters link 0; then come link 1 and host 2, which acts
    // event by event.
    let whole = analysed(&[link(10), link(20), NONE], &[&[0, 1, 2]]);
    assert_eq!(departures(&whole), [Ahead, Timed, Timed]);
    assert_eq!(takers(&whole), [1]);
    assert_eq!(
        whole.core.modes.iter().map(|mode| mode.lazy).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert_eq!(
        [upstreams(&whole, 0), upstreams(&whole, 1), upstreams(&whole, 2)],
        [vec![], vec![0], vec![]]
    );
    let hop = after(&whole, 0, 0);
    assert_eq!((hop.to(), hop.ahead()), (ElementId::new(1).into(), only_channel(1)));
    assert_eq!(after(&whole, 1, 0).ahead(), None);
}

/// One link that cannot send ahead refutes all that rests on the assumption that it can: a link
/// waits for no channel on which nothing is sent ahead.
#[test]
fn refutation_reaches_all_that_rests_on_an_assumption() {
    // Links 0 and 1 lead to link 2, which leads to host 3.
    let elements = [link(10), link(10), link(10), NONE];
    let whole = analysed(&elements, &[&[0, 2, 3], &[1, 2, 3]]);
    assert_eq!(departures(&whole), [Ahead, Ahead, Timed, Timed]);
    assert_eq!((takers(&whole), upstreams(&whole, 2)), (vec![2], vec![0, 1]));
    // Link 1 leads to host 3 as well, so it cannot send ahead; then link 2 cannot take packets
    // ahead, and then neither can link 0 send ahead.
    let whole = analysed(&elements, &[&[0, 2, 3], &[1, 2, 3], &[1, 3]]);
    assert_eq!(departures(&whole), [Timed; 4]);
    assert_eq!((takers(&whole), upstreams(&whole, 2)), (vec![], vec![]));
}

/// A link that hosts enter on time takes nothing ahead: a packet of theirs neither overtakes those
/// that links have sent ahead to it, nor is it overtaken.
#[test]
fn a_link_that_is_entered_on_time_takes_nothing_ahead() {
    let whole = analysed(&[link(10), link(10), NONE], &[&[0, 1, 2], &[1, 2]]);
    assert_eq!((departures(&whole), takers(&whole)), (vec![Timed; 3], vec![]));
}

/// Any number of links send ahead to one that takes time itself: an access network is not executed
/// by events because it has many branches. To one whose departures take place at their times no
/// more do than can be merged, as it would sort its input for each packet.
#[test]
fn any_number_of_links_send_ahead_to_one_that_takes_time() {
    for (count, span, expected) in [
        (MAX_CHANNELS, None, Ahead),
        (MAX_CHANNELS + 1, None, Timed),
        (500, Some(10), Ahead),
        (500, Some(0), Ahead),
    ] {
        let last = count;
        let mut elements = vec![link(10); count];
        elements.push(link(span.unwrap_or(10)));
        let end = if span.is_some() { SINK } else { last + 1 };
        elements.extend(span.is_none().then_some(NONE));
        let routes: Vec<_> = (0..last).map(|first| [first, last, end]).collect();
        let routes: Vec<&[usize]> = routes.iter().map(|route| route.as_slice()).collect();
        let whole = analysed(&elements, &routes);
        assert_eq!(departures(&whole)[..count], vec![expected; count], "{count} {span:?}");
    }
}

/// A link to one sink departs without events if nothing else leads to that sink, so the sink counts
/// packets in order; a link that leads to elements too sends ahead to the sink where its batches
/// pay.
#[test]
fn sinks_are_sent_to_without_events() {
    // Only a sink follows, and nothing else leads to it.
    let whole = analysed(&[wire(10)], &[&[0, SINK]]);
    assert_eq!(departures(&whole), [ToSinks]);
    assert!(whole.core.modes.iter().all(|mode| mode.lazy));
    // Where two links lead to one sink, each departure takes place at its time.
    let whole = analysed(&[wire(10), wire(10)], &[&[0, SINK], &[1, SINK]]);
    assert_eq!(departures(&whole), [Timed, Timed]);
    // Link 0 leads to link 1 and to a sink. 160 Mbit/s for 1 ms are 20,000 B, the least that pays.
    let ms = 1_000_000_000;
    let at_rate =
        |mbps: u64| Lookahead { rate: Some(Rate::from_bps(mbps * 1_000_000)), ..link(ms) };
    let routes: [&[usize]; 2] = [&[0, SINK], &[0, 1, 2]];
    let whole = analysed(&[at_rate(160), link(10), NONE], &routes);
    assert_eq!(departures(&whole), [Ahead, Timed, Timed]);
    let (hop, elements) = (after(&whole, 0, 0), 3);
    assert_eq!((hop.to(), hop.ahead()), (SinkId::new(0).into(), only_channel(elements)));
    assert_eq!(upstreams(&whole, 3), [0]);
    let whole = analysed(&[at_rate(159), link(10), NONE], &routes);
    assert_eq!(departures(&whole), [Timed; 3]);
    // Another link leads to that sink.
    let more: [&[usize]; 3] = [routes[0], routes[1], &[3, SINK]];
    let whole = analysed(&[at_rate(160), link(10), NONE, wire(10)], &more);
    assert_eq!(departures(&whole), [Timed; 4]);
}

/// Hosts that send into one link are deferred together, by no more than the links behind them
/// tolerate: a link receives the packets of two hosts in order.
#[test]
fn hosts_that_send_into_one_link_form_a_group() {
    // Hosts 0 and 1 send into link 3, host 2 into links 4 and 5; all lead to host 6.
    let elements = [host(0..1), host(1..2), host(2..4), link(10), link(30), link(7), NONE];
    let whole = analysed(&elements, &[&[3, 6], &[3, 6], &[4, 6], &[5, 6]]);
    let expected = [(vec![0, 1], Span::from_ps(10)), (vec![2], Span::from_ps(7))];
    assert_eq!(groups(&whole), expected);
    assert_eq!(
        whole.slots.iter().map(|slot| slot.group).collect::<Vec<_>>(),
        [0, 0, 1, NO_GROUP, NO_GROUP, NO_GROUP, NO_GROUP]
    );
    // Links take what hosts send from one channel, under the first member, as late as that.
    assert_eq!(takers(&whole), [3, 4, 5]);
    assert_eq!([3, 4, 5].map(|at| upstreams(&whole, at)), [vec![0], vec![2], vec![2]]);
    let late = whole.core.modes.iter().map(|mode| mode.late.ps()).collect::<Vec<_>>();
    assert_eq!(late, [10, 10, 7, 10, 7, 7, 0]);
    let first = whole.core.routes.first(RouteId::new(1));
    assert_eq!((first.element(), first.ahead()), (ElementId::new(3), only_channel(3)));
}

/// A host is deferred only if the link that it sends into has a delay, takes packets from channels
/// and is entered by nothing else: packets enter it in time and in order.
#[test]
fn hosts_are_deferred_only_before_links_that_tolerate_it() {
    let sender = host(0..1);
    // A link without propagation delay tolerates nothing.
    assert_eq!(groups(&analysed(&[sender, link(0), NONE], &[&[1, 2]])), []);
    // A link that takes no packets from channels neither.
    assert_eq!(groups(&analysed(&[sender, wire(10), NONE], &[&[1, 2]])), []);
    // Some element that is not deferred sends into the same link.
    assert_eq!(groups(&analysed(&[sender, link(10), NONE], &[&[1, 2], &[1, 2]])), []);
    // None of this: the host is deferred.
    let deferred = analysed(&[sender, link(10), NONE], &[&[1, 2]]);
    assert_eq!(groups(&deferred), [(vec![0], Span::from_ps(10))]);
}

/// Hosts on which only sinks depend, or nothing, are deferred by a fixed span: they are not
/// executed event by event, and a run ends soon after it is interrupted.
#[test]
fn before_sinks_hosts_are_deferred_by_a_fixed_span() {
    let whole = analysed(&[host(0..1), link(10)], &[&[1, SINK]]);
    assert_eq!(groups(&whole), [(vec![0], SINK_SLACK)]);
    assert_eq!(departures(&whole), [Timed, ToSinks]);
    // A host that sends nothing.
    let silent = Lookahead { can_defer: true, ..Lookahead::NONE };
    let whole = analysed(&[wire(10), silent], &[&[0, 1]]);
    assert_eq!(groups(&whole), [(vec![1], SINK_SLACK)]);
    assert_eq!(departures(&whole), [Ahead, Timed]);
}

/// A link sends to a host group by one channel, that of its first member, since a group reads one
/// set of input channels. The slack of the link covers that of the hosts behind it, which are
/// executed later than packets arrive.
#[test]
fn links_send_to_the_first_member_of_a_group() {
    // Link 0 leads to hosts 1 and 2, which send into link 3 and so to host 4.
    let elements = [wire(10), host(0..1), host(1..2), link(25), NONE];
    let whole = analysed(&elements, &[&[3, 4], &[3, 4], &[0, 1], &[0, 2]]);
    assert_eq!(groups(&whole), [(vec![1, 2], Span::from_ps(25))]);
    let hops = [after(&whole, 0, 2), after(&whole, 0, 3)];
    assert_eq!(
        hops.map(|hop| (hop.element().index(), hop.ahead())),
        [(1, only_channel(1)), (2, only_channel(1))]
    );
    assert_eq!((upstreams(&whole, 1), upstreams(&whole, 2)), (vec![0], vec![]));
    assert_eq!(whole.core.modes[0].slack, Span::from_ps(25));
}

/// A host to which its own packets come back by one link is not deferred: it receives nothing new
/// until it has sent, so it must not wait for that link.
#[test]
fn a_host_is_not_deferred_where_its_own_packets_come_back() {
    // What host 0 sends into link 1 comes back to it, without another link between.
    let whole = analysed(&[host(0..1), link(10)], &[&[1, 0]]);
    assert_eq!((groups(&whole), departures(&whole)), (vec![], vec![Timed; 2]));
    // With a second link between, the host is deferred by the delay of the first.
    let whole = analysed(&[host(0..1), link(10), wire(20)], &[&[1, 2, 0]]);
    assert_eq!(groups(&whole), [(vec![0], Span::from_ps(10))]);
    assert_eq!(departures(&whole), [Timed, Timed, Ahead]);
}

/// A link that gets packets both from a link and from a deferred host joins the group of the host,
/// and so processes them in order.
#[test]
fn a_link_of_mixed_input_joins_the_group_of_its_host() {
    let sender = host(0..1);
    let member = Lookahead { can_defer: true, ..link(10) };
    // Host 0 and link 2 send into link 1.
    let whole = analysed(&[sender, member, wire(20)], &[&[1, SINK], &[2, 1, SINK]]);
    assert_eq!(groups(&whole), [(vec![0, 1], SINK_SLACK)]);
    assert_eq!((takers(&whole), upstreams(&whole, 0)), (vec![], vec![2]));
    assert_eq!(departures(&whole), [Timed, ToSinks, Ahead]);
    // Host 0 alone does: the link takes its packets from a channel, and is no member.
    let whole = analysed(&[sender, member], &[&[1, SINK]]);
    assert_eq!((groups(&whole), takers(&whole)), (vec![(vec![0], SINK_SLACK)], vec![1]));
}

/// The element at which a reverse route begins counts as its sender: the link that it sends into
/// takes packets from a channel of that element.
#[test]
fn reverse_routes_are_sent_on_by_the_element_that_they_begin_at() {
    // Route 0 leads by link 0 to host 1, which answers on route 1 by link 2 to host 3.
    let host = Lookahead { can_defer: true, ..Lookahead::NONE };
    let mut stubs = Stubs::declared(&[wire(10), host, link(20), NONE], &[&[0, 1], &[2, 3]]);
    stubs.whole.core.routes.add_reverse(ElementId::new(1), RouteId::new(0), RouteId::new(1));
    stubs.analyse();
    assert_eq!(groups(&stubs.whole), [(vec![1], Span::from_ps(20))]);
    assert_eq!((takers(&stubs.whole), upstreams(&stubs.whole, 2)), (vec![2], vec![1]));
}

/// With observers, everything is executed event by event, so that they are notified of facts in
/// order.
#[test]
fn with_observers_all_is_executed_event_by_event() {
    let elements = [host(0..1), link(10), link(10), NONE];
    let mut whole = Stubs::declared(&elements, &[&[1, 2, 3]]).whole;
    let partition_of = [0; 4];
    let partition_map = PartitionMap::new(&whole, &partition_of);
    analyse(&mut whole, &partition_map, true);
    assert_eq!(whole.core.modes, [ExecutionMode::default(); 4]);
    assert_eq!((whole.groups.len(), whole.core.channels.count()), (0, 0));
}

/// A link at a boundary sends ahead, and decides its departures at once: packets reach another
/// partition before the window in which they arrive.
#[test]
fn a_link_at_a_boundary_sends_ahead_and_at_once() {
    // Host 1, which acts event by event, lies in another partition than link 0.
    let mut whole = Stubs::declared(&[wire(10), NONE], &[&[0, 1]]).whole;
    let partition_of = [0, 1];
    let partition_map = PartitionMap::new(&whole, &partition_of);
    analyse(&mut whole, &partition_map, false);
    assert_eq!(departures(&whole), [Ahead, Timed]);
    assert!(!whole.core.modes[0].lazy);
    // The receiver has no channel in the undivided network: the boundary makes one.
    assert_eq!((takers(&whole), after(&whole, 0, 0).ahead()), (vec![], None));
}
