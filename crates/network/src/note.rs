//! Notes of queue laws: what a law tells observers of its own doing, in words of its own.

/// A note: values for the columns of its kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LawNote<'a> {
    /// The kind of the note.
    pub kind: &'static NoteKind,
    /// A value for each column of the kind, in their order.
    pub values: &'a [f64],
}

impl LawNote<'_> {
    /// The columns of its kind with their values.
    pub fn columns(&self) -> impl Iterator<Item = (&'static NoteColumn, f64)> {
        debug_assert_eq!(self.kind.columns.len(), self.values.len(), "{}", self.kind.table);
        self.kind.columns.iter().zip(self.values.iter().copied())
    }
}

/// A kind of note, described by the law that takes it.
#[derive(PartialEq, Eq, Debug)]
pub struct NoteKind {
    /// Name of the table in which notes of this kind are recorded; no two kinds share one.
    pub table: &'static str,
    /// Columns of that table, after those of time and link.
    pub columns: &'static [NoteColumn],
}

/// A column of a kind of note.
#[derive(PartialEq, Eq, Debug)]
pub struct NoteColumn {
    /// Its name, with the unit as suffix.
    pub name: &'static str,
    /// Its values.
    pub form: NoteForm,
}

impl NoteColumn {
    /// The column `name` of values in `form`.
    #[must_use]
    pub const fn new(name: &'static str, form: NoteForm) -> Self {
        Self { name, form }
    }
}

/// Form of a column's values, and what must hold of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoteForm {
    /// Whole numbers.
    Whole,
    /// Words: a value is the place of one among these.
    Word(&'static [&'static str]),
    /// Numbers without bounds.
    Number,
    /// Averages of a queue: never negative.
    Average,
    /// Probabilities: from 0 to 1.
    Probability,
}
