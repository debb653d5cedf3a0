//! Samples that acknowledgements give of the network, and delivery rates: how fast it delivers what
//! a connection sends (draft-ietf-ccwg-bbr, section 4.1; earlier
//! draft-cheng-iccrg-delivery-rate-estimation). Arithmetic alone; volumes are in bytes of data.

use std::collections::VecDeque;

use forebay_network::{LostSegment, RateSample};
use forebay_units::{Span, Time};

use super::segments::ByNumber;

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

/// Volumes that the record of segments knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    /// Thought to be in the network (C.inflight).
    pub(super) in_flight: u64,
    /// Found lost so far (C.lost).
    pub(super) lost: u64,
}

/// The newest segment that an acknowledgement delivers (RS.* in the draft).
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    sent: Time,
    number: u64,
    repeated: bool,
}

/// Volumes and segments that acknowledgements deliver.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// In all (C.delivered).
    delivered: u64,
    /// Newest segment that this acknowledgement has delivered so far.
    newest: Option<Newest>,
    /// Volumes delivered and lost after the acknowledgement before.
    before: (u64, u64),
}

impl Delivery {
    /// Segment `number` was acknowledged, or reported by SACK, of which `last` is the last
    /// transmission. Returns true if it is the newest so far.
    #[inline(always)]
    pub(super) fn note(&mut self, number: u64, last: &Transmission) -> bool {
        let Transmission { sent, bytes, repeated } = *last;
        self.delivered += u64::from(bytes);
        let newest = self.newest.is_none_or(|it| (sent, number) > (it.sent, it.number));
        if newest {
            self.newest = Some(Newest { sent, number, repeated });
        }
        newest
    }

    /// The sample of an acknowledgement, now that all that it delivers is known, and the newest
    /// segment that this is. Rates, and what does not come from segments, are left out.
    #[inline(always)]
    pub(super) fn sample(&mut self, volume: Volume, now: Time) -> (RateSample, Option<Newest>) {
        let newest = self.newest.take();
        let rtt = newest.filter(|newest| !newest.repeated).map(|newest| now.since(newest.sent));
        let before = std::mem::replace(&mut self.before, (self.delivered, volume.lost));
        let sample = RateSample {
            now,
            newly_delivered: self.delivered - before.0,
            newly_lost: volume.lost - before.1,
            delivered: self.delivered,
            rtt,
            in_flight: volume.in_flight,
            selective: true,
            ..RateSample::default()
        };
        (sample, newest)
    }
}

/// Sampling of delivery rates of one connection (C.* in the draft).
#[derive(Debug)]
pub(super) struct Rate {
    delivered_at: Time,
    first_sent: Time,
    /// Volume that must be delivered before samples are no longer limited by the application; 0 for
    /// not limited.
    app_limited: u64,
    min_rtt: Option<Span>,
    /// Volume in flight when this acknowledgement arrived, and true if that filled the window.
    prior_in_flight: u64,
    cwnd_limited: bool,
    /// Volume until whose delivery it counts as full: a round trip.
    limited_until: u64,
    /// An acknowledgement has arrived, and no sample been made of it.
    begun: bool,
    /// Losses of which congestion control is still to be notified.
    losses: VecDeque<LostSegment>,
    /// State at the last transmission of each outstanding segment.
    stamps: ByNumber<Stamp>,
}

impl Rate {
    /// That of a connection that has sent nothing.
    pub(super) const fn new() -> Self {
        Self {
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 0,
            min_rtt: None,
            prior_in_flight: 0,
            cwnd_limited: false,
            limited_until: 0,
            begun: false,
            losses: VecDeque::new(),
            stamps: ByNumber::new(),
        }
    }

    /// Segment `number`, of those outstanding from `first` on, is sent, perhaps again
    /// (OnPacketSent()), when `delivery` is known: `volume` has it already, and `idle` tells that
    /// nothing was in flight before.
    #[inline]
    pub(super) fn sent(
        &mut self,
        first: u64,
        number: u64,
        volume: Volume,
        delivery: &Delivery,
        idle: bool,
        now: Time,
    ) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let stamp = Stamp {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: delivery.delivered,
            lost: volume.lost,
            in_flight: volume.in_flight,
            app_limited: self.app_limited > 0,
        };
        self.stamps.put(first, number, stamp);
    }

    /// UpdateRateSample(): a segment sent at `sent` was acknowledged, or reported by SACK, and is
    /// the `newest` so far, or not.
    #[inline]
    pub(super) fn delivered(&mut self, sent: Time, newest: bool, now: Time) {
        self.delivered_at = now;
        if newest {
            self.first_sent = sent;
        }
    }

    /// Segment `number` was found lost, with which `lost` bytes were in all.
    pub(super) fn lost(&mut self, number: u64, bytes: u16, lost: u64, delivery: &Delivery) {
        let stamp = self.stamps[number];
        self.losses.push_back(LostSegment {
            number,
            bytes: u64::from(bytes),
            sent_in_flight: stamp.in_flight,
            lost_since: lost - stamp.lost,
            app_limited: stamp.app_limited,
            delivered: delivery.delivered,
        });
    }

    /// The first of the losses of which congestion control is still to be notified.
    #[inline]
    pub(super) fn next_loss(&mut self) -> Option<LostSegment> {
        self.losses.pop_front()
    }

    /// CheckIfApplicationLimited(), where `idle` tells that nothing waits to be sent, again or for
    /// the first time.
    pub(super) fn check_app_limited(
        &mut self,
        in_flight: u64,
        delivery: &Delivery,
        idle: bool,
        cwnd: f64,
    ) {
        if idle && (in_flight as f64) < cwnd {
            self.app_limited = (delivery.delivered + in_flight).max(1);
        }
    }

    /// An acknowledgement arrives: returns false if that has been said since the last sample.
    pub(super) fn begin(&mut self, in_flight: u64, cwnd: f64, smss: f64) -> bool {
        if self.begun {
            return false;
        }
        self.begun = true;
        self.prior_in_flight = in_flight;
        self.cwnd_limited = in_flight as f64 + smss > cwnd;
        true
    }

    /// GenerateRateSample(): complete `sample`, which the acknowledgement gives now that all that
    /// it delivers is known, of which `newest` is the newest segment.
    #[inline(always)]
    pub(super) fn complete(
        &mut self,
        sample: &mut RateSample,
        newest: Option<Newest>,
        volume: Volume,
    ) {
        if self.app_limited > 0 && sample.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.begun = false;
        if let Some(rtt) = sample.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        sample.prior_in_flight = self.prior_in_flight;
        if self.cwnd_limited {
            self.limited_until = sample.delivered + self.prior_in_flight;
        }
        sample.cwnd_limited = sample.delivered < self.limited_until;
        let Some(newest) = newest else { return };
        let stamp = &self.stamps[newest.number];
        sample.prior_delivered = Some(stamp.delivered);
        sample.app_limited = stamp.app_limited;
        sample.sent_in_flight = stamp.in_flight;
        sample.lost_since = volume.lost - stamp.lost;
        // The time in which segments were sent, or acknowledged, whichever is longer: one that is
        // too short cannot be true.
        let (sending, acknowledging) =
            (newest.sent.since(stamp.first_sent), sample.now.since(stamp.delivered_at));
        let interval = sending.max(acknowledging);
        if interval > Span::ZERO && self.min_rtt.is_none_or(|least| interval >= least) {
            sample.rate = Some((sample.delivered - stamp.delivered) as f64 / interval.seconds());
        }
    }
}
