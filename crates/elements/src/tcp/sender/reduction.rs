//! Amount sent while losses are repaired.

/// Window during the repair of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    /// Inflated by duplicate acknowledgements, until the first new one (RFC 5681, section 3.2).
    Reno,
    /// As well, until all that was outstanding has arrived (RFC 6582, section 3.2).
    NewReno,
    /// The reduced window, of which pipe leaves a part (RFC 6675, section 5).
    Pipe,
    /// Data in the network and a share of what arrives (RFC 9937).
    Prr,
}

impl Reduction {
    /// Returns true if duplicate acknowledgements inflate the window.
    pub(super) const fn inflates(self) -> bool {
        matches!(self, Self::Reno | Self::NewReno)
    }
}

/// Proportional rate reduction (RFC 9937): the state of one recovery. Volumes are in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Bytes outstanding when recovery began, without what SACK had reported (RecoverFS).
    flight: f64,
    /// prr_delivered.
    delivered: f64,
    /// prr_out.
    out: f64,
    /// Segments that had arrived at the acknowledgement before.
    arrived: u64,
    /// Bytes found lost until then, in all.
    losses: u64,
}

/// Content of an acknowledgement in recovery, in segments and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct InRecovery {
    /// Segments that have arrived so far.
    pub(super) arrived: u64,
    /// Bytes found lost so far, in all.
    pub(super) losses: u64,
    /// True if it acknowledges new data cumulatively.
    pub(super) advances: bool,
    /// Bytes in the network (pipe).
    pub(super) in_flight: f64,
    pub(super) ssthresh: f64,
    pub(super) smss: f64,
}

impl Prr {
    /// Recovery begins with `flight` bytes outstanding that had not arrived before the
    /// acknowledgement that begins it, when `arrived` segments had.
    pub(super) fn begin(flight: f64, arrived: u64) -> Self {
        Self { flight: flight.max(1.0), arrived, ..Self::default() }
    }

    /// `bytes` are sent.
    pub(super) fn sent(&mut self, bytes: f64) {
        self.out += bytes;
    }

    /// The window after an acknowledgement (section 6.2).
    pub(super) fn window(&mut self, ack: &InRecovery) -> f64 {
        let brought = ack.arrived.saturating_sub(self.arrived) as f64 * ack.smss;
        let safe = ack.advances && ack.losses <= self.losses;
        (self.arrived, self.losses) = (ack.arrived, ack.losses);
        self.delivered += brought;
        let mut count = if ack.in_flight > ack.ssthresh {
            (self.delivered * ack.ssthresh / self.flight).ceil() - self.out
        } else {
            let conserved = (self.delivered - self.out).max(brought);
            let grown = conserved + if safe { ack.smss } else { 0.0 };
            grown.min(ack.ssthresh - ack.in_flight)
        };
        if self.out == 0.0 {
            // The fast retransmission is sent in any case.
            count = count.max(ack.smss);
        }
        ack.in_flight + count.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(arrived: u64, in_flight: f64) -> InRecovery {
        InRecovery {
            arrived,
            losses: 0,
            advances: false,
            in_flight,
            ssthresh: 10_000.0,
            smss: 1000.0,
        }
    }

    /// The amount sent is the share of what arrives by which the window shrinks (section 6.2): with
    /// RecoverFS 20 segments and ssthresh 10, one for two that arrive. Of 15 in flight, the first
    /// is sent at once; the fourth to arrive has 2000 B sent in all.
    #[test]
    fn what_is_sent_is_in_proportion() {
        let mut prr = Prr::begin(20_000.0, 3);
        let mut room = |arrived| {
            let window = prr.window(&ack(arrived, 15_000.0));
            let room = window - 15_000.0;
            if room >= 1000.0 {
                prr.sent(1000.0);
            }
            room
        };
        let rooms: Vec<f64> = (4..=9).map(&mut room).collect();
        assert_eq!(rooms, [1000.0, 0.0, 500.0, 1000.0, 500.0, 1000.0]);
    }

    /// A flow that lost most of its window grows again without a burst: below ssthresh as much is
    /// sent as arrives (conservative reduction bound), and a segment more if the acknowledgement
    /// advances and shows no further loss (slow-start reduction bound), never beyond ssthresh.
    #[test]
    fn below_the_threshold_as_much_is_sent_as_arrives() {
        let mut prr = Prr::begin(20_000.0, 3);
        assert_eq!(prr.window(&ack(4, 5000.0)), 6000.0);
        prr.sent(1000.0);
        assert_eq!(prr.window(&ack(6, 4000.0)), 6000.0);
        prr.sent(2000.0);
        let safe = InRecovery { advances: true, ..ack(7, 5000.0) };
        assert_eq!(prr.window(&safe), 7000.0);
        prr.sent(2000.0);
        // A further loss is found: no segment more.
        let lossy = InRecovery { advances: true, losses: 9, ..ack(8, 5000.0) };
        assert_eq!(prr.window(&lossy), 6000.0);
        assert_eq!(prr.window(&InRecovery { advances: true, ..ack(12, 9500.0) }), 10_000.0);
    }
}
