//! Reports of runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};

use forebay_host::{RecordTable, Report};
use forebay_network::record::Column;
use forebay_parameters::did_you_mean;
use serde_json::Value;

use crate::abi;
use crate::call::{answer, c_text, text};

/// Numbers of columns, by table and name; they stay where they are.
type Columns = BTreeMap<(String, String), Box<[f64]>>;

/// A report as C holds it.
pub(crate) struct CReport {
    report: Report,
    value: Value,
    digest: CString,
    json: CString,
    hosts: Vec<abi::HostReport>,
    /// Texts to which `hosts` lead.
    _texts: Vec<CString>,
    /// Columns of which numbers were asked for.
    columns: RefCell<Columns>,
}

impl CReport {
    pub(crate) fn boxed(report: Report) -> *mut Self {
        let value = serde_json::json!({ "result": report.result, "hosts": report.hosts });
        let mut texts = Vec::new();
        let mut kept = |text: &str| {
            let text = c_text(text);
            let pointer = text.as_ptr();
            texts.push(text);
            pointer
        };
        let mut hosts = Vec::new();
        for host in &report.hosts {
            let (failed_s, failure) = match &host.failed {
                Some((time, reason)) => (*time, kept(reason)),
                None => (f64::NAN, std::ptr::null()),
            };
            hosts.push(abi::HostReport {
                name: kept(&host.name),
                sent: host.sent,
                sent_bytes: host.sent_bytes,
                received: host.received,
                received_bytes: host.received_bytes,
                marked: host.marked,
                missed: host.missed,
                delivered: host.delivered,
                goodput_bps: host.goodput_bps(),
                started_s: host.started_s,
                finished_s: host.finished_s.unwrap_or(f64::NAN),
                failed_s,
                failure,
            });
        }
        Box::into_raw(Box::new(Self {
            digest: c_text(report.digest()),
            json: c_text(&value.to_string()),
            value,
            report,
            hosts,
            _texts: texts,
            columns: RefCell::default(),
        }))
    }

    fn number(&self, path: &str) -> Result<f64, String> {
        let mut value = &self.value;
        for name in path.split('/') {
            value = member(value, name).ok_or_else(|| {
                let known = names(value);
                let hint = did_you_mean(name, known.iter().map(String::as_str));
                let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
                format!(
                    "forebay_report_value: {path}: unknown name \"{name}\"{hint}; there: {known}"
                )
            })?;
        }
        value.as_f64().ok_or_else(|| {
            let within = match names(value) {
                known if known.is_empty() => value.to_string(),
                known => format!("has {}", known.join(", ")),
            };
            format!("forebay_report_value: {path}: is no number: {within}")
        })
    }

    /// The numbers of a column.
    fn column(&self, table: &str, column: &str) -> Result<Box<[f64]>, String> {
        let wrong = |what: &str, name: &str, known: Vec<&str>| {
            let hint = did_you_mean(name, known.iter().copied());
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("forebay_report_column: unknown {what} \"{name}\"{hint}; recorded: {known}")
        };
        let found: &RecordTable = self.report.table(table).ok_or_else(|| {
            let known = self.report.tables.iter().map(|table| table.name.as_str()).collect();
            wrong("table", table, known)
        })?;
        let values = found.columns.iter().find(|(name, _)| name == column);
        match values.map(|(_, values)| values) {
            Some(Column::Float(values)) => Ok(values.clone().into_boxed_slice()),
            Some(Column::Whole(values)) => Ok(values.iter().map(|value| *value as f64).collect()),
            Some(_) => Err(format!("forebay_report_column: {table}, {column}: has no numbers")),
            None => {
                let known = found.columns.iter().map(|(name, _)| name.as_str()).collect();
                Err(wrong("column", column, known))
            }
        }
    }
}

/// The member of an object, or the one so called, or at that place, of a list.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(members) => {
            let named = members.iter().find(|member| member["name"] == name);
            named.or_else(|| members.get(name.parse::<usize>().ok()?))
        }
        _ => None,
    }
}

/// Names of members.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => members.keys().cloned().collect(),
        Value::Array(members) => {
            let name = |(at, member): (usize, &Value)| match &member["name"] {
                Value::String(name) => name.clone(),
                _ => at.to_string(),
            };
            members.iter().enumerate().map(name).collect()
        }
        _ => Vec::new(),
    }
}

/// The answer of `call` on the report at `report`.
///
/// # Safety
/// `report` is null, or a report that was not freed.
unsafe fn asked<'r, R>(
    report: *const CReport,
    otherwise: R,
    call: impl FnOnce(&'r CReport) -> Result<R, String>,
) -> R {
    // SAFETY: by the contract of this function.
    let report = unsafe { report.as_ref() };
    answer(otherwise, || call(report.ok_or("report is NULL; allowed is the report of a run")?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_free(report: *mut CReport) {
    if !report.is_null() {
        // SAFETY: it is a report, which is freed once.
        drop(unsafe { Box::from_raw(report) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_digest(report: *const CReport) -> *const c_char {
    // SAFETY: the header asks for a report, and for texts, here and below.
    unsafe { asked(report, c"".as_ptr(), |own| Ok(own.digest.as_ptr())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_json(report: *const CReport) -> *const c_char {
    // SAFETY: as above.
    unsafe { asked(report, c"".as_ptr(), |own| Ok(own.json.as_ptr())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_host(
    report: *const CReport,
    host: u32,
) -> *const abi::HostReport {
    let find = |own: &CReport| {
        own.hosts.get(host as usize).map(std::ptr::from_ref).ok_or_else(|| {
            let count = own.hosts.len();
            format!("forebay_report_host: host {host}: is not one of {count}, counted from 0")
        })
    };
    // SAFETY: as above.
    unsafe { asked(report, std::ptr::null(), find) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_value(report: *const CReport, path: *const c_char) -> f64 {
    // SAFETY: as above.
    unsafe { asked(report, f64::NAN, |own| own.number(text(path, "forebay_report_value: path")?)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_column(
    report: *const CReport,
    table: *const c_char,
    column: *const c_char,
    length: *mut usize,
) -> *const f64 {
    let find = |own: &CReport| {
        // SAFETY: as above.
        let table = unsafe { text(table, "forebay_report_column: table") }?;
        // SAFETY: as above.
        let column = unsafe { text(column, "forebay_report_column: column") }?;
        let mut columns = own.columns.borrow_mut();
        let key = (table.to_owned(), column.to_owned());
        let numbers = match columns.entry(key) {
            std::collections::btree_map::Entry::Occupied(kept) => kept.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(own.column(table, column)?)
            }
        };
        Ok((numbers.as_ptr(), numbers.len()))
    };
    // SAFETY: as above; `length` is null or leads to a number.
    unsafe { given(asked(report, (std::ptr::null(), 0), find), length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_report_capture(
    report: *const CReport,
    link: *const c_char,
    length: *mut usize,
) -> *const u8 {
    let find = |own: &CReport| {
        // SAFETY: as above.
        let link = unsafe { text(link, "forebay_report_capture: link") }?;
        let bytes = own.report.capture(link).ok_or_else(|| {
            format!("forebay_report_capture: nothing was captured at link \"{link}\"")
        })?;
        Ok((bytes.as_ptr(), bytes.len()))
    };
    // SAFETY: as above.
    unsafe { given(asked(report, (std::ptr::null(), 0), find), length) }
}

/// The pointer of `found`, with its length written to `length`.
///
/// # Safety
/// `length` is null or leads to a number.
unsafe fn given<T>(found: (*const T, usize), length: *mut usize) -> *const T {
    // SAFETY: by the contract of this function.
    if let Some(length) = unsafe { length.as_mut() } {
        *length = found.1;
    }
    found.0
}
