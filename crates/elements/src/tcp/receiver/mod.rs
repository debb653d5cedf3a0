//! The TCP receivers of a group of flows.

use forebay_kernel::fetch;
use forebay_network::{
    Context, Counters, Ecn, Element, FlowId, LogicalProcess, Lookahead, Marking, Observation,
    OwnCount, Packet, PacketKind, RouteId, SackBlocks, SackSlot,
};
use forebay_units::{Span, Time};

use super::accecn::Tally;
use super::ack_routes::AckRoutes;
use super::applications::clients::{Clients, Place};
use super::{EcnEcho, Recovery, TcpParameters};
use crate::ranges::Ranges;
use crate::transfers::{Completed, TransferMeter};

/// The TCP receivers of a group of flows: cumulative and selective acknowledgements, delayed where
/// RFC 5681, section 4.2 allows it.
pub struct TcpReceivers {
    settings: Settings,
    receptions: Vec<Reception>,
    spare: Spare,
    /// The receiving applications, where what they are handed matters.
    application: Option<Box<Application>>,
}

/// Applications of receivers.
enum Application {
    /// They take the transfers that the senders' applications write.
    Taking(TransferMeter),
    /// They ask for what is sent.
    Asking(Clients),
}

/// Settings that all receivers of a group share.
struct Settings {
    first: FlowId,
    routes: AckRoutes,
    marking: Marking,
    mss: u64,
    overhead: u16,
    /// Maximum number of SACK blocks in an acknowledgement; 0 without SACK.
    blocks: usize,
    sack_header_bytes: bool,
    /// Echo of marks, if ECN is used.
    echo: Option<EcnEcho>,
    /// Connections are opened and closed.
    handshake: bool,
    /// Duplicates are reported (RFC 2883).
    dsack: bool,
    delay: Option<Span>,
    /// Acknowledgements that are sent before any is delayed.
    quick: u8,
    /// Some acknowledgements are not delayed later on, either.
    prompt: bool,
}

/// The state of one receiver.
struct Reception {
    /// The next segment expected (RCV.NXT).
    next: u64,
    /// The number in the last acknowledgement sent (Last.ACK.sent of RFC 7323).
    acked: u64,
    /// The sending time that the next acknowledgement echoes (TS.Recent of RFC 7323).
    recent: u64,
    /// Time at which a delayed acknowledgement is due.
    deadline: Time,
    /// Time of the pending event of the timer.
    pending: Time,
    /// In-order segments since the last acknowledgement.
    waiting: u8,
    /// Acknowledgements that are sent before any is delayed.
    quick: u8,
    /// A mark has arrived, and no CWR since: acknowledgements have been hastened for it.
    hastened: bool,
    /// A congestion mark has arrived and the sender has not answered it with CWR; where marks are
    /// echoed exactly, whether the last segment was marked (DCTCP.CE).
    ece: bool,
    reorder: Option<Box<Reorder>>,
    /// Counts of marks, if feedback is accurate.
    tally: Option<Box<Tally>>,
}

/// The reorder buffer: segments that arrived above a gap.
#[derive(Default)]
struct Reorder {
    ranges: Ranges,
    /// The ranges reported recently, the latest first.
    latest: Vec<(u64, u64)>,
    /// Segments held that are shorter than one MSS: number and bytes missing.
    short: Vec<(u64, u64)>,
}

/// Empty reorder buffers for reuse.
type Spare = Vec<Box<Reorder>>;

/// Number of reported ranges to remember in order to fill four blocks when some of them are
/// released.
const LATEST: usize = 8;

impl TcpReceivers {
    /// Receivers for the `count` flows from `first` on, whose acknowledgements take the
    /// route number `ack_route`. The parameters are those of the senders.
    #[must_use]
    pub fn new(
        first: FlowId,
        count: usize,
        parameters: &TcpParameters,
        ack_route: RouteId,
    ) -> Self {
        let overhead = parameters.overhead();
        let (echo, option) = (parameters.echo(), parameters.accecn_option);
        let accurate = echo == Some(EcnEcho::AccEcn);
        let quick = u8::try_from(parameters.quick_acks).unwrap_or(u8::MAX);
        let reception = || Reception {
            next: 0,
            acked: 0,
            recent: 0,
            deadline: Time::NEVER,
            pending: Time::NEVER,
            waiting: 0,
            quick,
            hastened: false,
            ece: false,
            reorder: None,
            tally: accurate.then(|| Box::new(Tally::new(option))),
        };
        let settings = Settings {
            first,
            routes: AckRoutes::One(ack_route),
            marking: Marking::default(),
            mss: parameters.mss.bytes(),
            overhead,
            // 40 bytes of options hold four blocks, or three with timestamps (RFC 2018, section 3);
            // one less beside an AccECN option of up to 11 bytes.
            blocks: match (parameters.recovery, parameters.timestamps) {
                (Recovery::Sack, timestamps) => {
                    4 - usize::from(timestamps) - usize::from(accurate && option)
                }
                _ => 0,
            },
            sack_header_bytes: parameters.sack_header_bytes,
            echo,
            handshake: parameters.handshake,
            dsack: parameters.reports_duplicates(),
            delay: parameters.ack_delay(),
            quick,
            prompt: parameters.prompt_acks,
        };
        let receptions = std::iter::repeat_with(reception).take(count).collect();
        Self { settings, receptions, spare: Vec::new(), application: None }
    }

    /// The same with acknowledgements of another class and colour than the usual.
    #[must_use]
    pub fn with_marking(mut self, marking: Marking) -> Self {
        self.settings.marking = marking;
        self
    }

    /// The same, where the acknowledgements of each flow take a route of their own.
    #[must_use]
    pub fn with_routes(mut self, routes: Vec<RouteId>) -> Self {
        debug_assert_eq!(routes.len(), self.receptions.len(), "each flow has a route");
        self.settings.routes = AckRoutes::Each(routes.into());
        self
    }

    /// The same, which measure the completion times of transfers.
    #[must_use]
    pub fn with_transfers(mut self, meter: TransferMeter) -> Self {
        self.application = Some(Box::new(Application::Taking(meter)));
        self
    }

    /// The same, at which clients ask for what [`super::TcpSenders::answering`] send.
    #[must_use]
    pub fn with_clients(mut self, clients: Clients) -> Self {
        self.application = Some(Box::new(Application::Asking(clients)));
        self
    }

    /// A segment arrived.
    #[inline(always)]
    fn segment(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let p = &self.settings;
        let r = &mut self.receptions[packet.flow.index_in(p.first) as usize];
        if p.handshake && packet.is_syn() {
            p.answer_syn(r, packet, cx);
            return;
        }
        let mut changes = false;
        if let Some(echo) = p.echo {
            let marked = packet.ecn() == Ecn::Ce;
            match (echo, &mut r.tally) {
                (_, Some(tally)) => {
                    let bytes = u64::from(packet.size - p.overhead);
                    changes = tally.count(packet.ecn(), bytes, packet.number >= r.next);
                }
                (EcnEcho::Rfc8257, _) => changes = p.echo_exactly(r, marked, packet.flow, cx),
                // RFC 3168, section 6.1.3: CWR ends the echo, unless this packet is marked itself.
                _ => r.ece = (r.ece && !packet.cwr()) || marked,
            }
            if p.prompt {
                r.hasten(marked, packet.cwr());
            }
        }
        // RFC 7323, section 4.3: echo the earliest segment not yet acknowledged, not the latest.
        if packet.number <= r.acked && packet.created.ps() >= r.recent {
            r.recent = packet.created.ps();
        }
        let at_once = if packet.number == r.next && r.reorder.is_none() {
            p.in_order(r, packet, cx)
        } else {
            let duplicate = p.out_of_order(r, packet, &mut self.spare, cx);
            if duplicate && p.dsack {
                p.report_duplicate(r, packet.number, packet.flow, cx);
                return;
            }
            true
        };
        if at_once || changes {
            p.acknowledge(r, packet.flow, cx);
        }
    }

    /// A segment arrived that may complete transfers.
    #[cold]
    #[inline(never)]
    fn segment_of_transfer(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let flow = packet.flow;
        let before = cx.counters().flow(packet).goodput;
        self.segment(packet, cx);
        let arrived = cx.counters().flow(packet).goodput - before;
        let (index, now) = (flow.index_in(self.settings.first), cx.now());
        match self.application.as_deref_mut() {
            Some(Application::Taking(transfers)) if arrived > 0 => {
                transfers.arrived(index, arrived);
                while let Some(Completed { begun, bytes, ideal }) = transfers.complete(index, now) {
                    cx.observe(|| Observation::Completed { flow, flows: 1, begun, bytes, ideal });
                }
            }
            Some(Application::Asking(clients)) if arrived > 0 => {
                clients.arrived(index, arrived, &self.settings.place(), cx);
            }
            _ => {}
        }
    }
}

impl Settings {
    /// Returns flows, route and marking of what is no acknowledgement.
    fn place(&self) -> Place<'_> {
        Place { first: self.first, routes: &self.routes, marking: self.marking }
    }

    /// Route of the acknowledgements of `flow`.
    #[inline(always)]
    fn route_of(&self, flow: FlowId) -> RouteId {
        self.routes.of(flow.index_in(self.first))
    }

    /// Send the acknowledgement that is due for `flow`.
    #[inline(always)]
    fn acknowledge(&self, r: &mut Reception, flow: FlowId, cx: &mut Context<'_>) {
        let blocks = match &r.reorder {
            Some(reorder) if self.blocks > 0 => Some(reorder.blocks(self.blocks)),
            _ => None,
        };
        self.answer(r, blocks, flow, cx);
    }

    /// Send the acknowledgement that is due for segment `number`, which the receiver had already:
    /// the first block reports it, and what else was to be reported follows (RFC 2883, section 4).
    #[cold]
    fn report_duplicate(&self, r: &mut Reception, number: u64, flow: FlowId, cx: &mut Context<'_>) {
        let mut blocks = SackBlocks::default();
        blocks.push(number, number + 1);
        if let Some(reorder) = &r.reorder {
            let others = reorder.blocks(self.blocks - 1);
            others.as_slice().iter().for_each(|(first, end)| blocks.push(*first, *end));
        }
        self.answer(r, Some(blocks), flow, cx);
    }

    /// Send an acknowledgement with these SACK blocks.
    #[inline(always)]
    fn answer(
        &self,
        r: &mut Reception,
        blocks: Option<SackBlocks>,
        flow: FlowId,
        cx: &mut Context<'_>,
    ) {
        r.acked = r.next;
        r.waiting = 0;
        r.quick = r.quick.saturating_sub(1);
        r.deadline = Time::NEVER;
        let mut size = self.overhead;
        let mut slot = SackSlot::NONE;
        if let Some(blocks) = blocks {
            if self.sack_header_bytes {
                // Kind, length and eight bytes per block, padded to whole words.
                size += 4 + 8 * blocks.as_slice().len() as u16;
            }
            slot = cx.sack_blocks().store(blocks);
        }
        let mut ack = Packet::data(cx.now(), flow, r.next, size, self.route_of(flow))
            .with_marking(self.marking);
        ack.set_sack_slot(slot);
        let ack = ack.with_kind(PacketKind::Ack).with_timestamp_echo(Time::from_ps(r.recent));
        let ack = match &mut r.tally {
            None => ack.with_ece(r.ece),
            Some(tally) => tally.report(ack, cx),
        };
        cx.send(ack);
    }

    /// Answer a SYN: with an acknowledgement that is one itself. Where counters take the place of
    /// that flag it bears them, and is taken for the answer as no data is on its way.
    #[cold]
    fn answer_syn(&self, r: &mut Reception, syn: &Packet, cx: &mut Context<'_>) {
        let route = self.route_of(syn.flow);
        let answer = Packet::data(cx.now(), syn.flow, r.next, self.overhead, route);
        let answer = answer.with_marking(self.marking).with_kind(PacketKind::Ack);
        let answer = answer.with_timestamp_echo(syn.created);
        let answer = match &mut r.tally {
            None => answer.as_last(true),
            Some(tally) => tally.report(answer, cx),
        };
        cx.send(answer);
    }

    /// Note whether a segment is marked. If the one before was not likewise, what is still to be
    /// acknowledged is, so that the echo of each segment is its own; and so must this segment be at
    /// once, as is returned (RFC 8257, section 3.2).
    #[cold]
    fn echo_exactly(
        &self,
        r: &mut Reception,
        marked: bool,
        flow: FlowId,
        cx: &mut Context<'_>,
    ) -> bool {
        let changes = marked != r.ece;
        if changes && r.waiting > 0 {
            self.acknowledge(r, flow, cx);
        }
        r.ece = marked;
        changes
    }

    /// Accept an in-order segment when no segment is missing. Every second one is to be
    /// acknowledged at once; returns whether this one is.
    #[inline(always)]
    fn in_order(&self, r: &mut Reception, packet: &Packet, cx: &mut Context<'_>) -> bool {
        r.next += 1;
        r.waiting += 1;
        cx.counters().hand_over(packet.flow, u64::from(packet.size - self.overhead));
        match self.delay {
            Some(delay) if r.waiting < 2 && r.quick == 0 && !self.is_urgent(packet) => {
                r.deadline = cx.now() + delay;
                if r.deadline < r.pending {
                    r.pending = r.deadline;
                    cx.wake_at(r.deadline, packet.flow.index_in(self.first));
                }
                false
            }
            _ => true,
        }
    }

    /// Returns true if the acknowledgement of an in-order segment is not to be delayed. The
    /// application reads what is pushed as it arrives, and that acknowledges it; a sender that has
    /// reduced its window may have nothing else to send.
    #[inline]
    fn is_urgent(&self, packet: &Packet) -> bool {
        self.prompt && (packet.is_pushed() || packet.cwr())
    }

    /// Accept a segment above or into a gap, or a duplicate: to be acknowledged at once. Returns
    /// whether it is a duplicate.
    fn out_of_order(
        &self,
        r: &mut Reception,
        packet: &Packet,
        spare: &mut Spare,
        cx: &mut Context<'_>,
    ) -> bool {
        let payload = u64::from(packet.size - self.overhead);
        if packet.number > r.next {
            let reorder = r.reorder.get_or_insert_with(|| spare.pop().unwrap_or_default());
            return !reorder.hold(packet.number, self.mss - payload);
        }
        let duplicate = packet.number < r.next;
        if duplicate && self.prompt {
            r.quick = r.quick.max(self.quick);
        }
        if packet.number == r.next
            && let Some(reorder) = &mut r.reorder
        {
            let (next, bytes) = reorder.release(r.next + 1, self.mss);
            r.next = next;
            cx.counters().hand_over(packet.flow, payload + bytes);
            if reorder.ranges.is_empty() {
                spare.extend(r.reorder.take());
            }
        }
        duplicate
    }
}

impl Reception {
    /// Do not delay two acknowledgements from the first mark on that CWR has not answered.
    fn hasten(&mut self, marked: bool, cwr: bool) {
        self.hastened &= !cwr;
        if marked && !self.hastened {
            self.hastened = true;
            self.quick = self.quick.max(2);
        }
    }
}

impl Reorder {
    /// Hold segment `number`, which is `missing` bytes shorter than a full one. Returns whether it
    /// was not held before.
    fn hold(&mut self, number: u64, missing: u64) -> bool {
        let before = self.ranges.count();
        let added = self.ranges.insert(number);
        let held = self.ranges.holding(number).expect("the segment was just inserted");
        let within = |range: &(u64, u64)| held.0 <= range.0 && range.1 <= held.1;
        let grown = self.ranges.count() == before;
        match self.latest.first_mut() {
            // The usual case: the range reported last has grown without merging with another.
            Some(latest) if grown && within(latest) => *latest = held,
            _ => {
                self.latest.retain(|range| !within(range));
                self.latest.insert(0, held);
                self.latest.truncate(LATEST);
            }
        }
        if added && missing > 0 {
            self.short.push((number, missing));
        }
        added
    }

    /// All segments below `next` have arrived: release what follows without a gap. Returns the next
    /// segment expected and the number of bytes released.
    fn release(&mut self, next: u64, mss: u64) -> (u64, u64) {
        let after = self.ranges.gap_from(next);
        self.ranges.remove_below(after);
        self.latest.retain(|range| range.0 >= after);
        let missing: u64 = self.short.iter().filter(|s| s.0 < after).map(|s| s.1).sum();
        self.short.retain(|s| s.0 >= after);
        (after, (after - next) * mss - missing)
    }

    /// At most `room` SACK blocks: the range changed last, then those reported before it (RFC 2018,
    /// section 4), then any others from the lowest.
    fn blocks(&self, room: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        for &(first, end) in self.latest.iter().take(room) {
            blocks.push(first, end);
        }
        if self.latest.len() < room.min(self.ranges.count()) {
            for (first, end) in self.ranges.iter() {
                let known = blocks.as_slice();
                if known.len() < room && !known.contains(&(first, end)) {
                    blocks.push(first, end);
                }
            }
        }
        blocks
    }
}

impl LogicalProcess for TcpReceivers {
    fn prefetch_timer(&self, token: u32, counters: &Counters) {
        if !Clients::owns(token) {
            fetch(&self.receptions[token as usize]);
            fetch(&counters.flows[self.settings.first.nth(token).index()].acks);
        }
    }

    fn prefetch_packet(&self, packet: &Packet) {
        fetch(&self.receptions[packet.flow.index_in(self.settings.first) as usize]);
    }
}

impl Element for TcpReceivers {
    fn start(&mut self, cx: &mut Context<'_>) {
        if let Some(Application::Asking(clients)) = self.application.as_deref_mut() {
            clients.start(cx);
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(self.settings.routes.all())
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if self.application.is_none() {
            self.segment(packet, cx);
        } else {
            self.segment_of_transfer(packet, cx);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if Clients::owns(token) {
            if let Some(Application::Asking(clients)) = self.application.as_deref_mut() {
                clients.wake(token, &self.settings.place(), cx);
            }
            return;
        }
        let r = &mut self.receptions[token as usize];
        let now = cx.now();
        if now != r.pending {
            return;
        }
        r.pending = Time::NEVER;
        if r.deadline == Time::NEVER {
            return;
        }
        if r.deadline > now {
            r.pending = r.deadline;
            cx.wake_at(r.deadline, token);
        } else {
            self.settings.acknowledge(r, self.settings.first.nth(token), cx);
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        match self.application.as_deref_mut() {
            Some(Application::Taking(transfers)) => OwnCount::of(transfers.count(cx.now())),
            Some(Application::Asking(clients)) => OwnCount::of(clients.count(cx.now())),
            None => OwnCount::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range of the segment that arrived is reported first, then the ranges reported before it,
    /// the latest first, each once; ranges that have merged are one (RFC 2018, section 4). So a
    /// sender learns of new arrivals at once, and again where acknowledgements are lost.
    #[test]
    fn the_latest_range_is_reported_first() {
        let mut reorder = Reorder::default();
        let mut hold = |number| {
            reorder.hold(number, 0);
            reorder.blocks(4).as_slice().to_vec()
        };
        assert_eq!(hold(8), [(8, 9)]);
        assert_eq!(hold(2), [(2, 3), (8, 9)]);
        assert_eq!(hold(5), [(5, 6), (2, 3), (8, 9)]);
        assert_eq!(hold(9), [(8, 10), (5, 6), (2, 3)]);
        assert_eq!(hold(3), [(2, 4), (8, 10), (5, 6)]);
        assert_eq!(hold(4), [(2, 6), (8, 10)]);
        // A duplicate is reported first again, and changes nothing.
        assert_eq!(hold(8), [(8, 10), (2, 6)]);
        assert_eq!(hold(20)[0], (20, 21));
        assert_eq!(hold(30)[..2], [(30, 31), (20, 21)]);
        // A fifth range pushes the one reported longest ago out of the option.
        assert_eq!(hold(40), [(40, 41), (30, 31), (20, 21), (8, 10)]);
        assert_eq!(reorder.blocks(3).as_slice(), [(40, 41), (30, 31), (20, 21)]);
    }

    /// A filled gap releases what follows to the application once: of 2..5 and 8, held in segments
    /// of 1000 B but 4 of 300 B, the arrival of 1 releases 2..5: 3300 B.
    #[test]
    fn a_filled_gap_releases_what_follows() {
        let mut reorder = Reorder::default();
        for (number, missing) in [(8, 0), (4, 700), (2, 0), (3, 0), (4, 700), (5, 0)] {
            reorder.hold(number, missing);
        }
        assert_eq!(reorder.release(2, 1000), (6, 3300));
        assert_eq!(reorder.blocks(4).as_slice(), [(8, 9)]);
        assert_eq!(reorder.release(7, 1000), (7, 0));
        assert_eq!(reorder.release(8, 1000), (9, 1000));
        assert!(reorder.ranges.is_empty() && reorder.short.is_empty());
    }

    /// A receiver is small, so that a million flows fit into the memory planned for them.
    #[test]
    fn a_receiver_is_small() {
        assert!(size_of::<Reception>() <= 64);
    }
}
