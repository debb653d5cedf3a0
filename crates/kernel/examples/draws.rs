//! Draws of random streams of consecutive names, interleaved, as 32-bit words on standard output.
//!
//!     cargo run --release -p forebay-kernel --example draws -- NAMES STREAMS BITS WORDS
//!
//! NAMES says what differs between neighbouring streams: `members` of a component, component
//! `paths` that end in a number, `replications`, root `seeds`, or members that show `late`. One
//! word of each of the STREAMS streams, then the next of each, and so on, until there are WORDS.
//! With STREAMS = WORDS that is the first word of ever new streams. BITS says which of the 53 bits
//! that variates are made of: `top`, or `low`. Two wrong generators, which a test must find, are
//! also there: `shifted`, in which each stream is its neighbour one draw later, and `counted`,
//! whose streams start from a common state plus their number, mixed by a multiplication only.

#![expect(clippy::disallowed_methods, reason = "a program that talks to its user")]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use forebay_kernel::{Stream, Streams};

const SEED: u64 = 1;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [names, streams, bits, total] = &words[..] else {
        return usage();
    };
    let (Ok(streams), Ok(total)) = (streams.parse::<u64>(), total.parse::<u64>()) else {
        return usage();
    };
    let low = match bits.as_str() {
        "top" => false,
        "low" => true,
        _ => return usage(),
    };
    let written = match names.as_str() {
        "shifted" => write_shifted(streams, total),
        "counted" => write_counted(streams, total),
        _ => match maker(names) {
            Some(make) => write_all(&make, streams, total, low),
            None => return usage(),
        },
    };
    // A reader that has enough closes its end.
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

fn usage() -> ExitCode {
    let text = "draws NAMES STREAMS BITS WORDS: NAMES is members, paths, replications, seeds, \
                late, shifted or counted, BITS top or low\n";
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(2)
}

/// The streams of consecutive names.
fn maker(names: &str) -> Option<Box<dyn Fn(u64) -> Stream>> {
    let root = Streams::new(SEED, 0);
    Some(match names {
        "members" => Box::new(move |k| root.numbered("flows.x.traffic", k)),
        "paths" => Box::new(move |k| root.named(&format!("links.l{k}.queue"))),
        "replications" => Box::new(|k| Streams::new(SEED, k).named("flows.x.traffic")),
        "seeds" => Box::new(|k| Streams::new(k, 0).named("flows.x.traffic")),
        "late" => Box::new(move |k| root.named("links.l.queue").member(k)),
        _ => return None,
    })
}

fn write_all(make: &dyn Fn(u64) -> Stream, streams: u64, total: u64, low: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let word = |stream: &mut Stream| {
        let bits = (stream.uniform() * (1_u64 << 53) as f64) as u64;
        if low { bits as u32 } else { (bits >> 21) as u32 }
    };
    if streams >= total {
        for k in 0..total {
            out.write_all(&word(&mut make(k)).to_le_bytes())?;
        }
        return out.flush();
    }
    let mut all: Vec<Stream> = (0..streams).map(make).collect();
    for _ in 0..total.div_ceil(streams) {
        for stream in &mut all {
            out.write_all(&word(stream).to_le_bytes())?;
        }
    }
    out.flush()
}

/// Each stream a copy of the same, one draw ahead of the one before.
fn write_shifted(streams: u64, total: u64) -> io::Result<()> {
    let mut all: Vec<Stream> = Vec::new();
    let mut stream = Streams::new(SEED, 0).named("shifted");
    for _ in 0..streams {
        all.push(stream.clone());
        stream.uniform();
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for _ in 0..total.div_ceil(streams.max(1)) {
        for stream in &mut all {
            out.write_all(&(stream.below(1 << 32) as u32).to_le_bytes())?;
        }
    }
    out.flush()
}

/// A multiplicative generator of 64 bits whose streams begin side by side; the high word counts.
fn write_counted(streams: u64, total: u64) -> io::Result<()> {
    let mut all: Vec<u64> = (0..streams).map(|k| 0x9e37_79b9_7f4a_7c15 + 2 * k).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    for _ in 0..total.div_ceil(streams.max(1)) {
        for state in &mut all {
            *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d);
            out.write_all(&((*state >> 32) as u32).to_le_bytes())?;
        }
    }
    out.flush()
}
