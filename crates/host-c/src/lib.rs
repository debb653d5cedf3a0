//! Protocol stacks in C on networks of Forebay: the functions of `include/forebay_host.h`.
//!
//! A library for C programs, `-lforebay_host_c`, over `forebay_host`. What is unsafe stands here:
//! pointers of callers are read in `call.rs`, functions of stacks are called in `stack.rs`. What
//! fails is kept as a message, and no panic leaves a function.

#![expect(unsafe_code, reason = "a C interface: pointers are read, functions called by pointer")]

pub mod abi;
mod call;
mod network;
mod report;
mod stack;

/// The C header of the interface.
pub const HEADER: &str = include_str!("../include/forebay_host.h");
