//! Ways in which the elements of an access network are executed: none needs an event for a hop.

use std::collections::BTreeMap;

use forebay_network::{Departures, ElementId, ExecutionMode};
use forebay_units::{Span, Time};

use super::{Control, RunOptions, Scenario};

/// The part of a mode that all elements of one kind have in common: whether they take packets from
/// channels, how packets leave, and by how much they may be late.
type Way = (bool, Departures, Span);

fn way(mode: &ExecutionMode) -> Way {
    (mode.takes_from_channels, mode.departures, mode.late)
}

/// Returns the ways of all elements of `file`, by their parts: links by their names without
/// numbers, and hosts.
fn ways(file: &str) -> BTreeMap<String, Vec<Way>> {
    let path = format!("{}/../../bench/scenarios/{file}", env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "a scenario of this repository")]
    let text = std::fs::read_to_string(&path).unwrap();
    let scenario = Scenario::parse(&text, &path, &[]).unwrap();
    let (plan, control) = (scenario.plan(None).unwrap(), Control::default());
    let (mut run, _) = scenario.wired(plan, &RunOptions::default(), &control).unwrap();
    run.wired.network.run(Time::ZERO, 0);
    let modes = run.wired.network.modes();
    let mut parts = vec!["receivers".to_owned(); modes.len()];
    let mut name = |element: &ElementId, part: &str| part.clone_into(&mut parts[element.index()]);
    run.wired.senders.iter().for_each(|sender| name(sender, "senders"));
    for (link, elements) in run.plan.links.iter().zip(&run.wired.links) {
        let part = link.name.replace(|c: char| c.is_ascii_digit(), "");
        elements.iter().for_each(|element| name(element, &part));
    }
    let mut ways = BTreeMap::<String, Vec<Way>>::new();
    for (part, mode) in parts.into_iter().zip(modes) {
        let of_part = ways.entry(part).or_default();
        if !of_part.contains(&way(mode)) {
            of_part.push(way(mode));
        }
    }
    ways
}

/// Hosts are late by the delay of the link that they send into: 4 ms in the core and 0.1 ms at
/// home. Every link takes its packets from channels and sends ahead, the cable, to which 200 links
/// lead, as those to which one does. An element that fell back to an event for each packet would
/// change no result, so that only the time of a run would tell.
#[test]
fn no_hop_of_an_access_network_needs_an_event() {
    let (core, home) = (Span::from_ms(4), Span::from_us(100));
    let host = |late| (false, Departures::Timed, late);
    let link = |late| (true, Departures::Ahead, late);
    let due = [
        ("bng", vec![link(core)]),
        ("bng.reverse", vec![link(Span::ZERO)]),
        ("cable", vec![link(Span::ZERO)]),
        ("cable.reverse", vec![link(Span::ZERO)]),
        ("down", vec![link(Span::ZERO)]),
        ("down.reverse", vec![link(Span::ZERO)]),
        ("receivers", vec![host(core), host(home)]),
        ("senders", vec![host(home), host(core)]),
        ("up", vec![link(home)]),
        ("up.reverse", vec![link(Span::ZERO)]),
    ];
    let due = due.map(|(part, ways)| (part.to_owned(), ways));
    assert_eq!(ways("s9-access.toml"), BTreeMap::from(due));
}
