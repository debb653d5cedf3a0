"""Results of a network's runs: Arrow tables, intervals, plots.

Tables are `pyarrow.Table`; `Results.to_pandas` and `Results.to_polars` give them as frames. Every
row says which replication it is from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from forebay import text
from forebay.errors import OwnCodeError, UserError, nearest, printable
from forebay.extras import need
from forebay.run.columns import columns, kinds, numbers, percentile_note, unit_in
from forebay.run.expressions import Answer, Expression, read
from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.limits import MAX_RUNS
from forebay.run.notebook import results_html
from forebay.run.paper_formats import interval_table
from forebay.run.plots import Request, draw
from forebay.run.progress import meter
from forebay.run.quantities import summarised
from forebay.run.references import Reference
from forebay.run.repeat import command_line
from forebay.run.rows import Recorded
from forebay.run.shown import dropped_ratios
from forebay.run.store import rows_table
from forebay.samples import FEW_SAMPLES
from forebay.stats import Interval, replication_interval

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Results", "run_replications"]


AT_ONCE = 10_000
"""Number of jobs that are made at once: few enough to be nothing beside their runs, so many that
cores that wait for the last of them do not count."""


def run_replications(
    job: Job,
    name: str,
    replications: Sequence[int],
    threads: int | None = None,
    begins: Callable[[Sequence[int], Sequence[Sequence[str]]], None] | None = None,
) -> Results:
    """Run replications of a job on so many cores (default: all); `name` is what progress calls it.

    `begins` is that of `forebay.run.jobs.run_jobs`. On Ctrl-C the finished replications are
    returned. Raises `ValueError` without replications or threads, or for more than `MAX_RUNS`
    replications, `UserError` for a wrong scenario, and, when all others are finished, `LawError` or
    `StackError` if a law or a stack of one's own ended one; its `finished` are the results of
    these.
    """
    number = len(replications)
    if not number:
        raise ValueError("no replications; at least one is needed")
    if number > MAX_RUNS:
        raise ValueError(f"{number} replications; allowed are at most {MAX_RUNS}")
    if threads is not None:
        if threads < 1:
            raise ValueError(f"threads = {threads}; at least one is needed")
        # Cores that would have no replication to run help with those that there are.
        helped = max(1, threads // number)
    else:
        helped = job.threads
    runs: dict[int, Run] = {}
    interrupted = False
    try:
        with meter(number, name) as progress:
            for start in range(0, number, AT_ONCE):
                some = replications[start : start + AT_ONCE]
                jobs = [_replication(job, each).but(threads=helped) for each in some]

                def done(index: int, run: Run, some: Sequence[int] = some) -> None:
                    runs[some[index]] = run
                    progress.finished()

                run_jobs(jobs, done, threads, progress.tick, None if start else begins)
    except KeyboardInterrupt:
        if not runs:
            raise
        interrupted = True
    except OwnCodeError as error:
        error.finished = _in_order(runs) if runs else None
        raise
    return _in_order(runs, interrupted)


def _in_order(runs: Mapping[int, Run], interrupted: bool = False) -> Results:
    return Results([runs[number] for number in sorted(runs)], interrupted=interrupted)


def _replication(job: Job, number: int) -> Job:
    """The job of one replication, with the command that gives it again on any machine."""
    job = job.but(replication=number)
    return job if job.command is None else job.but(command=command_line(job.name, job))


class Results:
    """Results of a network's runs.

    `documents` are the runs as `forebay run --json` prints them; `interrupted` tells that Ctrl-C
    ended the batch before all replications had finished.

    Rows of every kind are an attribute, a `pyarrow.Table`: those of each run (`flows`, `groups`,
    `hosts`, `links`), and those of what only some networks have, without rows in others: `classes`,
    `transfers`, `video`, `calls`, `paced`, `policing`, `lateness`, `pairs`, `rings`, `switches`,
    and the kinds of an engine of one's own. `dir(results)` lists them; the reference has their
    columns. Columns of lists are by precedence, those of `transfers` by size: below 10 kB, 100 kB,
    1 MB, and larger.
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
    def warnings(self) -> list[str]:
        """Values in the scenario that can be run and are hardly meant, each with its place:
        warnings that `Network.run` issues (`forebay.ScenarioWarning`)."""
        return list(self._runs[0].document.get("warnings", []))

    @property
    def laws(self) -> list[Mapping[str, Any]]:
        """The laws of one's own that the runs had: `category`, `name`, `file`, `contents` (a hash),
        `ran_as` (`python`, `numba 0.68.1`, `library`), `abi` (the version of the interface)."""
        return list(self._runs[0].document.get("laws", []))

    def __getattr__(self, name: str) -> pa.Table:
        """The rows of a kind."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in kinds():
            near = nearest(name, dir(self))
            raise AttributeError(
                f"results have no {name!r}{near}; kinds of rows are {', '.join(kinds())}"
            )
        return self._rows(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *kinds()})

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
        """A recorded table (`transfers`, `delays`, `calls`, `admission`, `adjustments`, `trace`,
        `series/...`) of all replications. Rows of results, which need no recording, are attributes:
        `results.groups`, `results.video`.

        Raises `KeyError` if it was not recorded.
        """
        need("a table", "pyarrow")
        import pyarrow as pa

        if name not in self._runs[0].tables:
            there = ", ".join(self._runs[0].tables) or "none"
            rows = f"; rows of results are in results.{name}" if name in kinds() else ""
            near = nearest(name, self._runs[0].tables)
            raise KeyError(f"no table {name!r} was recorded{near}; there are {there}{rows}")
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

    def to_pandas(self, table: str | pa.Table) -> Any:
        """A table as a `pandas.DataFrame`.

        `table` is a kind of rows as for `values`, `summary`, the name of a recorded table, or a
        table. Raises `KeyError` if there is none of that name, and `UserError` without pandas
        (`pip install 'forebay[frames]'`).
        """
        need("to_pandas", "pyarrow", "pandas")
        return self._found(table).to_pandas()

    def to_polars(self, table: str | pa.Table) -> Any:
        """A table as a `polars.DataFrame`; otherwise as `to_pandas`."""
        need("to_polars", "pyarrow", "polars")
        import polars

        return polars.from_arrow(self._found(table))

    def _found(self, table: str | pa.Table) -> pa.Table:
        if not isinstance(table, str):
            return table
        if table == "summary":
            return self.summary()
        return self._rows(table) if table in kinds() else self.table(table)

    def capture(self, link: str, replication: int = 0) -> bytes:
        """The packets captured at a link (`record(capture=[...])`), as the content of a pcapng
        file.

        Raises `KeyError` if they were not captured.
        """
        for run in self._runs:
            if run.document["replication"] == replication:
                if (table := run.tables.get(f"capture-{link}")) is None:
                    raise KeyError(f"no capture of {link!r}; record(capture=[{link!r}]) makes one")
                return bytes(table["byte"])
        raise KeyError(f"no replication {replication}")

    def values(self, place: str, name: str, quantity: str) -> list[float]:
        """One quantity by replication.

        `place` is a kind of rows, such as `flows` (a group, or one of its flows), `links` or
        `video`. Raises `ValueError` for another place and `KeyError` for an unknown name or
        quantity, or one that a replication has no value of.
        """
        _check_place(place)
        return [_number(run.row(place, name), place, quantity) for run in self._runs]

    def interval(self, place: str, name: str, quantity: str) -> Interval:
        """Mean and 95 % interval over the replications (`forebay.stats.replication_interval`). No
        quantity of a run can be below 0, and no interval reaches below it."""
        return replication_interval(self.values(place, name, quantity), least=0.0)

    def values_of(self, expression: str) -> list[float | None]:
        """What an expression over the results (`forebay.run.expressions`) is, by replication;
        `None` where it has no value, as a quotient by zero. Raises `UserError`."""
        return [answer.value for answer in self._answers(read(expression, "values_of"))]

    def interval_of(self, expression: str) -> Interval:
        """Mean and 95 % interval of an expression over the replications. It reaches below 0 only if
        the expression can. Raises `UserError` if a replication has no value of it."""
        quantity = read(expression, "interval_of")
        answers = self._answers(quantity)
        values = [answer.value for answer in answers if answer.value is not None]
        if len(values) < len(answers):
            reason = self.row_of(quantity)["reason"]
            raise UserError(f'interval_of: "{expression}": no value {reason}')
        return replication_interval(values, least=0.0 if quantity.nonnegative else -math.inf)

    def row_of(self, quantity: Expression) -> dict[str, Any]:
        """The interval of an expression as a row of a table."""
        return summarised(quantity, self._answers(quantity))

    def _answers(self, quantity: Expression) -> list[Answer]:
        """What an expression is by replication. Raises `UserError` if these lack what it names."""
        answers = [quantity.of(Recorded(run)) for run in self._runs]
        if all(answer.absent for answer in answers):
            raise quantity.error(answers[0].reason)
        return answers

    def summary(self) -> pa.Table:
        """Means with 95 % intervals of every number in every row of every kind.

        Flows are summed over their groups. Columns: place, name, quantity, unit, mean, low, high,
        replications, note; `low` and `high` are null with one replication, which says nothing about
        spread. `note` is that of `forebay.stats.Interval`: `equal`, `at bound`, `skewed`, `too few`
        or empty; or `few samples` where fewer packets than have one beyond a percentile stand
        behind it.
        A quantity that a replication has no value of is left out.
        """
        return rows_table(self.intervals())

    def intervals(self) -> list[dict[str, Any]]:
        """The rows of `summary`."""
        return [
            {
                "place": place,
                "name": name,
                "quantity": quantity,
                "unit": columns(place)[quantity].unit,
                **_ends(interval, note),
            }
            for place, name, quantity, interval, note in self._intervals()
        ]

    def entries(self) -> list[dict[str, Any]]:
        """Means with intervals of the columns that hold lists, as those of `summary`, with the
        number of the `entry`: the precedence at a link, the class of sizes of transfers; `None` for
        the sum of a list of counts. Of links there is `dropped_ratio` too, the share of packets
        that were dropped, by precedence."""
        found = []
        for place in kinds():
            having = any(
                isinstance(v, list) for row in self._runs[0].document[place] for v in row.values()
            )
            for name in self._names(place) if having else ():
                rows = [run.row(place, name) for run in self._runs]
                lists: dict[str, list[list[Any]]] = {
                    each: [row.get(each) or [] for row in rows]
                    for each in numbers(place)
                    if any(isinstance(row.get(each), list) for row in rows)
                }
                if place == "links":
                    lists["dropped_ratio"] = [dropped_ratios(row) for row in rows]
                for quantity, of in lists.items():
                    told = {"place": place, "name": name, "quantity": quantity}
                    entries: dict[int | None, tuple[Any, ...]] = dict(
                        enumerate(itertools.zip_longest(*of, fillvalue=0))
                    )
                    if all(isinstance(each, int) for values in of for each in values):
                        entries |= {None: tuple(map(sum, of))}
                    for entry, values in entries.items():
                        if all(map(_is_number, values)):
                            interval = replication_interval([*map(float, values)], least=0.0)
                            found.append(told | {"entry": entry, **_ends(interval, interval.note)})
        return found

    def to_latex(
        self,
        place: str = "flows",
        quantities: Sequence[str] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> str:
        """A table of means with their intervals for a paper: a `tabular` of LaTeX's package
        booktabs, `12.3 $\\pm$ 0.4`.

        `place` is a kind of rows as for `values`, `quantities` are the columns (default: those that
        a summary shows), and `names` the rows (default: all). Units are in the heads, and values
        rounded to their intervals. Raises `ValueError` for another place and `KeyError` for an
        unknown quantity or name.
        """
        return interval_table(self.intervals(), place, quantities, names, "latex")

    def to_markdown(
        self,
        place: str = "flows",
        quantities: Sequence[str] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> str:
        """The same table in Markdown: `12.3 ± 0.4`."""
        return interval_table(self.intervals(), place, quantities, names, "markdown")

    @property
    def delays(self) -> pa.Table:
        """Delays of delivered packets as a table with weights: of `packets` packets of a `group`
        the delay was above `from_s` and at most `to_s`.

        Raises `KeyError` unless the network was told to `record(delays=True)`.
        """
        return self.table("delays")

    def plot(
        self,
        kind: str = "bars",
        quantity: str | None = None,
        *,
        place: str = "flows",
        names: Sequence[str] | None = None,
        variants: Mapping[Any, Results] | None = None,
        axes: Any = None,
        reference: Reference | None = None,
        **look: Any,
    ) -> Any:
        """A plot as a matplotlib figure; `savefig` writes it as PDF, SVG or PNG.

        `kind` is one of

        - `"bars"`: means with 95 % intervals of a quantity (default `throughput_bps`);
        - `"box"`: quartiles by group, of delay or of a quantity of single rows;
        - `"cdf"`: the distribution of delay (`record(delays=True)`), or of a quantity of rows;
        - `"delay-throughput"`: flows by their median delay and throughput, an ellipse of one
          standard deviation a group;
        - `"heatmap"`: series of all places against time, or a quantity by two parameters;
        - `"series"`: a recorded series, with the band of 95 % intervals over the replications.

        `place` is a kind of rows as for `values`, or `aggregates`, which only series have; `names`
        are the groups or links shown. `variants` are results by their names in the legend; with
        `None` these alone are drawn. A heat map by two parameters takes variants named by pairs.
        `reference` is a file of flent or irtt, or several by name, whose measurements are drawn
        beside series and distributions. `axes` are matplotlib axes to draw into; `look` are
        `title`, `xlim`, `ylim`, `xlabel`, `ylabel`, `xscale`, `yscale`. Raises `ValueError` for
        another kind or place or for what was not recorded, and `KeyError` for an unknown quantity
        or name.
        """
        runs: Mapping[Any, Results] = {"": self} if variants is None else variants
        return draw(kind, Request(runs, quantity, place, names, axes, look, reference))

    def _repr_html_(self) -> str:
        runs = [run.document for run in self._runs]
        return results_html(runs[0], len(runs), self.intervals(), self._first_plots())

    def _first_plots(self) -> list[Any]:
        """Queues over time if they were recorded, and the distribution of delay if that was."""
        if find_spec("matplotlib") is None:
            return []
        drawn = []
        if any("queue_packets" in table.column_names for table in self.series.values()):
            drawn.append(self.plot("series", "queue_packets", place="links"))
        if "delays" in self._runs[0].tables:
            drawn.append(self.plot("cdf"))
        return drawn

    def __repr__(self) -> str:
        document = self._runs[0].document
        head = (
            f"{printable(document['name'])}: {text.counted(len(self._runs), 'replication')} of "
            f"{document['simulated_s']:g} s, "
            f"seed {document['seed']}, scenario {document['scenario_hash']}"
        )
        lines = [
            f"  {place} {name}: {quantity} {_shown(place, quantity, interval, note)}"
            for place, name, quantity, interval, note in self._intervals()
            if columns(place)[quantity].headline
        ]
        return "\n".join([head, *lines])

    def _intervals(self) -> Iterable[tuple[str, str, str, Interval, str]]:
        """Of every kind of rows, and of every row, each number that all replications have, and what
        is to be noted of its interval."""
        for place in kinds():
            if place == "groups":
                continue
            for name in self._names(place):
                rows = [run.row(place, name) for run in self._runs]
                for quantity in numbers(place):
                    if all(_is_number(row.get(quantity)) for row in rows):
                        values = [float(row[quantity]) for row in rows]
                        interval = replication_interval(values, least=0.0)
                        note = percentile_note(columns(place)[quantity], rows, interval.note)
                        yield place, name, quantity, interval, note

    def intervals_of(self, place: str, quantity: str) -> dict[str, Interval]:
        """The intervals of a quantity by name of the row; `KeyError` if no row has it."""
        _check_place(place)
        names = self._names(place)
        having = [
            name
            for name in names
            if all(_is_number(run.row(place, name).get(quantity)) for run in self._runs)
        ]
        if not having and names:
            # That says what there is.
            self.values(place, names[0], quantity)
        return {name: self.interval(place, name, quantity) for name in having}

    def _names(self, place: str) -> list[str]:
        """The names of the rows that stand for a place, of flows those of groups, in the order of
        the first replication: those that all replications have (pairs are drawn by the seed)."""
        kind = "groups" if place == "flows" else place
        first, *others = ([row["name"] for row in run.document[kind]] for run in self._runs)
        common = set(first).intersection(*others)
        return [name for name in first if name in common]

    def _rows(self, place: str) -> pa.Table:
        return rows_table(
            [
                {"replication": document["replication"], **row}
                for document in self.documents
                for row in document[place]
            ]
        )


def _ends(interval: Interval, note: str) -> dict[str, Any]:
    several = interval.n > 1
    return {
        "mean": interval.mean,
        "low": interval.low if several else None,
        "high": interval.high if several else None,
        "replications": interval.n,
        "note": note,
    }


def _check_place(place: str) -> None:
    if place not in kinds():
        words = ", ".join(map(repr, kinds()))
        raise ValueError(f"place is {place!r}{nearest(place, kinds())}; it is one of {words}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(row: Mapping[str, Any], place: str, quantity: str) -> float:
    value = row.get(quantity)
    if not _is_number(value):
        names = [name for name, value in row.items() if _is_number(value)]
        missing = "no value of" if quantity in numbers(place) else "no number"
        raise KeyError(f"{missing} {quantity!r}{nearest(quantity, names)}; there are "
                       f"{', '.join(names)}")  # fmt: skip
    return float(row[quantity])


def _shown(place: str, quantity: str, interval: Interval, note: str) -> str:
    unit = unit_in(place, quantity)
    mean = text.quantity(interval.mean, unit)
    noted = f", {note}" if note == FEW_SAMPLES else ""
    if interval.n == 1:
        return f"{mean}{noted}"
    if interval.note == "equal":
        return f"{mean}, equal in all replications{noted}"
    if not interval.note:
        return f"{mean} ± {text.quantity(interval.half_width, unit)}{noted}"
    low, high = text.quantity(interval.low, unit), text.quantity(interval.high, unit)
    return f"{mean}, {low} to {high}, {note}"
