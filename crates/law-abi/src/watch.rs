//! Calls of laws that are under way, for who ends those that do not return.

use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::decisions::decision_name;

/// Label of a law at its place in a scenario. Labels live as long as the program.
#[derive(Debug)]
pub(crate) struct Label {
    /// The category of the law and its name: `queue "my_codel"`.
    pub(crate) law: String,
    /// Its place, such as `links.bn.queue`.
    pub(crate) place: String,
    /// The kind of the law.
    pub(crate) kind: u32,
    /// Its place among all labels.
    number: usize,
}

/// All labels.
static LABELS: Mutex<Vec<&'static Label>> = Mutex::new(Vec::new());

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.place.is_empty() {
            return f.write_str(&self.law);
        }
        write!(f, "{} at {}", self.law, self.place)
    }
}

/// The label of `law`, of this kind, at `place`: the same one each time.
pub(crate) fn label(law: String, kind: u32, place: String) -> &'static Label {
    let mut labels = lock(&LABELS);
    let is_same = |label: &Label| (&label.law, label.kind, &label.place) == (&law, kind, &place);
    if let Some(found) = labels.iter().find(|label| is_same(label)) {
        return found;
    }
    let number = labels.len();
    let label: &'static Label = Box::leak(Box::new(Label { law, place, kind, number }));
    labels.push(label);
    label
}

/// The calls that one thread makes.
struct Watched {
    /// Twice the number of calls that have ended, and one more while one is under way.
    calls: AtomicU64,
    /// The number of the label of the law that was called last.
    label: AtomicUsize,
    /// The decision that it was asked for.
    decision: AtomicUsize,
    /// The simulated time of that call, in ps.
    now: AtomicI64,
}

/// A call that is under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnderWay {
    /// The thread and the number of the call, by which it is told from others.
    pub call: (usize, u64),
    /// Sentence part that names the law, its place, the simulated time and the decision.
    pub law: String,
}

static THREADS: Mutex<Vec<&'static Watched>> = Mutex::new(Vec::new());
static FREE: Mutex<Vec<&'static Watched>> = Mutex::new(Vec::new());

/// The calls of this thread; those of a thread that has ended are another's next.
struct Own(&'static Watched);

impl Own {
    fn new() -> Self {
        if let Some(watched) = lock(&FREE).pop() {
            return Self(watched);
        }
        let watched: &'static Watched = Box::leak(Box::new(Watched {
            calls: AtomicU64::new(0),
            label: AtomicUsize::new(0),
            decision: AtomicUsize::new(0),
            now: AtomicI64::new(0),
        }));
        lock(&THREADS).push(watched);
        Self(watched)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        lock(&FREE).push(self.0);
    }
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// Note that `call` of the law with this label, for this decision, is under way at `now` while it
/// is.
#[inline]
pub(crate) fn watch<R>(
    label: &'static Label,
    decision: usize,
    now: i64,
    call: impl FnOnce() -> R,
) -> R {
    let watched = OWN.with(|own| own.borrow_mut().get_or_insert_with(Own::new).0);
    let calls = watched.calls.load(Ordering::Relaxed);
    watched.label.store(label.number, Ordering::Relaxed);
    watched.decision.store(decision, Ordering::Relaxed);
    watched.now.store(now, Ordering::Relaxed);
    // A law that is called back while one is under way does not exist; what is odd stays odd.
    watched.calls.store(calls | 1, Ordering::Release);
    let answer = call();
    watched.calls.store((calls | 1) + 1, Ordering::Release);
    answer
}

/// The calls that are under way, of all threads.
#[must_use]
pub fn under_way() -> Vec<UnderWay> {
    let threads: Vec<&'static Watched> = lock(&THREADS).clone();
    let mut found = Vec::new();
    for (thread, watched) in threads.into_iter().enumerate() {
        let calls = watched.calls.load(Ordering::Acquire);
        let label = watched.label.load(Ordering::Relaxed);
        let decision = watched.decision.load(Ordering::Relaxed);
        let now = watched.now.load(Ordering::Relaxed);
        if calls & 1 == 0 || watched.calls.load(Ordering::Acquire) != calls {
            continue;
        }
        let label = lock(&LABELS).get(label).copied();
        let Some(label) = label else { continue };
        let called = decision_name(label.kind, decision);
        let law = format!("{label}{}, {called}", at(now));
        found.push(UnderWay { call: (thread, calls), law });
    }
    found
}

/// `, 12.345678 s`; nothing for a call outside simulated time.
pub(crate) fn at(now: i64) -> String {
    if now == crate::abi::NEVER {
        return String::new();
    }
    format!(", {:.6} s", now as f64 * 1e-12)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
