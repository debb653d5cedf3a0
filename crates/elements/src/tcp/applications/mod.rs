//! Applications at either end of the connections of a group: what they write, and when.

pub(super) mod clients;
pub(super) mod source;
pub(super) mod viewers;
