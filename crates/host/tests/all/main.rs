//! Hosts on networks: a small protocol of these tests, stacks at fault, and QUIC.

mod faults;
mod hosts;
#[cfg(all(feature = "quinn", feature = "noq"))]
mod quic;
#[cfg(feature = "quinn")]
mod table;
mod windowed;
