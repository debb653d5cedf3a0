//! Delivery rates: how fast the network delivers what a connection sends (draft-ietf-ccwg-bbr,
//! section 4.1; earlier draft-cheng-iccrg-delivery-rate-estimation). Arithmetic alone.

use std::collections::VecDeque;

use forebay_network::{LostSegment, RateSample};
use forebay_units::{Span, Time};

/// State of the connection when a segment was sent last (P.* in the draft).
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    first_sent: Time,
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Time at which it was sent.
    pub sent: Time,
    /// Bytes of data.
    pub(super) bytes: u16,
    /// True if it was not the first.
    pub repeated: bool,
}

/// Volumes that the record of segments knows, in bytes of data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    /// Thought to be in the network (C.inflight).
    pub(super) in_flight: u64,
    /// Found lost so far (C.lost).
    pub(super) lost: u64,
}

/// The newest segment that an acknowledgement delivers (RS.* in the draft).
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    sent: Time,
    repeated: bool,
    stamp: Stamp,
    send_elapsed: Span,
    ack_elapsed: Span,
}

/// Sampling of delivery rates of one connection (C.* in the draft). Volumes are in bytes of data.
#[derive(Debug)]
pub(super) struct Rate {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Volume that must be delivered before samples are no longer limited by the application; 0 for
    /// not limited.
    app_limited: u64,
    min_rtt: Option<Span>,
    /// Newest segment that this acknowledgement has delivered so far.
    newest: Option<Newest>,
    /// Volumes delivered and lost after the acknowledgement before.
    before: (u64, u64),
    /// Volume in flight when this acknowledgement arrived, and true if that filled the window.
    prior_in_flight: u64,
    cwnd_limited: bool,
    /// An acknowledgement has arrived, and no sample been made of it.
    begun: bool,
    /// Losses of which congestion control is still to be notified.
    losses: Vec<LostSegment>,
    /// State at the last transmission of each outstanding segment, in the order of numbers.
    stamps: VecDeque<Stamp>,
}

impl Rate {
    /// That of a connection that has sent nothing.
    pub(super) const fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 0,
            min_rtt: None,
            newest: None,
            before: (0, 0),
            prior_in_flight: 0,
            cwnd_limited: false,
            begun: false,
            losses: Vec::new(),
            stamps: VecDeque::new(),
        }
    }

    /// The segment at `place` of the outstanding ones is sent, perhaps again (OnPacketSent());
    /// `volume` has it already, and `idle` tells that nothing was in flight before.
    pub(super) fn sent(&mut self, place: usize, volume: Volume, idle: bool, now: Time) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let stamp = Stamp {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: volume.lost,
            in_flight: volume.in_flight,
            app_limited: self.app_limited > 0,
        };
        match self.stamps.get_mut(place) {
            Some(before) => *before = stamp,
            None => self.stamps.push_back(stamp),
        }
    }

    /// The first segment is acknowledged cumulatively.
    pub(super) fn acknowledged(&mut self) {
        self.stamps.pop_front();
    }

    /// UpdateRateSample(): segment `number` at `place` was acknowledged, or reported by SACK, of
    /// which `last` is the last transmission.
    pub(super) fn delivered(&mut self, place: usize, number: u64, last: &Transmission, now: Time) {
        self.delivered += u64::from(last.bytes);
        self.delivered_at = now;
        let (sent, stamp) = (last.sent, self.stamps[place]);
        let newest = self.newest.is_none_or(|newest| {
            sent > self.first_sent || sent == self.first_sent && number > newest.number
        });
        if newest {
            self.newest = Some(Newest {
                number,
                sent,
                repeated: last.repeated,
                stamp,
                send_elapsed: sent.since(stamp.first_sent),
                ack_elapsed: now.since(stamp.delivered_at),
            });
            self.first_sent = sent;
        }
    }

    /// Segment `number` at `place` was found lost, with which `lost` bytes were in all.
    pub(super) fn lost(&mut self, place: usize, number: u64, last: &Transmission, lost: u64) {
        let stamp = self.stamps[place];
        self.losses.push(LostSegment {
            number,
            bytes: u64::from(last.bytes),
            sent_in_flight: stamp.in_flight,
            lost_since: lost - stamp.lost,
            app_limited: stamp.app_limited,
            delivered: self.delivered,
        });
    }

    /// The losses found since this was asked last.
    pub(super) fn take_losses(&mut self) -> Vec<LostSegment> {
        std::mem::take(&mut self.losses)
    }

    /// CheckIfApplicationLimited(), where `idle` tells that nothing waits to be sent, again or for
    /// the first time.
    pub(super) fn check_app_limited(&mut self, in_flight: u64, idle: bool, cwnd: f64) {
        if idle && (in_flight as f64) < cwnd {
            self.app_limited = (self.delivered + in_flight).max(1);
        }
    }

    /// An acknowledgement arrives, if that has not been said since the last sample.
    pub(super) fn begin(&mut self, in_flight: u64, idle: bool, cwnd: f64, smss: f64) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.check_app_limited(in_flight, idle, cwnd);
        self.prior_in_flight = in_flight;
        self.cwnd_limited = in_flight as f64 + smss > cwnd;
    }

    /// GenerateRateSample(): what the acknowledgement says, now that all that it delivers is known.
    /// What does not come from segments is left out.
    pub(super) fn sample(&mut self, volume: Volume, now: Time) -> RateSample {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.begun = false;
        let newest = self.newest.take();
        let rtt = newest.filter(|newest| !newest.repeated).map(|newest| now.since(newest.sent));
        self.min_rtt = [self.min_rtt, rtt].into_iter().flatten().min();
        let before = std::mem::replace(&mut self.before, (self.delivered, volume.lost));
        RateSample {
            now,
            acked: 0,
            newly_delivered: self.delivered - before.0,
            newly_lost: volume.lost - before.1,
            delivered: self.delivered,
            prior_delivered: newest.map(|newest| newest.stamp.delivered),
            rate: newest.and_then(|newest| self.rate(&newest)),
            app_limited: newest.is_some_and(|newest| newest.stamp.app_limited),
            rtt,
            one_way: Span::ZERO,
            srtt: None,
            prior_in_flight: self.prior_in_flight,
            in_flight: volume.in_flight,
            sent_in_flight: newest.map_or(0, |newest| newest.stamp.in_flight),
            lost_since: newest.map_or(0, |newest| volume.lost - newest.stamp.lost),
            recovering: false,
            cwnd_limited: self.cwnd_limited,
            paced: false,
            selective: true,
            ece: false,
            newly_marked: 0,
            una: 0,
            max: 0,
        }
    }

    /// The lower of the rates of sending and of acknowledging, unless the interval is too short to
    /// be true.
    fn rate(&self, newest: &Newest) -> Option<f64> {
        let interval = newest.send_elapsed.max(newest.ack_elapsed);
        if self.min_rtt.is_some_and(|min_rtt| interval < min_rtt) || interval == Span::ZERO {
            return None;
        }
        Some((self.delivered - newest.stamp.delivered) as f64 / interval.seconds())
    }
}
