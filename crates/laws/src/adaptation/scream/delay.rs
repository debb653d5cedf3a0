//! Queuing delay, its trend, and the target for it (RFC 8298, sections 4.1.2 and 4.1.2.3).

use std::collections::VecDeque;

use forebay_units::{Span, Time};

use super::ScreamParameters;
use crate::base_delay::BaseDelay;

/// Time between samples of the queuing delay for its trend, and how many count (section 4.1.2).
const SAMPLE: Span = Span::from_ms(50);
const SAMPLES: usize = 20;
/// Reports of which the variance of queuing delay counts, and of which the mean (section 4.1.2.3,
/// in its algorithm; the list of variables has 100).
const VARIANCE: usize = 200;
const MEAN: usize = 50;
/// Share of round trips with losses above which, and variance below which, the target may grow.
const LOSSES: f64 = 0.002;
const STEADY: f64 = 0.2;

pub(super) struct Delay {
    base: BaseDelay,
    weight: f64,
    /// Least and greatest target, in seconds.
    range: (f64, f64),
    competing: bool,
    /// qdelay, in seconds.
    pub queuing: f64,
    /// qdelay_target, in seconds.
    pub target: f64,
    /// qdelay_trend.
    pub trend: f64,
    /// qdelay_trend_mem.
    pub trend_memory: f64,
    /// qdelay_fraction_avg, and the latest samples of it (qdelay_fraction_hist).
    fraction: f64,
    fractions: VecDeque<f64>,
    /// Time of the next sample, once a delay was measured.
    next: Option<Time>,
    /// Queuing delays of the latest reports over the least target (qdelay_norm_hist).
    normal: VecDeque<f64>,
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The autocorrelation of `values` at lag 1 over that at lag 0, their mean removed; 0 where they do
/// not vary by more than rounding.
fn correlation(values: &VecDeque<f64>) -> f64 {
    let average = mean(values.iter().copied());
    let off = || values.iter().map(|value| value - average);
    let power: f64 = off().map(|off| off * off).sum();
    let rounding = 1e-20 * values.iter().map(|value| value * value).sum::<f64>();
    let product: f64 = off().zip(off().skip(1)).map(|(one, next)| one * next).sum();
    if power > rounding { product / power } else { 0.0 }
}

impl Delay {
    pub(super) fn new(of: &ScreamParameters) -> Self {
        let range = (of.delay_target.seconds(), of.delay_target_max.seconds());
        Self {
            base: BaseDelay::new(of.base_history),
            weight: of.delay_weight,
            range,
            competing: of.competing,
            queuing: 0.0,
            target: range.0,
            trend: 0.0,
            trend_memory: 0.0,
            fraction: 0.0,
            fractions: VecDeque::from([0.0; SAMPLES]),
            next: None,
            normal: VecDeque::from([0.0; VARIANCE]),
        }
    }

    /// A packet took `delay` one way: RFC 6817 without its filter of the current delay.
    pub(super) fn measured(&mut self, delay: Span, now: Time) {
        self.sample_before(now);
        self.base.note(delay, now);
        let base = self.base.get().unwrap_or(delay);
        self.queuing = delay.seconds() - base.seconds();
        self.next.get_or_insert(now);
    }

    /// Take the samples that are due before `now`.
    pub(super) fn sample_before(&mut self, now: Time) {
        while let Some(due) = self.next.filter(|&due| due < now) {
            self.next = Some(due + SAMPLE);
            self.sample();
        }
    }

    /// update_variables().
    fn sample(&mut self) {
        let fraction = self.queuing / self.target;
        self.fraction += self.weight * (fraction - self.fraction);
        self.fractions.pop_front();
        self.fractions.push_back(fraction);
        self.trend = (correlation(&self.fractions) * self.fraction).clamp(0.0, 1.0);
        self.trend_memory = (0.99 * self.trend_memory).max(self.trend);
    }

    /// adjust_qdelay_target(), with the share of round trips with losses.
    pub(super) fn adjust_target(&mut self, losses: f64) {
        if !self.competing {
            return;
        }
        let (least, most) = self.range;
        self.normal.pop_front();
        self.normal.push_back(self.queuing / least);
        let average = mean(self.normal.iter().copied());
        let variance = mean(self.normal.iter().map(|value| (value - average) * (value - average)));
        let latest = mean(self.normal.iter().skip(VARIANCE - MEAN).copied());
        let wanted = least * (latest + variance.sqrt());
        let target = if losses > LOSSES {
            1.5 * wanted
        } else if variance < STEADY {
            wanted
        } else if wanted < least {
            wanted.max(0.5 * self.target)
        } else {
            0.9 * self.target
        };
        self.target = target.clamp(least, most);
    }
}
