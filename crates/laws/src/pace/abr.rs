//! Available bit rate: the source follows explicit rates that resource-management cells bring back.

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{BuildPace, PaceKind};
use crate::detector::CongestionNotification;
use crate::pace::{Pace, PaceControl};

#[cfg(test)]
mod tests;

pub(super) const ENTRY: Entry<BuildPace> = Entry {
    name: "abr",
    summary: "Explicit-rate ABR: sends resource-management cells and goes at the rate that they \
              bring back.",
    source: "ATM Forum, Traffic Management Specification 4.0, af-tm-0056.000, 1996, section 5.10.4",
    example: r#"
        mcr = 0.5
        rif = 1.0
    "#,
    fields: AbrParameters::FIELDS,
    probes: &[
        Probe {
            name: "mean_allowed_bps",
            unit: "bit/s",
            meaning: "Mean over sources in a session of the rate allowed.",
        },
        Probe {
            name: "mean_explicit_bps",
            unit: "bit/s",
            meaning: "Mean over them of the explicit rate heard last; no number until each has \
                      heard one.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of an ABR source. Its peak cell rate (PCR) is the highest nominal rate of its
    /// activity; its rate is the allowed cell rate (ACR), resource-management cells included. Rates
    /// are explicit alone: congestion bits (CI, NI) are neither set nor heeded.
    pub struct AbrParameters {
        /// Minimum cell rate (MCR) over the peak cell rate: the source never goes below it.
        mcr: f64 = 0.0, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (MCR)";
        /// Initial cell rate (ICR) over the peak cell rate.
        icr: f64 = 1.0, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (ICR: PCR)";
        /// Rate increase factor (RIF): the most by which one cell raises the rate, over the peak
        /// cell rate.
        rif: f64 = 0.0625, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (RIF: 1/16)";
        /// Every so many cells one is a resource-management cell (Nrm).
        nrm: u32 = 32, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (Nrm)";
        /// Longest time between two of them while the source sends two other cells or more (Trm).
        trm: Span = "100 ms", "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (Trm)";
        /// A source that sent none for this long begins anew, at the initial cell rate if that is
        /// less (ADTF).
        adtf: Span = "500 ms", "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (ADTF)";
        /// Number of them sent since one came back, after which each further one slows it down
        /// (CRM).
        crm: u32 = 524_288, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (TBE/Nrm)";
        /// Share by which it slows down then (CDF).
        cdf: f64 = 0.0625, "ATM Forum af-tm-0056.000, 1996, section 5.10.2 (CDF: 1/16)";
    }
}

/// Fewest cells between two resource-management cells that are sent for the time alone (section
/// 5.10.2: Mrm).
const MRM: u32 = 2;

/// A source that could not send a resource-management cell within its rate for this long sends one
/// out of rate: at most 10 a second are allowed (section 5.10.2: TCR), and a source that cells let
/// go within its rate sends one in 100 ms.
const OUT_OF_RATE: Span = Span::from_ms(200);

fn build(section: &Section<'_>) -> Result<PaceKind, Problem> {
    let parameters = AbrParameters::read(section)?;
    let AbrParameters { mcr, icr, rif, nrm, trm, adtf, crm, cdf } = parameters;
    let check = |key: &str, value: f64, right: bool, allowed: &str| {
        if right {
            return Ok(());
        }
        Err(section.fail(key, format!("{value} is out of range; allowed are {allowed}")))
    };
    check("mcr", mcr, (0.0..=1.0).contains(&mcr), "0 to 1")?;
    let from_mcr = format!("{mcr}, the minimum cell rate, to 1, and above 0");
    check("icr", icr, (mcr..=1.0).contains(&icr) && icr > 0.0, &from_mcr)?;
    check("rif", rif, rif > 0.0 && rif <= 1.0, "above 0 and up to 1")?;
    check("nrm", nrm.into(), (2..=256).contains(&nrm), "2 to 256")?;
    check("crm", crm.into(), crm > 0, "numbers from 1")?;
    check("cdf", cdf, (0.0..=1.0).contains(&cdf), "0 to 1")?;
    for (key, span) in [("trm", trm), ("adtf", adtf)] {
        if span < Span::from_us(1) {
            return Err(section.fail(key, "is too short; allowed are times from 1 us"));
        }
    }
    let make = move |_| -> Box<dyn PaceControl> { Box::new(Abr::new(parameters.clone())) };
    // It waits for cells, and for no round trip.
    Ok(PaceKind { rtt: Some(Span::ZERO), explicit: Some(mcr), make: Box::new(make) })
}

/// An ABR source; rates are over the peak cell rate.
struct Abr {
    parameters: AbrParameters,
    /// Allowed cell rate.
    acr: f64,
    /// Times at which a resource-management cell was sent within the rate, and at which one was
    /// sent at all; none was if `None`.
    in_rate: Option<Time>,
    any: Option<Time>,
    /// Other cells since the one that was sent within the rate.
    others: u32,
    /// Resource-management cells since one came back.
    unanswered: u32,
    /// True if an explicit rate has come back in this session.
    told: bool,
    next: Time,
}

impl Abr {
    fn new(parameters: AbrParameters) -> Self {
        let acr = parameters.icr;
        Self {
            parameters,
            acr,
            in_rate: None,
            any: None,
            others: 0,
            unanswered: 0,
            told: false,
            next: Time::NEVER,
        }
    }

    fn pace(&self) -> Pace {
        let at_floor = self.told && self.acr <= self.parameters.mcr;
        Pace { scale: self.acr, at_floor, next: self.next }
    }

    /// Rule 3: whether the next cell within the rate is a resource-management cell.
    fn is_due(&self, now: Time) -> bool {
        let Some(last) = self.in_rate else { return true };
        let AbrParameters { nrm, trm, .. } = self.parameters;
        self.others + 1 >= nrm || (self.others >= MRM && now.since(last) >= trm)
    }

    /// Rule 5: a rate that was not used for long is lost.
    fn lose_unused(&mut self, now: Time) {
        let AbrParameters { icr, adtf, .. } = self.parameters;
        if self.in_rate.is_some_and(|last| now.since(last) > adtf) {
            self.acr = self.acr.min(icr);
        }
    }

    /// Rule 6: cells do not come back.
    fn miss(&mut self) {
        let AbrParameters { mcr, crm, cdf, .. } = self.parameters;
        if self.unanswered >= crm {
            self.acr = (self.acr * (1.0 - cdf)).max(mcr);
        }
    }
}

impl PaceControl for Abr {
    /// The connection is there between sessions, and its rate with it, unless that is lost.
    fn begin(&mut self, now: Time) -> Pace {
        self.lose_unused(now);
        self.told = false;
        self.next = now + OUT_OF_RATE;
        self.pace()
    }

    fn notified(&mut self, _notice: CongestionNotification, _now: Time) -> Option<Pace> {
        None
    }

    fn expired(&mut self, now: Time) -> Pace {
        let due = self.any.map_or(now, |last| last + OUT_OF_RATE);
        self.next = if due > now { due } else { now + OUT_OF_RATE };
        self.pace()
    }

    fn resource_cell(&mut self, in_rate: bool, now: Time) -> Option<Pace> {
        let due = if in_rate {
            self.is_due(now)
        } else {
            self.any.is_none_or(|last| now.since(last) >= OUT_OF_RATE)
        };
        if !due {
            self.others += u32::from(in_rate);
            return None;
        }
        if in_rate {
            self.lose_unused(now);
            self.miss();
            self.unanswered = self.unanswered.saturating_add(1);
            self.in_rate = Some(now);
            self.others = 0;
        }
        self.any = Some(now);
        Some(self.pace())
    }

    /// Rules 8 and 9.
    fn allowed(&mut self, explicit: f64, _now: Time) -> Option<Pace> {
        let AbrParameters { mcr, rif, .. } = self.parameters;
        self.unanswered = 0;
        self.told = true;
        self.acr = (self.acr + rif).min(1.0).min(explicit).max(mcr);
        Some(self.pace())
    }
}
