"""Sensitivity runs: what other choices do to the claims, in result.json, README and report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.study.loading import load_study
from forebay.study.results import Cell, Outcome, Samples
from forebay.study.sensitivity import sensitivity_of


def block(tiny: Path, ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """The variant of the tiny study, from throughputs in Mbit/s by replication."""
    samples = Samples()
    for variant, values in (("", ours), ("slow", theirs)):
        for number, value in enumerate(values):
            samples.add(Cell.of({"rate_mbps": 2}, variant), number, {"got_bps": value * 1e6})
    (found,) = sensitivity_of(Outcome(load_study("tiny"), samples))
    return found


def test_a_variant_is_held_against_the_study_and_the_paper(tiny: Path) -> None:
    """A variant is compared with the study and with the paper, and shows which claims it moves.

    The differences are -1.0, -1.1 and -0.9: mean -1, standard deviation 0.1, half-width
    t(2; 0.975) / sqrt(3) * 0.1 = 0.248414. From the published 2.00 the study is 0 % away and the
    variant 50 %; from the 9.99 beside it 7.99 / 9.99 = 79.98 % and 8.99 / 9.99 = 89.99 %.
    """
    found = block(tiny, [2.0, 2.2, 1.8], [1.0, 1.1, 0.9])
    assert (found["id"], found["title"], found["why"]) == (
        "slow", "half the rate", "To see it halve.",
    )  # fmt: skip
    assert (found["replications"], found["moved"]) == (3, 2)
    row = found["rows"][0]
    assert (row["claim"], row["published"]) == ("t1/rate2/got", 2.0)
    assert (row["study"], row["variant"], row["difference"]) == (2.0, 1.0, -1.0)
    assert (row["low"], row["high"]) == pytest.approx((-1.248414, -0.751586), abs=1e-5)
    assert [row["claim"] for row in found["rows"]] == ["t1/rate2/got", "t1/rate2/wrong"]
    assert found["error_study"] == pytest.approx((0.0 + 7.99 / 9.99) / 2)
    assert found["error_variant"] == pytest.approx((0.5 + 8.99 / 9.99) / 2)


def test_what_may_be_chance_is_not_moved(tiny: Path) -> None:
    """A difference that may be chance is not moved: differences of -0.1, 0.1 and 0.3 have a
    half-width of t(2; 0.975) / sqrt(3) * 0.2 = 0.497 about 0.1; one pair alone has none; nor have
    equal runs."""
    assert block(tiny, [2.0, 2.0, 2.0], [1.9, 2.1, 2.3])["moved"] == 0
    alone = block(tiny, [2.0], [1.0])
    assert alone["moved"] == 0
    assert alone["rows"][0]["low"] is None
    assert block(tiny, [2.0, 2.1], [2.0, 2.1])["moved"] == 0


def test_only_pairs_count(tiny: Path) -> None:
    """Only pairs with the same random numbers count: of 3 and 2 runs 2 are pairs."""
    found = block(tiny, [2.0, 2.2, 9.0], [1.0, 1.2])
    assert found["replications"] == 2
    assert found["rows"][0]["difference"] == -1.0


def test_a_value_of_zero_has_its_stated_scale(tiny: Path) -> None:
    """Errors of a value of zero are shares of its stated scale: of a full scale of 5 Mbit/s, 2 and
    1 Mbit/s are 40 % and 20 %."""
    path = tiny / "paper.toml"
    scale = 'absolute_tolerance = { full_scale = 5.0, reason = "It is the axis." } },'
    text = path.read_text().replace("values = [2.00, 9.99]", 'values = [0.00, "-"]')
    path.write_text(text.replace('"got_bps" },', f'"got_bps", {scale}', 1))
    found = block(tiny, [2.0, 2.0], [1.0, 1.0])
    assert (found["error_study"], found["error_variant"]) == pytest.approx((0.4, 0.2))


def test_the_readme_shows_the_table(forebay: front.Forebay, tiny: Path) -> None:
    """The README of a study shows the table of variants.

    Half of 2 Mbit/s is 50 % off the published 2.00, and 8.99 / 9.99 = 90 % off the 9.99: the mean
    is 70 %, and half a percent of chance does not change its first digit.
    """
    assert forebay("reproduce", "tiny", "--out", tiny).status == 0
    text = (tiny / "README.md").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("| half the rate |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1:4] == ["2", "2", "2"]
    assert float(cells[5].removesuffix(" %")) == pytest.approx(70.0, abs=0.5)
    assert "<details><summary>half the rate: 2 of 2 claims moved</summary>" in text
    assert "| Table 1, 2 Mbit/s, throughput | 2.00 Mbit/s |" in text.split("### Sensitivity")[1]
    page = (tiny / "report.html").read_text()
    assert page.count(f'<td class="n">{cells[5]}</td>') == 1


def test_parts_and_quick_runs_have_none(forebay: front.Forebay, tiny: Path) -> None:
    """Parts of a study and quick runs have no sensitivity runs."""
    for options in (("--quick",), ("--claims", "t1/*")):
        document = forebay("reproduce", "tiny", *options, "--json").document()
        assert document["sensitivity"] == []
    assert "Sensitivity" not in Path("out/tiny/README.md").read_text()
