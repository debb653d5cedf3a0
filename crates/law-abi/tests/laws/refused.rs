//! Laws that the interface cannot carry.

use forebay_kernel::Stream;
use forebay_law_abi::{abi, export_law};
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, Queue, Queues};
use forebay_laws::traffic::{BuildTraffic, RequestPlan, TrafficKind};
use forebay_network::{
    Backlog, Burst, Departure, Discard, NextPacket, Packet, QueueDisc, Traffic, Verdict,
};
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, Spread, parameters};
use forebay_units::Time;

parameters! {
    /// A mechanism inside.
    pub struct InnerParameters {
        /// A queue.
        queue: Inner<Queues>, "-";
    }
}

parameters! {
    /// A type of one's own.
    pub struct SpreadParameters {
        /// A time, or several.
        start: Spread, "-";
    }
}

fn unlimited(_: &Section<'_>, _: &LinkFacts) -> Result<Queue, Problem> {
    Ok(Queue::under(super::Open))
}

const INNER: Entry<BuildQueue> = Entry {
    name: "inner",
    summary: "-",
    source: "-",
    example: "",
    fields: InnerParameters::FIELDS,
    probes: &[],
    build: &unlimited,
};
const SPREAD: Entry<BuildQueue> =
    Entry { name: "spread", fields: SpreadParameters::FIELDS, ..INNER };
const PEEKS: Entry<BuildQueue> =
    Entry { name: "peeks", fields: &[], build: &|_, _| Ok(Queue::Disc(Box::new(Peeks))), ..INNER };
const BROKEN: Entry<BuildQueue> = Entry {
    name: "broken",
    fields: &[],
    example: "wrong = 1",
    build: &|section, _| {
        section.refuse_unknown(&[])?;
        Ok(Queue::Disc(Box::new(Peeks)))
    },
    ..INNER
};
const PANICS: Entry<BuildQueue> =
    Entry { name: "panics", fields: &[], build: &|_, _| panic!("no queue"), ..INNER };
const ASKS: Entry<BuildTraffic> = Entry {
    name: "asks",
    summary: "-",
    source: "-",
    example: "",
    fields: &[],
    probes: &[],
    build: &|_| {
        let plan =
            RequestPlan { request: 100, objects: 1, connections: 1, retry: RequestPlan::RETRY };
        let kind = TrafficKind::new(|_| Nothing, None, None);
        Ok(TrafficKind { requests: Some(plan), ..kind })
    },
};

struct Nothing;

impl Traffic for Nothing {
    fn next(&mut self, _: &mut Stream) -> Option<Burst> {
        None
    }
}

struct Peeks;

impl QueueDisc for Peeks {
    fn enqueue(
        &mut self,
        _: &Packet,
        _: Option<Time>,
        _: Time,
        _: &mut Stream,
        _: &mut Discard<'_>,
    ) -> Verdict {
        Verdict::Accept
    }

    fn dequeue(&mut self, _: Time, _: &mut Stream, _: &mut Discard<'_>) -> Option<Departure> {
        None
    }

    fn peek(&mut self, _: Time, _: &mut Stream, _: &mut Discard<'_>) -> NextPacket {
        NextPacket::Size(Some(1000))
    }

    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}

/// The table of these laws: none.
pub fn table(host: &'static abi::Host) -> Option<&'static abi::Laws> {
    export_law!(@table Some(host); INNER, SPREAD, PEEKS, ASKS, BROKEN, PANICS)
}
