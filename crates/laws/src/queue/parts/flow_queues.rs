//! Many queues over one pool of packets, of which a hash of the flow chooses one, served by deficit
//! round robin with a list of new and a list of old queues (RFC 8290, section 4).
//!
//! A queue that becomes active is new, and new queues are served before old ones until they have
//! used up a quantum: flows that send less than others do not wait behind them.
//!
//! A queue takes memory from its first packet on.

use forebay_kernel::Stream;
use forebay_network::{Backlog, Packet};
use forebay_parameters::{Problem, Section};
use forebay_units::{Size, Time, quantity};

use crate::queue::parts::codel_core::CoDelQueue;
use crate::queue::parts::flow_hash::{FlowHash, Tuples};
use crate::queue::parts::flow_index::FlowIndex;
use crate::queue::parts::packet_pool::{PacketList, PacketPool};

/// The largest number of queues.
const MAX_QUEUES: u32 = 65_536;

/// The largest quantum, in bytes.
const MAX_QUANTUM: u64 = 1 << 20;

/// No queue.
const NONE: u32 = u32::MAX;

/// In place of the next queue of a list: the queue is in none.
const IDLE: u32 = u32::MAX - 1;

/// Queues of flows, each with a state `S` of the law. A queue is known by its place among those in
/// use.
pub(in crate::queue) struct FlowQueues<S> {
    flows: Vec<FlowQueue<S>>,
    /// Their numbers.
    numbers: Vec<u32>,
    new: List,
    old: List,
    /// Bytes that a queue may send in a round.
    quantum: i32,
    index: FlowIndex,
    tuples: Tuples,
    hash: FlowHash,
    waiting: Waiting,
    /// State of a queue that has not been used.
    unused: S,
    /// Number of times that a queue became active.
    activations: u64,
    /// Packets that joined others of another flow.
    collisions: u64,
}

/// A queue. All that a packet meets in it is in one cache line, with a state of up to 32 bytes.
#[repr(align(64))]
struct FlowQueue<S> {
    packets: PacketList,
    /// The 5-tuple of the packet that came last.
    tuple: u64,
    /// The queue behind this one in its list.
    next: u32,
    /// Bytes that it may still send in this round.
    deficit: i32,
    state: S,
}

/// Lists of active queues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Old,
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

/// Packets of all queues.
#[derive(Default)]
struct Waiting {
    pool: PacketPool,
    backlog: Backlog,
}

impl Waiting {
    #[inline]
    fn pop(&mut self, packets: &mut PacketList) -> Option<(Time, Packet)> {
        let head = self.pool.pop(packets)?;
        self.backlog.remove(head.1.queued_info());
        Some(head)
    }
}

/// One of the queues, for CoDel.
pub(in crate::queue) struct OneQueue<'a> {
    waiting: &'a mut Waiting,
    packets: &'a mut PacketList,
    /// True if all queues count as its backlog.
    all: bool,
}

impl CoDelQueue for OneQueue<'_> {
    #[inline]
    fn pop(&mut self) -> Option<(Time, Packet)> {
        self.waiting.pop(self.packets)
    }

    #[inline]
    fn bytes(&self) -> u64 {
        if self.all { self.waiting.backlog.bytes } else { self.packets.bytes() }
    }
}

/// The number of queues under `key`.
pub(in crate::queue) fn queue_count(
    section: &Section<'_>,
    key: &str,
    count: u32,
) -> Result<u32, Problem> {
    if (1..=MAX_QUEUES).contains(&count) {
        return Ok(count);
    }
    Err(section.fail(key, format!("{count} queues; allowed are 1 to {MAX_QUEUES}")))
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

impl<S: Copy> FlowQueues<S> {
    /// `count` empty queues for what `tuples` tells apart, in the state `unused`, which may send
    /// `quantum` bytes in a round.
    pub(in crate::queue) fn new(
        count: u32,
        (hash, tuples): (FlowHash, Tuples),
        quantum: i32,
        unused: S,
    ) -> Self {
        Self {
            flows: Vec::new(),
            numbers: Vec::new(),
            new: List::EMPTY,
            old: List::EMPTY,
            quantum,
            index: FlowIndex::new(count),
            tuples,
            hash,
            waiting: Waiting::default(),
            unused,
            activations: 0,
            collisions: 0,
        }
    }

    /// The queue of `packet`.
    #[inline]
    pub(in crate::queue) fn queue_of(&mut self, packet: &Packet, stream: &mut Stream) -> u32 {
        let queue = self.hash.queue(self.tuples.number(packet), self.index.queues(), stream);
        self.index.place(queue).unwrap_or_else(|| self.take_into_use(queue))
    }

    #[cold]
    #[inline(never)]
    fn take_into_use(&mut self, queue: u32) -> u32 {
        let flow = self.flows.len() as u32;
        self.index.insert(queue, flow);
        self.numbers.push(queue);
        let packets = PacketList::default();
        let state = self.unused;
        self.flows.push(FlowQueue { packets, tuple: 0, next: IDLE, deficit: 0, state });
        flow
    }

    /// Append `packet` to `flow`.
    #[inline]
    pub(in crate::queue) fn push(&mut self, flow: u32, packet: &Packet, now: Time) {
        let (flow, tuple) = (&mut self.flows[flow as usize], self.tuples.number(packet));
        let collides = !flow.packets.is_empty() && flow.tuple != tuple;
        self.collisions += u64::from(collides);
        flow.tuple = tuple;
        self.waiting.pool.push(&mut flow.packets, packet, now);
        self.waiting.backlog.add(packet);
    }

    /// Remove the packet at the head of `flow`, with the time at which it entered.
    #[inline]
    pub(in crate::queue) fn pop(&mut self, flow: u32) -> Option<(Time, Packet)> {
        self.waiting.pop(&mut self.flows[flow as usize].packets)
    }

    /// Remove the packet that came last of `flow`.
    pub(in crate::queue) fn pop_last(&mut self, flow: u32) -> Option<Packet> {
        let packet = self.waiting.pool.pop_last(&mut self.flows[flow as usize].packets)?;
        self.waiting.backlog.remove(packet.queued_info());
        Some(packet)
    }

    /// Change the hash function, and take out all packets that wait, each queue's in order, with
    /// the times at which they entered. No queue is in use any more.
    pub(in crate::queue) fn perturb(&mut self, stream: &mut Stream) -> Vec<(Time, Packet)> {
        self.hash.perturb(stream);
        let mut waiting = Vec::with_capacity(self.waiting.backlog.packets as usize);
        let mut in_order: Vec<(u32, u32)> = self.numbers.drain(..).zip(0..).collect();
        in_order.sort_unstable();
        for (_, flow) in in_order {
            waiting.extend(std::iter::from_fn(|| self.pop(flow)));
        }
        self.flows.clear();
        self.index = FlowIndex::new(self.index.queues());
        (self.new, self.old) = (List::EMPTY, List::EMPTY);
        waiting
    }

    /// Returns the backlog of all queues.
    #[inline]
    pub(in crate::queue) fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }

    /// Returns the bytes that wait in `flow`.
    #[inline]
    pub(in crate::queue) fn bytes(&self, flow: u32) -> u64 {
        self.flows[flow as usize].packets.bytes()
    }

    /// Returns true if `flow` holds nothing.
    #[inline]
    pub(in crate::queue) fn is_empty(&self, flow: u32) -> bool {
        self.flows[flow as usize].packets.is_empty()
    }

    /// The state of `flow`.
    #[inline]
    pub(in crate::queue) fn state(&mut self, flow: u32) -> &mut S {
        &mut self.flows[flow as usize].state
    }

    /// The state of `flow` and its packets; `all` queues count as its backlog, or it alone.
    #[inline]
    pub(in crate::queue) fn codel(&mut self, flow: u32, all: bool) -> (&mut S, OneQueue<'_>) {
        let FlowQueue { packets, state, .. } = &mut self.flows[flow as usize];
        (state, OneQueue { waiting: &mut self.waiting, packets, all })
    }

    /// The states of the queues in use.
    pub(in crate::queue) fn states(&self) -> impl Iterator<Item = &S> {
        self.flows.iter().map(|flow| &flow.state)
    }

    /// The queue with the most by `measure`, of its bytes and its state; of equals the first by
    /// number.
    pub(in crate::queue) fn largest(&self, measure: impl Fn(u64, &S) -> u64) -> u32 {
        let (mut most, mut largest) = (0, 0);
        for (at, flow) in self.flows.iter().enumerate() {
            let measured = measure(flow.packets.bytes(), &flow.state);
            let equal = || self.numbers[at] < self.numbers[largest];
            if measured > most || measured == most && equal() {
                (most, largest) = (measured, at);
            }
        }
        largest as u32
    }
}

/// Order of service.
impl<S: Copy> FlowQueues<S> {
    #[inline]
    fn append(&mut self, flow: u32, age: Age) {
        let list = if age == Age::New { &mut self.new } else { &mut self.old };
        let last = std::mem::replace(&mut list.last, flow);
        list.length += 1;
        if list.first == NONE {
            list.first = flow;
        } else {
            self.flows[last as usize].next = flow;
        }
        self.flows[flow as usize].next = NONE;
    }

    /// Remove the queue to be served from its list: of the new ones, if there are any.
    #[inline]
    fn remove_first(&mut self) -> Age {
        let age = if self.new.first == NONE { Age::Old } else { Age::New };
        let list = if age == Age::New { &mut self.new } else { &mut self.old };
        list.first = self.flows[list.first as usize].next;
        list.length -= 1;
        age
    }

    /// A packet arrived in `flow`: if it is idle, it becomes new, with a quantum to send.
    #[inline]
    pub(in crate::queue) fn arrived(&mut self, flow: u32) {
        self.activate(flow, Age::New);
    }

    /// A packet arrived in `flow`: if it is idle, it becomes the last of the old ones, with a
    /// quantum to send. For rounds without preference of new queues.
    #[inline]
    pub(in crate::queue) fn joined(&mut self, flow: u32) {
        self.activate(flow, Age::Old);
    }

    #[inline]
    fn activate(&mut self, flow: u32, age: Age) {
        let entry = &mut self.flows[flow as usize];
        if entry.next == IDLE {
            entry.deficit = self.quantum;
            self.append(flow, age);
            self.activations += 1;
        }
    }

    /// The old `flow` has lost all that it held, whenever it would be served: it is idle.
    pub(in crate::queue) fn withdraw(&mut self, flow: u32) {
        let next = self.flows[flow as usize].next;
        if self.old.first == flow {
            self.old.first = next;
        } else {
            let mut before = self.old.first;
            while self.flows[before as usize].next != flow {
                before = self.flows[before as usize].next;
            }
            self.flows[before as usize].next = next;
            if self.old.last == flow {
                self.old.last = before;
            }
        }
        self.old.length -= 1;
        self.flows[flow as usize].next = IDLE;
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
    /// get a quantum and become the last of the old ones.
    #[inline]
    pub(in crate::queue) fn next(&mut self) -> Option<u32> {
        loop {
            let flow = if self.new.first == NONE { self.old.first } else { self.new.first };
            let entry = self.flows.get_mut(flow as usize)?;
            if entry.deficit > 0 {
                return Some(flow);
            }
            entry.deficit += self.quantum;
            self.remove_first();
            self.append(flow, Age::Old);
        }
    }

    /// The queue to be served sends a packet of `bytes`.
    #[inline]
    pub(in crate::queue) fn sent(&mut self, flow: u32, bytes: u16) {
        self.flows[flow as usize].deficit -= i32::from(bytes);
    }

    /// The queue to be served holds nothing. If it is new and there are old ones, it becomes the
    /// last of these, so that no flow gets ahead of them by stopping for a moment; else it is idle.
    #[inline]
    pub(in crate::queue) fn emptied(&mut self, flow: u32) {
        if self.remove_first() == Age::New && self.old.first != NONE {
            self.append(flow, Age::Old);
        } else {
            self.flows[flow as usize].next = IDLE;
        }
    }

    /// A packet of `bytes` that finds all queues empty passes `flow` at once. Visits the states of
    /// the queues whose turn comes by then.
    #[inline]
    pub(in crate::queue) fn pass(&mut self, flow: u32, bytes: u16, visit: impl Fn(&mut S)) {
        self.arrived(flow);
        while let Some(next) = self.next() {
            visit(&mut self.flows[next as usize].state);
            if next == flow {
                self.sent(flow, bytes);
                return;
            }
            self.emptied(next);
        }
    }

    /// Visit the numbers of queues in the lists, and of collisions.
    pub(in crate::queue) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("new_queues", f64::from(self.new.length));
        visit("old_queues", f64::from(self.old.length));
        visit("activations", self.activations as f64);
        visit("collisions", self.collisions as f64);
    }

    /// Packets that found packets of another flow at the end of their queue.
    pub(in crate::queue) fn collisions(&self) -> u64 {
        self.collisions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkFacts;
    use crate::queue::parts::codel_core::CoDelState;
    use crate::queue::parts::flow_hash::FlowClassifier;
    use forebay_units::Rate;

    /// `count` queues in use.
    fn queues(count: u32, quantum: i32) -> FlowQueues<()> {
        let tuples = Tuples::of(None, &LinkFacts::of(Rate::from_bps(1)));
        let hash = FlowHash::new(FlowClassifier::Number, None);
        let mut queues = FlowQueues::new(count, (hash, tuples), quantum, ());
        (0..count).for_each(|queue| assert_eq!(queues.take_into_use(queue), queue));
        queues
    }

    /// Returns true if an arrival in `flow` makes it active.
    fn activates(queues: &mut FlowQueues<()>, flow: u32) -> bool {
        let before = queues.activations();
        queues.arrived(flow);
        queues.activations() > before
    }

    /// New queues come first, and deficit round robin is fair to the old ones. Packets of 100 B in
    /// queues 0, 1 and 2, which always hold some, with quanta of 200 B: two packets each round.
    /// Queue 3, which comes later with one packet, is next at once; empty, it is the last of the
    /// old ones, and idle the next time.
    #[test]
    fn new_queues_come_first_and_old_ones_in_rounds() {
        let mut queues = queues(4, 200);
        (0..3).for_each(|flow| assert!(activates(&mut queues, flow)));
        assert!(!activates(&mut queues, 0));
        let send = |queues: &mut FlowQueues<()>| {
            let flow = queues.next().unwrap();
            queues.sent(flow, 100);
            flow
        };
        let first: Vec<u32> = (0..14).map(|_| send(&mut queues)).collect();
        assert_eq!(first, [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0]);
        assert!(activates(&mut queues, 3));
        assert_eq!(send(&mut queues), 3);
        // Its quantum is not used up, so it would be next; but it is empty.
        assert_eq!(queues.next(), Some(3));
        queues.emptied(3);
        let then: Vec<u32> = (0..4).map(|_| send(&mut queues)).collect();
        assert_eq!(then, [1, 1, 2, 2], "queue 0 had used up its quantum before queue 3 came");
        assert!(!activates(&mut queues, 3), "it is old");
        assert_eq!(queues.next(), Some(3));
        queues.emptied(3);
        assert!(activates(&mut queues, 3), "it was idle");
        assert_eq!(send(&mut queues), 3);
    }

    /// A packet larger than the quantum leaves, and is paid for: with 1500 B and a quantum of 300
    /// B, against packets of 300 B, one queue sends a packet in five rounds.
    #[test]
    fn large_packets_wait_for_several_quanta() {
        let mut queues = queues(2, 300);
        (0..2).for_each(|flow| assert!(activates(&mut queues, flow)));
        let mut sent = [0_u32; 2];
        for _ in 0..600 {
            let flow = queues.next().unwrap();
            sent[flow as usize] += 1;
            queues.sent(flow, if flow == 0 { 1500 } else { 300 });
        }
        assert_eq!(sent, [100, 500]);
    }

    /// A queue under CoDel is one cache line of 64 B: what a packet costs in a network of many
    /// links is the lines that it meets.
    #[test]
    fn a_queue_under_codel_is_one_cache_line() {
        assert_eq!(std::mem::size_of::<FlowQueue<CoDelState>>(), 64);
    }
}
