use forebay_network::SackBlocks;
use forebay_units::Time;

use super::super::{Arrival, MediaReceiver, RateAdaptation, Report};
use super::delay::Delay;
use super::flight::{Flight, News};
use super::media::{Congestion, Media};
use super::receiver::Word;
use super::sender::LossEvents;
use super::*;

/// Those of RFC 8298, section 4.1.1.1.
fn parameters() -> ScreamParameters {
    ScreamParameters {
        delay_target: Span::from_ms(100),
        delay_target_max: Span::from_ms(400),
        competing: true,
        delay_weight: 0.1,
        trend_threshold: 0.2,
        trend_low: 0.2,
        resume_after: Span::from_s(5),
        min_window: Size::from_bytes(3000),
        flight_headroom: 1.1,
        gain: 1.0,
        loss_window: 0.8,
        mark_backoff: 0.9,
        loss_rate: 0.9,
        mss: Size::from_bytes(1000),
        adjust_interval: Span::from_ms(200),
        ramp_up: Rate::from_bps(200_000),
        congestion_guard: 0.1,
        buffer_factor: 1.0,
        buffer_delay: Span::from_ms(20),
        buffer_backoff: 0.95,
        min_pace: Rate::from_bps(50_000),
        base_history: 10,
        loss_weight: 0.01,
        min_timeout: Span::from_s(1),
        report_interval: Span::from_ms(20),
    }
}

fn encoder(start: u64) -> EncoderFacts {
    let range = (Rate::from_bps(150_000), Rate::from_bps(1_500_000));
    EncoderFacts { range, start: Rate::from_bps(start), frame_rate: 30.0 }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A report of `ranges`, the highest of which arrived at `received` ms, with `marks` so far.
fn report(ranges: &[(u64, u64)], received: u64, marks: u64) -> Report {
    let mut arrived = SackBlocks::default();
    ranges.iter().for_each(|&(first, end)| arrived.push(first, end));
    Report { word: Word::new(at(received), marks).0, arrived }
}

/// A sender with a window of `window` bytes, out of fast increase, which has sent `count` packets
/// of 1000 B at 0 ms.
fn sender(window: f64, count: u64) -> Sender {
    let mut law = Sender::new(parameters(), encoder(1_000_000));
    (law.window, law.fast_increase) = (window, false);
    (0..count).for_each(|number| law.on_sent(number, 1000, Time::ZERO));
    law
}

/// A report lists what arrived in ranges, the highest first, and says when the highest came and how
/// many were marked: what SCReAM needs (RFC 8298, section 4.2.1).
#[test]
fn a_report_lists_what_arrived() {
    let mut law = Receiver::default();
    for (ms, number) in [(0, 0), (10, 1), (20, 4), (30, 6), (40, 5), (50, 0)] {
        let (now, delay, marked) = (at(ms), Span::from_ms(5), number == 4);
        law.on_packet(&Arrival { now, delay, number, size: 1000, marked });
    }
    let said = law.report(at(60));
    assert_eq!(said.arrived.as_slice(), [(4, 7), (0, 2)]);
    // 6 came at 30 ms, and was sent at 25 ms. What was sent later cannot have come.
    let word = Word(said.word);
    assert_eq!((word.since(at(25)), word.marks()), (Span::from_ms(5), 1));
}

/// A list has four ranges at most: those of the highest numbers.
#[test]
fn a_list_has_the_four_highest_ranges() {
    let mut law = Receiver::default();
    for number in [0, 2, 4, 6, 8, 7] {
        let (now, delay) = (at(number), Span::ZERO);
        law.on_packet(&Arrival { now, delay, number, size: 1000, marked: false });
    }
    assert_eq!(law.report(at(9)).arrived.as_slice(), [(6, 9), (4, 5), (2, 3)]);
}

/// Bytes in flight are those sent after the highest number reported, whether others arrived or not,
/// and bytes acknowledged are those up to it, lost ones among them: both are examples of RFC 8298,
/// section 4.1.2.
#[test]
fn bytes_in_flight_are_those_after_the_highest_number() {
    let mut flight = Flight::default();
    (0..10).for_each(|number| flight.send(number, 100 + number as u16, at(number)));
    // SN is 9, and 4 the highest reported: 105 + 106 + 107 + 108 + 109 B.
    let news = flight.report(&[(0, 5)], Span::MAX, at(50)).unwrap();
    assert_eq!((flight.bytes(), news.sent), (535, Some(at(4))));
    // Then 7, and 6 is lost: 105 + 106 + 107 B.
    let news = flight.report(&[(7, 8), (0, 6)], Span::MAX, at(60)).unwrap();
    assert_eq!(news, News { acked: 318, sent: Some(at(7)), lost: true });
    // An older report, and one of what was never sent, say nothing.
    assert_eq!(flight.report(&[(0, 5)], Span::MAX, at(70)), None);
    assert_eq!(flight.report(&[(0, 11)], Span::MAX, at(70)), None);
    assert_eq!(flight.bytes(), 108 + 109);
}

/// A packet that is late is no loss while it is missing for less than one before was (RFC 8298,
/// section 4.1.2.4), or reordering would be taken for congestion.
#[test]
fn a_late_packet_widens_the_reordering_window() {
    let mut flight = Flight::default();
    (0..20).for_each(|number| flight.send(number, 1000, Time::ZERO));
    let mut lost = |ranges: &[(u64, u64)], ms: u64| {
        let news = flight.report(ranges, Span::from_ms(200), at(ms)).unwrap();
        (news.lost, flight.reordering())
    };
    // 1 is missing from 100 ms on, and at 130 ms has come.
    assert_eq!(lost(&[(2, 3), (0, 1)], 100), (true, Span::ZERO));
    assert_eq!(lost(&[(0, 4)], 130), (false, Span::from_ms(30)));
    // 5 is lost when it is missing for 30 ms, and counts once.
    assert_eq!(lost(&[(6, 7), (0, 5)], 200), (false, Span::from_ms(30)));
    assert_eq!(lost(&[(6, 8), (0, 5)], 229), (false, Span::from_ms(30)));
    assert_eq!(lost(&[(6, 9), (0, 5)], 230), (true, Span::from_ms(30)));
    assert_eq!(lost(&[(6, 10), (0, 5)], 250), (false, Span::from_ms(30)));
    // It has come after 180 ms; 10, after 300 ms, is later than what is waited for.
    assert_eq!(lost(&[(0, 10)], 380), (false, Span::from_ms(180)));
    assert_eq!(lost(&[(11, 12), (0, 10)], 400), (false, Span::from_ms(180)));
    assert_eq!(lost(&[(11, 13), (0, 10)], 580), (true, Span::from_ms(180)));
    assert_eq!(lost(&[(0, 13)], 599), (false, Span::from_ms(199)));
}

/// The most bytes in flight are those of the last 5 s (RFC 8298, section 4.1.2.2).
#[test]
fn the_most_bytes_in_flight_are_those_of_five_seconds() {
    let mut flight = Flight::default();
    (0..4).for_each(|number| flight.send(number, 1000, at(number)));
    flight.report(&[(0, 4)], Span::MAX, at(100));
    flight.send(4, 500, at(2000));
    assert_eq!(
        (flight.most(at(5003)), flight.most(at(5004)), flight.most(at(7001))),
        (4000, 500, 0)
    );
}

/// The trend is the correlation of one sample with the next, times the average: for a ramp of 20
/// samples, y = n - 10.5, it is (sum y^2 - y_20^2 + sum of y_1 to y_19) / sum y^2 = (665 - 90.25 -
/// 9.5) / 665 = 0.85. The average over the target of a ramp of 1 ms in each 50 ms is, with weight
/// 0.1, after n samples 0.01 * (n - 9 + 9 * 0.9^n).
#[test]
fn the_trend_is_that_of_the_algorithm() {
    let mut delay = Delay::new(&parameters());
    delay.measured(Span::from_ms(50), at(0));
    for number in 1..=20 {
        delay.measured(Span::from_ms(50 + number), at(50 * number - 10));
    }
    delay.sample_before(at(1001));
    let remains = (0..20).fold(1.0, |product, _| product * 0.9);
    let trend = 0.85 * 0.01 * (11.0 + 9.0 * remains);
    assert!((delay.trend - trend).abs() < 1e-12, "{} is not {trend}", delay.trend);
    assert_eq!(delay.trend_memory, delay.trend);
    // A second of the same delay is no trend; the memory of one fades by 1 % in 50 ms, from its
    // maximum on.
    delay.sample_before(at(2001));
    assert!(delay.trend.abs() < 1e-12 && delay.trend_memory >= trend * 0.8);
    let before = delay.trend_memory;
    delay.sample_before(at(2101));
    assert!(near(delay.trend_memory, before * 0.99 * 0.99));
}

/// The target is the mean of 50 queuing delays and the standard deviation of 200, half as much more
/// when packets are lost, while the delay is steady, so that a flow does not starve beside TCP; it
/// stays between its bounds.
#[test]
fn the_target_grows_with_a_steady_queue() {
    let mut delay = Delay::new(&parameters());
    let mut target = |queuing: f64, count: usize, losses: f64| {
        delay.queuing = queuing;
        (0..count).for_each(|_| delay.adjust_target(losses));
        delay.target
    };
    // 200 of 0.2 s do not vary.
    assert!(near(target(0.2, 200, 0.0), 0.2));
    assert!(near(target(0.2, 1, 0.002), 0.2) && near(target(0.2, 1, 0.0021), 0.3));
    assert_eq!(target(0.5, 200, 0.0), 0.4);
    assert_eq!(target(0.05, 200, 0.0), 0.1);
    // 50 of 0.18 s after 150 of 0.15 s: over the least target the variance is 0.3^2 * 3/16.
    let deviation = (0.09_f64 * 3.0 / 16.0).sqrt();
    target(0.15, 200, 0.0);
    assert!(near(target(0.18, 50, 0.0), 0.18 + 0.1 * deviation));
    let mut off = Delay::new(&ScreamParameters { competing: false, ..parameters() });
    off.queuing = 0.2;
    (0..200).for_each(|_| off.adjust_target(0.01));
    assert_eq!(off.target, 0.1);
}

/// The target shrinks while the delay varies: by a tenth, and by half when what is measured is less
/// than the least. 100 delays of 0.2 s after 100 of 0 have, over the least target, a variance of 1
/// and a mean of 2: 0.3 s. 50 of 0 after 75 of 0.1 s and 75 of 0 have 3/8 * 5/8 = 0.234 and 0.
#[test]
fn the_target_shrinks_while_the_delay_varies() {
    let mut delay = Delay::new(&parameters());
    let mut target = |queuing: f64, count: usize, before: f64| {
        delay.queuing = queuing;
        (1..count).for_each(|_| delay.adjust_target(0.0));
        delay.target = before;
        delay.adjust_target(0.0);
        delay.target
    };
    target(0.0, 200, 0.1);
    assert!(near(target(0.2, 100, 0.3), 0.27));
    target(0.0, 200, 0.1);
    target(0.1, 75, 0.1);
    assert!(near(target(0.0, 50, 0.4), 0.2));
}

/// In fast increase the window grows by what is acknowledged, if it is used: 1.5 * 1000 + 2000 B
/// are more than 3000, and 1.5 * 1000 + 1000 are less than 5000.
#[test]
fn fast_increase_adds_what_is_acknowledged() {
    let mut law = sender(3000.0, 3);
    law.fast_increase = true;
    law.on_report(&report(&[(0, 2)], 50, 0), Span::ZERO, at(100));
    assert_eq!(law.window, 5000.0);
    law.on_sent(3, 1000, at(100));
    law.on_report(&report(&[(0, 3)], 150, 0), Span::ZERO, at(200));
    assert_eq!((law.window, law.fast_increase), (5000.0, true));
    // A trend ends it.
    law.delay.trend = 0.2;
    law.on_report(&report(&[(0, 4)], 150, 0), Span::ZERO, at(200));
    assert!(!law.fast_increase);
}

/// Else it grows as in LEDBAT, and shrinks above the target: with 50 ms of 100, by 0.5 * 1000 *
/// 1000 / 10000 = 50 B for 1000 B acknowledged; with 150 ms by as much less.
#[test]
fn the_window_follows_the_queuing_delay() {
    for (queuing, window) in [(50, 10_050.0), (150, 9950.0)] {
        let mut law = sender(10_000.0, 10);
        law.delay = Delay::new(&ScreamParameters { competing: false, ..parameters() });
        // The first report has the base delay of 50 ms, and changes nothing: off is 1, but 9000 *
        // 1.25 + 1000 > 10000 adds 1000 * 1000 / 10000.
        law.on_report(&report(&[(0, 1)], 50, 0), Span::ZERO, at(100));
        assert!(near(law.window, 10_100.0));
        law.window = 10_000.0;
        law.on_report(&report(&[(0, 2)], 50 + queuing, 0), Span::ZERO, at(300));
        assert!(near(law.window, window), "{}", law.window);
    }
    // A window that is not used does not grow: 2000 * 1.25 + 1000 B of 4000.
    let mut law = sender(4000.0, 4);
    law.on_report(&report(&[(0, 2)], 50, 0), Span::ZERO, at(100));
    assert!(law.window > 4000.0);
    let mut law = sender(4400.0, 4);
    law.on_report(&report(&[(0, 2)], 50, 0), Span::ZERO, at(100));
    assert_eq!(law.window, 4400.0);
}

/// The window is at most 1.1 of the most that was in flight: 1.1 * 4000 B; and at least 3000 B.
#[test]
fn the_window_is_bounded_by_what_was_in_flight() {
    let mut law = sender(20_000.0, 4);
    law.on_report(&report(&[(0, 1)], 50, 0), Span::ZERO, at(100));
    assert!(near(law.window, 4400.0));
    let mut law = sender(20_000.0, 2);
    law.on_report(&report(&[(0, 1)], 50, 0), Span::ZERO, at(100));
    assert_eq!(law.window, 3000.0);
}

/// A loss scales the window by 0.8 and the rate by 0.9, a mark both by 0.9, and within a round trip
/// nothing more does.
#[test]
fn losses_and_marks_scale_window_and_rate_once_in_a_round_trip() {
    let mut law = sender(20_000.0, 20);
    law.on_report(&report(&[(1, 2)], 50, 0), Span::ZERO, at(100));
    assert!(near(law.window, 16_000.0) && near(law.media.target, 900e3));
    // The smoothed round trip is 100 ms. Another loss at 150 ms is ignored, and the window follows
    // the delay; one at 200 ms is not.
    law.on_report(&report(&[(3, 4), (1, 2)], 50, 0), Span::ZERO, at(150));
    assert!(near(law.media.target, 900e3));
    let window = law.window;
    law.on_report(&report(&[(5, 6), (3, 4), (1, 2)], 50, 0), Span::ZERO, at(200));
    assert!(near(law.window, 0.8 * window) && near(law.media.target, 810e3));
    let mut law = sender(20_000.0, 20);
    law.on_report(&report(&[(0, 2)], 50, 3), Span::ZERO, at(100));
    assert!(near(law.window, 18_000.0) && near(law.media.target, 900e3));
    law.on_report(&report(&[(0, 3)], 50, 4), Span::ZERO, at(150));
    law.on_report(&report(&[(0, 4)], 50, 4), Span::ZERO, at(300));
    assert!(near(law.media.target, 900e3));
    law.on_report(&report(&[(0, 5)], 50, 5), Span::ZERO, at(350));
    assert!(near(law.media.target, 810e3));
    // The least window and rate.
    let mut law = sender(3100.0, 20);
    law.media.target = 160e3;
    law.on_report(&report(&[(1, 2)], 50, 0), Span::ZERO, at(100));
    assert_eq!((law.window, law.media.target), (3000.0, 150e3));
}

/// The share of round trips with losses is smoothed, so that one allows a greater target for long:
/// 0.01 * 0.99^160 = 0.0020028, and after another round trip it is less than 0.002.
#[test]
fn a_round_trip_with_losses_counts_for_many() {
    let mut losses = LossEvents::default();
    let mut count = |lost: bool, ms: u64| {
        losses.count(lost, 0.01, Span::from_ms(100), at(ms));
        losses.share
    };
    assert_eq!(count(true, 100), 0.01);
    // Within the round trip a second one is one with it, and counts when that has ended.
    assert_eq!(count(true, 150), 0.01);
    assert!(near(count(false, 200), 0.0199));
    let mut losses = LossEvents::default();
    losses.share = 0.01;
    let mut rounds = 0;
    while losses.share > 0.002 {
        losses.count(false, 0.01, Span::from_ms(100), at(100 * rounds));
        rounds += 1;
    }
    assert_eq!(rounds, 161);
}

/// Below its target the queue may have one segment more than the window, above it may not; a
/// packet that is larger than all that leaves alone.
#[test]
fn the_send_window_has_a_segment_more_below_the_target() {
    let mut law = sender(10_000.0, 8);
    law.delay.queuing = 0.1;
    assert!(law.may_send(3000) && !law.may_send(3001));
    law.delay.queuing = 0.1001;
    assert!(law.may_send(2000) && !law.may_send(2001));
    assert!(sender(3000.0, 0).may_send(9000) && !sender(3000.0, 1).may_send(9000));
}

/// Packets are paced by the window over the round trip: 8 * 10000 bit / 100 ms = 800 kbit/s; with
/// 3000 B in 800 ms 30, which is less than the least, 50 kbit/s.
#[test]
fn packets_are_paced_by_the_window() {
    for (window, rtt, rate) in [(10_000.0, 100, 800e3), (3000.0, 800, 50e3)] {
        let mut law = sender(window, 2);
        law.on_report(&report(&[(0, 1)], 50, 0), Span::ZERO, at(rtt));
        law.window = window;
        assert!(near(law.rates(0.0).sending, rate));
    }
}

/// Without a report for a second, what is in flight is lost, and the least window may leave: a
/// sender does not stop for ever when all reports are lost.
#[test]
fn without_reports_the_least_window_leaves() {
    let mut law = sender(20_000.0, 20);
    assert!(!law.on_frame(0.0, 0.0, at(0)) && !law.on_frame(0.0, 0.0, at(10)));
    law.media.target = 1e6;
    assert!(!law.may_send(1001));
    assert!(law.on_frame(30e3, 0.0, at(1000)));
    assert_eq!((law.window, law.send_window()), (3000.0, 4000.0));
    // What comes late of it counts as heard of, and adds nothing.
    law.on_report(&report(&[(0, 20)], 50, 0), Span::ZERO, at(1100));
    assert_eq!((law.window, law.send_window()), (3000.0, 4000.0));
}

/// Fast increase begins again after 5 s without a trend or a loss.
#[test]
fn fast_increase_resumes_after_five_seconds() {
    let mut law = sender(20_000.0, 20);
    law.on_report(&report(&[(1, 2)], 50, 0), Span::ZERO, at(1000));
    law.on_report(&report(&[(1, 3)], 50, 0), Span::ZERO, at(5999));
    assert!(!law.fast_increase);
    law.on_report(&report(&[(1, 4)], 50, 0), Span::ZERO, at(6000));
    assert!(law.fast_increase);
}

const FAST: Congestion = Congestion { fast_increase: true, trend: 0.0, trend_memory: 0.0 };
const SLOW: Congestion = Congestion { fast_increase: false, ..FAST };

/// The target after 200 ms of frames at a rate of `made`, with as much sent, and then `waiting`
/// bits in the sender.
fn adjusted(media: &mut Media, made: f64, waiting: f64, congestion: Congestion, from: u64) -> f64 {
    let of = parameters();
    media.frame(&of, (0.0, 0.0), congestion, at(from));
    for frame in 1..=6 {
        media.counted.sent += made / 30.0;
        let now = at(from) + Span::from_seconds(f64::from(frame) / 30.0);
        let done = media.frame(&of, (made / 30.0, waiting), congestion, now);
        assert_eq!(done, frame == 6);
    }
    media.target
}

/// In fast increase the rate grows by 200 kbit/s in a second, 40 in 200 ms, or by half of itself in
/// a second where that is less: 300 + 30.
#[test]
fn fast_increase_ramps_up_by_a_fixed_speed() {
    for (start, rate) in [(500_000, 540e3), (300_000, 330e3)] {
        let mut media = Media::new(encoder(start));
        assert!(near(adjusted(&mut media, start as f64, 0.0, FAST, 0), rate));
    }
    // By a fifth of that at the last known maximum, and in proportion to the square of four times
    // the distance from it: (4 * 0.2)^2 = 0.64, at 0.8 of it.
    let mut media = Media::new(encoder(500_000));
    media.inflect();
    assert!(near(adjusted(&mut media, 500e3, 0.0, FAST, 0), 508e3));
    let mut media = Media::new(encoder(1_000_000));
    media.inflect();
    media.target = 800e3;
    assert!(near(adjusted(&mut media, 800e3, 0.0, FAST, 0), 825.6e3));
}

/// Out of it, more than 20 ms in the sender lessen the rate by 5 %, after an increase of 40 kbit/s
/// at most; more than a second of it takes that much from the rate.
#[test]
fn what_waits_in_the_sender_lessens_the_rate() {
    for (waiting, rate) in
        [(0.0, 1040e3), (19e3, 1040e3), (21e3, 0.95 * 1040e3), (1200e3, 0.95 * (1000e3 - 200e3))]
    {
        let mut media = Media::new(encoder(1_000_000));
        let found = adjusted(&mut media, 1e6, waiting, SLOW, 0);
        assert!(near(found, rate), "{found} is not {rate}");
    }
}

/// The rate is at most twice what is sent or made, and after congestion, as the memory of the trend
/// has it, no more than that: 300 and 600 kbit/s of a target of 1 Mbit/s; and never beyond what the
/// encoder can.
#[test]
fn the_rate_is_bounded_by_what_is_sent() {
    for (memory, rate) in [(0.0, 600e3), (1.0, 300e3)] {
        let mut media = Media::new(encoder(1_000_000));
        let congestion = Congestion { trend_memory: memory, ..SLOW };
        assert!(near(adjusted(&mut media, 300e3, 0.0, congestion, 0), rate));
    }
    let mut media = Media::new(encoder(1_490_000));
    assert_eq!(adjusted(&mut media, 1.49e6, 0.0, FAST, 0), 1.5e6);
}
