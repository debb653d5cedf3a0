//! The columns of all results: their names, units and meanings, as documentation and Python ask
//! for them.

use std::slice::from_ref;

use forebay_elements::link::SwitchResult;
use forebay_elements::{Row, RowKind, RowsOf, Subnetworks, Transports};
use forebay_network::Unit;
use forebay_parameters::Registry;
use serde_json::{Map, Value as Json, json};

use crate::results::classes::ClassResult;
use crate::results::counted::Counted;
use crate::results::drops::DropReasons;
use crate::results::pairs::PairResult;
use crate::results::spread::{Quantiles, Spread};
use crate::results::synchronization::SynchronizationResult;
use crate::results::tags::TagResult;
use crate::results::waits::WaitResult;
use crate::results::{FlowResult, GroupResult, LinkResult, RunResult};
use crate::{HostResult, LatenessResult, PolicingResult, ResultColumn};

/// A column of rows.
const ROWS: ResultColumn = ResultColumn {
    name: "",
    unit: Unit::Rows,
    meaning: "",
    headline: false,
    head: "",
    table: "",
    place: 0,
    if_any: false,
    over: "",
};

/// The kinds of rows that not every run has, in order: those of the transports of `registry`, then
/// of what flows can have beside, of subnetworks, and of links.
pub(crate) fn kinds(registry: &Registry) -> Vec<RowKind> {
    let transports = registry.entries::<Transports>().iter().flat_map(|entry| entry.build.rows);
    let subnetworks = registry.entries::<Subnetworks>().iter().flat_map(|entry| entry.build.rows);
    let of_flows = [TagResult::KIND, PolicingResult::KIND, LatenessResult::KIND, PairResult::KIND];
    let of_links =
        [ClassResult::KIND, SwitchResult::KIND, WaitResult::KIND, SynchronizationResult::KIND];
    let mut kinds: Vec<RowKind> = Vec::new();
    for kind in transports.chain(&of_flows).chain(subnetworks).chain(&of_links) {
        if kinds.iter().all(|known| known.name != kind.name) {
            kinds.push(*kind);
        }
    }
    kinds
}

/// Titles of the tables of flows, or of groups of them.
const DELAYS: (&str, &str) = ("delays", "one-way delay: percentiles over packets");

/// The kinds of rows that every run has.
fn usual_kinds() -> [(RowKind, Vec<ResultColumn>); 4] {
    let kind = |name, of, titles| RowKind { name, meaning: "", of, titles, columns: &[] };
    let flows = kind("flows", RowsOf::Flows, &[("", "flows"), DELAYS]);
    let groups = kind("groups", RowsOf::Flows, &[("", "flows, by group"), DELAYS]);
    let titles = &[("", "hosts: what they send, and what they receive")];
    let hosts = kind("hosts", RowsOf::Flows, titles);
    let links = kind("links", RowsOf::Links, &[("", "links (queues in packets)")]);
    [
        (flows, with_counted(FlowResult::COLUMNS)),
        (groups, with_counted(GroupResult::COLUMNS)),
        (hosts, HostResult::COLUMNS.to_vec()),
        (links, LinkResult::COLUMNS.to_vec()),
    ]
}

/// The parts of results, where mechanisms come from `registry`, as JSON: `kinds` of rows, each with
/// its titles; and by part, of which each kind is one, `columns`: lists of objects with the
/// fields of [`ResultColumn`]. `of_run` are columns of a run that the caller adds.
#[must_use]
pub fn result_columns(registry: &Registry, of_run: &[ResultColumn]) -> String {
    let (kinds, mut run) = (kinds(registry), Vec::new());
    for column in RunResult::COLUMNS {
        match column.name {
            "tables" => run.extend(kinds.iter().map(column_of)),
            _ => run.push(*column),
        }
    }
    run.extend(of_run);
    let mut columns = Map::new();
    columns.insert("run".to_owned(), json!(described(&run)));
    let mut shown = Vec::new();
    for (kind, own) in usual_kinds() {
        columns.insert(kind.name.to_owned(), json!(described(&own)));
        shown.push(kind);
    }
    for kind in kinds {
        columns.insert(kind.name.to_owned(), json!(described(&with_counted(kind.columns))));
        shown.push(kind);
    }
    for (part, own) in [
        ("spread", Spread::COLUMNS),
        ("quantiles", Quantiles::COLUMNS),
        ("drop_reasons", DropReasons::COLUMNS),
    ] {
        columns.insert(part.to_owned(), json!(described(own)));
    }
    // Tables about links come last, as they are what flows pass.
    shown.sort_by_key(|kind| kind.of == RowsOf::Links);
    let shown: Vec<Json> = shown.iter().map(shown_kind).collect();
    json!({ "kinds": shown, "columns": columns }).to_string()
}

/// The column of a run that the rows of `kind` are.
fn column_of(kind: &RowKind) -> ResultColumn {
    ResultColumn { name: kind.name, meaning: kind.meaning, ..ROWS }
}

fn shown_kind(kind: &RowKind) -> Json {
    let titles: Map<String, Json> =
        kind.titles.iter().map(|(table, title)| ((*table).to_owned(), json!(title))).collect();
    json!({ "name": kind.name, "of": kind.of.word(), "titles": titles })
}

/// `own`, with the columns of `counted` where serde puts them.
fn with_counted(own: &[ResultColumn]) -> Vec<ResultColumn> {
    own.iter()
        .flat_map(|column| match column.name {
            "counted" => Counted::COLUMNS,
            _ => from_ref(column),
        })
        .copied()
        .collect()
}

fn described(columns: &[ResultColumn]) -> Vec<Json> {
    columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name,
                "unit": column.unit.symbol(),
                "meaning": words(column.meaning),
                "headline": column.headline,
                "head": column.head,
                "table": column.table,
                "place": column.place,
                "if_any": column.if_any,
                "over": column.over,
            })
        })
        .collect()
}

/// A documentation comment in one line.
pub(crate) fn words(documentation: &str) -> String {
    documentation.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, RunOptions, Scenario};

    const SCENARIO: &str = r#"
        duration = "1 s"
        [links.wire]
        queue = { wrr = { classify = "flow_hash", classes = ["droptail"] } }
        from = "a"
        to = "b"
        rate = "1 Mbit/s"
        delay = "1 ms"
        tags = ["all"]
        [flows.steady]
        from = "a"
        to = "b"
        udp = { echo = true }
        traffic = { cbr = { rate = "80 kbit/s", size = "200 B" } }
        [flows.voice]
        from = "a"
        to = "b"
        calls = { initial = 1 }
        traffic = { voice = { codec = "g711_20ms" } }
        [hosts.x]
        tags = ["near"]
        [flows.pages]
        from = "a"
        to = "b"
        tags = ["web"]
        tcp = { profile = "rfc" }
        traffic = { file = { size = "10 kB" } }
        [flows.film]
        from = "a"
        to = "b"
        tcp = {}
        traffic = { adaptive_video = { rates = ["100 kbit/s"] } }
        [flows.file]
        from = "a"
        to = "b"
        late_after = "20 ms"
        paced = { activity = { files = { rate = "100 kbit/s" } }, pace = "uncontrolled" }
        policing = { at = "a", peak = { rate = "100 kbit/s" } }
        [flows.both]
        from = ["a", "b"]
        to = ["a", "b"]
        udp = {}
        traffic = { cbr = { rate = "10 kbit/s", size = "100 B" } }
        [switches.a]
        memory = "90 kB"
        [rings.metro]
        stations = ["x", "y", "z"]
        fairness = "none"
        rate = "1 Mbit/s"
        delay = "1 ms"
        [flows.around]
        tags = ["ring"]
        from = "x"
        to = "y"
        udp = {}
        traffic = { cbr = { rate = "80 kbit/s", size = "200 B" } }
    "#;

    /// Results by part, one with a row for each flow and one with groups only.
    fn found() -> Vec<(&'static str, Json)> {
        let run = |rows: &str| {
            let set = [
                format!("record.flows=\"{rows}\""),
                "record.classes=true".to_owned(),
                "record.waits=true".to_owned(),
                "record.synchronization=\"100 ms\"".to_owned(),
            ];
            let scenario = Scenario::parse(SCENARIO, "test", &set).unwrap();
            let (run, _) = scenario.run(&RunOptions::default(), &Control::default()).unwrap();
            serde_json::to_value(&run).unwrap()
        };
        let (each, summed) = (run("each"), run("groups"));
        let kinds = [
            "flows",
            "hosts",
            "links",
            "classes",
            "transfers",
            "video",
            "calls",
            "paced",
            "policing",
            "lateness",
            "round_trips",
            "rings",
            "switches",
            "waits",
            "synchronization",
            "tags",
            "transfers_by_tag",
            "pairs",
        ];
        let mut parts: Vec<_> = kinds.map(|kind| (kind, each[kind][0].clone())).into();
        let group = summed["groups"][0].clone();
        parts.push(("drop_reasons", each["links"][0]["drop_reasons"].clone()));
        parts.push(("quantiles", group["spread"]["sent_packets"].clone()));
        parts.push(("spread", group["spread"].clone()));
        parts.extend([("groups", group), ("run", each)]);
        parts
    }

    /// The columns of each part.
    fn described_parts() -> Json {
        let all: Json =
            serde_json::from_str(&result_columns(&forebay_elements::registry(), &[])).unwrap();
        all["columns"].clone()
    }

    /// Every column of a result is described, and every described column exists.
    #[test]
    fn every_column_of_a_result_is_described() {
        let described = described_parts();
        let found = found();
        assert_eq!(described.as_object().unwrap().len(), found.len());
        for (part, found) in found {
            let columns = described[part].as_array().unwrap().iter();
            let mut expected: Vec<&str> =
                columns.map(|column| column["name"].as_str().unwrap()).collect();
            expected.sort_unstable();
            let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
            assert_eq!(keys, expected, "{part}");
        }
    }

    /// Units fit names and values: a column has a unit and a meaning, the end of its name agrees
    /// with the unit, and it holds words, numbers or rows as the unit says.
    #[test]
    fn units_fit_names_and_values() {
        let endings = [
            ("_bps", "bit/s"),
            ("_s", "s"),
            ("_packets", "packets"),
            ("_bytes", "B"),
            ("_ratio", "share"),
        ];
        let described = described_parts();
        for (part, found) in found() {
            for column in described[part].as_array().unwrap() {
                let [name, unit, meaning] =
                    ["name", "unit", "meaning"].map(|key| column[key].as_str().unwrap());
                let what = format!("{part}.{name}");
                assert!(meaning.ends_with('.') && !unit.is_empty(), "{what}: {meaning}");
                for (ending, expected) in endings {
                    assert!(!name.ends_with(ending) || unit == expected, "{what}: {unit}");
                }
                let value = match &found[name] {
                    Json::Array(values) => values.first().unwrap_or(&Json::Null),
                    value => value,
                };
                let fits = match unit {
                    "word" => value.is_string(),
                    "rows" => value.is_object(),
                    // The quantiles of a quantity have its unit.
                    _ => value.is_number() || part == "spread" && value.is_object(),
                };
                assert!(fits || value.is_null(), "{what} in {unit}: {value}");
            }
        }
    }

    /// The column that a value is counted over is in the same row and counts: tables can then omit
    /// values of nothing.
    #[test]
    fn values_are_counted_over_columns_that_count() {
        let described = described_parts();
        let mut counted = 0;
        for (part, found) in found() {
            for column in described[part].as_array().unwrap() {
                let over = column["over"].as_str().unwrap();
                if !over.is_empty() {
                    assert!(found[over].is_u64(), "{part}.{}: {over}", column["name"]);
                    counted += 1;
                }
            }
        }
        assert!(counted > 0);
    }
}
