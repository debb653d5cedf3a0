//! Common parts of schedulers with several classes: classification, the queues of the classes and
//! their counts. Each scheduler only chooses which class is served next.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, LawNote, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Inner, Probe, Problem, Section, parameters};
use forebay_units::{Size, Time};

use crate::LinkFacts;
use crate::queue::parts::class::ClassQueue;
use crate::queue::parts::class_counts::ClassCounts;
use crate::queue::parts::class_set::{ClassSet, Classes, classes_of};
use crate::queue::parts::classifier::{Classifier, ClassifyOptions};
use crate::queue::{MAX_PRECEDENCES, Queue, Queues};

/// Most classes of a scheduler, but those of `htb`.
pub(in crate::queue) const MAX_CLASSES: usize = MAX_PRECEDENCES;

/// Probes of every scheduler with classes.
pub const PROBES: &[Probe] = &[
    Probe {
        name: "queue_packets",
        unit: "packets",
        meaning: "By class: packets waiting, beside the quantities of its queue.",
    },
    Probe {
        name: "class_sent_bytes",
        unit: "bytes",
        meaning: "By class: bytes sent since the run began.",
    },
    Probe {
        name: "class_drops",
        unit: "packets",
        meaning: "By class: packets dropped since the run began.",
    },
];

parameters! {
    /// Classes of a scheduler.
    pub struct ClassOptions {
        /// The queue of each class: 1 to 64 of them.
        classes: Vec<Inner<Queues>>, "RFC 2475, section 2.3.1; RFC 2697 to 2698 for colours inside";
        ..classify: ClassifyOptions;
    }
}

/// Choice of the class that is served next. Classes are numbered from 0; one is active while it has
/// a packet that may be sent.
pub trait Scheduler: Send {
    /// A packet of `size` bytes was accepted into the queue of `class`.
    fn accepted(&mut self, _class: usize, _size: u16, _now: Time) {}

    /// A packet of `size` bytes that the queue of `class` had accepted was dropped.
    fn withdrawn(&mut self, _class: usize, _size: u16, _now: Time) {}

    /// `class` has a packet to send, and had none.
    fn activate(&mut self, class: usize, now: Time);

    /// `class` has nothing to send any more, without having been served.
    fn deactivate(&mut self, class: usize);

    /// The class that is served next; `None` if none may be served yet.
    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize>;

    /// The packet at the head of `class`, of `size` bytes, is sent from `now` on; whether more of
    /// the class wait.
    fn served(&mut self, class: usize, size: u16, more: bool, now: Time);

    /// As [`QueueDisc::is_work_conserving`], where the queues of the classes are.
    fn is_work_conserving(&self) -> bool {
        true
    }

    /// As [`QueueDisc::ready_at`], for the active classes.
    fn ready_at(&self, _heads: &Heads, _now: Time) -> Time {
        Time::NEVER
    }

    /// Returns true if `class` could send a packet of `size` bytes at `now` if it had nothing else
    /// to send.
    fn admits(&self, _class: usize, _size: u16, _now: Time) -> bool {
        true
    }

    /// Returns true if [`Scheduler::select`] chooses a class that is [admitted](Scheduler::admits)
    /// and alone active.
    fn serves_what_it_admits(&self) -> bool {
        self.is_work_conserving()
    }

    /// As [`QueueDisc::probes`].
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// The packets at the heads of the active classes.
pub struct Heads {
    active: ClassSet,
    sizes: Vec<u16>,
}

impl Heads {
    /// Classes that are all active, with packets of `sizes` at their heads.
    #[cfg(test)]
    pub(in crate::queue) fn of(sizes: &[u16]) -> Self {
        Self { active: ClassSet::all(sizes.len()), sizes: sizes.to_vec() }
    }

    /// The active classes, in the order of their numbers.
    #[inline]
    pub fn active(&self) -> Classes<'_> {
        self.active.iter()
    }

    /// The active classes from `class` on, in the order of their numbers.
    #[inline]
    pub fn active_from(&self, class: usize) -> Classes<'_> {
        self.active.iter_from(class)
    }

    /// A bit for each active class of the first 64, class 0 lowest.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.active.word(0).unwrap_or_default()
    }

    /// The size of the packet at the head of `class`, which is active.
    #[inline]
    #[must_use]
    pub fn size(&self, class: usize) -> u16 {
        self.sizes[class]
    }
}

/// Totals of a class since the run began.
#[derive(Clone, Copy, Default)]
struct ClassTotals {
    sent_bytes: u64,
    drops: u64,
}

/// Refuse a list under `key` that has not one entry for each of `classes` classes.
pub(in crate::queue) fn check_count(
    section: &Section<'_>,
    key: &str,
    entries: usize,
    classes: usize,
) -> Result<(), Problem> {
    if entries == classes {
        return Ok(());
    }
    let message = format!("has {entries} entries, and there are {classes} classes");
    Err(section.fail(key, message))
}

/// The entries of the list under `key`, one for each class, or `default` for each.
pub(in crate::queue) fn each_class<T: Copy>(
    section: &Section<'_>,
    key: &str,
    given: Option<&[T]>,
    default: T,
    classes: usize,
) -> Result<Vec<T>, Problem> {
    let Some(given) = given else { return Ok(vec![default; classes]) };
    check_count(section, key, given.len(), classes)?;
    Ok(given.to_vec())
}

/// The weights of the classes: finite numbers above 0, 1 if left out.
pub(in crate::queue) fn weights(
    section: &Section<'_>,
    given: Option<&[f64]>,
    classes: usize,
) -> Result<Vec<f64>, Problem> {
    let all = each_class(section, "weights", given, 1.0, classes)?;
    match all.iter().find(|weight| !(1e-9..=1e9).contains(*weight)) {
        Some(wrong) => {
            let message = format!("{wrong} is out of range; allowed are 1e-9 to 1e9");
            Err(section.fail("weights", message))
        }
        None => Ok(all),
    }
}

/// The bytes that each class may send in a round, 20 B or more.
pub(in crate::queue) fn quanta(
    section: &Section<'_>,
    given: Option<&[Size]>,
    classes: usize,
) -> Result<Vec<u64>, Problem> {
    let all = each_class(section, "quanta", given, Size::from_bytes(1500), classes)?;
    if let Some(wrong) = all.iter().find(|size| !(20..=1_000_000_000).contains(&size.bytes())) {
        let message = format!("{} B is out of range; allowed are 20 B to 1 GB", wrong.bytes());
        return Err(section.fail("quanta", message));
    }
    Ok(all.iter().map(|size| size.bytes()).collect())
}

impl ClassOptions {
    /// Returns the number of classes, 1 to 64.
    ///
    /// # Errors
    /// If there are none, or more.
    pub fn count(&self, section: &Section<'_>) -> Result<usize, Problem> {
        let count = self.classes.len();
        if (1..=MAX_CLASSES).contains(&count) {
            return Ok(count);
        }
        let message = format!("has {count} queues; allowed are 1 to {MAX_CLASSES}");
        Err(section.fail("classes", message))
    }

    /// The queue that serves the classes as `scheduler` chooses.
    ///
    /// # Errors
    /// The first problem of a class or of the classifier.
    pub fn build<S: Scheduler + 'static>(
        &self,
        section: &Section<'_>,
        facts: &LinkFacts,
        scheduler: S,
    ) -> Result<Queue, Problem> {
        let classifier = self.classify.build(section, facts, self.count(section)?)?;
        let inside = facts.inside();
        let build =
            |class: &Inner<Queues>| class.build(section, |build, inner| build(inner, &inside));
        let queues = self.classes.iter().map(build).collect::<Result<Vec<_>, Problem>>()?;
        Ok(Queue::Disc(Box::new(Classful::new(classifier, queues, scheduler, facts))))
    }
}

/// A queue discipline with classes, of which a [`Scheduler`] chooses the one that is served next.
///
/// A class is active from the arrival of its first packet on or, if its queue holds packets back,
/// once that gives one. Its head is looked at when the scheduler next chooses.
pub(in crate::queue) struct Classful<S> {
    classifier: Classifier,
    queues: Vec<ClassQueue>,
    totals: Vec<ClassTotals>,
    classes: ClassCounts,
    scheduler: S,
    heads: Heads,
    /// Active classes whose head has been looked at.
    known: ClassSet,
    /// Classes whose queue holds packets back.
    held: ClassSet,
    work_conserving: bool,
}

impl<S: Scheduler> Classful<S> {
    pub(in crate::queue) fn new(
        classifier: Classifier,
        queues: Vec<Queue>,
        scheduler: S,
        facts: &LinkFacts,
    ) -> Self {
        let queues: Vec<ClassQueue> =
            queues.into_iter().map(|queue| ClassQueue::of(queue, facts.rate)).collect();
        let work_conserving =
            scheduler.is_work_conserving() && queues.iter().all(QueueDisc::is_work_conserving);
        Self {
            classifier,
            totals: vec![ClassTotals::default(); queues.len()],
            classes: ClassCounts::of(facts, queues.len()),
            heads: Heads { active: ClassSet::among(queues.len()), sizes: vec![0; queues.len()] },
            known: ClassSet::among(queues.len()),
            held: ClassSet::among(queues.len()),
            queues,
            scheduler,
            work_conserving,
        }
    }

    /// `packet` arrives at `class`.
    #[inline]
    fn enqueue_in(
        &mut self,
        class: usize,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        (stream, discard): (&mut Stream, &mut Discard<'_>),
    ) -> Verdict {
        let (total, scheduler) = (&mut self.totals[class], &mut self.scheduler);
        let (queue, classes) = (&mut self.queues[class], &mut self.classes);
        let mut dropped = |packet: Packet, reason| {
            total.drops += 1;
            classes.dropped(class, reason, now);
            scheduler.withdrawn(class, packet.size, now);
            discard(packet, reason);
        };
        let verdict = queue.enqueue(packet, idle_since, now, stream, &mut dropped);
        self.classes.arrived(class, packet, verdict, now);
        self.arrived(class, packet, verdict, now);
        verdict
    }

    /// `packet` arrived at `class`, which came to `verdict`.
    #[inline]
    fn arrived(&mut self, class: usize, packet: &Packet, verdict: Verdict, now: Time) {
        let queue = &self.queues[class];
        if !queue.keeps_head() {
            self.known.remove(class);
        }
        if matches!(verdict, Verdict::Drop(_)) {
            self.totals[class].drops += 1;
            return;
        }
        self.classifier.admitted(class, packet, || queue.packets() > 1);
        self.scheduler.accepted(class, packet.size, now);
        if !self.heads.active.contains(class) {
            if queue.is_work_conserving() {
                self.heads.active.insert(class);
                self.scheduler.activate(class, now);
            } else {
                self.held.insert(class);
            }
        }
    }

    /// `packet` arrives at `class` of an idle link, where none is active, and may be sent at once.
    #[inline]
    fn pass_idle_in(
        &mut self,
        class: usize,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        (stream, discard): (&mut Stream, &mut Discard<'_>),
    ) -> Option<Verdict> {
        let (total, scheduler) = (&mut self.totals[class], &mut self.scheduler);
        let mut dropped = |packet: Packet, reason| {
            total.drops += 1;
            scheduler.withdrawn(class, packet.size, now);
            discard(packet, reason);
        };
        let verdict = self.queues[class].pass_idle(packet, idle_since, now, stream, &mut dropped);
        if let Some(verdict) = verdict {
            self.arrived(class, packet, verdict, now);
            return Some(verdict);
        }
        self.classifier.admitted(class, packet, || false);
        self.scheduler.accepted(class, packet.size, now);
        self.heads.active.insert(class);
        self.heads.sizes[class] = packet.size;
        self.scheduler.activate(class, now);
        let selected = self.scheduler.select(&self.heads, now);
        debug_assert_eq!(selected, Some(class), "the only active class is served");
        self.heads.active.remove(class);
        self.totals[class].sent_bytes += u64::from(packet.size);
        self.scheduler.served(class, packet.size, false, now);
        None
    }

    /// Look at the heads that are not known, also of classes that were held back.
    #[inline]
    fn look(&mut self, now: Time, stream: &mut Stream, discard: &mut Discard<'_>) {
        let mut next = Some(0);
        while let Some(at) = next {
            let word = |set: &ClassSet| set.word(at).unwrap_or_default();
            let asked = word(&self.heads.active) | word(&self.held);
            for class in classes_of(at, asked & !word(&self.known)) {
                self.look_at(class, now, stream, discard);
            }
            next = self.heads.active.next_word(&self.held, at);
        }
    }

    fn look_at(&mut self, class: usize, now: Time, stream: &mut Stream, discard: &mut Discard<'_>) {
        let (total, scheduler) = (&mut self.totals[class], &mut self.scheduler);
        let classes = &mut self.classes;
        let mut dropped = |packet: Packet, reason| {
            total.drops += 1;
            classes.dropped(class, reason, now);
            scheduler.withdrawn(class, packet.size, now);
            discard(packet, reason);
        };
        let size = self.queues[class].look(now, stream, &mut dropped);
        let was_active = self.heads.active.contains(class);
        self.held.remove(class);
        match size {
            Some(size) => {
                self.heads.sizes[class] = size;
                self.known.insert(class);
                if !was_active {
                    self.heads.active.insert(class);
                    self.scheduler.activate(class, now);
                }
            }
            None => {
                if self.queues[class].packets() > 0 {
                    self.held.insert(class);
                }
                if was_active {
                    self.heads.active.remove(class);
                    self.scheduler.deactivate(class);
                }
            }
        }
    }
}

impl<S: Scheduler> QueueDisc for Classful<S> {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let class = self.classifier.class(packet, now, stream);
        // A packet that may not be sent at once needs a buffer, though the link be idle.
        let idle_since = idle_since.filter(|_| self.scheduler.admits(class, packet.size, now));
        self.enqueue_in(class, packet, idle_since, now, (stream, discard))
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        let class = self.classifier.class(packet, now, stream);
        let idle_since =
            Some(idle_since).filter(|_| self.scheduler.admits(class, packet.size, now));
        // Classes that have lost all that they held are still to be found out.
        let alone = self.heads.active.is_empty()
            && self.held.is_empty()
            && self.scheduler.serves_what_it_admits();
        if let (Some(since), true, false) = (idle_since, alone, self.classes.counts()) {
            return self.pass_idle_in(class, packet, since, now, (stream, discard));
        }
        Some(self.enqueue_in(class, packet, idle_since, now, (stream, discard)))
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.look(now, stream, discard);
        if self.heads.active.is_empty() {
            return None;
        }
        let class = self.scheduler.select(&self.heads, now)?;
        let queue = &mut self.queues[class];
        let next = queue.dequeue(now, stream, discard);
        debug_assert!(next.is_some(), "the head of an active class is known");
        if let Some(Departure { packet, marked }) = &next {
            self.classes.departed(class, packet, *marked, now);
        }
        let size = self.heads.sizes[class];
        let more = queue.packets() > 0;
        self.known.remove(class);
        if !more {
            self.heads.active.remove(class);
        }
        self.totals[class].sent_bytes += u64::from(size);
        self.scheduler.served(class, size, more, now);
        next
    }

    fn backlog(&self) -> Backlog {
        let mut all = Backlog::default();
        for Backlog { packets, bytes } in self.queues.iter().map(QueueDisc::backlog) {
            all.packets += packets;
            all.bytes += bytes;
        }
        all
    }

    fn is_work_conserving(&self) -> bool {
        self.work_conserving
    }

    fn ready_at(&self, now: Time) -> Time {
        let held = self.held.iter().map(|class| self.queues[class].ready_at(now)).min();
        let none = self.heads.active.is_empty();
        let active = if none { Time::NEVER } else { self.scheduler.ready_at(&self.heads, now) };
        held.map_or(active, |held| held.min(active))
    }

    fn drops_at_dequeue(&self) -> bool {
        self.queues.iter().any(QueueDisc::drops_at_dequeue)
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        for queue in &mut self.queues {
            queue.notes(visit);
        }
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.classes.up_to(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (class, (queue, total)) in self.queues.iter().zip(&self.totals).enumerate() {
            visit(&format!("queue_packets.{class}"), f64::from(queue.backlog().packets));
            visit(&format!("class_sent_bytes.{class}"), total.sent_bytes as f64);
            visit(&format!("class_drops.{class}"), total.drops as f64);
            queue.probes(&mut |name, value| visit(&format!("{name}.{class}"), value));
        }
        self.classifier.probes(visit);
        self.scheduler.probes(visit);
    }
}
