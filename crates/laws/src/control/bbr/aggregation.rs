//! Extent to which acknowledgements run ahead of the bandwidth: links that collect them need a
//! larger window to stay busy in between (Linux, `net/ipv4/tcp_bbr.c`,
//! `bbr_update_ack_aggregation`).

use forebay_network::RateSample;
use forebay_units::Time;

/// Round trips that a maximum stands for (`bbr_extra_acked_win_rtts`), twice.
const ROUNDS: u32 = 5;
/// Longest time in seconds that the window makes up for (`bbr_extra_acked_max_us`).
const MAX_TIME: f64 = 0.1;

/// The excess of what is delivered over what the bandwidth delivers, in bytes.
#[derive(Default)]
pub(super) struct Aggregation {
    /// The highest of this and of the former window.
    extra: [f64; 2],
    rounds: u32,
    now_in: usize,
    /// Time since which what is delivered has run ahead, and the bytes acknowledged since.
    since: Time,
    acked: f64,
    delivered: u64,
}

impl Aggregation {
    /// Returns the total delivered.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// An acknowledgement arrived.
    pub(super) fn update(&mut self, sample: &RateSample, round_starts: bool, bw: f64, cwnd: f64) {
        self.delivered = sample.delivered;
        if sample.newly_delivered == 0 || sample.rate.is_none() {
            return;
        }
        if round_starts {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.now_in = 1 - self.now_in;
                self.extra[self.now_in] = 0.0;
            }
        }
        let mut expected = bw * sample.now.since(self.since).seconds();
        if self.acked <= expected {
            (self.since, self.acked, expected) = (sample.now, 0.0, 0.0);
        }
        self.acked += sample.newly_delivered as f64;
        let extra = (self.acked - expected).min(cwnd);
        self.extra[self.now_in] = self.extra[self.now_in].max(extra);
    }

    /// The flow restarts from idle: nothing has run ahead.
    pub(super) fn restart(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }

    /// Bytes that the window needs for it.
    pub(super) fn window(&self, bw: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min(bw * MAX_TIME)
    }
}
