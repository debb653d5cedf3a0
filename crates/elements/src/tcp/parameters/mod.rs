//! Parameters of TCP, sender and receiver.

mod initial_window;
mod profile;

use forebay_laws::control::{self, BuildControl, ControlFactory};
use forebay_network::ControlNeeds;
use forebay_parameters::{
    Entry, Length, Parameter, Parameters, Problem, Section, choice, parameters,
};
use forebay_units::{Size, Span};

pub use initial_window::InitialWindow;
pub use profile::Profile;

choice! {
    /// Repair of losses that duplicate acknowledgements signal.
    pub enum Recovery {
        /// Fast retransmit and fast recovery, left with the first new acknowledgement (RFC 5681).
        Reno = "reno",
        /// As Reno, but kept up until all that was outstanding has arrived (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgement (RFC 2018, RFC 6675).
        Sack = "sack",
    }
}

choice! {
    /// Detection of lost segments by a sender.
    pub enum LossDetection {
        /// Duplicate acknowledgements, or the SACKed segments above, tell (RFC 5681, RFC 6675).
        Dupacks = "dupacks",
        /// Time tells: a segment that was sent later has arrived, and a fraction of a round trip
        /// has passed in which it may have been reordered (RFC 8985). Finds the loss of
        /// retransmissions as well.
        Rack = "rack",
    }
}

choice! {
    /// Partial acknowledgements on which NewReno restarts its retransmission timer.
    pub enum NewRenoTimer {
        /// On the first of a recovery (RFC 6582, section 3.2).
        Impatient = "impatient",
        /// On every one (RFC 3782, section 4).
        SlowButSteady = "slow-but-steady",
    }
}

choice! {
    /// Treatment of SACK information at a retransmission timeout.
    pub enum SackAtTimeout {
        /// It is forgotten, as the receiver might have reneged (RFC 2018, section 5).
        Clear = "clear",
        /// It is kept and used (RFC 6675, section 5.1, with a receiver that never reneges).
        Keep = "keep",
    }
}

choice! {
    /// Spreading of segments over a round trip. A congestion control that has a rate of its own
    /// (BBR) goes by that, whatever stands here.
    pub enum Pacing {
        /// Not at all: acknowledgements clock them.
        None = "none",
        /// At twice the congestion window for each smoothed round-trip time in slow start (below
        /// half the threshold) and 1.2 times otherwise, from the eleventh segment on (Linux).
        Window = "window",
    }
}

choice! {
    /// Echo of congestion marks by a receiver.
    pub enum EcnEcho {
        /// ECN-Echo from a mark on until the sender answers with CWR (RFC 3168).
        Rfc3168 = "rfc3168",
        /// ECN-Echo tells whether the segments acknowledged were marked: an acknowledgement is sent
        /// at once where that changes (RFC 8257). All segments are ECN-capable, sent again or not.
        Rfc8257 = "rfc8257",
        /// Counters of what arrived marked, as ECT(0) and as ECT(1), in every acknowledgement
        /// (RFC 9768). One is sent at once when marks begin, and on the second mark since the last.
        AccEcn = "accecn",
    }
}

choice! {
    /// Weight of a round-trip time in SRTT and RTTVAR, where timestamps measure several in one
    /// round trip.
    pub enum RttGain {
        /// 1/8 and 1/4, each: the memory is some acknowledgements long (RFC 6298; Linux).
        Sample = "sample",
        /// 1/8 and 1/4, divided by the number that a round trip is expected to bring: the memory is
        /// some round trips long (RFC 7323, appendix G).
        RoundTrip = "round_trip",
    }
}

choice! {
    /// Amount sent while SACK repairs losses.
    pub enum RecoveryWindow {
        /// As much as the reduced window leaves beside what is in the network (pipe): nothing,
        /// until half a window has arrived (RFC 6675).
        Rfc6675 = "rfc6675",
        /// A share of what arrives, so that the window is reached at the end (RFC 9937). A
        /// congestion control that has a rate of its own goes by that.
        Prr = "prr",
    }
}

choice! {
    /// Signs by which a recovery turns out not to have been needed.
    pub enum UndoBy {
        /// The receiver reports every segment sent again as a duplicate (RFC 3708).
        Dsack = "dsack",
        /// The first acknowledgement of new data echoes a timestamp of before the first segment was
        /// sent again (RFC 3522).
        Eifel = "eifel",
        /// Either.
        Both = "both",
    }
}

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

parameters! {
    /// Parameters of TCP, sender and receiver.
    pub struct TcpParameters {
        /// Defaults of the other parameters: those of Linux, as this page gives them, of the RFCs,
        /// or of a host of the 1990s. Any can still be set.
        profile: Profile = "linux", "Linux, net/ipv4 and Documentation/networking/ip-sysctl";
        /// Open a connection with the first write and close it with the last, by SYN and FIN. Data
        /// follows when the SYN is answered. Without, a connection exists from the first and has no
        /// end on the wire.
        handshake: bool = true, "RFC 9293, sections 3.5 and 3.6; RFC 6298, section 5.7";
        /// Maximum segment size: bytes of data in a full segment.
        mss: Size = "1448 B", "RFC 9293, section 3.7.1; RFC 894; RFC 7323, appendix A";
        /// IP and TCP headers of every segment, without options. An acknowledgement is as large.
        header: Size = "40 B", "RFC 791, RFC 9293, section 3.1";
        /// Repair of losses.
        recovery: Recovery = "sack", "RFC 5681, RFC 6582, RFC 6675";
        /// Detection of losses. "rack" needs SACK, and keeps its information at a timeout.
        loss_detection: LossDetection = "rack",
            "RFC 6675, section 4; RFC 8985, section 6; Linux, ip-sysctl: tcp_recovery";
        /// Send a loss probe where the last segments of a flight are not acknowledged within two
        /// round trips: new data, or the last segment again. If left out, with loss_detection
        /// "rack".
        tail_loss_probe: Option<bool>, "RFC 8985, section 7";
        /// The receiver reports segments that it had already in the first SACK block (DSACK). If
        /// left out, with loss_detection "rack", and where recoveries are undone by them.
        dsack: Option<bool>, "RFC 2883, section 4; RFC 8985, section 6.2";
        /// Amount sent while SACK repairs losses.
        recovery_window: RecoveryWindow = "prr",
            "RFC 6675, section 5; RFC 9937, section 6; Linux, net/ipv4/tcp_input.c: \
             tcp_cwnd_reduction";
        /// Undo a recovery that turns out not to have been needed, by these signs: the window goes
        /// back to what is outstanding, and the threshold to what it was; after a timeout nothing
        /// more is sent again. "dsack" needs SACK, "eifel" timestamps. A congestion control that
        /// has a rate of its own undoes nothing. If left out, nothing is undone. Linux goes by
        /// both.
        undo: Option<UndoBy>,
            "RFC 4015, section 3.2; RFC 3708; RFC 3522, section 3.2; Linux, \
             net/ipv4/tcp_input.c: tcp_try_undo_recovery, tcp_try_undo_dsack";
        /// After a timeout, send two new segments before others are sent again, as the next
        /// acknowledgements then tell whether the timeout was spurious (F-RTO): it is undone if so.
        /// If left out, false. Linux does.
        frto: Option<bool>,
            "RFC 5682, sections 2.1 and 3.1; Linux, ip-sysctl: tcp_frto";
        /// Partial acknowledgements on which NewReno restarts its retransmission timer.
        newreno_timer: NewRenoTimer = "impatient", "RFC 6582, section 3.2; RFC 3782, section 4";
        /// Number of duplicate acknowledgements that signal a loss (DupThresh).
        dupack_threshold: u32 = 3, "RFC 5681, section 3.2; RFC 6675, section 2";
        /// New data on the first duplicate acknowledgements.
        limited_transmit: bool = true, "RFC 3042; RFC 5681, section 3.2";
        /// Congestion avoidance counts acknowledged bytes. Without it each acknowledgement counts
        /// as at most one segment, so that delayed acknowledgements halve the growth of the window.
        byte_counting: bool = true, "RFC 5681, section 3.1; RFC 3465, section 2.1";
        /// Most segments by which an acknowledgement opens the window in slow start (L). Unlimited
        /// if left out: slow start then doubles the window in a round trip with delayed
        /// acknowledgements, too.
        slow_start_limit: Option<u32>,
            "RFC 5681, section 3.1, equation 2; RFC 3465, section 2.2; Linux, \
             net/ipv4/tcp_cong.c: tcp_slow_start";
        /// SACK information at a retransmission timeout.
        sack_at_timeout: SackAtTimeout = "keep",
            "RFC 2018, section 5; RFC 6675, section 5.1; Linux, net/ipv4/tcp_input.c: \
             tcp_enter_loss";
        /// Count the bytes of SACK options in acknowledgements (4 + 8 for each block).
        sack_header_bytes: bool = true, "RFC 2018, section 3";
        /// Initial congestion window.
        initial_window: InitialWindow = "10 packets",
            "RFC 5681, section 3.1; RFC 6928; Linux, include/net/tcp.h: TCP_INIT_CWND";
        /// Initial slow-start threshold. Unlimited if left out.
        initial_ssthresh: Option<Length>, "RFC 5681, section 3.1";
        /// Window advertised by the receiver. Unlimited if left out.
        window: Option<Length>, "RFC 9293, section 3.1";
        /// Most segments sent at once: on an acknowledgement, a write or a timeout. Unlimited if
        /// left out.
        max_burst: Option<u32>, "RFC 6582, section 3.2; RFC 3782, section 10";
        /// Start over from the initial window after an idle time longer than the retransmission
        /// timeout.
        idle_restart: bool = true, "RFC 5681, section 4.1";
        /// Acknowledge every second segment instead of every one.
        delayed_ack: bool = true, "RFC 5681, section 4.2";
        /// Longest time that an acknowledgement is delayed; at most 500 ms.
        delayed_ack_timeout: Span = "40 ms",
            "RFC 5681, section 4.2; Linux, include/net/tcp.h: TCP_DELACK_MIN";
        /// Number of acknowledgements of a connection that are sent before any is delayed: the
        /// window of the sender is small then.
        quick_acks: u32 = 16, "Linux, net/ipv4/tcp_input.c: tcp_incr_quickack, TCP_MAX_QUICKACKS";
        /// Do not delay the acknowledgement of a segment that is pushed (PSH): the last of a write,
        /// and every second of those that are sent together, since Linux sends two as one; with
        /// loss_detection "rack" a segment waits for a second whose time is near. Nor that of a
        /// segment with CWR, nor the next two from a mark on that the sender has not answered; and
        /// as many as `quick_acks` from a segment on that had been acknowledged already.
        prompt_acks: bool = true,
            "Linux, net/ipv4/tcp_output.c: __tcp_transmit_skb, tcp_tso_autosize, \
             tcp_tso_should_defer; tcp.c: __tcp_cleanup_rbuf; tcp_input.c: tcp_ecn_accept_cwr, \
             __tcp_ecn_check_ce, tcp_data_queue";
        /// Clock granularity G. Round-trip times are measured in whole ticks; the retransmission
        /// timeout is a number of whole ticks, at least two. 500 ms for stacks of the 1990s, 0 s
        /// for an ideal clock.
        rto_tick: Span = "0 s",
            "RFC 6298, sections 2 and 4; Linux, net/ipv4/tcp_input.c: tcp_rtt_estimator";
        /// Smallest retransmission timeout.
        rto_min: Span = "200 ms", "RFC 6298, section 2.4; Linux, include/net/tcp.h: TCP_RTO_MIN";
        /// Largest retransmission timeout.
        rto_max: Span = "120 s", "RFC 6298, section 2.5; Linux, include/net/tcp.h: TCP_RTO_MAX";
        /// Retransmission timeout before the first measurement.
        rto_initial: Span = "1 s", "RFC 6298, section 2.1";
        /// Timestamps option: 12 bytes in every segment, and a round-trip time from every
        /// acknowledgement of new data. Without it one segment is timed per round trip and none
        /// that was sent twice.
        timestamps: bool = true, "RFC 7323, sections 3 and 4; Linux, ip-sysctl: tcp_timestamps";
        /// Weight of each of several round-trip times of one round trip in SRTT and RTTVAR. All
        /// else is that of RFC 6298, in every profile: Linux takes the largest variation of a round
        /// trip, lets it fall by less while round-trip times do, and adds at least rto_min to SRTT.
        rtt_gain: RttGain = "sample",
            "RFC 6298, section 2.3; RFC 7323, appendix G; Linux, net/ipv4/tcp_input.c: \
             tcp_rtt_estimator";
        /// Clock that measures the smoothed round-trip time which segments report to conditioners
        /// that adapt to it. "ticks" are those of `rto_tick`.
        reported_rtt: ReportedRtt = "exact",
            "Liu 2001, section 2.1.1; ns-2, tcp/tcp.cc: rtt_update (ticks)";
        /// Explicit congestion notification.
        ecn: bool = false, "RFC 3168, section 6.1";
        /// Echo of marks by the receiver. If left out, as the congestion control needs it: accecn
        /// for Prague, rfc8257 for DCTCP, else rfc3168.
        ecn_echo: Option<EcnEcho>,
            "RFC 3168, section 6.1.3; RFC 8257, section 3.2; RFC 9768, section 3.2";
        /// With accecn: counts of bytes in an option of each acknowledgement, and not only three
        /// bits of a count of packets. It takes the room of one SACK block.
        accecn_option: bool = true, "RFC 9768, section 3.2.3";
        /// Spreading of segments over a round trip.
        pacing: Pacing = "none", "Linux, net/ipv4/tcp_input.c, tcp_update_pacing_rate";
    }
}

impl TcpParameters {
    /// Read and check the section of a scenario that holds TCP's parameters, and beside them the
    /// congestion control under `control`, which is read elsewhere.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key, or the first value out of range.
    pub fn from_section(section: &Section<'_>) -> Result<Self, Problem> {
        let names = Self::FIELDS.iter().map(|field| field.name);
        section.refuse_unknown(&names.chain(["control"]).collect::<Vec<_>>())?;
        let parameters = Self::read_fields(section, Profile::read(section)?.fields())?;
        parameters.check().map_err(|(key, message)| section.fail(key, message))?;
        parameters.check_recovery(section)?;
        if parameters.header.bytes() < 40 {
            let message = format!(
                "{} is less than the headers of TCP and IP, 40 B without options",
                parameters.header.show()
            );
            section.warn("header", message);
        }
        Ok(parameters)
    }

    /// The congestion control of connections that name none.
    #[must_use]
    pub fn default_control(&self) -> &'static Entry<BuildControl> {
        match self.profile {
            Profile::Linux => control::CUBIC,
            Profile::Rfc | Profile::Nineties => control::DEFAULT,
        }
    }

    /// Make the factory of the congestion control `entry` from its section, with the defaults of
    /// the profile.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key, or the first value out of range.
    pub fn build_control(
        &self,
        entry: &Entry<BuildControl>,
        section: &Section<'_>,
    ) -> Result<ControlFactory, Problem> {
        match self.profile {
            Profile::Linux => (entry.build)(section),
            Profile::Rfc | Profile::Nineties => control::build_by_rfcs(entry)(section),
        }
    }

    /// The parameters with what a congestion control that `needs` something has both ends do,
    /// where they do not say otherwise.
    #[must_use]
    pub fn for_control(mut self, needs: ControlNeeds) -> Self {
        let echo = match needs {
            ControlNeeds { l4s: true, .. } => EcnEcho::AccEcn,
            ControlNeeds { exact_marks: true, .. } => EcnEcho::Rfc8257,
            _ => EcnEcho::Rfc3168,
        };
        self.ecn_echo.get_or_insert(echo);
        self
    }

    /// Refuse what is asked for and needs another way of repairing losses than is.
    fn check_recovery(&self, section: &Section<'_>) -> Result<(), Problem> {
        let asked = |key| section.node(key).is_some();
        let (sack, rack) = (self.recovery == Recovery::Sack, self.detects_by_time());
        let prr = self.recovery_window == RecoveryWindow::Prr;
        let reported = sack && self.dsack != Some(false);
        let refused: [(&str, bool, &str); 7] = [
            (
                "recovery_window",
                prr && !sack,
                "\"prr\" needs recovery = \"sack\": other recoveries inflate the window",
            ),
            (
                "loss_detection",
                self.loss_detection == LossDetection::Rack && !sack,
                "\"rack\" needs recovery = \"sack\": it goes by which segments have arrived",
            ),
            (
                "tail_loss_probe",
                self.tail_loss_probe == Some(true) && !rack,
                "needs loss_detection = \"rack\", which finds the loss that a probe reveals",
            ),
            (
                "undo",
                self.undoes_by_duplicates() && !reported,
                "goes by duplicates that the receiver reports, and needs recovery = \"sack\", and \
                 dsack not to be false; allowed is \"eifel\"",
            ),
            (
                "undo",
                self.undoes_by_time() && !self.timestamps,
                "goes by timestamps, and needs timestamps = true; allowed is \"dsack\"",
            ),
            ("dsack", self.dsack == Some(true) && !sack, "needs recovery = \"sack\""),
            (
                "sack_at_timeout",
                self.sack_at_timeout == SackAtTimeout::Clear && rack,
                "\"clear\" contradicts loss_detection = \"rack\", which keeps it; allowed is \
                 \"keep\"",
            ),
        ];
        match refused.into_iter().find(|(key, wrong, _)| *wrong && asked(key)) {
            Some((key, _, message)) => Err(section.fail(key, message)),
            None => Ok(()),
        }
    }

    /// Returns true if losses are detected by time.
    pub(super) fn detects_by_time(&self) -> bool {
        self.loss_detection == LossDetection::Rack && self.recovery == Recovery::Sack
    }

    /// Returns true if the sender sends loss probes.
    #[must_use]
    pub fn probes_tail(&self) -> bool {
        self.detects_by_time() && self.tail_loss_probe.unwrap_or(true)
    }

    /// Returns true if duplicates that the receiver reports show a needless recovery.
    pub(super) const fn undoes_by_duplicates(&self) -> bool {
        matches!(self.undo, Some(UndoBy::Dsack | UndoBy::Both))
    }

    /// Returns true if timestamps show a needless recovery.
    pub(super) const fn undoes_by_time(&self) -> bool {
        matches!(self.undo, Some(UndoBy::Eifel | UndoBy::Both))
    }

    /// Returns true if the receiver reports duplicates.
    pub(super) fn reports_duplicates(&self) -> bool {
        let needed = self.detects_by_time() || self.undoes_by_duplicates();
        self.recovery == Recovery::Sack && self.dsack.unwrap_or(needed)
    }

    /// Returns the time by which an acknowledgement may be delayed, if at all.
    pub(super) fn ack_delay(&self) -> Option<Span> {
        self.delayed_ack.then_some(self.delayed_ack_timeout)
    }

    /// Returns the echo of marks, if ECN is used.
    pub(super) fn echo(&self) -> Option<EcnEcho> {
        self.ecn.then_some(self.ecn_echo.unwrap_or(EcnEcho::Rfc3168))
    }

    /// Check ranges.
    fn check(&self) -> Result<(), (&'static str, String)> {
        let show = Parameter::show;
        if self.mss.bytes() == 0 {
            return Err(("mss", "0 B; a segment carries at least 1 B".to_owned()));
        }
        let largest = self.mss.bytes().saturating_add(self.header.bytes()).saturating_add(12);
        if largest > u64::from(u16::MAX) {
            let sum = format!("{} with the header of {}", show(&self.mss), show(&self.header));
            return Err(("mss", format!("{sum}: a packet has at most 65535 B, options included")));
        }
        if self.header.bytes() == 0 {
            return Err(("header", "0 B; an acknowledgement would have no size".to_owned()));
        }
        if self.dupack_threshold == 0 {
            return Err(("dupack_threshold", "0; at least 1 (standard: 3)".to_owned()));
        }
        match self.initial_window {
            InitialWindow::Segments(n) if !(1..=MAX_INITIAL_WINDOW).contains(&n) => {
                let message = format!("{n} packets; at least 1, at most {MAX_INITIAL_WINDOW}");
                return Err(("initial_window", message));
            }
            _ => {}
        }
        let smallest = |length: Option<Length>| match length {
            Some(Length::Bytes(n)) => n < self.mss.bytes(),
            Some(Length::Packets(n)) => n == 0,
            None => false,
        };
        for (key, length) in [("window", self.window), ("initial_ssthresh", self.initial_ssthresh)]
        {
            if smallest(length) {
                let message =
                    format!("{} is too small; allowed is at least one segment", length.show());
                return Err((key, message));
            }
        }
        for (key, most) in
            [("max_burst", self.max_burst), ("slow_start_limit", self.slow_start_limit)]
        {
            if most == Some(0) {
                return Err((key, "is 0; allowed is at least 1".to_owned()));
            }
        }
        if self.quick_acks > u32::from(u8::MAX) {
            return Err(("quick_acks", format!("is {}; allowed is at most 255", self.quick_acks)));
        }
        self.check_timers()
    }

    fn check_timers(&self) -> Result<(), (&'static str, String)> {
        let show = Parameter::show;
        if self.delayed_ack_timeout > Span::from_ms(500) {
            let read = show(&self.delayed_ack_timeout);
            return Err((
                "delayed_ack_timeout",
                format!("{read} is too long; allowed is at most 500 ms"),
            ));
        }
        if self.rto_max < self.rto_min {
            let (max, min) = (show(&self.rto_max), show(&self.rto_min));
            return Err((
                "rto_max",
                format!("{max} is too short; allowed is at least rto_min ({min})"),
            ));
        }
        if self.rto_max < self.rto_tick.times(2) {
            let (max, tick) = (show(&self.rto_max), show(&self.rto_tick));
            return Err((
                "rto_max",
                format!("{max} is too short; allowed is at least two ticks of rto_tick ({tick})"),
            ));
        }
        if self.rto_initial == Span::ZERO || self.rto_initial > self.rto_max {
            let (read, max) = (show(&self.rto_initial), show(&self.rto_max));
            return Err((
                "rto_initial",
                format!("{read} is out of range; allowed are above 0 s and up to rto_max ({max})"),
            ));
        }
        if self.reported_rtt == ReportedRtt::Ticks && self.rto_tick == Span::ZERO {
            let message = "is \"ticks\" with an ideal clock; allowed with rto_tick = \"0 s\" is \
                           \"exact\"";
            return Err(("reported_rtt", message.to_owned()));
        }
        if self.rto_min == Span::ZERO && self.rto_tick == Span::ZERO {
            return Err(("rto_min", "is 0 s with an ideal clock; allowed is above 0 s".to_owned()));
        }
        Ok(())
    }

    /// Size in bytes of a full segment on the wire.
    #[must_use]
    pub fn largest_packet(&self) -> u64 {
        self.mss.bytes() + u64::from(self.overhead())
    }

    /// Bytes of a segment beside its data.
    pub(super) fn overhead(&self) -> u16 {
        let options = if self.timestamps { TIMESTAMPS } else { 0 };
        u16::try_from(self.header.bytes() + options).expect("the section was checked")
    }

    /// A length in bytes as a window; unlimited if absent.
    pub(super) fn window_bytes(&self, length: Option<Length>) -> f64 {
        match length {
            None => f64::INFINITY,
            Some(Length::Bytes(n)) => n as f64,
            Some(Length::Packets(n)) => n as f64 * self.mss.bytes() as f64,
        }
    }
}

/// The largest initial window in segments: they all leave at one instant, and must fit into memory.
const MAX_INITIAL_WINDOW: u64 = 65_535;

/// Bytes of the timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;
