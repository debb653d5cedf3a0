"""Plots from Python: what a paper prints of results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forebay
from forebay import Network, Results, UserError
from forebay.run.plots import KINDS, delay_quantiles


def run(count: int, replications: int = 3) -> Results:
    """Transfers beside a steady source over a link of 5 Mbit/s.

    A full queue of 50 packets of 1500 B takes 120 ms, and two transfers share some 4.8 Mbit/s.
    """
    net = Network("small", duration="6 s", warm_up="1 s")
    net.link("wire", "A", "B", rate="5 Mbit/s", delay="5 ms",
             queue=forebay.queue.droptail(limit="50 packets"))  # fmt: skip
    net.flows("bulk", "A", "B", count=count)
    steady = forebay.traffic.cbr(rate="100 kbit/s", size="200 B")
    net.flows("steady", "A", "B", udp={}, traffic=steady)
    return net.record(series="100 ms", delays=True).run(replications=replications)


@pytest.fixture(scope="module")
def few() -> Results:
    """Two transfers."""
    return run(2)


@pytest.fixture(scope="module")
def many() -> Results:
    """Four transfers."""
    return run(4)


@pytest.mark.parametrize(
    ("kind", "quantity", "place", "x", "y"),
    [
        ("bars", None, "flows", "", "throughput (Mbit/s)"),
        ("box", None, "flows", "", "one-way delay (ms)"),
        ("cdf", None, "flows", "one-way delay (ms)", "cumulative share"),
        ("cdf", "goodput_bps", "flows", "goodput (Mbit/s)", "cumulative share"),
        ("delay-throughput", None, "flows", "median delay (ms), better to the right",
         "throughput (Mbit/s)"),
        ("heatmap", None, "links", "simulated time (s)", ""),
        ("series", "mean_cwnd_bytes", "flows", "simulated time (s)",
         "mean congestion window (kB)"),
    ],
)  # fmt: skip
def test_every_plot_has_units_at_its_axes(
    few: Results, kind: str, quantity: str | None, place: str, x: str, y: str
) -> None:
    """Every plot has names and units at its axes."""
    axis = few.plot(kind, quantity, place=place).axes[0]
    assert (axis.get_xlabel(), axis.get_ylabel()) == (x, y)


def test_variants_are_told_apart_by_name(few: Results, many: Results) -> None:
    """Variants are told apart by name in the legend."""
    variants = {"two": few, "four": many}
    figure = few.plot("cdf", names=["steady"], variants=variants)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["two", "four"]
    figure = few.plot("series", variants=variants)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["two, bulk", "two, steady", "four, bulk", "four, steady"]
    looks = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == 4
    pairs: dict[Any, Results] = {("5 Mbit/s", "two"): few, ("5 Mbit/s", "four"): many}
    drawn = few.plot("heatmap", "drops", place="links", names=["wire"], variants=pairs).axes[0]
    assert [label.get_text() for label in drawn.get_yticklabels()] == ["two", "four"]


def test_a_plot_takes_axes_title_and_limits(few: Results) -> None:
    """A plot takes axes, title and limits, to fit into a picture of the author's."""
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    found = few.plot("cdf", axes=right, title="Delay", xlim=(0, 90), xlabel="delay in ms")
    assert found is figure
    assert (right.get_title(), right.get_xlim()) == ("Delay", (0, 90))
    assert right.get_xlabel() == "delay in ms"
    assert not list(left.lines)
    with pytest.raises(TypeError, match="did you mean"):
        few.plot("cdf", titel="Delay")


@pytest.mark.parametrize(
    ("ending", "begins"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")]
)
def test_a_column_of_a_paper_is_written(
    few: Results, tmp_path: Path, ending: str, begins: bytes
) -> None:
    """A figure in the style of a paper has the width of a column, 3.4 inches, so that neither it
    nor its letters are scaled."""
    with forebay.style("paper"):
        figure = few.plot("box")
    assert figure.get_figwidth() == pytest.approx(3.4)
    figure.savefig(tmp_path / f"box.{ending}")
    assert (tmp_path / f"box.{ending}").read_bytes().startswith(begins)
    assert few.plot("box").get_figwidth() > 5


def test_bands_hold_their_means_and_nothing_negative(few: Results) -> None:
    """Bands contain their means and nothing negative."""
    axis = few.plot("series", "queue_packets", place="links", names=["wire"]).axes[0]
    band = axis.collections[0].get_paths()[0].vertices[:, 1]
    mean = axis.lines[0].get_ydata()
    assert band.min() >= 0.0
    assert band.max() >= np.max(mean)


def test_delays_are_a_table_with_weights(few: Results) -> None:
    """Delays are a table with weights, and percentiles from it are those of the rows.

    The table has bounds of intervals of delay, 0.8 % wide; the percentiles of the rows lie within
    the interval in which that share is reached.
    """
    table = few.delays
    assert table.column_names == ["replication", "group", "from_s", "to_s", "packets"]
    one = run(2, replications=1)
    row = next(row for row in one.groups.to_pylist() if row["name"] == "steady")
    median, high = delay_quantiles(one.delays.to_pydict(), "steady", (0.5, 0.99))
    assert median == pytest.approx(row["p50_delay_s"], rel=1 / 128)
    assert high == pytest.approx(row["p99_delay_s"], rel=1 / 128)


def test_slips_are_explained(few: Results) -> None:
    """Misspelt kinds and names are refused with the nearest, before matplotlib sees them."""
    with pytest.raises(ValueError, match='did you mean "cdf"'):
        few.plot("cfd")
    with pytest.raises(KeyError, match="there are bulk, steady"):
        few.plot("cdf", names=["bluk"])
    with pytest.raises(ValueError, match="record"):
        few.plot("series", "nothing_bps")
    with pytest.raises(ValueError, match="'paper', 'screen'"), forebay.style("papers"):
        pass


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_without_matplotlib_one_is_told_what_to_install(
    few: Results, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Without matplotlib the error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install 'forebay\[plots\]'"):
        few.plot(kind)


def test_an_unknown_series_is_answered_with_those_recorded(few: Results) -> None:
    """An unknown series is answered with those recorded."""
    for kind in ("series", "heatmap"):
        with pytest.raises(ValueError, match='did you mean "mean_cwnd_bytes"') as refused:
            few.plot(kind, "cwnd_bytes")
        assert "recorded are " in str(refused.value)
        assert "mean_srtt_s" in str(refused.value)


def test_rows_that_are_no_recorded_table_are_named(few: Results) -> None:
    """A name of rows that are no recorded table is answered with their place, `results.video`."""
    for name in ("video", "groups"):
        with pytest.raises(KeyError, match=rf"rows of results are in results\.{name}"):
            few.table(name)
        assert getattr(few, name) is not None


def test_a_plot_has_the_letters_of_its_figure(few: Results) -> None:
    """A plot has the letters of its figure, so that several in one are of one size: 8 points in a
    paper, 10 on the screen."""
    from matplotlib.figure import Figure

    own = Figure()
    axis = own.subplots()
    with forebay.style("paper"):
        few.plot("cdf", axes=axis)
        paper = Figure()
        few.plot("cdf", axes=paper.subplots())
    for figure, size in ((own, 10.0), (paper, 8.0)):
        (drawn,) = figure.axes
        assert drawn.xaxis.label.get_fontsize() == size
        legend = drawn.get_legend()
        assert legend is not None
        (tick, *_) = drawn.xaxis.get_ticklabels()
        assert {text.get_fontsize() for text in legend.get_texts()} == {tick.get_fontsize()}


def test_labels_are_apart(few: Results, many: Results) -> None:
    """Labels are apart: names beside points that nearly coincide, labels of small panels, and
    legends of several do not overlap."""
    from matplotlib.figure import Figure

    variants = dict.fromkeys(("one", "another", "a third"), few)
    figure = few.plot("delay-throughput", names=["bulk"], variants=variants)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[n + 1 :])
    panels = Figure(figsize=(4, 4), layout="constrained")
    axes = panels.subplots(4, 1)
    for axis in axes:
        few.plot("series", "mean_cwnd_bytes", variants={"few": few, "many": many}, axes=axis)
    panels.draw_without_rendering()
    labels = [axis.yaxis.label.get_window_extent() for axis in axes]
    assert not any(a.overlaps(b) for n, a in enumerate(labels) for b in labels[n + 1 :])
    assert len(panels.legends) == 1
