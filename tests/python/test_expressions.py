"""Expressions over the results of a run: what they mean, their units, and what is refused."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import UserError
from forebay.run.columns import columns, kinds
from forebay.run.expressions import FUNCTIONS, Answer, Expression, derived, named, read
from forebay.run.quantities import lacking_words, summarised
from forebay.run.rows import SHORT_FORMS
from forebay.units import UNITS


def _flow(name: str, goodput: float, **others: Any) -> dict[str, Any]:
    return {"name": name, "group": name.partition("[")[0], "goodput_bps": goodput, **others}


DOCUMENT: dict[str, Any] = {
    **{kind: [] for kind in kinds()},
    "events": 1000,
    "measured_s": 4.0,
    "groups": [
        {
            "name": "a", "tags": ["video", "paid"], "goodput_bps": 3e6, "throughput_bps": 4e6,
            "sent_packets": 1000, "dropped_packets": 50, "delivered_packets": 950,
            "mean_delay_s": 0.03, "min_delay_s": 0.01, "p99_delay_s": 0.09, "flows": 2,
        },
        {
            "name": "b c", "tags": ["video"], "goodput_bps": 1e6, "throughput_bps": 2e6,
            "sent_packets": 0, "dropped_packets": 0, "delivered_packets": 50,
            "mean_delay_s": 0.02, "min_delay_s": 0.01, "p99_delay_s": 0.05, "flows": 1,
        },
        {"name": "up-load", "goodput_bps": 4e6, "delivered_packets": 0, "mean_delay_s": 0.0},
    ],
    "flows": [_flow("a[0]", 1e6), _flow("a[1]", 2e6), _flow("b c", 1e6), _flow("up-load", 4e6)],
    "links": [
        {"name": "up.link 1", "tags": ["edge"], "drops": 3, "arrived_packets": [7, 5, 0, 0],
         "departed_bytes": [1000, 0, 0, 0], "departed_packets": [4, 0, 0, 0], "utilization": 0.5},
        {"name": "core", "drops": 0, "arrived_packets": [1, 0, 0, 0], "utilization": 0.25,
         "throughput_bps": 2.5e6},
        {"name": "core.reverse", "drops": 1, "arrived_packets": [2, 0, 0, 0], "utilization": 0.1},
    ],
    "classes": [{"name": "up.link 1[0]", "link": "up.link 1", "class": 0, "drops": 2}],
    "calls": [{"name": "a[1]", "blocked": 3, "admitted": 9}, {"name": "b c", "blocked": 1}],
}  # fmt: skip
"""Two groups with a tag, one without; a link whose name needs quotes; numbers made up."""


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("flows.a.goodput_bps", 3e6, "bit/s"),
        ("flows.a.goodput", 3e6, "bit/s"),
        ("flows.a[1].goodput", 2e6, "bit/s"),
        ('flows."b c".goodput', 1e6, "bit/s"),
        ("flows.b c.goodput_bps", 1e6, "bit/s"),
        ("flows.up-load.goodput-flows.a.goodput", 1e6, "bit/s"),
        ("links.core.reverse.drops - 3*links.core.drops", 1.0, "packets"),
        ("links.'up.link 1'.drops / links.\"up.link 1\".arrived_packets", 0.25, "share"),
        ("events / measured_s", 250.0, "1/s"),
        # 1000 B are 8000 bit: in 4 s, 2000 bit/s, or a share of 1/5 of 10 kbit/s.
        ('links."up.link 1".departed_bytes', 1000.0, "B"),
        ('links."up.link 1".departed_bytes / measured_s', 2000.0, "bit/s"),
        ('links."up.link 1".departed_bytes / measured_s / 10 kbit/s', 0.2, "share"),
        ('links."up.link 1".departed_bytes/links."up.link 1".departed_packets', 2e3, "bit/packet"),
        ("2 kB + 1 kbit", 2125.0, "B"),
        ("34 Mbit/s * 20 ms / 1 kB", 85.0, "share"),
        ("1.5e3 us", 1.5e-3, "s"),
        ("2 min + 3 /s * 4 s * 1 s", 132.0, "s"),
        ("10 /min(2, 4)", 5.0, "number"),
        ("5 % + 1", 1.05, "share"),
        ("-2 ** 2", -4.0, "number"),
        ("(1 + 2) * 3 - 4 / 2", 7.0, "number"),
        ("links.core.drops + 1", 1.0, "packets"),
        ("max(links.core.utilization, 30 %)", 0.3, "share"),
        ("sqrt(flows.a.goodput * flows.a.goodput)", 3e6, "bit/s"),
        ("exp(log(2)) + abs(-3)", 5.0, "number"),
        ("sum(groups[video].goodput)", 4e6, "bit/s"),
        ("sum(groups[*].goodput)", 8e6, "bit/s"),
        ("mean(flows[video].goodput)", 4e6 / 3, "bit/s"),
        ("median(flows[*].goodput)", 1.5e6, "bit/s"),
        ("count(flows[video].goodput) * 2", 6.0, "number"),
        ("count(rings[*].drops)", 0.0, "number"),
        # Jain's index of 1, 2 and 1: (1 + 2 + 1)^2 / (3 (1 + 4 + 1)) = 16/18.
        ("jain(flows['video'].goodput)", 16 / 18, "share"),
        # The engine's rank: the first value that at least that share of all does not exceed.
        ("percentile(flows[*].goodput, 75)", 2e6, "bit/s"),
        ("percentile(flows[*].goodput, 76 %)", 4e6, "bit/s"),
        # The least of rates is the worst, the greatest of all else.
        ("worst(groups[video].goodput)", 1e6, "bit/s"),
        ("best(groups[video].goodput)", 3e6, "bit/s"),
        ("worst(links[*].drops)", 3.0, "packets"),
        ("best(links[*].utilization)", 0.1, "share"),
        ("max(groups[video].goodput - 2 Mbit/s)", 1e6, "bit/s"),
        ("sum(groups[video].goodput * groups[video].goodput) / 1 Mbit/s", 1e7, "bit/s"),
        # Rows have the tags of their groups and links.
        ("sum(calls[video].blocked)", 4.0, "calls"),
        ("sum(classes[edge].drops)", 2.0, "packets"),
        ("sum(links[edge].drops)", 3.0, "packets"),
        # Short forms.
        ("flows.a.loss_ratio", 0.05, "share"),
        ("flows.a.loss", 0.05, "share"),
        ("flows.a.queueing_delay", 0.02, "s"),
        ("groups.a.p99_queueing_delay_s", 0.08, "s"),
        ("flows.a.power", 4e6 / 0.03, "bit/s²"),
        ("flows.a.share", 3 / 8, "share"),
        ("sum(groups[*].share)", 1.0, "share"),
        # 2.5 Mbit/s in a quarter of the time; 3 of 10 Mbit/s.
        ("links.core.rate", 1e7, "bit/s"),
        ("flows.a.goodput / links.core.rate", 0.3, "share"),
        # Truth values.
        ("flows.a.mean_delay < 31 ms", 1.0, "share"),
        ("1 < 2 <= 2 and not 3 >= 4 or 1 > 2", 1.0, "share"),
        ("flows.a.goodput > 0 and links.core.drops > 0", 0.0, "share"),
    ],
)
def test_expressions_have_value_and_unit(text: str, value: float, unit: str) -> None:
    """An expression has the value and the unit that follow from those of its parts."""
    found = read(text, "quantities")
    answer = found.of(DOCUMENT)
    assert answer.value is not None, answer
    assert math.isclose(answer.value, value, rel_tol=1e-12), answer
    assert found.unit.symbol == unit


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("flows.a.goodput / links.core.drops", "division by zero"),
        ('flows."b c".loss_ratio', 'flows."b c".sent_packets is 0'),
        ("sqrt(links.core.drops - 1)", "sqrt has no value for -1"),
        ("log(0)", "log has no value for 0"),
        ("(0 - 8) ** 0.5", "has no value"),
        ("9 ** 9 ** 9 ** 9", "has no value"),
        # No packet was delivered; of 50 none is beyond the 99th percentile.
        ("flows.up-load.mean_delay", "stands on 0 delivered packets, and needs 1"),
        ('flows."b c".p99_delay * 1', "stands on 50 delivered packets, and needs 100"),
        ("worst(groups[video].p99_delay)", 'groups."b c".p99_delay_s stands on 50'),
        ('calls."b c".admitted + 1', "no admitted"),
        ("mean(rings[*].drops)", "mean of no rows"),
        ("jain(links[edge].drops - 3)", "division by zero"),
    ],
)
def test_what_has_no_value_has_a_reason(text: str, reason: str) -> None:
    """What has no value has a reason in its place."""
    answer = read(text, "quantities").of(DOCUMENT)
    assert answer.value is None
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("links.cor.drops", "no link 'cor'; there are up.link 1, core, core.reverse"),
        ("1 + rings.r.drops", "no ring 'r'; there are none"),
        ("sum(groups[vidoe].goodput)", 'no groups with the tag "vidoe" (did you mean "video"?)'),
        ("sum(links[video].drops)", "tags there are edge"),
        ("sum(hosts[x].mean_delay)", "there are no tags"),
    ],
)
def test_what_a_run_does_not_have_is_absent(text: str, reason: str) -> None:
    """What a run does not have is absent, which is more than without a value."""
    answer = read(text, "quantities").of(DOCUMENT)
    assert answer.absent
    assert reason in answer.reason


def test_a_percentile_alone_is_shown_and_noted() -> None:
    """A percentile of too few samples is a value of its own, noted as such, and nothing to compute
    with."""
    alone = read('flows."b c".p99_delay', "quantities")
    assert alone.of(DOCUMENT) == Answer(0.05, few=True)
    assert summarised(alone, [alone.of(DOCUMENT)] * 3)["note"] == "few samples"


def test_lists_of_single_flows_are_whole() -> None:
    """A list of single flows is refused where a group of very many has no row for each."""
    document = {**DOCUMENT, "groups": [{**DOCUMENT["groups"][0], "flows": 5000, "spread": {}}]}
    answer = read("mean(flows[video].goodput)", "quantities").of(document)
    assert answer.absent
    assert "5000 flows, and no row for each; groups[video] is over groups" in answer.reason
    assert read("mean(groups[video].goodput)", "quantities").of(document).value == 3e6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flows.a.mean_delay + flows.a.goodput", "both sides of + must have one unit; read s and "),
        ("events - 1 s + 2", "read number and s"),
        ("1 < 2 ms", "both sides of < must have one unit; read number and s"),
        ("min(1 s, 2 B)", "the values of min must have one unit; read s and B"),
        ("links.core.drops + calls.x.blocked", "read packets and calls"),
        ("log(3 s)", "log takes a number or a share; this is in s"),
        ("2 ** (3 s)", "an exponent has no unit"),
        ("flows.a.goodput ** events", "an exponent of bit/s is a number"),
        ("flows.a.goodputt", 'no column of flows is called "goodputt" (did you mean "goodput_bps"'),
        ("flows.a.goodput / flows.a.sentt", 'at flows.a.sentt: no column of flows'),
        ("calls.x.p99_delay", "there are admitted, blocked, blocking_ratio"),
        ("links.core.arrived", '"arrived" may be arrived_bytes or arrived_packets'),
        ("utilization", "write links.NAME.utilization or rings.NAME.utilization"),
        ("evnts", 'did you mean "events"'),
        ("links.drops", "write links.NAME.COLUMN or links[TAG].COLUMN"),
        ("20 msec + 1 s", 'no unit "msec" (did you mean "ms"'),
        ("3 Mbits/s", 'no unit "Mbits/s"'),
        ("flows[video].goodput", "is a list; reduce it by mean"),
        ("worst(links[*].drops) + links[*].drops", "is a list"),
        ("links[*].drops < 3", "single values are compared; reduce a list by worst"),
        ("mean(flows.a.goodput)", "mean takes a list, such as"),
        ("mean(links[*].drops, 3)", "mean takes one value"),
        ("percentile(links[*].drops)", "percentile takes a list and a percentage"),
        ("percentile(links[*].drops, 0.95)", "as 95 or 95 %"),
        ("maen(links[*].drops)", 'no function "maen" (did you mean "mean"'),
        ("events == 3", "values are compared by < <= > >="),
        ("(1 < 2) + 1", "a comparison is true or false"),
        ("not events", "and, or and not take comparisons"),
        ("(1 + 2", "is no expression; allowed are quantities"),
        ("1 +", "is no expression"),
        ("1 2", "is no expression"),
        ("events) + (events", "is no expression"),
        ("1 // 2", "is not allowed; allowed are"),
        ("events.x", "is no"),
        ("__import__('os').system('true')", "is not allowed here"),
        ("(lambda: 1)()", "no quantity of a run"),
        ("max(*links[*].drops)", "is not allowed"),
        ("min(a=1)", "no quantity of a run"),
        ("[1]", '"[" is not allowed here'),
        ("{1}", '"{" is not allowed here'),
        ("1 if 2 else 3", 'no unit "if"'),
        ("", "is empty"),
        ("+".join("1" * 400), "is nested too deeply"),
        ("(" * 300 + "1" + ")" * 300, "is no expression"),
        ("1" * 1001, "has 1001 characters; allowed are 1000"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, expected: str) -> None:
    """What is wrong is named, with the place in the expression and what is allowed."""
    with pytest.raises(UserError) as caught:
        read(text, "quantities")
    assert str(caught.value).startswith("quantities: ")
    assert expected in str(caught.value)


def test_lists_of_different_rows_do_not_go_together() -> None:
    """Lists of different rows do not go together."""
    wrong = read("sum(groups[video].goodput + groups[*].goodput)", "quantities")
    with pytest.raises(UserError, match=r"lists of different rows: \(a, b c\) and \(a, b c, up-"):
        wrong.of(DOCUMENT)


def test_the_nearest_column_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest column is named also where only a part of its name was written."""
    with_window = {**columns("flows"), "mean_cwnd_bytes": columns("links")["arrived_bytes"]}
    monkeypatch.setattr("forebay.run.rows._declared", lambda kind: with_window)
    with pytest.raises(UserError, match='did you mean "mean_cwnd_bytes"'):
        read("flows.a.cwnd_bytes", "quantities")


@pytest.mark.parametrize(
    ("text", "values", "symbol"),
    [
        # A part of a whole, and the same without a value in a replication.
        ("flows.a.goodput / flows.b.goodput", [0.6, 1.0, None], "share"),
        # One rate is 3.5 times the other: 350 % would be read as a share of something.
        ("flows.a.goodput / flows.b.goodput", [0.5, 3.5], "number"),
        ("1 - flows.a.goodput / flows.b.goodput", [-2.5], "number"),
        # Columns that the engine calls shares, and truth values, are percentages whatever they are.
        ("links.core.utilization", [1.5], "share"),
        ("flows.a.goodput < flows.b.goodput", [1.0], "share"),
        # Other units do not depend on values.
        ("flows.a.goodput", [3.5e6], "bit/s"),
        ("flows.a.sent / flows.a.delivered * 1 packet", [3.5], "packets"),
    ],
)
def test_a_quotient_above_1_is_no_percentage(
    text: str, values: list[float | None], symbol: str
) -> None:
    """A quotient that is above 1 is a plain number, together with those beside it."""
    assert read(text, "quantities").unit_of(values).symbol == symbol


def test_names_stand_for_expressions() -> None:
    """Names stand for expressions, also in those below them; their unit goes along."""
    found = derived({"ratio": "flows.a.goodput / 2 Mbit/s", "more": "ratio + 1"}, "derived")
    assert [found[name].of(DOCUMENT).value for name in found] == [1.5, 2.5]
    assert read("more - ratio", "quantities", found).of(DOCUMENT).value == 1.0
    assert read("ratio", "quantities", found).name == "ratio"
    assert found["ratio"].title == "ratio = flows.a.goodput / 2 Mbit/s"
    texts = ["x = events / 1 s", "x * 2 s", "flows.a.power"]
    assert [each.name for each in named(texts, "--quantity")] == ["x", "x * 2 s", "flows.a.power"]
    assert named(texts, "--quantity")[0].title == "x = events / 1 s (1/s)"
    for wrong, why in (
        ({"a b": "1"}, r"derived.a b: a name has letters"),
        ({"min": "1"}, "derived.min: a name has"),
        ({"a": "b", "b": "1"}, 'derived.a: "b": no quantity of a run is called "b"'),
    ):
        with pytest.raises(UserError, match=why):
            derived(wrong, "derived")
    with pytest.raises(UserError, match='"x" is there twice'):
        named(["x = 1", "x = 2"], "--quantity")


def _values(text: str, values: list[float]) -> tuple[Expression, list[Answer]]:
    return read(text, "quantities"), [Answer(value) for value in values]


def test_a_difference_may_be_negative() -> None:
    """The interval of a quantity that cannot be negative ends at 0; that of a difference does
    not.

    Of 0, 0, 0 and 1 the mean is 1/4 and s = 1/2, so that t(3) s / 2 = 3.18 / 4 is more than it.
    """
    row = summarised(*_values("flows.a.mean_delay", [0.0, 0.0, 0.0, 1.0]))
    assert row["low"] == 0.0
    row = summarised(*_values("flows.a.mean_delay * 2", [0.0, 0.0, 0.0, 1.0]))
    assert row["low"] == 0.0
    for text in ("flows.a.mean_delay - 1 ms", "-flows.a.mean_delay", "log(events)"):
        row = summarised(*_values(text, [0.0, 0.0, 0.0, 1.0]))
        assert row["low"] < 0.0
    for name, (_, of, _) in SHORT_FORMS.items():
        assert read(f"{of[0]}.a.{name}", "").nonnegative


def test_a_mean_is_one_of_all_replications() -> None:
    """Where a replication has no value there is no mean, and the reason is told with the point."""
    quantity = read("events / 2", "quantities")
    row = summarised(quantity, [Answer(1.0), Answer(None, "why"), Answer(2.0)])
    assert (row["mean"], row["low"], row["high"], row["note"]) == (None, None, None, "no value")
    assert row["reason"] == "in 1 of 3 replications: why"
    rows = [{"x": x, **row} for x in range(5)]
    assert lacking_words(rows, ["x"]) == [
        "no value of events / 2 at x = 0; x = 1; x = 2 and 2 more: in 1 of 3 replications: why"
    ]
    assert lacking_words([row], []) == [f"no value of events / 2: {row['reason']}"]


def test_every_column_can_be_asked_for() -> None:
    """Every column of every kind of rows can be asked for in its unit."""
    for kind in kinds():
        for name, column in columns(kind).items():
            if column.is_number:
                found = read(f"{kind}.x.{name}", "quantities")
                assert found.unit.symbol == column.unit
                assert found.is_plain
    assert read("wall_s", "quantities").unit is UNITS["s"]


def test_the_guide_has_every_function_and_short_form() -> None:
    """The guide has every function, and every short form with what it stands for."""
    page = (Path(__file__).parents[2] / "docs/guides/quantities.md").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        assert name in page
    for name, (text, _, _) in SHORT_FORMS.items():
        written = re.sub(r"_(s|bps)\b", "", text).replace("{it}", "X")
        if "_queueing_" not in name:
            assert f"| `X.{name.removesuffix('_s').removesuffix('_bps')}` |" in page
            assert f"`{written}`" in page
