//! Finite transfers: files, one after another with a pause between.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Size, Span};

use super::{BuildTraffic, TrafficKind};
use crate::sizes::{SizeDistribution, Sizes};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "file",
    summary: "One or several files over TCP, written at fixed intervals.",
    source: "RFC 5681, section 3 (a connection with a finite amount of data)",
    example: r#"size = "100 kB""#,
    fields: FileParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of finite transfers.
    pub struct FileParameters {
        /// Size of each file. Or give `sizes`.
        size: Option<Size>, "-";
        /// Sizes of the files, where they are random. Or give `size`.
        sizes: Option<Inner<Sizes>>, "-";
        /// Number of files.
        count: u32 = 1, "-";
        /// Time from the start of one file to the start of the next.
        interval: Span = "0 s", "-";
    }
}

/// Files that may be written one right behind the other: each is an event, so that a run with
/// billions of them at one instant would not end in any useful time.
const MAX_AT_ONCE: u32 = 1_000_000;

/// The shortest interval at which more files may follow.
const MIN_INTERVAL: Span = Span::from_us(1);

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let FileParameters { size, sizes, count, interval } = FileParameters::read(section)?;
    if size.is_some_and(|size| size.bytes() == 0) {
        return Err(section.fail("size", "is zero; allowed are sizes from 1 B"));
    }
    if count == 0 {
        return Err(section.fail("count", "is zero; allowed are numbers from 1"));
    }
    if count > MAX_AT_ONCE && interval < MIN_INTERVAL {
        let message = format!(
            "{count} files follow each other at once; allowed are up to {MAX_AT_ONCE}, or an \
             interval from {}",
            show_span(MIN_INTERVAL)
        );
        return Err(section.fail("count", message));
    }
    let (kind, mean) = match (size, sizes) {
        (Some(size), None) => {
            let file = move || File { sizes: One(size), interval, left: count, first: true };
            (TrafficKind::fixed(file), size.bytes() as f64)
        }
        (None, Some(sizes)) => {
            let sizes = sizes.build(section, |build, inner| build(inner))?;
            let mean = sizes.mean();
            let file = move |_: &mut Stream| File {
                sizes: Arc::clone(&sizes),
                interval,
                left: count,
                first: true,
            };
            (TrafficKind::new(file, None, None), mean)
        }
        (Some(_), Some(_)) => {
            return Err(section.fail("sizes", "there is a size already; use one of the two keys"));
        }
        (None, None) => {
            let message = "is missing; give size = \"100 kB\", or sizes for random ones";
            return Err(section.fail("size", message));
        }
    };
    Ok(TrafficKind { in_all: Some(mean * f64::from(count)), ..kind.of_transfers() })
}

/// Source of the size of a file.
pub(super) trait SizeOfFile: Send {
    fn size(&self, stream: &mut Stream) -> Size;
}

/// The same size each time.
pub(super) struct One(Size);

impl SizeOfFile for One {
    fn size(&self, _stream: &mut Stream) -> Size {
        self.0
    }
}

impl SizeOfFile for Arc<dyn SizeDistribution> {
    fn size(&self, stream: &mut Stream) -> Size {
        self.draw(stream)
    }
}

pub(super) struct File<S> {
    sizes: S,
    interval: Span,
    left: u32,
    first: bool,
}

impl<S: SizeOfFile> Traffic for File<S> {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        self.left = self.left.checked_sub(1)?;
        let first = std::mem::replace(&mut self.first, false);
        let gap = if first { Span::ZERO } else { self.interval };
        Some(Burst { gap, size: self.sizes.size(stream) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_parameters::{Echo, Node, Table};

    fn built(count: i64, interval: &str) -> Result<TrafficKind, Problem> {
        let mut table = Table::new();
        table.insert("size".to_owned(), Node::new("1 kB".into()));
        table.insert("count".to_owned(), Node::new(forebay_parameters::Value::Integer(count)));
        table.insert("interval".to_owned(), Node::new(interval.into()));
        build(&Section::root(
            &Node::new(forebay_parameters::Value::Table(table)),
            &Echo::default(),
        )?)
    }

    /// More than a million files need time between them: a run does not spend minutes at one
    /// instant, writing billions of files before a packet moves.
    #[test]
    fn billions_of_files_need_time_between_them() {
        for interval in ["0 s", "999 ns"] {
            assert!(built(1_000_000, interval).is_ok());
            let problem = built(1_000_001, interval).err().expect("it is refused");
            assert_eq!(problem.path, "count");
            assert!(problem.message.contains("1000000"), "{}", problem.message);
        }
        assert!(built(i64::from(u32::MAX), "1 us").is_ok());
    }
}
