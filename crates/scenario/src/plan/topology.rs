//! Nodes and the ways between them.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use forebay_parameters::did_you_mean;

/// Nodes by name and directed links by number.
#[derive(Default)]
pub(crate) struct Topology {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// Links that begin and that end at each node, in the order in which they were added.
    out: Vec<Vec<Way>>,
    into: Vec<Vec<Way>>,
    /// The link between two nodes.
    links: BTreeMap<(usize, usize), usize>,
    search: RefCell<Search>,
}

/// A directed link as routing sees it, and the node at its other end.
#[derive(Clone, Copy)]
struct Way {
    link: usize,
    node: usize,
    delay_ps: u64,
}

/// State that searches for shortest paths leave for the next.
#[derive(Default)]
struct Search {
    /// For each node, the search in which it was found, its cost, and the way over which it was
    /// reached.
    found: Vec<Found>,
    number: u64,
    /// Nodes at which searches have begun. If one begins there again, it finds all nodes and is
    /// kept.
    begun: BTreeSet<usize>,
    trees: BTreeMap<usize, Vec<Option<(usize, usize)>>>,
}

#[derive(Clone, Copy, Default)]
struct Found {
    search: u64,
    cost: u128,
    /// The node before it and the link from there; `None` at the start.
    before: Option<(usize, usize)>,
}

/// Searches that are kept at most: each has an entry for every node.
const MAX_TREES: usize = 64;

impl Topology {
    /// Add a directed link between two nodes, which are made if they are new. Gives the number of
    /// the link that already leads there, if one does.
    pub(crate) fn add(
        &mut self,
        from: &str,
        to: &str,
        link: usize,
        delay_ps: u64,
    ) -> Option<usize> {
        let (from, to) = (self.node_or_new(from), self.node_or_new(to));
        if let Some(link) = self.links.get(&(from, to)) {
            return Some(*link);
        }
        self.links.insert((from, to), link);
        self.out[from].push(Way { link, node: to, delay_ps });
        self.into[to].push(Way { link, node: from, delay_ps });
        None
    }

    /// Names of all nodes, in the order of their first mention.
    pub(crate) fn nodes(&self) -> &[String] {
        &self.names
    }

    fn node(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    fn node_or_new(&mut self, name: &str) -> usize {
        self.node(name).unwrap_or_else(|| {
            let number = self.names.len();
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
            self.out.push(Vec::new());
            self.into.push(Vec::new());
            number
        })
    }

    /// Fails if `name` is no node; the message has the nearest one.
    pub(crate) fn require(&self, name: &str) -> Result<(), String> {
        if self.node(name).is_some() {
            return Ok(());
        }
        let names = self.names.iter().map(String::as_str);
        let hint = did_you_mean(name, names.clone());
        let known: Vec<&str> = names.take(20).collect();
        Err(format!("no link touches a node \"{name}\"{hint}; nodes are {}", known.join(", ")))
    }

    /// The links of the shortest path: least delay, then fewest hops; the same one in every run.
    pub(crate) fn shortest(&self, from: &str, to: &str) -> Option<Vec<usize>> {
        let (start, goal) = (self.node(from)?, self.node(to)?);
        if let Some(links) = self.only_path(start, goal) {
            return Some(links);
        }
        let search = &mut *self.search.borrow_mut();
        if search.begun.insert(start) {
            self.find(search, start, Some(goal));
            let found = search.found[goal];
            return (found.search == search.number)
                .then(|| path_to(goal, |node| search.found[node].before));
        }
        if !search.trees.contains_key(&start) {
            self.find(search, start, None);
            let before = |found: &Found| found.before.filter(|_| found.search == search.number);
            let tree = search.found.iter().map(before).collect();
            if search.trees.len() == MAX_TREES {
                search.trees.clear();
            }
            search.trees.insert(start, tree);
        }
        let tree = &search.trees[&start];
        tree[goal]?;
        Some(path_to(goal, |node| tree[node]))
    }

    /// The only path between two nodes, if that shows by itself: from the start on, and back from
    /// the goal, there is just one way to turn until the two meet. Without it a search would visit
    /// all neighbours of a hub for each pair of them.
    fn only_path(&self, start: usize, goal: usize) -> Option<Vec<usize>> {
        let forth = forced(&self.out, start, goal);
        let back = forced(&self.into, goal, start);
        let (meeting, links) =
            forth.last().copied().map_or((start, 0), |(node, _)| (node, forth.len()));
        let joins = if meeting == goal {
            0
        } else {
            1 + back.iter().position(|(node, _)| *node == meeting)?
        };
        let links = forth[..links].iter().chain(back[..joins].iter().rev());
        Some(links.map(|(_, link)| *link).collect())
    }

    /// Find the shortest paths from `start` to `goal`, or to all nodes (Dijkstra, *Numerische
    /// Mathematik* 1 (1959) 269-271).
    fn find(&self, search: &mut Search, start: usize, goal: Option<usize>) {
        search.number += 1;
        search.found.resize(self.names.len(), Found::default());
        let Search { found, number, .. } = search;
        let mut next = BinaryHeap::from([Entry(Reverse(0), start)]);
        found[start] = Found { search: *number, cost: 0, before: None };
        while let Some(Entry(Reverse(cost), node)) = next.pop() {
            if goal == Some(node) {
                return;
            }
            if found[node].cost < cost {
                continue;
            }
            // Of paths that are equally short, the links added last decide.
            for way in self.out[node].iter().rev() {
                // Delay and hops in one number: a hop weighs less than any delay but more than
                // nothing.
                let cost = cost + (u128::from(way.delay_ps) << 32) + 1;
                let at = &mut found[way.node];
                if at.search == *number && at.cost <= cost {
                    continue;
                }
                *at = Found { search: *number, cost, before: Some((node, way.link)) };
                next.push(Entry(Reverse(cost), way.node));
            }
        }
    }

    /// The links along given nodes.
    ///
    /// # Errors
    /// An unknown node, a node passed twice, or two neighbours without a link.
    pub(crate) fn along(&self, route: &[String]) -> Result<Vec<usize>, String> {
        let mut passed = BTreeSet::new();
        for name in route {
            self.require(name)?;
            if !passed.insert(name) {
                return Err(format!("the route passes \"{name}\" twice"));
            }
        }
        route
            .windows(2)
            .map(|pair| {
                let ends = self.node(&pair[0]).zip(self.node(&pair[1]));
                let link = ends.and_then(|ends| self.links.get(&ends));
                link.copied().ok_or_else(|| {
                    let from = self.node(&pair[0]).expect("checked above");
                    let ways = self.out[from].iter().rev();
                    let next: Vec<&str> = ways.map(|way| self.names[way.node].as_str()).collect();
                    let reach =
                        if next.is_empty() { "nothing".to_owned() } else { next.join(", ") };
                    format!(
                        "no link leads from \"{}\" to \"{}\"; from there links lead to {reach}",
                        pair[0], pair[1]
                    )
                })
            })
            .collect()
    }
}

/// A node that was found and is to be visited. Only its cost counts in comparisons.
struct Entry(Reverse<u128>, usize);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// The nodes and links over which every path over `ways` from `start` leads that passes no node
/// twice, up to `end` if it leads there.
fn forced(ways: &[Vec<Way>], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut path: Vec<(usize, usize)> = Vec::new();
    let (mut before, mut at) = (start, start);
    // A ring of one direction leads back to the start.
    while at != end && path.len() < ways.len() {
        let mut next = ways[at].iter().filter(|way| way.node != before);
        let (Some(only), None) = (next.next(), next.next()) else { break };
        path.push((only.node, only.link));
        (before, at) = (at, only.node);
    }
    path
}

/// The links of the path to `goal`, given the node and link before each node.
fn path_to(goal: usize, before: impl Fn(usize) -> Option<(usize, usize)>) -> Vec<usize> {
    let mut links: Vec<usize> =
        std::iter::successors(before(goal), |(node, _)| before(*node)).map(|at| at.1).collect();
    links.reverse();
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(links: &[(&str, &str, u64)]) -> Topology {
        let mut topology = Topology::default();
        for (number, (from, to, delay)) in links.iter().enumerate() {
            assert_eq!(topology.add(from, to, number, *delay), None);
        }
        topology
    }

    /// Paths have the least delay and, at equal delays, the fewest hops; the second search from a
    /// node gives the same path as the first.
    #[test]
    fn paths_have_the_least_delay_then_the_fewest_hops() {
        let links = [
            ("a", "b", 5),
            ("b", "d", 5),
            ("a", "c", 4),
            ("c", "d", 5),
            ("a", "d", 10),
            ("d", "a", 1),
        ];
        let topology = topology(&links);
        for _ in 0..3 {
            assert_eq!(topology.shortest("a", "d"), Some(vec![2, 3]));
            assert_eq!(topology.shortest("a", "b"), Some(vec![0]));
            assert_eq!(topology.shortest("d", "c"), Some(vec![5, 2]));
        }
        let equal = [("a", "b", 5), ("b", "d", 5), ("a", "d", 10), ("a", "e", 1), ("e", "d", 10)];
        let topology = super::tests::topology(&equal);
        for _ in 0..3 {
            assert_eq!(topology.shortest("a", "d"), Some(vec![2]));
            assert_eq!(topology.shortest("d", "a"), None);
        }
    }

    /// The only path is found without a search: nodes behind a hub are found without a detour, and
    /// a ring ends.
    #[test]
    fn the_only_path_is_found_without_a_search() {
        let star = topology(&[
            ("a", "hub", 1),
            ("hub", "a", 1),
            ("b", "hub", 1),
            ("hub", "b", 1),
            ("c", "hub", 1),
            ("hub", "c", 1),
        ]);
        assert_eq!(star.shortest("a", "c"), Some(vec![0, 5]));
        assert_eq!(star.shortest("hub", "b"), Some(vec![3]));
        assert_eq!(star.shortest("b", "hub"), Some(vec![2]));
        assert_eq!(star.search.borrow().number, 0);
        let ring = topology(&[("a", "b", 1), ("b", "c", 1), ("c", "a", 1), ("x", "a", 1)]);
        assert_eq!(ring.shortest("a", "c"), Some(vec![0, 1]));
        assert_eq!(ring.shortest("c", "b"), Some(vec![2, 0]));
        assert_eq!(ring.shortest("a", "x"), None);
    }

    /// Searches agree with each other: of several shortest paths in a grid, a search after another
    /// one from the same node takes the same as a fresh one.
    #[test]
    fn searches_agree_with_each_other_in_a_grid() {
        let name = |x: usize, y: usize| format!("{x}-{y}");
        let mut grid = Topology::default();
        let mut link = 0;
        for (x, y) in (0..6).flat_map(|x| (0..6).map(move |y| (x, y))) {
            for (to_x, to_y) in [(x + 1, y), (x, y + 1)] {
                if to_x < 6 && to_y < 6 {
                    grid.add(&name(x, y), &name(to_x, to_y), link, 7);
                    grid.add(&name(to_x, to_y), &name(x, y), link + 1, 7);
                    link += 2;
                }
            }
        }
        for (x, y) in (0..6).flat_map(|x| (0..6).map(move |y| (x, y))) {
            let path = |grid: &Topology| grid.shortest(&name(2, 3), &name(x, y)).unwrap();
            let fresh = {
                *grid.search.borrow_mut() = Search::default();
                path(&grid)
            };
            assert_eq!(fresh.len(), x.abs_diff(2) + y.abs_diff(3));
            assert_eq!(path(&grid), fresh);
            assert_eq!(path(&grid), fresh);
        }
    }
}
