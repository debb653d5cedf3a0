//! PackMime-HTTP: connections of a cloud of web clients to a cloud of servers.

mod cloud;
mod noise;
mod sizes;

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Frequency, Size, Span};

use super::pool::{Asking, Datagrams, TrafficPool};
use super::{BuildTraffic, RequestPlan, TrafficKind};
use cloud::{Cloud, Connection, Exchange};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "packmime",
    summary: "Web traffic as PackMime-HTTP generates it: connections between clouds of clients and \
              servers begin at a mean rate, with long memory, whatever becomes of those before.",
    source: "Cao, Cleveland, Gao, Jeffay, Smith and Weigle, Stochastic Models for Generating \
             Synthetic HTTP Source Traffic, INFOCOM 2004; ns-2.35 packmime",
    example: r#"
        rate = "5 /s"
    "#,
    fields: PackMimeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the web. Clients are at the nodes `to` and servers at `from`: clients take
    /// the connections in turn. With `count` of them that many connections can be open at a time,
    /// and the result `queued` counts those that had to wait.
    pub struct PackMimeParameters {
        /// Mean number of connections that begin, between all clients and servers of the group, 0.5
        /// to 10,000 in a second.
        rate: Frequency, "INFOCOM 2004, section III";
        /// Share of connections that carry several requests, 0 to 1; the others carry one.
        persistent: f64 = 0.09, "ns-2.35 packmime_ranvar.cc: P_PERSISTENT";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let PackMimeParameters { rate, persistent } = PackMimeParameters::read(section)?;
    let rate = rate.per_second();
    if !(0.5..=10_000.0).contains(&rate) {
        let message = format!("{rate} in a second is out of range; allowed are 0.5 to 10,000");
        return Err(section.fail("rate", message));
    }
    super::within(section, "persistent", persistent, 0.0, 1.0)?;
    let make = move |stream: &mut Stream| {
        let clients = Clients::new(1, Cloud::new(rate, persistent, stream.clone()));
        Alone(clients)
    };
    let pool = move |count, stream: &mut dyn FnMut(u32) -> Stream| {
        let cloud = Cloud::new(rate, persistent, stream(0));
        Box::new(Clients::new(count as usize, cloud)) as Box<dyn TrafficPool>
    };
    let retry = RequestPlan::RETRY;
    let plan = RequestPlan { request: MEAN_REQUEST + HEADER, objects: 1, connections: 1, retry };
    let kind = TrafficKind::new(make, None, None).of_transfers();
    Ok(TrafficKind { pool: Box::new(pool), fresh: true, requests: Some(plan), ..kind })
}

/// The mean size of a request in bytes.
const MEAN_REQUEST: u16 = 567;

/// The headers of a request, and the largest packet, in bytes: a request is one packet.
const HEADER: u16 = 40;
const LARGEST: u64 = 1500;

/// The clients of a cloud, who take its connections in turn.
struct Clients {
    cloud: Cloud,
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

impl Clients {
    fn new(count: usize, cloud: Cloud) -> Self {
        let clients = std::iter::repeat_with(Client::default).take(count).collect();
        Self { cloud, drawn: VecDeque::new(), first: 0, clients }
    }

    /// Take connection `number`, which no client has taken.
    fn take(&mut self, number: u64) -> Connection {
        let at = (number - self.first) as usize;
        while self.drawn.len() <= at {
            self.drawn.push_back(Some(self.cloud.next()));
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
            request: Some((request + u64::from(HEADER)).min(LARGEST) as u16),
        };
        Burst { gap, size: Size::from_bytes(response) }
    }
}

impl TrafficPool for Clients {
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

/// A cloud with one client.
struct Alone(Clients);

impl Traffic for Alone {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        Some(self.0.exchange(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;

    fn pool(count: u32) -> Box<dyn TrafficPool> {
        let kind = read(&build, &[("rate", "5 /s".into())]).unwrap();
        let streams = Streams::new(8, 0);
        (kind.pool)(count, &mut |index| streams.numbered("web.traffic", u64::from(index)))
    }

    /// Clients take the connections of one process in turn, in whatever order they ask: with one
    /// client or ten the same connections begin at the same times, and the two ends of a
    /// connection, which each draw them, agree.
    #[test]
    fn clients_take_the_connections_in_turn() {
        let times = |count: usize, order: fn(usize, usize) -> usize| {
            let mut pool = pool(count as u32);
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

    /// Rates without a meaning are refused, and shares that are none.
    #[test]
    fn rates_that_cannot_be_are_refused() {
        let path = |rate: &str, persistent: f64| {
            let parameters = [("rate", rate.into()), ("persistent", persistent.into())];
            read(&build, &parameters).err().map(|problem| problem.path)
        };
        assert_eq!(path("0.1 /s", 0.1).as_deref(), Some("rate"));
        assert_eq!(path("10001 /s", 0.1).as_deref(), Some("rate"));
        assert_eq!(path("5 /s", 1.5).as_deref(), Some("persistent"));
        assert_eq!(path("5 /s", 1.0), None);
    }
}
