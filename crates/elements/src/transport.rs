//! Transports: how the packets of a group of flows come about. One is chosen by its key in the
//! section of the group: `tcp = {}`.

use std::any::Any;

use forebay_kernel::Streams;
use forebay_network::{Element, ElementCounters, FlowCount, RouteId};
use forebay_parameters::{Category, Problem, Section};
use forebay_units::{Rate, Size, Span};

use crate::FlowGroup;
use crate::inner::{InnerSection, keys_within};
use crate::rows::{RowKind, Rows, TagCount, TagCounts};

/// The category of transports. The example of one has the keys of a group of flows: its own, and
/// the traffic that it needs.
pub enum Transports {}

impl Category for Transports {
    const NAME: &'static str = "transport";
    const CONTRACT: &'static str = "How the packets of a group of flows come about.";
    const PLACE: &'static str = "flows.NAME";
    const KIND: &'static str = "the parameters of the transport between braces: tcp = {}";
    type Build = TransportKind;
}

/// Reads a group of flows.
pub type ReadTransport =
    dyn Fn(&FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> + Send + Sync;

/// A transport, as its entry has it.
#[derive(Clone, Copy)]
pub struct TransportKind {
    /// Reads a group of flows.
    pub read: &'static ReadTransport,
    /// Categories of the laws that its section chooses from.
    pub laws: &'static [&'static str],
    /// Sections within its own.
    pub sections: &'static [InnerSection],
    /// True if there must be links back to the senders.
    pub two_way: bool,
    /// Kinds of rows that it gives, beside the rows of flows and groups.
    pub rows: &'static [RowKind],
}

impl TransportKind {
    /// The keys of its section beside its parameters: laws, and sections within.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        keys_within(self.laws, self.sections)
    }

    /// One that `read` reads, which chooses no laws, needs no way back and gives no rows.
    #[must_use]
    pub const fn new(read: &'static ReadTransport) -> Self {
        Self { read, laws: &[], sections: &[], two_way: false, rows: &[] }
    }
}

/// A group of flows as its section describes it, for the transport that reads it.
pub struct FlowReader<'r, 'a> {
    /// The section of the group, which can choose traffic.
    pub flow: &'r Section<'a>,
    /// The section of the transport in it.
    pub own: &'r Section<'a>,
    /// Number of flows.
    pub count: u32,
    /// Simulated time of a run.
    pub duration: Span,
    /// The links that its packets pass, in order.
    pub there: &'r [Hop],
    /// The links back to the senders; none if no way leads back.
    pub back: &'r [Hop],
}

impl FlowReader<'_, '_> {
    /// Refuse keys of the group that this transport has no use for.
    ///
    /// # Errors
    /// If there is one of `keys`, with `message`.
    pub fn refuse(&self, keys: &[&str], message: &str) -> Result<(), Problem> {
        match keys.iter().find(|key| self.flow.node(key).is_some()) {
            Some(key) => Err(self.flow.fail(key, message)),
            None => Ok(()),
        }
    }

    /// The propagation delay of the way there.
    #[must_use]
    pub fn propagation(&self) -> Span {
        self.there.iter().fold(Span::ZERO, |sum, hop| sum + hop.delay)
    }
}

/// A link on the way of a flow: of one that changes, what holds at first.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
}

/// A group of flows that was read: what the network may know of it, and its elements.
pub trait Transport: Any {
    /// Facts about its flows.
    fn facts(&self) -> Facts;

    /// Make the elements of `group`: the senders first, and behind them the receivers where
    /// [`Facts::end`] is [`End::Receivers`]. Once a run.
    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring);

    /// Returns true if the receivers at one node must be one element, whichever nodes send to it.
    fn gathers(&self) -> bool {
        false
    }

    /// Make the elements of flows that end at one node and begin at several: the senders of each of
    /// `groups`, whose flows follow each other, and behind all of these the receivers. Asked where
    /// it [gathers](Self::gathers).
    fn wire_gathered(&self, _groups: Vec<FlowGroup>, _wiring: &mut dyn Wiring) {
        unreachable!("it does not gather")
    }

    /// The rows of kinds of its own, of counters of its elements.
    fn rows(&self, _group: &mut GroupCounts<'_>) -> Vec<Rows> {
        Vec::new()
    }
}

/// Facts about the flows of a group, from which the network is estimated, divided and checked.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Size of the largest packet in bytes; `None` if it carries no packets of the traffic chosen.
    pub largest: Option<u64>,
    /// The least size of a packet.
    pub least: Size,
    /// Mean rate of one flow, where the network does not decide it.
    pub mean_rate: Option<Rate>,
    /// True if its flows share what others leave of a link: they adapt to loss or marks.
    pub adapts: bool,
    /// True if they take all that they get, for as long as the run lasts.
    pub endless: bool,
    /// True if each transfer begins anew, on a fresh connection.
    pub fresh: bool,
    /// Mean number of bytes of data that a flow sends in all, where it comes to an end.
    pub in_all: Option<f64>,
    /// True if the flows of a group can lead between several nodes.
    pub spreads: bool,
    /// Packets back to the senders, for each packet of data.
    pub acknowledged: f64,
    /// Destination of its packets.
    pub end: End,
    /// The way back that it needs.
    pub way_back: WayBack,
    /// True if ports on the way notify its sources.
    pub notified: bool,
    /// True if its packets can leave links that fail.
    pub rerouted: bool,
    /// Calls, if its flows are such.
    pub calls: Option<CallLoad>,
    /// The nature of its packets, for checks.
    pub packets: Packets,
}

impl Default for Facts {
    /// Datagrams that a sink counts, of flows that do not adapt.
    fn default() -> Self {
        Self {
            largest: None,
            least: Size::from_bytes(1),
            mean_rate: None,
            adapts: false,
            endless: false,
            fresh: false,
            in_all: None,
            spreads: false,
            acknowledged: 0.0,
            end: End::Sink { header: Size::from_bytes(0) },
            way_back: WayBack::None,
            notified: false,
            rerouted: false,
            calls: None,
            packets: Packets::Datagrams,
        }
    }
}

/// Calls as a load.
#[derive(Clone, Copy, Debug)]
pub struct CallLoad {
    /// Number of flows that a call consists of.
    pub flows: u32,
    /// Calls at a time, about, if none is blocked.
    pub present: f64,
    /// The key of its section that asks for the most of them.
    pub key: &'static str,
    /// Mean rate of a call in bit/s.
    pub rate: f64,
}

/// Destination of packets of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At a sink of the network, which counts all but a header in each as payload.
    Sink {
        /// The bytes of it.
        header: Size,
    },
    /// At receivers, an element.
    Receivers,
    /// At the element that sends them.
    Senders,
}

/// The way back to the senders that a transport needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayBack {
    /// None.
    None,
    /// One, for what the mechanism in the key of its section sends back.
    Any(&'static str),
    /// Over the same nodes, for cells into which ports write rates; the key as above.
    SameNodes(&'static str),
}

/// Nature of the packets of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Packets {
    /// Datagrams.
    Datagrams,
    /// Segments of TCP.
    Segments,
    /// Packets of calls.
    Calls,
    /// Packets of paced sources, with the least rate over the nominal one, if rates are explicit.
    Paced {
        /// Minimum over peak rate.
        floor: Option<f64>,
    },
}

/// The network that a group of flows is made in.
pub trait Wiring {
    /// Add an element.
    fn add(&mut self, element: Box<dyn Element>);

    /// A route from the receivers to the senders: the [`WayBack`] that it needs. New each time.
    fn way_back(&mut self) -> RouteId;

    /// The same to the senders of the group at this place of several.
    fn way_back_to(&mut self, _group: usize) -> RouteId {
        self.way_back()
    }

    /// The links there and back, where they are others than those that the group was read with.
    fn hops(&self) -> Option<[Vec<Hop>; 2]> {
        None
    }

    /// True if a conditioner on the way adapts to round-trip times, which senders report then.
    fn asks_rtt(&self) -> bool;

    /// The random streams.
    fn streams(&self) -> &Streams;
}

/// Counters of a group of flows, of which rows are made.
pub struct GroupCounts<'c> {
    /// Name of the group.
    pub name: &'c str,
    /// Name of each of its flows, by number.
    pub flow_name: &'c dyn Fn(u32) -> String,
    /// The aggregate of its calls; empty for none.
    pub aggregate: &'c str,
    /// Length of the window of measurement.
    pub measured: Span,
    /// Flows of other groups that its senders' element counts before its own.
    pub passed: usize,
    /// The tags of the group, and the counts of these.
    pub tags: (&'c [String], &'c mut TagCounts),
    /// Reads the counters of the senders' element, or with `true` that of the receivers.
    pub counters: &'c mut dyn CountersOf,
}

/// Counters of the elements of a group of flows.
pub trait CountersOf {
    /// Number of elements that send, or `receive`: one, unless the group leads between several
    /// nodes.
    fn elements(&self, receive: bool) -> usize {
        let _ = receive;
        1
    }

    /// Those of the senders' element at this place, or of the `receivers`.
    fn counters(&mut self, receivers: bool, at: usize) -> Option<&dyn Any>;

    /// The counters of all flows of the group together.
    fn flows(&mut self) -> FlowCount;
}

impl GroupCounts<'_> {
    /// The counters of type `C` of the senders.
    ///
    /// # Panics
    /// If they have others.
    #[must_use]
    pub fn senders<C: ElementCounters>(&mut self) -> &C {
        of_type(self.counters.counters(false, 0))
    }

    /// The counters of type `C` of the receivers.
    ///
    /// # Panics
    /// If they have others.
    #[must_use]
    pub fn receivers<C: ElementCounters>(&mut self) -> &C {
        of_type(self.counters.counters(true, 0))
    }

    /// Visit the counters of type `C` of all senders.
    ///
    /// # Panics
    /// If they have others.
    pub fn each_senders<C: ElementCounters>(&mut self, mut visit: impl FnMut(&C)) {
        for at in 0..self.counters.elements(false) {
            visit(of_type(self.counters.counters(false, at)));
        }
    }

    /// Visit the counters of type `C` of all receivers.
    ///
    /// # Panics
    /// If they have others.
    pub fn each_receivers<C: ElementCounters>(&mut self, mut visit: impl FnMut(&C)) {
        for at in 0..self.counters.elements(true) {
            visit(of_type(self.counters.counters(true, at)));
        }
    }

    /// The counters of type `C` of the receivers, all together, which count for the tags of the
    /// group as well.
    ///
    /// # Panics
    /// If they have others.
    #[must_use]
    pub fn tagged_receivers<C: ElementCounters + TagCount>(&mut self) -> C {
        let mut all = C::default();
        self.each_receivers(|own: &C| all.merge(own));
        let (tags, counts) = &mut self.tags;
        counts.add(tags, &all);
        all
    }
}

fn of_type<C: ElementCounters>(counters: Option<&dyn Any>) -> &C {
    counters.and_then(<dyn Any>::downcast_ref).expect("elements keep the counters of their kind")
}

/// The names of the mechanisms of a category, for messages.
#[must_use]
pub fn names_of<C: Category>(section: &Section<'_>) -> String {
    let names: Vec<&str> =
        section.registry().entries::<C>().iter().map(|entry| entry.name).collect();
    names.join(", ")
}
