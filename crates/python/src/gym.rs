//! Environments for agents that learn, as Python steps them: numbers in and out by arrays.

use std::sync::{Arc, Mutex};

use forebay_gym::{Action, Acts, Every, GymError, Normalization, Template, series};
use forebay_scenario::{GaugeName, Stopped};
use numpy::{PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2};
use pyo3::prelude::*;

use crate::aside::aside;
use crate::files::read_with;
use crate::gym_pool::{Failure, Order, Pool};
use crate::{EngineError, LawError, LimitError, ScenarioError};

/// Environments of one scenario, stepped side by side without the interpreter lock.
#[pyclass(module = "forebay._native")]
pub(crate) struct Gym {
    template: Arc<Template>,
    /// Never locked: it is reached by who has the object for itself.
    pool: Mutex<Pool>,
}

/// Every series that could be measured in a scenario: name, unit and meaning.
///
/// Raises ScenarioError for a wrong one, LimitError if its network cannot be wired.
#[pyfunction]
pub(crate) fn gym_series(py: Python<'_>, text: String, name: String) -> PyResult<Vec<Told>> {
    let read = move || -> Result<_, GymError> {
        series(&read_with(&crate::laws::registry(), &text, &name, &[])?)
    };
    Ok(told_series(aside(py, read)?.map_err(raised)?))
}

/// A series: name, unit and meaning.
type Told = (String, &'static str, &'static str);

fn told_series(all: Vec<GaugeName>) -> Vec<Told> {
    all.into_iter().map(|series| (series.name, series.unit, series.meaning)).collect()
}

/// One thing that an agent decides: where, what, and its bounds.
type Decides = (String, String, Option<(f64, f64)>);

/// Arrays that are filled: values by environment and series, times in s, outcomes (0 under
/// way, 1 terminated, 2 truncated, 3 has begun), and digests as the code points of 16 digits.
type Filled<'py> = (
    PyReadwriteArray2<'py, f64>,
    PyReadwriteArray1<'py, f64>,
    PyReadwriteArray1<'py, u8>,
    PyReadwriteArray2<'py, u32>,
);

#[pymethods]
impl Gym {
    /// `count` environments of the scenario of `text`, in `threads` threads. Each of `decides` is
    /// where an agent acts, what it decides (empty for what is usual there) and its bounds;
    /// `series` are measured; a step lasts `every` (`"10 ms"`, `"rtt"`); `normalize` is `"none"`,
    /// `"linear"` or `"log"`.
    ///
    /// Raises ScenarioError for what is wrong, in the scenario or in these.
    #[new]
    #[pyo3(signature = (text, name, decides, series, every, normalize, count, threads))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        decides: Vec<Decides>,
        series: Vec<String>,
        every: &str,
        normalize: &str,
        count: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let every = Every::parse(every).map_err(raised)?;
        let normalization = Normalization::parse(normalize).map_err(raised)?;
        let make = move || -> Result<_, GymError> {
            let registry = crate::laws::registry();
            let scenario = read_with(&registry, &text, &name, &[])?;
            let acts = decides.into_iter().map(|(on, act, bounds)| Acts { on, act, bounds });
            let acts: Vec<Acts> = acts.collect();
            let parts = (&registry, &scenario, name.as_str());
            Template::new(parts, &acts, series, (every, normalization))
        };
        let template = Arc::new(aside(py, make)?.map_err(raised)?);
        let pool = Mutex::new(Pool::new(&template, count, threads));
        Ok(Self { template, pool })
    }

    /// Name and bounds of each action, and the number of what it decides.
    fn actions(&self) -> Vec<(String, f64, f64, usize)> {
        let told = |action: &Action| {
            let Action { name, low, high, decision, .. } = action;
            (name.clone(), *low, *high, *decision)
        };
        self.template.actions().iter().map(told).collect()
    }

    /// Every series that could be measured: name, unit and meaning.
    ///
    /// Raises LimitError if the network cannot be wired.
    fn series(&self) -> PyResult<Vec<Told>> {
        Ok(told_series(self.template.series().map_err(raised)?))
    }

    /// Simulated time of an episode, in seconds.
    fn duration(&self) -> f64 {
        self.template.duration().seconds()
    }

    /// Begin the episode of each seed (that of the scenario if it is None), replication and stride
    /// to the next one; of None, nothing. Arrays are filled for all.
    ///
    /// Raises LimitError if a network cannot be wired.
    fn reset(
        &mut self,
        py: Python<'_>,
        orders: Vec<Option<(Option<u64>, u64, u64)>>,
        filled: Filled<'_>,
    ) -> PyResult<()> {
        let pool = self.pool();
        for (seat, order) in pool.seats_mut().zip(orders) {
            seat.order = order.map_or(Order::Rest, |(seed, replication, stride)| Order::Reset {
                seed,
                replication,
                stride,
            });
        }
        self.work(py, filled)
    }

    /// Step every environment by its row of `actions`; where an episode is over and `renews`, begin
    /// the next instead. Arrays are filled for all.
    ///
    /// Raises ScenarioError for an action that is no number and where no episode is under way,
    /// LimitError if a run stops, LawError if a law from outside ends it, EngineError if the engine
    /// fails.
    fn step(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray2<'_, f64>,
        renews: bool,
        filled: Filled<'_>,
    ) -> PyResult<()> {
        let actions = actions.as_array();
        let pool = self.pool();
        for (seat, row) in pool.seats_mut().zip(actions.rows()) {
            seat.order = Order::Step { renews };
            for (action, given) in seat.actions.iter_mut().zip(row) {
                *action = *given;
            }
        }
        // Before any is stepped: a slip leaves all where they are.
        let wrong = pool.seats().enumerate().find_map(|(number, seat)| {
            seat.check_step().err().map(|error| Failure::Of(number, error))
        });
        match wrong {
            Some(wrong) => Err(told(wrong, pool.seats().count())),
            None => self.work(py, filled),
        }
    }

    /// The root seed and the replication of each episode.
    fn drawn(&mut self) -> Vec<(u64, u64)> {
        self.pool().seats().map(|seat| seat.environment().drawn()).collect()
    }
}

impl Gym {
    fn pool(&mut self) -> &mut Pool {
        self.pool.get_mut().expect("it is never locked")
    }

    /// Do what was ordered, and fill the arrays.
    fn work(&mut self, py: Python<'_>, filled: Filled<'_>) -> PyResult<()> {
        let pool = self.pool();
        let failure = pool.work(py)?;
        let (mut values, mut times, mut outcomes, mut digests) = filled;
        let (mut values, mut digests) = (values.as_array_mut(), digests.as_array_mut());
        let (mut times, mut outcomes) = (times.as_array_mut(), outcomes.as_array_mut());
        for (number, seat) in pool.seats().enumerate() {
            for (place, value) in values.row_mut(number).iter_mut().zip(seat.environment().values())
            {
                *place = *value;
            }
            times[number] = seat.environment().now().seconds();
            outcomes[number] = seat.outcome as u8;
            for (at, place) in digests.row_mut(number).iter_mut().enumerate() {
                let digit = seat.digest >> (4 * (15 - at)) & 15;
                *place = u32::from(b"0123456789abcdef"[digit as usize]);
            }
        }
        match failure {
            None => Ok(()),
            Some(failure) => Err(told(failure, pool.seats().count())),
        }
    }
}

/// The error to raise for a failure among `count` environments.
fn told(failure: Failure, count: usize) -> PyErr {
    let of = |number: usize, told: String| {
        if count == 1 { told } else { format!("environment {number}: {told}") }
    };
    match failure {
        Failure::Of(number, GymError::Wrong(told)) => ScenarioError::new_err(of(number, told)),
        Failure::Of(number, GymError::Stopped(Stopped::Law(fault))) => {
            LawError::new_err(of(number, fault.to_string()))
        }
        Failure::Of(number, error) => LimitError::new_err(of(number, error.to_string())),
        Failure::Engine(number, reason) => EngineError::new_err(of(number, reason)),
    }
}

fn raised(error: GymError) -> PyErr {
    told(Failure::Of(0, error), 1)
}
