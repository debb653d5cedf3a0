//! Zero, tiny and huge parameters of calls and of their control: refused with a problem, or
//! survived with every call accounted for.

use forebay_elements::calls::{CallParameters, ProbingParameters, SurgeParameters};
use forebay_laws::admission::ADMISSIONS;
use forebay_laws::termination::TERMINATIONS;
use forebay_laws::traffic::TRAFFICS;
use forebay_parameters::{Field, Parameters};
use forebay_scenario::{CallResult, Control, RunOptions, Scenario};

use crate::extremes::{VALUES, trouble, without};
use crate::support::{choice, example};

/// The largest number of calls that a case below may make at once.
const MAX_CALLS: u64 = 100_000;

/// An overloaded domain with `edges`, the keys `calls` and `traffic` of a class, and more `link`.
fn domain(edges: &str, calls: &str, traffic: &str, link: &str) -> String {
    format!(
        "duration = \"1 s\"\n\
         [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\nduplex = false\n{link}\n\
         conditioners = [{{ ar_meter = {{ rate = \"300 kbit/s\", size = \"3 kB\", \
         threshold = \"1 kB\" }} }}, {{ sr_meter = {{ rate = \"600 kbit/s\", size = \"3 kB\", \
         slow_down = \"700 B\" }} }}]\n\
         [aggregates.g]\n{edges}\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\naggregate = \"g\"\n\
         calls = {{ {calls} }}\ntraffic = {traffic}\n"
    )
}

const EDGES: &str = "rtt = \"20 ms\"\nadmission = \"stop_timer\"\ntermination = \"per_packet\"";
const CALLS: &str = "rate = \"20 /s\", holding = \"300 ms\", initial = 12";
const TRAFFIC: &str = "{ voice = { codec = \"g711_20ms\" } }";

/// Describes the fault of a run, or of the refusal of a scenario, if there is one; lost calls are a
/// fault.
fn trouble_with_calls(text: &str) -> Option<String> {
    if let Some(trouble) = trouble(text) {
        return Some(trouble);
    }
    let scenario = Scenario::parse(text, "test.toml", &[]).ok()?;
    let (result, _) = scenario.run(&RunOptions::default(), &Control::default()).ok()?;
    let unsound = result.rows::<CallResult>().iter().find(|calls| {
        let begun = calls.admitted + calls.rerouted;
        let over = calls.ended + calls.terminated + calls.refused;
        let most = u64::from(calls.max_present);
        begun != over + u64::from(calls.present)
            || most > begun
            || !(0.0..=most as f64).contains(&calls.mean_present)
            || !(0.0..=1.0).contains(&calls.blocking_ratio)
    });
    unsound.map(|calls| format!("{calls:?}"))
}

/// Put every extreme value in the place of every field, into the scenario that `network` makes of
/// the keys and values.
fn battery(name: &str, fields: &[Field], given: &str, network: impl Fn(&str) -> String) {
    let mut found = Vec::new();
    for field in fields {
        // Who asks for more calls than memory holds, or for a measurement a picosecond, gets that.
        let numbers = ["initial", "calls", "sources"].contains(&field.name);
        let small = |value: &&&str| {
            value.parse::<u64>().map_or(true, |n| !numbers || n <= MAX_CALLS)
                && (field.name, **value) != ("interval", "\"1 ps\"")
        };
        for value in VALUES.iter().filter(small) {
            let others = without(given, field.name);
            let comma = if others.is_empty() { "" } else { ", " };
            let own = format!("{others}{comma}{} = {value}", field.name);
            if let Some(trouble) = trouble_with_calls(&network(&own)) {
                found.push(format!("{name}: {own}: {trouble}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// With extreme parameters of an admission or termination law a scenario is refused with a place or
/// runs soundly.
#[test]
fn edges_survive_extremes() {
    for entry in ADMISSIONS {
        battery(entry.name, entry.fields, &example(entry), |own| {
            let edges = format!("rtt = \"20 ms\"\nadmission = {{ {} = {{ {own} }} }}", entry.name);
            domain(&edges, CALLS, TRAFFIC, "")
        });
    }
    for entry in TERMINATIONS {
        battery(entry.name, entry.fields, &example(entry), |own| {
            let edges =
                format!("rtt = \"20 ms\"\ntermination = {{ {} = {{ {own} }} }}", entry.name);
            domain(&edges, CALLS, TRAFFIC, "")
        });
    }
}

/// With extreme parameters of calls, of a reroute, of probing or of an aggregate a scenario is
/// refused with a place or runs soundly.
#[test]
fn calls_survive_extremes() {
    battery("calls", CallParameters::FIELDS, CALLS, |own| domain(EDGES, own, TRAFFIC, ""));
    let surge = "at = \"200 ms\", calls = 30";
    battery("surge", SurgeParameters::FIELDS, surge, |own| {
        domain(EDGES, &format!("{CALLS}, surges = [{{ {own} }}]"), TRAFFIC, "")
    });
    battery("probing", ProbingParameters::FIELDS, "", |own| {
        domain(&format!("{EDGES}\nprobing = {{ {own} }}"), CALLS, TRAFFIC, "")
    });
    let mut found = Vec::new();
    for value in VALUES {
        let edges = EDGES.replace("\"20 ms\"", value);
        found.extend(trouble_with_calls(&domain(&edges, CALLS, TRAFFIC, "")));
        let residual = format!("residual = {value}");
        found.extend(trouble_with_calls(&domain(EDGES, CALLS, TRAFFIC, &residual)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every traffic of the table makes calls or is refused with a place.
#[test]
fn every_traffic_makes_calls_or_is_refused() {
    for entry in TRAFFICS {
        let text = domain(EDGES, CALLS, &choice(entry), "");
        let refused = Scenario::parse(&text, "test.toml", &[]).is_err();
        assert_eq!(refused, !sends_for_ever(&choice(entry)), "{}", entry.name);
        assert_eq!(trouble_with_calls(&text), None, "{}", entry.name);
    }
}

/// Returns true if `traffic` has packets of its own and no end, as what UDP carries has: calls need
/// both.
fn sends_for_ever(traffic: &str) -> bool {
    let text = format!(
        "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\n\
         [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\ntraffic = {traffic}\n"
    );
    Scenario::parse(&text, "test.toml", &[]).is_ok()
}
