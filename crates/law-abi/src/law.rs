//! Laws from outside as entries of a registry: their tables, checked, and their parameters.

use std::sync::Arc;

use forebay_parameters::{
    DefaultValue, Entry, Field, Length, Node, Parameter, Probe, Problem, Section, Value,
    did_you_mean,
};
use forebay_units::{Frequency, Rate, Size, Span};

use crate::abi::{self, kind, parameter_flag, parameter_type, probe_type};
use crate::decisions::{category, decisions, essential};
use crate::raw::{Instance, RawLaw, RawParameter, Words};
use crate::watch::{Label, label};

/// A law from outside, as it stands in a registry. It lives as long as the program.
#[derive(Debug)]
pub(crate) struct OuterLaw {
    pub(crate) raw: &'static RawLaw,
    /// Its parameters, without those that the engine adds.
    pub(crate) fields: &'static [Field],
    pub(crate) probes: &'static [Probe],
    /// Hash of its source: 16 hexadecimal digits.
    pub(crate) contents: &'static str,
}

impl OuterLaw {
    /// The law of which `raw` is the table, with the hash of its library in case that it has none
    /// of its own.
    ///
    /// # Errors
    /// The fault of the table.
    pub(crate) fn of(raw: RawLaw, library: &str) -> Result<&'static Self, String> {
        let wrong = |message: String| format!("law \"{}\": {message}", raw.name);
        check_name(raw.name).map_err(wrong)?;
        if category(raw.kind).is_none() {
            return Err(wrong(format!("kind {} is none; there are 1 to 7", raw.kind)));
        }
        check_decisions(&raw).map_err(wrong)?;
        let contents = raw.contents.unwrap_or(library);
        if contents.len() != 16 || !contents.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong(format!("contents \"{contents}\"; expected 16 hexadecimal digits")));
        }
        let fields = fields(&raw).map_err(wrong)?;
        let probes = probes(&raw).map_err(wrong)?;
        let law: &'static Self = Box::leak(Box::new(Self {
            raw: Box::leak(Box::new(raw)),
            fields,
            probes,
            contents: String::leak(contents.to_owned()),
        }));
        law.check_defaults().map_err(wrong)?;
        Ok(law)
    }

    /// Refuse defaults that no scenario could have.
    fn check_defaults(&self) -> Result<(), String> {
        let empty = Section::empty(String::new(), None);
        let mut words = Words::default();
        for (parameter, field) in self.raw.parameters.iter().zip(self.fields) {
            if field.default.is_some() {
                read(&empty, parameter, field, &mut words)
                    .map_err(|problem| format!("default of {problem}"))?;
            }
        }
        Ok(())
    }

    /// The entry of the law, which has these fields, and of which `build` makes one.
    pub(crate) fn entry<B>(&self, fields: &'static [Field], build: B) -> Entry<B> {
        let RawLaw { name, summary, source, example, .. } = *self.raw;
        Entry { name, summary, source, example, fields, probes: self.probes, build }
    }

    /// The fields of the law with `others`, for an entry.
    pub(crate) fn fields_with(&self, others: &[Field]) -> &'static [Field] {
        Vec::leak([self.fields, others].concat())
    }

    /// Read the parameters of the law in `section`; keys that are in `others` are read elsewhere.
    pub(crate) fn words(
        &self,
        section: &Section<'_>,
        others: &[&str],
    ) -> Result<Arc<Words>, Problem> {
        let own = self.fields.iter().map(|field| field.name);
        let names: Vec<&str> = own.chain(others.iter().copied()).collect();
        section.refuse_unknown(&names)?;
        let mut words = Words::default();
        for (parameter, field) in self.raw.parameters.iter().zip(self.fields) {
            read(section, parameter, field, &mut words)?;
        }
        section.echo_contents(self.contents);
        Ok(Arc::new(words))
    }

    /// Label of the law that `section` chooses.
    pub(crate) fn label(&self, section: &Section<'_>) -> &'static Label {
        let category = category(self.raw.kind).unwrap_or_default();
        let path = section.path();
        let place = path.strip_suffix(&format!(".{}", self.raw.name)).unwrap_or(path);
        // The category is said already: links.bn.queue is where it is chosen.
        label(format!("{category} \"{}\"", self.raw.name), self.raw.kind, place.to_owned())
    }

    /// A law of the values `words`, created with what `facts` say of its place.
    pub(crate) fn create(
        &self,
        section: &Section<'_>,
        words: Arc<Words>,
        facts: &CreateFacts,
    ) -> Result<Instance, Problem> {
        let mut instance = Instance::new(self.raw, words, self.label(section));
        match instance.create(&mut facts.raw(), None) {
            Ok(()) => Ok(instance),
            Err((Some(key), message)) if self.fields.iter().any(|field| field.name == key) => {
                Err(section.fail(&key, message))
            }
            Err((_, message)) => {
                let name = self.raw.name;
                Err(section.fail("", format!("the law \"{name}\" refuses: {message}")))
            }
        }
    }
}

/// Facts of the place of a law, at its creation.
#[derive(Clone, Copy, Default)]
pub(crate) struct CreateFacts {
    pub(crate) link_rate: Option<Rate>,
    pub(crate) classes: usize,
}

impl CreateFacts {
    pub(crate) fn raw(&self) -> abi::CreateFacts {
        abi::CreateFacts {
            head: crate::raw::HEAD,
            link_rate: self.link_rate.map_or(abi::NEVER, |rate| signed(rate.bps())),
            classes: self.classes as i64,
        }
    }
}

/// A quantity of 64 bits as one with a sign; the largest stand for never.
pub(crate) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(abi::NEVER)
}

/// Another instance of the law of `instance`, with the same parameters: for the next connection.
pub(crate) fn again(raw: &'static RawLaw, words: &Arc<Words>, label: &'static Label) -> Instance {
    let mut instance = Instance::new(raw, Arc::clone(words), label);
    if let Err((key, message)) = instance.create(&mut CreateFacts::default().raw(), None) {
        let key = key.map_or_else(String::new, |key| format!("{key}: "));
        let message = format!("{label}: refuses when it is created again: {key}{message}");
        forebay_network::LawFault::new(message).end_run();
    }
    instance
}

/// Refuse a name that scenarios could not write without quotes.
fn check_name(name: &str) -> Result<(), String> {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(fine) {
        return Ok(());
    }
    Err("a name has lower-case letters, digits and underscores, and begins with a letter".into())
}

/// Refuse laws that decide nothing, or what their kind does not decide.
fn check_decisions(raw: &RawLaw) -> Result<(), String> {
    let names = decisions(raw.kind);
    if let Some(other) = (names.len()..abi::MAX_DECISIONS).find(|at| raw.decides(*at)) {
        return Err(format!("decides at place {other}; its kind has {}", names.join(", ")));
    }
    let essential = essential(raw.kind);
    if !essential.iter().any(|at| raw.decides(*at)) {
        let names: Vec<&str> = essential.iter().map(|at| names[*at]).collect();
        return Err(format!("has no {}", names.join(" and no ")));
    }
    if raw.kind == kind::SCHEDULER && raw.has(abi::flag::DRAWS) {
        return Err("draws random numbers, which schedulers do not".to_owned());
    }
    Ok(())
}

fn fields(raw: &RawLaw) -> Result<&'static [Field], String> {
    let mut fields: Vec<Field> = Vec::new();
    let mut bytes = 0;
    for parameter in raw.parameters {
        let name = parameter.name;
        let wrong = |message: String| format!("parameter \"{name}\": {message}");
        check_name(name).map_err(wrong)?;
        if fields.iter().any(|known| known.name == name) {
            return Err(format!("it has two parameters \"{name}\""));
        }
        let kind = kind_text(parameter).map_err(wrong)?;
        let is_list = parameter.flags & parameter_flag::LIST != 0;
        let is_length = parameter.kind == parameter_type::LENGTH;
        bytes += if is_list || is_length { 16 } else { 8 };
        let default = parameter.default.map(|text| default_of(text).map_err(wrong)).transpose()?;
        fields.push(Field {
            name,
            meaning: parameter.meaning,
            kind,
            list: is_list,
            choices: parameter.words,
            mechanism: None,
            default,
            optional: parameter.flags & parameter_flag::OPTIONAL != 0,
            source: if parameter.source.is_empty() { raw.source } else { parameter.source },
        });
    }
    if raw.state_bytes < bytes {
        return Err(format!("has {} B of state; its parameters take {bytes} B", raw.state_bytes));
    }
    if raw.state_bytes > MAX_STATE_BYTES {
        return Err(format!("has {} B of state, more than {MAX_STATE_BYTES}", raw.state_bytes));
    }
    Ok(Vec::leak(fields))
}

/// Most state of a law, in bytes.
const MAX_STATE_BYTES: usize = 64 << 20;

fn kind_text(parameter: &RawParameter) -> Result<&'static str, String> {
    let words = parameter.kind == parameter_type::WORD;
    if words == parameter.words.is_empty() {
        return Err(if words { "has no words" } else { "has words, and is none" }.to_owned());
    }
    Ok(match parameter.kind {
        parameter_type::NUMBER => <f64 as Parameter>::KIND,
        parameter_type::WHOLE => <u64 as Parameter>::KIND,
        parameter_type::BOOL => <bool as Parameter>::KIND,
        parameter_type::WORD => "word",
        parameter_type::SPAN => <Span as Parameter>::KIND,
        parameter_type::RATE => <Rate as Parameter>::KIND,
        parameter_type::SIZE => <Size as Parameter>::KIND,
        parameter_type::LENGTH => <Length as Parameter>::KIND,
        parameter_type::FREQUENCY => <Frequency as Parameter>::KIND,
        parameter_type::TEXT => <String as Parameter>::KIND,
        other => return Err(format!("type {other} is none; there are 1 to 10")),
    })
}

/// The default that is written as `text`, in JSON.
fn default_of(text: &str) -> Result<DefaultValue, String> {
    let json: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| format!("default {text} is not JSON: {error}"))?;
    let value = plain(&json).ok_or_else(|| format!("default {text} is no value of a parameter"))?;
    Ok(DefaultValue::Known(Box::leak(Box::new(value))))
}

fn plain(json: &serde_json::Value) -> Option<Value> {
    Some(match json {
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(number.as_f64()?),
        },
        serde_json::Value::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(plain).collect();
            Value::List(items?.into_iter().map(Node::new).collect())
        }
        _ => return None,
    })
}

fn probes(raw: &RawLaw) -> Result<&'static [Probe], String> {
    for probe in raw.probes {
        let wrong = |message: String| format!("probe \"{}\": {message}", probe.name);
        if raw.has_probe() {
            continue;
        }
        if !(probe_type::INT64..=probe_type::PICOSECONDS).contains(&probe.kind) {
            return Err(wrong(format!("type {} is none; there are 1 to 3", probe.kind)));
        }
        if probe.offset % 8 != 0 || probe.offset.saturating_add(8) > raw.state_bytes {
            let (at, all) = (probe.offset, raw.state_bytes);
            return Err(wrong(format!("stands at {at} of a state of {all} B")));
        }
    }
    let probes = raw.probes.iter();
    Ok(Vec::leak(
        probes
            .map(|probe| Probe { name: probe.name, unit: probe.unit, meaning: probe.meaning })
            .collect(),
    ))
}

/// Append the value of `parameter` in `section` to `words`.
fn read(
    section: &Section<'_>,
    parameter: &RawParameter,
    field: &Field,
    words: &mut Words,
) -> Result<(), Problem> {
    let never = abi::NEVER as u64;
    match parameter.kind {
        parameter_type::WORD => read_word(section, parameter, field, words),
        parameter_type::NUMBER => {
            let number = |x: f64, _: &mut Words| Ok(vec![x.to_bits()]);
            read_as(section, field, words, &[f64::NAN.to_bits()], number)
        }
        parameter_type::WHOLE => {
            read_as(section, field, words, &[never], |n: u64, _| Ok(vec![fitting(n, "")?]))
        }
        parameter_type::BOOL => {
            read_as(section, field, words, &[never], |flag: bool, _| Ok(vec![u64::from(flag)]))
        }
        parameter_type::SPAN => {
            let ps = |span: Span, _: &mut Words| Ok(vec![fitting(span.ps(), " ps")?]);
            read_as(section, field, words, &[never], ps)
        }
        parameter_type::RATE => {
            let bps = |rate: Rate, _: &mut Words| Ok(vec![fitting(rate.bps(), " bit/s")?]);
            read_as(section, field, words, &[never], bps)
        }
        parameter_type::SIZE => {
            let bytes = |size: Size, _: &mut Words| Ok(vec![fitting(size.bytes(), " B")?]);
            read_as(section, field, words, &[never], bytes)
        }
        parameter_type::LENGTH => {
            let amount = |length: Length, _: &mut Words| {
                let unit = if length.in_bytes() { " B" } else { " packets" };
                Ok(vec![fitting(length.amount(), unit)?, u64::from(!length.in_bytes())])
            };
            read_as(section, field, words, &[never, 0], amount)
        }
        parameter_type::FREQUENCY => {
            let absent = [f64::NAN.to_bits()];
            let each = |each: Frequency, _: &mut Words| Ok(vec![each.per_second().to_bits()]);
            read_as(section, field, words, &absent, each)
        }
        _ => {
            let at = |text: String, words: &mut Words| Ok(vec![words.text(&text)]);
            read_as(section, field, words, &[0], at)
        }
    }
}

/// A quantity that a law can be handed: one with a sign, and less than never.
fn fitting(n: u64, unit: &str) -> Result<u64, String> {
    if n < abi::NEVER as u64 {
        return Ok(n);
    }
    let most = abi::NEVER - 1;
    Err(format!(
        "{n}{unit} is more than laws from outside can take; allowed are up to {most}{unit}"
    ))
}

fn read_as<T: Parameter>(
    section: &Section<'_>,
    parameter: &Field,
    words: &mut Words,
    absent: &[u64],
    show: impl Fn(T, &mut Words) -> Result<Vec<u64>, String>,
) -> Result<(), Problem> {
    let (key, default) = (parameter.name, parameter.default);
    let refuse = |message: String| section.fail(key, message);
    if parameter.list {
        let values: Option<Vec<T>> = match parameter.optional {
            true => section.get(key, default)?,
            false => Some(section.get(key, default)?),
        };
        let count = values.as_ref().map_or(0, Vec::len);
        let mut found = values.is_some().then(Vec::new);
        for value in values.into_iter().flatten() {
            let shown = show(value, words).map_err(refuse)?;
            found.get_or_insert_default().extend(shown);
        }
        words.push_list(found, count);
        return Ok(());
    }
    let value: Option<T> = match parameter.optional {
        true => section.get(key, default)?,
        false => Some(section.get(key, default)?),
    };
    let found = match value {
        Some(value) => show(value, words).map_err(refuse)?,
        None => absent.to_vec(),
    };
    words.words.extend(found);
    Ok(())
}

/// Read a word of a closed set, or a list of such.
fn read_word(
    section: &Section<'_>,
    parameter: &RawParameter,
    field: &Field,
    words: &mut Words,
) -> Result<(), Problem> {
    let names = || parameter.words.iter().map(|(name, _)| *name);
    let place = |node: &Node| {
        let allowed = || names().collect::<Vec<_>>().join(", ");
        let Value::Text(word) = &node.value else {
            return Err(format!("{} is not one of {}", node.value.show(), allowed()));
        };
        names().position(|name| name == word).ok_or_else(|| {
            let hint = did_you_mean(word, names());
            format!("\"{word}\" is not one of {}{hint}", allowed())
        })
    };
    let list = |node: &Node| match &node.value {
        Value::List(items) if field.list => items.iter().map(place).collect(),
        other if field.list => Err(format!("{} is not a list of words", other.show())),
        _ => place(node).map(|at| vec![at]),
    };
    let read = |node: &Node| list(node).map(Some);
    let show = |places: &Option<Vec<usize>>| match places {
        None => "absent".to_owned(),
        Some(places) => {
            let shown: Vec<&str> = places.iter().map(|at| parameter.words[*at].0).collect();
            if field.list { format!("[{}]", shown.join(", ")) } else { shown.concat() }
        }
    };
    let absent = || field.optional.then_some(None);
    let places = section.get_by(field.name, field.default, (read, show, absent), "word")?;
    if field.list {
        let count = places.as_ref().map_or(0, Vec::len);
        words.push_list(places.map(|at| at.into_iter().map(|at| at as u64).collect()), count);
    } else {
        words.words.push(places.map_or(abi::NEVER as u64, |at| at[0] as u64));
    }
    Ok(())
}
