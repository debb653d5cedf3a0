//! Invariants of any run, written once and checked anywhere.
//!
//! [`Invariant::ALL`] is the table. A [`Checker`] is told what a network consists of ([`Places`]),
//! and then of every fact that observers are notified of, of what each element receives, of the
//! inner state that elements state, and of counters and probes now and then. It models what must
//! follow and compares. It knows no mechanism, and it cannot change a run: a [`Watch`] observes.
//! Results are checked as documents ([`Checker::check_result`]).
#![doc = include_str!("../README.md")]

mod buckets;
mod calls;
mod checker;
mod counters;
mod facts_buckets;
mod facts_links;
mod facts_tcp;
mod flow;
mod ledger;
mod link;
mod offer;
mod places;
mod probes;
mod report;
mod results;
mod table;
mod tcp;
mod towards;
mod watch;

pub use calls::CallTotals;
pub use checker::Checker;
pub use offer::Offer;
pub use places::{
    BucketPlace, BufferLimit, Changes, ElementPlace, FlowKind, FlowPlace, LinkPlace, Places,
    RingPlace, RoutePlace,
};
pub use report::{Breach, Place, Report};
pub use table::Invariant;
pub use watch::Watch;
