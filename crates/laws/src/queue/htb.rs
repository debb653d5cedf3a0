//! Hierarchical token bucket: classes with rates of their own, which borrow what others leave.

mod tree;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section};
use forebay_units::{Rate, Size, Time};

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::conditioner::bucket::Bucket;
use crate::queue::parts::classful::{Classful, Heads, PROBES, Scheduler};
use tree::{HtbParameters, Leaf, PRIORITIES, Tree};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "htb",
    summary: "Hierarchical token bucket: a tree of classes with guaranteed rates, which borrow up \
              to their ceilings what others leave.",
    source: "Devera, HTB Linux queuing discipline manual, 2002; Linux tc-htb(8)",
    example: concat!(
        r#"classes = [{ name = "all", rate = "900 kbit/s" }, "#,
        r#"{ name = "a", parent = "all", rate = "600 kbit/s", ceil = "900 kbit/s", "#,
        r#"queue = { droptail = { limit = "9 kB" } } }, "#,
        r#"{ name = "b", parent = "all", rate = "300 kbit/s", ceil = "900 kbit/s", "#,
        r#"queue = { droptail = { limit = "9 packets" } } }]"#,
        "\n",
        r#"classify = "precedence""#,
    ),
    fields: HtbParameters::FIELDS,
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        Probe {
            name: "htb_tokens",
            unit: "bytes",
            meaning: "By class, in the order of the list: tokens of its rate, negative in debt.",
        },
        Probe {
            name: "htb_ceil_tokens",
            unit: "bytes",
            meaning: "By class, in the order of the list: tokens of its ceiling.",
        },
        Probe {
            name: "htb_borrowed_bytes",
            unit: "bytes",
            meaning: "By class, in the order of the list: bytes sent on what others left.",
        },
    ],
    build: &build,
};

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let HtbParameters { classes: Tree { classes, leaves }, classify } =
        HtbParameters::read(section)?;
    let classifier = classify.build(section, facts, leaves.len())?;
    let inside = facts.inside();
    let queue = |leaf: &Leaf| leaf.queue.build(section, |build, inner| build(inner, &inside));
    let queues = leaves.iter().map(queue).collect::<Result<Vec<_>, Problem>>()?;
    let leaves = leaves.iter().map(|leaf| leaf.class).collect();
    let scheduler = Htb::new(classes, leaves);
    Ok(Queue::Disc(Box::new(Classful::new(classifier, queues, scheduler, facts))))
}

/// Permission of a class to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// It is within its rate.
    CanSend,
    /// It is above its rate and within its ceiling: its parent may lend.
    MayBorrow,
    /// It is above its ceiling.
    CantSend,
}

/// A class as it is in operation.
struct HtbClass {
    parent: Option<usize>,
    /// Greater for ancestors: 0 for leaves.
    level: usize,
    priority: usize,
    quantum: i64,
    rate: Rate,
    ceil: Rate,
    tokens: Bucket,
    ceil_tokens: Bucket,
    /// Time up to which tokens have been collected.
    updated: Time,
    /// Size that it may still send in its turn, by the level that lends.
    deficits: Vec<i64>,
    borrowed: u64,
}

impl HtbClass {
    /// Size that a bucket covers unless it is in debt.
    const NOTHING: Size = Size::from_bytes(0);

    /// Its mode at `now`.
    fn mode(&self, now: Time) -> Mode {
        if self.ceil_tokens.covers_at(Self::NOTHING, self.ceil, self.updated, now) > now {
            Mode::CantSend
        } else if self.tokens.covers_at(Self::NOTHING, self.rate, self.updated, now) > now {
            Mode::MayBorrow
        } else {
            Mode::CanSend
        }
    }

    /// Returns the time at which its mode next changes by itself; [`Time::NEVER`] if it is not in
    /// debt.
    fn changes_at(&self, now: Time) -> Time {
        let of = |bucket: &Bucket, rate| bucket.covers_at(Self::NOTHING, rate, self.updated, now);
        let times = [of(&self.ceil_tokens, self.ceil), of(&self.tokens, self.rate)];
        times.into_iter().filter(|time| *time > now).min().unwrap_or(Time::NEVER)
    }

    fn collect(&mut self, now: Time) {
        let span = now.since(self.updated);
        self.updated = now;
        self.tokens.collect(self.rate, span);
        self.ceil_tokens.collect(self.ceil, span);
    }
}

/// The scheduler. Classes of [`Classful`] are the leaves, in the order of the list.
struct Htb {
    classes: Vec<HtbClass>,
    /// The class of each leaf.
    leaves: Vec<usize>,
    /// The leaf whose turn it is, by level that lends and priority.
    turns: Vec<[usize; PRIORITIES]>,
    /// The level that lends to the leaf that was selected last.
    lent_at: usize,
}

impl Htb {
    fn new(classes: Vec<tree::Class>, leaves: Vec<usize>) -> Self {
        let levels = classes.iter().map(|class| class.level).max().map_or(1, |most| most + 1);
        let class = |class: tree::Class| HtbClass {
            parent: class.parent,
            level: class.level,
            priority: class.priority,
            quantum: class.quantum as i64,
            rate: class.rate,
            ceil: class.ceil,
            tokens: Bucket::full(class.burst),
            ceil_tokens: Bucket::full(class.ceil_burst),
            updated: Time::ZERO,
            deficits: vec![0; levels],
            borrowed: 0,
        };
        Self {
            classes: classes.into_iter().map(class).collect(),
            leaves,
            turns: vec![[0; PRIORITIES]; levels],
            lent_at: 0,
        }
    }

    /// `class` and its ancestors.
    fn chain(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(class), |class| self.classes[*class].parent)
    }

    /// The level at which `leaf` gets tokens at `now`: its own, or that of the nearest ancestor
    /// within its rate, if all below it are within their ceilings.
    fn lender(&self, leaf: usize, now: Time) -> Option<usize> {
        for class in self.chain(self.leaves[leaf]) {
            match self.classes[class].mode(now) {
                Mode::CanSend => return Some(self.classes[class].level),
                Mode::MayBorrow => {}
                Mode::CantSend => return None,
            }
        }
        None
    }
}

impl Scheduler for Htb {
    fn activate(&mut self, _class: usize, _now: Time) {}

    fn deactivate(&mut self, _class: usize) {}

    /// The lowest level that lends goes first, then the lowest priority, then leaves in turn.
    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        // Of those that borrow alike: the first, and the first from that on whose turn it is.
        let (mut first, mut later) = (0, None);
        for leaf in heads.active() {
            let Some(level) = self.lender(leaf, now) else { continue };
            let priority = self.classes[self.leaves[leaf]].priority;
            if best.is_none_or(|best| (level, priority) < best) {
                (best, first, later) = (Some((level, priority)), leaf, None);
            }
            let is_next = best == Some((level, priority)) && leaf >= self.turns[level][priority];
            if is_next && later.is_none() {
                later = Some(leaf);
            }
        }
        let (level, priority) = best?;
        self.lent_at = level;
        let turn = later.unwrap_or(first);
        self.turns[level][priority] = turn;
        Some(turn)
    }

    fn served(&mut self, leaf: usize, size: u16, _more: bool, now: Time) {
        let (level, class) = (self.lent_at, self.leaves[leaf]);
        for class in self.chain(class).collect::<Vec<_>>() {
            let class = &mut self.classes[class];
            class.collect(now);
            class.ceil_tokens.take(size);
            if class.level >= level {
                class.tokens.take(size);
            } else {
                class.borrowed += u64::from(size);
            }
        }
        let class = &mut self.classes[class];
        class.deficits[level] -= i64::from(size);
        if class.deficits[level] < 0 {
            class.deficits[level] += class.quantum;
            let next = (leaf + 1) % self.leaves.len();
            self.turns[level][class.priority] = next;
        }
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn ready_at(&self, now: Time) -> Time {
        self.classes.iter().map(|class| class.changes_at(now)).min().unwrap_or(Time::NEVER)
    }

    fn admits(&self, leaf: usize, _size: u16, now: Time) -> bool {
        self.lender(leaf, now).is_some()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (number, class) in self.classes.iter().enumerate() {
            visit(&format!("htb_tokens.{number}"), class.tokens.bytes());
            visit(&format!("htb_ceil_tokens.{number}"), class.ceil_tokens.bytes());
            visit(&format!("htb_borrowed_bytes.{number}"), class.borrowed as f64);
        }
    }
}
