//! Common parts of environments: a scenario with agents in it, their actions, and what is observed.

use std::sync::Arc;

use forebay_parameters::{Node, Parameter, did_you_mean};
use forebay_scenario::{
    Control, GaugeName, Places, Registry, RunOptions, Scenario, SteppedRun, UnknownGauge,
};
use forebay_units::Span;

use crate::acting::{Action, Acts, Kind};
use crate::error::GymError;
use crate::observing::{Wanted, names, needs_agent};
use crate::places::{Place, find};
use crate::scale::Normalization;
use crate::with_agents;

/// Length of the steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Every {
    /// So long.
    Span(Span),
    /// A round-trip time: as the first agent in TCP has smoothed it when the step begins, and
    /// before that, that of its way when it is empty.
    RoundTrip,
}

impl Every {
    /// Read `"10 ms"`, or `"rtt"`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, GymError> {
        if text == "rtt" {
            return Ok(Self::RoundTrip);
        }
        let fail = |message| GymError::Wrong(format!("every: {message}, or \"rtt\""));
        Span::read(&Node::new(text.into())).map(Self::Span).map_err(fail)
    }
}

/// A scenario with agents, of which any number of environments can be made.
pub struct Template {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    pub(crate) actions: Vec<Action>,
    pub(crate) agents: Vec<Place>,
    pub(crate) names: Vec<String>,
    pub(crate) every: Every,
    pub(crate) normalization: Normalization,
    /// The first agent in TCP, if there is one.
    pub(crate) clock: Option<Clock>,
    /// Flows of the agents in TCP, by number.
    pub(crate) flows: Vec<std::ops::Range<usize>>,
}

/// The agent in TCP by which steps are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) agent: usize,
    pub(crate) base_rtt: Span,
}

impl Template {
    /// Put agents that decide `acts` into `scenario`, whose mechanisms are those of `registry`, and
    /// measure the series called `names`. `file` is what errors of the scenario name.
    ///
    /// # Errors
    /// The first name or bound that is wrong, with what is allowed; those of the scenario with
    /// agents in it.
    pub fn new(
        (registry, scenario, file): (&Registry, &Scenario, &str),
        acts: &[Acts],
        names: Vec<String>,
        (every, normalization): (Every, Normalization),
    ) -> Result<Self, GymError> {
        let mut run = begin(scenario)?;
        let places = run.places().clone();
        let (agents, actions) =
            settle(acts, &places, scenario, normalization).map_err(GymError::Wrong)?;
        if every == Every::Span(Span::ZERO) {
            let message = "every: a step of no time; allowed are times above 0, and \"rtt\"";
            return Err(GymError::Wrong(message.to_owned()));
        }
        let control = |agent: &Place| match agent {
            Place::Control { at, member } => Some((&places.flows[*at], *member)),
            _ => None,
        };
        let clock = agents.iter().enumerate().find_map(|(agent, place)| {
            control(place).map(|(flow, _)| Clock { agent, base_rtt: flow.base_rtt })
        });
        if every == Every::RoundTrip && clock.is_none() {
            let message = "every: read \"rtt\", and no agent acts on flows, which alone have one; \
                           allowed are times such as \"10 ms\"";
            return Err(GymError::Wrong(message.to_owned()));
        }
        let flows = agents.iter().filter_map(control).map(|(flow, member)| match member {
            Some(member) => flow.first + member..flow.first + member + 1,
            None => flow.first..flow.first + flow.count,
        });
        let flows = flows.collect();
        let registry = with_agents(registry).map_err(GymError::Wrong)?;
        let with_agents = scenario.changed(&registry, file, |root| {
            for (number, place) in agents.iter().enumerate() {
                place.settle(number, root, (scenario, &places));
            }
            Ok(())
        })?;
        let seed = scenario.resolved("seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
        let template = Self {
            scenario: with_agents,
            seed,
            actions,
            agents,
            names,
            every,
            normalization,
            clock,
            flows,
        };
        template.check_names(&mut run)?;
        Ok(template)
    }

    /// The actions, in the order in which they are given.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The names of the series that are measured, in the order of their values.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Every series that could be.
    ///
    /// # Errors
    /// If the network cannot be wired.
    pub fn series(&self) -> Result<Vec<GaugeName>, GymError> {
        let run = begin(&self.scenario)?;
        let mut all = series(&self.scenario)?;
        all.extend(names(&self.agents, run.places()));
        Ok(all)
    }

    /// Simulated time of an episode.
    #[must_use]
    pub fn duration(&self) -> Span {
        self.scenario.duration()
    }

    /// Series of the agents themselves, and the names and places of all others.
    pub(crate) fn split(&self, places: &Places) -> (Vec<Wanted>, Vec<(usize, String)>) {
        let mut wanted = Vec::new();
        let mut others = Vec::new();
        for (slot, name) in self.names.iter().enumerate() {
            match Wanted::of(slot, name, &self.agents, places) {
                Some(own) => wanted.push(own),
                None => others.push((slot, name.clone())),
            }
        }
        (wanted, others)
    }

    fn check_names(&self, plain: &mut SteppedRun) -> Result<(), GymError> {
        let mut run = begin(&self.scenario)?;
        let (_, others) = self.split(plain.places());
        for (_, name) in others {
            let Err(UnknownGauge { .. }) = run.gauges(std::slice::from_ref(&name)) else {
                continue;
            };
            if needs_agent(&name) {
                let known = names(&self.agents, plain.places());
                let own: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
                let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
                return Err(GymError::Wrong(format!(
                    "unknown series \"{name}\": it is measured of flows on which an agent acts; \
                     of these there are {own}"
                )));
            }
            let all = self.series()?;
            let near = did_you_mean(&name, all.iter().map(|known| known.name.as_str()));
            let told = run.gauges(&[name]).err().map_or(String::new(), |error| error.to_string());
            let told = if told.contains("did you mean") { told } else { format!("{told}{near}") };
            return Err(GymError::Wrong(told));
        }
        Ok(())
    }
}

/// Every series of `scenario` as it is, without agents.
///
/// # Errors
/// If the network cannot be wired.
pub fn series(scenario: &Scenario) -> Result<Vec<GaugeName>, GymError> {
    Ok(begin(scenario)?.all_gauges())
}

/// The network of `scenario` at time zero, without hands.
fn begin(scenario: &Scenario) -> Result<SteppedRun, GymError> {
    let control = Arc::new(Control::default());
    Ok(SteppedRun::begin(scenario, &RunOptions::default(), control)?)
}

/// The agents that decide `acts`, one at a place, and their actions.
fn settle(
    acts: &[Acts],
    places: &Places,
    scenario: &Scenario,
    normalization: Normalization,
) -> Result<(Vec<Place>, Vec<Action>), String> {
    let mut agents: Vec<Place> = Vec::new();
    let mut actions: Vec<Action> = Vec::new();
    if acts.is_empty() {
        return Err("acts_on: an environment has at least one place to act on".to_owned());
    }
    for (decision, Acts { on, act, bounds }) in acts.iter().enumerate() {
        let place = find(on, act, places, scenario)?;
        let kinds = place.kinds();
        let kind = kind(act, on, kinds)?;
        let bounds = match bounds {
            Some(given) => kind.check(on, *given)?,
            None => place.bounds(kind, places),
        };
        if normalization == Normalization::Log && bounds.0 <= 0.0 {
            return Err(format!(
                "normalize: read \"log\", and the lower bound of {} at {on} is {}; allowed are \
                 bounds above 0",
                kind.name, bounds.0
            ));
        }
        let agent = match agents.iter().position(|known| *known == place) {
            Some(agent) => agent,
            None => {
                agents.push(place.clone());
                agents.len() - 1
            }
        };
        let classes = match place {
            Place::Scheduler { classes, .. } => Some(classes),
            _ => None,
        };
        for class in 0..classes.unwrap_or(1) {
            let number = classes.map_or(String::new(), |_| format!(".{class}"));
            let name = format!("{on}.{}{number}", kind.name);
            let (low, high) = bounds;
            let slot = kind.slot + class;
            let action = Action { name, low, high, decision, agent, slot };
            if actions.iter().any(|known| (known.agent, known.slot) == (agent, action.slot)) {
                return Err(format!("act: {} is decided twice", action.name));
            }
            actions.push(action);
        }
    }
    overlap(&agents, places)?;
    Ok((agents, actions))
}

/// The kind of action called `act`; the usual one, if it is empty.
fn kind(act: &str, on: &str, kinds: &'static [Kind]) -> Result<&'static Kind, String> {
    if act.is_empty() {
        return Ok(&kinds[0]);
    }
    kinds.iter().find(|kind| kind.name == act).ok_or_else(|| {
        let names = || kinds.iter().map(|kind| kind.name);
        let hint = did_you_mean(act, names());
        let all: Vec<&str> = names().collect();
        format!("act: there is no \"{act}\" at {on}{hint}; allowed are {}", all.join(", "))
    })
}

/// Refuse two agents where there is room for one.
fn overlap(agents: &[Place], places: &Places) -> Result<(), String> {
    for (number, agent) in agents.iter().enumerate() {
        for other in &agents[..number] {
            let name = match (agent, other) {
                (Place::Queue { at }, Place::Scheduler { at: there, .. })
                | (Place::Scheduler { at, .. }, Place::Queue { at: there })
                    if at == there =>
                {
                    format!("links.{}.queue", places.links[*at].name)
                }
                (Place::Control { at, .. }, Place::Control { at: there, .. }) if at == there => {
                    format!("flows.{}", places.flows[*at].name)
                }
                _ => continue,
            };
            return Err(format!(
                "acts_on: two agents at {name}; allowed are one queue or its weights, and one \
                 agent in a group of flows"
            ));
        }
    }
    Ok(())
}
