//! Real-time media: an encoder makes frames, whose packets wait in the sender's buffer and leave at
//! the rate that a law of rate adaptation allows; receivers report what the law measures there.

mod encoder;
mod plan;
mod receiver;

use forebay_kernel::Streams;
use forebay_laws::adaptation::{AdaptationKind, EncoderFacts, RateAdaptation, Report};
use forebay_network::{Context, Ecn, Element, LogicalProcess, Lookahead, Packet, PacketKind};
use forebay_parameters::{Problem, Section, parameters};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::FlowGroup;
use super::end_flow;
use encoder::Encoder;

pub use plan::ENTRY;
pub use receiver::{MediaReceivers, MediaRoutes};

parameters! {
    /// Parameters of real-time media. Rates are those of packets with their headers.
    pub struct MediaParameters {
        /// Number of frames in a second.
        frame_rate: f64 = 30.0, "RFC 8698, section 4.1, table 2 (FPS)";
        /// Least rate of the encoder.
        min_rate: Rate = "150 kbit/s", "RFC 8698, section 4.1, table 2 (RMIN)";
        /// Greatest rate of the encoder.
        max_rate: Rate = "1.5 Mbit/s", "RFC 8698, section 4.1, table 2 (RMAX)";
        /// Rate at the beginning; the least if left out.
        start_rate: Option<Rate>, "RFC 8867, section 4.3";
        /// Time that the encoder takes to follow a new rate.
        reaction: Span = "100 ms", "RFC 8867, section 4.3";
        /// Scale of the Laplace distribution of frame sizes about their mean, over that mean; at
        /// most a frame is twice as large. 0 for frames of one size.
        size_scale: f64 = 0.15, "RFC 8593, section 5 (SCALE_B)";
        /// Most data in a packet.
        payload: Size = "1000 B", "-";
        /// Bytes of IP, UDP and RTP header within each packet: goodput counts the rest.
        header: Size = "40 B", "RFC 791; RFC 768; RFC 3550, section 5.1";
        /// Size of a report.
        report: Size = "64 B", "RFC 8698, section 5.3 (48 bits in a packet of RTCP)";
        /// Send ECN-capable packets.
        ecn: bool = false, "RFC 6679";
    }
}

/// The greatest rate that a report can say (RFC 8698, section 5.3).
const MAX_RATE: Rate = Rate::from_bps(u32::MAX as u64);

impl MediaParameters {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if !(0.1..=1000.0).contains(&self.frame_rate) {
            let message = format!("{} is out of range; allowed are 0.1 to 1000", self.frame_rate);
            return Err(section.fail("frame_rate", message));
        }
        if !(0.0..=1.0).contains(&self.size_scale) {
            let message = format!("{} is out of range; allowed are 0 to 1", self.size_scale);
            return Err(section.fail("size_scale", message));
        }
        let (least, most) = (self.min_rate, self.max_rate);
        if least.bps() == 0 {
            return Err(section.fail("min_rate", "is no rate; allowed are 1 bit/s and more"));
        }
        if most < least || most > MAX_RATE {
            let message = "is out of range; allowed are min_rate to 4294967295 bit/s, the most \
                           that a report can say";
            return Err(section.fail("max_rate", message));
        }
        if self.start_rate.is_some_and(|start| !(least..=most).contains(&start)) {
            let message = "is out of range; allowed are rates from min_rate to max_rate";
            return Err(section.fail("start_rate", message));
        }
        if self.payload.bytes() == 0 {
            return Err(section.fail("payload", "is nothing; allowed are 1 B and more"));
        }
        if self.largest() > 65_535 {
            let message = "is too large; with header a packet has at most 65535 B";
            return Err(section.fail("payload", message));
        }
        if !(1..=65_535).contains(&self.report.bytes()) {
            return Err(section.fail("report", "is not a packet size; allowed are 1 B to 65535 B"));
        }
        Ok(())
    }

    /// Size of the largest packet in bytes.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.payload.bytes().saturating_add(self.header.bytes())
    }

    /// The rate at the beginning.
    #[must_use]
    pub fn start(&self) -> Rate {
        self.start_rate.unwrap_or(self.min_rate)
    }
}

/// The senders of one group of media flows.
pub struct MediaSenders {
    group: FlowGroup,
    marking: Ecn,
    senders: Vec<Sender>,
}

/// One sender.
struct Sender {
    encoder: Encoder,
    law: Box<dyn RateAdaptation>,
    next: Next,
    /// Packets sent.
    sent: u64,
    /// The round-trip time of the latest report, in seconds.
    rtt: f64,
}

impl Sender {
    /// Have the encoder follow the law's rate, as it is at `now`.
    fn follow(&mut self, now: Time) {
        let rates = self.law.rates(self.encoder.waiting_bits());
        self.encoder.set_rate(rates.encoder, now + self.encoder.reaction());
    }
}

/// The event for which the next packet waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A frame.
    Frame,
    /// A time: the timer is set.
    Time,
    /// Leave of the law.
    Law,
}

/// A timer token is twice the index of a flow, plus one for its packets.
const FRAME: u32 = 0;
const PACKET: u32 = 1;
/// The group ends at its stop time.
const STOP: u32 = u32::MAX;

impl MediaSenders {
    /// The senders of `group`, with laws of `kind`; its path names their random streams.
    #[must_use]
    pub fn new(
        group: FlowGroup,
        parameters: &MediaParameters,
        kind: &AdaptationKind,
        streams: &Streams,
    ) -> Self {
        let facts = EncoderFacts {
            range: (parameters.min_rate, parameters.max_rate),
            start: parameters.start(),
            frame_rate: parameters.frame_rate,
        };
        let name = format!("{}.frames", group.path);
        let sender = |number: u64| {
            let law = (kind.make)(&facts);
            let encoder = Encoder::new(parameters, streams.numbered(&name, number));
            Sender { encoder, law, next: Next::Frame, sent: 0, rtt: f64::NAN }
        };
        let senders = (0..group.starts.len() as u64).map(sender).collect();
        let marking = if parameters.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        Self { group, marking, senders }
    }

    /// The encoder of flow `index` has a frame ready, and begins with the next.
    fn frame(&mut self, index: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let sender = &mut self.senders[index as usize];
        let waiting = sender.encoder.waiting_bits();
        sender.encoder.frame(now);
        let all = sender.encoder.waiting_bits();
        if sender.law.on_frame(all - waiting, waiting, now) {
            sender.follow(now);
        }
        cx.wake_at(now + sender.encoder.interval(), 2 * index + FRAME);
        if sender.next != Next::Time {
            self.packet(index, cx);
        }
    }

    /// A packet of flow `index` leaves, if one waits and the law lets it.
    fn packet(&mut self, index: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let sender = &mut self.senders[index as usize];
        let Some(size) = sender.encoder.next_size() else {
            sender.next = Next::Frame;
            return;
        };
        if !sender.law.may_send(size) {
            sender.next = Next::Law;
            return;
        }
        sender.encoder.pop();
        let flow = self.group.first.nth(index);
        let packet = Packet::data(now, flow, sender.sent, size, self.group.route);
        sender.law.on_sent(sender.sent, size, now);
        sender.sent += 1;
        let rate = sender.law.rates(sender.encoder.waiting_bits()).sending;
        let gap = f64::from(size) * 8.0 * PS_PER_S as f64 / rate;
        sender.next = Next::Time;
        cx.wake_at(now + Span::nearest(gap.ceil()), 2 * index + PACKET);
        cx.send(packet.with_marking(self.group.marking).with_ecn(self.marking));
    }
}

impl LogicalProcess for MediaSenders {}

impl Element for MediaSenders {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.group.stop != Time::NEVER {
            cx.wake_at(self.group.stop, STOP);
        }
        for (index, start) in (0..).zip(std::mem::take(&mut self.group.starts)) {
            let sender = &mut self.senders[index as usize];
            sender.encoder.set_rate(sender.law.rates(0.0).encoder, start);
            cx.wake_at(start, 2 * index + FRAME);
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.group.route))
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if packet.kind() != PacketKind::Report {
            return;
        }
        let now = cx.now();
        let arrived = cx.sack_blocks().take(packet.sack_slot());
        let index = packet.flow.index_in(self.group.first);
        let sender = &mut self.senders[index as usize];
        let rtt = now.since(Time::from_ps(packet.number));
        sender.rtt = rtt.seconds();
        sender.law.on_report(&Report { word: packet.tag, arrived }, rtt, now);
        sender.follow(now);
        if sender.next == Next::Law && now < self.group.stop {
            self.packet(index, cx);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == STOP {
            let flows = self.senders.len() as u32;
            (0..flows).for_each(|index| end_flow(self.group.first.nth(index), cx));
            return;
        }
        // What waits when the group ends is of no use any more.
        if cx.now() >= self.group.stop {
            return;
        }
        let index = token / 2;
        if token % 2 == FRAME { self.frame(index, cx) } else { self.packet(index, cx) }
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(index) = part.checked_sub(1) {
            let sender = &self.senders[index as usize];
            visit("encoder_bps", sender.encoder.rate());
            visit("waiting_bytes", sender.encoder.waiting_bits() / 8.0);
            visit("rtt_s", sender.rtt);
            sender.law.probes(visit);
            return;
        }
        let sum: f64 = self.senders.iter().map(|sender| sender.encoder.rate()).sum();
        visit("mean_encoder_bps", sum / self.senders.len() as f64);
        if let [sender] = self.senders.as_slice() {
            visit("waiting_bytes", sender.encoder.waiting_bits() / 8.0);
            visit("rtt_s", sender.rtt);
            sender.law.probes(visit);
        }
    }
}
