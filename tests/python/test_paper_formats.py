"""Tables for papers: values rounded to their intervals, units in heads, nothing that LaTeX eats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import front
import pytest

from forebay import Network, traffic
from forebay.run.expressions import read
from forebay.run.paper_formats import interval_table, sweep_table, written


def interval(name: str, mean: float, low: float | None, high: float | None, **others: Any) -> Any:
    """A row of an interval of a group's mean delay."""
    return {"place": "flows", "name": name, "quantity": "mean_delay_s", "mean": mean, "low": low,
            "high": high, "note": "", **others}  # fmt: skip


@pytest.mark.parametrize(
    ("mean", "ends", "words"),
    [
        (12.3456, (11.9135, 12.7777), "12.3 ± 0.4"),
        # A first digit of 1 is followed by another, or rounding would change it by half.
        (12.3456, (12.2256, 12.4656), "12.35 ± 0.12"),
        (1234.5, (1202.5, 1266.5), "1230 ± 30"),
        # 0.096 is 0.10 with one digit.
        (5.0, (4.904, 5.096), "5.00 ± 0.10"),
        (0.0012, (0.00115, 0.00125), "0.00120 ± 0.00005"),
        (10.0, (9.0, 14.0), "10 (9 to 14)"),
        (10.0, (9.0, 14.0 + 2e-9), "10 (9 to 14)"),
        (3.14159, None, "3.142"),
        (3.14159, (3.14159, 3.14159), "3.142"),
        (0.0, None, "0"),
    ],
)
def test_values_are_rounded_to_their_intervals(
    mean: float, ends: tuple[float, float] | None, words: str
) -> None:
    """Values are rounded to their intervals: digits behind these are noise, and a table of a paper
    must not claim them."""
    assert written(mean, ends, " ± ") == words


def test_a_table_has_units_in_heads_and_no_active_signs() -> None:
    """A table has units in its heads, and names mean nothing to LaTeX or Markdown."""
    rows = [
        interval("a_b & 50 %", 0.0123456, 0.0119135, 0.0127777),
        interval("c|d", 0.02, None, None),
    ]
    latex = interval_table(rows, "flows", ["mean_delay_s"], None, "latex")
    assert latex.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name & mean delay (ms) \\",
        r"\midrule",
        r"a\_b \& 50 \% & 12.3 $\pm$ 0.4 \\",
        r"c|d & 20.00 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    markdown = interval_table(rows, "flows", ["mean_delay_s"], ["c|d"], "markdown")
    assert markdown.splitlines() == [
        "| name | mean delay (ms) |",
        "| --- | --: |",
        r"| c\|d | 20.00 |",
    ]


def test_shares_end_at_one_and_few_samples_say_nothing() -> None:
    """No interval of a share reaches beyond all of it, and a percentile of too few samples has no
    value: a paper would print it as one."""
    use = {"place": "links", "quantity": "utilization", "note": ""}
    rows = [{**use, "name": "l", "mean": 0.99, "low": 0.97, "high": 1.01}]
    assert "| l | 99 (97 to 100) |" in interval_table(rows, "links", None, None, "markdown")
    few = interval("f", 0.02, 0.01, 0.03, quantity="p99_delay_s", note="few samples")
    assert "| f | -- |" in interval_table([few], "flows", ["p99_delay_s"], None, "markdown")


def test_a_sweep_has_a_row_for_each_point() -> None:
    """The table of a sweep has a row for each point and a column for each quantity, with laws in
    words."""
    queue, use, drops = "links.core.queue", "links.core.utilization", "links.core.drops"
    summary = [
        {queue: law, "quantity": quantity, "mean": mean, "low": None, "high": None, "note": ""}
        for law, means in (("codel", (0.5, 3)), ('{ "red" = { "ecn" = true } }', (0.25, 4)))
        for quantity, mean in zip((use, drops), means, strict=True)
    ]
    asked = [read(each, "quantities") for each in (use, drops)]
    assert sweep_table(summary, [queue], asked, "markdown").splitlines() == [
        "| core: queue | core: utilization (%) | core: drops (packets) |",
        "| --- | --: | --: |",
        "| codel | 50.00 | 3.000 |",
        "| red (ecn true) | 25.00 | 4.000 |",
    ]


def test_results_write_tables() -> None:
    """Results write a table with an interval in each cell, and refuse what they do not have."""
    net = Network("load", duration="3 s", warm_up="1 s")
    net.link("wire", "A", "B", rate="10 Mbit/s", delay="2 ms")
    for name in ("few", "many"):
        rate = traffic.poisson(rate="1 Mbit/s" if name == "few" else "4 Mbit/s", size="500 B")
        net.flows(name, "A", "B", udp={}, traffic=rate)
    results = net.run(replications=4)
    lines = results.to_markdown("flows", ["throughput_bps"]).splitlines()
    assert lines[0] == "| name | throughput (Mbit/s) |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| few", "| many"]
    assert all(re.search(r"\| \d\.\d+ (± \d\.\d+|\([\d. to]+\)) \|$", line) for line in lines[2:])
    assert results.to_latex("links").count(r"\\") == 1 + len(results.documents[0]["links"])
    with pytest.raises(ValueError, match="place is 'link'"):
        results.to_latex("link")
    with pytest.raises(KeyError, match="throughput_bps"):
        results.to_latex("flows", ["throughput"])
    with pytest.raises(KeyError, match="did you mean"):
        results.to_markdown("flows", names=["fwe"])


@pytest.mark.parametrize("options", [(), ("--replications", "2")])
def test_the_command_prints_tables_of_a_folder(
    forebay: front.Forebay, scenario: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """The command prints the tables of what `run --out` kept, with replications or without."""
    out = tmp_path / "out"
    assert forebay("run", scenario, "--out", out, *options).status == 0
    answer = forebay("report", out, "--format", "latex")
    assert answer.status == 0
    assert answer.out.count(r"\begin{tabular}") == answer.out.count(r"\end{tabular}") >= 2
    assert "throughput (Mbit/s)" in answer.out
    assert not (out / "report.html").exists()


def test_folders_without_such_results_are_refused(forebay: front.Forebay, tmp_path: Path) -> None:
    """Folders without such results are refused, and unknown styles."""
    assert "holds no results" in forebay.refused("report", tmp_path, "--format", "latex")
    assert "allowed are latex, markdown" in forebay.refused("report", tmp_path, "--format", "html")
