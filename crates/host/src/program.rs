//! A program of stacks, for `forebay stacks --with PROGRAM`: it runs cells that it is asked for.
//!
//! `PROGRAM list` prints its stacks as a JSON object. `PROGRAM cells` reads a [`Request`] a line
//! and answers each by a line: `{"cell": 0, "result": {...}, "hosts": [...]}`, or `{"cell": 0,
//! "error": "..."}`.

#![expect(clippy::disallowed_methods, reason = "this is the main function of programs")]

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::networks::network;
use crate::{HostError, Network, Report, Stack};

/// A cell that is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its number, which the answer repeats.
    pub cell: u64,
    /// The name of the stack.
    pub stack: String,
    /// The name of a network that is ready, or the path of a scenario file.
    pub network: String,
    /// Assignments to parameters of the network: `duration=10 s`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Root seed; that of the network if absent.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Replication number.
    #[serde(default)]
    pub replication: u64,
}

impl Request {
    /// Run the cell with one of `stacks`: the group `stack` of its network is connections of that.
    ///
    /// # Errors
    /// If there is no such stack or network, or the run has no result.
    pub fn run(&self, stacks: &[Box<dyn Stack>]) -> Result<Report, HostError> {
        let stack = stacks.iter().find(|stack| stack.name() == self.stack).ok_or_else(|| {
            let known: Vec<&str> = stacks.iter().map(|stack| stack.name()).collect();
            let known = known.join(", ");
            HostError::Wrong(format!("stack {}: is not one of {known}", self.stack))
        })?;
        let mut cell = match network(&self.network) {
            Some(text) => Network::from_toml(text),
            None => Network::from_file(Path::new(&self.network))?,
        };
        self.set.iter().for_each(|assignment| {
            cell.set(assignment);
        });
        cell.replication(self.replication);
        // Other random numbers of stacks in each replication, and the same ones on each network.
        let seed = self.seed.unwrap_or(1).wrapping_mul(1 << 20).wrapping_add(self.replication);
        cell.take_over(GROUP, stack.as_ref(), seed)?;
        cell.run(self.seed)
    }

    /// The answer to it.
    #[must_use]
    pub fn answer(&self, stacks: &[Box<dyn Stack>]) -> Value {
        match self.run(stacks) {
            Ok(report) => json!({
                "cell": self.cell, "result": report.result, "hosts": report.hosts,
            }),
            Err(error) => json!({ "cell": self.cell, "error": error.to_string() }),
        }
    }
}

/// The group of flows of a network that are under test.
pub const GROUP: &str = "stack";

/// The main function of a program with `stacks`.
#[must_use]
pub fn main(stacks: &[Box<dyn Stack>]) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match (arguments.next().as_deref(), arguments.next()) {
        (Some("list"), None) => say(&list(stacks)),
        (Some("cells"), None) => cells(stacks),
        _ => Err("read other arguments; allowed are list, and cells".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

/// The stacks, as the command asks for them.
fn list(stacks: &[Box<dyn Stack>]) -> Value {
    let stacks: Vec<Value> = stacks
        .iter()
        .map(|stack| {
            json!({
                "name": stack.name(), "version": stack.version(), "unseeded": stack.unseeded(),
            })
        })
        .collect();
    json!({ "forebay": forebay_scenario::VERSION, "stacks": stacks })
}

fn cells(stacks: &[Box<dyn Stack>]) -> Result<(), String> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| format!("a request cannot be read: {error}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let request: Request = serde_json::from_str(&line)
            .map_err(|error| format!("a request is not one: {error}: {line}"))?;
        say(&request.answer(stacks))?;
    }
    Ok(())
}

fn say(answer: &Value) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{answer}").and_then(|()| out.flush());
    written.map_err(|error| format!("an answer cannot be written: {error}"))
}
