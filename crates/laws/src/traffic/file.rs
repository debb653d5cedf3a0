//! Finite transfers: files, one after another with a pause between.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::quantity::show_span;
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

/// Files that may be written one right behind the other: each is an event, so that a run with
/// billions of them at one instant would not end in any useful time.
const MAX_AT_ONCE: u32 = 1_000_000;

/// The shortest interval at which more files may follow.
const MIN_INTERVAL: Span = Span::from_us(1);

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let parameters = FileParameters::read(section)?;
    if parameters.size.bytes() == 0 {
        return Err(section.fail("size", "is zero; allowed are sizes from 1 B"));
    }
    if parameters.count == 0 {
        return Err(section.fail("count", "is zero; allowed are numbers from 1"));
    }
    let FileParameters { size, count, interval } = parameters;
    if count > MAX_AT_ONCE && interval < MIN_INTERVAL {
        let message = format!(
            "{count} files follow each other at once; allowed are up to {MAX_AT_ONCE}, or an \
             interval from {}",
            show_span(MIN_INTERVAL)
        );
        return Err(section.fail("count", message));
    }
    let file = move || File { size, interval, left: count, first: true };
    Ok(TrafficKind::fixed(file).of_transfers())
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
