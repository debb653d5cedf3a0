//! Sizes by the points of a cumulative distribution.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_parameters::{DataFile, Entry, Fault, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use super::{BuildSizes, MAX_BYTES, SizeDistribution, whole};

pub(super) const ENTRY: Entry<BuildSizes> = Entry {
    name: "cdf",
    summary: "Sizes by the points of a cumulative distribution function, linear in between.",
    source: "Law, Simulation Modeling and Analysis, 5th edition, 2015, section 6.2.4",
    example: r#"
        sizes = ["1 kB", "10 kB", "100 kB"]
        shares = [0.3, 0.8, 1.0]
    "#,
    fields: CdfParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of an empirical distribution: either `sizes` and `shares`, or `file`.
    pub struct CdfParameters {
        /// Sizes, each larger than the one before; at most 10,000 of them.
        sizes: Option<Vec<Size>>, "-";
        /// For each size the share of transfers that are not larger: from 0 to 1, never less than
        /// the one before, and 1 in the end. A first share above 0 is that of transfers of just the
        /// first size.
        shares: Option<Vec<f64>>, "-";
        /// The same as CSV, with the columns `size_bytes` and `share`: a row for each size.
        file: Option<DataFile>, "-";
    }
}

/// The most points: looking one up takes no time, but reading them does.
const MAX_POINTS: usize = 10_000;

/// The columns of a file.
const COLUMNS: [&str; 2] = ["size_bytes", "share"];

/// Rules that each of them keeps.
const RULES: [&str; 2] =
    ["sizes are up to 1 TB, each larger than the last", "shares never decrease, from 0 to 1"];

fn build(section: &Section<'_>) -> Result<Arc<dyn SizeDistribution>, Problem> {
    let CdfParameters { sizes, shares, file } = CdfParameters::read(section)?;
    let points = match (sizes, shares, file) {
        (Some(sizes), Some(shares), None) => listed(section, &sizes, &shares)?,
        (None, None, Some(file)) => {
            points_of(&file).map_err(|message| section.fail("file", message))?
        }
        (_, _, Some(_)) => {
            let message = "stands in place of sizes and shares; give either it or these";
            return Err(section.fail("file", message));
        }
        (sizes, _, None) => {
            let key = if sizes.is_none() { "sizes" } else { "shares" };
            return Err(section.fail(key, "is missing; give sizes and shares, or file"));
        }
    };
    Ok(Arc::new(Cdf::new(points)))
}

/// The points of two lists.
fn listed(
    section: &Section<'_>,
    sizes: &[Size],
    shares: &[f64],
) -> Result<Vec<(f64, f64)>, Problem> {
    if sizes.is_empty() || sizes.len() > MAX_POINTS {
        let message = format!("has {} points; allowed are 1 to {MAX_POINTS}", sizes.len());
        return Err(section.fail("sizes", message));
    }
    if shares.len() != sizes.len() {
        let message = format!("has {} entries; sizes has {}", shares.len(), sizes.len());
        return Err(section.fail("shares", message));
    }
    let bytes = sizes.iter().map(|size| size.bytes() as f64);
    let points: Vec<(f64, f64)> = bytes.zip(shares.iter().copied()).collect();
    for at in 0..points.len() {
        check_point(&points[..=at])
            .map_err(|(column, message)| section.fail(["sizes", "shares"][column], message))?;
    }
    check_end(&points).map_err(|message| section.fail("shares", message))?;
    Ok(points)
}

/// The points of a file.
fn points_of(file: &DataFile) -> Result<Vec<(f64, f64)>, String> {
    let mut lines = file.lines();
    let (head, header) = lines.next().unwrap_or((1, ""));
    let columns =
        DataFile::columns(header, &COLUMNS, 2).map_err(|fault| file.wrong(head, fault))?;
    let (mut points, mut last) = (Vec::new(), head);
    for (line, text) in lines {
        let wrong = |fault: Fault| file.wrong(line, fault);
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            let count = format!("{} cells for {} columns", cells.len(), columns.len());
            return Err(wrong(count.into()));
        }
        let mut values = [0.0; COLUMNS.len()];
        for (cell, column) in cells.into_iter().zip(&columns) {
            let value = cell.parse().ok().filter(|value: &f64| value.is_finite());
            let name = COLUMNS[*column];
            let quoting = || format!("{name} is \"{cell}\", not a number");
            values[*column] = value.ok_or_else(|| {
                wrong(Fault::quoting(quoting(), format!("{name} is not a number")))
            })?;
        }
        points.push((values[0], values[1]));
        check_point(&points).map_err(|(column, message)| {
            let (name, rule) = (COLUMNS[column], RULES[column]);
            wrong(Fault::quoting(format!("{name} {message}"), format!("{name}: {rule}")))
        })?;
        if points.len() > MAX_POINTS {
            return Err(wrong(format!("more than {MAX_POINTS} points").into()));
        }
        last = line;
    }
    if points.is_empty() {
        return Err(file.wrong(head, "there are no rows below the names of the columns"));
    }
    check_end(&points).map_err(|message| {
        let plain = "share does not end with 1: that is all transfers";
        file.wrong(last, Fault::quoting(format!("share {message}"), plain))
    })?;
    Ok(points)
}

/// Checks that the last of `points` can follow the one before; the error says in which column it
/// cannot, and why.
fn check_point(points: &[(f64, f64)]) -> Result<(), (usize, String)> {
    let Some(&(bytes, share)) = points.last() else { return Ok(()) };
    let before = points.len().checked_sub(2).map(|before| points[before]);
    if let Some((least, _)) = before.filter(|(least, _)| bytes <= *least) {
        let message = format!("{bytes} B follows {least} B; each must be larger than the last");
        return Err((0, message));
    }
    if !(0.0..=MAX_BYTES).contains(&bytes) {
        return Err((0, format!("{bytes} B is no size; allowed is up to 1 TB")));
    }
    let least = before.map_or(0.0, |(_, least)| least);
    if !(least..=1.0).contains(&share) {
        let message = format!("{share} follows {least}; shares never decrease, from 0 to 1");
        return Err((1, message));
    }
    Ok(())
}

/// Checks that `points` are all transfers.
fn check_end(points: &[(f64, f64)]) -> Result<(), String> {
    match points.last() {
        Some((_, share)) if *share < 1.0 => {
            Err(format!("ends with {share}, not with 1: that is all transfers"))
        }
        _ => Ok(()),
    }
}

/// A distribution given by points: sizes in bytes, and shares of sizes up to these.
pub(super) struct Cdf(Vec<(f64, f64)>);

impl Cdf {
    /// The distribution of `points`, in order, the last of share 1.
    pub(super) const fn new(points: Vec<(f64, f64)>) -> Self {
        Self(points)
    }
}

impl SizeDistribution for Cdf {
    /// Draws by inversion.
    fn draw(&self, stream: &mut Stream) -> Size {
        let share = stream.uniform();
        let at = self.0.partition_point(|point| point.1 <= share);
        let (high, above) = self.0[at.min(self.0.len() - 1)];
        let bytes = match at.checked_sub(1) {
            None => high,
            Some(before) => {
                let (low, below) = self.0[before];
                low + (high - low) * (share - below) / (above - below)
            }
        };
        whole(bytes)
    }

    /// Adds the share that is exactly of the first size, and the middle of each interval by its
    /// share.
    fn mean(&self) -> f64 {
        let first = self.0[0].0 * self.0[0].1;
        let middles = self.0.windows(2);
        first
            + middles
                .map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1))
                .sum::<f64>()
    }

    fn above(&self, bytes: f64) -> f64 {
        let at = self.0.partition_point(|point| point.0 <= bytes);
        let Some(before) = at.checked_sub(1) else { return 1.0 };
        let (low, below) = self.0[before];
        let Some((high, end)) = self.0.get(at) else { return 0.0 };
        1.0 - below - (end - below) * (bytes - low) / (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_mean, has_share, read};
    use super::*;
    use forebay_parameters::{Node, Value};

    fn list(values: &[Value]) -> Value {
        Value::List(values.iter().map(|value| Node::new(value.clone())).collect())
    }

    fn cdf(sizes: &[&str], shares: &[f64]) -> Result<Arc<dyn SizeDistribution>, Problem> {
        let sizes: Vec<Value> = sizes.iter().map(|size| (*size).into()).collect();
        let shares: Vec<Value> = shares.iter().map(|share| (*share).into()).collect();
        read("cdf", &[("sizes", list(&sizes)), ("shares", list(&shares))])
    }

    /// Sizes are linear between the points, with the shares given: 30 % of 1 kB exactly, half
    /// between 1 kB and 10 kB, none up to 50 kB, and the rest up to 100 kB, each evenly. The mean
    /// is 0.3 * 1 + 0.5 * 5.5 + 0.2 * 75 = 18.05 kB.
    #[test]
    fn sizes_are_linear_between_the_points() {
        let sizes = ["1 kB", "10 kB", "50 kB", "100 kB"];
        let sizes = cdf(&sizes, &[0.3, 0.8, 0.8, 1.0]).unwrap();
        assert!((sizes.mean() - 18_050.0).abs() < 1e-9);
        let draws = draws(&*sizes, 200_000);
        assert!(has_mean(&draws, 18_050.0));
        let shares = [(999.0, 0.0), (1000.0, 0.3), (5500.0, 0.55), (10_000.0, 0.8)];
        for (bytes, share) in shares.into_iter().chain([(50_000.0, 0.8), (75_000.0, 0.9)]) {
            assert!(has_share(&draws, bytes, share), "{bytes}");
        }
        assert!(draws.iter().all(|bytes| *bytes <= 100_000.0));
        let one = cdf(&["7 B"], &[1.0]).unwrap();
        assert_eq!((one.mean(), super::super::tests::draws(&*one, 2)), (7.0, vec![7.0; 2]));
    }

    /// Lists that are no distribution are refused, at the list that is wrong.
    #[test]
    fn lists_that_are_no_distribution_are_refused() {
        let path = |sizes: &[&str], shares: &[f64]| {
            cdf(sizes, shares).err().map(|problem| problem.path).unwrap_or_default()
        };
        assert_eq!(path(&[], &[]), "sizes");
        assert_eq!(path(&["1 kB", "1 kB"], &[0.5, 1.0]), "sizes");
        assert_eq!(path(&["1 kB", "2 TB"], &[0.5, 1.0]), "sizes");
        assert_eq!(path(&["1 kB", "2 kB"], &[1.0]), "shares");
        assert_eq!(path(&["1 kB", "2 kB"], &[0.5, 0.9]), "shares");
        assert_eq!(path(&["1 kB", "2 kB", "3 kB"], &[0.5, 0.4, 1.0]), "shares");
        assert_eq!(path(&["1 kB", "2 kB"], &[-0.1, 1.0]), "shares");
        assert_eq!(path(&["1 kB", "2 kB"], &[0.1, 1.1]), "shares");
        assert_eq!(path(&["0 B", "2 kB"], &[0.0, 1.0]), "");
    }

    fn from_file(text: &str) -> Result<Arc<dyn SizeDistribution>, Problem> {
        let text = [("text".to_owned(), Node::new(Value::Text(text.to_owned())))];
        read("cdf", &[("file", Value::Table(text.into_iter().collect()))])
    }

    /// A file gives the same distribution as lists: the same draws, with the columns in either
    /// order and comments between.
    #[test]
    fn a_file_is_read_as_lists_are() {
        let listed = cdf(&["1 kB", "10 kB", "100 kB"], &[0.3, 0.8, 1.0]).unwrap();
        let file = from_file("# ours\nshare, size_bytes\n0.3,1000\n\n0.8,1e4\n1,100000\n");
        let file = file.unwrap();
        assert_eq!(draws(&*file, 100), draws(&*listed, 100));
        assert_eq!(file.mean(), listed.mean());
    }

    /// Files that are no distribution are refused with a message that says where they are wrong.
    #[test]
    fn files_that_are_no_distribution_are_refused() {
        let cases = [
            ("", "line 1 of the text: \"\" is not a column"),
            ("size_bytes,share\n", "line 1 of the text: there are no rows"),
            ("size_bytes\n1\n", "there is no column share"),
            ("size_bytes,part\n1,1\n", "\"part\" is not a column, or there twice; columns are"),
            ("size_bytes,share\n1\n", "line 2 of the text: 1 cells for 2 columns"),
            ("size_bytes,share\n1 kB,1\n", "size_bytes is \"1 kB\", not a number"),
            ("size_bytes,share\n1,nan\n", "share is \"nan\", not a number"),
            ("size_bytes,share\n9,0.5\n9,1\n", "line 3 of the text: size_bytes 9 B follows 9 B"),
            ("size_bytes,share\n9,0.5\n10,0.4\n", "share 0.4 follows 0.5"),
            ("size_bytes,share\n9,0.5\n10,50\n", "share 50 follows 0.5"),
            ("size_bytes,share\n-1,0.5\n", "size_bytes -1 B is no size"),
            ("size_bytes,share\n9,0.5\n10,0.9\n", "line 3 of the text: share ends with 0.9"),
        ];
        for (text, message) in cases {
            let problem = from_file(text).map(|_| ()).expect_err(text);
            assert_eq!(problem.path, "file", "{text}");
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
        }
        let both = [("file", "x".into()), ("sizes", list(&["1 kB".into()]))];
        assert!(read("cdf", &both).is_err());
        let problem = read("cdf", &[]).map(|_| ()).unwrap_err();
        assert!(problem.message.contains("or file"), "{}", problem.message);
    }
}
