//! GRED, generalised RED: a virtual queue with its own RED for each precedence, in one FIFO queue.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, QueuedInfo, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::red_core::{Class, Core};
use crate::queue::parts::red_options::{PrecedenceCurves, WeightedOptions};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "gred",
    summary: "Generalised RED: a virtual queue for each precedence, each with an average, a curve \
              and a limit of its own, in one FIFO queue.",
    source: "Almesberger, Hadi Salim and Kuznetsov, Differentiated services on Linux, 1999; Linux \
             net/sched/sch_gred.c",
    example: r#"
        min_threshold = ["9 packets", "3 packets"]
        max_threshold = ["18 packets", "6 packets"]
        max_probability = [0.1, 0.5]
        weight = 0.05
        limits = ["20 packets", "6 packets"]
        limit = "25 packets"
    "#,
    fields: GredParameters::FIELDS,
    probes: &[
        Probe {
            name: "average",
            unit: "packets or bytes",
            meaning: "By precedence: average of its virtual queue, in the unit of the thresholds.",
        },
        Probe {
            name: "waiting",
            unit: "packets or bytes",
            meaning: "By precedence: packets or bytes of its virtual queue.",
        },
        Probe {
            name: "limit_drops",
            unit: "packets",
            meaning: "By precedence: packets dropped since the start at the limit of the virtual \
                      queue.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of GRED.
    pub struct GredParameters {
        ..curves: PrecedenceCurves;
        /// Buffer size of each virtual queue, without the packet being transmitted, as many entries
        /// as precedences. Unlimited if left out.
        limits: Option<Vec<Length>>, "Almesberger et al. 1999; Linux net/sched/sch_gred.c";
        /// Judge each virtual queue by its average and those of all that are served with a smaller
        /// entry in `priorities` and hold packets, as RIO does.
        grio: bool = false, "Almesberger et al. 1999; Clark and Fang 1998, section III";
        /// The priority of each virtual queue for `grio`, as many entries as precedences, a smaller
        /// number for a higher priority. Those of the precedences if left out.
        priorities: Option<Vec<u32>>, "Almesberger et al. 1999; Linux net/sched/sch_gred.c (prio)";
        ..common: WeightedOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let GredParameters { curves, limits, grio, priorities, common } =
        GredParameters::read(section)?;
    let (core, classes) = Core::build(section, facts, common.options(), &curves.thresholds())?;
    let wanted = classes.len();
    let fits = |key: &str, entries: usize| {
        let message = format!("has {entries} entries; allowed are {wanted}, as min_threshold has");
        if entries == wanted { Ok(()) } else { Err(section.fail(key, message)) }
    };
    fits("limits", limits.as_ref().map_or(wanted, Vec::len))?;
    fits("priorities", priorities.as_ref().map_or(wanted, Vec::len))?;
    let queue = |(index, class): (usize, Class)| VirtualQueue {
        class,
        limit: limits.as_ref().map(|limits| limits[index]),
        priority: priorities.as_ref().map_or(index as u32, |given| given[index]),
        average: 0.0,
        packets: 0,
        bytes: 0,
        idle_since: Time::ZERO,
        limit_drops: 0,
    };
    let queues = classes.into_iter().enumerate().map(queue).collect();
    Ok(Queue::under(Gred { core, queues, grio }))
}

/// The packets of one precedence.
struct VirtualQueue {
    class: Class,
    limit: Option<Length>,
    priority: u32,
    average: f64,
    packets: u64,
    bytes: u64,
    /// Time since which it is empty, if it is; idle time before is in the average.
    idle_since: Time,
    limit_drops: u64,
}

impl VirtualQueue {
    /// Returns the backlog, in the unit of the thresholds.
    fn waiting(&self, in_bytes: bool) -> f64 {
        if in_bytes { self.bytes as f64 } else { self.packets as f64 }
    }

    /// Returns true if its limit leaves room for a packet of `size` bytes.
    fn has_room(&self, size: u64) -> bool {
        match self.limit {
            None => true,
            Some(Length::Packets(limit)) => self.packets < limit,
            Some(Length::Bytes(limit)) => self.bytes.saturating_add(size) <= limit,
        }
    }
}

/// GRED's state.
struct Gred {
    core: Core,
    queues: Vec<VirtualQueue>,
    grio: bool,
}

impl Gred {
    fn index(&self, packet: QueuedInfo) -> usize {
        usize::from(packet.precedence()).min(self.queues.len() - 1)
    }

    /// Bring the average of virtual queue `index` up to date; gives what waits there.
    fn update(&mut self, index: usize, now: Time) -> f64 {
        let queue = &mut self.queues[index];
        if queue.packets == 0 {
            self.core.averaging.decay(&mut queue.average, now.since(queue.idle_since));
            queue.idle_since = now;
            return 0.0;
        }
        let waiting = queue.waiting(self.core.in_bytes);
        self.core.averaging.sample(&mut queue.average, waiting);
        waiting
    }

    /// The average by which virtual queue `index` is judged.
    fn judged(&self, index: usize) -> f64 {
        let own = &self.queues[index];
        let higher = |queue: &&VirtualQueue| queue.priority < own.priority && queue.packets > 0;
        let others = self.queues.iter().filter(higher).map(|queue| queue.average);
        own.average + if self.grio { others.sum() } else { 0.0 }
    }
}

impl DropPolicy for Gred {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let index = self.index(arrival.packet.queued_info());
        let waiting = self.update(index, arrival.now);
        let average = self.judged(index);
        let queue = &mut self.queues[index];
        let verdict = self.core.policy.decide(&mut queue.class, average, waiting, arrival, stream);
        if matches!(verdict, Verdict::Drop(_)) {
            return verdict;
        }
        let size = u64::from(arrival.packet.size);
        if arrival.idle_since.is_none() && !queue.has_room(size) {
            queue.limit_drops += 1;
            return Verdict::Drop(DropReason::Overflow);
        }
        queue.packets += 1;
        queue.bytes += size;
        verdict
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        let index = self.index(packet);
        let queue = &mut self.queues[index];
        queue.packets -= 1;
        queue.bytes -= u64::from(packet.size());
        if queue.packets == 0 {
            queue.idle_since = at;
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (i, queue) in self.queues.iter().enumerate() {
            visit(&format!("average.{i}"), queue.average);
            visit(&format!("waiting.{i}"), queue.waiting(self.core.in_bytes));
            visit(&format!("limit_drops.{i}"), queue.limit_drops as f64);
        }
    }
}
