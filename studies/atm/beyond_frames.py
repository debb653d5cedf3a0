"""Files in frames of cells: what of the cells that arrive is of use.

The thesis counts cells. Data come in frames, and of one with a cell missing the receiver has
nothing; section 9.2 leaves that, and sending again what is lost, to future work.
"""

from __future__ import annotations

from forebay.study.comparison import Case, Comparison, Findings, Shown
from forebay.study.definition import Run
from forebay.study.findings_text import described
from forebay.toml import inline
from forebay_studies.atm.beyond_designs import (
    CELL_BITS,
    DATA_LOSS,
    DISCARDS,
    FULL,
    LATE,
    NOTHING,
    REALTIME_LOSS,
    UTILIZATION,
    WAY_BACK,
    mixed,
    of_one_link,
)
from forebay_studies.atm.network import LINK_BPS

IP_OVER_ATM, ETHERNET = 9188, 1508
"""Payload of a frame: an MTU of 9180 B (RFC 2225, section 7) or of 1500 B, with 8 B of LLC/SNAP.
With the trailer of AAL5 these fill 192 and 32 cells."""
POLL = "750 ms"
"""Longer than the round trip of 560 ms, and the default."""
FILE_BITS = 8e6


def in_frames(case: Case) -> list[str]:
    """The mixture with files in frames that are sent again, and links back for the reports."""
    frames = {"payload": f"{case['payload_bytes']} B", "poll": POLL}
    return [*mixed(case), *WAY_BACK, f"flows.data.paced.frames={inline(frames)}"]


def of_frames(run: Run, case: Case) -> dict[str, float]:
    """Cells that were of use, as parts of the link and of what was sent, and files completed."""
    (paced,) = (row for row in run.document["paced"] if row["name"] == "data")
    capacity = LINK_BPS * float(run.document["measured_s"]) / CELL_BITS
    sent = max(run.group("data")["sent_packets"], 1)
    frames = max(paced["sent_frames"], 1)
    bits = max(paced["whole_packets"], 1) * CELL_BITS
    return {
        **of_one_link(run, case),
        "useful_ratio": paced["whole_packets"] / capacity,
        "useless_ratio": 1.0 - paced["whole_packets"] / sent,
        "frame_loss_ratio": paced["lost_frames"] / frames,
        "completed_ratio": paced["transfers"] / max(paced["sessions"], 1),
        "file_whole_s": float(paced["session_s"]) / bits * FILE_BITS,
    }


def _concluded(findings: Findings) -> list[str]:
    return [
        f"""What a frame makes of a cell that is lost. {
            described(findings, "data_loss_ratio", "frame_loss_ratio")
        }""",
        f"""What of the link carries data of use. {
            described(findings, "throughput_ratio", "useful_ratio", "useless_ratio")
        } {_shares(findings)}""",
        f"""When files arrive. {described(findings, "completed_ratio")} {
            described(findings, "file_whole_s", digits=4)
        } Files under way at the end count with what of them had arrived.""",
        f"""What voice and video notice of it. {
            described(findings, "realtime_loss_ratio", "realtime_late_ratio", "utilization_ratio")
        }""",
        f"""So cells delivered and utilisation do not tell designs apart that users would. With
        most sources the link is fullest without control, and nearly all that it carries of data is
        in vain: a frame that loses a cell each time it is sent is sent for ever. Retransmission is
        no substitute for control, it needs some. Smaller frames help where some cells are lost, not
        where most are. {_price(findings)}""",
        """Limits: no port discards what is left of a frame that is spoilt already (Romanow and
        Floyd 1995), which would spare the link cells in vain; sources give no file up, and send
        again at the rate that control leaves them, with no window.""",
    ]


def _price(findings: Findings) -> str:
    """Where more arrives with less control."""
    shown = findings.shown("useful_ratio")
    told = []
    for case in findings.cases:
        for design in findings.comparison.designs:
            if findings.verdict(shown, design, case) == "better":
                told.append(f"{case.name}, {design.title}")
    return (
        f"Control has its price where there is room: more arrives whole with {'; '.join(told)}."
        if told
        else ""
    )


def _shares(findings: Findings) -> str:
    """How much of the data that the link carries is in whole frames, by case and design."""
    told = []
    for case in findings.cases:
        shares = []
        for design in findings.comparison.every_design:
            useful = findings.interval("useful_ratio", design, case)
            carried = findings.interval("throughput_ratio", design, case)
            if useful and carried and carried.mean > 0.0:
                share = 100.0 * useful.mean / carried.mean
                shares.append(f"{share:.3g} % with {design.title}")
        told.append(f"{case.name}: {', '.join(shares)}")
    return f"Of the cells of data that arrive, in whole frames: {'; '.join(told)}."


FRAMES = Comparison(
    id="frames",
    title="Files in frames of cells, sent again until they are whole",
    question="""The thesis counts cells of data that are lost; what users have are frames, which a
    missing cell spoils, and files, which are done when all frames are there. Its section 9.2 leaves
    the retransmission of lost data to future work. Here files are sent in frames of AAL5, and those
    that are missing again, by the selective retransmission of SSCOP (ITU-T Q.2110), at the rate
    that the control allows. How much of the link carries data of use, and when do files arrive?""",
    baseline=FULL,
    designs=[DISCARDS, NOTHING],
    cases=[
        Case("29 sources", {"sources": 29, "payload_bytes": IP_OVER_ATM}),
        Case("113 sources", {"sources": 113, "payload_bytes": IP_OVER_ATM}),
        Case(
            "113 sources, frames of 32 cells",
            {"sources": 113, "payload_bytes": ETHERNET},
            quick=False,
        ),
    ],
    quantities=of_frames,
    shown=[
        Shown("useful_ratio", "data in whole frames, of the link", "%", "more"),
        Shown("throughput_ratio", "throughput of data in cells, of the link", "%"),
        Shown("useless_ratio", "cells of data sent in vain or again", "%", "less"),
        DATA_LOSS,
        Shown("frame_loss_ratio", "frames lost", "%", "less"),
        Shown("completed_ratio", "files completed, of those begun", "%", "more"),
        Shown("file_whole_s", "time for a file's worth of data in whole frames", "s", "less"),
        REALTIME_LOSS,
        LATE,
        UTILIZATION,
    ],
    overrides=in_frames,
    replications=6,
    quick_replications=2,
    conclusion=_concluded,
)
