//! Contents of a partition: elements in slots, and the host groups that some of them form (logical
//! processes: Fujimoto, *Parallel and Distributed Simulation Systems*, 2000, chapter 2).

use forebay_kernel::{Digest, EventList};
use forebay_network::{Element, ElementId};
use forebay_units::{Span, Time};

/// The group number of an element that is in no host group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// An element, stored under its number.
pub(crate) struct Slot {
    pub(crate) element: Box<dyn Element>,
    /// Digest of what was handed to it; what it takes from input channels itself is in theirs.
    pub(crate) digest: Digest,
    /// Its host group, if its execution is deferred; else [`NO_GROUP`].
    pub(crate) group: u32,
}

impl Slot {
    pub(crate) fn of(element: Box<dyn Element>) -> Self {
        Self { element, digest: Digest::default(), group: NO_GROUP }
    }
}

/// Hosts that are executed together, and deferred.
pub(crate) struct HostGroup {
    /// In order. The group's input channels and events are those of the first.
    members: Vec<ElementId>,
    /// Span by which its execution may be deferred.
    pub(crate) slack: Span,
    /// The event list of its members' timers; `None` while the group is executed.
    pub(crate) timers: Option<Box<EventList>>,
    /// The time of its earliest pending event in the network's event list; [`Time::NEVER`] for
    /// none.
    pub(crate) alarm: Time,
}

impl HostGroup {
    /// A group of `members`, whose execution may be deferred by up to `slack`.
    pub(crate) fn new(members: Vec<ElementId>, slack: Span) -> Self {
        Self { members, slack, timers: Some(Box::default()), alarm: Time::NEVER }
    }

    /// A placeholder for a group that lies in another partition, or for none.
    pub(crate) fn elsewhere() -> Self {
        Self::new(Vec::new(), Span::ZERO)
    }

    /// Its members, in order.
    pub(crate) fn members(&self) -> &[ElementId] {
        &self.members
    }

    /// The member whose events and input channels are those of the group.
    pub(crate) fn host(&self) -> Option<ElementId> {
        self.members.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stubs::{Log, Stub, idle};
    use forebay_network::Lookahead;

    /// A group is known by its first member, under whose number its events are; a group of another
    /// partition has no host, and so is not executed here.
    #[test]
    fn a_group_is_known_by_its_first_member() {
        let members = [3, 5, 9].map(ElementId::new);
        let group = HostGroup::new(members.to_vec(), Span::from_ps(7));
        assert_eq!((group.host(), group.members()), (Some(members[0]), &members[..]));
        assert_eq!((group.slack, group.alarm), (Span::from_ps(7), Time::NEVER));
        assert!(group.timers.is_some_and(|timers| timers.is_empty()));
        let elsewhere = HostGroup::elsewhere();
        assert_eq!((elsewhere.host(), elsewhere.slack), (None, Span::ZERO));
    }

    /// An element is in no group until the analysis has found that it can be deferred.
    #[test]
    fn an_element_is_in_no_group_at_first() {
        let slot = Slot::of(Stub::new(0, Lookahead::NONE, &Log::default(), idle));
        assert_eq!((slot.group, slot.digest), (NO_GROUP, Digest::default()));
    }
}
