use forebay_parameters::Value;

use super::super::samples::{at, high, law, limit, low, oc12, probe, read, station};
use super::*;

/// MAX_LRATE at OC-12: 4 * 8000 octets (RFC 2892, section 6.1).
const MAX: f64 = 32_000.0;
/// The line rate, at which probes show MAX_LRATE.
const LINE: f64 = 622_080_000.0;

const CALM: RingState = RingState { transit: 0, waiting_since: None };
/// One octet above half of TB_LO_THRESHOLD.
const CONGESTED: RingState = RingState { transit: 160_001, waiting_since: None };

fn srp_fa() -> Box<dyn RingFairness> {
    law(&ENTRY, &[], &oc12(), &station())
}

/// Let an interval end; what is advertised to the neighbour upstream.
fn tick(law: &mut dyn RingFairness, state: &RingState) -> RingMessage {
    law.interval_ended(state, at(0.0)).unwrap()
}

fn usage(law: &dyn RingFairness, name: &str) -> f64 {
    probe(law, name) / LINE * MAX
}

/// Put `octets` of the host onto the ring, in frames of 1000.
fn send(law: &mut dyn RingFairness, octets: u32) {
    (0..octets / 1000).for_each(|_| law.sent(&low(1000, 3, 0), at(0.0)));
}

fn pass(law: &mut dyn RingFairness, octets: u32) {
    (0..octets / 1000).for_each(|_| law.entered(&low(1000, 3, 1), at(0.0)));
}

fn access(law: &dyn RingFairness, state: &RingState) -> RingAccess {
    law.access(&low(1500, 3, 0), state, at(0.0))
}

/// An interval is the 8000 (OC-12) or 32,000 (OC-48) octet times of RFC 2892, section 6.1, and the
/// 102.88 us of the 802.17 slides: a host that sends so many in each interval has a usage of
/// MAX_LRATE, 4 times as much, which is the line rate.
#[test]
fn a_host_at_line_rate_has_the_usage_max_lrate() {
    for (bps, octets) in [(622_080_000, 8000), (2_488_320_000, 32_000)] {
        let facts = RingFacts { rate: Rate::from_bps(bps), ..oc12() };
        let mut law = law(&ENTRY, &[], &facts, &station());
        for _ in 0..150 {
            tick(law.as_mut(), &CALM);
            send(law.as_mut(), octets);
        }
        let measured = probe(law.as_ref(), "usage_bps") / bps as f64;
        assert!((measured - 1.0).abs() < 1e-12, "{measured}");
    }
}

/// Recovery is that of RFC 2892 and of the 802.17 slides: allow_usage += (MAX_LRATE - allow_usage)
/// / 64 is 1 - (63/64)^n of MAX_LRATE after n intervals, 4662.69 octets after 10; half after 45, 90
/// % after 147 (ln 0.1 / ln(63/64) = 146.2).
#[test]
fn allow_usage_ramps_up_without_messages() {
    let mut law = srp_fa();
    law.heard(&limit(1, Some(0.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    assert_eq!(usage(law.as_ref(), "allow_bps"), 0.0);
    law.heard(&limit(1, None), at(0.0));
    let mut left = 1.0;
    for n in 1..=200 {
        tick(law.as_mut(), &CALM);
        left *= 63.0 / 64.0;
        let allowed = usage(law.as_ref(), "allow_bps");
        assert!((allowed - MAX * (1.0 - left)).abs() < 1e-8, "{n}: {allowed}");
        match n {
            10 => assert!((allowed - 4662.6928).abs() < 1e-4, "{allowed}"),
            44 => assert!(allowed < 0.5 * MAX),
            45 => assert!(allowed >= 0.5 * MAX),
            146 => assert!(allowed < 0.9 * MAX),
            147 => assert!(allowed >= 0.9 * MAX),
            _ => {}
        }
    }
}

/// The ramp does not depend on the traffic, as the 802.17 slides say.
#[test]
fn the_ramp_does_not_look_at_traffic() {
    let (mut idle, mut busy) = (srp_fa(), srp_fa());
    for law in [&mut idle, &mut busy] {
        law.heard(&limit(1, Some(1234.0)), at(0.0));
        tick(law.as_mut(), &CALM);
        law.heard(&limit(1, None), at(0.0));
    }
    for _ in 0..100 {
        send(busy.as_mut(), 5000);
        pass(busy.as_mut(), 3000);
        tick(idle.as_mut(), &CALM);
        tick(busy.as_mut(), &CONGESTED);
        assert_eq!(probe(idle.as_ref(), "allow_bps"), probe(busy.as_ref(), "allow_bps"));
    }
}

/// A message acts when the interval ends: not before, and without waiting for another one.
#[test]
fn a_received_usage_is_followed_when_the_interval_ends() {
    let mut law = srp_fa();
    law.heard(&limit(1, Some(500.0)), at(0.0));
    assert_eq!(usage(law.as_ref(), "allow_bps"), MAX);
    tick(law.as_mut(), &CALM);
    assert!((usage(law.as_ref(), "allow_bps") - 500.0).abs() < 1e-9);
}

/// The host gets exactly what my_usage < allow_usage gives it.
#[test]
fn low_priority_waits_while_usage_reaches_the_allowance() {
    let mut law = srp_fa();
    law.heard(&limit(1, Some(2000.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    for sent in [1000, 2000] {
        assert_eq!(access(law.as_ref(), &CALM), RingAccess::Open);
        send(law.as_mut(), 1000);
        assert_eq!(usage(law.as_ref(), "usage_bps").round() as u32, sent);
    }
    assert_eq!(access(law.as_ref(), &CALM), RingAccess::Closed);
}

/// A station with a backlog in transit sends at most what it forwards: with lo_tb_depth > 0 the
/// host waits while fwd_rate < my_usage, and only then.
#[test]
fn with_a_backlog_the_host_sends_at_most_what_it_forwards() {
    let mut law = srp_fa();
    let backlog = RingState { transit: 1, waiting_since: None };
    send(law.as_mut(), 3000);
    pass(law.as_mut(), 2000);
    assert_eq!(access(law.as_ref(), &backlog), RingAccess::Closed);
    assert_eq!(access(law.as_ref(), &CALM), RingAccess::Open);
    pass(law.as_mut(), 1000);
    assert_eq!(access(law.as_ref(), &backlog), RingAccess::Open);
}

/// MAX_ALLOWANCE, which each node may be given, limits a node: a twentieth of the line is 4 * 400
/// octets.
#[test]
fn a_node_sends_at_most_its_own_allowance() {
    let mut limited = station();
    limited.max_rate = Some(Rate::from_bps(31_104_000));
    let mut law = law(&ENTRY, &[], &oc12(), &limited);
    send(law.as_mut(), 1000);
    assert_eq!(access(law.as_ref(), &CALM), RingAccess::Open);
    law.sent(&low(600, 3, 0), at(0.0));
    assert_eq!(access(law.as_ref(), &CALM), RingAccess::Closed);
}

/// High priority is free of the rate control of low priority, and is not charged to it (RFC 2892,
/// section 6).
#[test]
fn high_priority_is_free() {
    let mut law = srp_fa();
    law.heard(&limit(1, Some(0.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    assert_eq!(law.access(&high(1500, 3, 0), &CONGESTED, at(0.0)), RingAccess::Open);
    law.sent(&high(1500, 3, 0), at(0.0));
    assert_eq!(usage(law.as_ref(), "usage_bps"), 0.0);
}

/// Both readings can be had: that of the pseudo-code, by which all octets of the host count, and
/// that by which only low priority in transit does.
#[test]
fn counters_can_be_read_either_way() {
    let other: [(&str, Value); 2] = [("usage", "all".into()), ("forward", "low".into())];
    let mut law = law(&ENTRY, &other, &oc12(), &station());
    law.sent(&high(1500, 3, 0), at(0.0));
    law.entered(&high(1500, 3, 1), at(0.0));
    assert!((usage(law.as_ref(), "usage_bps") - 1500.0).abs() < 1e-9);
    assert_eq!(usage(law.as_ref(), "forward_bps"), 0.0);
}

/// Congestion is a transit buffer above half of TB_LO_THRESHOLD, and is advertised: the value is
/// lp_my_usage, 8000 / 512 after one interval, and it is this node's.
#[test]
fn a_congested_node_tells_its_low_passed_usage() {
    let mut law = srp_fa();
    send(law.as_mut(), 8000);
    let half = RingState { transit: 160_000, waiting_since: None };
    assert_eq!(tick(law.as_mut(), &half), limit(0, None));
    let mut law = srp_fa();
    send(law.as_mut(), 8000);
    assert_eq!(tick(law.as_mut(), &CONGESTED), limit(0, Some(15.625)));
    assert_eq!(tick(law.as_mut(), &CALM), limit(0, None));
}

/// A chain of congested nodes settles on the least usage, and passes on whose it is.
#[test]
fn a_congested_node_passes_on_the_lesser_usage() {
    let mut law = srp_fa();
    send(law.as_mut(), 8000);
    law.heard(&limit(2, Some(10.0)), at(0.0));
    assert_eq!(tick(law.as_mut(), &CONGESTED), limit(2, Some(10.0)));
    law.heard(&limit(2, Some(1000.0)), at(0.0));
    // (511 * 15.625 + 7997.5) / 512: the allowance of 10 limits what has aged to 10 / 4.
    let own = 15.625 + (6000.0 - 15.625) / 512.0;
    let message = tick(law.as_mut(), &CONGESTED);
    let RingNotice::Limit(Some(told)) = message.notice else { panic!("a usage") };
    assert!(message.origin == 0 && (told - own).abs() < 1e-9, "{message:?}");
}

/// A node throttles those upstream only while what they send is what congests: without congestion
/// of its own it passes a usage on while lp_fwd_rate is above allow_usage. 8000 octets in transit
/// give an lp_fwd_rate of 8000 / 64 = 125.
#[test]
fn a_usage_is_passed_on_while_transit_exceeds_the_allowance() {
    for (usage, passed) in [(124.0, Some(124.0)), (125.0, None), (126.0, None)] {
        let mut law = srp_fa();
        pass(law.as_mut(), 8000);
        law.heard(&limit(2, Some(usage)), at(0.0));
        let origin = if passed.is_some() { 2 } else { 0 };
        assert_eq!(tick(law.as_mut(), &CALM), limit(origin, passed), "{usage}");
    }
}

/// A node does not obey what it has said itself, so that a ring full of congested nodes does not
/// throttle itself for ever: a message that has gone round the six stations counts as NULL.
#[test]
fn a_node_does_not_obey_its_own_message() {
    let mut law = srp_fa();
    law.heard(&limit(6, Some(10.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    assert_eq!(usage(law.as_ref(), "allow_bps"), MAX);
    law.heard(&limit(5, Some(10.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    assert!((usage(law.as_ref(), "allow_bps") - 10.0).abs() < 1e-9);
}

/// A usage above the line rate limits no node and is passed on as NULL.
#[test]
fn a_usage_above_the_line_rate_is_null() {
    let mut law = srp_fa();
    for _ in 0..3000 {
        tick(law.as_mut(), &CALM);
        send(law.as_mut(), 9000);
    }
    assert_eq!(tick(law.as_mut(), &CONGESTED), limit(0, None));
}

/// A station that has been cut, having just sent at the line rate, is silent until its usage has
/// aged. The usage is 32,000 when the message comes; the interval's end takes a quarter off, and
/// from then on usage ages by a quarter of the allowance only, which ramps up from 0:
///
///   u(n) = 24000 - sum of a(k) / 4 over k < n,   a(k) = 32000 (1 - q^k),   q = 63/64
///        = 24000 - 8000 (n - 64 (1 - q^n))
///
/// u(17) = 8260 > a(17) = 7516, u(18) = 6373 < a(18) = 7899: silent for 18 intervals, 1.85 ms.
#[test]
fn a_cut_station_is_silent_until_its_usage_has_aged() {
    let mut law = srp_fa();
    for _ in 0..150 {
        tick(law.as_mut(), &CALM);
        send(law.as_mut(), 8000);
    }
    law.heard(&limit(1, Some(0.0)), at(0.0));
    tick(law.as_mut(), &CALM);
    assert!((usage(law.as_ref(), "usage_bps") - 24_000.0).abs() < 1e-6);
    law.heard(&limit(1, None), at(0.0));
    let mut left = 1.0;
    for n in 1..=18 {
        assert_eq!(access(law.as_ref(), &CALM), RingAccess::Closed, "after {} intervals", n - 1);
        tick(law.as_mut(), &CALM);
        left *= 63.0 / 64.0;
        let expected = 24_000.0 - 8000.0 * (f64::from(n) - 64.0 * (1.0 - left));
        let aged = usage(law.as_ref(), "usage_bps");
        assert!((aged - expected).abs() < 1e-6, "{n}: {aged}, expected {expected}");
    }
    assert_eq!(access(law.as_ref(), &CALM), RingAccess::Open);
}

/// A station with one transit buffer, which goes before the host and so never fills, can be
/// congested: it is when a host frame has waited for more than an interval while others pass.
#[test]
fn with_a_single_buffer_a_host_that_waits_is_congestion() {
    let single = RingFacts { dual: false, ..oc12() };
    let waits = RingState { transit: 500_000, waiting_since: Some(at(0.0)) };
    let mut law = law(&ENTRY, &[], &single, &station());
    send(law.as_mut(), 8000);
    let told = |law: &mut dyn RingFairness, us: f64| {
        let message = law.interval_ended(&waits, at(us)).unwrap();
        message.notice != RingNotice::Limit(None)
    };
    assert!(!told(law.as_mut(), 200.0), "nothing passes");
    pass(law.as_mut(), 1000);
    assert!(!told(law.as_mut(), 102.88), "an interval is not more than an interval");
    assert!(told(law.as_mut(), 102.89));
}

/// Wrong parameters are refused, and the message points to them.
#[test]
fn wrong_parameters_are_refused_where_they_stand() {
    let wrong: [(&str, Value); 7] = [
        ("interval", "0 s".into()),
        ("age", 0.0.into()),
        ("lp_fwd", 0.0.into()),
        ("lp_my_usage", 0.0.into()),
        ("lp_allow", 0.0.into()),
        ("low_threshold", "523 kB".into()),
        ("usage", "hgih".into()),
    ];
    for (key, value) in wrong {
        let problem = read(&ENTRY, &[(key, value)], &oc12()).err().unwrap();
        assert_eq!(problem.path, key);
    }
    let large = read(&ENTRY, &[("low_threshold", "523 kB".into())], &oc12()).err().unwrap();
    assert!(large.message.contains("full at 522 kB"), "{}", large.message);
    // A single buffer has no threshold.
    let single = RingFacts { dual: false, ..oc12() };
    assert!(read(&ENTRY, &[("low_threshold", "523 kB".into())], &single).is_ok());
}
