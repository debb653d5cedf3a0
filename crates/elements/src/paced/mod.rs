//! Paced sources: packets of one size at a rate that follows what the network signals.
//!
//! What a source wants to send, and at which nominal rate, is its [`Activity`]; by how much that is
//! scaled is decided by its [`PaceControl`], which hears of notifications. A source waits for one
//! time, that of whatever is due next: a packet, the end of a phase, a step of the control. Those
//! of a group share one timer, set for the first.

mod count;
mod efcn;
mod framing;
mod loser_tree;
mod outbox;
mod plan;
mod reassembly;
mod receiver;
mod resource;
mod result;
mod source;

use forebay_kernel::Streams;
use forebay_laws::activity::{Activity, Session};
use forebay_laws::detector::CongestionNotification;
use forebay_laws::explicit_rate::ResourceCell;
use forebay_laws::pace::PaceControl;
use forebay_network::{
    Context, Ecn, Element, LogicalProcess, Lookahead, LookaheadContext, Observation, OwnCount,
    Packet, PacketKind,
};
use forebay_parameters::{Problem, Section, parameters};
use forebay_units::{Size, Time};

use super::FlowGroup;
use super::end_flow;
use framing::{Framing, Report};
use loser_tree::LoserTree;
use outbox::Outbox;
use source::Source;

pub use count::{FrameCount, PacedCount};
pub use efcn::EfcnParameters;
pub use framing::FrameParameters;
pub use plan::ENTRY;
pub use receiver::{PacedReceivers, ReceiverPlace};
pub use resource::Explicit;
pub use result::PacedResult;

parameters! {
    /// Parameters of paced sources.
    pub struct PacedParameters {
        /// Size of their packets.
        size: Size = "53 B", "ITU-T I.361, section 2 (cell)";
        /// Bytes of header within each packet: goodput counts the rest.
        header: Size = "5 B", "ITU-T I.361, section 2 (cell header)";
    }
}

impl PacedParameters {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if !(1..=65_535).contains(&self.size.bytes()) {
            return Err(section.fail("size", "is not a packet size; allowed are 1 B to 65535 B"));
        }
        if self.header > self.size {
            return Err(
                section.fail("header", "is larger than the packet; allowed is at most its size")
            );
        }
        Ok(())
    }
}

/// Makes what each source of a group is made of.
pub struct PacedParts<'a> {
    /// Makes the traffic that they offer.
    pub activity: &'a dyn Fn() -> Box<dyn Activity>,
    /// Makes the law by which their rates follow notifications.
    pub control: &'a dyn Fn() -> Box<dyn PaceControl>,
    /// If they go by explicit rates.
    pub explicit: Option<Explicit>,
    /// Size and header of their packets.
    pub packets: &'a PacedParameters,
    /// Their frames, if transfers are cut into such.
    pub frames: Option<&'a FrameParameters>,
    /// True if their packets can be marked ([`EfcnParameters`]).
    pub efcn: bool,
}

/// The paced sources of one group of flows.
pub struct PacedSources {
    group: FlowGroup,
    size: u16,
    /// Their packets, but for what differs from one to the next.
    model: Packet,
    counts: Vec<PacedCount>,
    explicit: Option<Explicit>,
    sources: Vec<Source>,
    /// Times at which they are woken.
    loser_tree: LoserTree,
    /// Time of the timer that counts; [`Time::NEVER`] for none.
    alarm: Time,
}

/// The token of the timer: the turn of a source has come.
const TURN: u32 = 0;
/// That of the time for which a source had been waiting when something came to be due before.
const PASSED_OVER: u32 = 1;
/// That of the time at which all stop: after all that is due then.
const STOP: u32 = u32::MAX;

impl PacedSources {
    /// The sources of `group`; its path names their random streams.
    ///
    /// # Panics
    /// If the packets' size is none: scenario reading refuses it.
    #[must_use]
    pub fn new(group: FlowGroup, parts: &PacedParts<'_>, streams: &Streams) -> Self {
        let name = format!("{}.activity", group.path);
        let source = |(start, number): (&Time, u64)| {
            let stream = streams.numbered(&name, number);
            let mut source = Source::new((parts.activity)(), (parts.control)(), stream, *start);
            source.outbox = parts.frames.map(|frames| outbox(frames, parts.packets));
            source
        };
        let sources: Vec<Source> = group.starts.iter().zip(0..).map(source).collect();
        let size = u16::try_from(parts.packets.size.bytes()).expect("checked when read");
        let ecn = if parts.efcn { Ecn::Ect0 } else { Ecn::NotEct };
        let model = Packet::data(Time::ZERO, group.first, 0, size, group.route)
            .with_marking(group.marking)
            .with_ecn(ecn);
        let (counts, explicit) = (vec![PacedCount::default(); sources.len()], parts.explicit);
        let (loser_tree, alarm) = (LoserTree::new(sources.len()), Time::NEVER);
        Self { group, size, model, counts, explicit, sources, loser_tree, alarm }
    }

    /// Have source `index` woken when something is due, unless it will be at an earlier time: then
    /// that is seen to when it has come.
    fn arm(&mut self, index: usize, cx: &mut Context<'_>) {
        let source = &mut self.sources[index];
        let due = source.due();
        if due >= source.armed {
            return;
        }
        if source.armed < Time::NEVER {
            // Nothing will happen then, but it is an event all the same.
            cx.wake_at(source.armed, PASSED_OVER);
        }
        source.armed = due;
        self.loser_tree.set(index, due);
        if due < self.alarm {
            self.alarm = due;
            cx.wake_at(due, TURN);
        }
    }

    /// It is the turn of source `index`. Gives the time of the next turn.
    #[inline(always)]
    fn take_turn(&mut self, index: usize, cx: &mut Context<'_>) -> Time {
        let now = cx.now();
        // What has been filled leaves before anything changes.
        let last = self.sources[index].full_at <= now
            && !(self.explicit.is_some() && self.send_rate_cell(index, true, cx))
            && self.send(index, cx);
        let source = &mut self.sources[index];
        if last || source.phase_end.min(source.pace.next).min(source.polls_at) <= now {
            self.change(index, last, cx);
        }
        let source = &mut self.sources[index];
        source.armed = source.due();
        self.loser_tree.set_first(source.armed);
        self.loser_tree.first().0
    }

    /// Source `index` sends what it has filled. Whether that is the last of its phase.
    #[inline(always)]
    fn send(&mut self, index: usize, cx: &mut Context<'_>) -> bool {
        let source = &mut self.sources[index];
        let flow = self.group.first.nth(index as u32);
        let mut packet = self.model;
        (packet.created, packet.flow, packet.number) = (cx.now(), flow, source.sent);
        let last = if source.outbox.is_none() {
            source.fill_next()
        } else {
            let count = &mut self.counts[index];
            source.fill_framed(&mut packet, count)
        };
        cx.send(packet);
        last
    }

    /// Phases of source `index` end, that of its `last` packet among them, its control has a step
    /// to do, or it polls.
    #[cold]
    #[inline(never)]
    fn change(&mut self, index: usize, last: bool, cx: &mut Context<'_>) {
        if last {
            self.change_phase(index, cx);
        }
        while self.sources[index].phase_end <= cx.now() {
            self.change_phase(index, cx);
        }
        if self.sources[index].pace.next <= cx.now() {
            self.expire(index, cx);
        }
        if self.sources[index].polls_at <= cx.now() {
            self.sources[index].poll(self.size, cx.now());
        }
    }

    fn change_phase(&mut self, index: usize, cx: &mut Context<'_>) {
        let (now, size) = (cx.now(), self.size);
        let count = &mut self.counts[index];
        let source = &mut self.sources[index];
        source.change_phase(size, now, count);
        if source.phase.session != Session::GoesOn {
            self.report_pace(index, cx);
        }
    }

    fn expire(&mut self, index: usize, cx: &mut Context<'_>) {
        let (now, size) = (cx.now(), self.size);
        let count = &mut self.counts[index];
        let source = &mut self.sources[index];
        let pace = source.control.expired(now);
        source.change_pace(pace, size, now, count);
        let wants = source.phase.rate.bps() > 0;
        self.report_pace(index, cx);
        if wants {
            self.send_rate_cell(index, false, cx);
        }
    }

    fn report_pace(&self, index: usize, cx: &mut Context<'_>) {
        let (flow, scale) = (self.group.first.nth(index as u32), self.sources[index].pace.scale);
        cx.observe(|| Observation::Pace { flow, scale });
    }

    /// A notification has come back.
    fn on_notification(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let (now, size) = (cx.now(), self.size);
        let index = packet.flow.index_in(self.group.first) as usize;
        let notice = CongestionNotification::of(packet);
        let count = &mut self.counts[index];
        count.notice_delay += u128::from(now.since(packet.created).ps());
        if let Some(last) = count.last_notice.replace(now) {
            let gap = now.since(last);
            count.notice_gap = Some(count.notice_gap.map_or(gap, |least| least.min(gap)));
        }
        count.first_notice.get_or_insert(now);
        let source = &mut self.sources[index];
        let pace = if source.in_session() { source.control.notified(notice, now) } else { None };
        match pace {
            None => count.ignored[notice.place()] += 1,
            Some(pace) => {
                count.accepted[notice.place()] += 1;
                source.change_pace(pace, size, now, count);
                self.report_pace(index, cx);
                self.arm(index, cx);
            }
        }
    }

    /// A report of the receiver has come.
    fn on_report(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let (now, index) = (cx.now(), packet.flow.index_in(self.group.first) as usize);
        let report = Report::of(packet, cx.sack_blocks().take(packet.sack_slot()));
        if self.sources[index].on_notification(&report, self.size, now) {
            self.change_phase(index, cx);
        }
        self.arm(index, cx);
    }

    fn stop(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        for index in 0..self.sources.len() {
            let count = &mut self.counts[index];
            self.sources[index].stop(now, count);
            end_flow(self.group.first.nth(index as u32), cx);
        }
    }
}

/// Returns the state that a source with `frames` keeps of them.
fn outbox(frames: &FrameParameters, packets: &PacedParameters) -> Box<Outbox> {
    let poll = frames.retransmit.then_some(frames.poll);
    Box::new(Outbox::new(Framing::new(frames, packets).packets, poll))
}

impl LogicalProcess for PacedSources {}

impl Element for PacedSources {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.group.stop != Time::NEVER {
            cx.wake_at(self.group.stop, STOP);
        }
        (0..self.sources.len()).for_each(|index| self.arm(index, cx));
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.group.route))
    }

    /// Something has come back.
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        match packet.kind() {
            PacketKind::Notification => self.on_notification(packet, cx),
            PacketKind::ResourceCell => self.on_resource_cell(packet, ResourceCell::of(packet), cx),
            PacketKind::Report => self.on_report(packet, cx),
            PacketKind::Ack
            | PacketKind::Data
            | PacketKind::Probe
            | PacketKind::Poll
            | PacketKind::Syn => {}
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        match token {
            TURN if self.alarm == cx.now() => {
                let free = cx.idle_until();
                loop {
                    let (_, index) = self.loser_tree.first();
                    self.alarm = self.take_turn(index, cx);
                    if self.alarm == Time::NEVER || !cx.continue_at(self.alarm, TURN, free) {
                        return;
                    }
                }
            }
            // Something came that was due before: an earlier timer took the place of this one.
            TURN => cx.discount_event(),
            STOP => self.stop(cx),
            _ => {}
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        for (source, count) in self.sources.iter_mut().zip(&mut self.counts) {
            source.account(now, count);
        }
        OwnCount::of(&mut self.counts)
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(index) = part.checked_sub(1) {
            return visit("scale", self.sources[index as usize].pace.scale);
        }
        let (mut sessions, mut scales) = (0_u32, 0.0);
        for source in self.sources.iter().filter(|source| source.in_session()) {
            sessions += 1;
            scales += source.pace.scale;
        }
        visit("sessions", f64::from(sessions));
        // Without a session there is no mean: 0 / 0 is not a number.
        visit("mean_scale", scales / f64::from(sessions));
        self.rate_probes(visit);
    }
}
