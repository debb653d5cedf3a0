//! Hosts with stacks in Python on the network of a job.

use forebay_host::{HostError, HostReport, Limits, Member, Network, Span, Stack, Time, Transfer};
use forebay_scenario::Scenario;
use forebay_units::quantity::{parse_size, parse_span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::ScenarioError;
use crate::files::read_beside;
use crate::host_stack::{Raised, STACK, member};

/// Hosts of a job, the pairs of them that exchange datagrams (all, if there are none), and the
/// groups of flows whose places connections take.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Hosts {
    hosts: Vec<Attached>,
    peers: Vec<(usize, usize)>,
    taken: Vec<(String, Py<PyAny>)>,
}

/// A host: where it is, when it starts, the nodes that it moves to and when, whether the network
/// gives its datagrams headers, and what makes its stack and its application.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Attached {
    node: String,
    start: String,
    moves: Vec<(String, String)>,
    headers: bool,
    endpoint: Py<PyAny>,
    application: Py<PyAny>,
}

/// The text of a scenario, the name of its file, and assignments on top of it.
pub(crate) type Source = (String, String, Vec<String>);

impl Hosts {
    /// The network of `source` with these hosts.
    ///
    /// # Errors
    /// If what was asked for is wrong.
    fn network(&self, source: &Source, seed: u64, raised: &Raised) -> Result<Network, HostError> {
        let (text, name, assignments) = source;
        let file = name.clone();
        let network = Network::from_toml(text).with_files(name, move |of| read_beside(&file, of));
        let mut network = network.with_registry(crate::laws::registry());
        assignments.iter().for_each(|assignment| {
            network.set(assignment);
        });
        self.place(&mut network, raised)?;
        for (group, pair) in &self.taken {
            let pair = Python::attach(|py| pair.clone_ref(py));
            network.take_over(group, &PyPair { pair, raised: raised.clone() }, seed)?;
        }
        Ok(network)
    }

    fn place(&self, network: &mut Network, raised: &Raised) -> Result<(), HostError> {
        let time = |what: &str, node: &str, text: &str| {
            let wrong = |error| HostError::Wrong(format!("{what} of the host at {node}: {error}"));
            parse_span(text).map(|span: Span| Time::ZERO + span).map_err(wrong)
        };
        let ids: Vec<_> = self.hosts.iter().map(|host| network.reserve(&host.node)).collect();
        for (id, host) in ids.iter().zip(&self.hosts) {
            let Attached { node, start, moves, headers, .. } = host;
            network.start_at(*id, time("start", node, start)?);
            for (to, at) in moves {
                network.move_host(*id, to, time("move", node, at)?);
            }
            let (endpoint, application) =
                Python::attach(|py| (host.endpoint.clone_ref(py), host.application.clone_ref(py)));
            let made = member(endpoint, application, raised);
            network.put(*id, if *headers { made } else { made.bare() });
        }
        for (one, other) in &self.peers {
            network.connect(ids[*one], ids[*other]);
        }
        Ok(())
    }

    /// The scenario of `source` with the flows of these hosts.
    ///
    /// # Errors
    /// If it is wrong.
    pub(crate) fn scenario(&self, source: &Source) -> Result<Scenario, HostError> {
        self.network(source, 0, &Raised::default())?.scenario()
    }
}

/// A stack in Python that takes the place of flows: `pair(bytes, server, client, seed)` gives what
/// makes the two ends of a connection, each a stack and its application.
struct PyPair {
    pair: Py<PyAny>,
    raised: Raised,
}

impl Stack for PyPair {
    fn name(&self) -> &str {
        "Python"
    }

    fn version(&self) -> &str {
        "Python"
    }

    fn pair(&self, transfer: &Transfer) -> [Member; 2] {
        let Transfer { bytes, server, client, seed } = *transfer;
        let [server, client] = [server, client].map(|end| (end.ip().to_string(), end.port()));
        Python::attach(|py| {
            let made = self.pair.call1(py, (bytes, server, client, seed));
            let ends: PyResult<[[Py<PyAny>; 2]; 2]> = made.and_then(|ends| ends.extract(py));
            let ends = ends.unwrap_or_else(|error| {
                // The first call of what is no function then ends the run with this error.
                self.raised.keep(py, STACK, error.into());
                [[py.None(), py.None()], [py.None(), py.None()]]
            });
            ends.map(|[endpoint, application]| member(endpoint, application, &self.raised))
        })
    }
}

/// A job's hosts with the scenario that they are on.
pub(crate) struct Crew {
    pub(crate) hosts: Hosts,
    pub(crate) source: Source,
}

impl Crew {
    /// The network of a run.
    ///
    /// # Errors
    /// If what was asked for is wrong.
    pub(crate) fn network(
        &self,
        (seed, replication): (Option<u64>, u64),
        record: bool,
        limits: Limits,
        raised: &Raised,
    ) -> Result<Network, HostError> {
        // Other random numbers of stacks in each replication, and the same ones on each network.
        let own = seed.unwrap_or(1).wrapping_mul(1 << 20).wrapping_add(replication);
        let mut network = self.hosts.network(&self.source, own, raised)?;
        network.replication(replication).limits(limits);
        if record {
            network.record();
        }
        Ok(network)
    }
}

/// Report on a host, with its goodput.
#[derive(Serialize)]
pub(crate) struct StackReport {
    #[serde(flatten)]
    report: HostReport,
    goodput_bps: f64,
}

impl StackReport {
    pub(crate) fn of(report: HostReport) -> Self {
        Self { goodput_bps: report.goodput_bps(), report }
    }
}

/// The first address of each host, host and port.
///
/// Raises ScenarioError for a wrong time.
#[pyfunction]
pub(crate) fn host_addresses(hosts: Hosts) -> PyResult<Vec<(String, u16)>> {
    let mut network = Network::from_toml("");
    hosts
        .place(&mut network, &Raised::default())
        .map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let addresses = network.addresses();
    Ok(addresses.map(|address| (address.ip().to_string(), address.port())).collect())
}

/// The certificate for tests and its key, as PEM, and the name in it.
#[pyfunction]
pub(crate) fn host_certificate() -> (&'static str, &'static str, &'static str) {
    (forebay_host::CERTIFICATE, forebay_host::KEY, forebay_host::SERVER_NAME)
}

/// The bytes of an amount of data such as `"20 MB"`. Raises ValueError if it is none.
#[pyfunction]
pub(crate) fn size_bytes(text: &str) -> PyResult<u64> {
    parse_size(text)
        .map(|size| size.bytes())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
