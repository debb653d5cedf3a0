//! Zero, tiny and huge parameters: refused with a problem, or survived with every packet accounted
//! for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use forebay_laws::activity::ACTIVITIES;
use forebay_laws::adaptation::ADAPTATIONS;
use forebay_laws::conditioner::CONDITIONERS;
use forebay_laws::control::CONTROLS;
use forebay_laws::detector::DETECTORS;
use forebay_laws::explicit_rate::EXPLICIT_RATES;
use forebay_laws::pace::PACES;
use forebay_laws::queue::QUEUES;
use forebay_laws::shaper::SHAPERS;
use forebay_laws::traffic::TRAFFICS;
use forebay_parameters::Entry;
use forebay_scenario::{Control, RunOptions, Scenario};

use crate::support::example;

/// Values at the ends of what can be written, and some that can be written but mean nothing.
pub const VALUES: &[&str] = &[
    "\"0 s\"",
    "\"1 ps\"",
    "\"5124 h\"",
    "\"0 bit/s\"",
    "\"1 bit/s\"",
    "\"8e15 bit/s\"",
    "\"18446744073709551615 bit/s\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"20 B\"",
    "\"65535 B\"",
    "\"65536 B\"",
    "\"18446744073709551615 B\"",
    "\"0 packets\"",
    "\"1 packets\"",
    "\"18446744073709551615 packets\"",
    "0",
    "1",
    "64",
    "4294967295",
    "9223372036854775807",
    "-1",
    "0.0",
    "-0.0",
    "5e-324",
    "0.9999999999999999",
    "1.7976931348623157e308",
    "nan",
    "inf",
    "true",
    "false",
    "\"\"",
    "[]",
    "[\"0 B\"]",
    "[\"1 packets\", \"2 packets\", \"18446744073709551615 packets\"]",
    "[0.0, 1.0, 1e300]",
    "[\"droptail\"]",
    "{}",
];

/// A network of two links with `core` on the second and `flows`, overloaded.
fn network(core: &str, flows: &str) -> String {
    format!(
        "duration = \"3 s\"\n\
         [links.access]\nfrom = \"a\"\nto = \"r\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n\
         [links.core]\nfrom = \"r\"\nto = \"b\"\n{core}\n{flows}"
    )
}

const LINK: &str = "rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n";
const FLOWS: &str = "[flows.t]\nfrom = \"a\"\nto = \"b\"\ncount = 2\ntcp = { ecn = true }\n\
     [flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {}\nprecedence = 1\n\
     traffic = { cbr = { rate = \"900 kbit/s\", size = \"300 B\" } }\n";

/// Describes the fault of a run of `text`, if there is one: only a problem with its place, or a
/// sound run, is right.
pub fn trouble(text: &str) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let scenario = match Scenario::parse(text, "test.toml", &[]) {
            Ok(scenario) => scenario,
            Err(error) => {
                let placed = !error.problem.path.is_empty() && error.problem.line.is_some();
                return (!placed).then(|| format!("no place: {error}"));
            }
        };
        let (result, _) = scenario.run(&RunOptions::default(), &Control::default()).ok()?;
        // A window that opens later counts packets out that it has not counted in.
        let whole = result.measured_s == result.simulated_s;
        for flow in &result.flows {
            let counted = &flow.counted;
            let out = counted.delivered_packets + counted.dropped_packets;
            if whole && counted.sent_packets < out {
                return Some(format!("{} packets came from nowhere", flow.name));
            }
        }
        for link in &result.links {
            let arrived: u64 = link.arrived_packets.iter().sum();
            let departed: u64 = link.departed_packets.iter().sum();
            if whole && arrived < departed + link.drops {
                return Some(format!("{} lost count", link.name));
            }
            if !(0.0..=1.0).contains(&link.utilization) || !link.mean_queue_packets.is_finite() {
                return Some(format!("{} works {} of the time", link.name, link.utilization));
            }
        }
        None
    }));
    outcome.unwrap_or_else(|_| Some("panic".to_owned()))
}

/// Put every extreme value in the place of every parameter of every entry, beside the others of its
/// example.
pub fn battery<B>(entries: &[Entry<B>], network: impl Fn(&str) -> String) {
    let mut found = Vec::new();
    for entry in entries {
        let given = example(entry);
        for field in entry.fields {
            for value in VALUES {
                let others = without(&given, field.name);
                let comma = if others.is_empty() { "" } else { ", " };
                let own = format!("{others}{comma}{} = {value}", field.name);
                let text = network(&format!("{{ {} = {{ {own} }} }}", entry.name));
                if let Some(trouble) = trouble(&text) {
                    found.push(format!("{}: {own}: {trouble}", entry.name));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// `example` (keys and values of an inline table) without the value of `key`.
pub fn without(example: &str, key: &str) -> String {
    let mut depth = 0;
    let parts = example.split(|c| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let own = |part: &&str| {
        let found = part.split('=').next().unwrap_or_default().trim();
        !found.is_empty() && found != key
    };
    parts.filter(own).collect::<Vec<_>>().join(",")
}

/// With extreme parameters of a queue a scenario is refused with a place or runs soundly.
#[test]
fn queues_survive_extremes() {
    battery(QUEUES, |queue| network(&format!("{LINK}queue = {queue}"), FLOWS));
}

/// With extreme parameters of a conditioner a scenario is refused with a place or runs soundly.
#[test]
fn conditioners_survive_extremes() {
    let queue = "queue = { droptail = { limit = \"20 packets\" } }";
    battery(CONDITIONERS, |law| network(&format!("{LINK}{queue}\nconditioner = {law}"), FLOWS));
}

/// With extreme parameters of a shaper a scenario is refused with a place or runs soundly.
#[test]
fn shapers_survive_extremes() {
    battery(SHAPERS, |law| network(&format!("{LINK}shaper = {law}"), FLOWS));
}

/// With extreme parameters of a source a scenario is refused with a place or runs soundly to its
/// end: sources of one bit are refused or kept slow by their packets' size.
#[test]
fn sources_survive_extremes() {
    for transport in ["udp", "tcp"] {
        battery(TRAFFICS, |traffic| {
            let flows = format!(
                "[flows.x]\nfrom = \"a\"\nto = \"b\"\nstop = \"100 ns\"\n{transport} = {{}}\n\
                 traffic = {traffic}\n"
            );
            let queue = "queue = { droptail = { limit = \"20 packets\" } }";
            network(&format!("{LINK}{queue}"), &flows)
        });
    }
}

/// A paced source with `activity` under `pace`, over a link with `more`.
fn paced(activity: &str, pace: &str, more: &str) -> String {
    let flows = format!(
        "[flows.x]\nfrom = \"a\"\nto = \"b\"\nstop = \"100 ns\"\nlate_after = \"1 ms\"\n\
         paced = {{ activity = {activity}, pace = {pace} }}\n\
         policing = {{ bucket = {{ rate = \"30 kbit/s\", depth = 2 }} }}\n\
         [flows.y]\nfrom = \"a\"\nto = \"b\"\n\
         paced = {{ activity = {{ files = {{ rate = \"2 Mbit/s\" }} }}, pace = {pace} }}\n"
    );
    let queue = "queue = { droptail = { limit = \"20 packets\" } }";
    network(&format!("{LINK}{queue}\n{more}"), &flows)
}

/// With extreme parameters of a paced source, of its control, of a detector or of explicit rates a
/// scenario is refused with a place or runs soundly to its end.
#[test]
fn paced_sources_survive_extremes() {
    let (files, detector) = ("{ files = { rate = \"500 kbit/s\" } }", "detector = \"input_rate\"");
    battery(ACTIVITIES, |activity| paced(activity, "\"steps\"", detector));
    battery(PACES, |pace| paced(files, pace, detector));
    battery(DETECTORS, |detector| paced(files, "\"steps\"", &format!("detector = {detector}")));
    battery(EXPLICIT_RATES, |law| paced(files, "\"abr\"", &format!("explicit_rate = {law}")));
    battery(PACES, |pace| paced(files, pace, "explicit_rate = \"erica\""));
}

/// With extreme parameters of media or of their rate adaptation a scenario is refused with a place
/// or runs soundly to its end.
#[test]
fn media_survive_extremes() {
    let media = |parameter: &str| {
        let flows =
            format!("[flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nmedia = {{ {parameter} }}\n");
        network(&format!("{LINK}queue = {{ droptail = {{ limit = \"9 packets\" }} }}"), &flows)
    };
    battery(ADAPTATIONS, |law| media(&format!("adaptation = {law}")));
    let fields =
        <forebay_elements::media::MediaParameters as forebay_parameters::Parameters>::FIELDS;
    let found: Vec<String> = fields
        .iter()
        .flat_map(|field| VALUES.iter().map(move |value| format!("{} = {value}", field.name)))
        .filter_map(|given| trouble(&media(&given)).map(|trouble| format!("{given}: {trouble}")))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// With extreme parameters of congestion control a scenario is refused with a place or runs
/// soundly.
#[test]
fn controls_survive_extremes() {
    battery(CONTROLS, |control| {
        let flows = format!(
            "[flows.x]\nfrom = \"a\"\nto = \"b\"\n[flows.x.tcp]\nprofile = \"rfc\"\n\
             mss = \"400 B\"\n\
                 control = {control}\n"
        );
        network(&format!("{LINK}queue = {{ droptail = {{ limit = \"9 packets\" }} }}"), &flows)
    });
}

/// With extreme parameters of a link, a flow or its transport a scenario is refused with a place or
/// runs soundly.
#[test]
fn sections_survive_extremes() {
    let mut found = Vec::new();
    let mut check = |text: String, what: String| {
        if let Some(trouble) = trouble(&text) {
            found.push(format!("{what}: {trouble}"));
        }
    };
    let slow = "queue = { droptail = { limit = \"9 packets\" } }\n";
    for value in VALUES {
        for (key, other) in [("rate", "delay = \"1 ms\""), ("delay", "rate = \"1 Mbit/s\"")] {
            for queue in [slow, "", "queue = { priority = { classes = [\"droptail\"] } }\n"] {
                let core = format!("{key} = {value}\n{other}\n{queue}");
                check(network(&core, FLOWS), format!("link {key} = {value} {queue}"));
            }
        }
        let udp_keys = ["start", "stop", "count", "precedence"];
        for key in udp_keys.iter().filter(|_| !value.starts_with("42949")) {
            let flows = format!(
                "[flows.x]\nfrom = \"a\"\nto = \"b\"\n{key} = {value}\nudp = {{}}\n\
                 traffic = {{ cbr = {{ rate = \"100 kbit/s\", size = \"300 B\" }} }}\n"
            );
            check(network(LINK, &flows), format!("flow {key} = {value}"));
        }
        let fields =
            <forebay_elements::tcp::TcpParameters as forebay_parameters::Parameters>::FIELDS;
        for field in fields {
            let flows = format!(
                "[flows.x]\nfrom = \"a\"\nto = \"b\"\n[flows.x.tcp]\n{} = {value}\n",
                field.name
            );
            let core = format!("{LINK}{slow}");
            check(network(&core, &flows), format!("tcp {} = {value}", field.name));
        }
        let fields =
            <forebay_elements::paced::FrameParameters as forebay_parameters::Parameters>::FIELDS;
        for field in fields {
            let flows = format!(
                "[flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n[flows.x.paced]\n\
                 activity = {{ files = {{ rate = \"2 Mbit/s\", start = 1.0, \
                 size = \"50 kB\" }} }}\n\
                 frames = {{ {} = {value} }}\n",
                field.name
            );
            let core = format!("{LINK}{slow}");
            check(network(&core, &flows), format!("frames {} = {value}", field.name));
        }
        let fields =
            <forebay_elements::paced::EfcnParameters as forebay_parameters::Parameters>::FIELDS;
        for field in fields {
            let flows = format!(
                "[flows.x]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n[flows.x.paced]\n\
                 activity = {{ files = {{ rate = \"2 Mbit/s\", start = 1.0 }} }}\n\
                 efcn = {{ {} = {value} }}\n",
                field.name
            );
            let core = format!("{LINK}{slow}\nconditioner = \"efci\"");
            check(network(&core, &flows), format!("efcn {} = {value}", field.name));
        }
        for key in ["duration", "warm_up", "seed"] {
            let text = network(LINK, FLOWS);
            let duration = if key == "duration" { "" } else { "duration = \"10 ms\"\n" };
            let short = text.replacen("duration = \"3 s\"\n", duration, 1);
            // A run that is asked to last for weeks does: only refusals can be tested.
            if key != "duration" || !value.contains("h\"") {
                check(format!("{key} = {value}\n{short}"), format!("{key} = {value}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A queue longer than the clock leaves the counters of its link right: at 1 bit/s a packet of 1500
/// B takes 12,000 s, so 2000 of them need 278 days. The link is busy all the time and, after an
/// hour, still sends the first.
#[test]
fn a_backlog_beyond_the_clock_is_still_counted() {
    for queue in ["\"droptail\"", "{ priority = { classes = [\"droptail\"] } }"] {
        let text = format!(
            "duration = \"1 h\"\nwarm_up = \"1 min\"\n\
             [links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 bit/s\"\nqueue = {queue}\n\
             [flows.x]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nstop = \"20 s\"\n\
             traffic = {{ cbr = {{ rate = \"1.2 Mbit/s\", size = \"1500 B\" }} }}\n"
        );
        let result = crate::support::run(&text);
        let link = crate::support::link(&result, "l");
        assert_eq!(link.utilization, 1.0, "{queue}");
        assert_eq!(link.mean_queue_packets, 1999.0, "{queue}");
        assert_eq!(link.departed_packets, [0; 4], "the first left before the window: {queue}");
    }
}
