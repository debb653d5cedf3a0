//! Python objects as stacks and applications of hosts: they have the calls of aioquic's
//! `QuicConnection`.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forebay_host::{App, Datagram, Ecn, Endpoint, Member, Progress, Time, Transmit, fail};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};

/// Picoseconds in a second.
const PS_PER_S: f64 = 1e12;

/// Words in which an error is told, and the exception that it is, if it is one.
type Told = (String, Option<PyErr>);

/// The first error of the stacks and applications of a run.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<Told>>>);

impl Raised {
    fn lock(&self) -> MutexGuard<'_, Option<Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Take it, if there is one.
    pub(crate) fn take(&self) -> Option<Told> {
        self.lock().take()
    }

    /// Keep the fault of `party`, if it is the first; returns what the first is told as.
    pub(crate) fn keep(&self, py: Python<'_>, party: &str, fault: Fault) -> String {
        let (told, error) = match fault {
            Fault::Told(told) => (format!("{party} {told}"), None),
            Fault::Raised(error) => {
                let kind =
                    error.get_type(py).name().map_or_else(|_| "?".into(), |name| name.to_string());
                let text = error.value(py).to_string();
                let colon = if text.is_empty() { "" } else { ": " };
                (format!("{party} raised {kind}{colon}{text}"), Some(error))
            }
        };
        self.lock().get_or_insert((told, error)).0.clone()
    }

    /// The result of `call`, which attaches to the interpreter; where it fails, that ends the run.
    fn guard<R>(&self, party: &str, call: impl FnOnce(Python<'_>) -> Result<R, Fault>) -> R {
        let result = Python::attach(|py| call(py).map_err(|fault| self.keep(py, party, fault)));
        result.unwrap_or_else(|told| fail(told))
    }
}

/// A fault of an object in Python.
pub(crate) enum Fault {
    /// An exception.
    Raised(PyErr),
    /// Something that is not allowed: what it did, and what is allowed.
    Told(String),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// A stack with its application, which `endpoint` and `application` make as the host starts.
pub(crate) fn member(endpoint: Py<PyAny>, application: Py<PyAny>, raised: &Raised) -> Member {
    let stack = PyStack {
        make: endpoint,
        made: None,
        clock: Seconds::default(),
        timer: None,
        waiting: VecDeque::new(),
        asked: false,
        addresses: Vec::new(),
        raised: raised.clone(),
    };
    let (made, raised) = (None, raised.clone());
    Member::new(stack, PyApp { make: application, made, delivered: 0, raised })
}

/// Simulated time as Python is told it: seconds, which never decrease.
#[derive(Default)]
struct Seconds {
    last: f64,
    /// Times at which the stack and its application want to be woken.
    wanted: [Option<f64>; 2],
}

impl Seconds {
    /// `now` in seconds. Where something is due at `now` it is the very number that was asked for:
    /// stacks compare the two.
    fn at(&mut self, now: Time) -> f64 {
        let due = self.wanted.iter().flatten().filter(|wanted| time_of(**wanted) == now);
        let seconds = due.copied().reduce(f64::max).unwrap_or_else(|| now.seconds());
        self.last = self.last.max(seconds);
        self.last
    }
}

/// The first instant that is not before so many seconds.
fn time_of(seconds: f64) -> Time {
    // What is negative becomes 0, and what no run reaches the largest number.
    Time::from_ps((seconds * PS_PER_S).ceil() as u64)
}

/// A stack in Python, and what waits between it and its host.
struct PyStack {
    make: Py<PyAny>,
    made: Option<Made>,
    clock: Seconds,
    /// The answer of `get_timer`, if nothing has happened since.
    timer: Option<Time>,
    /// Datagrams that it has given.
    waiting: VecDeque<(Transmit, PyBackedBytes)>,
    /// True once it was asked for datagrams, until all of them were sent.
    asked: bool,
    /// Addresses that it was told, as it knows them.
    addresses: Vec<(SocketAddr, Py<PyTuple>)>,
    raised: Raised,
}

/// A stack that was made, and its calls.
struct Made {
    stack: Py<PyAny>,
    receive: Py<PyAny>,
    send: Py<PyAny>,
    get_timer: Py<PyAny>,
    handle_timer: Py<PyAny>,
    moved: Option<Py<PyAny>>,
    probes: Option<Py<PyAny>>,
    ecn: bool,
}

pub(crate) const STACK: &str = "its stack";
const APPLICATION: &str = "its application";

impl Made {
    fn of(stack: &Bound<'_, PyAny>) -> Result<Self, Fault> {
        let call = |name: &str| -> Result<Py<PyAny>, Fault> {
            optional(stack, name)?.ok_or_else(|| {
                Fault::Told(format!(
                    "is {}, which has no {name}; it is to have receive_datagram, \
                     datagrams_to_send, get_timer and handle_timer",
                    shown(stack)
                ))
            })
        };
        Ok(Self {
            receive: call("receive_datagram")?,
            send: call("datagrams_to_send")?,
            get_timer: call("get_timer")?,
            handle_timer: call("handle_timer")?,
            moved: optional(stack, "moved")?,
            probes: optional(stack, "probes")?,
            ecn: match stack.getattr_opt("ecn")? {
                Some(ecn) => ecn.is_truthy()?,
                None => false,
            },
            stack: stack.clone().unbind(),
        })
    }
}

/// The attribute `name` of an object, if it has it.
fn optional(object: &Bound<'_, PyAny>, name: &str) -> Result<Option<Py<PyAny>>, Fault> {
    Ok(object.getattr_opt(name)?.map(Bound::unbind))
}

/// An object as messages show it.
fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string())
}

impl PyStack {
    /// The stack, which is made if it is not.
    fn made(&mut self, py: Python<'_>, now: f64) -> Result<&Made, Fault> {
        if self.made.is_none() {
            let made = Made::of(&self.make.bind(py).call1((now,))?)?;
            self.made = Some(made);
        }
        Ok(self.made.as_ref().expect("it was made"))
    }

    /// The result of a call of the stack, whose timer may have changed afterwards; `None` without a
    /// stack.
    fn call<R>(
        &mut self,
        now: Time,
        call: impl FnOnce(Python<'_>, &Made, f64) -> Result<R, Fault>,
    ) -> Option<R> {
        let made = self.made.as_ref()?;
        let now = self.clock.at(now);
        self.timer = None;
        Some(self.raised.guard(STACK, |py| call(py, made, now)))
    }

    fn address(&mut self, address: SocketAddr) -> Py<PyTuple> {
        Python::attach(|py| {
            if let Some((_, known)) = self.addresses.iter().find(|(known, _)| *known == address) {
                return known.clone_ref(py);
            }
            let told = (address.ip().to_string(), address.port()).into_pyobject(py);
            let told = told.expect("words and numbers are objects").unbind();
            self.addresses.push((address, told.clone_ref(py)));
            told
        })
    }

    /// Ask the stack for what it has to send.
    fn ask(&mut self, now: Time) {
        let Some(made) = &self.made else { return };
        let now = self.clock.at(now);
        self.timer = None;
        let Self { addresses, waiting, raised, .. } = self;
        raised.guard(STACK, |py| {
            for item in made.send.bind(py).call1((now,))?.try_iter()? {
                waiting.push_back(outgoing(&item?, made.ecn, addresses)?);
            }
            Ok(())
        });
    }
}

/// A datagram that a stack gave: `(data, addr)`, or `(data, addr, ecn)` of one that knows ECN.
fn outgoing(
    item: &Bound<'_, PyAny>,
    ecn: bool,
    addresses: &[(SocketAddr, Py<PyTuple>)],
) -> Result<(Transmit, PyBackedBytes), Fault> {
    let wrong = || {
        let allowed = if ecn { "(data, addr) and (data, addr, ecn)" } else { "(data, addr)" };
        Fault::Told(format!("gave {} to be sent; allowed are {allowed}", shown(item)))
    };
    let parts = item.cast::<PyTuple>().map_err(|_| wrong())?;
    let field = match parts.len() {
        2 => Ecn::NotEct,
        3 if ecn => codepoint(&parts.get_item(2)?).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    let bytes = parts.get_item(0)?.extract().map_err(|_| wrong())?;
    let to = parts.get_item(1)?;
    let known = addresses.iter().find(|(_, known)| known.is(&to)).map(|(address, _)| *address);
    let to = known.or_else(|| address_of(&to)).ok_or_else(wrong)?;
    Ok((Transmit::to(to).with_ecn(field), bytes))
}

fn codepoint(given: &Bound<'_, PyAny>) -> Option<Ecn> {
    let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    all.get(given.extract::<usize>().ok()?).copied()
}

/// The address that `(host, port)` is.
fn address_of(given: &Bound<'_, PyAny>) -> Option<SocketAddr> {
    let parts = given.cast::<PyTuple>().ok()?;
    let host: IpAddr = parts.get_item(0).ok()?.extract::<String>().ok()?.parse().ok()?;
    Some(SocketAddr::new(host, parts.get_item(1).ok()?.extract().ok()?))
}

impl Endpoint for PyStack {
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        let from = self.address(datagram.from);
        self.call(now, |py, made, now| {
            let arguments = (PyBytes::new(py, datagram.bytes), from, now);
            if made.ecn {
                let ecn = PyDict::new(py);
                ecn.set_item("ecn", datagram.ecn as u8)?;
                made.receive.call(py, arguments, Some(&ecn))?;
            } else {
                made.receive.call1(py, arguments)?;
            }
            Ok(())
        });
    }

    fn transmit(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Transmit> {
        // As programs that drive such a stack on sockets do, it is asked once for all that it has.
        if !std::mem::replace(&mut self.asked, true) {
            self.ask(now);
        }
        let Some((transmit, given)) = self.waiting.pop_front() else {
            self.asked = false;
            return None;
        };
        bytes.extend_from_slice(&given);
        Some(transmit)
    }

    fn timeout(&mut self) -> Option<Time> {
        let made = self.made.as_ref()?;
        if let Some(timer) = self.timer {
            return Some(timer);
        }
        let wanted = self.raised.guard(STACK, |py| {
            let given = made.get_timer.bind(py).call0()?;
            if given.is_none() { Ok(None) } else { seconds_of(&given, "get_timer").map(Some) }
        });
        self.clock.wanted[0] = wanted;
        self.timer = Some(wanted.map_or(Time::NEVER, time_of));
        self.timer
    }

    fn wake(&mut self, now: Time) {
        self.call(now, |py, made, now| Ok(made.handle_timer.call1(py, (now,))?));
    }

    fn moved(&mut self, now: Time, local: SocketAddr) {
        let local = self.address(local);
        self.call(now, |py, made, now| {
            made.moved.as_ref().map(|moved| moved.call1(py, (now, local))).transpose()?;
            Ok(())
        });
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(Made { probes: Some(probes), .. }) = &self.made {
            self.raised.numbers(STACK, "probes", probes, visit);
        }
    }
}

impl Raised {
    /// Visit the numbers by name that `source` is, or gives. After an error the run continues,
    /// and has no result.
    fn numbers(
        &self,
        party: &str,
        name: &str,
        source: &Py<PyAny>,
        visit: &mut dyn FnMut(&str, f64),
    ) {
        Python::attach(|py| {
            let mut read = || -> Result<(), Fault> {
                let given = value_of(source.bind(py))?;
                let wrong = || {
                    let given = shown(&given);
                    Fault::Told(format!("gave {given} as {name}; allowed are numbers by name"))
                };
                for (name, value) in given.cast::<PyDict>().map_err(|_| wrong())?.iter() {
                    let name: String = name.extract().map_err(|_| wrong())?;
                    visit(&name, value.extract().map_err(|_| wrong())?);
                }
                Ok(())
            };
            if let Err(fault) = read() {
                self.keep(py, party, fault);
            }
        });
    }
}

/// The value of an attribute, or, of a method, the one that it gives.
fn value_of<'py>(attribute: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if attribute.is_callable() { attribute.call0() } else { Ok(attribute.clone()) }
}

/// A time in seconds that `what` gave.
fn seconds_of(given: &Bound<'_, PyAny>, what: &str) -> Result<f64, Fault> {
    match given.extract::<f64>() {
        Ok(seconds) if !seconds.is_nan() => Ok(seconds),
        _ => Err(Fault::Told(format!(
            "gave {} from {what}; allowed are a time in seconds, and None",
            shown(given)
        ))),
    }
}

/// An application in Python.
struct PyApp {
    make: Py<PyAny>,
    /// The application, and what advances it: a method, or itself if it is a function.
    made: Option<(Py<PyAny>, Py<PyAny>)>,
    /// Bytes that it had read when it was asked last.
    delivered: u64,
    raised: Raised,
}

impl PyApp {
    fn made(&mut self, py: Python<'_>) -> Result<&(Py<PyAny>, Py<PyAny>), Fault> {
        if self.made.is_none() {
            let app = self.make.bind(py).call0()?;
            let advance = match app.getattr_opt("advance")? {
                Some(advance) => advance,
                None if app.is_callable() => app.clone(),
                None => {
                    return Err(Fault::Told(format!(
                        "is {}; it is to have advance(now, connection), or to be such a function",
                        shown(&app)
                    )));
                }
            };
            self.made = Some((app.unbind(), advance.unbind()));
        }
        Ok(self.made.as_ref().expect("it was made"))
    }
}

impl App<PyStack> for PyApp {
    fn advance(&mut self, now: Time, endpoint: &mut PyStack) -> Progress {
        let seconds = endpoint.clock.at(now);
        endpoint.timer = None;
        let raised = self.raised.clone();
        if endpoint.made.is_none() {
            raised.guard(STACK, |py| endpoint.made(py, seconds).map(|_| ()));
        }
        let (progress, wanted) = raised.guard(APPLICATION, |py| {
            let stack = endpoint.made(py, seconds)?.stack.clone_ref(py);
            let (app, advance) = self.made(py)?;
            let given = progress_of(&advance.bind(py).call1((seconds, stack))?)?;
            if let Some(delivered) = app.bind(py).getattr_opt("delivered")? {
                let delivered = value_of(&delivered)?;
                self.delivered = delivered.extract().map_err(|_| {
                    let given = shown(&delivered);
                    Fault::Told(format!("gave {given} as delivered; allowed is a number of bytes"))
                })?;
            }
            Ok(given)
        });
        endpoint.clock.wanted[1] = wanted;
        progress
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn figures(&self, visit: &mut dyn FnMut(&str, f64)) {
        let Some((app, _)) = &self.made else { return };
        let figures = Python::attach(|py| {
            app.bind(py).getattr_opt("figures").ok().flatten().map(Bound::unbind)
        });
        if let Some(figures) = figures {
            self.raised.numbers(APPLICATION, "figures", &figures, visit);
        }
    }
}

/// Progress of an application by what `advance` gave, and the time that it wants to be woken at.
fn progress_of(given: &Bound<'_, PyAny>) -> Result<(Progress, Option<f64>), Fault> {
    if given.is_none() {
        return Ok((Progress::Waiting, None));
    }
    if given.cast::<PyBool>().is_ok_and(PyBoolMethods::is_true) {
        return Ok((Progress::Finished, None));
    }
    if let Some(reason) = given.getattr_opt("reason")? {
        return Ok((Progress::Failed(reason.str()?.to_string()), None));
    }
    match given.extract::<f64>() {
        Ok(seconds) if !seconds.is_nan() && !given.is_instance_of::<PyBool>() => {
            Ok((Progress::Until(time_of(seconds)), Some(seconds)))
        }
        _ => Err(Fault::Told(format!(
            "gave {} from advance; allowed are None, a time in seconds, True and \
             forebay.host.Failed(reason)",
            shown(given)
        ))),
    }
}
