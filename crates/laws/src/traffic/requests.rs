//! Clients that ask, wait for the answer, think, and ask again: closed-loop traffic.

use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::{Size, Span};

use super::transfers::{Connections, at_random};
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
        /// Mean time, exponential, from the end of a page to the request for the next, and to the
        /// first.
        think: Span, "-";
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
    let RequestsParameters { think, sizes, objects, connections, request, retry, connection } =
        parameters;
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
    let kind = at_random(sizes, think, connection);
    Ok(TrafficKind { requests: Some(RequestPlan { request, objects, connections, retry }), ..kind })
}

/// The shortest mean time to think, and until a request is repeated.
const SHORTEST: Span = Span::from_us(1);
