//! Bulk transfer: an application that always has more to send.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Size, Span};

use super::{BuildTraffic, TrafficKind};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "bulk",
    summary: "An infinite transfer over TCP: the connection alone decides the pace.",
    source: "draft-elloumi-diffserv-threevstwo-00, section 2 (infinite file transfer)",
    example: "",
    fields: BulkParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Bulk transfer has no parameters.
    pub struct BulkParameters {}
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    BulkParameters::read(section)?;
    Ok(TrafficKind::fixed(|| Bulk { begun: false }).without_end())
}

struct Bulk {
    begun: bool,
}

impl Traffic for Bulk {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let first = !std::mem::replace(&mut self.begun, true);
        first.then_some(Burst { gap: Span::ZERO, size: Size::from_bytes(u64::MAX) })
    }
}
