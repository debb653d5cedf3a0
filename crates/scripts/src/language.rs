//! Elements of the language beside packets: what is read and ignored, and why that changes nothing,
//! and the quantities that assertions can name.

use serde::Serialize;

/// Something that scripts may hold although the model does not have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Ignored {
    /// Form in which a script writes it.
    pub what: &'static str,
    /// Reason why a script that holds it means the same without.
    pub why: &'static str,
}

const fn ignored(what: &'static str, why: &'static str) -> Ignored {
    Ignored { what, why }
}

/// TCP options that are read and ignored.
pub const IGNORED_OPTIONS: &[Ignored] = &[
    ignored("nop", "padding"),
    ignored("eol", "padding"),
    ignored("wscale", "the model's window is no field of a header: it is set by `--window`"),
];

/// Flags of the TCP header that are read and ignored.
pub const IGNORED_FLAGS: &[Ignored] = &[ignored(
    "P",
    "PSH tells the receiver's host to hand data on, which the model's does at once",
)];

/// Calls that are read and ignored.
pub const IGNORED_CALLS: &[Ignored] = &[
    ignored("socket", "a connection of the model exists from the first"),
    ignored("bind", "a connection of the model exists from the first"),
    ignored("listen", "a connection of the model exists from the first"),
    ignored("connect", "a connection of the model exists from the first"),
    ignored("accept", "a connection of the model exists from the first"),
    ignored("fcntl", "calls of the model never block"),
    ignored("setsockopt", "parameters are set by lines such as `--recovery=newreno`"),
    ignored("getsockopt", "what it would ask for can be asserted"),
    ignored("read", "the model's receiver takes all data at once"),
    ignored("recv", "the model's receiver takes all data at once"),
    ignored("poll", "calls of the model never block"),
    ignored("shutdown", "a connection of the model has no end on the wire"),
    ignored("close", "a connection of the model has no end on the wire"),
];

/// Lines of a script's head that are read and ignored.
pub const IGNORED_LINES: &[Ignored] = &[
    ignored("--tolerance_usecs", "times are simulated: the tolerance is always 0"),
    ignored("--ip_version", "a packet of the model has a size, and no addresses"),
    ignored("--local_ip", "a packet of the model has a size, and no addresses"),
    ignored("--remote_ip", "a packet of the model has a size, and no addresses"),
    ignored("--gateway_ip", "a packet of the model has a size, and no addresses"),
    ignored("--bind_port", "a packet of the model has a size, and no ports"),
    ignored("--connect_port", "a packet of the model has a size, and no ports"),
];

/// Other elements that are read and ignored.
pub const IGNORED_ELSE: &[Ignored] = &[
    ignored("`...`", "commands in backquotes set up a machine; here parameters do"),
    ignored(
        "win N",
        "the window of the model's receiver is constant, set by `--window`; 0 is refused",
    ),
    ignored(
        "the handshake",
        "packets with `S`, and the acknowledgement that ends the handshake, are not exchanged; \
         what both offer sets `mss`, `recovery`, `timestamps` and `ecn`. With `--handshake=true` \
         packets with `S` are events, and the third acknowledgement is that of the first data",
    ),
    ignored(
        "F",
        "a packet with FIN and no data is neither handed to the model nor expected: a connection \
         of the model has no end on the wire. With `--handshake=true` it has",
    ),
    ignored("TS val of acknowledgements, TS ecr of data", "data goes one way in the model"),
];

/// A quantity that an assertion can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Name {
    /// The word.
    pub name: &'static str,
    /// Meaning of the quantity, with its unit.
    pub meaning: &'static str,
}

const fn name(name: &'static str, meaning: &'static str) -> Name {
    Name { name, meaning }
}

/// The quantities that assertions can name, in the order of [`crate::Snapshot::values`].
pub const NAMES: [Name; 17] = [
    name("tcpi_snd_cwnd", "Congestion window in whole segments, rounded down."),
    name(
        "tcpi_snd_ssthresh",
        "Slow-start threshold in whole segments, rounded down; 2147483647 if unlimited.",
    ),
    name("tcpi_ca_state", "State of congestion control, one of the constants below."),
    name("tcpi_rtt", "SRTT in us; 0 before the first measurement."),
    name("tcpi_rttvar", "RTTVAR in us; 0 before the first measurement."),
    name("tcpi_rto", "Retransmission timeout in us, backed off where timeouts have occurred."),
    name("tcpi_retransmits", "Timeouts since data was last acknowledged."),
    name("tcpi_backoff", "The same."),
    name("tcpi_total_retrans", "Segments retransmitted since the start."),
    name("tcpi_unacked", "Segments sent and not acknowledged cumulatively."),
    name("tcpi_sacked", "Segments above those that the receiver has reported."),
    name("tcpi_snd_mss", "Bytes of data in a full segment."),
    name("cwnd", "Congestion window in bytes, with fractions."),
    name("ssthresh", "Slow-start threshold in bytes; infinite if unlimited."),
    name(
        "pipe",
        "Segments thought to be in the network: pipe of RFC 6675, or what is outstanding.",
    ),
    name("tcpi_delivered_ce", "Segments that accurate ECN feedback has reported as marked."),
    name("tcpi_delivered_ce_bytes", "Bytes of data that it has reported as marked."),
];

/// The constants that assertions can name.
pub const CONSTANTS: [(&str, f64); 7] = [
    ("TCP_CA_Open", 0.0),
    ("TCP_CA_Disorder", 1.0),
    ("TCP_CA_CWR", 2.0),
    ("TCP_CA_Recovery", 3.0),
    ("TCP_CA_Loss", 4.0),
    ("TCP_INFINITE_SSTHRESH", UNLIMITED),
    ("infinity", f64::INFINITY),
];

/// An unlimited slow-start threshold in segments, as the Linux kernel shows it.
pub(crate) const UNLIMITED: f64 = 2_147_483_647.0;

/// `words` and what else is `ignored`, as a message lists them.
pub(crate) fn names(words: &[&'static str], ignored: &[Ignored]) -> Vec<&'static str> {
    words.iter().copied().chain(ignored.iter().map(|each| each.what)).collect()
}

/// The tables of the language, as JSON: for reference pages.
#[must_use]
pub fn language() -> String {
    let ignored = [
        ("options", IGNORED_OPTIONS),
        ("flags", IGNORED_FLAGS),
        ("calls", IGNORED_CALLS),
        ("lines", IGNORED_LINES),
        ("else", IGNORED_ELSE),
    ];
    let ignored: serde_json::Map<String, serde_json::Value> = ignored
        .iter()
        .map(|(kind, table)| ((*kind).to_owned(), serde_json::json!(table)))
        .collect();
    let constants: Vec<&str> = CONSTANTS.iter().map(|(name, _)| *name).collect();
    serde_json::json!({ "ignored": ignored, "names": NAMES, "constants": constants }).to_string()
}
