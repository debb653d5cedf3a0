//! Laws as tables in memory, and scenarios with them.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null;

use forebay_law_abi::abi::{self, Call, Law, Laws, MAX_DECISIONS, Parameter, Probe, VERSION};
use forebay_scenario::{Control, Registry, RunOptions, Scenario, Stopped};

/// Hash of no source.
pub const CONTENTS: &str = "0123456789abcdef";

/// A text that stays.
pub fn text(text: &str) -> *const c_char {
    CString::new(text).unwrap().into_raw()
}

/// A value that stays as long as the program, as tables of laws must.
pub fn kept<T>(value: T) -> *const T {
    Box::leak(Box::new(value))
}

/// A list that stays.
pub fn list<T>(values: Vec<T>) -> *const T {
    Vec::leak(values).as_ptr()
}

/// A parameter without a default.
pub fn parameter(name: &str, kind: u32) -> Parameter {
    Parameter {
        size: size_of::<Parameter>() as u32,
        r#type: kind,
        flags: 0,
        word_count: 0,
        name: text(name),
        meaning: text("A parameter."),
        source: null(),
        default_value: null(),
        words: null(),
    }
}

/// A probe.
pub fn probe(name: &str, kind: u32, offset: u64) -> Probe {
    let (unit, meaning) = (text("packets"), text("A probe."));
    Probe { size: size_of::<Probe>() as u32, r#type: kind, offset, name: text(name), unit, meaning }
}

/// A law of a kind, with the decisions at their places.
pub fn law(kind: u32, name: &str, decisions: &[(usize, Call)]) -> Law {
    let mut decide = [None; MAX_DECISIONS];
    for (place, call) in decisions {
        decide[*place] = Some(*call);
    }
    Law {
        size: size_of::<Law>() as u32,
        kind,
        flags: 0,
        state_bytes: 0,
        name: text(name),
        summary: text("A law of a test."),
        source: text("tests"),
        example: text(""),
        contents: text(CONTENTS),
        parameters: null(),
        probes: null(),
        parameter_count: 0,
        probe_count: 0,
        create: None,
        destroy: None,
        decide,
        probe: None,
    }
}

/// The law with these parameters, numbers that are 0 by default and stand first in its state.
pub fn with_numbers(names: &[&str], law: Law) -> Law {
    let number = |name: &&str| Parameter {
        default_value: text("0"),
        ..parameter(name, abi::parameter_type::NUMBER)
    };
    Law {
        parameters: list(names.iter().map(number).collect()),
        parameter_count: names.len() as u32,
        state_bytes: 8 * names.len() as u32,
        ..law
    }
}

/// The address of a table of these laws.
pub fn table(laws: Vec<*const Law>) -> usize {
    let count = laws.len() as u64;
    let size = size_of::<Laws>() as u32;
    kept(Laws { size, version: VERSION, count, laws: list(laws) }) as usize
}

/// The laws that a process has: Forebay's, and these.
pub fn registry(laws: Vec<Law>) -> Registry {
    let mut all = forebay_scenario::registry();
    let laws = forebay_law_abi::read(table(laws.into_iter().map(kept).collect()));
    laws.unwrap_or_else(|error| panic!("{error}")).add_to(&mut all, |_| false).unwrap();
    all
}

/// The number at a place of a state whose parameters are numbers.
///
/// # Safety
/// `state` is that of a law with so many of them.
pub unsafe fn number(state: *mut c_void, place: usize) -> f64 {
    // SAFETY: as the caller says.
    unsafe { *state.cast::<f64>().add(place) }
}

/// A link of 1 Mbit/s with the lines of `link`, and a flow with those of `flow`.
pub fn scenario(link: &str, flow: &str) -> String {
    format!(
        "duration = '1 s'\n[links.bn]\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '10 ms'\n\
         {link}\n[flows.load]\nfrom = 'a'\nto = 'b'\n{flow}\n"
    )
}

/// A flow that sends twice as much as the link carries.
pub const LOAD: &str = "udp = {}\ntraffic = { cbr = { rate = '2 Mbit/s', size = '1000 B', \
                        random_phase = false } }";

/// The fault that ends a run of the scenario, or the reason why it is refused.
pub fn fault(registry: &Registry, text: &str) -> String {
    let scenario = match Scenario::parse_with(registry, text, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    match scenario.run(&RunOptions::default(), &Control::default()) {
        Ok(_) => "no fault".to_owned(),
        Err(Stopped::Law(fault)) => fault.to_string(),
        Err(other) => panic!("{other}"),
    }
}

/// A law of queues that lets all packets pass.
pub unsafe extern "C" fn pass(_state: *mut c_void, _facts: *mut c_void) -> i32 {
    abi::verdict::PASS
}
