//! The arithmetic of BBR.

use super::*;
use crate::control::testing::sample;

fn bbr() -> Bbr {
    Bbr::new(&BbrParameters {
        startup_gain: 2.885,
        cwnd_gain: 2.0,
        bandwidth_rounds: 10,
        min_rtt_window: Span::from_s(10),
        probe_rtt_time: Span::from_ms(200),
    })
}

fn window(cwnd: f64) -> Window {
    Window { cwnd, ssthresh: f64::INFINITY, smss: 1000.0 }
}

/// A round trip of 100 ms at `rate`, in bytes per second, with `in_flight` bytes left in flight, at
/// the end of it.
fn round(law: &mut Bbr, w: &mut Window, number: u64, rate: f64, in_flight: u64) {
    let brought = (rate / 10.0) as u64;
    let delivered = law.aggregation.delivered() + brought;
    let fact = RateSample {
        now: Time::ZERO + Span::from_ms(100 * number),
        newly_delivered: brought,
        delivered,
        prior_delivered: Some(delivered - brought),
        rate: Some(rate),
        rtt: Some(Span::from_ms(100)),
        srtt: Some(Span::from_ms(100)),
        prior_in_flight: in_flight,
        in_flight,
        ..sample()
    };
    law.sampled(w, &fact);
}

/// STARTUP ends with the third round in which the bandwidth has grown by less than a quarter: not
/// before the path is full, and not later. DRAIN then sends at 1/2.885 of it until what is in
/// flight is what the path holds, 1 MB/s times 100 ms and a few segments.
#[test]
fn startup_ends_when_the_bandwidth_has_stopped_growing() {
    let (mut law, mut w) = (bbr(), window(10_000.0));
    for (number, rate) in [1e5, 2e5, 4e5, 8e5, 1e6, 1e6, 1.2e6].into_iter().enumerate() {
        round(&mut law, &mut w, number as u64 + 1, rate, 300_000);
        assert_eq!((law.mode, law.pacing_gain), (Mode::Startup, 2.885), "round {number}");
    }
    // 1.2e6 < 1.25 * 1e6, for the third time since 1e6.
    round(&mut law, &mut w, 8, 1e6, 300_000);
    assert_eq!((law.mode, law.pacing_gain), (Mode::Drain, 1.0 / 2.885));
    assert!((law.pacing_rate.unwrap() - 1.2e6 / 2.885 * 0.99).abs() < 1e-3);
    round(&mut law, &mut w, 9, 1e6, 200_000);
    assert_eq!(law.mode, Mode::Drain);
    round(&mut law, &mut w, 10, 1e6, 120_000);
    assert_eq!(law.mode, Mode::ProbeBw);
    assert_ne!(law.cycle, 1, "the cycle never starts with the phase below 1");
}

/// PROBE_BW goes through gains of 1.25, 0.75 and six times 1, a round trip each, with a window of
/// twice what the path holds: 1 MB/s times 100 ms are 100 segments, so 200 and three times the two
/// that are sent at once, and two more in the first phase.
#[test]
fn the_cycle_has_eight_phases() {
    let (mut law, mut w) = (bbr(), window(10_000.0));
    for number in 1..=4 {
        round(&mut law, &mut w, number, 1e6, 300_000);
    }
    round(&mut law, &mut w, 5, 1e6, 100_000);
    assert_eq!(law.mode, Mode::ProbeBw);
    let mut gains = Vec::new();
    for number in 6..60 {
        // More than a round trip of 100 ms passes between two calls, and the path is filled.
        round(&mut law, &mut w, 2 * number, 1e6, 250_000);
        gains.push(law.pacing_gain);
        let first = law.cycle == 0;
        assert_eq!(law.target(1e6, 2.0, 1000.0), if first { 208e3 } else { 206e3 });
    }
    let start = gains.iter().position(|gain| *gain == 1.25).unwrap();
    assert_eq!(gains[start..start + 8], CYCLE);
    assert_eq!(gains[start + 8..start + 16], CYCLE);
}

/// The window grows with what is sent at once, as Linux's does: a smaller one loses less to CoDel
/// or a short queue. In 1/1024 s go, of segments of 1448 B: at 1 Mbit/s 122 B, one segment below
/// 1.2 Mbit/s; from there on two, which at 10 Mbit/s are more than the 1,221 B; at 50 Mbit/s 6,104
/// B, four; at 100 Mbit/s 12,207 B, eight; at 1 Gbit/s 122,070 B, of which 65,215 B are the most,
/// 45. In segments of 500 B that is 130, of which 127 are the most.
#[test]
fn more_is_in_flight_the_more_is_sent_at_once() {
    let segments = [(1.0, 1), (1.199, 1), (1.2, 2), (10.0, 2), (50.0, 4), (100.0, 8)];
    for (mbps, expected) in segments {
        assert_eq!(sent_at_once(mbps * 1e6 / 8.0, 1448.0), expected, "{mbps} Mbit/s");
    }
    assert_eq!(sent_at_once(1e9 / 8.0, 1448.0), 45);
    assert_eq!(sent_at_once(1e9 / 8.0, 500.0), 127);
    // 10 Mbit/s and 40 ms: 50 kB are 34.5 segments of 1448 B; with 6 they are 41, so 42.
    let mut law = bbr();
    law.min_rtt = Some(Span::from_ms(40));
    law.pacing_rate = Some(1.25e6);
    assert_eq!(law.target(1.25e6, 1.0, 1448.0), 42.0 * 1448.0);
    // At 50 Mbit/s 172.7 and 12 are 185, so 186.
    law.pacing_rate = Some(6.25e6);
    assert_eq!(law.target(6.25e6, 1.0, 1448.0), 186.0 * 1448.0);
}

/// The path is measured again 10 s after the least round-trip time was seen last: the window
/// shrinks to four segments, for 200 ms and a round from when no more is in flight; the samples of
/// that time do not count as bandwidth, and afterwards the window is what it was.
#[test]
fn the_round_trip_time_is_measured_every_ten_seconds() {
    let (mut law, mut w) = (bbr(), window(10_000.0));
    for number in 1..=4 {
        round(&mut law, &mut w, number, 1e6, 300_000);
    }
    round(&mut law, &mut w, 5, 1e6, 100_000);
    law.min_rtt = Some(Span::from_ms(90));
    law.min_rtt_at = Time::ZERO + Span::from_ms(500);
    w.cwnd = 204_000.0;
    round(&mut law, &mut w, 105, 1e6, 100_000);
    assert_eq!(law.mode, Mode::ProbeBw);
    round(&mut law, &mut w, 106, 1e6, 100_000);
    assert_eq!((law.mode, w.cwnd), (Mode::ProbeRtt, 4000.0));
    assert_eq!(law.min_rtt, Some(Span::from_ms(100)));
    for number in 107..=109 {
        round(&mut law, &mut w, number, 4e4, 4000);
        assert_eq!((law.mode, w.cwnd), (Mode::ProbeRtt, 4000.0), "{number}");
    }
    round(&mut law, &mut w, 110, 4e4, 4000);
    assert_eq!(law.mode, Mode::ProbeBw);
    assert!(w.cwnd >= 200_000.0, "{}", w.cwnd);
    for number in 111..=125 {
        round(&mut law, &mut w, number, 4e4, 4000);
        let limited = number <= 111;
        assert!(!limited || law.max_bw.max() == 1e6, "{number}: {}", law.max_bw.max());
    }
}

/// A loss leaves the bandwidth as it is, and takes the window down to what is in flight and no
/// further: in the first round of recovery as much is sent as is delivered, and at its end the
/// window is what it was.
#[test]
fn losses_leave_the_model_as_it_is() {
    let (mut law, mut w) = (bbr(), window(10_000.0));
    for number in 1..=5 {
        round(&mut law, &mut w, number, 1e6, 100_000);
    }
    w.cwnd = 204_000.0;
    law.congested(&mut w, Signal::Loss, 100_000.0, Time::ZERO);
    assert_eq!(w.cwnd, 101_000.0);
    let delivered = law.aggregation.delivered();
    let in_recovery = RateSample {
        now: Time::ZERO + Span::from_ms(510),
        newly_delivered: 2000,
        delivered: delivered + 2000,
        prior_delivered: Some(delivered - 100_000),
        rate: Some(1e6),
        in_flight: 99_000,
        recovering: true,
        ..sample()
    };
    law.sampled(&mut w, &in_recovery);
    assert_eq!(w.cwnd, 101_000.0);
    law.sampled(&mut w, &RateSample { recovering: false, newly_lost: 0, ..in_recovery });
    assert!(w.cwnd >= 200_000.0);
    assert_eq!(law.max_bw.max(), 1e6);
}

/// A token bucket is found, so that a flow behind it does not send at the rate of bursts and lose a
/// fifth of it for ever: two intervals of at least four rounds with a fifth lost, at rates an
/// eighth apart or less, are taken for a policer, whose rate, the mean of both, is kept for 48
/// rounds.
#[test]
fn policers_are_found() {
    let mut policer = Policer::default();
    let (mut delivered, mut now) = (0, Time::ZERO);
    let mut pass = |policer: &mut Policer, rate: u64| {
        now += Span::from_ms(100);
        delivered += rate / 10;
        let lost = rate / 40;
        let fact = RateSample { now, delivered, newly_lost: lost, ..sample() };
        policer.sampled(&fact, true, true)
    };
    pass(&mut policer, 100_000);
    for _ in 0..4 {
        assert!(!pass(&mut policer, 100_000) && policer.rate().is_none());
    }
    for _ in 0..4 {
        assert_eq!(policer.rate(), None);
        pass(&mut policer, 110_000);
    }
    let rate = policer.rate().unwrap();
    assert!((rate - 105_000.0).abs() < 1.0, "{rate}");
    for _ in 0..47 {
        assert!(!pass(&mut policer, 100_000));
    }
    assert!(pass(&mut policer, 100_000) && policer.rate().is_none());
}

/// The bandwidth is the highest rate of the last ten rounds: a rate counts for ten rounds after its
/// own.
#[test]
fn the_highest_rate_of_ten_rounds_counts() {
    let mut filter = MaxFilter::new(10);
    let rates = [5.0, 9.0, 3.0, 4.0];
    for (at, rate) in rates.into_iter().enumerate() {
        filter.note(at as u32, rate);
    }
    let seen: Vec<f64> = (4..16)
        .map(|round| {
            filter.note(round, 1.0);
            filter.note(round, 0.5);
            filter.max()
        })
        .collect();
    assert_eq!(seen[..8], [9.0; 8]);
    assert_eq!(seen[8..], [4.0, 4.0, 1.0, 1.0]);
}

/// The first flight leaves at the pace of the window in a round trip, times the gain of STARTUP,
/// less a hundredth (bbr_init_pacing_rate_from_rtt): 10 segments of 1000 B in 100 ms are 100 kB/s.
/// A first sample of less than that is not followed; one of more is, times the same gain.
#[test]
fn the_first_pace_is_that_of_the_window() {
    let (mut law, mut w) = (bbr(), window(10_000.0));
    let first = RateSample { srtt: Some(Span::from_ms(100)), ..sample() };
    law.set_rate(&w, &first);
    assert!((law.pacing_rate.unwrap() - 2.885 * 1e5 * 0.99).abs() < 1e-3);
    round(&mut law, &mut w, 1, 5e4, 10_000);
    assert!((law.pacing_rate.unwrap() - 2.885 * 1e5 * 0.99).abs() < 1e-3);
    round(&mut law, &mut w, 2, 2e5, 10_000);
    assert!((law.pacing_rate.unwrap() - 2.885 * 2e5 * 0.99).abs() < 1e-3);
}
