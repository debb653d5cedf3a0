//! The functions of the module. A page writes a request of so many bytes to where [`input`] says,
//! calls a function, and reads the answer of [`output_length`] bytes from [`output`].
#![expect(unsafe_code, reason = "functions of a module have names that nothing else may have")]

use std::cell::RefCell;

use crate::desk::{Answer, Desk};

/// Buffers that a page and the module hand to each other, and the run.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    desk: Desk,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    /// Reason why the engine failed. It stands apart, as the state is in use when that happens.
    static FAILURE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the place to write a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Returns the place of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Returns the number of bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Have a failure of the engine leave its reason behind: once, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn prepare() {
    std::panic::set_hook(Box::new(|info| {
        FAILURE.with_borrow_mut(|failure| *failure = info.to_string().into_bytes());
    }));
}

/// Returns the place of the reason why the engine failed: after that, nothing else may be called.
#[unsafe(no_mangle)]
pub extern "C" fn failure() -> *const u8 {
    FAILURE.with_borrow(Vec::as_ptr)
}

/// Returns the number of bytes of that reason.
#[unsafe(no_mangle)]
pub extern "C" fn failure_length() -> usize {
    FAILURE.with_borrow(Vec::len)
}

/// Answer with the catalogue of mechanisms.
#[unsafe(no_mangle)]
pub extern "C" fn catalogue() {
    STATE.with_borrow_mut(|state| state.output = Desk::catalogue().into_bytes());
}

/// Answer a request with what its scenario consists of.
#[unsafe(no_mangle)]
pub extern "C" fn check() {
    STATE.with_borrow_mut(|state| {
        let answer = text(&state.input).and_then(Desk::check);
        state.answer(answer);
    });
}

/// Answer a request to change a parameter with the scenario after it.
#[unsafe(no_mangle)]
pub extern "C" fn change() {
    STATE.with_borrow_mut(|state| {
        let answer = text(&state.input).and_then(Desk::change);
        state.answer(answer);
    });
}

/// Begin the run that a request asks for, and answer with the layout of its network.
#[unsafe(no_mangle)]
pub extern "C" fn begin() {
    STATE.with_borrow_mut(|state| {
        let answer = text(&state.input).and_then(|request| state.desk.begin(request));
        state.answer(answer);
    });
}

/// Continue for about `events` events, at most to the next sample: 0 if that was not reached, 1 at
/// a sample, 2 at the end, 3 if the run cannot continue, with the reason as answer.
#[unsafe(no_mangle)]
pub extern "C" fn advance(events: u32) -> u32 {
    STATE.with_borrow_mut(|state| match state.desk.advance(events.into()) {
        Ok((_, true)) => 2,
        Ok((arrived, false)) => u32::from(arrived),
        Err(error) => {
            state.answer(Err(error));
            3
        }
    })
}

/// Simulated time at which the run stands after it reached a sample, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn reached() -> f64 {
    STATE.with_borrow(|state| state.desk.reached_s())
}

/// Answer with the samples since this was called last, and what has been counted.
#[unsafe(no_mangle)]
pub extern "C" fn look() {
    STATE.with_borrow_mut(|state| {
        let answer = state.desk.look();
        state.answer(answer);
    });
}

/// Continue to the next event that is about a packet, and answer with what happened.
#[unsafe(no_mangle)]
pub extern "C" fn step() {
    STATE.with_borrow_mut(|state| {
        let answer = state.desk.step();
        state.answer(answer);
    });
}

/// Answer with the distribution of delays so far.
#[unsafe(no_mangle)]
pub extern "C" fn delays() {
    STATE.with_borrow_mut(|state| {
        let answer = state.desk.delays();
        state.answer(answer);
    });
}

/// Answer with the result of the run, which is over.
#[unsafe(no_mangle)]
pub extern "C" fn result() {
    STATE.with_borrow_mut(|state| {
        let answer = state.desk.result();
        state.answer(answer);
    });
}

impl State {
    fn answer(&mut self, answer: Answer) {
        let (Ok(document) | Err(document)) = answer;
        self.output = document.to_string().into_bytes();
    }
}

fn text(input: &[u8]) -> Result<&str, serde_json::Value> {
    std::str::from_utf8(input).map_err(|error| {
        let message = format!("not UTF-8: {error}");
        serde_json::json!({ "error": { "message": message, "path": "", "line": null } })
    })
}
