//! Kinds of laws, and the decisions of each.

use crate::abi::{self, kind};

/// Calls that are no decisions, in place of one.
pub(crate) const CREATE: usize = usize::MAX;
pub(crate) const DESTROY: usize = usize::MAX - 1;
pub(crate) const PROBE: usize = usize::MAX - 2;

/// The name of the category of laws of a kind; `None` if there is no such kind.
pub(crate) fn category(kind: u32) -> Option<&'static str> {
    Some(match kind {
        kind::QUEUE | kind::DISCIPLINE | kind::SCHEDULER => "queue",
        kind::CONDITIONER => "conditioner",
        kind::CONTROL => "control",
        kind::TRAFFIC => "traffic",
        kind::IMPAIRMENT => "impairment",
        _ => return None,
    })
}

/// The decisions of a kind, by their places.
pub(crate) fn decisions(kind: u32) -> &'static [&'static str] {
    match kind {
        kind::QUEUE | kind::DISCIPLINE => &["enqueue", "dequeue", "departed", "ready_at"],
        kind::SCHEDULER => &["select", "activate", "deactivate", "served", "ready_at"],
        kind::CONDITIONER => &["condition", "green_at"],
        kind::CONTROL => &["opened", "acknowledged", "congested", "sampled", "lost", "restarted"],
        kind::TRAFFIC => &["next", "describe"],
        kind::IMPAIRMENT => &["passage"],
        _ => &[],
    }
}

/// The decisions without which a law of a kind decides nothing: one of them must be there.
pub(crate) fn essential(kind: u32) -> &'static [usize] {
    match kind {
        kind::QUEUE => &[abi::decision::ENQUEUE, abi::decision::DEQUEUE],
        kind::DISCIPLINE => &[abi::decision::DEQUEUE],
        kind::CONTROL => &[abi::decision::ACKNOWLEDGED, abi::decision::SAMPLED],
        _ => &[0],
    }
}

/// The name of the decision at a place.
pub(crate) fn decision_name(kind: u32, decision: usize) -> &'static str {
    match decision {
        CREATE => "create",
        DESTROY => "destroy",
        PROBE => "probe",
        _ => decisions(kind).get(decision).copied().unwrap_or("a decision"),
    }
}

/// Numbers that may be returned from the decision at a place, in words.
pub(crate) fn allowed(kind: u32, decision: usize) -> &'static str {
    match (kind, decision) {
        (kind::QUEUE, abi::decision::ENQUEUE | abi::decision::DEQUEUE)
        | (kind::DISCIPLINE, abi::decision::ENQUEUE)
        | (kind::IMPAIRMENT, _) => "0 to 4",
        (kind::DISCIPLINE, abi::decision::DEQUEUE) => "0 to 2",
        (kind::SCHEDULER, abi::decision::SELECT) => "the classes that have a packet to send",
        (kind::CONDITIONER, abi::decision::CONDITION) => "0, 1 and 5",
        (kind::TRAFFIC, abi::decision::NEXT) => "0 and 1",
        _ => "0 or more",
    }
}
