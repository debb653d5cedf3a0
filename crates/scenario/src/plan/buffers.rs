//! Queue lengths that go by their link: `"1 BDP"` and `"20 ms"` become bytes before the mechanisms
//! are read.
//!
//! A time is what the link sends in it; BDP is the bandwidth-delay product, with the longest base
//! round-trip time of the flows that pass the link: the sum of the propagation delays on their way
//! there and back.

use std::collections::BTreeMap;

use forebay_elements::Transports;
use forebay_laws::LinkFacts;
use forebay_laws::queue::Queues;
use forebay_parameters::{
    Field, Length, Node, Parameter, Parameters, Problem, Registry, Section, Value, key,
};
use forebay_units::quantity::{parse_bdp, parse_span, show_size, unit_of};
use forebay_units::{PS_PER_S, Rate, Size, Span};

use crate::plan::fabrics::FABRICS;
use crate::plan::links::{LinkPlan, join, read_link};
use crate::plan::sections::{FlowParameters, LINK_MECHANISMS};
use crate::plan::subnetworks::read_subnetworks;
use crate::plan::topology::Topology;
use crate::plan::ways::routes;

/// Millionths of one.
const MICRO: u128 = 1_000_000;

/// The scenario `root` with queue lengths in bytes in place of those that go by their link;
/// `None` if it has none of these.
///
/// # Errors
/// A length whose link changes, or has no flows whose round-trip time counts; and what is wrong
/// with links and ways of flows, if these must be known.
pub(crate) fn in_bytes(root: &Node, registry: &Registry) -> Result<Option<Node>, Problem> {
    let mut network = None;
    let mut changed = Vec::new();
    let Some(Value::Table(links)) = root.child("links").map(|node| &node.value) else {
        return Ok(None);
    };
    for (name, link) in links {
        let back = link.child("reverse").and_then(|reverse| reverse.child("queue"));
        for (way, queue) in [("", link.child("queue")), (".reverse", back)] {
            let Some(queue) = queue else { continue };
            let direction = format!("{name}{way}");
            let mut sizes = Sizes { root, registry, network: &mut network, direction };
            let mut sized = queue.clone();
            if sizes.replace(&mut sized, &format!("links.{}{way}.queue", key(name)), &[])? {
                changed.push((name, way, sized));
            }
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let mut sized = root.clone();
    for (name, way, queue) in changed {
        let steps = ["links", name].into_iter().chain((!way.is_empty()).then_some("reverse"));
        let place = steps.chain(["queue"]).try_fold(&mut sized, Node::child_mut);
        *place.expect("its queue was found there") = queue;
    }
    Ok(Some(sized))
}

/// Queue lengths of one direction of a link.
struct Sizes<'s> {
    root: &'s Node,
    registry: &'s Registry,
    /// Known once the first length asked for it.
    network: &'s mut Option<BTreeMap<String, Direction>>,
    /// Name of the direction: that of the link, with `.reverse` for the way back.
    direction: String,
}

impl Sizes<'_> {
    /// Replace lengths below `node`, the value of a mechanism with `fields` or of a key of no
    /// known one. Returns true if there were any.
    fn replace(&mut self, node: &mut Node, path: &str, fields: &[Field]) -> Result<bool, Problem> {
        let mut any = false;
        match &mut node.value {
            Value::Table(table) => {
                let queues = self.registry.entries::<Queues>();
                for (name, inner) in table {
                    let path = format!("{path}.{}", key(name));
                    let is_length =
                        |field: &Field| field.name == name && field.kind == Length::KIND;
                    any |= if fields.iter().any(is_length) {
                        self.replace_lengths(inner, &path)?
                    } else {
                        let law = queues.iter().find(|entry| entry.name == name);
                        self.replace(inner, &path, law.map_or(&[], |law| law.fields))?
                    };
                }
            }
            Value::List(items) => {
                for (item, at) in items.iter_mut().zip(0..) {
                    any |= self.replace(item, &format!("{path}[{at}]"), &[])?;
                }
            }
            _ => {}
        }
        Ok(any)
    }

    /// The same for a length, or a list of them.
    fn replace_lengths(&mut self, node: &mut Node, path: &str) -> Result<bool, Problem> {
        match &mut node.value {
            Value::Text(text) => {
                let fail = |message| Problem { path: path.to_owned(), line: node.line, message };
                let Some(measure) = Measure::parse(text).map_err(fail)? else { return Ok(false) };
                // Without a way back its section is refused when it is read.
                let Some(direction) = self.direction()? else { return Ok(false) };
                let bytes = direction.bytes(text, measure).map_err(fail)?;
                *text = show_size(Size::from_bytes(bytes));
                Ok(true)
            }
            Value::List(items) => {
                let mut any = false;
                for (item, at) in items.iter_mut().zip(0..) {
                    any |= self.replace_lengths(item, &format!("{path}[{at}]"))?;
                }
                Ok(any)
            }
            _ => Ok(false),
        }
    }

    /// The direction of the link, if there is one.
    fn direction(&mut self) -> Result<Option<&Direction>, Problem> {
        if self.network.is_none() {
            *self.network = Some(directions(self.root, self.registry)?);
        }
        Ok(self.network.as_ref().and_then(|all| all.get(&self.direction)))
    }
}

/// A length that goes by a link.
#[derive(Clone, Copy)]
enum Measure {
    Time(Span),
    /// Bandwidth-delay products, in millionths.
    Bdp(u64),
}

impl Measure {
    /// The measure that `text` is; `None` if it has another unit or none.
    fn parse(text: &str) -> Result<Option<Self>, String> {
        let unit = unit_of(text);
        let measure = if unit.eq_ignore_ascii_case("BDP") {
            parse_bdp(text).map(Self::Bdp)
        } else if parse_span(&format!("0 {unit}")).is_ok() {
            parse_span(text).map(Self::Time)
        } else {
            return Ok(None);
        };
        measure.map(Some).map_err(|error| error.0)
    }
}

/// A direction of a link.
struct Direction {
    rate: Rate,
    changes: bool,
    /// The longest base round-trip time of the flows that pass it.
    base_rtt: Option<Span>,
}

impl Direction {
    /// The bytes of `measure`, which `text` is, rounded down.
    fn bytes(&self, text: &str, measure: Measure) -> Result<u64, String> {
        if self.changes {
            return Err(format!(
                "\"{text}\" goes by the rate of the link, which changes; write a size or packets, \
                 such as \"45 kB\" or \"78 packets\""
            ));
        }
        let (span, micro) = match measure {
            Measure::Time(span) => (span, MICRO),
            Measure::Bdp(micro) => match self.base_rtt {
                Some(Span::ZERO) => {
                    return Err(format!(
                        "\"{text}\" is no length: the flows that pass the link have no propagation \
                         delay; write a time, a size or packets, such as \"20 ms\" or \"45 kB\""
                    ));
                }
                Some(span) => (span, u128::from(micro)),
                None => {
                    return Err(format!(
                        "\"{text}\" goes by the round-trip time of the flows that pass the link, \
                         and none does that has a way back; write a time, a size or packets, such \
                         as \"20 ms\" or \"45 kB\""
                    ));
                }
            },
        };
        let exact = u128::from(self.rate.bps())
            .checked_mul(u128::from(span.ps()))
            .and_then(|bits| bits.checked_mul(micro));
        let bytes = exact.map(|exact| exact / (u128::from(8 * PS_PER_S) * MICRO));
        bytes
            .and_then(|bytes| u64::try_from(bytes).ok())
            .ok_or_else(|| format!("\"{text}\" is too large for a queue"))
    }
}

/// The directions of all links of the scenario `root` by name; links are read without their
/// mechanisms.
fn directions(root: &Node, registry: &Registry) -> Result<BTreeMap<String, Direction>, Problem> {
    let mut root = root.clone();
    if let Some(Node { value: Value::Table(links), .. }) = root.child_mut("links") {
        for link in links.values_mut() {
            link.child_mut("reverse").map(remove_mechanisms);
            remove_mechanisms(link);
        }
    }
    let root = Section::root(&root, None)?.with_registry(registry);
    let (mut topology, mut links) = (Topology::default(), Vec::new());
    let facts = LinkFacts::of(Rate::from_bps(0));
    let section = root.section("links")?;
    for name in section.iter().flat_map(Section::keys) {
        let inner = section.as_ref().and_then(|links| links.section(name).transpose());
        let inner = inner.expect("the key is present")?;
        for plan in read_link(name, &inner, &facts)? {
            join(&mut topology, &mut links, plan).map_err(|message| inner.fail("to", message))?;
        }
    }
    read_subnetworks(&root, &mut topology, &mut links)?;
    let base_rtts = base_rtts(&root, &topology, &links)?;
    let direction = |(link, base_rtt): (LinkPlan<'_>, _)| {
        let changes = link.changes().is_some();
        (link.name, Direction { rate: link.rate, changes, base_rtt })
    };
    Ok(links.into_iter().zip(base_rtts).map(direction).collect())
}

/// Remove what a link, or its way back, does with packets.
fn remove_mechanisms(link: &mut Node) {
    if let Value::Table(table) = &mut link.value {
        table.retain(|key, _| !LINK_MECHANISMS.contains(&key.as_str()));
    }
}

/// For each of `links`, the longest base round-trip time of the flows that pass it.
fn base_rtts(
    root: &Section<'_>,
    topology: &Topology,
    links: &[LinkPlan<'_>],
) -> Result<Vec<Option<Span>>, Problem> {
    let mut longest = vec![None; links.len()];
    let Some(flows) = root.section("flows")? else { return Ok(longest) };
    let transports = root.registry().entries::<Transports>();
    for name in flows.keys() {
        let flow = flows.section(name)?.expect("the key is present");
        let parameters = FlowParameters::read_fields(&flow, FlowParameters::FIELDS)?;
        let transport = transports.iter().find(|entry| flow.node(entry.name).is_some());
        let two_way = transport.is_some_and(|entry| entry.build.two_way);
        let FlowParameters { from, to, .. } = &parameters;
        let ways = if from.one().is_some() && to.one().is_some() {
            // In a fabric there are no lengths of this kind.
            if from.iter().chain(to.iter()).any(|name| in_fabric(root, name)) {
                continue;
            }
            vec![routes(&flow, &parameters, two_way, topology)?]
        } else {
            let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (from, to)));
            let way =
                |(from, to)| Some((topology.shortest(from, to)?, topology.shortest(to, from)?));
            pairs.filter_map(way).collect()
        };
        for (there, back) in ways.iter().filter(|(_, back)| !back.is_empty()) {
            let passed = || there.iter().chain(back);
            // Nothing takes no time to transmit: the delays are left, of links that change the
            // least.
            let delay = |link: &usize| links[*link].least_time(Size::from_bytes(0));
            let rtt = passed().map(delay).fold(Span::ZERO, |sum, delay| sum + delay);
            for link in passed() {
                longest[*link] = longest[*link].max(Some(rtt));
            }
        }
    }
    Ok(longest)
}

/// Returns true if `name` is a fabric of the scenario `root`, or a node of one.
fn in_fabric(root: &Section<'_>, name: &str) -> bool {
    let fabrics = root.section(FABRICS).ok().flatten();
    let of = |fabric: &str| {
        name.strip_prefix(fabric).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    fabrics.is_some_and(|fabrics| fabrics.keys().any(of))
}
