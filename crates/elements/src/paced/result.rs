//! The results of a group of paced sources.

use forebay_network::columns;
use forebay_units::{PS_PER_S, Span, Time};
use serde::Serialize;

use super::{FrameCount, PacedCount};
use crate::rows::{Row, RowKind, RowsOf};

columns! {
    /// Results of a group of paced sources, besides its flows. Times in sessions include the
    /// silences in them; a transfer of a file is a session.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct PacedResult {
        /// Name of the group.
        pub name: String = Word,
        /// Number of sources.
        pub sources: u32 = Number as "sources",
        /// Sessions begun.
        pub sessions: u64 = Number as "sessions",
        /// Sessions and times between sessions begun.
        pub periods: u64 = Number,
        /// Time in sessions of all sources, in seconds.
        pub session_s: f64 = Seconds,
        /// Time average of the scale of the rate, its rate over the nominal rate, over the time in
        /// sessions; 0 if there were none.
        pub mean_scale: f64 = Share + headline as "mean rate",
        /// The least scale of any source in a session; null if there were none.
        pub least_scale: Option<f64> = Share as "least",
        /// Share of the time in sessions in which notifications of the session kept the scale at
        /// its floor.
        pub floor_ratio: f64 = Share,
        /// Time average of the nominal rate over the time in sessions, in bit/s: what a source
        /// would send that nothing slows down.
        pub nominal_bps: f64 = BitsPerSecond,
        /// Transfers completed: all has been sent or, where missing frames are sent again, the
        /// source knows that all has arrived.
        pub transfers: u64 = Number as "transfers" if any,
        /// Mean time of those, in seconds; 0 if there were none.
        pub transfer_s: f64 = Seconds + headline as "mean time" if any over transfers,
        /// Mean time until all of those had arrived whole, in seconds; null if there were none, or
        /// nothing is sent again.
        pub arrival_s: Option<f64> = Seconds as "arrival" if any over transfers,
        /// Frames sent, those sent again counted again; 0 without frames, as what follows.
        pub sent_frames: u64 = Frames as "sent" in frames,
        /// Frames sent again.
        pub resent_frames: u64 = Frames as "sent again" in frames,
        /// Frames that arrived whole, each once. Their payload is the goodput of the flows.
        pub whole_frames: u64 = Frames as "whole" in frames,
        /// Packets of those.
        pub whole_packets: u64 = Packets,
        /// Frames that arrived whole though they had before.
        pub duplicate_frames: u64 = Frames,
        /// Frames sent, or sent again, that did not arrive whole: as far as anything sent later has
        /// arrived.
        pub lost_frames: u64 = Frames as "lost" in frames,
        /// Polls sent.
        pub polls: u64 = Number,
        /// Notifications of a high input rate (type 0) that a source heeded.
        pub accepted_rate_notices: u64 = Packets as "rate heeded" in notices,
        /// Notifications of a discard (type 2) that a source heeded.
        pub accepted_discard_notices: u64 = Packets as "discard heeded" in notices,
        /// Notifications of a high input rate that arrived and were ignored: between sessions, or
        /// soon after another.
        pub ignored_rate_notices: u64 = Packets as "rate ignored" in notices,
        /// Notifications of a discard that arrived and were ignored.
        pub ignored_discard_notices: u64 = Packets as "discard ignored" in notices,
        /// Time at which the first notification arrived, in seconds from the start; null if none
        /// did.
        pub first_notice_s: Option<f64> = Seconds,
        /// The least time between two arrivals of notifications at one source, in seconds; null if
        /// no source had two.
        pub least_notice_gap_s: Option<f64> = Seconds,
        /// Mean time that notifications took back, in seconds; 0 if none arrived.
        pub notice_delay_s: f64 = Seconds,
        /// Resource-management cells sent by sources that go by explicit rates.
        pub resource_cells: u64 = Cells,
        /// Those that came back.
        pub resource_cells_back: u64 = Cells,
        /// Mean time that these were under way, there and back, in seconds; 0 if none came back.
        pub resource_delay_s: f64 = Seconds over resource_cells_back,
    }
}

impl Row for PacedResult {
    const KIND: RowKind = RowKind {
        name: "paced",
        meaning: "A row a group of paced sources; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[
            ("", "paced sources: rate over nominal rate"),
            ("notices", "notifications to paced sources"),
            ("frames", "frames of paced sources"),
        ],
        columns: Self::COLUMNS,
    };
}

impl PacedResult {
    /// The sum over the sources `counts`, and over the receivers `frames` of theirs.
    ///
    /// # Panics
    /// If there are 2^32 sources: a group has fewer.
    #[must_use]
    pub fn of(name: String, counts: &[PacedCount], frames: &[FrameCount]) -> Self {
        let mut all = PacedCount::default();
        // A long run of many sources has more time in all than 64 bits hold.
        let (mut session, mut floor, mut transferring) = (0_u128, 0_u128, 0_u128);
        let mut arriving = 0_u128;
        let mut first: Option<Time> = None;
        let mut gap: Option<Span> = None;
        for count in counts {
            all.sessions += count.sessions;
            all.periods += count.periods;
            session += u128::from(count.session);
            all.scaled += count.scaled;
            floor += u128::from(count.floor);
            all.nominal += count.nominal;
            all.least = [all.least, count.least].into_iter().flatten().reduce(f64::min);
            all.transfers.0 += count.transfers.0;
            transferring += u128::from(count.transfers.1);
            arriving += u128::from(count.arrival);
            all.frames.0 += count.frames.0;
            all.frames.1 += count.frames.1;
            all.polls += count.polls;
            for type_of in 0..2 {
                all.accepted[type_of] += count.accepted[type_of];
                all.ignored[type_of] += count.ignored[type_of];
            }
            all.notice_delay += count.notice_delay;
            all.resource_cells.0 += count.resource_cells.0;
            all.resource_cells.1 += count.resource_cells.1;
            all.resource_delay += count.resource_delay;
            first = first.into_iter().chain(count.first_notice).min();
            gap = gap.into_iter().chain(count.notice_gap).min();
        }
        let sum = |count: fn(&FrameCount) -> u64| frames.iter().map(count).sum();
        let per_session = |value: f64| value / session.max(1) as f64;
        let heard: u64 = all.accepted.iter().chain(&all.ignored).sum();
        let seconds = |ps: f64, of: u64| ps / of.max(1) as f64 / PS_PER_S as f64;
        Self {
            name,
            sources: u32::try_from(counts.len()).expect("a group counts its flows so"),
            sessions: all.sessions,
            periods: all.periods,
            session_s: session as f64 / PS_PER_S as f64,
            mean_scale: per_session(all.scaled as f64 / PacedCount::SCALE),
            least_scale: all.least,
            floor_ratio: per_session(floor as f64),
            nominal_bps: per_session(all.nominal as f64),
            transfers: all.transfers.0,
            transfer_s: seconds(transferring as f64, all.transfers.0),
            arrival_s: (arriving > 0).then(|| seconds(arriving as f64, all.transfers.0)),
            sent_frames: all.frames.0,
            resent_frames: all.frames.1,
            whole_frames: sum(|count| count.whole),
            whole_packets: sum(|count| count.packets),
            duplicate_frames: sum(|count| count.again),
            lost_frames: sum(|count| count.lost),
            polls: all.polls,
            accepted_rate_notices: all.accepted[0],
            accepted_discard_notices: all.accepted[1],
            ignored_rate_notices: all.ignored[0],
            ignored_discard_notices: all.ignored[1],
            first_notice_s: first.map(Time::seconds),
            least_notice_gap_s: gap.map(Span::seconds),
            notice_delay_s: seconds(all.notice_delay as f64, heard),
            resource_cells: all.resource_cells.0,
            resource_cells_back: all.resource_cells.1,
            resource_delay_s: seconds(all.resource_delay as f64, all.resource_cells.1),
        }
    }
}
