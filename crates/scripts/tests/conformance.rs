//! The scripts of the repository, `validation/tcp-scripts`, on the model.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "the scripts are files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forebay_scripts::{Action, Problem, Script, Segment};
use forebay_units::Span;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/tcp-scripts")
}

/// Every script by its name below the folder, such as `rfc5681/slow-start`.
fn scripts() -> Vec<Script> {
    let mut found = Vec::new();
    for rfc in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(files) = fs::read_dir(&rfc) else { continue };
        for path in files.map(|entry| entry.unwrap().path()) {
            let (rfc, name) = (rfc.file_name().unwrap(), path.file_stem().unwrap());
            let name = format!("{}/{}", rfc.to_str().unwrap(), name.to_str().unwrap());
            let text = fs::read_to_string(&path).unwrap();
            found.push(Script::read(&text, &name, &[]).unwrap_or_else(|error| panic!("{error}")));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns the deviations of the model, by script, with the reason.
fn deviations() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("conformance.toml")).unwrap();
    let table = DeTable::parse(&text).unwrap();
    let list = table.get_ref().get("deviation").map(|list| list.get_ref().as_array().unwrap());
    let word = |entry: &Spanned<DeValue<'_>>, key: &str| {
        let table = entry.get_ref().as_table().unwrap();
        table.get(key).unwrap().get_ref().as_str().unwrap().to_owned()
    };
    let list = list.into_iter().flat_map(|list| list.iter());
    list.map(|entry| (word(entry, "script"), word(entry, "why"))).collect()
}

fn passes(script: &Script) -> Result<bool, Problem> {
    Ok(script.run()?.passed())
}

/// TCP does what its standards say: every script passes, but for the deviations that are listed
/// with their reason, and of these none passes.
#[test]
fn the_model_keeps_the_standards() {
    let (deviations, mut unlike) = (deviations(), Vec::new());
    let scripts = scripts();
    assert!(scripts.len() >= 60, "{} scripts", scripts.len());
    for script in &scripts {
        let report = script.run().unwrap_or_else(|error| panic!("{error}"));
        if report.passed() == deviations.contains_key(&script.name) {
            unlike.push(format!("{}\n{}", script.name, report.difference.join("\n")));
        }
    }
    for name in deviations.keys() {
        assert!(scripts.iter().any(|script| script.name == *name), "no script {name}");
    }
    assert!(unlike.is_empty(), "{} of {}:\n{}", unlike.len(), scripts.len(), unlike.join("\n\n"));
}

/// Every script says what it is for and what it rests on.
#[test]
fn every_script_says_what_it_is_for() {
    for script in scripts() {
        let (name, heading) = (&script.name, &script.heading);
        assert!(heading.purpose.ends_with('.') && heading.purpose.len() > 30, "{name}");
        assert!(!heading.purpose.starts_with("RFC"), "{name}: the purpose comes first");
        assert!(!heading.claims.is_empty(), "{name}: no paragraph `RFC N, section S: ...`");
        let folder = name.split('/').next().unwrap();
        let own = format!("rfc{}", heading.claims[0].rfc);
        assert_eq!(folder, own, "{name} lies in the folder of its first claim");
        for claim in &heading.claims {
            assert!(claim.text.ends_with(['.', '"']), "{name}: {}", claim.text);
        }
    }
}

/// A wrong expectation fails: with the first packet that a script expects a nanosecond later, a
/// segment further on, or not expected at all, it must fail; and so it must with its first
/// assertion turned around.
#[test]
fn a_wrong_expectation_fails() {
    let deviations = deviations();
    let mut asserting = 0;
    for script in scripts().iter().filter(|script| !deviations.contains_key(&script.name)) {
        let name = &script.name;
        let expects = |action: &Action| matches!(action, Action::Expect(_));
        let first = script.events.iter().position(|event| expects(&event.action));
        let first = first.unwrap_or_else(|| panic!("{name} expects nothing"));
        let mut late = script.clone();
        for event in &mut late.events[first..] {
            event.at += Span::from_ps(1000);
        }
        assert!(!passes(&late).unwrap_or(false), "{name}: a packet is late");
        let mut other = script.clone();
        if let Action::Expect(segment) = &mut other.events[first].action {
            shift(segment);
        }
        assert!(!passes(&other).unwrap(), "{name}: a packet is another");
        let mut silent = script.clone();
        silent.events.remove(first);
        assert!(!passes(&silent).unwrap(), "{name}: a packet is unexpected");
        let text = fs::read_to_string(folder().join(format!("{name}.pkt"))).unwrap();
        if let Some((head, tail)) = text.split_once("%{ assert ") {
            let (assertion, tail) = tail.split_once(" }%").unwrap();
            let turned = format!("{head}%{{ assert not ({assertion}) }}%{tail}");
            if !assertion.contains(['\n', ';']) {
                asserting += 1;
                let turned = Script::read(&turned, name, &[]).unwrap();
                assert!(!passes(&turned).unwrap(), "{name}: an assertion is turned around");
            }
        }
    }
    assert!(asserting > 30, "{asserting} scripts assert something in one line");
}

/// Another segment, or another acknowledgement; a SYN is answered, or is none.
fn shift(segment: &mut Segment) {
    if segment.flags.syn {
        segment.ack = if segment.ack.is_some() { None } else { Some(1) };
    } else if segment.length() > 0 {
        (segment.first, segment.end) = (segment.first + 1000, segment.end + 1000);
    } else {
        segment.ack = segment.ack.map(|ack| ack + 1000);
    }
}
