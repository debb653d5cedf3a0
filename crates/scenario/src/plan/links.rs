//! Reading links and making their elements.

use forebay_elements::InnerLink;
use forebay_elements::allocator::RateAllocator;
use forebay_elements::bounds::{check_delay, check_rate};
use forebay_elements::impairments::ImpairedWire;
use forebay_elements::link::{
    self, Changes, Conditioning, Link, LinkParts, Notifier, Share, link_keys,
};
use forebay_elements::shaper::Shaper;
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_network::{Element, ElementId, LinkId};
use forebay_parameters::{Parameters, Problem, Section};
use forebay_units::{Rate, Size, Span, Time};

use crate::plan::failures::Failure;
use crate::plan::laws::LinkLaws;
use crate::plan::sections::{LINK_MECHANISMS, LINK_SECTIONS, LinkParameters, ReverseParameters};
use crate::plan::tags::check_tags;
use crate::plan::topology::Topology;

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
    /// The link as its kind reads it, if it is not within a subnetwork.
    own: Option<Box<dyn Link>>,
    /// The same with the pauses of this run, if it is down at times and packets wait.
    pausing: Option<Box<dyn Link>>,
    /// Its failures, if it has any.
    pub(crate) failure: Option<Failure>,
    background: Option<Size>,
    notice_size: Size,
    /// The section of its mechanisms.
    section: Section<'a>,
    /// The component path that names its random streams; that of the section if it has none.
    component: Option<String>,
    /// The mechanisms, until a run takes them.
    laws: Option<LinkLaws>,
    /// True if its queue may hold packets back while the transmitter is free: it shapes.
    pub(crate) holds_back: bool,
    /// Its place in a subnetwork, if it has one.
    pub(crate) inner: Option<Inner>,
    /// Its place among the ports of a switch with a memory, if it has one.
    pub(crate) port: Option<Port>,
    /// Number of its part of the element: a ring has one for each span.
    pub(crate) part: u32,
    pub(crate) tags: Vec<String>,
    /// Number of its elements that a packet passes until it has crossed the link, once it is wired.
    pub(crate) beyond: usize,
}

/// The place of a link in a subnetwork.
#[derive(Clone, Copy)]
pub(crate) struct Inner {
    /// The subnetwork.
    pub(crate) subnetwork: usize,
    /// Its number among the links of that.
    pub(crate) link: usize,
    /// The element that it is a part of, among those of that.
    pub(crate) element: usize,
}

impl Inner {
    /// The element that the link is a part of, among those of all subnetworks.
    pub(crate) fn element(self, elements: &[Vec<ElementId>]) -> ElementId {
        elements[self.subnetwork][self.element]
    }
}

/// The place of a link among the ports that share the memory of a switch.
#[derive(Clone, Copy)]
pub(crate) struct Port {
    /// The switch.
    pub(crate) switch: usize,
    /// Number of the port.
    pub(crate) number: usize,
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
    let kinds = link_keys(section.registry());
    let among = [LINK_MECHANISMS, LINK_SECTIONS, &kinds].concat();
    let parameters = LinkParameters::read_among(section, &among)?;
    check_delay(section, "delay", parameters.delay)?;
    let own = link::read_link(section, (parameters.rate, None), parameters.delay)?;
    check_rate(section, own.rate())?;
    check_size(section, "residual", parameters.residual)?;
    if parameters.from == parameters.to {
        let message = format!("\"{}\" is also the near end; a link joins two nodes", parameters.to);
        return Err(section.fail("to", message));
    }
    let ends = [parameters.from.clone(), parameters.to.clone()];
    let (rate, delay) = (parameters.rate.unwrap_or(own.rate()), parameters.delay);
    let mut there = LinkPlan::of_kind(name.to_owned(), ends, own, section.clone());
    there.background = parameters.residual;
    there.failure = Failure::read(section)?;
    there.check_kind(section)?;
    there.notice_size = notice_size(section, parameters.notice_size)?;
    there.tags = check_tags(section, parameters.tags.as_ref())?;
    let reverse = section.section("reverse")?;
    if !parameters.duplex {
        if reverse.is_some() {
            return Err(section.fail("reverse", "the link is not duplex: it has no way back"));
        }
        return Ok(vec![there.prepare(around)?]);
    }
    let name = format!("{name}.reverse");
    let ends = [parameters.to, parameters.from];
    let mut back = match reverse {
        Some(reverse) => {
            let among = [LINK_MECHANISMS, &kinds].concat();
            let other = ReverseParameters::read_among(&reverse, &among)?;
            let delay = other.delay.unwrap_or(delay);
            check_delay(&reverse, "delay", delay)?;
            let own = link::read_link(&reverse, (other.rate, Some(rate)), delay)?;
            check_rate(&reverse, own.rate())?;
            let notice_size = notice_size(&reverse, other.notice_size)?;
            let tags = match &other.tags {
                Some(_) => check_tags(&reverse, other.tags.as_ref())?,
                None => there.tags.clone(),
            };
            LinkPlan { notice_size, tags, ..LinkPlan::of_kind(name, ends, own, reverse) }
        }
        None => {
            let own = Section::empty(format!("{}.reverse", section.path()), section.echo());
            let kind = Box::new(link::Fixed { rate, delay });
            LinkPlan { tags: there.tags.clone(), ..LinkPlan::of_kind(name, ends, kind, own) }
        }
    };
    back.failure = there.failure.clone();
    back.check_kind(section)?;
    Ok(vec![there.prepare(around)?, back.prepare(around)?])
}

fn notice_size(section: &Section<'_>, size: Option<Size>) -> Result<Size, Problem> {
    check_size(section, "notice_size", size)?;
    Ok(size.unwrap_or(NOTICE))
}

fn check_size(section: &Section<'_>, key: &str, size: Option<Size>) -> Result<(), Problem> {
    match size.filter(|size| !(1..=65_535).contains(&size.bytes())) {
        Some(_) => Err(section.fail(key, "is not a packet size; allowed are 1 B to 65535 B")),
        None => Ok(()),
    }
}

/// Add a link between two nodes that are not joined yet.
pub(crate) fn join<'a>(
    topology: &mut Topology,
    links: &mut Vec<LinkPlan<'a>>,
    plan: LinkPlan<'a>,
) -> Result<(), String> {
    let delay = plan.delay.ps();
    if let Some(other) = topology.add(&plan.from, &plan.to, links.len(), delay) {
        let other = &links[other].name;
        return Err(format!(
            "a link from \"{}\" to \"{}\" exists already: {other}",
            plan.from, plan.to
        ));
    }
    links.push(plan);
    Ok(())
}

impl<'a> LinkPlan<'a> {
    /// A link of the subnetwork `name`, whose section is `section`.
    pub(crate) fn of_subnetwork(
        name: &str,
        link: InnerLink,
        place: Inner,
        section: &Section<'a>,
    ) -> Self {
        let InnerLink { name: own, from, to, rate, delay, part, .. } = link;
        let name = format!("{name}.{own}");
        let plan = Self::plain(name, [from, to], (rate, delay), section.clone());
        Self { inner: Some(place), part, beyond: 1, ..plan }
    }

    /// A link of a fabric, with the mechanisms of `section`, which others have as well.
    pub(crate) fn of_fabric(
        name: String,
        ends: [String; 2],
        own: link::Fixed,
        section: Section<'a>,
    ) -> Self {
        let component = Some(format!("fabrics.{name}"));
        Self { component, ..Self::of_kind(name, ends, Box::new(own), section) }
    }

    /// A link between two nodes as its kind has read it, and nothing else yet.
    fn of_kind(name: String, ends: [String; 2], own: Box<dyn Link>, section: Section<'a>) -> Self {
        let plan = Self::plain(name, ends, (own.rate(), own.delay()), section);
        Self { own: Some(own), ..plan }
    }

    fn plain(
        name: String,
        [from, to]: [String; 2],
        (rate, delay): (Rate, Span),
        section: Section<'a>,
    ) -> Self {
        Self {
            name,
            from,
            to,
            rate,
            delay,
            own: None,
            pausing: None,
            failure: None,
            background: None,
            notice_size: NOTICE,
            section,
            component: None,
            laws: None,
            holds_back: false,
            inner: None,
            port: None,
            part: 0,
            tags: Vec::new(),
            beyond: 0,
        }
    }

    /// Read the mechanisms.
    pub(crate) fn prepare(mut self, around: &LinkFacts) -> Result<Self, Problem> {
        self.renew(around)?;
        self.holds_back = self.asks(|laws| !laws.queue.is_work_conserving());
        Ok(self)
    }

    /// Read the mechanisms anew if a run has taken them.
    pub(crate) fn renew(&mut self, around: &LinkFacts) -> Result<(), Problem> {
        self.pausing = None;
        if self.laws.is_none() && self.inner.is_none() {
            self.laws = Some(LinkLaws::read(&self.section, self.rate, around)?);
        }
        Ok(())
    }

    /// The link as it is in a run.
    fn present(&self) -> Option<&(dyn Link + 'static)> {
        self.pausing.as_ref().or(self.own.as_ref()).map(Box::as_ref)
    }
}

/// Questions to its kind.
impl LinkPlan<'_> {
    /// Its capacity and its delay over time, if these change.
    pub(crate) fn changes(&self) -> Option<Changes<'_>> {
        self.present()?.changes()
    }

    /// The bits that it offers between two times, if it changes.
    pub(crate) fn offered(&self, window: (Time, Time)) -> Option<f64> {
        self.present()?.offered(window)
    }

    /// The least time that a packet of `size` takes from its queue to its far end.
    pub(crate) fn least_time(&self, size: Size) -> Span {
        let own = self.present();
        own.map_or(self.rate.transmission_time(size) + self.delay, |own| own.least_time(size))
    }

    /// Returns true if it may be idle while packets wait.
    pub(crate) fn may_idle(&self) -> bool {
        let own = self.present().is_none_or(|own| own.may_idle());
        own || self.background.is_some() || self.holds_back
    }

    /// Returns true if the network can be divided at its far end.
    pub(crate) fn is_divisible(&self) -> bool {
        self.present().is_some_and(|own| own.is_divisible())
    }
}

/// Questions to its mechanisms, before it is wired.
impl LinkPlan<'_> {
    fn asks(&self, question: impl Fn(&LinkLaws) -> bool) -> bool {
        self.laws.as_ref().is_some_and(question)
    }

    /// Returns true if one of its conditioners adapts to round-trip times.
    pub(crate) fn uses_rtt(&self) -> bool {
        self.asks(LinkLaws::uses_rtt)
    }

    /// Returns true if it has a congestion detector.
    pub(crate) fn detects(&self) -> bool {
        self.asks(|laws| laws.detector.is_some())
    }

    /// Returns true if it gives explicit rates: then the first of its elements is what gives them.
    pub(crate) fn allocates(&self) -> bool {
        self.asks(|laws| laws.explicit_rate.is_some())
    }

    /// Returns true if nothing bounds what waits there: neither its queue nor a memory.
    pub(crate) fn holds_all(&self) -> bool {
        self.port.is_none() && self.asks(|laws| laws.queue.is_unlimited())
    }

    /// Returns true if its shaper or its conditioners bound what comes to its queue.
    pub(crate) fn bounds_load(&self) -> bool {
        self.asks(LinkLaws::bounds_load)
    }

    /// The smallest burst that its meters let pass, and where that was said.
    pub(crate) fn burst(&self) -> Option<&(u64, Problem)> {
        self.laws.as_ref()?.burst.as_ref()
    }
}

impl LinkPlan<'_> {
    /// Place of the link itself among its elements, if it is not within a subnetwork.
    pub(crate) fn own_element(&self) -> Option<usize> {
        if self.inner.is_some() { None } else { self.beyond.checked_sub(1) }
    }

    /// Returns true if it is a link of a fabric.
    pub(crate) fn in_fabric(&self) -> bool {
        self.component.is_some()
    }

    /// Path of its section.
    pub(crate) fn path(&self) -> &str {
        self.section.path()
    }

    /// Warn of the value under `key` of its section.
    pub(crate) fn warn(&self, key: &str, message: String) {
        self.section.warn(key, message);
    }

    /// Refuse background traffic and pauses of a kind of link that has none, and both together.
    pub(crate) fn check_kind(&self, section: &Section<'_>) -> Result<(), Problem> {
        let own = self.own.as_ref().expect("a link has a kind");
        if self.background.is_some() && !own.takes_background() {
            let message = "goes with a fixed rate only; this link changes";
            return Err(section.fail("residual", message));
        }
        let pauses = self.failure.as_ref().is_some_and(Failure::pauses);
        if pauses && (self.background.is_some() || own.pausing(&[]).is_none()) {
            let message = "waiting = \"kept\" goes with a fixed rate only, and without residual";
            return Err(section.fail("failure", message));
        }
        Ok(())
    }

    /// Refuse failures that are too many within `duration`, or next to subnetworks, of which a
    /// `kind` is there.
    pub(crate) fn check_failures(
        &self,
        duration: Span,
        kind: Option<&str>,
        section: &Section<'_>,
    ) -> Result<(), Problem> {
        let Some(failure) = &self.failure else { return Ok(()) };
        if let Some(kind) = kind {
            let message = format!("is not possible in a network with {kind}");
            return Err(section.fail("failure", message));
        }
        failure.check(duration, section)
    }

    /// Make this direction, which is link `id`, with its share in the memory of a switch; the
    /// elements that a packet passes.
    pub(crate) fn wire(
        &mut self,
        id: LinkId,
        share: Option<Share>,
        network: &mut Network,
        streams: &Streams,
    ) -> Vec<ElementId> {
        let [near, beyond] = self.chain(id, share, streams);
        self.beyond = near.len();
        near.into_iter().chain(beyond).map(|element| network.add(element)).collect()
    }

    /// Its elements in the order in which packets pass them: those up to the link itself, and those
    /// of its wire beyond.
    fn chain(
        &mut self,
        id: LinkId,
        share: Option<Share>,
        streams: &Streams,
    ) -> [Vec<Box<dyn Element>>; 2] {
        let laws = self.laws.take().expect("its mechanisms are there for each run");
        let path = self.component.as_deref().unwrap_or(self.section.path());
        let name = format!("{path}.conditioner");
        let numbered = laws.conditioners.into_iter().zip(0..);
        let mut conditioning: Vec<Conditioning> =
            numbered.map(|(law, at)| (law, streams.numbered(&name, at))).collect();
        let (mut near, mut beyond) = (Vec::<Box<dyn Element>>::new(), Vec::new());
        if let Some(law) = laws.explicit_rate {
            near.push(Box::new(RateAllocator::new(law)));
        }
        if let Some(law) = laws.shaper {
            near.push(Box::new(Shaper::new(id, law, std::mem::take(&mut conditioning))));
        }
        let mut wire = |law, stream| beyond.push(Box::new(ImpairedWire::new(id, law, stream)) as _);
        if let Some(failure) = &self.failure {
            match failure.outages() {
                // It draws nothing.
                Some(law) => wire(law, streams.named(&format!("{path}.failure"))),
                None => {
                    let own = self.own.as_ref();
                    self.pausing = own.and_then(|own| own.pausing(&failure.times));
                }
            }
        }
        for (law, at) in laws.impairments.into_iter().zip(0..) {
            wire(law, streams.numbered(&format!("{path}.impairment"), at));
        }
        let background = self.background.map(|size| {
            (self.rate.transmission_time(size), streams.named(&format!("{path}.residual")))
        });
        let own = self.present().expect("a link has a kind");
        near.push(own.element(LinkParts {
            link: id,
            conditioning,
            queue: (laws.queue, streams.named(&format!("{path}.queue"))),
            background,
            notifier: laws.detector.map(|law| Notifier::new(law, self.notice_size)),
            share,
        }));
        [near, beyond]
    }
}
