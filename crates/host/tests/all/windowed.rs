//! A small protocol for tests: a window of numbered datagrams, each of which is answered; one that
//! is not answered in time is sent again.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use forebay_host::{App, Datagram, Ecn, Endpoint, Progress, Span, Time, Transmit};

/// A link of 8 Mbit/s and 10 ms each way: a datagram of 972 B is 1000 B with headers, 1 ms.
pub const LINE: &str = r#"
name = "line"
duration = "5 s"

[links.line]
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "10 ms"
"#;

/// Bytes of a datagram with data.
pub const DATA: usize = 972;
const TIMEOUT: Span = Span::from_ms(200);

/// Both sides of it.
#[derive(Default)]
pub struct Windowed {
    /// Destination of data, on the side that sends.
    pub peer: Option<SocketAddr>,
    pub window: usize,
    /// Data that are still to be sent.
    pub left: u64,
    pub next: u64,
    outstanding: BTreeMap<u64, Time>,
    again: Vec<u64>,
    answers: Vec<(SocketAddr, u64, Ecn)>,
    /// Numbers that have arrived, with the class of each.
    pub arrived: Vec<(u64, Ecn, u8)>,
    pub resent: u64,
    pub ecn: Option<Ecn>,
    pub dscp: Option<u8>,
    /// Addresses that datagrams came from, in the order in which they were first seen.
    pub peers: Vec<SocketAddr>,
}

impl Windowed {
    pub fn sender(peer: SocketAddr, window: usize, left: u64) -> Self {
        Self { peer: Some(peer), window, left, ..Self::default() }
    }
}

impl Endpoint for Windowed {
    fn receive(&mut self, _now: Time, datagram: Datagram<'_>) {
        let number = u64::from_be_bytes(datagram.bytes[..8].try_into().expect("eight bytes"));
        if !self.peers.contains(&datagram.from) {
            self.peers.push(datagram.from);
        }
        if self.peer.is_some() {
            self.outstanding.remove(&number);
        } else {
            self.arrived.push((number, datagram.ecn, datagram.dscp));
            self.answers.push((datagram.from, number, datagram.ecn));
        }
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((to, number, _)) = self.answers.pop() {
            bytes.extend(number.to_be_bytes());
            return Some(Transmit::to(to));
        }
        let to = self.peer?;
        let number = match self.again.pop() {
            Some(number) => {
                self.resent += 1;
                number
            }
            None if self.left > 0 && self.outstanding.len() < self.window => {
                self.left -= 1;
                self.next += 1;
                self.next
            }
            None => return None,
        };
        self.outstanding.insert(number, now + TIMEOUT);
        bytes.extend(number.to_be_bytes());
        bytes.resize(DATA, 0x5a);
        let ecn = self.ecn.unwrap_or(Ecn::NotEct);
        Some(Transmit { to, ecn, dscp: self.dscp })
    }

    fn timeout(&mut self) -> Option<Time> {
        self.outstanding.values().min().copied()
    }

    fn wake(&mut self, now: Time) {
        let due: Vec<u64> =
            self.outstanding.iter().filter(|(_, at)| **at <= now).map(|(n, _)| *n).collect();
        for number in due {
            self.outstanding.insert(number, Time::NEVER);
            self.again.push(number);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("outstanding", self.outstanding.len() as f64);
    }
}

/// Reads what arrives: of `Windowed`, on the side that receives, data until `want` have come.
pub struct Count {
    pub want: usize,
    pub seen: u64,
    pub marked: u64,
    pub classes: Vec<u8>,
    pub peers: usize,
}

impl Count {
    pub fn to(want: usize) -> Self {
        Self { want, seen: 0, marked: 0, classes: Vec::new(), peers: 0 }
    }
}

impl App<Windowed> for Count {
    fn advance(&mut self, _now: Time, endpoint: &mut Windowed) -> Progress {
        for (_, ecn, dscp) in endpoint.arrived.drain(..) {
            self.seen += 1;
            self.marked += u64::from(ecn == Ecn::Ce);
            if !self.classes.contains(&dscp) {
                self.classes.push(dscp);
            }
        }
        self.peers = endpoint.peers.len();
        if self.seen >= self.want as u64 { Progress::Finished } else { Progress::Waiting }
    }

    fn delivered(&self) -> u64 {
        self.seen * DATA as u64
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("marked", self.marked as f64);
        visit("peers", self.peers as f64);
        for (at, dscp) in self.classes.iter().enumerate() {
            visit(&format!("dscp.{at}"), f64::from(*dscp));
        }
    }
}

/// An application that does nothing.
pub struct Idle;

impl<E> App<E> for Idle {
    fn advance(&mut self, _now: Time, _endpoint: &mut E) -> Progress {
        Progress::Waiting
    }
}

/// The application of the side that sends: shows what was sent again.
#[derive(Default)]
pub struct Send(u64);

impl App<Windowed> for Send {
    fn advance(&mut self, _now: Time, endpoint: &mut Windowed) -> Progress {
        self.0 = endpoint.resent;
        Progress::Waiting
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("resent", self.0 as f64);
    }
}
