//! An environment: episodes of a run in steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_kernel::Streams;
use forebay_scenario::{Control, Gauges, RunOptions, SteppedRun, Stopped};
use forebay_units::{Span, Time};

use crate::error::GymError;
use crate::hand::{Hand, Hands, with_hands};
use crate::observing::Wanted;
use crate::template::{Clock, Every, Template};

/// State of an episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It has not begun: before the first reset, and after an error.
    Absent,
    /// It is under way.
    Running,
    /// It is over as all flows of its agents have ended.
    Terminated,
    /// It is over as the scenario is.
    Truncated,
}

/// An environment.
pub struct Environment {
    template: Arc<Template>,
    hands: Hands,
    episode: Option<Episode>,
    values: Vec<f64>,
    state: State,
    seed: Option<u64>,
    replication: u64,
}

/// The run of an episode.
struct Episode {
    run: SteppedRun,
    gauges: Gauges,
    own: Vec<Wanted>,
    /// Places of the values that gauges read among all, and those values.
    slots: Vec<usize>,
    read: Vec<f64>,
    /// Time at which the step under way ends, and at which it began.
    until: Time,
    since: Time,
}

/// Events between two looks at whether an environment is to stop.
const BUDGET: u64 = 1 << 14;
/// The shortest step by round trips.
const LEAST_STEP: Span = Span::from_us(1);

impl Environment {
    /// An environment of `template`, in which no episode has begun.
    #[must_use]
    pub fn new(template: Arc<Template>) -> Self {
        let values = vec![0.0; template.names.len()];
        let hands = hands_of(&template);
        let state = State::Absent;
        Self { template, hands, episode: None, values, state, seed: None, replication: 0 }
    }

    /// The template that it is made of.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Begin the episode of `seed`, that of the scenario if absent, and of `replication`. It stands
    /// at time zero: nothing has happened, and every value is 0.
    ///
    /// # Errors
    /// If the network cannot be wired.
    pub fn reset(&mut self, seed: Option<u64>, replication: u64) -> Result<(), GymError> {
        self.abandon();
        self.hands = hands_of(&self.template);
        self.values.fill(0.0);
        (self.seed, self.replication) = (seed, replication);
        let Template { scenario, seed: own, .. } = &*self.template;
        let options = RunOptions { seed, replication, ..RunOptions::default() };
        let streams = Streams::new(seed.unwrap_or(*own), replication);
        let mut run = with_hands(&self.hands, streams, || {
            SteppedRun::begin(scenario, &options, Arc::new(Control::default()))
        })?;
        let (own, others) = self.template.split(run.places());
        let (slots, names): (Vec<_>, Vec<_>) = others.into_iter().unzip();
        let gauges = run.gauges(&names)?;
        let read = vec![0.0; slots.len()];
        let (until, since) = (Time::ZERO, Time::ZERO);
        self.episode = Some(Episode { run, gauges, own, slots, read, until, since });
        self.state = State::Running;
        Ok(())
    }

    /// Check that a step with `actions` can begin.
    ///
    /// # Errors
    /// If an action is not a number, or no episode is under way.
    pub fn check_step(&self, actions: &[f64]) -> Result<(), GymError> {
        match self.state {
            State::Running => {}
            State::Absent => return Err(wrong("no episode is under way: reset first")),
            State::Terminated | State::Truncated => {
                return Err(wrong("the episode is over: reset first"));
            }
        }
        match self.template.actions.iter().zip(actions).find(|(_, given)| given.is_nan()) {
            None => Ok(()),
            Some((action, given)) => Err(GymError::Wrong(format!(
                "{}: read {given}; allowed are numbers from {} to {}",
                action.name, action.low, action.high
            ))),
        }
    }

    /// Begin a step with `actions`, one for each of the template, which hold until it ends. What
    /// lies beyond a bound is that bound.
    ///
    /// # Errors
    /// As [`Environment::check_step`].
    pub fn begin_step(&mut self, actions: &[f64]) -> Result<(), GymError> {
        self.check_step(actions)?;
        let template = &*self.template;
        let Some(episode) = &mut self.episode else {
            return Err(wrong("no episode is under way: reset first"));
        };
        for (action, given) in template.actions.iter().zip(actions) {
            let decided = template.normalization.action(*given, (action.low, action.high));
            self.hands[action.agent].actions[action.slot].set(decided);
        }
        let length = match (template.every, template.clock) {
            (Every::Span(span), _) => span,
            (Every::RoundTrip, Some(Clock { agent, base_rtt })) => {
                let srtt = Span::from_ps(self.hands[agent].seen.srtt.get());
                let known = if srtt > Span::ZERO { srtt } else { base_rtt };
                known.max(LEAST_STEP)
            }
            (Every::RoundTrip, None) => LEAST_STEP,
        };
        episode.since = episode.run.now();
        episode.until = (episode.since + length).min(episode.run.end());
        Ok(())
    }

    /// Continue the step for some events. Returns true if its end was reached, and what is
    /// observed was read.
    ///
    /// # Errors
    /// If the run stops: then the episode is gone.
    pub fn proceed(&mut self) -> Result<bool, GymError> {
        let Some(episode) = &mut self.episode else {
            return Err(wrong("no episode is under way: reset first"));
        };
        match episode.run.advance(episode.until, BUDGET) {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            Err(stopped) => {
                self.abandon();
                return Err(stopped.into());
            }
        }
        episode.read(&self.hands, &mut self.values);
        let flows = &self.template.flows;
        if episode.run.is_over() {
            self.state = State::Truncated;
        } else if !flows.is_empty()
            && flows.iter().all(|flows| episode.run.have_ended(flows.clone()))
        {
            self.state = State::Terminated;
        }
        Ok(true)
    }

    /// A whole step; `cancel` ends it early, and the episode with it.
    ///
    /// # Errors
    /// As [`Environment::begin_step`] and [`Environment::proceed`].
    pub fn step(&mut self, actions: &[f64], cancel: &AtomicBool) -> Result<(), GymError> {
        self.begin_step(actions)?;
        while !self.proceed()? {
            if cancel.load(Ordering::Relaxed) {
                self.abandon();
                return Err(Stopped::Cancelled.into());
            }
        }
        Ok(())
    }

    /// Give up the episode, where a step under way is not to be ended.
    pub fn abandon(&mut self) {
        (self.episode, self.state) = (None, State::Absent);
    }

    /// The values of the series of the template, at the end of the last step.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// State of the episode.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Simulated time that the episode has reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.episode.as_ref().map_or(Time::ZERO, |episode| episode.run.now())
    }

    /// The digest of what has happened in the episode so far: every packet that an element or a
    /// sink has received, when and where. Equal scenarios, seeds, replications and actions give
    /// equal ones, and at the end of an episode it is the digest that a whole run has.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.episode.as_mut().map_or(0, |episode| episode.run.digest())
    }

    /// The root seed of the episode, and its replication.
    #[must_use]
    pub fn drawn(&self) -> (u64, u64) {
        (self.seed.unwrap_or(self.template.seed), self.replication)
    }
}

impl Episode {
    fn read(&mut self, hands: &Hands, values: &mut [f64]) {
        let Self { run, gauges, own, slots, read, since, .. } = self;
        run.read(gauges, read);
        for (slot, value) in slots.iter().zip(&*read) {
            values[*slot] = *value;
        }
        let passed = run.now().since(*since).seconds();
        for wanted in own {
            wanted.put(&hands[wanted.agent], passed, values);
        }
    }
}

fn hands_of(template: &Template) -> Hands {
    template.agents.iter().map(|place| Arc::new(Hand::new(place.actions()))).collect()
}

fn wrong(message: &str) -> GymError {
    GymError::Wrong(message.to_owned())
}
