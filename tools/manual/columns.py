"""Meanings of the columns of recorded tables and of a study's document: `reference` shows them.

What the engine itself describes, the columns of a run and what mechanisms show in series, is not
here. A column without an entry, and an entry without a column, stop the script.
"""

SERIES = {
    "time_s": "Simulated time of the sample in seconds.",
    "queue_packets": "Packets waiting.",
    "queue_bytes": "Bytes waiting.",
    "mean_queue_packets": "Of a link: time average of the packets waiting since the last sample. "
    "Over the rate in packets per second it is their mean queueing delay (Little's law).",
    "throughput_bps": "Of a link: bits transmitted per second since the last sample, and by "
    "precedence as `throughput_bps.0`, ... Of a group: delivered data packets on the wire.",
    "goodput_bps": "Of a group: payload handed to the application per second since the last "
    "sample.",
    "arrived_bps": "Of a link: bits that arrived per second since the last sample, after "
    "conditioning.",
    "arrived_packets": "Of a link: packets that arrived since the last sample, after conditioning.",
    "drops": "Of a link: packets dropped since the last sample.",
    "early_drops": "Of a link: those that active queue management dropped by chance.",
    "forced_drops": "Of a link: those that it dropped with certainty.",
    "mean_delay_s": "Of a group: mean one-way delay of the data packets delivered since the last "
    "sample; no number if there were none.",
    "marks": "Of a link: packets marked CE (PCN traffic: ETM) since the last sample.",
    "threshold_marks": "Of a link: PCN packets threshold-marked since the last sample.",
    "class_throughput_bps": "Of a link, with `record.classes`: bits of each class that left the "
    "queue per second since the last sample, as `class_throughput_bps.0`, ...",
    "class_drops": "The same: packets of each class dropped since the last sample.",
    "class_marks": "The same: packets of each class marked CE since the last sample.",
    "class_mean_queue_packets": "The same: time average of the packets of each class waiting since "
    "the last sample.",
    "shaper_packets": "Packets waiting in the shaper.",
    "shaper_bytes": "Bytes waiting in the shaper.",
    "transit_high_bytes": "Span of a ring: bytes in the high-priority transit buffer.",
    "transit_low_bytes": "Bytes in the low-priority, or only, transit buffer.",
    "host_high_bytes": "Bytes of high priority that wait in the host.",
    "host_low_bytes": "Bytes of low priority that wait in the host.",
    "host_high_max_wait_s": "Longest wait of a high-priority packet in the host since the start.",
    "host_low_max_wait_s": "Longest wait of a low-priority packet in the host since the start.",
    "present_flows": "Calls: flows of calls present.",
    "talking_flows": "Calls: flows of calls whose next packet is due within 100 ms (not silent).",
    "active_flows": "Calls: flows of calls present that have sent a packet. TCP: connections that "
    "have sent and not ended; the means below are over them.",
    "blocking": "Calls: 1 while signals from the egress node have new calls blocked, else 0 "
    "(`capacity` needs no signals: 0).",
    "sessions": "Paced sources: those in a session.",
    "mean_encoder_bps": "Media: mean over the group of the rate for which the latest frame was "
    "made; of a single flow `encoder_bps`.",
    "waiting_bytes": "Media: packets that wait in the sender, of a group of one flow.",
    "rtt_s": "Of a group of one flow. Media: round-trip time of the latest report. UDP with "
    "`echo`: that of the latest datagram that came back.",
    "mean_scale": "Paced sources: mean over those in a session of the rate over the nominal rate; "
    "no number if there are none.",
    "mean_cwnd_bytes": "TCP: mean congestion window in bytes.",
    "mean_flight_packets": "TCP: mean number of segments outstanding.",
    "mean_srtt_s": "TCP: mean smoothed round-trip time in seconds.",
}

DELAYS = {
    "group": "Group of flows.",
    "from_s": "Lower end of the class of delays, in seconds.",
    "to_s": "Its upper end; classes are at most 0.8 % wide.",
    "packets": "Packets delivered with a delay in the class.",
}

JITTER = {
    "group": "Group of flows.",
    "pairs": "Packets sent one after the other by a flow, both of which were delivered.",
    "mean_ipdv_s": "Mean of the absolute differences of their delays, in seconds.",
    "p50_ipdv_s": "The difference that half of the pairs do not exceed, in seconds, to 0.8 %.",
    "p95_ipdv_s": "The same for 95 % of the pairs.",
    "p99_ipdv_s": "The same for 99 %.",
    "p999_ipdv_s": "The same for 99.9 %.",
    "max_ipdv_s": "The largest difference.",
    "rtp_jitter_s": "Interarrival jitter of RFC 3550, section 6.4.1, on average over the pairs.",
}

LOSS_RUNS = {
    "group": "Group of flows.",
    "packets": "Packets that a flow sent one after the other and that were all lost.",
    "runs": "How often so many were.",
}

PACES = {
    "time_s": "Simulated time in seconds.",
    "flow": "Name of the source's flow.",
    "scale": "Its rate over its nominal rate from now on; 0 between sessions.",
}

CALL_LOG = {
    "time_s": "Simulated time in seconds.",
    "event": "`initial`, `admitted`, `blocked`, `rerouted`, `refused`, `terminated`, `ended`.",
    "flow": "Name of the flow; of a blocked call, that of its first flow.",
    "call": "Tells the flows of a group that were let in apart. Of a blocked call: how many calls "
    "of the group came before it.",
}

TRANSFER_LOG = {
    "time_s": "Simulated time at which the last byte had arrived, in seconds.",
    "flow": "Name of the flow.",
    "begun_s": "When the application wrote it, in seconds.",
    "size_bytes": "Its bytes, without headers.",
    "completion_s": "Time between the two, in seconds.",
    "slowdown": "That over the time that its segments take on the same links when these are empty.",
}

ADMISSION = {
    "time_s": "Simulated time in seconds.",
    "flow": "Name of the first flow of the aggregate.",
    "blocking": "1: from now on new calls are blocked; 0: from now on they are admitted.",
}

TRACE = {
    "time_s": "Simulated time in seconds.",
    "event": "`sent`, `coloured`, `enqueued`, `marked`, `dropped: REASON`, `delivered`.",
    "link": "Where it happened; empty at a host.",
    "flow": "Name of the flow.",
    "number": "Number of the segment or datagram, counted from 0; of an acknowledgement, the next "
    "segment expected; of a packet of a frame, its place in it and 65,536 times the number of "
    "frames sent before; of a report, the first frame not there.",
    "size_bytes": "Size on the wire.",
    "precedence": "Precedence after the event.",
    "kind": "`data`, `data, CE` (PCN traffic: ETM), `retransmission`, `poll`, `ack`, `notice`, "
    "`report` or `resource` (resource-management cell).",
}

ADJUSTMENTS = {
    "time_s": "Simulated time in seconds.",
    "link": "Link of the queue.",
    "precedence": "Precedence whose state changed; 0 where the law knows none.",
    "average": "The average queue from which it followed.",
    "region": "Where it lies: `below`, `between` or `above` the thresholds (`adaptive_red`: of the "
    "target range).",
    "above_middle": "As in the series.",
    "dynamic_probability": "The maximum probability that grows and shrinks.",
    "max_probability": "The maximum probability in use.",
}

REDUCTIONS = {
    "time_s": "Simulated time in seconds.",
    "flow": "Name of the flow.",
    "signal": "Why: `loss` (fast retransmit), `ecn`, or `timeout`, also of a segment that timed "
    "out before.",
    "before_bytes": "Congestion window before.",
    "flight_bytes": "What was in the network as far as the sender knew, at most the window.",
    "cwnd_bytes": "Congestion window that follows, without what fast recovery adds to it.",
    "ssthresh_bytes": "Slow-start threshold that follows.",
}

STUDY = {
    "study": "Name of the study.",
    "version": "Version of the engine.",
    "build": "Build of the engine: a hash of its sources.",
    "scenario_hash": "Fingerprint of the study's `scenario.toml`.",
    "wall_s": "Time that the runs took which were made now, in seconds; runs taken from a journal "
    "take none.",
    "command": "The command that gives the same digits again.",
    "seeds": "Root seeds of the runs.",
    "runs": "Number of runs.",
    "stopped": "Why it ended early: `interrupted` (Ctrl-C or SIGTERM), or empty.",
    "claims": "A row a claim that was measured.",
    "summary": "How many claims of the kind `result` got each grade, and `total`.",
    "checks": "The same of all other kinds.",
    "sensitivity": "What other choices do to the claims, a block a sensitivity run; empty with "
    "`--quick` or if only some claims were asked for.",
    "comparisons": "What the study's `extensions.toml` asks, a block each; empty if only some "
    "claims were asked for.",
    "points": "A row for each grid point, sensitivity runs and comparisons included.",
    "unmeasured": "Ids of claims without a grade, as no run measured all that they need.",
    "plan": "What `--quick` planned before it began; null without it.",
}

CLAIM = {
    "id": "Its name: `TABLE/ROW/COLUMN` of the study's `paper.toml`, or that of a statement.",
    "place": "Where the paper has it.",
    "quantity": "The quantity measured; of a statement, the predicate that judges it.",
    "unit": "Unit of `published`, `measured`, `low` and `high`; empty for a statement.",
    "published": "The value as published; of a statement, its words.",
    "measured": "Mean over the replications; null for a statement.",
    "low": "Lower end of its 95 % interval; null with a single replication.",
    "high": "Upper end.",
    "replications": "Replications of its grid point; of a statement, of the one with the fewest.",
    "grade": "`exact`, `close`, `consistent`, `trend`, `deviates` or `imprecise`; of a statement "
    "`holds`, `fails` or `imprecise`.",
    "kind": "What the claim rests on: `result`, or of the checks `input`, `formula`, `repeat`, "
    "`reconstruction`.",
    "note": "What `paper.toml` and `deviations.toml` say of it.",
    "needed": "How many replications `--quick` plans for it: those that the grade takes, by the "
    "spread measured, in nine of ten cases; where it makes fewer, those of the best grade that is "
    "in reach; 2 if none is. Null with `--quick` or if only some claims were asked for.",
}

SENSITIVITY = {
    "id": "Name of the sensitivity run.",
    "title": "What is chosen otherwise.",
    "why": "Why that is tried.",
    "replications": "Pairs of runs, with and without it.",
    "moved": "Number of claims whose interval of the difference does not hold 0.",
    "error_study": "Mean distance of the study's values from the published ones, as a share of "
    "these; of values near zero, of the scale that `paper.toml` states. Null without any claim.",
    "error_variant": "The same with the other choice.",
    "rows": "A row for each number of the kind `result` at its grid points.",
}

SENSITIVE = {
    "claim": "The `id` of the claim, whose unit all values of the row have.",
    "published": "The value as published.",
    "study": "Mean of the study; as all that follows with six significant digits.",
    "variant": "Mean with the other choice.",
    "difference": "Mean of `variant` minus `study`, paired by replication.",
    "low": "Lower end of its 95 % interval; null with a single pair.",
    "high": "Upper end.",
}

POINT = {
    "variant": "Empty; of a sensitivity run its `id`; of a comparison `beyond/COMPARISON/DESIGN`.",
    "point": "Its parameters.",
    "replications": "Number of runs.",
    "events": "Packet events of a run, the mean.",
    "digest": "Digest of replication 0, by which a test sees that the record is still what runs "
    "give.",
}

PLAN = {
    "runs": "Number of runs planned, with those that are only recorded.",
    "events": "Packet events that they are expected to have.",
    "estimated": "Whether that is an estimate, five for each packet that sources are expected to "
    "send, as there is no record of a full run.",
    "limit_events": "The study's `quick_events`: at most so many.",
    "lowered_to": "The most replications of a grid point that this leaves room for; null where "
    "all that claims need fits.",
    "record": "`version` and `scenario_hash` of the full run whose `result.json`, beside the "
    "study's files, told what is needed; null without one.",
    "rows": "A row for each grid point.",
}

PLANNED = {
    "variant": "As in `points`.",
    "point": "Its parameters.",
    "replications": "Number of runs planned.",
    "events": "Packet events expected of a run; null without a record.",
    "because": "The claim that needs so many, or the comparison; `--replications` if that was "
    "given.",
}

DRAWN = {
    "runs": "How many runs the paper says that the value is from.",
    "statistic": "What it is of them: `mean`, `highest`, `lowest` or `median`.",
    "predicted_low": "Lower end of the 95 % interval in which such a value is to be expected, its "
    "rounding included; null with a single replication.",
    "predicted_high": "Upper end.",
}

COMPARISON = {
    "id": "Name of the comparison.",
    "title": "What it compares, in a line.",
    "baseline": "The `id` of the design that the others are compared with.",
    "designs": "Every design, the baseline first: `id` and `title`.",
    "complete": "Whether every case has as many runs of each design, two at least.",
    "rows": "A row for each quantity, case and design.",
    "conclusion": "Paragraphs of the conclusion; if not `complete`, one that says that none is "
    "drawn.",
}

COMPARED = {
    "design": "The `id` of the design.",
    "case": "The case in words: group and label.",
    "point": "Its parameters.",
    "quantity": "What was measured; its name ends in the SI unit of all values of the row.",
    "replications": "Runs of the design in this case.",
    "mean": "Mean over the replications.",
    "low": "Lower end of its 95 % interval; null with a single replication.",
    "high": "Upper end.",
    "difference": "Mean of design minus baseline, paired by replication; null for the baseline.",
    "difference_low": "Lower end of the paired 95 % interval.",
    "difference_high": "Upper end.",
    "verdict": "What the difference says: `better` or `worse`; `less` or `more` where neither is "
    "better; `equal` where every pair of runs agrees; `open` where the interval holds 0. Null for "
    "the baseline.",
}
