"""Code of the comparisons of extensions.toml: networks, designs and what is measured of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forebay.study import Case, Design, Findings, Network, Run
from forebay_studies.atm.alternatives import (
    constant_increase,
    exact_discard,
    forward,
    on_off,
    policed,
    queue_length,
)
from forebay_studies.atm.changes import TRUE_BPS, true_size
from forebay_studies.atm.criteria import MAX_SOURCES, MIX, RATE_BASED
from forebay_studies.atm.measure import FILE_BITS, capacity_cells, paced
from forebay_studies.atm.measure_alternatives import of_alternatives
from forebay_studies.atm.network import (
    BY_PRIORITY,
    CELL_BITS,
    DISCARDS_ONLY,
    KINDS,
    LINK_BPS,
    Sources,
    sources,
    thesis_point,
)

__all__ = ["constant_increase", "exact_discard", "forward", "on_off", "queue_length"]
"""Designs of alternatives.py, beside those defined here."""

# The thesis's cases as designs.


def discards_only(network: Network, _: Case) -> None:
    """Case 3: ports report discards alone."""
    for link in network.section("links"):
        if "detector" in network.section(f"links.{link}"):
            network.set(f"links.{link}.detector", DISCARDS_ONLY)


def nothing_at_all(network: Network, case: Case) -> None:
    """Case 1: no detection that anybody heeds, and no policing that marks anything."""
    discards_only(network, case)
    network.set_each("flows.*.paced.pace", "uncontrolled")
    network.set_each("flows.*.policing", {"peak": {"rate": "1 Gbit/s"}})


def _lost_and_late(
    run: Run, ports: Iterable[str], realtime: Iterable[str], data: Iterable[str]
) -> dict[str, float]:
    """Shares of the cells sent that ports dropped, and that came late."""
    dropped = [run.link(port)["dropped_packets"] for port in ports]
    found: dict[str, float] = {}
    for name, groups in {"realtime": set(realtime), "data": set(data)}.items():
        sent = max(sum(run.group(group)["sent_packets"] for group in groups), 1)
        lost = sum(counts[precedence] for counts in dropped for precedence in BY_PRIORITY[name])
        late = [row for row in run.document["lateness"] if row["name"] in groups]
        found[f"{name}_loss_ratio"] = lost / sent
        found[f"{name}_late_ratio"] = sum(row["late_packets"] for row in late) / sent
    return found


# The mixture on one link: link sizes that the thesis scaled down, and the numbers of the detector.


def link_sizes(network: Network, case: Case) -> None:
    """The mixture with the most sources, on links of either size; sessions of either length."""
    most = {"scenario": MIX, "case": RATE_BASED, "sources": MAX_SOURCES[MIX]}
    thesis_point(network, most)
    if case["mbps"] * 1e6 == TRUE_BPS:
        true_size(network, most)
    for state in ("active", "idle"):
        network.set_each(f"flows.*.paced.activity.sessions.{state}", f"{case['session_s']} s")


def mixed(network: Network, case: Case) -> None:
    """The mixture under full control."""
    thesis_point(network, {"scenario": MIX, "case": RATE_BASED, "sources": case["sources"]})


def of_one_link(run: Run, case: Case) -> dict[str, float]:
    """Quantities that the thesis looks at, of the one bottleneck."""
    mbps = float(case.point.get("mbps", LINK_BPS / 1e6))
    data = run.group("data")
    bits = max(data["sent_packets"], 1) * CELL_BITS
    return {
        **_lost_and_late(run, ["satellite"], ["voice", "video"], ["data"]),
        "utilization_ratio": float(run.link("satellite")["utilization"]),
        "throughput_ratio": data["delivered_packets"] / (capacity_cells(run, mbps * 1e6)),
        "file_time_s": float(paced(run)["data"]["session_s"]) / bits * FILE_BITS,
        "realtime_rate_ratio": float(paced(run)["video"]["mean_scale"]),
    }


def of_alternatives_on_one_link(run: Run, case: Case) -> dict[str, float]:
    """The same, with what voice gets, and when the first source hears of congestion."""
    first = of_alternatives(run, case.point)["first_notification_s"]
    voice = float(paced(run)["voice"]["mean_scale"])
    return {**of_one_link(run, case), "voice_rate_ratio": voice, "first_notification_s": first}


def mixed_and_policed(network: Network, case: Case) -> None:
    """The mixture, policed and not controlled."""
    mixed(network, case)
    policed(network, case.point)


def of_discards(run: Run, case: Case) -> dict[str, float]:
    """The same, with the cells lost by their CLP."""
    found = of_alternatives(run, case.point)
    return {
        **of_one_link(run, case),
        **{key: found[key] for key in ("clp0_lost_count", "clp1_lost_count")},
    }


# Two stations that share the capacity of a satellite, divided in one way or another.

STATIONS = {"": "busy", "quiet-": "quiet"}
"""Prefixes of the names of links, nodes and groups of each station."""
TOTAL_BPS = 2 * LINK_BPS
BY_DEMAND_BPS = 8.5e6
"""Rate that the busy station has if the capacity is divided as the uncontrolled loads are, 10.2 and
4.2 Mbit/s."""


def two_stations(network: Network, case: Case) -> None:
    """The mixture twice, side by side: with many sources at one station and few at the other."""
    links, flows = network.take("links"), network.take("flows")
    for begins, station in STATIONS.items():
        for name, link in links.items():
            ends = {end: begins + link[end] for end in ("from", "to")}
            network.set(f"links.{begins}{name}", link | ends)
        counts = sources({"scenario": MIX, "case": RATE_BASED, "sources": case[station]})
        for kind, count in zip(KINDS, counts, strict=True):
            ends = {end: begins + flows[kind][end] for end in ("from", "to")}
            network.set(f"flows.{begins}{kind}", flows[kind] | ends | {"count": count})
    network.record(series_of=[f"links.{begins}satellite" for begins in STATIONS])


def _allocate(network: Network, busy_bps: float) -> None:
    for begins, bps in zip(STATIONS, (busy_bps, TOTAL_BPS - busy_bps), strict=True):
        network.set(f"links.{begins}satellite.rate", f"{bps:g} bit/s")


def by_demand(network: Network, _: Case) -> None:
    """The capacity is divided as the uncontrolled loads are."""
    _allocate(network, BY_DEMAND_BPS)


def against_demand(network: Network, _: Case) -> None:
    """The division of a demand that has moved from the one station to the other since."""
    _allocate(network, TOTAL_BPS - BY_DEMAND_BPS)


def of_two_stations(run: Run, _: Case) -> dict[str, float]:
    """Losses and late cells of both stations, what their data get, and how well video is served:
    its rate, and the time at the floor of 50 % that the thesis would have looked at."""
    names = {kind: [f"{begins}{kind}" for begins in STATIONS] for kind in KINDS}
    ports = [f"{begins}satellite" for begins in STATIONS]
    got = {name: run.group(name)["delivered_packets"] for name in names["data"]}
    carried = sum(float(run.link(port)["throughput_bps"]) for port in ports)
    busy, quiet = (paced(run)[name] for name in names["video"])
    files = paced(run)["data"]
    sent = max(run.group("data")["sent_packets"], 1) * CELL_BITS
    return {
        **_lost_and_late(run, ports, names["voice"] + names["video"], names["data"]),
        "utilization_ratio": carried / TOTAL_BPS,
        "throughput_ratio": sum(got.values()) / capacity_cells(run, TOTAL_BPS),
        "file_time_s": float(files["session_s"]) / sent * FILE_BITS,
        "realtime_rate_ratio": float(busy["mean_scale"]),
        "busy_floor_ratio": float(busy["floor_ratio"]),
        "quiet_floor_ratio": float(quiet["floor_ratio"]),
    }


# A larger network: two bottlenecks, cross traffic, notifications over long ways.

LONG, NEAR, LOCAL = "", "near-", "local-"
"""Prefixes of the groups that pass both bottlenecks, only the second, only the first."""
ENDS = {LONG: ("user", "peer"), NEAR: ("crossing", "peer"), LOCAL: ("user", "neighbour")}
EACH = Sources(20, 12, 7)
"""Sources of each of the three: through either bottleneck go 78, which want 1.4 times its rate."""
PORTS = ("satellite", "core")


def _round_trips_ms(case: Case) -> dict[str, float]:
    first, second = case["first_ms"], case["second_ms"]
    ways = {LONG: 5 + first + second + 5, NEAR: 5 + second + 5, LOCAL: 5 + first + 5}
    return {whose: 2 * way for whose, way in ways.items()}


def two_bottlenecks(network: Network, case: Case) -> None:
    """A second bottleneck behind the satellite link, or in front of it, with traffic that passes
    one of the two only."""
    satellite = network.section("links.satellite")
    satellite |= {"delay": f"{case['first_ms']} ms", "duplex": True}
    core = satellite | {"from": "S2", "to": "S3", "delay": f"{case['second_ms']} ms"}
    egress, user = network.section("links.egress"), network.section("links.user")
    links = {
        "satellite": satellite,
        "core": core,
        "egress": egress | {"from": "S3"},
        "local": egress | {"from": "S2", "to": "neighbour"},
        "cross": user | {"from": "crossing", "to": "S2"},
    }
    for name, link in links.items():
        network.set(f"links.{name}", link)
    shown = network.take("flows")
    for whose, milliseconds in _round_trips_ms(case).items():
        begin, end = ENDS[whose]
        for kind, count in zip(KINDS, EACH, strict=True):
            group = f"flows.{whose}{kind}"
            network.set(group, shown[kind] | {"from": begin, "to": end, "count": count})
            network.set(f"{group}.paced.pace.steps.rtt", f"{milliseconds:g} ms")
    network.record(series_of=[f"links.{port}" for port in PORTS])


def one_round_trip(network: Network, case: Case) -> None:
    """All sources recover once in the longest round trip, however near they are."""
    network.set_each("flows.*.paced.pace.steps.rtt", f"{_round_trips_ms(case)[LONG]:g} ms")


def of_two_links(run: Run, _: Case) -> dict[str, float]:
    """Losses and late cells of all, and how data of long and of short ways share the second."""
    data = [f"{whose}data" for whose in ENDS]
    others = [f"{whose}{kind}" for whose in ENDS for kind in KINDS if kind != "data"]
    got = {name: run.group(name)["delivered_packets"] / capacity_cells(run) for name in data}
    used = [float(run.link(port)["utilization"]) for port in PORTS]
    return {
        **_lost_and_late(run, PORTS, others, data),
        "utilization_ratio": sum(used) / len(used),
        "long_throughput_ratio": got[f"{LONG}data"],
        "near_throughput_ratio": got[f"{NEAR}data"],
        "local_throughput_ratio": got[f"{LOCAL}data"],
        "notification_delay_s": float(paced(run)[f"{LONG}data"]["notice_delay_s"]),
    }


# Explicit rates: sources ask for a rate by resource-management cells, and ports answer.

INTERVAL, TARGET, LOWER = "50 ms", 0.9, 0.8
"""Those of the thesis's own detector (section 5.1), so that both look as often and aim as high; and
a lower target, which leaves room for bursts."""
BEGIN = 0.5
"""A session begins at half its nominal rate (section 6.2.1.4)."""
PROMISED = {"voice": 0.5, "video": 0.5, "data": 0.0}
"""Share that the thesis leaves to each kind whatever happens (section 5.3)."""


def with_way_back(network: Network, case: Case) -> None:
    """The mixture under full control, with links on which receivers can answer their sources, all
    the way: the thesis has none."""
    mixed(network, case)
    network.set("links.satellite.duplex", True).set("links.egress.duplex", True)


def _explicit(network: Network, kinds: Iterable[str], target: float = TARGET) -> None:
    """Explicit rates for some kinds of sources; the others hear nothing."""
    network.remove("links.satellite.detector")
    erica = {"erica": {"interval": INTERVAL, "target": target}}
    network.set("links.satellite.explicit_rate", erica)
    for kind in KINDS:
        # A port that computes rates is to be followed at once: RIF of 1.
        abr = {"abr": {"mcr": PROMISED[kind], "icr": BEGIN, "rif": 1.0}}
        network.set(f"flows.{kind}.paced.pace", abr if kind in kinds else "uncontrolled")


def explicit_for_data(network: Network, _: Case) -> None:
    """Data are ABR under ERICA."""
    _explicit(network, ["data"])


def explicit_for_all(network: Network, _: Case) -> None:
    """All are ABR under ERICA."""
    _explicit(network, KINDS)


def explicit_for_all_lower(network: Network, _: Case) -> None:
    """All are ABR under ERICA, with a lower target."""
    _explicit(network, KINDS, LOWER)


def of_rates(run: Run, case: Case) -> Mapping[str, float]:
    """Quantities that the thesis looks at, with the cost of telling rates and how data share."""
    data = [row for row in run.document["flows"] if row["group"] == "data"]
    got = [float(row["delivered_packets"]) for row in data]
    told = sum(row["resource_cells"] for row in run.document["paced"])
    squares = sum(cells * cells for cells in got)
    return {
        **of_one_link(run, case),
        "realtime_loss_ratio": _lost(run, "realtime", ("voice", "video")),
        "data_loss_ratio": _lost(run, "data", ("data",)),
        "resource_ratio": told / capacity_cells(run),
        "fairness_ratio": sum(got) ** 2 / (len(got) * squares) if squares else 1.0,
    }


def _lost(run: Run, priority: str, groups: Iterable[str]) -> float:
    """The share of cells sent that the port dropped, without cells that tell rates."""
    telling = [group for group in groups if paced(run)[group]["resource_cells"]]
    others = sum(int(run.group(group)["dropped_acks"]) for group in telling)
    dropped = run.link("satellite")["dropped_packets"]
    lost = sum(int(dropped[precedence]) for precedence in BY_PRIORITY[priority]) - others
    return lost / max(sum(int(run.group(group)["sent_packets"]) for group in groups), 1)


def against_full(findings: Findings) -> str:
    """In which metrics the designs in which a port tells rates are better and worse."""
    told = [design for design in findings.comparison.designs if design.id.startswith("abr")]
    return " ".join(_against(findings, design) for design in told)


def _against(findings: Findings, design: Design) -> str:
    told = []
    for case in findings.cases:
        words = []
        for verdict in ("better", "worse"):
            labels = [
                metric.label
                for metric in findings.comparison.metrics
                if metric.better and findings.verdict(metric, design, case) == verdict
            ]
            words.append(f"{verdict.capitalize()}: {'; '.join(labels) or 'nothing'}.")
        told.append(f"{case.name}. {' '.join(words)}")
    return f"{design.title[0].upper()}{design.title[1:]}, {' '.join(told)}"


# Files in frames of cells: what of the cells that arrive is of use.


def in_frames(network: Network, case: Case) -> None:
    """The mixture with files in frames that are sent again, and links back for the reports."""
    with_way_back(network, case)
    # Longer than the round trip of 560 ms, and the default.
    frames = {"payload": f"{case['payload_bytes']} B", "poll": "750 ms"}
    network.set("flows.data.paced.frames", frames)


def of_frames(run: Run, case: Case) -> dict[str, float]:
    """Cells that were of use, as parts of the link and of what was sent, and files completed."""
    data = paced(run)["data"]
    whole = data["whole_packets"]
    return {
        **of_one_link(run, case),
        "useful_ratio": whole / capacity_cells(run),
        "useless_ratio": 1.0 - whole / max(run.group("data")["sent_packets"], 1),
        "frame_loss_ratio": data["lost_frames"] / max(data["sent_frames"], 1),
        "completed_ratio": data["transfers"] / max(data["sessions"], 1),
        "file_whole_s": float(data["session_s"]) / (max(whole, 1) * CELL_BITS) * FILE_BITS,
    }


def price_of_control(findings: Findings) -> str:
    """Sentence on the cases and designs in which more arrives with less control."""
    metric = findings.metric("useful_ratio")
    told = [
        f"{case.name}, {design.title}"
        for case in findings.cases
        for design in findings.comparison.designs
        if findings.verdict(metric, design, case) == "better"
    ]
    head = "Control has its price where there is room: more arrives whole with"
    return f"{head} {'; '.join(told)}." if told else ""


def shares_in_frames(findings: Findings) -> str:
    """Share of the data that the link carries that is in whole frames, by case and design."""
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
