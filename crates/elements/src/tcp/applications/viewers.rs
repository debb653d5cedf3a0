//! Viewers: what clients of adaptive video play, and what they ask for next.

use std::sync::Arc;

use forebay_laws::traffic::VideoPlan;
use forebay_network::{ElementCounters, columns};
use forebay_units::{Size, Span, Time};
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf};

columns! {
    /// Playback at the clients of a group of flows with `adaptive_video`, in the window of
    /// measurement.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct VideoResult {
        /// Name of the group.
        pub name: String = Word,
        /// Number of clients.
        pub viewers: u64 = Number as "viewers",
        /// Chunks that arrived whole.
        pub chunks: u64 = Number + headline as "chunks",
        /// Mean bit rate of these chunks; null if there are none.
        pub mean_rate_bps: Option<f64> = BitsPerSecond + headline as "mean rate" over chunks,
        /// Number of times that a chunk had another bit rate than the one before.
        pub switches: u64 = Number as "switches",
        /// Number of times that the buffer ran empty.
        pub rebufferings: u64 = Number + headline as "rebufferings",
        /// Time spent waiting for a chunk after that, all viewers together, in seconds.
        pub rebuffering_s: f64 = Seconds + headline as "for",
        /// Time spent playing, all viewers together, in seconds.
        pub playing_s: f64 = Seconds,
        /// Share of the time from the beginning of play on that was spent waiting.
        pub rebuffering_ratio: f64 = Share as "of the time",
        /// Mean time from the first request to the beginning of play, of the viewers that began;
        /// null if none did.
        pub mean_startup_s: Option<f64> = Seconds as "start",
        /// Mean video in the buffer at the end of the window, in seconds.
        pub buffered_s: f64 = Seconds,
    }
}

/// The clients of a group that play video.
pub(in crate::tcp) struct Viewers {
    plan: Arc<VideoPlan>,
    each: Vec<Viewer>,
}

/// A client that plays video.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Time up to which play is accounted for.
    until: Time,
    /// Video in the buffer then.
    buffered: Span,
    state: State,
    /// Time at which it asked for the first chunk.
    began: Time,
    /// Levels of the chunk asked for last and of the one before.
    level: usize,
    arrived: Option<usize>,
    /// Of the last chunks, in bit/s.
    throughputs: Vec<f64>,
    count: Played,
}

/// Playback state of a viewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing has played yet.
    Starting,
    Playing,
    /// The buffer has run empty.
    Rebuffering,
}

/// Counts of playback in a measurement window.
#[derive(Clone, Copy, Default, Debug)]
struct Played {
    chunks: u64,
    rates: f64,
    switches: u64,
    rebufferings: u64,
    rebuffering: Span,
    playing: Span,
    startup: Option<Span>,
}

impl Viewers {
    /// `count` viewers of videos as `plan` has them.
    pub(in crate::tcp) fn new(plan: Arc<VideoPlan>, count: usize) -> Self {
        let viewer = Viewer {
            until: Time::ZERO,
            buffered: Span::ZERO,
            state: State::Starting,
            began: Time::NEVER,
            level: 0,
            arrived: None,
            throughputs: Vec::new(),
            count: Played::default(),
        };
        Self { plan, each: vec![viewer; count] }
    }

    /// Returns the next request of viewer `index`, known at `now`: the time until it is made, and
    /// its size.
    pub(in crate::tcp) fn next(&mut self, index: usize, now: Time) -> (Span, Size) {
        let (plan, viewer) = (&self.plan, &mut self.each[index]);
        if viewer.began == Time::NEVER {
            (viewer.began, viewer.until) = (now, now);
            return (Span::ZERO, Size::from_bytes(plan.bytes(0)));
        }
        let wait = plan.wait(viewer.buffered);
        let then = viewer.buffered - wait.min(viewer.buffered);
        viewer.level = plan.select(viewer.level, then, &viewer.throughputs);
        (wait, Size::from_bytes(plan.bytes(viewer.level)))
    }

    /// The level of what viewer `index` asked for last.
    pub(in crate::tcp) fn level(&self, index: usize) -> usize {
        self.each[index].level
    }

    /// The chunk that viewer `index` asked for at `begun` has arrived whole.
    pub(in crate::tcp) fn completed(&mut self, index: usize, begun: Time, now: Time) {
        let (plan, viewer) = (&self.plan, &mut self.each[index]);
        viewer.play(now);
        let took = now.since(begun).seconds();
        if viewer.throughputs.len() >= MAX_SAMPLES {
            viewer.throughputs.remove(0);
        }
        viewer.throughputs.push(plan.bytes(viewer.level) as f64 * 8.0 / took);
        viewer.count.chunks += 1;
        viewer.count.rates += plan.rate(viewer.level);
        let switched = viewer.arrived.replace(viewer.level).is_some_and(|it| it != viewer.level);
        viewer.count.switches += u64::from(switched);
        viewer.buffered = viewer.buffered + plan.chunk();
        if viewer.state == State::Starting {
            viewer.count.startup = Some(now.since(viewer.began));
        }
        viewer.state = State::Playing;
    }

    /// Returns the viewers with what was played up to `now`.
    pub(in crate::tcp) fn count(&mut self, now: Time) -> &mut Vec<Viewer> {
        self.each.iter_mut().for_each(|viewer| viewer.play(now));
        &mut self.each
    }
}

/// Throughputs that are kept.
const MAX_SAMPLES: usize = 8;

impl Viewer {
    /// Account for play up to `now`.
    fn play(&mut self, now: Time) {
        if now <= self.until {
            return;
        }
        let passed = now.since(self.until);
        self.until = now;
        match self.state {
            State::Starting => {}
            State::Rebuffering => self.count.rebuffering = self.count.rebuffering + passed,
            State::Playing => {
                let played = passed.min(self.buffered);
                self.buffered = self.buffered - played;
                self.count.playing = self.count.playing + played;
                if passed > played {
                    self.state = State::Rebuffering;
                    self.count.rebufferings += 1;
                    self.count.rebuffering = self.count.rebuffering + (passed - played);
                }
            }
        }
    }
}

impl ElementCounters for Viewer {
    fn reset(&mut self, now: Time) {
        self.play(now);
        self.count = Played::default();
    }
}

impl Row for VideoResult {
    const KIND: RowKind = RowKind {
        name: "video",
        meaning: "A row a group of TCP flows with `adaptive_video`; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "adaptive video")],
        columns: Self::COLUMNS,
    };
}

impl VideoResult {
    /// Makes the result of the viewers `all` of a group.
    #[must_use]
    pub fn of(name: String, all: &[Viewer]) -> Self {
        let sum = |of: fn(&Played) -> u64| all.iter().map(|viewer| of(&viewer.count)).sum::<u64>();
        let seconds = |of: fn(&Viewer) -> Span| all.iter().map(|it| of(it).seconds()).sum::<f64>();
        let chunks = sum(|count| count.chunks);
        let rates: f64 = all.iter().map(|viewer| viewer.count.rates).sum();
        let startups: Vec<f64> =
            all.iter().filter_map(|viewer| viewer.count.startup).map(Span::seconds).collect();
        let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
        let waiting = seconds(|viewer| viewer.count.rebuffering);
        let playing = seconds(|viewer| viewer.count.playing);
        Self {
            name,
            viewers: all.len() as u64,
            chunks,
            mean_rate_bps: mean(rates, chunks as usize),
            switches: sum(|count| count.switches),
            rebufferings: sum(|count| count.rebufferings),
            rebuffering_s: waiting,
            playing_s: playing,
            rebuffering_ratio: if waiting > 0.0 { waiting / (waiting + playing) } else { 0.0 },
            mean_startup_s: mean(startups.iter().sum(), startups.len()),
            buffered_s: seconds(|viewer| viewer.buffered) / all.len().max(1) as f64,
        }
    }
}
