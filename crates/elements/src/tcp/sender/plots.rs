//! Values of connections that senders show for plots.

use forebay_units::Span;

use super::TcpSenders;
use super::tcb::Tcb;

impl TcpSenders {
    /// The probes of part `part`: of 0 those of the group, of n those of its flow n - 1.
    pub(super) fn visit_probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        match part.checked_sub(1) {
            None => self.group_probes(visit),
            Some(index) => flow_probes(&self.connections[index as usize].tcb, visit),
        }
    }

    /// Means over the flows that have started and not ended; of what congestion control shows, over
    /// those that know it.
    fn group_probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let (mut flows, mut cwnd, mut flight, mut srtt) = (0.0, 0.0, 0.0, 0.0);
        for connection in
            self.connections.iter().map(|it| &it.tcb).filter(|tcb| tcb.max > 0 && !tcb.ended)
        {
            flows += 1.0;
            cwnd += connection.window.cwnd;
            flight += (connection.max - connection.una) as f64;
            srtt += connection.rto.srtt().map_or(0.0, Span::seconds);
        }
        visit("active_flows", flows);
        let share = if flows > 0.0 { 1.0 / flows } else { 0.0 };
        visit("mean_cwnd_bytes", cwnd * share);
        visit("mean_flight_packets", flight * share);
        visit("mean_srtt_s", srtt * share);
        let mut sums: Vec<(String, f64, f64)> = Vec::new();
        for connection in
            self.connections.iter().map(|it| &it.tcb).filter(|tcb| tcb.max > 0 && !tcb.ended)
        {
            connection.control.probes(&mut |name, value| match sums
                .iter_mut()
                .find(|sum| sum.0 == name)
            {
                Some(sum) => (sum.1, sum.2) = (sum.1 + value, sum.2 + 1.0),
                None => sums.push((name.to_owned(), value, 1.0)),
            });
        }
        for (name, sum, known) in sums {
            visit(&name, sum / known);
        }
    }
}

/// Visits the values of a flow while it lasts; before and after, none.
fn flow_probes(connection: &Tcb, visit: &mut dyn FnMut(&str, f64)) {
    if connection.max == 0 || connection.ended {
        return;
    }
    visit("cwnd_bytes", connection.window.cwnd);
    if connection.window.ssthresh.is_finite() {
        visit("ssthresh_bytes", connection.window.ssthresh);
    }
    visit("flight_packets", (connection.max - connection.una) as f64);
    if let Some(srtt) = connection.rto.srtt() {
        visit("srtt_s", srtt.seconds());
    }
    visit("rto_s", connection.rto.timeout().seconds());
    connection.control.probes(visit);
}
