//! Reading one table of a scenario.

use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;

use crate::{DefaultValue, Node, Parameter, Problem, Registry, Table, Value, did_you_mean};

/// Every value that was read, defaults included, as canonical text by key path.
///
/// Two scenarios with equal echoes are the same scenario, whatever units and order their files use:
/// the scenario hash is taken over it.
#[derive(Default)]
pub struct Echo {
    values: RefCell<BTreeMap<String, String>>,
    warnings: RefCell<Vec<Problem>>,
}

impl Echo {
    /// Borrows what was read so far.
    pub fn borrow(&self) -> Ref<'_, BTreeMap<String, String>> {
        self.values.borrow()
    }

    /// Takes the warnings, of what can be run and is hardly meant, in the order in which it was
    /// read.
    pub fn take_warnings(&self) -> Vec<Problem> {
        self.warnings.take()
    }

    /// All that was read.
    #[must_use]
    pub fn into_inner(self) -> BTreeMap<String, String> {
        self.values.into_inner()
    }
}

/// One table of a scenario with the path that leads to it.
#[derive(Clone)]
pub struct Section<'a> {
    path: String,
    line: Option<u32>,
    table: &'a Table,
    echo: Option<&'a Echo>,
    registry: &'a Registry,
}

/// The registry of sections that were handed none.
static NOTHING: Registry = Registry::new();
static EMPTY: Table = Table::new();

impl<'a> Section<'a> {
    /// The whole scenario, of whose values `echo` takes note if there is one: a scenario that is
    /// read again needs none. It can choose no mechanisms before it is handed a
    /// [registry](Self::with_registry).
    ///
    /// # Errors
    /// If `node` is not a table.
    pub fn root(node: &'a Node, echo: impl Into<Option<&'a Echo>>) -> Result<Self, Problem> {
        Self::empty(String::new(), echo).at(String::new(), node)
    }

    /// An empty section: every parameter takes its default.
    #[must_use]
    pub fn empty(path: String, echo: impl Into<Option<&'a Echo>>) -> Self {
        Self::of_parts((path, None, &EMPTY), echo.into())
    }

    /// The same section, in which `registry` has the mechanisms to choose from.
    #[must_use]
    pub fn with_registry(self, registry: &'a Registry) -> Self {
        Self { registry, ..self }
    }

    pub(crate) fn of_parts(
        (path, line, table): (String, Option<u32>, &'a Table),
        echo: Option<&'a Echo>,
    ) -> Self {
        Self { path, line, table, echo, registry: &NOTHING }
    }

    pub(crate) fn into_parts(self) -> (String, Option<u32>, &'a Table) {
        (self.path, self.line, self.table)
    }

    /// The empty section at `path` below this one, which the file does not have.
    #[must_use]
    pub fn absent(&self, path: &str) -> Self {
        self.with((self.below(path), None, &EMPTY))
    }

    /// The same section, asked for by `line` of the file.
    pub(crate) fn on(self, line: Option<u32>) -> Self {
        Self { line, ..self }
    }

    /// Another section of the same scenario.
    fn with(&self, (path, line, table): (String, Option<u32>, &'a Table)) -> Self {
        Self { path, line, table, echo: self.echo, registry: self.registry }
    }

    /// The section that `node` is, at the full `path`.
    fn at(&self, path: String, node: &'a Node) -> Result<Self, Problem> {
        match &node.value {
            Value::Table(table) => Ok(self.with((path, node.line, table))),
            other => Err(Problem {
                path,
                line: node.line,
                message: format!("expected a table, found {}", other.show()),
            }),
        }
    }

    /// The key path of this section.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the echo of the values read, if there is one.
    #[must_use]
    pub fn echo(&self) -> Option<&'a Echo> {
        self.echo
    }

    /// The mechanisms to choose from.
    #[must_use]
    pub fn registry(&self) -> &'a Registry {
        self.registry
    }

    /// The keys present, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.keys().map(String::as_str)
    }

    /// The raw node under `key`.
    #[must_use]
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// The section under `key`, if present.
    ///
    /// # Errors
    /// If the value there is not a table.
    pub fn section(&self, key: &str) -> Result<Option<Section<'a>>, Problem> {
        self.node(key).map(|node| self.at(self.join(key), node)).transpose()
    }

    /// The sections in the list under `key`: `key = [{ ... }, { ... }]`. None if `key` is absent.
    ///
    /// # Errors
    /// If the value there is not a list of tables.
    pub fn sections(&self, key: &str) -> Result<Vec<Section<'a>>, Problem> {
        match self.node(key).map(|node| &node.value) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => items
                .iter()
                .enumerate()
                .map(|(at, node)| self.inner(&format!("{key}[{at}]"), node))
                .collect(),
            Some(other) => {
                Err(self.fail(key, format!("expected a list of tables, found {}", other.show())))
            }
        }
    }

    /// The section that `node` is, at `path` below this one.
    pub(crate) fn inner(&self, path: &str, node: &'a Node) -> Result<Section<'a>, Problem> {
        self.at(self.below(path), node)
    }

    /// Read the parameter `key`; without a value take `default`, or fail if there is none.
    ///
    /// # Errors
    /// Missing or wrong value.
    pub fn get<T: Parameter>(
        &self,
        key: &str,
        default: Option<DefaultValue>,
    ) -> Result<T, Problem> {
        self.get_by(key, default, (T::read, T::show, T::absent), T::KIND)
    }

    /// As [`get`](Self::get) for a `kind` of value that is no type: `read` gives a value or says
    /// what is allowed, `show` its canonical text, and `absent` what it is if it may be left out.
    ///
    /// # Errors
    /// Missing or wrong value.
    pub fn get_by<T>(
        &self,
        key: &str,
        default: Option<DefaultValue>,
        (read, show, absent): (
            impl Fn(&Node) -> Result<T, String>,
            impl Fn(&T) -> String,
            impl Fn() -> Option<T>,
        ),
        kind: &str,
    ) -> Result<T, Problem> {
        let value = match (self.node(key), default) {
            (Some(node), _) => read(node).map_err(|message| self.fail(key, message))?,
            (None, Some(default)) => {
                read(&Node::new(default.value())).map_err(|message| self.fail(key, message))?
            }
            (None, None) => {
                absent().ok_or_else(|| self.fail(key, format!("is missing; it takes a {kind}")))?
            }
        };
        self.note(|| self.join(key), || show(&value));
        Ok(value)
    }

    /// Echo `value` for `key`, which was left out: it follows from other values.
    pub fn echo_derived(&self, key: &str, value: &impl Parameter) {
        self.note(|| self.join(key), || value.show());
    }

    /// Echo `contents`, a hash, of the mechanism that this section is of: one whose law is not of
    /// this build is another mechanism if its contents are others.
    pub fn echo_contents(&self, contents: &str) {
        self.note(|| self.path.clone(), || format!("contents {contents}"));
    }

    /// Refuse keys that are not in `names`, offering the nearest that is.
    ///
    /// # Errors
    /// The first unknown key.
    pub fn refuse_unknown(&self, names: &[&str]) -> Result<(), Problem> {
        for key in self.keys() {
            if !names.contains(&key) {
                return Err(self.unknown(key, names));
            }
        }
        Ok(())
    }

    /// The problem of a key that is none of `names`.
    #[must_use]
    pub fn unknown(&self, key: &str, names: &[&str]) -> Problem {
        let hint = did_you_mean(key, names.iter().copied());
        let allowed = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        self.fail(key, format!("unknown key \"{key}\"{hint}; allowed here: {allowed}"))
    }

    /// A problem with the value under `key` (the section itself if `key` is empty).
    #[must_use]
    pub fn fail(&self, key: &str, message: impl Into<String>) -> Problem {
        let line = self.node(key).and_then(|node| node.line).or(self.line);
        let path = if key.is_empty() { self.path.clone() } else { self.join(key) };
        Problem { path, line, message: message.into() }
    }

    /// Refuse the number `x` under `key` if it is outside `low` to `high`.
    ///
    /// # Errors
    /// A [`Problem`] that says what is allowed.
    pub fn within(&self, key: &str, x: f64, low: f64, high: f64) -> Result<(), Problem> {
        if (low..=high).contains(&x) {
            return Ok(());
        }
        Err(self.fail(key, format!("{x} is out of range; allowed are {low} to {high}")))
    }

    /// Warn of the value under `key`, which can be run and is hardly meant.
    pub fn warn(&self, key: &str, message: impl Into<String>) {
        if let Some(echo) = self.echo {
            echo.warnings.borrow_mut().push(self.fail(key, message));
        }
    }

    /// Note a path with its value.
    pub(crate) fn note(&self, path: impl FnOnce() -> String, value: impl FnOnce() -> String) {
        if let Some(echo) = self.echo {
            echo.values.borrow_mut().insert(path(), value());
        }
    }

    /// A problem with `node`, at `path` below this section.
    pub(crate) fn fail_at(&self, path: &str, node: &Node, message: String) -> Problem {
        Problem { path: self.below(path), line: self.line_of(node), message }
    }

    /// The line of `node`, or of this section if it is on none.
    pub(crate) fn line_of(&self, node: &Node) -> Option<u32> {
        node.line.or(self.line)
    }

    fn below(&self, path: &str) -> String {
        if self.path.is_empty() {
            return path.to_owned();
        }
        let mut below = String::with_capacity(self.path.len() + 1 + path.len());
        below.push_str(&self.path);
        below.push('.');
        below.push_str(path);
        below
    }

    fn join(&self, key: &str) -> String {
        self.below(&crate::key(key))
    }
}
