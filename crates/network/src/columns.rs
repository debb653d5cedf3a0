//! Rows of results as columns with name, unit and meaning, described once, beside their fields.

/// Unit that the numbers of a column count or measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Not a number: a name or a word.
    Word,
    /// A row, or rows, with columns of their own.
    Rows,
    /// A number of things, which the meaning names.
    Number,
    /// Part of a whole, from 0 to 1.
    Share,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Bits per second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// Frames: packets that are of use together only.
    Frames,
    /// Cells: packets of a few bytes that manage others, or carry them in slices.
    Cells,
    /// Calls.
    Calls,
}

impl Unit {
    /// The symbol, as documentation and other programs know it.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Rows => "rows",
            Self::Number => "number",
            Self::Share => "share",
            Self::Packets => "packets",
            Self::Bytes => "B",
            Self::BitsPerSecond => "bit/s",
            Self::Seconds => "s",
            Self::Frames => "frames",
            Self::Cells => "cells",
            Self::Calls => "calls",
        }
    }
}

/// A column of a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultColumn {
    /// Its name; that of a rate, time or amount ends in its unit.
    pub name: &'static str,
    /// Unit that its numbers count or measure.
    pub unit: Unit,
    /// Meaning: the documentation of its field.
    pub meaning: &'static str,
    /// True if it is among the few that a summary of a run shows.
    pub headline: bool,
}

/// Define a row of a result: a struct each of whose fields is a column, documented and with a
/// [`Unit`] behind its type (`pub drops: u64 = Packets`, or `= Packets + headline`), and its
/// `COLUMNS`, a [`ResultColumn`] for each field.
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $(#[serde($($serde:tt)+)])?
                pub $field:ident : $type:ty = $unit:ident $(+ $headline:ident)?,
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde($($serde)+)])?
                pub $field: $type,
            )*
        }

        impl $name {
            /// Every column, in the order of the fields.
            pub const COLUMNS: &[$crate::ResultColumn] = &[
                $($crate::ResultColumn {
                    name: stringify!($field),
                    unit: $crate::Unit::$unit,
                    meaning: concat!($($doc, "\n"),+),
                    headline: {
                        let marks: &[&str] = &[$(stringify!($headline))?];
                        !marks.is_empty()
                    },
                },)*
            ];
        }
    };
}
