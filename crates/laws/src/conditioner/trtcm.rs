//! The two rate three colour marker.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Paid, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::quantity::show_rate;
use forebay_units::{Rate, Size, Span, Time};

use super::BuildConditioner;
use super::bucket::{
    Bucket, COMMITTED_TOKENS, Count, Excess, GREEN, Mode, PEAK_TOKENS, RED, check_depth, is_small,
};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "trtcm",
    summary: "Two rate three colour marker: a committed and a peak rate, each with its burst.",
    source: "RFC 2698",
    example: r#"
        cir = "500 kbit/s"
        cbs = "4 kB"
        pir = "900 kbit/s"
        pbs = "4 kB"
        excess = "drop"
    "#,
    fields: TrTcmParameters::FIELDS,
    probes: &[COMMITTED_TOKENS, PEAK_TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of the two rate three colour marker.
    pub struct TrTcmParameters {
        /// Committed information rate. IP headers count.
        cir: Rate, "RFC 2698, section 2";
        /// Committed burst size, at least 20 B. The bucket is full at the start.
        cbs: Size, "RFC 2698, section 2";
        /// Peak information rate, at least the committed one.
        pir: Rate, "RFC 2698, section 2";
        /// Peak burst size, at least 20 B. The bucket is full at the start.
        pbs: Size, "RFC 2698, section 2";
        /// Treatment of the colour that a packet arrives with: blind (it is ignored) or aware (it
        /// counts).
        mode: Mode = "blind", "RFC 2698, section 3";
        /// Treatment of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2698, section 4";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let TrTcmParameters { cir, cbs, pir, pbs, mode, excess } = TrTcmParameters::read(section)?;
    check_depth(section, "cbs", cbs, false)?;
    check_depth(section, "pbs", pbs, false)?;
    check_peak(section, cir, pir)?;
    Ok(if is_small(cbs.max(pbs)) {
        Box::new(TrTcm::<i64>::new((cir, cbs), (pir, pbs), mode, excess))
    } else {
        Box::new(TrTcm::<i128>::new((cir, cbs), (pir, pbs), mode, excess))
    })
}

/// Refuse a peak rate below the committed one.
pub(super) fn check_peak(section: &Section<'_>, cir: Rate, pir: Rate) -> Result<(), Problem> {
    if pir >= cir {
        return Ok(());
    }
    let message = format!(
        "\"{}\" is below the committed rate; allowed is at least \"{}\"",
        show_rate(pir),
        show_rate(cir)
    );
    Err(section.fail("pir", message))
}

/// The marker with its two buckets, neither of which is ever in debt.
#[derive(Clone)]
pub(super) struct TrTcm<N = i128> {
    pub cir: Rate,
    pub committed: Bucket<N>,
    pub pir: Rate,
    pub peak: Bucket<N>,
    last: Time,
    mode: Mode,
    excess: Excess,
}

impl<N: Count> TrTcm<N> {
    /// With full buckets, given rate and depth of each.
    pub fn new(
        (cir, cbs): (Rate, Size),
        (pir, pbs): (Rate, Size),
        mode: Mode,
        excess: Excess,
    ) -> Self {
        let (committed, peak) = (Bucket::full(cbs), Bucket::full(pbs));
        Self { cir, committed, pir, peak, last: Time::ZERO, mode, excess }
    }

    /// Let the tokens arrive that are due by `now`.
    #[inline]
    pub fn replenish(&mut self, now: Time) {
        let span = self.pass(now);
        self.committed.collect(self.cir, span);
        self.peak.collect(self.pir, span);
    }

    /// The time up to `now` for which no tokens have arrived yet.
    #[inline]
    fn pass(&mut self, now: Time) -> Span {
        let span = now.since(self.last);
        self.last = self.last.max(now);
        span
    }

    /// Colour `packet`, which can get no better colour than `best`.
    #[inline(always)]
    fn colour(&mut self, packet: &mut Packet, now: Time, best: u8) -> Verdict {
        let (span, size) = (self.pass(now), packet.size);
        let passes = self.peak.pays(self.pir, span, size, best < RED);
        let green = self.committed.pays(self.cir, span, size, passes & (best == GREEN));
        packet.precedence = RED - u8::from(passes) - u8::from(green);
        if passes { Verdict::Accept } else { self.excess.verdict() }
    }

    /// The same where its own colour counts; apart, so that others do not look at it.
    #[inline(never)]
    fn colour_aware(&mut self, packet: &mut Packet, now: Time) -> Verdict {
        self.colour(packet, now, packet.precedence)
    }
}

impl<N: Count + Send> Conditioner for TrTcm<N> {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        match self.mode {
            Mode::Blind => self.colour(packet, now, GREEN),
            Mode::Aware => self.colour_aware(packet, now),
        }
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        let committed = self.committed.covers_at(size, self.cir, self.last, now);
        Some(committed.max(self.peak.covers_at(size, self.pir, self.last, now)))
    }

    fn smallest_burst(&self) -> Option<u64> {
        Some(self.committed.depth().min(self.peak.depth()))
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("committed_tokens", self.committed.bytes());
        visit("peak_tokens", self.peak.bytes());
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        visit(&self.committed.state(Some((self.cir, Paid::Precedence(GREEN)))));
        visit(&self.peak.state(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditioner::bucket::YELLOW;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};

    fn meter<N: Count>(rates: (u64, u64), depths: (u64, u64), mode: Mode) -> TrTcm<N> {
        let bucket = |rate, depth| (Rate::from_bps(rate), Size::from_bytes(depth));
        TrTcm::new(bucket(rates.0, depths.0), bucket(rates.1, depths.1), mode, Excess::Mark)
    }

    /// Time in ms, size in B, colour in, then colour out with the tokens left in both buckets.
    type Step = (u64, u16, u8, u8, f64, f64);

    /// CIR 125000 B/s with 3000 B, PIR 250000 B/s with 5000 B.
    fn check<N: Count + Send>(mode: Mode, steps: &[Step]) {
        let mut law = meter::<N>((1_000_000, 2_000_000), (3000, 5000), mode);
        for &(ms, size, before, after, committed, peak) in steps {
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, size, RouteId::new(0))
                .with_precedence(before);
            let now = Time::ZERO + Span::from_ms(ms);
            law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
            let tokens = (law.committed.bytes(), law.peak.bytes());
            assert_eq!((packet.precedence, tokens), (after, (committed, peak)), "{mode:?} {ms}");
        }
    }

    /// Packets get the colours of RFC 2698, section 3: 125 B and 250 B arrive each ms; red takes
    /// nothing, yellow from the peak bucket, green from both.
    #[test]
    fn colours_follow_the_standard() {
        let start = [
            (0, 1500, GREEN, GREEN, 1500.0, 3500.0),
            (0, 1500, GREEN, GREEN, 0.0, 2000.0),
            (0, 1500, YELLOW, YELLOW, 0.0, 500.0),
            (0, 1500, GREEN, RED, 0.0, 500.0),
            (4, 1000, YELLOW, YELLOW, 500.0, 500.0),
        ];
        let with = |end: [Step; 2]| [&start[..], &end[..]].concat();
        let blind = [(8, 1500, RED, YELLOW, 1000.0, 0.0), (20, 1500, GREEN, GREEN, 1000.0, 1500.0)];
        let aware = [(8, 1500, RED, RED, 1000.0, 1500.0), (20, 1500, GREEN, GREEN, 1000.0, 3000.0)];
        check::<i64>(Mode::Blind, &with(blind));
        check::<i128>(Mode::Blind, &with(blind));
        check::<i64>(Mode::Aware, &with(aware));
        check::<i128>(Mode::Aware, &with(aware));
    }

    /// The time at which a packet is green is foreseen, so that a green shaper releases no yellow
    /// or red packets. With 900 B and 400 B left, CIR 250000 B/s and PIR 500000 B/s, 1500 B are
    /// green after max(600/250000, 1100/500000) s = 2.4 ms.
    #[test]
    fn green_is_foreseen() {
        let mut law = meter::<i128>((2_000_000, 4_000_000), (3000, 3000), Mode::Blind);
        law.committed.take(2100);
        law.peak.take(2600);
        let now = Time::ZERO;
        assert_eq!(law.green_at(Size::from_bytes(1500), now), Some(now + Span::from_us(2400)));
        assert_eq!(law.green_at(Size::from_bytes(3001), now), Some(Time::NEVER));
        // The same for the wait by the peak bucket: 1500 B missing at 500000 B/s are 3 ms.
        let mut law = meter::<i128>((2_000_000, 4_000_000), (3000, 3000), Mode::Blind);
        law.peak.take(3000);
        assert_eq!(law.green_at(Size::from_bytes(1500), now), Some(now + Span::from_ms(3)));
    }

    /// Buckets lose no tokens where numbers grow large: the deepest ones that are counted in 64
    /// bits, 2^63 / (8 10^12) B = 1152921 B, are full again after 10^4 s at 10^11 bit/s, whose
    /// product is more than 2^64.
    #[test]
    fn large_buckets_are_filled() {
        fn check<N: Count + Send>(depth: u64) {
            let mut law =
                meter::<N>((100_000_000_000, 100_000_000_000), (depth, depth), Mode::Blind);
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1500, RouteId::new(0));
            for now in [Time::ZERO, Time::ZERO + Span::from_s(10_000)] {
                law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
                let left = (depth - 1500) as f64;
                assert_eq!((law.committed.bytes(), law.peak.bytes()), (left, left));
            }
        }
        assert!(is_small(Size::from_bytes(1_152_921)) && !is_small(Size::from_bytes(1_152_922)));
        check::<i64>(1_152_921);
        check::<i128>(1_152_922);
    }
}
