//! The shaper: a buffer whose release times a [`ShaperLaw`] decides.
//!
//! It precedes the queue of its link. The conditioners of the link are here, behind the buffer, so
//! that a green shaper can look ahead at the meter that its packets will pass.

use std::collections::VecDeque;

use forebay_network::{
    Backlog, Context, DropReason, Element, LinkId, LogicalProcess, OwnCount, Packet, ShaperLaw,
};
use forebay_units::Time;

use super::drop_arriving;
use super::link::transmitter::{Conditioning, Transmitter};

/// A buffer drained at the pace of a law, followed by conditioners.
pub struct Shaper {
    link: LinkId,
    law: Box<dyn ShaperLaw>,
    conditioning: Vec<Conditioning>,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    last_release: Option<Time>,
    /// Expiry of the timer that is in force; earlier ones are ignored.
    due: Option<Time>,
}

impl Shaper {
    /// The shaper of `link`, with the conditioners that its packets pass when they leave.
    #[must_use]
    pub fn new(link: LinkId, law: Box<dyn ShaperLaw>, conditioning: Vec<Conditioning>) -> Self {
        Self {
            link,
            law,
            conditioning,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            last_release: None,
            due: None,
        }
    }

    /// Release the packets that may leave now; set the timer for the rest.
    fn release(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while let Some(head) = self.waiting.front() {
            let meter = self.conditioning.first().map(|(law, _)| law.as_ref());
            let at = self.law.release_at(head, self.backlog, self.last_release, meter, now);
            if at > now {
                if self.due != Some(at) && at != Time::NEVER {
                    self.due = Some(at);
                    cx.wake_at(at, 0);
                }
                return;
            }
            let mut packet = self.waiting.pop_front().expect("the buffer has a head");
            self.backlog.remove(packet.queued_info());
            self.last_release = Some(now);
            if Transmitter::condition(self.link, &mut self.conditioning, &mut packet, now, cx) {
                cx.forward(&packet);
            }
        }
        self.due = None;
    }
}

impl LogicalProcess for Shaper {}

impl Element for Shaper {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if self.backlog.bytes + u64::from(packet.size) > self.law.limit() {
            drop_arriving(self.link, packet, DropReason::Shaper, cx);
            return;
        }
        self.waiting.push_back(*packet);
        self.backlog.add(packet);
        self.law.arrived(packet, self.backlog, cx.now());
        self.release(cx);
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        if self.due == Some(cx.now()) {
            self.due = None;
            self.release(cx);
        }
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        visit("shaper_packets", f64::from(self.backlog.packets));
        visit("shaper_bytes", self.backlog.bytes as f64);
        self.law.probes(visit);
        for (law, _) in &self.conditioning {
            law.probes(visit);
        }
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::held(u64::from(self.backlog.packets)).with_state(&self.conditioning)
    }
}
