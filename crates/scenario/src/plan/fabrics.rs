//! Reading fabrics, and having their switches forward by rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_elements::bounds::{check_delay, check_rate};
use forebay_elements::fabric::{
    BuildShape, FabricParts, FabricRule, FabricShape, LinkChange, Shapes,
};
use forebay_elements::link::Fixed;
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_laws::path::{self, PathFactory, Paths};
use forebay_network::{Destination, ElementId, NodeId, RouteId};
use forebay_parameters::{
    Entry, Parameters, Problem, Section, choose_or, did_you_mean, parameters,
};
use forebay_units::{Rate, Span};

use crate::plan::failures::{Failure, FailureParameters};
use crate::plan::links::{LinkPlan, join};
use crate::plan::switches::SwitchPlan;
use crate::plan::topology::Topology;
use crate::read::names::check_names;

parameters! {
    /// A fabric: the switches of a data centre, their hosts, and the links between them.
    pub struct FabricParameters {
        /// Rate of the links of hosts, in both directions.
        rate: Rate, "-";
        /// Propagation delay of each link.
        delay: Span = "0 s", "-";
    }
}

parameters! {
    /// The hosts of a fabric: the links from them to their switches.
    pub struct FabricHostParameters {
        /// Propagation delay of the links between hosts and switches, in both directions; that of
        /// the others if left out.
        delay: Option<Span>, "-";
    }
}

parameters! {
    /// A link of a fabric that fails and comes back, both directions of it.
    pub struct FabricFailureParameters {
        /// The link, by its two nodes: `edge0-agg1`, or `h3-edge1` for that of a host.
        link: String, "-";
        ..failure: FailureParameters;
    }
}

/// The list of failures in the section of a fabric.
pub(crate) const FAILURES: &str = "failures";

/// Keys of a fabric that name mechanisms of its switches.
pub(crate) const FABRIC_MECHANISMS: &[&str] = &["queue", "conditioner", "conditioners", "path"];

/// Keys of the hosts of a fabric that name mechanisms of their links.
pub(crate) const FABRIC_HOST_MECHANISMS: &[&str] = &["queue"];

/// The section of fabrics, and that of the hosts of one.
pub(crate) const FABRICS: &str = "fabrics";
pub(crate) const HOSTS: &str = "hosts";
/// The section of the memory that each switch of a fabric has for its ports.
pub(crate) const MEMORY: &str = "buffer";

/// A fabric as the scenario describes it.
pub(crate) struct FabricPlan {
    pub(crate) name: String,
    path: String,
    pub(crate) shape: Arc<dyn FabricShape>,
    /// The number of the link at the first port of each node; the others follow.
    first_links: Vec<usize>,
    paths: PathFactory,
}

/// A host of a fabric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FabricHost {
    /// The fabric, by number.
    pub(crate) fabric: usize,
    /// Its number in it.
    pub(crate) host: u32,
}

/// All fabrics of a scenario.
#[derive(Default)]
pub(crate) struct Fabrics {
    pub(crate) all: Vec<FabricPlan>,
    /// Hosts by the names of their nodes.
    hosts: BTreeMap<String, FabricHost>,
}

/// A fabric in a network: its first node, and the element of each host's link.
pub(crate) struct WiredFabric {
    first: NodeId,
    entries: Vec<ElementId>,
}

impl Fabrics {
    /// The fabrics of the scenario with this `root`, whose links are added, and their switches that
    /// have a memory for all ports.
    pub(crate) fn read<'a>(
        root: &Section<'a>,
        topology: &mut Topology,
        links: &mut Vec<LinkPlan<'a>>,
        around: &LinkFacts,
    ) -> Result<(Self, Vec<SwitchPlan<'a>>), Problem> {
        let (mut fabrics, mut switches) = (Self::default(), Vec::new());
        let Some(section) = root.section(FABRICS)? else { return Ok((fabrics, switches)) };
        check_names(&section)?;
        for name in section.keys() {
            let own = section.section(name)?.expect("the key is present");
            let fabric = read_fabric(name, &own, (topology, links), around)?;
            let number = fabrics.all.len();
            for host in 0..fabric.shape.hosts() {
                let node = format!("{name}.{}", fabric.shape.name(host));
                fabrics.hosts.insert(node, FabricHost { fabric: number, host });
            }
            if let Some(memory) = own.section(MEMORY)? {
                for node in fabric.shape.hosts()..fabric.shape.nodes() {
                    let links = &mut links[fabric.ports(node)];
                    let node = format!("{name}.{}", fabric.shape.name(node));
                    switches.push(SwitchPlan::new(node, &memory, (switches.len(), links))?);
                }
            }
            fabrics.all.push(fabric);
        }
        Ok((fabrics, switches))
    }

    /// The host that is the node `name`, if one is.
    pub(crate) fn host(&self, name: &str) -> Option<FabricHost> {
        self.hosts.get(name).copied()
    }

    /// The node that `host` is.
    pub(crate) fn name_of(&self, host: FabricHost) -> String {
        let fabric = &self.all[host.fabric];
        format!("{}.{}", fabric.name, fabric.shape.name(host.host))
    }

    /// The nodes that `name` stands for: all hosts of the fabric of this name, or the node.
    pub(crate) fn nodes_of(&self, name: &str) -> Vec<String> {
        match self.all.iter().find(|fabric| fabric.name == name) {
            Some(fabric) => {
                let shape = &fabric.shape;
                (0..shape.hosts()).map(|host| format!("{name}.{}", shape.name(host))).collect()
            }
            None => vec![name.to_owned()],
        }
    }

    /// Refuse `name` if it is no node of `topology`, with the nearest name that is.
    pub(crate) fn require(&self, name: &str, topology: &Topology) -> Result<(), String> {
        let named = |fabric: &&FabricPlan| {
            name.strip_prefix(&fabric.name).is_some_and(|rest| rest.starts_with('.'))
        };
        match self.all.iter().find(named) {
            Some(_) if self.host(name).is_some() => Ok(()),
            Some(fabric) => {
                let shape = &fabric.shape;
                let of = |node: u32| format!("{}.{}", fabric.name, shape.name(node));
                if topology.require(name).is_ok() {
                    return Err(format!("\"{name}\" is a switch; flows begin and end at hosts"));
                }
                let hosts: Vec<String> = (0..shape.hosts()).map(of).collect();
                let hint = did_you_mean(name, hosts.iter().map(String::as_str));
                Err(format!(
                    "there is no host \"{name}\"{hint}; hosts are {} to {}",
                    of(0),
                    of(shape.hosts() - 1)
                ))
            }
            None => topology.require(name),
        }
    }
}

/// The shape of a fabric, whose key is one of those of `section`.
fn read_shape(section: &Section<'_>, rate: Rate) -> Result<Arc<dyn FabricShape>, Problem> {
    let entries = section.registry().entries::<Shapes>();
    let mut given = entries.iter().filter(|entry| section.node(entry.name).is_some());
    let (Some(entry), other) = (given.next(), given.next()) else {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        let message = format!("needs a shape: one of {}", names.join(", "));
        return Err(section.fail("", message));
    };
    if let Some(other) = other {
        let message = format!("a fabric is either {} or {}, not both", entry.name, other.name);
        return Err(section.fail(other.name, message));
    }
    let own = section.section(entry.name)?.expect("the key is present");
    (entry.build)(&own, rate)
}

/// The keys of the section of a fabric beside its parameters.
pub(crate) fn fabric_keys(entries: &[Entry<BuildShape>]) -> Vec<&'static str> {
    let shapes = entries.iter().map(|entry| entry.name);
    shapes.chain(FABRIC_MECHANISMS.iter().copied()).chain([HOSTS, MEMORY, FAILURES]).collect()
}

fn read_fabric<'a>(
    name: &str,
    section: &Section<'a>,
    (topology, links): (&mut Topology, &mut Vec<LinkPlan<'a>>),
    around: &LinkFacts,
) -> Result<FabricPlan, Problem> {
    let keys = fabric_keys(section.registry().entries::<Shapes>());
    let FabricParameters { rate, delay } = FabricParameters::read_among(section, &keys)?;
    check_rate(section, rate)?;
    check_delay(section, "delay", delay)?;
    let shape = read_shape(section, rate)?;
    let (entry, inner) = choose_or::<Paths>(section, "path", path::DEFAULT)?;
    let paths = (entry.build)(&inner)?;
    let hosts = section.section(HOSTS)?.unwrap_or_else(|| section.absent(HOSTS));
    let host_delay = FabricHostParameters::read_among(&hosts, FABRIC_HOST_MECHANISMS)?.delay;
    if let Some(delay) = host_delay {
        check_delay(&hosts, "delay", delay)?;
    }
    check_free(name, section, &*shape, topology)?;
    let node_name = |node: u32| format!("{name}.{}", shape.name(node));
    let mut first_links = Vec::new();
    for node in 0..shape.nodes() {
        first_links.push(links.len());
        for other in shape.neighbours(node) {
            let (near, far) = (shape.tier(node), shape.tier(other));
            let (lower, of_host) = (near.min(far), near == 0 || far == 0);
            let rate = if of_host { rate } else { shape.rate_above(lower) };
            let delay = host_delay.filter(|_| of_host).unwrap_or(delay);
            let own = near == 0 && hosts.node("queue").is_some();
            let laws = if own { hosts.clone() } else { section.clone() };
            let link = format!("{}-{}", node_name(node), shape.name(other));
            let ends = [node_name(node), node_name(other)];
            let plan = LinkPlan::of_fabric(link, ends, Fixed { rate, delay }, laws);
            let plan = plan.prepare(around)?;
            join(topology, links, plan).map_err(|message| section.fail("", message))?;
        }
    }
    let path = section.path().to_owned();
    let fabric = FabricPlan { name: name.to_owned(), path, shape, first_links, paths };
    fabric.read_failures(section, links)?;
    Ok(fabric)
}

/// Refuse a fabric whose nodes others have already.
fn check_free(
    name: &str,
    section: &Section<'_>,
    shape: &dyn FabricShape,
    topology: &Topology,
) -> Result<(), Problem> {
    let own = (0..shape.nodes()).map(|node| format!("{name}.{}", shape.name(node)));
    match own.chain([name.to_owned()]).find(|node| topology.require(node).is_ok()) {
        None => Ok(()),
        Some(node) => {
            let message = format!(
                "has a node \"{node}\", which a link of the scenario touches: the nodes of a \
                 fabric have no other links"
            );
            Err(section.fail("", message))
        }
    }
}

impl FabricPlan {
    /// The links at the ports of `node`.
    fn ports(&self, node: u32) -> std::ops::Range<usize> {
        let first = self.first_links[node as usize];
        first..first + self.shape.neighbours(node).len()
    }

    /// The links of the first of the shortest ways between two hosts.
    pub(crate) fn way(&self, from: u32, to: u32) -> Vec<usize> {
        let nodes = self.shape.way(from, to);
        let port = |pair: &[u32]| {
            let ports = self.shape.neighbours(pair[0]);
            let port = ports.iter().position(|node| *node == pair[1]);
            self.first_links[pair[0] as usize] + port.expect("the way follows links")
        };
        nodes.windows(2).map(port).collect()
    }

    /// Have the links fail that `section` names.
    fn read_failures(
        &self,
        section: &Section<'_>,
        links: &mut [LinkPlan<'_>],
    ) -> Result<(), Problem> {
        let own = *self.first_links.first().expect("a fabric has nodes");
        for failing in section.sections(FAILURES)? {
            let link: String = failing.get("link", None)?;
            let prefix = format!("{}.", self.name);
            let named = link.strip_prefix(&prefix).unwrap_or(&link);
            let ways = named.split_once('-').map(|(near, far)| {
                [(near, far), (far, near)].map(|(near, far)| format!("{prefix}{near}-{far}"))
            });
            let found = ways
                .iter()
                .flatten()
                .map(|way| (own..links.len()).find(|number| links[*number].name == *way));
            let Some(numbers) = found.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
            else {
                let names = links[own..].iter().map(|link| link.name[prefix.len()..].to_owned());
                let names: Vec<String> = names.collect();
                let hint = did_you_mean(named, names.iter().map(String::as_str));
                let message = format!(
                    "\"{link}\" is no link of the fabric{hint}; links are {} to {}",
                    names[0],
                    names[names.len() - 1]
                );
                return Err(failing.fail("link", message));
            };
            let failure = Failure::of(&failing, &["link"])?;
            for number in numbers {
                if links[number].failure.replace(failure.clone()).is_some() {
                    let message = format!("\"{link}\" is there twice");
                    return Err(failing.fail("link", message));
                }
                links[number].check_kind(&failing)?;
            }
        }
        Ok(())
    }

    /// Have the links of the fabric, whose elements are `elements` by the number of the link, lead
    /// on by rule in `network`.
    pub(crate) fn wire(
        &self,
        elements: &[Vec<ElementId>],
        links: &[LinkPlan<'_>],
        network: &mut Network,
        streams: &Streams,
    ) -> WiredFabric {
        let shape = &self.shape;
        let ports = |node: u32| self.ports(node);
        let name = format!("{}.path", self.path);
        let first_element = |link: usize| *elements[link].first().expect("a link has an element");
        let parts = FabricParts {
            shape: Arc::clone(shape),
            ports: (0..shape.nodes())
                .map(|node| ports(node).map(first_element).collect())
                .collect(),
            paths: Arc::clone(&self.paths),
            streams: (shape.hosts()..shape.nodes())
                .map(|switch| streams.numbered(&name, u64::from(switch)))
                .collect(),
            changes: self.changes(links),
        };
        let first = network.add_rule(Box::new(FabricRule::new(parts)));
        let node_id = |node: u32| NodeId::new(first.index() + node as usize);
        for node in 0..shape.nodes() {
            for (link, other) in ports(node).zip(shape.neighbours(node)) {
                for pair in elements[link].windows(2) {
                    network.lead_on(pair[0], pair[1]);
                }
                let last = elements[link].last().expect("a link has an element");
                network.lead_to(*last, node_id(other));
            }
        }
        let entries = (0..shape.hosts()).map(|host| first_element(ports(host).start)).collect();
        WiredFabric { first, entries }
    }

    /// All its links, each with the share of packets that pass it if hosts send to each other
    /// alike.
    pub(crate) fn even_loads(&self) -> BTreeMap<usize, f64> {
        let shape = &self.shape;
        let mut of_tier: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for node in 0..shape.nodes() {
            for (link, other) in self.ports(node).zip(shape.neighbours(node)) {
                of_tier.entry((shape.tier(node), shape.tier(other))).or_default().push(link);
            }
        }
        let share = |links: Vec<usize>| {
            let share = 1.0 / links.len() as f64;
            links.into_iter().map(move |link| (link, share))
        };
        of_tier.into_values().flat_map(share).collect()
    }

    /// The failures of its links among `links`, as its switches get to know of them.
    fn changes(&self, links: &[LinkPlan<'_>]) -> Vec<LinkChange> {
        let mut changes = Vec::new();
        for node in 0..self.shape.nodes() {
            for (port, link) in (0..).zip(&links[self.ports(node)]) {
                let Some(failure) = &link.failure else { continue };
                for (from, until) in &failure.times {
                    for (at, fails) in [(*from, true), (*until, false)] {
                        changes.push(LinkChange { at: at + failure.detection, node, port, fails });
                    }
                }
            }
        }
        changes.sort_unstable();
        changes
    }
}

impl WiredFabric {
    /// Lay the route between two hosts, which is for `end` at the second.
    pub(crate) fn lay(
        &self,
        from: u32,
        to: u32,
        end: Destination,
        network: &mut Network,
    ) -> RouteId {
        let goal = NodeId::new(self.first.index() + to as usize);
        network.add_route_by_rule(self.entries[from as usize], goal, end)
    }
}
