//! Sets of defaults for the parameters of TCP.

use forebay_parameters::define::{OtherDefault, with_defaults};
use forebay_parameters::{Field, Parameters, Problem, Section, Value, choice};

use super::TcpParameters;

choice! {
    /// Which defaults the parameters of TCP have.
    pub enum Profile {
        /// Those of the RFCs that each parameter names.
        Rfc = "rfc",
        /// Those of Linux: control "cubic", handshake, mss "1448 B", timestamps, initial_window
        /// "10 packets", loss_detection "rack", recovery_window "prr", sack_at_timeout "keep",
        /// delayed_ack_timeout "40 ms", rto_tick "0 s", rto_min "200 ms", rto_max "120 s".
        Linux = "linux",
    }
}

const SOURCE: &str = "Linux, include/net/tcp.h";

/// An Ethernet frame of 1500 bytes without headers of 40 bytes and timestamps of 12.
const OTHERS: &[OtherDefault] = &[
    ("profile", || Value::from("linux"), SOURCE),
    ("handshake", || Value::from(true), "RFC 9293, section 3.5"),
    ("mss", || Value::from("1448 B"), "1500 B without 40 B of headers and 12 B of timestamps"),
    ("timestamps", || Value::from(true), "Linux, ip-sysctl: tcp_timestamps"),
    ("initial_window", || Value::from("10 packets"), "Linux, include/net/tcp.h: TCP_INIT_CWND"),
    ("loss_detection", || Value::from("rack"), "Linux, ip-sysctl: tcp_recovery"),
    ("recovery_window", || Value::from("prr"), "Linux, net/ipv4/tcp_input.c: tcp_cwnd_reduction"),
    ("sack_at_timeout", || Value::from("keep"), "Linux, net/ipv4/tcp_input.c: tcp_enter_loss"),
    ("delayed_ack_timeout", || Value::from("40 ms"), "Linux, include/net/tcp.h: TCP_DELACK_MIN"),
    ("rto_tick", || Value::from("0 s"), "Linux, net/ipv4/tcp_input.c: tcp_rtt_estimator"),
    ("rto_min", || Value::from("200 ms"), "Linux, include/net/tcp.h: TCP_RTO_MIN"),
    ("rto_max", || Value::from("120 s"), "Linux, include/net/tcp.h: TCP_RTO_MAX"),
];

static LINUX: &[Field] =
    &with_defaults::<{ TcpParameters::FIELDS.len() }>(TcpParameters::FIELDS, OTHERS);

impl Profile {
    /// The profile that `section` names, else that of the RFCs.
    pub(super) fn read(section: &Section<'_>) -> Result<Self, Problem> {
        section.get("profile", Some(|| Value::from("rfc")))
    }

    /// The parameters of TCP with the defaults of this profile.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            Self::Rfc => TcpParameters::FIELDS,
            Self::Linux => LINUX,
        }
    }
}
