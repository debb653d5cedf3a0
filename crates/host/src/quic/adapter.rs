//! An endpoint of QUIC with its connections, and a transfer of data over one.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use forebay_network::Ecn;
use forebay_units::Time;

use super::own;
use super::own::proto;
use crate::quic_tls::{CERTIFICATE, KEY, provider};
use crate::{
    App, Clock, Datagram, Endpoint, Member, Progress, SERVER_NAME, Stack, Transfer, Transmit,
};
use proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, EndpointConfig,
    Event, ServerConfig, StreamId, TransportConfig, VarInt,
};

/// The largest datagram that fits into 1500 B of IPv4.
const MTU: u16 = 1472;
/// Receive and send windows, so large that the congestion control alone decides: 16 MiB.
const WINDOW: u32 = 1 << 24;

pub(super) fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(ecn as u8)
}

fn field(ecn: Option<EcnCodepoint>) -> Ecn {
    match ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

/// The names of the congestion controls of this stack.
pub const CONTROLS: &[&str] = &own::CONTROLS;

/// The configuration of a connection that stacks of tables have: congestion control `control` of
/// [`CONTROLS`], datagrams of 1472 B, no search for a larger MTU (whose times hang on random
/// state), windows of 16 MiB, no batches, an idle time-out of 30 s.
///
/// # Panics
/// If there is no such congestion control.
#[must_use]
pub fn transport(control: &str) -> TransportConfig {
    let factory = own::control(control);
    let factory =
        factory.unwrap_or_else(|| panic!("no congestion control {control}: {CONTROLS:?}"));
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(factory)
        .initial_mtu(MTU)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW))
        .max_idle_timeout(Some(VarInt::from_u32(30_000).into()));
    transport
}

/// The configuration of an endpoint whose random numbers come from `seed`.
#[must_use]
pub fn endpoint_config(seed: u64) -> EndpointConfig {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(bytes));
    config
}

/// The configuration of a server with the certificate for tests.
#[must_use]
pub fn server_config(transport: TransportConfig) -> ServerConfig {
    let tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|tls| {
            tls.with_no_client_auth().with_single_cert(vec![CERTIFICATE.clone()], KEY.clone_key())
        });
    let tls = tls.expect("the certificate for tests is sound");
    let tls = proto::crypto::rustls::QuicServerConfig::try_from(tls);
    let mut config = ServerConfig::with_crypto(Arc::new(tls.expect("TLS 1.3 has what QUIC needs")));
    config.transport_config(Arc::new(transport));
    config
}

/// The configuration of a client that trusts the certificate for tests.
#[must_use]
pub fn client_config(transport: TransportConfig) -> ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CERTIFICATE.clone()).expect("the certificate for tests is sound");
    let tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tls = proto::crypto::rustls::QuicClientConfig::try_from(tls);
    let mut config = ClientConfig::new(Arc::new(tls.expect("TLS 1.3 has what QUIC needs")));
    config.transport_config(Arc::new(transport));
    config
}

/// An endpoint with its connections, as a stack without a clock.
pub struct Quic {
    clock: Clock,
    endpoint: proto::Endpoint,
    connections: BTreeMap<usize, Connection>,
    /// Datagrams that the endpoint itself sends.
    responses: VecDeque<(Transmit, Vec<u8>)>,
    client: Option<ClientConfig>,
}

impl Quic {
    /// One that accepts connections.
    #[must_use]
    pub fn server(config: EndpointConfig, server: ServerConfig) -> Self {
        Self::new(own::endpoint(config, Some(Arc::new(server))), None)
    }

    /// One that makes connections.
    #[must_use]
    pub fn client(config: EndpointConfig, client: ClientConfig) -> Self {
        Self::new(own::endpoint(config, None), Some(client))
    }

    fn new(endpoint: proto::Endpoint, client: Option<ClientConfig>) -> Self {
        let (connections, responses) = (BTreeMap::new(), VecDeque::new());
        Self { clock: Clock::new(), endpoint, connections, responses, client }
    }

    /// Begin a connection to `server`. Returns its number.
    ///
    /// # Errors
    /// If the stack refuses it, or this is a server.
    pub fn connect(&mut self, now: Time, server: SocketAddr) -> Result<usize, String> {
        let config = self.client.clone().ok_or("a server makes no connections")?;
        let now = self.clock.instant(now);
        let connected = self.endpoint.connect(now, config, server, SERVER_NAME);
        let (handle, connection) = connected.map_err(|error| error.to_string())?;
        self.connections.insert(handle.0, connection);
        Ok(handle.0)
    }

    /// The connection of this number, unless it is gone.
    pub fn connection(&mut self, number: usize) -> Option<&mut Connection> {
        self.connections.get_mut(&number)
    }

    /// Its connections.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.values()
    }

    /// The next event of a connection, with the number of that.
    pub fn poll(&mut self) -> Option<(usize, Event)> {
        let mut all = self.connections.iter_mut();
        all.find_map(|(number, connection)| Some((*number, connection.poll()?)))
    }

    /// The same by `clock`, which a log of the stack shares: the instant of time zero is its start.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Hand events between the connections and their endpoint.
    fn settle(&mut self) {
        let mut gone = Vec::new();
        for (number, connection) in &mut self.connections {
            while let Some(event) = connection.poll_endpoint_events() {
                if event.is_drained() {
                    gone.push(*number);
                }
                let handle = ConnectionHandle(*number);
                if let Some(event) = self.endpoint.handle_event(handle, event) {
                    connection.handle_event(event);
                }
            }
        }
        for number in gone {
            self.connections.remove(&number);
        }
    }

    fn respond(&mut self, transmit: &proto::Transmit, bytes: Vec<u8>) {
        let response = Transmit::to(transmit.destination).with_ecn(field(transmit.ecn));
        self.responses.push_back((response, bytes));
    }
}

impl Endpoint for Quic {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        let now = self.clock.instant(now);
        let mut bytes = Vec::new();
        match own::handle(&mut self.endpoint, now, &datagram, &mut bytes) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(connection) = self.connections.get_mut(&handle.0) {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut bytes, None) {
                    Ok((handle, connection)) => {
                        self.connections.insert(handle.0, connection);
                    }
                    Err(error) => {
                        if let Some(transmit) = &error.response {
                            self.respond(transmit, bytes);
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => self.respond(&transmit, bytes),
            None => {}
        }
        self.settle();
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((transmit, response)) = self.responses.pop_front() {
            bytes.extend_from_slice(&response);
            return Some(transmit);
        }
        let now = self.clock.instant(now);
        for connection in self.connections.values_mut() {
            if let Some(transmit) = own::poll_transmit(connection, now, bytes) {
                return Some(Transmit::to(transmit.destination).with_ecn(field(transmit.ecn)));
            }
        }
        self.settle();
        None
    }

    fn timeout(&mut self) -> Option<Time> {
        let clock = self.clock;
        let all = self.connections.values_mut();
        all.filter_map(|connection| connection.poll_timeout()).min().map(|at| clock.time(at))
    }

    fn wake(&mut self, now: Time) {
        let now = self.clock.instant(now);
        for connection in self.connections.values_mut() {
            if connection.poll_timeout().is_some_and(|at| at <= now) {
                connection.handle_timeout(now);
            }
        }
        self.settle();
    }

    fn moved(&mut self, now: Time, _local: SocketAddr) {
        let now = self.clock.instant(now);
        self.connections.values_mut().for_each(|connection| own::moved(connection, now));
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some((window, rtt)) = self.connections.values().next().and_then(own::path) {
            visit("cwnd_bytes", window as f64);
            visit("srtt_s", rtt);
        }
    }
}

/// A request: the number of bytes that are wanted, in eight bytes.
const REQUEST: usize = 8;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A server that answers each stream with as many bytes as its request asks for.
#[derive(Default)]
pub struct Serve {
    streams: BTreeMap<(usize, StreamId), Answer>,
    lost: u64,
}

/// An answer on its way.
#[derive(Default)]
struct Answer {
    request: Vec<u8>,
    left: Option<u64>,
    done: bool,
}

impl Answer {
    /// Read the request, and write as much of the answer as there is room for.
    fn advance(&mut self, connection: &mut Connection, stream: StreamId) {
        if self.left.is_none() {
            read(connection, stream, |bytes| self.request.extend_from_slice(bytes));
            let request = self.request.get(..REQUEST).and_then(|it| it.try_into().ok());
            self.left = request.map(u64::from_be_bytes);
        }
        let Some(left) = &mut self.left else { return };
        let mut sending = connection.send_stream(stream);
        while *left > 0 {
            let chunk = ZEROS.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            let Ok(written) = sending.write(&ZEROS[..chunk]) else { return };
            if *left != u64::MAX {
                *left -= written as u64;
            }
        }
        self.done = sending.finish().is_ok();
    }
}

impl App<Quic> for Serve {
    fn advance(&mut self, _now: Time, stack: &mut Quic) -> Progress {
        while let Some((number, event)) = stack.poll() {
            if let Event::ConnectionLost { .. } = event {
                self.streams.retain(|(of, _), _| *of != number);
            }
        }
        for (number, connection) in &mut stack.connections {
            while let Some(stream) = connection.streams().accept(Dir::Bi) {
                self.streams.insert((*number, stream), Answer::default());
            }
            self.lost = own::lost(connection);
        }
        for ((number, stream), answer) in &mut self.streams {
            if let Some(connection) = stack.connections.get_mut(number) {
                answer.advance(connection, *stream);
            }
        }
        self.streams.retain(|_, answer| !answer.done);
        Progress::Waiting
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("lost_packets", self.lost as f64);
    }
}

/// A client that connects, asks for some bytes, and reads them.
pub struct Download {
    server: SocketAddr,
    bytes: u64,
    connection: Option<usize>,
    stream: Option<StreamId>,
    read: u64,
    connected: Option<Time>,
    state: Progress,
}

impl Download {
    /// A download of `bytes` from `server`; without end if absent.
    #[must_use]
    pub fn from(server: SocketAddr, bytes: Option<u64>) -> Self {
        let (connection, stream, connected) = (None, None, None);
        let (bytes, state) = (bytes.unwrap_or(u64::MAX), Progress::Waiting);
        Self { server, bytes, connection, stream, read: 0, connected, state }
    }

    /// Ask for the data on a stream, as soon as there can be one.
    fn ask(&mut self, connection: &mut Connection) {
        if self.stream.is_none()
            && let Some(stream) = connection.streams().open(Dir::Bi)
        {
            let mut sending = connection.send_stream(stream);
            let asked = sending.write(&self.bytes.to_be_bytes()).is_ok_and(|n| n == REQUEST);
            assert!(asked && sending.finish().is_ok(), "a new stream has room for eight bytes");
            self.stream = Some(stream);
        }
    }
}

impl App<Quic> for Download {
    fn advance(&mut self, now: Time, stack: &mut Quic) -> Progress {
        if matches!(self.state, Progress::Finished | Progress::Failed(_)) {
            while stack.poll().is_some() {}
            return self.state.clone();
        }
        let number = match self.connection {
            Some(number) => number,
            None => match stack.connect(now, self.server) {
                Ok(number) => *self.connection.insert(number),
                Err(error) => return Progress::Failed(error),
            },
        };
        while let Some((_, event)) = stack.poll() {
            match event {
                Event::Connected => self.connected = Some(now),
                Event::ConnectionLost { reason } => {
                    self.state = Progress::Failed(reason.to_string());
                    return self.state.clone();
                }
                _ => {}
            }
        }
        let instant = stack.clock.instant(now);
        let Some(connection) = stack.connection(number) else { return Progress::Waiting };
        if self.connected.is_some() {
            self.ask(connection);
        }
        let Some(stream) = self.stream else { return Progress::Waiting };
        let ended = read(connection, stream, |bytes| self.read += bytes.len() as u64);
        if ended {
            connection.close(instant, VarInt::from_u32(0), bytes::Bytes::new());
            self.state = Progress::Finished;
        }
        self.state.clone()
    }

    fn delivered(&self) -> u64 {
        self.read
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(connected) = self.connected {
            visit("connected_s", connected.seconds());
        }
    }
}

/// Hand what has arrived on `stream` to `take`. Returns true if the stream has ended.
fn read(connection: &mut Connection, stream: StreamId, mut take: impl FnMut(&[u8])) -> bool {
    let mut receiving = connection.recv_stream(stream);
    let Ok(mut chunks) = receiving.read(true) else { return false };
    let ended = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => take(&chunk.bytes),
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    // What is owed to the peer is sent when the connection is asked what to transmit.
    let _ = chunks.finalize();
    ended
}

/// This stack with a congestion control, for tables.
pub struct Configured {
    name: String,
    control: &'static str,
}

impl Configured {
    /// It, called `name`, with the congestion control `control` of [`CONTROLS`]; `None` if there is
    /// none of that name.
    #[must_use]
    pub fn new(name: &str, control: &str) -> Option<Self> {
        let control = CONTROLS.iter().find(|known| **known == control)?;
        Some(Self { name: name.to_owned(), control })
    }
}

impl Stack for Configured {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        own::VERSION
    }

    fn unseeded(&self) -> Option<&str> {
        own::unseeded(self.control)
    }

    fn pair(&self, transfer: &Transfer) -> [Member; 2] {
        let Transfer { seed, .. } = *transfer;
        let transport = || transport(self.control);
        let server = Quic::server(endpoint_config(seed), server_config(transport()));
        let client = Quic::client(endpoint_config(!seed), client_config(transport()));
        let download = Download::from(transfer.server, transfer.bytes);
        [Member::new(server, Serve::default()), Member::new(client, download)]
    }
}
