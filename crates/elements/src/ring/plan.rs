//! Packet rings as subnetworks of a scenario.

use forebay_kernel::{Stream, Streams};
use forebay_laws::fairness::{Fairness, FairnessFactory, RingFacts, StationFacts};
use forebay_network::{Element, LinkCount, LinkId};
use forebay_parameters::{Entry, Parameters, Problem, Section, choose, name_fault};
use forebay_units::{Size, Span};

use super::parameters::{HostQueueing, RingParameters, StationParameters, TransitBuffers};
use super::rows::RingResult;
use super::{Buffers, Leg, PortParts, Ring, RingParts};
use crate::bounds::{check_delay, check_rate};
use crate::inner::{InnerForm, InnerSection};
use crate::rows::{Row, Rows};
use crate::subnetwork::{InnerLink, Subnetwork, SubnetworkKind, SubnetworkParts, Transit};
use crate::transport::names_of;

/// Rings in the table of subnetworks.
pub const ENTRY: Entry<SubnetworkKind> = Entry {
    name: "rings",
    summary: "A packet ring: nodes joined by two ringlets on which data run opposite ways.",
    source: "RFC 2892",
    example: "stations = [\"a\", \"b\", \"c\"]\nrate = \"622.08 Mbit/s\"\ndelay = \"50 us\"\n\
              fairness = \"none\"",
    fields: RingParameters::FIELDS,
    probes: &[],
    build: SubnetworkKind {
        laws: &["fairness"],
        sections: &[InnerSection {
            key: "station",
            summary: "A station of a ring, where it differs from the others.",
            fields: StationParameters::FIELDS,
            form: InnerForm::Named("NODE"),
        }],
        rows: &[RingResult::KIND],
        ..SubnetworkKind::new(&read, "stations")
    },
};

/// The most stations of a ring: hop counts have 8 bits (RFC 2892, section 4.2.1).
const MAX_STATIONS: usize = 255;

/// A ring as the scenario describes it.
struct RingPlan {
    path: String,
    parameters: RingParameters,
    delays: Vec<Span>,
    stations: Vec<StationParameters>,
    factory: FairnessFactory,
}

fn read(section: &Section<'_>) -> Result<Box<dyn Subnetwork>, Problem> {
    let parameters = RingParameters::read_among(section, &ENTRY.build.keys())?;
    check_rate(section, parameters.rate)?;
    check_stations(section, &parameters.stations)?;
    let delays = read_delays(section, &parameters)?;
    let key = if parameters.delay.is_some() { "delay" } else { "delays" };
    delays.iter().max().map_or(Ok(()), |longest| check_delay(section, key, *longest))?;
    check_buffers(section, &parameters)?;
    let facts = RingFacts {
        rate: parameters.rate,
        transit_limit: parameters.low_limit.bytes(),
        dual: parameters.transit == TransitBuffers::Dual,
    };
    let Some((entry, inner)) = choose::<Fairness>(section, "fairness")? else {
        let message = format!("is missing; a ring needs one of: {}", names_of::<Fairness>(section));
        return Err(section.fail("fairness", message));
    };
    let factory = (entry.build)(&inner, &facts)?;
    let stations = read_stations(section, &parameters)?;
    let path = section.path().to_owned();
    Ok(Box::new(RingPlan { path, parameters, delays, stations, factory }))
}

fn check_stations(section: &Section<'_>, stations: &[String]) -> Result<(), Problem> {
    if !(2..=MAX_STATIONS).contains(&stations.len()) {
        let count = stations.len();
        let message = format!("has {count} stations; allowed are 2 to {MAX_STATIONS}");
        return Err(section.fail("stations", message));
    }
    if let Some(fault) = stations.iter().find_map(|station| name_fault(station)) {
        return Err(section.fail("stations", fault));
    }
    for (at, station) in stations.iter().enumerate() {
        if stations[..at].contains(station) {
            let message = format!("\"{station}\" is there twice; stations are different nodes");
            return Err(section.fail("stations", message));
        }
    }
    Ok(())
}

fn read_delays(section: &Section<'_>, parameters: &RingParameters) -> Result<Vec<Span>, Problem> {
    let count = parameters.stations.len();
    match (parameters.delay, &parameters.delays) {
        (Some(_), Some(_)) => {
            Err(section.fail("delays", "there is a delay already; use one of the two keys"))
        }
        (delay, None) => Ok(vec![delay.unwrap_or(Span::ZERO); count]),
        (None, Some(delays)) if delays.len() == count => Ok(delays.clone()),
        (None, Some(delays)) => {
            let message = format!("has {} delays; the ring has {count} spans", delays.len());
            Err(section.fail("delays", message))
        }
    }
}

fn check_buffers(section: &Section<'_>, parameters: &RingParameters) -> Result<(), Problem> {
    let largest = parameters.largest.bytes();
    if !(1..=65_535).contains(&largest) {
        return Err(section.fail("largest", "is not a packet size; allowed are 1 B to 65535 B"));
    }
    let dual = parameters.transit == TransitBuffers::Dual;
    let too_small = |size: Size, least: u64| size.bytes() < least;
    let (twice, stop) = (2 * largest, parameters.stop.bytes());
    if dual && too_small(parameters.high_limit, twice) {
        let message = format!("is too small: it must hold two of the largest packets, {twice} B");
        return Err(section.fail("high_limit", message));
    }
    if too_small(parameters.low_limit, twice) {
        let message = format!("is too small: it must hold two of the largest packets, {twice} B");
        return Err(section.fail("low_limit", message));
    }
    if dual && too_small(parameters.low_limit, stop.saturating_add(twice)) {
        let message = "lies above the transit buffer less two of the largest packets, where the \
                       host sends nothing anyway";
        return Err(section.fail("stop", message));
    }
    if parameters.message.bytes() > 65_535 {
        return Err(section.fail("message", "is too large; allowed are up to 65535 B"));
    }
    if let Some(high) = parameters.high.filter(|high| *high > 63) {
        return Err(section.fail("high", format!("{high} is too large; allowed are 0 to 63")));
    }
    Ok(())
}

fn read_stations(
    section: &Section<'_>,
    parameters: &RingParameters,
) -> Result<Vec<StationParameters>, Problem> {
    let tables = section.section("station")?;
    if let Some(tables) = &tables {
        let known: Vec<&str> = parameters.stations.iter().map(String::as_str).collect();
        tables.refuse_unknown(&known)?;
    }
    let (path, echo) = (section.path(), section.echo());
    let mut committed: u64 = 0;
    let read = |name: &String| {
        let given = tables.as_ref().map(|tables| tables.section(name)).transpose()?.flatten();
        let inner = given.unwrap_or_else(|| Section::empty(format!("{path}.station.{name}"), echo));
        let station = StationParameters::read(&inner)?;
        if !(station.weight > 0.0 && station.weight <= 1e6) {
            let message = format!("{}; allowed are numbers above 0, up to 1e6", station.weight);
            return Err(inner.fail("weight", message));
        }
        if station.max_rate.is_some_and(|r| r.bps() == 0 || r > parameters.rate) {
            return Err(inner.fail(
                "max_rate",
                "is out of range; allowed are rates above 0 and up to the ring's rate",
            ));
        }
        for (key, rate) in
            [("committed_high", station.committed_high), ("committed_low", station.committed_low)]
        {
            committed = committed.saturating_add(rate.bps());
            if committed > parameters.rate.bps() {
                let message = "together with what is committed before it exceeds the ring's rate";
                return Err(inner.fail(key, message));
            }
        }
        Ok(station)
    };
    parameters.stations.iter().map(read).collect()
}

impl RingPlan {
    /// The station at a place of a ringlet: the inner one runs the other way.
    fn station(&self, ringlet: usize, place: usize) -> usize {
        if ringlet == 0 { place } else { self.delays.len() - 1 - place }
    }

    /// The delay of the span that leaves a place of a ringlet.
    fn delay(&self, ringlet: usize, place: usize) -> Span {
        let (n, station) = (self.delays.len(), self.station(ringlet, place));
        self.delays[if ringlet == 0 { station } else { (station + n - 1) % n }]
    }

    /// Ringlet and place of the port that span `number` leaves.
    fn place(&self, number: usize) -> (usize, usize) {
        (number / self.delays.len(), number % self.delays.len())
    }

    /// Name of the span that leaves a port: its ringlet, and the station there.
    fn port_name(&self, ringlet: usize, place: usize) -> String {
        let station = &self.parameters.stations[self.station(ringlet, place)];
        format!("{}.{station}", ["outer", "inner"][ringlet])
    }

    fn port(&self, ringlet: usize, place: usize, link: LinkId, streams: &Streams) -> PortParts {
        let n = self.delays.len();
        let upstream = (1..n).map(|back| self.delay(ringlet, (place + n - back) % n)).collect();
        let weight =
            |back: usize| self.stations[self.station(ringlet, (place + n - back) % n)].weight;
        let own = &self.stations[self.station(ringlet, place)];
        let law = (self.factory)(&StationFacts {
            upstream,
            weights: (0..n).map(weight).collect(),
            committed: [own.committed_high, own.committed_low],
            max_rate: own.max_rate,
        });
        let name = self.port_name(ringlet, place);
        // Stations tick alike, but their clocks are not set.
        let mut phase: Stream = streams.named(&format!("{}.{name}.phase", self.path));
        let phase = law.interval().unwrap_or(Span::ZERO).scaled(phase.uniform());
        PortParts { link, delay: self.delay(ringlet, place), law, phase }
    }

    /// Its element.
    fn ring(&self, wiring: &SubnetworkParts<'_>) -> Ring {
        let (n, given) = (self.delays.len(), &self.parameters);
        let SubnetworkParts { links, streams, .. } = *wiring;
        let leg = |runs: &Vec<Vec<usize>>| self.leg(runs).expect("ways were checked when read");
        let legs = wiring.passed.iter().map(leg).collect();
        let ports = [0, 1].map(|ringlet| {
            (0..n).map(|p| self.port(ringlet, p, links[ringlet * n + p], streams)).collect()
        });
        let buffers = Buffers {
            dual: given.transit == TransitBuffers::Dual,
            high_limit: given.high_limit.bytes(),
            low_limit: given.low_limit.bytes(),
            reserve: 2 * given.largest.bytes(),
            stop: given.stop.bytes(),
            host_limit: given.host_limit.bytes(),
            by_destination: given.host_queues == HostQueueing::Destination,
        };
        Ring::new(RingParts {
            rate: given.rate,
            buffers,
            high: self.high(),
            message: given.message,
            ports,
            legs,
        })
    }

    /// The way through the ring of a route that passes these spans by runs, or none; what is wrong
    /// with it, if it enters the ring twice or changes the ringlet.
    fn leg(&self, runs: &[Vec<usize>]) -> Result<Option<Leg>, &'static str> {
        let spans = match runs {
            [] => return Ok(None),
            [spans] => spans,
            _ => return Err("enters a ring twice"),
        };
        let (ringlet, from) = self.place(spans[0]);
        if spans.iter().any(|span| self.place(*span).0 != ringlet) {
            return Err("turns round on a ring");
        }
        let number = |n: usize| u16::try_from(n).expect("a ring has few stations");
        let ringlet = u8::from(ringlet == 1);
        Ok(Some(Leg { ringlet, from: number(from), spans: number(spans.len()) }))
    }

    /// The highest precedence that is high priority.
    fn high(&self) -> Option<u8> {
        self.parameters.high.and_then(|high| u8::try_from(high).ok())
    }
}

impl Subnetwork for RingPlan {
    /// Its spans, in the order of the ports of its element.
    fn links(&self) -> Vec<InnerLink> {
        let n = self.delays.len();
        let node = |ringlet, place| self.parameters.stations[self.station(ringlet, place)].clone();
        let span = |number: usize| {
            let (ringlet, place) = self.place(number);
            InnerLink {
                name: self.port_name(ringlet, place),
                from: node(ringlet, place),
                to: node(ringlet, (place + 1) % n),
                rate: self.parameters.rate,
                delay: self.delay(ringlet, place),
                element: 0,
                part: u32::try_from(number).expect("a ring has few stations"),
                // Both ringlets join two stations, and packets take the outer one.
                routed: n > 2 || ringlet == 0,
            }
        };
        (0..2 * n).map(span).collect()
    }

    fn largest(&self) -> Option<u64> {
        Some(self.parameters.largest.bytes())
    }

    fn check_way(&self, runs: &[Vec<usize>]) -> Result<(), &'static str> {
        self.leg(runs).map(|_| ())
    }

    fn transit(&self) -> Option<Transit> {
        let RingParameters { high_limit, low_limit, .. } = self.parameters;
        Some(Transit { high: self.high(), buffers: (high_limit, low_limit) })
    }

    fn wire(&self, parts: &SubnetworkParts<'_>) -> Vec<Box<dyn Element>> {
        vec![Box::new(self.ring(parts))]
    }

    fn rows(&self, name: &str, links: &[&LinkCount], measured: Span) -> Vec<Rows> {
        vec![Rows::one(RingResult::of(name.to_owned(), links, measured))]
    }
}
