//! Connections between clients and servers that begin whatever becomes of those before, and carry
//! one exchange of a request and a response after the other.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_units::{Size, Span};

use super::pool::{Asking, Datagrams, TrafficPool};
use super::{RequestPlan, TrafficKind};

/// A request and its response.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Exchange {
    /// Time before the request: since the response before on the connection, or since it was asked
    /// for, with the time that the server takes.
    pub(super) gap: Span,
    /// Sizes in bytes.
    pub(super) request: u64,
    pub(super) response: u64,
}

/// The exchanges of a connection, and when it is asked for.
pub(super) struct Connection {
    /// Time since the first could begin.
    pub(super) begins: Span,
    /// One at least.
    pub(super) exchanges: VecDeque<Exchange>,
}

/// The process by which connections come, each after the one before or with it. All draws are from
/// one stream, in the order of the connections, whatever becomes of them.
pub(super) trait Connections: Send + 'static {
    /// The next connection.
    fn next(&mut self) -> Connection;
}

/// The kind of traffic whose connections are those of the process that `process` makes from a
/// stream, and whose requests have the mean size `request` in bytes. One process is behind all
/// flows between two nodes: clients, one for each flow, take the connections in turn.
pub(super) fn of_connections<C: Connections>(
    process: impl Fn(Stream) -> C + Clone + Send + Sync + 'static,
    request: u16,
) -> TrafficKind {
    let alone = process.clone();
    let make = move |stream: &mut Stream| Alone(Clients::new(1, alone(stream.clone())));
    let pool = move |count, stream: &mut dyn FnMut(u32) -> Stream| {
        Box::new(Clients::new(count as usize, process(stream(0)))) as Box<dyn TrafficPool>
    };
    let (request, retry) = (on_the_wire(u64::from(request)), RequestPlan::RETRY);
    let plan = RequestPlan { request, objects: 1, connections: 1, retry };
    let kind = TrafficKind::new(make, None, None).of_transfers();
    let pool = Box::new(pool);
    TrafficKind { pool, fresh: true, requests: Some(plan), common: true, ..kind }
}

/// The headers of a request, and the largest packet, in bytes: a request is one packet.
const HEADER: u64 = 40;
const LARGEST: u64 = 1500;

/// The size of the packet of a request of so many bytes, cut to the largest.
fn on_the_wire(request: u64) -> u16 {
    request.saturating_add(HEADER).min(LARGEST) as u16
}

/// The clients, who take the connections of a process in turn.
struct Clients<C> {
    process: C,
    /// Connections that were drawn and not all taken, and the number of the first.
    drawn: VecDeque<Option<Connection>>,
    first: u64,
    clients: Vec<Client>,
}

#[derive(Default)]
struct Client {
    /// Number of connections taken.
    taken: u64,
    /// Time at which the last began.
    begun: Span,
    /// Exchanges left of it.
    left: VecDeque<Exchange>,
    asking: Asking,
    datagrams: Datagrams,
}

impl<C: Connections> Clients<C> {
    fn new(count: usize, process: C) -> Self {
        let clients = std::iter::repeat_with(Client::default).take(count).collect();
        Self { process, drawn: VecDeque::new(), first: 0, clients }
    }

    /// Take connection `number`, which no client has taken.
    fn take(&mut self, number: u64) -> Connection {
        let at = (number - self.first) as usize;
        while self.drawn.len() <= at {
            self.drawn.push_back(Some(self.process.next()));
        }
        let connection = self.drawn[at].take().expect("each connection is taken once");
        while self.drawn.front().is_some_and(Option::is_none) {
            self.drawn.pop_front();
            self.first += 1;
        }
        connection
    }

    /// The next exchange of a client.
    fn exchange(&mut self, index: usize) -> Burst {
        let number = self.clients[index].taken * self.clients.len() as u64 + index as u64;
        let connection = self.clients[index].left.is_empty().then(|| self.take(number));
        let client = &mut self.clients[index];
        let begins = connection.map(|Connection { begins, exchanges }| {
            (client.taken, client.left) = (client.taken + 1, exchanges);
            begins
        });
        let Exchange { gap, request, response } =
            client.left.pop_front().expect("a connection has an exchange");
        let gap = match begins {
            Some(begins) => {
                let before = std::mem::replace(&mut client.begun, begins + gap);
                Span::from_ps(client.begun.ps().saturating_sub(before.ps()))
            }
            None => gap,
        };
        client.asking = Asking {
            begins: begins.map(|_| client.begun),
            continues: begins.is_none(),
            request: Some(on_the_wire(request)),
        };
        Burst { gap, size: Size::from_bytes(response) }
    }
}

impl<C: Connections> TrafficPool for Clients<C> {
    fn len(&self) -> usize {
        self.clients.len()
    }

    fn next(&mut self, index: usize) -> Option<Burst> {
        Some(self.exchange(index))
    }

    fn asking(&self, index: usize) -> Asking {
        self.clients[index].asking
    }

    fn constant_gap(&self) -> Option<Span> {
        None
    }

    fn datagrams(&mut self, index: usize) -> &mut Datagrams {
        &mut self.clients[index].datagrams
    }

    fn foresee(&self, _index: usize) {}
}

/// A process with one client.
struct Alone<C>(Clients<C>);

impl<C: Connections> Traffic for Alone<C> {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        Some(self.0.exchange(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::TRAFFICS;
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;

    fn pool(name: &str, count: u32) -> Box<dyn TrafficPool> {
        let entry = TRAFFICS.iter().find(|entry| entry.name == name).expect("a traffic");
        let kind = read(entry.build, &[("rate", "5 /s".into())]).unwrap();
        let streams = Streams::new(8, 0);
        (kind.pool)(count, &mut |index| streams.numbered("web.traffic", u64::from(index)))
    }

    /// Clients take the connections of one process in turn, in whatever order they ask: with one
    /// client or ten the same connections begin at the same times, and the two ends of a
    /// connection, which each draw them, agree.
    #[test]
    fn clients_take_the_connections_in_turn() {
        for name in ["packmime", "tmix"] {
            let times = |count: usize, order: fn(usize, usize) -> usize| {
                let mut pool = pool(name, count as u32);
                let mut begins = vec![Vec::new(); count];
                for step in 0..count * 2000 {
                    let index = order(step, count);
                    let size = pool.next(index).unwrap().size;
                    if let Some(time) = pool.asking(index).begins {
                        begins[index].push((time, size));
                    }
                }
                let rows = begins.iter().map(Vec::len).min().unwrap();
                (0..rows * count).map(|n| begins[n % count][n / count]).collect::<Vec<_>>()
            };
            let alone = times(1, |_, _| 0);
            let in_turn = times(10, |step, count| step % count);
            let reversed = times(10, |step, count| count - 1 - step % count);
            let rows = alone.len().min(in_turn.len());
            assert!(rows > 1000);
            assert_eq!(alone[..rows], in_turn[..rows]);
            assert_eq!(in_turn, reversed);
        }
    }
}
