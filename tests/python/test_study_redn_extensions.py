"""Beyond the redn study: its networks against arithmetic, and what its quantities must tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from forebay.run.jobs import check
from forebay.study.comparison import Case, Comparison, Design, Findings, check_scenarios
from forebay.study.definition import Point, Run, Study
from forebay.study.loading import load_study
from forebay.study.results import Cell, Outcome, Samples

RTTS = (30, 60, 70, 120, 160, 200)


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("redn")


def comparison(study: Study, name: str) -> Comparison:
    """One of its comparisons."""
    return next(entry for entry in study.comparisons if entry.id == name)


def laid(study: Study, comparison: Comparison, design: Design, case: Case) -> dict[str, Any]:
    """The scenario of a design in one case."""
    return comparison.network(study, design, case).to_dict()


def given(study: Study, name: str, values: Mapping[str, float]) -> Findings:
    """Two replications of a comparison in which each design measured the same of everything."""
    entry, samples = comparison(study, name), Samples()
    for case in entry.cases:
        for design in entry.every_design:
            cell = Cell.of(case.point, f"beyond/{name}/{design.id}")
            for number in range(2):
                found = {metric.quantity: 0.5 for metric in entry.metrics}
                key = entry.metrics[0].quantity
                found[key] = values[design.id] + number * 1e-3
                samples.add(cell, number, found)
    return Findings(entry, Outcome(study, samples))


def result(throughputs: Mapping[str, float]) -> Run:
    """A result in which flows got so many Mbit/s; 100 packets wait at 100 Mbit/s."""
    rows = [{"name": name, "throughput_bps": mbps * 1e6} for name, mbps in throughputs.items()]
    core = {
        "name": "core",
        "mean_queue_packets": 100.0,
        "throughput_bps": 1e8,
        "utilization": 1.0,
        "arrived_packets": [60, 30, 10, 0],
        "departed_bytes": [60_000, 30_000, 5_000, 0],
        "drops": 5,
    }
    return Run({"groups": rows, "links": [core], "replication": 0}, {})


def everybody() -> Iterator[tuple[int, int, str]]:
    """Expected throughput, roundtrip delay and replica of the 48 paths."""
    for rate in (1, 3, 5, 10):
        for rtt in RTTS:
            for replica in "ab":
                yield rate, rtt, replica


def test_every_design_is_a_scenario_on_the_same_random_numbers(study: Study) -> None:
    """Every design is a scenario on the same random numbers, so that comparisons run through and
    are paired."""
    check_scenarios(study, quick=False)


def test_customers_have_the_flows_of_the_thesis(study: Study) -> None:
    """Customers have the flows of the thesis: behind their access links are paths as long as the
    thesis's, and conditioners of a customer have six times its rate."""
    entry = comparison(study, "aggregate")
    case = entry.cases[0]
    by_flow = laid(study, entry, entry.baseline, case)
    for rate, rtt, replica in everybody():
        links = (f"in-{rate}-{replica}", f"out-{rate}-{replica}-{rtt}")
        delays = [float(by_flow["links"][name]["delay"].removesuffix(" ms")) for name in links]
        assert sum(delays) + 2.0 == rtt / 2, links
        flow = by_flow["flows"][f"{rate}-{replica}-{rtt}"]
        assert (flow["from"], flow["to"]) == (f"S-{rate}-{replica}", f"R-{rate}-{replica}-{rtt}")
    assert len(by_flow["flows"]) == 48
    for design in entry.every_design:
        links = laid(study, entry, design, case)["links"]
        laws = {name: link["conditioner"] for name, link in links.items() if "conditioner" in link}
        assert len(laws) == 8
        per_flow = design is entry.baseline
        for name, law in laws.items():
            mbps = int(name.split("-")[1]) * (1 if per_flow else 6)
            assert ("per_flow" in law) == per_flow
            assert f"'{mbps} Mbit/s'" in str(law)
            assert f"'{2 * mbps} Mbit/s'" in str(law)


def test_loads_are_what_their_names_say(study: Study) -> None:
    """Loads are what their names say: 12 flows of each of 1, 3, 5 and 10 Mbit/s expect 228 Mbit/s,
    83 % of 273.6 and 113 % of 201.6."""
    for name in ("conditioning", "aggregate"):
        entry = comparison(study, name)
        for case in entry.cases:
            core = laid(study, entry, entry.baseline, case)["links"]["core"]
            mbps = float(core["rate"].removesuffix(" Mbit/s"))
            assert case.label == f"{100 * 228 / mbps:.0f} % subscribed"


def test_one_flow_of_udp_stands_for_all(study: Study) -> None:
    """One flow of UDP stands for all in the second case: 24 flows of TCP and one of UDP remain,
    with the sums of the contracts, 12 * (3 + 5) = 96 Mbit/s."""
    entry = comparison(study, "udp")
    many, one = entry.cases
    counts = [check(entry.job(study, entry.baseline, case))["flows"] for case in (many, one)]
    assert counts == [48, 25]
    link = laid(study, entry, entry.baseline, one)["links"]["in-5-30-a"]
    meter = link["conditioner"]["trtcm"]
    assert (meter["cir"], meter["pir"]) == ("96 Mbit/s", "192 Mbit/s")


def test_the_phase_o_is_measured() -> None:
    """The phase O is measured, in the colour and at the clock that names say. 25.2 packets a ms
    leave: 756 waiting in the first 10 s of O, 378 then, are 30 and 15 ms. Red's average is at the
    middle threshold, 378, in every second sample of O alone. All get what Table 4.1 assures, but
    those of 10 Mbit/s the half of it: 12 of 48 flows, so 7/8. The probability is 0.4 in the last
    quarter of O, 0.1 before."""
    from forebay_studies.redn.extensions import oversubscribed
    from forebay_studies.redn.network import flows

    point: Point = {"network": "single", "scenario": "b-u-o", "static": 0.1}
    time = (np.arange(1500) + 1) / 10
    core = {
        "time_s": time,
        "throughput_bps": np.full(1500, 201.6e6),
        "mean_queue_packets": np.select([time <= 100, time <= 110], [1000.0, 756.0], 378.0),
        "average.2": np.where((time > 100) & (np.arange(1500) % 2 == 0), 378.0, 377.9),
        "middle_probability.2": np.select([time <= 100, time <= 137.5], [0.9, 0.1], 0.4),
    }
    due = {1: 1e6, 3: 3e6, 5: 5e6, 10: 2.5e6}
    tables = {"series/links.core": core} | {
        f"series/flows.{flow.name}": {
            "time_s": time,
            "throughput_bps": np.full(1500, due[flow.path.rate]),
        }
        for flow in flows(point)
    }
    found = oversubscribed(Run({}, tables), Case("x", point))
    assert found["start_delay_max_s"] == pytest.approx(0.030)
    assert found["start_delay_s"] == pytest.approx(0.030)
    assert found["steady_delay_s"] == pytest.approx(0.015)
    assert found["above_middle_ratio"] == pytest.approx(0.5)
    assert found["utilization_ratio"] == pytest.approx(1.0)
    assert found["assured_ratio"] == pytest.approx(7 / 8)
    assert found["middle_probability_ratio"] == pytest.approx(0.1 + 0.3 / 4)


def test_shares_are_shares() -> None:
    """Shares are those of the flows that they name. Replicas `a` get their baselines, `b` twice
    them: b has two thirds, everybody attains all, the worst 1. 100 packets of 8000 bits at 100
    Mbit/s: 8 ms."""
    from forebay_studies.redn.extensions import replicas

    entry = Case("x", {"network": "single", "scenario": "o"})
    got = {
        f"{rate}-{rtt}-{replica}-o": rate * (1.0 if replica == "a" else 2.0)
        for rate, rtt, replica in everybody()
    }
    found = replicas(result(got), entry)
    assert found["b_share_ratio"] == pytest.approx(2 / 3)
    assert (found["a_attained_ratio"], found["b_attained_ratio"]) == (1.0, 1.0)
    assert found["worst_ratio"] == 1.0
    assert found["delay_s"] == pytest.approx(0.008)
    got["1-30-a-o"] = 0.25
    found = replicas(result(got), entry)
    assert found["worst_ratio"] == 0.25
    assert found["a_attained_ratio"] == pytest.approx(1 - 0.75 / 24)


def test_flows_of_a_customer_are_held_against_each_other() -> None:
    """Flows of a customer are compared with each other, which shows unfairness within it. Near
    flows of 30 ms get all six baselines, the others nothing: Jain's index 1/6, far against near 0,
    yet each customer attains its own."""
    from forebay_studies.redn.extensions import shares_of_customers

    got = {
        f"{rate}-{replica}-{rtt}": 6.0 * rate if rtt == 30 else 0.0
        for rate, rtt, replica in everybody()
    }
    found = shares_of_customers(result(got), Case("x", {}))
    assert found["jain_ratio"] == pytest.approx(1 / 6)
    assert (found["far_near_ratio"], found["worst_customer_ratio"]) == (0.0, 1.0)
    assert found["attained_ratio"] == 1.0
    assert found["green_ratio"] == pytest.approx(60 / 95)
    even = {name: 0.5 * float(name.split("-")[0]) for name in got}
    found = shares_of_customers(result(even), Case("x", {}))
    assert found["jain_ratio"] == pytest.approx(1.0)
    assert found["far_near_ratio"] == 1.0
    assert found["worst_customer_ratio"] == 0.5


def test_udp_is_told_from_tcp() -> None:
    """UDP is told from TCP. Everybody gets the baseline: UDP has 8 of 19, the thesis's 42 %; 5 of
    100 packets were dropped."""
    from forebay_studies.redn.extensions import UDP_FAIR, tcp_and_udp

    got = {f"{rate}-{rtt}-{replica}-b": float(rate) for rate, rtt, replica in everybody()}
    found = tcp_and_udp(result(got), Case("x", {}))
    assert found["udp_share_ratio"] == pytest.approx(8 / 19) == UDP_FAIR
    assert found["tcp1_ratio"] == found["tcp10_ratio"] == pytest.approx(1.0)
    assert found["dropped_ratio"] == 0.05


def test_conclusions_follow_from_the_findings(study: Study) -> None:
    """Conclusions follow from the findings: a design whose share of UDP is 8/19 mends, one of 60 %
    does not."""
    shares = {"plain": 0.9, "choke": 0.42, "choke-self": 0.6, "sred": 0.9, "policed": 0.6}
    found = given(study, "udp", shares)
    told = found.conclusion()[0]
    assert "bring it there: 24 flows of UDP, CHOKe; 1 flow of UDP, CHOKe." in told
    unmended = given(study, "udp", {**shares, "choke": 0.9}).conclusion()[0]
    assert "bring it there: 24 flows of UDP, none; 1 flow of UDP, none." in unmended
    for entry in study.comparisons:
        every = {design.id: 0.02 for design in entry.every_design}
        assert all(given(study, entry.id, every).conclusion())
