//! CAKE, common applications kept enhanced: tins for classes of traffic, in each of them queues of
//! flows that share fairly between hosts as well, each queue under COBALT.
//!
//! As in Linux (`net/sched/sch_cake.c`). Without `rate` the link itself is the bottleneck, and tins
//! share it by deficit round robin. With it, a virtual clock holds packets back, and each tin has
//! priority up to its share of the rate. Where Linux adds noise to the quanta that
//! hosts share, so that rounding does not favour any, quanta are exact here to 1/65536 B.

mod hash;
mod hosts;
mod shaper;
mod tin;
mod tins;

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, DropReason, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::quantity::show_size;
use forebay_units::{Rate, Size, Span, Time};

use self::hash::FlowKey;
use self::hosts::Isolation;
use self::shaper::{Clock, Shaper};
use self::tin::{Spared, Tin};
use self::tins::{Framing, Overhead, TinMode};
use super::{BuildQueue, Queue};
use crate::queue::parts::ack_filter::AckFilter;
use crate::queue::parts::class_counts::ClassCounts;
use crate::queue::parts::cobalt_core::CobaltLaw;
use crate::queue::parts::flow_hash::{FlowClassifier, FlowHash, tuple_of};
use crate::queue::parts::packet_pool::PacketPool;
use crate::{FlowGroups, LinkFacts};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "cake",
    summary: "CAKE: tins for classes of traffic, queues of flows that share fairly between hosts, \
              COBALT in each queue, and a filter of acknowledgements.",
    source: "Hoiland-Jorgensen, Taht and Morton, Piece of CAKE, 2018; Linux net/sched/sch_cake.c",
    example: r#"
        tins = "diffserv4"
        queues = 16
        quantum = "300 B"
        target = "2 ms"
        interval = "40 ms"
        ecn = true
        limit = "6 kB"
    "#,
    fields: CakeParameters::FIELDS,
    probes: &[
        Probe {
            name: "sojourn_s",
            unit: "s",
            meaning: "How long the packet waited that left last.",
        },
        Probe { name: "packets", unit: "packets", meaning: "By tin: packets waiting." },
        Probe {
            name: "sparse_flows",
            unit: "flows",
            meaning: "By tin: flows that are served before others.",
        },
        Probe { name: "bulk_flows", unit: "flows", meaning: "By tin: flows with standing queues." },
        Probe {
            name: "decaying_flows",
            unit: "flows",
            meaning: "By tin: empty queues of which COBALT remembers congestion.",
        },
        Probe {
            name: "aqm_drops",
            unit: "packets",
            meaning: "By tin: packets that COBALT dropped since the start.",
        },
        Probe {
            name: "marks",
            unit: "packets",
            meaning: "By tin: packets that COBALT marked since the start.",
        },
        Probe {
            name: "overflow_drops",
            unit: "packets",
            meaning: "By tin: packets dropped since the start because the buffer was full.",
        },
        Probe {
            name: "filtered_acks",
            unit: "packets",
            meaning: "By tin: acknowledgements dropped as superfluous since the start.",
        },
        Probe {
            name: "way_hits",
            unit: "packets",
            meaning: "By tin: packets since the start whose flow has another queue of its set than \
                      the first.",
        },
        Probe {
            name: "way_collisions",
            unit: "packets",
            meaning: "By tin: packets since the start that share a queue with another flow.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of CAKE.
    pub struct CakeParameters {
        /// Rate at which packets leave, with what they take on the wire: below that of the link, so
        /// that the queue is here (`bandwidth`). Above 0. No shaper if left out.
        rate: Option<Rate>, "Hoiland-Jorgensen et al. 2018, section III-D";
        /// Classes of traffic, by DSCP.
        tins: TinMode = "diffserv3", "Hoiland-Jorgensen et al. 2018, section III-B";
        /// Between what the link is shared.
        isolation: Isolation = "triple_isolate",
            "Hoiland-Jorgensen et al. 2018, section III-A";
        /// Number of flows, consecutive in their numbers, that have one source host, 1 or more:
        /// another spelling of `host` of flows, for all flows of the network. If left out, hosts
        /// are those between which the flows are: nodes, or what `host` and `to_host` of flows say.
        flows_per_source: Option<u32>, "Linux net/sched/sch_cake.c (2018: an address is a host)";
        /// The same for destination hosts, another spelling of `to_host` of flows.
        flows_per_destination: Option<u32>,
            "Linux net/sched/sch_cake.c (2018: an address is a host)";
        /// Number of queues in each tin: a multiple of 8, 8 to 65536.
        queues: u32 = 1024, "Linux net/sched/sch_cake.c (2018, CAKE_QUEUES)";
        /// Bytes that a flow may send in a round, above 0, at most 1048576 B; a host with n flows
        /// has an nth of it for each. If left out, 1514 B, or with a shaper what the tin sends in
        /// 1/4096 s, but at least 300 B.
        quantum: Option<Size>, "Linux net/sched/sch_cake.c (2018, flow_quantum)";
        /// The largest packet: with a shaper, the target of a tin is at least one and a half
        /// transmissions of it at the tin's share, and what waited for less than four is not
        /// dropped.
        mtu: Size = "1514 B", "Linux net/sched/sch_cake.c (2018, cake_set_rate)";
        /// Delay up to which nothing is dropped, by that. `"packets"` if left out.
        spared: Option<Spared>, "Linux net/sched/sch_cake.c; sch_cake, commit 16d7fed (April 2018)";
        /// Sojourn time that a standing queue may cost.
        target: Span = "5 ms", "Linux net/sched/sch_cake.c (2018)";
        /// Time for which the sojourn time must stay above the target before the first drop, and
        /// the time between the first two drops: about the longest round-trip time (`rtt`); at
        /// least twice the target. Above 0.
        interval: Span = "100 ms", "Linux net/sched/sch_cake.c (2018)";
        /// Mark ECN-capable packets where CoDel would drop them.
        ecn: bool = true, "Linux net/sched/sch_cake.c (2018)";
        /// Acknowledgements that are dropped as superfluous.
        ack_filter: AckFilter = "off", "Hoiland-Jorgensen et al. 2018, section III-C";
        /// Size that a packet takes on the wire beside its own, for shares.
        overhead: Size = "0 B", "Linux net/sched/sch_cake.c (2018)";
        /// The least that a packet takes on the wire, overhead included.
        mpu: Size = "0 B", "Linux net/sched/sch_cake.c (2018)";
        /// Framing of packets on the wire.
        framing: Framing = "none", "Linux net/sched/sch_cake.c (2018)";
        /// Clear the DSCP once the tin is chosen.
        wash: bool = false, "Linux net/sched/sch_cake.c (2018)";
        /// Buffer size, without the packet being transmitted. If left out 15503360 B (10240 packets
        /// of 1514 B), or with a shaper four times what it sends in `interval`, if that is less,
        /// but at least 4 MiB.
        limit: Option<Length>, "Linux net/sched/sch_cake.c (2018, cake_reconfigure)";
        /// Rule by which a queue is found for a flow.
        classifier: FlowClassifier = "hash", "Hoiland-Jorgensen et al. 2018, section III-A";
        /// Key of the hash function. Drawn at random if left out, for each run another.
        salt: Option<u64>, "RFC 8290, section 4.1 (a salted hash)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = CakeParameters::read(section)?;
    if parameters.interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    for (key, flows) in [
        ("flows_per_source", parameters.flows_per_source),
        ("flows_per_destination", parameters.flows_per_destination),
    ] {
        if flows == Some(0) {
            return Err(section.fail(key, "is zero; allowed are 1 and more flows"));
        }
    }
    let queues = parameters.queues;
    if !(8..=65_536).contains(&queues) || !queues.is_multiple_of(8) {
        let message = format!("{queues} queues; allowed are multiples of 8 from 8 to 65536");
        return Err(section.fail("queues", message));
    }
    for (key, size) in [("overhead", parameters.overhead), ("mpu", parameters.mpu)] {
        if size.bytes() > 65_535 {
            let message = format!("{} is too much; allowed are 0 to 65535 B", show_size(size));
            return Err(section.fail(key, message));
        }
    }
    if parameters.rate == Some(Rate::from_bps(0)) {
        return Err(section.fail("rate", "is zero; allowed is any rate above 0 bit/s"));
    }
    if let Some(given) = parameters.quantum {
        crate::queue::parts::flow_queues::quantum(section, "quantum", given)?;
    }
    let classes = ClassCounts::of(facts, parameters.tins.quanta().len());
    Ok(Queue::Disc(Box::new(Cake { classes, ..Cake::new(parameters, facts.flows.clone()) })))
}

impl CakeParameters {
    /// Bytes that a flow may send in a round in a tin of `rate`.
    fn quantum_at(&self, rate: Option<Rate>) -> i64 {
        let scaled = rate.map_or(1514, |rate| (rate.bps() / 8 / 4096).clamp(300, 1514));
        let bytes = self.quantum.map_or(scaled, Size::bytes);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// The size of the buffer.
    fn buffer(&self) -> Length {
        const PACKETS: u64 = 10_240 * 1514;
        let sent = |rate: Rate| {
            let bytes = 4.0 * rate.bytes_per_second() * self.interval.seconds();
            (bytes as u64).clamp(4 << 20, PACKETS)
        };
        self.limit.unwrap_or_else(|| Length::Bytes(self.rate.map_or(PACKETS, sent)))
    }
}

/// Of the number of a host: it is a count of flows, not that of the network.
const COUNTED: u64 = 1 << 31;

/// CAKE's state.
struct Cake {
    mode: TinMode,
    limit: Length,
    ack_filter: AckFilter,
    overhead: Overhead,
    hash: FlowHash,
    flows: FlowGroups,
    /// Number of flows that have one host at each end, where they are counted.
    flows_per_host: [Option<u32>; 2],
    isolation: Isolation,
    pool: PacketPool,
    tins: Vec<Tin>,
    shaper: Option<Shaper>,
    wash: bool,
    /// Of each tin, if counted.
    classes: ClassCounts,
    /// The tin that is served.
    current: usize,
    backlog: Backlog,
    /// Sojourn time of the packet that left last.
    sojourn: Span,
}

impl Cake {
    fn new(parameters: CakeParameters, flows: FlowGroups) -> Self {
        let CakeParameters { target, interval, ecn, .. } = parameters;
        let interval = interval.max(target.times(2));
        let (increment, decrement) = (1.0 / 256.0, 1.0 / 4096.0);
        let law = CobaltLaw { target, interval, spared: Span::ZERO, ecn, increment, decrement };
        let tins = parameters.tins.quanta().iter().enumerate();
        let tin = |(number, share): (usize, &i64)| {
            let rate = parameters.rate.map(|rate| parameters.tins.share(rate, number));
            let law = rate.map_or(law, |rate| law.on(rate, parameters.mtu));
            let quanta = (parameters.quantum_at(rate), *share);
            let law = (law, parameters.spared.unwrap_or(Spared::Packets));
            Tin::new(parameters.queues, parameters.isolation, law, quanta, rate.map(Clock::new))
        };
        Self {
            mode: parameters.tins,
            limit: parameters.buffer(),
            ack_filter: parameters.ack_filter,
            overhead: Overhead {
                bytes: parameters.overhead.bytes(),
                least: parameters.mpu.bytes(),
                framing: parameters.framing,
            },
            hash: FlowHash::new(parameters.classifier, parameters.salt),
            flows,
            flows_per_host: [parameters.flows_per_source, parameters.flows_per_destination],
            isolation: parameters.isolation,
            pool: PacketPool::default(),
            tins: tins.map(tin).collect(),
            shaper: parameters.rate.map(Shaper::new),
            wash: parameters.wash,
            classes: ClassCounts::default(),
            current: 0,
            backlog: Backlog::default(),
            sojourn: Span::ZERO,
        }
    }

    /// The numbers of the source and the destination host of `packet`.
    fn hosts_of(&self, packet: &Packet) -> [u64; 2] {
        let mut hosts = self.flows.hosts_of(packet).map(|host| u64::from(host.number()));
        let back = usize::from(packet.is_feedback());
        for (end, flows) in self.flows_per_host.into_iter().enumerate() {
            if let Some(flows) = flows {
                let counted = u64::from(packet.flow.number() / flows);
                // Hosts at the two ends of flows are different ones, whatever their numbers.
                hosts[end ^ back] = COUNTED | counted << 1 | end as u64;
            }
        }
        hosts
    }

    /// The hashes of the source and the destination host of `packet`.
    fn host_hashes(&mut self, packet: &Packet, stream: &mut Stream) -> [u32; 2] {
        self.hosts_of(packet).map(|host| self.hash.short(host, stream))
    }

    /// The queue of `packet` in tin `at`.
    fn queue_of(&mut self, at: usize, packet: &Packet, stream: &mut Stream) -> u32 {
        // Hosts are not looked up for flows that have a queue.
        let flow = self.hash.short(tuple_of(packet), stream);
        let key = match self.isolation {
            Isolation::None => 0,
            Isolation::SourceHosts => self.host_hashes(packet, stream)[0],
            Isolation::DestinationHosts => self.host_hashes(packet, stream)[1],
            Isolation::Hosts => {
                let [source, destination] = self.host_hashes(packet, stream);
                source ^ destination
            }
            _ => flow,
        };
        if let Some(queue) = self.tins[at].known(key) {
            return queue;
        }
        let [source, destination] = self.host_hashes(packet, stream);
        self.tins[at].find(FlowKey { flow: key, source, destination })
    }

    /// Returns true if more waits than the buffer holds.
    fn overflows(&self) -> bool {
        match self.limit {
            Length::Packets(limit) => u64::from(self.backlog.packets) > limit,
            Length::Bytes(limit) => self.backlog.bytes > limit,
        }
    }

    /// Drop the packet at the head of the queue with the most bytes; whether that queue is `queue`
    /// of tin `tin` and empty now, so that the packet is the one that came last.
    #[cold]
    fn drop_from_fattest(
        &mut self,
        (tin, queue): (usize, u32),
        now: Time,
        discard: &mut Discard<'_>,
    ) -> bool {
        let fattest = self.tins.iter().map(Tin::fattest).enumerate();
        let best =
            fattest.fold((0, (0, 0)), |best, next| if next.1.1 > best.1.1 { next } else { best });
        let (at, (victim, _)) = best;
        let Some(packet) = self.tins[at].overflow(victim, &mut self.pool, now) else { return true };
        self.classes.dropped(at, DropReason::Overflow, now);
        self.backlog.remove(packet.queued_info());
        let own = (at, victim) == (tin, queue) && self.tins[at].is_empty(victim);
        if !own {
            discard(packet, DropReason::Overflow);
        }
        own
    }

    /// A packet of `size` bytes leaves the tin that is served.
    fn charge(&mut self, size: u16, now: Time) {
        let wire = self.overhead.on_wire(size);
        self.tins[self.current].sent(wire, now);
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(wire);
        }
    }

    /// Go to the tin that is served. With a shaper it is the last of those whose schedule lets a
    /// packet leave, or the one that is next; else one with bytes left to send in this round.
    fn choose_tin(&mut self, now: Time) {
        if self.shaper.is_some() {
            let waiting = self.tins.iter().map(Tin::scheduled).enumerate();
            let mut best = Time::NEVER;
            for (at, next) in waiting {
                if let Some(next) = next.filter(|next| *next <= now || *next <= best) {
                    (best, self.current) = (next, at);
                }
            }
            return;
        }
        while self.tins[self.current].must_wait() {
            self.tins[self.current].renew();
            self.current = (self.current + 1) % self.tins.len();
        }
    }
}

impl QueueDisc for Cake {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let at = self.mode.tin_of(packet);
        if let Some(shaper) = self.shaper.as_mut().filter(|_| self.backlog.packets == 0) {
            shaper.start(now);
        }
        self.tins[at].start(now);
        let queue = self.queue_of(at, packet, stream);
        let tin = &mut self.tins[at];
        let mut held = *packet;
        held.set_dscp(if self.wash { 0 } else { packet.dscp() });
        tin.push(queue, &held, now, &mut self.pool);
        self.backlog.add(packet);
        self.classes.arrived(at, packet, Verdict::Accept, now);
        if let Some(ack) = tin.filter(queue, packet, self.ack_filter, &mut self.pool) {
            self.backlog.remove(ack.queued_info());
            self.classes.dropped(at, DropReason::Forced, now);
            discard(ack, DropReason::Forced);
        }
        self.tins[at].arrived(queue);
        // A packet that finds the link idle goes straight to the transmitter and needs no buffer.
        let direct = idle_since.is_some() && self.shaper.is_none_or(|shaper| shaper.ready() <= now);
        let mut own = false;
        while !own && !direct && self.overflows() {
            own = self.drop_from_fattest((at, queue), now, discard);
        }
        if own { Verdict::Drop(DropReason::Overflow) } else { Verdict::Accept }
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        let held_back = self.shaper.as_mut().is_some_and(|shaper| {
            shaper.start(now);
            shaper.ready() > now
        });
        let changes = self.wash && packet.dscp() != 0;
        if held_back || changes || self.classes.counts() {
            return Some(self.enqueue(packet, Some(idle_since), now, stream, discard));
        }
        let at = self.mode.tin_of(packet);
        self.tins[at].start(now);
        let queue = self.queue_of(at, packet, stream);
        self.tins[at].arrived(queue);
        let mut first = true;
        loop {
            self.choose_tin(now);
            let own = (self.current == at).then_some((queue, packet));
            if self.tins[self.current].passes(own, first, now, stream) {
                break;
            }
            first = false;
        }
        self.charge(packet.size, now);
        self.sojourn = Span::ZERO;
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        if self.shaper.is_some_and(|shaper| shaper.ready() > now) {
            return None;
        }
        // Empty queues that are remembered are looked after once in each dequeue.
        let mut first = true;
        while self.backlog.packets > 0 {
            self.choose_tin(now);
            let Self { tins, pool, backlog, current, classes, .. } = self;
            let tin = *current;
            let mut dropped = |packet: Packet, reason| {
                classes.dropped(tin, reason, now);
                backlog.remove(packet.queued_info());
                discard(packet, reason);
            };
            let next = tins[*current].dequeue((pool, first), now, stream, &mut dropped);
            first = false;
            if let Some((entered, departure)) = next {
                self.backlog.remove(departure.packet.queued_info());
                self.classes.departed(tin, &departure.packet, departure.marked, now);
                self.charge(departure.packet.size, now);
                self.sojourn = now.since(entered);
                return Some(departure);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn is_work_conserving(&self) -> bool {
        self.shaper.is_none()
    }

    fn ready_at(&self, now: Time) -> Time {
        self.shaper.map_or(now, |shaper| shaper.ready().max(now))
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.classes.up_to(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("sojourn_s", self.sojourn.seconds());
        for (i, tin) in self.tins.iter().enumerate() {
            tin.probes(&mut |name, value| visit(&format!("{name}.{i}"), value));
        }
    }
}
