"""The pages of single runs and of sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay import text
from forebay.drawing import COLOURS, LINES, Figure, new_axis, slug, to_svg, with_legend
from forebay.report.page import REPORT, render
from forebay.run.columns import unit_of
from forebay.run.documents import ANY, read_document
from forebay.run.store import check_columns, read_table, read_tables, table_path, write_text
from forebay.units import Unit, of_name

__all__ = ["run_report", "sweep_report"]


@dataclass(slots=True)
class _Table:
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(slots=True)
class _Section:
    title: str
    text: str = ""
    figures: Sequence[Figure] = field(default_factory=list)
    tables: Sequence[_Table] = field(default_factory=list)


_MARKS = {"name": str, "version": str, "build?": str, "command": str}

RUN = {
    **_MARKS,
    "scenario_hash": str,
    "seed": int,
    "replication": int,
    "digest": str,
    "simulated_s": float,
    "events": int,
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

SWEEP = {
    **_MARKS,
    "grid": {"*": [ANY]},
    "quantities": [str],
    "seeds": [int],
    "runs": int,
    "failed?": [{"reason": str, "command": str}],
}
"""What of a sweep's document the page shows."""


def run_report(folder: Path) -> Path:
    """The page of what `forebay run --out` wrote; its path. Raises `UserError` if it is damaged."""
    document = read_document(folder / "run.json", RUN)
    sections = [
        _Section("Flows", tables=[_groups(document["groups"])]),
        _Section("Links", tables=[_links(document["links"])]),
    ]
    figures = []
    for name, table in read_tables(folder).items():
        path = table_path(folder, name)
        if name.startswith("series/"):
            check_columns(
                path, table, {"time_s": "", **dict.fromkeys(table.column_names, "numbers")}
            )
            figures += _series(name.removeprefix("series/"), table)
        elif name == "delays":
            kinds = {"group": "words", "to_s": "numbers", "packets": "whole numbers"}
            check_columns(path, table, kinds)
            figures += _delays(table)
    if figures:
        sections.append(_Section("Over time, and how long", figures=figures))
    keys = ("version", "build", "scenario_hash", "seed", "replication", "digest", "simulated_s",
            "events")  # fmt: skip
    return _write(folder, document, sections, keys)


def sweep_report(folder: Path) -> Path:
    """The page of what `forebay sweep` wrote; its path. Raises `UserError` if it is damaged."""
    document = read_document(folder / "sweep.json", SWEEP)
    parameters = list(document["grid"])
    summary = read_table(folder / "summary.parquet")
    if summary.num_rows:
        columns = {"quantity": "words", "replications": "whole numbers"}
        columns |= dict.fromkeys(("mean", "low", "high"), "numbers")
        check_columns(folder / "summary.parquet", summary, columns | dict.fromkeys(parameters, ""))
    table = [row for row in summary.to_pylist() if row["mean"] is not None]
    sections = []
    for quantity in document["quantities"]:
        rows, unit = [row for row in table if row["quantity"] == quantity], unit_of(quantity)
        shown = _Table(
            heads=[*parameters, "mean", "95 % interval", "replications"],
            rows=[
                [
                    *(str(row[name]) for name in parameters),
                    text.quantity(row["mean"], unit),
                    _interval(row, unit),
                    str(row["replications"]),
                ]
                for row in rows
            ],
        )
        figures = _sweep_figure(quantity, parameters, rows)
        said = " ".join(text.notes(rows))
        sections.append(_Section(quantity, said, figures=figures, tables=[shown]))
    if document.get("failed"):
        rows = [[row["reason"], row["command"]] for row in document["failed"]]
        sections.append(_Section("Failed runs", tables=[_Table(["why", "the run again"], rows)]))
    return _write(folder, document, sections, ("version", "build", "seeds", "runs"))


def _write(
    folder: Path,
    document: Mapping[str, Any],
    sections: Sequence[_Section],
    keys: Sequence[str],
) -> Path:
    # Results of earlier versions name no build.
    provenance = [(key, document[key]) for key in keys if key in document]
    page = render(
        "results.html.j2",
        title=document["name"],
        subtitle=f"Forebay {document['version']}",
        version=document["version"],
        sections=sections,
        command=document["command"],
        provenance=provenance,
        provenance_line=", ".join(
            f"{name.replace('_', ' ')} {value}"
            for name, value in provenance
            if name in ("scenario_hash", "seed", "seeds", "replication", "runs")
        )
        + ".",
    )
    write_text(folder / REPORT, page)
    return folder / REPORT


def _groups(groups: Sequence[Mapping[str, Any]]) -> _Table:
    heads = ("group", "flows", "sent", "delivered", "dropped", "throughput", "goodput",
             "mean delay", "retransmissions", "timeouts")  # fmt: skip
    return _Table(
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


def _links(links: Sequence[Mapping[str, Any]]) -> _Table:
    heads = ("link", "throughput", "use", "arrived", "dropped", "marked", "mean queue", "max queue")
    return _Table(
        heads,
        [
            [
                row["name"],
                text.rate(row["throughput_bps"]),
                text.share(row["utilization"]),
                text.count(sum(row["arrived_packets"])),
                text.count(row["drops"]),
                text.count(row["marks"]),
                f"{row['mean_queue_packets']:.2f} packets",
                f"{row['max_queue_packets']} packets",
            ]
            for row in links
            if sum(row["arrived_packets"])
        ],
    )


def _series(place: str, table: Any) -> list[Figure]:
    """One drawing for each unit among the columns of a recorded place."""
    groups: dict[str, list[str]] = {}
    for column in table.column_names:
        if column != "time_s" and any(table[column].to_pylist()):
            unit = column.partition(".")[0].rsplit("_", 1)[-1]
            groups.setdefault(unit, []).append(column)
    figures = []
    time = table["time_s"].to_numpy()
    for unit, columns in groups.items():
        what, (scale, shown) = _axis(unit)
        drawing, axis = new_axis()
        for index, column in enumerate(columns):
            values = table[column].to_numpy() * scale
            axis.plot(
                time,
                values,
                color=COLOURS[index % len(COLOURS)],
                linestyle=LINES[index % len(LINES)],
                linewidth=1.0,
                label=column.replace("_", " "),
            )
        axis.set_xlabel("simulated time (s)")
        axis.set_ylabel(shown)
        axis.set_ylim(bottom=0)
        axis.margins(x=0)
        with_legend(drawing, [axis])
        figures.append(_figure(f"{place}: {what}", drawing, f"{place}, sampled."))
    return figures


def _axis(ending: str) -> tuple[str, tuple[float, str]]:
    """What columns with names of this ending are, what to multiply them by, and the axis."""
    if ending == "average":
        # A queue law's average is in packets or in bytes, as its thresholds are.
        return "averages", (1.0, "average, in the unit of its thresholds")
    unit = of_name(ending)
    return (unit.what, (unit.scale, unit.axis)) if unit else (ending, (1.0, ending))


def _delays(table: Any) -> list[Figure]:
    drawing, axis = new_axis()
    columns = table.to_pydict()
    for index, group in enumerate(dict.fromkeys(columns["group"])):
        rows = [
            (delay, packets)
            for name, delay, packets in zip(
                columns["group"], columns["to_s"], columns["packets"], strict=True
            )
            if name == group
        ]
        total = sum(packets for _, packets in rows)
        reached, x, y = 0, [], []
        for delay, packets in rows:
            reached += packets
            x.append(1e3 * delay)
            y.append(reached / total)
        style = LINES[index % len(LINES)]
        axis.step(x, y, where="post", color=COLOURS[index % len(COLOURS)], ls=style, label=group)
    axis.set_xlabel("one-way delay (ms)")
    axis.set_ylabel("share of packets with at most this delay")
    axis.set_ylim(0, 1)
    with_legend(drawing, [axis])
    return [_figure("delays", drawing, "Distribution of the delay of delivered packets.")]


def _interval(row: Mapping[str, Any], unit: Unit | None) -> str:
    found = row.get("note", "")
    if found == "equal":
        return "equal"
    ends = f"{text.quantity(row['low'], unit)} to {text.quantity(row['high'], unit)}"
    return f"{ends}, {found}" if found else ends


def _sweep_figure(
    quantity: str, parameters: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[Figure]:
    """Against the first parameter; a line for each combination of the others."""
    if not parameters or not rows:
        return []
    first, *others = parameters
    ticks = list(dict.fromkeys(str(row[first]) for row in rows))
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault(", ".join(f"{name} {row[name]}" for name in others), []).append(row)
    drawing, axis = new_axis()
    for index, (label, line) in enumerate(lines.items()):
        x = [ticks.index(str(row[first])) for row in line]
        y = [row["mean"] for row in line]
        spread = [
            [row["mean"] - row["low"] if row["low"] is not None else 0.0 for row in line],
            [row["high"] - row["mean"] if row["high"] is not None else 0.0 for row in line],
        ]
        axis.errorbar(
            x,
            y,
            yerr=spread,
            color=COLOURS[index % len(COLOURS)],
            linestyle=LINES[index % len(LINES)],
            marker="osD^vP"[index % 6],
            capsize=3,
            label=label or None,
        )
    axis.set_xticks(range(len(ticks)), ticks)
    axis.set_xlabel(first)
    axis.set_ylabel(quantity)
    with_legend(drawing, [axis])
    return [_figure(quantity, drawing, "Means with 95 % intervals over the replications.")]


def _figure(title: str, drawing: Any, caption: str) -> Figure:
    identity = slug(title)
    return Figure(identity, title, caption, to_svg(drawing, identity, title))
