"""Runs of `--quick`: planned from a record, and the same wherever and however fast they are
made."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.run.jobs import Job, Run, run_jobs
from forebay.study.loading import load_study
from forebay.study.needed import replications_needed
from forebay.study.results import Cell, Outcome, Samples

CLAIMS = ("t1/rate2/got", "t1/rate2/wrong", "t1/rate4/got", "more-gives-more", "all-is-lost")
GRADES = ("exact", "deviates", "exact", "holds", "fails")


def record(
    tiny: Path,
    needed: Mapping[str, int | None],
    events: Sequence[int] = (),
    command: str = "forebay reproduce tiny",
    grades: Mapping[str, str] | None = None,
) -> None:
    """Lay down what a full run of the tiny study recorded: by claim, and events of 2 and 4 Mbit/s.

    Claims not named need 2 replications.
    """
    told = dict(zip(CLAIMS, GRADES, strict=True)) | dict(grades or {})
    document = {
        "study": "tiny",
        "version": "0.0.9",
        "scenario_hash": "0123456789abcdef",
        "command": command,
        "stopped": "",
        "claims": [
            {"id": name, "grade": told[name], "needed": needed.get(name, 2), "replications": 9}
            for name in CLAIMS
        ],
        "points": [
            {"variant": "", "point": {"rate_mbps": rate}, "replications": 9, "events": number}
            for rate, number in zip((2, 4), events, strict=False)
        ],
    }
    (tiny / "result.json").write_text(json.dumps(document))


def planned(forebay: front.Forebay, *options: object) -> tuple[dict[str, Any], dict[int, int]]:
    """The plan of a quick run, and what was run of each rate."""
    document = forebay("reproduce", "tiny", "--quick", "--json", *options).document()
    made = {
        row["point"]["rate_mbps"]: row["replications"]
        for row in document["points"]
        if not row["variant"]
    }
    rows = document["plan"]["rows"]
    assert made == {row["point"]["rate_mbps"]: row["replications"] for row in rows}
    return document["plan"], made


def limits(tiny: Path, text: str) -> None:
    """Give the tiny study other `REPLICATIONS`."""
    path = tiny / "study.py"
    old = "first=3, cap=6, quick_first=2, quick_cap=3, variant=2"
    path.write_text(path.read_text().replace(old, text))


def test_a_point_gets_what_its_most_demanding_claim_needs(
    forebay: front.Forebay, tiny: Path
) -> None:
    """A point gets as many runs as its most demanding claim needs, and others get no more for
    it."""
    limits(tiny, "quick_first=2, quick_cap=9")
    record(tiny, {"t1/rate2/wrong": 5, "t1/rate4/got": 3, "all-is-lost": 4})
    plan, made = planned(forebay)
    assert made == {2: 5, 4: 3}
    assert [row["because"] for row in plan["rows"]] == ["t1/rate2/wrong", "t1/rate4/got"]
    # "two" is recorded at another interval than the runs of its point, so it is one more.
    assert plan["runs"] == 5 + 3 + 1
    assert plan["record"] == {"version": "0.0.9", "scenario_hash": "0123456789abcdef"}


def test_a_statement_needs_all_its_points(forebay: front.Forebay, tiny: Path) -> None:
    """A statement that compares points gets the runs that it needs at all of them."""
    limits(tiny, "quick_first=2, quick_cap=9")
    record(tiny, {"more-gives-more": 7})
    assert planned(forebay)[1] == {2: 7, 4: 7}


def test_numbers_stay_between_the_studys_limits(forebay: front.Forebay, tiny: Path) -> None:
    """Numbers of runs stay between the study's limits, for a claim that takes a thousand runs as
    for one that takes none. A record of before there was `needed` has the replications."""
    limits(tiny, "quick_first=4, quick_cap=6")
    record(tiny, {"t1/rate2/got": 1000, "t1/rate4/got": 2})
    assert planned(forebay)[1] == {2: 6, 4: 4}
    record(tiny, {"t1/rate2/got": None})
    assert planned(forebay)[1] == {2: 6, 4: 4}


def test_an_ordering_needs_its_whole_line(forebay: front.Forebay, tiny: Path) -> None:
    """An ordering needs its whole line, as one claim alone shows no trend; a value that fits needs
    no line."""
    path = tiny / "paper.toml"
    path.write_text(path.read_text().replace('trend = "none"', 'trend = "column"'))
    record(tiny, {"t1/rate2/got": 3}, grades={"t1/rate2/got": "trend"})
    assert planned(forebay, "--claims", "t1/rate2/got")[1] == {2: 3, 4: 3}
    record(tiny, {"t1/rate2/got": 3}, grades={"t1/rate2/got": "close"})
    assert planned(forebay, "--claims", "t1/rate2/got")[1] == {2: 3}


@pytest.mark.parametrize(
    ("limit", "made", "lowered"),
    [
        # The recording is a run of 100 more: 6 * 100 + 5 * 10 + 100 = 750.
        (750, {2: 6, 4: 5}, None),
        (749, {2: 5, 4: 5}, 5),  # 5 * 100 + 5 * 10 + 100 = 650
        (430, {2: 3, 4: 3}, 3),  # 3 * 100 + 3 * 10 + 100 = 430
        (429, {2: 2, 4: 2}, 2),
        (1, {2: 2, 4: 2}, 2),  # two runs are the least that have an interval
    ],
)
def test_a_plan_keeps_to_its_packet_events(
    forebay: front.Forebay, tiny: Path, limit: int, made: dict[int, int], lowered: int | None
) -> None:
    """A plan keeps to its packet events: one limit of replications is lowered for all points, to
    two at least."""
    limits(tiny, f"quick_first=2, quick_cap=9, quick_events={limit}")
    record(tiny, {"t1/rate2/got": 6, "t1/rate4/got": 5}, events=(100, 10))
    plan, done = planned(forebay)
    assert done == made
    assert plan["lowered_to"] == lowered
    assert plan["events"] == 100 * made[2] + 10 * made[4] + 100
    assert plan["limit_events"] == limit


def test_shorter_runs_have_fewer_events(forebay: front.Forebay, tiny: Path) -> None:
    """Shorter runs have fewer events: 30 of 60 s are half the events, of 2 * 100 + 2 * 10 and a
    recording of 100."""
    limits(tiny, "quick_first=2, quick_overrides=('duration=\"30 s\"',)")
    record(tiny, {}, events=(100, 10))
    assert planned(forebay)[0]["events"] == 160


def test_without_a_record_all_get_the_first(forebay: front.Forebay, tiny: Path) -> None:
    """Without a record all points get the first number of runs, and a quick or partial result is
    not taken for the record of a full run."""
    limits(tiny, "quick_first=3, quick_cap=9")
    assert planned(forebay)[1] == {2: 3, 4: 3}
    for command in ("forebay reproduce tiny --quick", "forebay reproduce tiny --claims 't1/*'"):
        record(tiny, {"t1/rate2/got": 8}, command=command)
        plan, made = planned(forebay)
        assert made == {2: 3, 4: 3}
        assert plan["record"] is None
        # 2 Mbit/s in packets of 500 B are 30,000 in 60 s, 4 Mbit/s twice as many; three runs of
        # each, and a recording of the first; five events for each packet.
        assert plan["events"] == 5 * (3 * 30_000 + 3 * 60_000 + 30_000)
        assert plan["estimated"]


def test_a_plan_without_a_record_says_what_it_costs(forebay: front.Forebay, tiny: Path) -> None:
    """A plan without a record says what it costs, estimated from what sources send."""
    limits(tiny, "quick_first=2, quick_events=1_000_000")
    told = " ".join(forebay("reproduce", "tiny", "--quick").out.split())
    # As above, with two runs of each.
    assert "5 runs, about 1 million packet events of 1 million allowed" in told
    assert "; the fewest runs that have intervals take more" in told
    assert "estimated from what sources send, as no full run is recorded" in told


def test_a_fixed_number_is_that_everywhere(forebay: front.Forebay, tiny: Path) -> None:
    """A fixed number of replications is that everywhere."""
    record(tiny, {"t1/rate2/got": 3})
    plan, made = planned(forebay, "--replications", "4")
    assert made == {2: 4, 4: 4}
    assert {row["because"] for row in plan["rows"]} == {"--replications"}


def test_a_damaged_record_is_refused(forebay: front.Forebay, tiny: Path) -> None:
    """A damaged record is refused by name, without a traceback."""
    for text in ("{", "[]", '{"command": 3}', '{"command": "", "stopped": ""}'):
        (tiny / "result.json").write_text(text)
        message = forebay.refused("reproduce", "tiny", "--quick")
        assert str(tiny / "result.json") in message
        assert "forebay reproduce tiny" in message
    # A full run makes a sound one again.
    assert forebay("reproduce", "tiny", "--out", tiny).status == 0
    assert planned(forebay)[0]["record"] is not None


def test_fewer_than_two_runs_are_refused(forebay: front.Forebay, tiny: Path) -> None:
    """Fewer than two runs are refused: no interval can be made of them."""
    limits(tiny, "quick_first=1")
    assert "quick_first is 1" in forebay.refused("reproduce", "tiny", "--quick")


def needed(tiny: Path, deviation: float) -> dict[str, int]:
    """Returns the runs that claims need if nine values have the published mean and a standard
    deviation."""
    limits(tiny, "quick_cap=9")
    outcome = Outcome(load_study("tiny"), Samples())
    for rate in (2, 4):
        for number in range(9):
            value = rate * 1e6 + (number % 3 - 1) * deviation * (8 / 6) ** 0.5
            outcome.samples.add(Cell.of({"rate_mbps": rate}), number, {"got_bps": value})
    return replications_needed(outcome)


def test_what_a_grade_takes(tiny: Path) -> None:
    """Runs needed for a numeric grade follow from the spread of the values.

    Nine values, three each at the mean and as far below and above, of a standard deviation of
    10 kbit/s. `exact` takes a half-width of 40 kbit/s at
    2 Mbit/s (2 %). Of n runs the standard deviation estimated is in nine of ten cases at most
    10 kbit/s * sqrt(chi2(n-1; 0.9) / (n-1)), and the half-width that times t(n-1; 0.975) / sqrt(n):
    for n = 2, 10 * sqrt(2.706) * 12.706 / 1.414 = 147.8; for 3, 10 * sqrt(4.605 / 2) * 4.303 /
    1.732 = 37.7, which is narrow enough. At 4 Mbit/s (80 kbit/s) as well: 3.
    With 20 kbit/s: 3 give 75.4, 4 give 20 * sqrt(6.251 / 3) * 3.182 / 2 = 45.9, and
    5 give 20 * sqrt(7.779 / 4) * 2.776 / 2.236 = 34.6: 5, and 3 at 4 Mbit/s.
    With 50 kbit/s the nine give 50 * 2.306 / 3 = 38.4, so that the claim is exact; but other nine
    may be as far apart as 38.4 * sqrt(13.36 / 8) = 49.7. So it is taken as close, to 200 kbit/s:
    3 give 188.5. With 60 kbit/s 3 give 226 and 4 give 137.8.
    """
    found = needed(tiny, 10e3)
    assert (found["t1/rate2/got"], found["t1/rate4/got"]) == (3, 3)
    found = needed(tiny, 20e3)
    assert (found["t1/rate2/got"], found["t1/rate4/got"]) == (5, 3)
    assert needed(tiny, 50e3)["t1/rate2/got"] == 3
    assert needed(tiny, 60e3)["t1/rate2/got"] == 4
    assert needed(tiny, 0.0)["t1/rate2/got"] == 2


def test_what_is_out_of_reach(tiny: Path) -> None:
    """A claim out of reach gets two runs, and one that more runs may decide gets those that it
    takes.

    With 200 kbit/s at 2 Mbit/s nine runs give 200 * sqrt(13.36 / 8) * 2.306 / 3 = 198.7 and are
    close. With 220 kbit/s they are 218.6 and imprecise; but in half of all cases no more than
    220 * sqrt(7.344 / 8) * 2.306 / 3 = 162.0, which is below 200 from 7 on:
    7 give 220 * sqrt(5.348 / 6) * 2.447 / 2.646 = 192.1, and 6 give
    220 * sqrt(4.351 / 5) * 2.571 / 2.449 = 215.4. With 500 kbit/s there is no hope.
    """
    assert needed(tiny, 200e3)["t1/rate2/got"] == 9
    assert needed(tiny, 220e3)["t1/rate2/got"] == 7
    assert needed(tiny, 500e3)["t1/rate2/got"] == 2


def test_what_a_sentence_takes(tiny: Path) -> None:
    """Runs needed for a statement follow from the spread at its points.

    4 Mbit/s is more than 2 Mbit/s if both half-widths together are below 2 Mbit/s: of standard
    deviations of 600 kbit/s, as above, 3 runs give 2 * 2262 kbit/s, 4 give 2 * 1378, 5 give
    2 * 1038 and 6 give 2 * 600 * sqrt(9.236 / 5) * 2.571 / 2.449 = 2 * 856 kbit/s.
    """
    assert needed(tiny, 600e3)["more-gives-more"] == 6


def without_time(path: Path) -> dict[str, Any]:
    """A result but for the time that it took."""
    document: dict[str, Any] = json.loads(path.read_text())
    document.pop("wall_s")
    return document


@pytest.mark.parametrize("options", [(), ("--quick",)])
def test_the_same_digits_at_any_speed(
    forebay: front.Forebay, tiny: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Results have the same digits at any speed: neither the machine, its load, nor the order in
    which runs end matters.

    Once on one core, once on three, once by workers that are slow and hand over last runs first.
    """
    record(tiny, {"t1/rate2/got": 3}, events=(100_000, 200_000))
    results = []
    for number, jobs in enumerate((1, 3, 2)):
        if number == 2:
            monkeypatch.setattr("forebay.study.runs.run_jobs", _slow_and_backwards)
        out = tiny.parent / f"out{number}"
        assert forebay("reproduce", "tiny", *options, "--jobs", jobs, "--out", out).status == 0
        results.append(without_time(out / "result.json"))
    assert results[0] == results[1] == results[2]
    assert results[0]["stopped"] == ""


def _slow_and_backwards(
    jobs: Sequence[Job], done: Callable[[int, Run], None], threads: int, tick: Any
) -> None:
    found: dict[int, Run] = {}
    run_jobs(jobs, found.__setitem__, threads)
    for index in sorted(found, reverse=True):
        time.sleep(0.05)
        tick([1.0] * len(jobs))
        done(index, found[index])


def test_the_plan_is_told(forebay: front.Forebay, tiny: Path) -> None:
    """The plan is printed: points, runs, events, and what was lowered to stay within the limit."""
    limits(tiny, "quick_first=2, quick_cap=9, quick_events=430_000_000")
    record(tiny, {"t1/rate2/got": 6, "t1/rate4/got": 5}, events=(100_000_000, 10_000_000))
    told = (
        "plan: 2 grid points, 7 runs, about 430 million packet events of 430 million allowed; "
        "at most 3 replications, to stay within that"
    )
    assert told in " ".join(forebay("reproduce", "tiny", "--quick").out.split())
