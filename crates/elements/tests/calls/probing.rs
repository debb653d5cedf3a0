//! Probing: new calls that test the way before they are let in for good.
//!
//! Probes of 100 B leave every 20 ms, at most 5 and for at most 200 ms; media packets have 200 B.

use forebay_elements::calls::{CallCount, EdgePlan};
use forebay_network::{CallEvent, Packet, PcnMark};
use forebay_parameters::Value;
use forebay_units::{Span, Time};

use crate::scene::{
    Between, Class, Life, Marking, Scene, WAY, at, edge, lives, probing, steady, termination,
};

const RTT: u64 = 50;
const WINDOW: Span = Span::from_ms(200);
const SCHEMES: [&str; 2] = ["before_media", "during_media_delay"];

fn plan(scheme: &str, rtt_ms: u64) -> EdgePlan {
    let entries: [(&str, Value); 3] =
        [("scheme", scheme.into()), ("size", "100 B".into()), ("window", "200 ms".into())];
    EdgePlan { probing: probing(&entries), ..edge(rtt_ms) }
}

/// New calls at random times in 10 s, with a media delay up to 150 ms, over a wire that marks.
fn run(plan: EdgePlan, marking: Marking) -> (Vec<Life>, CallCount) {
    let parameters: [(&str, Value); 2] =
        [("rate", "20 /s".into()), ("media_delay", "150 ms".into())];
    let mut class = Class::new(&parameters, vec![steady(200, 20, true)]);
    class.stop = at(10_000);
    let mut scene = Scene::new(vec![class], plan, Between::Wire(marking), 7);
    scene.run(at(11_000));
    let lives: Vec<Life> = lives(&scene.log()).into_values().collect();
    assert!(lives.len() > 100);
    (lives, scene.counts()[0])
}

fn probes(life: &Life) -> Vec<Time> {
    life.sent.iter().filter(|(_, packet)| packet.is_probe()).map(|(now, _)| *now).collect()
}

fn media(life: &Life) -> Vec<Time> {
    life.sent.iter().filter(|(_, packet)| !packet.is_probe()).map(|(now, _)| *now).collect()
}

fn never(_packet: &Packet, _now: Time) -> PcnMark {
    PcnMark::Unmarked
}

/// Probes leave at their times and media after them: the first probe with the arrival, the others
/// every 20 ms, 5 in all before the media, or as many as the media delay lasts (and one without
/// any). Media wait for the end of the test, or only for the media delay; all calls stay.
#[test]
fn probes_leave_at_their_times_and_media_after_them() {
    for scheme in SCHEMES {
        let (lives, count) = run(plan(scheme, RTT), Box::new(never));
        assert_eq!((count.refused, u64::from(count.present)), (0, count.admitted), "{scheme}");
        let (mut fewest, mut most) = (usize::MAX, 0);
        for life in lives {
            let (arrival, event) = life.begun[0];
            assert_eq!(event, CallEvent::Admitted);
            let (probes, media) = (probes(&life), media(&life));
            let due = (0..5).map(|n| arrival + Span::from_ms(20).times(n));
            let due: Vec<Time> = due.take(probes.len()).collect();
            assert_eq!(probes, due, "{scheme}");
            (fewest, most) = (fewest.min(probes.len()), most.max(probes.len()));
            let first = media[0];
            if scheme == "before_media" {
                assert!(first >= arrival + WINDOW && first < arrival + Span::from_ms(370));
            } else {
                assert!(first < arrival + Span::from_ms(170));
                assert!(*probes.last().unwrap() <= first);
            }
            // No call skips a packet: media are 20 ms apart from the first to the end of the run.
            assert!(media.windows(2).all(|two| two[1].since(two[0]) == Span::from_ms(20)));
        }
        let expected = if scheme == "before_media" { (5, 5) } else { (1, 5) };
        assert_eq!((fewest, most), expected, "{scheme}");
    }
}

/// A marked probe refuses its call: with the first probe marked, whether threshold- or
/// excess-traffic-marked, the call is refused 10 ms on the way and 50 ms back after its arrival,
/// and sends nothing more; before the media, it never sends any. All that is counted as refused,
/// also where excess-traffic marks end calls in progress.
#[test]
fn a_marked_probe_refuses_its_call() {
    for scheme in SCHEMES {
        for (mark, law) in [
            (PcnMark::Threshold, None),
            (PcnMark::Excess, None),
            (PcnMark::Excess, termination("per_packet")),
        ] {
            let plan = EdgePlan { termination: law, ..plan(scheme, RTT) };
            let marking = move |packet: &Packet, _| {
                if packet.is_probe() { mark } else { PcnMark::Unmarked }
            };
            let (lives, count) = run(plan, Box::new(marking));
            assert_eq!((count.refused, count.terminated, count.present), (count.admitted, 0, 0));
            for life in lives {
                let end = life.begun[0].0 + WAY + Span::from_ms(RTT);
                assert_eq!(life.over, [(end, CallEvent::Refused)], "{scheme} {mark:?}");
                assert!(life.sent.iter().all(|(now, _)| *now <= end));
                if scheme == "before_media" {
                    assert_eq!((probes(&life).len(), media(&life).len()), (3, 0));
                }
            }
        }
    }
}

/// No call is refused after its test: with a round-trip time of 190 ms the first mark is back 200
/// ms after the arrival, when the test is over; with 189 ms it is back before.
#[test]
fn after_the_window_nobody_is_refused() {
    for scheme in SCHEMES {
        for (rtt, refused) in [(189, true), (190, false), (500, false)] {
            let marking = |packet: &Packet, _: Time| {
                if packet.is_probe() { PcnMark::Threshold } else { PcnMark::Unmarked }
            };
            let (_, count) = run(plan(scheme, rtt), Box::new(marking));
            let expected = if refused { count.admitted } else { 0 };
            assert_eq!(count.refused, expected, "{scheme}, {rtt} ms");
        }
    }
}

/// Marks of media do not count as those of probes: they refuse no call.
#[test]
fn marked_media_refuse_no_call() {
    for scheme in SCHEMES {
        let marking = |packet: &Packet, _: Time| {
            if packet.is_probe() { PcnMark::Unmarked } else { PcnMark::Excess }
        };
        let (_, count) = run(plan(scheme, 0), Box::new(marking));
        assert_eq!((count.refused, u64::from(count.present)), (0, count.admitted));
    }
}

/// A mark of any probe refuses the call, 60 ms after that probe left.
#[test]
fn any_probe_can_refuse() {
    for number in 0..5_u64 {
        let marking = move |packet: &Packet, _: Time| {
            let marked = packet.is_probe() && packet.number == number;
            if marked { PcnMark::Threshold } else { PcnMark::Unmarked }
        };
        let (lives, count) = run(plan("before_media", RTT), Box::new(marking));
        assert_eq!(count.refused, count.admitted, "probe {number}");
        for life in lives {
            let sent = Span::from_ms(20).times(number);
            assert_eq!(life.over[0].0, life.begun[0].0 + sent + WAY + Span::from_ms(RTT));
        }
    }
}
