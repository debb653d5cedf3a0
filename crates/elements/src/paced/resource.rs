//! Sources that go by explicit rates: what they do about resource-management cells.

use forebay_laws::explicit_rate::{CellRate, ResourceCell};
use forebay_network::{Context, Packet};
use forebay_units::Rate;

use super::PacedSources;

/// Sources that go by explicit rates.
#[derive(Clone, Copy, Debug)]
pub struct Explicit {
    /// Their peak rate: the highest nominal one.
    pub peak: Rate,
    /// The rate that they are promised, over their peak rate.
    pub minimum: f64,
}

impl Explicit {
    /// The peak in packets of `size` bytes a second.
    fn packets(self, size: u16) -> f64 {
        self.peak.bps() as f64 / (f64::from(size) * 8.0)
    }
}

impl PacedSources {
    /// Source `index` may send a packet: if a resource-management cell is due, it sends that, and
    /// true is the answer. With `in_rate` that takes the place of the packet.
    pub(super) fn send_rate_cell(
        &mut self,
        index: usize,
        in_rate: bool,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(explicit) = self.explicit else { return false };
        let (now, size, flow) = (cx.now(), self.size, self.group.first.nth(index as u32));
        let source = &mut self.sources[index];
        let Some(pace) = source.control.resource_cell(in_rate, now) else { return false };
        if in_rate {
            source.skip_next();
        }
        let changes = pace.scale != source.pace.scale;
        let count = &mut self.counts[index];
        source.change_pace(pace, size, now, count);
        count.resource_cells.0 += 1;
        let peak = explicit.packets(size);
        let cell = ResourceCell {
            backward: false,
            current: CellRate::at_most(peak * pace.scale),
            explicit: CellRate::at_most(peak),
            minimum: CellRate::at_most(peak * explicit.minimum),
        };
        let packet = Packet::data(now, flow, source.resource_cells, size, self.group.route)
            .with_marking(self.group.marking);
        source.resource_cells += 1;
        cx.send(cell.written(packet));
        if changes {
            self.report_pace(index, cx);
        }
        true
    }

    /// A resource-management cell has come back.
    pub(super) fn on_resource_cell(
        &mut self,
        packet: &Packet,
        cell: ResourceCell,
        cx: &mut Context<'_>,
    ) {
        let Some(explicit) = self.explicit else { return };
        let (now, size) = (cx.now(), self.size);
        let index = packet.flow.index_in(self.group.first) as usize;
        let count = &mut self.counts[index];
        count.resource_cells.1 += 1;
        count.resource_delay += u128::from(now.since(packet.created).ps());
        let source = &mut self.sources[index];
        let told = cell.explicit.per_second() / explicit.packets(size);
        source.explicit = told;
        let Some(pace) = source.control.allowed(told, now) else { return };
        // Between sessions the rate is kept, and nothing is sent.
        if source.in_session() {
            let changes = pace.scale != source.pace.scale;
            source.change_pace(pace, size, now, count);
            if changes {
                self.report_pace(index, cx);
            }
            self.arm(index, cx);
        }
    }

    /// Means over the sources in a session: the rate allowed, and that heard last.
    pub(super) fn rate_probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let Some(explicit) = self.explicit else { return };
        let peak = explicit.peak.bps() as f64;
        let (mut sessions, mut allowed, mut heard) = (0_u32, 0.0, 0.0);
        for source in self.sources.iter().filter(|source| source.in_session()) {
            sessions += 1;
            allowed += source.pace.scale * peak;
            heard += source.explicit * peak;
        }
        visit("mean_allowed_bps", allowed / f64::from(sessions));
        visit("mean_explicit_bps", heard / f64::from(sessions));
    }
}
