//! The two rate three colour marker with efficient handling of in-profile traffic.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Paid, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::{
    Bucket, COMMITTED_TOKENS, EXCESS_TOKENS, Excess, GREEN, Mode, RED, YELLOW, check_depth, earned,
};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "drtcm",
    summary: "Two rate three colour marker whose committed and excess rates are independent: \
              yellow packets never use up what green ones may have.",
    source: "RFC 4115",
    example: r#"
        cir = "500 kbit/s"
        cbs = "4 kB"
        eir = "400 kbit/s"
        ebs = "4 kB"
        excess = "drop"
    "#,
    fields: DrTcmParameters::FIELDS,
    probes: &[COMMITTED_TOKENS, EXCESS_TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of the two rate three colour marker of RFC 4115.
    pub struct DrTcmParameters {
        /// Committed information rate. IP headers count.
        cir: Rate, "RFC 4115";
        /// Committed burst size, for green: 0 B, or more than the largest packet that shall be
        /// green, and at least 20 B. The bucket is full at the start.
        cbs: Size, "RFC 4115";
        /// Excess information rate: that of yellow packets, beside the committed one. IP headers
        /// count.
        eir: Rate, "RFC 4115";
        /// Excess burst size, for yellow: like `cbs`. The bucket is full at the start.
        ebs: Size, "RFC 4115";
        /// Treatment of the colour that a packet arrives with: blind (it is ignored) or aware (it
        /// counts).
        mode: Mode = "blind", "RFC 4115";
        /// Treatment of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2475, section 2.3.3.4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let DrTcmParameters { cir, cbs, eir, ebs, mode, excess } = DrTcmParameters::read(section)?;
    check_depth(section, "cbs", cbs, true)?;
    check_depth(section, "ebs", ebs, true)?;
    if cbs.bytes() == 0 && ebs.bytes() == 0 {
        let message = "is 0 B, as is ebs: every packet would be red; at most one may be 0 B";
        return Err(section.fail("cbs", message));
    }
    let (committed, beyond) = (Bucket::full(cbs), Bucket::full(ebs));
    Ok(Box::new(DrTcm { cir, committed, eir, beyond, last: Time::ZERO, mode, excess }))
}

struct DrTcm {
    cir: Rate,
    committed: Bucket,
    eir: Rate,
    /// The excess bucket.
    beyond: Bucket,
    last: Time,
    mode: Mode,
    excess: Excess,
}

/// Content that a bucket needs for a packet of `size` bytes: one token of a byte more than it takes
/// out. The RFC asks for Tc(t) - B > 0, where RFC 2697 and RFC 2698 ask for Tc(t) - B >= 0.
#[inline]
fn needed(size: u64) -> Size {
    Size::from_bytes(size.saturating_add(1))
}

/// Take the tokens for `packet` out of `bucket` if there are enough.
#[inline]
fn pays(bucket: &mut Bucket, packet: &Packet) -> bool {
    let pays = !bucket.is_below(needed(u64::from(packet.size)));
    if pays {
        bucket.take(packet.size);
    }
    pays
}

impl Conditioner for DrTcm {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let span = now.since(self.last);
        self.committed.pour(earned(self.cir, span));
        self.beyond.pour(earned(self.eir, span));
        self.last = self.last.max(now);
        let best = self.mode.best(packet);
        if best == GREEN && pays(&mut self.committed, packet) {
            packet.precedence = GREEN;
        } else if best <= YELLOW && pays(&mut self.beyond, packet) {
            packet.precedence = YELLOW;
        } else {
            packet.precedence = RED;
            return self.excess.verdict();
        }
        Verdict::Accept
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        Some(self.committed.covers_at(needed(size.bytes()), self.cir, self.last, now))
    }

    fn smallest_burst(&self) -> Option<u64> {
        // Without a committed bucket nothing is meant to be green.
        self.committed.depth().checked_sub(1)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("committed_tokens", self.committed.bytes());
        visit("excess_tokens", self.beyond.bytes());
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        visit(&self.committed.state(Some((self.cir, Paid::Precedence(GREEN)))));
        visit(&self.beyond.state(Some((self.eir, Paid::Precedence(YELLOW)))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_units::Span;

    /// CIR 125000 B/s with 3000 B, EIR 250000 B/s with 2000 B.
    fn meter(mode: Mode) -> DrTcm {
        DrTcm {
            cir: Rate::from_bps(1_000_000),
            committed: Bucket::full(Size::from_bytes(3000)),
            eir: Rate::from_bps(2_000_000),
            beyond: Bucket::full(Size::from_bytes(2000)),
            last: Time::ZERO,
            mode,
            excess: Excess::Mark,
        }
    }

    /// Time in ms, size in B, colour in, then colour out with the tokens left in both buckets.
    type Step = (u64, u16, u8, u8, f64, f64);

    fn check(mode: Mode, steps: &[Step]) {
        let mut law = meter(mode);
        for &(ms, size, before, after, committed, beyond) in steps {
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, size, RouteId::new(0))
                .with_precedence(before);
            let now = Time::ZERO + Span::from_ms(ms);
            law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
            let tokens = (law.committed.bytes(), law.beyond.bytes());
            assert_eq!((packet.precedence, tokens), (after, (committed, beyond)), "{mode:?} {ms}");
        }
    }

    /// Packets get the colours of RFC 4115: 125 B and 250 B arrive each ms; green takes from the
    /// committed bucket alone and yellow from the excess bucket alone, red from none. 1500 B left
    /// are not enough for 1500 B: 1500 - 1500 is not above 0.
    #[test]
    fn colours_follow_the_standard() {
        check(
            Mode::Blind,
            &[
                (0, 1500, RED, GREEN, 1500.0, 2000.0),
                (0, 1500, GREEN, YELLOW, 1500.0, 500.0),
                (0, 1499, YELLOW, GREEN, 1.0, 500.0),
                (0, 1000, GREEN, RED, 1.0, 500.0),
                (4, 1000, GREEN, YELLOW, 501.0, 500.0),
                (8, 1000, YELLOW, GREEN, 1.0, 1500.0),
                (40, 1500, GREEN, GREEN, 1500.0, 2000.0),
            ],
        );
        check(
            Mode::Aware,
            &[
                (0, 1500, RED, RED, 3000.0, 2000.0),
                (0, 1500, GREEN, GREEN, 1500.0, 2000.0),
                (0, 1500, YELLOW, YELLOW, 1500.0, 500.0),
                (0, 500, YELLOW, RED, 1500.0, 500.0),
                (4, 1500, GREEN, GREEN, 500.0, 1500.0),
                (4, 500, GREEN, YELLOW, 500.0, 1000.0),
                (40, 3000, GREEN, RED, 3000.0, 2000.0),
            ],
        );
    }

    /// Yellow traffic costs green packets no colour, unlike under RFC 2698, where both draw on the
    /// peak bucket: 4 Mbit/s of yellow packets, twice the EIR, and between them green ones at 0.8
    /// Mbit/s, below the CIR of 1 Mbit/s, all of which stay green.
    #[test]
    fn traffic_in_profile_stays_green() {
        let mut law = meter(Mode::Aware);
        let mut stream = Streams::new(0, 0).named("test");
        let (mut yellow, mut red) = (0, 0);
        for step in 0..10_000 {
            let now = Time::ZERO + Span::from_ms(2 * step);
            // 1000 B every 2 ms are 4 Mbit/s, every 10 ms 0.8 Mbit/s.
            let mut packet = Packet::data(now, FlowId::new(0), step, 1000, RouteId::new(0))
                .with_precedence(YELLOW);
            law.condition(&mut packet, now, &mut stream);
            yellow += u32::from(packet.precedence == YELLOW);
            red += u32::from(packet.precedence == RED);
            if step % 5 == 0 {
                let mut packet = Packet::data(now, FlowId::new(0), step, 1000, RouteId::new(0))
                    .with_precedence(GREEN);
                law.condition(&mut packet, now, &mut stream);
                assert_eq!(packet.precedence, GREEN, "{step}");
            }
        }
        // 250 B/ms for 20 s and the first 2000 B, of which less than a packet may be left over.
        let most = (250 * 19_998 + 2000) / 1000;
        assert!((most - 1..=most).contains(&yellow), "{yellow} of at most {most}");
        assert_eq!(yellow + red, 10_000);
    }

    /// The time at which a packet is green is foreseen, for a green shaper in front: from 0 B, 1501
    /// B take 12.008 ms at 125000 B/s; with as much as the burst size a packet is never green.
    #[test]
    fn green_is_foreseen() {
        let mut law = meter(Mode::Blind);
        law.committed.take(3000);
        let green_at = |law: &DrTcm, bytes| law.green_at(Size::from_bytes(bytes), Time::ZERO);
        assert_eq!(green_at(&law, 1500), Some(Time::ZERO + Span::from_us(12_008)));
        assert_eq!(green_at(&law, 3000), Some(Time::NEVER));
        assert_eq!(law.smallest_burst(), Some(2999));
    }
}
