//! Running a scenario.

pub(crate) mod advance;
pub(crate) mod check;
pub(crate) mod control;
pub(crate) mod live;
pub(crate) mod logs;
#[cfg(test)]
mod modes;
pub(crate) mod places;
pub(crate) mod replications;
pub(crate) mod stepped;
pub(crate) mod stopped;
pub(crate) mod supervisor;
pub(crate) mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use forebay_elements::{RowTables, Rows};
use forebay_invariants::Report;
use forebay_kernel::Streams;
use forebay_network::LawFault;
use forebay_network::executive::Cancelled;
use forebay_network::record::{
    CallLog, Column, NoteLog, PaceLog, PacketTrace, RecordTable, ReductionLog, TransferLog,
};
use forebay_network::record_order::{PacketOrder, Tables};
use forebay_parameters::{Echo, Node, Problem, Registry, names_of};
use forebay_units::{Span, Time};

use crate::VERSION;
use crate::capture;
use crate::error::ScenarioError;
use crate::plan::buffers;
use crate::plan::division::divide;
use crate::plan::estimate::estimate;
use crate::plan::hosts;
use crate::plan::sections::ABSENT;
use crate::plan::{Plan, Wired};
use crate::read::files::{Files, load, no_files};
use crate::read::parse;
use crate::read::profiles;
use crate::read::tree::read_tree;
use crate::results::delays::{delay_table, group_delays};
use crate::results::elements::tables;
use crate::results::hosts::host_rows;
use crate::results::series::Series;
use crate::results::tags::tag_rows;
use crate::results::waits::wait_table;
use crate::results::{LinkResult, RunResult, flow_rows};
use crate::run::check::Checking;
use crate::run::control::{Control, RunOptions};
use crate::run::logs::Logs;
use crate::run::replications::Replications;
use crate::run::stopped::Stopped;
use crate::run::supervisor::Supervisor;
use crate::ties::TieOrder;

/// A scenario: checked, hashed, ready to be run any number of times, from any number of threads.
pub struct Scenario {
    root: Node,
    /// The same with buffers in bytes, if it has some that go by their link.
    sized: Option<Node>,
    registry: Registry,
    name: String,
    hash: String,
    resolved: std::collections::BTreeMap<String, String>,
    summary: Summary,
    warnings: Vec<ScenarioError>,
}

/// Summary of a scenario.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Summary {
    name: String,
    scenario_hash: String,
    duration_s: f64,
    warm_up_s: f64,
    nodes: usize,
    links: usize,
    flows: u64,
    /// Data packets that its sources will send, about.
    expected_packets: u64,
    /// Memory that a run will take without recording, about, in bytes.
    expected_memory: u64,
}

/// Events between two looks at [`Control`].
const CHUNK: u64 = 1 << 10;
/// The same for each of several threads, which begin anew after each look.
const LONG_CHUNK: u64 = 1 << 19;

impl Scenario {
    /// Read and check a scenario: `text` of a file called `file`, with `PATH=VALUE` assignments on
    /// top. It can choose from all mechanisms of [`forebay_laws`].
    ///
    /// # Errors
    /// The first thing that is wrong, with line or key path, what was read and what is allowed.
    pub fn parse(text: &str, file: &str, assignments: &[String]) -> Result<Self, ScenarioError> {
        Self::parse_with(&forebay_elements::registry(), text, file, assignments)
    }

    /// As [`Scenario::parse`], for a scenario that can choose from the mechanisms of `registry`.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn parse_with(
        registry: &Registry,
        text: &str,
        file: &str,
        assignments: &[String],
    ) -> Result<Self, ScenarioError> {
        Self::parse_beside(registry, text, file, assignments, &no_files)
    }

    /// The same, for a scenario that can name data files, which `files` reads.
    ///
    /// # Errors
    /// As [`Scenario::parse`], and if a file cannot be read or is wrong.
    pub fn parse_beside(
        registry: &Registry,
        text: &str,
        file: &str,
        assignments: &[String],
        files: Files<'_>,
    ) -> Result<Self, ScenarioError> {
        let (mut root, sources) = read_tree(text, file, assignments, files)?;
        let fail = |problem: Problem| sources.locate(parse::blame(problem, assignments));
        profiles::expand(&mut root).map_err(fail)?;
        load(&mut root, files).map_err(fail)?;
        let of_file = file.rsplit(['/', '\\']).next().unwrap_or(file).trim_end_matches(".toml");
        Self::checked(root, registry, of_file, &fail)
    }

    /// The same scenario with what `change` makes of its tree, in which files have been read and
    /// all that it includes and repeats is written out. It can choose from the mechanisms of
    /// `registry`; `file` is what its errors name.
    ///
    /// # Errors
    /// Those of `change`, and as [`Scenario::parse`].
    pub fn changed(
        &self,
        registry: &Registry,
        file: &str,
        change: impl FnOnce(&mut Node) -> Result<(), Problem>,
    ) -> Result<Self, ScenarioError> {
        let fail = |problem: Problem| ScenarioError { file: file.to_owned(), problem };
        let mut root = self.root.clone();
        change(&mut root).map_err(fail)?;
        Self::checked(root, registry, &self.name, &fail)
    }

    /// The scenario of the tree `root`, which is called `name` unless it says otherwise; `fail`
    /// says where a problem with it is.
    fn checked(
        root: Node,
        registry: &Registry,
        name: &str,
        fail: &dyn Fn(Problem) -> ScenarioError,
    ) -> Result<Self, ScenarioError> {
        let echo = Echo::default();
        let sized = buffers::in_bytes(&root, registry).map_err(fail)?;
        let plan =
            read_plan(sized.as_ref().unwrap_or(&root), Some(&echo), registry).map_err(fail)?;
        let own = plan.parameters.name.as_str();
        let name = if own.is_empty() { name.to_owned() } else { own.to_owned() };
        let mut summary = Summary {
            name: name.clone(),
            scenario_hash: String::new(),
            duration_s: plan.parameters.duration.seconds(),
            warm_up_s: plan.parameters.warm_up.seconds(),
            nodes: plan.nodes,
            links: plan.links.len(),
            flows: plan.flows.iter().map(|flow| u64::from(flow.count)).sum(),
            expected_packets: 0,
            expected_memory: 0,
        };
        let estimate = estimate(&plan, false);
        (summary.expected_packets, summary.expected_memory) = (estimate.packets, estimate.bytes);
        let hosts = hosts::resolved(&plan.flows);
        drop(plan);
        let warnings = echo.take_warnings().into_iter().map(fail).collect();
        let mut resolved = echo.into_inner();
        // A default that is spelled out changes no hash.
        hosts.iter().filter(|(.., is_node)| *is_node).for_each(|(path, ..)| {
            resolved.remove(path);
        });
        let hash = hash(&resolved);
        resolved.extend(hosts.into_iter().map(|(path, host, _)| (path, host)));
        summary.scenario_hash.clone_from(&hash);
        let registry = registry.clone();
        Ok(Self { root, sized, registry, name, hash, resolved, summary, warnings })
    }

    /// The value of the parameter at the key path `path` as the scenario resolves it, default
    /// included; `None` if there is none, or it was not given and has no default.
    #[must_use]
    pub fn resolved(&self, path: &str) -> Option<&str> {
        self.resolved.get(path).map(String::as_str).filter(|value| *value != ABSENT)
    }

    /// The name of the mechanism that the scenario chooses under the key path `path`, by default or
    /// not.
    #[must_use]
    pub fn chosen(&self, path: &str) -> Option<&str> {
        let below = format!("{path}.");
        let mut inside = self.resolved.range(below.clone()..);
        let (first, _) = inside.next().filter(|(key, _)| key.starts_with(&below))?;
        // The mechanism is echoed before its parameters, which stand below it.
        names_of(&first[below.len()..])?.first().copied()
    }

    /// The same without its parameters one by one, which take as much memory as all else: only
    /// [`Scenario::describe`] needs them.
    #[must_use]
    pub fn undescribed(self) -> Self {
        Self { resolved: std::collections::BTreeMap::new(), ..self }
    }

    /// Hash of the scenario, whatever units, order and defaults its file uses. Seed and recording
    /// do not count.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Every parameter by key path, defaults included, as canonical text.
    #[must_use]
    pub fn parameters(&self) -> &std::collections::BTreeMap<String, String> {
        &self.resolved
    }

    /// Every parameter by key path, defaults included, and what the scenario consists of, as JSON.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut value = serde_json::to_value(&self.summary).expect("plain data can be written");
        value["resolved"] = serde_json::json!(self.resolved);
        let warnings: Vec<String> = self.warnings.iter().map(ToString::to_string).collect();
        value["warnings"] = serde_json::json!(warnings);
        value.to_string()
    }

    /// Warnings about values that can be run and are hardly meant: the place of each, what was
    /// read, and what is wrong with it.
    #[must_use]
    pub fn warnings(&self) -> &[ScenarioError] {
        &self.warnings
    }

    /// Simulated time of a run.
    #[must_use]
    pub fn duration(&self) -> Span {
        Span::from_seconds(self.summary.duration_s)
    }

    /// Data packets that the sources of a run will send, about: an estimate from rates of sources
    /// and links, times and counts.
    #[must_use]
    pub fn expected_packets(&self) -> u64 {
        self.summary.expected_packets
    }

    /// Run one replication.
    ///
    /// # Errors
    /// If it was cancelled, or exceeds its limits.
    pub fn run(
        &self,
        options: &RunOptions,
        control: &Control,
    ) -> Result<(RunResult, Vec<RecordTable>), Stopped> {
        Replications::of(self).run(options, control, || {})
    }

    /// Repeat the run that gave `result`, observed and checked against every invariant, among them
    /// that it gives the same again.
    ///
    /// # Errors
    /// As [`Scenario::run`].
    pub fn check(
        &self,
        options: &RunOptions,
        control: &Control,
        result: &RunResult,
    ) -> Result<Report, Stopped> {
        until_cancelled(|| self.check_through(options, control, result))
    }

    fn check_through(
        &self,
        options: &RunOptions,
        control: &Control,
        result: &RunResult,
    ) -> Result<Report, Stopped> {
        // What the checker needs to know of the parameters is read here, so that no scenario is
        // without it.
        let echo = Echo::default();
        let plan = self.plan(Some(&echo))?;
        let (mut run, seed) = self.wired(plan, options, control)?;
        let checking = Checking::attach(&run.plan, &mut run.wired, &echo.borrow());
        run.series = checking.series(&run.plan, &run.wired);
        run.checking = Some(checking);
        let events = run.go()?;
        let checking = run.checking.take().expect("it was set above");
        let series = run.series.take();
        let delays = group_delays(&run.plan, &mut run.wired);
        let mut again = run.result(events);
        self.sign(&mut again, seed, options);
        Ok(checking.report((&again, result), &delays, series))
    }

    /// The plan of a run.
    pub(crate) fn plan<'s>(&'s self, echo: Option<&'s Echo>) -> Result<Plan<'s>, Stopped> {
        let root = self.sized.as_ref().unwrap_or(&self.root);
        read_plan(root, echo, &self.registry).map_err(at_fault)
    }

    /// The network of a run of `plan`, and its seed.
    pub(crate) fn wired<'s>(
        &'s self,
        mut plan: Plan<'s>,
        options: &RunOptions,
        control: &'s Control,
    ) -> Result<(Run<'s>, u64), Stopped> {
        let seed = options.seed.unwrap_or(plan.parameters.seed);
        let estimate = estimate(&plan, options.record);
        Stopped::check(&estimate, &options.limits)?;
        let mut order = TieOrder::new(options.ties);
        let mut wired = plan.wire(&Streams::new(seed, options.replication), &mut order);
        wired.network.stop_on(Arc::clone(&control.cancel));
        let logs = Logs::attach(&plan, &mut wired);
        let supervisor = Supervisor::new(control, options.limits, estimate);
        let run = Run {
            registry: &self.registry,
            plan,
            wired,
            supervisor,
            logs,
            series: None,
            checking: None,
            chunk: CHUNK,
            counted: (0, 0),
            stop: Time::ZERO,
            arrived: true,
            warm: false,
        };
        Ok((run, seed))
    }

    /// Say in `result` what it is of.
    pub(crate) fn sign(&self, result: &mut RunResult, seed: u64, options: &RunOptions) {
        result.name.clone_from(&self.name);
        result.scenario_hash.clone_from(&self.hash);
        result.seed = seed;
        result.replication = options.replication;
        result.expected_packets = self.summary.expected_packets;
    }
}

/// The plan of a scenario. A law from outside that is asked for what it is, and is at fault, is a
/// problem of the scenario that chooses it.
fn read_plan<'a>(
    root: &'a Node,
    echo: Option<&'a Echo>,
    registry: &'a Registry,
) -> Result<Plan<'a>, Problem> {
    let read = catch_unwind(AssertUnwindSafe(|| Plan::read(root, echo, registry)));
    read.unwrap_or_else(|panic| match panic.downcast::<LawFault>() {
        Ok(fault) => Err(Problem { path: String::new(), line: None, message: fault.to_string() }),
        Err(panic) => resume_unwind(panic),
    })
}

/// The scenario was checked when parsed; a law from outside may think otherwise by now.
fn at_fault(problem: Problem) -> Stopped {
    Stopped::Law(LawFault::new(problem.to_string()))
}

/// Result of `run`, or that it was cancelled, or that a law was at fault: the engine unwinds from
/// within a batch of packets.
pub(crate) fn until_cancelled<R>(run: impl FnOnce() -> Result<R, Stopped>) -> Result<R, Stopped> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        if panic.is::<Cancelled>() {
            return Err(Stopped::Cancelled);
        }
        match panic.downcast::<LawFault>() {
            Ok(fault) => Err(Stopped::Law(*fault)),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// The hash covers what decides a trajectory: not the name, the seed (named apart in every result)
/// or what is recorded; nor what is absent, so that a new optional parameter changes no hash.
fn hash(resolved: &std::collections::BTreeMap<String, String>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, value) in resolved {
        if path == "name" || path == "seed" || path.starts_with("record.") || value == ABSENT {
            continue;
        }
        hasher.update(path.as_bytes());
        hasher.update(b"=");
        hasher.update(value.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A wired network on its way through simulated time.
pub(crate) struct Run<'a> {
    registry: &'a Registry,
    pub(crate) plan: Plan<'a>,
    pub(crate) wired: Wired,
    pub(crate) supervisor: Supervisor<&'a Control>,
    pub(crate) logs: Logs,
    pub(crate) series: Option<Series>,
    pub(crate) checking: Option<Checking>,
    /// Events between two looks at whether it is to stop.
    pub(crate) chunk: u64,
    /// Events and hops so far.
    pub(crate) counted: (u64, u64),
    /// Time at which it stops next, or stands: a sample, the end of the warm-up, or the end.
    pub(crate) stop: Time,
    /// True if it stands there.
    pub(crate) arrived: bool,
    /// True if the warm-up is over.
    pub(crate) warm: bool,
}

impl Run<'_> {
    /// Attach the observers that the scenario asks for.
    fn attach(&mut self) {
        let record = &self.plan.record;
        if record.trace > 0 {
            self.wired.network.attach(Box::new(PacketTrace::new(record.trace as usize)));
        }
        if record.adjustments {
            self.wired.network.attach(Box::new(NoteLog::new(forebay_laws::queue::NOTES)));
        }
        if record.paces {
            self.wired.network.attach(Box::new(PaceLog::default()));
        }
        if record.calls {
            self.wired.network.attach(Box::new(CallLog::default()));
        }
        if record.reductions {
            self.wired.network.attach(Box::new(ReductionLog::default()));
        }
        if record.transfers {
            self.wired.network.attach(Box::new(TransferLog::default()));
        }
        let from = Time::ZERO + self.plan.parameters.warm_up;
        let groups = || {
            let groups = self.plan.flows.iter().zip(0..);
            groups.flat_map(|(flow, at)| std::iter::repeat_n(at, flow.count as usize)).collect()
        };
        let tables = Tables { jitter: record.jitter, losses: record.losses };
        if tables != Tables::default() {
            self.wired.network.attach(Box::new(PacketOrder::new(groups(), from, tables)));
        }
        capture::attach(&self.plan, &mut self.wired);
        self.series = record.series.map(|interval| Series::new(interval, &self.plan, &self.wired));
    }

    /// Divide the network into partitions that run on at most `threads` threads, if it can be.
    fn divide(&mut self, threads: usize) {
        if let Some(partitions) = divide(&self.plan, &self.wired, threads) {
            self.wired.network.divide(partitions, threads);
            self.chunk = LONG_CHUNK * threads as u64;
        }
    }

    /// Tables of observers and samplers, and if `record` is set those of counters that are kept
    /// anyway.
    fn tables(&mut self, record: bool) -> Vec<RecordTable> {
        let mut tables: Vec<RecordTable> = Vec::new();
        for mut observer in self.wired.network.detach() {
            tables.extend(observer.tables());
        }
        if record && self.plan.record.delays {
            tables.push(delay_table(&group_delays(&self.plan, &mut self.wired)));
        }
        if record && self.plan.record.waits {
            tables.push(wait_table(self.logs.waits(&self.plan)));
        }
        for table in &mut tables {
            self.name_places(table);
        }
        if let Some(series) = self.series.take() {
            tables.extend(series.tables());
        }
        tables
    }

    /// Replace numbers of links, flows and groups by their names.
    fn name_places(&self, table: &mut RecordTable) {
        let link = |n: u64| {
            usize::try_from(n)
                .ok()
                .and_then(|n| self.plan.links.get(n))
                .map(|link| link.name.clone())
        };
        let group = |n: u64| self.plan.flows[n as usize].name.clone();
        let mut firsts = Vec::with_capacity(self.plan.flows.len());
        let mut flows = 0;
        for flow in &self.plan.flows {
            firsts.push(flows);
            flows += u64::from(flow.count);
        }
        let flow = |n: u64| {
            let group = firsts.partition_point(|first| *first <= n) - 1;
            let index = u32::try_from(n - firsts[group]).expect("a group counts its flows so");
            self.plan.flows[group].flow_name(index)
        };
        for (name, column) in &mut table.columns {
            let Column::Whole(numbers) = column else {
                continue;
            };
            let names: Vec<String> = match name.as_str() {
                "link" => numbers.iter().map(|n| link(*n).unwrap_or_default()).collect(),
                "flow" => numbers.iter().map(|n| flow(*n)).collect(),
                "group" => numbers.iter().map(|n| group(*n)).collect(),
                _ => continue,
            };
            *column = Column::Name(names);
        }
    }

    /// The rows of kinds that not every run has, over a window of `measured`.
    pub(crate) fn tables_of(&mut self, measured: Span) -> RowTables {
        let mut rows = tables(&self.plan, &mut self.wired, self.registry, measured);
        rows.add(Rows::new(self.logs.waits(&self.plan)));
        rows.add(Rows::new(self.logs.synchronization(&self.plan)));
        rows
    }

    pub(crate) fn result(&mut self, (events, hops): (u64, u64)) -> RunResult {
        let measured = self.plan.parameters.duration - self.plan.parameters.warm_up;
        let network = &mut self.wired.network;
        let digest = format!("{:016x}", network.digest());
        let (counters, delays) = network.counters_and_delays();
        let rows = self.plan.record.flows;
        let plans = &self.plan.flows;
        let (flows, groups, totals) = flow_rows(plans, &counters.flows, &delays, rows, measured);
        let hosts = host_rows(plans, (&self.plan.groups, &self.plan.host_tags), &totals, measured);
        let links = self.plan.links.iter().zip(&counters.links);
        let window =
            (Time::ZERO + self.plan.parameters.warm_up, Time::ZERO + self.plan.parameters.duration);
        let links = links
            .map(|(plan, count)| {
                LinkResult::of(
                    (plan.name.clone(), plan.tags.clone()),
                    count,
                    measured,
                    plan.offered(window),
                )
            })
            .collect();
        let tags = tag_rows(plans, &totals, measured);
        let mut tables = self.tables_of(measured);
        tables.add(Rows::new(tags));
        RunResult {
            name: String::new(),
            digest,
            scenario_hash: String::new(),
            version: VERSION,
            seed: 0,
            replication: 0,
            simulated_s: self.plan.parameters.duration.seconds(),
            measured_s: measured.seconds(),
            events,
            packet_hops: hops,
            expected_packets: 0,
            regions: self.wired.network.partitions(),
            flows,
            groups,
            hosts,
            links,
            tables,
        }
    }
}
