//! Rows of results that elements count themselves, by kind.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use forebay_network::ResultColumn;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A kind of rows of results: a table of a run, wherever results are shown or kept.
#[derive(Clone, Copy, Debug)]
pub struct RowKind {
    /// Its key in documents, and what quantities and tables of it are called by: `transfers`.
    pub name: &'static str,
    /// Meaning of a row, in a sentence.
    pub meaning: &'static str,
    /// Part of the network that the rows belong to.
    pub of: RowsOf,
    /// The title of each table that shows some of its columns, by the name of the table; that of
    /// the main one is empty.
    pub titles: &'static [(&'static str, &'static str)],
    /// Its columns, of which the first is the name of the row.
    pub columns: &'static [ResultColumn],
}

/// Part of a network that rows belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowsOf {
    /// Groups of flows, whose names the rows have, or those of their flows.
    Flows,
    /// Links, or what consists of links.
    Links,
}

impl RowsOf {
    /// The word that documents have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Links => "links",
        }
    }
}

/// A row of results, whose fields are the columns of its kind.
pub trait Row: Serialize + Clone + Debug + Send + Sync + 'static {
    /// Its kind.
    const KIND: RowKind;
}

/// Rows of one kind, whichever that is.
pub struct Rows {
    kind: RowKind,
    rows: Box<dyn AnyRows>,
}

impl Rows {
    /// The rows `rows`.
    #[must_use]
    pub fn new<R: Row>(rows: Vec<R>) -> Self {
        Self { kind: R::KIND, rows: Box::new(rows) }
    }

    /// A row alone.
    #[must_use]
    pub fn one<R: Row>(row: R) -> Self {
        Self::new(vec![row])
    }
}

trait AnyRows: erased_serde::Serialize + Any + Debug + Send + Sync {
    fn append(&mut self, others: Box<dyn AnyRows>);
    fn copied(&self) -> Box<dyn AnyRows>;
}

impl<R: Row> AnyRows for Vec<R> {
    fn append(&mut self, others: Box<dyn AnyRows>) {
        let others: Box<dyn Any> = others;
        self.append(&mut others.downcast::<Self>().expect("a kind of rows has one type"));
    }

    fn copied(&self) -> Box<dyn AnyRows> {
        Box::new(self.clone())
    }
}

erased_serde::serialize_trait_object!(AnyRows);

impl Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rows.fmt(f)
    }
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        Self { kind: self.kind, rows: self.rows.copied() }
    }
}

/// Counts that are added up over the groups of flows that have a tag.
pub trait TagCount: Default + 'static {
    /// A row of a tag.
    type Row: Row;

    /// Adds `other`: what is known of both together is exact, percentiles included.
    fn merge(&mut self, other: &Self);

    /// The row of `tag`, whose counts these are.
    fn row(&self, tag: String) -> Self::Row;
}

trait AnyCount: Any {
    fn rows(&self, tag: String) -> Rows;
}

impl<C: TagCount> AnyCount for C {
    fn rows(&self, tag: String) -> Rows {
        Rows::one(self.row(tag))
    }
}

/// The counts of tags, by kind of rows and tag.
#[derive(Default)]
pub struct TagCounts(BTreeMap<(&'static str, String), Box<dyn AnyCount>>);

impl TagCounts {
    /// Add `count` to that of each of `tags`.
    pub fn add<C: TagCount>(&mut self, tags: &[String], count: &C) {
        for tag in tags {
            let known = self.0.entry((C::Row::KIND.name, tag.clone()));
            let all: &mut dyn Any = known.or_insert_with(|| Box::new(C::default())).as_mut();
            all.downcast_mut::<C>().expect("a kind of rows has one type").merge(count);
        }
    }

    /// The rows of all.
    pub fn rows(self) -> impl Iterator<Item = Rows> {
        self.0.into_iter().map(|((_, tag), count)| count.rows(tag))
    }
}

/// The rows of a run, by kind: a list for each kind that there can be, in order, empty or not.
#[derive(Clone, Debug, Default)]
pub struct RowTables(Vec<(&'static str, Option<Rows>)>);

impl RowTables {
    /// Those of `kinds`, without rows.
    #[must_use]
    pub fn of<'k>(kinds: impl IntoIterator<Item = &'k RowKind>) -> Self {
        Self(kinds.into_iter().map(|kind| (kind.name, None)).collect())
    }

    /// Add rows behind those of their kind.
    ///
    /// # Panics
    /// If there are none of this kind: who gives rows says so in its entry.
    pub fn add(&mut self, rows: Rows) {
        let Rows { kind, rows: own } = rows;
        let place = self.0.iter_mut().find(|(name, _)| *name == kind.name);
        let (_, all) =
            place.unwrap_or_else(|| panic!("rows of a kind not declared: {}", kind.name));
        match all {
            Some(all) => all.rows.append(own),
            None => *all = Some(Rows { kind, rows: own }),
        }
    }

    /// The rows of type `R`; none if the run has none.
    #[must_use]
    pub fn rows<R: Row>(&self) -> &[R] {
        let found = self.0.iter().find(|(name, _)| *name == R::KIND.name);
        found.and_then(|(_, rows)| rows.as_ref()).map_or(&[], |rows| {
            let any: &dyn Any = rows.rows.as_ref();
            any.downcast_ref::<Vec<R>>().expect("a kind of rows has one type")
        })
    }
}

impl Serialize for RowTables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, rows) in &self.0 {
            match rows {
                Some(rows) => map.serialize_entry(name, &rows.rows)?,
                None => map.serialize_entry(name, &[(); 0])?,
            }
        }
        map.end()
    }
}
