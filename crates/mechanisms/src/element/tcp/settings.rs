//! Settings that all TCP senders of a group share.

use forebay_network::{ControlNeeds, Ecn, FlowId, Marking, RouteId};
use forebay_parameters::choice;
use forebay_units::{Span, Time};

use super::rto::RtoRules;
use super::{
    EcnEcho, NewRenoTimer, Pacing, Recovery, RecoveryWindow, SackAtTimeout, TcpParameters,
};
use crate::element::FlowGroup;

choice! {
    /// Clock that measures the smoothed round-trip time which segments report.
    pub enum ReportedRtt {
        /// An ideal one, whatever the granularity of the timer.
        Exact = "exact",
        /// That of the timer: in whole ticks, rounded and at least one, each smoothed with a gain
        /// of 1/8 in integers (ns-2, where the variable of the control block is so).
        Ticks = "ticks",
    }
}

/// They are in the form that the arithmetic needs.
pub(super) struct Settings {
    pub(super) first: FlowId,
    pub(super) route: RouteId,
    pub(super) marking: Marking,
    pub(super) stop: Time,
    pub(super) mss: u64,
    pub(super) overhead: u16,
    pub(super) window: f64,
    pub(super) initial_window: f64,
    pub(super) recovery: Recovery,
    /// Proportional rate reduction.
    pub(super) prr: bool,
    pub(super) impatient: bool,
    pub(super) keep_sack: bool,
    pub(super) threshold: u32,
    pub(super) limited_transmit: bool,
    pub(super) byte_counting: bool,
    /// Bytes by which an acknowledgement opens the window in slow start at most.
    pub(super) slow_start_limit: f64,
    pub(super) max_burst: u32,
    pub(super) idle_restart: bool,
    /// Applications write when they are asked to.
    pub(super) on_request: bool,
    pub(super) timestamps: bool,
    /// Some segments are pushed, which the receiver goes by.
    pub(super) pushes: bool,
    pub(super) ecn: bool,
    /// The codepoint of segments that are ECN-capable.
    pub(super) ect: Ecn,
    /// Segments sent again are ECN-capable as well.
    pub(super) ecn_always: bool,
    /// The receiver counts marks (RFC 9768).
    pub(super) accurate: bool,
    /// Congestion control goes by the share of marks, so that a mark takes less than a loss.
    pub(super) exact_marks: bool,
    /// Congestion control is that of L4S.
    pub(super) l4s: bool,
    pub(super) pacing: Pacing,
    /// Connections are opened and closed.
    pub(super) handshake: bool,
    /// Losses are detected by time.
    pub(super) rack: bool,
    pub(super) tail_loss_probe: bool,
    /// The longest delay of an acknowledgement by the receiver.
    pub(super) max_ack_delay: Span,
    pub(super) signals_srtt: bool,
    /// In whole ticks of so long; zero if it is exact.
    pub(super) signal_tick: Span,
    /// The application pauses: a write of nothing gives up what was not sent.
    pub(super) pauses: bool,
    pub(super) rules: RtoRules,
}

impl Settings {
    pub(super) fn new(group: &FlowGroup, parameters: &TcpParameters, needs: ControlNeeds) -> Self {
        let (mss, echo) = (parameters.mss.bytes(), parameters.echo());
        Self {
            first: group.first,
            route: group.route,
            marking: group.marking,
            stop: group.stop,
            mss,
            overhead: parameters.overhead(),
            window: parameters.window_bytes(parameters.window),
            initial_window: parameters.initial_window.bytes(mss) as f64,
            recovery: parameters.recovery,
            prr: parameters.recovery_window == RecoveryWindow::Prr,
            impatient: parameters.newreno_timer == NewRenoTimer::Impatient,
            keep_sack: parameters.sack_at_timeout == SackAtTimeout::Keep
                || parameters.detects_by_time(),
            threshold: parameters.dupack_threshold,
            limited_transmit: parameters.limited_transmit,
            byte_counting: parameters.byte_counting,
            slow_start_limit: parameters
                .slow_start_limit
                .map_or(f64::INFINITY, |segments| f64::from(segments) * mss as f64),
            max_burst: parameters.max_burst.unwrap_or(u32::MAX),
            idle_restart: parameters.idle_restart,
            on_request: false,
            timestamps: parameters.timestamps,
            pushes: parameters.prompt_acks,
            ecn: parameters.ecn,
            ect: if needs.l4s { Ecn::Ect1 } else { Ecn::Ect0 },
            ecn_always: echo == Some(EcnEcho::Rfc8257) || parameters.ecn && needs.l4s,
            accurate: echo == Some(EcnEcho::AccEcn),
            exact_marks: needs.exact_marks,
            l4s: needs.l4s,
            pacing: parameters.pacing,
            handshake: parameters.handshake,
            rack: parameters.detects_by_time(),
            tail_loss_probe: parameters.probes_tail(),
            max_ack_delay: parameters.ack_delay().unwrap_or(Span::ZERO),
            signals_srtt: false,
            signal_tick: match parameters.reported_rtt {
                ReportedRtt::Exact => Span::ZERO,
                ReportedRtt::Ticks => parameters.rto_tick,
            },
            pauses: false,
            rules: parameters.rto_rules(),
        }
    }
}
