"""The tables that a run is shown as, from what the engine declares of its columns."""

from __future__ import annotations

from typing import Any

import pytest

from forebay.run.columns import columns, kinds, percentile_note, shown_kinds
from forebay.run.shown import Most, shown_tables


def flow(name: str, delivered: int, **others: float) -> dict[str, Any]:
    """A row of a flow, of which as many packets were delivered, each after 12.5 ms."""
    counts = dict.fromkeys(("sent_packets", "dropped_packets", "marked_packets"), 0)
    rates = dict.fromkeys(("throughput_bps", "goodput_bps"), 0.0)
    delays = {f"{which}_delay_s": 0.0125 for which in ("mean", "min", "p50", "p95", "p99", "p999",
                                                       "max")}  # fmt: skip
    return {"name": name, "delivered_packets": delivered, **counts, **rates, **delays, **others}


def test_every_head_is_in_a_table() -> None:
    """Every column that is declared to be shown is in a table, no two of a table in one place."""
    assert set(shown_kinds()) == set(kinds())
    for kind, titles in ((kind.name, kind.titles) for kind in shown_kinds().values()):
        having = [column for column in columns(kind).values() if column.head]
        assert set(titles) == {column.table for column in having} - {"tcp"}
        for table in titles:
            places = [column.place for column in having if column.table == table and column.place]
            assert sorted(places) == list(range(1, len(places) + 1))


def test_a_percentile_of_too_few_packets_is_not_shown() -> None:
    """A percentile of too few packets is not shown: the largest of 99 delays is not what 99 % do
    not exceed."""
    rows = [flow("few", 99), flow("enough", 100), flow("none", 0)]
    main, delays = shown_tables("flows", rows)
    title, heads, cells = delays
    assert title == "one-way delay: percentiles over packets"
    assert heads == ["name", "least", "median", "95 %", "99 %", "99.9 %", "largest"]
    assert cells == [
        ["few", "12.50 ms", "12.50 ms", "12.50 ms", "-", "-", "12.50 ms"],
        ["enough", "12.50 ms", "12.50 ms", "12.50 ms", "12.50 ms", "-", "12.50 ms"],
    ]
    assert [row[-1] for row in main[2]] == ["12.50 ms", "12.50 ms", "-"]


def test_a_percentile_is_noted_where_it_arrives_too() -> None:
    """Percentiles of what a host received are noted by what it received, not by what it sent."""
    column = columns("hosts")["received_p99_delay_s"]
    row = {"delivered_packets": 1000, "received_packets": 99}
    assert percentile_note(column, [row], "") == "few samples"
    assert percentile_note(column, [{**row, "received_packets": 100}], "") == ""


def test_columns_without_anything_are_left_out() -> None:
    """Columns without anything are left out, and those with a single mark are shown."""
    (_, heads, _), *_ = shown_tables("flows", [flow("a", 1), flow("b", 1)])
    assert "marked" not in heads
    (_, heads, cells), *_ = shown_tables("flows", [flow("a", 1), flow("b", 1, marked_packets=1)])
    assert [row[heads.index("marked")] for row in cells] == ["0", "1"]
    (_, heads, _), *_ = shown_tables("flows", [flow("a", 1, timeouts=2)], wide=True)
    assert heads[-2:] == ["retransmissions", "timeouts"]


@pytest.mark.parametrize(
    ("idle", "told"), [(0, ""), (1, "; 1 idle one left out"), (2, "; 2 idle ones left out")]
)
def test_links_are_counted_over_precedences(idle: int, told: str) -> None:
    """Links are counted over all precedences, and an idle one has no row.

    1000 + 234 packets, of which 117 of 234 were dropped; the queue of 3.25 packets has two
    decimals, the largest of 12 none.
    """
    used = {"name": "wire", "utilization": 0.5, "throughput_bps": 5e6, "drops": 0, "marks": 0,
            "threshold_marks": 7, "mean_queue_packets": 3.25, "max_queue_packets": 12,
            "arrived_packets": [1000, 234], "dropped_packets": [0, 117]}  # fmt: skip
    unused = dict.fromkeys(used, 0) | {
        "name": "idle", "arrived_packets": [0, 0], "dropped_packets": [0, 0],
    }  # fmt: skip
    main, by_precedence = shown_tables("links", [used] + [unused] * idle)
    assert by_precedence == (
        "links by precedence (in packets; of meters 0 is green, 1 yellow, 2 red)",
        ["name", "arrived", "dropped", "of arrived"],
        [
            ["wire, precedence 0", "1 000", "0", "0.00 %"],
            ["wire, precedence 1", "234", "117", "50.00 %"],
        ],
    )
    assert [main] == [
        (
            f"links (queues in packets{told})",
            ["name", "throughput", "use", "arrived", "dropped", "ThM", "mean queue", "max queue"],
            [["wire", "5.00 Mbit/s", "50.00 %", "1 234", "0", "7", "3.25", "12"]],
        )
    ]  # fmt: skip


@pytest.mark.parametrize(("flows", "told"), [(1, "1 flow, by group"), (26, "26 flows, by group")])
def test_flows_are_counted_in_words(flows: int, told: str) -> None:
    """Flows of groups are counted above their table, and one is not several."""
    (title, _, _), *_ = shown_tables("groups", [flow("a", 1, flows=flows)])
    assert title == told


def test_links_of_one_precedence_have_no_further_table() -> None:
    """Links where packets of one precedence came have no table by precedence: it would say the
    same again."""
    row = {"name": "wire", "throughput_bps": 1e6, "arrived_packets": [1000, 0, 0]}
    assert len(list(shown_tables("links", [row]))) == 1


def test_long_tables_keep_first_rows_and_extremes() -> None:
    """Long tables keep their first rows and those with the least and the largest of what matters,
    and say how many they leave out.

    Of 50 flows the 40th has the largest throughput and the 30th the least; nothing else differs.
    """
    rates = {29: 0.5e6, 39: 9e6}
    rows = [flow(f"f{n}", 50, throughput_bps=rates.get(n, 1e6)) for n in range(50)]
    most = Most(20, 5, "the file has all")
    (title, _, cells), *_ = shown_tables("flows", rows, most=most)
    assert [row[0] for row in cells] == ["f0", "f1", "f2", "f3", "f4", "f29", "f39"]
    assert title == "flows: the first 5 and extremes; 43 more rows: the file has all"
    assert all(len(cells) == 20 for _, _, cells in shown_tables("flows", rows[:20], most=most))
