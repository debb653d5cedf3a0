//! Delivery rates: how fast the network delivers what a connection sends (draft-ietf-ccwg-bbr,
//! section 4.1; earlier draft-cheng-iccrg-delivery-rate-estimation). Arithmetic alone.

use forebay_network::{LostSegment, RateSample};
use forebay_units::{Span, Time};

use super::segments::Segment;

/// State of the connection when a segment was sent last (P.* in the draft).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    first_sent: Time,
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
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
        }
    }

    /// Something is sent while nothing is in flight (OnPacketSent()).
    pub(super) const fn restart(&mut self, now: Time) {
        (self.first_sent, self.delivered_at) = (now, now);
    }

    /// The state that a segment carries which is sent now; `volume` has it already.
    pub(super) const fn stamp(&self, volume: Volume) -> Stamp {
        Stamp {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: volume.lost,
            in_flight: volume.in_flight,
            app_limited: self.app_limited > 0,
        }
    }

    /// UpdateRateSample(): `segment` was acknowledged, or reported by SACK.
    pub(super) fn delivered(&mut self, number: u64, segment: &Segment, now: Time) {
        self.delivered += u64::from(segment.bytes);
        self.delivered_at = now;
        let (sent, stamp) = (segment.sent, segment.stamp);
        let newest = self.newest.is_none_or(|newest| {
            sent > self.first_sent || sent == self.first_sent && number > newest.number
        });
        if newest {
            self.newest = Some(Newest {
                number,
                sent,
                repeated: segment.repeated,
                stamp,
                send_elapsed: sent.since(stamp.first_sent),
                ack_elapsed: now.since(stamp.delivered_at),
            });
            self.first_sent = sent;
        }
    }

    /// `segment` was found lost, with which `lost` bytes were in all.
    pub(super) fn lost(&mut self, number: u64, segment: &Segment, lost: u64) {
        self.losses.push(LostSegment {
            number,
            bytes: u64::from(segment.bytes),
            sent_in_flight: segment.stamp.in_flight,
            lost_since: lost - segment.stamp.lost,
            app_limited: segment.stamp.app_limited,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::tcp::sender::segments::{Cause, Segments};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Segment `number` of 1000 B is sent for the first time.
    fn send(segments: &mut Segments, number: u64, ms: u64) {
        segments.sent(number, 1000, Cause::New, at(ms));
    }

    /// An acknowledgement of all segments below `una` arrives.
    fn acknowledge(segments: &mut Segments, una: u64, ms: u64) -> RateSample {
        segments.begin_sample(true, 1e9, 1000.0);
        segments.advance(una, at(ms), |_, _| {});
        segments.sample(at(ms)).unwrap()
    }

    fn rate(sample: &RateSample) -> f64 {
        sample.rate.map_or(0.0, f64::round)
    }

    /// The rate is that from the last acknowledgement before a segment was sent to its own (section
    /// 4.1.2): of 1000 B each, 0 and 1 are sent at 0 ms, 2 at 100 ms. The acknowledgements of 100,
    /// 110 and 200 ms: 1000 B in 100 ms; 2000 B in 110 ms; and 2000 B since 2 was sent, in the 100
    /// ms since the acknowledgement of 100 ms.
    #[test]
    fn rates_are_of_what_was_delivered_since_a_segment_was_sent() {
        let mut segments = Segments::new(0, true, false);
        send(&mut segments, 0, 0);
        send(&mut segments, 1, 0);
        let first = acknowledge(&mut segments, 1, 100);
        assert_eq!((rate(&first), first.rtt), (10_000.0, Some(Span::from_ms(100))));
        assert_eq!((first.prior_delivered, first.delivered), (Some(0), 1000));
        send(&mut segments, 2, 100);
        let second = acknowledge(&mut segments, 2, 110);
        assert_eq!((rate(&second), second.newly_delivered), (18_182.0, 1000));
        let third = acknowledge(&mut segments, 3, 200);
        assert_eq!((rate(&third), third.prior_delivered), (20_000.0, Some(1000)));
        assert_eq!((third.prior_in_flight, third.in_flight), (1000, 0));
    }

    /// Acknowledgements that arrive in a bunch do not feign a high rate: the lower of the rates of
    /// sending and of acknowledging counts. Four segments of 1000 B leave 10 ms apart; all their
    /// acknowledgements arrive at 130 ms, the last of them 100 ms after its segment. 3000 B (but
    /// for the first) took 30 ms to send: less than the least round-trip time, so no rate; at 200
    /// ms of round-trip time they are 4000 B in 130 ms, since the first was sent with nothing in
    /// flight.
    #[test]
    fn compressed_acknowledgements_do_not_count() {
        let mut segments = Segments::new(0, true, false);
        for number in 0..4 {
            send(&mut segments, number, 10 * number);
        }
        let all = acknowledge(&mut segments, 4, 130);
        assert_eq!(rate(&all), (4000.0_f64 / 0.13).round());
        // Sent 50 ms apart from 130 ms on and acknowledged in a bunch at 330 ms: since 200 ms have
        // passed both ways, 5000 B are a rate.
        for number in 4..9 {
            send(&mut segments, number, 130 + 50 * (number - 4));
        }
        let bunch = acknowledge(&mut segments, 9, 430);
        assert_eq!(rate(&bunch), (5000.0_f64 / 0.3).round());
        // A segment at once acknowledged: 1000 B in 1 ms of sending, 100 ms are the least.
        send(&mut segments, 9, 431);
        send(&mut segments, 10, 431);
        acknowledge(&mut segments, 10, 531);
        assert_eq!(acknowledge(&mut segments, 11, 532).rate.map(f64::round), Some(19_802.0));
    }

    /// Samples tell whether the application limits the flow, so that its pause is not taken for a
    /// slow path: what is sent while it limits the flow is marked, up to what was in flight then.
    #[test]
    fn samples_tell_whether_the_application_limits_the_flow() {
        let mut segments = Segments::new(0, true, false);
        send(&mut segments, 0, 0);
        segments.check_app_limited(false, 5000.0);
        send(&mut segments, 1, 10);
        send(&mut segments, 2, 10);
        let limited: Vec<bool> = [100, 110, 120]
            .into_iter()
            .zip(1..)
            .map(|(ms, una)| acknowledge(&mut segments, una, ms).app_limited)
            .collect();
        // 0 was sent before; more than its 1000 B have been delivered with 1.
        assert_eq!(limited, [false, true, true]);
        send(&mut segments, 3, 120);
        assert!(!acknowledge(&mut segments, 4, 220).app_limited);
        // With a full window, or data to send, it is not limited.
        for (una, unsent, cwnd) in [(5, true, 5000.0), (6, false, 0.0)] {
            segments.check_app_limited(unsent, cwnd);
            send(&mut segments, una - 1, 300);
            assert!(!acknowledge(&mut segments, una, 400).app_limited);
        }
    }

    /// Lost segments leave the network, and what is sent again is not measured from its first
    /// transmission (Karn): of four segments 1 and 2 are reported, 0 is lost and sent again.
    #[test]
    fn losses_leave_the_network() {
        let mut segments = Segments::new(0, true, false);
        for number in 0..4 {
            send(&mut segments, number, 0);
        }
        segments.begin_sample(true, 1e9, 1000.0);
        segments.deliver(1, at(100), |_, _| {});
        segments.deliver(2, at(100), |_, _| {});
        segments.lose(0);
        let seen = segments.sample(at(100)).unwrap();
        assert_eq!((seen.newly_delivered, seen.newly_lost, seen.in_flight), (2000, 1000, 1000));
        assert_eq!((seen.lost_since, seen.prior_in_flight), (1000, 4000));
        let lost = segments.take_losses();
        assert_eq!(lost.len(), 1);
        assert_eq!((lost[0].number, lost[0].sent_in_flight, lost[0].lost_since), (0, 1000, 1000));
        assert_eq!(lost[0].delivered, 2000);
        segments.check_app_limited(false, 9000.0);
        segments.sent(0, 1000, Cause::Lost, at(100));
        assert_eq!(segments.in_flight(), 2000);
        let again = acknowledge(&mut segments, 3, 200);
        assert_eq!((again.newly_delivered, again.rtt, again.in_flight), (1000, None, 1000));
        assert!(!again.app_limited, "a lost segment was still to be sent");
        segments.lose_all();
        assert_eq!((segments.in_flight(), segments.found_lost()), (0, 2000));
        assert_eq!(acknowledge(&mut segments, 4, 300).delivered, 4000);
    }
}
