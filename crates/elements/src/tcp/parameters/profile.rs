//! Sets of defaults for the parameters of TCP.

use forebay_parameters::define::{OtherDefault, with_defaults};
use forebay_parameters::{DefaultValue, Field, Parameters, Problem, Section, Value, choice};

use super::TcpParameters;

choice! {
    /// Defaults of the parameters of TCP.
    pub enum Profile {
        /// Those of Linux, as this page gives them.
        Linux = "linux",
        /// Those that the RFCs ask for or allow, of each parameter the plainest: control "reno", no
        /// handshake, mss "536 B", no timestamps, initial_window "rfc3390", loss_detection
        /// "dupacks", recovery_window "rfc6675", sack_at_timeout "clear", delayed_ack_timeout "200
        /// ms", slow_start_limit 1, quick_acks 0, prompt_acks false, rto_tick "1 ms", rto_min "1
        /// s", rto_max "60 s", rtt_gain "round_trip"; of cubic hystart false, hystart_law
        /// "rfc9406", alpha_law "rfc9438"; of highspeed law "rfc3649".
        Rfc = "rfc",
        /// Those of a host of the 1990s, as in 4.4BSD: as "rfc", but for recovery "reno",
        /// initial_window "rfc2001", limited_transmit false, byte_counting false, rto_tick
        /// "500 ms", rto_initial "3 s", rto_max "64 s".
        Nineties = "1990s",
    }
}

/// Defaults of the RFCs that differ from those of Linux.
const OF_RFCS: &[OtherDefault] = &[
    ("profile", || Value::from("rfc"), "the sections of the parameters"),
    ("handshake", || Value::from(false), "data alone, as in the studies of congestion control"),
    ("mss", || Value::from("536 B"), "RFC 9293, section 3.7.1"),
    ("timestamps", || Value::from(false), "RFC 7323, section 1.3: optional"),
    ("initial_window", || Value::from("rfc3390"), "RFC 5681, section 3.1"),
    ("loss_detection", || Value::from("dupacks"), "RFC 6675, section 4"),
    ("recovery_window", || Value::from("rfc6675"), "RFC 6675, section 5"),
    ("sack_at_timeout", || Value::from("clear"), "RFC 2018, section 5; RFC 6675, section 5.1"),
    ("delayed_ack_timeout", || Value::from("200 ms"), "RFC 5681, section 4.2: at most 500 ms"),
    ("slow_start_limit", || Value::from(1), "RFC 5681, section 3.1, equation 2"),
    ("quick_acks", || Value::from(0), "RFC 5681, section 4.2"),
    ("prompt_acks", || Value::from(false), "RFC 5681, section 4.2"),
    ("rto_tick", || Value::from("1 ms"), "RFC 6298, section 4: finer than 100 ms is better"),
    ("rto_min", || Value::from("1 s"), "RFC 6298, section 2.4"),
    ("rto_max", || Value::from("60 s"), "RFC 6298, section 2.5"),
    ("rtt_gain", || Value::from("round_trip"), "RFC 7323, appendix G"),
];

/// Defaults of hosts of the 1990s that differ from those of the RFCs.
const OF_THE_1990S: &[OtherDefault] = &[
    ("profile", || Value::from("1990s"), "Wright and Stevens, TCP/IP Illustrated 2, 1995"),
    ("recovery", || Value::from("reno"), "RFC 2001, section 4"),
    ("initial_window", || Value::from("rfc2001"), "RFC 2001, section 1"),
    ("limited_transmit", || Value::from(false), "RFC 3042 is of 2001"),
    ("byte_counting", || Value::from(false), "RFC 3465 is of 2003"),
    ("rto_tick", || Value::from("500 ms"), "Wright and Stevens, chapter 25: PR_SLOWHZ"),
    ("rto_initial", || Value::from("3 s"), "RFC 1122, section 4.2.3.1"),
    ("rto_max", || Value::from("64 s"), "Wright and Stevens, chapter 25: TCPTV_REXMTMAX"),
];

const COUNT: usize = TcpParameters::FIELDS.len();

static RFC: &[Field] = &with_defaults::<COUNT>(TcpParameters::FIELDS, OF_RFCS);
static NINETIES: &[Field] = &with_defaults::<COUNT>(RFC, OF_THE_1990S);

impl Profile {
    /// The profile that `section` names, else that of Linux.
    pub(super) fn read(section: &Section<'_>) -> Result<Self, Problem> {
        section.get("profile", Some(DefaultValue::Written(|| Value::from("linux"))))
    }

    /// The parameters of TCP with the defaults of this profile.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            Self::Linux => TcpParameters::FIELDS,
            Self::Rfc => RFC,
            Self::Nineties => NINETIES,
        }
    }
}
