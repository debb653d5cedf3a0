//! SRED, stabilized RED: a list of flows seen lately tells how many there are and who sends much.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, FlowId, Verdict};
use forebay_parameters::{
    Entry, Length, Parameter, Parameters, Probe, Problem, Section, parameters,
};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "sred",
    summary: "Stabilized RED: drops by the number of flows, estimated from a list of recent ones.",
    source: "Ott, Lakshman and Wong, IEEE INFOCOM 1999",
    example: r#"
        limit = "18 packets"
        zombies = 20
        flows = 3
    "#,
    fields: SredParameters::FIELDS,
    probes: &[Probe {
        name: "hit_frequency",
        unit: "1",
        meaning: "Estimated frequency of hits; its inverse estimates the number of flows.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of stabilized RED.
    pub struct SredParameters {
        /// Buffer size B, without the packet being transmitted. Early drops begin at a sixth of it,
        /// and at a third their probability is four times as large.
        limit: Length, "Ott et al. 1999 (B)";
        /// Largest drop probability pmax of packets that hit none.
        max_probability: f64 = 0.15, "Ott et al. 1999 (pmax)";
        /// Length M of the list of flows seen lately (zombies), at most 1,000,000.
        zombies: u32 = 1000, "Ott et al. 1999 (M)";
        /// Probability p with which an arrival that misses the zombie drawn takes its place. The
        /// weight of the newest arrival in the frequency of hits is p / M.
        overwrite: f64 = 0.25, "Ott et al. 1999 (p)";
        /// Number of flows from which on the drop probability does not rise any more.
        flows: u32 = 256, "Ott et al. 1999 (256)";
        /// Full SRED: the drop probability of an arrival that hits is larger by the factor
        /// 1 + 1 / frequency of hits. False for simple SRED, which treats hits and misses alike.
        full: bool = true, "Ott et al. 1999 (full SRED)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    Ok(Queue::under(read(section)?))
}

fn read(section: &Section<'_>) -> Result<Sred, Problem> {
    let SredParameters { limit, max_probability, zombies, overwrite, flows, full } =
        SredParameters::read(section)?;
    if limit.amount() == 0 {
        let message = format!("\"{}\" holds nothing; allowed is more than 0", limit.show());
        return Err(section.fail("limit", message));
    }
    for (key, p) in [("max_probability", max_probability), ("overwrite", overwrite)] {
        if !(p > 0.0 && p <= 1.0) {
            let message = format!("{p} is out of range; allowed is above 0 and up to 1");
            return Err(section.fail(key, message));
        }
    }
    for (key, number, most) in [("zombies", zombies, MAX_ZOMBIES), ("flows", flows, u32::MAX)] {
        if number == 0 || number > most {
            let message = format!("{number} is out of range; allowed are 1 to {most}");
            return Err(section.fail(key, message));
        }
    }
    Ok(Sred {
        limit,
        max_probability,
        most: zombies as usize,
        zombies: Vec::new(),
        overwrite,
        flows: f64::from(flows),
        full,
        frequency: 0.0,
    })
}

const MAX_ZOMBIES: u32 = 1_000_000;

struct Sred {
    limit: Length,
    max_probability: f64,
    most: usize,
    /// Flows seen lately.
    zombies: Vec<FlowId>,
    overwrite: f64,
    flows: f64,
    full: bool,
    /// Estimate P of the frequency of hits.
    frequency: f64,
}

impl Sred {
    /// Compare an arrival of `flow` with a zombie; whether it hits.
    fn compare(&mut self, flow: FlowId, stream: &mut Stream) -> bool {
        if self.zombies.len() < self.most {
            self.zombies.push(flow);
            return false;
        }
        let drawn = stream.below(self.zombies.len() as u64) as usize;
        let hit = self.zombies[drawn] == flow;
        if !hit && stream.happens(self.overwrite) {
            self.zombies[drawn] = flow;
        }
        let weight = self.overwrite / self.most as f64;
        self.frequency += weight * (f64::from(u8::from(hit)) - self.frequency);
        hit
    }

    /// Drop probability by the length of the queue (p_sred).
    fn by_queue(&self, arrival: &Arrival<'_>) -> f64 {
        let (queue, limit) = match self.limit {
            Length::Packets(limit) => (u64::from(arrival.backlog.packets), limit),
            Length::Bytes(limit) => (arrival.backlog.bytes, limit),
        };
        let (queue, limit) = (queue as f64, limit as f64);
        if queue >= limit / 3.0 {
            self.max_probability
        } else if queue >= limit / 6.0 {
            self.max_probability / 4.0
        } else {
            0.0
        }
    }

    /// Drop probability (p_zap) of an arrival; above 1 is certain.
    fn probability(&self, hit: bool, arrival: &Arrival<'_>) -> f64 {
        // Without hits there are more flows than can be counted.
        let few = 1.0 / (self.flows * self.frequency);
        let by_flows = self.by_queue(arrival) * (few * few).min(1.0);
        if hit && self.full { by_flows * (1.0 + 1.0 / self.frequency) } else { by_flows }
    }
}

impl DropPolicy for Sred {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let hit = self.compare(arrival.packet.flow, stream);
        if !fits(Some(self.limit), arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        let p = self.probability(hit, arrival);
        if p > 0.0 && stream.happens(p) {
            return Verdict::Drop(DropReason::Early);
        }
        Verdict::Accept
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("hit_frequency", self.frequency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, Packet, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Time;

    fn make(entries: &[(&str, Value)]) -> Result<Sred, Problem> {
        let mut all = vec![("limit", "600 packets".into())];
        all.extend_from_slice(entries);
        let node = |(key, value): (&str, Value)| (key.to_owned(), Node::new(value));
        let table = Value::Table(all.into_iter().map(node).collect::<Table>());
        let (node, echo) = (Node::new(table), Echo::default());
        read(&Section::root(&node, &echo).unwrap())
    }

    fn stream() -> Stream {
        Streams::new(6, 0).named("test")
    }

    /// Offer a packet of `flow` that finds `packets` of 100 B.
    fn offer(law: &mut Sred, flow: usize, packets: u32, stream: &mut Stream) -> Verdict {
        let packet = Packet::data(Time::ZERO, FlowId::new(flow), 0, 100, RouteId::new(0));
        let backlog = Backlog { packets, bytes: 100 * u64::from(packets) };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        law.admit(&arrival, stream)
    }

    /// The drop probability of an arrival that finds `packets`, at a frequency of hits.
    fn probability(entries: &[(&str, Value)], hit: bool, packets: u32, frequency: f64) -> f64 {
        let mut law = make(entries).unwrap();
        law.frequency = frequency;
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 100, RouteId::new(0));
        let backlog = Backlog { packets, bytes: 100 * u64::from(packets) };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        law.probability(hit, &arrival)
    }

    /// Drops follow the paper's formula: 0 below B/6, pmax / 4 below B/3, pmax up to B, times
    /// min(1, 1/(256 P)^2); times 1 + 1/P for a hit in full SRED. B = 600, pmax = 0.15; 1/P = 128
    /// flows: (128/256)^2 = 1/4; 1/P = 512: 1.
    #[test]
    fn probabilities_are_the_published_ones() {
        let close = |value: f64, expected: f64| {
            assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
        };
        let in_bytes: &[(&str, Value)] = &[("limit", "60000 B".into())];
        for entries in [&[][..], in_bytes] {
            for (packets, p) in [(0, 0.0), (99, 0.0), (100, 0.0375), (199, 0.0375), (200, 0.15)] {
                close(probability(entries, false, packets, 1.0 / 512.0), p);
                close(probability(entries, false, packets, 1.0 / 128.0), p / 4.0);
                close(probability(entries, true, packets, 1.0 / 128.0), p / 4.0 * 129.0);
            }
        }
        close(probability(&[("full", false.into())], true, 599, 1.0 / 128.0), 0.0375);
        // No packet has hit yet: as many flows as can be.
        close(probability(&[], false, 599, 0.0), 0.15);
    }

    /// The list is a sample of the arrivals, so that hits tell the number of flows. A zombie is
    /// overwritten by what arrives, so that it is of flow i with the share s_i of that flow among
    /// arrivals, and an arrival hits with probability sum of s_i^2: 1/50 for 50 equal flows; 0.25 +
    /// 50 * 0.0001 = 0.255 for one with half of all and 50 with 1 % each. The estimate P is an
    /// average over M / p = 200 arrivals; its own over n arrivals deviates by no more than that of
    /// n / 2 M / p = n / 400 independent ones, each of variance below s (1 - s): five of these
    /// bound it.
    #[test]
    fn hits_tell_the_number_of_flows() {
        const N: u32 = 400_000;
        for (heavy, expected) in [(false, 0.02), (true, 0.255)] {
            let mut law = make(&[("zombies", 50.into())]).unwrap();
            let stream = &mut stream();
            let mut draws = Streams::new(7, 0).named("flows");
            let mut sum = 0.0;
            for _ in 0..N {
                let flow = draws.below(50) as usize;
                let flow = if heavy && draws.happens(0.5) { 99 } else { flow };
                offer(&mut law, flow, 0, stream);
                sum += law.frequency;
            }
            let bound = 5.0 * (expected * (1.0 - expected) * 400.0 / f64::from(N)).sqrt();
            let mean = sum / f64::from(N);
            assert!((mean - expected).abs() < bound, "{mean} is not {expected}");
        }
    }

    /// Full SRED singles out who sends much: at the same frequency P, a flow with the share s of
    /// arrivals is dropped with p (1 + s / P) on average. Half of the arrivals are of one flow (s /
    /// P about 0.5 / 0.255), the rest of 50 (0.01 / 0.255): 2.96 against 1.04 times as often, 2.85
    /// to one. In simple SRED, which a test of full SRED must refuse, one to one. With 8 as the
    /// number of flows none is certain: 0.15 (1 / (8 * 0.255))^2 = 0.036, and 0.036 (1 + 1 / 0.255)
    /// = 0.18.
    #[test]
    fn full_sred_drops_those_who_hit() {
        let ratio = |full: bool| {
            let mut law = make(&[("full", full.into()), ("flows", 8.into())]).unwrap();
            let stream = &mut stream();
            let mut draws = Streams::new(8, 0).named("flows");
            let (mut seen, mut dropped) = ([0_u32; 2], [0_u32; 2]);
            for number in 0..600_000 {
                let heavy = draws.happens(0.5);
                let flow = if heavy { 99 } else { draws.below(50) as usize };
                let verdict = offer(&mut law, flow, 300, stream);
                if number > 50_000 {
                    seen[usize::from(heavy)] += 1;
                    dropped[usize::from(heavy)] += u32::from(verdict != Verdict::Accept);
                }
            }
            let rate = [0, 1].map(|i| f64::from(dropped[i]) / f64::from(seen[i]));
            rate[1] / rate[0]
        };
        let expected = (1.0 + 0.5 / 0.255) / (1.0 + 0.01 / 0.255);
        let (full, simple) = (ratio(true), ratio(false));
        // Of some 275,000 arrivals of each kind at least 3.6 % are dropped: standard errors below 1
        // % of each rate, and of 1.1 % of their ratio, of which 5 % are more than four.
        assert!((full / expected - 1.0).abs() < 0.05, "{full} is not {expected}");
        assert!((simple - 1.0).abs() < 0.05, "{simple}");
        assert!((simple / expected - 1.0).abs() > 0.05);
    }

    /// A buffer holds no more than its size, and its drops are not taken for early ones.
    #[test]
    fn the_limit_drops_by_overflow() {
        let mut law = make(&[]).unwrap();
        let overflow = Verdict::Drop(DropReason::Overflow);
        assert_eq!(offer(&mut law, 0, 600, &mut stream()), overflow);
        assert_ne!(offer(&mut law, 0, 599, &mut stream()), overflow);
    }

    /// A list or a probability that cannot be is refused by its key.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let path = |key: &'static str, value: Value| {
            make(&[(key, value)]).err().map_or(String::new(), |problem| problem.path)
        };
        assert_eq!(path("limit", "0 packets".into()), "limit");
        assert_eq!(path("max_probability", 0.0.into()), "max_probability");
        assert_eq!(path("max_probability", 1.1.into()), "max_probability");
        assert_eq!(path("overwrite", 0.0.into()), "overwrite");
        assert_eq!(path("zombies", 0.into()), "zombies");
        assert_eq!(path("zombies", 1_000_001.into()), "zombies");
        assert_eq!(path("flows", 0.into()), "flows");
        assert_eq!(path("flows", 1.into()), "");
    }
}
