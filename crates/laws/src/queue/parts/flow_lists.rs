//! Deficit round robin with a list of new and a list of old queues (RFC 8290, section 4).
//!
//! A queue that becomes active is new, and new queues are served before old ones until they have
//! used up a quantum: flows that send less than others do not wait behind them.

use forebay_parameters::{Problem, Section};
use forebay_units::{Size, quantity};

/// No queue.
const NONE: u32 = u32::MAX;

/// The largest quantum, in bytes.
const MAX_QUANTUM: u64 = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Idle,
    New,
    Old,
}

#[derive(Clone, Copy)]
struct Member {
    /// The queue behind this one.
    next: u32,
    /// Bytes that it may still send in this round.
    deficit: i32,
    place: Where,
}

/// A list of queues, first in, first out.
#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
    length: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE, length: 0 };
}

/// Order in which queues are served.
pub(in crate::queue) struct FlowLists {
    members: Vec<Member>,
    new: List,
    old: List,
    /// Number of times that a queue became active.
    activations: u64,
}

/// The quantum `size` under `key`, in bytes.
pub(in crate::queue) fn quantum(
    section: &Section<'_>,
    key: &str,
    size: Size,
) -> Result<i32, Problem> {
    match i32::try_from(size.bytes()) {
        Ok(bytes) if bytes > 0 && size.bytes() <= MAX_QUANTUM => Ok(bytes),
        _ => {
            let given = quantity::show_size(size);
            let message = format!("{given} is out of range; allowed are 1 B to {MAX_QUANTUM} B");
            Err(section.fail(key, message))
        }
    }
}

impl FlowLists {
    /// `queues` queues, of which none is active.
    pub(in crate::queue) fn new(queues: u32) -> Self {
        let idle = Member { next: NONE, deficit: 0, place: Where::Idle };
        let members = vec![idle; queues as usize];
        Self { members, new: List::EMPTY, old: List::EMPTY, activations: 0 }
    }

    fn append(&mut self, queue: u32, place: Where) {
        let list = if place == Where::New { &mut self.new } else { &mut self.old };
        if list.first == NONE {
            list.first = queue;
        } else {
            self.members[list.last as usize].next = queue;
        }
        list.last = queue;
        list.length += 1;
        let member = &mut self.members[queue as usize];
        (member.next, member.place) = (NONE, place);
    }

    /// Remove the first of the new queues, or of the old ones if `place` says so.
    fn remove_first(&mut self, place: Where) {
        let list = if place == Where::New { &mut self.new } else { &mut self.old };
        list.first = self.members[list.first as usize].next;
        list.length -= 1;
    }

    /// A packet arrived in `queue`: if it is idle, it becomes new, with `quantum` to send.
    #[inline]
    pub(in crate::queue) fn arrived(&mut self, queue: u32, quantum: i32) -> bool {
        let member = &mut self.members[queue as usize];
        if member.place != Where::Idle {
            return false;
        }
        member.deficit = quantum;
        self.append(queue, Where::New);
        self.activations += 1;
        true
    }

    /// A packet arrived in `queue`: if it is idle, it becomes the last of the old ones, with
    /// `quantum` to send. For rounds without preference of new queues.
    #[inline]
    pub(in crate::queue) fn joined(&mut self, queue: u32, quantum: i32) {
        let member = &mut self.members[queue as usize];
        if member.place == Where::Idle {
            member.deficit = quantum;
            self.append(queue, Where::Old);
            self.activations += 1;
        }
    }

    /// The old `queue` has lost all that it held, whenever it would be served: it is idle.
    pub(in crate::queue) fn withdraw(&mut self, queue: u32) {
        if self.old.first == queue {
            self.remove_first(Where::Old);
        } else {
            let mut before = self.old.first;
            while self.members[before as usize].next != queue {
                before = self.members[before as usize].next;
            }
            self.members[before as usize].next = self.members[queue as usize].next;
            if self.old.last == queue {
                self.old.last = before;
            }
            self.old.length -= 1;
        }
        self.members[queue as usize].place = Where::Idle;
    }

    /// No queue is active any more.
    pub(in crate::queue) fn clear(&mut self) {
        (self.new, self.old) = (List::EMPTY, List::EMPTY);
        self.members.iter_mut().for_each(|member| member.place = Where::Idle);
    }

    /// Returns the number of old queues.
    pub(in crate::queue) fn old_queues(&self) -> u32 {
        self.old.length
    }

    /// Returns the number of times that a queue became active.
    pub(in crate::queue) fn activations(&self) -> u64 {
        self.activations
    }

    /// The queue to be served, if one is active. Those before it that have used up what they had
    /// get `quantum` and become the last of the old ones.
    #[inline]
    pub(in crate::queue) fn next(&mut self, quantum: impl Fn(u32) -> i32) -> Option<u32> {
        loop {
            let queue = if self.new.first == NONE { self.old.first } else { self.new.first };
            let member = self.members.get_mut(queue as usize)?;
            if member.deficit > 0 {
                return Some(queue);
            }
            member.deficit += quantum(queue);
            let place = member.place;
            self.remove_first(place);
            self.append(queue, Where::Old);
        }
    }

    /// The queue to be served sends a packet of `bytes`.
    #[inline]
    pub(in crate::queue) fn sent(&mut self, queue: u32, bytes: u16) {
        self.members[queue as usize].deficit -= i32::from(bytes);
    }

    /// The queue to be served holds nothing. If it is new and there are old ones, it becomes the
    /// last of these, so that no flow gets ahead of them by stopping for a moment; else it is idle.
    #[inline]
    pub(in crate::queue) fn emptied(&mut self, queue: u32) {
        let place = self.members[queue as usize].place;
        self.remove_first(place);
        if place == Where::New && self.old.first != NONE {
            self.append(queue, Where::Old);
        } else {
            self.members[queue as usize].place = Where::Idle;
        }
    }

    /// Visit the numbers of queues in the lists.
    pub(in crate::queue) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("new_queues", f64::from(self.new.length));
        visit("old_queues", f64::from(self.old.length));
        visit("activations", self.activations as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New queues come first, and deficit round robin is fair to the old ones. Packets of 100 B in
    /// queues 0, 1 and 2, which always hold some, with quanta of 200 B: two packets each round.
    /// Queue 3, which comes later with one packet, is next at once; empty, it is the last of the
    /// old ones, and idle the next time.
    #[test]
    fn new_queues_come_first_and_old_ones_in_rounds() {
        let mut lists = FlowLists::new(4);
        (0..3).for_each(|queue| assert!(lists.arrived(queue, 200)));
        assert!(!lists.arrived(0, 200));
        let send = |lists: &mut FlowLists| {
            let queue = lists.next(|_| 200).unwrap();
            lists.sent(queue, 100);
            queue
        };
        let first: Vec<u32> = (0..14).map(|_| send(&mut lists)).collect();
        assert_eq!(first, [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0]);
        assert!(lists.arrived(3, 200));
        assert_eq!(send(&mut lists), 3);
        // Its quantum is not used up, so it would be next; but it is empty.
        assert_eq!(lists.next(|_| 200), Some(3));
        lists.emptied(3);
        let then: Vec<u32> = (0..4).map(|_| send(&mut lists)).collect();
        assert_eq!(then, [1, 1, 2, 2], "queue 0 had used up its quantum before queue 3 came");
        assert!(!lists.arrived(3, 200), "it is old");
        assert_eq!(lists.next(|_| 200), Some(3));
        lists.emptied(3);
        assert!(lists.arrived(3, 200), "it was idle");
        assert_eq!(send(&mut lists), 3);
    }

    /// A packet larger than the quantum leaves, and is paid for: with 1500 B and a quantum of 300
    /// B, against packets of 300 B, one queue sends a packet in five rounds.
    #[test]
    fn large_packets_wait_for_several_quanta() {
        let mut lists = FlowLists::new(2);
        (0..2).for_each(|queue| assert!(lists.arrived(queue, 300)));
        let mut sent = [0_u32; 2];
        for _ in 0..600 {
            let queue = lists.next(|_| 300).unwrap();
            sent[queue as usize] += 1;
            lists.sent(queue, if queue == 0 { 1500 } else { 300 });
        }
        assert_eq!(sent, [100, 500]);
    }
}
