//! Warnings of what makes a result no finding: queues without limit that TCP can fill, and a
//! threshold that a single packet exceeds.

use forebay_scenario::Scenario;

/// The warnings of a scenario of these links and flows, each `PATH: MESSAGE`.
fn warnings(links: &[&str], flows: &[&str]) -> Vec<String> {
    let text = format!("duration = \"10 s\"\n{}{}", links.concat(), flows.concat());
    let scenario =
        Scenario::parse(&text, "odd.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    scenario.warnings().iter().map(|warning| warning.problem.to_string()).collect()
}

fn link(name: &str, ends: [&str; 2], rate: u32, more: &str) -> String {
    format!(
        "[links.{name}]\nfrom = \"{}\"\nto = \"{}\"\nrate = \"{rate} Mbit/s\"\n{more}\n",
        ends[0], ends[1]
    )
}

fn flow(name: &str, ends: [&str; 2], more: &str) -> String {
    format!("[flows.{name}]\nfrom = \"{}\"\nto = \"{}\"\n{more}\n", ends[0], ends[1])
}

const LIMIT: &str = "queue = { droptail = { limit = \"50 packets\" } }";
const BULK: &str = "tcp = {}";

/// A queue without limit that TCP fills is warned of, with the link and the flows: its seconds of
/// delay are no finding to set beside active queue management.
#[test]
fn a_queue_without_limit_that_tcp_fills_is_warned_of() {
    for (queue, line) in [("", 2), ("queue = \"droptail\"", 6), ("queue.droptail = {}", 6)] {
        let found = warnings(
            &[&link("core", ["a", "b"], 10, queue)],
            &[&flow("up", ["a", "b"], BULK), &flow("more", ["a", "b"], "tcp = {}\ncount = 3")],
        );
        let [warning] = &found[..] else { panic!("{found:?}") };
        assert!(warning.starts_with(&format!("line {line}: links.core.queue: ")), "{warning}");
        assert!(warning.contains("without limit") && warning.contains("flows."), "{warning}");
    }
    // Of two directions it is the one that the data take.
    let found = warnings(&[&link("core", ["a", "b"], 10, LIMIT)], &[&flow("up", ["b", "a"], BULK)]);
    assert!(matches!(&found[..], [one] if one.contains("links.core.reverse.queue: ")), "{found:?}");
}

/// Only links at which a queue can stand are warned of: 10 Mbit/s carry what comes over 10, or over
/// twice 5, Mbit/s, and not what comes over 100, or over 5 and 6; of equal links in a row the queue
/// is at the first.
#[test]
fn only_links_that_more_can_come_to_are_warned_of() {
    let at = |found: Vec<String>| -> Vec<String> {
        let name = |text: &String| {
            text.split("links.").nth(1).unwrap().split('.').next().unwrap().to_owned()
        };
        found.iter().map(name).collect()
    };
    for (rates, expected) in [
        ([100, 10, 100], vec!["l1"]),
        ([10, 100, 100], vec!["l0"]),
        ([100, 100, 10], vec!["l2"]),
        ([10, 10, 10], vec!["l0"]),
        ([20, 10, 10], vec!["l1"]),
        ([20, 10, 5], vec!["l2"]),
    ] {
        let nodes = ["a", "b", "c", "d"];
        let links: Vec<String> = (0..3)
            .map(|at| link(&format!("l{at}"), [nodes[at], nodes[at + 1]], rates[at], ""))
            .collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let found = warnings(&links, &[&flow("x", ["a", "d"], BULK)]);
        assert_eq!(at(found), expected, "{rates:?}");
    }
    for (rates, expected) in [([5, 5], Vec::<&str>::new()), ([5, 6], vec!["core"])] {
        let found = warnings(
            &[
                &link("a", ["a", "r"], rates[0], LIMIT),
                &link("b", ["b", "r"], rates[1], LIMIT),
                &link("core", ["r", "z"], 10, ""),
            ],
            &[&flow("a", ["a", "z"], "tcp = {}\ncount = 9"), &flow("b", ["b", "z"], BULK)],
        );
        assert_eq!(at(found), expected, "{rates:?}");
    }
    // What datagrams bring counts as well.
    let datagrams = |rate: u32| {
        format!(
            "udp = {{}}\ntraffic = {{ cbr = {{ rate = \"{rate} Mbit/s\", size = \"500 B\" }} }}"
        )
    };
    for (rate, expected) in [(4, Vec::<&str>::new()), (6, vec!["core"])] {
        let found = warnings(
            &[&link("a", ["a", "r"], 5, LIMIT), &link("core", ["r", "z"], 10, "")],
            &[&flow("a", ["a", "z"], BULK), &flow("b", ["r", "z"], &datagrams(rate))],
        );
        assert_eq!(at(found), expected, "{rate}");
    }
}

/// A warning where nothing is wrong is soon read past: a limit, a receiver's window, files that
/// end, a shaper or a policer on the way, and datagrams alone are no reason for one.
#[test]
fn what_bounds_the_queue_needs_no_warning() {
    let open = link("core", ["a", "b"], 10, "");
    let shaper = "shaper = { leaky = { rate = \"5 Mbit/s\", limit = \"50 kB\" } }";
    let policer = "conditioner = { token_bucket = { cir = \"5 Mbit/s\", cbs = \"50 kB\", \
                   excess = \"drop\" } }";
    let marker = policer.replace("drop", "mark");
    let file = "tcp = {}\ntraffic = { file = { size = \"1 MB\" } }";
    let datagrams = "udp = {}\ntraffic = { cbr = { rate = \"20 Mbit/s\", size = \"500 B\" } }";
    for (link, flow_of, count) in [
        (&open, BULK, 1),
        (&link("core", ["a", "b"], 10, LIMIT), BULK, 0),
        (&link("core", ["a", "b"], 10, "queue = \"codel\""), BULK, 0),
        (&link("core", ["a", "b"], 10, shaper), BULK, 0),
        (&link("core", ["a", "b"], 10, policer), BULK, 0),
        (&link("core", ["a", "b"], 10, &marker), BULK, 1),
        (&open, "tcp = { window = \"64 kB\" }", 0),
        (&open, file, 0),
        (&open, datagrams, 0),
    ] {
        let found = warnings(&[link], &[&flow("x", ["a", "b"], flow_of)]);
        assert_eq!(found.len(), count, "{link} {flow_of}: {found:?}");
    }
}

/// A threshold below the time of one packet marks where no queue stands: 1500 B take 1.2 ms at
/// 10 Mbit/s, and 0.12 ms at 100 Mbit/s.
#[test]
fn a_threshold_below_one_packet_is_warned_of() {
    for (rate, threshold, count) in [(10, "1 ms", 1), (10, "1.2 ms", 0), (100, "1 ms", 0)] {
        let queue = format!("queue.fq_codel.ce_threshold = \"{threshold}\"");
        let found = warnings(
            &[&link("core", ["a", "b"], rate, &queue)],
            &[&flow("x", ["a", "b"], "tcp = { ecn = true }")],
        );
        assert_eq!(found.len(), count, "{rate} {threshold}: {found:?}");
        for warning in found {
            let begin = "line 6: links.core.queue.fq_codel.ce_threshold: 1 ms is less than";
            assert!(warning.starts_with(begin) && warning.contains("1.2 ms"), "{warning}");
        }
    }
}
