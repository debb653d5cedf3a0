//! The adaptive token bucket: a two rate three colour marker whose buckets are as deep as what
//! its flow needs in a round trip.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, DropReason, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::BuildConditioner;
use super::bucket::{
    COMMITTED_TOKENS, Excess, GREEN, Mode, PEAK_TOKENS, RED, check_depth, earned, tokens,
};
use super::trtcm::{TrTcm, check_peak};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "adaptive_token_bucket",
    summary: "Two rate three colour marker with depths of rate times smoothed round-trip time.",
    source: "Liu, Adaptive REDn gateway and adaptive token bucket (UBC 2001), figure 2.1",
    example: r#"
        cir = "500 kbit/s"
        pir = "1.5 Mbit/s"
        min_depth = "4 kB"
        excess = "drop"
    "#,
    fields: AdaptiveTokenBucketParameters::FIELDS,
    probes: &[
        COMMITTED_TOKENS,
        PEAK_TOKENS,
        Probe {
            name: "committed_depth",
            unit: "bytes",
            meaning: "What the committed bucket can hold.",
        },
        Probe { name: "peak_depth", unit: "bytes", meaning: "What the peak bucket can hold." },
        Probe {
            name: "told_srtt_s",
            unit: "s",
            meaning: "The round-trip time that sets the depths; 0 until one is reported.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of the adaptive token bucket.
    pub struct AdaptiveTokenBucketParameters {
        /// Committed information rate: the baseline expected throughput. IP headers count.
        cir: Rate, "Liu 2001, sections 2 and 4.1; RFC 2698, section 2";
        /// Peak information rate, at least the committed one: the higher expected throughput.
        pir: Rate, "Liu 2001, sections 2 and 4.1; RFC 2698, section 2";
        /// Depth of both buckets, which are full at the start, until TCP reports a smoothed
        /// round-trip time, as it does where this conditioner is on the way; from then on a bucket
        /// holds its rate times that time. At least 20 B; at least the initial window of TCP is
        /// wise. A flow that reports nothing, such as UDP, keeps it.
        min_depth: Size = "5000 B", "Liu 2001, figure 2.1 and section 4.1: 5 packets of 1000 B";
        /// Never make a bucket shallower than `min_depth`. The thesis sets no such floor.
        floor: bool = false, "Liu 2001, figure 2.1: none";
        /// Weight of the round-trip time reported last in the one that sets the depths, above 0 and
        /// at most 1. 1 for a flow of its own. The flows of an aggregate report different ones: a
        /// smaller weight, such as 0.01, sets the depths by their mean over the packets, where 1
        /// would throw away at every packet of a near flow what its far ones need.
        srtt_weight: f64 = 1.0, "Liu 2001, figure 2.1: 1; chapter 5 (per-aggregate conditioning)";
        /// Treatment of the colour that a packet arrives with: blind (it is ignored) or aware (it
        /// counts).
        mode: Mode = "blind", "RFC 2698, section 3";
        /// Treatment of red packets: mark (precedence 2) or drop.
        excess: Excess = "mark", "RFC 2698, section 4";
        /// Tag retransmissions with green, whatever the buckets hold; they take the tokens that
        /// their own colour would. A packet of TCP says itself whether it is one.
        green_retransmissions: bool = false, "Liu 2001, section 2.2, refinement 3";
        /// Drop a red packet of a sender in slow start, at most one in each smoothed round-trip
        /// time, so that slow start ends where it exceeds the higher expected throughput. TCP
        /// reports its phase.
        police_slow_start: bool = false,
            "Liu 2001, section 2.2, refinement 2; assumed: one packet (\"moderate\")";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let parameters = AdaptiveTokenBucketParameters::read(section)?;
    let AdaptiveTokenBucketParameters { cir, pir, min_depth, floor, srtt_weight, .. } = parameters;
    check_depth(section, "min_depth", min_depth, false)?;
    check_peak(section, cir, pir)?;
    if !(srtt_weight > 0.0 && srtt_weight <= 1.0) {
        let message = format!("{srtt_weight} is out of range; allowed are above 0 and up to 1");
        return Err(section.fail("srtt_weight", message));
    }
    let depths = ((cir, min_depth), (pir, min_depth));
    let meter = TrTcm::new(depths.0, depths.1, parameters.mode, parameters.excess);
    let floor = if floor { tokens(min_depth.bytes()) } else { 0 };
    let bucket = AdaptiveTokenBucket { meter, floor, weight: srtt_weight, srtt: None };
    if !parameters.green_retransmissions && !parameters.police_slow_start {
        return Ok(Box::new(bucket));
    }
    Ok(Box::new(Refined {
        bucket,
        green_retransmissions: parameters.green_retransmissions,
        police_slow_start: parameters.police_slow_start,
        policed: None,
    }))
}

struct AdaptiveTokenBucket {
    meter: TrTcm,
    /// Least depth in tokens.
    floor: i128,
    /// Weight of the round-trip time reported last in `srtt`.
    weight: f64,
    /// The mean, so weighted, of those reported, in ps.
    srtt: Option<f64>,
}

impl AdaptiveTokenBucket {
    /// Figure 2.1: each bucket holds what its rate gives in a round trip. The first time that one
    /// is reported, both are filled.
    fn adapt(&mut self, told: Span, now: Time) {
        let told = told.ps() as f64;
        // Weight 1 loses nothing: times are whole numbers of ps below 2^53, which is 2 hours.
        let mean = self.srtt.map_or(told, |mean| mean + self.weight * (told - mean));
        if self.srtt == Some(mean) {
            return;
        }
        let srtt = Span::from_ps(mean as u64);
        let meter = &mut self.meter;
        // What came up to now filled the buckets as they were.
        meter.replenish(now);
        for (rate, bucket) in [(meter.cir, &mut meter.committed), (meter.pir, &mut meter.peak)] {
            let depth = i128::try_from(earned(rate, srtt)).unwrap_or(i128::MAX / 4);
            bucket.resize(depth.max(self.floor));
            if self.srtt.is_none() {
                bucket.fill();
            }
        }
        self.srtt = Some(mean);
    }
}

impl Conditioner for AdaptiveTokenBucket {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        if let Some(told) = packet.srtt() {
            self.adapt(told, now);
        }
        self.meter.condition(packet, now, stream)
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        self.meter.green_at(size, now)
    }

    fn smallest_burst(&self) -> Option<u64> {
        self.meter.smallest_burst()
    }

    fn uses_rtt(&self) -> bool {
        true
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.meter.probes(visit);
        visit("committed_depth", self.meter.committed.depth() as f64);
        visit("peak_depth", self.meter.peak.depth() as f64);
        visit("told_srtt_s", self.srtt.map_or(0.0, |srtt| srtt / PS_PER_S as f64));
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        for bucket in [&self.meter.committed, &self.meter.peak] {
            visit(&bucket.state(None));
        }
    }
}

/// The adaptive token bucket with the refinements of section 2.2.
struct Refined {
    bucket: AdaptiveTokenBucket,
    green_retransmissions: bool,
    police_slow_start: bool,
    /// Time at which a packet of slow start was last dropped.
    policed: Option<Time>,
}

impl Refined {
    /// Returns true if a red packet is to be dropped now so that slow start ends.
    fn polices(&mut self, packet: &Packet, now: Time) -> bool {
        if !self.police_slow_start || packet.precedence != RED || !packet.is_in_slow_start() {
            return false;
        }
        let srtt = Span::from_ps(self.bucket.srtt.unwrap_or(0.0) as u64);
        let due = self.policed.is_none_or(|last| now >= last + srtt);
        if due {
            self.policed = Some(now);
        }
        due
    }
}

impl Conditioner for Refined {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        let verdict = self.bucket.condition(packet, now, stream);
        if self.green_retransmissions && packet.is_retransmission() {
            packet.precedence = GREEN;
            return Verdict::Accept;
        }
        if self.polices(packet, now) { Verdict::Drop(DropReason::Policed) } else { verdict }
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        self.bucket.green_at(size, now)
    }

    fn smallest_burst(&self) -> Option<u64> {
        self.bucket.smallest_burst()
    }

    fn uses_rtt(&self) -> bool {
        true
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.bucket.probes(visit);
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        self.bucket.buckets(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::quantity::show_rate;
    use proptest::prelude::*;

    fn law(cir: u64, pir: u64, floor: bool) -> AdaptiveTokenBucket {
        let (cir, pir) = (Rate::from_bps(cir), Rate::from_bps(pir));
        let depth = Size::from_bytes(5000);
        let meter = TrTcm::new((cir, depth), (pir, depth), Mode::Blind, Excess::Mark);
        let floor = if floor { tokens(5000) } else { 0 };
        AdaptiveTokenBucket { meter, floor, weight: 1.0, srtt: None }
    }

    /// Returns the precedence that a packet of `size` at `ms` gets whose sender reports `srtt` ms;
    /// depths and tokens after it, committed and peak.
    fn offer(
        law: &mut AdaptiveTokenBucket,
        ms: u64,
        size: u16,
        srtt: Option<u64>,
    ) -> (u8, [u64; 2], [f64; 2]) {
        let now = Time::ZERO + Span::from_ms(ms);
        let mut packet = Packet::data(now, FlowId::new(0), 0, size, RouteId::new(0));
        if let Some(ms) = srtt {
            packet = packet.with_srtt(Span::from_ms(ms));
        }
        law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
        let TrTcm { committed, peak, .. } = &law.meter;
        let depths = [committed.depth(), peak.depth()];
        (packet.precedence, depths, [committed.bytes(), peak.bytes()])
    }

    /// Depths follow figure 2.1: 3 Mbit/s are 375000 B/s, so that 120 ms make 45000 B, filled up
    /// the first time; 100 ms right after 37500 B, and the tokens beyond are lost; 140 ms make
    /// 52500 B, but the tokens stay. A packet of 20 B takes 20 tokens. The peak bucket of 6 Mbit/s
    /// is twice as deep.
    #[test]
    fn depths_follow_the_round_trip_time() {
        let mut law = law(3_000_000, 6_000_000, false);
        assert_eq!(offer(&mut law, 0, 4000, None), (0, [5000, 5000], [1000.0, 1000.0]));
        let first = offer(&mut law, 0, 20, Some(120));
        assert_eq!(first, (0, [45_000, 90_000], [44_980.0, 89_980.0]));
        let less = offer(&mut law, 0, 20, Some(100));
        assert_eq!(less, (0, [37_500, 75_000], [37_480.0, 74_980.0]));
        let more = offer(&mut law, 0, 20, Some(140));
        assert_eq!(more, (0, [52_500, 105_000], [37_460.0, 74_960.0]));
        // 10 ms bring 3750 B and 7500 B.
        let later = offer(&mut law, 10, 20, Some(140));
        assert_eq!(later, (0, [52_500, 105_000], [41_190.0, 82_440.0]));
    }

    /// Tokens of the time before a round trip was measured are neither lost nor doubled: they
    /// arrive up to the old depth, and then the depth changes. 37480 B at 100 ms, full after 1 ms
    /// (375 B); 20 ms later a round trip of 200 ms is reported: the bucket held 37500 B, not 44980.
    #[test]
    fn the_old_depth_holds_until_the_new_one_is_told() {
        let mut law = law(3_000_000, 6_000_000, false);
        offer(&mut law, 0, 20, Some(100));
        let later = offer(&mut law, 20, 500, Some(200));
        assert_eq!(later, (0, [75_000, 150_000], [37_000.0, 74_500.0]));
    }

    /// A fast flow of small rate gets what figure 2.1 gives it, and with the floor at least an
    /// initial window: 1 Mbit/s times 30 ms are 3750 B. Without a round trip at all (0 s) nothing
    /// conforms.
    #[test]
    fn only_the_floor_keeps_depths_up() {
        let depths = |floor, srtt| offer(&mut law(1_000_000, 2_000_000, floor), 0, 20, srtt);
        assert_eq!(depths(false, Some(30)).1, [3750, 7500]);
        assert_eq!(depths(true, Some(30)).1, [5000, 7500]);
        assert_eq!(depths(false, Some(0)), (2, [0, 0], [0.0, 0.0]));
        assert_eq!(depths(true, Some(0)), (0, [5000, 5000], [4980.0, 4980.0]));
    }

    /// The buckets of an aggregate are as deep as its mean round-trip time asks, not as its nearest
    /// flow alone needs: of two flows that report 30 and 200 ms alternately, a weight of 1/4 makes
    /// of 30 ms 30 + 170 / 4 = 72.5, 72.5 - 42.5 / 4 = 61.875 and 61.875 + 138.125 / 4 = 96.40625
    /// ms; a weight of 1 goes from one to the other. 8 Mbit/s are 1000 B a ms. In the long run the
    /// mean goes to and fro between x and y with y = x + (200 - x) / 4 and x = y - (y - 30) / 4: x
    /// = 102.857, y = 127.143.
    #[test]
    fn an_aggregate_is_as_deep_as_its_mean_round_trip_time() {
        let depths = |weight: f64, packets: usize| -> Vec<u64> {
            let mut law = law(8_000_000, 8_000_000, false);
            law.weight = weight;
            let depth = |number| offer(&mut law, 0, 20, Some([30, 200][number % 2])).1[0];
            (0..packets).map(depth).collect()
        };
        assert_eq!(depths(1.0, 4), [30_000, 200_000, 30_000, 200_000]);
        assert_eq!(depths(0.25, 4), [30_000, 72_500, 61_875, 96_406]);
        assert_eq!(depths(0.25, 200)[198..], [102_857, 127_142]);
    }

    /// Bursts are marked by their size, not by their shape: a whole window of the baseline sent at
    /// once is green, as much again up to the higher rate yellow, the rest red (45 segments of 1000
    /// B each at 3 Mbit/s, 6 Mbit/s and 120 ms).
    #[test]
    fn a_burst_of_a_round_trip_conforms() {
        let mut law = law(3_000_000, 6_000_000, false);
        let colours: Vec<u8> = (0..100).map(|_| offer(&mut law, 0, 1000, Some(120)).0).collect();
        let expected = [vec![0; 45], vec![1; 45], vec![2; 10]].concat();
        assert_eq!(colours, expected);
    }

    /// A flow that reports no round-trip time (UDP) is marked as by the two rate three colour
    /// marker with the minimum depths.
    #[test]
    fn without_a_round_trip_time_it_is_a_trtcm() {
        let mut adaptive = law(1_000_000, 2_000_000, false);
        let mut plain = adaptive.meter.clone();
        let mut draws = Streams::new(3, 0).named("arrivals");
        let mut now = Time::ZERO;
        let mut counts = [0; 3];
        for number in 0..10_000 {
            now += Span::from_us(draws.below(5_000));
            let packet = Packet::data(
                now,
                FlowId::new(0),
                number,
                40 + draws.below(1461) as u16,
                RouteId::new(0),
            );
            let [one, other] = [&mut adaptive as &mut dyn Conditioner, &mut plain].map(|law| {
                let mut packet = packet;
                law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
                packet
            });
            assert_eq!(one, other);
            counts[usize::from(one.precedence)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
    }

    /// Retransmissions are green and slow start ends at its first red packet, so that a loss costs
    /// no timeout: 45 segments of 1000 B are green and 45 yellow at 3 and 6 Mbit/s and 120 ms. A
    /// retransmission beyond them is green; of the red ones of slow start the first is dropped and
    /// then one after 120 ms, none of them outside slow start.
    #[test]
    fn refinements_help_flows_out_of_slow_start() {
        let bucket = law(3_000_000, 6_000_000, false);
        let mut law =
            Refined { bucket, green_retransmissions: true, police_slow_start: true, policed: None };
        let mut offer = |ms, make: &dyn Fn(Packet) -> Packet| {
            let now = Time::ZERO + Span::from_ms(ms);
            let plain = Packet::data(now, FlowId::new(0), 0, 1000, RouteId::new(0))
                .with_srtt(Span::from_ms(120));
            let mut packet = make(plain);
            let verdict = law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
            (packet.precedence, verdict != Verdict::Accept)
        };
        let starting = |packet: Packet| packet.in_slow_start();
        let plain = |packet: Packet| packet;
        let again = |packet: Packet| packet.in_slow_start().as_retransmission();
        for expected in [vec![0; 45], vec![1; 45]].concat() {
            assert_eq!(offer(0, &starting), (expected, false));
        }
        assert_eq!(offer(0, &plain), (RED, false));
        assert_eq!(offer(0, &starting), (RED, true));
        assert_eq!(offer(0, &starting), (RED, false));
        assert_eq!(offer(0, &again), (GREEN, false));
        // 120 ms fill both buckets: 90 packets conform to one of the rates again.
        for number in 0..90 {
            assert_eq!(offer(120, &plain), (u8::from(number >= 45), false));
        }
        assert_eq!(offer(120, &starting), (RED, true));
        assert_eq!(offer(120, &starting), (RED, false));
    }

    proptest! {
        /// A flow sends no more than its profile in any stretch of time. Tokens arrive at the rate
        /// alone, a deeper bucket is not filled, and no bucket holds more than its depth; only the
        /// first round-trip time fills it. So in every window tau, the first packet of which
        /// reports it, green is at most the depth then plus CIR tau, and with yellow the same of
        /// PIR. Counted in integers of 10^-12 bit, without tolerance.
        #[test]
        fn colours_conform_in_every_window(
            steps in prop::collection::vec(
                (0..20_000_000_000_u64, 20..1501_u16, 0..300_000_u64), 1..60),
            cir in 1..200_000_000_u64,
            factor in 1..4_u64,
            floor in any::<bool>(),
        ) {
            let pir = cir * factor;
            let mut law = law(cir, pir, floor);
            let mut now = Time::ZERO;
            let mut out = Vec::new();
            for (gap, size, us) in steps {
                now += Span::from_ps(gap);
                let srtt = Span::from_us(us);
                let (flow, route) = (FlowId::new(0), RouteId::new(0));
                let mut packet = Packet::data(now, flow, 0, size, route).with_srtt(srtt);
                law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
                out.push((now, srtt, packet));
            }
            for (worst, rate) in [(0, cir), (1, pir)] {
                for (from, (start, srtt, _)) in out.iter().enumerate() {
                    let depth = earned(Rate::from_bps(rate), *srtt).max(law.floor as u128);
                    let mut sent = 0;
                    for (time, _, packet) in &out[from..] {
                        if packet.precedence <= worst {
                            sent += u128::from(packet.size) * 8 * u128::from(PS_PER_S);
                        }
                        let tau = time.since(*start);
                        prop_assert!(sent <= depth + earned(Rate::from_bps(rate), tau));
                    }
                }
            }
        }
    }

    /// Rates in the wrong order, buckets without room and weights out of range are refused, and the
    /// message names the key.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let path = |cir: u64, pir: u64, depth: &str, weight: f64| {
            let rate = |bps| Node::new(Value::Text(show_rate(Rate::from_bps(bps))));
            let table = Table::from([
                ("cir".to_owned(), rate(cir)),
                ("pir".to_owned(), rate(pir)),
                ("min_depth".to_owned(), Node::new(depth.into())),
                ("srtt_weight".to_owned(), Node::new(weight.into())),
            ]);
            let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
            let facts = LinkFacts::of(Rate::from_bps(1_000_000));
            let built = build(&Section::root(&node, &echo).unwrap(), &facts);
            built.err().map_or(String::new(), |problem| problem.path)
        };
        assert_eq!(path(3_000_000, 3_000_000, "20 B", 1.0), "");
        assert_eq!(path(3_000_000, 2_999_999, "20 B", 1.0), "pir");
        assert_eq!(path(3_000_000, 3_000_000, "19 B", 1.0), "min_depth");
        assert_eq!(path(3_000_000, 3_000_000, "5 packets", 1.0), "min_depth");
        for weight in [0.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(path(3_000_000, 3_000_000, "20 B", weight), "srtt_weight");
        }
    }
}
