//! One station on one ringlet: transit buffers, host queues, and the transmitter behind them.

use std::collections::VecDeque;

use forebay_laws::fairness::{
    RingAccess, RingClass, RingFairness, RingFrame, RingMessage, RingState,
};
use forebay_network::{Backlog, Context, DropReason, LinkId, Observation, Packet};
use forebay_units::{Rate, Size, Span, Time};

use super::host::HostQueues;
use super::{Buffers, PortParts, Ways};
use crate::count_arrival;
use crate::link::transmitter::Transmitter;

/// Next action of the station.
enum Choice {
    Message,
    Transit(RingClass),
    Host(RingClass, usize),
}

/// A station on one ringlet, with the span that leaves it.
pub(super) struct Port {
    pub(super) transmitter: Transmitter,
    pub(super) law: Box<dyn RingFairness>,
    buffers: Buffers,
    rate: Rate,
    /// High and low priority in transit; only the latter where there is a single buffer.
    transit: [VecDeque<(Packet, RingFrame)>; 2],
    transit_bytes: [u64; 2],
    hosts: [HostQueues; 2],
    /// Messages about the other ringlet that wait for this transmitter.
    pub(super) messages: VecDeque<RingMessage>,
    /// Messages on the way to the next station, with the times of their arrival.
    pub(super) told: VecDeque<(Time, RingMessage)>,
    /// True if a timer is set for the end of the transmission.
    pub(super) waking: bool,
    /// Time for which a timer is set because a law lets nothing go before.
    pub(super) due: Option<Time>,
    /// Longest wait of a host frame, by class.
    max_wait: [Span; 2],
}

impl Port {
    pub(super) fn new(parts: PortParts, buffers: Buffers, rate: Rate, stations: usize) -> Self {
        let by_destination = buffers.by_destination;
        Self {
            transmitter: Transmitter::new(parts.link, rate, parts.delay, None),
            law: parts.law,
            buffers,
            rate,
            transit: Default::default(),
            transit_bytes: [0; 2],
            hosts: [0, 1].map(|_| HostQueues::new(by_destination, stations)),
            messages: VecDeque::new(),
            told: VecDeque::new(),
            waking: false,
            due: None,
            max_wait: [Span::ZERO; 2],
        }
    }

    /// Its buffers as the law sees them.
    pub(super) fn state(&self) -> RingState {
        RingState {
            transit: self.transit_bytes[RingClass::Low as usize],
            waiting_since: self.hosts.iter().filter_map(HostQueues::waiting_since).min(),
        }
    }

    /// A packet of the host arrives.
    pub(super) fn join(&mut self, packet: &Packet, frame: &RingFrame, cx: &mut Context<'_>) {
        let (now, link) = (cx.now(), self.transmitter.link);
        let queues = &mut self.hosts[frame.class as usize];
        count_arrival(link, packet, cx);
        if !queues.push(packet, frame.ahead, self.buffers.host_limit, now) {
            cx.drop(link, packet, DropReason::Overflow);
            return;
        }
        self.law.queued(frame, now);
        self.wait(packet, cx);
    }

    /// A packet in transit arrives from the station upstream.
    pub(super) fn enter(&mut self, packet: &Packet, frame: &RingFrame, cx: &mut Context<'_>) {
        let link = self.transmitter.link;
        count_arrival(link, packet, cx);
        let buffer = if self.buffers.dual { frame.class as usize } else { RingClass::Low as usize };
        let limit = [self.buffers.high_limit, self.buffers.low_limit][buffer];
        if self.transit_bytes[buffer] + u64::from(packet.size) > limit {
            cx.drop(link, packet, DropReason::Overflow);
            return;
        }
        self.law.entered(frame, cx.now());
        self.transit[buffer].push_back((*packet, *frame));
        self.transit_bytes[buffer] += u64::from(packet.size);
        self.wait(packet, cx);
    }

    fn wait(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.transmitter.count_enqueued(packet, cx.now());
        let (link, backlog): (LinkId, Backlog) =
            (self.transmitter.link, self.transmitter.backlog());
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
    }

    /// Returns true if anything waits for the transmitter.
    pub(super) fn is_waiting(&self) -> bool {
        self.transmitter.backlog().packets > 0 || !self.messages.is_empty()
    }

    /// The transmitter is free: send what goes next. What was sent of packets, and when it reaches
    /// the next station; when to ask again if a law lets nothing go before.
    pub(super) fn serve(&mut self, ways: &Ways, place: usize, message: Size, now: Time) -> Served {
        let mut again = None;
        let Some(choice) = self.choose(ways, place, now, &mut again) else {
            return Served::Nothing(again);
        };
        let packet = match choice {
            Choice::Message => {
                let news = self.messages.pop_front().expect("one was there to choose");
                self.transmitter.free_at = now + self.rate.transmission_time(message);
                let out = self.transmitter.free_at + self.transmitter.delay;
                self.told.push_back((out, news));
                return Served::Message(out);
            }
            Choice::Transit(class) => {
                let buffer = class as usize;
                let (packet, frame) = self.transit[buffer].pop_front().expect("it was looked at");
                self.transit_bytes[buffer] -= u64::from(packet.size);
                self.law.forwarded(&frame, now);
                packet
            }
            Choice::Host(class, queue) => {
                let (packet, since) = self.hosts[class as usize].take(queue);
                let longest = &mut self.max_wait[class as usize];
                *longest = (*longest).max(now.since(since));
                self.law.sent(&ways.frame(&packet, place), now);
                packet
            }
        };
        self.transmitter.count_dequeued(&packet, now);
        Served::Packet(self.transmitter.schedule_tx(&packet, now))
    }

    /// RFC 2892, section 5.1 and figure 17; with a single buffer, transit goes before the host.
    fn choose(
        &self,
        ways: &Ways,
        place: usize,
        now: Time,
        again: &mut Option<Time>,
    ) -> Option<Choice> {
        use RingClass::{High, Low};
        if !self.messages.is_empty() {
            return Some(Choice::Message);
        }
        if !self.transit[High as usize].is_empty() {
            return Some(Choice::Transit(High));
        }
        let low = (!self.transit[Low as usize].is_empty()).then_some(Choice::Transit(Low));
        if !self.buffers.dual && low.is_some() {
            return low;
        }
        let transit = self.transit_bytes[Low as usize];
        if self.buffers.dual && transit + self.buffers.reserve > self.buffers.low_limit {
            return low;
        }
        let mut host = |class| self.open(class, |packet| ways.frame(packet, place), now, again);
        host(High)
            .or_else(|| {
                if self.buffers.dual && transit > self.buffers.stop { None } else { host(Low) }
            })
            .or(low)
    }

    /// The first host queue of `class` whose head may go.
    fn open(
        &self,
        class: RingClass,
        frame_of: impl Fn(&Packet) -> RingFrame,
        now: Time,
        again: &mut Option<Time>,
    ) -> Option<Choice> {
        let queues = &self.hosts[class as usize];
        if queues.packets() == 0 {
            return None;
        }
        let state = self.state();
        for (place, packet) in queues.heads() {
            match self.law.access(&frame_of(packet), &state, now) {
                RingAccess::Open => return Some(Choice::Host(class, place)),
                RingAccess::Until(time) => *again = Some(again.map_or(time, |t| t.min(time))),
                RingAccess::Closed => {}
            }
        }
        None
    }

    pub(super) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
        visit("transit_high_bytes", self.transit_bytes[0] as f64);
        visit("transit_low_bytes", self.transit_bytes[1] as f64);
        visit("host_high_bytes", self.hosts[0].bytes() as f64);
        visit("host_low_bytes", self.hosts[1].bytes() as f64);
        visit("host_high_max_wait_s", self.max_wait[0].seconds());
        visit("host_low_max_wait_s", self.max_wait[1].seconds());
    }

    pub(super) fn held(&self) -> u64 {
        let waiting = u64::from(self.transmitter.backlog().packets);
        waiting + self.transmitter.in_flight.len() as u64
    }
}

/// Outcome for a free transmitter.
pub(super) enum Served {
    /// A packet is being sent; it reaches the next station then.
    Packet(Time),
    /// A message is being sent; it reaches the next station then.
    Message(Time),
    /// Nothing may go; look again then, if a time is known.
    Nothing(Option<Time>),
}
