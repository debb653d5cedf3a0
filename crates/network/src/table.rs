//! Tables of columns that observers and samplers give back.

/// One column of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Numbers.
    Float(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Words of a closed set.
    Word(Vec<&'static str>),
    /// Names from the scenario.
    Name(Vec<String>),
    /// The contents of a file.
    Byte(Vec<u8>),
}

/// A table of columns of equal length.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordTable {
    /// Its name: `trace`, `delays`, ...
    pub name: String,
    /// Column names (with the unit as suffix) and values.
    pub columns: Vec<(String, Column)>,
}
