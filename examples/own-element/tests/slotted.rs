//! A kind of link of another crate is in scenarios, and waits for its slots as theory says.

use forebay_scenario::{Control, RunOptions, Scenario, catalogue, schema};
use own_element::registry;
use serde_json::Value;

/// A slotted link of 10 Mbit/s and 2 ms, and a Poisson probe of so many packets a second, of 500 B:
/// each takes 0.4 ms of a slot.
fn text(slotted: &str, rate: u32, more: &str) -> String {
    let bits = 4000 * rate;
    format!(
        "duration = \"201 s\"\nwarm_up = \"1 s\"\n[links.up]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nslotted = {slotted}\n{more}\n[flows.probe]\n\
         from = \"a\"\nto = \"b\"\nudp = {{}}\n\
         traffic = {{ poisson = {{ rate = \"{bits} bit/s\", size = \"500 B\" }} }}\n"
    )
}

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse_with(&registry(), text, "own.toml", &[]).map_err(|error| error.to_string())
}

/// The mean time in ms that packets wait for the beginning of their transmission, in a run that
/// breaks no invariant.
fn mean_wait_ms(text: &str) -> f64 {
    let scenario = parse(text).expect("it can be read");
    let (options, control) = (RunOptions::default(), Control::default());
    let (result, _) = scenario.run(&options, &control).expect("it ends");
    let report = scenario.check(&options, &control, &result).expect("it ends again");
    assert_eq!(report.breaches(), []);
    1e3 * result.groups[0].counted.mean_delay_s - 2.4
}

/// A packet waits for half a slot at low load, and for those before it at higher load. A link that
/// serves one packet in each frame of length T is a server whose services take T, and which takes a
/// vacation of T whenever it finds nothing: for Poisson arrivals at load r = rate * T the mean wait
/// is that of M/D/1 and the mean rest of a vacation, r T / (2 (1 - r)) + T / 2 = T / (2 (1 - r)).
///
/// Tolerances are six standard errors. Of 10,000 packets at r = 0.05 waits are nearly uniform over
/// T, with a deviation of 0.29 T: 0.0029 T for the mean. At r = 0.5 the deviation is 0.82 T (1/12
/// for the vacation, and 7/12 for M/D/1: r / (3 (1 - r)) + 1/4, in T squared), and waits of some 16
/// packets in a row are alike: 0.01 T of 100,000 packets. In a frame of 4 slots r is 0.2, deviation
/// 0.4 T, some 4 alike: 0.008 T. A false alarm has a probability below 1e-8.
#[test]
fn packets_wait_half_a_slot_and_for_those_before() {
    for (slotted, rate, frame_ms, tolerance) in [
        ("{ slot = \"1 ms\" }", 50, 1.0, 0.018),
        ("{ slot = \"1 ms\" }", 500, 1.0, 0.06),
        ("{ slot = \"1 ms\", slots = 4, own = 2 }", 50, 4.0, 0.2),
    ] {
        let load = f64::from(rate) * frame_ms / 1e3;
        let (found, expected) =
            (mean_wait_ms(&text(slotted, rate, "")), frame_ms / (2.0 * (1.0 - load)));
        assert!((found - expected).abs() < tolerance, "{slotted}: {found}, not {expected}");
    }
}

/// Every mechanism of links goes with the kind as with any, at four times the load that its slots
/// carry, and so do failures: none breaks an invariant.
#[test]
fn mechanisms_go_with_a_kind_of_ones_own() {
    let catalogue: Value = serde_json::from_str(&catalogue(&registry())).unwrap();
    let mut tried = 0;
    let mut run = |more: &str| {
        tried += 1;
        mean_wait_ms(&text("{ slot = \"1 ms\" }", 4000, more).replace("201 s", "3 s"));
    };
    for category in catalogue["categories"].as_array().unwrap() {
        let key = category["name"].as_str().unwrap();
        for entry in category["entries"].as_array().unwrap() {
            let [name, example] = ["name", "example"].map(|key| entry[key].as_str().unwrap());
            let law = format!("{key} = {{ {name} = {{ {} }} }}", example.replace('\n', ", "));
            match (category["place"].as_str().unwrap(), key) {
                ("links.NAME", "detector") => {
                    run(&format!("queue = {{ droptail = {{ limit = \"20 packets\" }} }}\n{law}"));
                }
                ("links.NAME", _) => run(&law),
                _ => {}
            }
        }
    }
    run("[links.up.failure]\ndown = [\"1.5 s\"]\nup = [\"2 s\"]");
    assert!(tried > 50, "{tried} mechanisms");
}

/// The way back has the kind that it says: the way up of a shared medium is slotted alone.
#[test]
fn the_way_back_alone_can_be_slotted() {
    let there = text("{ slot = \"1 ms\" }", 50, "").replace("slotted", "reverse.slotted");
    assert!(mean_wait_ms(&there).abs() < 0.1);
    let back = there.replace("from = \"a\"\nto = \"b\"\nudp", "from = \"b\"\nto = \"a\"\nudp");
    assert!((mean_wait_ms(&back) - 0.526).abs() < 0.018);
}

/// Catalogue and schema have the kind and its parameters, in the section of links and of their ways
/// back.
#[test]
fn a_kind_of_ones_own_is_wherever_kinds_are() {
    let schema: Value = serde_json::from_str(&schema(&registry())).unwrap();
    let links = &schema["properties"]["links"]["additionalProperties"]["properties"];
    for at in [links, &links["reverse"]["properties"]] {
        assert!(at["slotted"]["properties"]["slot"].is_object());
        assert!(at["trace"].is_object() && at["rate_steps"]["items"].is_object());
    }
    let catalogue: Value = serde_json::from_str(&catalogue(&registry())).unwrap();
    let sections = catalogue["sections"].as_array().unwrap();
    let named = |name: &str| sections.iter().find(|section| section["name"] == name).unwrap();
    assert_eq!(named("links.NAME.slotted")["fields"][0]["name"], "slot");
    let also = named("links.NAME")["mechanisms"].as_array().unwrap();
    assert!(also.contains(&Value::from("slotted")));
}

/// Slips are refused with key path, line and what is allowed; so are keys of other kinds.
#[test]
fn slips_are_refused() {
    let refused = |slotted: &str, more: &str| parse(&text(slotted, 50, more)).err().unwrap();
    assert_eq!(
        refused("{ slot = \"1 ms\", slots = 2, own = 2 }", ""),
        "own.toml: line 8: links.up.slotted.own: is no slot of the frame; allowed are numbers \
         below 2"
    );
    let slot = refused("{ slot = \"0 s\" }", "");
    assert!(slot.contains("links.up.slotted.slot: is out of range"), "{slot}");
    let steps =
        refused("{ slot = \"1 ms\" }", "rate_steps = [{ at = \"1 s\", rate = \"1 Mbit/s\" }]");
    assert!(steps.ends_with("rate_steps: has no meaning for a link that is slotted"), "{steps}");
    let residual = refused("{ slot = \"1 ms\" }", "residual = \"500 B\"");
    assert!(residual.contains("links.up.residual: goes with a fixed rate only"), "{residual}");
}
