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
    let scheduler = Htb::new(classes, &leaves);
    Ok(Queue::Disc(Box::new(Classful::new(classifier, queues, scheduler, facts))))
}

/// Times from which a class is out of debt, if it sends nothing before, and those that lend to it:
/// all that a choice looks at.
#[derive(Clone, Copy)]
struct Gate {
    /// From then on it is within its rate.
    rate_at: Time,
    /// From then on it is within its ceiling; before it may not even borrow.
    ceil_at: Time,
    parent: u32,
    /// Greater for ancestors: 0 for leaves.
    level: u32,
}

/// A class as it is in operation.
struct HtbClass {
    rate: Rate,
    ceil: Rate,
    tokens: Bucket,
    ceil_tokens: Bucket,
    /// Time up to which tokens have been collected.
    updated: Time,
    borrowed: u64,
}

impl HtbClass {
    /// Size that a bucket covers unless it is in debt.
    const NOTHING: Size = Size::from_bytes(0);

    /// A packet of `size` leaves at `now`, which it borrows from an ancestor if `borrows`. Returns
    /// the times from which it is within its rate, and its ceiling.
    fn charge(&mut self, size: u16, borrows: bool, now: Time) -> (Time, Time) {
        let span = now.since(self.updated);
        self.updated = now;
        self.tokens.collect(self.rate, span);
        self.ceil_tokens.collect(self.ceil, span);
        self.ceil_tokens.take(size);
        if borrows {
            self.borrowed += u64::from(size);
        } else {
            self.tokens.take(size);
        }
        let at = |of: &Bucket, rate| of.covers_at(Self::NOTHING, rate, now, Time::ZERO);
        (at(&self.tokens, self.rate), at(&self.ceil_tokens, self.ceil))
    }
}

/// A class that holds packets.
struct HtbLeaf {
    class: u32,
    priority: u32,
    quantum: i64,
}

/// The scheduler. Classes of [`Classful`] are the leaves, in the order of the list.
struct Htb {
    classes: Vec<HtbClass>,
    gates: Vec<Gate>,
    leaves: Vec<HtbLeaf>,
    /// Levels of the tree.
    levels: usize,
    /// Size that each leaf may still send in its turn, by the level that lends.
    deficits: Vec<i64>,
    /// The leaf whose turn it is, by level that lends and priority.
    turns: Vec<[usize; PRIORITIES]>,
    /// The level that lends to the leaf that was selected last.
    lent_at: usize,
}

/// Parent of a root.
const NONE: u32 = u32::MAX;

impl Htb {
    fn new(classes: Vec<tree::Class>, leaves: &[Leaf]) -> Self {
        let levels = classes.iter().map(|class| class.level).max().map_or(1, |most| most + 1);
        let leaf = |leaf: &Leaf| {
            let tree::Class { priority, quantum, .. } = classes[leaf.class];
            let (class, priority) = (leaf.class as u32, priority as u32);
            HtbLeaf { class, priority, quantum: quantum as i64 }
        };
        let gate = |class: &tree::Class| Gate {
            rate_at: Time::ZERO,
            ceil_at: Time::ZERO,
            parent: class.parent.map_or(NONE, |parent| parent as u32),
            level: class.level as u32,
        };
        let class = |class: &tree::Class| HtbClass {
            rate: class.rate,
            ceil: class.ceil,
            tokens: Bucket::full(class.burst),
            ceil_tokens: Bucket::full(class.ceil_burst),
            updated: Time::ZERO,
            borrowed: 0,
        };
        Self {
            gates: classes.iter().map(gate).collect(),
            leaves: leaves.iter().map(leaf).collect(),
            classes: classes.iter().map(class).collect(),
            levels,
            deficits: vec![0; levels * leaves.len()],
            turns: vec![[0; PRIORITIES]; levels],
            lent_at: 0,
        }
    }

    /// The gates of `leaf` and of its ancestors.
    fn gates(&self, leaf: usize) -> impl Iterator<Item = &Gate> {
        let first = self.gates.get(self.leaves[leaf].class as usize);
        std::iter::successors(first, |gate| self.gates.get(gate.parent as usize))
    }

    /// The level at which `leaf` gets tokens at `now`: its own, or that of the nearest ancestor
    /// within its rate, if all below it are within their ceilings.
    fn lender(&self, leaf: usize, now: Time) -> Option<usize> {
        for gate in self.gates(leaf) {
            if gate.ceil_at > now {
                return None;
            }
            if gate.rate_at <= now {
                return Some(gate.level as usize);
            }
        }
        None
    }

    /// Returns the time from which `leaf` gets tokens, if none are taken before.
    fn lent_from(&self, leaf: usize) -> Time {
        let (mut from, mut ceil_at) = (Time::NEVER, Time::ZERO);
        for gate in self.gates(leaf) {
            ceil_at = ceil_at.max(gate.ceil_at);
            from = from.min(ceil_at.max(gate.rate_at));
        }
        from
    }

    /// The first active leaf from that on whose turn it is that is within its own rate and of the
    /// first priority: none goes before it.
    fn first_in_turn(&self, heads: &Heads, now: Time) -> Option<usize> {
        heads.active_from(self.turns[0][0]).find(|leaf| {
            let HtbLeaf { class, priority, .. } = self.leaves[*leaf];
            let gate = &self.gates[class as usize];
            priority == 0 && gate.rate_at <= now && gate.ceil_at <= now
        })
    }
}

impl Scheduler for Htb {
    fn activate(&mut self, _class: usize, _now: Time) {}

    fn deactivate(&mut self, _class: usize) {}

    /// The lowest level that lends goes first, then the lowest priority, then leaves in turn.
    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize> {
        if let Some(leaf) = self.first_in_turn(heads, now) {
            (self.lent_at, self.turns[0][0]) = (0, leaf);
            return Some(leaf);
        }
        let mut best: Option<(usize, usize)> = None;
        // Of those that borrow alike: the first, and the first from that on whose turn it is.
        let (mut first, mut later) = (0, None);
        for leaf in heads.active() {
            let Some(level) = self.lender(leaf, now) else { continue };
            let priority = self.leaves[leaf].priority as usize;
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
        let level = self.lent_at;
        let HtbLeaf { class, priority, quantum } = self.leaves[leaf];
        let mut at = class;
        while let Some(gate) = self.gates.get_mut(at as usize) {
            let borrows = (gate.level as usize) < level;
            (gate.rate_at, gate.ceil_at) = self.classes[at as usize].charge(size, borrows, now);
            at = gate.parent;
        }
        let deficit = &mut self.deficits[leaf * self.levels + level];
        *deficit -= i64::from(size);
        if *deficit < 0 {
            *deficit += quantum;
            self.turns[level][priority as usize] = (leaf + 1) % self.leaves.len();
        }
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn ready_at(&self, heads: &Heads, _now: Time) -> Time {
        heads.active().map(|leaf| self.lent_from(leaf)).min().unwrap_or(Time::NEVER)
    }

    fn admits(&self, leaf: usize, _size: u16, now: Time) -> bool {
        self.lender(leaf, now).is_some()
    }

    fn serves_what_it_admits(&self) -> bool {
        true
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (number, class) in self.classes.iter().enumerate() {
            visit(&format!("htb_tokens.{number}"), class.tokens.bytes());
            visit(&format!("htb_ceil_tokens.{number}"), class.ceil_tokens.bytes());
            visit(&format!("htb_borrowed_bytes.{number}"), class.borrowed as f64);
        }
    }
}
