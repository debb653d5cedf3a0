//! Wrong laws: marks, buckets, rates, averages, probabilities.

use forebay_invariants::{BucketPlace, Invariant as Must};
use forebay_network::{
    BucketState, Ecn, FlowId, LawNote, LinkCount, LinkId, MemoryState, NoteColumn, NoteForm,
    NoteKind, Observation, Paid, PcnMark, StateFact,
};
use forebay_units::Rate;

use crate::Case;
use crate::scene::{CORE, PACED, SIZE, SPAN, Scene, UDP, at, data, places};

/// Three packets pass a conditioner at once that pays for two of them: they are `paid`.
fn overpaid(s: &mut Scene, paid: Paid) {
    let mut places = places();
    let depth = 2.0 * f64::from(SIZE);
    places.links[CORE].buckets = vec![BucketPlace { rate: Rate::from_bps(8000), depth, paid }];
    *s = Scene::of(places);
    for number in 0..3 {
        let packet = data(UDP, number, 0).with_pcn(PcnMark::Unmarked);
        s.send(0, &packet);
        s.colour(0, &packet);
    }
}

/// A bucket of 1000 B that holds `level`.
fn bucket(s: &mut Scene, level: f64) {
    let bucket = BucketState { level, least: 0.0, depth: 1000.0, pays: None };
    s.checker.state(at(0), 0, &StateFact::Bucket(bucket));
}

/// A memory of 1000 B that holds `held` in all, with the `sum` over its queues; of these `of_port`
/// at a port where 100 B wait.
fn memory(s: &mut Scene, (held, sum, of_port): (u64, u64, u64)) {
    let state = MemoryState { size: 1000, held, sum, of_port, waiting: 100 };
    s.checker.state(at(0), 0, &StateFact::Memory(state));
}

static NOTES: NoteKind = NoteKind {
    table: "notes",
    columns: &[
        NoteColumn::new("average", NoteForm::Average),
        NoteColumn::new("probability", NoteForm::Probability),
    ],
};

/// A law notes an average queue and a probability.
fn note(s: &mut Scene, average: f64, probability: f64) {
    let note = &LawNote { kind: &NOTES, values: &[average, probability] };
    s.fact(0, &Observation::Noted { link: LinkId::new(CORE), note });
}

fn pace(s: &mut Scene, scale: f64) {
    s.fact(0, &Observation::Pace { flow: FlowId::new(PACED), scale });
}

/// A packet that is seen with `after` after it was sent with `before`.
fn turns(s: &mut Scene, before: Ecn, after: Ecn) {
    s.send(0, &data(UDP, 0, 0).with_ecn(before));
    s.queue(0, CORE, &data(UDP, 0, 0).with_ecn(after), 1);
}

/// A packet that was sent with `before` and has `after` behind the conditioner of a link that
/// clears the field.
fn bleached(before: Ecn, after: Ecn) -> Scene {
    let mut places = places();
    places.links[CORE].bleaches = true;
    let mut scene = Scene::of(places);
    scene.send(0, &data(UDP, 0, 0).with_ecn(before));
    scene.colour(0, &data(UDP, 0, 0).with_ecn(after));
    scene
}

/// A link that clears the field may take marks and capability away: that is what it is.
#[test]
fn a_link_that_bleaches_may_clear_every_codepoint() {
    for before in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let scene = bleached(before, Ecn::NotEct);
        assert_eq!(scene.breached(Must::MarkKept), 0, "{before:?}");
    }
}

pub const CASES: &[Case] = &[
    (Must::MarkCapable, |s| {
        s.send(0, &data(UDP, 0, 0));
        s.mark(0, &data(UDP, 0, 0));
    }),
    // Taken back, made less severe, given to one that is not capable, and capability lost.
    (Must::MarkKept, |s| turns(s, Ecn::Ce, Ecn::Ect0)),
    (Must::MarkKept, |s| turns(s, Ecn::Ce, Ecn::Ect1)),
    (Must::MarkKept, |s| turns(s, Ecn::NotEct, Ecn::Ce)),
    (Must::MarkKept, |s| turns(s, Ecn::Ect0, Ecn::NotEct)),
    // A link that clears the field does no more than that.
    (Must::MarkKept, |s| {
        *s = bleached(Ecn::Ce, Ecn::Ect0);
    }),
    (Must::MarkPcn, |s| overpaid(s, Paid::Unmarked)),
    (Must::BucketRate, |s| overpaid(s, Paid::Precedence(0))),
    (Must::BucketRate, |s| overpaid(s, Paid::Passed)),
    (Must::BucketLevel, |s| bucket(s, -0.001)),
    (Must::BucketLevel, |s| bucket(s, 1000.1)),
    (Must::BucketLevel, |s| bucket(s, f64::NAN)),
    (Must::MemorySize, |s| memory(s, (1001, 1001, 100))),
    (Must::MemoryCount, |s| memory(s, (200, 199, 100))),
    // It has missed a packet that left the queue, or one that came.
    (Must::MemoryCount, |s| memory(s, (200, 200, 101))),
    (Must::MemoryCount, |s| memory(s, (0, 0, 0))),
    (Must::PaceScale, |s| pace(s, -0.1)),
    (Must::PaceScale, |s| pace(s, f64::INFINITY)),
    (Must::PaceFloor, |s| pace(s, 0.19)),
    (Must::PaceFloor, |s| pace(s, 1.01)),
    (Must::ExplicitRate, |s| s.probe(CORE, "explicit_rate_bps", 1_000_001.0)),
    (Must::ExplicitRate, |s| s.probe(CORE, "fair_share_bps", -1.0)),
    (Must::RingRates, |s| s.probe(SPAN, "allow_bps", 1_000_001.0)),
    (Must::RingRates, |s| s.probe(SPAN, "allow_bps.0.2", -1.0)),
    (Must::RingBuffers, |s| s.probe(SPAN, "transit_high_bytes", 1001.0)),
    (Must::RingBuffers, |s| s.probe(SPAN, "transit_low_bytes", 2001.0)),
    (Must::LawProbability, |s| note(s, 1.0, 1.5)),
    (Must::LawProbability, |s| s.probe(CORE, "drop_probability", -0.1)),
    (Must::LawProbability, |s| s.probe(CORE, "max_probability.2", f64::NAN)),
    (Must::LawAverage, |s| note(s, -1.0, 0.5)),
    (Must::LawAverage, |s| s.probe(CORE, "average.1", -1.0)),
    (Must::ProbeNumber, |s| s.probe(CORE, "sojourn_s", f64::INFINITY)),
    (Must::ProbeQueue, |s| queues(s, 2.0, 1.0)),
    (Must::ProbeQueue, |s| queues(s, 0.0, 500.0)),
    (Must::ProbeQueue, |s| queues(s, 1.0, 65_536.0)),
    // The queue shows a packet that never arrived.
    (Must::LinkBalance, |s| queues(s, 1.0, 125.0)),
];

fn queues(s: &mut Scene, packets: f64, bytes: f64) {
    let probes = [("queue_packets".to_owned(), packets), ("queue_bytes".to_owned(), bytes)];
    s.checker.link_probes(at(0), CORE, &probes, &LinkCount::default());
}

/// Right laws are accepted: two packets that a bucket pays for, a third after the time that its
/// tokens take (125 B at 8 kbit/s: 125 ms), and a mark that grows more severe.
#[test]
fn right_laws_break_nothing() {
    let mut places = places();
    let (rate, paid) = (Rate::from_bps(8000), Paid::Precedence(0));
    places.links[CORE].buckets = vec![BucketPlace { rate, depth: 250.0, paid }];
    let mut s = Scene::of(places);
    for (number, us) in [(0, 0), (1, 0), (2, 125_000), (3, 125_000)] {
        // The last is yellow.
        let colour = u8::from(number == 3);
        let packet = data(UDP, number, us);
        s.send(us, &packet);
        s.colour(us, &packet.with_precedence(colour));
    }
    assert_eq!(s.checker.report().breaches(), []);
    let mut s = Scene::new();
    turns(&mut s, Ecn::Ect0, Ecn::Ce);
    bucket(&mut s, 0.0);
    bucket(&mut s, 1000.0);
    memory(&mut s, (1000, 1000, 100));
    memory(&mut s, (100, 100, 100));
    pace(&mut s, 0.2);
    pace(&mut s, 0.0);
    note(&mut s, 0.0, 1.0);
    queues(&mut s, 0.0, 0.0);
    s.probe(SPAN, "allow_bps", 1_000_000.0);
    assert_eq!(s.checker.report().breaches(), []);
}
