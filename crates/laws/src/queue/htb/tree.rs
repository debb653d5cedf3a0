//! The tree of classes as a scenario describes it.

use std::collections::BTreeMap;

use forebay_parameters::{
    DefaultValue, FieldType, Inner, Parameters, Problem, Section, did_you_mean, parameters,
};
use forebay_units::{Rate, Size};

use crate::queue::Queues;
use crate::queue::parts::classifier::ClassifyOptions;

/// Most classes with a queue: subscribers of an access network.
const MAX_LEAVES: usize = 10_000;

/// Priorities that are told apart, as under Linux (TC_HTB_NUMPRIO).
pub(super) const PRIORITIES: usize = 8;

parameters! {
    /// Parameters of the hierarchical token bucket.
    pub struct HtbParameters {
        /// The classes, a parent before its children: tables with `name`, `parent` (none for a
        /// root), `rate`, `ceil` (that rate if left out), `burst` and `ceil_burst` (1600 B),
        /// `priority` (0 to 7, the lowest borrows first; 0), `quantum` (what it sends in its turn
        /// among those that borrow alike; a tenth of a second at its rate, 1000 B to 200 kB), and
        /// for a class without children its `queue`. Packets are classified to the classes with a
        /// queue, 1 to 10000 of them, numbered from 0 in the order of the list.
        classes: Tree, "Linux, tc-htb(8); Devera, HTB manual, 2002";
        ..classify: ClassifyOptions;
    }
}

parameters! {
    /// Parameters of a class.
    pub struct HtbClassParameters {
        /// Name by which children call it.
        name: String, "Linux 6.6 (2023), tc-htb(8), classid";
        /// The class that lends to it; a root if left out.
        parent: Option<String>, "Linux 6.6 (2023), tc-htb(8), parent";
        /// Rate that it is guaranteed, above 0.
        rate: Rate, "Linux 6.6 (2023), tc-htb(8), rate";
        /// Rate up to which it borrows.
        ceil: Option<Rate>, "Linux 6.6 (2023), tc-htb(8), ceil";
        /// Tokens of the rate that can be saved.
        burst: Size = "1600 B", "Linux 6.6 (2023), tc-htb(8), burst";
        /// Tokens of the ceiling that can be saved.
        ceil_burst: Size = "1600 B", "Linux 6.6 (2023), tc-htb(8), cburst";
        /// Rank among those that borrow: the lowest borrows first.
        priority: u32 = 0, "Linux 6.6 (2023), tc-htb(8), prio";
        /// Size that it sends in its turn.
        quantum: Option<Size>, "Linux 6.6 (2023), tc-htb(8), quantum, r2q";
        /// Queue in which its packets wait.
        queue: Option<Inner<Queues>>, "Linux 6.6 (2023), tc-htb(8)";
    }
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    pub(super) parent: Option<usize>,
    /// 0 for leaves; of others the greater, the nearer to the root.
    pub(super) level: usize,
    pub(super) rate: Rate,
    pub(super) ceil: Rate,
    pub(super) burst: Size,
    pub(super) ceil_burst: Size,
    pub(super) priority: usize,
    pub(super) quantum: u64,
}

/// A class with a queue.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub(super) class: usize,
    pub(super) queue: Inner<Queues>,
}

/// The classes, a parent before its children, and those with a queue.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) classes: Vec<Class>,
    pub(super) leaves: Vec<Leaf>,
}

impl FieldType for Tree {
    const KIND: &'static str = "table of a class such as { name = \"a\", rate = \"1 Mbit/s\" }";
    const LIST: bool = true;

    fn get(
        section: &Section<'_>,
        key: &str,
        _default: Option<DefaultValue>,
    ) -> Result<Self, Problem> {
        let sections = section.sections(key)?;
        let read = |section: &Section<'_>| HtbClassParameters::read(section);
        let all = sections.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
        let parents = parents(&sections, &all)?;
        let mut is_parent = vec![false; all.len()];
        parents.iter().flatten().for_each(|parent| is_parent[*parent] = true);
        // Roots have depth 0; what lends lies above all that it lends to.
        let mut depths = vec![0_usize; all.len()];
        for class in 0..all.len() {
            depths[class] = parents[class].map_or(0, |parent| depths[parent] + 1);
        }
        let deepest = (0..all.len()).filter(|class| is_parent[*class]).map(|class| depths[class]);
        let deepest = deepest.max().unwrap_or(0);
        let (mut classes, mut leaves) = (Vec::new(), Vec::new());
        for (number, (section, given)) in sections.iter().zip(&all).enumerate() {
            let level = if is_parent[number] { deepest + 1 - depths[number] } else { 0 };
            classes.push(class(section, given, parents[number], level)?);
            match (&given.queue, is_parent[number]) {
                (Some(queue), false) => leaves.push(Leaf { class: number, queue: queue.clone() }),
                (None, true) => {}
                (Some(_), true) => {
                    let message = "has children: packets wait in theirs, which have none";
                    return Err(section.fail("queue", message));
                }
                (None, false) => {
                    let message = "is missing: a class without children holds packets";
                    return Err(section.fail("queue", message));
                }
            }
        }
        if leaves.is_empty() || leaves.len() > MAX_LEAVES {
            let message = format!("has {} queues; allowed are 1 to {MAX_LEAVES}", leaves.len());
            return Err(section.fail(key, message));
        }
        Ok(Self { classes, leaves })
    }
}

/// The place of the parent of each class.
fn parents(
    sections: &[Section<'_>],
    all: &[HtbClassParameters],
) -> Result<Vec<Option<usize>>, Problem> {
    let mut parents = Vec::new();
    let mut places = BTreeMap::new();
    for (number, (section, class)) in sections.iter().zip(all).enumerate() {
        let parent = class.parent.as_ref().map(|parent| places.get(parent).copied());
        if places.insert(&class.name, number).is_some() {
            let message = format!("there is a class \"{}\" already", class.name);
            return Err(section.fail("name", message));
        }
        if let (Some(parent), Some(None)) = (&class.parent, parent) {
            let names = || all[..number].iter().map(|other| other.name.as_str());
            let hint = did_you_mean(parent, names());
            let known = names().collect::<Vec<_>>().join(", ");
            let message =
                format!("no class \"{parent}\" stands before this one{hint}; there are: {known}");
            return Err(section.fail("parent", message));
        }
        parents.push(parent.flatten());
    }
    Ok(parents)
}

fn class(
    section: &Section<'_>,
    given: &HtbClassParameters,
    parent: Option<usize>,
    level: usize,
) -> Result<Class, Problem> {
    let rate = given.rate;
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    let ceil = given.ceil.unwrap_or(rate);
    if ceil < rate {
        return Err(section.fail("ceil", "is below rate; allowed is at least rate"));
    }
    if given.priority as usize >= PRIORITIES {
        let message = format!("{} is out of range; allowed are 0 to 7", given.priority);
        return Err(section.fail("priority", message));
    }
    let quantum = match given.quantum {
        None => (rate.bps() / 80).clamp(1000, 200_000),
        Some(size) if (20..=1_000_000_000).contains(&size.bytes()) => size.bytes(),
        Some(size) => {
            let message = format!("{} B is out of range; allowed are 20 B to 1 GB", size.bytes());
            return Err(section.fail("quantum", message));
        }
    };
    Ok(Class {
        parent,
        level,
        rate,
        ceil,
        burst: given.burst,
        ceil_burst: given.ceil_burst,
        priority: given.priority as usize,
        quantum,
    })
}
