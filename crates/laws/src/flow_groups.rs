//! The groups of flows of a scenario and the hosts between which they are: what classifiers may go
//! by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use forebay_network::{FlowId, HostId, Packet, PacketKind};
use forebay_parameters::{Node, Parameter, Value, choice, did_you_mean};

use crate::explicit_rate::ResourceCell;

/// The groups of flows of a scenario, and their hosts. Their names are known while links are read,
/// and which flows they have once all flows are.
#[derive(Clone, Debug, Default)]
pub struct FlowGroups(Option<Arc<Groups>>);

#[derive(Debug)]
struct Groups {
    names: Vec<String>,
    /// Tags of each group.
    tags: Vec<Vec<String>>,
    hosts: Vec<String>,
    /// Other names of each host: its node, and its tags.
    host_tags: Vec<Vec<String>>,
    /// Ends of each group.
    ends: Vec<Ends>,
    /// The number of the first flow of each.
    firsts: OnceLock<Vec<u32>>,
}

/// A group of flows as a scenario names it.
#[derive(Clone, Debug, Default)]
pub struct NamedGroup {
    /// Its name.
    pub name: String,
    /// The hosts where its flows begin and end.
    pub hosts: [NamedHost; 2],
    /// The tags that it has in common with others.
    pub tags: Vec<String>,
}

/// A host as a scenario names it.
#[derive(Clone, Debug, Default)]
pub struct NamedHost {
    /// Its name.
    pub name: String,
    /// Names that it has in common with others: its node, unless it is that itself, and tags.
    pub tags: Vec<String>,
}

/// The hosts of a group, and the numbers of their pairs there and back.
#[derive(Clone, Copy, Debug)]
struct Ends {
    hosts: [HostId; 2],
    pairs: [u32; 2],
}

/// Returns true if `packet` goes from where its flow ends to where it begins.
#[inline]
fn goes_back(packet: &Packet) -> bool {
    packet.is_feedback()
        && (packet.kind() != PacketKind::ResourceCell || ResourceCell::of(packet).backward)
}

impl FlowGroups {
    /// No groups.
    pub const NONE: Self = Self(None);

    /// Groups by name, each with the hosts where its flows begin and end, in the order of their
    /// flows. Hosts are numbered in the order in which they come.
    #[must_use]
    pub fn new(groups: Vec<(String, [String; 2])>) -> Self {
        let host = |name| NamedHost { name, tags: Vec::new() };
        let group = |(name, hosts): (String, [String; 2])| NamedGroup {
            name,
            hosts: hosts.map(host),
            tags: Vec::new(),
        };
        Self::named(groups.into_iter().map(group).collect())
    }

    /// Groups with their hosts and tags, in the order of their flows. Of a host that comes several
    /// times the first tags count.
    #[must_use]
    pub fn named(groups: Vec<NamedGroup>) -> Self {
        let (mut hosts, mut host_tags, mut known) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut number = |host: &NamedHost| {
            *known.entry(host.name.clone()).or_insert_with(|| {
                hosts.push(host.name.clone());
                host_tags.push(host.tags.clone());
                HostId::new(hosts.len() - 1)
            })
        };
        let mut pairs = BTreeMap::new();
        let mut pair = |from: HostId, to: HostId| {
            let next = u32::try_from(pairs.len()).expect("two for each group");
            *pairs.entry((from, to)).or_insert(next)
        };
        let ends = groups.iter().map(|NamedGroup { hosts: [from, to], .. }| {
            let (from, to) = (number(from), number(to));
            Ends { hosts: [from, to], pairs: [pair(from, to), pair(to, from)] }
        });
        let ends = ends.collect();
        let (names, tags) = groups.into_iter().map(|group| (group.name, group.tags)).unzip();
        let firsts = OnceLock::new();
        Self(Some(Arc::new(Groups { names, tags, hosts, host_tags, ends, firsts })))
    }

    /// The groups have so many flows, from flow 0 on. The first call counts.
    pub fn place(&self, counts: impl IntoIterator<Item = u32>) {
        let Some(groups) = &self.0 else { return };
        let first = |next: &mut u32, count| {
            let first = *next;
            *next += count;
            Some(first)
        };
        groups.firsts.get_or_init(|| counts.into_iter().scan(0, first).collect());
    }

    /// The places of the group called `name`, or of the groups that have this tag.
    ///
    /// # Errors
    /// If there are none, with the nearest name.
    pub fn find(&self, name: &str) -> Result<Vec<usize>, String> {
        let (names, tags) =
            self.0.as_ref().map_or((&[][..], &[][..]), |all| (&all.names, &all.tags));
        places_of(name, names, tags, ["group of flows", "tag of one"])
    }

    /// The name of the group at `place`.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn name(&self, place: usize) -> &str {
        &self.0.as_ref().expect("there are groups").names[place]
    }

    /// The host called `name`, or the hosts that are behind the node `name` or have this tag.
    ///
    /// # Errors
    /// If no flow begins or ends there, with the nearest name.
    pub fn find_hosts(&self, name: &str) -> Result<Vec<HostId>, String> {
        let (names, tags) =
            self.0.as_ref().map_or((&[][..], &[][..]), |all| (&all.hosts, &all.host_tags));
        let places = places_of(name, names, tags, ["host of flows", "node or tag of one"])?;
        Ok(places.into_iter().map(HostId::new).collect())
    }

    /// The names of the hosts, by number.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        self.0.as_ref().map_or(&[][..], |groups| &groups.hosts)
    }

    /// The place of the group of `flow`; 0 before groups have flows.
    #[inline]
    #[must_use]
    pub fn group_of(&self, flow: FlowId) -> usize {
        let firsts = self.0.as_ref().and_then(|groups| groups.firsts.get());
        let after = firsts.map_or(0, |all| all.partition_point(|first| *first <= flow.number()));
        after.saturating_sub(1)
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |groups| groups.names.len())
    }

    /// The hosts where the flows of group `group` begin and end.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn hosts_of_group(&self, group: usize) -> [HostId; 2] {
        self.0.as_ref().expect("there are groups").ends[group].hosts
    }

    /// The hosts of `flow` and the numbers of their pairs. In a network without groups each flow
    /// has two hosts of its own.
    #[inline]
    fn ends_of(&self, flow: FlowId) -> Ends {
        match &self.0 {
            Some(groups) => groups.ends[self.group_of(flow)],
            None => {
                let number = flow.number().wrapping_mul(2);
                let hosts = [number, number.wrapping_add(1)];
                Ends { hosts: hosts.map(HostId::of_number), pairs: hosts }
            }
        }
    }

    /// The source and the destination host of `packet`: those of its flow, or for what goes back to
    /// a source, such as acknowledgements, the other way round.
    #[inline]
    #[must_use]
    pub fn hosts_of(&self, packet: &Packet) -> [HostId; 2] {
        let [from, to] = self.ends_of(packet.flow).hosts;
        if goes_back(packet) { [to, from] } else { [from, to] }
    }

    /// A number for the pair of the source and the destination host of `packet`: pairs are numbered
    /// from 0.
    #[inline]
    fn pair_of(&self, packet: &Packet) -> u32 {
        self.ends_of(packet.flow).pairs[usize::from(goes_back(packet))]
    }
}

/// Returns the place of `name` among `names`, or of those that have it in their `tags`, or says
/// that there is none of the two `kinds`.
fn places_of(
    name: &str,
    names: &[String],
    tags: &[Vec<String>],
    [kind, other]: [&str; 2],
) -> Result<Vec<usize>, String> {
    if let Some(at) = names.iter().position(|known| known == name) {
        return Ok(vec![at]);
    }
    let has = |own: &Vec<String>| own.iter().any(|tag| tag == name);
    let found: Vec<usize> = (0..).zip(tags).filter(|(_, own)| has(own)).map(|(at, _)| at).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let tags: BTreeSet<&str> = tags.iter().flatten().map(String::as_str).collect();
    let known = || names.iter().map(String::as_str).chain(tags.iter().copied());
    let hint = did_you_mean(name, known());
    let kinds = if tags.is_empty() { kind.to_owned() } else { format!("{kind}, nor {other},") };
    let all = known().collect::<Vec<_>>().join(", ");
    Err(format!("there is no {kinds} \"{name}\"{hint}; there are {all}"))
}

choice! {
    /// Keys that tell packets apart: the words of tc-flow(8).
    pub enum FlowKeys {
        /// Their flow.
        Flow = "flow",
        /// Their source host; that of an acknowledgement is where its flow ends.
        Source = "src",
        /// Their destination host.
        Destination = "dst",
        /// Both hosts, in this order.
        Hosts = "src,dst",
        /// Their group of flows.
        Group = "group",
    }
}

impl FlowKeys {
    /// The number of `packet` by hosts or group; `None` where flows are told apart.
    #[inline]
    #[must_use]
    pub fn number(self, packet: &Packet, flows: &FlowGroups) -> Option<u32> {
        match self {
            Self::Flow => None,
            Self::Source => Some(flows.hosts_of(packet)[0].number()),
            Self::Destination => Some(flows.hosts_of(packet)[1].number()),
            Self::Hosts => Some(flows.pair_of(packet)),
            Self::Group => Some(flows.group_of(packet.flow) as u32),
        }
    }
}

/// One name, or a list of them.
fn read_names(node: &Node, kind: &str) -> Result<Vec<String>, String> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let name = |item: &Node| match &item.value {
        Value::Text(name) => Ok(name.clone()),
        other => Err(format!("{} is not a {kind}", other.show())),
    };
    items.iter().map(name).collect()
}

/// Groups of flows that are treated alike: the name of one or of a tag, or a list of names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupSet(pub Vec<String>);

impl Parameter for GroupSet {
    const KIND: &'static str =
        "name of a group of flows such as \"voice\", or of a tag, or a list of them";

    fn read(node: &Node) -> Result<Self, String> {
        read_names(node, Self::KIND).map(Self)
    }

    fn show(&self) -> String {
        self.0.join(" ")
    }
}

/// Hosts that are treated alike: the name of one, of a node or of a tag, or a list of names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostSet(Vec<String>);

impl Parameter for HostSet {
    const KIND: &'static str =
        "name of a host such as \"home\", of a node or of a tag, or a list of them";

    fn read(node: &Node) -> Result<Self, String> {
        read_names(node, Self::KIND).map(Self)
    }

    fn show(&self) -> String {
        self.0.join(" ")
    }
}

/// Selection of packets by their hosts: all, unless one or both are named.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostMatch {
    /// True for each host that is selected, by number.
    source: Option<Vec<bool>>,
    destination: Option<Vec<bool>>,
    flows: FlowGroups,
}

impl HostMatch {
    /// Packets from one of `src`, if given, to one of `dst`, if given; an error has the key.
    pub(crate) fn new(
        src: Option<&HostSet>,
        dst: Option<&HostSet>,
        flows: &FlowGroups,
    ) -> Result<Self, (&'static str, String)> {
        let hosts = |key, set: Option<&HostSet>| {
            let found = |set: &HostSet| -> Result<Vec<bool>, String> {
                if set.0.is_empty() {
                    return Err("is empty: no packet would match".to_owned());
                }
                let mut selected = vec![false; flows.hosts().len()];
                for name in &set.0 {
                    flows.find_hosts(name)?.iter().for_each(|host| selected[host.index()] = true);
                }
                Ok(selected)
            };
            set.map(found).transpose().map_err(|message| (key, message))
        };
        let (source, destination) = (hosts("src", src)?, hosts("dst", dst)?);
        Ok(Self { source, destination, flows: flows.clone() })
    }

    /// Returns true if `packet` is selected.
    #[inline]
    pub(crate) fn matches(&self, packet: &Packet) -> bool {
        if self.source.is_none() && self.destination.is_none() {
            return true;
        }
        let [from, to] = self.flows.hosts_of(packet);
        let is_in = |set: &Option<Vec<bool>>, host: HostId| {
            set.as_ref().is_none_or(|selected| selected[host.index()])
        };
        is_in(&self.source, from) && is_in(&self.destination, to)
    }
}

/// Selection of packets by their groups of flows: all, unless some are named.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupMatch {
    /// True for each group that is selected, by place.
    selected: Option<Vec<bool>>,
    flows: FlowGroups,
}

impl GroupMatch {
    /// Packets of one of the groups `set`, if given.
    pub(crate) fn new(set: Option<&GroupSet>, flows: &FlowGroups) -> Result<Self, String> {
        let found = |set: &GroupSet| -> Result<Vec<bool>, String> {
            if set.0.is_empty() {
                return Err("is empty: no packet would match".to_owned());
            }
            let mut selected = vec![false; flows.count()];
            for name in &set.0 {
                flows.find(name)?.into_iter().for_each(|place| selected[place] = true);
            }
            Ok(selected)
        };
        Ok(Self { selected: set.map(found).transpose()?, flows: flows.clone() })
    }

    /// Returns true if `packet` is selected, or what answers packets of its group.
    #[inline]
    pub(crate) fn matches(&self, packet: &Packet) -> bool {
        self.selected.as_ref().is_none_or(|all| all[self.flows.group_of(packet.flow)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit_rate::CellRate;
    use forebay_network::RouteId;
    use forebay_units::Time;

    fn groups(all: &[(&str, &str, &str)]) -> FlowGroups {
        let owned = |(name, from, to): &(&str, &str, &str)| {
            ((*name).to_owned(), [from, to].map(|host| (*host).to_owned()))
        };
        FlowGroups::new(all.iter().map(owned).collect())
    }

    fn packet(flow: usize) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(flow), 0, 100, RouteId::new(0))
    }

    /// Flows belong to the group that counts them: groups of 2, 1 and 3 flows have the flows 0 and
    /// 1, 2, and 3 to 5.
    #[test]
    fn flows_belong_to_the_group_that_counts_them() {
        let groups = groups(&[("web", "a", "b"), ("voice", "a", "b"), ("mail", "a", "b")]);
        assert_eq!((groups.find("voice"), groups.count()), (Ok(vec![1]), 3));
        let clone = groups.clone();
        groups.place([2, 1, 3]);
        let found: Vec<usize> = (0..6).map(|flow| clone.group_of(FlowId::new(flow))).collect();
        assert_eq!(found, [0, 0, 1, 2, 2, 2]);
    }

    /// Packets have the hosts of their flow and direction: groups of one host share it, whatever
    /// their number; what goes back comes from where the flow ends; a resource-management cell goes
    /// there first.
    #[test]
    fn packets_have_the_hosts_of_their_flow_and_direction() {
        let flows =
            groups(&[("up", "home", "isp"), ("more", "home", "web"), ("down", "isp", "home")]);
        flows.place([2, 1, 1]);
        let names = |packet: &Packet| {
            flows.hosts_of(packet).map(|host| flows.hosts()[host.index()].as_str())
        };
        assert_eq!(
            [0, 1, 2, 3].map(|flow| names(&packet(flow))[0]),
            ["home", "home", "home", "isp"]
        );
        let back = packet(2).with_kind(PacketKind::Ack);
        assert_eq!(names(&back), ["web", "home"]);
        let cell = |backward| {
            let [current, explicit, minimum] = [1.0; 3].map(CellRate::at_most);
            ResourceCell { backward, current, explicit, minimum }.written(packet(0))
        };
        assert_eq!((names(&cell(false)), names(&cell(true))), (["home", "isp"], ["isp", "home"]));
        assert_eq!(FlowKeys::Flow.number(&packet(0), &flows), None);
        let by = |keys: FlowKeys, packet: &Packet| keys.number(packet, &flows).unwrap();
        assert_eq!(by(FlowKeys::Source, &packet(0)), by(FlowKeys::Source, &packet(2)));
        assert_eq!(by(FlowKeys::Destination, &packet(0)), by(FlowKeys::Source, &packet(3)));
        // From the home to the ISP go uploads and the acknowledgements of downloads.
        let ack = packet(3).with_kind(PacketKind::Ack);
        assert_eq!(by(FlowKeys::Hosts, &packet(1)), by(FlowKeys::Hosts, &ack));
        assert_ne!(by(FlowKeys::Hosts, &packet(1)), by(FlowKeys::Hosts, &packet(3)));
        let pairs = [0, 2, 3].map(|flow| by(FlowKeys::Hosts, &packet(flow)));
        assert!(pairs.into_iter().max() < Some(4), "pairs are numbered from 0: {pairs:?}");
    }

    /// Flows without groups have hosts of their own: laws that are tried alone see as many hosts as
    /// flows.
    #[test]
    fn flows_without_groups_have_hosts_of_their_own() {
        let hosts = |flow| FlowGroups::NONE.hosts_of(&packet(flow)).map(HostId::number);
        assert_eq!([hosts(0), hosts(1)], [[0, 1], [2, 3]]);
    }

    /// Unknown names of groups and hosts are refused with the nearest.
    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let groups = groups(&[("web", "home", "isp"), ("voice", "home", "isp")]);
        let message = groups.find("voise").unwrap_err();
        assert!(message.contains("did you mean \"voice\"") && message.contains("there are web, "));
        let message = groups.find_hosts("hone").unwrap_err();
        assert!(message.contains("did you mean \"home\"") && message.contains("home, isp"));
        assert!(FlowGroups::NONE.find("web").is_err());
        assert!(GroupSet::read(&Node::new(3.into())).unwrap_err().contains("3 is not a name"));
        assert!(HostSet::read(&Node::new(3.into())).unwrap_err().contains("name of a host"));
        let empty = HostSet(Vec::new());
        assert_eq!(HostMatch::new(None, Some(&empty), &groups).unwrap_err().0, "dst");
    }
}
