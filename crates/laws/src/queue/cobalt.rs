//! COBALT, CoDel and BLUE alternate: CoDel for flows that answer, BLUE for those that do not.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;
use crate::queue::parts::cobalt_core::{CobaltLaw, CobaltState, Fate};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "cobalt",
    summary: "COBALT: CoDel with a count that falls as it rose, and drops by chance where the \
              buffer overflows.",
    source: "Palmei et al., Design and evaluation of COBALT queue discipline, LANMAN 2019; Linux \
             net/sched/sch_cake.c (2018)",
    example: r#"
        target = "2 ms"
        interval = "40 ms"
        mtu = "500 B"
        ecn = true
        limit = "12 packets"
    "#,
    fields: CobaltParameters::FIELDS,
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
            meaning: "Drops and marks that the rate of further ones follows.",
        },
        Probe {
            name: "blue_probability",
            unit: "1",
            meaning: "Probability with which BLUE drops a packet that leaves.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of COBALT.
    pub struct CobaltParameters {
        /// Sojourn time that a standing queue may cost; at least one and a half transmissions of
        /// `mtu`.
        target: Span = "5 ms", "Palmei et al. 2019; Linux net/sched/sch_cake.c (2018)";
        /// Time for which the sojourn time must stay above the target before the first drop, and
        /// the time between the first two drops; at least twice the target. Above 0.
        interval: Span = "100 ms", "Palmei et al. 2019; Linux net/sched/sch_cake.c (2018)";
        /// The largest packet: what waited for less than four transmissions of it is not dropped.
        /// 0 B for no such rule.
        mtu: Size = "1500 B", "Linux net/sched/sch_cake.c (2018, mtu_time)";
        /// Increment of the probability of BLUE when the buffer overflows, at most once in each
        /// target, 0 to 1.
        increment: f64 = 0.00390625, "Linux net/sched/sch_cake.c (2018, p_inc: 1/256)";
        /// Decrement of that probability when the link finds the queue empty, at most once in each
        /// target, 0 to 1.
        decrement: f64 = 0.000244140625, "Linux net/sched/sch_cake.c (2018, p_dec: 1/4096)";
        /// Mark ECN-capable packets where CoDel would drop them. BLUE drops them.
        ecn: bool = false, "RFC 3168, section 5";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = CobaltParameters::read(section)?;
    let CobaltParameters { target, interval, mtu, increment, decrement, ecn, limit } = parameters;
    if interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    for (key, step) in [("increment", increment), ("decrement", decrement)] {
        if !(0.0..=1.0).contains(&step) {
            return Err(section.fail(key, format!("{step} is no step; allowed are 0 to 1")));
        }
    }
    let law = CobaltLaw { target, interval, spared: Span::ZERO, ecn, increment, decrement };
    Ok(Queue::Disc(Box::new(Cobalt {
        law: law.on(facts.rate, mtu),
        limit,
        state: CobaltState::default(),
        waiting: VecDeque::new(),
        backlog: Backlog::default(),
        sojourn: Span::ZERO,
    })))
}

/// COBALT's queue.
struct Cobalt {
    law: CobaltLaw,
    limit: Option<Length>,
    state: CobaltState,
    /// Packets with the times at which they arrived.
    waiting: VecDeque<(Time, Packet)>,
    backlog: Backlog,
    /// Sojourn time of the packet that left last.
    sojourn: Span,
}

impl QueueDisc for Cobalt {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        if let Some(since) = idle_since {
            // When the link became idle, it asked for a packet and there was none.
            self.state.emptied(&self.law, since);
        }
        let arrival =
            Arrival { now, packet, backlog: self.backlog, idle_since, empty_since: idle_since };
        if !fits(self.limit, &arrival) {
            self.state.overflowed(&self.law, now);
            return Verdict::Drop(DropReason::Overflow);
        }
        self.waiting.push_back((now, *packet));
        self.backlog.add(packet);
        Verdict::Accept
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        self.state.emptied(&self.law, idle_since);
        // The last packet is not dropped, and one that has not waited is not marked.
        self.state.decide(&self.law, (now, packet), now, stream);
        self.sojourn = Span::ZERO;
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        while let Some((entered, packet)) = self.waiting.pop_front() {
            self.backlog.remove(packet.queued_info());
            self.sojourn = now.since(entered);
            let fate = self.state.decide(&self.law, (entered, &packet), now, stream);
            // The last packet may be marked, but is not dropped.
            let dropped = matches!(fate, Fate::Drop | Fate::Blue) && !self.waiting.is_empty();
            if !dropped {
                return Some(Departure { packet, marked: fate == Fate::Mark });
            }
            let reason = if fate == Fate::Blue { DropReason::Early } else { DropReason::Forced };
            discard(packet, reason);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("sojourn_s", self.sojourn.seconds());
        visit("dropping", f64::from(u8::from(self.state.dropping)));
        visit("drop_count", f64::from(self.state.count));
        visit("blue_probability", self.state.probability);
    }
}
