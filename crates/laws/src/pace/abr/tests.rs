use forebay_parameters::{Echo, Node, Table, Value};

use super::*;

fn make(entries: &[(&str, Value)]) -> Result<Box<dyn PaceControl>, Problem> {
    let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
    let table: Table = entries.iter().map(entry).collect();
    let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
    Ok((build(&Section::root(&node, &echo).unwrap())?.make)(Span::ZERO))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Returns which of `cells` sent every `ms` from `first` on are resource-management cells, and the
/// rates that they tell.
fn resource_cells(law: &mut dyn PaceControl, first: u64, ms: u64, cells: u64) -> Vec<(u64, f64)> {
    let sent = (0..cells)
        .filter_map(|cell| Some((cell, law.resource_cell(true, at(first + ms * cell))?.scale)));
    sent.collect()
}

fn places(sent: &[(u64, f64)]) -> Vec<u64> {
    sent.iter().map(|(cell, _)| *cell).collect()
}

/// One cell in 32 is a resource-management cell, so that ports get rates in time and not too often
/// (rules 2 and 3). The first cell is a resource-management cell; a fast source sends 31 others,
/// then the next; one that sends a cell each 30 ms sends one when 100 ms are over, with the fourth
/// cell after; one with a cell each 80 ms waits for two others.
#[test]
fn one_cell_in_32_is_a_resource_management_cell() {
    let new = || make(&[]).unwrap();
    assert_eq!(places(&resource_cells(&mut *new(), 0, 1, 100)), [0, 32, 64, 96]);
    assert_eq!(places(&resource_cells(&mut *new(), 0, 30, 10)), [0, 4, 8]);
    assert_eq!(places(&resource_cells(&mut *new(), 0, 80, 10)), [0, 3, 6, 9]);
    let mut often = make(&[("nrm", Value::Integer(4))]).unwrap();
    assert_eq!(places(&resource_cells(&mut *often, 0, 1, 10)), [0, 4, 8]);
}

/// Sources go no faster than a port allows, rise by steps, and stay between minimum and peak (rules
/// 8 and 9): from ICR = 0.25 with RIF = 1/16 a cell that allows 1 gives 0.3125, then 0.375; one
/// that allows 0.1 gives 0.1 at once; one that allows less than MCR = 0.05 gives 0.05.
#[test]
fn the_rate_follows_explicit_rates() {
    let mut law = make(&[("icr", 0.25.into()), ("mcr", 0.05.into())]).unwrap();
    assert_eq!(law.begin(at(0)).scale, 0.25);
    let mut rate = |explicit| law.allowed(explicit, at(1)).unwrap();
    assert_eq!([rate(1.0).scale, rate(1.0).scale], [0.3125, 0.375]);
    assert_eq!((rate(0.1).scale, rate(0.1).at_floor), (0.1, false));
    assert_eq!((rate(0.0).scale, rate(0.0).at_floor), (0.05, true));
    let peak = (0..20).map(|_| rate(9.0).scale).last();
    assert_eq!(peak, Some(1.0));
}

/// A source that was silent does not begin with a rate that the network may have given to others
/// since (rule 5): 500 ms after the last cell that carried its rate it keeps it, a millisecond
/// later it goes at ICR; a rate below ICR stays.
#[test]
fn a_rate_that_is_not_used_is_lost() {
    let rate_after = |pause: u64, explicit: f64| {
        let mut law = make(&[("icr", 0.5.into()), ("rif", 1.0.into())]).unwrap();
        law.begin(at(0));
        assert_eq!(law.resource_cell(true, at(1)).unwrap().scale, 0.5);
        law.allowed(explicit, at(2));
        law.resource_cell(true, at(3));
        law.resource_cell(true, at(4));
        law.resource_cell(true, at(1 + pause)).unwrap().scale
    };
    assert_eq!((rate_after(500, 0.8), rate_after(501, 0.8)), (0.8, 0.5));
    assert_eq!(rate_after(501, 0.3), 0.3);
    // Between sessions as well.
    let mut law = make(&[("icr", 0.5.into()), ("rif", 1.0.into())]).unwrap();
    law.begin(at(0));
    law.resource_cell(true, at(1));
    law.allowed(0.9, at(2));
    assert_eq!(law.begin(at(400)).scale, 0.9);
    assert_eq!(law.begin(at(502)).scale, 0.5);
}

/// A source slows down where nothing comes back (rule 6): with CRM = 3 and CDF = 1/2 the fourth
/// cell without an answer carries half the rate, the fifth a quarter, not below MCR; an answer ends
/// it.
#[test]
fn missing_answers_slow_a_source_down() {
    let entries = [("crm", Value::Integer(3)), ("cdf", 0.5.into()), ("mcr", 0.2.into())];
    let mut law = make(&entries).unwrap();
    law.begin(at(0));
    let told: Vec<f64> =
        resource_cells(&mut *law, 0, 1, 32 * 6).iter().map(|(_, rate)| *rate).collect();
    assert_eq!(told, [1.0, 1.0, 1.0, 0.5, 0.25, 0.2]);
    law.allowed(1.0, at(200));
    let told = resource_cells(&mut *law, 200, 1, 32 * 3);
    assert_eq!(told.iter().map(|(_, rate)| *rate).collect::<Vec<_>>(), [0.2625, 0.2625, 0.2625]);
}

/// A source that may send nothing asks out of rate whether it may again: its timer comes 200 ms
/// after the last cell that carried its rate, and again each 200 ms.
#[test]
fn a_stopped_source_asks_out_of_rate() {
    let mut law = make(&[]).unwrap();
    assert_eq!(law.begin(at(0)).next, at(200));
    assert!(law.resource_cell(true, at(50)).is_some());
    assert_eq!(law.allowed(0.0, at(60)).unwrap().scale, 0.0);
    assert_eq!(law.expired(at(200)).next, at(250));
    assert_eq!(law.resource_cell(false, at(200)), None);
    assert_eq!(law.expired(at(250)).next, at(450));
    assert!(law.resource_cell(false, at(250)).is_some());
    assert_eq!(law.expired(at(450)).next, at(650));
}

/// Parameters of a source that never reports its rate, or goes at none, are refused.
#[test]
fn impossible_parameters_are_refused() {
    for (key, value) in [
        ("mcr", Value::Float(1.1)),
        ("mcr", Value::Float(-0.1)),
        ("icr", Value::Float(0.0)),
        ("icr", Value::Float(1.1)),
        ("rif", Value::Float(0.0)),
        ("nrm", Value::Integer(1)),
        ("nrm", Value::Integer(300)),
        ("trm", Value::from("0 s")),
        ("adtf", Value::from("0 s")),
        ("crm", Value::Integer(0)),
        ("cdf", Value::Float(1.5)),
    ] {
        assert_eq!(make(&[(key, value.clone())]).err().unwrap().path, key, "{value:?}");
    }
    let above = [("mcr", Value::Float(0.5)), ("icr", Value::Float(0.4))];
    assert_eq!(make(&above).err().unwrap().path, "icr");
}
