"""The page of a single run: its network, what matters of it, and all the rest folded."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import text
from forebay.errors import UserError
from forebay.report.pages import MARKS, Section, Table, warned, write_page
from forebay.report.run_figures import Recorded, delays, details, shares, timeline
from forebay.run.documents import read_document
from forebay.run.store import check_columns, read_tables, table_path
from forebay.scenario.network import Network
from forebay.scenario.topology import draw, topology_of
from forebay.toml import parse

if TYPE_CHECKING:
    import numpy as np

__all__ = ["run_report"]

RUN = {
    **MARKS,
    "scenario_hash": str,
    "seed": int,
    "replication": int,
    "digest": str,
    "simulated_s": float,
    "events": int,
    "warnings?": [str],
    "groups": [
        {
            "name": str,
            **dict.fromkeys(("flows", "sent_packets", "delivered_packets", "dropped_packets"), int),
            **dict.fromkeys(("throughput_bps", "goodput_bps", "mean_delay_s"), (float, None)),
            **dict.fromkeys(("retransmissions", "timeouts"), (int, None)),
        }
    ],
    "links": [
        {
            "name": str,
            **dict.fromkeys(("throughput_bps", "utilization", "mean_queue_packets"), float),
            **dict.fromkeys(("drops", "marks", "max_queue_packets"), int),
            "arrived_packets": [int],
        }
    ],
}
"""What of a run's document the page shows."""

FLOWS = 300
"""Flows in a page at most."""
FEW = 8
"""Rows of a table that is not folded."""


def run_report(folder: Path) -> Path:
    """The page of what `forebay run --out` wrote; its path. Raises `UserError` if it is damaged."""
    document = read_document(folder / "run.json", RUN)
    recorded, distribution = _recorded(folder)
    groups = document["groups"]
    sections = warned(document.get("warnings", [])) + _network(folder, document)
    drawn = [shares(groups), delays(distribution) if distribution else None, timeline(recorded)]
    first = Section("What matters", figures=[figure for figure in drawn if figure])
    first.tables = [_percentiles(groups)] if any(row.get("p50_delay_s") for row in groups) else []
    sections += [first] if first.figures or first.tables else []
    tables = [_groups(groups)]
    flows = document.get("flows", [])
    if len(flows) > 1 and len(flows) != len(groups):
        tables.append(_flows(flows))
    sections.append(Section("Flows", tables=tables))
    sections.append(Section("Links", tables=[_links(document["links"])]))
    if recorded:
        figures, left = details(recorded)
        told = f"Recorded too, and in the tables beside this page: {'; '.join(left)}."
        sections.append(Section("Recorded series", told if left else "", folded=figures))
    keys = ("version", "build", "scenario_hash", "seed", "replication", "digest", "simulated_s",
            "events")  # fmt: skip
    return write_page(folder, document, sections, keys)


def _recorded(folder: Path) -> tuple[Recorded, Mapping[str, Sequence[Any]]]:
    """Series by place and the distribution of delay, as far as they were recorded."""

    import numpy as np

    series: dict[str, dict[str, np.ndarray]] = {}
    distribution: Mapping[str, Sequence[Any]] = {}
    for name, table in read_tables(folder).items():
        path = table_path(folder, name)
        if name.startswith("series/"):
            check_columns(
                path, table, {"time_s": "", **dict.fromkeys(table.column_names, "numbers")}
            )
            columns = {key: np.array(table[key].to_numpy(), float) for key in table.column_names}
            if table.num_rows:
                series[name.removeprefix("series/")] = columns
        elif name == "delays":
            kinds = {"group": "words", "to_s": "numbers", "packets": "whole numbers"}
            check_columns(path, table, kinds)
            distribution = table.to_pydict()
    return series, distribution


def _network(folder: Path, document: Mapping[str, Any]) -> list[Section]:
    """The topology of the scenario beside the run, with what the command changed in it."""
    try:
        network = Network.from_toml(folder / "scenario.toml")
        for change in _changes(document["command"]):
            path, _, value = change.partition("=")
            network.set(path, _value(value))
        drawn = draw(topology_of(network.to_dict()), f"Topology of {document['name']}")
    except (UserError, ValueError, TypeError):
        # The scenario may have been moved away since; the run's figures do not need it.
        return []
    said = "Solid lines lead both ways, dashed ones one way; squares are where flows begin or end."
    return [Section("Network", said, svg=drawn)] if drawn else []


def _changes(command: str) -> list[str]:
    words = shlex.split(command)
    return [value for option, value in itertools.pairwise(words) if option == "--set"]


def _value(written: str) -> Any:
    try:
        return parse(f"value = {written}", "command")["value"]
    except UserError:
        return written


def _percentiles(groups: Sequence[Mapping[str, Any]]) -> Table:
    keys = ("p50_delay_s", "p95_delay_s", "p99_delay_s", "max_delay_s")
    return Table(
        ("group", "median delay", "95 %", "99 %", "largest"),
        [[row["name"], *(text.span(row.get(key)) for key in keys)] for row in groups],
        caption="One-way delay: percentiles over delivered packets",
        folded=len(groups) > 2 * FEW,
    )


def _flows(flows: Sequence[Mapping[str, Any]]) -> Table:
    heads = ("flow", "delivered", "dropped", "throughput", "goodput", "median delay", "99 %",
             "retransmissions")  # fmt: skip
    left = f"the first {FLOWS} of {len(flows)}" if len(flows) > FLOWS else f"{len(flows)}"
    return Table(
        heads,
        [
            [
                row["name"],
                text.count(row.get("delivered_packets")),
                text.count(row.get("dropped_packets")),
                text.rate(row.get("throughput_bps")),
                text.rate(row.get("goodput_bps")),
                text.span(row.get("p50_delay_s")),
                text.span(row.get("p99_delay_s")),
                text.count(row.get("retransmissions")),
            ]
            for row in flows[:FLOWS]
        ],
        caption=f"Single flows, {left}",
        folded=True,
    )


def _groups(groups: Sequence[Mapping[str, Any]]) -> Table:
    heads = ("group", "flows", "sent", "delivered", "dropped", "throughput", "goodput",
             "mean delay", "retransmissions", "timeouts")  # fmt: skip
    return Table(
        heads,
        [
            [
                row["name"],
                str(row["flows"]),
                text.count(row["sent_packets"]),
                text.count(row["delivered_packets"]),
                text.count(row["dropped_packets"]),
                text.rate(row["throughput_bps"]),
                text.rate(row["goodput_bps"]),
                text.span(row["mean_delay_s"]),
                text.count(row["retransmissions"]),
                text.count(row["timeouts"]),
            ]
            for row in groups
        ],
    )


def _links(links: Sequence[Mapping[str, Any]]) -> Table:
    heads = ("link", "throughput", "use", "arrived", "dropped", "marked", "mean queue (packets)",
             "max queue (packets)")  # fmt: skip
    return Table(
        heads,
        [
            [
                row["name"],
                text.rate(row["throughput_bps"]),
                text.share(row["utilization"]),
                text.count(sum(row["arrived_packets"])),
                text.count(row["drops"]),
                text.count(row["marks"]),
                f"{row['mean_queue_packets']:.2f}",
                text.count(row["max_queue_packets"]),
            ]
            for row in links
            if sum(row["arrived_packets"])
        ],
    )
