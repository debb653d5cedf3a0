//! Timelines of selective retransmission, and its soak over ways that lose packets.

use forebay_kernel::{Stream, Streams};
use forebay_network::{FlowId, RouteId, SackBlocks};

use super::super::FrameCount;
use super::super::reassembly::{Completes, Reassembly};
use super::*;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A source of frames of two packets that polls each second, and what it sends, a packet each
/// millisecond.
struct Bench {
    outbox: Outbox,
    count: PacedCount,
    now: u64,
}

impl Bench {
    fn of(packets: u64, retransmit: bool) -> Self {
        let mut outbox = Outbox::new(2, retransmit.then_some(Span::from_s(1)));
        outbox.begin(packets, at(0));
        Self { outbox, count: PacedCount::default(), now: 0 }
    }

    fn sends(&mut self) -> Packet {
        self.now += 1;
        let blank = Packet::data(at(self.now), FlowId::new(0), 0, 53, RouteId::new(0));
        self.outbox.fill(blank, at(self.now), &mut self.count)
    }

    /// Returns what is sent until there is a wait or an end: frames, `*` behind what is sent again
    /// and `.` behind the last packet of a frame; polls as `?`.
    fn sends_all(&mut self) -> (String, Then) {
        let mut seen = String::new();
        while self.outbox.then() == Then::Goes {
            seen += &shown(&self.sends());
        }
        (seen, self.outbox.then())
    }

    fn hears(&mut self, next: u64, missing: &[(u64, u64)], time: Time) {
        let mut blocks = SackBlocks::default();
        missing.iter().for_each(|(first, end)| blocks.push(*first, *end));
        self.outbox.on_notification(&Report { next, missing: blocks, time });
    }
}

fn shown(packet: &Packet) -> String {
    let piece = Piece::of(packet);
    if packet.is_poll() {
        return format!("?{} ", piece.frame);
    }
    let again = if packet.is_retransmission() { "*" } else { "" };
    let last = if piece.last { "." } else { "" };
    format!("{}{again}{last} ", piece.frame)
}

/// A transfer is cut into frames and ends when all has arrived: five packets are two frames of two
/// and one of one; a poll follows, and the transfer ends when nothing is missing. Without
/// retransmission it ends with the last packet.
#[test]
fn a_transfer_ends_when_all_has_arrived() {
    let mut bench = Bench::of(5, true);
    assert_eq!(bench.sends_all(), ("0 0. 1 1. 2. ?3 ".to_owned(), Then::Waits(at(1006))));
    bench.hears(3, &[], at(99));
    assert_eq!((bench.outbox.then(), bench.outbox.arrived()), (Then::Ends, Some(at(99))));
    assert_eq!((bench.count.frames, bench.count.polls), ((3, 0), 1));
    let mut bench = Bench::of(5, false);
    assert_eq!(bench.sends_all(), ("0 0. 1 1. 2. ".to_owned(), Then::Ends));
    assert_eq!((bench.outbox.arrived(), bench.count.frames), (None, (3, 0)));
}

/// Missing frames go before new ones, in order, after the end of the frame that is being sent.
#[test]
fn missing_frames_go_first() {
    let mut bench = Bench::of(10, true);
    let sent: String = (0..5).map(|_| shown(&bench.sends())).collect();
    assert_eq!(sent, "0 0. 1 1. 2 ");
    bench.hears(0, &[(0, 2)], at(4));
    let then = "2. 0* 0*. 1* 1*. 3 3. 4 4. ?5 ".to_owned();
    assert_eq!(bench.sends_all(), (then, Then::Waits(at(1015))));
    assert_eq!(bench.count.frames, (7, 2));
}

/// Frames sent after a poll are not sent again for its report, which covers what was sent before
/// it: what is under way is not sent twice. Frame 0 is sent again after the poll at 5 ms, so what
/// that poll found does not concern it any more; the poll at 8 ms does.
#[test]
fn what_was_sent_after_the_poll_is_not_sent_again() {
    let mut bench = Bench::of(4, true);
    assert_eq!(bench.sends_all().0, "0 0. 1 1. ?2 ");
    bench.hears(0, &[(0, 1)], at(5));
    assert_eq!(bench.sends_all().0, "0* 0*. ?2 ");
    bench.hears(0, &[(0, 1)], at(5));
    assert_eq!(bench.sends_all(), (String::new(), Then::Waits(at(1008))));
    bench.hears(0, &[(0, 1)], at(8));
    assert_eq!(bench.sends_all().0, "0* 0*. ?2 ");
}

/// Polls come between frames of a long transfer, which learns of its losses before its end. Frames
/// take 2 ms, and a poll is due a second after the one before. The first frame due to begin at 1 s
/// or later does at 1001 ms, so the poll leaves then; frames begin at 1002 ms and so on, and that
/// of 2000 ms ends at 2001 ms, so the next leaves at 2002 ms; then at 3003 ms.
#[test]
fn polls_come_between_frames() {
    let mut bench = Bench::of(4000, true);
    let probes: Vec<u64> =
        (1..=3500).filter(|_| bench.sends().is_poll()).map(|ms: u64| ms).collect();
    assert_eq!(probes, [1001, 2002, 3003]);
}

/// A lost poll or report does not end a transfer: it is made up for when the next poll is due.
#[test]
fn a_silent_receiver_is_asked_again() {
    let mut bench = Bench::of(1, true);
    assert_eq!(bench.sends_all(), ("0. ?1 ".to_owned(), Then::Waits(at(1002))));
    bench.now = 1002;
    bench.outbox.polls();
    assert_eq!(bench.sends_all(), ("?1 ".to_owned(), Then::Waits(at(2003))));
    bench.hears(0, &[(0, 1)], at(1003));
    assert_eq!(bench.sends_all().0, "0*. ?1 ");
}

/// A report that comes too late changes nothing, neither in the next transfer nor in one that
/// stopped.
#[test]
fn old_reports_change_nothing() {
    let mut bench = Bench::of(2, true);
    bench.sends_all();
    bench.hears(1, &[], at(3));
    bench.outbox.begin(2, at(10));
    bench.hears(0, &[(0, 1)], at(3));
    assert_eq!(bench.sends_all().0, "1 1. ?2 ");
    bench.outbox.give_up();
    bench.hears(1, &[(1, 2)], at(9999));
    assert_eq!(bench.outbox.then(), Then::Ends);
}

/// A source and its receiver 20 ms apart: what is under way there and back, and who loses it.
struct Ways {
    bench: Bench,
    flow: Reassembly,
    counted: FrameCount,
    there: VecDeque<(u64, Packet)>,
    back: VecDeque<(u64, Report)>,
    stream: Stream,
    loss: f64,
}

impl Ways {
    fn step(&mut self) {
        let now = self.bench.now + 1;
        while self.back.front().is_some_and(|(due, _)| *due <= now) {
            let (_, report) = self.back.pop_front().expect("it is there");
            self.bench.outbox.on_notification(&report);
        }
        while self.there.front().is_some_and(|(due, _)| *due <= now) {
            let (_, packet) = self.there.pop_front().expect("it is there");
            let reports: Vec<Report> = match self.flow.take(&packet, at(now), &mut self.counted) {
                Completes::Frame { gap, .. } => {
                    self.flow.unasked(gap, at(now)).into_iter().collect()
                }
                Completes::Poll => self.flow.answers(packet.created).collect(),
                Completes::Nothing | Completes::Again => Vec::new(),
            };
            let kept = reports.into_iter().filter(|_| !self.stream.happens(self.loss));
            self.back.extend(kept.map(|report| (now + 20, report)));
        }
        match self.bench.outbox.then() {
            Then::Goes => {
                let packet = self.bench.sends();
                if !self.stream.happens(self.loss) {
                    self.there.push_back((now + 20, packet));
                }
            }
            Then::Waits(until) => {
                self.bench.now = now;
                if until <= at(now) {
                    self.bench.outbox.polls();
                }
            }
            Then::Ends => {}
        }
    }
}

/// No pattern of losses hangs a transfer, loses a frame or sends one without need: 400 packets and
/// all reports are lost with a probability up to a half. Each frame arrives once and never again,
/// since both ways keep order, and what was sent is what arrived or was lost.
#[test]
fn whatever_is_lost_all_arrives_once() {
    for (seed, loss) in (0..40).map(|seed| (seed, [0.0, 0.01, 0.2, 0.5][seed as usize % 4])) {
        let mut ways = Ways {
            bench: Bench::of(400, true),
            flow: Reassembly::default(),
            counted: FrameCount::default(),
            there: VecDeque::new(),
            back: VecDeque::new(),
            stream: Streams::new(seed, 0).named("test"),
            loss,
        };
        while ways.bench.outbox.then() != Then::Ends {
            ways.step();
            assert!(ways.bench.now < 1_000_000, "it hangs: {loss}");
        }
        let (sent, count) = (ways.bench.count.frames, ways.counted);
        assert_eq!((count.whole, count.packets, count.again), (200, 400, 0), "{loss}");
        assert_eq!((sent.0, sent.1), (200 + count.lost, count.lost), "{loss}");
        assert_eq!(loss == 0.0, count.lost == 0);
    }
}
