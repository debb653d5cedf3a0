use forebay_kernel::math::exp;
use forebay_units::Rate;

use super::super::{Arrival, MediaReceiver};
use super::*;

/// Those of RFC 8698, section 4.1, table 2.
fn parameters() -> NadaParameters {
    NadaParameters {
        priority: 1.0,
        reference_delay: Span::from_ms(10),
        kappa: 0.5,
        eta: 2.0,
        tau: Span::from_ms(500),
        report_interval: Span::from_ms(100),
        window: Span::from_ms(500),
        queue_threshold: Span::from_ms(10),
        filter_delay: Span::from_ms(120),
        ramp_up_max: 0.5,
        ramp_up_delay: Span::from_ms(50),
        loss_memory: 7.0,
        warping_delay: Span::from_ms(50),
        warping: 0.5,
        loss_reference: 0.01,
        mark_reference: 0.01,
        loss_delay: Span::from_ms(10),
        mark_delay: Span::from_ms(2),
        smoothing: 0.1,
        buffer_encoder: 0.1,
        buffer_sending: 0.1,
    }
}

fn sender(reference: f64) -> Sender {
    let range = (Rate::from_bps(150_000), Rate::from_bps(1_500_000));
    let encoder = EncoderFacts { range, start: range.0, frame_rate: 30.0 };
    Sender { reference, ..Sender::new(parameters(), encoder) }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

/// A report is read as it was written, and a signal too large for it is the largest: 15 bits of 0.1
/// ms end at 3.2767 s.
#[test]
fn reports_are_read_as_they_were_written() {
    for (signal, read) in [(0.0, 0.0), (0.01234, 0.0123), (3.2767, 3.2767), (9.9, 3.2767)] {
        let report = Content { ramp_up: false, signal, receiving: 1_234_567.0 };
        assert_eq!(Content::read(report.written().word), Content { signal: read, ..report });
    }
    let fast = Content { ramp_up: true, signal: 0.0, receiving: 1e12 };
    assert_eq!(
        Content::read(fast.written().word),
        Content { receiving: f64::from(u32::MAX), ..fast }
    );
}

/// Ramp-up is bounded by the delay that it may cause: gamma is 0.05 / (0.1 + 0.1 + 0.12) = 0.15625
/// with a round trip of 100 ms, and 0.05 / 0.32 of nothing changes nothing.
#[test]
fn ramp_up_is_bounded_by_the_delay_that_it_may_cause() {
    let mut law = sender(400e3);
    let report = Content { ramp_up: true, signal: 0.0, receiving: 512_000.0 };
    law.on_report(&report.written(), Span::from_ms(100), Time::ZERO);
    assert!(near(law.reference, 512e3 * 1.15625));
    let slow = Content { receiving: 100e3, ..report };
    law.on_report(&slow.written(), Span::from_ms(100), Time::ZERO + Span::from_ms(100));
    assert!(near(law.reference, 512e3 * 1.15625));
    // On a short path the bound would be 0.05 / 0.22 = 0.227; with GAMMA_MAX of 0.1 it is that.
    law.of.ramp_up_max = 0.1;
    law.on_report(&report.written(), Span::ZERO, Time::ZERO + Span::from_ms(200));
    assert!(near(law.reference, 592e3));
    let most = Content { receiving: 1e9, ..report };
    law.on_report(&most.written(), Span::ZERO, Time::ZERO + Span::from_ms(300));
    assert_eq!(law.reference, 1.5e6);
}

/// The gradual update is that of the equations: with r_ref = 750 kbit/s the signal wanted is
/// 10 ms * 1.5 / 0.75 = 20 ms. A signal of 30 ms, up from 0 ms, changes the rate by
/// -0.5 * (100/500) * (10/500) = -0.2 % and -0.5 * 2 * (30/500) = -6 %.
#[test]
fn the_gradual_update_is_that_of_the_equations() {
    let mut law = sender(750e3);
    let report = Content { ramp_up: false, signal: 0.03, receiving: 0.0 };
    law.on_report(&report.written(), Span::from_ms(100), Time::ZERO);
    assert!(near(law.reference, 750e3 * (1.0 - 0.002 - 0.06)));
    // Where the signal is that of the rate and stays, so does the rate.
    let mut law = sender(750e3);
    law.latest.signal = 0.02;
    let report = Content { signal: 0.02, ..report };
    law.on_report(&report.written(), Span::from_ms(100), Time::ZERO);
    assert!(near(law.reference, 750e3));
    // A report that comes after 200 ms counts twice: -0.5 * (200/500) * (10/500) = -0.4 %.
    let mut law = sender(750e3);
    (law.latest.signal, law.last) = (0.03, Some(Time::ZERO));
    let report = Content { signal: 0.03, ..report };
    law.on_report(&report.written(), Span::from_ms(100), Time::ZERO + Span::from_ms(200));
    assert!(near(law.reference, 750e3 * 0.996));
}

/// Waiting packets speed sending up and slow the encoder, each by at most 5 %: of 1 Mbit/s 0.1 *
/// 10000 bits * 30 /s = 30 kbit/s, and at most 50 kbit/s.
#[test]
fn what_waits_speeds_sending_up_and_slows_the_encoder() {
    let law = sender(1e6);
    let is = |waiting: f64, encoder: f64, sending: f64| {
        let rates = law.rates(waiting);
        near(rates.encoder, encoder) && near(rates.sending, sending)
    };
    assert!(is(0.0, 1e6, 1e6) && is(10e3, 970e3, 1.03e6) && is(1e9, 950e3, 1.05e6));
    assert_eq!(sender(1.5e6).rates(1e9).sending, 1.5e6);
    assert_eq!(sender(150e3).rates(1e9).encoder, 150e3);
}

fn packet(number: u64, at: u64, delay: u64) -> Arrival {
    let (now, delay) = (Time::ZERO + Span::from_ms(at), Span::from_ms(delay));
    Arrival { now, delay, number, size: 1250, marked: false }
}

/// The signal without losses is the filtered queuing delay: the least of the latest 15 delays above
/// the base delay.
#[test]
fn the_signal_without_losses_is_the_filtered_queuing_delay() {
    let mut law = Receiver::new(parameters());
    law.on_packet(&packet(0, 0, 50));
    (1..=15).for_each(|number| law.on_packet(&packet(number, 10 * number, 70 + number)));
    // The base is 50 ms; of the latest 15 the least is 71 ms.
    let report = Content::read(law.report(Time::ZERO + Span::from_ms(160)).word);
    assert!(near(report.signal, 0.021) && !report.ramp_up);
    // 16 packets of 10000 bits in a window of 0.5 s.
    assert_eq!(report.receiving, 320e3);
    // After the window nothing is left but the filter.
    let later = Content::read(law.report(Time::ZERO + Span::from_ms(1000)).word);
    assert!(near(later.signal, 0.021) && later.ramp_up && later.receiving == 0.0);
}

/// Ramp-up ends when a queue builds up or a packet is lost: below 10 ms of queuing delay it may go
/// on.
#[test]
fn ramp_up_ends_when_a_queue_builds_up_or_a_packet_is_lost() {
    let ramps_up = |delay: u64, lost: u64| {
        let mut law = Receiver::new(parameters());
        law.on_packet(&packet(0, 0, 50));
        law.on_packet(&packet(1 + lost, 10, 50 + delay));
        Content::read(law.report(Time::ZERO + Span::from_ms(20)).word).ramp_up
    };
    assert!(ramps_up(0, 0) && ramps_up(9, 0));
    assert!(!ramps_up(10, 0) && !ramps_up(0, 1));
}

/// Losses weigh by the square of their smoothed ratio: 1 of 2 lost makes p_loss 0.1 * 0.5 = 0.05,
/// and 10 ms * (0.05 / 0.01)^2 = 250 ms.
#[test]
fn losses_weigh_by_the_square_of_their_smoothed_ratio() {
    let mut law = Receiver::new(parameters());
    law.on_packet(&packet(1, 0, 50));
    let report = Content::read(law.report(Time::ZERO).word);
    assert!(near(report.signal, 0.25));
    // Again: 0.05 + 0.1 * (0.5 - 0.05) = 0.095, of which 902.5 ms.
    let report = Content::read(law.report(Time::ZERO).word);
    assert!(near(report.signal, 0.9025));
    // A packet that comes late does not undo that, and is no loss again: 1 of 4,
    // 0.095 + 0.1 * (0.25 - 0.095) = 0.1105, of which 1.2210 s.
    law.on_packet(&packet(0, 10, 50));
    law.on_packet(&packet(2, 20, 50));
    let report = Content::read(law.report(Time::ZERO + Span::from_ms(20)).word);
    assert!(near(report.signal, 1.221));
}

/// Marks weigh a fifth of losses: 1 of 2 marked is p_mark 0.05, and 2 ms * 25 = 50 ms.
#[test]
fn marks_weigh_a_fifth_of_losses() {
    let mut law = Receiver::new(parameters());
    law.on_packet(&Arrival { marked: true, ..packet(0, 0, 50) });
    law.on_packet(&packet(1, 10, 50));
    let report = Content::read(law.report(Time::ZERO + Span::from_ms(10)).word);
    assert!(near(report.signal, 0.05) && report.ramp_up);
}

/// Queuing delay is warped while packets are lost, so that a flow does not starve beside TCP in a
/// long queue: with losses a queuing delay of 100 ms counts as 50 ms * exp(-0.5 * (100 - 50) / 50)
/// = 30.33 ms, without them, or seven loss intervals after the latest, in full.
#[test]
fn queuing_delay_is_warped_while_packets_are_lost() {
    let signal = |lost: u64, after: u64| {
        let mut law = Receiver::new(NadaParameters { smoothing: 0.0, ..parameters() });
        // Ten packets before the loss: loss_exp = 7 * 10.
        (0..10).for_each(|number| law.on_packet(&packet(number, 0, 50)));
        let first = 10 + lost;
        (first..first + after).for_each(|number| law.on_packet(&packet(number, 1, 150)));
        Content::read(law.report(Time::ZERO + Span::from_ms(3)).word).signal
    };
    let warped = (0.05 * exp(-0.5) * 1e4).round() / 1e4;
    assert!(near(signal(0, 70), 0.1));
    assert!(near(signal(1, 70), warped) && near(signal(1, 71), 0.1));
}
