//! Settings that all TCP senders of a group share.

use forebay_network::{ControlNeeds, Ecn, FlowId, Marking, Packet, RouteId};
use forebay_units::{Span, Time};

use super::reduction::Reduction;
use super::rto::RtoRules;
use crate::FlowGroup;
use crate::tcp::{
    EcnEcho, NewRenoTimer, Pacing, Recovery, RecoveryWindow, ReportedRtt, SackAtTimeout,
    TcpParameters,
};

/// The way in which a connection detects losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detection {
    /// Duplicate acknowledgements (RFC 5681, RFC 6582).
    Dupack,
    /// SACKed segments above (RFC 6675).
    Sack,
    /// Segments sent later that have arrived (RFC 8985).
    Rack,
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
    pub(super) detection: Detection,
    pub(super) reduction: Reduction,
    /// Connections keep a record of every segment.
    pub(super) records: bool,
    /// The law takes samples, and these tell rates.
    pub(super) samples: bool,
    pub(super) rates: bool,
    /// After a timeout SND.NXT goes back to the first segment.
    pub(super) goes_back: bool,
    /// The receiver reports duplicates (RFC 2883).
    pub(super) reports_duplicates: bool,
    /// Recoveries that turn out not to have been needed are undone: by duplicates that the receiver
    /// reports, by timestamps, and by F-RTO.
    pub(super) undoes_by_duplicates: bool,
    pub(super) undoes_by_time: bool,
    pub(super) frto: bool,
    /// In recovery segments may be sent again that are not lost (RFC 6675).
    pub(super) guesses: bool,
    /// The timer restarts when the first segment is sent again (RFC 6675, section 6).
    pub(super) restarts_timer: bool,
    pub(super) impatient: bool,
    pub(super) sack_at_timeout: SackAtTimeout,
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
    /// A segment may wait for a second one.
    pub(super) pairs: bool,
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
    /// Segments may leave at a rate.
    pub(super) paces: bool,
    /// Connections are opened and closed.
    pub(super) handshake: bool,
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

impl Detection {
    /// The way that `recovery` takes; with SACK it goes `by_time`, or by counting.
    const fn of(recovery: Recovery, by_time: bool) -> Self {
        match recovery {
            Recovery::Reno | Recovery::NewReno => Self::Dupack,
            Recovery::Sack if by_time => Self::Rack,
            Recovery::Sack => Self::Sack,
        }
    }
}

impl Settings {
    pub(super) fn new(group: &FlowGroup, parameters: &TcpParameters, needs: ControlNeeds) -> Self {
        let (mss, echo) = (parameters.mss.bytes(), parameters.echo());
        let by_time = parameters.detects_by_time();
        let detection = Detection::of(parameters.recovery, by_time);
        Self {
            first: group.first,
            route: group.route,
            marking: group.marking,
            stop: group.stop,
            mss,
            overhead: parameters.overhead(),
            window: parameters.window_bytes(parameters.window),
            initial_window: parameters.initial_window.bytes(mss) as f64,
            detection,
            reduction: match (parameters.recovery, parameters.recovery_window) {
                (Recovery::Reno, _) => Reduction::Reno,
                (Recovery::NewReno, _) => Reduction::NewReno,
                (Recovery::Sack, RecoveryWindow::Rfc6675) => Reduction::Pipe,
                (Recovery::Sack, RecoveryWindow::Prr) => Reduction::Prr,
            },
            records: needs.samples || by_time,
            samples: needs.samples,
            rates: needs.samples && !needs.without_rates,
            goes_back: !by_time,
            reports_duplicates: parameters.reports_duplicates(),
            undoes_by_duplicates: parameters.undoes_by_duplicates(),
            undoes_by_time: parameters.undoes_by_time(),
            frto: parameters.frto == Some(true),
            guesses: detection == Detection::Sack,
            restarts_timer: by_time,
            impatient: parameters.newreno_timer == NewRenoTimer::Impatient,
            sack_at_timeout: parameters.sack_at_timeout,
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
            pairs: parameters.prompt_acks && by_time && !needs.l4s,
            ecn: parameters.ecn,
            ect: if needs.l4s { Ecn::Ect1 } else { Ecn::Ect0 },
            ecn_always: echo == Some(EcnEcho::Rfc8257) || parameters.ecn && needs.l4s,
            accurate: echo == Some(EcnEcho::AccEcn),
            exact_marks: needs.exact_marks,
            l4s: needs.l4s,
            pacing: parameters.pacing,
            paces: needs.samples
                || by_time
                || echo == Some(EcnEcho::AccEcn)
                || parameters.pacing != Pacing::None,
            handshake: parameters.handshake,
            tail_loss_probe: parameters.probes_tail(),
            max_ack_delay: parameters.ack_delay().unwrap_or(Span::ZERO),
            signals_srtt: false,
            signal_tick: match parameters.reported_rtt {
                ReportedRtt::Exact => Span::ZERO,
                ReportedRtt::Ticks => parameters.rto_tick,
            },
            pauses: false,
            rules: RtoRules::of(parameters),
        }
    }

    /// The timestamp that an acknowledgement echoes, where there is that option.
    pub(super) fn echo_of(&self, packet: &Packet) -> Option<Time> {
        self.timestamps.then(|| packet.timestamp_echo())
    }
}
