//! Outcome of a script, as JSON: for programs that are no Rust.

use forebay_parameters::Registry;
use serde::Serialize;

use crate::problem::Problem;
use crate::script::{Claim, Role, Script};

/// The document of a script.
#[derive(Serialize)]
struct Document<'s> {
    name: &'s str,
    role: &'static str,
    purpose: &'s str,
    claims: &'s [Claim],
    passed: bool,
    checks: usize,
    difference: &'s [String],
}

/// Read and run `text`, a script that messages call `name`, with `KEY=VALUE` assignments that count
/// more than the lines at its head; congestion controls are those of `registry`. JSON: `name`,
/// `role`, `purpose` and `claims` of its first comment, `passed`, `checks` (packets and assertions
/// compared), `difference` (lines).
///
/// # Errors
/// If it cannot be read, or asks for what the model does not have.
pub fn run_text(
    text: &str,
    name: &str,
    set: &[String],
    registry: &Registry,
) -> Result<String, Problem> {
    let script = Script::read_with(text, name, set, registry)?;
    let report = script.run_with(registry)?;
    let document = Document {
        name,
        role: match script.role {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        },
        purpose: &script.heading.purpose,
        claims: &script.heading.claims,
        passed: report.passed(),
        checks: report.checks,
        difference: &report.difference,
    };
    Ok(serde_json::json!(document).to_string())
}
