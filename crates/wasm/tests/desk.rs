//! Answers to a page: the same run as anywhere else, and what is wrong with a scenario.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "tests read their data")]

use forebay_scenario::{Control, RunOptions, Scenario};
use forebay_wasm::desk::Desk;
use serde_json::{Value as Json, json};

const RED: &str = include_str!("../../../examples/red.toml");
const VOICE: &str = include_str!("../../../examples/voice.toml");

fn request(text: &str, set: &[&str]) -> String {
    json!({ "text": text, "name": "page.toml", "set": set, "samples": 50 }).to_string()
}

/// Run to the end in slices of `events` events: the samples of one column, and the result.
fn watch(text: &str, events: u64, column: [&str; 2]) -> (Vec<f64>, Json) {
    let mut desk = Desk::default();
    desk.begin(&request(text, &[])).unwrap();
    let mut values: Vec<f64> = Vec::new();
    loop {
        let (arrived, over) = desk.advance(events).unwrap();
        if arrived {
            let seen = desk.look().unwrap();
            let [table, column] = column;
            let column = seen["series"][table][column].as_array().unwrap().clone();
            values.extend(column.iter().map(|value| value.as_f64().unwrap()));
        }
        if over {
            return (values, desk.result().unwrap());
        }
    }
}

/// Watching changes no result: a run that is watched comes out as one that is not.
#[test]
fn watching_changes_no_result() {
    for text in [RED, VOICE] {
        let scenario = Scenario::parse(text, "page.toml", &[]).unwrap();
        let (plain, _) = scenario.run(&RunOptions::default(), &Control::default()).unwrap();
        let plain = serde_json::to_value(&plain).unwrap();
        for events in [1, 777, u64::from(u32::MAX)] {
            let name = scenario.describe();
            let name: Json = serde_json::from_str(&name).unwrap();
            let mut watched = Desk::default();
            watched.begin(&request(text, &[])).unwrap();
            while !watched.advance(events).unwrap().1 {}
            assert_eq!(watched.result().unwrap(), plain, "{name}: slices of {events} events");
        }
    }
}

/// Random networks give the same result in a page as everywhere else: fifty of them.
#[test]
fn random_networks_give_the_same_result() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/networks");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = Scenario::parse(&text, "page.toml", &[]).unwrap();
        let (plain, _) = scenario.run(&RunOptions::default(), &Control::default()).unwrap();
        let mut desk = Desk::default();
        desk.begin(&request(&text, &[])).unwrap();
        while !desk.advance(1000).unwrap().1 {
            desk.look().unwrap();
        }
        let result = desk.result().unwrap();
        assert_eq!(result, serde_json::to_value(&plain).unwrap(), "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 50);
}

/// Samples are given once and in order: traces on the page have no gaps, and no values of another
/// time.
#[test]
fn samples_are_given_once_and_in_order() {
    let (times, result) = watch(RED, 100, ["series/links.bottleneck", "time_s"]);
    // 30 s in 50 samples.
    let expected: Vec<f64> = (1..=50).map(|sample| f64::from(sample) * 0.6).collect();
    let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9;
    assert_eq!(times.len(), expected.len());
    assert!(!times.iter().zip(&expected).any(differ), "{times:?}");
    assert_eq!(result["simulated_s"], json!(30.0));
}

/// A wrong scenario is refused with its key path and line.
#[test]
fn a_wrong_scenario_is_refused_with_its_key_path_and_line() {
    let wrong = RED.replace("rate = \"10 Mbit/s\"", "rate = 10");
    let line = RED.lines().position(|line| line == "rate = \"10 Mbit/s\"").unwrap() + 1;
    let error = Desk::check(&request(&wrong, &[])).unwrap_err();
    assert_eq!(error["error"]["path"], json!("links.bottleneck.rate"));
    assert_eq!(error["error"]["line"], json!(line));
    let error = Desk::check(&request(RED, &["links.bottleneck.rat=\"1 Mbit/s\""])).unwrap_err();
    assert!(error["error"]["message"].as_str().unwrap().contains("did you mean \"rate\""));
    let error = Desk::check("{").unwrap_err();
    assert!(error["error"]["message"].as_str().unwrap().contains("EOF"));
}

/// A run that needs too much memory is refused before it begins: a scenario from a link does not
/// take all the memory of the machine that shows it.
#[test]
fn a_run_that_needs_too_much_memory_is_refused_before_it_begins() {
    let many = request(RED, &["flows.bulk.count=50000000"]);
    let mut bounded: Json = serde_json::from_str(&many).unwrap();
    bounded["max_memory"] = json!(500_000_000);
    let error = Desk::default().begin(&bounded.to_string()).unwrap_err();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("may take 500 MB"), "{message}");
}

/// The layout names the links on the way of each flow, there and back: flows are drawn over no
/// others.
#[test]
fn the_layout_names_the_links_on_the_way_of_each_flow() {
    let layout = Desk::default().begin(&request(RED, &[])).unwrap();
    let flow = &layout["flows"][0];
    assert_eq!(flow["there"], json!(["access", "bottleneck"]));
    assert_eq!(flow["back"], json!(["bottleneck.reverse", "access.reverse"]));
    assert_eq!(layout["links"][2]["rate_bps"], json!(10_000_000));
    assert_eq!(layout["links"][2]["delay_s"], json!(0.02));
}

/// A request for what has not begun is refused with a reason.
#[test]
fn what_has_not_begun_is_refused() {
    let mut desk = Desk::default();
    for error in [desk.look().unwrap_err(), desk.result().unwrap_err()] {
        assert_eq!(error["error"]["message"], json!("no run has begun"));
    }
    assert!(desk.advance(1).is_err());
    desk.begin(&request(RED, &[])).unwrap();
    assert_eq!(desk.result().unwrap_err()["error"]["message"], json!("the run is not over"));
}

/// The rate of a link that changes is the present one: the link is not drawn as idle when it is
/// slow and full.
#[test]
fn the_rate_of_a_link_that_changes_is_the_present_one() {
    let steps = "links.bottleneck.rate_steps=[{ at = \"15 s\", rate = \"2 Mbit/s\" }]";
    let mut desk = Desk::default();
    desk.begin(&request(RED, &[steps])).unwrap();
    let mut seen = Vec::new();
    loop {
        let (arrived, over) = desk.advance(1_000_000).unwrap();
        if arrived {
            let counted = desk.look().unwrap()["counted"].take();
            let link = &counted["links"][2];
            assert_eq!(link["name"], json!("bottleneck"));
            seen.push((counted["time_s"].as_f64().unwrap(), link["rate_bps"].as_f64().unwrap()));
        }
        if over {
            break;
        }
    }
    // Samples are 0.6 s apart, and that at 15 s is the last of the first rate.
    for (time, rate) in seen {
        let expected = if time < 15.3 { 10e6 } else { 2e6 };
        assert!((rate - expected).abs() < 1.0, "{rate} bit/s at {time} s");
    }
}

/// A datagram of 1500 B every 10 ms over a link of 10 Mbit/s: 1.2 ms to be sent, and 2 ms on the
/// way.
const LINE: &str = r#"
duration = "1 s"
[links.wire]
from = "A"
to = "B"
rate = "10 Mbit/s"
delay = "2 ms"
[flows.plain]
from = "A"
to = "B"
udp = {}
traffic = { cbr = { rate = "1.2 Mbit/s", size = "1500 B" } }
"#;

fn watched(text: &str) -> Desk {
    let mut desk = Desk::default();
    let request = json!({ "text": text, "name": "page.toml", "samples": 20, "watched": true });
    desk.begin(&request.to_string()).unwrap();
    desk
}

fn numbers(column: &Json) -> Vec<f64> {
    column.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// A packet is seen on its link as long as it is there.
#[test]
fn a_packet_is_seen_on_its_link_as_long_as_it_is_there() {
    let mut desk = watched(LINE);
    let (mut seen, mut over) = (0, false);
    while !over {
        over = desk.advance(1_000).unwrap().1;
        let packets = desk.look().unwrap()["packets"].take();
        let crossings = &packets["crossings"];
        assert_eq!(packets["one_in"], 1);
        let times = numbers(&crossings["from_s"]).into_iter().zip(numbers(&crossings["to_s"]));
        for (from, to) in times {
            assert!((to - from - 3.2e-3).abs() < 1e-9, "{from} s to {to} s");
            seen += 1;
        }
    }
    // Every 10 ms of 1 s, of which the last may be under way.
    assert!((98..=100).contains(&seen), "{seen} packets");
    let delays = desk.delays().unwrap();
    for delay in numbers(&delays["groups"][0]) {
        assert!((delay - 3.2e-3).abs() < 1e-9, "{delay} s");
    }
}

/// Seeing packets one by one changes no result and is bounded, so that they do not fill the page.
#[test]
fn seeing_packets_changes_no_result_and_is_bounded() {
    for text in [RED, VOICE] {
        let scenario = Scenario::parse(text, "page.toml", &[]).unwrap();
        let (plain, _) = scenario.run(&RunOptions::default(), &Control::default()).unwrap();
        let mut desk = watched(text);
        let mut widest = 0;
        while !desk.advance(u64::from(u32::MAX)).unwrap().1 {
            let packets = desk.look().unwrap()["packets"].take();
            let rows = packets["crossings"]["link"].as_array().unwrap().len();
            assert!(rows <= 240, "{rows} packets in a look");
            widest = widest.max(packets["one_in"].as_u64().unwrap());
        }
        assert_eq!(desk.result().unwrap(), serde_json::to_value(&plain).unwrap());
        assert!(widest.is_power_of_two() && widest > 1, "one in {widest}");
    }
}

/// A step tells all that one event did, in order.
#[test]
fn a_step_tells_what_one_event_did() {
    let mut desk = watched(LINE);
    let mut story = Vec::new();
    let mut before = 0.0;
    while story.len() < 6 {
        let report = desk.step().unwrap();
        for fact in report["facts"].as_array().unwrap() {
            let time = fact["time_s"].as_f64().unwrap();
            assert!(time >= before);
            before = time;
            assert_eq!(fact["flow"], "plain");
            story.push(fact["what"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(story[..3], ["sent", "queued", "delivered"]);
    assert_eq!(story[..3], story[3..6]);
}

/// The answer to a change of a parameter.
fn change(text: &str, set: &[&str], path: &str, value: &str) -> Result<Json, Json> {
    let scenario: Json = serde_json::from_str(&request(text, set)).unwrap();
    Desk::change(&json!({ "scenario": scenario, "path": path, "value": value }).to_string())
}

/// A change is made in the text: comments stay, and an earlier assignment of the same parameter
/// goes.
#[test]
fn a_change_is_made_in_the_text() {
    let text = RED.replace("max_probability = 0.1", "max_probability = 0.1  # of marks");
    let queue = "links.bottleneck.queue";
    let path = format!("{queue}.red.max_probability");
    let before = [format!("{path}=0.3"), "seed=7".to_owned()];
    let set: Vec<&str> = before.iter().map(String::as_str).collect();
    let answer = change(&text, &set, &path, "0.2").unwrap();
    assert_eq!(answer["text"], text.replace("= 0.1  # of marks", "= 0.2  # of marks"));
    assert_eq!(answer["set"], json!(["seed=7"]));
    assert_eq!(answer["described"]["resolved"][&path], "0.2");
    // Another mechanism: what the earlier one had goes with it.
    let answer = change(&text, &set, queue, "{ codel = {} }").unwrap();
    assert_eq!(answer["set"], json!(["seed=7"]));
    assert_eq!(answer["described"]["resolved"][format!("{queue}.codel.target")], "5 ms");
    assert!(!answer["text"].as_str().unwrap().contains("max_probability"));
}

/// A change that the text has no place for becomes an assignment: what a template makes leaves the
/// template as it is.
#[test]
fn a_change_that_the_text_has_no_place_for_is_an_assignment() {
    let text = include_str!("../../../examples/branches.toml");
    let path = "links.east.rate";
    let answer = change(text, &[], path, "\"2 Mbit/s\"").unwrap();
    assert_eq!(answer["text"], text);
    assert_eq!(answer["set"], json!([format!("{path}=\"2 Mbit/s\"")]));
    assert_eq!(answer["described"]["resolved"][path], "2 Mbit/s");
}

/// A change to a value that is not allowed is refused with its place.
#[test]
fn a_change_to_a_wrong_value_is_refused() {
    let refused = change(RED, &[], "links.bottleneck.rate", "\"ten\"").unwrap_err();
    assert_eq!(refused["error"]["path"], "links.bottleneck.rate");
    let refused = change(RED, &[], "links.bottleneck.rat", "1").unwrap_err();
    assert!(refused["error"]["message"].as_str().unwrap().contains("rate"));
}
