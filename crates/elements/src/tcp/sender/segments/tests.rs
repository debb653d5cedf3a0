//! Tests of the record of segments, and of the samples that it gives.

use forebay_units::Span;

use super::*;

/// Segments `first..end` of 1 B each are sent.
fn flight(first: u64, end: u64) -> Segments {
    let mut segments = Segments::new(first, false, true);
    (first..end).for_each(|number| segments.sent(number, 1, Cause::New, Time::ZERO));
    segments
}

/// SACK reports the segments `numbers`, one acknowledgement each.
fn sack(segments: &mut Segments, numbers: &[u64]) -> u64 {
    let report = |&number: &u64| {
        let mut blocks = SackBlocks::default();
        blocks.push(number, number + 1);
        segments.sack(&blocks, 0, Time::ZERO, |_, _| {})
    };
    let news = numbers.iter().map(report).sum();
    segments.lose_by_count(3);
    news
}

fn resend(segments: &mut Segments, number: u64, cause: Cause) {
    segments.sent(number, 1, cause, Time::ZERO);
}

/// Pipe counts what is neither lost nor arrived (RFC 6675, section 4): segments 1..10 sent,
/// HighACK 0, {3, 4, 5} SACKed. 1 and 2 have three SACKed segments above and are lost; 6..10
/// are not: pipe = 5. Retransmitting 1 puts it back: 6. With 6 and 7 SACKed, 8..10 and the
/// retransmission remain: 4, and the next segment is 2.
#[test]
fn pipe_counts_what_is_neither_lost_nor_arrived() {
    let mut segments = flight(1, 11);
    assert_eq!(sack(&mut segments, &[3, 4, 5]), 3);
    assert_eq!((segments.first_lost(), segments.in_flight()), (Some(1), 5));
    resend(&mut segments, 1, Cause::Lost);
    assert_eq!(segments.in_flight(), 6);
    assert_eq!(sack(&mut segments, &[6, 7]), 2);
    assert_eq!((segments.first_lost(), segments.in_flight()), (Some(2), 4));
    resend(&mut segments, 2, Cause::Lost);
    assert_eq!((segments.first_lost(), segments.in_flight()), (None, 5));
    // Repeated blocks are no news.
    assert_eq!(sack(&mut segments, &[3, 7]), 0);
}

/// The next segment follows the rules of RFC 6675's NextSeg in order: lost holes first, then,
/// where there is no new data, holes that may only be late, which SetPipe() then counts twice,
/// then one rescue of the highest outstanding segment.
#[test]
fn the_next_segment_follows_the_rules_in_order() {
    let mut segments = flight(1, 11);
    segments.begin_recovery(11);
    // The third highest SACKed segment is 4: only 1 is lost.
    sack(&mut segments, &[2, 3, 4, 6, 8]);
    assert_eq!(segments.first_lost(), Some(1));
    resend(&mut segments, 1, Cause::Lost);
    assert_eq!((segments.first_lost(), segments.in_flight()), (None, 5));
    for hole in [5, 7] {
        assert_eq!(segments.guess(), Some((hole, Cause::Guess)));
        resend(&mut segments, hole, Cause::Guess);
    }
    assert_eq!(segments.in_flight(), 7);
    // 9 and 10 lie above every SACKed segment: only the rescue reaches them, and only once the
    // cumulative acknowledgement has passed the segment retransmitted first.
    assert_eq!(segments.guess(), None);
    segments.advance(9, Time::ZERO, |_, _| {});
    assert_eq!(segments.guess(), Some((10, Cause::Rescue)));
    resend(&mut segments, 10, Cause::Rescue);
    assert_eq!((segments.guess(), segments.in_flight()), (None, 2));
}

/// A plain model: each outstanding segment's state, and the order of last transmissions.
#[derive(Default)]
struct Model {
    /// From SND.UNA on: SACKed, found lost, counted as sent again.
    states: Vec<(bool, bool, bool)>,
    una: u64,
    /// Those in the network, the one sent first in front.
    order: Vec<u64>,
}

impl Model {
    fn pipe(&self) -> u64 {
        let live = self.states.iter().filter(|state| !state.0);
        live.map(|&(_, lost, resent)| u64::from(!lost) + u64::from(resent)).sum()
    }

    fn first_lost(&self) -> Option<u64> {
        let at = self.states.iter().position(|state| *state == (false, true, false));
        at.map(|at| self.una + at as u64)
    }
}

/// Counts and order agree with their definitions: after every step of a long random episode
/// they are those of a plain list of states, by which pipe is computed.
#[test]
fn the_record_agrees_with_a_plain_list() {
    let mut stream = forebay_kernel::Streams::new(5, 0).named("segments");
    let (mut segments, mut model) = (flight(0, 0), Model::default());
    for _ in 0..20_000 {
        let max = model.una + model.states.len() as u64;
        let any = model.una + stream.below(max - model.una + 1);
        let at = (any - model.una) as usize;
        match stream.below(6) {
            0 | 1 => {
                segments.sent(max, 1, Cause::New, Time::ZERO);
                model.states.push((false, false, false));
                model.order.push(max);
            }
            2 if any < max => {
                segments.lose(any);
                if model.order.contains(&any) {
                    model.states[at] = (false, true, false);
                    model.order.retain(|number| *number != any);
                }
            }
            3 => {
                if let Some(number) = segments.first_lost() {
                    resend(&mut segments, number, Cause::Lost);
                    model.states[(number - model.una) as usize].2 = true;
                    model.order.push(number);
                }
            }
            4 if any < max => {
                segments.deliver(any, Time::ZERO, |_, _| {});
                model.states[at] = (true, false, false);
                model.order.retain(|number| *number != any);
            }
            _ if max - model.una > 20 => {
                let una = model.una + 1 + stream.below(15);
                segments.advance(una, Time::ZERO, |_, _| {});
                model.states.drain(..(una - model.una) as usize);
                model.una = una;
                model.order.retain(|number| *number >= una);
            }
            _ => {}
        }
        assert_eq!(segments.in_flight(), model.pipe());
        assert_eq!(segments.first_lost(), model.first_lost());
        let order = std::iter::successors(segments.oldest(), |at| segments.sent_after(*at));
        assert!(order.eq(model.order.iter().copied()));
    }
}

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
    segments.sample(at(ms))
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
    let seen = segments.sample(at(100));
    assert_eq!((seen.newly_delivered, seen.newly_lost, seen.in_flight), (2000, 1000, 1000));
    assert_eq!((seen.lost_since, seen.prior_in_flight), (1000, 4000));
    let lost: Vec<_> = std::iter::from_fn(|| segments.next_loss()).collect();
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
