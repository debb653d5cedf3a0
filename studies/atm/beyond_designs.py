"""What beyond.py compares: networks, designs and what is measured of a run."""

from __future__ import annotations

from collections.abc import Iterable

from forebay.study.comparison import Case, Design, Shown
from forebay.study.definition import Run
from forebay.toml import inline
from forebay_studies.atm.network import KINDS, LINK_BPS, Sources, network, sources, template
from forebay_studies.atm.readings import MIX, MOST, RATE_BASED

CELL_BITS = 424
REALTIME, DATA = (0, 2), (1, 3)
"""Precedences of the two priorities, without and with CLP."""

# (a) The link sizes that the thesis scaled down, and sessions of three minutes.

SCALED_BY = 7.5
"""45 over 6 Mbit/s; the access links go from 21 to 155."""
TRUE_S = 120.0
"""Simulated time at the true sizes: 850 sources average out sooner than 113."""


def true_size(case: Case) -> list[str]:
    """The mixture with the most sources, on links of either size; sessions of either length."""
    numbers = sources({"scenario": MIX, "case": 2, "sources": MOST[MIX]})
    found: list[str] = []
    if case["mbps"] == 45:
        numbers = Sources(*(round(SCALED_BY * count) for count in numbers))
        found += [
            f'duration="{TRUE_S:g} s"',
            'links.satellite.rate="45 Mbit/s"',
            'links.user.rate="155 Mbit/s"',
            'links.egress.rate="155 Mbit/s"',
        ]
    session = case["session_s"]
    for kind, count in zip(KINDS, numbers, strict=True):
        found.append(f"flows.{kind}.count={count}")
        if kind != "data":
            sessions = f"flows.{kind}.paced.activity.sessions"
            found += [f'{sessions}.{state}="{session} s"' for state in ("active", "idle")]
    return found


def of_one_link(run: Run, case: Case) -> dict[str, float]:
    """What the thesis looks at, of the one bottleneck."""
    mbps = case.point.get("mbps", LINK_BPS / 1e6)
    capacity = float(mbps) * 1e6 * float(run.document["measured_s"]) / CELL_BITS
    data = run.group("data")
    paced = {row["name"]: row for row in run.document["paced"]}
    files = paced["data"]
    bits = max(data["sent_packets"], 1) * CELL_BITS
    return {
        **_lost_and_late(run, ["satellite"], ["voice", "video"], ["data"]),
        "utilization_ratio": float(run.link("satellite")["utilization"]),
        "throughput_ratio": data["delivered_packets"] / capacity,
        "file_time_s": float(files["session_s"]) / bits * 8e6,
        "realtime_rate_ratio": float(paced["video"]["mean_scale"]),
    }


def _lost_and_late(
    run: Run, ports: Iterable[str], realtime: Iterable[str], data: Iterable[str]
) -> dict[str, float]:
    """Shares of the cells sent that ports dropped, and that came late."""
    dropped = [run.link(port)["dropped_packets"] for port in ports]
    found: dict[str, float] = {}
    for name, groups, precedences in (("realtime", realtime, REALTIME), ("data", data, DATA)):
        names = set(groups)
        sent = max(sum(run.group(group)["sent_packets"] for group in names), 1)
        lost = sum(counts[precedence] for counts in dropped for precedence in precedences)
        late = [row for row in run.document["lateness"] if row["name"] in names]
        found[f"{name}_loss_ratio"] = lost / sent
        found[f"{name}_late_ratio"] = sum(row["late_packets"] for row in late) / sent
    return found


# (b) A larger network: two bottlenecks, cross traffic, notifications over long ways.

LONG, NEAR, LOCAL = "", "near-", "local-"
"""Who passes both bottlenecks, only the second, only the first: how their groups begin."""
EACH = Sources(20, 12, 7)
"""Sources of each of the three: through either bottleneck go 78, which want 1.4 times its rate."""


def two_bottlenecks(case: Case) -> list[str]:
    """A second bottleneck behind the satellite link, or in front of it, with traffic that passes
    one of the two only."""
    shown = template()
    first, second = case["first_ms"], case["second_ms"]
    satellite = {**shown["links"]["satellite"], "delay": f"{first} ms", "duplex": True}
    core = {**satellite, "from": "S2", "to": "S3", "delay": f"{second} ms"}
    egress = shown["links"]["egress"]
    links = {
        "satellite": satellite,
        "core": core,
        "egress": {**egress, "from": "S3"},
        "local": {**egress, "from": "S2", "to": "neighbour"},
        "cross": {**shown["links"]["user"], "from": "crossing", "to": "S2"},
    }
    found = [f"links.{name}={inline(link)}" for name, link in links.items()]
    round_trips = {
        LONG: 2 * (5 + first + second + 5),
        NEAR: 2 * (5 + second + 5),
        LOCAL: 2 * (5 + first + 5),
    }
    ends = {LONG: ("user", "peer"), NEAR: ("crossing", "peer"), LOCAL: ("user", "neighbour")}
    for whose, (begin, end) in ends.items():
        for kind, count in zip(KINDS, EACH, strict=True):
            group = shown["flows"][kind] | {"from": begin, "to": end, "count": count}
            found.append(f"flows.{whose}{kind}={inline(group)}")
            found.append(_round_trip(f"{whose}{kind}", round_trips[whose]))
    return [*found, 'record.series_of=["links.satellite", "links.core"]']


def _round_trip(group: str, milliseconds: float) -> str:
    return f'flows.{group}.paced.pace.steps.rtt="{milliseconds:g} ms"'


def one_round_trip(case: Case) -> list[str]:
    """All sources recover once in the longest round trip, however near they are."""
    longest = 2 * (5 + case["first_ms"] + case["second_ms"] + 5)
    return [_round_trip(group, longest) for group in groups(case)]


def of_two_links(run: Run, case: Case) -> dict[str, float]:
    """Losses and late cells of all, and how data of long and of short ways share the second."""
    data = [f"{whose}data" for whose in (LONG, NEAR, LOCAL)]
    others = [group for group in groups(case) if group not in data]
    capacity = LINK_BPS * float(run.document["measured_s"]) / CELL_BITS
    got = {group: run.group(group)["delivered_packets"] / capacity for group in data}
    used = [float(run.link(port)["utilization"]) for port in ports(case)]
    long = [row for row in run.document["paced"] if row["name"] == f"{LONG}data"]
    return {
        **_lost_and_late(run, ports(case), others, data),
        "utilization_ratio": sum(used) / len(used),
        "long_throughput_ratio": got[f"{LONG}data"],
        "near_throughput_ratio": got[f"{NEAR}data"],
        "local_throughput_ratio": got[f"{LOCAL}data"],
        "notification_delay_s": float(long[0]["notice_delay_s"]),
    }


# (c) The two numbers of the detector.


def mixed(case: Case) -> list[str]:
    """The mixture under full control."""
    return network({"scenario": MIX, "case": RATE_BASED, "sources": case["sources"]})


def detecting(**numbers: float) -> list[str]:
    """Other numbers of the detector."""
    law = "links.satellite.detector.input_rate"
    return [f"{law}.{name}={value}" for name, value in numbers.items()]


# The three cases of the thesis as designs.


def groups(case: Case) -> list[str]:
    """The groups of sources of a case."""
    whose = (LONG, NEAR, LOCAL) if "first_ms" in case.point else (LONG,)
    return [f"{one}{kind}" for one in whose for kind in KINDS]


def ports(case: Case) -> list[str]:
    """The links that detect congestion."""
    return ["satellite", "core"] if "first_ms" in case.point else ["satellite"]


def discards_only(case: Case) -> list[str]:
    """Case 3: ports tell of discards alone."""
    law = '{ discard = { hold_off = "50 ms" } }'
    return [f"links.{port}.detector={law}" for port in ports(case)]


def nothing_at_all(case: Case) -> list[str]:
    """Case 1: no detection that anybody heeds, and no policing that marks anything."""
    found = discards_only(case)
    for group in groups(case):
        found.append(f'flows.{group}.paced.pace="uncontrolled"')
        found.append(f'flows.{group}.policing={{ peak = {{ rate = "1 Gbit/s" }} }}')
    return found


WAY_BACK = ("links.satellite.duplex=true", "links.egress.duplex=true")
"""Links on which receivers can answer their sources, all the way: the thesis has none."""

FULL = Design(
    "full",
    "the full scheme",
    about="Case 2: policing, detection by input rate and by discards, rate control.",
)
DISCARDS = Design(
    "discards", "discards only", discards_only, "Case 3: sources hear of discarded cells alone."
)
NOTHING = Design("nothing", "no control", nothing_at_all, "Case 1: nobody is slowed or marked.")

REALTIME_LOSS = Shown("realtime_loss_ratio", "cells of voice and video lost", "%", "less")
LATE = Shown("realtime_late_ratio", "cells of voice and video later than 20 ms", "%", "less")
DATA_LOSS = Shown("data_loss_ratio", "cells of data lost", "%", "less")
UTILIZATION = Shown("utilization_ratio", "utilisation of the satellite link", "%", "more")
THROUGHPUT = Shown("throughput_ratio", "throughput of data, of the link", "%", "more")
FILE_TIME = Shown("file_time_s", "file transfer time", "s", "less")
VIDEO_RATE = Shown("realtime_rate_ratio", "rate of video over its nominal rate", "%", "more")
