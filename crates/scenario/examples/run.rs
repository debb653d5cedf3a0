//! Run a scenario file with the engine alone: `cargo run --release --example run -- [--threads N]
//! [--check] FILE [PATH=VALUE ...]`.
//!
//! For profiling and for embedding: no Python. Prints the result as JSON.
#![expect(clippy::print_stderr, reason = "a program that talks to its user")]
#![expect(clippy::disallowed_methods, reason = "a program that talks to its user")]

use std::io::{ErrorKind, Write as _, stdout};
use std::process::ExitCode;

use forebay_scenario::{Control, RunOptions, Scenario};
use mimalloc::MiMalloc;

/// As in the modules for Python, so that what is profiled is what runs there.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut options = RunOptions::default();
    if arguments.next_if_eq("--threads").is_some() {
        options.threads = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    }
    let check = arguments.next_if_eq("--check").is_some();
    let Some(file) = arguments.next().filter(|_| options.threads > 0) else {
        return refuse("usage: run [--threads N] [--check] FILE [PATH=VALUE ...]");
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => return refuse(&format!("{file}: {error}")),
    };
    let scenario = match Scenario::parse(&text, &file, &arguments.collect::<Vec<_>>()) {
        Ok(scenario) => scenario,
        Err(error) => return refuse(&error.to_string()),
    };
    let run = scenario.run(&options, &Control::default());
    let (result, _) = run.expect("this run is never cancelled");
    if check {
        let report = scenario.check(&options, &Control::default(), &result);
        let report = report.expect("this run is never cancelled");
        report.breaches().iter().for_each(|breach| eprintln!("{breach:?}"));
        if !report.breaches().is_empty() {
            return ExitCode::FAILURE;
        }
    }
    let json = serde_json::to_string_pretty(&result).expect("plain data can be written");
    match writeln!(stdout(), "{json}") {
        Ok(()) => ExitCode::SUCCESS,
        // The reader, `head` for one, has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reports a mistake of the user: the exit status is 2.
fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
