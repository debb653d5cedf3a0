//! Gauges: series that are read between the steps of a run, each as one number.
//!
//! Their names are those of series, with the place before: `links.bn.drops`. What counts is given
//! as the difference over the step, per second where that is a rate; what is a state, as it is at
//! the end of the step. Reading asks elements only for what they know: it never changes a run.

use std::fmt;

use forebay_elements::calls::CallCount;
use forebay_laws::control::CONTROLS;
use forebay_network::{Counters, ElementId, FlowCount, LinkCount};
use forebay_parameters::did_you_mean;
use forebay_units::Time;

use crate::plan::{Wired, shown_by};
use crate::read::names::{AGGREGATES, FLOWS, LINKS};
use crate::results::gauge_tables::{
    CALLS, Counted, FLOW_PROBES, FLOWS_COUNTED, LINK_DELAY, LINKS_COUNTED, Per, TCP_PROBES,
};
use crate::run::places::{FlowPlace, LinkPlace, Places};

/// Gauges that are read together.
pub struct Gauges {
    counters: Vec<Gauge<Source>>,
    calls: Vec<Gauge<CallSource>>,
    visits: Vec<Visit>,
    /// Time at which they were read last.
    last: Time,
}

/// A counter that is read as its difference.
struct Gauge<S> {
    slot: usize,
    source: S,
    per: Per,
    /// The counter when it was read last, and that which it is taken over.
    then: [u128; 2],
}

/// Counter of a link, or of flows.
enum Source {
    Link { at: usize, counted: &'static Counted<LinkCount> },
    Flows { first: usize, count: usize, counted: &'static Counted<FlowCount> },
}

/// Counter of calls.
struct CallSource {
    element: ElementId,
    rows: Vec<usize>,
    counted: &'static Counted<CallCount>,
}

/// Inner quantities of the elements of one place that are wanted.
struct Visit {
    elements: Vec<ElementId>,
    part: u32,
    wanted: Vec<Wanted>,
}

struct Wanted {
    name: String,
    slot: usize,
    factor: f64,
}

/// A gauge that there is: its name, unit and meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GaugeName {
    /// The place and the quantity: `links.bn.drops`.
    pub name: String,
    /// Its unit: `packets`, `s`; `1` for a plain number.
    pub unit: &'static str,
    /// Meaning, in words.
    pub meaning: &'static str,
}

/// A name that is not that of a gauge; says what is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGauge {
    /// The name that was read.
    pub name: String,
    /// The nearest names, and those allowed.
    pub allowed: String,
}

impl fmt::Display for UnknownGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown series \"{}\"{}", self.name, self.allowed)
    }
}

impl std::error::Error for UnknownGauge {}

/// A place of which something is asked.
#[derive(Clone, Copy)]
enum Asked<'p> {
    Link(usize, &'p LinkPlace),
    Flows(&'p FlowPlace, Option<usize>),
    Aggregate(usize),
}

impl Gauges {
    pub(crate) fn of(
        names: &[String],
        places: &Places,
        wired: &mut Wired,
    ) -> Result<Self, UnknownGauge> {
        let (counters, calls, visits) = (Vec::new(), Vec::new(), Vec::new());
        let mut gauges = Self { counters, calls, visits, last: Time::ZERO };
        for (slot, name) in names.iter().enumerate() {
            gauges.add(slot, name, places, wired)?;
        }
        Ok(gauges)
    }

    fn add(
        &mut self,
        slot: usize,
        name: &str,
        places: &Places,
        wired: &mut Wired,
    ) -> Result<(), UnknownGauge> {
        let Some((asked, place, quantity)) = find(name, places) else {
            let names: Vec<String> = places.names().collect();
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            let allowed = format!("{hint}; series are of {}", names.join(", "));
            return Err(UnknownGauge { name: name.to_owned(), allowed });
        };
        let then = [0; 2];
        let known = if let Some((source, per)) = counter(asked, quantity) {
            self.counters.push(Gauge { slot, source, per, then });
            true
        } else if let Some(source) = call_counter(asked, quantity, places) {
            let per = source.counted.per;
            self.calls.push(Gauge { slot, source, per, then });
            true
        } else if let Some((elements, part, wanted, factor)) = probe(asked, quantity, places, wired)
        {
            self.visit(elements, part, Wanted { name: wanted, slot, factor });
            true
        } else {
            false
        };
        if known {
            return Ok(());
        }
        let names = quantities(asked, places, wired);
        let names = || names.iter().map(|gauge| gauge.name.as_str());
        let hint = did_you_mean(quantity, names());
        let all = names().collect::<Vec<_>>().join(", ");
        Err(UnknownGauge { name: name.to_owned(), allowed: format!("{hint}; {place} has {all}") })
    }

    fn visit(&mut self, elements: Vec<ElementId>, part: u32, wanted: Wanted) {
        let same = |visit: &&mut Visit| visit.elements == elements && visit.part == part;
        match self.visits.iter_mut().find(same) {
            Some(visit) => visit.wanted.push(wanted),
            None => self.visits.push(Visit { elements, part, wanted: vec![wanted] }),
        }
    }

    /// Read all at `now` into `values`.
    pub(crate) fn read(&mut self, now: Time, wired: &mut Wired, values: &mut [f64]) {
        let passed = now.since(self.last).seconds();
        self.last = now;
        for Visit { elements, part, wanted } in &self.visits {
            for element in elements {
                wired.network.probes(*element, *part, &mut |name, value| {
                    for want in wanted.iter().filter(|want| want.name == name) {
                        if !value.is_nan() {
                            values[want.slot] = value * want.factor;
                        }
                    }
                });
            }
        }
        if !self.counters.is_empty() {
            // Once for all: that brings every element up to the present.
            let counters = wired.network.counters();
            for gauge in &mut self.counters {
                gauge.put(gauge.source.read(counters), passed, values);
            }
        }
        for gauge in &mut self.calls {
            let CallSource { element, rows, counted } = &gauge.source;
            let all = wired.own_counters::<Vec<CallCount>>(*element);
            gauge.put(counted.read(rows.iter().map(|row| &all[*row])), passed, values);
        }
    }
}

impl<S> Gauge<S> {
    /// Put what `counted` is more than the last time into `values`, `passed` seconds after that.
    fn put(&mut self, counted: [u128; 2], passed: f64, values: &mut [f64]) {
        let [one, other] = self.then;
        let since = counted[0].wrapping_sub(one) as f64;
        let value = match self.per {
            Per::Step => since,
            Per::Second(factor) => since * factor / passed,
            Per::Other(factor) => since * factor / counted[1].wrapping_sub(other) as f64,
        };
        // Without a packet there is no mean, nor a rate in no time: what it was stays.
        if value.is_finite() {
            values[self.slot] = value;
        }
        self.then = counted;
    }
}

impl Source {
    /// The counter, and that which it is taken over.
    #[inline]
    fn read(&self, counters: &Counters) -> [u128; 2] {
        match self {
            Self::Link { at, counted } => counted.read([&counters.links[*at]]),
            Self::Flows { first, count, counted } => {
                counted.read(&counters.flows[*first..*first + *count])
            }
        }
    }
}

/// The place and the quantity that `name` names; of several places the one with the longest name.
fn find<'n, 'p>(name: &'n str, places: &'p Places) -> Option<(Asked<'p>, &'n str, &'n str)> {
    let (kind, rest) = name.split_once('.')?;
    let dots = rest.match_indices('.').map(|(at, _)| at).rev();
    dots.map(|dot| (&rest[..dot], &rest[dot + 1..])).find_map(|(place, quantity)| {
        let asked = match kind {
            LINKS => {
                let at = places.links.iter().position(|link| link.name == place)?;
                Asked::Link(at, &places.links[at])
            }
            FLOWS => {
                let (flows, at) = places.flow(place)?;
                Asked::Flows(flows, at)
            }
            AGGREGATES => {
                Asked::Aggregate(places.aggregates.iter().position(|it| it.name == place)?)
            }
            _ => return None,
        };
        Some((asked, &name[..kind.len() + 1 + place.len()], quantity))
    })
}

/// The counter of `quantity` of a link or of flows, if it is one.
fn counter(asked: Asked<'_>, quantity: &str) -> Option<(Source, Per)> {
    match asked {
        Asked::Link(at, _) => {
            let counted = LINKS_COUNTED.iter().find(|counted| counted.name == quantity)?;
            Some((Source::Link { at, counted }, counted.per))
        }
        Asked::Flows(place, at) => {
            let FlowPlace { first, count, .. } = *place;
            let (first, count) = at.map_or((first, count), |at| (first + at, 1));
            let counted = FLOWS_COUNTED.iter().find(|counted| counted.name == quantity)?;
            Some((Source::Flows { first, count, counted }, counted.per))
        }
        Asked::Aggregate(_) => None,
    }
}

/// The counter of `quantity` of calls, if it is one.
fn call_counter(asked: Asked<'_>, quantity: &str, places: &Places) -> Option<CallSource> {
    let (element, rows) = match asked {
        Asked::Link(..) => return None,
        Asked::Flows(place, _) => (shown_by(&place.lanes, None)?.0, vec![place.rows?]),
        Asked::Aggregate(at) => {
            let place = &places.aggregates[at];
            (place.element?, place.rows.clone())
        }
    };
    let counted = CALLS.iter().find(|counted| counted.name == quantity)?;
    Some(CallSource { element, rows, counted })
}

/// The elements that show `quantity` there, their part, the name under which, and what it is
/// multiplied by; `None` if none does.
fn probe(
    asked: Asked<'_>,
    quantity: &str,
    places: &Places,
    wired: &mut Wired,
) -> Option<(Vec<ElementId>, u32, String, f64)> {
    let (elements, part) = elements_of(asked, places);
    if let (Asked::Link(_, link), true) = (asked, quantity == LINK_DELAY.name) {
        let factor = 8.0 / link.rate.bps() as f64;
        return Some((elements, part, "queue_bytes".to_owned(), factor));
    }
    let shown = shows(asked, &elements, part, wired);
    shown.iter().any(|name| name == quantity).then(|| (elements, part, quantity.to_owned(), 1.0))
}

fn elements_of(asked: Asked<'_>, places: &Places) -> (Vec<ElementId>, u32) {
    match asked {
        Asked::Link(_, link) => (link.elements.clone(), link.part),
        Asked::Flows(place, at) => {
            let flow = at.filter(|_| place.rows.is_none()).map(|at| at as u32);
            let shown = shown_by(&place.lanes, flow);
            (shown.iter().map(|(element, _)| *element).collect(), shown.map_or(0, |(_, part)| part))
        }
        Asked::Aggregate(at) => (places.aggregates[at].element.into_iter().collect(), 0),
    }
}

/// Names of the quantities that the elements of a place show, or will show.
fn shows(asked: Asked<'_>, elements: &[ElementId], part: u32, wired: &mut Wired) -> Vec<String> {
    let mut names = Vec::new();
    for element in elements {
        wired.network.probes(*element, part, &mut |name, _| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        });
    }
    if let Asked::Flows(FlowPlace { transport: "tcp", .. }, at) = asked
        && !elements.is_empty()
    {
        // Of a flow that has not begun nothing is shown.
        let own = if at.is_some() { TCP_PROBES } else { FLOW_PROBES };
        let controls = CONTROLS.iter().flat_map(|entry| entry.probes).map(|probe| probe.name);
        for name in own.iter().map(|probe| probe.name).chain(controls) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// All quantities of a place.
fn quantities(asked: Asked<'_>, places: &Places, wired: &mut Wired) -> Vec<GaugeName> {
    fn of<C>(counted: &Counted<C>) -> GaugeName {
        let Counted { name, unit, meaning, .. } = *counted;
        GaugeName { name: name.to_owned(), unit, meaning }
    }
    let mut all: Vec<GaugeName> = match asked {
        Asked::Link(..) => {
            let delay = GaugeName { name: LINK_DELAY.name.to_owned(), ..named(&LINK_DELAY) };
            LINKS_COUNTED.iter().map(of).chain([delay]).collect()
        }
        Asked::Flows(place, _) => {
            let calls = CALLS.iter().filter(|_| place.rows.is_some()).map(of);
            FLOWS_COUNTED.iter().map(of).chain(calls).collect()
        }
        Asked::Aggregate(_) => CALLS.iter().map(of).collect(),
    };
    let (elements, part) = elements_of(asked, places);
    let own = TCP_PROBES.iter().chain(FLOW_PROBES);
    let known: Vec<GaugeName> = own.map(named).collect();
    for name in shows(asked, &elements, part, wired) {
        let known = known.iter().find(|known| known.name == name).cloned();
        let unnamed = GaugeName { name, unit: "", meaning: "" };
        all.push(known.unwrap_or(unnamed));
    }
    all
}

fn named(probe: &forebay_parameters::Probe) -> GaugeName {
    GaugeName { name: probe.name.to_owned(), unit: probe.unit, meaning: probe.meaning }
}

/// Every gauge of a network.
pub(crate) fn all_gauges(places: &Places, wired: &mut Wired) -> Vec<GaugeName> {
    let links = places.links.iter().enumerate().map(|(at, place)| Asked::Link(at, place));
    let flows = places.flows.iter().flat_map(|place| {
        let each = place.rows.is_none() && place.count > 1;
        std::iter::once(Asked::Flows(place, None))
            .chain(each.then_some(Asked::Flows(place, Some(0))))
    });
    let aggregates = (0..places.aggregates.len()).map(Asked::Aggregate);
    let mut all = Vec::new();
    for asked in links.chain(flows).chain(aggregates) {
        let place = match asked {
            Asked::Link(_, place) => format!("{LINKS}.{}", place.name),
            Asked::Flows(place, None) => format!("{FLOWS}.{}", place.name),
            Asked::Flows(place, Some(at)) => format!("{FLOWS}.{}[{at}]", place.name),
            Asked::Aggregate(at) => format!("{AGGREGATES}.{}", places.aggregates[at].name),
        };
        for gauge in quantities(asked, places, wired) {
            all.push(GaugeName { name: format!("{place}.{}", gauge.name), ..gauge });
        }
    }
    all
}
