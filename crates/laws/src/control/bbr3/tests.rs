//! The arithmetic of BBR, version 3.

use super::*;
use crate::control::testing::sample;

fn bbr3() -> Bbr3 {
    Bbr3::new(&Bbr3Parameters {
        loss_threshold: 0.02,
        beta: 0.7,
        headroom: 0.15,
        probe_rtt_interval: Span::from_s(5),
        probe_rtt_time: Span::from_ms(200),
    })
}

fn window(cwnd: f64) -> Window {
    Window { cwnd, ssthresh: f64::INFINITY, smss: 1000.0 }
}

/// Returns the sample of a round trip of 100 ms that ends at `ms`, at `rate` in bytes per second,
/// with `in_flight` bytes left in flight.
fn brought(law: &Bbr3, ms: u64, rate: f64, in_flight: u64) -> RateSample {
    let newly_delivered = (rate / 10.0) as u64;
    RateSample {
        now: Time::ZERO + Span::from_ms(ms),
        newly_delivered,
        delivered: law.delivered + newly_delivered,
        prior_delivered: Some(law.delivered),
        rate: Some(rate),
        rtt: Some(Span::from_ms(100)),
        srtt: Some(Span::from_ms(100)),
        prior_in_flight: in_flight,
        in_flight,
        sent_in_flight: in_flight,
        ..sample()
    }
}

fn round(law: &mut Bbr3, w: &mut Window, ms: u64, rate: f64, in_flight: u64) {
    let fact = brought(law, ms, rate, in_flight);
    law.sampled(w, &fact);
}

/// A flow at 1 MB/s, which has filled the path of 100 ms and drained the queue: in CRUISE, as DOWN
/// has nothing left to do.
fn settled() -> (Bbr3, Window) {
    let (mut law, mut w) = (bbr3(), window(10_000.0));
    for n in 1..=4 {
        round(&mut law, &mut w, 100 * n, 1e6, 300_000);
    }
    assert_eq!(law.state, State::Drain);
    round(&mut law, &mut w, 500, 1e6, 100_000);
    assert_eq!(law.state, State::Cruise);
    (law, w)
}

/// Startup ends after three rounds in which the rate has grown by less than a quarter, and Drain
/// paces at half the bandwidth, less the margin of 1 %, until what is in flight is what the path
/// holds (sections 5.3.1 and 5.3.2).
#[test]
fn startup_and_drain_follow_the_draft() {
    let (mut law, mut w) = (bbr3(), window(10_000.0));
    for (n, rate) in [2e5, 4e5, 8e5, 1e6, 1e6, 1.2e6].into_iter().enumerate() {
        round(&mut law, &mut w, 100 * (n as u64 + 1), rate, 300_000);
        assert_eq!(law.state, State::Startup, "{n}");
    }
    // 1.2e6 < 1.25 * 1e6, for the third time.
    round(&mut law, &mut w, 700, 1.2e6, 300_000);
    assert_eq!((law.state, law.pacing_rate), (State::Drain, Some(0.5 * 1.2e6 * 0.99)));
    round(&mut law, &mut w, 800, 1.2e6, 120_000);
    assert_eq!((law.state, law.pacing_rate), (State::Cruise, Some(1.2e6 * 0.99)));
    // Where the queue does not drain, Drain ends after three rounds.
    law.state = State::Drain;
    law.drain_start = law.round;
    let states: Vec<State> = (0..4)
        .map(|n| {
            round(&mut law, &mut w, 900 + 100 * n, 1.2e6, 300_000);
            law.state
        })
        .collect();
    assert_eq!(states, [State::Drain, State::Drain, State::Drain, State::Down]);
}

/// Bandwidth is probed for after 2 to 3 s, or as often as Reno does in 62 round trips (section
/// 5.3.3.8): CRUISE, a round of REFILL, then UP until three rounds bring no more, at gains of 1, 1
/// and 1.25, and 0.9 for DOWN.
#[test]
fn the_cycle_is_that_of_the_draft() {
    let (mut law, mut w) = settled();
    let mut seen: Vec<(State, u64)> = vec![(State::Cruise, 500)];
    for n in 0..80 {
        let ms = 600 + 100 * n;
        // UP leaves a queue that DOWN lets out.
        let in_flight = if law.state == State::Up { 110_000 } else { 90_000 };
        round(&mut law, &mut w, ms, 1e6, in_flight);
        // No measurement of the round-trip time interferes.
        law.probe_min_at = Time::ZERO + Span::from_ms(ms);
        if seen.last().unwrap().0 != law.state {
            seen.push((law.state, ms));
        }
    }
    let states: Vec<State> = seen.iter().map(|(state, _)| *state).collect();
    let cycle = [State::Cruise, State::Refill, State::Up, State::Down];
    assert_eq!(states[..8], [cycle, cycle].concat());
    let [refill, up, down, cruise, again] = [1, 2, 3, 4, 5].map(|at| seen[at].1);
    assert!((2000..=3200).contains(&(refill - 500)), "{seen:?}");
    assert!((2000..=3200).contains(&(again - down)), "{seen:?}");
    assert_eq!((up - refill, down - up, cruise - down), (100, 300, 100));
    let gains = [State::Down, State::Cruise, State::Refill, State::Up].map(|state| state.gains().0);
    assert_eq!(gains, [0.9, 1.0, 1.0, 1.25]);
}

/// Losses while bandwidth is not probed for shrink the model to what is delivered, at most by Beta
/// (section 5.5.10.3): from 1 MB/s, with 0.5 MB/s delivered in a round with a loss, 0.7 MB/s; of
/// the window, 204 segments, 70 %.
#[test]
fn losses_shrink_the_model_by_beta_at_most() {
    let (mut law, mut w) = settled();
    w.cwnd = 204_000.0;
    law.losses.bw_latest = 0.0;
    law.losses.inflight_latest = 0;
    let segment = LostSegment {
        number: 7,
        bytes: 1000,
        sent_in_flight: 100_000,
        lost_since: 1000,
        app_limited: false,
        delivered: law.delivered,
    };
    law.lost(&mut w, &segment, Time::ZERO + Span::from_ms(600));
    round(&mut law, &mut w, 600, 5e5, 90_000);
    assert_eq!((law.bounds.bw, law.bw), (7e5, 7e5));
    assert!((law.bounds.short - 0.7 * 204_000.0).abs() < 1e-6);
    assert_eq!(law.max_bw.max(), 1e6);
}

/// After a probe with too many losses, what may be in flight is the volume at which losses passed 2
/// % (section 5.5.10.2): before a segment of 1000 B 149 kB were in flight, of which 2 kB were lost;
/// the prefix of it is (0.02 * 149000 - 2000) / 0.98 = 1000 B. Then CRUISE leaves 15 % to others.
#[test]
fn losses_of_a_probe_bound_what_is_in_flight() {
    let (mut law, mut w) = settled();
    law.state = State::Up;
    law.probing.samples = true;
    let segment = |lost_since| LostSegment {
        number: 7,
        bytes: 1000,
        sent_in_flight: 150_000,
        lost_since,
        app_limited: false,
        delivered: 0,
    };
    let now = Time::ZERO + Span::from_ms(600);
    law.lost(&mut w, &segment(3000), now);
    assert_eq!(law.bounds.long, f64::INFINITY, "3000 B are 2 %, and not more");
    law.lost(&mut w, &segment(3001), now);
    let prefix = (0.02 * 149_000.0 - 2001.0) / 0.98;
    assert!((law.bounds.long - (149_000.0 + prefix)).abs() < 1e-6, "{}", law.bounds.long);
    assert!(law.probing.too_high && !law.probing.samples);
    let most = 0.85 * law.bounds.long;
    assert!((law.with_headroom(1000.0) - most).abs() < 1e-6);
    let fact = RateSample { lost_since: 3001, ..brought(&law, 600, 1e6, 150_000) };
    law.sampled(&mut w, &fact);
    assert_eq!(law.state, State::Down);
}

/// The round-trip time is measured every 5 s, with half of what the path holds in flight (section
/// 5.3.4): 50 segments of 100, for 200 ms and a round.
#[test]
fn the_round_trip_time_is_measured_every_five_seconds() {
    let (mut law, mut w) = settled();
    law.min_rtt = Some(Span::from_ms(100));
    law.probe_min = Some(Span::from_ms(90));
    law.min_rtt_at = Time::ZERO + Span::from_ms(500);
    law.probe_min_at = Time::ZERO + Span::from_ms(500);
    w.cwnd = 200_000.0;
    let mut ms = 500;
    while law.state != State::ProbeRtt {
        ms += 100;
        round(&mut law, &mut w, ms, 1e6, 90_000);
    }
    assert_eq!(ms, 5600);
    let half = law.probe_rtt_cwnd(1000.0);
    assert!((40_000.0..=50_000.0).contains(&half) && w.cwnd == half, "{half}, {}", w.cwnd);
    for at in [5700, 5800, 5900] {
        round(&mut law, &mut w, at, 4e5, 40_000);
        assert_eq!((law.state, law.max_bw.max()), (State::ProbeRtt, 1e6));
    }
    round(&mut law, &mut w, 6000, 4e5, 40_000);
    assert_eq!(law.state, State::Cruise);
}
