//! The round of deficit round robin, which weighted round robin and ETS share.

use std::collections::VecDeque;

use crate::queue::parts::classful::Heads;

/// Classes that are served in turn, each for what it is granted when its turn comes.
///
/// M. Shreedhar and G. Varghese, Efficient fair queueing using deficit round robin, *Proc. ACM
/// SIGCOMM* 1995, section 3: the ActiveList, and a deficit counter for each class.
pub(in crate::queue) struct RoundRobin {
    /// Quantum that each class is granted when its turn comes.
    quanta: Vec<u64>,
    /// Remainder of it, and of earlier turns.
    deficits: Vec<u64>,
    /// The active classes, that whose turn it is at the front.
    turns: VecDeque<usize>,
    /// True if the class at the front has been granted its quantum in this turn.
    granted: bool,
}

impl RoundRobin {
    pub(in crate::queue) fn new(quanta: Vec<u64>) -> Self {
        let deficits = vec![0; quanta.len()];
        Self { quanta, deficits, turns: VecDeque::new(), granted: false }
    }

    /// `class` has packets: its turn comes after those of the others.
    pub(in crate::queue) fn activate(&mut self, class: usize) {
        self.turns.push_back(class);
    }

    /// `class` has no packets: what it has not used is lost.
    pub(in crate::queue) fn deactivate(&mut self, class: usize) {
        self.deficits[class] = 0;
        if self.turns.front() == Some(&class) {
            self.granted = false;
            self.turns.pop_front();
        } else {
            self.turns.retain(|other| *other != class);
        }
    }

    /// The class whose packet is next, where the packet at the head of a class costs `cost`.
    pub(in crate::queue) fn select(&mut self, cost: impl Fn(usize) -> u64) -> Option<usize> {
        loop {
            let class = *self.turns.front()?;
            if !self.granted {
                self.deficits[class] += self.quanta[class];
                self.granted = true;
            }
            if cost(class) <= self.deficits[class] {
                return Some(class);
            }
            self.turns.rotate_left(1);
            self.granted = false;
        }
    }

    /// The packet at the head of `class` is sent, for `cost`; whether more of the class wait.
    pub(in crate::queue) fn served(&mut self, class: usize, cost: u64, more: bool) {
        if more {
            self.deficits[class] -= cost;
        } else {
            self.deactivate(class);
        }
    }

    /// Visit the deficits, numbered from `first` on.
    pub(in crate::queue) fn probes(&self, first: usize, visit: &mut dyn FnMut(&str, f64)) {
        for (class, deficit) in self.deficits.iter().enumerate().skip(first) {
            visit(&format!("deficit_bytes.{class}"), *deficit as f64);
        }
    }
}

/// The size of the head of each class, as a cost.
pub(in crate::queue) fn bytes(heads: &Heads) -> impl Fn(usize) -> u64 {
    |class| u64::from(heads.size(class))
}
