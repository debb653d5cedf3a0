//! Statements of senders about their connections, for checks.

use forebay_network::{ElementState, FlowId, StateFact, TcpSenderState};

use super::TcpSenders;
use super::connection::Connection;
use super::segments::Segments;
use super::tcb::Tcb;

impl TcpSenders {
    fn facts(&self, flow: FlowId, connection: &Connection) -> TcpSenderState {
        let (settings, rules) = (&self.settings, &self.settings.rules);
        let Tcb { una, nxt, max, end, window, deadline, ref rto, .. } = connection.tcb;
        let segments = connection.segments.as_deref();
        // The initial timeout holds before the first measurement, whatever the minimum.
        let least = rules.min.max(rules.tick.times(2)).min(rules.initial).min(rules.max);
        TcpSenderState {
            flow,
            una,
            nxt,
            max,
            end,
            window,
            receiver_window: settings.window,
            pipe: segments.map(Segments::segments_in_flight),
            resent: segments.map_or(0, Segments::resent),
            sacked: segments.map_or_else(Vec::new, Segments::sacked_ranges),
            sacked_total: segments.map_or(0, Segments::sacked),
            rto: rto.timeout(),
            rto_bounds: (least, rules.max),
            deadline,
        }
    }
}

impl ElementState for TcpSenders {
    fn inspect(&self, flow: Option<FlowId>, visit: &mut dyn FnMut(StateFact)) {
        let mut show = |flow: FlowId, connection: &Connection| {
            visit(StateFact::TcpSender(Box::new(self.facts(flow, connection))));
        };
        let first = self.settings.first;
        match flow {
            Some(flow) => show(flow, &self.connections[flow.index_in(first) as usize]),
            None => {
                let all = (0..).zip(&self.connections);
                all.for_each(|(index, connection)| show(first.nth(index), connection));
            }
        }
    }
}
