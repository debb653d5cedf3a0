//! Stacks in C, as endpoints with their applications.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::net::SocketAddr;

use forebay_host::{App, Datagram, Ecn, Endpoint, Member, Progress, Time, Transmit, fail};

use crate::abi;
use crate::call::text;

thread_local! {
    /// Reason for which the stack that is called ends the run.
    static STOPPED: RefCell<Option<String>> = const { RefCell::new(None) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_stop(reason: *const c_char) {
    // SAFETY: the header asks for a text.
    let reason = unsafe { text(reason, "its reason") }.map_or_else(|why| why, str::to_owned);
    STOPPED.with_borrow_mut(|stopped| {
        stopped.get_or_insert(reason);
    });
}

/// Forget what a stack has said outside a run.
pub(crate) fn clear() {
    STOPPED.take();
}

/// A table of functions that was checked, and the pointer that each is handed.
#[derive(Clone, Copy)]
struct Stack {
    calls: abi::Endpoint,
    own: *mut c_void,
}

// SAFETY: hosts are called one at a time, in the thread that runs their network.
unsafe impl Send for Stack {}

/// A stack with the application that is behind the same functions.
struct Both {
    stack: Stack,
    buffer: Box<[u8; abi::MAX_DATAGRAM]>,
}

/// The application's side of it.
struct Application(Stack);

/// The stack at `own` by the functions at `calls`, as a member of a network.
///
/// # Safety
/// `calls` is null or leads to a table as the header has it, whose functions may be called with
/// `own` as long as the member is there.
pub(crate) unsafe fn member(
    calls: *const abi::Endpoint,
    own: *mut c_void,
) -> Result<Member, String> {
    if calls.is_null() {
        return Err("calls is NULL; allowed is a forebay_endpoint".to_owned());
    }
    let expected = size_of::<abi::Endpoint>();
    // SAFETY: a table begins with its size; the rest is read where that is right.
    let size = unsafe { (&raw const (*calls).size).read() };
    if size != expected {
        return Err(format!(
            "calls: its size is {size} B; a forebay_endpoint of version {} of the interface has \
             {expected} B",
            abi::VERSION
        ));
    }
    // SAFETY: by the contract of this function.
    let stack = Stack { calls: unsafe { *calls }, own };
    let missing = match &stack.calls {
        abi::Endpoint { receive: None, .. } => Some("receive is NULL"),
        abi::Endpoint { transmit: None, .. } => Some("transmit is NULL"),
        abi::Endpoint { timeout: Some(_), wake: None, .. } => {
            Some("wake is NULL, though timeout is not")
        }
        _ => None,
    };
    match missing {
        Some(missing) => Err(format!("calls: {missing}")),
        None => {
            let buffer = Box::new([0; abi::MAX_DATAGRAM]);
            Ok(Member::new(Both { stack, buffer }, Application(stack)))
        }
    }
}

/// The result of `call` of a function, unless that has asked for the end of the run.
fn unless_stopped<R>(call: impl FnOnce() -> R) -> R {
    let value = call();
    match STOPPED.take() {
        Some(reason) => end(&reason),
        None => value,
    }
}

/// End the run: a function has asked for that, or its answer is not allowed.
fn end(reason: &str) -> ! {
    fail(format!("its stack ends the run: {reason}"))
}

impl Endpoint for Both {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        let Stack { calls, own } = self.stack;
        let shown = abi::Datagram {
            from: datagram.from.into(),
            to: datagram.to.into(),
            ecn: datagram.ecn as u8,
            dscp: datagram.dscp,
            bytes: datagram.bytes.as_ptr(),
            length: datagram.bytes.len(),
        };
        if let Some(receive) = calls.receive {
            // SAFETY: by the contract of `member`, here and below.
            unless_stopped(|| unsafe { receive(own, now.ps(), &raw const shown) });
        }
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        let Stack { calls, own } = self.stack;
        let mut out = abi::Transmit { to: abi::Address::NONE, ecn: 0, dscp: abi::DSCP_OF_FLOW };
        let (buffer, capacity) = (self.buffer.as_mut_ptr(), self.buffer.len());
        let length = calls.transmit.map_or(0, |transmit| {
            // SAFETY: the buffer has that many bytes.
            unless_stopped(|| unsafe { transmit(own, now.ps(), buffer, capacity, &raw mut out) })
        });
        if length == 0 {
            return None;
        }
        let Some(written) = self.buffer.get(..length) else {
            end(&format!("transmit returned {length} B; its buffer has {capacity} B"))
        };
        bytes.extend_from_slice(written);
        let ecn = match out.ecn {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            3 => Ecn::Ce,
            other => end(&format!("transmit wrote {other} as ECN field; allowed are 0 to 3")),
        };
        let dscp = match out.dscp {
            abi::DSCP_OF_FLOW => None,
            dscp @ 0..64 => Some(dscp),
            other => end(&format!("transmit wrote {other} as DSCP; allowed are 0 to 63")),
        };
        Some(Transmit { to: out.to.into(), ecn, dscp })
    }

    fn timeout(&mut self) -> Option<Time> {
        let Stack { calls, own } = self.stack;
        let timeout = calls.timeout?;
        // SAFETY: as above.
        let time = unless_stopped(|| unsafe { timeout(own) });
        (time != abi::NO_TIME).then(|| Time::from_ps(time))
    }

    fn wake(&mut self, now: Time) {
        let Stack { calls, own } = self.stack;
        if let Some(wake) = calls.wake {
            // SAFETY: as above.
            unless_stopped(|| unsafe { wake(own, now.ps()) });
        }
    }

    fn moved(&mut self, now: Time, local: SocketAddr) {
        let Stack { calls, own } = self.stack;
        if let Some(moved) = calls.moved {
            // SAFETY: as above.
            unless_stopped(|| unsafe { moved(own, now.ps(), local.into()) });
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let Stack { calls, own } = self.stack;
        if let Some(probes) = calls.probes {
            shown(visit, |take, to| {
                // SAFETY: as above.
                unsafe { probes(own, take, to) };
            });
        }
    }
}

impl App<Both> for Application {
    fn advance(&mut self, now: Time, _endpoint: &mut Both) -> Progress {
        let Stack { calls, own } = self.0;
        let Some(advance) = calls.advance else { return Progress::Waiting };
        let mut out = abi::Progress { until_ps: abi::NO_TIME, reason: std::ptr::null() };
        // SAFETY: as above.
        let code = unless_stopped(|| unsafe { advance(own, now.ps(), &raw mut out) });
        match code {
            abi::progress::WAITING => Progress::Waiting,
            abi::progress::BUSY => Progress::Busy,
            abi::progress::UNTIL => Progress::Until(Time::from_ps(out.until_ps)),
            abi::progress::FINISHED => Progress::Finished,
            abi::progress::FAILED if out.reason.is_null() => {
                Progress::Failed("no reason is given".to_owned())
            }
            abi::progress::FAILED => {
                // SAFETY: the header asks for a text.
                let reason = unsafe { text(out.reason, "its reason") };
                Progress::Failed(reason.map_or_else(|why| why, str::to_owned))
            }
            other => end(&format!("advance returned {other}; allowed are 0 to 4")),
        }
    }

    fn delivered(&self) -> u64 {
        let Stack { calls, own } = self.0;
        // SAFETY: as above.
        calls.delivered.map_or(0, |delivered| unsafe { delivered(own) })
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        let Stack { calls, own } = self.0;
        if let Some(figures) = calls.figures {
            shown(visit, |take, to| {
                // SAFETY: as above.
                unsafe { figures(own, take, to) };
            });
        }
    }
}

/// Have `call` visit quantities by a function that C can call.
fn shown(visit: &mut dyn FnMut(&str, f64), call: impl FnOnce(abi::Visit, *mut c_void)) {
    let mut all: Vec<(String, f64)> = Vec::new();
    call(take, (&raw mut all).cast());
    all.iter().for_each(|(name, value)| visit(name, *value));
}

unsafe extern "C" fn take(to: *mut c_void, name: *const c_char, value: f64) {
    // SAFETY: `to` is what `shown` hands in, and `name` a text, as the header says.
    let (all, name) = unsafe { (&mut *to.cast::<Vec<(String, f64)>>(), text(name, "a name")) };
    all.push((name.map_or_else(|why| why, str::to_owned), value));
}
