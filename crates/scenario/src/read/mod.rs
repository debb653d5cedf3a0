//! From the text of a scenario file, and the files that it names, to its tree.

pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod include;
pub(crate) mod names;
pub(crate) mod packets;
pub(crate) mod parse;
pub(crate) mod profiles;
pub(crate) mod sites;
pub(crate) mod tree;
