//! Laws that do what is not allowed, in each decision of each kind.

use std::ffi::c_void;

use forebay_law_abi::abi::{
    self, ConditionerFacts, ControlFacts, Host, ImpairmentFacts, Law, NEVER, QueueFacts,
    SchedulerFacts, TrafficFacts, decision, flag, kind,
};
use forebay_law_abi::host_address;
use forebay_scenario::Registry;

use crate::support::{LOAD, fault, law, number, pass, registry, scenario, with_numbers};

/// Define decisions that write to facts, and return, what the numbers of the state say.
macro_rules! decisions {
    ($($name:ident($facts:ident: $type:ty, $state:ident) $body:block)*) => { $(
        unsafe extern "C" fn $name(state: *mut c_void, facts: *mut c_void) -> i32 {
            // SAFETY: the law is of the kind of these facts, and has four numbers.
            let $facts = unsafe { &mut *facts.cast::<$type>() };
            let $state = [0, 1, 2, 3].map(|place| unsafe { number(state, place) });
            $body
        }
    )* };
}

decisions! {
    answers(_facts: QueueFacts, state) { state[0] as i32 }
    answers_without_head(facts: QueueFacts, state) {
        if facts.empty == 1 { state[0] as i32 } else { state[2] as i32 }
    }
    gives(facts: QueueFacts, state) {
        facts.handle = state[1] as i64;
        state[0] as i32
    }
    gives_first(facts: QueueFacts, _state) {
        facts.handle = 0;
        if facts.waiting_packets > 0 { 1 } else { 0 }
    }
    drops(facts: QueueFacts, state) {
        let handle = if state[1] < 0.0 { facts.handle } else { state[1] as i64 };
        // SAFETY: the host is there.
        unsafe { ((*(host_address() as *const Host)).drop)(std::ptr::from_mut(facts).cast(), handle, state[2] as i32) };
        0
    }
    ready(facts: QueueFacts, state) {
        facts.time = state[1] as i64;
        0
    }
    selects(_facts: SchedulerFacts, state) { state[0] as i32 }
    ready_class(facts: SchedulerFacts, state) {
        facts.time = state[1] as i64;
        0
    }
    colours(facts: ConditionerFacts, state) {
        facts.packet.precedence = state[1] as i64;
        facts.packet.dscp = state[2] as i64;
        state[0] as i32
    }
    green(facts: ConditionerFacts, state) {
        facts.time = state[3] as i64;
        0
    }
    windows(facts: ControlFacts, state) {
        let [_, cwnd, ssthresh, rate] = state.map(unusual);
        (facts.cwnd, facts.ssthresh, facts.pacing_rate) = (cwnd, ssthresh, rate);
        state[0] as i32
    }
    describes(facts: TrafficFacts, state) {
        facts.largest = if state[3] == 0.0 { NEVER } else { state[3] as i64 };
        0
    }
    bursts(facts: TrafficFacts, state) {
        (facts.gap, facts.bytes) = (state[1] as i64, state[2] as i64);
        state[0] as i32
    }
    passes(facts: ImpairmentFacts, state) {
        facts.delay = state[1] as i64;
        state[0] as i32
    }
}

/// Stand for what no scenario has: not a number, and infinity.
const NAN: f64 = 777.0;
const INFINITE: f64 = 888.0;

fn unusual(number: f64) -> f64 {
    match number {
        NAN => f64::NAN,
        INFINITE => f64::INFINITY,
        number => number,
    }
}

const NUMBERS: &[&str] = &["first", "second", "third", "fourth"];

/// Laws that do what their numbers say.
fn laws() -> Registry {
    let made = |kind, name, flags, decisions: &[(usize, abi::Call)]| {
        with_numbers(NUMBERS, Law { flags, ..law(kind, name, decisions) })
    };
    registry(vec![
        made(kind::QUEUE, "arrival", 0, &[(decision::ENQUEUE, answers)]),
        made(kind::QUEUE, "head", 0, &[(decision::DEQUEUE, answers)]),
        made(kind::QUEUE, "without_head", 0, &[(decision::DEQUEUE, answers_without_head)]),
        made(kind::QUEUE, "leaves", 0, &[(decision::ENQUEUE, pass), (decision::DEPARTED, answers)]),
        made(kind::DISCIPLINE, "order", 0, &[(decision::DEQUEUE, gives)]),
        made(
            kind::DISCIPLINE,
            "admits",
            0,
            &[(decision::ENQUEUE, answers), (decision::DEQUEUE, gives_first)],
        ),
        made(
            kind::DISCIPLINE,
            "drops",
            0,
            &[(decision::ENQUEUE, drops), (decision::DEQUEUE, gives_first)],
        ),
        made(
            kind::DISCIPLINE,
            "shapes",
            flag::SHAPES,
            &[(decision::DEQUEUE, answers), (decision::READY_AT, ready)],
        ),
        made(kind::SCHEDULER, "turns", 0, &[(decision::SELECT, selects)]),
        made(
            kind::SCHEDULER,
            "shapes_classes",
            flag::SHAPES,
            &[(decision::SELECT, selects), (decision::SCHEDULER_READY_AT, ready_class)],
        ),
        made(
            kind::CONDITIONER,
            "colours",
            0,
            &[(decision::CONDITION, colours), (decision::GREEN_AT, green)],
        ),
        made(kind::CONDITIONER, "keeps", flag::KEEPS_COLOURS, &[(decision::CONDITION, colours)]),
        made(kind::CONTROL, "opens", 0, &[(decision::ACKNOWLEDGED, windows)]),
        made(
            kind::CONTROL,
            "yields",
            0,
            &[(decision::ACKNOWLEDGED, pass), (decision::CONGESTED, windows)],
        ),
        made(kind::CONTROL, "ignores", 0, &[(decision::ACKNOWLEDGED, pass)]),
        made(
            kind::TRAFFIC,
            "bursts",
            0,
            &[(decision::NEXT, bursts), (decision::DESCRIBE, describes)],
        ),
        made(kind::IMPAIRMENT, "wire", 0, &[(decision::PASSAGE, passes)]),
    ])
}

/// Fail unless a law with numbers ends the run with what is `told`.
fn expect(cases: &[(&str, [f64; 4], &str)], place: &str, scenario: impl Fn(&str) -> String) {
    let all = laws();
    for (name, numbers, told) in cases {
        let values = NUMBERS.iter().zip(numbers).map(|(key, value)| format!("{key} = {value:?}"));
        let section = format!("{name} = {{ {} }}", values.collect::<Vec<_>>().join(", "));
        let found = fault(&all, &scenario(&section));
        let expected = format!("\"{name}\" at {place}");
        let fits = found.contains(&expected) && found.contains(told);
        assert!(fits || *told == found, "{section}\nexpected {told}\nfound    {found}");
    }
}

const FINE: &str = "no fault";

/// A queue ends the run with what it returned, if that is no verdict, or no fit one: the packet's
/// fate is not known.
#[test]
fn verdicts_of_queues() {
    let not_ect =
        "returned 1, a mark, of a packet that is not ECN-capable; allowed are 0 and 2 to 4";
    let cases = [
        ("arrival", [0.0; 4], FINE),
        ("arrival", [2.0, 0.0, 0.0, 0.0], FINE),
        ("arrival", [5.0, 0.0, 0.0, 0.0], "0.000000 s, enqueue: returned 5; allowed are 0 to 4"),
        ("arrival", [-3.0, 0.0, 0.0, 0.0], "enqueue: returned -3, an error; allowed are 0 to 4"),
        ("arrival", [1.0, 0.0, 0.0, 0.0], not_ect),
        ("head", [0.0; 4], FINE),
        ("head", [7.0, 0.0, 0.0, 0.0], "dequeue: returned 7; allowed are 0 to 4"),
        ("head", [1.0, 0.0, 0.0, 0.0], not_ect),
        // What it drops at the head leaves none, and the law is asked without one.
        ("head", [3.0, 0.0, 0.0, 0.0], "returned 3 where there is no packet; allowed is 0"),
        ("without_head", [0.0, 0.0, 3.0, 0.0], FINE),
        ("without_head", [2.0, 0.0, 3.0, 0.0], "dequeue: returned 2 where there is no packet"),
        ("leaves", [-1.0, 0.0, 0.0, 0.0], "departed: returned -1, an error"),
        (
            "order",
            [1.0, 5.0, 0.0, 0.0],
            "wrote handle 5; allowed are those of packets that wait: 0",
        ),
        ("order", [1.0, -1.0, 0.0, 0.0], "dequeue: wrote handle -1; allowed are"),
        ("order", [0.0; 4], "returned 0, none, and 1 packets wait; allowed are 1 and 2"),
        ("order", [3.0, 0.0, 0.0, 0.0], "dequeue: returned 3; allowed are 0 to 2"),
        (
            "order",
            [2.0, 0.0, 0.0, 0.0],
            "a mark, of a packet that is not ECN-capable; allowed is 1",
        ),
        ("admits", [3.0, 0.0, 0.0, 0.0], FINE),
        ("admits", [6.0, 0.0, 0.0, 0.0], "enqueue: returned 6; allowed are 0 to 4"),
        ("admits", [1.0, 0.0, 0.0, 0.0], not_ect),
        ("drops", [0.0, -1.0, 3.0, 0.0], "dropped the packet that arrives; allowed is a verdict"),
        (
            "drops",
            [0.0, 77.0, 3.0, 0.0],
            "dropped handle 77; allowed are those of packets that wait",
        ),
        ("drops", [0.0, 77.0, 0.0, 0.0], "dropped a packet with verdict 0; allowed are 2 to 4"),
        ("shapes", [0.0, 1e18, 0.0, 0.0], FINE),
        ("shapes", [0.0; 4], "ready_at: wrote time 0 ps; allowed are times after now, or never"),
        (
            "shapes",
            [0.0, -5.0, 0.0, 0.0],
            "ready_at: wrote time -5 ps; allowed are times after now",
        ),
    ];
    expect(&cases, "links.bn.queue", |law| scenario(&format!("queue = {{ {law} }}"), LOAD));
}

/// A scheduler ends the run with the class that it chose, if that has no packet: there is none to
/// be sent.
#[test]
fn classes_of_schedulers() {
    let cases = [
        ("turns", [0.0; 4], FINE),
        (
            "turns",
            [1.0, 0.0, 0.0, 0.0],
            "select: returned 1; allowed are the classes that have a packet to send: 0",
        ),
        ("turns", [64.0, 0.0, 0.0, 0.0], "select: returned 64; allowed are the classes"),
        ("turns", [-2.0, 0.0, 0.0, 0.0], "select: returned -2, an error; allowed are the classes"),
        ("shapes_classes", [64.0, 1e18, 0.0, 0.0], FINE),
        ("shapes_classes", [64.0, -1.0, 0.0, 0.0], "ready_at: wrote time -1 ps; allowed are times"),
    ];
    expect(&cases, "links.bn.queue", |law| {
        let classes = "classify = 'precedence', classes = ['droptail', 'droptail']";
        let queue = law.replace("{ first", &format!("{{ {classes}, first"));
        scenario(&format!("queue = {{ {queue} }}"), LOAD)
    });
}

/// A conditioner ends the run with the colour or codepoint that does not fit into its field, and
/// with a verdict that it has not.
#[test]
fn colours_of_conditioners() {
    let cases = [
        ("colours", [0.0, 63.0, 63.0, 0.0], FINE),
        ("colours", [0.0, 64.0, 0.0, 0.0], "condition: wrote precedence 64; allowed are 0 to 63"),
        ("colours", [0.0, -1.0, 0.0, 0.0], "condition: wrote precedence -1; allowed are 0 to 63"),
        ("colours", [0.0, 0.0, 64.0, 0.0], "condition: wrote dscp 64; allowed are 0 to 63"),
        ("colours", [5.0, 0.0, 0.0, 0.0], FINE),
        ("colours", [2.0, 0.0, 0.0, 0.0], "condition: returned 2; allowed are 0, 1 and 5"),
        ("colours", [1.0, 0.0, 0.0, 0.0], "not ECN-capable; allowed are 0 and 5"),
        (
            "keeps",
            [0.0, 1.0, 0.0, 0.0],
            "says by the flag KEEPS_COLOURS that it writes none; allowed is 0",
        ),
        ("keeps", [0.0, 0.0, 9.0, 0.0], FINE),
    ];
    let queue = "queue = { droptail = { limit = '5 packets' } }";
    let link = |law: &str| format!("conditioner = {{ {law} }}\n{queue}");
    expect(&cases, "links.bn.conditioner", |law| scenario(&link(law), LOAD));
    let green = [
        ("colours", [0.0, 1.0, 0.0, 1e12], FINE),
        ("colours", [0.0, 1.0, 0.0, -7.0], "green_at: wrote time -7 ps; allowed are 0 or more"),
    ];
    let shaper = "shaper.ras = { green = true, cir = '300 kbit/s', cir_threshold = '2 kB', \
                  mir = '900 kbit/s', mir_threshold = '8 kB', limit = '12 kB' }";
    let link = |law: &str| format!("conditioner = {{ {law} }}\n{queue}\n{shaper}");
    expect(&green, "links.bn.conditioner", |law| scenario(&link(law), LOAD));
}

/// A control ends the run with a window or rate that no sender can have. One without bounds is
/// sent without an end, and a threshold is what recovery ends with.
#[test]
fn windows_of_controls() {
    let cases = [
        ("opens", [0.0, 1e4, 1e4, 0.0], FINE),
        (
            "opens",
            [0.0, NAN, 1e4, 0.0],
            "acknowledged: wrote cwnd NaN; allowed are numbers above 0 up to 2^32",
        ),
        ("opens", [0.0, 0.0, 1e4, 0.0], "acknowledged: wrote cwnd 0; allowed are"),
        ("opens", [0.0, -9.0, 1e4, 0.0], "acknowledged: wrote cwnd -9; allowed are"),
        ("opens", [0.0, 1e300, 1e4, 0.0], "; allowed are numbers above 0 up to 2^32"),
        (
            "opens",
            [0.0, 1e4, NAN, 0.0],
            "acknowledged: wrote ssthresh NaN; allowed are numbers above 0",
        ),
        (
            "opens",
            [0.0, 1e4, 0.0, 0.0],
            "acknowledged: wrote ssthresh 0; allowed are numbers above 0",
        ),
        (
            "opens",
            [0.0, 1e4, 1e4, -1.0],
            "acknowledged: wrote pacing_rate -1; allowed are finite numbers above 0, and 0 for none",
        ),
        ("opens", [0.0, 1e4, 1e4, INFINITE], "acknowledged: wrote pacing_rate inf; allowed are"),
        (
            "opens",
            [-1.0, 1e4, 1e4, 0.0],
            "acknowledged: returned -1, an error; allowed are 0 or more",
        ),
        ("yields", [0.0, 1e4, 1e4, 0.0], FINE),
        (
            "yields",
            [0.0, 1e4, INFINITE, 0.0],
            "congested: wrote ssthresh inf; allowed are numbers above 0 up to 2^32, from the first signal of congestion on",
        ),
        ("ignores", [0.0; 4], "congested: wrote ssthresh inf; allowed are"),
    ];
    expect(&cases, "flows.load.tcp.control", |law| {
        let queue = "queue = { droptail = { limit = '3 packets' } }";
        scenario(queue, &format!("tcp = {{ control = {{ {law} }} }}"))
    });
}

/// Traffic ends the run with a burst that it has excluded, or that comes before the one before it.
/// It is told no time, so that the fault says how far it had come.
#[test]
fn bursts_of_traffic() {
    let cases = [
        ("bursts", [1.0, 1e10, 500.0, 1000.0], FINE),
        ("bursts", [0.0, 0.0, 0.0, 1000.0], FINE),
        (
            "bursts",
            [2.0, 1e10, 500.0, 1000.0],
            "next: burst 1, 0.000000 s after its start: returned 2; allowed are 0 and 1",
        ),
        ("bursts", [-4.0, 1e10, 500.0, 1000.0], "next: returned -4, an error; allowed are 0 and 1"),
        ("bursts", [1.0, -1.0, 500.0, 1000.0], "wrote gap -1 ps; allowed are 0 or more"),
        ("bursts", [1.0, 1e10, 0.0, 1000.0], "wrote 0 bytes; allowed are 1 to 1000"),
        ("bursts", [1.0, 1e10, 1001.0, 1000.0], "wrote 1001 bytes; allowed are 1 to 1000"),
        (
            "bursts",
            [1.0, 0.0, 1000.0, 1000.0],
            "burst 1000001, 0.000000 s after its start: wrote gap 0 ps again; allowed are one million",
        ),
    ];
    let queue = "queue = { droptail = { limit = '3 packets' } }";
    expect(&cases, "flows.load.traffic", |law| {
        scenario(queue, &format!("udp = {{}}\ntraffic = {{ {law} }}"))
    });
    let all = laws();
    let section = "traffic = { bursts = { fourth = -5.0 } }";
    let found = fault(&all, &scenario(queue, &format!("udp = {{}}\n{section}")));
    assert!(found.contains("flows.load.traffic.bursts"), "{found}");
    assert!(found.contains("says that its largest burst in bytes is -5"), "{found}");
}

/// An impairment ends the run with a passage that there is not, or a delay below zero: packets
/// arrived before they were sent.
#[test]
fn passages_of_impairments() {
    let cases = [
        ("wire", [0.0; 4], FINE),
        ("wire", [1.0, 1e9, 0.0, 0.0], FINE),
        ("wire", [4.0, 0.0, 0.0, 0.0], FINE),
        ("wire", [5.0, 0.0, 0.0, 0.0], "passage: returned 5; allowed are 0 to 4"),
        ("wire", [1.0, -1.0, 0.0, 0.0], "passage: wrote delay -1 ps; allowed are 0 or more"),
        ("wire", [1.0, 1e19, 0.0, 0.0], "ps; allowed are 0 or more, and not never"),
        ("wire", [-1.0, 0.0, 0.0, 0.0], "passage: returned -1, an error; allowed are 0 to 4"),
    ];
    let queue = "queue = { droptail = { limit = '3 packets' } }";
    let link = |law: &str| format!("impairment = {{ {law} }}\n{queue}");
    expect(&cases, "links.bn.impairment", |law| scenario(&link(law), LOAD));
}
