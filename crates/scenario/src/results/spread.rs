//! Distribution of results over the flows of a large group, where a row each is too much.

use forebay_network::{FlowCount, columns, quantile_rank};
use forebay_units::{PS_PER_S, Span};
use serde::Serialize;

columns! {
    /// The distribution of quantities over the flows of a group.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Spread {
        /// Flows that have sent a packet.
        pub started: u64 = Number,
        /// Flows that have ended.
        pub ended: u64 = Number,
        /// Data packets sent.
        pub sent_packets: Quantiles = Packets,
        /// Data packets delivered.
        pub delivered_packets: Quantiles = Packets,
        /// Data packets dropped.
        pub dropped_packets: Quantiles = Packets,
        /// Rate of delivered data packets on the wire, in bit/s.
        pub throughput_bps: Quantiles = BitsPerSecond,
        /// Rate of payload handed to the receiving application once, in bit/s.
        pub goodput_bps: Quantiles = BitsPerSecond,
        /// Mean one-way delay in seconds, of the flows of which a packet was delivered.
        pub mean_delay_s: Quantiles = Seconds,
    }
}

columns! {
    /// Quantiles of a set of values. That of p is the smallest value which at least that share of
    /// all does not exceed; all are 0 for a set without values.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct Quantiles {
        /// The smallest value.
        pub min: f64 = Number,
        /// 5 %.
        pub p05: f64 = Number,
        /// The lower quartile.
        pub p25: f64 = Number,
        /// The median.
        pub p50: f64 = Number,
        /// The upper quartile.
        pub p75: f64 = Number,
        /// 95 %.
        pub p95: f64 = Number,
        /// The largest value.
        pub max: f64 = Number,
    }
}

impl Spread {
    /// The spread over `flows`, counted over a window of `measured`.
    pub(crate) fn of(flows: &[FlowCount], measured: Span) -> Self {
        // One column at a time: a million flows need 8 MB, not a table of them.
        let mut column = Vec::with_capacity(flows.len());
        let mut quantiles = |unit: f64, value: &dyn Fn(&FlowCount) -> Option<u64>| {
            column.clear();
            column.extend(flows.iter().filter_map(value));
            Quantiles::of(&mut column, unit)
        };
        let bits_per_second = 8.0 / measured.seconds();
        Self {
            started: count(flows, |flow| flow.started.is_some()),
            ended: count(flows, |flow| flow.ended.is_some()),
            sent_packets: quantiles(1.0, &|flow| Some(flow.sent.packets)),
            delivered_packets: quantiles(1.0, &|flow| Some(flow.delivered.packets)),
            dropped_packets: quantiles(1.0, &|flow| Some(flow.dropped.packets)),
            throughput_bps: quantiles(bits_per_second, &|flow| Some(flow.delivered.bytes)),
            goodput_bps: quantiles(bits_per_second, &|flow| Some(flow.goodput)),
            mean_delay_s: quantiles(1.0 / PS_PER_S as f64, &|flow| {
                let mean = flow.delay.checked_div(u128::from(flow.delivered.packets))?;
                Some(u64::try_from(mean).unwrap_or(u64::MAX))
            }),
        }
    }
}

fn count(flows: &[FlowCount], which: impl Fn(&FlowCount) -> bool) -> u64 {
    flows.iter().filter(|flow| which(flow)).count() as u64
}

impl Quantiles {
    /// The quantiles of `values`, each times `unit`.
    fn of(values: &mut [u64], unit: f64) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable();
        let at = |share| {
            let rank = quantile_rank(share, values.len() as u64);
            values[rank as usize - 1] as f64 * unit
        };
        Self {
            min: at(0.0),
            p05: at(0.05),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            max: at(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::PacketBytes;
    use forebay_units::Time;

    /// Quantiles are values of the set, by the definition given for them. Of 1, 2, ..., 20 at least
    /// 5 % (one of 20) are at most 1, 25 % (five) at most 5, and so on; of three values the lower
    /// quartile is the first, as one third are at most that, and the median the second.
    #[test]
    fn quantiles_are_values_of_the_set() {
        let mut twenty: Vec<u64> = (1..=20).rev().collect();
        let found = Quantiles::of(&mut twenty, 2.0);
        let expected =
            Quantiles { min: 2.0, p05: 2.0, p25: 10.0, p50: 20.0, p75: 30.0, p95: 38.0, max: 40.0 };
        assert_eq!(found, expected);
        let Quantiles { p25, p50, p75, p95, .. } = Quantiles::of(&mut [7, 1, 3], 1.0);
        assert_eq!((p25, p50, p75, p95), (1.0, 3.0, 7.0, 7.0));
        assert_eq!(Quantiles::of(&mut [], 1.0), Quantiles::default());
    }

    /// A spread has the units of a flow, and flows that received nothing do not count as flows
    /// without delay: 250 bytes in 2 s are 1000 bit/s; 9 ms over 3 packets are 3 ms.
    #[test]
    fn a_spread_has_the_units_of_a_flow() {
        let silent = FlowCount::default();
        let busy = FlowCount {
            delivered: PacketBytes { packets: 3, bytes: 250 },
            delay: u128::from(Span::from_ms(9).ps()),
            started: Some(Time::ZERO),
            ..silent
        };
        let spread = Spread::of(&[busy, silent], Span::from_s(2));
        assert_eq!((spread.started, spread.ended), (1, 0));
        assert_eq!((spread.throughput_bps.min, spread.throughput_bps.max), (0.0, 1000.0));
        assert_eq!(spread.mean_delay_s.min, spread.mean_delay_s.max);
        assert!((spread.mean_delay_s.min - 0.003).abs() < 1e-15);
    }
}
