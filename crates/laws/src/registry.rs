//! The registry of what this crate has.

use forebay_parameters::{Category, Entry, Registry};

use crate::activity::{ACTIVITIES, Activities};
use crate::adaptation::{ADAPTATIONS, Adaptations};
use crate::admission::{ADMISSIONS, Admissions};
use crate::conditioner::{CONDITIONERS, Conditioners};
use crate::control::{CONTROLS, Controls};
use crate::detector::{DETECTORS, Detectors};
use crate::explicit_rate::{EXPLICIT_RATES, ExplicitRates};
use crate::fairness::{FAIRNESS, Fairness};
use crate::impairment::{IMPAIRMENTS, Impairments};
use crate::pace::{PACES, Paces};
use crate::pairs::{PAIRS, Pairs};
use crate::path::{PATHS, Paths};
use crate::queue::{QUEUES, Queues};
use crate::shaper::{SHAPERS, Shapers};
use crate::sharing::{SHARINGS, Sharings};
use crate::sizes::{SIZES, Sizes};
use crate::termination::{TERMINATIONS, Terminations};
use crate::traffic::{TRAFFICS, Traffics};

/// Every mechanism of this crate: what a scenario can choose from where nothing is added.
#[must_use]
pub fn registry() -> Registry {
    let mut all = Registry::new();
    add::<Queues>(&mut all, QUEUES);
    add::<Conditioners>(&mut all, CONDITIONERS);
    add::<Shapers>(&mut all, SHAPERS);
    add::<Sharings>(&mut all, SHARINGS);
    add::<Impairments>(&mut all, IMPAIRMENTS);
    add::<Admissions>(&mut all, ADMISSIONS);
    add::<Terminations>(&mut all, TERMINATIONS);
    add::<Fairness>(&mut all, FAIRNESS);
    add::<Traffics>(&mut all, TRAFFICS);
    add::<Sizes>(&mut all, SIZES);
    add::<Controls>(&mut all, CONTROLS);
    add::<Detectors>(&mut all, DETECTORS);
    add::<ExplicitRates>(&mut all, EXPLICIT_RATES);
    add::<Activities>(&mut all, ACTIVITIES);
    add::<Paces>(&mut all, PACES);
    add::<Adaptations>(&mut all, ADAPTATIONS);
    add::<Paths>(&mut all, PATHS);
    add::<Pairs>(&mut all, PAIRS);
    all
}

fn add<C: Category>(all: &mut Registry, entries: &[Entry<C::Build>]) {
    all.add::<C>(entries).expect("a table has each name once");
}
