//! Links whose queue chooses the next packet when the transmitter is free.

use forebay_kernel::Stream;
use forebay_network::{
    Context, Departure, Element, Observation, Packet, QueueDiscipline, Standing, Verdict,
};
use forebay_units::Span;

use super::line::{Conditioning, Line, Sent};
use super::link::OUT;

/// The token of another timer: the transmitter is free and packets wait.
const FREE: u32 = 1;

/// A link whose queue chooses the next packet when the transmitter is free.
pub(super) struct ScheduledLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    law: Box<dyn QueueDiscipline>,
    stream: Stream,
    /// Whether a timer is set for the end of the transmission.
    waking: bool,
    standing: Standing,
}

impl ScheduledLink {
    pub(super) fn new(
        line: Line,
        conditioning: Vec<Conditioning>,
        law: Box<dyn QueueDiscipline>,
        stream: Stream,
    ) -> Self {
        let standing = Standing::default();
        Self { line, conditioning, law, stream, waking: false, standing }
    }

    /// Transmit the next packet if the transmitter is free.
    fn serve(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.line.free_at > now {
            return;
        }
        let link = self.line.link;
        let line = &mut self.line;
        let next = self.law.dequeue(now, &mut self.stream, &mut |packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
        });
        let Some(Departure { mut packet, marked }) = next else { return };
        self.line.waits_no_more(&packet, now);
        if marked {
            Line::mark(link, &mut packet, cx);
        }
        if self.standing.early {
            let out = self.line.transmit(&packet, now);
            self.line.last = Some(Sent::new(&packet, now));
            cx.announce(&packet, out);
            return;
        }
        let alone = self.line.slots.is_empty();
        let out = self.line.book(&packet, now);
        if alone && !self.standing.quiet {
            cx.wake_at(out, OUT);
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

    /// Have somebody look again at the end of the transmission if packets wait.
    fn arm(&mut self, cx: &mut Context<'_>) {
        if !self.waking && self.line.backlog().packets > 0 {
            self.waking = true;
            cx.wake_at(self.line.free_at, FREE);
        }
    }
}

impl Element for ScheduledLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
    }

    fn books(&self) -> bool {
        true
    }

    fn ahead(&self) -> Span {
        self.line.delay
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.let_out(cx);
        let mut packet = *packet;
        if !Line::colour(self.line.link, &mut self.conditioning, &mut packet, now, cx) {
            return;
        }
        Line::count_arrival(self.line.link, &packet, cx);
        if self.line.backlog().packets > 0 {
            self.serve(cx);
        }
        let idle_since = self.line.idle_since(now);
        let link = self.line.link;
        let line = &mut self.line;
        let mut discard = |packet: Packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
        };
        let verdict = self.law.enqueue(packet, idle_since, now, &mut self.stream, &mut discard);
        if cx.is_observed() {
            self.law.adjustments(&mut |adjustment| {
                cx.observe(|| Observation::Adjusted { link, adjustment });
            });
        }
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => Line::mark(link, &mut packet, cx),
            Verdict::Drop(reason) => {
                cx.discard(link, &packet, reason);
                return;
            }
        }
        if idle_since.is_some() {
            self.line.busy_below(now);
        }
        self.line.waits(&packet, now);
        debug_assert_eq!(self.law.backlog(), self.line.backlog(), "a discipline lost a packet");
        let backlog = self.line.backlog();
        cx.observe(|| Observation::Enqueued { link, packet: &packet, backlog });
        self.serve(cx);
        // A packet that is served at once has not waited.
        self.line.note_longest();
        self.arm(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            if let Some(next) = self.line.arrive(cx) {
                cx.wake_at(next, OUT);
            }
        } else {
            self.waking = false;
            self.serve(cx);
            self.arm(cx);
        }
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        self.let_out(cx);
        self.line.settle(false, cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.law.gauges(tell);
    }

    fn held(&self) -> u64 {
        self.line.slots.len() as u64 + u64::from(self.law.backlog().packets)
    }
}
