"""Beyond the paper: comparisons of designs, on numbers worked out by hand and on a tiny study.

The tiny study is a Poisson source far below the rate of its link, so that what is delivered is what
is offered, and a Poisson source of half the rate draws the same exponential gaps, twice as long.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import front
import pytest
from test_report import Page

from forebay.study.comparison import Case, Comparison, Design, Findings, Metric
from forebay.study.loading import load_study
from forebay.study.results import Cell, Outcome, Samples

EXTENSIONS = """
[[metric]]
quantity = "got_bps"
label = "throughput"
unit = "Mbit/s"
better = "more"

[[design]]
id = "whole"
title = "whole rate"
set = { "flows.noise.traffic.poisson.rate" = "{rate_mbps} Mbit/s" }

[[comparison]]
id = "rates"
title = "Half & whole"
question = "What does half of <the rate> do?"
designs = [
  "whole",
  { id = "half", title = "half rate", change = "half" },
  { id = "again", title = "again", set = { "flows.*.traffic.*.rate" = "{rate_mbps} Mbit/s" } },
]
cases = [
  { label = "2 Mbit/s", point = { rate_mbps = 2 } },
  { label = "4 Mbit/s", point = { rate_mbps = 4 }, quick = false },
]
quantities = "measured"
metrics = ["got_bps", { quantity = "same_bps", label = "nominal", unit = "Mbit/s" }]
replications = 4
quick_replications = 2
conclusion = ["It gets {less} Mbit/s.", { when = "never", text = "Never." }, "End."]
"""
"""The comparison of the tiny study: its data."""

MODULE = '''
"""Beyond the tiny paper."""
RATE = "flows.noise.traffic.poisson.rate"

def half(network, case):
    network.set(RATE, f"{case['rate_mbps'] / 2} Mbit/s")

def measured(run, case):
    rate = run.group("noise")["throughput_bps"]
    return {"got_bps": rate, "same_bps": 1e6 * case["rate_mbps"], "run_count": 1.0}

def less(findings):
    half = findings.comparison.designs[0]
    case = findings.cases[0]
    return f"{findings.difference('got_bps', half, case).mean / 1e6:.3f}"

def never(findings):
    return False
'''
"""Its code."""


def write_extensions(folder: Path) -> Path:
    """Give a study in a folder a comparison; the file of its data."""
    (folder / "extensions.py").write_text(MODULE, encoding="utf-8")
    path = folder / "extensions.toml"
    path.write_text(EXTENSIONS, encoding="utf-8")
    return path


@pytest.fixture
def beyond(tiny: Path) -> Path:
    """The tiny study with a comparison; the file that asks it."""
    return write_extensions(tiny)


def by_design(document: dict[str, Any], quantity: str, case: str) -> dict[str, dict[str, Any]]:
    """The rows of one quantity in one case, by design."""
    (found,) = document["comparisons"]
    rows = [row for row in found["rows"] if (row["quantity"], row["case"]) == (quantity, case)]
    return {row["design"]: row for row in rows}


def findings(ours: Sequence[float], theirs: Sequence[float], better: str = "less") -> Findings:
    """A comparison of which these are the samples, replication by replication."""
    case = Case("only", {"x": 1})
    metric = Metric("wait_s", "waiting time", "ms", better)  # type: ignore[arg-type]
    baseline, design = Design("old", "old"), Design("new", "new")
    comparison = Comparison(
        "c", "C", "?", baseline, [design], [case], lambda run, case: {}, [metric]
    )
    samples = Samples()
    for name, values in (("old", ours), ("new", theirs)):
        for number, value in enumerate(values):
            samples.add(Cell.of({"x": 1}, f"beyond/c/{name}"), number, {"wait_s": value})
    return Findings(comparison, Outcome(None, samples))  # type: ignore[arg-type]


def test_differences_are_paired() -> None:
    """Differences are paired: with common random numbers they are far more certain than the means.

    New minus old is -1, -2, -3: mean -2, standard deviation 1, so a half-width of
    t(2; 0.975) / sqrt(3) = 4.302653 / 1.732051 = 2.484138. The means scatter by about 100.
    """
    found = findings([100.0, 200.0, 300.0], [99.0, 198.0, 297.0])
    comparison, (case,) = found.comparison, found.cases
    difference = found.difference("wait_s", comparison.designs[0], case)
    assert difference is not None
    assert difference.mean == pytest.approx(-2.0)
    assert difference.half_width == pytest.approx(2.484138, abs=1e-6)
    mean = found.interval("wait_s", comparison.designs[0], case)
    assert mean is not None
    assert mean.half_width > 200.0


def test_only_common_replications_are_paired() -> None:
    """Only common replications are paired: 3 and 2 runs make 2 pairs, of difference 4 and 6; and a
    comparison that was cut short draws no conclusion."""
    found = findings([1.0, 2.0, 50.0], [5.0, 8.0])
    comparison, (case,) = found.comparison, found.cases
    difference = found.difference("wait_s", comparison.designs[0], case)
    assert difference is not None
    assert (difference.mean, difference.n) == (5.0, 2)
    assert not found.complete
    assert found.conclusion() == ["None is drawn: fewer runs were made than it takes."]
    assert found.replications == (2, 3)


@pytest.mark.parametrize(
    ("theirs", "better", "verdict"),
    [
        ([9.0, 18.1, 27.0], "less", "open"),  # -1, -1.9, -3: half-width 2.49 exceeds 1.97
        ([8.0, 18.1, 28.0], "less", "better"),  # -2, -1.9, -2: half-width 0.14
        ([8.0, 18.1, 28.0], "more", "worse"),
        ([8.0, 18.1, 28.0], "", "less"),
        ([12.0, 22.1, 32.0], "", "more"),
        ([10.0, 20.0, 30.0], "less", "equal"),
        ([11.0, 21.0, 31.0], "more", "better"),  # +1 each: no spread, and certain
    ],
)
def test_verdicts(theirs: list[float], better: str, verdict: str) -> None:
    """A verdict says better, worse, more, less or equal where the interval decides, and else is
    open."""
    found = findings([10.0, 20.0, 30.0], theirs, better)
    comparison = found.comparison
    given = found.verdict(comparison.metrics[0], comparison.designs[0], found.cases[0])
    assert given == verdict
    assert found.tally(comparison.metrics[0], comparison.designs[0]) == {verdict: 1}


def test_one_pair_proves_nothing() -> None:
    """One pair proves nothing: the verdict is open."""
    found = findings([10.0], [1.0])
    comparison = found.comparison
    assert found.verdict(comparison.metrics[0], comparison.designs[0], found.cases[0]) == "open"
    assert not found.complete


def test_reproduce_compares(forebay: front.Forebay, beyond: Path) -> None:
    """`reproduce` runs the designs of a comparison on the same arrivals, and tells differences,
    verdicts and conclusion.

    The same design run twice agrees in every pair. Half of 2 Mbit/s is 1 Mbit/s less; the packets
    of 59 s at 2 Mbit/s are 29 500 with a standard deviation of 172, so the mean of four runs is
    within 1 % of the difference's size, 5 of its standard deviations being 1.5 % of 2 Mbit/s.
    """
    document = forebay("reproduce", "tiny", "--json").document()
    rows = by_design(document, "got_bps", "2 Mbit/s")
    assert {row["replications"] for row in rows.values()} == {4}
    assert rows["half"]["difference"] == pytest.approx(-1e6, abs=0.03e6)
    low, high = rows["half"]["difference_low"], rows["half"]["difference_high"]
    assert low < rows["half"]["difference"] < high < 0.0
    assert rows["half"]["verdict"] == "worse"
    assert rows["again"]["verdict"] == "equal"
    assert rows["again"]["difference"] == 0.0
    assert rows["whole"]["difference"] is None
    assert by_design(document, "same_bps", "4 Mbit/s")["half"]["mean"] == 4e6
    measured = rows["half"]["difference"] / 1e6
    (comparison,) = document["comparisons"]
    assert comparison["conclusion"] == [f"It gets {measured:.3f} Mbit/s.", "End."]
    assert comparison["complete"] is True


def test_pairs_narrow_the_interval(forebay: front.Forebay, beyond: Path) -> None:
    """The designs draw the same numbers: paired differences vary less than independent ones.

    With common gaps, N(t) at half rate is the first half of the arrivals at full rate: means and
    their difference are correlated, and the difference scatters less than two independent means,
    whose variances would add up.
    """
    from forebay.run.store import read_table

    assert forebay("reproduce", "tiny", "--out", "results", "--replications", "12").status == 0
    rows = read_table(Path("results/runs.parquet")).to_pylist()
    runs: dict[str, dict[int, float]] = {}
    for row in rows:
        if json.loads(row["point"]) == {"rate_mbps": 2} and row["variant"].startswith("beyond/"):
            runs.setdefault(row["variant"], {})[row["replication"]] = row["got_bps"]
    whole, half = runs["beyond/rates/whole"], runs["beyond/rates/half"]
    assert sorted(whole) == sorted(half) == list(range(12))

    def variance(values: Sequence[float]) -> float:
        mean = math.fsum(values) / len(values)
        return math.fsum((value - mean) ** 2 for value in values)

    apart = variance([half[n] - whole[n] for n in whole])
    assert apart < variance(list(half.values())) + variance(list(whole.values()))


def test_samples_go_with_the_others(forebay: front.Forebay, beyond: Path) -> None:
    """The runs of a comparison are kept with the others and count for no claim: 3 designs, 2 cases
    and 4 replications are 24 more runs, and no claim gets one of them."""
    beyond.rename(beyond.with_suffix(".off"))
    alone = forebay("reproduce", "tiny", "--json").document()
    beyond.with_suffix(".off").rename(beyond)
    document = forebay("reproduce", "tiny", "--json").document()
    assert alone["comparisons"] == []
    assert document["runs"] == alone["runs"] + 24
    assert document["claims"] == alone["claims"]


def test_quick_and_claims(forebay: front.Forebay, beyond: Path) -> None:
    """`--quick` makes fewer cases and replications of a comparison, and `--claims` none."""
    quick = forebay("reproduce", "tiny", "--quick", "--json").document()
    assert {row["case"] for row in quick["comparisons"][0]["rows"]} == {"2 Mbit/s"}
    assert {row["replications"] for row in quick["comparisons"][0]["rows"]} == {2}
    some = forebay("reproduce", "tiny", "--claims", "t1/*", "--json").document()
    assert some["comparisons"] == []


def test_what_differs_by_replication_differs_for_all_designs_alike(
    forebay: front.Forebay, beyond: Path
) -> None:
    """A change by replication is the same for all designs: at rates of 1, 2, 3 and 4 Mbit/s
    whatever the design says, the designs are equal and the mean is 2.5."""
    beyond.write_text(beyond.read_text() + 'by_replication = "numbered"\n')
    module = beyond.with_suffix(".py")
    module.write_text(
        module.read_text()
        + 'def numbered(network, case, n):\n    network.set(RATE, f"{n + 1} Mbit/s")\n'
    )
    rows = by_design(forebay("reproduce", "tiny", "--json").document(), "got_bps", "2 Mbit/s")
    assert rows["half"]["verdict"] == rows["again"]["verdict"] == "equal"
    assert rows["whole"]["mean"] == pytest.approx(2.5e6, rel=0.02)


def test_sections_are_left_out_and_runs_recorded(forebay: front.Forebay, beyond: Path) -> None:
    """A design can leave out sections, and be measured over time: a second flow of 1 Mbit/s that
    one design does not have is missing there, and a series of 1 s of a run of 60 s has 60 samples.
    """
    text = beyond.read_text().replace('change = "half"', 'remove = ["flows.b"]')
    text = text.replace('quantities = "measured"', 'quantities = "counted"\nrecord = true')
    beyond.write_text(
        f"""{text}
scenario = '''{front.STUDY_SCENARIO}
[flows.b]
from = "A"
to = "B"
udp = {{}}
traffic = {{ cbr = {{ rate = "1 Mbit/s", size = "500 B" }} }}
[record]
series = "1 s"
'''
"""
    )
    module = beyond.with_suffix(".py")
    module.write_text(
        f"""{module.read_text()}
def counted(run, case):
    return {{"got_bps": float(len(run.document["groups"])),
            "same_bps": float(len(run.tables["series/links.wire"]["time_s"]))}}
"""
    )
    document = forebay("reproduce", "tiny", "--json").document()
    rows = by_design(document, "got_bps", "2 Mbit/s")
    assert (rows["whole"]["mean"], rows["half"]["mean"]) == (2.0, 1.0)
    assert by_design(document, "same_bps", "2 Mbit/s")["again"]["mean"] == 60.0


def test_the_report_has_a_part_for_it(forebay: front.Forebay, beyond: Path) -> None:
    """The report has a part for a comparison, with verdicts in words as well as colour, in a sound
    page."""
    assert forebay("reproduce", "tiny", "--out", "results").status == 0
    page = Path("results/report.html").read_text()
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert set(parsed.targets) <= set(parsed.ids)
    assert parsed.loads == []
    part = page[page.index('<section id="beyond">') : page.index('<section id="deviations">')]
    for words in (
        "Half &amp; whole",
        "What does half of &lt;the rate&gt; do?",
        "whole rate (baseline)",
        "forebay reproduce tiny",
        "flows.noise.traffic.poisson.rate=&#34;1.0 Mbit/s&#34;",
        "Conclusion.</b> It gets -",
        "<p>End.</p>",
    ):
        assert words in part, words
    assert part.count("<svg") == 2
    # Sign and certainty in words: less for half, equal for the same again.
    row = re.search(r'<th scope="row">2 Mbit/s</th>.*?</tr>', part, re.DOTALL)
    assert row is not None
    assert re.findall(r'class="verdict \w+">([^<]*)</td>', row[0]) == ["\u25bc worse", "equal"]
    assert re.search(r"-(1\.0|0\.9)\d* ± 0\.0\d+", row[0])


def test_the_report_is_built_again_from_files(forebay: front.Forebay, beyond: Path) -> None:
    """The report of a comparison is built again from its files, the same to the byte."""
    assert forebay("reproduce", "tiny", "--out", "results").status == 0
    page = Path("results/report.html").read_text()
    Path("results/report.html").unlink()
    assert forebay("report", "results").status == 0
    assert Path("results/report.html").read_text() == page


def test_the_terminal_and_the_readme_tell_it(forebay: front.Forebay, beyond: Path) -> None:
    """The terminal and the README tell the answer of a comparison."""
    out = forebay("reproduce", "tiny", "--out", "results").out
    assert max(map(len, out.splitlines())) <= 100
    assert "beyond the paper: Half & whole" in out
    assert re.search(r"throughput +half rate +2 worse +-2\.\d\d to -[01]\.\d\d Mbit/s", out)
    assert re.search(r"throughput +again +2 equal ", out)
    readme = Path("results/README.md").read_text()
    assert "### Beyond the paper: Half & whole" in readme
    assert "| throughput | half rate | 2 worse |" in readme
    assert "\nEnd.\n" in readme


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[[comparison]]", "[comparisons]", "comparisons"),
        ('id = "rates"', 'id = "Rates!"', "read id 'Rates!'; allowed are lower-case letters"),
        ('id = "again"', 'id = "half"', "two of the designs are half"),
        ('label = "4 Mbit/s"', 'label = "2 Mbit/s"', "two of the cases are 2 Mbit/s"),
        ("rate_mbps = 4", "rate_mbps = 2", "two of the points are"),
        ("rate_mbps = 2 }", "rate_mbps = 2 }, quick = false", "every case has quick = false"),
        ("quick_replications = 2", "quick_replications = 1", "needs at least 2"),
        ('"got_bps", {', '"gt_bps", {', "no [[metric]] 'gt_bps' (did you mean"),
        ('"whole",', '"hole",', "no [[design]] 'hole'"),
        ('"same_bps", l', '"same", l', "must end in its unit: _bps"),
        (
            '"nominal", unit = "Mbit/s"',
            '"nominal", unit = "Mb/s"',
            "read unit 'Mb/s'; same_bps may",
        ),
        ('better = "more"', 'better = "most"', "better"),
        ('quantity = "same_bps"', 'quantity = "some_bps"', 'gives no "some_bps"'),
        ('quantities = "measured"', 'quantities = "measure"', "no function 'measure'"),
        ('change = "half"', 'change = "halved"', "no function 'halved'"),
        ('change = "half"', "set = { seed = 7 }", "seed is 7"),
        ('change = "half"', 'remove = ["flows.no"]', "no section flows.no"),
        ('change = "half"', 'set = { "flows.no.count" = 2 }', "no section for 'flows.no.count'"),
        ('{rate_mbps} Mbit/s" } },', '{rate} Mbit/s" } },', "KeyError: 'rate'"),
        ("{less}", "{ess_bps}", "no metric 'ess_bps'"),
        ('"same_bps": 1e6', '"same_bps": float("nan")', "same_bps is nan"),
        ('"noise")', '"nose")', "extensions.py, line 9: KeyError"),
        ("/ 2} Mbit/s", "/ 2} Mbit", "design half, case 2 Mbit/s"),
        (
            "case['rate_mbps'] / 2",
            "case['rate'] / 2",
            "case 2 Mbit/s: extensions.py, line 6: KeyError",
        ),
        ("findings.cases[0]", "findings.cases[9]", "conclusion of rates: extensions.py, line 14"),
        ("RATE = ", "import absent\nRATE = ", "ModuleNotFoundError"),
        ("RATE = ", "RATE = [[", "SyntaxError"),
    ],
)
def test_wrong_definitions_are_refused(
    forebay: front.Forebay, beyond: Path, old: str, new: str, expected: str
) -> None:
    """Slips in a comparison are refused with what is wrong."""
    (path,) = [
        file for file in (beyond, beyond.with_suffix(".py")) if old in file.read_text("utf-8")
    ]
    path.write_text(path.read_text().replace(old, new))
    assert expected in forebay.refused("reproduce", "tiny", "--quick")


def test_a_study_imports_its_own_modules_and_records_if_it_asks(
    forebay: front.Forebay, tiny: Path
) -> None:
    """A study can import its own modules, and records its runs if it asks: the run of 60 s has 120
    samples of 500 ms."""
    (tiny / "measure.py").write_text(
        "def count(run):\n    return float(len(run.tables['series/links.wire']['time_s']))\n"
    )
    study = tiny / "study.py"
    text = study.read_text().replace(
        '{"got_bps":', '{"samples_count": measure.count(run), "got_bps":'
    )
    study.write_text(f"from forebay_studies.tiny import measure\n{text}\nRECORD_RUNS = True\n")
    scenario = tiny / "scenario.toml"
    scenario.write_text(f'{scenario.read_text()}\n[record]\nseries = "500 ms"\n')
    assert load_study("tiny").record_runs
    assert forebay("reproduce", "tiny", "--quick", "--out", "results").status == 0
    from forebay.run.store import read_table

    counts = read_table(Path("results/runs.parquet"))["samples_count"].to_pylist()
    assert set(counts) == {120.0}


def test_a_changed_module_of_a_study_is_read_again(tiny: Path) -> None:
    """A changed module of a study is read again when the study is loaded a second time."""
    (tiny / "measure.py").write_text("LEAST = 3\n")
    study = tiny / "study.py"
    study.write_text(
        f"from forebay_studies.tiny.measure import LEAST\n{study.read_text()}".replace(
            "first=3", "first=LEAST"
        )
    )
    assert load_study("tiny").replications.first == 3
    (tiny / "measure.py").write_text("LEAST = 12\n")
    assert load_study("tiny").replications.first == 12


def test_table_ids_with_a_slash_make_sound_pages(forebay: front.Forebay, tiny: Path) -> None:
    """A table id with a slash, as "f9/tail", makes an anchor that links reach."""
    for name in ("paper.toml", "sensitivity.toml", "deviations.toml"):
        path = tiny / name
        path.write_text(path.read_text().replace('"t1"', '"t1/tail"').replace("t1/", "t1/tail/"))
        path.write_text(path.read_text().replace("t1/tail/tail", "t1/tail"))
    assert forebay("reproduce", "tiny", "--quick", "--out", "results").status == 0
    page = Path("results/report.html").read_text()
    parsed = Page(page)
    assert {"t-t1-tail", "table-t1-tail"} <= set(parsed.ids)
    assert set(parsed.targets) <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) for name in parsed.ids)
    assert "t1/tail/" in page
