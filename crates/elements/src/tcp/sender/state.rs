//! State of a TCP sender that a debugger shows: for tests that hold it to the standards.

use forebay_network::{Context, Window};
use forebay_units::{Span, Time};

use super::TcpSenders;
use super::connection::Connection;
use super::phase::Phase;
use super::segments::Segments;

/// The state of congestion control, in the names that the Linux kernel gives it
/// (`include/uapi/linux/tcp.h`, `enum tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionState {
    /// Nothing is suspicious.
    Open,
    /// Duplicate acknowledgements have arrived, too few to signal a loss.
    Disorder,
    /// The window was reduced for ECN-Echo, and what was outstanding then is not all acknowledged.
    Cwr,
    /// Losses that duplicate acknowledgements signalled are being repaired.
    Recovery,
    /// The retransmission timer has expired, and what was outstanding then is not all acknowledged.
    Loss,
}

/// The state of one sender at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderState {
    /// The first segment not acknowledged (SND.UNA).
    pub unacknowledged: u64,
    /// The next segment never sent.
    pub unsent: u64,
    /// Congestion window and slow-start threshold.
    pub window: Window,
    /// The state of congestion control.
    pub congestion: CongestionState,
    /// Smoothed round-trip time and its variation in ps, once measured (RFC 6298, section 2).
    pub round_trip: Option<(f64, f64)>,
    /// The present retransmission timeout, backed off where timeouts have occurred.
    pub timeout: Span,
    /// Segments above the first unacknowledged one that the receiver has reported.
    pub sacked: u64,
    /// Segments thought to be in the network: pipe of RFC 6675, section 4, or all outstanding ones
    /// where nothing is reported.
    pub pipe: u64,
    /// Segments, and bytes of data, that the receiver has counted as marked (RFC 9768); 0 where it
    /// does not count.
    pub marked: (u64, u64),
}

impl TcpSenders {
    /// The state of flow `index` of the group.
    ///
    /// # Panics
    /// If the group has no such flow.
    #[must_use]
    pub fn state(&self, index: u32) -> SenderState {
        self.connections[index as usize].state()
    }

    /// Returns the time at which the first SYN of flow `index` was sent, if it was: transfers are
    /// timed from then.
    ///
    /// # Panics
    /// If the group has no such flow.
    #[must_use]
    pub fn opened_at(&self, index: u32) -> Option<Time> {
        let at = self.group.opened.get(index as usize).copied();
        at.filter(|at| *at < Time::NEVER)
    }

    /// Returns true if the receiver of flow `index` has reported that segment `number` arrived
    /// above a gap.
    ///
    /// # Panics
    /// If the group has no such flow.
    #[must_use]
    pub fn is_sacked(&self, index: u32, number: u64) -> bool {
        let segments = &self.connections[index as usize].segments;
        let segment = segments.as_ref().and_then(|segments| segments.get(number));
        segment.is_some_and(|segment| segment.is_sacked())
    }

    /// Have the application of flow `index` write what it writes next now, whenever its timer is
    /// due: for tests that say in which order things happen at one instant. The timer's event, if
    /// it is still to come, must then be kept from the group.
    ///
    /// # Panics
    /// If the group has no such flow.
    pub fn write_now(&mut self, index: u32, cx: &mut Context<'_>) {
        self.sender(index, cx).write();
    }

    /// Have the timer of loss detection of flow `index` expire now, if it is due: likewise.
    ///
    /// # Panics
    /// If the group has no such flow.
    pub fn expire_if_due(&mut self, index: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let mut sender = self.sender(index, cx);
        if sender.loss.timer_at().is_some_and(|at| at <= now) {
            sender.loss_timer_expired();
        }
    }
}

impl Connection {
    fn state(&self) -> SenderState {
        let (tcb, segments) = (&self.tcb, self.segments.as_deref());
        let sacked = segments.map_or(0, Segments::sacked);
        SenderState {
            unacknowledged: tcb.una,
            unsent: tcb.max,
            window: tcb.window,
            congestion: self.congestion(sacked),
            round_trip: tcb.rto.estimate(),
            timeout: tcb.rto.timeout(),
            sacked,
            pipe: segments.map_or(tcb.nxt - tcb.una, Segments::segments_in_flight),
            marked: tcb.feedback.as_ref().map(|it| it.reported()).unwrap_or_default(),
        }
    }

    fn congestion(&self, sacked: u64) -> CongestionState {
        // A reduction for a loss sets both marks, one for ECN only the second.
        let tcb = &self.tcb;
        let marked = tcb.una < tcb.reduced && tcb.reduced != tcb.recover;
        match tcb.phase {
            Phase::Recovery => CongestionState::Recovery,
            Phase::Loss => CongestionState::Loss,
            Phase::Opening | Phase::Reopening => CongestionState::Open,
            Phase::Open if marked => CongestionState::Cwr,
            Phase::Open if self.loss.duplicates() > 0 || sacked > 0 => CongestionState::Disorder,
            Phase::Open => CongestionState::Open,
        }
    }
}
