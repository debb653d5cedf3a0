//! Token bucket filter: shapes what passes to a rate with bursts, and to a peak rate.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, DropReason, LawNote, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Inner, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::{BuildQueue, Queue, Queues};
use crate::LinkFacts;
use crate::conditioner::bucket::{Bucket, check_depth};
use crate::queue::parts::class::ClassQueue;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "tbf",
    summary: "Token bucket filter: a queue that leaves at a rate, with bursts up to a size.",
    source: "Linux tc-tbf(8); Turner, IEEE Communications Magazine 24(10), 1986",
    example: r#"
        rate = "900 kbit/s"
        burst = "5 kB"
        peak_rate = "2 Mbit/s"
        queue = { droptail = { limit = "20 kB" } }
    "#,
    fields: TbfParameters::FIELDS,
    probes: &[
        Probe { name: "tbf_tokens", unit: "bytes", meaning: "Tokens in the bucket." },
        Probe {
            name: "tbf_peak_tokens",
            unit: "bytes",
            meaning: "Tokens in the bucket of the peak rate, if there is one.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of the token bucket filter.
    pub struct TbfParameters {
        /// Rate at which tokens come, above 0. IP headers count.
        rate: Rate, "Linux 6.6, tc-tbf(8) of 2023, rate";
        /// Depth of the bucket, which is full at the start: so much may leave at once. Larger
        /// packets are dropped as they arrive, since they could never leave. At least 20 B.
        burst: Size, "Linux 6.6, tc-tbf(8) of 2023, burst";
        /// Peak rate, at which the tokens of a second bucket come: a burst leaves no faster. Not
        /// below `rate`. The rate of the link if left out.
        peak_rate: Option<Rate>, "Linux 6.6, tc-tbf(8) of 2023, peakrate";
        /// Depth of the bucket of the peak rate. With `peak_rate` only; larger packets are dropped.
        peak_burst: Size = "1500 B", "Linux 6.6, tc-tbf(8), mtu; assumed: Ethernet's MTU, RFC 894";
        /// The queue in which packets wait for tokens.
        queue: Inner<Queues>, "Linux 6.6, tc-tbf(8) of 2023, limit";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = TbfParameters::read(section)?;
    let TbfParameters { rate, burst, peak_rate, peak_burst, queue } = parameters;
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    check_depth(section, "burst", burst, false)?;
    if peak_rate.is_some_and(|peak| peak < rate) {
        return Err(section.fail("peak_rate", "is below rate; allowed is at least rate"));
    }
    check_depth(section, "peak_burst", peak_burst, false)?;
    if peak_rate.is_none() && section.node("peak_burst").is_some() {
        return Err(section.fail("peak_burst", "there is no peak_rate that it would belong to"));
    }
    let queue = queue.build(section, |build, inner| build(inner, facts))?;
    Ok(Queue::Disc(Box::new(Tbf {
        bucket: RateBucket::full(rate, burst),
        peak: peak_rate.map(|peak| RateBucket::full(peak, peak_burst)),
        updated: Time::ZERO,
        queue: ClassQueue::of(queue, facts.rate),
        counts: facts.counts_classes,
    })))
}

/// A bucket, with the rate at which its tokens come.
struct RateBucket {
    rate: Rate,
    bucket: Bucket,
}

impl RateBucket {
    fn full(rate: Rate, depth: Size) -> Self {
        Self { rate, bucket: Bucket::full(depth) }
    }
}

struct Tbf {
    bucket: RateBucket,
    peak: Option<RateBucket>,
    /// Time up to which tokens have been collected.
    updated: Time,
    queue: ClassQueue,
    /// True if the queue counts what becomes of the packets of its classes, if it has any.
    counts: bool,
}

impl Tbf {
    fn buckets(&self) -> impl Iterator<Item = &RateBucket> {
        std::iter::once(&self.bucket).chain(&self.peak)
    }

    /// Returns true if no bucket could ever cover `packet`.
    fn is_too_large(&self, packet: &Packet) -> bool {
        !self.buckets().all(|of| of.bucket.holds(packet.size))
    }

    /// Returns the time from which there are tokens for `size`, if none are taken before.
    fn covered_at(&self, size: u16, now: Time) -> Time {
        let size = Size::from_bytes(u64::from(size));
        let at = |of: &RateBucket| of.bucket.covers_at(size, of.rate, self.updated, now);
        self.buckets().map(at).max().unwrap_or(now)
    }
}

impl QueueDisc for Tbf {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        if self.is_too_large(packet) {
            return Verdict::Drop(DropReason::Shaper);
        }
        // A packet that finds the link idle needs no buffer only if there are tokens for it.
        let idle_since = idle_since.filter(|_| self.covered_at(packet.size, now) <= now);
        self.queue.enqueue(packet, idle_since, now, stream, discard)
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        if self.counts || self.is_too_large(packet) {
            return Some(self.enqueue(packet, Some(idle_since), now, stream, discard));
        }
        let span = now.since(self.updated);
        let collected = |of: &RateBucket| {
            let mut bucket = of.bucket;
            bucket.collect(of.rate, span);
            bucket
        };
        let (mut bucket, mut peak) = (collected(&self.bucket), self.peak.as_ref().map(collected));
        if !std::iter::once(&bucket).chain(&peak).all(|bucket| bucket.covers(packet.size)) {
            return Some(self.queue.enqueue(packet, None, now, stream, discard));
        }
        let verdict = self.queue.pass_idle(packet, idle_since, now, stream, discard);
        if verdict.is_none() {
            self.updated = now;
            bucket.take(packet.size);
            self.bucket.bucket = bucket;
            if let (Some(of), Some(bucket)) = (&mut self.peak, &mut peak) {
                bucket.take(packet.size);
                of.bucket = *bucket;
            }
        }
        verdict
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let size = if self.counts {
            self.queue.look_counting(now, stream, discard)?
        } else {
            self.queue.look(now, stream, discard)?
        };
        let span = now.since(self.updated);
        self.updated = now;
        for of in std::iter::once(&mut self.bucket).chain(&mut self.peak) {
            of.bucket.collect(of.rate, span);
        }
        if self.buckets().any(|of| !of.bucket.covers(size)) {
            return None;
        }
        for of in std::iter::once(&mut self.bucket).chain(&mut self.peak) {
            of.bucket.take(size);
        }
        if self.counts {
            return self.queue.dequeue_counting(now, stream, discard);
        }
        self.queue.dequeue(now, stream, discard)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn ready_at(&self, now: Time) -> Time {
        match self.queue.head_size() {
            Some(size) => self.covered_at(size, now),
            None => self.queue.ready_at(now),
        }
    }

    fn drops_at_dequeue(&self) -> bool {
        self.queue.drops_at_dequeue()
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        self.queue.notes(visit);
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.queue.class_counts(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("tbf_tokens", self.bucket.bucket.bytes());
        if let Some(peak) = &self.peak {
            visit("tbf_peak_tokens", peak.bucket.bytes());
        }
        self.queue.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn make(entries: &[(&str, Value)]) -> Result<Box<dyn QueueDisc>, Problem> {
        let mut all = vec![("queue", Value::from("droptail"))];
        all.extend_from_slice(entries);
        let (node, echo) = (Node::new(table(&all)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(100_000_000));
        let registry = crate::registry();
        build(&Section::root(&node, &echo)?.with_registry(&registry), &facts)
            .map(Queue::into_discipline)
    }

    /// Offer packets of `(ps, size)`, and ask whenever a packet may leave, on a link that takes no
    /// time: number and time in ps of each that leaves, and the numbers of those dropped.
    fn drive(law: &mut dyn QueueDisc, offered: &[(u64, u16)]) -> (Vec<(u64, u64)>, Vec<u64>) {
        let offered: Vec<_> = offered.iter().map(|(ps, size)| (*ps, *size, 0)).collect();
        drive_classes(law, &offered)
    }

    /// As [`drive`], with a precedence behind each size.
    fn drive_classes(
        law: &mut dyn QueueDisc,
        offered: &[(u64, u16, u8)],
    ) -> (Vec<(u64, u64)>, Vec<u64>) {
        let mut stream = Streams::new(0, 0).named("test");
        let (mut left, mut dropped, mut ready) = (Vec::new(), Vec::new(), Time::NEVER);
        let mut serve = |law: &mut dyn QueueDisc, now: Time| {
            let mut stream = Streams::new(0, 0).named("test");
            while let Some(next) = law.dequeue(now, &mut stream, &mut |_, _| panic!("none drops")) {
                left.push((next.packet.number, now.ps()));
            }
            if law.backlog().packets == 0 { Time::NEVER } else { law.ready_at(now) }
        };
        for (number, (ps, size, class)) in (0..).zip(offered) {
            let now = Time::from_ps(*ps);
            while ready <= now {
                ready = serve(law, ready);
            }
            let packet = Packet::data(now, FlowId::new(0), number, *size, RouteId::new(0))
                .with_precedence(*class);
            match law.enqueue(&packet, None, now, &mut stream, &mut |_, _| panic!("none drops")) {
                Verdict::Drop(reason) => dropped.push((number, reason)),
                _ => ready = serve(law, now),
            }
        }
        while ready < Time::NEVER {
            ready = serve(law, ready);
        }
        assert!(dropped.iter().all(|(_, reason)| *reason == DropReason::Shaper));
        (left, dropped.into_iter().map(|(number, _)| number).collect())
    }

    const US: u64 = 1_000_000;

    /// A burst leaves at once and the rest at the rate: 8 Mbit/s are a byte each microsecond. 3000
    /// B in the bucket let three packets of 1000 B go at once, the fourth has its tokens 1000 us
    /// later, and the fifth, of 500 B, 500 us after that.
    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let mut law = make(&[("rate", "8 Mbit/s".into()), ("burst", "3000 B".into())]).unwrap();
        let offered = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (0, 500)];
        let (left, dropped) = drive(law.as_mut(), &offered);
        assert_eq!(left, [(0, 0), (1, 0), (2, 0), (3, 1000 * US), (4, 1500 * US)]);
        assert_eq!(dropped, []);
        // A bucket holds no more than its depth: after 10 ms again 3000 B, not 10,000.
        let offered = [(12_000 * US, 1500), (12_000 * US, 1500), (12_000 * US, 1)];
        let (left, _) = drive(law.as_mut(), &offered);
        assert_eq!(left, [(0, 12_000 * US), (1, 12_000 * US), (2, 12_001 * US)]);
    }

    /// A burst leaves no faster than the peak rate: 1000 B at 16 Mbit/s take 500 us, at 8 Mbit/s
    /// 1000 us. The bucket of 2000 B pays for two packets and 500 B of the third by 500 us; its
    /// other 500 B come by 1000 us, when the peak bucket has them too, and the fourth at 2000 us.
    #[test]
    fn the_peak_rate_spaces_a_burst() {
        let mut law = make(&[
            ("rate", "8 Mbit/s".into()),
            ("burst", "2000 B".into()),
            ("peak_rate", "16 Mbit/s".into()),
            ("peak_burst", "1000 B".into()),
        ])
        .unwrap();
        let (left, dropped) = drive(law.as_mut(), &[(0, 1000), (0, 1000), (0, 1000), (0, 1000)]);
        assert_eq!(left, [(0, 0), (1, 500 * US), (2, 1000 * US), (3, 2000 * US)]);
        assert_eq!(dropped, []);
    }

    /// Packets larger than a bucket are dropped: they can never leave, and do not block the queue.
    #[test]
    fn packets_larger_than_a_bucket_are_dropped() {
        let peak = [
            ("rate", "8 Mbit/s".into()),
            ("burst", "2000 B".into()),
            ("peak_rate", "9 Mbit/s".into()),
            ("peak_burst", "1000 B".into()),
        ];
        for (parameters, dropped) in [(&peak[..], vec![1, 2]), (&peak[..2], vec![2])] {
            let mut law = make(parameters).unwrap();
            let (left, lost) = drive(law.as_mut(), &[(0, 1000), (0, 1001), (0, 2001), (0, 999)]);
            assert_eq!((left.len() + lost.len(), lost), (4, dropped));
        }
    }

    /// An urgent packet overtakes one that waits for tokens, but a turn that has been taken is not
    /// given to another. 1500 B at once leave 0, so packet 1 waits for the tokens of 1500 us; at
    /// 500 us there are 500 B for the 100 B of packet 2. Linux's tbf asks prio anew what is next
    /// (sch_prio.c: prio_peek), whatever its classes are, so packet 2 goes; drr has given up the
    /// packet of which it told (sch_drr.c: qdisc_peek_dequeued), which goes first.
    #[test]
    fn an_urgent_packet_overtakes_what_waits_for_tokens() {
        let codel = table(&[("codel", table(&[("limit", "9 packets".into())]))]);
        for (name, below, order) in [
            ("priority", "droptail".into(), [(0, 0), (2, 500 * US), (1, 1600 * US)]),
            ("priority", codel, [(0, 0), (2, 500 * US), (1, 1600 * US)]),
            ("drr", "droptail".into(), [(0, 0), (1, 1500 * US), (2, 1600 * US)]),
        ] {
            let classes = Value::List(vec![Node::new("droptail".into()), Node::new(below)]);
            let within = table(&[("classes", classes), ("classify", "precedence".into())]);
            let queue = table(&[(name, within)]);
            let bucket = [("rate", "8 Mbit/s".into()), ("burst", "1500 B".into())];
            let mut law = make(&[&bucket[..], &[("queue", queue)]].concat()).unwrap();
            let offered = [(0, 1500, 1), (0, 1500, 1), (500 * US, 100, 0)];
            assert_eq!(drive_classes(law.as_mut(), &offered), (order.to_vec(), vec![]), "{name}");
        }
    }

    /// CHOKe compares an arrival with all packets that wait: the one that waits for tokens is in
    /// the queue (sch_choke.c: choke_peek_head), so two of its flow meet there, and both go.
    #[test]
    fn what_waits_for_tokens_is_in_the_queue() {
        let options = [("of", "droptail".into()), ("threshold", "0 packets".into())];
        let choke = table(&[&options[..], &[("weight", 1.0.into())]].concat());
        let queue = table(&[("choke", choke)]);
        let bucket = [("rate", "8 Mbit/s".into()), ("burst", "1500 B".into()), ("queue", queue)];
        let mut law = make(&bucket).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        let mut gone = Vec::new();
        for number in 0..3 {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), number, 1500, RouteId::new(0));
            let mut drop = |packet: Packet, _| gone.push(packet.number);
            let verdict = law.enqueue(&packet, None, Time::ZERO, &mut stream, &mut drop);
            assert_eq!(verdict != Verdict::Accept, number == 2);
            let next = law.dequeue(Time::ZERO, &mut stream, &mut drop);
            assert_eq!(next.is_some(), number == 0);
        }
        assert_eq!((gone, law.backlog()), (vec![1], Backlog::default()));
    }

    /// Shaped traffic does not drift from its rate by rounding. Against an own account in exact
    /// integers, picobits at 7,000,003 bit/s: the k-th of equal packets offered at once leaves at
    /// the first picosecond at which the tokens earned are no fewer than those taken beyond the
    /// burst, ceil((k S - B) / r).
    #[test]
    fn departures_are_those_of_exact_tokens() {
        let (rate, burst, size) = (7_000_003_u128, 4000_u128, 1499_u128);
        let mut law =
            make(&[("rate", "7000003 bit/s".into()), ("burst", "4000 B".into())]).unwrap();
        let (left, _) = drive(law.as_mut(), &[(0, 1499); 1000]);
        for (k, (number, at)) in (1..).zip(left) {
            let missing = (k * size).saturating_sub(burst) * 8 * 1_000_000_000_000;
            assert_eq!((u128::from(number), u128::from(at)), (k - 1, missing.div_ceil(rate)));
        }
    }

    /// A shaper that cannot work is refused, and its error points to its place.
    #[test]
    fn wrong_buckets_are_refused_where_they_stand() {
        let good = [("rate", "8 Mbit/s".into()), ("burst", "3 kB".into())];
        let problem = |key: &'static str, value: Value| {
            let mut all = good.to_vec();
            all.push((key, value));
            make(&all).err().map_or(String::new(), |problem| problem.path)
        };
        assert_eq!(problem("queue", "droptail".into()), "");
        assert_eq!(problem("rate", "0 bit/s".into()), "rate");
        assert_eq!(problem("burst", "19 B".into()), "burst");
        assert_eq!(problem("peak_rate", "7 Mbit/s".into()), "peak_rate");
        assert_eq!(problem("peak_burst", "3 kB".into()), "peak_burst");
        assert_eq!(problem("queue", "droptial".into()), "queue");
    }
}
