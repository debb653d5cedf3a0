"""Reproducing a study, on a study whose true values are known from theory.

A Poisson source of 2 or 4 Mbit/s on a link of 10: what is delivered is what is offered. In 59 s of
packets of 500 B that is 29 500 or 59 000 packets a run, a relative standard deviation of 0.58 % or
0.41 % (Poisson counts), so that the mean of three runs is within 2 % with near certainty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.run.jobs import Job, run_jobs

CLAIM_KEYS = {
    "id", "place", "quantity", "unit", "published", "measured", "low", "high", "replications",
    "grade", "kind", "note",
}  # fmt: skip
GRADES = {"exact", "close", "consistent", "trend", "holds", "fails", "deviates", "imprecise"}


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The claims of a result by id."""
    return {row["id"]: row for row in document["claims"]}


def test_the_document_is_the_contracts(forebay: front.Forebay, tiny: Path) -> None:
    """The document of a study has the keys of the contract, and is the one in its folder."""
    answer = forebay("reproduce", "tiny", "--json")
    assert answer.status == 0
    document = answer.document()
    keys = {"study", "version", "build", "scenario_hash", "wall_s", "claims", "summary"}
    assert document.keys() >= keys
    assert document["study"] == "tiny"
    assert all(row.keys() >= CLAIM_KEYS for row in document["claims"])
    assert document["summary"].keys() == GRADES | {"total"}
    assert document["summary"]["total"] == len(document["claims"]) == 5
    assert document == json.loads((tiny.parents[1] / "out/tiny/result.json").read_text())


SECOND_TABLE = """
[[table]]
id = "t2"
place = "Table 2"
how_read = "printed"
unit = "Mbit/s"
decimals = 2
trend = "none"
row_id = "rate{rate_mbps}"
row_label = "{rate_mbps} Mbit/s"
columns = [{ id = "got", label = "throughput", quantity = "got_bps" }]
rows = [{ point = { rate_mbps = 3 }, values = [3.00] }]
"""


def test_the_first_table_is_shown_before_the_rest_is_run(
    forebay: front.Forebay, tiny: Path
) -> None:
    """The first table of a paper is shown after two replications of each of its points, and no
    result depends on that; short runs and programs that read the document are spared it."""
    with (tiny / "paper.toml").open("a", encoding="utf-8") as paper:
        paper.write(SECOND_TABLE)
    shown = forebay("reproduce", "tiny", "--out", "shown")
    assert shown.status == 0
    first, rest = shown.out.split("so far, with 2 replications each; the whole study follows")
    assert "Table 1 (Mbit/s)" in first
    assert "Table 2" not in first
    assert "Table 1 (Mbit/s)" in rest
    assert "Table 2 (Mbit/s)" in rest
    document = forebay("reproduce", "tiny", "--out", "read", "--json").document()
    assert document["claims"] == json.loads(Path("shown/result.json").read_text())["claims"]
    assert "so far" not in forebay("reproduce", "tiny", "--quick", "--out", "quick").out


def test_true_values_are_found_and_false_ones_are_not(forebay: front.Forebay, tiny: Path) -> None:
    """True values are found and false ones are not: grades neither flatter nor find fault with the
    truth."""
    claims = by_id(forebay("reproduce", "tiny", "--json").document())
    assert claims["t1/rate2/got"]["grade"] in ("exact", "close")
    assert claims["t1/rate4/got"]["grade"] in ("exact", "close")
    assert claims["t1/rate2/got"]["measured"] == pytest.approx(2.0, rel=0.02)
    assert claims["t1/rate2/got"]["low"] < claims["t1/rate2/got"]["measured"]
    assert claims["t1/rate2/wrong"]["grade"] == "deviates"
    assert claims["t1/rate2/wrong"]["note"] == "The published value is a misprint."
    assert claims["more-gives-more"]["grade"] == "holds"
    assert claims["all-is-lost"]["grade"] == "fails"


def test_jobs_change_no_digit(forebay: front.Forebay, tiny: Path, tmp_path: Path) -> None:
    """No digit depends on the number of jobs."""
    one = forebay("reproduce", "tiny", "--jobs", "1", "--out", tmp_path / "a", "--json").document()
    two = forebay("reproduce", "tiny", "--jobs", "3", "--out", tmp_path / "b", "--json").document()
    assert one["claims"] == two["claims"]


def test_fixed_replications(forebay: front.Forebay, tiny: Path) -> None:
    """`--replications N` makes N replications for each claim."""
    document = forebay("reproduce", "tiny", "--replications", "4", "--json").document()
    assert {row["replications"] for row in document["claims"]} == {4}
    assert document["command"] == "forebay reproduce tiny --replications 4"


def test_more_replications_where_an_interval_is_too_wide(
    forebay: front.Forebay, tiny: Path
) -> None:
    """A claim whose interval is too wide gets more replications, up to the cap.

    A run of 20 ms of measurement sees 10 packets at 2 Mbit/s, a standard deviation of a third:
    no six runs are within 10 %, so the study must go to its cap of 6 and say `imprecise`.
    """
    path = tiny / "scenario.toml"
    path.write_text(path.read_text().replace('"60 s"', '"1.02 s"'))
    claims = by_id(forebay("reproduce", "tiny", "--json").document())
    assert claims["t1/rate2/got"]["replications"] == 6
    assert claims["t1/rate2/got"]["grade"] == "imprecise"


def test_claims_restrict_what_is_run(forebay: front.Forebay, tiny: Path) -> None:
    """`--claims` restricts the runs to those that the claims need."""
    document = forebay("reproduce", "tiny", "--claims", "t1/rate4/*", "--json").document()
    assert [row["id"] for row in document["claims"]] == ["t1/rate4/got"]
    # One grid point, three replications, no sensitivity runs.
    assert document["runs"] == 3


def test_an_interrupt_keeps_finished_runs(
    forebay: front.Forebay, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt keeps the runs that are finished."""
    from forebay.run import jobs as runs

    def interrupted(jobs: Any, done: Any, threads: Any, tick: Any) -> None:
        runs.run_jobs(jobs[:5], done, threads, tick)
        if len(jobs) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("forebay.study.runs.run_jobs", interrupted)
    answer = forebay("reproduce", "tiny", "--json")
    assert answer.status == 130
    assert answer.document()["stopped"] == "interrupted"
    # The first five runs are replications 0, 1, 2 of one point and 0, 1 of the other.
    assert [row["replications"] for row in answer.document()["claims"][:3]] == [3, 3, 2]


def test_a_claim_that_no_run_measures_is_named(
    forebay: front.Forebay, tiny: Path, tmp_path: Path
) -> None:
    """A claim that no run measures is named wherever claims are counted."""
    with (tiny / "predicates.py").open("a", encoding="utf-8") as file:
        file.write(
            "\n\ndef unheard_of(run):\n"
            "    return surely_less(run.value('other_bps', rate_mbps=2), 1.0)\n"
        )
    with (tiny / "paper.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[[statement]]\nid = "s/unheard"\nplace = "page 1"\nhow_read = "quoted"\n'
            'text = "it says so"\npredicate = "unheard_of"\n'
        )
    answer = forebay("reproduce", "tiny", "--replications", "2", "--json")
    assert answer.document()["unmeasured"] == ["s/unheard"]
    shown = forebay("reproduce", "tiny", "--replications", "2").out
    assert "Not measured, so not counted: s/unheard." in shown
    readme = (tmp_path / "out" / "tiny" / "README.md").read_text(encoding="utf-8")
    assert "Not measured, so not counted: s/unheard." in readme


def test_the_terminal_shows_the_papers_table(forebay: front.Forebay, tiny: Path) -> None:
    """The terminal shows the paper's table with published and measured values side by side."""
    out = forebay("reproduce", "tiny").out
    assert max(map(len, out.splitlines())) <= 100
    row = next(line for line in out.splitlines() if line.startswith("2 Mbit/s"))
    # Published, measured with its interval, grade; the misprint is marked as deviating.
    assert re.search(r"2\.00  [12]\.\d+±0\.\d+ [=~]\s+9\.99  [12]\.\d+±0\.\d+ !$", row.rstrip())
    assert "again: forebay reproduce tiny" in out
    assert "nothing <arrives>" in out


def test_the_readme_keeps_its_words_and_gets_its_numbers(
    forebay: front.Forebay, tiny: Path, tmp_path: Path
) -> None:
    """A README keeps its words, and its generated part is replaced by the new numbers."""
    (tiny / "README.md").write_text(
        "# Tiny\n\nBefore.\n\n<!-- results -->\nstale\n<!-- end of results -->\n\nAfter.\n"
    )
    forebay("reproduce", "tiny", "--out", tiny)
    first = (tiny / "README.md").read_text()
    assert first.startswith("# Tiny\n\nBefore.\n")
    assert first.endswith("\nAfter.\n")
    assert "stale" not in first
    assert "| Table 1, 2 Mbit/s, throughput | 2.00 Mbit/s |" in first
    forebay("reproduce", "tiny", "--out", tiny)
    assert (tiny / "README.md").read_text() == first


def test_wrong_study_files_are_refused(forebay: front.Forebay, tiny: Path) -> None:
    """Slips in the files of a study are refused with their place, before anything runs."""
    for name, old, new, expected in [
        ("paper.toml", "more_gives_more", "more_gives_les", "more_gives_more"),
        ("scenario.toml", '"10 Mbit/s"', '"10 Mbit"', "links.wire.rate"),
        ("deviations.toml", 'variant = "slow"', 'variant = "slo"', 'no variant "slo"'),
        ("deviations.toml", "reason", "raeson", "raeson"),
        ("study.py", "def grid_point", "def grid_points", "no function grid_point"),
        ("sensitivity.toml", '"t1/rate2/got"', '"t9/*"', 'no claim matches "t9/*"'),
        ("sensitivity.toml", '"1 Mbit/s"', '"1 Mbit"', "flows.noise.traffic.poisson.rate"),
        ("sensitivity.toml", "why", "because", "because"),
        ("sensitivity.toml", "set = ", 'change = "slower" # ', "no function 'slower'"),
        ("sensitivity.toml", "set = ", "# ", "changes nothing"),
    ]:
        path = tiny / name
        whole = path.read_text()
        assert old in whole
        path.write_text(whole.replace(old, new))
        assert expected in forebay.refused("reproduce", "tiny"), name
        # It shows before anything runs.
        assert not Path("out/tiny/result.json").exists()
        path.write_text(whole)
    (tiny / "study.py").unlink()
    assert "no such file" in forebay.refused("reproduce", "tiny")


KEEPING = """
def keep(run, point):
    rates = run.tables["series/links.wire"]["throughput_bps"]
    return {"wire": {"offered_mbps": [point["rate_mbps"]], "mean_bps": [rates[1:].mean()]}}

RECORDINGS = [Recording("kept", {"rate_mbps": 4}, "500 ms", keep=keep)]

def figures(outcome):
    assert outcome.recordings["kept"]["wire"].num_rows == 1
    return []
"""


def test_a_recording_keeps_what_its_study_makes_of_it(forebay: front.Forebay, tiny: Path) -> None:
    """A recording keeps the tables that its study makes of it, and no others: a study of a hundred
    flows leaves one file.

    What is kept is of the run at the recording's grid point: its link carries 4 Mbit/s, of which a
    run's mean has a relative standard deviation of 0.41 % (above): a fifth of what is allowed.
    """
    import pyarrow.parquet as pq

    with (tiny / "study.py").open("a", encoding="utf-8") as file:
        file.write(KEEPING)
    assert forebay("reproduce", "tiny", "--quick", "--out", "results").status == 0
    tables = Path("results/tables")
    assert [path.relative_to(tables) for path in tables.rglob("*.*")] == [Path("kept/wire.parquet")]
    (row,) = pq.read_table(tables / "kept/wire.parquet").to_pylist()
    assert row["offered_mbps"] == 4
    assert row["mean_bps"] == pytest.approx(4e6, rel=0.02)
    assert forebay("report", "results").status == 0


def test_a_run_that_is_recorded_anyway_is_not_run_again(
    forebay: front.Forebay, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is recorded anyway is not run again for a recording; no value changes."""

    begun: list[int] = []

    def counted(jobs: Sequence[Job], *others: Any) -> None:
        begun[-1] += len(jobs)
        run_jobs(jobs, *others)

    monkeypatch.setattr("forebay.study.runs.run_jobs", counted)
    scenario, module = tiny / "scenario.toml", tiny / "study.py"
    scenario.write_text(scenario.read_text() + '[record]\nseries = "1 s"  # assumed: enough\n')
    apart = module.read_text() + KEEPING + "RECORD_RUNS = True\n"
    results = []
    for text in (apart, apart.replace('{"rate_mbps": 4}, "500 ms"', '{"rate_mbps": 4}, None')):
        module.write_text(text)
        begun.append(0)
        results.append(forebay("reproduce", "tiny", "--quick", "--json").document())
        assert Path("out/tiny/tables/kept/wire.parquet").is_file()
    assert begun[1] == begun[0] - 1
    assert results[0]["claims"] == results[1]["claims"]
    assert results[0]["runs"] == results[1]["runs"]


def test_a_value_from_stated_runs_is_compared_with_what_runs_give(
    forebay: front.Forebay, tiny: Path
) -> None:
    """A value from stated runs is compared with what so many runs give: a random draw is not held
    to the mean of all draws.

    A run of 1.02 s of which 20 ms are measured sees 10 packets at 2 Mbit/s, a Poisson count: it has
    a mean of 2 Mbit/s and a standard deviation of 2 / sqrt(10) = 0.63. A single run of 2.3 is half
    a standard deviation off, 9.99 twelve. Six runs of such spread know the mean to within 0.66 at
    best, too wide for 10 %; nine are enough to predict one.
    """
    scenario, paper, module = (tiny / f"{n}" for n in ("scenario.toml", "paper.toml", "study.py"))
    scenario.write_text(scenario.read_text().replace('"60 s"', '"1.02 s"'))
    paper.write_text(
        paper.read_text().replace("[2.00, 9.99]", '[2.30, 9.99], runs = 1, statistic = "mean"')
    )
    module.write_text(module.read_text().replace("cap=6", "cap=40"))
    answer = forebay("reproduce", "tiny", "--claims", "t1/rate2/*", "--json")
    claims = by_id(answer.document())
    plain, wrong = claims["t1/rate2/got"], claims["t1/rate2/wrong"]
    assert (plain["grade"], wrong["grade"]) == ("consistent", "deviates")
    assert (plain["runs"], plain["statistic"]) == (1, "mean")
    assert plain["predicted_low"] < plain["low"] < plain["high"] < plain["predicted_high"]
    assert plain["replications"] >= 9
    table = Path("out/tiny/claims.csv").read_text().splitlines()
    assert table[0].endswith(",note,runs,statistic,predicted_low,predicted_high")
    alone = forebay("reproduce", "tiny", "--claims", "t1/rate4/*", "--json").document()
    assert "runs" not in alone["claims"][0]


def test_that_a_study_is_code_is_said(forebay: front.Forebay, tiny: Path) -> None:
    """The list of studies says of a folder of the user's own that its code is run."""
    warning = "`reproduce` and `report` run the Python modules there"
    assert f"FOREBAY_STUDIES is {tiny.parent}: {warning}" in forebay("studies").out
    assert "FOREBAY_STUDIES=DIR" in forebay("--help").out


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "study.py",
            'run.group("noise")["throughput_bps"]',
            'run.group("noise")["throughput"]',
            "study.py, line 13: KeyError: no column 'throughput' (did you mean \"throughput_bps\"",
        ),
        (
            "study.py",
            'run.group("noise")["throughput_bps"]',
            'run.flows("noise")[0]["goodput"]',
            "study.py, line 13: KeyError: no column 'goodput' (did you mean \"goodput_bps\"",
        ),
        (
            "study.py",
            'run.group("noise")["throughput_bps"]',
            'run.group("nosie")["throughput_bps"]',
            "study.py, line 13: KeyError: no flows 'nosie'; there are noise",
        ),
        (
            "study.py",
            'title="Queue"',
            "title=TITLE",
            "study.py, line 16: NameError: name 'TITLE' is not defined",
        ),
        (
            "predicates.py",
            "    return surely_less(",
            "    return 1 / 0 + surely_less(",
            'paper.toml: statement "all-is-lost": predicates.py, line 11: ZeroDivisionError: ',
        ),
    ],
)
def test_a_mistake_in_the_code_of_a_study_has_its_place(
    forebay: front.Forebay, tiny: Path, file: str, old: str, new: str, told: str
) -> None:
    """A mistake in the code of a study is told with its place and in words, instead of
    `KeyError: 'goodput'`."""
    path = tiny / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert told in forebay.refused("reproduce", "tiny", "--quick")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('# section 2, "a # in quotes"', "", "line 8: links.wire.rate: no comment"),
        ('# section 2, "a # in quotes"', "# fast", 'line 8: links.wire.rate: the comment "fast"'),
        ("# assumed: never full", "# assumed", 'links.wire.queue: the comment "assumed at these'),
        ("# assumed: long enough for the intervals", "# assumed:", 'duration: "assumed" without'),
    ],
)
def test_a_value_without_a_source_is_refused(
    forebay: front.Forebay, tiny: Path, old: str, new: str, told: str
) -> None:
    """A value without a source is refused with what a source looks like: no choice of the author's
    passes for what the paper states."""
    path = tiny / "scenario.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    message = forebay.refused("reproduce", "tiny")
    assert f"{path}: " in message
    assert told in message
    assert 'such as "section 3.1" or "Table 2", or "assumed: reason"' in message


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rate_mbps=4", "rate_mbps=40", "rate_mbps is 40, as at no grid point of paper.toml"),
        ("rate_mbps=4", "rate_mbps=1e-9", "rate_mbps = [1e-09]"),
        ("rate_mbps=4", "rate_mpbs=4", '"rate_mpbs" is a parameter of no grid point of paper.toml'),
    ],
)
def test_a_grid_point_that_the_paper_does_not_have_is_refused(
    forebay: front.Forebay, tiny: Path, old: str, new: str, told: str
) -> None:
    """A predicate that asks for a grid point that the paper does not have is refused with those
    that there are, so a slip of the pen is not run at some length and compared with nothing."""
    path = tiny / "predicates.py"
    path.write_text(path.read_text().replace(old, new))
    message = forebay.refused("reproduce", "tiny", "--quick")
    assert 'paper.toml: statement "more-gives-more": predicates.py, line 7: ' in message
    assert told in message
    assert "there are " in message


def test_values_that_statements_alone_look_at_are_declared(
    forebay: front.Forebay, tiny: Path
) -> None:
    """A grid point that no table shows can be declared, for statements that alone look at it."""
    path = tiny / "predicates.py"
    path.write_text(path.read_text().replace("rate_mbps=4", "rate_mbps=3"))
    paper = tiny / "paper.toml"
    paper.write_text(
        paper.read_text().replace("[[table]]", "[grid]\nrate_mbps = [3]\n[[table]]", 1)
    )
    document = forebay("reproduce", "tiny", "--quick", "--json").document()
    assert {row["id"]: row["grade"] for row in document["claims"]}["more-gives-more"] == "holds"
    assert {"rate_mbps": 3} in [row["point"] for row in document["points"]]
