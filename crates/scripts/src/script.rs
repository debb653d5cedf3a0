//! A script that has been read: what happens when, and what is expected.

use forebay_units::Time;
use serde::Serialize;

use crate::expression::Assertion;
use crate::numbering::Numbering;
use crate::segment::Segment;
use crate::settings::Settings;

/// A script, checked and ready to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Its name, for messages.
    pub name: String,
    /// Content of its first comment.
    pub heading: Heading,
    /// End of the connection that it tests.
    pub role: Role,
    /// Events, in order; times never decrease.
    pub events: Vec<Event>,
    pub(crate) settings: Settings,
    /// Segments that the script injects, for a receiver.
    pub(crate) numbering: Numbering,
    pub(crate) text: String,
}

/// The end of a connection that a script tests; the script is the other end and the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It writes data and is acknowledged.
    Sender,
    /// It is sent data and acknowledges.
    Receiver,
}

/// The first comment of a script.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Heading {
    /// Purpose of the script: its first paragraph.
    pub purpose: String,
    /// Claims that it holds the model to: the paragraphs that begin with an RFC and a section.
    pub claims: Vec<Claim>,
}

/// A statement of a standard.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Claim {
    /// Number of the RFC.
    pub rfc: u32,
    /// The section, such as `3.2`, and perhaps a step or rule of it.
    pub section: String,
    /// Text of the claim.
    pub text: String,
}

/// Something that happens, or must be seen, at an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Time of the event.
    pub at: Time,
    /// Action at that time.
    pub action: Action,
    /// The event as written, on one line, without its time.
    pub text: String,
    /// Place at which it begins in the script's text, in bytes.
    pub(crate) offset: usize,
}

/// Action that happens, or must be seen.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet arrives.
    Inject(Segment),
    /// A packet is sent.
    Expect(Segment),
    /// The application writes so many bytes.
    Write(u64),
    /// Assertions hold.
    Assert(Vec<Assertion>),
}

impl Script {
    /// Returns true if a packet of the script has an ECN field.
    pub(crate) fn names_ecn(&self) -> bool {
        self.events.iter().any(|event| match &event.action {
            Action::Inject(segment) | Action::Expect(segment) => segment.ecn.is_some(),
            _ => false,
        })
    }
}

impl Heading {
    /// The heading of `text`: its first comment, paragraph by paragraph.
    pub(crate) fn read(text: &str) -> Self {
        let comment = text.lines().map(str::trim).skip_while(|line| line.is_empty());
        let mut paragraphs = vec![String::new()];
        for line in comment.map_while(|line| line.strip_prefix("//")).map(str::trim) {
            match (line.is_empty(), paragraphs.last_mut()) {
                (false, Some(last)) if last.is_empty() => last.push_str(line),
                (false, Some(last)) => {
                    last.push(' ');
                    last.push_str(line);
                }
                _ => paragraphs.push(String::new()),
            }
        }
        let purpose = paragraphs.first().cloned().unwrap_or_default();
        let claims = paragraphs.iter().filter_map(|words| Claim::read(words)).collect();
        Self { purpose, claims }
    }
}

impl Claim {
    /// `RFC 5681, section 3.1: what it says.`
    fn read(paragraph: &str) -> Option<Self> {
        let (place, text) = paragraph.strip_prefix("RFC ")?.split_once(": ")?;
        let (rfc, section) = place.split_once(", ")?;
        let section = section.strip_prefix("section ").unwrap_or(section).to_owned();
        Some(Self { rfc: rfc.parse().ok()?, section, text: text.to_owned() })
    }
}
