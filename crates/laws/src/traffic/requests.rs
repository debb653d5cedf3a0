//! Clients that ask, wait for the answer, think, and ask again: closed-loop traffic.

use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::{Size, Span};

use super::transfers::{Connections, Gaps, at_random};
use super::{BuildTraffic, RequestPlan, TrafficKind, packet_size};
use crate::sizes::Sizes;

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "requests",
    summary: "Clients at the far end of TCP connections ask for an object, or for all objects of a \
              page, wait until they have it, think, and ask again: a closed loop.",
    source: "Schroeder, Wierman and Harchol-Balter, NSDI 2006, section 2; RFC 9112, section 9.4 \
             (connections of a client)",
    example: r#"
        think = "200 ms"
        sizes = { lognormal = { mean = "10 kB" } }
    "#,
    fields: RequestsParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of clients. They are at the nodes `to`, and the server that answers at `from`.
    pub struct RequestsParameters {
        /// Mean time from the end of a page to the request for the next, and to the first.
        think: Span, "-";
        /// Distribution of these times: exponential or uniform. Left out: exponential.
        think_times: Option<Gaps>, "-";
        /// Sizes of the objects.
        sizes: Inner<Sizes>, "-";
        /// Objects of a page, 1 to 10,000. A page is completed when all have arrived.
        objects: u32 = 1, "-";
        /// Connections of a client, over each of which it asks for one object at a time. The flows
        /// of the group are taken in turn: its `count` is a multiple of this.
        connections: u32 = 1, "RFC 9112, section 9.4; browsers: 6";
        /// Size of a request on the wire. It is one packet, takes the way of acknowledgements and
        /// counts as one.
        request: Size = "400 B", "-";
        /// Time after which a request that nothing answers is repeated; it doubles from then on.
        /// 1 s if left out. At least 1 us.
        retry: Option<Span>, "RFC 6298, sections 2.1 and 5.5";
        /// Connection that an answer is sent on.
        connection: Connections = "persistent", "RFC 9112, section 9.3";
    }
}

const MAX_OBJECTS: u32 = 10_000;

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = RequestsParameters::read(section)?;
    let RequestsParameters { think, think_times, sizes, objects, connections, .. } = parameters;
    let RequestsParameters { request, retry, connection, .. } = parameters;
    let sizes = sizes.build(section, |build, inner| build(inner))?;
    packet_size(section, "request", request)?;
    for (key, number) in [("objects", objects), ("connections", connections)] {
        if !(1..=MAX_OBJECTS).contains(&number) {
            let message = format!("{number} is out of range; allowed are 1 to {MAX_OBJECTS}");
            return Err(section.fail(key, message));
        }
    }
    let retry = retry.unwrap_or(RequestPlan::RETRY);
    for (key, span) in [("think", think), ("retry", retry)] {
        if span < SHORTEST {
            let message = "is shorter than 1 us: clients would ask for ever at one instant";
            return Err(section.fail(key, message));
        }
    }
    let request = u16::try_from(request.bytes()).expect("a packet has a size");
    // Each burst is a time to think, and the size of an object.
    let times = (think, think_times.unwrap_or(Gaps::Exponential));
    let kind = at_random(sizes, times, connection);
    Ok(TrafficKind { requests: Some(RequestPlan { request, objects, connections, retry }), ..kind })
}

/// The shortest mean time to think, and until a request is repeated.
const SHORTEST: Span = Span::from_us(1);

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use forebay_kernel::Streams;
    use forebay_parameters::{Node, Table, Value};

    /// Clients that think for uniform times think for half of the mean to one and a half times it,
    /// with that mean and a variance of mean^2 / 12: of 10,000 times the mean deviates by 0.29 % of
    /// it, and the bound is five of that.
    #[test]
    fn uniform_times_lie_around_their_mean() {
        let table = |entries: &[(&str, Value)]| {
            let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
            Value::Table(entries.iter().map(node).collect::<Table>())
        };
        let sizes = table(&[("constant", table(&[("size", "1 MB".into())]))]);
        let parameters =
            [("think", "10 s".into()), ("think_times", "uniform".into()), ("sizes", sizes)];
        let kind = read(&build, &parameters).unwrap();
        let mut stream = Streams::new(3, 0).named("think");
        let mut traffic = (kind.make)(&mut stream);
        let times: Vec<f64> =
            (0..10_000).map(|_| traffic.next(&mut stream).unwrap().gap.seconds()).collect();
        assert!(times.iter().all(|time| (5.0..=15.0).contains(time)));
        let mean = times.iter().sum::<f64>() / 1e4;
        assert!((mean - 10.0).abs() < 0.145, "{mean}");
    }
}
