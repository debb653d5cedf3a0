//! Token buckets in the path: where two intervals with heavy losses deliver at one rate, that is
//! the rate to send at for a while (Linux, `net/ipv4/tcp_bbr.c`, `bbr_lt_bw_sampling`).

use forebay_network::RateSample;
use forebay_units::{Span, Time};

/// Rounds of an interval, at least and at most (`bbr_lt_intvl_min_rtts`, and four times that).
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 16;
/// Share of losses from which an interval counts (`bbr_lt_loss_thresh`).
const LOSSES: f64 = 50.0 / 256.0;
/// Rates are one if they differ by less than this share, or by so many bytes per second
/// (`bbr_lt_bw_ratio`, `bbr_lt_bw_diff`).
const RATIO: f64 = 0.125;
const DIFFERENCE: f64 = 500.0;
/// Rounds for which the rate is kept (`bbr_lt_bw_max_rtts`).
const KEPT: u32 = 48;

/// State of the detection of a policer.
#[derive(Default)]
pub(super) struct Policer {
    samples: bool,
    uses: bool,
    rounds: u32,
    /// The rate of the interval before, in bytes per second; 0 for none.
    rate: f64,
    since: Time,
    delivered: u64,
    lost: u64,
    /// All losses so far; a timeout counts even where none is reported.
    total_lost: u64,
    timed_out: bool,
}

impl Policer {
    /// The rate to send at, if there is a policer.
    pub(super) fn rate(&self) -> Option<f64> {
        self.uses.then_some(self.rate)
    }

    /// The retransmission timer expired.
    pub(super) fn lost(&mut self) {
        self.timed_out = true;
    }

    /// An acknowledgement arrived. Whether the rate has been kept for long enough, so that the
    /// bandwidth is to be probed for again.
    pub(super) fn sampled(&mut self, sample: &RateSample, starts: bool, probes_bw: bool) -> bool {
        self.total_lost += sample.newly_lost;
        let losses = sample.newly_lost > 0 || std::mem::take(&mut self.timed_out);
        if self.uses {
            self.rounds += u32::from(probes_bw && starts);
            let over = self.rounds >= KEPT;
            if over {
                self.reset(sample);
            }
            return over;
        }
        if !self.samples {
            if losses {
                self.begin(sample);
                self.samples = true;
            }
            return false;
        }
        self.rounds += u32::from(starts);
        if sample.app_limited || self.rounds > MAX_ROUNDS {
            self.reset(sample);
        } else if self.rounds >= MIN_ROUNDS && losses {
            self.end(sample);
        }
        false
    }

    fn begin(&mut self, sample: &RateSample) {
        self.since = sample.now;
        self.delivered = sample.delivered;
        self.lost = self.total_lost;
        self.rounds = 0;
    }

    fn reset(&mut self, sample: &RateSample) {
        self.rate = 0.0;
        self.uses = false;
        self.samples = false;
        self.begin(sample);
    }

    /// An interval ends with losses.
    fn end(&mut self, sample: &RateSample) {
        let lost = (self.total_lost - self.lost) as f64;
        let delivered = (sample.delivered - self.delivered) as f64;
        let time = sample.now.since(self.since);
        if delivered == 0.0 || lost < LOSSES * delivered || time < Span::from_ms(1) {
            return;
        }
        let rate = delivered / time.seconds();
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0 && (apart <= RATIO * self.rate || apart <= DIFFERENCE) {
            self.rate = (rate + self.rate) / 2.0;
            self.uses = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(sample);
        }
    }
}
