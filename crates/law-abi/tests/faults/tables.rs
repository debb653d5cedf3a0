//! Tables that are refused when they are read.

use std::ptr::null;

use forebay_law_abi::abi::{self, Law, Laws, Parameter, Probe, VERSION, Word};
use forebay_law_abi::{abi::flag, read};

use crate::support::{kept, law, list, parameter, pass, probe, table, text};

/// A queue that lets all packets pass.
fn sound() -> Law {
    law(abi::kind::QUEUE, "sound", &[(abi::decision::ENQUEUE, pass)])
}

/// The reason why a table at `address` is refused.
fn refusal(address: usize) -> String {
    read(address).err().unwrap_or_else(|| "no refusal".to_owned())
}

/// The reason why a law is refused.
fn refused(law: Law) -> String {
    refusal(table(vec![kept(law)]))
}

fn with_parameter(parameter: Parameter) -> Law {
    Law { parameters: kept(parameter), parameter_count: 1, state_bytes: 64, ..sound() }
}

fn with_probe(probe: Probe) -> Law {
    Law { probes: kept(probe), probe_count: 1, state_bytes: 16, ..sound() }
}

fn whole() -> Parameter {
    parameter("most", abi::parameter_type::WHOLE)
}

fn with_default(kind: u32, default: &str) -> Law {
    with_parameter(Parameter { default_value: text(default), ..parameter("most", kind) })
}

/// A table that is none, or of another version, is refused with both versions: what stands in it
/// cannot be known.
#[test]
fn tables_of_another_version_are_refused() {
    let laws = |change: fn(&mut Laws)| {
        let size = size_of::<Laws>() as u32;
        let mut laws = Laws { size, version: VERSION, count: 0, laws: null() };
        change(&mut laws);
        refusal(kept(laws) as usize)
    };
    let own = format!("this Forebay, {}, has version 1", env!("CARGO_PKG_VERSION"));
    for (found, told) in [
        (refusal(0), "gives no table of laws".to_owned()),
        (
            laws(|laws| laws.version = 2),
            format!("is made for version 2 of the interface of laws; {own}"),
        ),
        (laws(|laws| laws.size = 8), "its table has 8 B".to_owned()),
        (laws(|_| {}), "has no laws".to_owned()),
        (laws(|laws| laws.count = 1), "a list of 1 is nowhere".to_owned()),
        (laws(|laws| (laws.count, laws.laws) = (5000, kept(null()))), "a list has 5000".to_owned()),
        (refusal(table(vec![null()])), "has an empty place for a law".to_owned()),
    ] {
        assert!(found.contains(&told), "{told}: {found}");
    }
}

/// A law whose table is wrong is refused with its name and what is wrong: a scenario that chose it
/// had no meaning.
#[test]
fn laws_with_a_wrong_table_are_refused() {
    assert_eq!(refused(sound()), "no refusal");
    let queue = abi::kind::QUEUE;
    let decides = |kind, place| law(kind, "sound", &[(place, pass)]);
    for (law, told) in [
        (Law { size: 8, ..sound() }, "law \"sound\": its size is 8 B; a law of version 1 has"),
        (Law { name: null(), ..sound() }, "has a law without a name"),
        (Law { name: text("Sound"), ..sound() }, "law \"Sound\": a name has lower-case letters"),
        (Law { name: text("5ound"), ..sound() }, "law \"5ound\": a name has lower-case letters"),
        (Law { name: text("so-und"), ..sound() }, "law \"so-und\": a name has lower-case letters"),
        (Law { name: c"\xff".as_ptr(), ..sound() }, "a text is not UTF-8"),
        (Law { summary: c"\xff".as_ptr(), ..sound() }, "law \"sound\": a text is not UTF-8"),
        (Law { kind: 9, ..sound() }, "law \"sound\": kind 9 is none; there are 1 to 7"),
        (Law { contents: text("x"), ..sound() }, "contents \"x\"; expected 16 hexadecimal digits"),
        (Law { contents: null(), ..sound() }, "contents \"\"; expected 16 hexadecimal digits"),
        (law(queue, "sound", &[]), "law \"sound\": has no enqueue and no dequeue"),
        (decides(abi::kind::DISCIPLINE, 0), "has no dequeue"),
        (decides(abi::kind::SCHEDULER, 1), "has no select"),
        (decides(abi::kind::CONDITIONER, 1), "has no condition"),
        (decides(abi::kind::CONTROL, 0), "has no acknowledged and no sampled"),
        (decides(abi::kind::TRAFFIC, 1), "has no next"),
        (law(abi::kind::IMPAIRMENT, "sound", &[]), "has no passage"),
        (decides(queue, 7), "decides at place 7; its kind has enqueue, dequeue, departed"),
        (
            Law { flags: flag::DRAWS, ..decides(abi::kind::SCHEDULER, 0) },
            "draws random numbers, which schedulers do not",
        ),
        (Law { state_bytes: 65 << 20, ..sound() }, "B of state, more than 67108864"),
    ] {
        let found = refused(law);
        assert!(found.contains(told), "{told}: {found}");
    }
}

/// A parameter that no scenario can have is refused by its name: its author made a slip.
#[test]
fn laws_with_wrong_parameters_are_refused() {
    use abi::parameter_type::{LENGTH, NUMBER, SPAN, WHOLE, WORD};
    assert_eq!(refused(with_parameter(whole())), "no refusal");
    let words = |names: &[Option<&str>]| Parameter {
        word_count: names.len() as u32,
        words: list(
            names
                .iter()
                .map(|name| Word { name: name.map_or(null(), text), meaning: null() })
                .collect(),
        ),
        ..parameter("most", WORD)
    };
    let twice = Law { parameters: list(vec![whole(), whole()]), parameter_count: 2, ..sound() };
    for (law, told) in [
        (with_parameter(Parameter { size: 8, ..whole() }), "parameter \"most\": its size is 8 B"),
        (with_parameter(Parameter { name: null(), ..whole() }), "has a parameter without a name"),
        (with_parameter(parameter("Most", WHOLE)), "parameter \"Most\": a name has lower-case"),
        (with_parameter(parameter("most", 11)), "type 11 is none; there are 1 to 10"),
        (with_parameter(parameter("most", WORD)), "parameter \"most\": has no words"),
        (with_parameter(words(&[None])), "parameter \"most\": a word has no name"),
        (
            with_parameter(Parameter { r#type: WHOLE, ..words(&[Some("a")]) }),
            "parameter \"most\": has words, and is none",
        ),
        (Law { state_bytes: 64, ..twice }, "it has two parameters \"most\""),
        (
            Law { state_bytes: 8, ..with_parameter(parameter("most", LENGTH)) },
            "has 8 B of state; its parameters take 16 B",
        ),
        (with_default(WHOLE, "{"), "parameter \"most\": default { is not JSON"),
        (with_default(WHOLE, "null"), "parameter \"most\": default null is no value"),
        (with_default(NUMBER, "\"x\""), "default of most"),
        (with_default(SPAN, "\"5 kg\""), "\"kg\""),
        (
            with_parameter(Parameter { default_value: text("\"c\""), ..words(&[Some("a")]) }),
            "\"c\" is not one of a",
        ),
    ] {
        let found = refused(law);
        assert!(found.starts_with("law \"sound\": ") && found.contains(told), "{told}: {found}");
    }
}

/// A probe that lies outside of the state is refused: it showed what is not the law's.
#[test]
fn laws_with_wrong_probes_are_refused() {
    let fine = || probe("drops", abi::probe_type::INT64, 8);
    assert_eq!(refused(with_probe(fine())), "no refusal");
    for (probe, told) in [
        (Probe { size: 8, ..fine() }, "probe \"drops\": its size is 8 B"),
        (Probe { name: null(), ..fine() }, "has a probe without a name"),
        (Probe { r#type: 4, ..fine() }, "probe \"drops\": type 4 is none; there are 1 to 3"),
        (Probe { offset: 4, ..fine() }, "probe \"drops\": stands at 4 of a state of 16 B"),
        (Probe { offset: 16, ..fine() }, "probe \"drops\": stands at 16 of a state of 16 B"),
        (Probe { offset: u64::MAX - 7, ..fine() }, "of a state of 16 B"),
    ] {
        let found = refused(with_probe(probe));
        assert!(found.starts_with("law \"sound\": ") && found.contains(told), "{told}: {found}");
    }
}

/// A name that is taken is refused, and then none of the laws beside it is added: a scenario means
/// one law by a name.
#[test]
fn names_that_are_taken_are_refused() {
    let named = |name: &str| Law { name: text(name), ..sound() };
    for (laws, taken) in [
        (vec![kept(named("other")), kept(named("codel"))], "codel"),
        (vec![kept(sound()), kept(sound())], "sound"),
    ] {
        let mut all = forebay_scenario::registry();
        let error = read(table(laws)).unwrap().add_to(&mut all, |_| false).unwrap_err();
        assert_eq!(error, format!("there is a queue \"{taken}\" already"));
        let mut again = forebay_scenario::registry();
        let first = read(table(vec![kept(named("other"))])).unwrap();
        let added = [&mut all, &mut again].map(|all| first.add_to(all, |_| false));
        assert_eq!(added, [Ok(()), Ok(())], "{taken}: nothing was added before");
    }
}
