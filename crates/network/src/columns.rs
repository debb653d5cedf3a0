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

/// A column of a result. Those with a `head` are in a table of their kind of rows, on the terminal
/// and on pages.
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
    /// Heading above it in a table; empty for a column that no table shows.
    pub head: &'static str,
    /// The table that it is in, where its kind of rows has several; empty for the main one.
    pub table: &'static str,
    /// Its place among the first columns of the table; 0 for those that follow them, in the order
    /// of the fields.
    pub place: u8,
    /// True if a table without anything but zeros in it leaves it out.
    pub if_any: bool,
    /// The column that counts what the value is made of, such as the packets of a mean delay: of
    /// none there is no value. Empty for a value that there always is.
    pub over: &'static str,
}

/// Define a row of a result: a struct each of whose fields is a column, documented and with a
/// [`Unit`] behind its type, and its `COLUMNS`, a [`ResultColumn`] for each field.
///
/// Behind the unit may stand, in this order, what the other fields of [`ResultColumn`] are:
/// `+ headline`, `as "HEAD"`, `in TABLE`, `at PLACE`, `if any` and `over COLUMN`, such as
/// `pub p95_delay_s: f64 = Seconds + headline as "95 %" in delays over delivered_packets`.
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $(#[serde($($serde:tt)+)])?
                pub $field:ident : $type:ty = $unit:ident $(+ $headline:ident)?
                    $(as $head:literal $(in $table:ident)? $(at $place:literal)? $(if $any:ident)?)?
                    $(over $over:ident)?,
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
                    headline: !concat!($(stringify!($headline))?).is_empty(),
                    head: concat!($($head)?),
                    table: concat!($($(stringify!($table))?)?),
                    place: 0 $($(+ $place)?)?,
                    if_any: !concat!($($(stringify!($any))?)?).is_empty(),
                    over: concat!($(stringify!($over))?),
                },)*
            ];
        }
    };
}
