//! Reading packet rings and making their elements.

use forebay_elements::names_of;
use forebay_elements::ring::{Buffers, Leg, PortParts, Ring, RingParts};
use forebay_kernel::{Stream, Streams};
use forebay_laws::fairness::{Fairness, FairnessFactory, RingFacts, StationFacts};
use forebay_parameters::{Parameters, Problem, Section, choose};
use forebay_units::{Rate, Size, Span};

use crate::plan::sections::{
    HostQueueing, RING_MECHANISMS, RingParameters, StationParameters, TransitBuffers,
};
use crate::read::names::fault;
use forebay_elements::bounds::{check_delay, check_rate};
use forebay_network::LinkId;

/// The most stations of a ring: hop counts have 8 bits (RFC 2892, section 4.2.1).
const MAX_STATIONS: usize = 255;

/// A link's span of a ring: it leaves port `place` of a ringlet.
#[derive(Clone, Copy)]
pub(crate) struct RingSpan {
    pub(crate) ring: usize,
    ringlet: usize,
    place: usize,
}

/// A span as a link between two nodes.
pub(crate) struct SpanPlan {
    /// Ringlet and station that it leaves, such as `outer.F`.
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) delay: Span,
    pub(crate) span: RingSpan,
}

/// A ring as the scenario describes it.
pub(crate) struct RingPlan {
    pub(crate) name: String,
    path: String,
    parameters: RingParameters,
    delays: Vec<Span>,
    stations: Vec<StationParameters>,
    factory: FairnessFactory,
}

/// Read the section of one ring.
pub(crate) fn read_ring(name: &str, section: &Section<'_>) -> Result<RingPlan, Problem> {
    let parameters = RingParameters::read_among(section, RING_MECHANISMS)?;
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
    let (name, path) = (name.to_owned(), section.path().to_owned());
    Ok(RingPlan { name, path, parameters, delays, stations, factory })
}

fn check_stations(section: &Section<'_>, stations: &[String]) -> Result<(), Problem> {
    if !(2..=MAX_STATIONS).contains(&stations.len()) {
        let count = stations.len();
        let message = format!("has {count} stations; allowed are 2 to {MAX_STATIONS}");
        return Err(section.fail("stations", message));
    }
    if let Some(fault) = stations.iter().find_map(|station| fault(station)) {
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
    /// The highest precedence of high priority, and the sizes of the transit buffers.
    pub(crate) fn classes(&self) -> (Option<u8>, (Size, Size)) {
        let RingParameters { high, high_limit, low_limit, .. } = self.parameters;
        (high.and_then(|high| u8::try_from(high).ok()), (high_limit, low_limit))
    }

    pub(crate) fn rate(&self) -> Rate {
        self.parameters.rate
    }

    /// The largest packet that may come.
    pub(crate) fn largest(&self) -> u64 {
        self.parameters.largest.bytes()
    }

    /// Number of a span's part of the element: that of its port.
    pub(crate) fn part(&self, span: RingSpan) -> u32 {
        let number = span.ringlet * self.delays.len() + span.place;
        u32::try_from(number).expect("a ring has few stations")
    }

    /// Returns true if a span joins two stations as another one of the ring does: of two stations
    /// both ringlets do, and packets take the outer one.
    pub(crate) fn doubles(&self, span: RingSpan) -> bool {
        self.delays.len() == 2 && span.ringlet == 1
    }

    /// The station at a place of a ringlet: the inner one runs the other way.
    fn station(&self, ringlet: usize, place: usize) -> usize {
        if ringlet == 0 { place } else { self.delays.len() - 1 - place }
    }

    /// The delay of the span that leaves a place of a ringlet.
    fn delay(&self, ringlet: usize, place: usize) -> Span {
        let (n, station) = (self.delays.len(), self.station(ringlet, place));
        self.delays[if ringlet == 0 { station } else { (station + n - 1) % n }]
    }

    /// Its spans as links, in the order of the ports of its element. `ring` is its number.
    pub(crate) fn spans(&self, ring: usize) -> impl Iterator<Item = SpanPlan> {
        let n = self.delays.len();
        let places = (0..2).flat_map(move |ringlet| (0..n).map(move |place| (ringlet, place)));
        places.map(move |(ringlet, place)| {
            let node = |place| self.parameters.stations[self.station(ringlet, place)].clone();
            SpanPlan {
                name: self.port_name(ringlet, place),
                from: node(place),
                to: node((place + 1) % n),
                delay: self.delay(ringlet, place),
                span: RingSpan { ring, ringlet, place },
            }
        })
    }

    /// Name of a port's probes.
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

    /// Its element. `links` are its spans, `legs` the ways through it by route.
    pub(crate) fn element(
        &self,
        links: &[LinkId],
        legs: Vec<Option<Leg>>,
        streams: &Streams,
    ) -> Ring {
        let (n, given) = (self.delays.len(), &self.parameters);
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
        let high = given.high.map(|high| u8::try_from(high).expect("checked when read"));
        Ring::new(RingParts {
            rate: given.rate,
            buffers,
            high,
            message: given.message,
            ports,
            legs,
        })
    }
}

/// The way through ring `ring` of a route over links that are these spans, or none; what is wrong
/// with it, if it enters the ring twice or changes the ringlet.
pub(crate) fn leg(ring: usize, spans: &[Option<RingSpan>]) -> Result<Option<Leg>, &'static str> {
    let on_it = |span: &Option<RingSpan>| span.is_some_and(|span| span.ring == ring);
    let Some(start) = spans.iter().position(on_it) else { return Ok(None) };
    let passed: Vec<RingSpan> =
        spans[start..].iter().take_while(|span| on_it(span)).copied().flatten().collect();
    if spans[start + passed.len()..].iter().any(on_it) {
        return Err("enters a ring twice");
    }
    if passed.iter().any(|span| span.ringlet != passed[0].ringlet) {
        return Err("turns round on a ring");
    }
    let number = |n: usize| u16::try_from(n).expect("a ring has few stations");
    Ok(Some(Leg {
        ringlet: u8::from(passed[0].ringlet == 1),
        from: number(passed[0].place),
        spans: number(passed.len()),
    }))
}
