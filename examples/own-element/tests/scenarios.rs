//! A transport of another crate is in scenarios, and its rows are wherever rows are.

use forebay_scenario::{
    Control, RunOptions, RunResult, Scenario, catalogue, result_columns, schema,
};
use own_element::{ArrivalResult, WindowResult, registry};
use serde_json::Value;

/// A link of 10 Mbit/s, 10 ms each way. A packet of 1000 B takes 0.8 ms on it, an acknowledgement
/// of 40 B 0.032 ms: a round trip is 20.832 ms while nothing waits.
fn run(window: u32, link: &str) -> RunResult {
    let text = format!(
        "duration = \"20 s\"\nwarm_up = \"10 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{link}\n[flows.w]\nfrom = \"a\"\nto = \"b\"\n\
         constant_window = {{ window = {window} }}\n"
    );
    let scenario =
        Scenario::parse_with(&registry(), &text, "own.toml", &[]).expect("it can be read");
    let (options, control) = (RunOptions::default(), Control::default());
    let (result, _) = scenario.run(&options, &control).expect("it ends");
    let report = scenario.check(&options, &control, &result).expect("it ends again");
    assert_eq!(report.breaches(), []);
    result
}

/// A window is sent in each round trip: 10 packets in 20.832 ms are 3.8402 Mbit/s. One of 50 is
/// more than the 26 that the way holds, so the link is busy, and a round trip takes 50 packets: 40
/// ms.
#[test]
fn a_window_is_sent_in_each_round_trip() {
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 2e-3, "{found}, not {expected}");
    };
    let few = run(10, "");
    near(few.groups[0].counted.throughput_bps, 10.0 * 8000.0 / 20.832e-3);
    near(few.rows::<WindowResult>()[0].mean_rtt_s, 20.832e-3);
    let many = run(50, "");
    near(many.groups[0].counted.throughput_bps, 1e7);
    near(many.rows::<WindowResult>()[0].mean_rtt_s, 40e-3);
}

/// Packets that a queue drops are sent again: a window of 50 does not fit into the 26 packets of
/// the way and a buffer of 5, so some are lost, and each that is new arrives once.
#[test]
fn what_is_lost_is_sent_again() {
    let result = run(50, "queue = { droptail = { limit = \"5 packets\" } }");
    let (window, arrived) = (&result.rows::<WindowResult>()[0], &result.rows::<ArrivalResult>()[0]);
    assert!(window.resent_packets > 0 && arrived.new_packets > 0, "{window:?} {arrived:?}");
    assert_eq!(result.groups[0].counted.retransmissions, window.resent_packets);
}

/// Rows of kinds of one's own are in the document of a run, empty where there are none, and the
/// catalogue, the schema and the columns of results name the transport: whatever shows results asks
/// these.
#[test]
fn rows_of_ones_own_are_wherever_rows_are() {
    let document = serde_json::to_value(run(10, "")).unwrap();
    for (kind, column) in [("windows", "mean_rtt_s"), ("window_arrivals", "new_packets")] {
        assert!(document[kind][0][column].is_number(), "{kind}");
    }
    assert_eq!(document["transfers"], Value::Array(Vec::new()));
    let described: Value = serde_json::from_str(&result_columns(&registry(), &[])).unwrap();
    let titles = described["kinds"].as_array().unwrap().iter().map(|kind| &kind["titles"][""]);
    assert!(titles.into_iter().any(|title| title == "arrivals of constant windows"));
    assert_eq!(described["columns"]["windows"][3]["unit"], "s");
    let schema: Value = serde_json::from_str(&schema(&registry())).unwrap();
    let flows = &schema["properties"]["flows"]["additionalProperties"];
    assert!(flows["properties"]["constant_window"]["properties"]["window"].is_object());
    let catalogue: Value = serde_json::from_str(&catalogue(&registry())).unwrap();
    let sections = catalogue["sections"].as_array().unwrap();
    assert!(sections.iter().any(|section| section["name"] == "flows.NAME.constant_window"));
}

/// Wrong parameters are refused as those of any transport: key path, and what is allowed.
#[test]
fn wrong_parameters_are_refused() {
    let text = "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                [flows.w]\nfrom = \"a\"\nto = \"b\"\nconstant_window = { window = 0 }\n";
    let error = Scenario::parse_with(&registry(), text, "own.toml", &[]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "own.toml: line 9: flows.w.constant_window.window: is zero; allowed are 1 and more"
    );
    let unknown = text.replace("window = 0", "widow = 1");
    let error = Scenario::parse_with(&registry(), &unknown, "own.toml", &[]).err().unwrap();
    assert!(error.to_string().contains("did you mean \"window\""), "{error}");
}
