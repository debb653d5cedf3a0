//! Links whose queue chooses the next packet when the transmitter is free.
//!
//! While packets wait that costs a second event for each, at the end of each transmission. Where
//! nobody needs to know at once what leaves ([`Standing::lazy`]), the choice is made later, in
//! arrears: before the next arrival, when somebody looks, or at the last when the packet could have
//! reached the far end. Nothing has arrived in between, so the choice is the one that it would have
//! been in its time.
//!
//! Such a link can be told of packets ahead of their time, or late by hosts, and then meets them,
//! all that have come by then, when the first could have reached the far end. One with a detector
//! cannot, as its notifications leave at once: it is run late itself.

use forebay_kernel::Stream;
use forebay_network::{
    Context, Departure, Element, Observation, Onward, Packet, QueueDiscipline, Standing, Verdict,
};
use forebay_units::{Rate, Span, Time};

use super::detecting::Detecting;
use super::line::{Conditioning, Line};
use super::link::OUT;

/// The token of another timer: the transmitter is free and packets wait; of a lazy link: the first
/// that waits, or is expected, could have reached the far end.
const FREE: u32 = 1;

/// A link whose queue chooses the next packet when the transmitter is free.
pub(super) struct ScheduledLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    law: Box<dyn QueueDiscipline>,
    stream: Stream,
    detecting: Option<Detecting>,
    /// When the timer of [`FREE`] comes that matters; [`Time::NEVER`] for none.
    alarm: Time,
    standing: Standing,
    /// Where whatever leaves goes, if it is told early and there is one place.
    onward: Option<Onward>,
    /// Whether packets are chosen in arrears.
    lazy: bool,
    /// Whether an idle link lets every packet pass at once.
    swift: bool,
    /// Whether the queue may drop or mark packets when they leave.
    choosy: bool,
}

impl ScheduledLink {
    pub(super) fn new(
        line: Line,
        conditioning: Vec<Conditioning>,
        (law, stream): (Box<dyn QueueDiscipline>, Stream),
        detecting: Option<Detecting>,
    ) -> Self {
        Self {
            line,
            conditioning,
            law,
            stream,
            detecting,
            alarm: Time::NEVER,
            standing: Standing::default(),
            onward: None,
            lazy: false,
            swift: false,
            choosy: true,
        }
    }

    /// The transmitter is free at `now`: transmit the next packet.
    #[inline(always)]
    fn serve(&mut self, now: Time, cx: &mut Context<'_>) {
        if self.choosy {
            self.choose(now, cx);
        } else if let Some(packet) = self.law.let_go(now) {
            self.line.waits_no_more(packet, now);
            Self::transmit((&mut self.line, &self.standing, self.onward), packet, now, cx);
        }
    }

    /// As [`ScheduledLink::serve`], where the queue may drop packets or mark the one that it
    /// chooses.
    #[inline(never)]
    fn choose(&mut self, now: Time, cx: &mut Context<'_>) {
        let link = self.line.link;
        let (line, detecting) = (&mut self.line, &mut self.detecting);
        let next = self.law.dequeue(now, &mut self.stream, &mut |packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
            if let Some(detecting) = detecting {
                detecting.judge(&packet, true, cx);
            }
        });
        let Some(Departure { mut packet, marked }) = next else { return };
        self.line.waits_no_more(&packet, now);
        if marked {
            Line::mark(link, &mut packet, cx);
        }
        Self::transmit((&mut self.line, &self.standing, self.onward), &packet, now, cx);
    }

    /// Transmit `packet` from `now` on.
    #[inline(always)]
    fn transmit(
        (line, standing, onward): (&mut Line, &Standing, Option<Onward>),
        packet: &Packet,
        now: Time,
        cx: &mut Context<'_>,
    ) {
        if standing.early {
            let out = line.pass(packet, now);
            cx.announce_onward(onward, packet, out);
            return;
        }
        let alone = line.slots.is_empty();
        let out = line.book(packet, now);
        if alone && !standing.quiet {
            cx.wake_at(out, OUT);
        }
    }

    /// `packet`, which found the link idle, passes.
    #[inline(always)]
    fn pass(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        Line::count_arrival(self.line.link, packet, cx);
        if let Some(detecting) = &mut self.detecting {
            detecting.passes(packet, cx);
        }
        Self::transmit((&mut self.line, &self.standing, self.onward), packet, now, cx);
    }

    /// Transmit what was transmitted by `now`, each packet from the end of the one before.
    #[inline]
    fn serve_in_arrears(&mut self, now: Time, cx: &mut Context<'_>) {
        while self.line.backlog().packets > 0 && self.line.free_at <= now {
            let free_at = self.line.free_at;
            cx.count_event();
            self.serve(free_at, cx);
        }
    }

    /// Have somebody look again if packets wait: at the end of the transmission, or before what
    /// follows it could have reached the far end.
    #[inline(always)]
    fn arm(&mut self, cx: &mut Context<'_>) {
        if self.alarm == Time::NEVER && self.line.backlog().packets > 0 {
            let spare = match (self.lazy, self.standing.quiet) {
                (true, true) => return,
                // Where this is done late, it still must be in time for others.
                (true, false) => self.line.delay - self.standing.late,
                (false, _) => Span::ZERO,
            };
            self.wake_at(self.line.free_at + spare, cx);
        }
    }

    #[inline(never)]
    fn wake_at(&mut self, time: Time, cx: &mut Context<'_>) {
        self.alarm = time;
        cx.wake_at(time, FREE);
    }

    /// `packet` arrives at `now`.
    #[inline(always)]
    fn meet(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        if self.lazy {
            self.serve_in_arrears(now, cx);
        }
        if self.standing.quiet {
            self.line.let_out(now, cx);
        }
        if self.swift && self.line.idle_since(now).is_some() {
            self.pass(packet, now, cx);
        } else if self.conditioning.is_empty() {
            self.take_in(packet, now, cx);
        } else {
            let mut packet = *packet;
            if Line::colour(self.line.link, &mut self.conditioning, &mut packet, now, cx) {
                self.take_in(&packet, now, cx);
            }
        }
    }

    /// `packet` arrives at the queue at `now`.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        Line::count_arrival(self.line.link, packet, cx);
        // In arrears that was done.
        if !self.lazy && self.line.free_at <= now && self.line.backlog().packets > 0 {
            self.serve(now, cx);
        }
        if let Some(detecting) = &mut self.detecting {
            detecting.arrives(packet, now);
        }
        let marked;
        let mut packet = packet;
        let verdict = self.decide(packet, now, cx);
        if verdict == Verdict::Mark {
            marked = Self::mark(self.line.link, *packet, cx);
            packet = &marked;
        }
        let dropped = matches!(verdict, Verdict::Drop(_));
        if let Some(detecting) = &mut self.detecting {
            detecting.judge(packet, dropped, cx);
        }
        if dropped {
            return;
        }
        let (link, backlog) = (self.line.link, self.line.backlog());
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
        if self.line.free_at <= now {
            self.serve(now, cx);
        }
        // A packet that is served at once has not waited.
        self.line.note_longest();
    }

    #[cold]
    #[inline(never)]
    fn mark(link: u32, mut packet: Packet, cx: &mut Context<'_>) -> Packet {
        Line::mark(link, &mut packet, cx);
        packet
    }

    /// Let the queue decide over `packet`, which arrives at `now`.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) -> Verdict {
        let idle_since = self.line.idle_since(now);
        let link = self.line.link;
        let (line, detecting) = (&mut self.line, &mut self.detecting);
        let mut discard = |packet: Packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
            if let Some(detecting) = detecting {
                detecting.judge(&packet, true, cx);
            }
        };
        let verdict = self.law.enqueue(packet, idle_since, now, &mut self.stream, &mut discard);
        if cx.is_observed() {
            self.law.adjustments(&mut |adjustment| {
                cx.observe(|| Observation::Adjusted { link, adjustment });
            });
        }
        if let Verdict::Drop(reason) = verdict {
            cx.discard(link, packet, reason);
            return verdict;
        }
        if idle_since.is_some() {
            self.line.busy_below(now);
        }
        self.line.waits(packet, now);
        debug_assert_eq!(self.law.backlog(), self.line.backlog(), "a discipline lost a packet");
        verdict
    }

    /// Meet the packets expected that have arrived by now.
    fn meet_expected(&mut self, cx: &mut Context<'_>) {
        let limit = cx.horizon();
        let mut inbox = cx.open_inbox();
        inbox.take_all(limit, |packet, at| self.meet(packet, at, cx));
        cx.close_inbox(inbox);
    }

    /// Set the timer for when the first packet that waits, or is expected, could have reached the
    /// far end, unless one comes before.
    fn arm_for_expected(&mut self, cx: &mut Context<'_>) {
        let arrival = cx.inbox().first().map_or(Time::NEVER, |(_, at)| at);
        cx.listen_before(arrival);
        let waits = self.line.backlog().packets > 0;
        let first = if waits { arrival.min(self.line.free_at) } else { arrival };
        // A transmission takes some time, however short.
        let due = first + self.line.delay + Span::from_ps(1);
        if first < Time::NEVER && due < self.alarm {
            self.wake_at(due, cx);
        }
    }
}

impl Element for ScheduledLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
        self.onward = cx.onward();
        // Who drops packets that wait would have their sources told too late.
        self.choosy = self.law.drops_when_leaving();
        let in_time = self.detecting.is_some() && self.choosy;
        self.lazy = (self.standing.lazy || self.standing.expects) && !in_time;
        let plain = self.conditioning.is_empty() && !self.line.has_residual();
        self.swift = plain && self.law.is_transparent() && !cx.is_observed();
    }

    fn books(&self) -> bool {
        true
    }

    fn ahead(&self) -> Span {
        self.line.delay
    }

    fn rate(&self) -> Option<Rate> {
        Some(self.line.rate)
    }

    fn can_lag(&self) -> bool {
        true
    }

    fn expects(&self) -> bool {
        self.detecting.is_none()
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.meet(packet, cx.now(), cx);
        self.arm(cx);
    }

    fn told(&mut self, cx: &mut Context<'_>) {
        if !self.standing.expects {
            return;
        }
        self.meet_expected(cx);
        if self.standing.quiet {
            cx.listen_when_many();
        } else {
            self.arm_for_expected(cx);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            if let Some(next) = self.line.arrive(cx) {
                cx.wake_at(next, OUT);
            }
            return;
        }
        if self.lazy {
            cx.uncount_event();
        }
        if self.alarm != cx.now() {
            return;
        }
        self.alarm = Time::NEVER;
        if self.standing.expects {
            self.meet_expected(cx);
            // Of what hosts send that are run late, no more is known.
            let known = cx.now().since(Time::ZERO + self.standing.late);
            self.serve_in_arrears(Time::ZERO + known, cx);
            self.arm_for_expected(cx);
            return;
        }
        if self.lazy {
            self.serve_in_arrears(cx.now(), cx);
        } else if self.line.free_at <= cx.now() {
            self.serve(cx.now(), cx);
        }
        self.arm(cx);
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.standing.expects {
            self.meet_expected(cx);
        }
        if self.lazy {
            self.serve_in_arrears(now, cx);
        }
        if self.standing.quiet {
            self.line.let_out(now, cx);
        }
        self.line.settle(false, cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.law.gauges(tell);
        if let Some(detecting) = &self.detecting {
            detecting.gauges(tell);
        }
    }

    /// What was announced is held by who expects it.
    fn held(&self) -> u64 {
        self.line.slots.len() as u64 + u64::from(self.law.backlog().packets)
    }
}
