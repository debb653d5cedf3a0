//! Conditioners: meters, markers and policers.

mod adaptive_token_bucket;
mod ar_meter;
pub(crate) mod bucket;
mod drtcm;
mod ecn_bleaching;
mod efci;
mod excess_meter;
mod fixed;
mod gcra;
mod leaky_bucket;
mod only;
mod pcn;
mod per_flow;
mod px_meter;
mod remark;
mod sr_meter;
mod srtcm;
mod threshold_meter;
mod token_bucket;
mod trtcm;
mod tswtcm;

use forebay_network::Conditioner;
use forebay_parameters::{Category, Entry, Problem, Section};

use crate::LinkFacts;

/// Makes a conditioner from its section of the scenario.
pub type BuildConditioner = &'static (
             dyn Fn(&Section<'_>, &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> + Send + Sync
         );

/// The category of conditioners.
pub enum Conditioners {}

impl Category for Conditioners {
    const NAME: &'static str = "conditioner";
    const CONTRACT: &'static str = "Meters, markers and policers before a queue.";
    const PLACE: &'static str = "links.NAME";
    const KIND: &'static str =
        "conditioner such as { token_bucket = { cir = \"1 Mbit/s\", cbs = \"5 kB\" } }";
    type Build = BuildConditioner;
}

/// Every conditioner.
pub static CONDITIONERS: &[Entry<BuildConditioner>] = &[
    adaptive_token_bucket::ENTRY,
    ar_meter::ENTRY,
    drtcm::ENTRY,
    ecn_bleaching::ENTRY,
    efci::ENTRY,
    excess_meter::ENTRY,
    fixed::ENTRY,
    gcra::ENTRY,
    leaky_bucket::ENTRY,
    only::ENTRY,
    per_flow::ENTRY,
    px_meter::ENTRY,
    remark::ENTRY,
    sr_meter::ENTRY,
    srtcm::ENTRY,
    threshold_meter::ENTRY,
    token_bucket::ENTRY,
    trtcm::ENTRY,
    tswtcm::ENTRY,
];

/// The highest precedence: queues tell 64 apart.
const HIGHEST_PRECEDENCE: u8 = 63;

/// Refuse a precedence that no queue can tell apart.
fn precedence(section: &Section<'_>, key: &str, precedence: u32) -> Result<u8, Problem> {
    match u8::try_from(precedence) {
        Ok(precedence) if precedence <= HIGHEST_PRECEDENCE => Ok(precedence),
        _ => {
            let message =
                format!("{precedence} is out of range; allowed are 0 to {HIGHEST_PRECEDENCE}");
            Err(section.fail(key, message))
        }
    }
}
