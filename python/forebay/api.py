"""Results of a network's runs: Arrow tables, intervals, plots.

Tables are `pyarrow.Table`: `.to_pandas()` gives a pandas frame, and `polars.from_arrow(table)` a
polars one. Every row says which replication it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import text
from forebay.run import Run, run_jobs
from forebay.stats import Interval, summarize

if TYPE_CHECKING:
    import pyarrow as pa

    from forebay.scenario import Network

__all__ = ["Plot", "Results", "run_network"]

FIRST_COLUMNS = (
    "name", "group", "transport", "flows", "throughput_bps", "goodput_bps", "utilization",
    "mean_delay_s", "max_delay_s", "sent_packets", "delivered_packets", "dropped_packets",
    "marked_packets", "drops", "marks", "mean_queue_packets", "max_queue_packets",
)  # fmt: skip
GROUP_QUANTITIES = (
    "throughput_bps", "goodput_bps", "mean_delay_s", "sent_packets", "delivered_packets",
    "dropped_packets", "marked_packets", "retransmissions", "timeouts",
)  # fmt: skip
LINK_QUANTITIES = (
    "throughput_bps", "utilization", "drops", "marks", "mean_queue_packets", "max_queue_packets",
)  # fmt: skip


def run_network(
    network: Network,
    replications: Iterable[int],
    *,
    seed: int | None = None,
    until: str | None = None,
    threads: int | None = None,
) -> Results:
    """Run replications of a network; see `Network.run`."""
    from forebay.progress import meter

    document = network.to_dict()
    job = replace(network.job(), seed=seed, until=until, record="record" in document)
    jobs = [replace(job, replication=number) for number in replications]
    if not jobs:
        raise ValueError("no replications; at least one is needed")
    runs: dict[int, Run] = {}
    interrupted = False
    try:
        with meter(len(jobs), network.name) as progress:

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
    def series(self) -> dict[str, pa.Table]:
        """Recorded time series by place (`links.bottleneck`, `flows.bulk`); empty unless the
        network was told to `record(series=...)`."""
        return {
            name.removeprefix("series/"): self.table(name)
            for name in self._runs[0].tables
            if name.startswith("series/")
        }

    def table(self, name: str) -> pa.Table:
        """A recorded table (`delays`, `trace`, `series/...`) of all replications.

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
        """One quantity by replication; `place` is `flows` (a group) or `links`."""
        pick: Callable[[Run, str], Mapping[str, Any]]
        pick = Run.group if place == "flows" else Run.link
        return [float(pick(run, name)[quantity]) for run in self._runs]

    def interval(self, place: str, name: str, quantity: str) -> Interval:
        """Mean and 95 % Student t interval over the replications."""
        return summarize(self.values(place, name, quantity))

    def summary(self) -> pa.Table:
        """Means with 95 % Student t intervals of every group and link.

        Columns: place, name, quantity, mean, low, high, replications; `low` and `high` are null
        with one replication, which says nothing about spread.
        """
        from forebay.store import rows_table

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

        `place` is `flows` (every group) or `links`. Series show the first replication.
        """
        from forebay.plot import COLOURS, LINES, new_axis, with_legend

        drawing, axis = new_axis()
        scale, unit = _unit(quantity)
        recorded = {
            name.partition(".")[2]: table
            for name, table in self.series.items()
            if name.startswith(f"{place}.") and quantity in table.column_names
        }
        names = [row["name"] for row in self.documents[0][_rows_of(place)]]
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
            intervals = [self.interval(place, name, quantity) for name in names]
            spread = [i.half_width * scale if i.n > 1 else 0.0 for i in intervals]
            means = [interval.mean * scale for interval in intervals]
            axis.bar(range(len(names)), means, 0.6, yerr=spread, color=COLOURS[0], capsize=4)
            axis.set_xticks(range(len(names)), names, rotation=30 if len(names) > 6 else 0)
        axis.set_ylabel(f"{quantity.rpartition('_')[0].replace('_', ' ') or quantity} ({unit})")
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
            if quantity in ("throughput_bps", "mean_delay_s", "utilization", "mean_queue_packets")
        ]
        return "\n".join([head, *lines])

    def _intervals(self) -> Iterable[tuple[str, str, str, Interval]]:
        for place, quantities in (("flows", GROUP_QUANTITIES), ("links", LINK_QUANTITIES)):
            for row in self.documents[0][_rows_of(place)]:
                for quantity in quantities:
                    name = row["name"]
                    yield place, name, quantity, self.interval(place, name, quantity)

    def _rows(self, place: str) -> pa.Table:
        from forebay.store import rows_table

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
    if place not in ("flows", "links"):
        raise ValueError(f"place is {place!r}; it is 'flows' or 'links'")
    return "groups" if place == "flows" else "links"


def _shown(quantity: str, interval: Interval) -> str:
    mean = text.quantity(quantity, interval.mean)
    return f"{mean} ± {text.quantity(quantity, interval.half_width)}" if interval.n > 1 else mean


def _unit(quantity: str) -> tuple[float, str]:
    units = {"bps": (1e-6, "Mbit/s"), "s": (1e3, "ms"), "utilization": (100.0, "%")}
    last = quantity.rsplit("_", 1)[-1]
    return units.get(last, (1.0, last))
