//! Laws from outside the build of Forebay: the C interface of `include/forebay_law.h`.

pub mod abi;

/// The C header of the interface.
pub const HEADER: &str = include_str!("../include/forebay_law.h");
