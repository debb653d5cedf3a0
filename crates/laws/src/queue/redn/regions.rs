//! REDn with several fixed maximum probabilities, by the region in which the average lies.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, QueuedInfo, Verdict};
use forebay_parameters::{Problem, Section};
use forebay_units::Time;

use crate::queue::rio::Rio;

/// REDn whose span between minimum and maximum threshold is divided into equal regions.
pub(in crate::queue) struct RegionRedn {
    rio: Rio,
    /// The minimum threshold.
    min: f64,
    /// Length of a region.
    width: f64,
    probabilities: Vec<f64>,
    /// Of each precedence, the region whose maximum probability is in use.
    regions: Vec<usize>,
}

impl RegionRedn {
    /// `rio` with the maximum `probabilities` of regions of the span from `min` to `max`.
    pub fn build(
        section: &Section<'_>,
        rio: Rio,
        (min, max): (f64, f64),
        probabilities: &[f64],
    ) -> Result<Self, Problem> {
        let refuse = |message| Err(section.fail("region_probabilities", message));
        if probabilities.is_empty() {
            return refuse("is empty; allowed is one probability or more".to_owned());
        }
        if let Some(wrong) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return refuse(format!("{wrong} is not a probability; allowed are 0 to 1"));
        }
        if let Some(pair) = probabilities.windows(2).find(|pair| pair[1] < pair[0]) {
            let message = format!(
                "{} follows {}; allowed are probabilities that do not fall",
                pair[1], pair[0]
            );
            return refuse(message);
        }
        Ok(Self::new(rio, (min, max), probabilities))
    }

    fn new(rio: Rio, (min, max): (f64, f64), probabilities: &[f64]) -> Self {
        let mut law = Self {
            min,
            width: (max - min) / probabilities.len() as f64,
            probabilities: probabilities.to_vec(),
            regions: vec![0; rio.precedences()],
            rio,
        };
        for index in 0..law.rio.precedences() {
            law.rio.set_probability(index, probabilities[0]);
        }
        law
    }

    /// The region of an `average`: the first below the minimum threshold, the last above the
    /// maximum one.
    #[inline]
    fn region(&self, average: f64) -> usize {
        // The cast saturates at 0.
        (((average - self.min) / self.width) as usize).min(self.probabilities.len() - 1)
    }
}

impl DropPolicy for RegionRedn {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let index = self.rio.index(arrival.packet.queued_info());
        let queue = self.rio.update(index, arrival);
        let region = self.region(self.rio.average(index));
        if region != self.regions[index] {
            self.regions[index] = region;
            self.rio.set_probability(index, self.probabilities[region]);
        }
        self.rio.decide(index, queue, arrival, stream)
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        self.rio.departed(packet, at);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.rio.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use crate::queue::redn::{ENTRY, built};
    use forebay_kernel::Streams;
    use forebay_network::{Arrival, Backlog, FlowId, Packet, RouteId, Verdict};
    use forebay_parameters::Value;
    use forebay_units::{Rate, Time};

    const RATE: Rate = Rate::from_bps(10_000_000);

    /// Of 10,000 packets of 500 B that find `queue` packets waiting, how many are dropped, where
    /// averages follow at once (weight 1) and drops are not spaced: thresholds of 4 and 12 packets.
    fn dropped(regions: &[f64], queue: u32) -> u32 {
        let list = regions.iter().map(|p| forebay_parameters::Node::new((*p).into())).collect();
        let mut law = built(
            &ENTRY,
            RATE,
            &[
                ("min_threshold", "4 packets".into()),
                ("max_threshold", "12 packets".into()),
                ("region_probabilities", Value::List(list)),
                ("weight", 1.0.into()),
                ("spacing", "geometric".into()),
            ],
        )
        .unwrap();
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        let mut stream = Streams::new(1, 0).named("test");
        let (mut waiting, mut dropped, mut offered) = (0, 0, 0);
        while offered < 10_000 {
            let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 500 };
            let arrival = Arrival {
                now: Time::ZERO,
                packet: &packet,
                backlog,
                idle_since: None,
                empty_since: None,
            };
            let counts = waiting == queue;
            let verdict = law.admit(&arrival, &mut stream);
            offered += u32::from(counts);
            dropped += u32::from(counts && verdict != Verdict::Accept);
            match verdict {
                Verdict::Accept if counts => law.departed(packet.queued_info(), Time::ZERO),
                Verdict::Accept => waiting += 1,
                _ => {}
            }
        }
        dropped
    }

    /// An average is judged by the maximum probability of its region. With 0.1, 0.3, 0.3 and 0.8 in
    /// regions of 2 packets from 4 on, 5 packets have 0.1 (5 - 4) / 8 = 0.0125, 7 have 0.3 * 3 / 8
    /// = 0.1125, 9 have 0.3 * 5 / 8 = 0.1875 and 11 have 0.8 * 7 / 8 = 0.7; within five standard
    /// deviations, the square root of 10,000 p (1 - p). Below the minimum threshold none is
    /// dropped.
    #[test]
    fn each_region_has_its_maximum_probability() {
        let regions = [0.1, 0.3, 0.3, 0.8];
        assert_eq!(dropped(&regions, 3), 0);
        for (queue, p) in [(5, 0.0125_f64), (7, 0.1125), (9, 0.1875), (11, 0.7)] {
            let (expected, found) = (10_000.0 * p, f64::from(dropped(&regions, queue)));
            let deviation = (expected * (1.0 - p)).sqrt();
            assert!((found - expected).abs() < 5.0 * deviation, "{queue}: {found}, not {expected}");
        }
    }

    /// One region, or regions alike, make the same law: REDn.
    #[test]
    fn one_region_is_redn() {
        for queue in [5, 9] {
            assert_eq!(dropped(&[0.4], queue), dropped(&[0.4, 0.4, 0.4], queue));
        }
    }

    /// Probabilities that fall, or are none, are refused.
    #[test]
    fn wrong_regions_are_refused() {
        for wrong in [&[][..], &[0.2, 0.1], &[0.1, 1.5]] {
            let list = wrong.iter().map(|p| forebay_parameters::Node::new((*p).into())).collect();
            let given = [("region_probabilities", Value::List(list))];
            let refused = built(&ENTRY, RATE, &given).err();
            assert_eq!(refused.as_deref(), Some("region_probabilities"), "{wrong:?}");
        }
    }
}
