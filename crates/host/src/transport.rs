//! The transport `stack`: a group of flows, each from one host to another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use forebay_elements::{
    EmptyPath, End, Facts, FlowGroup, FlowReader, GroupCounts, Row, Rows, TransferCount,
    TransferResult, Transport, TransportKind, Transports, Wiring,
};
use forebay_network::LawFault;
use forebay_parameters::{Entry, Parameters, Problem, Registry, parameters};
use forebay_units::Size;

use crate::element::{File, Incoming, Outgoing};
use crate::host::{HostRef, Way};

/// The transport in its table.
const ENTRY: Entry<TransportKind> = Entry {
    name: "stack",
    summary: "Datagrams of a real protocol stack, from one host to another.",
    source: "RFC 768",
    example: "stack = {}",
    fields: HostParameters::FIELDS,
    probes: &[],
    build: TransportKind { rows: &[TransferResult::KIND], ..TransportKind::new(&read) },
};

parameters! {
    /// Parameters of flows between hosts.
    pub struct HostParameters {
        /// Bytes of each packet that are not the stack's: headers of UDP and IP.
        header: Size = "28 B", "RFC 768; RFC 791, section 3.1 (8 B and 20 B)";
        /// The largest packet, headers included.
        mtu: Size = "1500 B", "RFC 894";
    }
}

/// The mechanisms of `registry`, and flows between hosts.
///
/// # Errors
/// If there is a transport of that name already.
pub(crate) fn with_hosts(registry: &Registry) -> Result<Registry, String> {
    let mut all = registry.clone();
    all.add::<Transports>(&[ENTRY])?;
    Ok(all)
}

/// One end of a flow between hosts: a host, and which of its addresses.
#[derive(Clone)]
pub(crate) struct FlowEnd {
    pub(crate) host: HostRef,
    pub(crate) address: SocketAddr,
}

/// The ends of the flows of a group.
#[derive(Clone)]
pub(crate) struct GroupEnds {
    pub(crate) flows: Vec<[FlowEnd; 2]>,
    /// True if both ends of each flow start when the flow does.
    pub(crate) starts: bool,
    /// Bytes of the file that each flow transfers, if they do.
    pub(crate) bytes: Option<u64>,
}

thread_local! {
    /// The groups of the network that is wired on this thread, by path.
    static WIRING: RefCell<BTreeMap<String, GroupEnds>> = const { RefCell::new(BTreeMap::new()) };
}

/// Resets [`WIRING`], also where the wiring panics.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        WIRING.take();
    }
}

/// Have the flows that `run` wires, on this thread, lead between the hosts of `groups`.
pub(crate) fn between<R>(groups: BTreeMap<String, GroupEnds>, run: impl FnOnce() -> R) -> R {
    WIRING.set(groups);
    let _reset = Reset;
    run()
}

/// The path of the group of flows called `name`.
pub(crate) fn path_of(name: &str) -> String {
    format!("flows.{}", forebay_parameters::key(name))
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    group.refuse(&["traffic", "linked"], "what a host sends is decided by its application")?;
    let parameters = HostParameters::read(group.own)?;
    let (header, mtu) = (parameters.header.bytes(), parameters.mtu.bytes());
    if mtu > u64::from(u16::MAX) || mtu <= header {
        let message = format!("is out of range; allowed are {} B to {} B", header + 1, u16::MAX);
        return Err(group.own.fail("mtu", message));
    }
    let links = group.there.iter().map(|hop| (hop.rate, hop.delay));
    let empty = EmptyPath::new(links, mtu - header, header);
    Ok(Box::new(HostPlan { parameters, empty }))
}

/// Flows between hosts as the scenario describes them.
struct HostPlan {
    parameters: HostParameters,
    /// Their way when it is empty.
    empty: EmptyPath,
}

impl Transport for HostPlan {
    fn facts(&self) -> Facts {
        Facts {
            largest: Some(self.parameters.mtu.bytes()),
            least: Size::from_bytes(self.parameters.header.bytes() + 1),
            adapts: true,
            endless: true,
            end: End::Receivers,
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let ends = WIRING.with_borrow(|groups| groups.get(&group.path).cloned());
        let Some(GroupEnds { flows, starts, bytes }) = ends else {
            let path = &group.path;
            LawFault::new(format!(
                "{path}: no stacks are attached to it: forebay_host::Network, or forebay.host in \
                 Python, attaches them"
            ))
            .end_run()
        };
        for ((index, [from, to]), start) in (0..).zip(&flows).zip(&group.starts) {
            let way = Way {
                from: from.address,
                to: to.address,
                route: group.route,
                flow: group.first.nth(index),
                marking: group.marking,
                header: self.parameters.header.bytes(),
                mtu: self.parameters.mtu.bytes(),
                next: 0,
            };
            from.host.lock().ways.push(way);
            if starts {
                for end in [from, to] {
                    end.host.lock().start = *start;
                }
            }
        }
        let (from, to): (Vec<_>, Vec<_>) =
            flows.into_iter().map(|[from, to]| (from.host, to.host)).unzip();
        wiring.add(Box::new(Outgoing { hosts: from }));
        let file = bytes.map(|bytes| File { bytes, ideal: self.empty.time(bytes) });
        let count = TransferCount::default();
        wiring.add(Box::new(Incoming { first: group.first, hosts: to, file, count }));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let transfers = WIRING.with_borrow(|groups| {
            groups.get(&path_of(group.name)).is_some_and(|ends| ends.bytes.is_some())
        });
        if !transfers {
            return Vec::new();
        }
        let count = group.tagged_receivers::<TransferCount>();
        vec![Rows::one(TransferResult::of(group.name.to_owned(), &count))]
    }
}
