//! CHOKe: an arriving packet is compared with packets drawn from the queue.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, Departure, Discard, DropReason, LawNote, NextPacket, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{
    Entry, Inner, Length, Parameter, Parameters, Probe, Problem, Section, parameters,
};
use forebay_units::{Size, Time};

use super::{AnyDropPolicy, BuildQueue, Queue, Queues};
use crate::LinkFacts;
use crate::queue::parts::fifo::Fifo;
use crate::queue::parts::red_core::Averaging;
use crate::queue::parts::red_options::{IdleCorrection, check_average};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "choke",
    summary: "Drops an arriving packet and one drawn from the queue if both are of one flow.",
    source: "Pan, Prabhakar and Psounis, IEEE INFOCOM 2000",
    example: r#"
        of = { droptail = { limit = "20 packets" } }
        threshold = "3 packets"
        weight = 0.1
        region = "3 packets"
    "#,
    fields: ChokeParameters::FIELDS,
    probes: &[
        Probe {
            name: "choke_average",
            unit: "packets or bytes",
            meaning: "Average queue that decides whether arrivals are compared.",
        },
        Probe {
            name: "choke_matches",
            unit: "1",
            meaning: "Arrivals dropped since the start because a packet of their flow was drawn.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of CHOKe.
    pub struct ChokeParameters {
        /// The law behind: what becomes of packets that match none. Any queue that is first in,
        /// first out and decides when a packet arrives. It sees every arrival.
        of: Inner<Queues>, "Pan et al. 2000 (RED)";
        /// Average queue up to which arrivals are not compared, in bytes or in packets: RED's
        /// minimum threshold.
        threshold: Length = "5 packets",
            "Pan et al. 2000 (minth); Floyd 1997, RED: Discussions of setting parameters";
        /// Weight of the newest sample in that average, above 0 and at most 1.
        weight: f64 = 0.002, "Floyd and Jacobson 1993, section 6";
        /// Size of a typical packet: its transmission time is the unit of idle time.
        mean_packet: Size = "500 B", "ns-2 mean_pktsize_";
        /// Drop candidates: how many packets are drawn for an arrival. Those of its flow are
        /// dropped, and with any of them the arriving packet.
        candidates: u32 = 1, "Pan et al. 2000 (one drop candidate; m drop candidates)";
        /// Self-adjusting CHOKe: width of a region of the average above the threshold. In the
        /// first region 2 candidates are drawn, in the second 4, and so on, at most as many as
        /// wait, instead of `candidates`. The paper has 8 regions up to RED's maximum threshold.
        region: Option<Length>, "Pan et al. 2000 (self-adjusting: k = 8, m = 2 i)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    Ok(Queue::Disc(Box::new(read(section, facts)?)))
}

fn read(section: &Section<'_>, facts: &LinkFacts) -> Result<Choke, Problem> {
    let ChokeParameters { of, threshold, weight, mean_packet, candidates, region } =
        ChokeParameters::read(section)?;
    check_average(section, weight, mean_packet)?;
    if candidates == 0 {
        return Err(section.fail("candidates", "is 0; allowed are 1 and more"));
    }
    if let Some(region) = region {
        let fits = region.in_bytes() == threshold.in_bytes() && region.amount() > 0;
        if !fits {
            let unit = if threshold.in_bytes() { "bytes" } else { "packets" };
            let read = region.show();
            let message = format!("\"{read}\" is not a width; allowed are {unit}, as in threshold");
            return Err(section.fail("region", message));
        }
    }
    Ok(Choke {
        fifo: Fifo::new(law_behind(&of, section, facts)?),
        averaging: Averaging::new(weight, mean_packet, IdleCorrection::Fj, facts),
        average: 0.0,
        decayed: Time::ZERO,
        threshold: threshold.amount() as f64,
        in_bytes: threshold.in_bytes(),
        candidates: u64::from(candidates),
        region: region.map(|region| region.amount() as f64),
        matches: 0,
    })
}

fn law_behind(
    of: &Inner<Queues>,
    section: &Section<'_>,
    facts: &LinkFacts,
) -> Result<AnyDropPolicy, Problem> {
    match of.build(section, |build, inner| build(inner, facts))? {
        Queue::Fifo(law) => Ok(law),
        Queue::Disc(_) => {
            let message = format!(
                "\"{}\" decides when packets leave; allowed are laws that decide at arrival, \
                 such as \"red\"",
                of.name()
            );
            Err(section.fail("of", message))
        }
    }
}

struct Choke {
    /// The queue under the law behind.
    fifo: Fifo,
    averaging: Averaging,
    average: f64,
    /// Idle time up to here is in the average already.
    decayed: Time,
    threshold: f64,
    in_bytes: bool,
    candidates: u64,
    region: Option<f64>,
    /// Arrivals that were dropped for a match.
    matches: u64,
}

impl Choke {
    fn update(&mut self, idle_since: Option<Time>, now: Time) {
        if let Some(since) = idle_since {
            self.averaging.decay(&mut self.average, now.since(since.max(self.decayed)));
            self.decayed = now;
        } else {
            let Backlog { packets, bytes } = self.fifo.backlog();
            let queue = if self.in_bytes { bytes as f64 } else { f64::from(packets) };
            self.averaging.sample(&mut self.average, queue);
        }
    }

    /// Returns the number of packets that are drawn at the present average.
    fn draws(&self) -> u64 {
        if self.average <= self.threshold {
            return 0;
        }
        let waiting = u64::from(self.fifo.backlog().packets);
        let wanted = match self.region {
            None => self.candidates,
            // The cast saturates.
            Some(width) => (((self.average - self.threshold) / width) as u64)
                .saturating_add(1)
                .saturating_mul(2),
        };
        wanted.min(waiting)
    }

    /// Drop the packets drawn that are of the flow of `packet`; whether there was one.
    fn strike(
        &mut self,
        packet: &Packet,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> bool {
        let mut matched = false;
        for _ in 0..self.draws() {
            let waiting = u64::from(self.fifo.backlog().packets);
            let place = stream.below(waiting) as usize;
            if self.fifo.at(place).is_some_and(|drawn| drawn.flow == packet.flow)
                && let Some(drawn) = self.fifo.take_out(place, now)
            {
                matched = true;
                discard(drawn, DropReason::Forced);
            }
        }
        self.matches += u64::from(matched);
        matched
    }
}

impl QueueDisc for Choke {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        self.update(idle_since, now);
        // The paper compares first, but updates the average that its RED goes by at every arrival:
        // so the law behind is asked about every arrival, and a match goes before its verdict.
        let verdict = self.fifo.ask(packet, idle_since, now, stream);
        let dropped = matches!(verdict, Verdict::Drop(_));
        if self.strike(packet, now, stream, discard) {
            if !dropped {
                self.fifo.turn_away(packet, now);
            }
            return Verdict::Drop(DropReason::Early);
        }
        if !dropped {
            self.fifo.push(packet, verdict);
        }
        verdict
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.fifo.dequeue(now, stream, discard)
    }

    fn peek(&mut self, _: Time, _: &mut Stream, _: &mut Discard<'_>) -> NextPacket {
        NextPacket::Size(self.fifo.at(0).map(|packet| packet.size))
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        self.fifo.notes(visit);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("choke_average", self.average);
        visit("choke_matches", self.matches as f64);
        self.fifo.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn make(entries: &[(&str, Value)]) -> Result<Choke, Problem> {
        let (node, echo) = (Node::new(table(entries)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(8_000_000));
        read(&Section::root(&node, &echo).unwrap().with_registry(&crate::registry()), &facts)
    }

    /// CHOKe before a tail drop, whose average is the queue itself.
    fn choke(entries: &[(&str, Value)]) -> Choke {
        let mut all = vec![("of", "droptail".into()), ("weight", 1.0.into())];
        all.extend_from_slice(entries);
        make(&all).unwrap()
    }

    /// The verdict on a packet, and the numbers of those dropped from the queue.
    fn offer(
        queue: &mut Choke,
        (number, flow): (u64, usize),
        stream: &mut Stream,
    ) -> (Verdict, Vec<u64>) {
        let packet = Packet::data(Time::ZERO, FlowId::new(flow), number, 1000, RouteId::new(0));
        let mut dropped = Vec::new();
        let verdict = queue.enqueue(&packet, None, Time::ZERO, stream, &mut |packet, reason| {
            assert_eq!(reason, DropReason::Forced);
            dropped.push(packet.number);
        });
        (verdict, dropped)
    }

    fn stream() -> Stream {
        Streams::new(5, 0).named("test")
    }

    /// Both packets of a match go, above the threshold alone: of one flow alone, packets 0 to 3
    /// find 0 to 3 waiting, up to the threshold of 3; packet 4 finds 4, and one of them goes with
    /// it; packet 5 finds 3, and is let in; and so on, alternately.
    #[test]
    fn both_packets_of_a_match_go() {
        let mut queue = choke(&[("threshold", "3 packets".into())]);
        let stream = &mut stream();
        for number in 0..4 {
            assert_eq!(offer(&mut queue, (number, 7), stream), (Verdict::Accept, vec![]));
        }
        for number in 4..20 {
            let (verdict, dropped) = offer(&mut queue, (number, 7), stream);
            let full = number % 2 == 0;
            assert_eq!(verdict == Verdict::Drop(DropReason::Early), full, "{number}");
            assert_eq!(dropped.len(), usize::from(full), "{number}");
        }
        assert_eq!(queue.backlog(), Backlog { packets: 4, bytes: 4000 });
    }

    /// The packet compared is any of those waiting with equal probability: with 1 packet of its
    /// flow among 10, an arrival is dropped with probability 1/10, and with m independent draws
    /// with 1 - (9/10)^m. Five standard errors of 20,000 trials are at most 1.8 %; without
    /// replacement three draws would make 0.3 instead of 0.271.
    #[test]
    fn the_packet_compared_is_uniform_over_the_queue() {
        const N: u32 = 20_000;
        let stream = &mut stream();
        for (m, expected) in [(1, 0.1), (3, 0.271)] {
            let mut places = [0_u32; 10];
            for trial in 0..N {
                let mut queue =
                    choke(&[("threshold", "9 packets".into()), ("candidates", m.into())]);
                let own = trial % 10;
                for place in 0..10 {
                    let flow = if place == own { 1 } else { 100 + place as usize };
                    offer(&mut queue, (u64::from(place), flow), stream);
                }
                let (verdict, dropped) = offer(&mut queue, (10, 1), stream);
                assert_eq!(verdict == Verdict::Accept, dropped.is_empty());
                dropped.iter().for_each(|place| places[*place as usize] += 1);
            }
            let frequency = f64::from(places.iter().sum::<u32>()) / f64::from(N);
            let bound = 5.0 * (expected * (1.0 - expected) / f64::from(N)).sqrt();
            assert!((frequency - expected).abs() < bound, "m = {m}: {frequency}");
            for hits in places {
                let share = f64::from(hits) / f64::from(N / 10);
                assert!((share - expected).abs() < bound * 10.0_f64.sqrt(), "{places:?}");
            }
        }
    }

    /// Self-adjusting CHOKe draws 2 i packets in its i-th region, and plain CHOKe the number that
    /// is configured: with regions of 2 packets above a threshold of 4, averages up to 6 are in the
    /// first, those from 6 on in the second, and so on. Never more than wait: 30.
    #[test]
    fn regions_adjust_the_number_of_candidates() {
        let draws = |average: f64, entries: &[(&str, Value)]| {
            let mut law = make(&[&[("threshold", "4 packets".into())], entries].concat()).unwrap();
            let stream = &mut stream();
            for flow in FlowId::all(30) {
                let packet = Packet::data(Time::ZERO, flow, 0, 1000, RouteId::new(0));
                law.fifo.enqueue(&packet, None, Time::ZERO, stream, &mut |_, _| {});
            }
            law.average = average;
            law.draws()
        };
        let plain = [("of", "droptail".into()), ("candidates", 3.into())];
        assert_eq!([4.0, 4.1, 99.0].map(|average| draws(average, &plain)), [0, 3, 3]);
        let regions = [("of", "droptail".into()), ("region", "2 packets".into())];
        let averages = [4.0, 4.1, 5.9, 6.0, 7.9, 8.0, 31.9, 1e300];
        assert_eq!(averages.map(|average| draws(average, &regions)), [0, 2, 2, 4, 4, 6, 28, 30]);
    }

    /// The law behind knows what waits, and misses no arrival: RIO of weight 1, whose average is
    /// what the arrival found. With everything of one flow, alternately one is let in, which found
    /// none, and the next, which found one, goes with it.
    #[test]
    fn the_law_behind_knows_what_waits() {
        let one = |value: Value| Value::List(vec![Node::new(value)]);
        let rio = table(&[
            ("min_threshold", one("4 packets".into())),
            ("max_threshold", one("5 packets".into())),
            ("max_probability", one(1.0.into())),
            ("weight", 1.0.into()),
            ("idle", "physical".into()),
        ]);
        let mut queue = choke(&[("of", table(&[("rio", rio)])), ("threshold", "0 packets".into())]);
        let stream = &mut stream();
        for number in 0..100 {
            let found = number % 2;
            let (verdict, dropped) = offer(&mut queue, (number, 3), stream);
            assert_eq!(verdict == Verdict::Accept, found == 0, "{number}");
            assert_eq!(dropped.len() as u64, found);
            let mut average = f64::NAN;
            queue.probes(&mut |name, value| {
                if name == "average.0" {
                    average = value;
                }
            });
            assert_eq!(average, found as f64, "{number}");
        }
    }

    /// Packets that the law behind drops are compared too, so that no flow is spared when it is
    /// strictest: the paper compares before RED decides, so what RED would drop takes its match
    /// along. A tail drop of one place that is taken drops what is of another flow, and of the same
    /// flow both go.
    #[test]
    fn what_the_law_behind_would_drop_is_compared() {
        let tail = table(&[("droptail", table(&[("limit", "1 packets".into())]))]);
        let mut queue = choke(&[("of", tail), ("threshold", "0 packets".into())]);
        let stream = &mut stream();
        assert_eq!(offer(&mut queue, (0, 3), stream), (Verdict::Accept, vec![]));
        let overflow = Verdict::Drop(DropReason::Overflow);
        assert_eq!(offer(&mut queue, (1, 4), stream), (overflow, vec![]));
        let early = Verdict::Drop(DropReason::Early);
        assert_eq!(offer(&mut queue, (2, 3), stream), (early, vec![0]));
        assert_eq!(queue.backlog(), Backlog::default());
    }

    /// Parameters that CHOKe cannot follow are refused, and the message names the key.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let error = |entries: &[(&str, Value)]| {
            make(entries).err().map_or(String::new(), |problem| problem.path)
        };
        let path =
            |entries: &[(&str, Value)]| error(&[&[("of", "red".into())][..], entries].concat());
        assert_eq!(error(&[]), "of");
        assert_eq!(path(&[]), "");
        assert_eq!(path(&[("of", "codel".into())]), "of");
        let nested = table(&[("choke", table(&[("of", "red".into())]))]);
        assert_eq!(path(&[("of", nested)]), "of");
        let red = table(&[("red", table(&[("weight", 2.0.into())]))]);
        assert_eq!(path(&[("of", red)]), "of.red.weight");
        assert_eq!(path(&[("candidates", 0.into())]), "candidates");
        assert_eq!(path(&[("weight", 0.0.into())]), "weight");
        assert_eq!(path(&[("mean_packet", "0 B".into())]), "mean_packet");
        assert_eq!(path(&[("region", "0 packets".into())]), "region");
        assert_eq!(path(&[("region", "100 B".into())]), "region");
        assert_eq!(path(&[("region", "100 B".into()), ("threshold", "1 kB".into())]), "");
    }
}
