//! The columns of all results: their names, units and meanings, as documentation and Python ask
//! for them.

use std::slice::from_ref;

use serde_json::{Value as Json, json};

use crate::results::{FlowResult, GroupResult, LinkResult, RunResult};
use crate::results_classes::ClassResult;
use crate::results_counted::Counted;
use crate::results_drops::DropReasons;
use crate::spread::{Quantiles, Spread};
use crate::{
    CallResult, HostResult, LatenessResult, PacedResult, PolicingResult, ResultColumn, RingResult,
    TransferResult, VideoResult,
};

/// The columns of every part of a result, as JSON: by part, a list of objects with the fields of
/// [`ResultColumn`]. `of_run` are columns of a run that the caller adds.
#[must_use]
pub fn result_columns(of_run: &[ResultColumn]) -> String {
    json!({
        "run": described(&[RunResult::COLUMNS, of_run].concat()),
        "flows": described(&with_counted(FlowResult::COLUMNS)),
        "groups": described(&with_counted(GroupResult::COLUMNS)),
        "spread": described(Spread::COLUMNS),
        "quantiles": described(Quantiles::COLUMNS),
        "hosts": described(HostResult::COLUMNS),
        "links": described(LinkResult::COLUMNS),
        "drop_reasons": described(DropReasons::COLUMNS),
        "classes": described(ClassResult::COLUMNS),
        "transfers": described(TransferResult::COLUMNS),
        "video": described(VideoResult::COLUMNS),
        "calls": described(CallResult::COLUMNS),
        "paced": described(PacedResult::COLUMNS),
        "policing": described(PolicingResult::COLUMNS),
        "lateness": described(LatenessResult::COLUMNS),
        "rings": described(RingResult::COLUMNS),
    })
    .to_string()
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
        [flows.steady]
        from = "a"
        to = "b"
        udp = {}
        traffic = { cbr = { rate = "80 kbit/s", size = "200 B" } }
        [flows.voice]
        from = "a"
        to = "b"
        calls = { initial = 1 }
        traffic = { voice = { codec = "g711_20ms" } }
        [flows.pages]
        from = "a"
        to = "b"
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
        [rings.metro]
        stations = ["x", "y", "z"]
        fairness = "none"
        rate = "1 Mbit/s"
        delay = "1 ms"
        [flows.around]
        from = "x"
        to = "y"
        udp = {}
        traffic = { cbr = { rate = "80 kbit/s", size = "200 B" } }
    "#;

    /// Results by part, one with a row for each flow and one with groups only.
    fn found() -> Vec<(&'static str, Json)> {
        let run = |rows: &str| {
            let set = [format!("record.flows=\"{rows}\""), "record.classes=true".to_owned()];
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
            "rings",
        ];
        let mut parts: Vec<_> = kinds.map(|kind| (kind, each[kind][0].clone())).into();
        let group = summed["groups"][0].clone();
        parts.push(("drop_reasons", each["links"][0]["drop_reasons"].clone()));
        parts.push(("quantiles", group["spread"]["sent_packets"].clone()));
        parts.push(("spread", group["spread"].clone()));
        parts.extend([("groups", group), ("run", each)]);
        parts
    }

    /// Every column of a result is described, and every described column exists.
    #[test]
    fn every_column_of_a_result_is_described() {
        let described: Json = serde_json::from_str(&result_columns(&[])).unwrap();
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
        let described: Json = serde_json::from_str(&result_columns(&[])).unwrap();
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
        let described: Json = serde_json::from_str(&result_columns(&[])).unwrap();
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
