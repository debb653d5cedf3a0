//! The ways of a group of flows: those of its packets, and those back to its senders.

use forebay_elements::Lateness;
use forebay_parameters::{Problem, Section};
use forebay_units::{Size, Span};

use crate::plan::around::Around;
use crate::plan::links::LinkPlan;
use crate::plan::sections::FlowParameters;
use crate::plan::topology::Topology;

/// The links there and back, of flows that need a way back if `two_way`.
pub(crate) fn routes(
    section: &Section<'_>,
    parameters: &FlowParameters,
    two_way: bool,
    topology: &Topology,
) -> Result<(Vec<usize>, Vec<usize>), Problem> {
    let FlowParameters { from, to, route, .. } = parameters;
    let [from, to] = [from, to].map(|names| names.one().expect("the group has one at each end"));
    topology.require(from).map_err(|message| section.fail("from", message))?;
    topology.require(to).map_err(|message| section.fail("to", message))?;
    if from == to {
        let message = format!("\"{to}\" is also the sender's node; a flow joins two nodes");
        return Err(section.fail("to", message));
    }
    let unreachable = |from: &str, to: &str| {
        let message = format!("no links lead from \"{from}\" to \"{to}\"");
        section.fail("to", message)
    };
    if let Some(nodes) = route {
        let fail = |message: String| section.fail("route", message);
        let [first, last] = [nodes.first(), nodes.last()].map(|node| node.map(String::as_str));
        if first != Some(from) || last != Some(to) {
            return Err(fail(format!("the route must begin at \"{from}\" and end at \"{to}\"")));
        }
        let there = topology.along(nodes).map_err(fail)?;
        let back: Vec<String> = nodes.iter().rev().cloned().collect();
        let back = match topology.along(&back) {
            Ok(links) => links,
            Err(_) if !two_way => Vec::new(),
            Err(message) => return Err(fail(message)),
        };
        return Ok((there, back));
    }
    let there = topology.shortest(from, to).ok_or_else(|| unreachable(from, to))?;
    let back = match topology.shortest(to, from) {
        Some(links) => links,
        // Datagrams need no way back.
        None if !two_way => Vec::new(),
        None => return Err(unreachable(to, from)),
    };
    Ok((there, back))
}

/// A link with a detector, and the links from its near end back to the sources.
pub(crate) type WayOfNotices = (usize, Vec<usize>);

/// The ways on which notifications for the flows in `flow` travel back; `given` says whether the
/// scenario gives their route, to which `back` is the way back then.
pub(crate) fn ways_of_notices(
    flow: &Section<'_>,
    (there, back): (&[usize], &[usize]),
    given: bool,
    network: &Around<'_>,
) -> Result<Vec<WayOfNotices>, Problem> {
    let Some(first) = there.first() else { return Ok(Vec::new()) };
    let source = &network.links[*first].from;
    let detecting = there.iter().enumerate().filter(|(_, link)| network.links[**link].detects());
    detecting
        .map(|(passed, link)| {
            let plan = &network.links[*link];
            let way = match (passed, given) {
                (0, _) => Some(Vec::new()),
                (_, true) => back.len().checked_sub(passed).map(|from| back[from..].to_vec()),
                (_, false) => network.topology.shortest(&plan.from, source),
            };
            way.map(|way| (*link, way)).ok_or_else(|| {
                let message = format!(
                    "links.{} has a detector, but no links lead from \"{}\" back to \"{source}\" \
                     to tell the sources",
                    plan.name, plan.from
                );
                flow.fail("paced", message)
            })
        })
        .collect()
}

/// The way back of flows that go by explicit rates: over the nodes of `there`, since every port
/// there writes into what comes back.
pub(crate) fn way_of_cells(
    (flow, own): (&Section<'_>, &str),
    there: &[usize],
    network: &Around<'_>,
) -> Result<Vec<usize>, Problem> {
    let far = there.iter().rev().map(|link| network.links[*link].to.clone());
    let near = there.first().map(|link| network.links[*link].from.clone());
    let nodes: Vec<String> = far.chain(near).collect();
    network.topology.along(&nodes).map_err(|message| {
        let message = format!("cells that bring explicit rates come back the same way; {message}");
        flow.fail(own, message)
    })
}

/// Measure of the packets of a way that arrive late: more than `after` behind the fastest. `size`
/// is the least that they can have.
pub(crate) fn lateness(
    after: Span,
    size: Size,
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Lateness {
    // Another path can take less time for small packets.
    let fails = links.iter().any(|link| link.failure.is_some());
    let there = if fails { &[] } else { there };
    let floor = there.iter().fold(Span::ZERO, |sum, link| sum + links[*link].least_time(size));
    Lateness::new(after, floor)
}
