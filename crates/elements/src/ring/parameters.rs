//! Parameters of packet rings and of their stations.

use forebay_parameters::{choice, parameters};
use forebay_units::{Rate, Size, Span};

parameters! {
    /// A packet ring: stations joined by two ringlets on which data run opposite ways.
    pub struct RingParameters {
        /// The nodes that are its stations, in the order of data on the outer ringlet: 2 to 255.
        stations: Vec<String>, "-";
        /// Rate of each span.
        rate: Rate, "-";
        /// Propagation delay of each span; or give `delays`.
        delay: Option<Span>, "-";
        /// Propagation delays of the spans: from the first station to the second, and so on to that
        /// from the last to the first.
        delays: Option<Vec<Span>>, "-";
        /// Transit buffers of each station and ringlet.
        transit: TransitBuffers = "dual", "RFC 2892, section 2.4";
        /// Size of the high-priority transit buffer. Dual transit buffers only.
        high_limit: Size = "30 kB", "RFC 2892, section 6.1";
        /// Size of the low-priority, or only, transit buffer. The host sends nothing while less is
        /// free of it than two packets of `largest`.
        low_limit: Size = "522 kB", "assumed: RFC 2892 has no size; 64 kB above TB_HI_THRESHOLD";
        /// Above this filling of the low-priority transit buffer the host sends no low priority.
        /// Dual transit buffers only.
        stop: Size = "458 kB", "RFC 2892, sections 5.1 and 6.1 (TB_HI_THRESHOLD)";
        /// Size of the largest packet that may come: larger ones are refused.
        largest: Size = "1500 B", "assumed: Ethernet's MTU, RFC 894";
        /// Size of each queue of the host, on one ringlet: so no destination takes the room of
        /// another.
        host_limit: Size = "4 MB", "assumed: unpublished";
        /// Queues of the host for each class.
        host_queues: HostQueueing = "destination", "assumed: unpublished; one, RFC 2892, section 2";
        /// The highest precedence that is high priority, 0 to 63. All packets are low priority if
        /// left out.
        high: Option<u32>, "RFC 2892, section 4.2.3";
        /// Size of a message of the fairness law between neighbours.
        message: Size = "16 B", "RFC 2892, section 4.4, with a frame check sequence";
    }
}

choice! {
    /// Transit buffers of a station.
    pub enum TransitBuffers {
        /// One for each class; the host goes ahead of low priority in transit.
        Dual = "dual",
        /// One, ahead of the host.
        Single = "single",
    }
}

choice! {
    /// Queues of a host for one class.
    pub enum HostQueueing {
        /// One for each destination, served in turn.
        Destination = "destination",
        /// One for all.
        One = "one",
    }
}

parameters! {
    /// A station of a ring, where it differs from the others.
    pub struct StationParameters {
        /// Its weight in shares of the ring, above 0.
        weight: f64 = 1.0, "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessRingletWeight";
        /// Rate committed to each of its destinations at high priority. For laws that reserve.
        committed_high: Rate = "0 bit/s", "Amer and Mekkittikul, IEEE 802.17, January 2002";
        /// Rate committed to each of its destinations at low priority. For laws that reserve.
        committed_low: Rate = "0 bit/s", "Amer and Mekkittikul, IEEE 802.17, January 2002";
        /// Most that it may send at low priority on one ringlet; above 0, at most the rate of the
        /// ring, which it is if left out.
        max_rate: Option<Rate>, "RFC 2892, section 6.1 (MAX_ALLOWANCE)";
    }
}
