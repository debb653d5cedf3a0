//! The nodes at one end of a group of flows, as a scenario names them.

use forebay_parameters::{Node, Parameter, Value};

/// One node, or several: names of nodes, and of fabrics for all their hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NodeNames(Vec<String>);

impl NodeNames {
    /// The name, if it is one alone.
    pub(crate) fn one(&self) -> Option<&str> {
        match &*self.0 {
            [only] => Some(only),
            _ => None,
        }
    }

    /// All names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The name of them all in results and messages.
    pub(crate) fn label(&self) -> String {
        match &*self.0 {
            [only] => only.clone(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        }
    }

    /// The names that the value `node` is, where it is one.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        Self::read(node).ok()
    }
}

impl Parameter for NodeNames {
    const KIND: &'static str = "node, or list of nodes, such as \"a\" or [\"a\", \"b\"]";

    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(text) => Ok(Self(vec![text.clone()])),
            Value::List(items) if items.is_empty() => {
                Err("is an empty list; a group of flows has a node at each end".to_owned())
            }
            Value::List(items) => {
                Ok(Self(items.iter().map(String::read).collect::<Result<_, _>>()?))
            }
            other => Err(format!("{} is not a {}", other.show(), Self::KIND)),
        }
    }

    fn show(&self) -> String {
        match &*self.0 {
            [only] => only.show(),
            several => several.to_vec().show(),
        }
    }
}

impl std::fmt::Display for NodeNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of one node is that node, so that the hash of a scenario does not depend on how it is
    /// written.
    #[test]
    fn one_node_is_written_alone_or_in_a_list() {
        let text = || Node::new("a".into());
        let names = |node| NodeNames::read(&node).unwrap();
        let list = Node::new(Value::List(vec![text()]));
        assert_eq!(names(text()), names(list.clone()));
        assert_eq!(names(list).show(), "\"a\"");
        let two = names(Node::new(Value::List(vec![text(), Node::new("b".into())])));
        assert_eq!((two.show().as_str(), two.one()), ("[\"a\", \"b\"]", None));
        assert!(NodeNames::read(&Node::new(Value::List(Vec::new()))).is_err());
        assert!(NodeNames::read(&Node::new(Value::Integer(3))).is_err());
    }
}
