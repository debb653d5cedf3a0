//! The structs and numbers of `forebay_law.h`, as Rust has them. What each means is said there.

#![expect(missing_docs, reason = "the header says what each is")]

use std::ffi::{c_char, c_void};

/// Version of the interface.
pub const VERSION: u32 = 1;

/// The symbol that a library exports.
pub const SYMBOL: &str = "forebay_laws_v1";

/// Never, not known, absent.
pub const NEVER: i64 = i64::MAX;

/// Number of places of decisions.
pub const MAX_DECISIONS: usize = 8;

/// Kinds of laws.
pub mod kind {
    pub const QUEUE: u32 = 1;
    pub const DISCIPLINE: u32 = 2;
    pub const SCHEDULER: u32 = 3;
    pub const CONDITIONER: u32 = 4;
    pub const CONTROL: u32 = 5;
    pub const TRAFFIC: u32 = 6;
    pub const IMPAIRMENT: u32 = 7;
}

/// Flags of laws.
pub mod flag {
    pub const DRAWS: u32 = 1;
    pub const OWN_LIMIT: u32 = 2;
    pub const TRANSPARENT: u32 = 4;
    pub const SHAPES: u32 = 8;
    pub const KEEPS_COLOURS: u32 = 16;
    pub const USES_RTT: u32 = 32;
    pub const REORDERS: u32 = 64;
    pub const SAMPLES: u32 = 128;
    pub const EXACT_MARKS: u32 = 256;
    pub const L4S: u32 = 512;
    pub const ENDLESS: u32 = 1024;
    pub const TRANSFERS: u32 = 2048;
}

/// Types of parameters.
pub mod parameter_type {
    pub const NUMBER: u32 = 1;
    pub const WHOLE: u32 = 2;
    pub const BOOL: u32 = 3;
    pub const WORD: u32 = 4;
    pub const SPAN: u32 = 5;
    pub const RATE: u32 = 6;
    pub const SIZE: u32 = 7;
    pub const LENGTH: u32 = 8;
    pub const FREQUENCY: u32 = 9;
    pub const TEXT: u32 = 10;
}

/// Flags of parameters.
pub mod parameter_flag {
    pub const LIST: u32 = 1;
    pub const OPTIONAL: u32 = 2;
}

/// Types of quantities in the state.
pub mod probe_type {
    pub const INT64: u32 = 1;
    pub const DOUBLE: u32 = 2;
    pub const PICOSECONDS: u32 = 3;
}

/// Places of decisions, by kind.
pub mod decision {
    pub const ENQUEUE: usize = 0;
    pub const DEQUEUE: usize = 1;
    pub const DEPARTED: usize = 2;
    pub const READY_AT: usize = 3;
    pub const SELECT: usize = 0;
    pub const ACTIVATE: usize = 1;
    pub const DEACTIVATE: usize = 2;
    pub const SERVED: usize = 3;
    pub const SCHEDULER_READY_AT: usize = 4;
    pub const CONDITION: usize = 0;
    pub const GREEN_AT: usize = 1;
    pub const OPENED: usize = 0;
    pub const ACKNOWLEDGED: usize = 1;
    pub const CONGESTED: usize = 2;
    pub const SAMPLED: usize = 3;
    pub const LOST: usize = 4;
    pub const RESTARTED: usize = 5;
    pub const NEXT: usize = 0;
    pub const DESCRIBE: usize = 1;
    pub const PASSAGE: usize = 0;
}

/// What is decided.
pub mod verdict {
    pub const PASS: i32 = 0;
    pub const MARK: i32 = 1;
    pub const DROP_EARLY: i32 = 2;
    pub const DROP_FORCED: i32 = 3;
    pub const DROP_OVERFLOW: i32 = 4;
    pub const POLICE: i32 = 5;
    pub const NONE: i32 = 0;
    pub const SEND: i32 = 1;
    pub const SEND_MARKED: i32 = 2;
    pub const NO_CLASS: i32 = 64;
    pub const PASSES: i32 = 0;
    pub const DELAYED: i32 = 1;
    pub const LOST_ON_WIRE: i32 = 2;
    pub const CORRUPTED: i32 = 3;
    pub const DOUBLED: i32 = 4;
}

/// Signals of congestion.
pub mod signal {
    pub const LOSS: i64 = 1;
    pub const ECN: i64 = 2;
    pub const TIMEOUT: i64 = 3;
    pub const TIMEOUT_AGAIN: i64 = 4;
}

/// Kinds of packets.
pub mod packet_kind {
    pub const DATA: i64 = 0;
    pub const PROBE: i64 = 1;
    pub const ACK: i64 = 2;
    pub const NOTIFICATION: i64 = 3;
    pub const REPORT: i64 = 4;
    pub const RESOURCE_CELL: i64 = 5;
}

#[repr(C)]
pub struct Word {
    pub name: *const c_char,
    pub meaning: *const c_char,
}

#[repr(C)]
pub struct Parameter {
    pub size: u32,
    pub r#type: u32,
    pub flags: u32,
    pub word_count: u32,
    pub name: *const c_char,
    pub meaning: *const c_char,
    pub source: *const c_char,
    pub default_value: *const c_char,
    pub words: *const Word,
}

#[repr(C)]
pub struct Probe {
    pub size: u32,
    pub r#type: u32,
    pub offset: u64,
    pub name: *const c_char,
    pub unit: *const c_char,
    pub meaning: *const c_char,
}

/// A decision.
pub type Call = unsafe extern "C-unwind" fn(state: *mut c_void, facts: *mut c_void) -> i32;

/// The end of a state.
pub type Destroy = unsafe extern "C-unwind" fn(state: *mut c_void);

/// Values of probes.
pub type Probed = unsafe extern "C-unwind" fn(state: *const c_void, values: *mut f64);

#[repr(C)]
pub struct Law {
    pub size: u32,
    pub kind: u32,
    pub flags: u32,
    pub state_bytes: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub source: *const c_char,
    pub example: *const c_char,
    pub contents: *const c_char,
    pub parameters: *const Parameter,
    pub probes: *const Probe,
    pub parameter_count: u32,
    pub probe_count: u32,
    pub create: Option<Call>,
    pub destroy: Option<Destroy>,
    pub decide: [Option<Call>; MAX_DECISIONS],
    pub probe: Option<Probed>,
}

#[repr(C)]
pub struct Laws {
    pub size: u32,
    pub count: u32,
    pub laws: *const *const Law,
}

/// First fields of all facts.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Head {
    pub size: u32,
    pub decision: u32,
    pub now: i64,
    pub random: *mut c_void,
    pub engine: *mut c_void,
}

/// The packet that is decided on.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct PacketFacts {
    pub bytes: i64,
    pub ecn: i64,
    pub dscp: i64,
    pub precedence: i64,
    pub flow: i64,
    pub packet_kind: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CreateFacts {
    pub head: Head,
    pub link_rate: i64,
    pub smss: i64,
    pub classes: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct QueueFacts {
    pub head: Head,
    pub packet: PacketFacts,
    pub waiting_packets: i64,
    pub waiting_bytes: i64,
    pub idle_since: i64,
    pub empty_since: i64,
    pub sojourn: i64,
    pub round: i64,
    pub empty: i64,
    pub handle: i64,
    pub time: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct SchedulerFacts {
    pub head: Head,
    pub classes: i64,
    pub active: i64,
    pub heads: [i64; 64],
    pub class_number: i64,
    pub bytes: i64,
    pub more: i64,
    pub time: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ConditionerFacts {
    pub head: Head,
    pub packet: PacketFacts,
    pub srtt: i64,
    pub slow_start: i64,
    pub time: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ControlFacts {
    pub head: Head,
    pub cwnd: f64,
    pub ssthresh: f64,
    pub smss: f64,
    pub pacing_rate: f64,
    pub rtt: i64,
    pub srtt: i64,
    pub ece: i64,
    pub acked: f64,
    pub slow_start_limit: f64,
    pub flight: f64,
    pub signal: i64,
    pub newly_acked: i64,
    pub newly_delivered: i64,
    pub newly_lost: i64,
    pub delivered: i64,
    pub prior_delivered: i64,
    pub delivery_rate: f64,
    pub app_limited: i64,
    pub one_way: i64,
    pub prior_in_flight: i64,
    pub in_flight: i64,
    pub sent_in_flight: i64,
    pub lost_since: i64,
    pub recovering: i64,
    pub cwnd_limited: i64,
    pub paced: i64,
    pub selective: i64,
    pub newly_marked: i64,
    pub una: i64,
    pub max: i64,
    pub segment: i64,
    pub bytes: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct TrafficFacts {
    pub head: Head,
    pub gap: i64,
    pub bytes: i64,
    pub largest: i64,
    pub mean_rate: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImpairmentFacts {
    pub head: Head,
    pub packet: PacketFacts,
    pub delay: i64,
}

#[repr(C)]
pub struct Host {
    pub size: u32,
    pub version: u32,
    pub forebay_version: *const c_char,
    pub fail: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char),
    pub drop: unsafe extern "C" fn(*mut c_void, i64, i32),
    pub ln: extern "C" fn(f64) -> f64,
    pub ln_1p: extern "C" fn(f64) -> f64,
    pub exp: extern "C" fn(f64) -> f64,
    pub exp_m1: extern "C" fn(f64) -> f64,
    pub pow: extern "C" fn(f64, f64) -> f64,
    pub cbrt: extern "C" fn(f64) -> f64,
    pub uniform: unsafe extern "C" fn(*mut c_void) -> f64,
    pub exponential: unsafe extern "C" fn(*mut c_void) -> f64,
    pub normal: unsafe extern "C" fn(*mut c_void) -> f64,
    pub below: unsafe extern "C" fn(*mut c_void, i64) -> i64,
}

/// The function that a library exports.
pub type Entry = unsafe extern "C" fn(host: *const Host) -> *const Laws;
