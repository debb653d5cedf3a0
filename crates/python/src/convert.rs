//! Between Python objects and the engine's.

use forebay_network::record::{Column, RecordTable};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::host::Hosts;

/// One run that Python asks for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Job {
    pub(crate) text: String,
    pub(crate) name: String,
    #[pyo3(item("set"))]
    pub(crate) assignments: Vec<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) replication: u64,
    pub(crate) until: Option<String>,
    pub(crate) record: bool,
    pub(crate) threads: usize,
    pub(crate) check: bool,
    /// Number of the random order if ties are counted; 0 is the scenario's.
    pub(crate) ties: Option<u64>,
    pub(crate) command: Option<String>,
    pub(crate) max_packets: Option<u64>,
    /// Limit of the memory, in bytes.
    pub(crate) max_memory: Option<u64>,
    /// Limit of the time that it takes, in seconds.
    pub(crate) timeout: Option<f64>,
    /// Stacks in Python, if there are some.
    pub(crate) hosts: Option<Hosts>,
}

/// Tables as `{table: {column: values}}`: numbers become NumPy arrays without a copy, words lists.
pub(crate) fn tables(py: Python<'_>, tables: Vec<RecordTable>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, column) in table.columns {
            match column {
                Column::Float(values) => columns.set_item(name, values.into_pyarray(py))?,
                Column::Whole(values) => columns.set_item(name, values.into_pyarray(py))?,
                Column::Byte(bytes) => columns.set_item(name, bytes.into_pyarray(py))?,
                Column::Word(words) => columns.set_item(name, list(py, words)?)?,
                Column::Name(names) => columns.set_item(name, list(py, names)?)?,
            }
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
}

/// A list of words, of which there may be very many: Ctrl-C is noticed meanwhile.
fn list<'py, T: IntoPyObject<'py>>(py: Python<'py>, words: Vec<T>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (number, word) in words.into_iter().enumerate() {
        if number % (1 << 16) == 0 {
            py.check_signals()?;
        }
        list.append(word)?;
    }
    Ok(list)
}
