//! Parameters of calls in a scenario.

use forebay_parameters::{Problem, Section, choice, parameters};
use forebay_units::{Frequency, Size, Span, Time};

choice! {
    /// Distribution of the number of calls that arrive together.
    pub enum BatchLaw {
        /// Geometric on 1, 2, ... with the given mean.
        Geometric = "geometric",
        /// The mean rounded down or up, at random so that the mean is kept.
        Fixed = "fixed",
    }
}

choice! {
    /// Time from which the holding time counts.
    pub enum HoldingFrom {
        /// From the end of the media delay, when packets begin to flow.
        Media = "media",
        /// From the arrival of the call.
        Arrival = "arrival",
    }
}

parameters! {
    /// Parameters of a class of calls.
    pub struct CallParameters {
        /// Rate at which calls (or batches of them) arrive, as a Poisson process. With `sources`:
        /// the rate of each idle source. No new calls if left out.
        rate: Option<Frequency>, "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Number of sources, each with at most one call (the model of Engset). Unlimited if left
        /// out (the model of Erlang).
        sources: Option<u32>, "ITU-T E.501, section 2 (finite number of sources)";
        /// Mean number of calls that arrive together.
        batch: f64 = 1.0, "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Distribution of that number.
        batch_law: BatchLaw = "geometric", "assumed: the draft names only the mean, section 2.1";
        /// Mean of the exponential holding time. Calls last for ever if left out.
        holding: Option<Span>, "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Time from which the holding time counts.
        holding_from: HoldingFrom = "media", "assumed: a conversation begins with its media";
        /// Upper limit of the random time from a new call's arrival to its first packet (call
        /// set-up); uniform from 0. Calls of a surge, and initial ones, have been set up.
        media_delay: Span = "0 s", "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Calls present at the start, past their media delay.
        initial: u32 = 0, "draft-babiarz-pcn-explicit-marking-02, section 3.2";
    }
}

parameters! {
    /// Calls that come with a reroute: not asked whether they may in.
    pub struct SurgeParameters {
        /// Time at which the first may come.
        at: Span, "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Number that come.
        calls: u32, "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// They come at random times, uniform over this time; all at once if zero.
        over: Span = "0 s", "draft-babiarz-pcn-explicit-marking-02, section 4.1";
    }
}

choice! {
    /// Time at which a new call is probed for.
    pub enum ProbingScheme {
        /// Packets of the call flow only once the test is over.
        BeforeMedia = "before_media",
        /// Probes are sent while the media delay lasts.
        DuringMediaDelay = "during_media_delay",
    }
}

parameters! {
    /// Probing: a new call sends test packets, and is refused if one comes back marked.
    pub struct ProbingParameters {
        /// Time at which a new call is probed for.
        scheme: ProbingScheme = "before_media",
            "draft-babiarz-pcn-explicit-marking-02, section 2.1";
        /// Most probes that one call sends.
        packets: u32 = 5, "assumed: the draft says \"some probe packets\", section 2.1";
        /// Size of a probe on the wire.
        size: Size = "200 B", "assumed: a packet of G.711 with 20 ms";
        /// Time between two probes of a call.
        interval: Span = "20 ms", "assumed: the packet interval of G.711 with 20 ms";
        /// Time after its arrival in which a call can be refused.
        window: Span = "500 ms", "draft-babiarz-pcn-explicit-marking-02, section 2.1";
    }
}

/// The largest batch mean, and so of the number of calls that one event makes.
const MAX_BATCH: f64 = 1e6;

impl CallParameters {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.rate.is_some_and(|rate| rate.micro_per_hour() == 0) {
            return Err(section.fail("rate", "is zero; leave it out if no new calls arrive"));
        }
        if self.sources == Some(0) {
            return Err(section.fail("sources", "is zero; leave it out for unlimited sources"));
        }
        if self.sources.is_some_and(|sources| sources < self.initial) {
            let message = format!(
                "{} is more than there are sources; allowed is at most their number",
                self.initial
            );
            return Err(section.fail("initial", message));
        }
        if !(1.0..=MAX_BATCH).contains(&self.batch) {
            let message = format!("{} is out of range; allowed are 1 to {MAX_BATCH}", self.batch);
            return Err(section.fail("batch", message));
        }
        if self.sources.is_some() && self.batch > 1.0 {
            let message =
                "sources of one call each cannot call in batches; allowed with sources is 1";
            return Err(section.fail("batch", message));
        }
        if self.holding == Some(Span::ZERO) {
            return Err(section.fail("holding", "is zero; leave it out for calls without end"));
        }
        Ok(())
    }
}

impl ProbingParameters {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// The key and what is allowed.
    pub fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        if self.packets == 0 {
            return Err(section.fail("packets", "is zero; allowed are numbers from 1"));
        }
        if !(1..=u64::from(u16::MAX)).contains(&self.size.bytes()) {
            return Err(section.fail("size", "is not a packet size; allowed are 1 B to 65535 B"));
        }
        if self.interval == Span::ZERO {
            return Err(section.fail("interval", "is zero; allowed are times above 0"));
        }
        if self.window == Span::ZERO {
            return Err(section.fail("window", "is zero; allowed are times above 0"));
        }
        Ok(())
    }
}

/// The times at which the calls of a surge come, drawn from `uniform`.
pub(super) fn surge_times(
    surge: &SurgeParameters,
    mut uniform: impl FnMut() -> f64,
) -> impl Iterator<Item = Time> {
    let SurgeParameters { at, calls, over } = *surge;
    (0..calls).map(move |_| {
        let after = if over == Span::ZERO { Span::ZERO } else { over.scaled(uniform()) };
        Time::ZERO + at + after
    })
}
