//! Start and finish tags of the packets at the heads of classes, for schedulers that serve in the
//! order of virtual times.
//!
//! A tag is a virtual time: bits sent, over the weight of their class. The packet behind another of
//! its class starts where that ends; the first of a class, at the virtual time of its arrival.

use forebay_units::{Rate, Size, Time};

use crate::queue::parts::classful::Heads;

/// The tags of the classes of one scheduler.
pub(in crate::queue) struct Tags {
    weights: Vec<f64>,
    /// Of the packet at the head of each active class.
    start: Vec<f64>,
    /// Of the packet of each class that was served last.
    finish: Vec<f64>,
    active: u32,
    rate: Rate,
    /// Time at which the transmission of the packet served last ends.
    ends: Time,
}

impl Tags {
    pub(in crate::queue) fn new(weights: Vec<f64>, rate: Rate) -> Self {
        let none = vec![0.0; weights.len()];
        Self { weights, start: none.clone(), finish: none, active: 0, rate, ends: Time::ZERO }
    }

    /// The weight of `class` from here on.
    pub(in crate::queue) fn weigh(&mut self, class: usize, weight: f64) {
        self.weights[class] = weight;
    }

    /// Returns true if a packet that arrives at `now` begins a busy period of the link.
    pub(in crate::queue) fn is_idle(&self, now: Time) -> bool {
        self.active == 0 && now >= self.ends
    }

    /// The virtual time after all that has been served.
    pub(in crate::queue) fn last_finish(&self) -> f64 {
        self.finish.iter().copied().fold(0.0, f64::max)
    }

    /// A packet becomes the head of `class` at virtual time `now`.
    pub(in crate::queue) fn activate(&mut self, class: usize, now: f64) {
        self.active += 1;
        self.start[class] = self.finish[class].max(now);
    }

    /// The head of `class` is gone, unserved, with no other behind it.
    pub(in crate::queue) fn deactivate(&mut self) {
        self.active -= 1;
    }

    /// Start tag of the head of `class`.
    pub(in crate::queue) fn start(&self, class: usize) -> f64 {
        self.start[class]
    }

    /// Finish tag of the head of `class`.
    pub(in crate::queue) fn finish(&self, class: usize, heads: &Heads) -> f64 {
        self.start[class] + self.cost(class, heads.size(class))
    }

    fn cost(&self, class: usize, size: u16) -> f64 {
        f64::from(size) * 8.0 / self.weights[class]
    }

    /// Sum of the weights of all classes.
    pub(in crate::queue) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The head of `class` is served; whether another is behind it. Gives its tags.
    pub(in crate::queue) fn served(
        &mut self,
        class: usize,
        size: u16,
        more: bool,
        now: Time,
    ) -> (f64, f64) {
        let start = self.start[class];
        let finish = start + self.cost(class, size);
        self.finish[class] = finish;
        if more {
            self.start[class] = finish;
        } else {
            self.active -= 1;
        }
        let span = self.rate.transmission_time(Size::from_bytes(u64::from(size)));
        self.ends = now + span;
        (start, finish)
    }
}

/// The class among `classes` with the least tag; of equal ones the first.
pub(in crate::queue) fn least(
    classes: impl Iterator<Item = usize>,
    tag: impl Fn(usize) -> f64,
) -> Option<usize> {
    let tagged = classes.map(|class| (class, tag(class)));
    let least = tagged.reduce(|best, other| if other.1 < best.1 { other } else { best });
    least.map(|(class, _)| class)
}
