//! Results of tags: of all groups of flows that have one, together.

use std::collections::BTreeMap;

use forebay_elements::{Row, RowKind, RowsOf};
use forebay_network::columns;
use forebay_units::Span;
use serde::Serialize;

use crate::plan::flows::FlowPlan;
use crate::results::counted::Counted;
use crate::results::hosts::Total;
use crate::results::jain_of;

columns! {
    /// Results of all groups of flows that have a tag, together: percentiles are those of all their
    /// packets.
    #[derive(Clone, Debug, Serialize)]
    pub struct TagResult {
        /// The tag.
        pub name: String = Word,
        /// Number of groups that have it.
        pub groups: u32 = Number as "groups",
        /// Number of their flows.
        pub flows: u32 = Number,
        /// The counters of all their flows together.
        #[serde(flatten)]
        pub counted: Counted = Rows,
        /// Jain's fairness index of the goodputs of the groups, as that of flows is for a group.
        pub jain_index: f64 = Share,
    }
}

impl Row for TagResult {
    const KIND: RowKind = RowKind {
        name: "tags",
        meaning: "A row a tag of groups of flows, over all that have it; empty without tags.",
        of: RowsOf::Flows,
        titles: &[
            ("", "groups of flows, by tag"),
            ("delays", "one-way delay by tag: percentiles over packets"),
        ],
        columns: Self::COLUMNS,
    };
}

/// The rows of tags by name, given the totals of each group, in the order of `plans`.
pub(crate) fn tag_rows(plans: &[FlowPlan], totals: &[Total], measured: Span) -> Vec<TagResult> {
    let mut found: BTreeMap<&str, (Vec<f64>, Total)> = BTreeMap::new();
    for (plan, total) in plans.iter().zip(totals) {
        for tag in &plan.tags {
            let (goodputs, all) = found.entry(tag).or_default();
            goodputs.push(total.goodput());
            all.add(total);
        }
    }
    let row = |(tag, (goodputs, total)): (&str, (Vec<f64>, Total))| TagResult {
        name: tag.to_owned(),
        groups: goodputs.len() as u32,
        flows: total.flows(),
        counted: total.counted(measured),
        jain_index: jain_of(|| goodputs.iter().copied()),
    };
    found.into_iter().map(row).collect()
}
