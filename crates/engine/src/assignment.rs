//! Assignment of partitions to threads: dynamic load balancing (Fujimoto, *Parallel and Distributed
//! Simulation Systems*, 2000).

/// Dynamic load balancing: which thread runs which partitions. Partitions migrate when that spreads
/// the work better; the load of each is predicted from its recent work.
#[derive(Clone)]
pub(crate) struct Assignment {
    threads: usize,
    /// The thread of each partition.
    owner: Vec<usize>,
    /// Recent work by partition, an exponentially weighted sum: that of a window counts half after
    /// ten more.
    load: Vec<u64>,
    /// Work seen so far, by partition.
    seen: Vec<u64>,
}

impl Assignment {
    pub(crate) fn new(partitions: usize, threads: usize) -> Self {
        let owner = (0..partitions).map(|number| number % threads).collect();
        Self { threads, owner, load: vec![0; partitions], seen: vec![0; partitions] }
    }

    /// The partitions of `thread`.
    pub(crate) fn of(&self, thread: usize) -> impl Iterator<Item = usize> {
        (0..self.owner.len()).filter(move |number| self.owner[*number] == thread)
    }

    /// Assign partitions anew, in order of falling load and each to the thread with the least, if
    /// that relieves the busiest thread by more than a twentieth of its load. `work` is the work
    /// done so far, by partition.
    pub(crate) fn rebalance(&mut self, work: Vec<u64>) {
        for ((load, seen), work) in self.load.iter_mut().zip(&mut self.seen).zip(work) {
            // Events that turn out to be none are taken back, so work can fall.
            *load = *load - *load / 16 + work.saturating_sub(std::mem::replace(seen, work));
        }
        let mut order: Vec<usize> = (0..self.load.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(self.load[*number]));
        let mut proposed = vec![0; self.threads];
        let mut owner = vec![0; self.load.len()];
        for number in order {
            let idlest = (0..self.threads).min_by_key(|thread| proposed[*thread]).unwrap_or(0);
            owner[number] = idlest;
            proposed[idlest] += self.load[number];
        }
        let mut current = vec![0; self.threads];
        for (owner, load) in self.owner.iter().zip(&self.load) {
            current[*owner] += load;
        }
        let (before, after): (Option<u64>, Option<u64>) =
            (current.into_iter().max(), proposed.into_iter().max());
        if after.zip(before).is_some_and(|(after, before)| after < before - before / 20) {
            self.owner = owner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(assignment: &Assignment) -> Vec<Vec<usize>> {
        (0..assignment.threads).map(|thread| assignment.of(thread).collect()).collect()
    }

    /// Each partition is assigned to one thread, in turn.
    #[test]
    fn each_partition_is_assigned_to_one_thread() {
        let assignment = Assignment::new(5, 2);
        assert_eq!(owners(&assignment), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(owners(&Assignment::new(2, 3)), [vec![0], vec![1], vec![]]);
    }

    /// Partitions migrate if that relieves the busiest thread by more than next to nothing, since
    /// the contents of caches migrate with them.
    #[test]
    fn partitions_migrate_if_that_relieves_the_busiest_thread() {
        let rebalanced = |work: [u64; 3]| {
            let mut assignment = Assignment::new(3, 2);
            assignment.rebalance(work.to_vec());
            assignment.owner
        };
        // Partitions 0 and 2 share thread 0: 110 at most, and no assignment has less.
        assert_eq!(rebalanced([10, 100, 100]), [0, 1, 0]);
        // 200 and 10 become 110 and 100.
        assert_eq!(rebalanced([100, 10, 100]), [0, 0, 1]);
        // 100 and 90 would become 96 and 94: less by 4 %. 100 and 80 become 94 and 86.
        assert_eq!(rebalanced([96, 90, 4]), [0, 1, 0]);
        assert_eq!(rebalanced([94, 80, 6]), [0, 1, 1]);
    }

    /// A load is the new work plus fifteen sixteenths of the load before: threads are assigned by
    /// recent work, and events that are taken back count as none.
    #[test]
    fn loads_are_of_recent_work() {
        let mut assignment = Assignment::new(2, 1);
        assignment.rebalance(vec![160, 0]);
        assert_eq!((&assignment.load[..], &assignment.seen[..]), (&[160, 0][..], &[160, 0][..]));
        // Work is told as the sum so far. A sixteenth of 160 is forgotten, and 32 are new.
        assignment.rebalance(vec![160, 32]);
        assert_eq!(assignment.load, [150, 32]);
        assignment.rebalance(vec![161, 32]);
        // 150 - 150 / 16 + 1 = 150 - 9 + 1.
        assert_eq!(assignment.load, [142, 30]);
        // Events that were taken back are no work: a sixteenth is forgotten, and nothing is new.
        let mut assignment = Assignment::new(2, 1);
        assignment.rebalance(vec![160, 5]);
        assignment.rebalance(vec![158, 5]);
        assert_eq!((assignment.load[0], assignment.seen[0]), (150, 158));
    }
}
