use forebay_kernel::math::pow;
use forebay_units::{Rate, Time};

use super::super::{Arrival, EncoderFacts, MediaReceiver, RateAdaptation};
use super::detector::Detector;
use super::sender::State;
use super::*;

/// Those of draft-ietf-rmcat-gcc-02, section 5.6, table 1, and sections 3 to 6.
fn parameters() -> GccParameters {
    GccParameters {
        report_interval: Span::from_ms(100),
        burst_time: Span::from_ms(5),
        state_noise: 1e-3,
        initial_error: 0.1,
        noise_weight: 0.01,
        rate_groups: 60,
        scale_groups: 60,
        threshold: Span::from_us(12_500),
        min_threshold: Span::from_ms(6),
        max_threshold: Span::from_ms(600),
        threshold_outlier: Span::from_ms(15),
        threshold_rise: 0.01,
        threshold_fall: 0.00018,
        overuse_time: Span::from_ms(10),
        window: Span::from_ms(500),
        increase: 1.08,
        reaction: Span::from_ms(100),
        decrease: 0.85,
        receiving_bound: 1.5,
        smoothing: 0.95,
        deviations: 3.0,
        loss_low: 0.02,
        loss_high: 0.1,
        loss_increase: 1.05,
        loss_decrease: 0.5,
        pacing: 1.0,
    }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A report is read as it was written, in its units: thousandths, 64 bit/s and 0.1 ms; what is too
/// large is the largest, 2^26 - 1 times 64 bit/s, 409.5 ms and 819.1 ms.
#[test]
fn reports_are_read_as_they_were_written() {
    for signal in [Signal::Normal, Signal::Over, Signal::Under] {
        let report =
            Content { signal, lost: 0.205, receiving: 640e3, gradient: -12.3, threshold: 600.0 };
        assert_eq!(Content::read(report.written().word), report);
    }
    let signal = Signal::Over;
    let large = Content { signal, lost: 1.0, receiving: 1e12, gradient: 1e9, threshold: 1e9 };
    let receiving = f64::from((1 << 26) - 1) * 64.0;
    let read = Content { receiving, gradient: 409.5, threshold: 819.1, ..large };
    assert_eq!(Content::read(large.written().word), read);
}

/// The detector after packets of one group each, sent every 20 ms: the i-th has a delay of
/// `delay(i)` microseconds. Returns what each group but the first said, the last one left out,
/// since no packet follows it.
fn groups(of: GccParameters, number: u64, delay: impl Fn(u64) -> u64) -> (Detector, Vec<Signal>) {
    let mut detector = Detector::new(of);
    let signals = (0..number).filter_map(|i| {
        let late = Span::from_us(delay(i));
        detector.on_packet(at(20 * i) + late, late)
    });
    let signals = signals.collect();
    (detector, signals)
}

/// A ramp is over-use when filter, threshold and time have it so. Without state noise and with the
/// noise at its least, 1 ms², the filter is the mean that begins with 1 / e(0) = 10 zeros: after n
/// gradients of 1 ms, m = n / (n + 10), and n m > 12.5 ms from n = 20 on (400 / 30 = 13.3, at 19:
/// 361 / 29 = 12.4). The next group comes 21 ms later, which is more than 10 ms.
#[test]
fn a_ramp_is_over_use_after_filter_threshold_and_time() {
    let fixed = GccParameters {
        state_noise: 0.0,
        threshold_rise: 0.0,
        threshold_fall: 0.0,
        ..parameters()
    };
    let (detector, signals) = groups(fixed.clone(), 23, |i| 1000 * i);
    let first = signals.iter().position(|&signal| signal == Signal::Over);
    // Positions count from 0, n from 1.
    assert_eq!((first, signals.len()), (Some(20), 21));
    assert!(near(detector.compared().0, 21.0 * 21.0 / 31.0));
    // Over-use for at least 50 ms: three groups more.
    let slow = GccParameters { overuse_time: Span::from_ms(50), ..fixed.clone() };
    let (_, signals) = groups(slow, 30, |i| 1000 * i);
    assert_eq!(signals.iter().position(|&signal| signal == Signal::Over), Some(22));
    // As many groups as may scale are one: 12.5 ms are never reached.
    let letter = GccParameters { scale_groups: 1, ..fixed.clone() };
    let (_, signals) = groups(letter, 1000, |i| 1000 * i);
    assert!(signals.iter().all(|&signal| signal == Signal::Normal));
    // A queue that empties is under-use, at once.
    let (_, signals) = groups(fixed, 23, |i| 1000 * (100 - i));
    assert_eq!(signals.iter().position(|&signal| signal == Signal::Under), Some(19));
}

/// Over-use is not signalled while the estimate falls, even above the threshold: with the filter of
/// the ramp, 30 gradients of 1 ms make 30 m = 30 * 30 / 40 = 22.5 ms, and one of 0 after them makes
/// 30 * 30 / 41 = 22.0 ms.
#[test]
fn a_gradient_that_falls_is_no_over_use() {
    let of = GccParameters {
        state_noise: 0.0,
        threshold_rise: 0.0,
        threshold_fall: 0.0,
        scale_groups: 30,
        ..parameters()
    };
    let (detector, signals) = groups(of, 33, |i| 1000 * i.min(30));
    assert_eq!(signals[28..], [Signal::Over, Signal::Over, Signal::Normal]);
    assert!(near(detector.compared().0, 30.0 * 30.0 / 41.0));
}

/// The gain of the filter settles where it follows from q: with p = e + q, p = p / (1 + p) + q, so
/// p = (q + sqrt(q² + 4 q)) / 2 = 0.0321, and the gain is p / (1 + p) = 0.0311.
#[test]
fn the_gain_of_the_filter_settles() {
    // A thousand gradients of 0, and one of 1 ms.
    let of = GccParameters { scale_groups: 1, ..parameters() };
    let (detector, _) = groups(of, 1003, |i| if i < 1001 { 5000 } else { 6000 });
    let q: f64 = 1e-3;
    let p = (q + (q * q + 4.0 * q).sqrt()) / 2.0;
    assert!((detector.compared().0 - p / (1.0 + p)).abs() < 1e-9);
}

/// Noise is averaged with a weight that keeps at 50 groups a second what chi means at 30: alpha =
/// 0.99^0.6. Gradients of ±2 ms have a variance of 4 ms²; those of ±10 ms are outliers, bounded at
/// three deviations, and the variance grows by 1 + 8 (1 - alpha) from group to group.
///
/// With a state that does not move, what a gradient of 1 ms adds shows the variance: the estimate
/// changes by 1 ms / (1 + variance / e), and e is 1e-6 ms² here, so that it hardly shrinks.
#[test]
fn noise_is_averaged_and_its_outliers_bounded() {
    let alpha = pow(0.99, 0.6);
    let variance = |swing: u64, number: u64| {
        let e = 1e-6;
        let of =
            GccParameters { state_noise: 0.0, initial_error: e, scale_groups: 1, ..parameters() };
        let delays = |i: u64| 50_000 + swing * (i % 2);
        let before = groups(of.clone(), number + 2, delays).0.compared().0;
        // One gradient more, of twice the swing.
        let last = delays(number) + 2 * swing;
        let after = groups(of, number + 3, |i| if i <= number { delays(i) } else { last });
        let off = 2.0 * swing as f64 / 1e3;
        // The variance with that gradient in it.
        e * off / (after.0.compared().0 - before)
    };
    // 100 gradients: 4 - 3 alpha^100; then one of 4 ms, 16 ms².
    let expected = alpha * (4.0 - 3.0 * pow(alpha, 100.0)) + (1.0 - alpha) * 16.0;
    assert!((variance(2000, 100) / expected - 1.0).abs() < 1e-3);
    let growth = 1.0 + 8.0 * (1.0 - alpha);
    assert!((variance(10_000, 20) / pow(growth, 21.0) - 1.0).abs() < 1e-3);
}

/// The threshold falls by K_d = 0.00018 /ms towards what it is compared with, and not below 6 ms:
/// with no gradient by 0.36 % for each group of 20 ms, from 12.5 ms.
#[test]
fn the_threshold_falls_slowly_to_its_least() {
    let threshold = |number: u64| groups(parameters(), number + 2, |_| 5000).0.compared().1;
    assert!(near(threshold(100), 12.5 * pow(1.0 - 0.0036, 100.0)));
    // ln(12.5 / 6) / 0.0036 = 203.9 groups.
    assert!(threshold(203) > 6.0 && threshold(204) == 6.0);
}

/// The threshold rises by K_u = 0.01 /ms, but not for outliers of 15 ms and more above it. Of one
/// gradient d of 20 ms and the gain 1 / 1.001 of e(0) = 1000 ms² the filter makes d / 1.001.
#[test]
fn the_threshold_rises_fast_but_not_for_outliers() {
    let threshold = |gradient: u64| {
        let of = GccParameters { initial_error: 1000.0, state_noise: 0.0, ..parameters() };
        groups(of, 3, |i| if i == 0 { 0 } else { gradient }).0.compared().1
    };
    // 1 ms² of noise has become alpha + 9 (1 - alpha) by the outlier of 20 ms.
    let noise = 1.0 + 8.0 * (1.0 - pow(0.99, 0.01 * 60.0));
    let estimate = |gradient: f64| gradient * 1000.0 / (1000.0 + noise);
    // The gap is that of arrivals: 40 ms.
    assert!(near(threshold(20_000), 12.5 + 0.4 * (estimate(20.0) - 12.5)));
    assert!(near(threshold(27_000), 12.5 + 0.47 * (estimate(27.0) - 12.5)));
    assert_eq!(threshold(28_000), 12.5);
}

/// Packets sent within 5 ms are one group, and those that arrive in a burst too: neither the time
/// that the packets of a frame take from each other nor the end of an outage is a gradient.
#[test]
fn bursts_are_one_group() {
    let mut detector = Detector::new(parameters());
    // Four packets of a frame, sent at once, arrive 4 ms apart; frames are sent every 40 ms.
    for frame in 0..50 {
        for packet in 0..4 {
            let delay = Span::from_ms(10 + 4 * packet);
            detector.on_packet(at(40 * frame) + delay, delay);
        }
    }
    assert_eq!(detector.compared().0, 0.0);
    // Packets sent every 20 ms from 2000 to 2200 ms all arrive at 2210 ms: one group, with the
    // delay of its last packet, which is that of the packets after it.
    for sent in (2000..=2200).step_by(20) {
        detector.on_packet(at(2210), Span::from_ms(2210 - sent));
    }
    for sent in (2220..2400).step_by(20) {
        detector.on_packet(at(sent + 10), Span::from_ms(10));
    }
    // Of the frames' last packet the delay was 22 ms: there was one gradient, of -12 ms.
    let scaled = detector.compared().0;
    assert!(scaled < 0.0 && scaled > -12.0 * 60.0 * 0.05, "{scaled}");
}

fn packet(number: u64, ms: u64) -> Arrival {
    let (now, delay) = (at(ms), Span::from_ms(5));
    Arrival { now, delay, number, size: 1200, marked: false }
}

/// The receiving rate is that of a full window, and not known before: 25 packets of 9600 bits in
/// 0.5 s are 480 kbit/s.
#[test]
fn the_receiving_rate_is_that_of_a_full_window() {
    let mut law = Receiver::new(parameters());
    (0..=24).for_each(|number| law.on_packet(&packet(number, 20 * number)));
    assert_eq!(Content::read(law.report(at(499)).word).receiving, 0.0);
    assert_eq!(Content::read(law.report(at(499) + Span::from_ms(1)).word).receiving, 460.8e3);
    law.on_packet(&packet(25, 500));
    assert_eq!(Content::read(law.report(at(501)).word).receiving, 480e3);
}

/// The share of packets lost is that since the latest report, in which late packets make up for
/// others (RFC 3550, section 6.4.1): numbers 0 to 9 without two are 20 %.
#[test]
fn the_share_lost_is_that_since_the_latest_report() {
    let mut law = Receiver::new(parameters());
    let lost = |law: &mut Receiver| Content::read(law.report(at(500)).word).lost;
    [0, 1, 2, 4, 5, 6, 8, 9].iter().for_each(|&n| law.on_packet(&packet(n, 10 * n)));
    assert_eq!((lost(&mut law), lost(&mut law)), (0.2, 0.0));
    // Three of 10 to 13, and one from before.
    [10, 11, 13, 3].iter().for_each(|&n| law.on_packet(&packet(n, 200)));
    assert_eq!(lost(&mut law), 0.0);
}

/// Over-use between two reports is reported even if the latest group shows none: the rate control
/// is to decrease as soon as there was any.
#[test]
fn over_use_between_reports_is_reported_once() {
    let of = GccParameters { state_noise: 0.0, threshold_rise: 0.0, ..parameters() };
    let mut law = Receiver::new(of);
    // The gradient ends with the 40th packet, so that it falls.
    for number in 0..45_u64 {
        let delay = Span::from_ms(number.min(40));
        let now = at(20 * number) + delay;
        law.on_packet(&Arrival { now, delay, ..packet(number, 0) });
    }
    let signal = |law: &mut Receiver| Content::read(law.report(at(950)).word).signal;
    assert_eq!((signal(&mut law), signal(&mut law)), (Signal::Over, Signal::Normal));
}

fn sender(rate: u64) -> Sender {
    let range = (Rate::from_bps(150_000), Rate::from_bps(1_500_000));
    let encoder = EncoderFacts { range, start: Rate::from_bps(rate), frame_rate: 30.0 };
    Sender::new(parameters(), encoder)
}

/// A law and the time of its latest report, for reports every 100 ms with a round trip of 100 ms.
struct Reported(Sender, u64);

impl Reported {
    fn by(&mut self, signal: Signal, receiving: f64, lost: f64) -> f64 {
        let report = Content { signal, lost, receiving, gradient: 0.0, threshold: 12.5 };
        self.1 += 100;
        self.0.on_report(&report.written(), Span::from_ms(100), at(self.1));
        self.0.delay_based
    }
}

/// The states are those of the table in section 5.5.
#[test]
fn states_are_those_of_the_table() {
    let (hold, increase, decrease) = (State::Hold, State::Increase, State::Decrease);
    let table = [
        (Signal::Over, [decrease, decrease, decrease]),
        (Signal::Normal, [increase, increase, hold]),
        (Signal::Under, [hold, hold, hold]),
    ];
    for (signal, after) in table {
        assert_eq!([hold, increase, decrease].map(|state| state.after(signal)), after);
    }
}

/// Without congestion the rate grows by 8 % a second, and not above 1.5 times what is received;
/// before that is known it stays.
#[test]
fn the_rate_grows_by_eight_percent_a_second() {
    let mut law = Reported(sender(400_000), 0);
    assert_eq!(law.by(Signal::Normal, 0.0, 0.0), 400e3);
    (0..10).for_each(|_| {
        law.by(Signal::Normal, 400e3, 0.0);
    });
    assert!(near(law.0.delay_based, 432e3));
    // 6 s from there: 432 * 1.08^6 = 685 kbit/s are more than 1.5 * 400.
    (0..60).for_each(|_| {
        law.by(Signal::Normal, 400e3, 0.0);
    });
    assert_eq!(law.0.delay_based, 600e3);
    // A report after 5 s counts for one second.
    law.1 += 4900;
    assert!(near(law.by(Signal::Normal, 640e3, 0.0), 648e3));
}

/// Over-use lowers the rate to 0.85 of what is received, and after it the rate is held for a
/// report; what still arrives from before does not raise it.
#[test]
fn over_use_lowers_the_rate_to_that_received() {
    let mut law = Reported(sender(1_200_000), 0);
    assert!(near(law.by(Signal::Over, 960e3, 0.0), 816e3));
    assert!(near(law.by(Signal::Over, 1024e3, 0.0), 816e3));
    assert!(near(law.by(Signal::Over, 640e3, 0.0), 544e3));
    assert!(near(law.by(Signal::Normal, 640e3, 0.0), 544e3));
    assert!(near(law.by(Signal::Normal, 640e3, 0.0), 544e3 * pow(1.08, 0.1)));
    assert!(near(law.by(Signal::Under, 640e3, 0.0), 544e3 * pow(1.08, 0.1)));
    // Not below what the encoder can.
    assert_eq!(law.by(Signal::Over, 6400.0, 0.0), 150e3);
}

/// Near the rates at which it was decreased the rate grows by at most half a packet for each
/// response time, and above them as before. Decreases at 960 and 1024 kbit/s have the mean 0.95 *
/// 960 + 0.05 * 1024 = 963.2 kbit/s and the deviation sqrt(0.05) * 60.8 = 13.6 kbit/s: near is
/// 922.4 to 1004 kbit/s. At A kbit/s a frame has A / 30 kbit; of 870.4 these are 29013.3 bits in 4
/// packets of 7253.3 bits, of which 0.5 * 100 / (100 + 100) = 1/4 is added in a report.
#[test]
fn near_convergence_the_rate_grows_by_half_a_packet() {
    let converged = || {
        let mut law = Reported(sender(1_500_000), 0);
        for receiving in [960e3, 1024e3] {
            law.0.delay_based = 1.5e6;
            law.by(Signal::Over, receiving, 0.0);
            law.by(Signal::Under, receiving, 0.0);
        }
        assert!(near(law.0.delay_based, 870.4e3));
        law
    };
    let added = 870.4e3 / 30.0 / 4.0 / 4.0;
    for (receiving, after) in [
        (960e3, 870.4e3 + added),
        (928e3, 870.4e3 + added),
        (896e3, 870.4e3 * pow(1.08, 0.1)),
        (1024e3, 870.4e3 * pow(1.08, 0.1)),
    ] {
        assert!(near(converged().by(Signal::Normal, receiving, 0.0), after), "{receiving}");
    }
    // Above them they are forgotten.
    let mut law = converged();
    let above = law.by(Signal::Normal, 1024e3, 0.0);
    assert!(near(law.by(Signal::Normal, 960e3, 0.0), above * pow(1.08, 0.1)));
    // At 150 kbit/s a frame is one packet of 5000 bits; with a round trip of 400 ms 0.5 * 100 / 500
    // of it would be 500 bit/s, and the least is 1000 bit/s.
    let mut law = converged();
    law.0.delay_based = 150e3;
    let report = Content::read(0);
    let report = Content { receiving: 960e3, ..report };
    law.0.on_report(&report.written(), Span::from_ms(400), at(law.1 + 100));
    assert_eq!(law.0.delay_based, 151e3);
}

/// Losses of 5 % change nothing, 20 % lower the loss-based rate by a tenth, and below 2 % it grows
/// by 5 %; the lesser of both rates counts.
#[test]
fn losses_of_a_fifth_lower_the_rate_by_a_tenth() {
    for (lost, factor) in
        [(0.05, 1.0), (0.02, 1.0), (0.1, 1.0), (0.2, 0.9), (0.5, 0.75), (0.01, 1.05), (0.0, 1.05)]
    {
        let mut law = Reported(sender(800_000), 0);
        law.by(Signal::Normal, 800e3, lost);
        assert!(near(law.0.loss_based, 800e3 * factor), "{lost}");
        let rates = law.0.rates(1e6);
        let lesser = (800e3 * factor).min(800e3 * pow(1.08, 0.1));
        assert!(near(rates.encoder, lesser) && near(rates.sending, lesser), "{lost}");
    }
}
