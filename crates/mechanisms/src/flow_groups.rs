//! The groups of flows of a scenario, by name: what classifiers may go by.

use std::sync::{Arc, OnceLock};

use forebay_network::FlowId;
use forebay_parameters::{Node, Parameter, Value, did_you_mean};

/// The groups of flows of a scenario. Their names are known while links are read, and which flows
/// they have once all flows are.
#[derive(Clone, Debug, Default)]
pub struct FlowGroups(Option<Arc<Groups>>);

#[derive(Debug)]
struct Groups {
    names: Vec<String>,
    /// The number of the first flow of each.
    firsts: OnceLock<Vec<u32>>,
}

impl FlowGroups {
    /// No groups.
    pub const NONE: Self = Self(None);

    /// Groups called `names`, in the order of their flows.
    #[must_use]
    pub fn named(names: Vec<String>) -> Self {
        Self(Some(Arc::new(Groups { names, firsts: OnceLock::new() })))
    }

    /// The groups have so many flows, from flow 0 on. The first call counts.
    pub fn place(&self, counts: impl IntoIterator<Item = u32>) {
        let Some(groups) = &self.0 else { return };
        let first = |next: &mut u32, count| {
            let first = *next;
            *next += count;
            Some(first)
        };
        groups.firsts.get_or_init(|| counts.into_iter().scan(0, first).collect());
    }

    /// The place of the group called `name`.
    ///
    /// # Errors
    /// If there is none, with the nearest name.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        let names = self.0.as_ref().map_or(&[][..], |groups| &groups.names);
        if let Some(at) = names.iter().position(|known| known == name) {
            return Ok(at);
        }
        let known = || names.iter().map(String::as_str);
        let hint = did_you_mean(name, known());
        let all = known().collect::<Vec<_>>().join(", ");
        Err(format!("there is no group of flows \"{name}\"{hint}; there are {all}"))
    }

    /// The place of the group of `flow`; 0 before groups have flows.
    #[inline]
    #[must_use]
    pub fn group_of(&self, flow: FlowId) -> usize {
        let firsts = self.0.as_ref().and_then(|groups| groups.firsts.get());
        let after = firsts.map_or(0, |all| all.partition_point(|first| *first <= flow.number()));
        after.saturating_sub(1)
    }

    /// How many groups there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |groups| groups.names.len())
    }
}

/// Groups of flows that are treated alike: the name of one, or a list of names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupSet(pub Vec<String>);

impl Parameter for GroupSet {
    const KIND: &'static str = "name of a group of flows such as \"voice\", or a list of them";

    fn read(node: &Node) -> Result<Self, String> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let name = |item: &Node| match &item.value {
            Value::Text(name) => Ok(name.clone()),
            other => Err(format!("{} is not a {}", other.show(), Self::KIND)),
        };
        items.iter().map(name).collect::<Result<_, _>>().map(Self)
    }

    fn show(&self) -> String {
        self.0.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow would be taken for one of another group: groups of 2, 1 and 3 flows have the flows 0
    /// and 1, 2, and 3 to 5.
    #[test]
    fn flows_belong_to_the_group_that_counts_them() {
        let groups = FlowGroups::named(["web", "voice", "mail"].map(str::to_owned).to_vec());
        assert_eq!((groups.find("voice"), groups.count()), (Ok(1), 3));
        let clone = groups.clone();
        groups.place([2, 1, 3]);
        let found: Vec<usize> = (0..6).map(|flow| clone.group_of(FlowId::new(flow))).collect();
        assert_eq!(found, [0, 0, 1, 2, 2, 2]);
    }

    /// A misspelt group would be taken for another, or its error not name the one that was meant.
    #[test]
    fn unknown_groups_are_refused_with_the_nearest() {
        let groups = FlowGroups::named(vec!["web".to_owned(), "voice".to_owned()]);
        let message = groups.find("voise").unwrap_err();
        assert!(message.contains("did you mean \"voice\"") && message.contains("there are web, "));
        assert!(FlowGroups::NONE.find("web").is_err());
        assert!(GroupSet::read(&Node::new(3.into())).unwrap_err().contains("3 is not a name"));
    }
}
