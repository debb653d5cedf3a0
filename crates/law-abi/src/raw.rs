//! Reading of tables of laws, and calls of them: with what they may call (`host.rs`), all that is
//! unsafe on the side of the engine.
//!
//! A library is trusted as any code that is loaded: a table whose pointers lead nowhere cannot be
//! told from one that is right. What can be checked of it is.

#![expect(unsafe_code, reason = "a C interface: tables are read, functions are called by pointer")]

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::LawFault;

use crate::abi::{self, Head};
use crate::decisions::{CREATE, DESTROY, PROBE, allowed, decision_name};
use crate::host::{Dropped, HOST, clear_complaint, complaint};
use crate::watch::{Label, at, watch};

/// A law as its table says it, with texts that live as long as the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLaw {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) state_bytes: usize,
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) source: &'static str,
    pub(crate) example: &'static str,
    pub(crate) contents: Option<&'static str>,
    pub(crate) parameters: &'static [RawParameter],
    pub(crate) probes: &'static [RawProbe],
    create: Option<abi::Call>,
    destroy: Option<abi::Destroy>,
    decide: [Option<abi::Call>; abi::MAX_DECISIONS],
    probe: Option<abi::Probed>,
}

/// A parameter as its table says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawParameter {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) source: &'static str,
    pub(crate) default: Option<&'static str>,
    pub(crate) words: &'static [(&'static str, &'static str)],
}

/// A probe as its table says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawProbe {
    pub(crate) kind: u32,
    pub(crate) offset: usize,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
}

/// Open the library at `path` and read its table; it stays loaded.
pub(crate) fn open(path: &Path) -> Result<Vec<RawLaw>, String> {
    // SAFETY: the code of the library is run from here on; who loads it trusts it.
    let library = unsafe { libloading::Library::new(path) }
        .map_err(|error| format!("cannot be loaded: {}", chain(&error)))?;
    // SAFETY: the symbol has the type that the header gives it.
    let entry = unsafe { library.get::<abi::Entry>(abi::SYMBOL) };
    let Ok(entry) = entry.map(|entry| *entry) else { return Err(missing(&library)) };
    clear_complaint();
    // SAFETY: as the header says it; the table that it returns is read below.
    let table = unsafe { entry(&raw const HOST) };
    // What stays loaded may be called until the program ends.
    std::mem::forget(library);
    if table.is_null() {
        let told = complaint().map_or_else(String::new, |(_, message)| format!(": {message}"));
        return Err(format!("gives no table of laws{told}"));
    }
    // SAFETY: the library says that its table is there, and stays as it is.
    unsafe { read(table) }
}

/// Message of a library without the symbol of this version.
fn missing(library: &libloading::Library) -> String {
    let other = (2..10u32).find(|version| {
        // SAFETY: the symbol is looked for, and not used.
        unsafe { library.get::<abi::Entry>(format!("forebay_laws_v{version}")) }.is_ok()
    });
    let own = abi::VERSION;
    match other {
        Some(version) => format!(
            "is made for version {version} of the interface of laws; this Forebay, {}, has \
             version {own}",
            env!("CARGO_PKG_VERSION")
        ),
        None => format!("exports no \"{}\": it is no library of laws for Forebay", abi::SYMBOL),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// The laws in the table at `address`, which stays as it is.
pub(crate) fn read_at(address: usize) -> Result<Vec<RawLaw>, String> {
    if address == 0 {
        return Err("gives no table of laws".to_owned());
    }
    // SAFETY: who hands the address in says that there is a table.
    unsafe { read(address as *const abi::Laws) }
}

/// # Safety
/// `table` leads to a table as the header has it.
unsafe fn read(table: *const abi::Laws) -> Result<Vec<RawLaw>, String> {
    // SAFETY: by the contract of this function, here and below.
    let table = unsafe { &*table };
    if table.version != abi::VERSION {
        return Err(format!(
            "is made for version {} of the interface of laws; this Forebay, {}, has version {}",
            table.version,
            env!("CARGO_PKG_VERSION"),
            abi::VERSION
        ));
    }
    let (size, all) = (table.size, size_of::<abi::Laws>());
    if (size as usize) < all {
        return Err(format!("its table has {size} B; one of version {} has {all} B", abi::VERSION));
    }
    let laws = unsafe { slice(table.laws, table.count as usize) }?;
    laws.iter()
        .map(|law| unsafe { read_law(law.as_ref().ok_or("has an empty place for a law")?) })
        .collect()
}

unsafe fn read_law(law: &abi::Law) -> Result<RawLaw, String> {
    let name = unsafe { text(law.name) }?.ok_or("has a law without a name")?;
    let wrong = |message: String| format!("law \"{name}\": {message}");
    if (law.size as usize) < size_of::<abi::Law>() {
        return Err(wrong(format!(
            "its size is {} B; a law of version {} has {} B",
            law.size,
            abi::VERSION,
            size_of::<abi::Law>()
        )));
    }
    let text = |pointer| unsafe { text(pointer) }.map_err(wrong).map(Option::unwrap_or_default);
    let contents = text(law.contents)?;
    let parameters =
        unsafe { slice(law.parameters, law.parameter_count as usize) }.map_err(wrong)?;
    let parameters: Vec<RawParameter> = parameters
        .iter()
        .map(|parameter| unsafe { read_parameter(parameter) })
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let probes = unsafe { slice(law.probes, law.probe_count as usize) }.map_err(wrong)?;
    let probes: Vec<RawProbe> = probes
        .iter()
        .map(|probe| unsafe { read_probe(probe) })
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    Ok(RawLaw {
        kind: law.kind,
        flags: law.flags,
        state_bytes: law.state_bytes as usize,
        name,
        summary: text(law.summary)?,
        source: text(law.source)?,
        example: text(law.example)?,
        contents: (!contents.is_empty()).then_some(contents),
        parameters: Vec::leak(parameters),
        probes: Vec::leak(probes),
        create: law.create,
        destroy: law.destroy,
        decide: law.decide,
        probe: law.probe,
    })
}

unsafe fn read_parameter(parameter: &abi::Parameter) -> Result<RawParameter, String> {
    let name = unsafe { text(parameter.name) }?.ok_or("it has a parameter without a name")?;
    let wrong = |message: String| format!("parameter \"{name}\": {message}");
    if (parameter.size as usize) < size_of::<abi::Parameter>() {
        return Err(wrong(format!("its size is {} B", parameter.size)));
    }
    let text = |pointer| unsafe { text(pointer) }.map_err(wrong);
    let words = unsafe { slice(parameter.words, parameter.word_count as usize) }.map_err(wrong)?;
    let words: Vec<(&str, &str)> = words
        .iter()
        .map(|word| {
            let name = text(word.name)?.ok_or_else(|| wrong("a word has no name".to_owned()))?;
            Ok((name, text(word.meaning)?.unwrap_or_default()))
        })
        .collect::<Result<_, String>>()?;
    Ok(RawParameter {
        kind: parameter.r#type,
        flags: parameter.flags,
        name,
        meaning: text(parameter.meaning)?.unwrap_or_default(),
        source: text(parameter.source)?.unwrap_or_default(),
        default: text(parameter.default_value)?,
        words: Vec::leak(words),
    })
}

unsafe fn read_probe(probe: &abi::Probe) -> Result<RawProbe, String> {
    let name = unsafe { text(probe.name) }?.ok_or("it has a probe without a name")?;
    let wrong = |message: String| format!("probe \"{name}\": {message}");
    if (probe.size as usize) < size_of::<abi::Probe>() {
        return Err(wrong(format!("its size is {} B", probe.size)));
    }
    let text = |pointer| unsafe { text(pointer) }.map_err(wrong).map(Option::unwrap_or_default);
    Ok(RawProbe {
        kind: probe.r#type,
        offset: probe.offset as usize,
        name,
        unit: text(probe.unit)?,
        meaning: text(probe.meaning)?,
    })
}

/// `count` things from `start` on.
unsafe fn slice<T>(start: *const T, count: usize) -> Result<&'static [T], String> {
    const MAX_COUNT: usize = 4096;
    match (start.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(format!("a list of {count} is nowhere")),
        (_, count) if count > MAX_COUNT => {
            Err(format!("a list has {count}, more than {MAX_COUNT}"))
        }
        _ if !start.is_aligned() => Err("a list is not aligned".to_owned()),
        // SAFETY: by the contract of those who call this.
        _ => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}

/// A copy of the text at `pointer`, which lives as long as the program; none if it is null.
unsafe fn text(pointer: *const c_char) -> Result<Option<&'static str>, String> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract of those who call this.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str().map_err(|_| "a text is not UTF-8".to_owned())?;
    Ok(Some(String::leak(text.to_owned())))
}

impl RawLaw {
    /// True if it makes this decision.
    pub(crate) fn decides(&self, decision: usize) -> bool {
        self.decide[decision].is_some()
    }

    /// True if it has a function that gives its probes.
    pub(crate) fn has_probe(&self) -> bool {
        self.probe.is_some()
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Values of parameters, as words, with what they point to.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) words: Vec<u64>,
    lists: Vec<Box<[u64]>>,
    texts: Vec<std::ffi::CString>,
}

// What the words point to is theirs, and never changes.
// SAFETY: as said.
unsafe impl Send for Words {}
// SAFETY: as said.
unsafe impl Sync for Words {}

impl Words {
    pub(crate) fn push_list(&mut self, values: Option<Vec<u64>>, count: usize) {
        let Some(values) = values else {
            self.words.extend([0, 0]);
            return;
        };
        // A list of nothing is there all the same.
        let values = if values.is_empty() { vec![0] } else { values };
        let values = values.into_boxed_slice();
        self.words.extend([values.as_ptr() as u64, count as u64]);
        self.lists.push(values);
    }

    /// The word of a text: where it stands.
    pub(crate) fn text(&mut self, text: &str) -> u64 {
        // A text of a scenario with a zero in it ends there.
        let text = text.split('\0').next().unwrap_or_default();
        let text = std::ffi::CString::new(text).unwrap_or_default();
        let at = text.as_ptr() as u64;
        self.texts.push(text);
        at
    }
}

/// Block of a state.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([u64; 2]);

/// A law at its place: its state, and its functions.
pub(crate) struct Instance {
    law: &'static RawLaw,
    state: Box<[Block]>,
    /// Owner of what words of the state point to.
    _words: Arc<Words>,
    label: &'static Label,
    created: bool,
}

// SAFETY: a state is of one instance, laws share nothing by the contract of the header, and an
// instance is called by one thread at a time.
unsafe impl Send for Instance {}

// The pointers of a head mean something while a call is under way, on the thread that makes it.
// SAFETY: as said.
unsafe impl Send for Head {}

/// Facts of a decision.
///
/// # Safety
/// They begin with a [`Head`], in the layout of C.
pub(crate) unsafe trait Facts {}

macro_rules! facts {
    ($($name:ident),*) => { $(
        // SAFETY: `head` is the first field of a struct in the layout of C.
        unsafe impl Facts for abi::$name {}
    )* };
}

facts!(
    CreateFacts,
    QueueFacts,
    SchedulerFacts,
    ConditionerFacts,
    ControlFacts,
    TrafficFacts,
    ImpairmentFacts
);

/// The head of facts as adapters fill them in.
pub(crate) const HEAD: Head = Head {
    size: 0,
    decision: 0,
    now: abi::NEVER,
    random: std::ptr::null_mut(),
    engine: std::ptr::null_mut(),
};

impl Instance {
    /// A law with these values of its parameters, not yet created.
    pub(crate) fn new(law: &'static RawLaw, words: Arc<Words>, label: &'static Label) -> Self {
        let blocks = law.state_bytes.max(8 * words.words.len()).div_ceil(size_of::<Block>());
        let mut state = vec![Block([0; 2]); blocks.max(1)].into_boxed_slice();
        for (at, word) in words.words.iter().enumerate() {
            state[at / 2].0[at % 2] = *word;
        }
        Self { law, state, _words: words, label, created: false }
    }

    pub(crate) fn law(&self) -> &'static RawLaw {
        self.law
    }

    /// The state as words of 8 bytes.
    fn word(&self, at: usize) -> u64 {
        self.state[at / 2].0[at % 2]
    }

    /// Create it.
    ///
    /// # Errors
    /// The parameter that is wrong, if one is, and why.
    pub(crate) fn create(
        &mut self,
        facts: &mut abi::CreateFacts,
        stream: Option<&mut Stream>,
    ) -> Result<(), (Option<String>, String)> {
        self.created = true;
        let Some(create) = self.law.create else { return Ok(()) };
        let code = self.call(create, CREATE, facts, stream, None);
        if code >= 0 {
            return Ok(());
        }
        // A law that could not be created has nothing to destroy.
        self.created = false;
        Err(complaint().unwrap_or_else(|| (None, format!("its create returned {code}"))))
    }

    /// Have it make a decision, at the time that stands in `facts`; 0 if it makes none of this
    /// kind. Ends the run if it returns an error.
    #[inline]
    pub(crate) fn decide<F: Facts>(
        &mut self,
        decision: usize,
        facts: &mut F,
        stream: Option<&mut Stream>,
    ) -> i32 {
        self.decide_dropping(decision, facts, stream, None)
    }

    /// As [`decide`](Self::decide); handles of packets that it drops go into `dropped`.
    #[inline]
    pub(crate) fn decide_dropping<F: Facts>(
        &mut self,
        decision: usize,
        facts: &mut F,
        stream: Option<&mut Stream>,
        dropped: Option<&mut Dropped>,
    ) -> i32 {
        let Some(call) = self.law.decide[decision] else { return 0 };
        let code = self.call(call, decision, facts, stream, dropped);
        if code < 0 {
            self.failed(decision, head_of(facts).now, code);
        }
        code
    }

    #[inline]
    fn call<F: Facts>(
        &mut self,
        call: abi::Call,
        decision: usize,
        facts: &mut F,
        stream: Option<&mut Stream>,
        dropped: Option<&mut Dropped>,
    ) -> i32 {
        let head = head_of(facts);
        head.size = size_of::<F>() as u32;
        // That of a creation is none.
        head.decision = if decision == CREATE { 0 } else { decision as u32 };
        head.random = match stream {
            Some(stream) if self.law.has(abi::flag::DRAWS) => std::ptr::from_mut(stream).cast(),
            _ => std::ptr::null_mut(),
        };
        head.engine =
            dropped.map_or(std::ptr::null_mut(), |dropped| std::ptr::from_mut(dropped).cast());
        let now = head.now;
        let state: *mut c_void = self.state.as_mut_ptr().cast();
        let facts: *mut c_void = std::ptr::from_mut(facts).cast();
        // SAFETY: the function has the type of the header; state and facts are what it expects.
        watch(self.label, decision, now, || unsafe { call(state, facts) })
    }

    #[cold]
    fn failed(&self, decision: usize, now: i64, code: i32) -> ! {
        let told = match complaint() {
            Some((_, message)) => message,
            None => format!("returned {code}, an error; allowed are {}", self.allowed(decision)),
        };
        self.end_run(decision, now, &told)
    }

    /// Numbers that may be returned from a decision, in words.
    fn allowed(&self, decision: usize) -> &'static str {
        allowed(self.law.kind, decision)
    }

    /// End the run: in this decision at `now`, the law did what is `told`.
    #[cold]
    pub(crate) fn end_run(&self, decision: usize, now: i64, told: &str) -> ! {
        let call = decision_name(self.law.kind, decision);
        LawFault::new(format!("{}{}, {call}: {told}", self.label, at(now))).end_run()
    }

    /// Visit the values of its probes.
    pub(crate) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let mut values = vec![0.0; self.law.probes.len()];
        if let Some(probe) = self.law.probe {
            let state: *const c_void = self.state.as_ptr().cast();
            let values = values.as_mut_ptr();
            // SAFETY: the function has the type of the header, and there is room for each value.
            watch(self.label, PROBE, abi::NEVER, || unsafe { probe(state, values) });
        } else {
            for (value, probe) in values.iter_mut().zip(self.law.probes) {
                let word = self.word(probe.offset / 8);
                *value = match probe.kind {
                    abi::probe_type::DOUBLE => f64::from_bits(word),
                    abi::probe_type::PICOSECONDS if word as i64 == abi::NEVER => f64::NAN,
                    abi::probe_type::PICOSECONDS => word as i64 as f64 * 1e-12,
                    _ => word as i64 as f64,
                };
            }
        }
        for (value, probe) in values.iter().zip(self.law.probes) {
            visit(probe.name, *value);
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let (true, Some(destroy)) = (self.created, self.law.destroy) {
            let state: *mut c_void = self.state.as_mut_ptr().cast();
            // SAFETY: the function has the type of the header, and the state was created.
            watch(self.label, DESTROY, abi::NEVER, || unsafe { destroy(state) });
        }
    }
}

#[inline]
fn head_of<F: Facts>(facts: &mut F) -> &mut Head {
    // SAFETY: facts begin with a head.
    unsafe { &mut *std::ptr::from_mut(facts).cast::<Head>() }
}
