//! Each invariant can fail: for each, forged facts, counters or results of a network, which it
//! rejects; and right ones, which break none.

mod counters;
mod facts;
mod laws;
mod results;
mod scene;
mod tcp;

use std::collections::BTreeSet;

use forebay_invariants::Invariant;

use scene::Scene;

/// An invariant, and what breaks it.
pub type Case = (Invariant, fn(&mut Scene));

/// All cases.
fn cases() -> Vec<Case> {
    let tables: [&[Case]; 6] =
        [facts::PACKETS, facts::LINKS, counters::CASES, tcp::CASES, laws::CASES, results::CASES];
    tables.concat()
}

/// Each invariant rejects a wrong model: one that holds whatever happens says nothing.
#[test]
fn each_invariant_rejects_a_wrong_model() {
    for (invariant, break_it) in cases() {
        let mut scene = Scene::new();
        break_it(&mut scene);
        assert!(scene.breached(invariant) > 0, "{} accepts what is wrong", invariant.name());
        let first = scene.checker.report().breaches().iter().find(|b| b.invariant == invariant);
        let first = first.expect("the first breach of each is described");
        assert!(!first.numbers.is_empty() && !first.place.is_empty(), "{}", invariant.name());
    }
}

/// Every invariant has a wrong model that shows that it can fail.
#[test]
fn no_invariant_is_left_out() {
    let shown: BTreeSet<Invariant> = cases().into_iter().map(|(invariant, _)| invariant).collect();
    let missing: Vec<&str> =
        Invariant::ALL.iter().filter(|it| !shown.contains(it)).map(|it| it.name()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
