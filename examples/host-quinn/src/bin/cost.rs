//! The cost of the network: a download by quinn on a link of Forebay, and the same two endpoints
//! joined by hand, by a heap of arrivals and nothing else.
//!
//! `cost [SECONDS]` prints, for each, the datagrams, the processor time for one, and the ratio: the
//! median of five runs of each, in turns.

#![expect(clippy::print_stdout, reason = "this is a program")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures itself")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Instant;

use forebay_host::quic::quinn::{
    Download, Quic, Serve, client_config, endpoint_config, server_config, transport,
};
use forebay_host::{App, Datagram, Endpoint, Network, Progress, Span, Time};

const RATE: u64 = 20_000_000;
const DELAY: Span = Span::from_ms(20);
/// Packets that wait at a link, at most.
const LIMIT: u64 = 100;
const HEADER: u64 = 28;

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(100), |text| text.parse())?;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let [network, hand] = [forebay(seconds)?, by_hand(seconds)];
        let each = |(datagrams, took): (u64, f64)| took / datagrams as f64;
        ratios.push((each(network) / each(hand), network, hand));
    }
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, network, hand) = ratios[ratios.len() / 2];
    for (name, (datagrams, took)) in [("Forebay", network), ("by hand", hand)] {
        let each = 1e6 * took / datagrams as f64;
        println!("{name}: {datagrams} datagrams in {took:.2} s, {each:.2} us each");
    }
    println!("ratio: {ratio:.3}; {seconds} s of simulated time in {:.2} s", network.1);
    Ok(())
}

fn endpoints() -> [Quic; 2] {
    let server = Quic::server(endpoint_config(1), server_config(transport("cubic")));
    [server, Quic::client(endpoint_config(2), client_config(transport("cubic")))]
}

/// Datagrams and seconds of a download on a network.
fn forebay(seconds: u64) -> Result<(u64, f64), Box<dyn Error>> {
    let mut network = Network::from_toml(&format!(
        "name = \"cost\"\nduration = \"{seconds} s\"\n[links.line]\nfrom = \"server\"\n\
         to = \"client\"\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
         queue = {{ droptail = {{ limit = \"{LIMIT} packets\" }} }}\n"
    ));
    let [server, client] = endpoints();
    let server = network.attach("server", server, Serve::default());
    let download = Download::from(network.address(server), None);
    let client = network.attach("client", client, download);
    let begun = Instant::now();
    let report = network.run(None)?;
    let took = begun.elapsed().as_secs_f64();
    Ok((report.host(server).sent + report.host(client).sent, took))
}

/// An end of the connection, and the link from it.
struct End<A> {
    endpoint: Quic,
    app: A,
    address: SocketAddr,
    /// Time at which its link is free.
    free: Time,
}

/// Arrivals: their time, order, end, class and bytes.
type Arrivals = BinaryHeap<Reverse<(Time, u64, usize, u8, Vec<u8>)>>;

impl<A: App<Quic>> End<A> {
    /// Let it do all that it can do now. Returns the number of datagrams sent.
    fn serve(&mut self, now: Time, peer: usize, arrivals: &mut Arrivals, order: &mut u64) -> u64 {
        let (mut sent, mut bytes) = (0, Vec::new());
        loop {
            let busy = self.app.advance(now, &mut self.endpoint) == Progress::Busy;
            while let Some(transmit) = self.endpoint.transmit(now, &mut bytes) {
                sent += 1;
                let size = bytes.len() as u64 + HEADER;
                let time = Span::from_ps(size * 8 * 1_000_000_000_000 / RATE);
                if self.free.since(now).ps() < LIMIT * time.ps() {
                    self.free = self.free.max(now) + time;
                    *order += 1;
                    let full = bytes.split_off(0);
                    let ecn = transmit.ecn as u8;
                    arrivals.push(Reverse((self.free + DELAY, *order, peer, ecn, full)));
                }
                bytes.clear();
            }
            match self.endpoint.timeout() {
                Some(time) if time <= now => self.endpoint.wake(now),
                _ if busy => {}
                _ => return sent,
            }
        }
    }

    fn receive(&mut self, now: Time, from: SocketAddr, ecn: u8, bytes: &[u8]) {
        let ecn = if ecn == 2 { forebay_host::Ecn::Ect0 } else { forebay_host::Ecn::NotEct };
        let datagram = Datagram { from, to: self.address, ecn, dscp: 0, bytes };
        self.endpoint.receive(now, datagram);
    }
}

/// The same without a network.
fn by_hand(seconds: u64) -> (u64, f64) {
    let end = Time::ZERO + Span::from_s(seconds);
    let address = |last| SocketAddr::from(([10, 0, 0, last], 4433));
    let [server, client] = endpoints();
    let free = Time::ZERO;
    let mut server = End { endpoint: server, app: Serve::default(), address: address(1), free };
    let download = Download::from(server.address, None);
    let mut client = End { endpoint: client, app: download, address: address(2), free };
    let (mut arrivals, mut order) = (Arrivals::new(), 0);
    let begun = Instant::now();
    let mut sent = client.serve(Time::ZERO, 0, &mut arrivals, &mut order);
    loop {
        let timers = [server.endpoint.timeout(), client.endpoint.timeout()];
        let timers = timers.map(|time| time.unwrap_or(Time::NEVER));
        let arrival = arrivals.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time);
        let now = arrival.min(timers[0]).min(timers[1]);
        if now > end {
            return (sent, begun.elapsed().as_secs_f64());
        }
        if arrival == now {
            let Some(Reverse((_, _, at, ecn, bytes))) = arrivals.pop() else { continue };
            if at == 0 {
                server.receive(now, client.address, ecn, &bytes);
                sent += server.serve(now, 1, &mut arrivals, &mut order);
            } else {
                client.receive(now, server.address, ecn, &bytes);
                sent += client.serve(now, 0, &mut arrivals, &mut order);
            }
        } else if timers[0] == now {
            server.endpoint.wake(now);
            sent += server.serve(now, 1, &mut arrivals, &mut order);
        } else {
            client.endpoint.wake(now);
            sent += client.serve(now, 0, &mut arrivals, &mut order);
        }
    }
}
