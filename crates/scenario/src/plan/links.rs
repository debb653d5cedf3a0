//! Reading links and making their elements.

use forebay_elements::allocator::RateAllocator;
use forebay_elements::impairments::ImpairedWire;
use forebay_elements::link::{Capacity, Conditioning, DelaySchedule, LinkParts, Notifier, link};
use forebay_elements::shaper::Shaper;
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_laws::conditioner::Conditioners;
use forebay_laws::detector::CongestionDetector;
use forebay_laws::detector::Detectors;
use forebay_laws::explicit_rate::ExplicitRate;
use forebay_laws::explicit_rate::ExplicitRates;
use forebay_laws::impairment::{Impairment, Impairments, outages};
use forebay_laws::queue::{self, Queue, Queues};
use forebay_laws::shaper::Shapers;
use forebay_network::{Conditioner, ElementId, LinkId, ShaperLaw};
use forebay_parameters::{
    Category, Chosen, Parameters, Problem, Section, choose, choose_all, choose_or,
};
use forebay_units::{Rate, Size, Span, Time};

use crate::plan::bounds::{check_delay, check_rate};
use crate::plan::failures::{Failure, Waiting};
use crate::plan::rings::{RingPlan, RingSpan, SpanPlan};
use crate::plan::schedules::Wire;
use crate::plan::sections::{
    LINK_MECHANISMS, LinkParameters, REVERSE_MECHANISMS, ReverseParameters,
};
use crate::plan::tags::check_tags;

/// One direction of a link as the scenario describes it.
pub(crate) struct LinkPlan<'a> {
    /// Its name in results: that of its section, with `.reverse` for the way back.
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Its rate, of a link that changes the one that others go by.
    pub(crate) rate: Rate,
    /// Its propagation delay, of a link that changes the first one.
    pub(crate) delay: Span,
    /// Its capacity over time and its delays, if it changes.
    pub(crate) changes: Option<(Capacity, DelaySchedule)>,
    /// Its failures, if it has any.
    pub(crate) failure: Option<Failure>,
    background: Option<Size>,
    notice_size: Size,
    /// The section of its mechanisms; its path names the random streams.
    section: Section<'a>,
    /// The mechanisms, checked and ready to be wired.
    parts: Option<Parts>,
    /// The smallest burst that its meters let pass, and where that was said.
    pub(crate) burst: Option<(u64, Problem)>,
    /// True if one of its conditioners adapts to round-trip times.
    pub(crate) uses_rtt: bool,
    /// True if it has a congestion detector.
    pub(crate) detects: bool,
    /// True if it gives explicit rates: then the first of its elements is what gives them.
    pub(crate) allocates: bool,
    /// True if its queue never drops a packet.
    pub(crate) holds_all: bool,
    /// True if its queue may hold packets back while the transmitter is free: it shapes.
    pub(crate) holds_back: bool,
    /// True if its shaper or its conditioners bound what comes to its queue.
    pub(crate) bounds_load: bool,
    /// Its span of a ring, if it is one.
    pub(crate) span: Option<RingSpan>,
    /// Number of its part of the element: a ring has one for each span.
    pub(crate) part: u32,
    pub(crate) tags: Vec<String>,
    /// Number of its elements that a packet passes until it has crossed the link, once it is wired.
    pub(crate) beyond: usize,
}

struct Parts {
    queue: Queue,
    shaper: Option<Box<dyn ShaperLaw>>,
    conditioners: Vec<Box<dyn Conditioner>>,
    detector: Option<Box<dyn CongestionDetector>>,
    explicit_rate: Option<Box<dyn ExplicitRate>>,
    impairments: Vec<Box<dyn Impairment>>,
}

/// Size of notifications unless the scenario says otherwise: a cell.
const NOTICE: Size = Size::from_bytes(53);

/// Read the section of one link: one plan, or two if it is duplex. All but the rate of what its
/// mechanisms may know is in `around`.
pub(crate) fn read_link<'a>(
    name: &str,
    section: &Section<'a>,
    around: &LinkFacts,
) -> Result<Vec<LinkPlan<'a>>, Problem> {
    let parameters = LinkParameters::read_among(section, LINK_MECHANISMS)?;
    check_delay(section, "delay", parameters.delay)?;
    let wire = Wire::read(section, parameters.rate, parameters.delay, parameters.changes)?;
    check_rate(section, wire.rate)?;
    if parameters.residual.is_some() && wire.changes.is_some() {
        let message = "goes with a fixed rate only; this link changes";
        return Err(section.fail("residual", message));
    }
    if parameters.residual.is_some_and(|size| !(1..=65_535).contains(&size.bytes())) {
        return Err(section.fail("residual", "is not a packet size; allowed are 1 B to 65535 B"));
    }
    if parameters.from == parameters.to {
        let message = format!("\"{}\" is also the near end; a link joins two nodes", parameters.to);
        return Err(section.fail("to", message));
    }
    let ends = [parameters.from.clone(), parameters.to.clone()];
    let (rate, delay) = (parameters.rate.unwrap_or(wire.rate), parameters.delay);
    let mut there = LinkPlan::plain(name.to_owned(), ends, wire, section.clone());
    there.background = parameters.residual;
    there.failure = Failure::read(section)?;
    there.check_pauses(section)?;
    let failure = there.failure.clone();
    there.notice_size = notice_size(section, parameters.notice_size)?;
    there.tags = check_tags(section, parameters.tags.as_ref())?;
    let reverse = section.section("reverse")?;
    if !parameters.duplex {
        if reverse.is_some() {
            return Err(section.fail("reverse", "the link is not duplex: it has no way back"));
        }
        return Ok(vec![there.prepare(around)?]);
    }
    let own = Section::empty(format!("{}.reverse", section.path()), section.echo());
    let ends = [parameters.to, parameters.from];
    let wire = Wire::fixed(rate, delay);
    let mut back = LinkPlan::plain(format!("{name}.reverse"), ends, wire, own);
    back.tags.clone_from(&there.tags);
    if let Some(reverse) = reverse {
        let other = ReverseParameters::read_among(&reverse, REVERSE_MECHANISMS)?;
        let delay = other.delay.unwrap_or(delay);
        check_delay(&reverse, "delay", delay)?;
        let own_rate = other.rate.or_else(|| other.changes.trace.is_none().then_some(rate));
        let wire = Wire::read(&reverse, own_rate, delay, other.changes)?;
        check_rate(&reverse, wire.rate)?;
        (back.rate, back.delay, back.changes) = (wire.rate, wire.delay, wire.changes);
        back.notice_size = notice_size(&reverse, other.notice_size)?;
        if other.tags.is_some() {
            back.tags = check_tags(&reverse, other.tags.as_ref())?;
        }
        back.section = reverse;
    }
    back.failure = failure;
    back.check_pauses(section)?;
    Ok(vec![there.prepare(around)?, back.prepare(around)?])
}

fn notice_size(section: &Section<'_>, size: Option<Size>) -> Result<Size, Problem> {
    let size = size.unwrap_or(NOTICE);
    if !(1..=65_535).contains(&size.bytes()) {
        let message = "is not a packet size; allowed are 1 B to 65535 B";
        return Err(section.fail("notice_size", message));
    }
    Ok(size)
}

impl<'a> LinkPlan<'a> {
    /// A span of a ring, whose section is `section`.
    pub(crate) fn of_span(span: SpanPlan, ring: &RingPlan, section: &Section<'a>) -> Self {
        let name = format!("{}.{}", ring.name, span.name);
        let wire = Wire::fixed(ring.rate(), span.delay);
        let part = ring.part(span.span);
        let plan = Self::plain(name, [span.from, span.to], wire, section.clone());
        Self { span: Some(span.span), part, beyond: 1, ..plan }
    }

    /// A link between two nodes over the given wire, and nothing else yet.
    fn plain(
        name: String,
        [from, to]: [String; 2],
        Wire { rate, delay, changes }: Wire,
        section: Section<'a>,
    ) -> Self {
        Self {
            name,
            from,
            to,
            rate,
            delay,
            changes,
            failure: None,
            background: None,
            notice_size: NOTICE,
            section,
            parts: None,
            burst: None,
            uses_rtt: false,
            detects: false,
            allocates: false,
            holds_all: false,
            holds_back: false,
            bounds_load: false,
            span: None,
            part: 0,
            tags: Vec::new(),
            beyond: 0,
        }
    }
}

impl LinkPlan<'_> {
    /// Place of the link itself among its elements, if it is no span of a ring.
    pub(crate) fn own_element(&self) -> Option<usize> {
        if self.span.is_some() { None } else { self.beyond.checked_sub(1) }
    }

    /// Path of its section.
    pub(crate) fn path(&self) -> &str {
        self.section.path()
    }

    /// Refuse pauses of a link that changes in another way, or is filled by other traffic.
    fn check_pauses(&self, section: &Section<'_>) -> Result<(), Problem> {
        let pauses = self.failure.as_ref().is_some_and(|failure| failure.waiting == Waiting::Kept);
        if pauses && (self.changes.is_some() || self.background.is_some()) {
            let message = "waiting = \"kept\" goes with a fixed rate only, and without residual";
            return Err(section.fail("failure", message));
        }
        Ok(())
    }

    /// Refuse failures that are too many within `duration`, or next to rings.
    pub(crate) fn check_failures(
        &self,
        duration: Span,
        has_rings: bool,
        section: &Section<'_>,
    ) -> Result<(), Problem> {
        let Some(failure) = &self.failure else { return Ok(()) };
        if has_rings {
            let message = "is not possible in a network with rings";
            return Err(section.fail("failure", message));
        }
        failure.check(duration, section)
    }

    /// The bits that it offers between two times, if it changes.
    pub(crate) fn offered(&self, (from, to): (Time, Time)) -> Option<f64> {
        self.changes.as_ref().map(|(capacity, _)| capacity.offered(from, to))
    }

    /// The least time that a packet of `size` takes from its queue to its far end.
    pub(crate) fn least_time(&self, size: Size) -> Span {
        match &self.changes {
            None => self.rate.transmission_time(size) + self.delay,
            // However fast it becomes.
            Some((_, delays)) => delays.least(),
        }
    }

    /// Read the mechanisms, so that every error shows before anything runs.
    fn prepare(mut self, around: &LinkFacts) -> Result<Self, Problem> {
        let facts = LinkFacts { rate: self.rate, ..around.clone() };
        let section = &self.section;
        let (entry, inner) = choose_or::<Queues>(section, "queue", queue::DEFAULT)?;
        let queue = (entry.build)(&inner, &facts)?;
        self.holds_all = queue.is_unlimited();
        self.holds_back = !queue.is_work_conserving();
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
        self.uses_rtt = conditioners.iter().any(|law| law.uses_rtt());
        self.bounds_load = shaper.is_some() || polices(section);
        let detector = choose::<Detectors>(section, "detector")?
            .map(|(entry, inner)| (entry.build)(&inner, &facts))
            .transpose()?;
        if detector.as_ref().is_some_and(|law| law.watches_queue()) && !queue.tells_fullness() {
            let message = "looks at how full the queue is, which this one does not tell: use \
                           droptail, partial_buffer_sharing or push_out with a limit, or priority \
                           over such by precedence";
            return Err(section.fail("detector", message));
        }
        self.detects = detector.is_some();
        let explicit_rate = choose::<ExplicitRates>(section, "explicit_rate")?
            .map(|(entry, inner)| (entry.build)(&inner, &facts))
            .transpose()?;
        self.allocates = explicit_rate.is_some();
        let impairments = several::<Impairments>(section, ["impairment", "impairments"])?
            .into_iter()
            .map(|(entry, inner)| (entry.build)(&inner))
            .collect::<Result<_, Problem>>()?;
        self.parts =
            Some(Parts { queue, shaper, conditioners, detector, explicit_rate, impairments });
        self.burst = burst;
        Ok(self)
    }

    /// Warn of the value under `key` of its section.
    pub(crate) fn warn(&self, key: &str, message: String) {
        self.section.warn(key, message);
    }

    /// Make this direction, which is link `id`; the elements that a packet passes.
    pub(crate) fn wire(
        &mut self,
        id: LinkId,
        network: &mut Network,
        streams: &Streams,
    ) -> Vec<ElementId> {
        let parts = self.parts.take().expect("a plan is prepared once and wired once");
        let path = self.section.path();
        let name = format!("{path}.conditioner");
        let numbered = parts.conditioners.into_iter().zip(0..);
        let mut conditioning: Vec<Conditioning> =
            numbered.map(|(law, at)| (law, streams.numbered(&name, at))).collect();
        let mut elements = Vec::new();
        if let Some(law) = parts.explicit_rate {
            elements.push(network.add(Box::new(RateAllocator::new(law))));
        }
        if let Some(law) = parts.shaper {
            let behind = std::mem::take(&mut conditioning);
            elements.push(network.add(Box::new(Shaper::new(id, law, behind))));
        }
        let queue = (parts.queue, streams.named(&format!("{path}.queue")));
        let LinkPlan { rate, delay, .. } = *self;
        if let Some(failure) = self.failure.as_ref().filter(|it| it.waiting == Waiting::Kept) {
            self.changes = Some(failure.pauses(rate, delay));
        }
        let background = self
            .background
            .map(|size| (rate.transmission_time(size), streams.named(&format!("{path}.residual"))));
        let notifier = parts.detector.map(|law| Notifier::new(law, self.notice_size));
        elements.push(network.add(link(LinkParts {
            link: id,
            rate,
            delay,
            changes: self.changes.clone(),
            conditioning,
            queue,
            background,
            notifier,
        })));
        self.beyond = elements.len();
        if let Some(failure) = self.failure.as_ref().filter(|it| it.waiting == Waiting::Lost) {
            // It draws nothing.
            let stream = streams.named(&format!("{path}.failure"));
            let wire = ImpairedWire::new(id, outages(&failure.times), stream);
            elements.push(network.add(Box::new(wire)));
        }
        for (law, at) in parts.impairments.into_iter().zip(0..) {
            let stream = streams.numbered(&format!("{path}.impairment"), at);
            elements.push(network.add(Box::new(ImpairedWire::new(id, law, stream))));
        }
        elements
    }
}

/// Refuse strict priority that goes by precedence because nothing else was said, behind a
/// conditioner that writes colours: what it colours green would join the first class.
fn refuse_implied_classes(section: &Section<'_>) -> Result<(), Problem> {
    let queue = format!("{}.queue", section.path());
    let echo = section.echo().borrow();
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
    let conditioners = format!("{}.conditioner", section.path());
    let echo = section.echo().borrow();
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
