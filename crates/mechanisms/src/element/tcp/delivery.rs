//! Delivery rates: how fast the network delivers what a connection sends (draft-ietf-ccwg-bbr,
//! section 4.1; earlier draft-cheng-iccrg-delivery-rate-estimation).

use std::collections::VecDeque;

use forebay_network::{LostSegment, RateSample};
use forebay_units::{Span, Time};

/// State of a segment that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InFlight,
    Lost,
    Delivered,
}

/// Record of a segment until it is acknowledged cumulatively: the state of the connection when it
/// was sent last (P.* in the draft).
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Time,
    first_sent: Time,
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    bytes: u16,
    state: State,
    app_limited: bool,
    resent: bool,
}

/// The newest segment that an acknowledgement delivers (RS.* in the draft).
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    record: Record,
    send_elapsed: Span,
    ack_elapsed: Span,
}

/// Sampling of delivery rates of one connection (C.* in the draft). Volumes are in bytes of data.
#[derive(Debug)]
pub struct Delivery {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Volume that must be delivered before samples are no longer limited by the application; 0 for
    /// not limited.
    app_limited: u64,
    lost: u64,
    in_flight: u64,
    /// Lost and not sent again.
    lost_out: u64,
    min_rtt: Option<Span>,
    /// Records of the segments from `base` on.
    records: VecDeque<Record>,
    base: u64,
    /// Segments below this one were looked at for losses.
    searched: u64,
    /// Newest segment that this acknowledgement has delivered so far.
    newest: Option<Newest>,
    /// `delivered` and `lost` after the acknowledgement before.
    before: (u64, u64),
    /// Volume in flight when this acknowledgement arrived, and true if that filled the window.
    prior_in_flight: u64,
    cwnd_limited: bool,
    /// An acknowledgement has arrived, and no sample been made of it.
    begun: bool,
    /// Losses of which congestion control is still to be notified.
    losses: Vec<LostSegment>,
}

/// State of the sender at an acknowledgement, beside the segments that it delivers.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The current time.
    pub now: Time,
    /// As in [`RateSample::acked`].
    pub acked: u64,
    /// As in [`RateSample::one_way`].
    pub one_way: Span,
    /// As in [`RateSample::srtt`].
    pub srtt: Option<Span>,
    /// As in [`RateSample::recovering`].
    pub recovering: bool,
    /// As in [`RateSample::paced`].
    pub paced: bool,
    /// As in [`RateSample::selective`].
    pub selective: bool,
    /// As in [`RateSample::ece`].
    pub ece: bool,
    /// As in [`RateSample::newly_marked`].
    pub newly_marked: u64,
    /// As in [`RateSample::una`].
    pub una: u64,
    /// As in [`RateSample::max`].
    pub max: u64,
}

impl Delivery {
    /// A connection that has sent nothing.
    #[expect(clippy::new_without_default, reason = "a state, not a value")]
    pub fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 0,
            lost: 0,
            in_flight: 0,
            lost_out: 0,
            min_rtt: None,
            records: VecDeque::new(),
            base: 0,
            searched: 0,
            newest: None,
            before: (0, 0),
            prior_in_flight: 0,
            cwnd_limited: false,
            begun: false,
            losses: Vec::new(),
        }
    }

    /// The same, of a connection whose first segment is segment `first`.
    pub fn counting_from(self, first: u64) -> Self {
        Self { base: first, searched: first, ..self }
    }

    fn record(&mut self, number: u64) -> Option<&mut Record> {
        let at = number.checked_sub(self.base)?;
        self.records.get_mut(usize::try_from(at).ok()?)
    }

    /// Returns the time at which segment `number`, which has not arrived, was sent last, and true
    /// if that was not the first time.
    pub fn undelivered(&self, number: u64) -> Option<(Time, bool)> {
        let at = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let record = self.records.get(at).filter(|record| record.state != State::Delivered)?;
        Some((record.sent, record.resent))
    }

    /// The first segment of which there is a record.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes in the network: sent, and neither delivered nor lost.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The same in segments.
    pub fn segments_in_flight(&self) -> u64 {
        self.records.iter().filter(|record| record.state == State::InFlight).count() as u64
    }

    /// Bytes found to be lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// OnPacketSent(): segment `number` with `bytes` of data is sent, perhaps again; as a `probe`
    /// though it is not known to be lost.
    pub fn sent(&mut self, number: u64, bytes: u16, probe: bool, now: Time) {
        if self.in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let known = self.record(number).map(|record| record.state);
        match known {
            Some(State::InFlight) if probe => {}
            // What is sent again was lost, however the sender knows.
            Some(State::InFlight) => {
                self.lost += u64::from(bytes);
                if let Some(record) = self.record(number).copied() {
                    self.note_loss(number, &record);
                }
            }
            Some(State::Lost) => {
                self.lost_out -= u64::from(bytes);
                self.in_flight += u64::from(bytes);
            }
            Some(State::Delivered) => return,
            None => self.in_flight += u64::from(bytes),
        }
        let record = Record {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: self.in_flight,
            bytes,
            state: State::InFlight,
            app_limited: self.app_limited > 0,
            resent: known.is_some(),
        };
        match self.record(number) {
            Some(place) => *place = record,
            None => self.records.push_back(record),
        }
    }

    /// UpdateRateSample(): segment `number` was acknowledged, or reported by SACK.
    pub fn deliver(&mut self, number: u64, now: Time) {
        let Some(place) = self.record(number) else { return };
        let record = *place;
        place.state = State::Delivered;
        match record.state {
            State::Delivered => return,
            State::InFlight => self.in_flight -= u64::from(record.bytes),
            State::Lost => self.lost_out -= u64::from(record.bytes),
        }
        self.delivered += u64::from(record.bytes);
        self.delivered_at = now;
        let newest = self.newest.is_none_or(|newest| {
            record.sent > self.first_sent
                || record.sent == self.first_sent && number > newest.number
        });
        if newest {
            self.newest = Some(Newest {
                number,
                record,
                send_elapsed: record.sent.since(record.first_sent),
                ack_elapsed: now.since(record.delivered_at),
            });
            self.first_sent = record.sent;
        }
    }

    /// All segments below `una` are acknowledged: forget their records.
    pub fn advance(&mut self, una: u64, now: Time) {
        while self.base < una && !self.records.is_empty() {
            self.deliver(self.base, now);
            self.records.pop_front();
            self.base += 1;
        }
        self.searched = self.searched.max(self.base);
    }

    /// All segments below `end` that have not arrived are lost.
    pub fn lose_below(&mut self, end: u64) {
        for number in self.searched..end {
            self.lose(number);
        }
        self.searched = self.searched.max(end);
    }

    /// The retransmission timer expired: all that is outstanding is lost.
    pub fn lose_all(&mut self) {
        for number in self.base..self.base + self.records.len() as u64 {
            self.lose(number);
        }
    }

    /// Segment `number` is lost, if it is in flight.
    pub fn lose(&mut self, number: u64) {
        let Some(record) = self.record(number).filter(|record| record.state == State::InFlight)
        else {
            return;
        };
        record.state = State::Lost;
        let (bytes, record) = (u64::from(record.bytes), *record);
        self.lost += bytes;
        self.lost_out += bytes;
        self.in_flight -= bytes;
        self.note_loss(number, &record);
    }

    fn note_loss(&mut self, number: u64, record: &Record) {
        self.losses.push(LostSegment {
            number,
            bytes: u64::from(record.bytes),
            sent_in_flight: record.in_flight,
            lost_since: self.lost - record.lost,
            app_limited: record.app_limited,
            delivered: self.delivered,
        });
    }

    /// The losses found since this was asked last.
    pub fn take_losses(&mut self) -> Vec<LostSegment> {
        std::mem::take(&mut self.losses)
    }

    /// CheckIfApplicationLimited(), where `unsent` tells whether a full segment waits to be sent.
    pub fn check_app_limited(&mut self, unsent: bool, cwnd: f64) {
        if !unsent && (self.in_flight as f64) < cwnd && self.lost_out == 0 {
            self.app_limited = (self.delivered + self.in_flight).max(1);
        }
    }

    /// An acknowledgement arrives, if that has not been said since the last sample.
    pub fn begin(&mut self, unsent: bool, cwnd: f64, smss: f64) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.check_app_limited(unsent, cwnd);
        self.prior_in_flight = self.in_flight;
        self.cwnd_limited = self.in_flight as f64 + smss > cwnd;
    }

    /// GenerateRateSample(): what the acknowledgement says, now that all that it delivers is known.
    pub fn sample(&mut self, around: &Around) -> RateSample {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.begun = false;
        let newest = self.newest.take();
        let rtt = newest
            .filter(|newest| !newest.record.resent)
            .map(|newest| around.now.since(newest.record.sent));
        self.min_rtt = [self.min_rtt, rtt].into_iter().flatten().min();
        let before = self.before;
        self.before = (self.delivered, self.lost);
        RateSample {
            now: around.now,
            acked: around.acked,
            newly_delivered: self.delivered - before.0,
            newly_lost: self.lost - before.1,
            delivered: self.delivered,
            prior_delivered: newest.map(|newest| newest.record.delivered),
            rate: newest.and_then(|newest| self.rate(&newest)),
            app_limited: newest.is_some_and(|newest| newest.record.app_limited),
            rtt,
            one_way: around.one_way,
            srtt: around.srtt,
            prior_in_flight: self.prior_in_flight,
            in_flight: self.in_flight,
            sent_in_flight: newest.map_or(0, |newest| newest.record.in_flight),
            lost_since: newest.map_or(0, |newest| self.lost - newest.record.lost),
            recovering: around.recovering,
            cwnd_limited: self.cwnd_limited,
            paced: around.paced,
            selective: around.selective,
            ece: around.ece,
            newly_marked: around.newly_marked,
            una: around.una,
            max: around.max,
        }
    }

    /// The lower of the rates of sending and of acknowledging, unless the interval is too short to
    /// be true.
    fn rate(&self, newest: &Newest) -> Option<f64> {
        let interval = newest.send_elapsed.max(newest.ack_elapsed);
        if self.min_rtt.is_some_and(|min_rtt| interval < min_rtt) || interval == Span::ZERO {
            return None;
        }
        Some((self.delivered - newest.record.delivered) as f64 / interval.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// An acknowledgement of all segments below `una` arrives.
    fn acknowledge(delivery: &mut Delivery, una: u64, ms: u64) -> RateSample {
        delivery.begin(true, 1e9, 1000.0);
        delivery.advance(una, at(ms));
        close(delivery, una, ms)
    }

    fn close(delivery: &mut Delivery, una: u64, ms: u64) -> RateSample {
        delivery.sample(&Around {
            now: at(ms),
            acked: 0,
            one_way: Span::ZERO,
            srtt: None,
            recovering: false,
            paced: false,
            selective: true,
            ece: false,
            newly_marked: 0,
            una,
            max: una,
        })
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
        let mut delivery = Delivery::new();
        delivery.sent(0, 1000, false, at(0));
        delivery.sent(1, 1000, false, at(0));
        let first = acknowledge(&mut delivery, 1, 100);
        assert_eq!((rate(&first), first.rtt), (10_000.0, Some(Span::from_ms(100))));
        assert_eq!((first.prior_delivered, first.delivered), (Some(0), 1000));
        delivery.sent(2, 1000, false, at(100));
        let second = acknowledge(&mut delivery, 2, 110);
        assert_eq!((rate(&second), second.newly_delivered), (18_182.0, 1000));
        let third = acknowledge(&mut delivery, 3, 200);
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
        let mut delivery = Delivery::new();
        for number in 0..4 {
            delivery.sent(number, 1000, false, at(10 * number));
        }
        let all = acknowledge(&mut delivery, 4, 130);
        assert_eq!(rate(&all), (4000.0_f64 / 0.13).round());
        // Sent 50 ms apart from 130 ms on and acknowledged in a bunch at 330 ms: since 200 ms have
        // passed both ways, 5000 B are a rate.
        for number in 4..9 {
            delivery.sent(number, 1000, false, at(130 + 50 * (number - 4)));
        }
        let bunch = acknowledge(&mut delivery, 9, 430);
        assert_eq!(rate(&bunch), (5000.0_f64 / 0.3).round());
        // A segment at once acknowledged: 1000 B in 1 ms of sending, 100 ms are the least.
        delivery.sent(9, 1000, false, at(431));
        delivery.sent(10, 1000, false, at(431));
        acknowledge(&mut delivery, 10, 531);
        assert_eq!(acknowledge(&mut delivery, 11, 532).rate.map(f64::round), Some(19_802.0));
    }

    /// Samples tell whether the application limits the flow, so that its pause is not taken for a
    /// slow path: what is sent while it limits the flow is marked, up to what was in flight then.
    #[test]
    fn samples_tell_whether_the_application_limits_the_flow() {
        let mut delivery = Delivery::new();
        delivery.sent(0, 1000, false, at(0));
        delivery.check_app_limited(false, 5000.0);
        delivery.sent(1, 1000, false, at(10));
        delivery.sent(2, 1000, false, at(10));
        let limited: Vec<bool> = [100, 110, 120]
            .into_iter()
            .zip(1..)
            .map(|(ms, una)| acknowledge(&mut delivery, una, ms).app_limited)
            .collect();
        // 0 was sent before; more than its 1000 B have been delivered with 1.
        assert_eq!(limited, [false, true, true]);
        delivery.sent(3, 1000, false, at(120));
        assert!(!acknowledge(&mut delivery, 4, 220).app_limited);
        // With a full window, or data to send, it is not limited.
        for (unsent, cwnd) in [(true, 5000.0), (false, 0.0)] {
            delivery.check_app_limited(unsent, cwnd);
            delivery.sent(delivery.base, 1000, false, at(300));
            let una = delivery.base + 1;
            assert!(!acknowledge(&mut delivery, una, 400).app_limited);
        }
    }

    /// Lost segments leave the network, and what is sent again is not measured from its first
    /// transmission (Karn): of four segments 1 and 2 are reported, 0 is lost and sent again.
    #[test]
    fn losses_leave_the_network() {
        let mut delivery = Delivery::new();
        for number in 0..4 {
            delivery.sent(number, 1000, false, at(0));
        }
        delivery.begin(true, 1e9, 1000.0);
        delivery.deliver(1, at(100));
        delivery.deliver(2, at(100));
        delivery.lose_below(1);
        let seen = close(&mut delivery, 0, 100);
        assert_eq!((seen.newly_delivered, seen.newly_lost, seen.in_flight), (2000, 1000, 1000));
        assert_eq!((seen.lost_since, seen.prior_in_flight), (1000, 4000));
        let lost = delivery.take_losses();
        assert_eq!(lost.len(), 1);
        assert_eq!((lost[0].number, lost[0].sent_in_flight, lost[0].lost_since), (0, 1000, 1000));
        assert_eq!(lost[0].delivered, 2000);
        delivery.check_app_limited(false, 9000.0);
        assert_eq!(delivery.app_limited, 0, "a lost segment is still to be sent");
        delivery.sent(0, 1000, false, at(100));
        assert_eq!(delivery.in_flight, 2000);
        let again = acknowledge(&mut delivery, 3, 200);
        assert_eq!((again.newly_delivered, again.rtt, again.in_flight), (1000, None, 1000));
        delivery.lose_all();
        assert_eq!((delivery.in_flight, delivery.lost), (0, 2000));
        assert_eq!(acknowledge(&mut delivery, 4, 300).delivered, 4000);
    }
}
