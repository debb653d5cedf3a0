//! What the columns of a result are called and what they mean, said once, beside the field.

use std::slice::from_ref;

use serde_json::{Value as Json, json};

use crate::results::{
    CallResult, Counted, DropReasons, FlowResult, GroupResult, LinkResult, RunResult,
};
use crate::results_paced::{LatenessResult, PacedResult, PolicingResult};
use crate::spread::{Quantiles, Spread};

/// A column of a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultColumn {
    /// Its name, which ends in its unit if it has one.
    pub name: &'static str,
    /// What it means: the documentation of its field.
    pub meaning: &'static str,
}

/// Define a struct whose fields are columns, and `COLUMNS`, their names and documentation.
macro_rules! columns {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $(#[serde($($serde:tt)+)])?
                pub $field:ident : $type:ty,
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde($($serde)+)])?
                pub $field: $type,
            )*
        }

        impl $name {
            /// Every column, in the order of the fields.
            pub(crate) const COLUMNS: &[$crate::columns::ResultColumn] = &[
                $($crate::columns::ResultColumn {
                    name: stringify!($field),
                    meaning: concat!($($doc, "\n"),+),
                },)*
            ];
        }
    };
}
pub(crate) use columns;

/// The columns of every part of a result, as JSON: by part, a list of names and meanings. `of_run`
/// are columns of a run that the caller adds.
#[must_use]
pub fn result_columns(of_run: &[ResultColumn]) -> String {
    json!({
        "run": described(&[RunResult::COLUMNS, of_run].concat()),
        "flows": described(&with_counted(FlowResult::COLUMNS)),
        "groups": described(&with_counted(GroupResult::COLUMNS)),
        "spread": described(Spread::COLUMNS),
        "quantiles": described(Quantiles::COLUMNS),
        "links": described(LinkResult::COLUMNS),
        "drop_reasons": described(DropReasons::COLUMNS),
        "calls": described(CallResult::COLUMNS),
        "paced": described(PacedResult::COLUMNS),
        "policing": described(PolicingResult::COLUMNS),
        "lateness": described(LatenessResult::COLUMNS),
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
        .map(|column| json!({ "name": column.name, "meaning": words(column.meaning) }))
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
        [flows.file]
        from = "a"
        to = "b"
        late_after = "20 ms"
        paced = { activity = { files = { rate = "100 kbit/s" } }, pace = "uncontrolled" }
        policing = { at = "a", peak = { rate = "100 kbit/s" } }
    "#;

    /// Otherwise a reader of results would find columns that no page describes, or look for
    /// described ones in vain.
    #[test]
    fn every_column_of_a_result_is_described() {
        let described: Json = serde_json::from_str(&result_columns(&[])).unwrap();
        let names = |part: &str| -> Vec<&str> {
            let columns = described[part].as_array().unwrap();
            columns.iter().map(|column| column["name"].as_str().unwrap()).collect()
        };
        for rows in ["each", "groups"] {
            let set = [format!("record.flows=\"{rows}\"")];
            let scenario = Scenario::parse(SCENARIO, "test", &set).unwrap();
            let (run, _) = scenario.run(&RunOptions::default(), &Control::default()).unwrap();
            let json = serde_json::to_value(&run).unwrap();
            let summed = &json["groups"][0];
            let mut parts = vec![("run", &json), ("flows", &json["flows"][0])];
            parts.extend([("calls", &json["calls"][0]), ("links", &json["links"][0])]);
            for part in ["paced", "policing", "lateness"] {
                parts.push((part, &json[part][0]));
            }
            parts.push(("drop_reasons", &json["links"][0]["drop_reasons"]));
            if rows == "groups" {
                parts.extend([("groups", summed), ("spread", &summed["spread"])]);
                parts.push(("quantiles", &summed["spread"]["sent_packets"]));
            }
            for (part, found) in parts {
                let mut expected = names(part);
                expected.sort_unstable();
                let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
                assert_eq!(keys, expected, "{part}");
            }
        }
    }
}
