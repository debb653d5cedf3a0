//! Losses in bursts: the channel of Gilbert and Elliott.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildImpairment, Impairment, Passage, check_probability};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "gilbert_elliott",
    summary: "Loses packets in bursts: a channel that is good or bad, and changes by chance after \
              each packet.",
    source: "Gilbert, Bell System Technical Journal 39 (1960); Elliott, ibid. 42 (1963); \
             tc-netem(8), loss gemodel",
    example: r#"
        to_bad = 0.01
        to_good = 0.25
    "#,
    fields: GilbertElliottParameters::FIELDS,
    probes: &[Probe {
        name: "bad_state",
        unit: "1",
        meaning: "1 while the channel is bad, else 0.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of the channel of Gilbert and Elliott. The share of time in the bad state, in
    /// packets, is to_bad / (to_bad + to_good); the mean number of packets that a bad state lasts
    /// is 1 / to_good.
    pub struct GilbertElliottParameters {
        /// Probability with which a good channel is bad for the next packet, 0 to 1.
        to_bad: f64, "Gilbert 1960 (P); tc-netem(8) (p)";
        /// Probability with which a bad channel is good for the next packet, 0 to 1.
        to_good: f64, "Gilbert 1960 (p); tc-netem(8) (r)";
        /// Probability with which a bad channel loses a packet, 0 to 1.
        loss_in_bad: f64 = 1.0, "Gilbert 1960 (1 - h); tc-netem(8) (1-h)";
        /// Probability with which a good channel loses a packet, 0 to 1.
        loss_in_good: f64 = 0.0, "Elliott 1963 (1 - k); tc-netem(8) (1-k)";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let parameters = GilbertElliottParameters::read(section)?;
    let GilbertElliottParameters { to_bad, to_good, loss_in_bad, loss_in_good } = parameters;
    for (key, value) in [
        ("to_bad", to_bad),
        ("to_good", to_good),
        ("loss_in_bad", loss_in_bad),
        ("loss_in_good", loss_in_good),
    ] {
        check_probability(section, key, value)?;
    }
    Ok(Box::new(GilbertElliott { parameters, bad: false }))
}

/// The channel, good at first.
struct GilbertElliott {
    parameters: GilbertElliottParameters,
    bad: bool,
}

impl Impairment for GilbertElliott {
    fn pass(&mut self, _packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        let GilbertElliottParameters { to_bad, to_good, loss_in_bad, loss_in_good } =
            self.parameters;
        let (lost, leaves) = if self.bad { (loss_in_bad, to_good) } else { (loss_in_good, to_bad) };
        let lost = stream.happens(lost);
        self.bad ^= stream.happens(leaves);
        if lost { Passage::Lost(DropReason::Lost) } else { Passage::Passes }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("bad_state", f64::from(u8::from(self.bad)));
    }
}
