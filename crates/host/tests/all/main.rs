//! Hosts on networks: a small protocol of these tests, stacks at fault, scripts, and QUIC.

#[cfg(all(feature = "quinn", feature = "noq"))]
mod cubic;
mod faults;
mod hosts;
#[cfg(all(feature = "quinn", feature = "noq"))]
mod quic;
#[cfg(all(feature = "quinn", feature = "noq"))]
mod script;
#[cfg(feature = "quinn")]
mod table;
mod windowed;
