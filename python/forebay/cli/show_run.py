"""What `forebay run` shows of a run: tables of flows, calls, sources and links."""

from __future__ import annotations

from forebay import text
from forebay.cli.terminal import Grid, print_page

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from forebay.run.jobs import Run

    _Column = tuple[str, Callable[[Mapping[str, Any]], str]]

__all__ = ["show_run"]

MANY_FLOWS = 20
SHOWN_TIES = 5


def _name(row: Mapping[str, Any]) -> str:
    return str(row["name"])


_POLICING: Sequence[_Column] = [
    ("name", _name),
    ("marked for peak", lambda row: text.count(row["marked_by_peak"])),
    ("marked for tokens", lambda row: text.count(row["marked_by_bucket"])),
    ("dropped", lambda row: text.count(row["dropped"])),
    ("max queue", lambda row: f"{row['max_queue_packets']} p"),
]
_RINGS: Sequence[_Column] = [
    ("name", _name),
    ("spans", lambda row: text.count(row["spans"])),
    ("throughput", lambda row: text.rate(row["throughput_bps"])),
    ("mean use", lambda row: text.share(row["utilization"])),
    ("highest use", lambda row: text.share(row["max_utilization"])),
    ("dropped", lambda row: text.count(row["drops"])),
]
_DELAYS: Sequence[_Column] = [
    ("name", _name),
    ("least", lambda row: _delay(row, "min")),
    ("median", lambda row: _delay(row, "p50")),
    ("95 %", lambda row: _delay(row, "p95", 20)),
    ("99 %", lambda row: _delay(row, "p99", 100)),
    ("99.9 %", lambda row: _delay(row, "p999", 1000)),
    ("largest", lambda row: _delay(row, "max")),
]
_CLASSES: Sequence[_Column] = [
    ("name", _name),
    ("throughput", lambda row: text.rate(row["throughput_bps"])),
    ("arrived", lambda row: text.count(row["arrived_packets"])),
    ("dropped", lambda row: text.count(row["drops"])),
    ("marked", lambda row: text.count(row["marks"])),
    ("mean queue", lambda row: f"{row['mean_queue_packets']:.2f} p"),
    ("mean wait", lambda row: text.span(row["mean_wait_s"]) if row["departed_packets"] else "-"),
]
_TRANSFERS: Sequence[_Column] = [
    ("name", _name),
    ("completed", lambda row: text.count(row["completed"])),
    ("unfinished", lambda row: text.count(row["unfinished"])),
    ("mean", lambda row: _span(row["mean_completion_s"])),
    ("median", lambda row: _span(row["p50_completion_s"])),
    ("95 %", lambda row: _span(row["p95_completion_s"])),
    ("99 %", lambda row: _span(row["p99_completion_s"])),
    ("slowdown", lambda row: _factor(row["mean_slowdown"])),
    ("99 %", lambda row: _factor(row["p99_slowdown"])),
]
_VIDEO: Sequence[_Column] = [
    ("name", _name),
    ("viewers", lambda row: text.count(row["viewers"])),
    ("chunks", lambda row: text.count(row["chunks"])),
    ("mean rate", lambda row: text.rate(row["mean_rate_bps"]) if row["chunks"] else "-"),
    ("switches", lambda row: text.count(row["switches"])),
    ("rebufferings", lambda row: text.count(row["rebufferings"])),
    ("for", lambda row: text.span(row["rebuffering_s"])),
    ("of the time", lambda row: text.share(row["rebuffering_ratio"])),
    ("start", lambda row: _span(row["mean_startup_s"])),
]
_LATENESS: Sequence[_Column] = [
    ("name", _name),
    ("late", lambda row: text.count(row["late_packets"])),
    ("least delay", lambda row: text.span(row["least_delay_s"])),
]


def _span(seconds: float | None) -> str:
    return "-" if seconds is None else text.span(seconds)


def _factor(factor: float | None) -> str:
    return "-" if factor is None else f"{factor:.2f}"


def show_run(run: Run) -> None:
    """Tables of one run: flows (groups, if there are many flows), hosts that are not groups too,
    transfers, video, calls, paced sources, late and policed packets if any, links, and classes of
    their queues if counted."""
    document = run.document
    facts = [
        f": {document['simulated_s']:g} s simulated in {text.span(document['wall_s'])}, "
        f"{text.count(document['events'])} events, {text.count(document['packet_hops'])} packet "
        "hops",
        f"seed {document['seed']}, replication {document['replication']}, scenario "
        f"{document['scenario_hash']}, version {document['version']}, digest {document['digest']}",
    ]
    print_page(document["name"], facts, list(_tables(document)))


def _tables(document: Mapping[str, Any]) -> Iterator[Grid]:
    flows = document["flows"]
    if not 0 < len(flows) <= MANY_FLOWS:
        # Large groups have no row for each flow.
        number = sum(row["flows"] for row in document["groups"])
        flows = document["groups"]
        yield _flow_table(flows, f"{number} flows, by group")
    else:
        yield _flow_table(flows, "flows")
    if delivered := [row for row in flows if row["delivered_packets"]]:
        yield _filled("one-way delay: percentiles over packets", _DELAYS, delivered)
    if _tells_hosts(document):
        yield _host_table(document["hosts"])
    if document["transfers"]:
        title = "transfers: completion times and slowdowns"
        yield _filled(title, _TRANSFERS, document["transfers"])
    if document["video"]:
        yield _filled("adaptive video", _VIDEO, document["video"])
    if document["calls"]:
        yield _call_table(document["calls"])
    if document["paced"]:
        yield _paced_table(document["paced"])
        if framed := [row for row in document["paced"] if row["sent_frames"]]:
            yield _frames_table(framed)
    if document["policing"]:
        yield _filled("policing", _POLICING, document["policing"])
    if document["lateness"]:
        yield _filled("late packets", _LATENESS, document["lateness"])
    if document["rings"]:
        yield _filled("rings", _RINGS, document["rings"])
    yield _link_table(document["links"])
    if document["classes"]:
        yield _filled("classes of queues", _CLASSES, document["classes"])
    if checks := document.get("checks"):
        yield _check_table(checks)
    if ties := document.get("ties"):
        yield from _tie_tables(ties)


def _tells_hosts(document: Mapping[str, Any]) -> bool:
    """Whether rows of hosts say more than those of groups: hosts are named, or there are several
    at one end, and some have several groups there."""
    hosts, groups = document["hosts"], len(document["groups"])
    if any(row["name"] != row["node"] for row in hosts):
        return True
    ends = (sum(row[end] > 0 for row in hosts) for end in ("flows_from", "flows_to"))
    return any(1 < number < groups for number in ends)


def _host_table(rows: Sequence[Mapping[str, Any]]) -> Grid:
    def at(end: str, column: str, show: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: show(row[column]) if row[end] else "-"

    columns: list[_Column] = [
        ("name", _name),
        ("node", lambda row: str(row["node"])),
        ("sent", at("flows_from", "sent_packets", text.count)),
        ("dropped", at("flows_from", "dropped_packets", text.count)),
        ("throughput", at("flows_from", "throughput_bps", text.rate)),
        ("received", at("flows_to", "received_packets", text.count)),
        ("throughput", at("flows_to", "received_throughput_bps", text.rate)),
    ]
    if all(row["name"] == row["node"] for row in rows):
        columns = [column for column in columns if column[0] != "node"]
    return _filled("hosts: what they send, and what they receive", columns, rows)


def _flow_table(rows: Sequence[Mapping[str, Any]], title: str) -> Grid:
    columns: list[_Column] = [
        ("name", _name),
        ("flows", lambda row: str(row.get("flows", 1))),
        ("sent", lambda row: text.count(row["sent_packets"])),
        ("delivered", lambda row: text.count(row["delivered_packets"])),
        ("dropped", lambda row: text.count(row["dropped_packets"])),
        ("marked", lambda row: text.count(row["marked_packets"])),
        ("throughput", lambda row: text.rate(row["throughput_bps"])),
        ("goodput", lambda row: text.rate(row["goodput_bps"])),
        ("mean delay", lambda row: _delay(row, "mean")),
    ]
    if not any("flows" in row for row in rows):
        columns = [column for column in columns if column[0] != "flows"]
    if not any(row["marked_packets"] for row in rows):
        columns = [column for column in columns if column[0] != "marked"]
    return _filled(title, columns, rows)


def _call_table(rows: Sequence[Mapping[str, Any]]) -> Grid:
    columns: list[_Column] = [
        ("name", _name),
        ("admitted", lambda row: text.count(row["admitted"])),
        ("blocked", lambda row: text.count(row["blocked"])),
        ("refused", lambda row: text.count(row["refused"])),
        ("blocking", lambda row: text.share(row["blocking_ratio"])),
        ("rerouted", lambda row: text.count(row["rerouted"])),
        ("terminated", lambda row: text.count(row["terminated"])),
        ("ended", lambda row: text.count(row["ended"])),
        ("present", lambda row: f"{row['mean_present']:.2f}"),
        ("max", lambda row: text.count(row["max_present"])),
    ]
    rare = [name for name in ("refused", "rerouted") if not any(row[name] for row in rows)]
    columns = [column for column in columns if column[0] not in rare]
    return _filled("calls (present: time average and maximum)", columns, rows)


def _paced_table(rows: Sequence[Mapping[str, Any]]) -> Grid:
    columns: list[_Column] = [
        ("name", _name),
        ("sources", lambda row: text.count(row["sources"])),
        ("sessions", lambda row: text.count(row["sessions"])),
        ("mean rate", lambda row: text.share(row["mean_scale"])),
        ("least", lambda row: text.share(row["least_scale"])),
        ("heeded", lambda row: _notices("accepted", row)),
        ("ignored", lambda row: _notices("ignored", row)),
        ("transfers", lambda row: text.count(row["transfers"])),
        ("mean time", lambda row: text.span(row["transfer_s"]) if row["transfers"] else "-"),
    ]
    if not any(row["transfers"] for row in rows):
        columns = columns[:-2]
    return _filled("paced sources: rate over nominal rate, and notifications", columns, rows)


def _frames_table(rows: Sequence[Mapping[str, Any]]) -> Grid:
    columns: list[_Column] = [
        ("name", _name),
        ("sent", lambda row: text.count(row["sent_frames"])),
        ("sent again", lambda row: text.count(row["resent_frames"])),
        ("whole", lambda row: text.count(row["whole_frames"])),
        ("lost", lambda row: text.count(row["lost_frames"])),
        ("arrival", lambda row: text.span(row["arrival_s"]) if row["arrival_s"] else "-"),
    ]
    return _filled("frames, and until when files arrive", columns, rows)


def _notices(fate: str, row: Mapping[str, Any]) -> str:
    return text.count(row[f"{fate}_rate_notices"] + row[f"{fate}_discard_notices"])


def _delay(row: Mapping[str, Any], which: str, packets: int = 1) -> str:
    """A quantity of delay, unless fewer than `packets` were delivered: a percentile of fewer would
    be the longest delay."""
    return text.span(row[f"{which}_delay_s"]) if row["delivered_packets"] >= packets else "-"


def _link_table(rows: Sequence[Mapping[str, Any]]) -> Grid:
    used = [row for row in rows if sum(row["arrived_packets"])]
    idle = len(rows) - len(used)
    title = f"links ({idle} idle ones left out)" if idle else "links"
    columns: list[_Column] = [
        ("name", _name),
        ("throughput", lambda row: text.rate(row["throughput_bps"])),
        ("use", lambda row: text.share(row["utilization"])),
        ("arrived", lambda row: text.count(sum(row["arrived_packets"]))),
        ("dropped", lambda row: text.count(row["drops"])),
        ("marked", lambda row: text.count(row["marks"])),
        ("ThM", lambda row: text.count(row["threshold_marks"])),
        ("mean queue", lambda row: f"{row['mean_queue_packets']:.2f} p"),
        ("max queue", lambda row: f"{row['max_queue_packets']} p"),
    ]
    if not any(row["marks"] for row in used):
        columns = [column for column in columns if column[0] != "marked"]
    if not any(row["threshold_marks"] for row in used):
        columns = [column for column in columns if column[0] != "ThM"]
    return _filled(title, columns, used)


def _check_table(checks: Mapping[str, Any]) -> Grid:
    times = sum(checks["each"].values())
    title = f"checked: {checks['invariants']} invariants, {text.count(times)} times, none broken"
    rows = [[name, text.count(number)] for name, number in checks["each"].items()]
    return Grid(title, ["invariant", "times"], rows)


def _tie_tables(ties: Mapping[str, Any]) -> Iterator[Grid]:
    differing = ties["differing"]
    rows = [
        ["simultaneous arrivals at links", text.count(ties["packets"])],
        ["other orders of them run", text.count(ties["orders"])],
        ["numbers compared", text.count(ties["quantities"])],
        ["numbers that rest on the order", text.count(len(differing))],
    ]
    yield Grid("order of simultaneous events", ["", "number"], rows)
    if differing:
        most = [
            [row["quantity"], *(text.plain(row[key]) for key in ("listed", "low", "high"))]
            for row in differing[:SHOWN_TIES]
        ]
        columns = ["quantity", "as listed", "least", "greatest"]
        yield Grid("numbers that rest on the order most", columns, most)


def _filled(
    title: str,
    columns: Sequence[_Column],
    rows: Sequence[Mapping[str, Any]],
) -> Grid:
    names = [name for name, _ in columns]
    return Grid(title, names, [[show(row) for _, show in columns] for row in rows])
