"""Axes of sweeps besides a grid: variants with names, keys that change together, and none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.pages.sweep import _axes, _setting
from forebay.run.axes import combinations, read_axes, varied

HEAD = """
scenario = "small.toml"
replications = 2
quantities = ["flows.chatter.throughput_bps", "links.wire.utilization"]
"""

VARIANTS = """
[variants]
plain = {}
"half the rate" = { "links.wire.rate" = "5 Mbit/s", "flows.bulk.count" = 1 }
"""

ZIP = """
[[zip]]
"links.wire.delay" = ["1 ms", "2 ms"]
flows.chatter.traffic.poisson.rate = ["1 Mbit/s", "2 Mbit/s"]
"""

GRID = """
[grid]
duration = ["2 s", "3 s"]
"""


def write(scenario: Path, text: str) -> Path:
    """A sweep of the small scenario."""
    path = scenario.parent / "sweep.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def digests(folder: Path) -> list[str]:
    """Of every run, in the order of the table."""
    import pyarrow.parquet as pq

    found: list[str] = pq.read_table(folder / "runs.parquet")["digest"].to_pylist()
    return found


def test_every_axis_meets_every_other() -> None:
    """Every axis meets every other: no point of a sweep is left out."""
    zipped = [{"x": [1, 2], "y": {"z": [3, 4]}}]
    axes = read_axes("f", {"a": {}, "b": {"k": 7}}, zipped, {"g": [True]})
    assert [dict(point.values) for point in combinations(axes)] == [
        {"variant": name, "x": x, "y.z": z, "g": True}
        for name in ("a", "b")
        for x, z in ((1, 3), (2, 4))
    ]
    assert [point.assignments for point in combinations(axes)][2] == (
        "k=7", "x=1", "y.z=3", "g=true",
    )  # fmt: skip
    assert varied(axes) == {"variant": ["a", "b"], "x": [1, 2], "y.z": [3, 4], "g": [True]}
    (only,) = combinations(())
    assert only.assignments == ()


def test_a_sweep_without_a_grid_is_replications(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """A sweep without a grid is replications of one scenario."""
    path = write(scenario, "")
    document = forebay("sweep", path, "--out", tmp_path / "o", "--json").document()
    assert (document["runs"], document["grid"]) == (2, {})
    runs = json.loads(forebay("run", scenario, "--replications", 2, "--json").out)
    assert digests(tmp_path / "o") == [run["digest"] for run in runs["replications"]]
    means = {row["quantity"]: row["mean"] for row in document["summary"]}
    (link,) = (
        row["mean"]
        for row in runs["intervals"]
        if (row["place"], row["name"], row["quantity"]) == ("links", "wire", "utilization")
    )
    assert means["links.wire.utilization"] == link
    assert "wire: utilization" in (tmp_path / "o" / "report.html").read_text(encoding="utf-8")


def test_variants_are_what_their_keys_make_of_the_scenario(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Variants are what their keys make of the scenario, under their own names."""
    path = write(scenario, VARIANTS + ZIP)
    answer = forebay("sweep", path, "--out", tmp_path / "o")
    assert "half the rate" in answer.out
    document = json.loads((tmp_path / "o" / "sweep.json").read_text(encoding="utf-8"))
    rows = [row for row in document["summary"] if row["quantity"] == "links.wire.utilization"]
    assert [row["variant"] for row in rows] == ["plain", "plain", *2 * ["half the rate"]]
    assert [row["links.wire.delay"] for row in rows] == ["1 ms", "2 ms"] * 2
    single = forebay(
        "run", scenario, "--json", "--replication", 1, "--set", "links.wire.rate=5 Mbit/s",
        "--set", "flows.bulk.count=1", "--set", "links.wire.delay=2 ms",
        "--set", "flows.chatter.traffic.poisson.rate=2 Mbit/s",
    ).document()  # fmt: skip
    assert digests(tmp_path / "o")[-1] == single["digest"]


def test_columns_are_told_apart(forebay: front.Forebay, scenario: Path, tmp_path: Path) -> None:
    """Columns whose parameters share a last word are told apart by more of the key."""
    lists = '"links.wire.rate" = ["9 Mbit/s"]\n"links.wire.delay" = ["1 ms"]\n'
    path = write(scenario, f'{lists}"flows.chatter.traffic.poisson.rate" = ["1 Mbit/s"]\n')
    path.write_text(path.read_text().replace(lists, f"[[zip]]\n{lists}"), encoding="utf-8")
    heads = forebay("sweep", path, "--out", tmp_path / "o").out.splitlines()[1].split()
    names = ["wire.rate", "delay", "poisson.rate", "mean"]
    assert heads[:4] == names


def test_options_change_what_is_run_and_what_it_is_known_by(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Options change what is run and what it is known by: runs of one duration or seed are not
    taken for those of another."""
    import pyarrow.parquet as pq

    path, out = write(scenario, VARIANTS), tmp_path / "o"
    first = forebay("sweep", path, "--out", out, "--json").document()

    def again(*options: object) -> dict[str, Any]:
        document: dict[str, Any] = forebay(
            "sweep", path, "--out", out, "--json", *options
        ).document()
        return document

    hashes = set(pq.read_table(out / "runs.parquet")["scenario_hash"].to_pylist())
    short = again("--until", "2 s")
    assert short["summary"] != first["summary"]
    assert short["command"] == f"forebay sweep {path} --until '2 s'"
    others = set(pq.read_table(out / "runs.parquet")["scenario_hash"].to_pylist())
    assert len(hashes) == len(others) == 2
    assert not hashes & others
    seeded = again("--seed", 7)
    assert (seeded["seeds"], first["seeds"]) == ([7], [1])
    assert seeded["summary"] != first["summary"]
    assert front.runs_kept(out) == 3 * 4
    assert again() == first
    assert again("--seed", 1)["summary"] == first["summary"]
    assert front.runs_kept(out) == 3 * 4
    single = forebay("run", scenario, "--seed", 7, "--until", "2 s", "--json").document()
    again("--seed", 7, "--until", "2 s")
    assert digests(out)[0] == single["digest"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ZIP.replace('["1 ms", "2 ms"]', '["1 ms"]'), (), '"links.wire.delay" 1, "flows.chatter'),
        (ZIP.replace('["1 ms", "2 ms"]', '"1 ms"'), (), "zip[0].\"links.wire.delay\": read '1 ms'"),
        ("[[zip]]\n", (), "zip[0]: has no keys"),
        (ZIP.replace("[[zip]]", "[zip]"), (), "sweep.toml: zip: read"),
        (ZIP.replace("[[zip]]", "[[zips]]"), (), 'did you mean "zip"?'),
        (VARIANTS.replace('"flows.bulk.count"', "flows.bulk.count"), (), 'such as "flows.bulk"'),
        (VARIANTS.replace("{}", "7"), (), "variants.plain: read 7"),
        (VARIANTS.replace("bulk.count", "bulk.cuont"), (), 'did you mean "count"?'),
        (ZIP + ZIP, (), '"flows.chatter.traffic.poisson.rate" is set by two axes'),
        (VARIANTS + '[grid]\n"links.wire.rate" = ["1 Mbit/s"]', (), "is set by two axes"),
        (GRID, ("--until", "2 s"), "--until: "),
        (VARIANTS, ("--until", "2"), "--set duration"),
        (VARIANTS, ("--seed", "-1"), "--seed"),
        (VARIANTS, ("--set", "links.wire.delai=1 ms"), 'did you mean "delay"?'),
    ],
)
def test_what_is_wrong_is_named(
    forebay: front.Forebay,
    scenario: Path,
    tmp_path: Path,
    text: str,
    options: tuple[str, ...],
    message: str,
) -> None:
    """Slips and options without effect are refused by name."""
    path = write(scenario, text)
    assert message in forebay.refused("sweep", path, "--out", tmp_path / "o", *options)


def test_parameters_that_change_together_are_one_axis(tmp_path: Path) -> None:
    """Parameters that change together are one axis, so that no heat map has places for pairs that
    are not run."""
    rows = [
        {"rate": rate, "count": count, "delay": delay}
        for rate, count in (("1 Mbit/s", 1), ("2 Mbit/s", 2), ("4 Mbit/s", 4))
        for delay in ("1 ms", "2 ms")
    ]
    assert _axes(["rate", "count", "delay"], rows) == [("rate", "count"), ("delay",)]
    assert _axes(["delay", "rate"], rows) == [("delay",), ("rate",)]
    # One value each: nothing tells that they change together, and nothing is lost if they do not.
    assert _axes(["rate", "delay"], rows[:1]) == [("rate",), ("delay",)]


def test_a_legend_has_the_names_of_variants_and_values_beside_their_parameters() -> None:
    """A legend has the names of variants, and values beside their parameters."""
    row = {"variant": "today", "links.wire.rate": "5 Mbit/s", "flows.bulk.count": 4}
    axes = [("variant",), ("links.wire.rate", "flows.bulk.count")]
    assert _setting(row, axes) == "today, wire: rate 5 Mbit/s, bulk: count 4"


@pytest.mark.parametrize(
    ("varied", "places"),
    [
        ('[grid]\n"links.wire.delay" = ["1 ms", "2 ms", "1000 us"]', ("[0] = '1 ms'", "[2]")),
        ('[grid]\n"flows.bulk.count" = [1, 1]', ("[0] = 1", "[1] = 1")),
        (
            '[[zip]]\n"links.wire.delay" = ["1 ms", "1 ms"]\n"flows.bulk.count" = [2, 2]',
            ("[0] = '1 ms'", '"flows.bulk.count"[1] = 2'),
        ),
    ],
)
def test_a_value_is_there_once(
    forebay: front.Forebay, scenario: Path, varied: str, places: tuple[str, ...]
) -> None:
    """A value is there once, as two rows of the same runs look like two results that agree;
    variants have names, and one may be the scenario as it stands."""
    sweep = scenario.with_name("sweep.toml")
    head = f'scenario = "{scenario.name}"\nreplications = 2\nquantities = ["events"]\n'
    sweep.write_text(head + varied, encoding="utf-8")
    told = forebay.refused("sweep", sweep, "--out", scenario.parent / "out")
    assert "are the same scenario; each value may be there once" in told
    for place in places:
        assert place.replace("'", '"') in told, told
    assert not (scenario.parent / "out").exists()
    alike = '[variants]\nplain = {}\nsame = { "links.wire.delay" = "2 ms" }\n'
    sweep.write_text(head + alike, encoding="utf-8")
    assert forebay("sweep", sweep, "--until", "2 s", "--out", scenario.parent / "out").status == 0
