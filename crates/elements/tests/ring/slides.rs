//! The scenarios of the 802.17 slides (Amer and Mekkittikul, January 2002) against closed forms.

use forebay_units::Span;

use super::scene::{OC12, OC48, Scene, Source, buffers, greedy};

/// F, D one span further, and the hub; D's traffic in bursts of 1 ms each 21 ms, on a ring of
/// negligible length.
fn bursts(rate: u64, precedence: u8, burst_rate: u64) -> Scene {
    let mut scene = Scene::new(rate, 3, Span::from_us(5));
    // Half of it is less than a burst of 75 kB.
    scene.buffers = buffers(40_000);
    scene.parameters = vec![("low_threshold", "40 kB".into())];
    let start = Span::from_ms(100);
    let burst = Some((Span::from_ms(1), Span::from_ms(21)));
    let f = Source { start, ..greedy(rate, 0, 2) };
    scene.sources = vec![f, Source { from: 1, rate: burst_rate, precedence, burst, ..f }];
    scene
}

/// The ramp of SRP-fa decides what bursts leave to the station upstream. Each burst cuts F to what
/// D sends on average, 1/21 of its rate (low priority: 4.6 or 1.1 % of the line) or 0 (high
/// priority does not count). F is held there for at most the burst, 1 ms, and the time to hear of
/// its end, 0.4 ms; the ramp 1 - exp(-t/tau) with tau = 6.533 ms then fills the rest of the 21 ms.
/// The mean allowance is
///
///   1 - [h (1 - low) + (1 - low) tau (1 - exp(-(21 - h)/tau))] / 21
///
/// 0.716 for low = 1/21 and h = 0; 0.701 for low = 0, less 0.045 for each ms of h: 0.638 at 1.4 ms.
#[test]
fn the_ramp_decides_what_bursts_leave_to_the_station_upstream() {
    let cases = [
        (OC12, 1, 600_000_000),
        (OC48, 1, 600_000_000),
        (OC12, 0, 600_000_000),
        (OC48, 0, 2_400_000_000),
    ];
    for (rate, precedence, burst_rate) in cases {
        let scene = bursts(rate, precedence, burst_rate);
        let share = scene.build().measure(0.62, 1.46).flows[0] / rate as f64;
        assert!((0.638..=0.716).contains(&share), "{rate}, {precedence}: {share}");
    }
}

/// All that D's bursts bring is delivered within their period: 50 packets of 1500 B each 21 ms,
/// 28.57 Mbit/s.
#[test]
fn what_bursts_bring_is_delivered() {
    let delivered = bursts(OC12, 1, 600_000_000).build().measure(0.62, 1.46).flows[1];
    assert!((delivered / (75_000.0 * 8.0 / 0.021) - 1.0).abs() < 0.02, "{delivered}");
}

/// High priority waits for at most one packet of low priority and one message: 1516 B at the line
/// rate.
#[test]
fn high_priority_waits_for_at_most_one_packet() {
    for rate in [OC12, OC48] {
        let mut scene = bursts(rate, 0, 50_000_000);
        scene.sources[1].burst = None;
        let mut ring = scene.build();
        ring.run_to(1.0);
        let wait = ring.probe(1, "host_high_max_wait_s");
        let most = 1516.0 * 8.0 / rate as f64;
        assert!(wait > 0.0 && wait <= most + 1e-12, "{wait} s, at most {most}");
    }
}

/// High priority is heard behind a single transit buffer, which goes before the host: a frame of
/// either class that waits for longer than an interval makes D congested, so that F makes room, and
/// all of D's 50 Mbit/s arrives.
#[test]
fn behind_a_single_buffer_high_priority_is_heard() {
    let mut scene = bursts(OC12, 0, 50_000_000);
    scene.sources[1].burst = None;
    scene.buffers.dual = false;
    let delivered = scene.build().measure(0.62, 1.46).flows[1];
    assert!((delivered / 50e6 - 1.0).abs() < 0.02, "{delivered}");
}

/// Under VoQ bursts cost half of their time: F falls to half of the line (D has none committed)
/// from the burst until F hears that it is over: 1 ms, plus 102.88 us, 300 us of activity and 2 *
/// 50 us. That costs 1.503 / 21 of a half, 3.6 % of the line.
#[test]
fn under_voq_bursts_cost_half_of_their_time() {
    let mut scene = bursts(OC12, 1, 600_000_000);
    (scene.law, scene.parameters, scene.buffers.dual) = ("voq", Vec::new(), false);
    scene.delays = vec![Span::from_us(50); 3];
    let share = scene.build().measure(0.62, 1.46).flows[0] / OC12 as f64;
    assert!((1.0 - 0.0459 - 0.036..=1.0 - 0.0459 + 0.002).contains(&share), "{share}");
}
