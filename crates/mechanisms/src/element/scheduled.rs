//! Links whose queue chooses the next packet when the transmitter is free.
//!
//! While packets wait that costs a second event for each, at the end of each transmission. Where
//! nobody needs to know at once what leaves ([`Standing::lazy`]), the choice is made later, in
//! arrears: before the next arrival, when somebody looks, or at the last when the packet could have
//! reached the far end. Nothing has arrived in between, so the choice is the one that it would have
//! been in its time.

use forebay_kernel::Stream;
use forebay_network::{
    Context, Departure, Element, Observation, Packet, QueueDiscipline, Standing, Verdict,
};
use forebay_units::{Span, Time};

use super::detecting::Detecting;
use super::line::{Conditioning, Line, Sent};
use super::link::OUT;

/// The token of another timer: the transmitter is free and packets wait; of a lazy link: the first
/// that waits could have reached the far end.
const FREE: u32 = 1;

/// A link whose queue chooses the next packet when the transmitter is free.
pub(super) struct ScheduledLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    law: Box<dyn QueueDiscipline>,
    stream: Stream,
    detecting: Option<Detecting>,
    /// Whether a timer is set for the end of the transmission.
    waking: bool,
    standing: Standing,
    /// Whether packets are chosen in arrears.
    lazy: bool,
    /// Whether an idle link lets every packet pass at once.
    swift: bool,
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
            waking: false,
            standing: Standing::default(),
            lazy: false,
            swift: false,
        }
    }

    /// Transmit the next packet at `now` if the transmitter is free.
    #[inline]
    fn serve(&mut self, now: Time, cx: &mut Context<'_>) {
        if self.line.free_at > now {
            return;
        }
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
        self.transmit(&packet, now, cx);
    }

    /// Transmit `packet` from `now` on.
    #[inline(always)]
    fn transmit(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        if self.standing.early {
            let out = self.line.transmit(packet, now);
            self.line.last = Some(Sent::new(packet, now));
            cx.announce(packet, out);
            return;
        }
        let alone = self.line.slots.is_empty();
        let out = self.line.book(packet, now);
        if alone && !self.standing.quiet {
            cx.wake_at(out, OUT);
        }
    }

    /// `packet`, which found the link idle, passes.
    #[inline]
    fn pass(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        Line::count_arrival(self.line.link, packet, cx);
        if let Some(detecting) = &mut self.detecting {
            detecting.arrives(packet, now);
            detecting.judge(packet, false, cx);
        }
        self.transmit(packet, now, cx);
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

    /// If sinks follow: let the packets go that have reached the far end by now.
    fn let_out(&mut self, cx: &mut Context<'_>) {
        if !self.standing.quiet {
            return;
        }
        while let Some(slot) = self.line.slots.front()
            && slot.out <= cx.now()
        {
            cx.crossed_at(&slot.packet, slot.out);
            self.line.slots.pop_front();
        }
    }

    /// Have somebody look again if packets wait: at the end of the transmission, or before what
    /// follows it could have reached the far end.
    #[inline]
    fn arm(&mut self, cx: &mut Context<'_>) {
        if !self.waking && self.line.backlog().packets > 0 {
            let spare = match (self.lazy, self.standing.quiet) {
                (true, true) => return,
                // Where this is done late, it still must be in time for others.
                (true, false) => self.line.delay - self.standing.late,
                (false, _) => Span::ZERO,
            };
            self.waking = true;
            cx.wake_at(self.line.free_at + spare, FREE);
        }
    }

    /// Let the queue decide over `packet`; whether it was taken in.
    #[inline]
    fn decide(&mut self, packet: &mut Packet, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
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
        let verdict = self.law.enqueue(*packet, idle_since, now, &mut self.stream, &mut discard);
        if cx.is_observed() {
            self.law.adjustments(&mut |adjustment| {
                cx.observe(|| Observation::Adjusted { link, adjustment });
            });
        }
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => Line::mark(link, packet, cx),
            Verdict::Drop(reason) => {
                cx.discard(link, packet, reason);
                return false;
            }
        }
        if idle_since.is_some() {
            self.line.busy_below(now);
        }
        self.line.waits(packet, now);
        true
    }
}

impl Element for ScheduledLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
        // Who drops packets that wait would have their sources told too late.
        let in_time = self.detecting.is_some() && self.law.drops_when_leaving();
        self.lazy = self.standing.lazy && !in_time;
        let plain = self.conditioning.is_empty() && !self.line.has_residual();
        self.swift = plain && self.law.is_transparent() && !cx.is_observed();
    }

    fn books(&self) -> bool {
        true
    }

    fn ahead(&self) -> Span {
        self.line.delay
    }

    fn can_lag(&self) -> bool {
        true
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.lazy {
            self.serve_in_arrears(now, cx);
        }
        self.let_out(cx);
        if self.swift && self.line.idle_since(now).is_some() {
            self.pass(packet, now, cx);
            return;
        }
        let mut packet = *packet;
        if !Line::colour(self.line.link, &mut self.conditioning, &mut packet, now, cx) {
            return;
        }
        Line::count_arrival(self.line.link, &packet, cx);
        if self.line.backlog().packets > 0 {
            self.serve(now, cx);
        }
        if let Some(detecting) = &mut self.detecting {
            detecting.arrives(&packet, now);
        }
        let taken = self.decide(&mut packet, cx);
        if let Some(detecting) = &mut self.detecting {
            detecting.judge(&packet, !taken, cx);
        }
        if !taken {
            return;
        }
        debug_assert_eq!(self.law.backlog(), self.line.backlog(), "a discipline lost a packet");
        let (link, backlog) = (self.line.link, self.line.backlog());
        cx.observe(|| Observation::Enqueued { link, packet: &packet, backlog });
        self.serve(now, cx);
        // A packet that is served at once has not waited.
        self.line.note_longest();
        self.arm(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            if let Some(next) = self.line.arrive(cx) {
                cx.wake_at(next, OUT);
            }
            return;
        }
        self.waking = false;
        if self.lazy {
            cx.uncount_event();
            self.serve_in_arrears(cx.now(), cx);
        } else {
            self.serve(cx.now(), cx);
        }
        self.arm(cx);
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        if self.lazy {
            self.serve_in_arrears(cx.now(), cx);
        }
        self.let_out(cx);
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
