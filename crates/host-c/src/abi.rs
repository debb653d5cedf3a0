//! The structs and numbers of `forebay_host.h`, as Rust has them. What each means is said there.

#![expect(missing_docs, reason = "the header says what each is")]

use std::ffi::{c_char, c_void};
use std::net::{Ipv4Addr, SocketAddr};

/// Version of the interface.
pub const VERSION: u32 = 1;

/// Never.
pub const NO_TIME: u64 = u64::MAX;

/// Most bytes of a datagram: of a packet of 1500 B (RFC 894), headers of IPv4 and UDP take 28 B.
pub const MAX_DATAGRAM: usize = 1500 - 28;

/// The codepoint that the scenario gives the flow.
pub const DSCP_OF_FLOW: u8 = 0xff;

/// Answers of `advance`.
pub mod progress {
    pub const WAITING: i32 = 0;
    pub const BUSY: i32 = 1;
    pub const UNTIL: i32 = 2;
    pub const FINISHED: i32 = 3;
    pub const FAILED: i32 = 4;

    /// All of them, by name.
    pub const ALL: &[(&str, i32)] = &[
        ("WAITING", WAITING),
        ("BUSY", BUSY),
        ("UNTIL", UNTIL),
        ("FINISHED", FINISHED),
        ("FAILED", FAILED),
    ];
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Address {
    pub ip: [u8; 4],
    pub port: u16,
}

impl Address {
    /// The place of an address where there is none.
    pub const NONE: Self = Self { ip: [0; 4], port: 0 };
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let ip = match address {
            SocketAddr::V4(address) => address.ip().octets(),
            SocketAddr::V6(_) => unreachable!("addresses of hosts are of IPv4"),
        };
        Self { ip, port: address.port() }
    }
}

impl From<Address> for SocketAddr {
    fn from(Address { ip, port }: Address) -> Self {
        (Ipv4Addr::from(ip), port).into()
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Datagram {
    pub from: Address,
    pub to: Address,
    pub ecn: u8,
    pub dscp: u8,
    pub bytes: *const u8,
    pub length: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Transmit {
    pub to: Address,
    pub ecn: u8,
    pub dscp: u8,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Progress {
    pub until_ps: u64,
    pub reason: *const c_char,
}

pub type Visit = unsafe extern "C" fn(*mut c_void, *const c_char, f64);
type Show = unsafe extern "C" fn(*const c_void, Visit, *mut c_void);
type SendNext = unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut Transmit) -> usize;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Endpoint {
    pub size: usize,
    pub receive: Option<unsafe extern "C" fn(*mut c_void, u64, *const Datagram)>,
    pub transmit: Option<SendNext>,
    pub timeout: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    pub wake: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    pub moved: Option<unsafe extern "C" fn(*mut c_void, u64, Address)>,
    pub advance: Option<unsafe extern "C" fn(*mut c_void, u64, *mut Progress) -> i32>,
    pub delivered: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub probes: Option<Show>,
    pub figures: Option<Show>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HostReport {
    pub name: *const c_char,
    pub sent: u64,
    pub sent_bytes: u64,
    pub received: u64,
    pub received_bytes: u64,
    pub marked: u64,
    pub missed: u64,
    pub delivered: u64,
    pub goodput_bps: f64,
    pub started_s: f64,
    pub finished_s: f64,
    pub failed_s: f64,
    pub failure: *const c_char,
}
