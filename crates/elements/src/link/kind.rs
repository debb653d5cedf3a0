//! Kinds of links: how packets that wait at the near end of a link get to its far end. One is
//! chosen by its key in the section of the link, or by the keys of those that stand there in place.

use forebay_network::Element;
use forebay_parameters::{Category, Entry, Problem, Registry, Section};
use forebay_units::{Rate, Size, Span, Time};

use super::{Capacity, DelaySchedule, LinkParts};
use crate::inner::{InnerSection, keys_within};

/// The category of kinds of links. The example of one has the keys of a link, but for its ends.
pub enum LinkKinds {}

impl Category for LinkKinds {
    const NAME: &'static str = "link";
    const CONTRACT: &'static str = "How packets that wait for a link get to its far end.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str = "the parameters of the kind of link between braces";
    type Build = LinkKind;
}

/// Reads a link. Of a kind in place, `None` if its section has none of the keys of this kind.
pub type ReadLink =
    dyn Fn(&LinkReader<'_, '_>) -> Result<Option<Box<dyn Link>>, Problem> + Send + Sync;

/// A kind of link, as its entry has it.
#[derive(Clone, Copy)]
pub struct LinkKind {
    /// Reads a link.
    pub read: &'static ReadLink,
    /// True if its keys stand in the section of the link, and false if they have a section there
    /// with the name of the kind.
    pub in_place: bool,
    /// Categories of the laws that its section chooses from.
    pub laws: &'static [&'static str],
    /// Sections within its own.
    pub sections: &'static [InnerSection],
}

impl LinkKind {
    /// One that `read` reads, in a section of its own, and which chooses no laws.
    #[must_use]
    pub const fn new(read: &'static ReadLink) -> Self {
        Self { read, in_place: false, laws: &[], sections: &[] }
    }

    /// The keys of its section beside its parameters: laws, and sections within.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        keys_within(self.laws, self.sections)
    }
}

/// A direction of a link as its section describes it, for the kind that reads it.
pub struct LinkReader<'r, 'a> {
    /// The section of the link, or of its way back.
    pub link: &'r Section<'a>,
    /// The section of the kind in it; that of the link for a kind in place.
    pub own: &'r Section<'a>,
    /// The rate that the section says.
    pub rate: Option<Rate>,
    /// The rate of the way there, for a way back.
    pub there: Option<Rate>,
    /// Its propagation delay, at the start.
    pub delay: Span,
}

impl LinkReader<'_, '_> {
    /// The rate: that of the section, or of the way there.
    ///
    /// # Errors
    /// If neither says one.
    pub fn rate(&self) -> Result<Rate, Problem> {
        self.rate.or(self.there).ok_or_else(|| {
            let message = "is missing; it takes a data rate such as \"34 Mbit/s\"";
            self.link.fail("rate", message)
        })
    }
}

/// A direction of a link that was read: what the network may know of it, and its element.
pub trait Link {
    /// The rate that queue laws, conditioners and estimates take as its own.
    fn rate(&self) -> Rate;

    /// Its propagation delay, at the start, by which routes are chosen.
    fn delay(&self) -> Span;

    /// Its capacity and its delay over time. `None` if each transmission takes what it does at the
    /// rate, and the delay is always the same.
    fn changes(&self) -> Option<Changes<'_>> {
        None
    }

    /// Returns true if it may be idle while a packet waits that the queue would give.
    fn may_idle(&self) -> bool {
        false
    }

    /// Returns true if its element knows departures in advance, so that the network can be divided
    /// there: its lookahead is the delay.
    fn is_divisible(&self) -> bool {
        false
    }

    /// Returns true if it can be filled with [background traffic](LinkParts::background).
    fn takes_background(&self) -> bool {
        false
    }

    /// The same link with a transmitter that pauses during `outages`, each from a time until
    /// another; `None` for a kind that cannot.
    fn pausing(&self, _outages: &[(Time, Time)]) -> Option<Box<dyn Link>> {
        None
    }

    /// Make its element of `parts`: one for each run.
    fn element(&self, parts: LinkParts) -> Box<dyn Element>;
}

/// Capacity and propagation delay of a link over time.
#[derive(Clone, Copy)]
pub struct Changes<'l> {
    /// Its capacity; `None` if it is not known beforehand.
    pub capacity: Option<&'l Capacity>,
    /// Its propagation delays.
    pub delays: &'l DelaySchedule,
}

impl dyn Link {
    /// The bits that it offers between two times, if it changes.
    #[must_use]
    pub fn offered(&self, (from, to): (Time, Time)) -> Option<f64> {
        self.changes()?.capacity.map(|capacity| capacity.offered(from, to))
    }

    /// The least time that a packet of `size` takes from its queue to its far end.
    #[must_use]
    pub fn least_time(&self, size: Size) -> Span {
        match self.changes() {
            None => self.rate().transmission_time(size) + self.delay(),
            // However fast it becomes.
            Some(changes) => changes.delays.least(),
        }
    }
}

/// The keys that kinds of links in `registry` have in the section of a link.
#[must_use]
pub fn link_keys(registry: &Registry) -> Vec<&'static str> {
    registry.entries::<LinkKinds>().iter().flat_map(keys_of).collect()
}

fn keys_of(entry: &Entry<LinkKind>) -> Vec<&'static str> {
    if !entry.build.in_place {
        return vec![entry.name];
    }
    entry.fields.iter().map(|field| field.name).chain(entry.build.keys()).collect()
}

/// The link of `section`, which says `rate`, that of the way there being `there`, and `delay`.
///
/// # Errors
/// If its kind refuses it, or it is of several kinds.
pub fn read_link(
    section: &Section<'_>,
    (rate, there): (Option<Rate>, Option<Rate>),
    delay: Span,
) -> Result<Box<dyn Link>, Problem> {
    let kinds = section.registry().entries::<LinkKinds>();
    let (in_place, others): (Vec<&Entry<LinkKind>>, Vec<&Entry<LinkKind>>) =
        kinds.iter().partition(|entry| entry.build.in_place);
    let read = |entry: &Entry<LinkKind>, own: &Section<'_>| {
        (entry.build.read)(&LinkReader { link: section, own, rate, there, delay })
    };
    let mut given = others.into_iter().filter(|entry| section.node(entry.name).is_some());
    if let Some(entry) = given.next() {
        if let Some(other) = given.next() {
            let message = format!("a link is either {} or {}, not both", entry.name, other.name);
            return Err(section.fail(other.name, message));
        }
        let keys = in_place.into_iter().flat_map(keys_of);
        if let Some(key) = keys.into_iter().find(|key| section.node(key).is_some()) {
            let message = format!("has no meaning for a link that is {}", entry.name);
            return Err(section.fail(key, message));
        }
        let own = section.section(entry.name)?.expect("the key is present");
        return Ok(read(entry, &own)?.expect("a kind in a section of its own reads it"));
    }
    for entry in in_place {
        if let Some(link) = read(entry, section)? {
            return Ok(link);
        }
    }
    Err(section.fail("", "is of no kind"))
}
