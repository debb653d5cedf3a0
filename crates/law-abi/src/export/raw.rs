//! The functions of a library, which the engine calls by pointers, and the reading of states and
//! facts: all that is unsafe on the side of a library.
//!
//! The state of a law is the words of its parameters, which the engine writes, and a pointer to the
//! law itself, which is null before its creation.

#![expect(unsafe_code, reason = "a C interface: what it hands in are pointers")]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::{Once, OnceLock};

use forebay_kernel::Stream;
use forebay_parameters::{Entry, Field, Probe, Problem};

use super::fields::{self, Found};
use super::{Exported, Guest, build, check_flags, link_rate};
use crate::abi::{self, CreateFacts, Head, Host, Law, Laws, parameter_type, probe_type};

// ---- The table of a library ---------------------------------------------------------------------

/// The table of a library, made when it is first asked for.
#[doc(hidden)]
#[derive(Default)]
pub struct Table(OnceLock<Result<Shared<&'static Laws>, String>>);

impl Table {
    /// One that is not made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The table of `laws`; none if one of them cannot be carried, which `host` is told.
    pub fn get(
        &self,
        host: Option<&'static Host>,
        laws: impl FnOnce() -> Vec<Result<Law, String>>,
    ) -> Option<&'static Laws> {
        let host = host?;
        if host.version != abi::VERSION || (host.size as usize) < size_of::<Host>() {
            let message = format!(
                "the library is made for version {} of the interface of laws, and this Forebay \
                 has version {}",
                abi::VERSION,
                host.version
            );
            tell(host, null_mut(), None, &message);
            return None;
        }
        HOST.get_or_init(|| Shared(host));
        keep_messages();
        let table = self.0.get_or_init(|| {
            let (mut table, mut problems) = (Vec::new(), Vec::new());
            for law in laws() {
                match law {
                    Ok(law) => table.push(&raw const *Box::leak(Box::new(law))),
                    Err(problem) => problems.push(problem),
                }
            }
            if !problems.is_empty() {
                return Err(problems.join("; "));
            }
            let laws = Laws {
                size: size_of::<Laws>() as u32,
                version: abi::VERSION,
                count: table.len() as u64,
                laws: table.leak().as_ptr(),
            };
            Ok(Shared(Box::leak(Box::new(laws))))
        });
        match table {
            Ok(table) => Some(table.0),
            Err(message) => {
                tell(host, null_mut(), None, message);
                None
            }
        }
    }
}

/// A leaked thing that is never written, with pointers to the like.
struct Shared<T>(T);

// SAFETY: what the pointers lead to is never written.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as said.
unsafe impl<T> Sync for Shared<T> {}

/// The functions of the host.
static HOST: OnceLock<Shared<&'static Host>> = OnceLock::new();

/// The table of a law of kind `G`.
pub(super) fn table<L: Exported, G: Guest>(
    entry: &'static Entry<G::Build>,
    flags: u32,
    decisions: &[usize],
) -> Law {
    let mut decide: [Option<abi::Call>; abi::MAX_DECISIONS] = [
        Some(call::<L, G, 0>),
        Some(call::<L, G, 1>),
        Some(call::<L, G, 2>),
        Some(call::<L, G, 3>),
        Some(call::<L, G, 4>),
        Some(call::<L, G, 5>),
        None,
        None,
    ];
    for (at, call) in decide.iter_mut().enumerate() {
        *call = call.filter(|_| decisions.contains(&at));
    }
    let parameters: Vec<abi::Parameter> = entry.fields.iter().map(parameter).collect();
    let probes: Vec<abi::Probe> = entry.probes.iter().map(probe_of).collect();
    Law {
        size: size_of::<Law>() as u32,
        kind: G::KIND,
        flags,
        state_bytes: (size_of::<u64>() * L::WORDS + size_of::<*mut c_void>()) as u32,
        name: text(entry.name),
        summary: text(entry.summary),
        source: text(entry.source),
        example: text(entry.example),
        contents: null(),
        parameter_count: parameters.len() as u32,
        probe_count: probes.len() as u32,
        parameters: parameters.leak().as_ptr(),
        probes: probes.leak().as_ptr(),
        create: Some(create::<L, G>),
        destroy: Some(destroy::<L, G>),
        decide,
        probe: Some(probe::<L, G>),
    }
}

fn parameter(field: &Field) -> abi::Parameter {
    let word = |(name, meaning): &(&str, &str)| abi::Word {
        name: text(name),
        meaning: text(&fields::words_of(meaning)),
    };
    let words: Vec<abi::Word> = field.choices.iter().map(word).collect();
    abi::Parameter {
        size: size_of::<abi::Parameter>() as u32,
        r#type: fields::type_of(field).unwrap_or_default(),
        flags: fields::flags(field),
        word_count: words.len() as u32,
        name: text(field.name),
        meaning: text(&fields::words_of(field.meaning)),
        source: text(field.source),
        default_value: field
            .default
            .map_or(null(), |default| text(&fields::json(&default.value()))),
        words: if words.is_empty() { null() } else { words.leak().as_ptr() },
    }
}

fn probe_of(probe: &Probe) -> abi::Probe {
    abi::Probe {
        size: size_of::<abi::Probe>() as u32,
        r#type: probe_type::DOUBLE,
        offset: 0,
        name: text(probe.name),
        unit: text(probe.unit),
        meaning: text(probe.meaning),
    }
}

/// A text that stays.
fn text(text: &str) -> *const c_char {
    CString::new(text.replace('\0', " ")).unwrap_or_default().into_raw()
}

// ---- Calls --------------------------------------------------------------------------------------

/// Facts of a decision.
///
/// # Safety
/// They begin with a [`Head`], in the layout of C, and are plain data.
pub(super) unsafe trait Facts {}

macro_rules! facts {
    ($($name:ident),*) => { $(
        // SAFETY: `head` is the first field of a struct in the layout of C, all of numbers.
        unsafe impl Facts for abi::$name {}
    )* };
}

facts!(QueueFacts, ConditionerFacts, ControlFacts, TrafficFacts, ImpairmentFacts);

// SAFETY: as said.
unsafe impl Facts for CreateFacts {}

/// A law in its state.
struct Instance<G> {
    law: G,
    /// A panic where it could not be reported.
    trouble: Cell<Option<String>>,
}

/// Place of the pointer to the law in its state.
///
/// # Safety
/// `state` is that of a law `L`.
unsafe fn place<L: Exported, G>(state: *mut c_void) -> *mut *mut Instance<G> {
    // SAFETY: a state has room for the pointer behind the words of the parameters.
    unsafe { state.cast::<u64>().add(L::WORDS).cast() }
}

/// The engine's facts, if they are as long as those that this library knows.
///
/// # Safety
/// `facts` are of the kind `F`, of this call, and nothing else refers to them.
unsafe fn facts_of<'a, F: Facts>(facts: *mut c_void) -> Result<&'a mut F, String> {
    // SAFETY: facts begin with a head.
    let size = unsafe { (*facts.cast::<Head>()).size } as usize;
    if size < size_of::<F>() {
        return Err(format!(
            "this Forebay hands in {size} B of facts, and the library is made for one that hands \
             in {}",
            size_of::<F>()
        ));
    }
    // SAFETY: they are as long as the struct.
    Ok(unsafe { &mut *facts.cast::<F>() })
}

const _: () = assert!(size_of::<Stream>() == size_of::<[u64; 4]>());
const _: () = assert!(align_of::<Stream>() == align_of::<u64>());

/// The random stream of facts, as both sides know it: the four words of xoshiro256++.
///
/// # Safety
/// `facts` are of this call.
unsafe fn stream_of<'a>(facts: *mut c_void) -> Option<&'a mut Stream> {
    // SAFETY: `random` is null or leads to the four words, which are all that a stream is.
    unsafe { (*facts.cast::<Head>()).random.cast::<Stream>().as_mut() }
}

unsafe extern "C" fn call<L: Exported, G: Guest, const DECISION: usize>(
    state: *mut c_void,
    facts: *mut c_void,
) -> i32 {
    // SAFETY: the engine hands in the state that `create` has filled, and facts of this kind.
    let (instance, stream, given) = unsafe {
        let instance = (*place::<L, G>(state)).as_mut();
        (instance, stream_of(facts), facts_of::<G::Facts>(facts))
    };
    let answer = caught(|| {
        let instance = instance.ok_or("it was not created")?;
        if let Some(trouble) = instance.trouble.take() {
            return Err(trouble);
        }
        instance.law.decide(DECISION, given?, stream)
    });
    match answer {
        Ok(Ok(code)) => code,
        Ok(Err(message)) | Err(message) => fail(facts, None, &message),
    }
}

unsafe extern "C" fn create<L: Exported, G: Guest>(state: *mut c_void, facts: *mut c_void) -> i32 {
    // SAFETY: the engine has written the words of the parameters, and hands in facts of a creation.
    let (rate, entry) = match unsafe { facts_of::<CreateFacts>(facts) } {
        Ok(given) => (link_rate(given), L::entry().downcast_ref::<Entry<G::Build>>()),
        Err(message) => return fail(facts, None, &message),
    };
    let Some(entry) = entry else { return fail(facts, None, "its entry is of another kind") };
    // SAFETY: as said.
    let found = unsafe { words(entry.fields, state.cast()) };
    let values = match fields::table(entry.fields, found) {
        Ok(values) => values,
        Err((parameter, message)) => return fail(facts, Some(&parameter), &message),
    };
    let made = caught(|| {
        build(values, rate, |given| G::make(entry.build, given)).and_then(|law| {
            let flags = check_flags(law.flags(), L::flags().get().copied());
            flags.map_err(|message| Problem { path: String::new(), line: None, message })?;
            Ok(Box::new(Instance { law, trouble: Cell::new(None) }))
        })
    });
    match made {
        Ok(Ok(instance)) => {
            // SAFETY: the state is of this law.
            unsafe { place::<L, G>(state).write(Box::into_raw(instance)) };
            0
        }
        Ok(Err(Problem { path, message, .. })) => {
            let key = path.split(['.', '[']).next().unwrap_or_default();
            let parameter = entry.fields.iter().find(|field| field.name == key);
            fail(facts, parameter.map(|field| field.name), &message)
        }
        Err(message) => fail(facts, None, &message),
    }
}

unsafe extern "C" fn destroy<L: Exported, G: Guest>(state: *mut c_void) {
    // SAFETY: the state is of this law, and its pointer null or what `create` has written.
    unsafe {
        let place = place::<L, G>(state);
        let instance = place.replace(null_mut());
        if !instance.is_null() {
            // There is no way to report a panic of a law that ends.
            let _ = caught(|| drop(Box::from_raw(instance)));
        }
    }
}

unsafe extern "C" fn probe<L: Exported, G: Guest>(state: *const c_void, values: *mut f64) {
    let Some(entry) = L::entry().downcast_ref::<Entry<G::Build>>() else { return };
    // SAFETY: the state is of this law and only read; there is room for the value of each probe.
    let (instance, values) = unsafe {
        let values = match entry.probes.len() {
            0 => &mut [],
            count => std::slice::from_raw_parts_mut(values, count),
        };
        ((*place::<L, G>(state.cast_mut())).as_ref(), values)
    };
    // What a law does not know (yet) is no number.
    values.fill(f64::NAN);
    let Some(instance) = instance else { return };
    let visited = caught(|| {
        instance.law.probes(&mut |name, value| {
            let known = entry.probes.iter().position(|probe| probe.name == name);
            if let Some(at) = known {
                values[at] = value;
            }
        });
    });
    if let Err(message) = visited {
        instance.trouble.set(Some(message));
    }
}

/// The values of parameters at the start of a state.
///
/// # Safety
/// The state begins with words for these fields, as the engine writes them.
unsafe fn words(fields: &[Field], mut at: *const u64) -> Vec<Found> {
    let mut all = Vec::new();
    for field in fields {
        // SAFETY: there are as many words as the field takes.
        let own = unsafe { std::slice::from_raw_parts(at, fields::words(field)) };
        // SAFETY: as above: at most one past the last word of the parameters.
        at = unsafe { at.add(own.len()) };
        let values = if field.list {
            let (start, count) = (own[0] as *const u64, own[1] as usize);
            if start.is_null() {
                all.push(Found::Absent);
                continue;
            }
            // SAFETY: a list is a pointer to its values, and their number.
            unsafe { std::slice::from_raw_parts(start, count * fields::width(field)) }
        } else {
            own
        };
        let is_text = fields::type_of(field) == Some(parameter_type::TEXT);
        all.push(match values {
            [0] if is_text && !field.list => Found::Absent,
            // SAFETY: the word of a text is a pointer to it, and it ends with a zero.
            values if is_text => unsafe { texts(values) },
            values => Found::Words(values.to_vec()),
        });
    }
    all
}

/// # Safety
/// `words` are pointers to texts.
unsafe fn texts(words: &[u64]) -> Found {
    // SAFETY: as said.
    let text = |word: &u64| unsafe { CStr::from_ptr(*word as *const c_char) };
    Found::Texts(words.iter().map(|word| text(word).to_string_lossy().into_owned()).collect())
}

// ---- What the host is told ----------------------------------------------------------------------

/// Say why the call with these facts returns an error, and return one.
#[cold]
fn fail(facts: *mut c_void, parameter: Option<&str>, message: &str) -> i32 {
    if let Some(host) = HOST.get() {
        tell(host.0, facts, parameter, message);
    }
    -1
}

fn tell(host: &Host, facts: *mut c_void, parameter: Option<&str>, message: &str) {
    let owned = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
    let (parameter, message) = (parameter.map(owned), owned(message));
    let name = parameter.as_ref().map_or(null(), |name| name.as_ptr());
    // SAFETY: the facts are those of the call that is under way, or null; the texts end with zeros.
    unsafe { (host.fail)(facts, name, message.as_ptr()) };
}

/// Drop the packet with this handle, with a verdict that says why.
pub(super) fn drop_packet<F: Facts>(facts: &mut F, handle: i64, verdict: i32) {
    if let Some(host) = HOST.get() {
        // SAFETY: the facts are those of the call that is under way.
        unsafe { (host.0.drop)(std::ptr::from_mut(facts).cast(), handle, verdict) };
    }
}

// ---- Panics -------------------------------------------------------------------------------------

thread_local! {
    /// True while this thread is in a function of a law.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The message of the last panic in there.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The result of `act`, or the message of its panic: nothing unwinds into the engine.
#[inline]
pub(super) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    let before = INSIDE.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(act));
    INSIDE.set(before);
    outcome.map_err(said)
}

#[cold]
fn said(payload: Box<dyn Any + Send>) -> String {
    let told = PANIC.with_borrow_mut(Option::take);
    // The payload may panic in turn as it is dropped.
    std::mem::forget(payload);
    told.unwrap_or_else(|| "it panicked".to_owned())
}

/// Have panics of laws noted, and not printed: the engine says what they said.
fn keep_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(
            move |panic| {
                if INSIDE.get() { note(panic) } else { others(panic) }
            },
        ));
    });
}

fn note(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    let place = panic.location().map_or_else(String::new, |at| format!(" at {at}"));
    PANIC.set(Some(format!("it panicked{place}: {message}")));
}
