//! The side of a library: the functions in its table, called as an engine calls them.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(unsafe_code, reason = "what an engine does")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use forebay_kernel::{Stream, Streams, math};
use forebay_law_abi::abi::{self, NEVER, decision, flag, kind, parameter_flag, verdict};
use forebay_law_abi::export_law;

mod laws;

export_law!(
    laws::everything::ENTRY,
    laws::draws::ENTRY,
    laws::swaps::ENTRY,
    laws::control::ENTRY,
    laws::traffic::ENTRY,
    laws::wire::ENTRY,
    laws::marker::ENTRY,
    laws::changes::ENTRY,
);

// ---- An engine ----------------------------------------------------------------------------------

thread_local! {
    static TOLD: RefCell<Vec<(Option<String>, String)>> = const { RefCell::new(Vec::new()) };
    static DROPPED: RefCell<Vec<(i64, i32)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn fail(_: *mut c_void, parameter: *const c_char, message: *const c_char) {
    let read = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    let parameter = (!parameter.is_null()).then(|| read(parameter));
    TOLD.with_borrow_mut(|told| told.push((parameter, read(message))));
}

unsafe extern "C" fn drop_packet(_: *mut c_void, handle: i64, verdict: i32) {
    DROPPED.with_borrow_mut(|dropped| dropped.push((handle, verdict)));
}

unsafe extern "C" fn number(_: *mut c_void) -> f64 {
    0.0
}

unsafe extern "C" fn below(_: *mut c_void, _: i64) -> i64 {
    0
}

extern "C" fn ln(x: f64) -> f64 {
    math::ln(x)
}

extern "C" fn pow(x: f64, y: f64) -> f64 {
    math::pow(x, y)
}

static HOST: abi::Host = host(abi::VERSION);

const fn host(version: u32) -> abi::Host {
    abi::Host {
        size: size_of::<abi::Host>() as u32,
        version,
        forebay_version: c"0".as_ptr(),
        fail,
        drop: drop_packet,
        ln,
        ln_1p: ln,
        exp: ln,
        exp_m1: ln,
        pow,
        cbrt: ln,
        uniform: number,
        exponential: number,
        normal: number,
        below,
    }
}

/// The last complaint that the host received.
fn told() -> (Option<String>, String) {
    TOLD.with_borrow_mut(Vec::pop).unwrap()
}

fn text(pointer: *const c_char) -> &'static str {
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

/// The law with this name.
fn law(name: &str) -> &'static abi::Law {
    let laws = forebay_laws_v1(Some(&HOST)).unwrap();
    let all = unsafe { std::slice::from_raw_parts(laws.laws, laws.count as usize) };
    let mut all = all.iter().map(|law| unsafe { &**law });
    all.find(|law| text(law.name) == name).unwrap()
}

fn parameters(law: &abi::Law) -> &[abi::Parameter] {
    unsafe { std::slice::from_raw_parts(law.parameters, law.parameter_count as usize) }
}

/// A law in its state.
struct Instance {
    law: &'static abi::Law,
    state: Vec<u64>,
}

fn head(now: i64, stream: Option<&mut Stream>) -> abi::Head {
    let random = stream.map_or(std::ptr::null_mut(), |stream| std::ptr::from_mut(stream).cast());
    abi::Head { size: 0, decision: 0, now, random, engine: std::ptr::null_mut() }
}

fn sized<F>(facts: &mut F) -> *mut c_void {
    let facts = std::ptr::from_mut(facts);
    // All facts begin with their size.
    unsafe { (*facts.cast::<abi::Head>()).size = size_of::<F>() as u32 };
    facts.cast()
}

impl Instance {
    fn new(name: &str, words: &[u64]) -> Self {
        let law = law(name);
        let mut state = vec![0; law.state_bytes as usize / 8];
        state[..words.len()].copy_from_slice(words);
        Self { law, state }
    }

    fn create(&mut self) -> i32 {
        let mut facts =
            abi::CreateFacts { head: head(NEVER, None), link_rate: 1_000_000, classes: 0 };
        unsafe { self.law.create.unwrap()(self.state.as_mut_ptr().cast(), sized(&mut facts)) }
    }

    fn created(name: &str, words: &[u64]) -> Self {
        let mut law = Self::new(name, words);
        assert_eq!(law.create(), 0, "{:?}", TOLD.take());
        law
    }

    fn decide<F>(&mut self, decision: usize, facts: &mut F) -> i32 {
        let call = self.law.decide[decision].unwrap();
        unsafe { call(self.state.as_mut_ptr().cast(), sized(facts)) }
    }

    fn probes(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.law.probe_count as usize];
        unsafe { self.law.probe.unwrap()(self.state.as_ptr().cast(), values.as_mut_ptr()) };
        values
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        unsafe { self.law.destroy.unwrap()(self.state.as_mut_ptr().cast()) };
    }
}

fn queue_facts(now: i64, stream: Option<&mut Stream>) -> abi::QueueFacts {
    abi::QueueFacts {
        head: head(now, stream),
        packet: abi::PacketFacts { bytes: 1000, flow: 3, ..abi::PacketFacts::default() },
        waiting_packets: 2,
        waiting_bytes: 2000,
        idle_since: NEVER,
        empty_since: NEVER,
        sojourn: 0,
        round: 0,
        empty: 0,
        handle: -1,
        time: NEVER,
    }
}

// ---- Tests --------------------------------------------------------------------------------------

/// Parameters of every type are in the table as they were defined, with their defaults as JSON, so
/// that an engine reads them from scenarios as it does its own.
#[test]
fn parameters_are_described_as_they_were_defined() {
    let law = law("everything");
    let found: Vec<(&str, u32, u32)> =
        parameters(law).iter().map(|p| (text(p.name), p.r#type, p.flags)).collect();
    let (list, optional) = (parameter_flag::LIST, parameter_flag::OPTIONAL);
    assert_eq!(
        found,
        [
            ("number", 1, 0),
            ("whole", 2, 0),
            ("flag", 3, 0),
            ("word", 4, 0),
            ("span", 5, 0),
            ("rate", 6, 0),
            ("size", 7, 0),
            ("length", 8, 0),
            ("each", 9, 0),
            ("label", 10, 0),
            ("spans", 5, list),
            ("lengths", 8, list | optional),
            ("labels", 10, list),
            ("maybe", 1, optional),
            ("limit", 8, optional),
        ]
    );
    let defaults: Vec<Option<&str>> = parameters(law)
        .iter()
        .map(|p| (!p.default_value.is_null()).then(|| text(p.default_value)))
        .collect();
    assert_eq!(defaults[..4], [Some("0.5"), Some("3"), Some("true"), Some("\"high\"")]);
    assert_eq!(defaults[4], Some("\"5 ms\""));
    assert_eq!(defaults[9], Some("\"a \\\"b\\\"\""));
    assert_eq!(defaults[10..], [None; 5]);
    let words = &parameters(law)[3];
    let words = unsafe { std::slice::from_raw_parts(words.words, words.word_count as usize) };
    assert_eq!(words.iter().map(|w| text(w.name)).collect::<Vec<_>>(), ["low", "high"]);
    assert_eq!(text(words[0].meaning), "The lower one.");
    // Eleven of one word, a length of two, and three lists and a length of two.
    assert_eq!(law.state_bytes, 8 * (9 + 2 + 3 * 2 + 1 + 2 + 1));
    assert_eq!(text(parameters(law)[0].meaning), "A number, over two lines.");
}

/// Parameters are read from a state as the engine has written them: values of every type, present
/// and absent, in exactly the digits of the scenario.
#[test]
fn parameters_are_read_as_they_were_written() {
    let (a, b) = (CString::new("x \"y\"").unwrap(), CString::new("z").unwrap());
    let texts = [a.as_ptr() as u64, b.as_ptr() as u64];
    let spans = [1u64, 2_500_000_000];
    let lengths = [7u64, 1, 45_000, 0];
    let at = |list: &[u64]| list.as_ptr() as u64;
    let per_hour = 450.0f64 / 3600.0;
    let mut words = vec![0.1f64.to_bits(), 12, 1, 0, 100_000_000, 34_000_000, 1500];
    words.extend([78, 1, per_hour.to_bits(), a.as_ptr() as u64, at(&spans), 2]);
    words.extend([at(&lengths), 2, at(&texts), 2, 0.25f64.to_bits(), 45_000, 0]);
    let _law = Instance::created("everything", &words);
    assert_eq!(
        laws::everything::read(),
        "0.1 12 true Low 100 us 34 Mbit/s 1.5 kB 78 packets 7.5 /min x \"y\" | 1 ps, 2.5 ms | \
         7 packets, 45 kB | x \"y\", z | Some(0.25) Some(Bytes(45000))"
    );
    let (never, nothing) = (NEVER as u64, at(&[]));
    words.truncate(11);
    words.extend([nothing, 0, 0, 0, nothing, 0, f64::NAN.to_bits(), never, 0]);
    let _law = Instance::created("everything", &words);
    assert!(laws::everything::read().ends_with("|  | absent |  | None None"));
}

/// A parameter that a law refuses is named with its message; so is a word that there is not.
#[test]
fn a_wrong_parameter_is_told() {
    let mut law = Instance::new("draws", &[2.0f64.to_bits()]);
    assert_eq!(law.create(), -1);
    let refused = (Some("probability".to_owned()), "2 is not a probability".to_owned());
    assert_eq!(told(), refused);
    let empty: [u64; 0] = [];
    let mut words = vec![0.0f64.to_bits(), 0, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    words.extend([empty.as_ptr() as u64, 0, 0, 0, empty.as_ptr() as u64, 0, 0, 0, 0]);
    let mut law = Instance::new("everything", &words);
    assert_eq!(law.create(), -1);
    assert_eq!(told(), (Some("word".to_owned()), "word 9 is none of 2".to_owned()));
}

/// A law draws from the engine's stream in its place: what is drawn, and what is left of the
/// stream, is what the same law does linked in.
#[test]
fn a_law_draws_what_the_engine_does() {
    let mut law = Instance::created("draws", &[0.5f64.to_bits()]);
    assert_eq!(law.law.flags, flag::DRAWS | flag::OWN_LIMIT);
    let mut stream = Streams::new(1, 2).named("links.a.queue");
    let mut own = stream.clone();
    for _ in 0..100 {
        let drops = own.happens(0.5);
        let due = if drops { verdict::DROP_EARLY } else { verdict::PASS };
        let found = law.decide(decision::ENQUEUE, &mut queue_facts(5, Some(&mut stream)));
        assert_eq!(found, due);
    }
    assert_eq!(stream.uniform(), own.uniform());
    // As the header has it, a stream is the four words of xoshiro256++, whose first number from (1,
    // 2, 3, 4) is 41943041 (prng.di.unimi.it): far below half of 2^64.
    let mut words = [1u64, 2, 3, 4];
    let mut facts = queue_facts(5, None);
    facts.head.random = words.as_mut_ptr().cast();
    assert_eq!(law.decide(decision::ENQUEUE, &mut facts), verdict::DROP_EARLY);
    assert_ne!(words, [1, 2, 3, 4]);
    let drops = law.probes()[0];
    assert!(drops > 20.0 && drops < 80.0, "{drops}");
    assert!(law.probes()[1].is_nan(), "what it does not report is no number");
}

/// A panic ends in an error with message and place; nothing is printed, and nothing unwinds into
/// the engine.
#[test]
fn a_panic_is_told_and_goes_no_further() {
    let printed = Arc::new(Mutex::new(0));
    let count = Arc::clone(&printed);
    // The hook of a library calls the one before it for panics elsewhere.
    law("draws");
    let mut law = Instance::created("draws", &[0.5f64.to_bits()]);
    let of_library = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        of_library(panic);
    }));
    let mut stream = Streams::new(1, 2).named("x");
    let mut facts = queue_facts(13, Some(&mut stream));
    assert_eq!(law.decide(decision::ENQUEUE, &mut facts), -1);
    let (_, message) = told();
    assert!(message.contains("unlucky at 13") && message.contains("mod.rs:"), "{message}");
    // Without the stream that it needs there is an error, and no panic.
    assert_eq!(law.decide(decision::ENQUEUE, &mut queue_facts(14, None)), -1);
    assert!(told().1.contains("no random stream"));
    let mut facts = queue_facts(14, Some(&mut stream));
    facts.head.size = 0;
    let call = law.law.decide[decision::ENQUEUE].unwrap();
    let at = std::ptr::from_mut(&mut facts).cast();
    assert_eq!(unsafe { call(law.state.as_mut_ptr().cast(), at) }, -1);
    assert!(told().1.contains("hands in 0 B of facts"));
    assert_eq!(law.decide(decision::DEPARTED, &mut queue_facts(15, None)), 0);
    assert_eq!(*printed.lock().unwrap(), 1);
}

/// A discipline gives packets by their handles, and those that it drops in place of others.
#[test]
fn a_discipline_gives_handles() {
    let mut law = Instance::created("swaps", &[]);
    assert_eq!(law.law.kind, kind::DISCIPLINE);
    let mut stream = Streams::new(1, 2).named("x");
    for handle in [11, 12, 13] {
        let mut facts = queue_facts(0, Some(&mut stream));
        facts.handle = handle;
        assert_eq!(law.decide(decision::ENQUEUE, &mut facts), verdict::PASS);
    }
    assert_eq!(DROPPED.take(), [(11, verdict::DROP_OVERFLOW)], "two have room");
    let mut next = || {
        let mut facts = queue_facts(9, Some(&mut stream));
        (law.decide(decision::DEQUEUE, &mut facts), facts.handle)
    };
    assert_eq!(next(), (verdict::SEND_MARKED, 13));
    assert_eq!(next(), (verdict::SEND, 12));
    assert_eq!(next(), (verdict::NONE, -1));
    assert!(law.law.decide[decision::READY_AT].is_none(), "it is work-conserving");
}

/// A control reads the facts and writes window and pace; only one that samples has the calls.
#[test]
fn a_control_writes_window_and_pace() {
    let mut law = Instance::created("control", &[]);
    assert_eq!(law.law.flags, flag::SAMPLES);
    let mut facts = laws::control::facts(head(7_000_000_000_000, None));
    (facts.newly_delivered, facts.rtt, facts.prior_delivered) = (3000, 50_000_000_000, NEVER);
    assert_eq!(law.decide(decision::SAMPLED, &mut facts), 0);
    // The law of the test writes what it was told: 10 kB and 3000 B, 3000 B in 50 ms.
    assert_eq!((facts.cwnd, facts.pacing_rate), (13_000.0, 60_000.0));
    for (signal, factor) in [(1, 0.5), (2, 0.8), (3, 0.1), (4, 0.05)] {
        let mut facts = laws::control::facts(head(0, None));
        facts.signal = signal;
        assert_eq!(law.decide(decision::CONGESTED, &mut facts), 0);
        assert_eq!(facts.ssthresh, factor * 10_000.0);
    }
    facts.signal = 5;
    assert_eq!(law.decide(decision::CONGESTED, &mut facts), -1);
    assert!(told().1.contains("5, which is no signal"));
}

/// Traffic is made with draws from the stream of its flow, before its first burst, as an engine
/// does where it is linked in.
#[test]
fn traffic_is_made_from_the_stream_of_its_flow() {
    let mut law = Instance::created("traffic", &[]);
    assert_eq!(law.law.flags, flag::DRAWS | flag::TRANSFERS);
    let mut stream = Streams::new(1, 2).named("flows.a");
    let mut own = stream.clone();
    let mut facts =
        abi::TrafficFacts { head: head(NEVER, None), gap: 0, bytes: 0, largest: 0, mean_rate: 0 };
    assert_eq!(law.decide(decision::DESCRIBE, &mut facts), 0);
    assert_eq!((facts.largest, facts.mean_rate), (1500, NEVER));
    let size = 1 + own.below(1000) as i64;
    for _ in 0..3 {
        facts.head.random = std::ptr::from_mut(&mut stream).cast();
        assert_eq!(law.decide(decision::NEXT, &mut facts), 1);
        let gap = (own.exponential() * 1e9 + 0.5) as i64;
        assert_eq!((facts.bytes, facts.gap), (size, gap));
    }
    assert_eq!(law.decide(decision::NEXT, &mut facts), 0, "three bursts are all");
}

/// Impairments and conditioners say what becomes of a packet, and what they set in it.
#[test]
fn wires_and_markers_decide() {
    let mut stream = Streams::new(1, 2).named("x");
    let mut law = Instance::created("wire", &[]);
    assert_eq!(law.law.flags, flag::DRAWS | flag::REORDERS);
    let mut passage = |bytes| {
        let packet = abi::PacketFacts { bytes, ..abi::PacketFacts::default() };
        let head = head(0, Some(&mut stream));
        let mut facts = abi::ImpairmentFacts { head, packet, delay: 0 };
        (law.decide(decision::PASSAGE, &mut facts), facts.delay)
    };
    assert_eq!(passage(0), (verdict::PASSES, 0));
    assert_eq!(passage(1), (verdict::DELAYED, 1000));
    assert_eq!(passage(2), (verdict::LOST_ON_WIRE, 0));
    assert_eq!(passage(3), (verdict::CORRUPTED, 0));
    assert_eq!(passage(4), (verdict::DOUBLED, 0));
    assert_eq!(passage(5), (-1, 0));
    assert!(told().1.contains("outage"));
    let mut law = Instance::created("marker", &[]);
    assert_eq!(law.law.flags, flag::DRAWS | flag::USES_RTT);
    let packet = abi::PacketFacts { bytes: 100, ecn: 2, ..abi::PacketFacts::default() };
    let mut facts = abi::ConditionerFacts {
        head: head(0, Some(&mut stream)),
        packet,
        srtt: 40_000_000_000,
        slow_start: 0,
        time: NEVER,
    };
    assert_eq!(law.decide(decision::CONDITION, &mut facts), verdict::MARK);
    assert_eq!((facts.packet.precedence, facts.packet.dscp), (40, 46));
    assert_eq!(law.decide(decision::GREEN_AT, &mut facts), 0);
    assert_eq!(facts.time, 100);
}

/// A library with a law that the interface cannot carry gives no table, and says which law it is
/// and why; one for another version says both versions.
#[test]
fn what_cannot_be_carried_is_refused_by_name() {
    assert!(laws::refused::table(&HOST).is_none());
    let (parameter, message) = told();
    assert_eq!(parameter, None);
    for part in [
        "law \"inner\": parameter \"queue\" is a mechanism (queue)",
        "law \"spread\": parameter \"start\" is a \"time such as",
        "law \"peeks\": tells the next packet",
        "law \"asks\": has requests",
        "law \"broken\": with the parameters of its example, wrong: unknown key",
        "law \"panics\": with the parameters of its example, it panicked",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    static OTHER: abi::Host = host(2);
    assert!(forebay_laws_v1(Some(&OTHER)).is_none());
    assert!(
        told().1.contains("version 1 of the interface of laws, and this Forebay has version 2")
    );
    assert!(forebay_laws_v1(None).is_none());
}

/// A law that is another with other parameters is refused where it is built: what an engine does
/// for a law goes by its table.
#[test]
fn a_law_that_changes_its_kind_is_refused() {
    let mut law = Instance::new("changes", &[1]);
    assert_eq!(law.create(), -1);
    assert!(told().1.contains("a drop policy, and one a discipline"));
    let mut law = Instance::new("changes", &[2]);
    assert_eq!(law.create(), -1);
    assert!(told().1.contains("(TRANSPARENT)"));
}
