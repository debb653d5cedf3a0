//! Policing of a group of virtual connections, each by itself: a peak rate controller followed by a
//! leaky bucket, both with queues.
//!
//! A packet that need not wait passes at the instant of its arrival and costs no event. At equal
//! times departures precede arrivals.

use std::collections::VecDeque;

use forebay_laws::policing::{FullQueue, LeakyBucket, PeakRate, marked};
use forebay_network::{
    Context, DropReason, Element, ElementCounters, FlowId, LinkId, LogicalProcess, Lookahead,
    OwnCount, Packet, columns,
};
use forebay_parameters::{Length, Problem, Section, choice, parameters};
use forebay_units::{Rate, Size, Time};
use serde::Serialize;

use super::drop_arriving;
use crate::rows::{Row, RowKind, RowsOf};

choice! {
    /// Destination of a packet that a full peak rate controller lets go early.
    pub enum Forced {
        /// Past the leaky bucket: it is marked already.
        Pass = "pass",
        /// Through the leaky bucket like others.
        Bucket = "bucket",
    }
}

parameters! {
    /// A peak rate controller.
    pub struct PeakParameters {
        /// Peak rate: a packet leaves when its predecessor could have been transmitted at it.
        rate: Rate, "COMSAT thesis, section 3.2";
        /// Size of the queue.
        queue: Length = "512 packets", "COMSAT thesis, table 2";
        /// Treatment of a packet that finds it full.
        full: FullQueue = "discard",
            "COMSAT thesis, section 6.1.2 (voice and video; data: mark_head)";
        /// Destination of a packet that leaves early.
        forced: Forced = "pass", "assumed: the thesis does not say it, section 6.1.2";
        /// Delay the next packet after one that leaves early.
        restart: bool = false, "assumed: the thesis does not say it, section 6.1.2";
    }
}

parameters! {
    /// A leaky bucket: a packet needs a token, which come periodically.
    pub struct BucketParameters {
        /// Drain rate: a token comes each time in which a packet could be transmitted at it.
        rate: Rate, "COMSAT thesis, section 3.1";
        /// Most tokens in the pool, which is full at the start.
        depth: u32, "COMSAT thesis, section 3.1: (arrival rate - drain rate) * burst / 424 bit";
        /// Size of the packets, each of which takes one token.
        token: Size = "53 B", "ITU-T I.361, section 2 (cell)";
        /// Size of the queue of packets without token.
        queue: Length = "0 packets", "COMSAT thesis, table 2";
        /// Treatment of a packet that finds it full.
        full: FullQueue = "mark_head", "COMSAT thesis, section 3.1";
    }
}

impl PeakParameters {
    /// Check the parameters.
    ///
    /// # Errors
    /// The offending key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.rate.bps() == 0 {
            return Err(section.fail("rate", "is zero; allowed are rates above 0"));
        }
        check_queue(section, self.queue)
    }
}

impl BucketParameters {
    /// Check the parameters.
    ///
    /// # Errors
    /// The offending key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.rate.bps() == 0 {
            return Err(section.fail("rate", "is zero; allowed are rates above 0"));
        }
        if self.depth == 0 {
            return Err(section.fail("depth", "is zero; allowed are numbers from 1"));
        }
        if !(1..=65_535).contains(&self.token.bytes()) {
            let message = "is not a packet size; allowed are 1 B to 65535 B";
            return Err(section.fail("token", message));
        }
        check_queue(section, self.queue)
    }
}

/// Queues of policers are limited in packets: each holds those of one connection.
fn check_queue(section: &Section<'_>, queue: Length) -> Result<(), Problem> {
    match queue {
        Length::Packets(_) => Ok(()),
        Length::Bytes(_) => {
            Err(section.fail("queue", "is in bytes; allowed here are packets, \"512 packets\""))
        }
    }
}

/// The parts of a policer.
#[derive(Clone)]
pub struct PolicerPlan {
    /// Its first flow, and how many flows there are.
    pub flows: (FlowId, u32),
    /// The link behind it, where its drops are counted.
    pub link: LinkId,
    /// The peak rate controllers.
    pub peak: Option<PeakParameters>,
    /// The leaky buckets, behind them.
    pub bucket: Option<BucketParameters>,
}

/// Counters of the policer of a group of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PolicerCount {
    /// Packets that a peak rate controller with a full queue released early, marked.
    pub marked_by_peak: u64,
    /// Packets marked for lack of a token.
    pub marked_by_bucket: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Largest number of packets of one flow that waited at once, in both queues.
    pub max_queue: u32,
}

impl ElementCounters for PolicerCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

columns! {
    /// Results of the policing of a group of flows.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct PolicingResult {
        /// Name of the group.
        pub name: String = Word,
        /// Packets that left a full peak rate controller early, marked.
        pub marked_by_peak: u64 = Packets + headline as "marked for peak",
        /// Packets marked for want of a token.
        pub marked_by_bucket: u64 = Packets + headline as "marked for tokens",
        /// Packets dropped, counted as `policed` at the link behind.
        pub dropped: u64 = Packets + headline as "dropped",
        /// Most packets of one flow that waited.
        pub max_queue_packets: u32 = Packets as "max queue",
    }
}

impl Row for PolicingResult {
    const KIND: RowKind = RowKind {
        name: "policing",
        meaning: "A row a group of flows with policing; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "policing (queue in packets)")],
        columns: Self::COLUMNS,
    };
}

impl PolicingResult {
    /// Makes the result of group `name` from `count`.
    #[must_use]
    pub fn of(name: String, count: &PolicerCount) -> Self {
        Self {
            name,
            marked_by_peak: count.marked_by_peak,
            marked_by_bucket: count.marked_by_bucket,
            dropped: count.dropped,
            max_queue_packets: count.max_queue,
        }
    }
}

/// Polices the flows of a group individually.
pub struct Policer {
    plan: PolicerPlan,
    count: PolicerCount,
    connections: Vec<Connection>,
    held: u64,
}

/// The queue of one stage, and whether a timer is set for its head.
#[derive(Default)]
struct StageQueue {
    packets: VecDeque<Packet>,
    armed: bool,
}

/// The state of a virtual connection.
struct Connection {
    peak: Option<PeakRate>,
    at_peak: StageQueue,
    bucket: Option<LeakyBucket>,
    at_bucket: StageQueue,
}

/// Timer tokens: the connection, and which of its queues. At equal times packets that wait for a
/// token of the bucket come first.
const AT_BUCKET: u32 = 0;
const AT_PEAK: u32 = 1;

impl Policer {
    /// A policer, all token pools full.
    #[must_use]
    pub fn new(plan: PolicerPlan) -> Self {
        let connection = |_| Connection {
            peak: plan.peak.as_ref().map(|peak| PeakRate::new(peak.rate)),
            at_peak: StageQueue::default(),
            bucket: plan
                .bucket
                .as_ref()
                .map(|bucket| LeakyBucket::new(bucket.rate, bucket.token, bucket.depth)),
            at_bucket: StageQueue::default(),
        };
        let connections = (0..plan.flows.1).map(connection).collect();
        Self { plan, count: PolicerCount::default(), connections, held: 0 }
    }

    fn index(&self, packet: &Packet) -> usize {
        packet.flow.index_in(self.plan.flows.0) as usize
    }

    /// Release the packets that are due at or before now.
    #[inline]
    fn release_due(&mut self, index: usize, cx: &mut Context<'_>) {
        let connection = &self.connections[index];
        if !connection.at_bucket.packets.is_empty() {
            self.release_from_bucket(index, cx);
        }
        if !self.connections[index].at_peak.packets.is_empty() {
            self.release_from_peak(index, cx);
        }
    }

    #[cold]
    fn release_from_bucket(&mut self, index: usize, cx: &mut Context<'_>) {
        let now = cx.now();
        let connection = &mut self.connections[index];
        let bucket = connection.bucket.as_mut().expect("packets wait for tokens of the bucket");
        while let Some(packet) = connection.at_bucket.packets.front()
            && bucket.take(now)
        {
            self.held -= 1;
            cx.forward(packet);
            connection.at_bucket.packets.pop_front();
        }
        if !connection.at_bucket.packets.is_empty() && !connection.at_bucket.armed {
            connection.at_bucket.armed = true;
            cx.wake_at(bucket.next_token(), index as u32 * 2 + AT_BUCKET);
        }
    }

    #[cold]
    fn release_from_peak(&mut self, index: usize, cx: &mut Context<'_>) {
        let now = cx.now();
        loop {
            let connection = &mut self.connections[index];
            let law = connection.peak.as_mut().expect("packets wait for the peak rate controller");
            let Some(packet) = connection.at_peak.packets.front().copied() else { return };
            if law.next() > now {
                if !connection.at_peak.armed {
                    connection.at_peak.armed = true;
                    cx.wake_at(law.next(), index as u32 * 2 + AT_PEAK);
                }
                return;
            }
            law.leaves(packet.wire_size(), now);
            connection.at_peak.packets.pop_front();
            self.held -= 1;
            self.reach_bucket(index, &packet, cx);
        }
    }

    /// `packet` arrives at the peak rate controller.
    fn reach_peak(&mut self, index: usize, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        let connection = &mut self.connections[index];
        let Some(law) = &mut connection.peak else {
            self.reach_bucket(index, packet, cx);
            return;
        };
        if connection.at_peak.packets.is_empty() && law.next() <= now {
            law.leaves(packet.wire_size(), now);
            self.reach_bucket(index, packet, cx);
        } else {
            self.wait_at_peak(index, packet, cx);
        }
    }

    fn wait_at_peak(&mut self, index: usize, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        let plan = self.plan.peak.as_ref().expect("packets reach the peak rate controller");
        let (limit, full, forced, restart) =
            (plan.queue.amount(), plan.full, plan.forced, plan.restart);
        let connection = &mut self.connections[index];
        if (connection.at_peak.packets.len() as u64) < limit {
            self.held += 1;
            connection.at_peak.packets.push_back(*packet);
            self.note_queue(index);
            self.release_from_peak(index, cx);
            return;
        }
        if full == FullQueue::Discard {
            self.drop(packet, cx);
            return;
        }
        // Where the queue has no room at all, the packet itself is the head.
        connection.at_peak.packets.push_back(*packet);
        let head = connection.at_peak.packets.pop_front().expect("a packet was just enqueued");
        if restart {
            let law = connection.peak.as_mut().expect("packets reach the peak rate controller");
            law.leaves(head.wire_size(), now);
        }
        self.count.marked_by_peak += 1;
        let head = marked(&head);
        match forced {
            Forced::Pass => cx.forward(&head),
            Forced::Bucket => self.reach_bucket(index, &head, cx),
        }
    }

    /// `packet` arrives at the leaky bucket.
    #[inline]
    fn reach_bucket(&mut self, index: usize, packet: &Packet, cx: &mut Context<'_>) {
        let connection = &mut self.connections[index];
        let Some(law) = &mut connection.bucket else {
            cx.forward(packet);
            return;
        };
        if connection.at_bucket.packets.is_empty() && law.take(cx.now()) {
            cx.forward(packet);
        } else {
            self.wait_at_bucket(index, packet, cx);
        }
    }

    fn wait_at_bucket(&mut self, index: usize, packet: &Packet, cx: &mut Context<'_>) {
        let plan = self.plan.bucket.as_ref().expect("packets reach the bucket");
        let (limit, full) = (plan.queue.amount(), plan.full);
        let waiting = &mut self.connections[index].at_bucket.packets;
        if (waiting.len() as u64) < limit {
            self.held += 1;
            waiting.push_back(*packet);
            self.note_queue(index);
            self.release_from_bucket(index, cx);
            return;
        }
        if full == FullQueue::Discard {
            self.drop(packet, cx);
            return;
        }
        waiting.push_back(*packet);
        let head = waiting.pop_front().expect("a packet was just enqueued");
        self.count.marked_by_bucket += 1;
        cx.forward(&marked(&head));
    }

    /// Drop `packet`. Drops count as arrivals at the link behind, so that its arrivals equal its
    /// departures plus its drops.
    fn drop(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.count.dropped += 1;
        drop_arriving(self.plan.link, packet, DropReason::Policed, cx);
    }

    fn note_queue(&mut self, index: usize) {
        let Connection { at_peak, at_bucket, .. } = &self.connections[index];
        let waiting = (at_peak.packets.len() + at_bucket.packets.len()) as u32;
        self.count.max_queue = self.count.max_queue.max(waiting);
    }
}

impl LogicalProcess for Policer {}

impl Element for Policer {
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { can_defer: true, ..Lookahead::NONE }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let index = self.index(packet);
        let Connection { peak, at_peak, bucket, at_bucket } = &mut self.connections[index];
        if at_peak.packets.is_empty() && at_bucket.packets.is_empty() {
            // Most packets find the queues empty and need not wait.
            let now = cx.now();
            let early = peak.as_mut().is_some_and(|law| !law.passes(packet.wire_size(), now));
            if !early && bucket.as_mut().is_none_or(|law| law.take(now)) {
                cx.forward(packet);
            } else if early {
                self.wait_at_peak(index, packet, cx);
            } else {
                self.wait_at_bucket(index, packet, cx);
            }
            return;
        }
        self.release_due(index, cx);
        self.reach_peak(index, packet, cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let index = (token / 2) as usize;
        let connection = &mut self.connections[index];
        if token % 2 == AT_BUCKET {
            connection.at_bucket.armed = false;
        } else {
            connection.at_peak.armed = false;
        }
        // The queues may be empty by now: an arrival at this instant has released their packets.
        self.release_due(index, cx);
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount { held: self.held, ..OwnCount::of(&mut self.count) }
    }
}
