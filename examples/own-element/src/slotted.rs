//! A slotted link: packets leave only at the beginnings of its slots in a frame, as on the way up
//! of a medium that several share by time-division multiple access.

use forebay_elements::bounds::MAX_DELAY;
use forebay_elements::link::{Link, LinkCore, LinkKind, LinkParts, LinkReader};
use forebay_network::{Context, Element, LogicalProcess, OwnCount, Packet};
use forebay_parameters::{Entry, Parameters, Problem, parameters};
use forebay_units::{Rate, Span, Time};

/// The kind of link in its table.
pub const ENTRY: Entry<LinkKind> = Entry {
    name: "slotted",
    summary: "A link whose packets leave at the beginnings of its slots in a frame, one in each.",
    source: "Bertsekas and Gallager, Data Networks, 1992, section 3.5 (multiplexing by slots)",
    example: "rate = \"10 Mbit/s\"\nslotted = { slot = \"1 ms\", slots = 4 }",
    fields: SlottedParameters::FIELDS,
    probes: &[],
    build: LinkKind::new(&read),
};

parameters! {
    /// Parameters of a slotted link.
    pub struct SlottedParameters {
        /// Length of a slot. A packet whose transmission takes longer is sent all the same, and the
        /// next one leaves in the first slot of the link after it.
        slot: Span, "-";
        /// Slots of a frame.
        slots: u32 = 1, "-";
        /// The slot that is the link's, from 0.
        own: u32 = 0, "-";
    }
}

fn read(link: &LinkReader<'_, '_>) -> Result<Option<Box<dyn Link>>, Problem> {
    let SlottedParameters { slot, slots, own } = SlottedParameters::read(link.own)?;
    if slot == Span::ZERO || slot.ps() > MAX_DELAY.ps() / u64::from(slots.max(1)) {
        return Err(link.own.fail("slot", "is out of range; a frame takes time, up to 100 days"));
    }
    if own >= slots {
        let message = format!("is no slot of the frame; allowed are numbers below {slots}");
        return Err(link.own.fail("own", message));
    }
    let times =
        SlotTimes { first: slot.times(u64::from(own)), frame: slot.times(u64::from(slots)) };
    Ok(Some(Box::new(Slotted { rate: link.rate()?, delay: link.delay, times })))
}

/// A slotted link as the scenario describes it.
struct Slotted {
    rate: Rate,
    delay: Span,
    times: SlotTimes,
}

/// Beginnings of the slots of a link.
#[derive(Clone, Copy)]
struct SlotTimes {
    /// That of the first, from the start of the run.
    first: Span,
    /// Time from each to the next.
    frame: Span,
}

impl SlotTimes {
    /// The first beginning at `time` or after it.
    fn next(self, time: Time) -> Time {
        let passed = time.ps().saturating_sub(self.first.ps()).div_ceil(self.frame.ps());
        Time::ZERO + self.first + self.frame.times(passed)
    }
}

impl Link for Slotted {
    fn rate(&self) -> Rate {
        self.rate
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn may_idle(&self) -> bool {
        true
    }

    fn element(&self, parts: LinkParts) -> Box<dyn Element> {
        let core = LinkCore::new(self.rate, self.delay, parts);
        Box::new(SlottedLink { core, times: self.times, due: Time::NEVER })
    }
}

/// Timer token: a slot begins.
const SLOT: u32 = LinkCore::OUT + 1;

/// The element: conditioners, queue and transmitter are those of any link.
struct SlottedLink {
    core: LinkCore,
    times: SlotTimes,
    /// Expiry of the timer of [`SLOT`] that is in force; [`Time::NEVER`] for none.
    due: Time,
}

impl SlottedLink {
    /// Set the timer for the slot in which the next packet can leave.
    fn arm(&mut self, cx: &mut Context<'_>) {
        let ready = self.core.ready_at();
        if ready == Time::NEVER {
            return;
        }
        let next = self.times.next(ready.max(cx.now()));
        if next < self.due {
            self.due = next;
            cx.wake_at(next, SLOT);
        }
    }
}

impl LogicalProcess for SlottedLink {}

impl Element for SlottedLink {
    /// A packet that arrives at the instant at which a slot begins can have it.
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let begins = self.times.next(cx.now()) == cx.now();
        self.core.arrive(packet, begins, cx);
        self.arm(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == LinkCore::OUT {
            self.core.deliver(cx);
        } else if self.due == cx.now() {
            self.due = Time::NEVER;
            self.core.transmit(cx);
            self.arm(cx);
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        self.core.counters(cx)
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.core.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots begin at whole frames after the first, and a beginning is its own next one.
    #[test]
    fn slots_begin_at_whole_frames_after_the_first() {
        let times = SlotTimes { first: Span::from_ms(2), frame: Span::from_ms(5) };
        let next = |ms| times.next(Time::ZERO + Span::from_ms(ms));
        for (ms, expected) in [(0, 2), (2, 2), (3, 7), (7, 7), (8, 12)] {
            assert_eq!(next(ms), Time::ZERO + Span::from_ms(expected), "{ms} ms");
        }
    }
}
