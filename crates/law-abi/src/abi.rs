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

/// Define numbers by name, and the list of them.
macro_rules! numbers {
    ($(#[$meta:meta])* pub mod $module:ident { $($name:ident: $type:ty = $value:literal;)* }) => {
        $(#[$meta])*
        pub mod $module {
            $(pub const $name: $type = $value;)*

            /// All of them, by name.
            pub const ALL: &[(&str, i64)] = &[$((stringify!($name), $value)),*];
        }
    };
}

numbers! {
    /// Kinds of laws.
    pub mod kind {
        QUEUE: u32 = 1;
        DISCIPLINE: u32 = 2;
        SCHEDULER: u32 = 3;
        CONDITIONER: u32 = 4;
        CONTROL: u32 = 5;
        TRAFFIC: u32 = 6;
        IMPAIRMENT: u32 = 7;
    }
}

numbers! {
    /// Flags of laws.
    pub mod flag {
        DRAWS: u32 = 1;
        OWN_LIMIT: u32 = 2;
        TRANSPARENT: u32 = 4;
        SHAPES: u32 = 8;
        KEEPS_COLOURS: u32 = 16;
        USES_RTT: u32 = 32;
        REORDERS: u32 = 64;
        SAMPLES: u32 = 128;
        EXACT_MARKS: u32 = 256;
        L4S: u32 = 512;
        ENDLESS: u32 = 1024;
        TRANSFERS: u32 = 2048;
    }
}

numbers! {
    /// Types of parameters.
    pub mod parameter_type {
        NUMBER: u32 = 1;
        WHOLE: u32 = 2;
        BOOL: u32 = 3;
        WORD: u32 = 4;
        SPAN: u32 = 5;
        RATE: u32 = 6;
        SIZE: u32 = 7;
        LENGTH: u32 = 8;
        FREQUENCY: u32 = 9;
        TEXT: u32 = 10;
    }
}

numbers! {
    /// Flags of parameters.
    pub mod parameter_flag {
        LIST: u32 = 1;
        OPTIONAL: u32 = 2;
    }
}

numbers! {
    /// Types of quantities in the state.
    pub mod probe_type {
        INT64: u32 = 1;
        DOUBLE: u32 = 2;
        PICOSECONDS: u32 = 3;
    }
}

numbers! {
    /// Places of decisions, by kind.
    pub mod decision {
        ENQUEUE: usize = 0;
        DEQUEUE: usize = 1;
        DEPARTED: usize = 2;
        READY_AT: usize = 3;
        SELECT: usize = 0;
        ACTIVATE: usize = 1;
        DEACTIVATE: usize = 2;
        SERVED: usize = 3;
        SCHEDULER_READY_AT: usize = 4;
        CONDITION: usize = 0;
        GREEN_AT: usize = 1;
        OPENED: usize = 0;
        ACKNOWLEDGED: usize = 1;
        CONGESTED: usize = 2;
        SAMPLED: usize = 3;
        LOST: usize = 4;
        RESTARTED: usize = 5;
        NEXT: usize = 0;
        DESCRIBE: usize = 1;
        PASSAGE: usize = 0;
    }
}

numbers! {
    /// Numbers of what is decided.
    pub mod verdict {
        PASS: i32 = 0;
        MARK: i32 = 1;
        DROP_EARLY: i32 = 2;
        DROP_FORCED: i32 = 3;
        DROP_OVERFLOW: i32 = 4;
        POLICE: i32 = 5;
        NONE: i32 = 0;
        SEND: i32 = 1;
        SEND_MARKED: i32 = 2;
        NO_CLASS: i32 = 64;
        PASSES: i32 = 0;
        DELAYED: i32 = 1;
        LOST_ON_WIRE: i32 = 2;
        CORRUPTED: i32 = 3;
        DOUBLED: i32 = 4;
    }
}

numbers! {
    /// Signals of congestion.
    pub mod signal {
        LOSS: i64 = 1;
        ECN: i64 = 2;
        TIMEOUT: i64 = 3;
        TIMEOUT_AGAIN: i64 = 4;
    }
}

numbers! {
    /// Kinds of packets.
    pub mod packet_kind {
        DATA: i64 = 0;
        PROBE: i64 = 1;
        ACK: i64 = 2;
        NOTIFICATION: i64 = 3;
        REPORT: i64 = 4;
        RESOURCE_CELL: i64 = 5;
    }
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
pub type Call = unsafe extern "C" fn(state: *mut c_void, facts: *mut c_void) -> i32;

/// The end of a state.
pub type Destroy = unsafe extern "C" fn(state: *mut c_void);

/// Values of probes.
pub type Probed = unsafe extern "C" fn(state: *const c_void, values: *mut f64);

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
    pub version: u32,
    pub count: u64,
    pub laws: *const *const Law,
}

/// Type of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactType {
    Uint32,
    Int64,
    Double,
    Pointer,
    /// 64 of `Int64`.
    Classes,
}

/// A fact: its name, its type, and its place in bytes from the start of the struct.
pub type Fact = (&'static str, FactType, usize);

macro_rules! fact_type {
    (u32) => {
        FactType::Uint32
    };
    (i64) => {
        FactType::Int64
    };
    (f64) => {
        FactType::Double
    };
    ([i64; 64]) => {
        FactType::Classes
    };
    (*mut c_void) => {
        FactType::Pointer
    };
}

/// Define a struct of facts, and the list of them by which Python reads it.
macro_rules! facts {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident $c_name:literal {
            $(..$group:ident: $group_type:ty,)*
            $($field:ident: [$($type:tt)*],)*
        }
    )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct $name {
            $(pub $group: $group_type,)*
            $(pub $field: $($type)*,)*
        }

        impl $name {
            /// Name of the struct in C.
            pub const C_NAME: &'static str = $c_name;

            /// Every fact in it, in their order.
            #[must_use]
            pub fn layout() -> Vec<Fact> {
                let mut all = Vec::new();
                $(
                    let start = std::mem::offset_of!(Self, $group);
                    let inner = <$group_type>::layout();
                    all.extend(inner.into_iter().map(|(name, kind, at)| (name, kind, start + at)));
                )*
                $(all.push((
                    stringify!($field),
                    fact_type!($($type)*),
                    std::mem::offset_of!(Self, $field),
                ));)*
                all
            }
        }
    )* };
}

facts! {
    /// First fields of all facts.
    pub struct Head "" {
        size: [u32],
        decision: [u32],
        now: [i64],
        random: [*mut c_void],
        engine: [*mut c_void],
    }

    /// The packet that is decided on.
    #[derive(Default)]
    pub struct PacketFacts "" {
        bytes: [i64],
        ecn: [i64],
        dscp: [i64],
        precedence: [i64],
        flow: [i64],
        packet_kind: [i64],
    }

    /// Facts of the creation of a law.
    pub struct CreateFacts "forebay_create_facts" {
        ..head: Head,
        link_rate: [i64],
        classes: [i64],
    }

    /// Facts of queues.
    pub struct QueueFacts "forebay_queue_facts" {
        ..head: Head,
        ..packet: PacketFacts,
        waiting_packets: [i64],
        waiting_bytes: [i64],
        idle_since: [i64],
        empty_since: [i64],
        sojourn: [i64],
        round: [i64],
        empty: [i64],
        handle: [i64],
        time: [i64],
    }

    /// Facts of schedulers.
    pub struct SchedulerFacts "forebay_scheduler_facts" {
        ..head: Head,
        classes: [i64],
        active: [i64],
        heads: [[i64; 64]],
        class_number: [i64],
        bytes: [i64],
        more: [i64],
        time: [i64],
    }

    /// Facts of conditioners.
    pub struct ConditionerFacts "forebay_conditioner_facts" {
        ..head: Head,
        ..packet: PacketFacts,
        srtt: [i64],
        slow_start: [i64],
        time: [i64],
    }

    /// Facts of congestion controls.
    pub struct ControlFacts "forebay_control_facts" {
        ..head: Head,
        cwnd: [f64],
        ssthresh: [f64],
        smss: [f64],
        pacing_rate: [f64],
        rtt: [i64],
        srtt: [i64],
        ece: [i64],
        acked: [f64],
        slow_start_limit: [f64],
        flight: [f64],
        signal: [i64],
        newly_acked: [i64],
        newly_delivered: [i64],
        newly_lost: [i64],
        delivered: [i64],
        prior_delivered: [i64],
        delivery_rate: [f64],
        app_limited: [i64],
        one_way: [i64],
        prior_in_flight: [i64],
        in_flight: [i64],
        sent_in_flight: [i64],
        lost_since: [i64],
        recovering: [i64],
        cwnd_limited: [i64],
        paced: [i64],
        selective: [i64],
        newly_marked: [i64],
        una: [i64],
        max: [i64],
        segment: [i64],
        bytes: [i64],
    }

    /// Facts of traffic.
    pub struct TrafficFacts "forebay_traffic_facts" {
        ..head: Head,
        gap: [i64],
        bytes: [i64],
        largest: [i64],
        mean_rate: [i64],
    }

    /// Facts of impairments.
    pub struct ImpairmentFacts "forebay_impairment_facts" {
        ..head: Head,
        ..packet: PacketFacts,
        delay: [i64],
    }
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

/// The layout of the interface, as JSON: under `facts` the fields of each struct of facts with
/// their types and places, under `sizes` the sizes of the structs in bytes, and under `numbers` the
/// numbers of each group by name.
#[must_use]
pub fn layout() -> String {
    use serde_json::{Map, Value, json};
    let (mut facts, mut sizes) = (Map::new(), Map::new());
    macro_rules! add {
        ($($name:ident),*) => { $(
            let fields: Vec<Value> = $name::layout()
                .into_iter()
                .map(|(name, kind, at)| json!([name, format!("{kind:?}"), at]))
                .collect();
            facts.insert($name::C_NAME.to_owned(), Value::Array(fields));
            sizes.insert($name::C_NAME.to_owned(), json!(size_of::<$name>()));
        )* };
    }
    add!(
        CreateFacts,
        QueueFacts,
        SchedulerFacts,
        ConditionerFacts,
        ControlFacts,
        TrafficFacts,
        ImpairmentFacts
    );
    let mut numbers = Map::new();
    macro_rules! number {
        ($($group:ident),*) => { $(
            let each = $group::ALL.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
            let group: Map<String, Value> = each.collect();
            numbers.insert(stringify!($group).to_owned(), Value::Object(group));
        )* };
    }
    number!(
        kind,
        flag,
        parameter_type,
        parameter_flag,
        probe_type,
        decision,
        verdict,
        signal,
        packet_kind
    );
    json!({ "facts": facts, "sizes": sizes, "numbers": numbers }).to_string()
}
