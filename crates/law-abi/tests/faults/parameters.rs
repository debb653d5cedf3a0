//! Values of parameters in the state, and what a law says of them.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null;

use forebay_law_abi::abi::{
    self, CreateFacts, Host, Law, NEVER, Parameter, Word, decision, kind, parameter_flag,
    parameter_type,
};
use forebay_law_abi::host_address;

use crate::support::{LOAD, fault, kept, law, list, parameter, pass, registry, scenario, text};

thread_local! {
    /// The state of the law that was created last on this thread.
    static STATE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The link rate that it was told.
    static LINK_RATE: Cell<i64> = const { Cell::new(0) };
    /// The laws that there are on this thread.
    static LAWS: Cell<i64> = const { Cell::new(0) };
}

/// Words of 8 bytes of the state that are kept.
const WORDS: usize = 4;

unsafe extern "C" fn keep(state: *mut c_void, facts: *mut c_void) -> i32 {
    // SAFETY: states of these laws have so many words, and the facts are those of a creation.
    let words = unsafe { std::slice::from_raw_parts(state.cast::<u64>(), WORDS) };
    LINK_RATE.set(unsafe { &*facts.cast::<CreateFacts>() }.link_rate);
    STATE.set(words.to_vec());
    0
}

/// The first words of the state of a law with this parameter, created by `section`.
fn state(parameter: Parameter, section: &str) -> Vec<u64> {
    let queue = Law {
        state_bytes: 8 * WORDS as u32,
        parameters: kept(parameter),
        parameter_count: 1,
        create: Some(keep),
        ..law(kind::QUEUE, "keeps", &[(decision::ENQUEUE, pass)])
    };
    let found = fault(&registry(vec![queue]), &scenario(&format!("queue = {section}"), LOAD));
    assert_eq!(found, "no fault", "{section}");
    STATE.take()
}

fn words() -> Parameter {
    let word = |name: &str| Word { name: text(name), meaning: text("A word.") };
    let words = list(vec![word("drop"), word("mark")]);
    Parameter { word_count: 2, words, ..parameter("value", parameter_type::WORD) }
}

/// A parameter of each type stands in the state as the header says, given and absent: laws read it
/// by its place.
#[test]
fn parameters_stand_in_the_state() {
    use parameter_type::{BOOL, FREQUENCY, LENGTH, NUMBER, RATE, SIZE, SPAN, WHOLE};
    let never = NEVER as u64;
    let nan = f64::NAN.to_bits();
    for (kind, given, value, absent) in [
        (NUMBER, "0.25", [0.25_f64.to_bits(), 0], [nan, 0]),
        (WHOLE, "7", [7, 0], [never, 0]),
        (BOOL, "true", [1, 0], [never, 0]),
        (SPAN, "'5 ms'", [5_000_000_000, 0], [never, 0]),
        (RATE, "'10 Mbit/s'", [10_000_000, 0], [never, 0]),
        (SIZE, "'1500 B'", [1500, 0], [never, 0]),
        (LENGTH, "'20 packets'", [20, 1], [never, 0]),
        (LENGTH, "'30 kB'", [30_000, 0], [never, 0]),
        (FREQUENCY, "'120 /min'", [2.0_f64.to_bits(), 0], [nan, 0]),
        (parameter_type::WORD, "'mark'", [1, 0], [never, 0]),
    ] {
        let plain = || {
            let other = parameter("value", kind);
            if kind == parameter_type::WORD { words() } else { other }
        };
        let section = format!("{{ keeps = {{ value = {given} }} }}");
        assert_eq!(state(plain(), &section)[..2], value, "type {kind}: {given}");
        let optional = Parameter { flags: parameter_flag::OPTIONAL, ..plain() };
        assert_eq!(state(optional, "'keeps'")[..2], absent, "type {kind}: absent");
    }
    assert_eq!(LINK_RATE.get(), 1_000_000);
}

/// A default is read as if the scenario had it: its unit and its words are those of the type.
#[test]
fn defaults_are_read_like_values() {
    let default =
        |parameter: Parameter, value: &str| Parameter { default_value: text(value), ..parameter };
    let span = parameter("value", parameter_type::SPAN);
    assert_eq!(state(default(span, "\"5 ms\""), "'keeps'")[0], 5_000_000_000);
    assert_eq!(state(default(words(), "\"mark\""), "'keeps'")[0], 1);
    let numbers =
        Parameter { flags: parameter_flag::LIST, ..parameter("value", parameter_type::NUMBER) };
    assert_eq!(state(default(numbers, "[0.5, 2]"), "'keeps'")[1], 2);
}

/// A list is a pointer and a number, a text a pointer: null where it is absent, and a list of
/// nothing is no absent one.
#[test]
fn lists_and_texts_are_pointers() {
    thread_local! {
        static FOUND: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    }
    unsafe extern "C" fn read(state: *mut c_void, _facts: *mut c_void) -> i32 {
        // SAFETY: the state begins with a list, a list of two words for each value, and a text.
        let words = unsafe { std::slice::from_raw_parts(state.cast::<u64>(), 5) };
        let mut all = Vec::new();
        for (place, width) in [(0, 1), (2, 2)] {
            all.push(words[place + 1]);
            if words[place] != 0 {
                let count = width * words[place + 1] as usize;
                let start = words[place] as *const u64;
                // SAFETY: the header says that so many words stand there.
                all.extend_from_slice(unsafe { std::slice::from_raw_parts(start, count) });
            } else {
                all.push(u64::MAX);
            }
        }
        FOUND.set(all);
        let text = words[4] as *const c_char;
        // SAFETY: null, or a text.
        TEXT.set(if text.is_null() {
            "null".to_owned()
        } else {
            unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
        });
        0
    }
    let flags = parameter_flag::LIST | parameter_flag::OPTIONAL;
    let sizes = Parameter { flags, ..parameter("sizes", parameter_type::SIZE) };
    let limits = Parameter { flags, ..parameter("limits", parameter_type::LENGTH) };
    let name = parameter_flag::OPTIONAL;
    let name = Parameter { flags: name, ..parameter("name", parameter_type::TEXT) };
    let queue = Law {
        state_bytes: 40,
        parameters: list(vec![sizes, limits, name]),
        parameter_count: 3,
        create: Some(read),
        ..law(kind::QUEUE, "reads", &[(decision::ENQUEUE, pass)])
    };
    let all = registry(vec![queue]);
    for (given, found, name) in [
        (
            "sizes = ['1 B', '2 kB'], limits = ['9 packets', '7 B'], name = 'é'",
            vec![2, 1, 2000, 2, 9, 1, 7, 0],
            "é",
        ),
        ("sizes = [], name = ''", vec![0, 0, u64::MAX], ""),
        ("", vec![0, u64::MAX, 0, u64::MAX], "null"),
    ] {
        let queue = format!("queue = {{ reads = {{ {given} }} }}");
        assert_eq!(fault(&all, &scenario(&queue, LOAD)), "no fault", "{given}");
        assert_eq!((FOUND.take(), TEXT.take()), (found, name.to_owned()), "{given}");
    }
}

/// A value that a law cannot be handed is refused by its key: never stands for absent.
#[test]
fn values_beyond_the_interface_are_refused() {
    for (kind, given, told) in [
        (
            parameter_type::SPAN,
            "'18446744073709551615 ps'",
            "allowed are up to 9223372036854775806 ps",
        ),
        (parameter_type::RATE, "'9223372036854775807 bit/s'", "up to 9223372036854775806 bit/s"),
        (parameter_type::SIZE, "'9223372036854775807 B'", "up to 9223372036854775806 B"),
        (parameter_type::WHOLE, "9223372036854775807", "up to 9223372036854775806"),
        (parameter_type::WHOLE, "-1", "-1"),
        (parameter_type::WORD, "'park'", "did you mean \"mark\"?"),
        (parameter_type::SPAN, "'5 ks'", "\"ks\""),
    ] {
        let plain = if kind == parameter_type::WORD { words() } else { parameter("value", kind) };
        let queue = Law {
            state_bytes: 16,
            parameters: kept(plain),
            parameter_count: 1,
            ..law(kind::QUEUE, "keeps", &[(decision::ENQUEUE, pass)])
        };
        let text = scenario(&format!("queue = {{ keeps = {{ value = {given} }} }}"), LOAD);
        let found = fault(&registry(vec![queue]), &text);
        assert!(found.contains("links.bn.queue.keeps.value: "), "{found}");
        assert!(found.contains(told), "{told}: {found}");
    }
}

/// A law that refuses a parameter is quoted at its key, one that refuses without a key or a reason
/// at its place; what was created is ended, once, and what was refused never.
#[test]
fn a_law_refuses_by_key_and_reason() {
    unsafe extern "C" fn create(state: *mut c_void, facts: *mut c_void) -> i32 {
        // SAFETY: the state begins with a whole number; the host is there.
        let (value, host) = unsafe { (*state.cast::<i64>(), &*(host_address() as *const Host)) };
        // SAFETY: texts end with a zero.
        let fail = |key: *const c_char, why: *const c_char| unsafe { (host.fail)(facts, key, why) };
        match value {
            1 => fail(c"value".as_ptr(), c"is one; allowed are others".as_ptr()),
            2 => fail(c"other".as_ptr(), c"is no key".as_ptr()),
            3 => fail(null(), c"has no key".as_ptr()),
            4 => fail(null(), null()),
            5 => {}
            _ => {
                LAWS.set(LAWS.get() + 1);
                return 0;
            }
        }
        -1
    }
    unsafe extern "C" fn destroy(_state: *mut c_void) {
        LAWS.set(LAWS.get() - 1);
    }
    let value = parameter("value", parameter_type::WHOLE);
    let queue = Law {
        state_bytes: 8,
        parameters: kept(value),
        parameter_count: 1,
        create: Some(create),
        destroy: Some(destroy),
        ..law(kind::QUEUE, "refuses", &[(decision::ENQUEUE, pass)])
    };
    let all = registry(vec![queue]);
    for (value, told) in [
        (1, "links.bn.queue.refuses.value: is one; allowed are others"),
        (2, "links.bn.queue.refuses: the law \"refuses\" refuses: is no key"),
        (3, "links.bn.queue.refuses: the law \"refuses\" refuses: has no key"),
        (4, "the law \"refuses\" refuses: it failed, and says nothing"),
        (5, "the law \"refuses\" refuses: its create returned -1"),
        (6, "no fault"),
    ] {
        let queue = format!("queue = {{ refuses = {{ value = {value} }} }}");
        let found = fault(&all, &scenario(&queue, LOAD));
        assert!(found.contains(told), "{told}: {found}");
        assert_eq!(LAWS.get(), 0, "{value}");
    }
}

/// The layout that Python reads is that of the structs: a law in Python reads facts by it.
#[test]
fn the_layout_is_that_of_the_structs() {
    let layout = abi::layout();
    let size = format!("\"forebay_queue_facts\":{}", size_of::<abi::QueueFacts>());
    assert!(layout.contains(&size), "{layout}");
    let at = std::mem::offset_of!(abi::QueueFacts, sojourn);
    assert!(layout.contains(&format!("[\"sojourn\",\"Int64\",{at}]")), "{layout}");
}
