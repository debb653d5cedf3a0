//! Termination of the call of each excess-traffic-marked packet: three-state marking.

use forebay_network::PcnMark;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::BuildTermination;
use crate::pcn_edge::{FlowTermination, Leaving, Termination, TerminationSignal};

pub(super) const ENTRY: Entry<BuildTermination> = Entry {
    name: "per_packet",
    summary: "Three-state marking: each ET-marked packet terminates the call that it belongs to.",
    source: "draft-babiarz-pcn-explicit-marking-02, section 2.3",
    example: "",
    fields: PerPacketParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of termination by marked packets: none.
    pub struct PerPacketParameters {}
}

fn build(section: &Section<'_>) -> Result<Box<dyn FlowTermination>, Problem> {
    PerPacketParameters::read(section)?;
    Ok(Box::new(PerPacket))
}

/// It keeps no record of calls: a call whose termination is under way can be marked, and signalled,
/// again. Such a mark is wasted, as the draft's slow-down parameter "s" takes into account.
struct PerPacket;

impl FlowTermination for PerPacket {
    fn leaves(&mut self, packet: &Leaving) -> Option<TerminationSignal> {
        (packet.mark == Some(PcnMark::Excess)).then_some(TerminationSignal::Call(packet.call))
    }

    fn signalled(&mut self, signal: TerminationSignal, _sent: f64, _now: Time) -> Termination {
        match signal {
            TerminationSignal::Call(call) => Termination::Call(call),
            TerminationSignal::Report { .. } => Termination::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::PcnMark::{Excess, Threshold, Unmarked};

    /// Each ET mark terminates the call of its packet; other marks terminate none.
    #[test]
    fn each_excess_mark_terminates_its_call() {
        for (mark, call, ends) in [
            (Some(Unmarked), 1, false),
            (Some(Threshold), 2, false),
            (Some(Excess), 3, true),
            (None, 4, false),
            (Some(Excess), u64::MAX, true),
            (Some(Excess), 3, true),
        ] {
            let packet = Leaving { now: Time::ZERO, mark, size: 200, call };
            let signal = PerPacket.leaves(&packet);
            assert_eq!(signal, ends.then_some(TerminationSignal::Call(call)));
            let done = signal.map(|signal| PerPacket.signalled(signal, 0.0, Time::ZERO));
            assert_eq!(done, ends.then_some(Termination::Call(call)));
        }
        assert_eq!(PerPacket.interval(), None, "it measures no intervals");
    }
}
