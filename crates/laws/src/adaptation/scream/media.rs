//! The rate of media (RFC 8298, section 4.1.3).

use std::collections::VecDeque;

use forebay_units::{Span, Time};

use super::{EncoderFacts, ScreamParameters};

/// Time over which the median of the encoder's rate is taken (section 4.1.1.2, rate_media_median).
const MEDIAN: Span = Span::from_s(10);

/// Bits counted since the latest adjustment.
#[derive(Default)]
pub(super) struct Counted {
    /// Made by the encoder.
    pub made: f64,
    /// Sent.
    pub sent: f64,
    /// Acknowledged.
    pub acked: f64,
}

/// State of the network congestion control at an adjustment.
#[derive(Clone, Copy)]
pub(super) struct Congestion {
    pub fast_increase: bool,
    pub trend: f64,
    pub trend_memory: f64,
}

pub(super) struct Media {
    encoder: EncoderFacts,
    /// target_bitrate, in bit/s.
    pub target: f64,
    /// target_bitrate_last_max, in bit/s.
    inflection: f64,
    pub counted: Counted,
    /// Time of the latest adjustment, or of the first frame.
    since: Option<Time>,
    /// Rates of the encoder in the latest intervals, over more than [`MEDIAN`].
    made: VecDeque<f64>,
}

impl Media {
    pub(super) fn new(encoder: EncoderFacts) -> Self {
        Self {
            encoder,
            target: encoder.start.bps() as f64,
            inflection: 1.0,
            counted: Counted::default(),
            since: None,
            made: VecDeque::new(),
        }
    }

    fn bounded(&self, rate: f64) -> f64 {
        let (least, most) = self.encoder.range;
        rate.max(least.bps() as f64).min(most.bps() as f64)
    }

    /// Congestion is detected: the rate of now is the last known maximum.
    pub(super) fn inflect(&mut self) {
        self.inflection = self.target;
    }

    /// A loss or a mark: the rate is scaled by `factor`.
    pub(super) fn back_off(&mut self, factor: f64) {
        self.inflect();
        self.target = self.bounded(factor * self.target);
    }

    /// A frame of `size` bits has been made while `waiting` bits waited. Returns true if the rate
    /// was adjusted: at the frame that is nearest to the end of the interval.
    pub(super) fn frame(
        &mut self,
        of: &ScreamParameters,
        (size, waiting): (f64, f64),
        congestion: Congestion,
        now: Time,
    ) -> bool {
        let Some(since) = self.since else {
            // Rates are measured from here on.
            (self.since, self.counted) = (Some(now), Counted::default());
            return false;
        };
        self.counted.made += size;
        let elapsed = now.since(since).seconds();
        if elapsed + 0.5 / self.encoder.frame_rate < of.adjust_interval.seconds() {
            return false;
        }
        let Counted { made, sent, acked } = std::mem::take(&mut self.counted);
        self.since = Some(now);
        self.made.push_back(made / elapsed);
        let samples = MEDIAN.ps() / of.adjust_interval.ps() + 1;
        if self.made.len() as u64 > samples {
            self.made.pop_front();
        }
        self.adjust(of, sent.max(acked) / elapsed, waiting, congestion);
        true
    }

    /// The media rate control, with the throughput of now (current_rate) and what waits.
    fn adjust(
        &mut self,
        of: &ScreamParameters,
        current: f64,
        waiting: f64,
        congestion: Congestion,
    ) {
        let interval = of.adjust_interval.seconds();
        let most = (of.ramp_up.bps() as f64).min(self.target / 2.0) * interval;
        let off = 4.0 * (self.target - self.inflection) / self.inflection;
        let scale = (off * off).clamp(0.2, 1.0);
        if congestion.fast_increase {
            self.target += most * scale;
        } else {
            let guard = 1.0 - of.congestion_guard * congestion.trend;
            let change = current * guard - of.buffer_factor * waiting;
            self.target += if change > 0.0 { (change * scale).min(most) } else { change };
            if waiting / current > of.buffer_delay.seconds() {
                self.target *= of.buffer_backoff;
            }
        }
        let limit = current.max(self.latest()).max(self.median());
        self.target = self.bounded(self.target.min(limit * (2.0 - congestion.trend_memory)));
    }

    /// rate_media.
    fn latest(&self) -> f64 {
        self.made.back().copied().unwrap_or(0.0)
    }

    /// rate_media_median: the higher of the two in the middle where there are two.
    fn median(&self) -> f64 {
        let mut rates: Vec<f64> = self.made.iter().copied().collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }
}
