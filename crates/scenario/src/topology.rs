//! Nodes and the ways between them.

use forebay_parameters::nearest;
use petgraph::algo::astar;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// Nodes by name and directed links by number.
#[derive(Default)]
pub(crate) struct Topology {
    names: Vec<String>,
    graph: DiGraph<(), Way>,
}

/// A directed link as routing sees it.
#[derive(Clone, Copy)]
struct Way {
    link: usize,
    delay_ps: u64,
}

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
        if let Some(edge) = self.graph.find_edge(from, to) {
            return Some(self.graph[edge].link);
        }
        self.graph.add_edge(from, to, Way { link, delay_ps });
        None
    }

    /// Names of all nodes, in the order of their first mention.
    pub(crate) fn nodes(&self) -> &[String] {
        &self.names
    }

    fn node(&self, name: &str) -> Option<NodeIndex> {
        self.names.iter().position(|known| known == name).map(NodeIndex::new)
    }

    fn node_or_new(&mut self, name: &str) -> NodeIndex {
        self.node(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.graph.add_node(())
        })
    }

    /// Why `name` is no node, with the nearest that is.
    pub(crate) fn require(&self, name: &str) -> Result<(), String> {
        if self.node(name).is_some() {
            return Ok(());
        }
        let names = self.names.iter().map(String::as_str);
        let hint = nearest(name, names.clone())
            .map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
        let known: Vec<&str> = names.take(20).collect();
        Err(format!("no link touches a node \"{name}\"{hint}; nodes are {}", known.join(", ")))
    }

    /// The links of the shortest path: least delay, then fewest hops; the same one in every run.
    pub(crate) fn shortest(&self, from: &str, to: &str) -> Option<Vec<usize>> {
        let (start, goal) = (self.node(from)?, self.node(to)?);
        // Delay and hops in one number: a hop weighs less than any delay but more than nothing.
        let cost = |way: &Way| (u128::from(way.delay_ps) << 32) + 1;
        let (_, nodes) =
            astar(&self.graph, start, |node| node == goal, |edge| cost(edge.weight()), |_| 0)?;
        nodes.windows(2).map(|pair| self.link_between(pair[0], pair[1])).collect()
    }

    fn link_between(&self, from: NodeIndex, to: NodeIndex) -> Option<usize> {
        self.graph.find_edge(from, to).map(|edge| self.graph[edge].link)
    }

    /// The links along given nodes.
    ///
    /// # Errors
    /// An unknown node, a node passed twice, or two neighbours without a link.
    pub(crate) fn along(&self, route: &[String]) -> Result<Vec<usize>, String> {
        for (at, name) in route.iter().enumerate() {
            self.require(name)?;
            if route[..at].contains(name) {
                return Err(format!("the route passes \"{name}\" twice"));
            }
        }
        route
            .windows(2)
            .map(|pair| {
                let ends = self.node(&pair[0]).zip(self.node(&pair[1]));
                ends.and_then(|(from, to)| self.link_between(from, to)).ok_or_else(|| {
                    let from = self.node(&pair[0]).expect("checked above");
                    let next: Vec<&str> = self
                        .graph
                        .edges(from)
                        .map(|edge| self.names[edge.target().index()].as_str())
                        .collect();
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
