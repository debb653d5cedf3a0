//! From the text of a scenario to its tree, with all that it includes, repeats, and is changed by.

use forebay_parameters::{Node, Problem};

use crate::catalogue::plain;
use crate::error::ScenarioError;
use crate::read::files::Files;
use crate::read::include::{Sources, include};
use crate::read::names::SITES;
use crate::read::parse;
use crate::read::sites;

/// The tree of a scenario with all that it includes and repeats, changed by `assignments`: those of
/// sites before these are repeated, and all others after that.
pub(crate) fn read_tree(
    text: &str,
    file: &str,
    assignments: &[String],
    files: Files<'_>,
) -> Result<(Node, Sources), ScenarioError> {
    let mut sources = Sources::of(text, file);
    let mut root = parse::parse(text).map_err(|problem| sources.locate(problem))?;
    include(&mut root, &mut sources, files).map_err(|problem| sources.locate(problem))?;
    let fail = |problem: Problem| sources.locate(parse::blame(problem, assignments));
    let (early, late): (Vec<_>, Vec<_>) =
        assignments.iter().partition(|assignment| assignment.trim_start().starts_with(SITES));
    for assignment in early {
        parse::set(&mut root, assignment).map_err(fail)?;
    }
    sites::expand(&mut root, &sources).map_err(fail)?;
    for assignment in late {
        parse::set(&mut root, assignment).map_err(fail)?;
    }
    Ok((root, sources))
}

/// A scenario in one piece, as JSON: with the keys of files that it includes, and what its sites
/// repeat written out. Values are as they stand there, not checked.
///
/// # Errors
/// If a file cannot be read, is not valid TOML, or has a key that another one has.
pub fn expand(text: &str, file: &str, files: Files<'_>) -> Result<String, ScenarioError> {
    read_tree(text, file, &[], files).map(|(root, _)| plain(&root.value).to_string())
}
