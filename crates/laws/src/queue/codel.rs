//! CoDel, controlled delay: drops at the head once packets have waited too long for too long.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;
use crate::queue::parts::codel_core::{CoDelLaw, CoDelQueue, CoDelState, Edition};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "codel",
    summary: "Controlled delay: drops at the head, ever faster, while no packet of the last \
              interval waited less than the target.",
    source: "RFC 8289",
    example: r#"
        interval = "40 ms"
        ecn = true
        limit = "12 packets"
    "#,
    fields: CoDelParameters::FIELDS,
    probes: &[
        Probe {
            name: "sojourn_s",
            unit: "s",
            meaning: "How long the packet waited that left the queue last.",
        },
        Probe { name: "dropping", unit: "1", meaning: "1 in the dropping state, else 0." },
        Probe {
            name: "drop_count",
            unit: "1",
            meaning: "Drops (or marks) since the dropping state was entered, with those that a \
                      former stay in it counts for.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of CoDel.
    pub struct CoDelParameters {
        /// Sojourn time that a standing queue may cost.
        target: Span = "5 ms", "RFC 8289, section 5";
        /// Time for which the sojourn time must stay above the target before the first drop, and
        /// the time between the first two drops: about the longest round-trip time. Above 0.
        interval: Span = "100 ms", "RFC 8289, section 5";
        /// The largest packet: while no more than this waits behind a packet, it is not dropped.
        mtu: Size = "1500 B", "RFC 8289, section 5 (maxpacket)";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = false, "RFC 3168, section 5";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
        /// Publication whose rules hold for entering the dropping state: queue_2012 or rfc8289.
        /// Left out: rfc8289.
        edition: Option<Edition>, "Nichols and Jacobson, ACM Queue 10(5), 2012, appendix";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = CoDelParameters::read(section)?;
    if parameters.interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    Ok(Queue::Disc(Box::new(CoDel::new(&parameters))))
}

struct CoDel {
    law: CoDelLaw,
    limit: Option<Length>,
    state: CoDelState,
    /// Sojourn time of the packet that left last.
    sojourn: Span,
    waiting: Waiting,
}

/// Packets with the times at which they arrived.
#[derive(Default)]
struct Waiting {
    packets: VecDeque<(Time, Packet)>,
    backlog: Backlog,
}

impl CoDelQueue for Waiting {
    fn pop(&mut self) -> Option<(Time, Packet)> {
        let head = self.packets.pop_front()?;
        self.backlog.remove(head.1.queued_info());
        Some(head)
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

impl CoDel {
    fn new(parameters: &CoDelParameters) -> Self {
        let CoDelParameters { target, interval, mtu, ecn, limit, edition } = *parameters;
        let edition = edition.unwrap_or(Edition::Rfc8289);
        let law = CoDelLaw { target, interval, mtu: mtu.bytes(), ecn, ce_threshold: None, edition };
        let (state, sojourn, waiting) = (CoDelState::default(), Span::ZERO, Waiting::default());
        Self { law, limit, state, sojourn, waiting }
    }
}

impl QueueDisc for CoDel {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let arrival = Arrival {
            now,
            packet,
            backlog: self.waiting.backlog,
            idle_since,
            empty_since: idle_since,
        };
        if !fits(self.limit, &arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.waiting.packets.push_back((now, *packet));
        self.waiting.backlog.add(packet);
        Verdict::Accept
    }

    fn pass_idle(
        &mut self,
        _packet: &Packet,
        _idle_since: Time,
        _now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        self.state.passed();
        self.sojourn = Span::ZERO;
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.state.dequeue(&self.law, &mut self.waiting, now, discard, &mut self.sojourn)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("sojourn_s", self.sojourn.seconds());
        visit("dropping", f64::from(u8::from(self.state.dropping)));
        visit("drop_count", f64::from(self.state.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Ecn, FlowId, RouteId};

    fn codel(ecn: bool) -> CoDel {
        CoDel::new(&CoDelParameters {
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            mtu: Size::from_bytes(1500),
            ecn,
            limit: None,
            edition: None,
        })
    }

    fn codel_of_2012() -> CoDel {
        let mut law = codel(false);
        law.law.edition = Edition::Queue2012;
        law
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn put(law: &mut CoDel, number: u64, size: u16, ecn: Ecn, us: u64) {
        let packet =
            Packet::data(Time::ZERO, FlowId::new(0), number, size, RouteId::new(0)).with_ecn(ecn);
        let mut stream = Streams::new(0, 0).named("test");
        let verdict =
            law.enqueue(&packet, None, at(us), &mut stream, &mut |_, _| panic!("it drops others"));
        assert_eq!(verdict, Verdict::Accept);
    }

    /// The packet that leaves, and how many are dropped before it.
    fn take(law: &mut CoDel, us: u64) -> (Option<Departure>, usize) {
        let (mut drops, mut stream) = (0, Streams::new(0, 0).named("test"));
        let mut discard = |_: Packet, reason| {
            assert_eq!(reason, DropReason::Forced);
            drops += 1;
        };
        let packet = law.dequeue(at(us), &mut stream, &mut discard);
        (packet, drops)
    }

    /// A packet arrives and one is asked for every 0.1 ms from `from` to `to`, in us, and `start`
    /// packets wait before. Times at which packets are dropped, or leave with a mark.
    fn overload(law: &mut CoDel, start: u64, from: u64, to: u64, ecn: Ecn) -> Vec<u64> {
        (0..start).for_each(|number| put(law, number, 1000, ecn, from));
        let mut times = Vec::new();
        for us in (from..to).step_by(100) {
            put(law, us, 1000, ecn, us);
            let (packet, drops) = take(law, us);
            let marks = usize::from(packet.is_some_and(|packet| packet.marked));
            times.extend(std::iter::repeat_n(us, drops + marks));
        }
        times
    }

    /// Drops follow the control law (RFC 8289, section 3.3). 1000 packets wait from 0 on, so that a
    /// packet that leaves at t has waited for t while t < 100 ms. Above 5 ms from 5 ms on, the
    /// first is dropped 100 ms later, at 105 ms; the following at 105 + 100, then 100/sqrt(2) =
    /// 70.711, 100/sqrt(3) = 57.735, 50, 44.721, 40.825 ms later. The clock here ticks at multiples
    /// of 0.1 ms, so a drop is seen at the next: 205, 275.711, 333.446, 383.446, 428.167, 468.992
    /// are rounded up to them, but not added up from them.
    #[test]
    fn drops_follow_the_control_law() {
        let times = overload(&mut codel(false), 1000, 0, 480_000, Ecn::NotEct);
        assert_eq!(times, [105_000, 205_000, 275_800, 333_500, 383_500, 428_200, 469_000]);
    }

    /// Marks take the place of drops: ECN loses no packets, and signals at the rate of drops.
    /// Without `ecn`, or where the packets are not ECN-capable, nothing is marked.
    #[test]
    fn marks_take_the_place_of_drops() {
        let marks = |ecn, field| {
            let mut law = codel(ecn);
            let times = overload(&mut law, 1000, 0, 480_000, field);
            (times, law.backlog().packets)
        };
        let times = [105_000, 205_000, 275_800, 333_500, 383_500, 428_200, 469_000].to_vec();
        assert_eq!(marks(true, Ecn::Ect0), (times.clone(), 1000));
        assert_eq!(marks(true, Ecn::NotEct), (times.clone(), 1000 - 7));
        assert_eq!(marks(false, Ecn::Ect0), (times, 1000 - 7));
    }

    /// CoDel drops nothing where the queue is good. Of 49 packets one leaves every 0.1 ms: they
    /// wait for 4.9 ms and are left alone; 50 wait for 5 ms, which is not below the target. And one
    /// packet below the target is enough: every 10 ms four arrive and four leave that waited for 10
    /// ms, but once in 100 ms four more leave as they come. Then an interval begins anew each time,
    /// and its end is never reached.
    #[test]
    fn nothing_is_dropped_below_the_target() {
        assert!(overload(&mut codel(false), 49, 0, 5_000_000, Ecn::NotEct).is_empty());
        assert!(!overload(&mut codel(false), 50, 0, 5_000_000, Ecn::NotEct).is_empty());
        let drops = |prompt: u64| {
            let mut law = codel(false);
            (0..4).for_each(|number| put(&mut law, number, 1000, Ecn::NotEct, 0));
            let mut drops = 0;
            for step in 1..1000 {
                let (us, more) = (10_000 * step, if step % 10 == 0 { prompt } else { 0 });
                (0..4 + more).for_each(|number| put(&mut law, number, 1000, Ecn::NotEct, us));
                drops += (0..4 + more).map(|_| take(&mut law, us).1).sum::<usize>();
            }
            drops
        };
        assert_eq!(drops(4), 0);
        assert!(drops(0) > 0);
    }

    /// A queue of one packet is left alone, so that slow links, where one packet takes longer than
    /// the target, do not stand idle: with no more than the MTU behind the packet at the head
    /// nothing is dropped, whatever it waited.
    #[test]
    fn a_queue_of_one_packet_is_left_alone() {
        let drops = |behind: u16| {
            let mut law = codel(false);
            put(&mut law, 0, 1500, Ecn::NotEct, 0);
            let mut drops = 0;
            for second in 1..60 {
                put(&mut law, second, behind, Ecn::NotEct, 1_000_000 * second);
                drops += take(&mut law, 1_000_000 * second + 999_999).1;
            }
            drops
        };
        assert_eq!(drops(1500), 0);
        // One byte more is a queue, of which the second packet is late: dropping leaves one.
        assert!(drops(1501) > 0);
    }

    /// CoDel remembers for a while at which rate of drops the queue is held. Drops at 105 and 205
    /// to 469 ms make seven. Then the queue is empty for a moment, and the next overload begins
    /// with a count of 7 - 1 = 6: the second of its drops comes 100/sqrt(6) = 40.825 ms after the
    /// first. 16 intervals after the last drop that was due, it begins with 1.
    #[test]
    fn the_rate_of_drops_is_remembered_for_a_while() {
        let second = |pause: u64| {
            let mut law = codel(false);
            assert_eq!(overload(&mut law, 1000, 0, 480_000, Ecn::NotEct).len(), 7);
            while take(&mut law, 480_000).0.is_some() {}
            // What was due while the queue was emptied has been dropped: none, as the next drop is
            // due 100/sqrt(7) = 37.796 ms after 468.992 ms.
            assert_eq!(
                {
                    let state = law.state;
                    (state.dropping, state.count, state.next_drop.ps() / 1_000_000_000)
                },
                (false, 7, 506,)
            );
            let begin = 500_000 + pause;
            let times = overload(&mut law, 1000, begin, begin + 250_000, Ecn::NotEct);
            assert_eq!(times[0], begin + 105_000);
            times[1] - times[0]
        };
        assert_eq!(second(0), 40_900);
        // Entered at 605 ms + pause; 16 intervals after 506.788 ms are 2106.788 ms.
        assert_eq!(second(1_501_700), 40_900);
        assert_eq!(second(1_501_800), 100_000);
    }

    /// CoDel of 2012 waits for two intervals before its first drop, and returns to the dropping
    /// state at once, with two drops less, within an interval: its results differ from those of RFC
    /// 8289. With 1000 packets from 0 on, late from 5 ms on, an interval has passed at 105 ms, the
    /// second at 205 ms; then drops follow the control law, after 100, 70.711, 57.735, 50, 44.721
    /// and 40.825 ms. The seventh has the next due after 100/sqrt(7) = 37.796 ms, at 606.788 ms.
    /// The next overload from 600 ms on is late for an interval at 705 ms, within 100 ms of that:
    /// it begins with 7 - 2 = 5, and the second drop follows after 100/sqrt(5) = 44.721 ms. One
    /// from 602 ms on is late for an interval at 707 ms, too late for that, and drops after
    /// another.
    #[test]
    fn the_edition_of_2012_enters_the_dropping_state_by_its_own_rules() {
        let after = |begin: u64| {
            let mut law = codel_of_2012();
            assert_eq!(
                overload(&mut law, 1000, 0, 580_000, Ecn::NotEct),
                [205_000, 305_000, 375_800, 433_500, 483_500, 528_200, 569_000]
            );
            while take(&mut law, 580_000).0.is_some() {}
            let times = overload(&mut law, 1000, begin, begin + 350_000, Ecn::NotEct);
            (times[0] - begin, times[1] - times[0])
        };
        assert_eq!(after(600_000), (105_000, 44_800));
        assert_eq!(after(602_000), (205_000, 100_000));
    }

    /// With less than the largest packet behind a packet CoDel of 2012 leaves it alone, and with as
    /// much as that not: at low rates its queue is one packet shorter.
    #[test]
    fn the_edition_of_2012_spares_less_than_a_packet() {
        let drops = |behind: u16| {
            let mut law = codel_of_2012();
            put(&mut law, 0, 1500, Ecn::NotEct, 0);
            let mut drops = 0;
            for second in 1..60 {
                put(&mut law, second, behind, Ecn::NotEct, 1_000_000 * second);
                drops += take(&mut law, 1_000_000 * second + 999_999).1;
            }
            drops
        };
        assert_eq!(drops(1499), 0);
        assert!(drops(1500) > 0);
    }
}
