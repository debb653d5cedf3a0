//! A limit on the time that a battery takes with one mechanism.

#![expect(clippy::disallowed_methods, reason = "a limit that does not hold would hang")]

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time that a battery may take with one mechanism. A debug build takes less than three seconds
/// with the slowest, so that a machine can be busy with much else.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Run `battery`, which concerns the mechanism `name`, for `limit` at most.
///
/// A law that never returns cannot be stopped: its thread is left behind and ends with the process.
///
/// # Panics
/// If the battery does, or has not ended by then.
pub fn within(limit: Duration, name: &str, battery: impl FnOnce() + Send + 'static) {
    let (done, finished) = channel();
    let worker = thread::spawn(move || {
        battery();
        done.send(()).expect("the receiver waits");
    });
    assert!(
        finished.recv_timeout(limit) != Err(RecvTimeoutError::Timeout),
        "{name}: not done after {limit:?}; does the law make up for its due updates one by one, \
         over however long nothing arrived?"
    );
    if let Err(panic) = worker.join() {
        resume_unwind(panic);
    }
}

/// A law that loops does not hang the batteries, but is named.
#[test]
#[should_panic(expected = "looping: not done after 20ms")]
fn a_law_that_loops_is_named() {
    within(Duration::from_millis(20), "looping", || {
        loop {
            thread::park();
        }
    });
}

/// A battery's finding is reported and not lost with its thread.
#[test]
#[should_panic(expected = "a packet is missing")]
fn what_a_battery_finds_is_told() {
    within(LIMIT, "leaking", || panic!("a packet is missing"));
}
