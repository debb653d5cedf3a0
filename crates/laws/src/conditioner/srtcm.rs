//! The single rate three colour marker.

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
    name: "srtcm",
    summary: "Single rate three colour marker: one rate, a committed and an excess burst.",
    source: "RFC 2697",
    example: r#"
        cir = "800 kbit/s"
        cbs = "4 kB"
        ebs = "6 kB"
        mode = "aware"
    "#,
    fields: SrTcmParameters::FIELDS,
    probes: &[COMMITTED_TOKENS, EXCESS_TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of the single rate three colour marker.
    pub struct SrTcmParameters {
        /// Committed information rate: tokens arrive at it. IP headers count.
        cir: Rate, "RFC 2697, section 2";
        /// Committed burst size, for green: 0 B or at least 20 B. The bucket is full at the start.
        cbs: Size, "RFC 2697, section 2";
        /// Excess burst size, for yellow: 0 B or at least 20 B. Filled by tokens that the committed
        /// bucket has no room for; full at the start.
        ebs: Size, "RFC 2697, section 2";
        /// Treatment of the colour that a packet arrives with: blind (it is ignored) or aware (it
        /// counts).
        mode: Mode = "blind", "RFC 2697, section 3";
        /// Treatment of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2697, section 4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let SrTcmParameters { cir, cbs, ebs, mode, excess } = SrTcmParameters::read(section)?;
    check_depth(section, "cbs", cbs, true)?;
    check_depth(section, "ebs", ebs, true)?;
    if cbs.bytes() == 0 && ebs.bytes() == 0 {
        let message = "is 0 B, as is ebs; at most one may be 0 B (RFC 2697, section 2)";
        return Err(section.fail("cbs", message));
    }
    let (committed, beyond) = (Bucket::full(cbs), Bucket::full(ebs));
    Ok(Box::new(SrTcm { cir, committed, beyond, last: Time::ZERO, mode, excess }))
}

struct SrTcm {
    cir: Rate,
    committed: Bucket,
    /// The excess bucket.
    beyond: Bucket,
    last: Time,
    mode: Mode,
    excess: Excess,
}

impl Conditioner for SrTcm {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let spilt = self.committed.pour(earned(self.cir, now.since(self.last)));
        self.beyond.pour(spilt);
        self.last = self.last.max(now);
        let best = self.mode.best(packet);
        if best == GREEN && self.committed.covers(packet.size) {
            self.committed.take(packet.size);
            packet.precedence = GREEN;
        } else if best <= YELLOW && self.beyond.covers(packet.size) {
            self.beyond.take(packet.size);
            packet.precedence = YELLOW;
        } else {
            packet.precedence = RED;
            return self.excess.verdict();
        }
        Verdict::Accept
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        Some(self.committed.covers_at(size, self.cir, self.last, now))
    }

    fn smallest_burst(&self) -> Option<u64> {
        // Without a committed bucket nothing is meant to be green.
        Some(self.committed.depth()).filter(|depth| *depth > 0)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("committed_tokens", self.committed.bytes());
        visit("excess_tokens", self.beyond.bytes());
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        visit(&self.committed.state(Some((self.cir, Paid::Precedence(GREEN)))));
        visit(&self.beyond.state(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_units::Span;

    /// 1 Mbit/s, that is 125000 B/s, with 3000 B and 2000 B.
    fn meter(mode: Mode) -> SrTcm {
        SrTcm {
            cir: Rate::from_bps(1_000_000),
            committed: Bucket::full(Size::from_bytes(3000)),
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

    /// Packets get the colours of RFC 2697, section 3: 125 B arrive each ms, into the committed
    /// bucket first, what it has no room for into the other.
    #[test]
    fn colours_follow_the_standard() {
        check(
            Mode::Blind,
            &[
                (0, 1500, GREEN, GREEN, 1500.0, 2000.0),
                (0, 1500, GREEN, GREEN, 0.0, 2000.0),
                (0, 1500, YELLOW, YELLOW, 0.0, 500.0),
                (0, 1500, GREEN, RED, 0.0, 500.0),
                (10, 1000, YELLOW, GREEN, 250.0, 500.0),
                (20, 1500, RED, GREEN, 0.0, 500.0),
                (50, 1500, GREEN, GREEN, 1500.0, 1250.0),
            ],
        );
        check(
            Mode::Aware,
            &[
                (0, 1500, GREEN, GREEN, 1500.0, 2000.0),
                (0, 1500, GREEN, GREEN, 0.0, 2000.0),
                (0, 1500, YELLOW, YELLOW, 0.0, 500.0),
                (0, 1500, GREEN, RED, 0.0, 500.0),
                (10, 1000, YELLOW, RED, 1250.0, 500.0),
                (20, 1500, RED, RED, 2500.0, 500.0),
                (50, 1500, GREEN, GREEN, 1500.0, 2000.0),
            ],
        );
    }

    /// The time at which a packet is green is foreseen, for a green shaper in front: from 0 B, 1500
    /// B need 12 ms at 125000 B/s.
    #[test]
    fn green_is_foreseen() {
        let mut law = meter(Mode::Blind);
        law.committed.take(3000);
        let at = law.green_at(Size::from_bytes(1500), Time::ZERO);
        assert_eq!(at, Some(Time::ZERO + Span::from_ms(12)));
        assert_eq!(law.green_at(Size::from_bytes(3001), Time::ZERO), Some(Time::NEVER));
    }
}
