//! The order of simultaneous events.

use forebay_network::record::Column;
use forebay_scenario::{Control, RunOptions, RunResult, Ties};

use crate::support::read;

/// Two constant sources of 1000 packets of 125 B in 10 s, the second `later`, whose access links
/// bring packets to a link with room for one packet beside that in transmission, which takes
/// 7.8125 ms.
fn scenario(later: &str) -> String {
    let source = |name: &str, start: &str| {
        format!(
            "[flows.{name}.traffic.cbr]\nrate = \"100 kbit/s\"\nsize = \"125 B\"\n\
             random_phase = false\n\
             [links.{name}]\nfrom = \"{name}\"\nto = \"x\"\nrate = \"1 Mbit/s\"\n\
             [flows.{name}]\nfrom = \"{name}\"\nto = \"y\"\nudp = {{}}\nstart = \"{start}\"\n"
        )
    };
    format!(
        "duration = \"10 s\"\n\
         [links.core]\nfrom = \"x\"\nto = \"y\"\nrate = \"128 kbit/s\"\n\
         queue = {{ droptail = {{ limit = \"1 packets\" }} }}\n{}{}",
        source("a", "0 s"),
        source("b", later)
    )
}

/// The result, and how many packets of the link `core` tied.
fn run(text: &str, ties: Ties) -> (RunResult, u64) {
    let options = RunOptions { ties, ..RunOptions::default() };
    let (result, tables) = read(text).run(&options, &Control::default()).unwrap();
    let table = tables.iter().find(|table| table.name == "ties").expect("ties were counted");
    let Column::Whole(packets) = &table.columns[1].1 else { panic!("counts are whole") };
    (result, packets.iter().sum())
}

fn delivered(result: &RunResult) -> Vec<u64> {
    result.flows.iter().map(|flow| flow.counted.delivered_packets).collect()
}

/// A result that rests on the arbitrary order of simultaneous packets is found. Both sources are in
/// step, so every pair ties. The link takes both packets of a pair, is busy until 15.625 ms,
/// 23.4375 ms, 31.25 ms and 39.0625 ms after them, since it has room for one of each of the three
/// pairs that come 10, 20 and 30 ms later, and is idle at the next: of four pairs, all four packets
/// of the source that goes first are served, and one of the other's; the very last is in
/// transmission when time ends.
#[test]
fn what_rests_on_ties_is_found() {
    let (listed, ties) = run(&scenario("0 s"), Ties::Counted);
    assert_eq!(ties, 1000);
    assert_eq!(delivered(&listed), [999, 250]);
    let shuffled = |number| delivered(&run(&scenario("0 s"), Ties::Shuffled(number)).0);
    let orders: Vec<_> = (0..8).map(shuffled).collect();
    assert!(orders.contains(&vec![999, 250]), "{orders:?}");
    assert!(orders.contains(&vec![250, 999]), "{orders:?}");
}

/// Another numbering of the elements does not change results that rest on no tie: the second source
/// is 3 ms late.
#[test]
fn what_rests_on_no_tie_stays() {
    let (listed, ties) = run(&scenario("3 ms"), Ties::Counted);
    assert_eq!(ties, 0);
    for number in 0..8 {
        let (shuffled, ties) = run(&scenario("3 ms"), Ties::Shuffled(number));
        assert_eq!(ties, 0);
        let everything = |result: &RunResult| {
            (
                serde_json::to_string(&result.flows).unwrap(),
                serde_json::to_string(&result.links).unwrap(),
            )
        };
        assert_eq!(everything(&shuffled), everything(&listed));
    }
}
