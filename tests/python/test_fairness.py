"""Time to fairness: of series whose shares are known, and what is said where it has no value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import front
import pytest

from forebay import Network
from forebay.errors import UserError
from forebay.run.columns import kinds
from forebay.run.expressions import read
from forebay.run.jobs import Run
from forebay.run.results import Results
from forebay.run.rows import Recorded

BOTH = "time_to_fairness(groups[*].goodput, 10 %)"


def run_of(flows: dict[str, int], *samples: tuple[float, ...]) -> Run:
    """A run with groups of so many flows, and with series of samples every 2 s."""
    groups = [{"name": name, "flows": number, "goodput_bps": 1.0} for name, number in flows.items()]
    document: dict[str, Any] = {**{kind: [] for kind in kinds()}, "groups": groups, "flows": groups}
    times = [2.0 * number for number in range(1, len(samples) + 1)]
    tables = {
        f"series/flows.{name}": {"time_s": times, "goodput_bps": [each[at] for each in samples]}
        for at, name in enumerate(flows)
    }
    return Run(document, tables)


@pytest.mark.parametrize(
    ("flows", "samples", "time"),
    [
        # (1 - 0.1)/2 is 45 %: 46 to 54 is within it, 44 to 56 is not (RFC 5166, section 2.3).
        ({"a": 1, "b": 1}, [(9, 1), (56, 44), (54, 46), (1, 1)], 4.0),
        # What was near once and left again counts from the last time.
        ({"a": 1, "b": 1}, [(1, 1), (9, 1), (1, 1)], 4.0),
        # Always near: from the begin.
        ({"a": 1, "b": 1}, [(1, 1), (1, 1)], 0.0),
        # Nothing is delivered: there are no shares.
        ({"a": 1, "b": 1}, [(0, 0), (1, 1)], 2.0),
        # Three flows share with one: 75 % and 25 % are fair, and 50 % each is not.
        ({"a": 3, "b": 1}, [(1, 1), (3, 1), (3, 1)], 2.0),
        # Of three groups each is looked at: 30 % is within a tenth of a third, 36.9 % is not.
        ({"a": 1, "b": 1, "c": 1}, [(31, 32.1, 36.9), (30.5, 34, 35.5)], 2.0),
    ],
)
def test_the_time_is_that_of_the_last_sample_that_is_far(
    flows: dict[str, int], samples: list[tuple[float, ...]], time: float
) -> None:
    """The time is that of the last sample in which a share is more than a tenth of the fair one
    away from it."""
    answer = read(BOTH, "quantities").of(Recorded(run_of(flows, *samples)))
    assert answer.value == time


def test_groups_can_be_named_and_computed_with() -> None:
    """Groups can be named one by one, and the time computed with: others do not count."""
    run = run_of({"a": 1, "b": 1, "c": 1}, (1, 1, 50), (9, 1, 0), (1, 1, 7))
    text = "time_to_fairness(groups.a.goodput, flows.b.goodput, 10 %) - 3 s"
    found = read(text, "quantities")
    assert found.of(Recorded(run)).value == 1.0
    assert found.unit.symbol == "s"
    assert found.needs_series
    assert not read("groups.a.goodput / 2", "quantities").needs_series
    # A name for it needs them as well.
    assert read("x + 1 s", "quantities", {"x": found.called("x")}).needs_series


def test_over_replications_it_has_an_interval() -> None:
    """Over replications it has a mean with its interval, as every expression: 2 s and 4 s."""
    ends = [(9, 1), (1, 1), (1, 1)], [(9, 1), (9, 1), (1, 1)]
    results = Results([run_of({"a": 1, "b": 1}, *samples) for samples in ends])
    assert results.values_of(BOTH) == [2.0, 4.0]
    assert results.interval_of(BOTH).mean == 3.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOTH, "at the end, 4 s, the share of a is 90.0 %, and fair is 50.0 %"),
        ("time_to_fairness(groups.a.goodput, 10 %)", "a single group shares with none"),
    ],
)
def test_without_fairness_there_is_a_reason(text: str, reason: str) -> None:
    """Where shares are not fair at the end there is no time, but a reason."""
    answer = read(text, "quantities").of(Recorded(run_of({"a": 1, "b": 1}, (1, 1), (9, 1))))
    assert (answer.value, answer.reason, answer.absent) == (None, reason, False)


def test_without_series_there_is_a_reason() -> None:
    """Without series the reason says how to have them."""
    run = run_of({"a": 1, "b": 1}, (1, 1))
    for document in (run.document, Recorded(Run(run.document, {}))):
        answer = read(BOTH, "quantities").of(document)
        assert answer.value is None
        assert "record.series" in answer.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("time_to_fairness(flows[*].goodput, 10 %)", "no series of single flows"),
        ("time_to_fairness(links[*].throughput, 10 %)", "no series of single flows"),
        ("time_to_fairness(groups[*].mean_delay, 10 %)", "takes throughput or goodput of groups"),
        ("time_to_fairness(2 * groups.a.goodput, 10 %)", "takes throughput or goodput of groups"),
        ("time_to_fairness(10 %)", "takes throughput or goodput of groups"),
        ("time_to_fairness()", "takes throughput or goodput of groups"),
        ("time_to_fairness(groups[*].goodput, 5 s)", "a percentage is"),
        ("time_to_fairness(groups[*].goodput, groups.a.goodput / 2)", "a percentage is"),
    ],
)
def test_what_is_wrong_is_named(text: str, told: str) -> None:
    """What is wrong with its arguments is said."""
    with pytest.raises(UserError, match=told):
        read(text, "quantities")


LATE = """
duration = "20 s"

[links.core]
from = "A"
to = "B"
rate = "10 Mbit/s"
delay = "5 ms"
queue.fq_codel = {}

[flows]
old = { from = "A", to = "B", tcp = {} }
new = { from = "A", to = "B", start = "8 s", tcp = {} }
"""


def test_a_fair_queue_is_fair_at_once(forebay: front.Forebay, tmp_path: Path) -> None:
    """Under fair queueing the flow that comes at 8 s has its share in the first sample after it, as
    two queues are served in turn (RFC 8290): the last one that is far ends at 8 s. Without series
    the command refuses, and so does a sweep, whose journal keeps none."""
    path = tmp_path / "late.toml"
    path.write_text(LATE, encoding="utf-8")
    text = "time_to_fairness(groups[*].throughput, 25 %)"
    assert "record.series" in forebay.refused("run", path, "--quantity", text)
    recorded = ("--set", "record.series=4 s")
    for more, place in (((), "derived"), (("--replications", 2), "mean")):
        words = ("run", path, *recorded, *more, "--quantity", text, "--json")
        found = forebay(*words).document()["derived"][text]
        assert (found if place == "derived" else found[place]) == 8.0
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f"scenario = 'late.toml'\nquantities = ['{text}']\n", encoding="utf-8")
    assert "a journal keeps none" in forebay.refused("sweep", sweep)


def test_python_has_it_too() -> None:
    """Results of a network with recorded series have it, and others say what they lack."""
    net = Network("late", duration="20 s")
    net.link("core", "A", "B", rate="10 Mbit/s", delay="5 ms", queue="fq_codel")
    net.flows("old", "A", "B", tcp={})
    net.flows("new", "A", "B", start="8 s", tcp={})
    text = "time_to_fairness(groups[*].throughput, 25 %)"
    with pytest.raises(UserError, match=r"record\.series"):
        net.run().interval_of(text)
    assert net.record(series="4 s").run().values_of(text) == [8.0]
