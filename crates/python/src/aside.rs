//! Work aside from the thread that Python calls on, which listens for Ctrl-C meanwhile.

#![expect(clippy::disallowed_methods, reason = "Python stays free to be interrupted")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

/// Interval at which the calling thread looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(100);

/// Returns what a panic said.
pub(crate) fn reason(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown reason")
}

/// Do `work` on a thread of its own, without the interpreter lock. On Ctrl-C it is left to itself,
/// and its outcome is dropped.
///
/// # Errors
/// What a signal handler raised.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // There is no receiver any more if the work was interrupted.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    // The receiver is not shared between threads; a mutex lets it cross into the detached closure.
    let receiver = Mutex::new(receiver);
    loop {
        let message =
            py.detach(|| receiver.lock().expect("only this thread locks it").recv_timeout(TICK));
        py.check_signals()?;
        match message {
            Ok(Ok(outcome)) => return Ok(outcome),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends or panics"),
        }
    }
}
