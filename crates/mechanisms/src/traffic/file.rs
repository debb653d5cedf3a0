//! Finite transfers: files, one after another with a pause between.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Size, Span};

use super::{BuildTraffic, TrafficKind};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "file",
    summary: "One or several files of a given size over TCP, written at fixed intervals.",
    source: "RFC 5681, section 3 (a connection with a finite amount of data)",
    example: r#"size = "100 kB""#,
    fields: FileParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of finite transfers.
    pub struct FileParameters {
        /// Size of each file.
        size: Size, "-";
        /// Number of files.
        count: u32 = 1, "-";
        /// Time from the start of one file to the start of the next.
        interval: Span = "0 s", "-";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = FileParameters::read(section)?;
    if parameters.size.bytes() == 0 {
        return Err(section.fail("size", "is zero; allowed are sizes from 1 B"));
    }
    if parameters.count == 0 {
        return Err(section.fail("count", "is zero; allowed are numbers from 1"));
    }
    let FileParameters { size, count, interval } = parameters;
    Ok(TrafficKind::fixed(move || File { size, interval, left: count, first: true }))
}

pub(super) struct File {
    size: Size,
    interval: Span,
    left: u32,
    first: bool,
}

impl Traffic for File {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        self.left = self.left.checked_sub(1)?;
        let first = std::mem::replace(&mut self.first, false);
        Some(Burst { gap: if first { Span::ZERO } else { self.interval }, size: self.size })
    }
}
