//! QUIC stacks for tables: `forebay stacks table.toml --with target/release/host-quinn`.

use std::process::ExitCode;

use forebay_host::Stack;
use forebay_host::quic::{noq, quinn};

fn main() -> ExitCode {
    let mut stacks: Vec<Box<dyn Stack>> = Vec::new();
    for control in quinn::CONTROLS {
        stacks.extend(quinn::Configured::new(&format!("quinn {control}"), control).map(boxed));
    }
    for control in noq::CONTROLS {
        stacks.extend(noq::Configured::new(&format!("noq {control}"), control).map(boxed));
    }
    forebay_host::program::main(&stacks)
}

fn boxed<S: Stack + 'static>(stack: S) -> Box<dyn Stack> {
    Box::new(stack)
}
