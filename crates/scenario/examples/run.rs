//! Run a scenario file with the engine alone: `cargo run --release --example run -- FILE
//! [PATH=VALUE ...]`.
//!
//! For profiling and for embedding: no Python, no threads. Prints the result as JSON.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that talks to its user")]

use std::process::ExitCode;

use forebay_scenario::{Control, RunOptions, Scenario};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: run FILE [PATH=VALUE ...]");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    match Scenario::parse(&text, &file, &arguments.collect::<Vec<_>>()) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Ok(scenario) => {
            let run = scenario.run(&RunOptions::default(), &Control::default());
            let (result, _) = run.expect("nobody cancels this run");
            println!("{}", serde_json::to_string_pretty(&result).expect("plain data"));
            ExitCode::SUCCESS
        }
    }
}
