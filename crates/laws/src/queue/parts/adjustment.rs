//! Notes of the RED variants that adapt their maximum probability.

use forebay_network::{LawNote, NoteColumn, NoteForm, NoteKind};

/// Kind of the notes on adaptations.
pub(in crate::queue) static ADJUSTMENTS: NoteKind = NoteKind {
    table: "adjustments",
    columns: &[
        NoteColumn::new("precedence", NoteForm::Whole),
        NoteColumn::new("average", NoteForm::Average),
        NoteColumn::new("region", NoteForm::Word(ThresholdZone::WORDS)),
        NoteColumn::new("above_middle", NoteForm::Whole),
        NoteColumn::new("dynamic_probability", NoteForm::Probability),
        NoteColumn::new("max_probability", NoteForm::Probability),
    ],
};

/// Position of an average queue relative to its thresholds, or to the range in which a law keeps
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::queue) enum ThresholdZone {
    /// Below the minimum threshold.
    Below = 0,
    /// From the minimum to the maximum threshold.
    Between = 1,
    /// Above the maximum threshold.
    Above = 2,
}

impl ThresholdZone {
    /// Their names in tables.
    const WORDS: &[&str] = &["below", "between", "above"];
}

/// An adaptation: the zone in which a law takes the average queue to be, and the maximum
/// probabilities that follow from it.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Adjustment {
    /// The precedence concerned; 0 for a law without precedences.
    pub(in crate::queue) precedence: u8,
    /// The average queue that caused it, in the unit of the law's thresholds.
    pub(in crate::queue) average: f64,
    /// The zone of the average now.
    pub(in crate::queue) region: ThresholdZone,
    /// True if the average was at or above the middle threshold when it was last between the
    /// minimum and the maximum one.
    pub(in crate::queue) above_middle: bool,
    /// The maximum probability that the law adapts.
    pub(in crate::queue) dynamic_probability: f64,
    /// The maximum probability in use.
    pub(in crate::queue) max_probability: f64,
}

impl Adjustment {
    /// Let `visit` read the note on it.
    pub(in crate::queue) fn note(&self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        visit(&LawNote { kind: &ADJUSTMENTS, values: &self.values() });
    }

    /// The values of the note on it.
    pub(in crate::queue) fn values(&self) -> [f64; 6] {
        [
            f64::from(self.precedence),
            self.average,
            f64::from(self.region as u8),
            f64::from(u8::from(self.above_middle)),
            self.dynamic_probability,
            self.max_probability,
        ]
    }
}
