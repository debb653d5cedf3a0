//! CUBIC's curve, its response to congestion, and the signs that end slow start.

use super::*;
use crate::control::testing::{acked, sample};

/// Those of the RFCs, without HyStart++.
const RFCS: CubicParameters = CubicParameters {
    c: 0.4,
    beta: 0.7,
    fast_convergence: true,
    hystart: false,
    hystart_law: HyStartLaw::Rfc9406,
    alpha_law: AlphaLaw::Rfc9438,
    abe: abe::AbeParameters { beta_ecn: None },
};

const LINUX: CubicParameters = CubicParameters {
    hystart: true,
    hystart_law: HyStartLaw::Linux,
    alpha_law: AlphaLaw::Linux,
    ..RFCS
};

fn cubic() -> Cubic {
    Cubic::new(&RFCS)
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// Slow start lasts while round-trip times stay at 40 ms, for all of ten rounds of eight, and
/// ends after five rounds behind one in which they grow by an eighth, by HyStart++ (RFC 9406,
/// section 4.2). In recovery and in congestion avoidance they say nothing of it.
#[test]
fn growing_round_trip_times_end_slow_start_only() {
    let rounds = |ms: &[u64], ssthresh: f64, recovering: bool| {
        let mut law = Cubic::new(&CubicParameters { hystart: true, ..RFCS });
        let mut window = Window { cwnd: 10_000.0, ssthresh, smss: 1000.0 };
        for (round, ms) in (1..).zip(ms) {
            for at in 0..8 {
                let (una, max) = (100 * round + at, 100 * round + 99);
                let rtt = Some(Span::from_ms(*ms));
                let now = RateSample { una, max, rtt, recovering, ..sample() };
                law.sampled(&mut window, &now);
            }
        }
        window.ssthresh
    };
    let grown = [40, 45, 45, 45, 45, 45, 45, 45];
    assert_eq!(rounds(&[40; 10], f64::INFINITY, false), f64::INFINITY);
    assert_eq!(rounds(&grown[..6], f64::INFINITY, false), f64::INFINITY);
    assert_eq!(rounds(&grown, f64::INFINITY, false), 10_000.0);
    assert_eq!(rounds(&grown, f64::INFINITY, true), f64::INFINITY);
    assert_eq!(rounds(&grown, 9000.0, false), 9000.0);
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs()
}

/// The window follows the curve of equation 1 of RFC 9438: W_max = 100 and a reduction to 70
/// give K = cbrt(30 / 0.4) = 4.2171633 s; W(0) = 70, W(2) = 0.4 * (2 - K)^3 + 100 = 95.640336,
/// W(K + 1) = 100 + 0.4.
#[test]
fn the_curve_is_cubic_around_the_last_maximum() {
    let mut cubic = cubic();
    cubic.w_max = 100.0;
    let epoch = cubic.begin(70.0, Time::ZERO);
    assert!(close(epoch.k, 4.217_163_3));
    assert!(close(epoch.window(0.4, 0.0), 70.0));
    assert!(close(epoch.window(0.4, 2.0), 95.640_336));
    assert!(close(epoch.window(0.4, epoch.k + 1.0), 100.4));
}

/// An acknowledgement moves the window by (target - cwnd) / cwnd with target = W(t + RTT)
/// limited to half as much again (section 4.4): in the stage above, 2 s in and with RTT 100 ms,
/// W(2.1) = 100 + 0.4 * (2.1 - 4.2171633)^3 = 96.204043; from 90 segments, the step is 6.204043
/// / 90.
#[test]
fn the_window_moves_towards_the_curve() {
    let mut cubic = cubic();
    (cubic.w_max, cubic.prior) = (100.0, 100.0);
    cubic.epoch = Some(cubic.begin(70.0, Time::ZERO));
    let rtt = Span::from_ms(100);
    let past: f64 = 2.1 - 4.217_163_326_508_746;
    let target = 100.0 + 0.4 * past * past * past;
    let next = cubic.avoid(90.0, 1.0, at(2.0), rtt);
    assert!(close(next - 90.0, (target - 90.0) / 90.0), "{next}");
    // Far behind the curve: 20 segments may aim at 30 at most.
    let next = cubic.avoid(20.0, 1.0, at(2.0), rtt);
    assert!(close(next, 20.0 + 10.0 / 20.0), "{next}");
}

/// CUBIC is not slower than Reno where the curve is flat (section 4.3): at small windows, W_est
/// grows by alpha = 3 * 0.3 / 1.7 = 0.5294118 segments a round trip up to the window before the
/// reduction, and by one from there on; in Linux by alpha there, too.
#[test]
fn small_windows_grow_as_renos() {
    for (parameters, beyond) in [(&RFCS, 1.0), (&LINUX, 3.0 * 0.3 / 1.7)] {
        small_windows_grow(Cubic::new(parameters), beyond);
    }
}

fn small_windows_grow(mut cubic: Cubic, beyond: f64) {
    let mut window = Window { cwnd: 10_000.0, ssthresh: 1.0, smss: 1000.0 };
    cubic.congested(&mut window, Signal::Loss, 10_000.0, Time::ZERO);
    assert_eq!((window.cwnd, window.ssthresh), (7000.0, 7000.0));
    let srtt = Some(Span::from_us(100));
    let ack = Ack { now: at(0.001), flight: 7000.0, srtt, ..acked(1000.0) };
    // Each acknowledgement adds alpha / cwnd. The curve starts at W(0) = 7 segments, below
    // W_est.
    let mut expected = 7.0;
    for _ in 0..7 {
        expected += 3.0 * 0.3 / 1.7 / expected;
        cubic.acknowledged(&mut window, &ack);
        assert!(close(window.cwnd, 1000.0 * expected));
    }
    if let Some(epoch) = &mut cubic.epoch {
        epoch.w_est = 10.0;
    }
    window.cwnd = 10_000.0;
    cubic.acknowledged(&mut window, &Ack { flight: 10_000.0, ..ack });
    assert!(close(window.cwnd, 1000.0 * (10.0 + beyond / 10.0)));
}

/// Linux adds a segment for each 20 acknowledged while the largest window that the path holds
/// is not known (`bictcp_update`), so that the window grows behind HyStart, where the curve
/// from 50 segments on has 0.4 (0.1)^3 after 100 ms. A loss ends that, and a timeout brings it
/// back, as it has the law forget the largest window.
#[test]
fn linux_grows_by_a_twentieth_until_a_loss() {
    let srtt = Some(Span::from_ms(40));
    let grown = |cubic: &mut Cubic, now: f64| {
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0, smss: 1.0 };
        cubic.acknowledged(&mut window, &Ack { now: at(now), flight: 50.0, srtt, ..acked(1.0) });
        window.cwnd - 50.0
    };
    let mut window = Window { cwnd: 100.0, ssthresh: 1.0, smss: 1.0 };
    let mut cubic = Cubic::new(&LINUX);
    assert!(close(grown(&mut cubic, 0.1), 0.05));
    cubic.congested(&mut window, Signal::Loss, 100.0, at(0.2));
    assert!(grown(&mut cubic, 10.3) < 0.05);
    cubic.congested(&mut window, Signal::Timeout { first: true }, 100.0, at(11.0));
    assert!(close(grown(&mut cubic, 11.5), 0.05));
    assert!(grown(&mut Cubic::new(&RFCS), 0.1) < 0.05);
}

/// Linux's slow start ends before it fills the queue: on a path of 40 ms, with acknowledgements
/// 500 us apart, a train of more than 20.5 ms ends it at the window that it has (derived in
/// `hystart_linux`), the first time and after a timeout; not after a loss, which sets its own
/// threshold.
#[test]
fn linux_ends_slow_start_with_a_train() {
    let mut law = Cubic::new(&LINUX);
    let mut window = Window { cwnd: 60_000.0, ssthresh: f64::INFINITY, smss: 1000.0 };
    let mut now = Time::ZERO;
    let mut ends_at = |law: &mut Cubic, window: &mut Window| {
        now += Span::from_s(5);
        (1..200).find(|at| {
            now += Span::from_us(500);
            let (una, rtt) = (now.ps(), Some(Span::from_ms(40)));
            let fact = RateSample { now, una, max: una, rtt, srtt: rtt, ..sample() };
            // The first acknowledgement is of the round before; those behind it are of one.
            let fact = RateSample { max: if *at == 1 { u64::MAX } else { una }, ..fact };
            law.sampled(window, &fact);
            window.ssthresh == window.cwnd
        })
    };
    assert_eq!(ends_at(&mut law, &mut window), Some(43));
    law.congested(&mut window, Signal::Loss, 60_000.0, Time::ZERO);
    window.ssthresh = 1e6;
    assert_eq!(ends_at(&mut law, &mut window), None);
    law.congested(&mut window, Signal::Timeout { first: true }, 60_000.0, Time::ZERO);
    (window.cwnd, window.ssthresh) = (60_000.0, 1e6);
    assert_eq!(ends_at(&mut law, &mut window), Some(43));
}

/// A flow gives way to newcomers (section 4.7), and does not climb back at once to a window
/// that timed out (section 4.8): congestion at 80 below a maximum of 100 leaves W_max = 80 *
/// 1.7 / 2 = 68; after a timeout the curve starts at its own top, K = 0.
#[test]
fn the_maximum_is_remembered_with_care() {
    let mut cubic = cubic();
    cubic.w_max = 100.0;
    let mut window = Window { cwnd: 80.0, ssthresh: 50.0, smss: 1.0 };
    cubic.congested(&mut window, Signal::Loss, 80.0, Time::ZERO);
    assert!(close(cubic.w_max, 68.0) && close(window.ssthresh, 56.0));
    window.cwnd = 60.0;
    cubic.congested(&mut window, Signal::Timeout { first: true }, 60.0, Time::ZERO);
    assert_eq!(window.cwnd, 1.0);
    assert!(close(window.ssthresh, 42.0));
    let epoch = cubic.begin(42.0, at(1.0));
    assert_eq!((epoch.k, epoch.top), (0.0, 42.0));
}

/// Mean windows are those that RFC 9438 gives in tables 1 and 2 for one loss in 1 / p segments,
/// at C = 0.4: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), or Reno's where that is
/// larger: 0.1 s and 10^-4: 187, 10^-5: 1054; 0.01 s and 10^-4: 120, which is 1.2 / sqrt(p),
/// rounded from sqrt(3/2) = 1.225.
///
/// The peak of the curve is 4 / (3 + beta) of its mean. As the curve is flat there, the way to
/// it is long: peaks that begin there stay, and those that begin 30 % away come nearer.
#[test]
fn mean_windows_are_those_of_the_tables() {
    let table = [(0.1, 1e-4, 187.0), (0.1, 1e-5, 1054.0), (0.01, 1e-4, 120.0)];
    for (at_first, (rtt, p, expected)) in
        [1.0, 0.7, 1.3].into_iter().flat_map(|it| table.map(|row| (it, row)))
    {
        let mut cubic = Cubic::new(&CubicParameters { fast_convergence: false, ..RFCS });
        let peak = at_first * expected * 4.0 / 3.7;
        let mut w = Window { cwnd: peak, ssthresh: 1.0, smss: 1.0 };
        let (mut seconds, mut area, mut since) = (0.0, 0.0, 0.0);
        for epoch in 0..8 {
            let flight = w.cwnd;
            cubic.congested(&mut w, Signal::Loss, flight, at(seconds));
            if epoch == 5 {
                (area, since) = (0.0, seconds);
            }
            let mut left = 1.0 / p;
            while left > 0.0 {
                let step = rtt / w.cwnd;
                seconds += step;
                area += w.cwnd * step;
                let srtt = Some(Span::from_seconds(rtt));
                let ack = Ack { now: at(seconds), flight: w.cwnd, srtt, ..acked(1.0) };
                cubic.acknowledged(&mut w, &ack);
                left -= 1.0;
            }
        }
        let mean = area / (seconds - since);
        let (off, told) = (mean / expected, format!("{rtt} s, {p}: {mean}, {expected}"));
        if at_first == 1.0 {
            assert!((off - 1.0).abs() < 0.03, "{told}");
        } else {
            assert!((off - 1.0).abs() < 0.8 * (at_first - 1.0_f64).abs(), "{told}");
        }
    }
}

/// A pause of the application does not count as time on the curve, so that the window does not
/// jump after it (section 5.8).
#[test]
fn idle_time_does_not_count() {
    let mut cubic = cubic();
    cubic.w_max = 100.0;
    cubic.epoch = Some(cubic.begin(70.0, Time::ZERO));
    let mut window = Window { cwnd: 70.0, ssthresh: 70.0, smss: 1.0 };
    let ack = Ack { now: at(5.0), flight: 2.0, ..acked(1.0) };
    cubic.acknowledged(&mut window, &ack);
    assert_eq!(window.cwnd, 70.0);
    assert_eq!(cubic.epoch.map(|e| e.start), Some(at(5.0)));
}

/// With ABE a mark leaves 0.85 of 100 segments and a loss 0.7 (RFC 8511, section 3.1), and both
/// tell the same of what the path holds: W_max is 100.
#[test]
fn marks_cost_less_with_alternative_backoff() {
    for (signal, left) in [(Signal::Ecn, 85.0), (Signal::Loss, 70.0)] {
        let mut cubic = Cubic { beta_ecn: Some(0.85), ..cubic() };
        let mut window = Window { cwnd: 100.0, ssthresh: 1.0, smss: 1.0 };
        cubic.congested(&mut window, signal, 100.0, Time::ZERO);
        assert_eq!((window.cwnd, window.ssthresh, cubic.w_max), (left, left, 100.0));
    }
}

/// A loss that turns out to be none leaves no trace (RFC 9438, section 4.9.2): W_max, the window
/// before and the stage of congestion avoidance are those of before, unless the window has grown
/// beyond what it was meanwhile. A mark is no such loss.
#[test]
fn a_needless_reduction_leaves_no_trace() {
    let congested = |signal, cwnd| {
        let mut cubic = cubic();
        (cubic.w_max, cubic.prior) = (90.0, 110.0);
        cubic.epoch = Some(cubic.begin(70.0, at(1.0)));
        let mut window = Window { cwnd: 80_000.0, ssthresh: 70_000.0, smss: 1000.0 };
        cubic.congested(&mut window, signal, 80_000.0, at(2.0));
        window.cwnd = cwnd;
        cubic.undone(&window);
        (cubic.w_max, cubic.prior, cubic.epoch.map(|epoch| epoch.start))
    };
    let before = (90.0, 110.0, Some(at(1.0)));
    assert_eq!(congested(Signal::Loss, 79_000.0), before);
    assert_eq!(congested(Signal::Timeout { first: true }, 1000.0), before);
    // Fast convergence: 80 (1 + 0.7) / 2.
    assert_eq!(congested(Signal::Loss, 80_000.0), (68.0, 80.0, None));
    assert_eq!(congested(Signal::Ecn, 1000.0), (68.0, 80.0, None));
}
