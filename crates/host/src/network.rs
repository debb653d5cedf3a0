//! A network with real stacks on it: [`Network`].

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use forebay_parameters::{Node, Registry, Table, Value};
use forebay_scenario::{Control, FileText, Limits, Report as Invariants, RunOptions, Scenario};
use forebay_units::Time;

use crate::endpoint::{App, Endpoint};
use crate::error::HostError;
use crate::host::{Host, HostRef, Trace};
use crate::report::{HostId, Report};
use crate::script::{Log, Script, Scripted};
use crate::stack::{Member, Stack, Transfer};
use crate::transport::{FlowEnd, GroupEnds, path_of, with_hosts};
use crate::wired::{Wired, difference};

/// UDP port of every host, that of HTTP/3 in examples of QUIC stacks.
const PORT: u16 = 4433;

/// Reader of files that a scenario names.
type Files = Arc<dyn Fn(&str) -> Result<FileText, String> + Send + Sync>;

/// A scenario in which real protocol stacks are hosts: links, queue laws, cross traffic, recordings
/// are those of any scenario.
pub struct Network {
    text: String,
    file: String,
    folder: Option<PathBuf>,
    /// Reads the files that the scenario names, if they are not in the folder.
    files: Option<Files>,
    assignments: Vec<String>,
    registry: Registry,
    hosts: Vec<Attached>,
    /// Pairs of hosts that exchange datagrams; all of them if there are none here.
    peers: Vec<[usize; 2]>,
    taken: Vec<Taken>,
    addresses: u32,
    record: bool,
    replication: u64,
    limits: Limits,
}

/// A host that was attached.
struct Attached {
    name: String,
    member: Option<Member>,
    /// Its addresses, each with the node at which it is.
    addresses: Vec<(SocketAddr, String)>,
    moves: Vec<(Time, usize)>,
    start: Time,
    /// True if it has the place of an end of a flow of the scenario.
    taken: bool,
    /// The script of the datagrams that it sends to another host.
    script: Option<(usize, Script)>,
}

/// A group of flows of the scenario whose flows are connections of a stack: two hosts each.
struct Taken {
    group: String,
    /// The servers and clients.
    pairs: Vec<[usize; 2]>,
    /// Bytes of the file that each transfers; `None` without end.
    bytes: Option<u64>,
}

impl Network {
    /// The network of a scenario file's `text`.
    /// It is read when it runs, with the hosts that are attached by then.
    #[must_use]
    pub fn from_toml(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            file: "network".to_owned(),
            folder: None,
            files: None,
            assignments: Vec::new(),
            registry: forebay_scenario::registry(),
            hosts: Vec::new(),
            peers: Vec::new(),
            taken: Vec::new(),
            addresses: 0,
            record: false,
            replication: 0,
            limits: Limits::default(),
        }
    }

    /// The network of a scenario file, which can name data files beside it.
    ///
    /// # Errors
    /// If it cannot be read.
    #[expect(clippy::disallowed_methods, reason = "this crate is what a program uses")]
    pub fn from_file(path: &Path) -> Result<Self, HostError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| {
            HostError::Wrong(format!("{}: cannot be read: {error}", path.display()))
        })?;
        let folder = path.parent().map(Path::to_path_buf);
        Ok(Self { file: path.display().to_string(), folder, ..Self::from_toml(&text) })
    }

    /// The same, called `file` in errors, whose data files are what `read` makes of their names.
    #[must_use]
    pub fn with_files(
        self,
        file: &str,
        read: impl Fn(&str) -> Result<FileText, String> + Send + Sync + 'static,
    ) -> Self {
        Self { file: file.to_owned(), files: Some(Arc::new(read)), ..self }
    }

    /// The same with the mechanisms of `registry` to choose from.
    #[must_use]
    pub fn with_registry(self, registry: Registry) -> Self {
        Self { registry, ..self }
    }

    /// Set a parameter, as `--set` of the command does: `duration=10 s`.
    pub fn set(&mut self, assignment: &str) -> &mut Self {
        self.assignments.push(assignment.to_owned());
        self
    }

    /// Have the report contain what the `record` section of the scenario asks for.
    pub fn record(&mut self) -> &mut Self {
        self.record = true;
        self
    }

    /// Capture what passes the near end of `link`, with the real bytes of datagrams:
    /// [`Report::capture`] is the file.
    pub fn capture(&mut self, link: &str) -> &mut Self {
        self.set(&format!("record.capture=[{}]", quoted(link))).record()
    }

    /// Have runs be of replication `number`: other draws of the scenario's random numbers.
    pub fn replication(&mut self, number: u64) -> &mut Self {
        self.replication = number;
        self
    }

    /// Bounds of runs.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Make `endpoint` with `app` a host at `node`, which sets out at the start of the run. It
    /// exchanges datagrams with all other hosts, unless [`Network::connect`] says which.
    pub fn attach<E: Endpoint + 'static, A: App<E> + 'static>(
        &mut self,
        node: &str,
        endpoint: E,
        app: A,
    ) -> HostId {
        self.attach_member(node, Member::new(endpoint, app))
    }

    /// The same of a member whose types are not known.
    pub fn attach_member(&mut self, node: &str, member: Member) -> HostId {
        let host = self.reserve(node);
        self.put(host, member);
        host
    }

    /// Returns a host at `node` whose stack comes by [`Network::put`]: for stacks that must know
    /// the addresses of others.
    pub fn reserve(&mut self, node: &str) -> HostId {
        let number = self.hosts.iter().filter(|host| host.addresses[0].1 == node).count();
        let name = if number == 0 { node.to_owned() } else { format!("{node}{}", number + 1) };
        self.place(name, node, false)
    }

    /// Put `member` at a host that was reserved.
    pub fn put(&mut self, host: HostId, member: Member) -> &mut Self {
        self.hosts[host.0].member = Some(member);
        self
    }

    /// Make a host at `node` without a stack, of a group that was taken over or not.
    fn place(&mut self, name: String, node: &str, taken: bool) -> HostId {
        let addresses = vec![(self.next_address(), node.to_owned())];
        let (member, moves, start, script) = (None, Vec::new(), Time::ZERO, None);
        self.hosts.push(Attached { name, member, addresses, moves, start, taken, script });
        HostId(self.hosts.len() - 1)
    }

    fn next_address(&mut self) -> SocketAddr {
        self.addresses += 1;
        let bytes = ((10 << 24) | (self.addresses & 0xff_ffff)).to_be_bytes();
        SocketAddr::from((bytes, PORT))
    }

    /// The address of `host`, at first.
    #[must_use]
    pub fn address(&self, host: HostId) -> SocketAddr {
        self.hosts[host.0].addresses[0].0
    }

    /// The first address of each host, in the order in which they were attached.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.hosts.iter().map(|host| host.addresses[0].0)
    }

    /// Have `host` start at `time`; datagrams that come before are lost.
    pub fn start_at(&mut self, host: HostId, time: Time) -> &mut Self {
        self.hosts[host.0].start = time;
        self
    }

    /// Have hosts `one` and `other` exchange datagrams; hosts of which no such thing is said then
    /// exchange none.
    pub fn connect(&mut self, one: HostId, other: HostId) -> &mut Self {
        self.peers.push([one.0, other.0]);
        self
    }

    /// Have `host` leave its address for a new one at `node` when it is `time`, as a telephone does
    /// that changes from one access network to another. `node` can be the same: then the address
    /// alone changes, as behind a translator of addresses. What comes to the old address is lost.
    /// Returns the new address.
    pub fn move_host(&mut self, host: HostId, node: &str, time: Time) -> SocketAddr {
        let address = self.next_address();
        let host = &mut self.hosts[host.0];
        host.moves.push((time, host.addresses.len()));
        host.moves.sort();
        host.addresses.push((address, node.to_owned()));
        address
    }

    /// Have the flows of `group`, a group of TCP flows of the scenario, be connections of `stack`:
    /// from the same node to the same node, as many, with the same start times, and each with the
    /// same data, without end or a file.
    ///
    /// # Errors
    /// If the scenario is wrong, has no such group, or has traffic in it that is no file.
    pub fn take_over(
        &mut self,
        group: &str,
        stack: &dyn Stack,
        seed: u64,
    ) -> Result<&mut Self, HostError> {
        let plain = self.parse(&self.text)?;
        let of = |key: &str| plain.resolved(&format!("flows.{group}.{key}"));
        let (Some(from), Some(to)) = (of("from"), of("to")) else {
            return Err(HostError::Wrong(format!(
                "flows.{group}: is not in this scenario, whose flows are to be connections of {}",
                stack.name()
            )));
        };
        let count = of("count").and_then(|count| count.parse().ok()).unwrap_or(1);
        let bytes = bytes_of(&plain, group)?;
        let (from, to) = (unquoted(from), unquoted(to));
        let mut pairs = Vec::new();
        for index in 0..count {
            let name = if count == 1 { group.to_owned() } else { format!("{group}[{index}]") };
            let server = self.place(format!("{name}.server"), &from, true).0;
            let client = self.place(format!("{name}.client"), &to, true).0;
            let addresses = [server, client].map(|host| self.hosts[host].addresses[0].0);
            let own = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index);
            let transfer =
                Transfer { bytes, server: addresses[0], client: addresses[1], seed: own };
            let [one, other] = stack.pair(&transfer);
            self.hosts[server].member = Some(one);
            self.hosts[client].member = Some(other);
            pairs.push([server, client]);
        }
        self.taken.push(Taken { group: group.to_owned(), pairs, bytes });
        Ok(self)
    }

    /// The servers and clients of the flows of `group`, which was taken over.
    #[must_use]
    pub fn pairs_of(&self, group: &str) -> Vec<[HostId; 2]> {
        let taken = self.taken.iter().filter(|taken| taken.group == group);
        taken.flat_map(|taken| &taken.pairs).map(|pair| pair.map(HostId)).collect()
    }

    /// Have the datagrams that `from` sends to `to` fare as `script` says, and log what both
    /// exchange there: [`Report::sent`] and [`Report::received`] of `from`. A host has one script,
    /// the last.
    pub fn script(&mut self, from: HostId, to: HostId, script: Script) -> &mut Self {
        self.hosts[from.0].script = Some((to.0, script));
        self
    }

    /// Run it with the scenario's own seed, or with `seed`.
    ///
    /// # Errors
    /// If the scenario is wrong, the run exceeds a limit, or a stack is at fault: it panics, does
    /// not stop transmitting, asks to be called again and again, sends more than the MTU, or to
    /// where no host is.
    pub fn run(self, seed: Option<u64>) -> Result<Report, HostError> {
        self.run_under(seed, &Control::default())
    }

    /// The same, which another thread can cancel and watch by `control`.
    ///
    /// # Errors
    /// As [`Network::run`], and if it is cancelled.
    pub fn run_under(self, seed: Option<u64>, control: &Control) -> Result<Report, HostError> {
        self.wire(None)?.run(seed, control)
    }

    /// The scenario with the flows of hosts in it.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn scenario(&self) -> Result<Scenario, HostError> {
        self.scenario_of(&self.pairs())
    }

    /// Run what `make` makes twice with the same seed, the second time watched by all invariants.
    ///
    /// # Errors
    /// As [`Network::run`]; if the runs differ, with the first datagram in which they do, so that
    /// the clock or the random numbers of a stack are not those of the run; if an invariant does
    /// not hold.
    pub fn run_twice(
        seed: Option<u64>,
        make: impl FnMut() -> Result<Self, HostError>,
    ) -> Result<Report, HostError> {
        let (report, watched) = Self::run_twice_under(seed, &Control::default(), make)?;
        match watched.breaches().first() {
            None => Ok(report),
            Some(breach) => Err(HostError::Broken(format!(
                "an invariant does not hold: {} at {}, {} s: {}",
                breach.invariant.name(),
                breach.place,
                breach.at.seconds(),
                breach.numbers
            ))),
        }
    }

    /// The same, which another thread can cancel and watch by `control`; with what the invariants
    /// have found, which no error comes of.
    ///
    /// # Errors
    /// As [`Network::run_twice`], and if it is cancelled.
    pub fn run_twice_under(
        seed: Option<u64>,
        control: &Control,
        mut make: impl FnMut() -> Result<Self, HostError>,
    ) -> Result<(Report, Invariants), HostError> {
        let traces = [Trace::default(), Trace::default()];
        let report = make()?.wire(Some(&traces[0]))?.run(seed, control)?;
        let watched = make()?.wire(Some(&traces[1]))?.check(seed, control, &report);
        let [one, other] = traces.map(|trace| {
            std::mem::take(&mut *trace.lock().unwrap_or_else(PoisonError::into_inner))
        });
        if let Some(difference) = difference(&one, &other, &report) {
            return Err(HostError::Differs(difference));
        }
        Ok((report, watched?))
    }

    fn parse(&self, text: &str) -> Result<Scenario, HostError> {
        let registry = with_hosts(&self.registry).map_err(HostError::Wrong)?;
        let read = |name: &str| match &self.files {
            Some(files) => files(name),
            None => read_beside(self.folder.as_deref(), name),
        };
        Ok(Scenario::parse_beside(&registry, text, &self.file, &self.assignments, &read)?)
    }

    /// The scenario with the flows of `pairs` in it.
    fn scenario_of(&self, pairs: &[([usize; 2], String)]) -> Result<Scenario, HostError> {
        let mut text = self.text.clone();
        let nodes: BTreeMap<SocketAddr, &String> = self
            .hosts
            .iter()
            .flat_map(|host| &host.addresses)
            .map(|(at, node)| (*at, node))
            .collect();
        let mut written = String::new();
        for ends in self.ends(pairs) {
            let [from, to] = ends.1.map(|address| quoted(nodes[&address]));
            let name = quoted(&ends.0);
            let bare = self.hosts[ends.2[0]].member.as_ref().is_some_and(|member| member.bare);
            let stack = if bare { "{ header = \"0 B\" }" } else { "{}" };
            written += &format!("\n[flows.{name}]\nfrom = {from}\nto = {to}\nstack = {stack}\n");
        }
        text.push_str(&written);
        let scenario = self.parse(&text)?;
        if self.taken.is_empty() {
            return Ok(scenario);
        }
        let registry = with_hosts(&self.registry).map_err(HostError::Wrong)?;
        Ok(scenario.changed(&registry, &self.file, |root| {
            for Taken { group, .. } in &self.taken {
                let Some(Value::Table(flows)) = root.child_mut("flows").map(|node| &mut node.value)
                else {
                    continue;
                };
                let back = turned(flows, group);
                flows.insert(way_back(group), back);
            }
            Ok(())
        })?)
    }

    /// Pairs of hosts that exchange datagrams, each with the name of its flows there.
    fn pairs(&self) -> Vec<([usize; 2], String)> {
        let plain: Vec<usize> =
            (0..self.hosts.len()).filter(|host| !self.hosts[*host].taken).collect();
        let all = plain.iter().flat_map(|one| {
            let later = plain.iter().filter(move |other| *other > one);
            later.map(move |other| [*one, *other])
        });
        let chosen: Vec<[usize; 2]> =
            if self.peers.is_empty() { all.collect() } else { self.peers.clone() };
        let both = chosen.into_iter().flat_map(|[one, other]| [[one, other], [other, one]]);
        let named = both.map(|pair| {
            let [from, to] = pair.map(|host| self.hosts[host].name.as_str());
            (pair, format!("{from}-{to}"))
        });
        named.collect()
    }

    /// The name and the addresses of each flow between hosts of `pairs`: one for each of their
    /// addresses, unless these are at the same node.
    fn ends(&self, pairs: &[([usize; 2], String)]) -> Vec<(String, [SocketAddr; 2], [usize; 2])> {
        let mut all = Vec::new();
        for (pair, name) in pairs {
            let [from, to] = pair.map(|host| &self.hosts[host].addresses);
            for (at, (source, near)) in from.iter().enumerate() {
                for (place, (target, far)) in to.iter().enumerate() {
                    if near != far {
                        let first = at + place == 0;
                        let suffix = if first { String::new() } else { format!(".{at}{place}") };
                        all.push((format!("{name}{suffix}"), [*source, *target], *pair));
                    }
                }
            }
        }
        all
    }

    /// All that a run needs.
    fn wire(mut self, trace: Option<&Trace>) -> Result<Wired, HostError> {
        let pairs = self.pairs();
        let scenario = self.scenario_of(&pairs)?;
        let mut hosts = Vec::new();
        let addresses: Vec<Vec<SocketAddr>> = self
            .hosts
            .iter()
            .map(|host| host.addresses.iter().map(|(address, _)| *address).collect())
            .collect();
        for (number, attached) in self.hosts.iter_mut().enumerate() {
            let Some(member) = attached.member.take() else {
                let message = format!("host {}: no stack was put there", attached.name);
                return Err(HostError::Wrong(message));
            };
            let mut host = Host::new(attached.name.clone(), number, member.party());
            host.addresses.clone_from(&addresses[number]);
            (host.moves, host.start) = (attached.moves.clone(), attached.start);
            host.trace = trace.map(Arc::clone);
            host.script = attached.script.take().map(|(peer, script)| Scripted {
                script,
                peer: addresses[peer].clone(),
                log: Log::default(),
            });
            hosts.push(HostRef::new(host));
        }
        let end = |host: usize, address| FlowEnd { host: hosts[host].clone(), address };
        let mut groups = BTreeMap::new();
        for (name, addresses, [from, to]) in self.ends(&pairs) {
            let flows = vec![[end(from, addresses[0]), end(to, addresses[1])]];
            groups.insert(path_of(&name), GroupEnds { flows, starts: false, bytes: None });
        }
        for Taken { group, pairs, bytes } in &self.taken {
            let address = |host: usize| self.hosts[host].addresses[0].0;
            let there = |[from, to]: [usize; 2]| [end(from, address(from)), end(to, address(to))];
            let flows: Vec<_> = pairs.iter().map(|pair| there(*pair)).collect();
            let back: Vec<_> = pairs.iter().map(|[one, other]| there([*other, *one])).collect();
            groups.insert(path_of(group), GroupEnds { flows, starts: true, bytes: *bytes });
            groups.insert(
                path_of(&way_back(group)),
                GroupEnds { flows: back, starts: false, bytes: None },
            );
        }
        let Self { hosts: attached, record, replication, limits, .. } = self;
        let at = |host: Attached| host.addresses.into_iter().map(|(_, node)| node).collect();
        let nodes = attached.into_iter().map(at).collect();
        let options = RunOptions { replication, record, limits, ..RunOptions::default() };
        Ok(Wired { scenario, groups, hosts, nodes, options })
    }
}

/// Bytes that each flow of `group` transfers; `None` without end.
fn bytes_of(plain: &Scenario, group: &str) -> Result<Option<u64>, HostError> {
    let path = format!("flows.{group}.traffic");
    match plain.chosen(&path) {
        None | Some("bulk") => Ok(None),
        Some("file") => {
            let size = plain.resolved(&format!("{path}.file.size"));
            let size = size.and_then(|size| forebay_units::quantity::parse_size(size).ok());
            size.map(|size| Some(size.bytes())).ok_or_else(|| {
                HostError::Wrong(format!("{path}.file: stacks transfer files of one size"))
            })
        }
        Some(other) => Err(HostError::Wrong(format!(
            "{path}: read {other}; stacks transfer without end, or a file"
        ))),
    }
}

/// Have the flows of `group` be between hosts. Returns the section of those that lead back.
fn turned(flows: &mut Table, group: &str) -> Node {
    let mut back = Table::new();
    if let Some(Value::Table(own)) = flows.get_mut(group).map(|node| &mut node.value) {
        own.retain(|key, _| !matches!(key.as_str(), "tcp" | "traffic" | "route"));
        own.insert("stack".to_owned(), Node::new(Value::Table(Table::new())));
        back = own.clone();
        back.retain(|key, _| !matches!(key.as_str(), "from" | "to" | "late_after"));
        for (key, other) in [("from", "to"), ("to", "from")] {
            own.get(other).into_iter().for_each(|node| {
                back.insert(key.to_owned(), node.clone());
            });
        }
    }
    Node::new(Value::Table(back))
}

/// Name of the flows back of `group`.
fn way_back(group: &str) -> String {
    format!("{group}-back")
}

/// `text` as a string of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn unquoted(text: &str) -> String {
    text.trim_matches('"').to_owned()
}

#[expect(clippy::disallowed_methods, reason = "this crate is what a program uses")]
fn read_beside(folder: Option<&Path>, name: &str) -> Result<FileText, String> {
    let Some(folder) = folder else {
        return Err("cannot be read: this network has no folder".to_owned());
    };
    let text = std::fs::read_to_string(folder.join(name));
    text.map(FileText::from).map_err(|error| format!("cannot be read: {error}"))
}
