"""Expressions wherever results are looked at: runs, replications, sweeps, Python."""

from __future__ import annotations

import json
from pathlib import Path

import front
import pytest

from forebay import Network
from forebay.errors import UserError
from forebay.stats import replication_interval

RATIO = "flows.bulk.goodput / flows.chatter.goodput"
SHORT = ("--until", "2 s")


def test_a_run_shows_what_expressions_give(forebay: front.Forebay, scenario: Path) -> None:
    """A run shows what expressions give, with their units, and has them in its document."""
    asked = ("--quantity", f"ratio = {RATIO}", "--quantity", "ratio < 1 %")
    asked = (*asked, "--quantity", "links.wire.drops / links.wire.reverse.drops")
    document = forebay("run", scenario, *SHORT, "--json", *asked).document()
    groups = {row["name"]: row for row in document["groups"]}
    drops = "links.wire.drops / links.wire.reverse.drops"
    assert document["derived"] == {
        "ratio": groups["bulk"]["goodput_bps"] / groups["chatter"]["goodput_bps"],
        "ratio < 1 %": False,
        drops: None,
    }
    assert document["lacking"] == {drops: "a division by zero"}
    assert document["command"].endswith(f"--quantity 'ratio < 1 %' --quantity '{drops}'")
    shown = forebay("run", scenario, *SHORT, *asked, "--quantity", "events/1 s").out
    assert f"ratio = {RATIO}" in shown
    assert "events/1 s (1/s)" in shown
    assert "a division by zero" in shown
    # Two flows of TCP on 10 Mbit/s beside 2 Mbit/s: several times as much, and no percentage.
    row = next(line for line in shown.splitlines() if line.startswith(f"ratio = {RATIO}"))
    assert row.split()[-1] == f"{document['derived']['ratio']:.3f}"
    plain = forebay("run", scenario, *SHORT, "--json").document()
    assert "derived" not in plain
    assert plain["digest"] == document["digest"]


def test_replications_show_intervals_of_expressions(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Replications show intervals of expressions: those of the values of single runs."""
    asked = ("--quantity", f"ratio={RATIO}", "--quantity", "ratio - 1")
    answer = forebay(
        "run", scenario, *SHORT, "--replications", 3, *asked, "--json", "--out", tmp_path / "o"
    )
    document = answer.document()
    singles = [
        forebay("run", scenario, *SHORT, "--replication", n, *asked, "--json").document()
        for n in range(3)
    ]
    values = [single["derived"]["ratio"] for single in singles]
    expected = replication_interval(values)
    row = document["derived"]["ratio"]
    assert (row["mean"], row["low"], row["high"]) == (expected.mean, expected.low, expected.high)
    assert (row["expression"], row["unit"], row["replications"]) == (RATIO, "share", 3)
    kept = json.loads((tmp_path / "o" / "replications.json").read_text(encoding="utf-8"))
    assert kept["derived"] == document["derived"]
    assert "ratio - 1" in forebay("run", scenario, *SHORT, "--replications", 3, *asked).out
    results = Network.from_toml(scenario).set("duration", "2 s").run(replications=3)
    assert results.values_of(RATIO) == values
    assert results.interval_of(RATIO) == expected
    assert results.values_of("links.wire.drops/links.wire.reverse.drops") == [None] * 3
    for wrong, why in (
        ("links.wire.drops/links.wire.reverse.drops", "no value a division by zero"),
        ("links.wir.drops", "no link 'wir'"),
        ("links.wire.dropss", "did you mean"),
    ):
        with pytest.raises(UserError, match=why):
            results.interval_of(wrong)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("links.wir.drops", "no link 'wir'; there are wire, wire.reverse"),
        ("links.wire.dropz", 'did you mean "drops"'),
        ("x = ", "--quantity: is empty"),
        ("max = 3", "--quantity: a name has"),
    ],
)
def test_a_wrong_expression_is_refused_before_the_run(
    forebay: front.Forebay, scenario: Path, tmp_path: Path, word: str, message: str
) -> None:
    """A wrong expression is refused before the run: this one would take hours."""
    long = ("--until", "8000000 s", "--out", tmp_path / "o", "--quantity", word)
    for more in ((), ("--replications", 2)):
        assert message in forebay.refused("run", scenario, *long, *more)


def test_a_sweep_takes_expressions_and_names_of_them(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """A sweep takes expressions and names of them; their intervals are in tables, the document and
    the page."""
    import pyarrow.parquet as pq

    head = 'scenario = "small.toml"\nreplications = 2\n'
    table = f'[derived]\nratio = "{RATIO}"\nless = "ratio - 1"\npower = "flows.bulk.power"\n'
    grid = '[grid]\nlinks.wire.rate = ["5 Mbit/s", "10 Mbit/s"]\n'
    path, out = scenario.with_name("sweep.toml"), tmp_path / "o"
    path.write_text(
        f'{head}quantities = ["ratio", "less", "events / 1 s", "links.wire.drops"]\n{table}{grid}'
    )
    answer = forebay("sweep", path, *SHORT, "--out", out)
    assert answer.status == 0, answer.err
    for title in (f"ratio = {RATIO}", "less = ratio - 1", "events / 1 s (1/s)"):
        assert title in answer.out
    document = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
    names = ["ratio", "less", "events / 1 s", "links.wire.drops"]
    assert document["quantities"] == names
    assert document["units"] == dict(zip(names, ["share", "share", "1/s", "packets"], strict=True))
    assert document["derived"]["power"] == "flows.bulk.power"
    runs = pq.read_table(out / "runs.parquet").to_pylist()
    for row in document["summary"]:
        found = replication_interval(
            [
                run[row["quantity"]]
                for run in runs
                if run["links.wire.rate"] == row["links.wire.rate"]
            ]
        )
        assert (row["mean"], row["high"]) == (found.mean, found.high)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"ratio: {RATIO}" in page
    assert page.count("<svg") == len(names)
    # Without `quantities` all that have names are looked at.
    path.write_text(f"{head}{table}{grid}")
    again = forebay("sweep", path, *SHORT, "--out", out, "--json").document()
    assert again["quantities"] == ["ratio", "less", "power"]
    path.write_text(f"{head}{grid}")
    assert "quantities: missing" in forebay.refused("sweep", path, "--out", out)


CLASSES = """
scenario = "small.toml"
replications = 2
quantities = ["classes.wire[0].drops", "links.wire.utilization", "both"]
[derived]
both = "classes.wire[0].departed_packets + 1"
[variants]
plain = {}
two."links.wire.queue".wrr = { classify = "precedence", classes = ["droptail"] }
"""
"""Only one of the variants has classes: a FIFO queue has none."""


def test_what_a_variant_lacks_is_an_empty_cell(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """What a variant lacks is an empty cell, with a note that names variant and reason, in every
    place where the sweep is shown; the other variants have their values."""
    import pyarrow.parquet as pq

    path, out = scenario.with_name("sweep.toml"), tmp_path / "o"
    scenario.write_text("record.classes = true\n" + scenario.read_text(encoding="utf-8"))
    for text in (CLASSES, CLASSES.replace("plain = {}\n", "") + "plain = {}\n"):
        # The first point may lack it, or the last.
        path.write_text(text)
        answer = forebay("sweep", path, *SHORT, "--out", out)
        assert answer.status == 0, answer.err
        note = "no value of classes.wire[0].drops at variant = plain: no classes 'wire[0]'; there"
        assert f"{note} are none" in answer.out
        document = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
        rows = {(row["variant"], row["quantity"]): row for row in document["summary"]}
        for name in ("classes.wire[0].drops", "both"):
            empty, there = rows["plain", name], rows["two", name]
            assert (empty["mean"], empty["low"], empty["high"]) == (None, None, None)
            assert (empty["note"], empty["replications"]) == ("no value", 2)
            assert empty["reason"] == "no classes 'wire[0]'; there are none"
            assert there["mean"] is not None
            assert "reason" not in there
        assert rows["plain", "links.wire.utilization"]["mean"] > 0
        table = pq.read_table(out / "summary.parquet").to_pylist()
        assert {row["reason"] for row in table if row["mean"] is None} == {empty["reason"]}
        runs = pq.read_table(out / "runs.parquet").to_pylist()
        assert [run["both"] is None for run in runs] == [run["variant"] == "plain" for run in runs]
        page = (out / "report.html").read_text(encoding="utf-8")
        assert note.replace("'", "&#39;") in page


def test_what_no_variant_has_is_refused(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """What no variant has is refused before the runs, and so where all runs are kept already."""
    path, out = scenario.with_name("sweep.toml"), tmp_path / "o"
    path.write_text(CLASSES.replace("wire[0]", "wire[7]"))
    long = ("--until", "8000000 s")
    told = "no classes 'wire[7]'; there are none"
    assert told in forebay.refused("sweep", path, *long, "--out", out)
    path.write_text(CLASSES)
    scenario.write_text("record.classes = true\n" + scenario.read_text(encoding="utf-8"))
    assert forebay("sweep", path, *SHORT, "--out", out).status == 0
    path.write_text(CLASSES.replace("wire[0].drops", "wire[7].drops"))
    assert told in forebay.refused("sweep", path, *SHORT, "--out", out)


def test_a_mean_without_some_replications_is_none(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """A quantity that some replications have no value of has no mean, and it is said of how
    many: a mean of the others would be of those that went well.

    In 10 ms a Poisson source of 50 packets a second sends none with the probability exp(-1/2).
    """
    text = scenario.read_text(encoding="utf-8").replace("2 Mbit/s", "200 kbit/s")
    scenario.write_text(text.replace('warm_up = "1 s"', 'warm_up = "100 ms"'))
    path = scenario.with_name("sweep.toml")
    path.write_text(
        'scenario = "small.toml"\nreplications = 20\n'
        'quantities = ["flows.chatter.loss", "flows.chatter.mean_delay"]\n'
    )
    options = ("--until", "110 ms", "--out", tmp_path / "o", "--json")
    document = forebay("sweep", path, *options).document()
    for row in document["summary"]:
        assert row["mean"] is None
        assert "of 20 replications: " in row["reason"]


CHANGING = """
duration = "20 s"

[links.fixed]
from = "A"
to = "B"
rate = "10 Mbit/s"

[links.radio]
from = "B"
to = "C"
rate = "8 Mbit/s"
repeat = "4 s"
rate_steps = [{ at = "3 s", rate = "4 Mbit/s" }]

[flows.noise]
from = "A"
to = "C"
udp = {}
traffic.poisson = { rate = "2 Mbit/s", size = "500 B" }
"""


def test_the_rate_of_a_link_is_that_of_the_scenario(forebay: front.Forebay, tmp_path: Path) -> None:
    """The rate of a link is that of the scenario, and the mean over time of one that changes: 8
    Mbit/s for three of four seconds and 4 Mbit/s for one are 7 Mbit/s in the mean, however much of
    that is used. What was half sent at the end is at most a packet of the ten thousand."""
    path = tmp_path / "changing.toml"
    path.write_text(CHANGING, encoding="utf-8")
    asked = [f"{name} = links.{name}.rate" for name in ("fixed", "radio")]
    asked.append("share = flows.noise.goodput / links.radio.rate")
    words = [word for text in asked for word in ("--quantity", text)]
    document = forebay("run", path, "--json", *words).document()
    found = document["derived"]
    assert found["fixed"] == pytest.approx(10e6, rel=1e-6)
    assert found["radio"] == pytest.approx(7e6, rel=1e-4)
    goodput = document["groups"][0]["goodput_bps"]
    assert found["share"] == pytest.approx(goodput / 7e6, rel=1e-4)
    shown = forebay("run", path, "--quantity", "links.fixed.reverse.rate").out
    assert 'links."fixed.reverse".utilization is 0' in shown
