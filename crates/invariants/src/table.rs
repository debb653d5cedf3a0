//! Table of the invariants of any run, from which checks, documentation and tests are made.

/// Define [`Invariant`] from groups of entries: variant, name, sentence, source.
macro_rules! invariants {
    (
        $($group:literal { $($variant:ident $name:literal $sentence:literal $source:literal;)+ })+
    ) => {
        /// Something that must hold in any run, whatever the scenario.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Invariant {
            $($(#[doc = $sentence] $variant,)+)+
        }

        impl Invariant {
            /// All of them, by group.
            pub const ALL: &[Self] = &[$($(Self::$variant,)+)+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$variant => $name,)+)+ }
            }

            /// Returns the invariant as a sentence.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $($(Self::$variant => $sentence,)+)+ }
            }

            /// The publication that it comes from; empty where it is arithmetic.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $($(Self::$variant => $source,)+)+ }
            }

            /// Returns the subject of the invariant.
            #[must_use]
            pub const fn group(self) -> &'static str {
                match self { $($(Self::$variant => $group,)+)+ }
            }
        }
    };
}

invariants! {
    "Time" {
        TimeOrder "time-order"
            "Facts come in the order of simulated time."
            "Law, Simulation Modeling and Analysis, 5th edition, 2015, section 1.3";
        TimeCreated "time-created"
            "A packet was created no later than it is sent, and data at that very instant."
            "";
        TimeEnd "time-end"
            "Nothing happens after the end of the run."
            "";
    }
    "Packets" {
        PacketKnown "packet-known"
            "What is received, queued, dropped or delivered was sent, and has not left the network."
            "";
        PacketKept "packet-kept"
            "Size, flow and route of a packet stay the same on its way."
            "";
        PacketsHeld "packets-held"
            "The packets inside all elements are those that were sent and have not left."
            "";
        PacketHops "packet-hops"
            "The packet hops counted are the crossings of links that were seen."
            "";
        PacketPrecedence "packet-precedence"
            "A precedence fits into the six bits of the DSCP field."
            "RFC 2474, section 3";
    }
    "Routes" {
        RouteFollowed "route-followed"
            "A packet is queued at the links of its route, in their order."
            "RFC 1812, section 5.2";
        RouteComplete "route-complete"
            "A packet is delivered once it has passed all links of its route, and not before."
            "RFC 1812, section 5.2";
        RouteReverse "route-reverse"
            "What answers a packet leads back to the node that the packet came from."
            "";
    }
    "Delay" {
        DelayAge "delay-age"
            "The delay of a delivered packet is the time since it was created."
            "RFC 7679, section 3.4";
        DelayFloor "delay-floor"
            "No packet is faster than the transmission times and propagation delays of its links."
            "";
        DelayMean "delay-mean"
            "The mean delay of a flow does not exceed its largest delay."
            "";
    }
    "Links" {
        LinkOrder "link-order"
            "Packets of one flow, class, colour and codepoint leave a link in the order of arrival."
            "RFC 2597, section 2; RFC 4737, section 1";
        LinkSpacing "link-spacing"
            "A transmission begins when the one before it has ended, or later."
            "Lindley, Proc. Cambridge Philos. Soc. 48 (1952) 277-289";
        LinkWindow "link-window"
            "In no window does a link carry more than its rate allows, and one packet."
            "Cruz, IEEE Trans. Inf. Theory 37 (1991) 114-131";
        LinkCausal "link-causal"
            "A packet's transmission begins no earlier than the packet was queued."
            "Lindley, Proc. Cambridge Philos. Soc. 48 (1952) 277-289";
        LinkWorkConserving "link-work-conserving"
            "A link with packets waiting is not idle."
            "Kleinrock, Queueing Systems, volume 2, 1976, section 3.4";
        LinkBuffer "link-buffer"
            "The backlog of a queue does not exceed the limit of its buffer."
            "RFC 7567, section 2";
        LinkBacklog "link-backlog"
            "No more waits in a queue than was queued and has not crossed the link."
            "";
        LinkBusy "link-busy"
            "A link is not busy for longer than time has passed."
            "";
        LinkWork "link-work"
            "The time that a link was busy is that which its packets take, but for those under way."
            "";
        LinkMeanQueue "link-mean-queue"
            "The mean of the packets waiting does not exceed their maximum."
            "";
        LinkArrivals "link-arrivals"
            "Packets and bytes that a link counts as arrived, by precedence, are those that came."
            "";
        LinkBalance "link-balance"
            "What arrived at a link has left it, was dropped, or waits."
            "";
        LinkDrops "link-drops"
            "Drops that a link counts, by precedence and reason, are those that were seen."
            "";
        LinkReason "link-reason"
            "Policers and shapers drop packets only where there are such."
            "";
        LinkMarks "link-marks"
            "Marks that a link counts are those that were seen, and no more than arrived."
            "RFC 3168, section 5";
    }
    "Flows" {
        FlowSent "flow-sent"
            "Packets and bytes that a flow counts as sent are those that were seen."
            "";
        FlowDelivered "flow-delivered"
            "Packets and bytes that a flow counts as delivered are those that were seen."
            "";
        FlowDropped "flow-dropped"
            "Packets and bytes that a flow counts as dropped are those that were seen."
            "";
        FlowFeedback "flow-feedback"
            "Acknowledgements and other feedback counted are those that were seen."
            "";
        FlowDelay "flow-delay"
            "Sum and maximum of the delays of a flow are those of its deliveries."
            "";
        FlowMarks "flow-marks"
            "Marks that a flow counts are those that arrived, and no more than was delivered."
            "RFC 3168, section 5";
        FlowRepeats "flow-repeats"
            "Retransmissions, timeouts and duplicates counted are those that were seen."
            "";
        FlowBalance "flow-balance"
            "No flow has had more packets delivered and dropped than it has sent and wires doubled."
            "";
        FlowDropPlaces "flow-drop-places"
            "All drops of flows together are all drops of links together."
            "";
        FlowGoodput "flow-goodput"
            "The payload handed to an application is no more than what was delivered to it."
            "RFC 2647, section 3.17";
        FlowLife "flow-life"
            "A flow begins before its first delivery, begins and ends once, and sends no new data \
             after its end."
            "";
    }
    "Marks" {
        MarkCapable "mark-capable"
            "Only packets of an ECN-capable transport are marked."
            "RFC 3168, section 5";
        MarkKept "mark-kept"
            "A mark is never taken back, nor made less severe, and no packet becomes \
             ECN-capable on its way; links that clear the field do that alone."
            "RFC 3168, section 5; RFC 6660, section 4";
        MarkPcn "mark-pcn"
            "PCN packets that a meter leaves unmarked keep to its rate and bucket."
            "RFC 5670, sections 2.3 and 2.4";
    }
    "Token buckets" {
        BucketLevel "bucket-level"
            "A bucket never holds more than its depth, nor less than its law allows."
            "RFC 2697, section 3";
        BucketRate "bucket-rate"
            "What a bucket has paid for, in any window, is within its rate and depth."
            "RFC 2698, section 3; Cruz 1991";
    }
    "Shared memories" {
        MemorySize "memory-size"
            "No more waits at the ports of a switch than their memory holds."
            "Choudhury and Hahne, IEEE/ACM Trans. Netw. 6(2) (1998) 130-140";
        MemoryCount "memory-count"
            "What a memory counts for a port waits there, and what it counts in all is the sum."
            "";
    }
    "TCP" {
        TcpWindow "tcp-window"
            "The congestion window is a number of at least one segment."
            "RFC 5681, section 3.1";
        TcpThreshold "tcp-threshold"
            "A reduction leaves a slow-start threshold of at least one segment."
            "RFC 5681, section 3.1";
        TcpReduction "tcp-reduction"
            "A congestion signal leaves a window no larger than before, or of two segments."
            "RFC 5681, section 3.1";
        TcpFlight "tcp-flight"
            "The flight that a reduction goes by is within the window before it and what is \
             outstanding."
            "RFC 5681, section 2";
        TcpSequence "tcp-sequence"
            "New segments are sent in order without gaps, and only what was sent is sent again."
            "RFC 9293, section 3.4";
        TcpRepeatCause "tcp-repeat-cause"
            "A segment is sent again only after a timeout, or after duplicate acknowledgements; \
             the last one also as a loss probe."
            "RFC 5681, section 3.2; RFC 6298, section 5; RFC 8985, section 7.3";
        TcpPointers "tcp-pointers"
            "SND.UNA <= SND.NXT <= SND.MAX <= what the application has written."
            "RFC 9293, section 3.3.1";
        TcpReceiverWindow "tcp-receiver-window"
            "No more is outstanding than the receiver's window allows."
            "RFC 9293, section 3.8.6";
        TcpScoreboard "tcp-scoreboard"
            "SACK ranges are disjoint, in order, above SND.UNA, and below SND.MAX."
            "RFC 2018, section 4; RFC 6675, section 3";
        TcpPipe "tcp-pipe"
            "Pipe is no more than what is outstanding and not SACKed, and what was sent again."
            "RFC 6675, section 4";
        TcpRto "tcp-rto"
            "The retransmission timeout is within its least and its largest value."
            "RFC 6298, sections 2.4 and 2.5";
        TcpTimer "tcp-timer"
            "While segments are outstanding the retransmission timer runs."
            "RFC 6298, section 5.1";
        TcpAck "tcp-ack"
            "An acknowledgement acknowledges what its receiver has in order, no more and no less; \
             where marks are echoed exactly, also what it had before the last segment arrived."
            "RFC 9293, section 3.10.7.4; RFC 8257, section 3.2";
        TcpAckSent "tcp-ack-sent"
            "No acknowledgement is of a segment that was never sent."
            "RFC 9293, section 3.10.7.4";
        TcpInOrder "tcp-in-order"
            "The application is handed every byte once and in order: what the segments without gap \
             hold."
            "RFC 9293, section 3.4";
    }
    "Transfers" {
        TransferBytes "transfer-bytes"
            "Transfers that are completed hold no more bytes than have arrived in order."
            "";
        TransferFloor "transfer-floor"
            "No transfer is faster than its bytes cross the slowest link, and light all links."
            "";
    }
    "Calls" {
        CallLife "call-life"
            "A call that ends, is refused or is terminated was present; one that begins was not."
            "RFC 5559, section 3.2";
        CallPresent "call-present"
            "Calls present are those that came, without those that ended, were refused or \
             terminated."
            "";
        CallCounters "call-counters"
            "Calls admitted, blocked, refused, rerouted, terminated and ended are those that were \
             seen."
            "";
        CallSilent "call-silent"
            "Packets of a call are sent only while it is present."
            "";
        CallAdmission "call-admission"
            "An aggregate reports that it blocks, or admits again, in turn."
            "RFC 6661, section 3.3";
    }
    "Rings" {
        RingTransit "ring-transit"
            "No packet is dropped in the transit of a ring."
            "RFC 2892, section 2.4; IEEE 802.17-2004, clause 7";
        RingHigh "ring-high"
            "No packet of high priority (class A) is dropped in transit."
            "IEEE 802.17-2004, clause 7";
        RingRates "ring-rates"
            "Rates that a fairness law allows are between zero and the rate of the ring."
            "RFC 2892, section 5; IEEE 802.17-2004, clause 10";
        RingBuffers "ring-buffers"
            "Transit buffers hold no more than their sizes."
            "RFC 2892, section 6.1";
    }
    "Rates" {
        PaceScale "pace-scale"
            "A paced source goes at a rate that is a number and not negative."
            "COMSAT thesis on rate-based congestion control with a satellite link, section 5.3";
        PaceFloor "pace-floor"
            "The allowed cell rate is at least the minimum and at most the peak cell rate."
            "ATM Forum af-tm-0056.000, 1996, section 5.10.4";
        ExplicitRate "explicit-rate"
            "Explicit rates that a port gives are between zero and the rate of its link."
            "ATM Forum af-tm-0056.000, 1996, section 5.10.6";
    }
    "Queue laws" {
        LawProbability "law-probability"
            "Probabilities of queue laws are between 0 and 1."
            "RFC 7567, section 2";
        LawAverage "law-average"
            "Average queues are not negative."
            "Floyd and Jacobson, IEEE/ACM Trans. Networking 1 (1993) 397-413";
        ProbeNumber "probe-number"
            "Inner quantities are numbers, or not a number where they are not defined."
            "";
        ProbeQueue "probe-queue"
            "Packets and bytes waiting agree: each packet has from 1 to 65535 bytes."
            "RFC 791, section 3.1";
    }
    "Results" {
        ResultUtilization "result-utilization"
            "Utilization is between 0 and 1, and throughput is within the rate of the link."
            "";
        ResultSums "result-sums"
            "Drops by reason and by precedence add up to all; groups are sums of their flows."
            "";
        ResultClasses "result-classes"
            "The classes of a queue add up to what their link counts."
            "";
        ResultQuantiles "result-quantiles"
            "Quantiles are in order."
            "";
        ResultShares "result-shares"
            "Ratios and shares are between 0 and 1, means within their maximum."
            "";
        ResultHistogram "result-histogram"
            "The distribution of delays counts as many packets as were delivered."
            "";
        ResultSeries "result-series"
            "Series add up to the totals of the run."
            "";
        ResultUnwatched "result-unwatched"
            "A run that is not observed has the same digest, events, hops and results."
            "Fujimoto, Parallel and Distributed Simulation Systems, 2000, chapter 3";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Names are unique and sentences complete: a breach names one invariant, which a page
    /// explains.
    #[test]
    fn names_are_unique_and_sentences_complete() {
        let names: BTreeSet<&str> = Invariant::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), Invariant::ALL.len());
        assert!(names.len() >= 40);
        for invariant in Invariant::ALL {
            let sentence = invariant.sentence();
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{invariant:?}");
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(invariant.name().chars().all(plain), "{invariant:?}");
        }
    }
}
