"""Results of a network's runs: Arrow tables, intervals, plots.

Tables are `pyarrow.Table`: `.to_pandas()` gives a pandas frame, and `polars.from_arrow(table)` a
polars one. Every row says which replication it is from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import text
from forebay.drawing import COLOURS, LINES, new_axis, with_legend
from forebay.errors import nearest
from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.progress import meter
from forebay.run.store import rows_table
from forebay.stats import Interval, summarize

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Plot", "Results", "run_replications"]

FIRST_COLUMNS = (
    "name", "group", "transport", "flows", "aggregate", "throughput_bps", "goodput_bps",
    "utilization", "mean_delay_s", "max_delay_s", "sent_packets", "delivered_packets",
    "dropped_packets", "marked_packets", "drops", "marks", "threshold_marks", "mean_queue_packets",
    "max_queue_packets", "admitted", "blocked", "refused", "blocking_ratio", "rerouted",
    "terminated", "ended", "present", "mean_present", "max_present",
)  # fmt: skip
GROUP_QUANTITIES = (
    "throughput_bps", "goodput_bps", "mean_delay_s", "sent_packets", "delivered_packets",
    "dropped_packets", "marked_packets", "retransmissions", "timeouts",
)  # fmt: skip
LINK_QUANTITIES = (
    "throughput_bps", "utilization", "drops", "marks", "threshold_marks", "mean_queue_packets",
    "max_queue_packets",
)  # fmt: skip
CALL_QUANTITIES = (
    "admitted", "blocked", "refused", "blocking_ratio", "rerouted", "terminated", "ended",
    "mean_present", "max_present",
)  # fmt: skip
ROWS = {"flows": "groups", "links": "links", "calls": "calls"}
"""What a document calls the rows of a place."""
HEADLINES = (
    "throughput_bps", "mean_delay_s", "utilization", "mean_queue_packets", "blocking_ratio",
    "terminated", "mean_present",
)  # fmt: skip
"""What `repr` shows."""


def run_replications(
    job: Job, name: str, replications: Iterable[int], threads: int | None = None
) -> Results:
    """Run replications of a job on so many cores (default: all); `name` is what progress calls it.

    On Ctrl-C the finished replications are returned. Raises `ValueError` without replications or
    threads, and `UserError` for a wrong scenario.
    """
    jobs = [job.but(replication=number) for number in replications]
    if not jobs:
        raise ValueError("no replications; at least one is needed")
    if threads is not None:
        if threads < 1:
            raise ValueError(f"threads = {threads}; at least one is needed")
        # Cores that would have no replication to run help with those that there are.
        jobs = [job.but(threads=max(1, threads // len(jobs))) for job in jobs]
    runs: dict[int, Run] = {}
    interrupted = False
    try:
        with meter(len(jobs), name) as progress:

            def done(index: int, run: Run) -> None:
                runs[jobs[index].replication] = run
                progress.finished()

            run_jobs(jobs, done, threads, progress.tick)
    except KeyboardInterrupt:
        if not runs:
            raise
        interrupted = True
    return Results([runs[number] for number in sorted(runs)], interrupted=interrupted)


class Results:
    """What a network's runs gave.

    `documents` are the runs as `forebay run --json` prints them; `interrupted` tells that Ctrl-C
    ended the batch before all replications had finished.
    """

    def __init__(self, runs: Sequence[Run], *, interrupted: bool = False) -> None:
        self._runs = list(runs)
        self.interrupted = interrupted

    @property
    def documents(self) -> list[Mapping[str, Any]]:
        """One document a replication."""
        return [run.document for run in self._runs]

    @property
    def digests(self) -> list[str]:
        """The fingerprint of every replication's trajectory: equal digests, equal runs."""
        return [str(document["digest"]) for document in self.documents]

    @property
    def flows(self) -> pa.Table:
        """Every flow of every replication: packets, throughput, delays."""
        return self._rows("flows")

    @property
    def groups(self) -> pa.Table:
        """Every group of flows, its flows summed."""
        return self._rows("groups")

    @property
    def links(self) -> pa.Table:
        """Every direction of every link; columns of lists are by precedence."""
        return self._rows("links")

    @property
    def calls(self) -> pa.Table:
        """Every class of calls: admitted, blocked, terminated, present; no rows without calls.

        A class is a group of calls; one whose calls consist of several flows (`linked`) has a row
        for each of them.
        """
        return self._rows("calls")

    @property
    def series(self) -> dict[str, pa.Table]:
        """Recorded time series by place (`links.bottleneck`, `flows.bulk`, `aggregates.voice`);
        empty unless the network was told to `record(series=...)`."""
        return {
            name.removeprefix("series/"): self.table(name)
            for name in self._runs[0].tables
            if name.startswith("series/")
        }

    def table(self, name: str) -> pa.Table:
        """A recorded table (`delays`, `calls`, `admission`, `adjustments`, `trace`, `series/...`)
        of all replications.

        Raises `KeyError` if it was not recorded.
        """
        import pyarrow as pa

        if name not in self._runs[0].tables:
            there = ", ".join(self._runs[0].tables) or "none"
            raise KeyError(f"no table {name!r} was recorded; there are {there}")
        return pa.concat_tables(
            [
                pa.table(
                    {
                        "replication": [run.document["replication"]]
                        * len(next(iter(run.tables[name].values()))),
                        **run.tables[name],
                    }
                )
                for run in self._runs
            ],
            promote_options="default",
        )

    def values(self, place: str, name: str, quantity: str) -> list[float]:
        """One quantity by replication; `place` is `flows` (a group), `links` or `calls`.

        Raises `ValueError` for another place and `KeyError` for an unknown name or quantity.
        """
        _rows_of(place)
        return [_number(_row(run, place, name), quantity) for run in self._runs]

    def interval(self, place: str, name: str, quantity: str) -> Interval:
        """Mean and 95 % Student t interval over the replications."""
        return summarize(self.values(place, name, quantity))

    def summary(self) -> pa.Table:
        """Means with 95 % Student t intervals of every group, class of calls, and link.

        Columns: place, name, quantity, mean, low, high, replications; `low` and `high` are null
        with one replication, which says nothing about spread.
        """
        return rows_table(
            [
                {
                    "place": place,
                    "name": name,
                    "quantity": quantity,
                    "mean": interval.mean,
                    "low": interval.low if interval.n > 1 else None,
                    "high": interval.high if interval.n > 1 else None,
                    "replications": interval.n,
                }
                for place, name, quantity, interval in self._intervals()
            ]
        )

    def plot(self, quantity: str = "throughput_bps", place: str = "flows") -> Plot:
        """A drawing of one quantity: over time if a series was recorded, else bars with intervals.

        `place` is `flows` (every group), `calls` or `links`, or `aggregates`, which only series
        have. Series show the first replication. Raises `ValueError` for another place or for a
        series that was not recorded, and `KeyError` for an unknown quantity.
        """
        recorded = {
            name.partition(".")[2]: table
            for name, table in self.series.items()
            if name.startswith(f"{place}.") and quantity in table.column_names
        }
        if not recorded and place == "aggregates":
            raise ValueError(f"no series of {quantity} of aggregates: record(series=...) makes one")
        drawing, axis = new_axis()
        scale, label = _unit(quantity)
        if recorded:
            for index, (name, table) in enumerate(recorded.items()):
                first = table.slice(0, table.num_rows // len(self._runs))
                axis.plot(
                    first["time_s"].to_numpy(),
                    first[quantity].to_numpy() * scale,
                    color=COLOURS[index % len(COLOURS)],
                    linestyle=LINES[index % len(LINES)],
                    label=name,
                )
            axis.set_xlabel("simulated time (s)")
            with_legend(drawing, [axis])
        else:
            names = [row["name"] for row in self.documents[0][_rows_of(place)]]
            intervals = [self.interval(place, name, quantity) for name in names]
            spread = [i.half_width * scale if i.n > 1 else 0.0 for i in intervals]
            means = [interval.mean * scale for interval in intervals]
            axis.bar(range(len(names)), means, 0.6, yerr=spread, color=COLOURS[0], capsize=4)
            axis.set_xticks(range(len(names)), names, rotation=30 if len(names) > 6 else 0)
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
        return Plot(drawing)

    def __repr__(self) -> str:
        document = self.documents[0]
        head = (
            f"{document['name']}: {len(self._runs)} replications of {document['simulated_s']:g} s, "
            f"seed {document['seed']}, scenario {document['scenario_hash']}"
        )
        lines = [
            f"  {place} {name}: {quantity} {_shown(quantity, interval)}"
            for place, name, quantity, interval in self._intervals()
            if quantity in HEADLINES
        ]
        return "\n".join([head, *lines])

    def _intervals(self) -> Iterable[tuple[str, str, str, Interval]]:
        for place, quantities in (
            ("flows", GROUP_QUANTITIES), ("calls", CALL_QUANTITIES), ("links", LINK_QUANTITIES)
        ):  # fmt: skip
            for row in self.documents[0][_rows_of(place)]:
                for quantity in quantities:
                    name = row["name"]
                    yield place, name, quantity, self.interval(place, name, quantity)

    def _rows(self, place: str) -> pa.Table:
        return rows_table(
            [
                {"replication": document["replication"], **_in_order(row)}
                for document in self.documents
                for row in document[place]
            ]
        )


class Plot:
    """A drawing; notebooks show it, `save` writes it, `figure` is matplotlib's for more."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def save(self, path: str | Path) -> None:
        """Write the drawing; the ending says the format: .svg, .pdf or .png."""
        self.figure.savefig(path)

    def _repr_svg_(self) -> str:
        import io

        buffer = io.StringIO()
        self.figure.savefig(buffer, format="svg")
        return buffer.getvalue()


def _in_order(row: Mapping[str, Any]) -> dict[str, Any]:
    """Names first, then what people look for first."""
    first = [name for name in FIRST_COLUMNS if name in row]
    return {name: row[name] for name in [*first, *row]}


def _rows_of(place: str) -> str:
    if place not in ROWS:
        words = ", ".join(map(repr, ROWS))
        raise ValueError(f"place is {place!r}{nearest(place, ROWS)}; it is one of {words}")
    return ROWS[place]


def _row(run: Run, place: str, name: str) -> Mapping[str, Any]:
    if place == "calls":
        return run.call_class(name)
    return run.group(name) if place == "flows" else run.link(name)


def _number(row: Mapping[str, Any], quantity: str) -> float:
    value = row.get(quantity)
    if isinstance(value, bool) or not isinstance(value, int | float):
        numbers = [name for name, value in row.items() if isinstance(value, int | float)]
        raise KeyError(f"no number {quantity!r}{nearest(quantity, numbers)}; there are "
                       f"{', '.join(numbers)}")  # fmt: skip
    return float(value)


def _shown(quantity: str, interval: Interval) -> str:
    mean = text.quantity(quantity, interval.mean)
    return f"{mean} ± {text.quantity(quantity, interval.half_width)}" if interval.n > 1 else mean


def _unit(quantity: str) -> tuple[float, str]:
    """What to multiply by, and what to write at an axis."""
    units = {
        "bps": (1e-6, "Mbit/s"), "s": (1e3, "ms"), "utilization": (100.0, "%"),
        "ratio": (100.0, "%"), "packets": (1.0, "packets"), "bytes": (1.0, "bytes"),
        "flows": (1.0, "flows"),
    }  # fmt: skip
    first, _, last = quantity.rpartition("_")
    if last not in units:
        return 1.0, quantity.replace("_", " ")
    scale, unit = units[last]
    return scale, f"{first.replace('_', ' ') or quantity} ({unit})"
