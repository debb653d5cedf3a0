"""The cake study: its numbers against the published summary, its sentences, its networks."""

import json
from pathlib import Path

import pytest

from forebay.stats import Interval
from forebay.study.claims import published_measurements
from forebay.study.grades import Grade, Kind, Measurements, grade_statement
from forebay.study.loading import load_study

CAKE = Path(__file__).resolve().parents[2] / "studies" / "cake"
STUDY = load_study("cake")
PAPER = STUDY.paper
SUMMARY = json.loads((CAKE / "summary.json").read_text())

TESTS = {"rrul": "rrul_diffserv", "voip": "tcp_32up_voip_diffserv"}
SERIES = {
    "up_be": "TCP upload BE",
    "up_bk": "TCP upload BK",
    "up_cs5": "TCP upload CS5",
    "up_ef": "TCP upload EF",
    "up_sum": "TCP upload sum",
    "up_avg": "TCP upload avg",
    "down_be": "TCP download BE",
    "down_bk": "TCP download BK",
    "down_cs5": "TCP download CS5",
    "down_ef": "TCP download EF",
    "down_sum": "TCP download sum",
    "down_avg": "TCP download avg",
    "total": "TCP totals",
    "ping_icmp": "Ping (ms) ICMP",
    "ping_be": "Ping (ms) UDP BE",
    "ping_bk": "Ping (ms) UDP BK",
    "ping_ef": "Ping (ms) UDP EF",
    "ping_avg": "Ping (ms) avg",
}


def test_numbers_are_those_of_the_summary() -> None:
    """Every number is the median that the summary has under its cell, series and statistic, with
    the runs that it is of: a slip would make a good cell deviate, or hide one that does."""
    for claim in PAPER.claims:
        point = claim.point
        rates = f"{point['up_mbps']}Mbit-10Mbit"
        name = claim.quantity.removesuffix("_bps").removesuffix("_s")
        series, word = SERIES.get(name, ""), "mean"
        if not series:
            series, word = SERIES[name.rpartition("_")[0]], name.rpartition("_")[2]
        entry = SUMMARY[TESTS[str(point["test"])]][rates][point["queue"]][series][word]
        assert (claim.published, claim.runs) == (entry["median"], entry["n_reps"]), claim.id
        assert claim.unit_size == (1e-3 if series.startswith("Ping") else 1e6)


def test_what_counts_as_a_result() -> None:
    """All 48 rates of single classes are results, and of the 104 single pings the 58 above 55 ms:
    the rest hold the 50 ms of the path and little else."""
    results = [claim for claim in PAPER.claims if claim.kind is Kind.RESULT]
    pings = [claim for claim in PAPER.claims if claim.id.startswith(("ping/i", "ping/b", "ping/e"))]
    assert len(pings) == 104
    above = [claim for claim in pings if claim.published > 55.0]
    rates = [claim for claim in PAPER.claims if claim.id.startswith(("up/", "down/"))]
    assert (len(above), len(rates)) == (58, 48)
    assert {claim.id for claim in results} == {claim.id for claim in [*above, *rates]}
    assert {claim.kind for claim in pings if claim.published <= 55.0} == {Kind.INPUT}


def test_the_studys_sentences_hold_of_the_published_numbers() -> None:
    """Sentences are the study's own, so each must be true of what was measured in 2018."""
    published = published_measurements(PAPER)
    for statement in PAPER.statements:
        assert statement.kind is Kind.RECONSTRUCTION
        assert grade_statement(STUDY.predicates[statement.id](published)) is Grade.HOLDS


def test_a_model_without_queues_fails_the_classes_of_delays() -> None:
    """A model without queues fails every statement on classes of delays: 50 ms of path and half a
    millisecond are close to every ping below 55 ms, and grades alone would not tell them apart."""
    empty = Measurements()
    for claim in PAPER.claims:
        if claim.unit == "ms":
            empty.record(claim.point, claim.quantity, Interval.known(0.0505))
    delays = [entry for entry in PAPER.statements if entry.id.startswith("delay/")]
    assert len(delays) == 26
    for entry in delays:
        assert grade_statement(STUDY.predicates[entry.id](empty)) is Grade.FAILS


def test_quartiles_are_stricter_than_grades() -> None:
    """Values 1 % off are exact by grades, and outside of the quartiles of rates and pings at
    10 Mbit/s, which are less than 1 % apart."""
    shifted = Measurements()
    for claim in PAPER.claims:
        value = 1.01 * claim.published * claim.unit_size
        shifted.record(claim.point, claim.quantity, Interval.known(value))
    for cell in ("10-10/cake", "10-10/cake-diff3"):
        for what in ("rates", "pings"):
            predicate = STUDY.predicates[f"quartiles/{cell}/{what}"]
            assert grade_statement(predicate(shifted)) is Grade.FAILS


@pytest.mark.parametrize(
    ("point", "flows", "queue"),
    [
        ({"test": "rrul", "up_mbps": 1, "queue": "cake_diff4"}, 12, "cake"),
        ({"test": "rrul", "up_mbps": 1, "queue": "fq_codel"}, 12, "tbf"),
        ({"test": "voip", "up_mbps": 10, "queue": "cake"}, 3, "cake"),
    ],
)
def test_networks_of_cells(point: dict[str, str | int], flows: int, queue: str) -> None:
    """A cell has eight flows and four pings, or 32 uploads, one ping and the stream; both ways have
    the same kind of queue, each its own rate."""
    network = STUDY.network(point).to_dict()
    assert len(network["flows"]) == flows
    ways = [network["links"]["access"], network["links"]["access"]["reverse"]]
    assert [[*way["queue"]] for way in ways] == [[queue], [queue]]
    laws = [way["queue"][queue] for way in ways]
    assert [law["rate"] for law in laws] == [f"{point['up_mbps']} Mbit/s", "10 Mbit/s"]
    if point["test"] == "rrul":
        marks = {name: flow["dscp"] for name, flow in network["flows"].items()}
        assert [marks[f"{way}_bk"] for way in ("up", "down", "ping")] == ["CS1"] * 3
        assert marks["ping_icmp"] == "BE"
        assert {name for name, flow in network["flows"].items() if flow["from"] == "server"} == {
            "down_be",
            "down_bk",
            "down_cs5",
            "down_ef",
        }
