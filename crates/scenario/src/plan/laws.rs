//! The mechanisms of a link: reading them, and what follows from them.

use forebay_laws::LinkFacts;
use forebay_laws::conditioner::Conditioners;
use forebay_laws::detector::{CongestionDetector, Detectors};
use forebay_laws::explicit_rate::{ExplicitRate, ExplicitRates};
use forebay_laws::impairment::{Impairment, Impairments};
use forebay_laws::queue::{self, Queue, Queues};
use forebay_laws::shaper::Shapers;
use forebay_network::{Conditioner, ShaperLaw};
use forebay_parameters::{Category, Chosen, Echo, Problem, Section, choose, choose_all, choose_or};
use forebay_units::Rate;

/// The mechanisms of a link, checked and ready to be wired.
pub(crate) struct LinkLaws {
    pub(crate) queue: Queue,
    pub(crate) shaper: Option<Box<dyn ShaperLaw>>,
    pub(crate) conditioners: Vec<Box<dyn Conditioner>>,
    pub(crate) detector: Option<Box<dyn CongestionDetector>>,
    pub(crate) explicit_rate: Option<Box<dyn ExplicitRate>>,
    pub(crate) impairments: Vec<Box<dyn Impairment>>,
    /// The smallest burst that its meters let pass, and where that was said.
    pub(crate) burst: Option<(u64, Problem)>,
    /// True if a conditioner drops what is out of profile, as far as its parameters tell.
    polices: bool,
}

impl LinkLaws {
    /// Those of the link of `section`, of whose flows `around` says what they may know, so that
    /// every error shows before anything runs.
    pub(crate) fn read(
        section: &Section<'_>,
        rate: Rate,
        around: &LinkFacts,
    ) -> Result<Self, Problem> {
        let facts = LinkFacts { rate, ..around.clone() };
        let (entry, inner) = choose_or::<Queues>(section, "queue", queue::DEFAULT)?;
        let queue = (entry.build)(&inner, &facts)?;
        let shaper = choose::<Shapers>(section, "shaper")?
            .map(|(entry, inner)| (entry.build)(&inner, &facts))
            .transpose()?;
        let mut conditioners: Vec<Box<dyn Conditioner>> = Vec::new();
        let mut burst: Option<(u64, Problem)> = None;
        for (entry, inner) in several::<Conditioners>(section, ["conditioner", "conditioners"])? {
            let law = (entry.build)(&inner, &facts)?;
            if let Some(least) = law.smallest_burst()
                && burst.as_ref().is_none_or(|(known, _)| least < *known)
            {
                burst = Some((least, inner.fail("", "")));
            }
            conditioners.push(law);
        }
        if conditioners.iter().any(|law| law.colours()) {
            refuse_implied_classes(section)?;
        }
        let detector = choose::<Detectors>(section, "detector")?
            .map(|(entry, inner)| (entry.build)(&inner, &facts))
            .transpose()?;
        if detector.as_ref().is_some_and(|law| law.watches_queue()) && !queue.tells_fullness() {
            let message = "looks at how full the queue is, which this one does not tell: use \
                           droptail, partial_buffer_sharing or push_out with a limit, or priority \
                           over such by precedence";
            return Err(section.fail("detector", message));
        }
        let explicit_rate = choose::<ExplicitRates>(section, "explicit_rate")?
            .map(|(entry, inner)| (entry.build)(&inner, &facts))
            .transpose()?;
        let impairments = several::<Impairments>(section, ["impairment", "impairments"])?
            .into_iter()
            .map(|(entry, inner)| (entry.build)(&inner))
            .collect::<Result<_, Problem>>()?;
        let polices = polices(section);
        Ok(Self {
            queue,
            shaper,
            conditioners,
            detector,
            explicit_rate,
            impairments,
            burst,
            polices,
        })
    }

    /// Returns true if a conditioner adapts to round-trip times.
    pub(crate) fn uses_rtt(&self) -> bool {
        self.conditioners.iter().any(|law| law.uses_rtt())
    }

    /// Returns true if the shaper or a conditioner bounds what comes to the queue.
    pub(crate) fn bounds_load(&self) -> bool {
        self.shaper.is_some() || self.polices
    }
}

/// Refuse strict priority that goes by precedence because nothing else was said, behind a
/// conditioner that writes colours: what it colours green would join the first class.
fn refuse_implied_classes(section: &Section<'_>) -> Result<(), Problem> {
    let Some(echo) = section.echo().map(Echo::borrow) else { return Ok(()) };
    let queue = format!("{}.queue", section.path());
    // A class of htb has a parameter of that name, which is no mechanism.
    let mut schedulers = echo
        .range(queue.clone()..)
        .take_while(|(path, _)| path.starts_with(&queue))
        .filter(|(path, value)| path.ends_with(".priority") && *value == "chosen")
        .map(|(path, _)| path.as_str());
    let says = |path: &str, key: &str| {
        echo.get(&format!("{path}.{key}"))
            .is_some_and(|value| value != crate::plan::sections::ABSENT)
    };
    let keys = ["classify", "map", "dscp", "ecn_classes", "rules", "flow_groups"];
    match schedulers.find(|path| !keys.iter().any(|key| says(path, key))) {
        None => Ok(()),
        Some(path) => Err(section.fail(
            "queue",
            format!(
                "\"priority\" would go by precedence, which a conditioner of this link writes: \
                 the packets that it colours green would all join the first class. Say in {path} \
                 what classes are: classify = \"precedence\" if colours are meant, else dscp = \
                 [...]"
            ),
        )),
    }
}

/// Returns true if a conditioner of the link drops what is out of profile, as far as the values
/// tell that were read from its section.
fn polices(section: &Section<'_>) -> bool {
    let Some(echo) = section.echo().map(Echo::borrow) else { return false };
    let conditioners = format!("{}.conditioner", section.path());
    let mut below =
        echo.range(conditioners.clone()..).take_while(|(path, _)| path.starts_with(&conditioners));
    below.any(|(path, value)| path.ends_with(".excess") && value == "drop")
}

/// Several mechanisms of a kind, such as `conditioner = {...}` or `conditioners = [{...}, {...}]`.
fn several<'a, C: Category>(
    section: &Section<'a>,
    [one, all]: [&str; 2],
) -> Result<Vec<Chosen<'a, C>>, Problem> {
    let mut chosen = choose_all::<C>(section, all)?;
    if let Some(single) = choose::<C>(section, one)? {
        if section.node(all).is_some() {
            let article = if one.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let message = format!("there is {article} {one} already; use one of the two keys");
            return Err(section.fail(all, message));
        }
        chosen.push(single);
    }
    Ok(chosen)
}
