"""Plots for papers: distributions, series with bands, boxes, delay against throughput, heat maps.

    results.plot("cdf", title="Delay of a ping").savefig("delay.pdf")

A plot is a matplotlib figure; `savefig` writes PDF, SVG or PNG by the ending of the name. Several
results in one picture are `variants`, named in the legend. The first plot imports matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from forebay.drawing import COLOURS, INK, LINES, MARKERS, line_style
from forebay.errors import nearest
from forebay.extras import need
from forebay.run.heat import HeatMap, colour_scale, heat_panel
from forebay.run.notebook import figure_class
from forebay.run.references import Curve, Reference, curves_for
from forebay.run.words import axis_scale, name_of, unit_at
from forebay.samples import rank
from forebay.stats import Interval, t_quantile

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

__all__ = ["KINDS", "Request", "delay_quantiles", "draw", "style"]

Band: TypeAlias = "tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]"
"""Times, means, and the lower and the upper end of the intervals."""

PAPER: Mapping[str, Any] = {
    "figure.figsize": (3.4, 2.3),
    "font.size": 8,
    "font.family": "serif",
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "axes.linewidth": 0.6,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
"""A column of a two-column paper is 3.4 inches wide; type 42 keeps the letters in a PDF as text."""
SCREEN: Mapping[str, Any] = {"figure.figsize": (7.0, 4.0), "font.size": 10, "legend.fontsize": 9}
STYLES = {"paper": PAPER, "screen": SCREEN}
BASE: Mapping[str, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d9dbdd",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
}
_chosen: list[Mapping[str, Any]] = [SCREEN]


class Results(Protocol):
    """Interface of results that plots use (`forebay.run.results.Results`)."""

    @property
    def delays(self) -> pa.Table:
        """Delays with weights."""

    @property
    def flows(self) -> pa.Table:
        """Every flow of every replication."""

    @property
    def series(self) -> Mapping[str, pa.Table]:
        """Recorded series by place."""

    def interval(self, place: str, name: str, quantity: str) -> Interval:
        """Mean and interval of a quantity of a row."""

    def intervals_of(self, place: str, quantity: str) -> dict[str, Interval]:
        """Means and intervals by name of the row."""


@dataclass(slots=True)
class Request:
    """Plot of `quantity` of the rows or series of `place`, of `names` only if given.

    `runs` are the results by the names of the variants. `axes` draws into axes that are there.
    `look` are matplotlib's settings of axes: `title`, `xlim`, `ylim`, `xlabel`, `ylabel`, `xscale`,
    `yscale`. `reference` are measurements by others (`forebay.run.references`).
    """

    runs: Mapping[Any, Results]
    quantity: str | None = None
    place: str = "flows"
    names: Sequence[str] | None = None
    axes: Any = None
    look: Mapping[str, Any] = field(default_factory=dict)
    reference: Reference | None = None

    def references(self, quantity: str) -> list[Curve]:
        """Measured curves in the unit of a quantity."""
        unit = unit_at(self.place, quantity)
        return curves_for(self.reference, unit.symbol if unit else "")

    def wanted(self, names: Sequence[str]) -> list[str]:
        """Those of the names that are asked for. Raises `KeyError` for one that is not there."""
        for name in self.names or ():
            if name not in names:
                raise KeyError(f"no {name!r}{nearest(name, names)}; there are {', '.join(names)}")
        return [name for name in names if self.names is None or name in self.names]

    def series(self, results: Results, quantity: str) -> dict[str, pa.Table]:
        """The recorded series that have a quantity, by the names of their rows."""
        return {
            place.partition(".")[2]: table
            for place, table in results.series.items()
            if place.startswith(f"{self.place}.") and quantity in table.column_names
        }

    def no_series(self, quantity: str) -> str:
        """Message if no series has `quantity`: the nearest of those recorded, and all of them."""
        told = f"no series of {quantity} of {self.place}"
        there = {
            column: None
            for results in self.runs.values()
            for place, table in results.series.items()
            if place.startswith(f"{self.place}.")
            for column in table.column_names
            if column not in ("replication", "time_s")
        }
        if not there:
            return f"{told}; record(series=...) makes one"
        return f"{told}{nearest(quantity, there)}; recorded are {', '.join(there)}"

    def label(self, variant: Any, name: str, several: bool) -> str:
        """Label of a row of a variant in the legend."""
        if len(self.runs) == 1:
            return name
        return f"{variant}, {name}" if several else str(variant)


@contextmanager
def style(name: str = "paper") -> Iterator[None]:
    """Plots, and figures of matplotlib, that are made within the `with` statement look so:
    `"paper"` fits a column of a two-column paper, `"screen"` is the default. A plot that is drawn
    into axes has the letters of these. Raises `ValueError` for another name, and `UserError`
    without matplotlib."""
    if name not in STYLES:
        raise ValueError(f"no style {name!r}{nearest(name, STYLES)}; there are 'paper', 'screen'")
    need("style", "matplotlib")
    from matplotlib import rc_context

    settings: Any = {**BASE, **STYLES[name]}
    _chosen.append(STYLES[name])
    try:
        with rc_context(settings):
            yield
    finally:
        _chosen.pop()


def draw(kind: str, request: Request) -> Any:
    """The figure of a plot. Raises `ValueError` for an unknown kind or for what was not recorded,
    `KeyError` for unknown names, and `UserError` without matplotlib."""
    if kind not in KINDS:
        raise ValueError(f"no plot {kind!r}{nearest(kind, KINDS)}; there are {', '.join(KINDS)}")
    if request.reference is not None and kind not in ("cdf", "series"):
        raise ValueError(f"reference goes with plots 'cdf' and 'series', not with {kind!r}")
    need("plot", "matplotlib", "pyarrow")
    from matplotlib import rc_context

    known = ("title", "xlim", "ylim", "xlabel", "ylabel", "xscale", "yscale")
    for option in request.look:
        if option not in known:
            told = f"plot() has no {option!r}{nearest(option, known)}"
            raise TypeError(f"{told}; there are {', '.join(known)}")
    axis = request.axes
    settings: Any = {**BASE, **_chosen[-1], **({} if axis is None else _letters(axis))}
    with rc_context(settings):
        figure = figure_class()(layout="constrained") if axis is None else axis.figure
        axis = figure.subplots() if axis is None else axis
        KINDS[kind](axis, request)
        axis.set(**request.look)
        _break_label(axis)
        return figure


def _letters(axis: Any) -> dict[str, Any]:
    """The settings of letters with which axes were made."""
    label, ticks = axis.xaxis.label, axis.xaxis.get_ticklabels()
    small = ticks[0].get_fontsize() if ticks else label.get_fontsize()
    return {
        "font.size": label.get_fontsize(),
        "font.family": label.get_fontfamily(),
        "axes.titlesize": axis.title.get_fontsize(),
        "legend.fontsize": small,
    }


LETTER = 0.55
"""About how wide a letter is, as a share of its size."""


def _break_label(axis: Any) -> None:
    """Break a label of a vertical axis that is longer than this: it would reach into the panels
    above and below."""
    label = axis.yaxis.label
    height = axis.figure.get_figheight() * 72 * axis.get_position().height
    most = int(height / (LETTER * label.get_fontsize()))
    words = label.get_text()
    if len(words) > most and "\n" not in words:
        axis.set_ylabel(fill(words, max(most, 8), break_long_words=False))


def delay_quantiles(
    table: Mapping[str, Sequence[Any]], name: str, shares: Sequence[float]
) -> list[float]:
    """Quantiles of delay of a group, in seconds, from a table of delays with weights.

    Each is interpolated within its row: of n packets there, each takes an n-th of it, and stands in
    the middle of that.
    """

    import numpy as np

    lower, upper, packets = _distribution(table, name)
    reached = np.cumsum(packets)
    found = []
    for share in shares:
        wanted = rank(share, int(reached[-1]))
        at = int(np.searchsorted(reached, wanted))
        place = 1.0 - (reached[at] - wanted + 0.5) / packets[at]
        found.append(float(lower[at] + place * (upper[at] - lower[at])))
    return found


def _cdf(axis: Any, request: Request) -> None:
    import numpy as np

    lines = []
    for variant, results in request.runs.items():
        if request.quantity is None:
            table = results.delays.to_pydict()
            names = request.wanted(list(dict.fromkeys(table["group"])))
            lines += [
                (request.label(variant, name, len(names) > 1), *_distribution(table, name)[1:])
                for name in names
            ]
        else:
            found = _row_values(results, request)
            lines += [
                (
                    request.label(variant, name, len(found) > 1),
                    np.sort(values),
                    np.ones(len(values)),
                )
                for name, values in found.items()
            ]
    quantity = request.quantity or "delay_s"
    simulated = len(lines)
    for curve in request.references(quantity):
        lines.append((curve.name, np.sort(curve.values), np.ones(len(curve.values))))
    scale, label = _axis(request.place, quantity, [float(x[-1]) for _, x, _ in lines if len(x)])
    for index, (name, x, weights) in enumerate(lines):
        look = line_style(index) if index < simulated else _measured(index - simulated)
        y = np.cumsum(weights) / weights.sum()
        xs, ys = np.concatenate([x[:1], x]), np.concatenate([[0.0], y])
        axis.step(scale * xs, ys, where="post", label=name, **look)
    axis.set(xlabel=label, ylabel="cumulative share", ylim=(0, 1.01))
    _legend(axis)


def _series(axis: Any, request: Request) -> None:
    quantity = request.quantity or "throughput_bps"
    lines = []
    for variant, results in request.runs.items():
        tables = request.series(results, quantity)
        if not tables:
            raise ValueError(request.no_series(quantity))
        names = request.wanted(list(tables))
        for name in names:
            lines.append((request.label(variant, name, len(names) > 1),
                          _band(tables[name], quantity)))  # fmt: skip
    measured = request.references(quantity)
    largest = [float(band[3].max()) for _, band in lines] + [max(of.values) for of in measured]
    scale, label = _axis(request.place, quantity, largest)
    for index, curve in enumerate(measured):
        values = [scale * value for value in curve.values]
        axis.plot(curve.time, values, label=curve.name, **_measured(index))
    for index, (name, (time, mean, low, high)) in enumerate(lines):
        axis.plot(time, scale * mean, label=name, **line_style(index))
        if (high > low).any():
            colour = line_style(index)["color"]
            axis.fill_between(time, scale * low, scale * high, color=colour, alpha=0.2, lw=0)
    axis.set(xlabel="simulated time (s)", ylabel=label)
    axis.set_ylim(bottom=0)
    axis.margins(x=0)
    _legend(axis)


def _measured(index: int) -> dict[str, Any]:
    """The look of a measured curve: grey, behind what was simulated."""
    return {"color": "#80868b", "linestyle": LINES[index % len(LINES)], "zorder": 1.5}


def _band(table: Any, quantity: str) -> Band:
    """Means with pointwise 95 % intervals over the replications, within the range of values."""

    import numpy as np

    time = table["time_s"].to_numpy()
    values = np.nan_to_num(np.array(table[quantity].to_numpy(), float))
    number = len(set(table["replication"].to_pylist()))
    length = len(time) // number
    values = values[: number * length].reshape(number, length)
    mean = values.mean(axis=0)
    if number == 1:
        return time[:length], mean, mean, mean
    half = t_quantile(number - 1) * values.std(axis=0, ddof=1) / math.sqrt(number)
    low = mean - half
    return time[:length], mean, np.maximum(low, 0.0) if values.min() >= 0 else low, mean + half


def _box(axis: Any, request: Request) -> None:
    import numpy as np

    boxes = []
    for variant, results in request.runs.items():
        shares = (0.05, 0.25, 0.5, 0.75, 0.95)
        if request.quantity is None:
            table = results.delays.to_pydict()
            found = {
                name: delay_quantiles(table, name, shares)
                for name in request.wanted(list(dict.fromkeys(table["group"])))
            }
        else:
            rows = _row_values(results, request)
            found = {
                name: list(np.quantile(values, shares, method="inverted_cdf"))
                for name, values in rows.items()
            }
        boxes += [(request.label(variant, name, True), of) for name, of in found.items()]
    quantity = request.quantity or "delay_s"
    scale, label = _axis(request.place, quantity, [of[-1] for _, of in boxes])
    keys = ("whislo", "q1", "med", "q3", "whishi")
    stats = [
        {"label": name, "fliers": [], **{key: scale * v for key, v in zip(keys, of, strict=True)}}
        for name, of in boxes
    ]
    drawn = axis.bxp(stats, showfliers=False, patch_artist=True, medianprops={"color": INK})
    for index, patch in enumerate(drawn["boxes"]):
        patch.set(facecolor=COLOURS[index % len(COLOURS)], alpha=0.55)
    if sum(len(name) + 2 for name, _ in boxes) > 40:
        axis.tick_params(axis="x", rotation=30)
        for tick in axis.get_xticklabels():
            tick.set_ha("right")
    axis.set_ylabel(label)
    axis.set_ylim(bottom=0)


def _delay_throughput(axis: Any, request: Request) -> None:
    """A point a flow and replication, an ellipse of one standard deviation a group (Winstein)."""

    import numpy as np
    from matplotlib.patches import Ellipse

    delay = request.quantity or "p50_delay_s"
    clouds = []
    for variant, results in request.runs.items():
        rows = [
            row
            for row in results.flows.to_pylist()
            if row.get(delay) is not None and row.get("throughput_bps") is not None
        ]
        names = request.wanted(list(dict.fromkeys(row["group"] for row in rows)))
        for name in names:
            points = [(row[delay], row["throughput_bps"]) for row in rows if row["group"] == name]
            clouds.append((request.label(variant, name, len(names) > 1), np.array(points)))
    if not clouds:
        raise ValueError(f"no flow has a value of {delay}")
    scale_x, xlabel = _axis("flows", delay, [float(points[:, 0].max()) for _, points in clouds])
    scale_y, ylabel = _axis(
        "flows", "throughput_bps", [float(points[:, 1].max()) for _, points in clouds]
    )
    centres: list[tuple[str, Any, str]] = []
    for index, (name, cloud) in enumerate(clouds):
        scaled = cloud * (scale_x, scale_y)
        colour, mark = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        axis.plot(*scaled.T, mark, color=colour, alpha=0.35, markersize=2.5)
        centre = scaled.mean(axis=0)
        axis.plot(*centre, mark, color=colour, label=name, markeredgecolor=INK)
        centres.append((name, centre, colour))
        if len(scaled) > 2:
            sizes, directions = np.linalg.eigh(np.cov(scaled.T))
            width, height = 2 * np.sqrt(np.maximum(sizes, 0.0))
            angle = math.degrees(math.atan2(directions[1, 0], directions[0, 0]))
            axis.add_patch(
                Ellipse(tuple(centre), width, height, angle=angle, facecolor=colour,
                        edgecolor=colour, alpha=0.25)
            )  # fmt: skip
    axis.set(xlabel=f"{xlabel}, better to the right", ylabel=ylabel)
    axis.set_ylim(bottom=0)
    # Less delay is better: the best place is above on the right.
    axis.invert_xaxis()
    _name_centres(axis, centres)


def _name_centres(axis: Any, centres: Sequence[tuple[str, Any, str]]) -> None:
    """Names beside points, above one another where they would cover each other."""
    import matplotlib

    size = float(matplotlib.rcParams["font.size"]) * 0.833
    axis.autoscale_view()
    placed: list[tuple[float, float, float]] = []
    dots = axis.figure.dpi / 72
    by_height = sorted(centres, key=lambda each: float(each[1][1]))
    for name, centre, colour in by_height:
        x, y = (float(place) / dots for place in axis.transData.transform(tuple(centre)))
        width, up = LETTER * size * len(name), 5.0
        for left, right, top in placed:
            if left < x + width and x < right and y + up < top:
                up = top - y
        placed.append((x, x + width, y + up + 1.3 * size))
        axis.annotate(
            name, tuple(centre), xytext=(5, up), textcoords="offset points", fontsize=size,
            color=colour,
        )  # fmt: skip


def _heatmap(axis: Any, request: Request) -> None:
    """Of variants named by pairs: a value by both; else series of places against time."""

    import numpy as np

    if all(isinstance(variant, tuple) and len(variant) == 2 for variant in request.runs):
        _heat_of_pairs(axis, request)
        return
    quantity = request.quantity or (
        "queue_packets" if request.place == "links" else "throughput_bps"
    )
    rows: dict[str, Band] = {}
    for variant, results in request.runs.items():
        tables = request.series(results, quantity)
        for name in request.wanted(list(tables)):
            rows[request.label(variant, name, True)] = _band(tables[name], quantity)
    if not rows:
        pairs = 'or name the variants by pairs, such as ("5 Mbit/s", "codel")'
        raise ValueError(f"{request.no_series(quantity)}, {pairs}")
    scale, label = _axis(request.place, quantity, [float(of[1].max()) for of in rows.values()])
    time = next(iter(rows.values()))[0]
    grid = np.array([scale * of[1] for of in rows.values()])
    axis.grid(visible=False)
    step = time[1] - time[0] if len(time) > 1 else 1.0
    mesh = axis.pcolormesh(
        np.append(time, time[-1] + step) - step, np.arange(len(rows) + 1), grid, cmap="cividis",
        vmin=0, rasterized=True,
    )  # fmt: skip
    axis.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axis.set_xlabel("simulated time (s)")
    axis.figure.colorbar(mesh, ax=axis).set_label(label)


def _heat_of_pairs(axis: Any, request: Request) -> None:
    if request.quantity is None or len(request.names or ()) != 1:
        raise ValueError("a heat map of variants takes a quantity and one name: names=[...]")
    assert request.names is not None
    name = request.names[0]
    values = {
        (str(x), str(y)): results.interval(request.place, name, request.quantity).mean
        for (x, y), results in request.runs.items()
    }
    scale, label = _axis(request.place, request.quantity, list(values.values()))
    cells = {key: scale * value for key, value in values.items()}
    axis.grid(visible=False)
    mesh = heat_panel(axis, HeatMap("", cells), colour_scale(list(cells.values())))
    axis.figure.colorbar(mesh, ax=axis).set_label(f"{name}: {label}")


def _bars(axis: Any, request: Request) -> None:
    """Means with intervals, a bar each; variants side by side."""
    quantity = request.quantity or "throughput_bps"
    found = {
        variant: {
            name: interval
            for name, interval in results.intervals_of(request.place, quantity).items()
            if request.names is None or name in request.names
        }
        for variant, results in request.runs.items()
    }
    names = list(dict.fromkeys(name for of in found.values() for name in of))
    means = [interval.mean for of in found.values() for interval in of.values()]
    scale, label = _axis(request.place, quantity, means)
    width = 0.8 / len(found)
    for index, (variant, of) in enumerate(found.items()):
        kept = [(place, of[name]) for place, name in enumerate(names) if name in of]
        spread = [
            [scale * (i.mean - max(i.low, min(0.0, i.mean))) if i.n > 1 else 0.0 for _, i in kept],
            [scale * (i.high - i.mean) if i.n > 1 else 0.0 for _, i in kept],
        ]
        axis.bar(
            [place + (index - (len(found) - 1) / 2) * width for place, _ in kept],
            [scale * interval.mean for _, interval in kept],
            0.94 * width,
            yerr=spread,
            color=COLOURS[index % len(COLOURS)],
            capsize=3,
            label=str(variant) if len(found) > 1 else None,
        )
    crowded = sum(len(name) + 2 for name in names) > 60
    axis.set_xticks(range(len(names)), names, rotation=30 if crowded else 0)
    axis.set_ylabel(label)
    axis.set_ylim(bottom=0)
    _legend(axis)


KINDS: Mapping[str, Callable[[Any, Request], None]] = {
    "bars": _bars,
    "box": _box,
    "cdf": _cdf,
    "delay-throughput": _delay_throughput,
    "heatmap": _heatmap,
    "series": _series,
}
"""Function that draws each kind of plot."""


def _distribution(
    table: Mapping[str, Sequence[Any]], name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least and largest delays of the classes of a group in order, of all replications, with how
    many packets each has."""

    import numpy as np

    of = np.array(table["group"]) == name
    lower, upper = (np.array(table[end], float)[of] for end in ("from_s", "to_s"))
    packets = np.array(table["packets"], int)[of]
    order = np.argsort(upper, kind="stable")
    return lower[order], upper[order], packets[order]


def _row_values(results: Results, request: Request) -> dict[str, np.ndarray]:
    """Values of single rows, all replications together, by group if they belong to one."""

    import numpy as np

    table = getattr(results, request.place, None)
    assert request.quantity is not None
    if table is None or request.quantity not in table.column_names:
        columns = table.column_names if table is not None else []
        told = f"no {request.quantity!r} of {request.place}{nearest(request.quantity, columns)}"
        raise KeyError(f"{told}; there are {', '.join(columns)}")
    found: dict[str, list[float]] = {}
    for row in table.to_pylist():
        value = row[request.quantity]
        if isinstance(value, int | float):
            found.setdefault(row.get("group") or row["name"], []).append(float(value))
    return {name: np.array(found[name]) for name in request.wanted(list(found))}


def _axis(place: str, quantity: str, values: Sequence[float]) -> tuple[float, str]:
    """Factor that values are multiplied by, and the label of the axis."""
    scale, symbol = axis_scale(unit_at(place, quantity), values)
    words = "one-way delay" if quantity == "delay_s" else name_of(quantity)
    return scale, f"{words} ({symbol})" if symbol and symbol != words else words


def _legend(axis: Any) -> None:
    """A legend below the axes, where it hides no line."""
    handles, labels = axis.get_legend_handles_labels()
    if len(handles) < 2:
        return
    if axis.figure.get_layout_engine() is None:
        # A figure of the caller's has no room kept beside its axes.
        axis.legend(handles, labels)
        return
    for legend in axis.figure.legends:
        if [text.get_text() for text in legend.get_texts()] != labels:
            axis.legend(handles, labels)
        # One for all axes that show the same.
        return
    columns = max(1, min(len(labels), 56 // (max(map(len, labels)) + 6)))
    axis.figure.legend(handles, labels, loc="outside lower center", ncols=columns)
