//! Requests of a page to the engine: check a scenario, run it in slices, read out what was seen.

use forebay_scenario::{
    Control, Limits, LiveRun, RunOptions, Scenario, ScenarioError, Stopped, edit, registry,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// A scenario and how to run it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Text of the scenario file.
    pub text: String,
    /// Name of the file in messages.
    pub name: String,
    /// `PATH=VALUE` assignments on top.
    #[serde(default)]
    pub set: Vec<String>,
    /// Root seed; that of the scenario if absent.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Replication number.
    #[serde(default)]
    pub replication: u64,
    /// Approximate number of samples.
    #[serde(default = "default_samples")]
    pub samples: u64,
    /// True if packets are to be seen one by one, which takes time.
    #[serde(default)]
    pub watched: bool,
    /// Most memory that the run may take, in bytes.
    #[serde(default)]
    pub max_memory: Option<u64>,
}

/// Samples of a run unless the page says otherwise.
fn default_samples() -> u64 {
    600
}

/// A change of one parameter of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeRequest {
    /// The scenario before it.
    pub scenario: Request,
    /// Key path of the parameter, as in an assignment.
    pub path: String,
    /// Its new value, as in an assignment.
    pub value: String,
}

/// Answer to the page: a document, or `{"error": {"message", "path", "line"}}`.
pub type Answer = Result<Json, Json>;

/// One run and the scenario that it is of.
#[derive(Default)]
pub struct Desk {
    run: Option<LiveRun<'static>>,
}

impl Desk {
    /// Every mechanism and every section of a scenario file.
    #[must_use]
    pub fn catalogue() -> String {
        forebay_scenario::catalogue(&registry())
    }

    /// Read and check a scenario, and describe it.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(request: &str) -> Answer {
        let request: Request = read(request)?;
        described(&request.text, &request.name, &request.set)
    }

    /// Change a parameter of a scenario, in its text with all else there as it is: the text, the
    /// assignments on top of it, and what the scenario consists of then. Where the text would say
    /// something else with the change in it, as it has no place for it, that is an assignment.
    ///
    /// # Errors
    /// What is wrong with the scenario with the change.
    pub fn change(request: &str) -> Answer {
        let ChangeRequest { scenario: Request { text, name, set, .. }, path, value } =
            read(request)?;
        let assignment = vec![format!("{path}={value}")];
        // Earlier changes of the parameter, and of what a mechanism had in its place, are void.
        let of = |each: &String| {
            each.strip_prefix(&path).is_some_and(|rest| rest.starts_with(['=', '.']))
        };
        let others: Vec<String> = set.into_iter().filter(|each| !of(each)).collect();
        let on_top = [others.clone(), assignment.clone()].concat();
        let wanted = described(&text, &name, &on_top)?;
        let changed = edit(&text, &name, &[], &assignment).ok().and_then(|text| {
            let found = described(&text, &name, &others).ok()?;
            let same = ["scenario_hash", "resolved"].iter().all(|key| found[key] == wanted[key]);
            same.then(|| json!({ "text": text, "set": others, "described": found }))
        });
        let beside = || json!({ "text": text, "set": on_top, "described": wanted });
        Ok(changed.unwrap_or_else(beside))
    }

    /// Wire the network of a scenario; its layout. The scenario is kept for good: an instance of
    /// the module is made for one run.
    ///
    /// # Errors
    /// What is wrong with the scenario, or which limit it exceeds.
    pub fn begin(&mut self, request: &str) -> Answer {
        let request: Request = read(request)?;
        let scenario: &'static Scenario = Box::leak(Box::new(scenario(&request)?.undescribed()));
        let options = RunOptions {
            seed: request.seed,
            replication: request.replication,
            limits: Limits { packets: None, memory: request.max_memory },
            ..RunOptions::default()
        };
        let control: &'static Control = Box::leak(Box::default());
        let run = LiveRun::begin(scenario, &options, control, (request.samples, request.watched))
            .map_err(|stopped| limit(&stopped))?;
        let mut layout = run.layout();
        layout["expected_packets"] = json!(scenario.expected_packets());
        self.run = Some(run);
        Ok(layout)
    }

    /// Continue for about `events` events, or to the next sample: whether a sample or the end was
    /// reached, and whether it is the end.
    ///
    /// # Errors
    /// If there is no run, or it exceeds a limit.
    pub fn advance(&mut self, events: u64) -> Result<(bool, bool), Json> {
        let run = self.run.as_mut().ok_or_else(|| failure(NO_RUN))?;
        let arrived = run.advance(events).map_err(|stopped| limit(&stopped))?;
        Ok((arrived, run.is_over()))
    }

    /// Simulated time of the last sample that was reached, in seconds; 0 before.
    #[must_use]
    pub fn reached_s(&self) -> f64 {
        self.run.as_ref().map_or(0.0, |run| run.reached().seconds())
    }

    /// Returns what was sampled since this was asked last, and what has been counted. At a sample.
    ///
    /// # Errors
    /// If there is no run.
    pub fn look(&mut self) -> Answer {
        let run = self.run.as_mut().ok_or_else(|| failure(NO_RUN))?;
        let packets = run.packets();
        Ok(json!({ "series": run.samples(), "counted": run.counted(), "packets": packets }))
    }

    /// Continue to the next event that is about a packet: what happened.
    ///
    /// # Errors
    /// If there is no run, or it exceeds a limit.
    pub fn step(&mut self) -> Answer {
        let run = self.run.as_mut().ok_or_else(|| failure(NO_RUN))?;
        let mut report = run.step().map_err(|stopped| limit(&stopped))?;
        report["over"] = json!(run.is_over());
        report["packets"] = run.packets();
        Ok(report)
    }

    /// The distribution of the one-way delays of each group of flows so far.
    ///
    /// # Errors
    /// If there is no run.
    pub fn delays(&mut self) -> Answer {
        Ok(self.run.as_mut().ok_or_else(|| failure(NO_RUN))?.delays())
    }

    /// The result of the run: the document of `forebay run --json`, without what a clock says.
    ///
    /// # Errors
    /// If there is no run, or it is not over.
    pub fn result(&mut self) -> Answer {
        let run = self.run.as_mut().ok_or_else(|| failure(NO_RUN))?;
        if !run.is_over() {
            return Err(failure("the run is not over"));
        }
        serde_json::to_value(run.result()).map_err(|error| failure(&error.to_string()))
    }
}

const NO_RUN: &str = "no run has begun";

fn read<R: DeserializeOwned>(request: &str) -> Result<R, Json> {
    serde_json::from_str(request).map_err(|error| failure(&error.to_string()))
}

fn scenario(request: &Request) -> Result<Scenario, Json> {
    Scenario::parse(&request.text, &request.name, &request.set).map_err(|error| wrong(&error))
}

/// Description of a scenario: its parts and the parameters of each.
fn described(text: &str, name: &str, set: &[String]) -> Answer {
    let described = Scenario::parse(text, name, set).map_err(|error| wrong(&error))?.describe();
    serde_json::from_str(&described).map_err(|error| failure(&error.to_string()))
}

fn wrong(error: &ScenarioError) -> Json {
    let problem = &error.problem;
    json!({ "error": {
        "message": error.to_string(), "path": problem.path, "line": problem.line,
    }})
}

fn limit(stopped: &Stopped) -> Json {
    failure(&stopped.to_string())
}

fn failure(message: &str) -> Json {
    json!({ "error": { "message": message, "path": "", "line": null } })
}
