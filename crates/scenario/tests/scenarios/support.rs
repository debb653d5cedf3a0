//! Parts shared by the tests of whole scenarios.

use forebay_network::record::{Column, RecordTable};
use forebay_parameters::Entry;
use forebay_scenario::{
    CallResult, Control, FlowResult, LinkResult, Replications, RunOptions, RunResult, Scenario,
};

/// The keys and values of the entry's example, as they stand between braces.
pub fn example<B>(entry: &Entry<B>) -> String {
    inline(entry.example)
}

/// Lines with a key and its value each, as they stand between braces.
pub fn inline(example: &str) -> String {
    let lines = example.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(", ")
}

/// The mechanism with its example, as it stands behind the key of its category.
pub fn choice<B>(entry: &Entry<B>) -> String {
    format!("{{ {} = {{ {} }} }}", entry.name, example(entry))
}

/// The scenario that `text` describes.
pub fn read(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// One run of `scenario`, with or without recording.
pub fn run_with(
    scenario: &Scenario,
    replication: u64,
    record: bool,
) -> (RunResult, Vec<RecordTable>) {
    let options = RunOptions { replication, record, ..RunOptions::default() };
    scenario.run(&options, &Control::default()).expect("this run is never cancelled")
}

/// The replication behind `replication` of `scenario`, and that one, which follows it without the
/// scenario being read again, with its records.
pub fn behind_another(
    scenario: &Scenario,
    replication: u64,
) -> (RunResult, RunResult, Vec<RecordTable>) {
    let control = Control::default();
    let mut runs = Replications::of(scenario);
    let mut run = |replication| {
        let options = RunOptions { replication, record: true, ..RunOptions::default() };
        runs.run(&options, &control, || {}).expect("this run is never cancelled")
    };
    let (other, _) = run(replication + 1);
    let (result, tables) = run(replication);
    (other, result, tables)
}

/// One run of the scenario that `text` describes.
pub fn run(text: &str) -> RunResult {
    run_with(&read(text), 0, false).0
}

/// The run of the scenario that `text` describes, which breaks no invariant when it is repeated
/// watched.
pub fn checked(text: &str) -> RunResult {
    let scenario = read(text);
    let result = run_with(&scenario, 0, false).0;
    let report = scenario.check(&RunOptions::default(), &Control::default(), &result).unwrap();
    assert_eq!(report.breaches(), [], "{text}");
    result
}

/// One run of the scenario that `text` describes, with its records.
pub fn record(text: &str) -> (RunResult, Vec<RecordTable>) {
    run_with(&read(text), 0, true)
}

/// The calls `name` of `result`.
pub fn calls(result: &RunResult, name: &str) -> CallResult {
    let found = result.rows::<CallResult>().iter().find(|calls| calls.name == name);
    found.unwrap_or_else(|| panic!("no calls {name}")).clone()
}

/// Flow `name` of `result`.
pub fn flow<'r>(result: &'r RunResult, name: &str) -> &'r FlowResult {
    let found = result.flows.iter().find(|flow| flow.name == name);
    found.unwrap_or_else(|| panic!("no flow {name}"))
}

/// Link `name` of `result`.
pub fn link<'r>(result: &'r RunResult, name: &str) -> &'r LinkResult {
    let found = result.links.iter().find(|link| link.name == name);
    found.unwrap_or_else(|| panic!("no link {name}"))
}

/// Table `name` of `tables`.
pub fn table<'t>(tables: &'t [RecordTable], name: &str) -> &'t RecordTable {
    let found = tables.iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("no table {name}"))
}

/// The numbers of column `name`.
pub fn floats<'t>(table: &'t RecordTable, name: &str) -> &'t [f64] {
    match column(table, name) {
        Column::Float(values) => values,
        _ => panic!("{name} holds no numbers"),
    }
}

/// The whole numbers of column `name`.
pub fn wholes<'t>(table: &'t RecordTable, name: &str) -> &'t [u64] {
    match column(table, name) {
        Column::Whole(values) => values,
        _ => panic!("{name} holds no whole numbers"),
    }
}

/// The words of column `name`.
pub fn words<'t>(table: &'t RecordTable, name: &str) -> &'t [&'static str] {
    match column(table, name) {
        Column::Word(values) => values,
        _ => panic!("{name} holds no words"),
    }
}

/// The names of column `name`.
pub fn names<'t>(table: &'t RecordTable, name: &str) -> &'t [String] {
    match column(table, name) {
        Column::Name(values) => values,
        _ => panic!("{name} holds no names"),
    }
}

/// Returns the events of calls: times in ps, events, names of flows and numbers of calls.
pub fn call_log(tables: &[RecordTable]) -> Vec<(u64, &'static str, String, u64)> {
    let table = table(tables, "calls");
    let (events, flows) = (words(table, "event"), names(table, "flow"));
    let (times, calls) = (floats(table, "time_s"), wholes(table, "call"));
    (0..times.len()).map(|at| (ps(times[at]), events[at], flows[at].clone(), calls[at])).collect()
}

pub fn column<'t>(table: &'t RecordTable, name: &str) -> &'t Column {
    let found = table.columns.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no column {name}")).1
}

/// Seconds as picoseconds. Exact below 1000 s: a double then resolves a tenth of a picosecond.
pub fn ps(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}

/// One row of a packet trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub time: u64,
    pub event: &'static str,
    pub link: String,
    pub flow: String,
    pub number: u64,
    pub size: u64,
    pub kind: &'static str,
}

impl Row {
    /// Returns true if it is about a data packet, not an acknowledgement.
    pub fn is_data(&self) -> bool {
        self.kind != "ack"
    }
}

/// The packet trace among `tables`, times in ps.
pub fn trace(tables: &[RecordTable]) -> Vec<Row> {
    let table = table(tables, "trace");
    let (events, kinds) = (words(table, "event"), words(table, "kind"));
    let (links, flows) = (names(table, "link"), names(table, "flow"));
    let (numbers, sizes) = (wholes(table, "number"), wholes(table, "size_bytes"));
    let row = |(at, time): (usize, &f64)| Row {
        time: ps(*time),
        event: events[at],
        link: links[at].clone(),
        flow: flows[at].clone(),
        number: numbers[at],
        size: sizes[at],
        kind: kinds[at],
    };
    floats(table, "time_s").iter().enumerate().map(row).collect()
}
