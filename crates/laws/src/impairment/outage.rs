//! Outages: times at which nothing gets through.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Span, Time};

use super::{BuildImpairment, Impairment, Passage};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "outage",
    summary: "Lets nothing through at certain times, or at random ones. Routes stay as they are.",
    source: "alternating renewal process (Cox, Renewal Theory, 1962, chapter 7)",
    example: r#"
        down = ["200 ms"]
        up = ["350 ms"]
    "#,
    fields: OutageParameters::FIELDS,
    probes: &[Probe { name: "down", unit: "1", meaning: "1 during an outage, else 0." }],
    build: &build,
};

parameters! {
    /// Parameters of outages: `down` and `up`, or `mean_up` and `mean_down`.
    pub struct OutageParameters {
        /// Times at which the link fails: from the start of the run, in order.
        down: Option<Vec<Span>>, "Cox 1962, chapter 7";
        /// Times at which it comes back from each: after the time at the same place of `down`, and
        /// not after the next one there. The last can be left out: then it does not come back.
        up: Option<Vec<Span>>, "Cox 1962, chapter 7";
        /// Mean time from the end of an outage, or the start of the run, to the next outage; above
        /// 0. Exponential.
        mean_up: Option<Span>, "Cox 1962, chapter 7";
        /// Mean length of an outage; above 0. Exponential.
        mean_down: Option<Span>, "Cox 1962, chapter 7";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let plan = OutageParameters::read(section)?.plan(section)?;
    Ok(Box::new(Outage::new(plan)))
}

/// A wire that lets nothing through during `outages`, each from a time until another.
#[must_use]
pub fn outages(outages: &[(Time, Time)]) -> Box<dyn Impairment> {
    let changes: Vec<Time> = outages.iter().flat_map(|(from, until)| [*from, *until]).collect();
    Box::new(Outage::new(OutagePlan::Given(changes.into_iter())))
}

impl OutageParameters {
    /// Returns the plan of when outages begin and end.
    ///
    /// # Errors
    /// If that is not said, in two ways, or not in order.
    pub fn plan(self, section: &Section<'_>) -> Result<OutagePlan, Problem> {
        match (self.down, self.mean_up, self.mean_down) {
            (Some(down), None, None) => {
                let changes = changes(section, &down, &self.up.unwrap_or_default())?;
                Ok(OutagePlan::Given(changes.into_iter()))
            }
            (None, Some(up), Some(down)) if self.up.is_none() => {
                for (key, mean) in [("mean_up", up), ("mean_down", down)] {
                    if mean == Span::ZERO {
                        return Err(section.fail(key, "is zero; a time above 0 is needed"));
                    }
                }
                Ok(OutagePlan::Drawn([up, down]))
            }
            _ => {
                let message = "needs either `down` with `up`, or `mean_up` with `mean_down`";
                Err(section.fail("", message))
            }
        }
    }
}

/// The times at which the link fails and comes back, in turn.
fn changes(section: &Section<'_>, down: &[Span], up: &[Span]) -> Result<Vec<Time>, Problem> {
    if up.len() > down.len() || up.len() + 1 < down.len() {
        let message = format!(
            "has {} times for {} outages; allowed are as many, or one less",
            up.len(),
            down.len()
        );
        return Err(section.fail("up", message));
    }
    let mut changes: Vec<Time> = Vec::new();
    for (at, down) in down.iter().enumerate() {
        for (key, time) in [("down", Some(down)), ("up", up.get(at))] {
            let Some(time) = time else { continue };
            let (last, time) = (changes.last().copied(), Time::ZERO + *time);
            // A link can fail again at the instant at which it came back, not the other way round.
            let in_order = last.is_none_or(|last| last < time || key == "down" && last == time);
            if !in_order {
                let (last, time) = (last.unwrap_or(Time::ZERO), time);
                let [last, time] = [last, time].map(|time| show_span(time.since(Time::ZERO)));
                let message = format!("{time} comes after {last}; times must be in order");
                return Err(section.fail(key, message));
            }
            changes.push(time);
        }
    }
    Ok(changes)
}

/// The state of the link, which is up at first.
struct Outage {
    is_down: bool,
    /// Time of the next change; [`Time::NEVER`] if there is none.
    next: Time,
    plan: OutagePlan,
}

/// Source of the times at which the link fails and comes back.
#[derive(Clone, Debug)]
pub enum OutagePlan {
    /// They are given.
    Given(std::vec::IntoIter<Time>),
    /// They are drawn: the mean times up and down.
    Drawn([Span; 2]),
}

impl OutagePlan {
    /// The mean time from an outage to the next, if they are drawn.
    #[must_use]
    pub fn mean_cycle(&self) -> Option<Span> {
        match self {
            Self::Given(_) => None,
            Self::Drawn([up, down]) => Some(*up + *down),
        }
    }

    /// The outages that begin until `end`: each from a time until another, which is
    /// [`Time::NEVER`] if it does not end by then.
    #[must_use]
    pub fn outages(self, end: Time, stream: &mut Stream) -> Vec<(Time, Time)> {
        let mut outage = Outage::new(self);
        let (mut outages, mut since) = (Vec::new(), None);
        outage.advance(Time::ZERO, stream);
        if outage.is_down {
            since = Some(Time::ZERO);
        }
        while outage.next <= end {
            let at = outage.next;
            match since.take() {
                Some(from) => outages.push((from, at)),
                None => since = Some(at),
            }
            outage.change(stream);
        }
        outages.extend(since.map(|from| (from, Time::NEVER)));
        outages
    }
}

impl Outage {
    fn new(mut plan: OutagePlan) -> Self {
        let next = match &mut plan {
            OutagePlan::Given(changes) => changes.next().unwrap_or(Time::NEVER),
            // The first is drawn with the first packet.
            OutagePlan::Drawn(_) => Time::ZERO,
        };
        let is_down = matches!(plan, OutagePlan::Drawn(_));
        Self { is_down, next, plan }
    }

    /// Pass all changes up to `now`.
    fn advance(&mut self, now: Time, stream: &mut Stream) {
        while self.next <= now {
            self.change(stream);
        }
    }

    /// Pass the next change.
    fn change(&mut self, stream: &mut Stream) {
        self.is_down = !self.is_down;
        self.next = match &mut self.plan {
            OutagePlan::Given(changes) => changes.next().unwrap_or(Time::NEVER),
            OutagePlan::Drawn(means) => {
                let mean = means[usize::from(self.is_down)].ps() as f64;
                // A picosecond at least, so that a mean of a few cannot hold up time.
                self.next + Span::from_ps((mean * stream.exponential()) as u64 + 1)
            }
        };
    }
}

impl Impairment for Outage {
    fn pass(&mut self, _packet: &Packet, now: Time, stream: &mut Stream) -> Passage {
        self.advance(now, stream);
        if self.is_down { Passage::Lost(DropReason::Outage) } else { Passage::Passes }
    }

    /// Shows the state as of the last packet.
    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("down", f64::from(u8::from(self.is_down)));
    }
}
