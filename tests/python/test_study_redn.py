"""The redn study: its transcription against the thesis's arithmetic, and what a run must tell."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from forebay.run.jobs import check, run_jobs
from forebay.study.definition import Point, Study
from forebay.study.loading import load_study

SINGLE: Point = {
    "network": "single",
    "gateway": "adaptive",
    "marking": "drop",
    "scenario": "b-u-o",
}

MIX: Point = {"network": "mix", "gateway": "adaptive", "marking": "mixed", "scenario": "b"}


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("redn")


def test_table_4_1_gives_out_what_it_has(study: Study) -> None:
    """Table 4.1 gives out what it has, which reveals a digit copied wrongly: in each phase 168
    Mbit/s (section 4.1: 201.6 less a sixth), no flow gets less than the baseline where there is
    enough, and where there is not, 5 and 10 share alike what 1 and 3 leave (page 44)."""
    from forebay_studies.redn.criteria import ASSURED

    each = 12
    for phase, rates in ASSURED.items():
        assert each * sum(rates.values()) == 168, phase
    assert all(got >= rate for phase in "bu" for rate, got in ASSURED[phase].items())
    assert ASSURED["o"] == {1: 1.0, 3: 3.0, 5: 5.0, 10: (168 - each * (1 + 3)) / each / 2}


def test_table_4_1_follows_from_fairness_by_colour(study: Study) -> None:
    """Targets of Table 4.1 are no results: all nine follow from page 44's max-min fairness, colour
    by colour. In U 96 of 168 Mbit/s are green and yellow (24 flows of 1 + 1 and 3 + 3), and 72 / 24
    = 3 of red come on top: 5 and 9."""
    from forebay_studies.redn.criteria import ASSURED
    from forebay_studies.redn.network import max_min_mbps

    assert {phase: max_min_mbps(phase) for phase in "buo"} == ASSURED
    assert {c.kind for c in study.paper.claims if c.id.startswith("t4.1/")}.isdisjoint({"result"})


def test_no_measurement_is_counted_twice(study: Study) -> None:
    """No printed number and no sentence is counted twice, and a number of the thesis, which shows
    single runs, is compared as one of a single run."""
    results = [claim for claim in study.paper.claims if claim.kind == "result"]
    measured = [(sorted(claim.point.items()), claim.quantity) for claim in results]
    assert all(measured.count(one) == 1 for one in measured)
    assert {claim.runs for claim in results} == {1}
    said = [claim.predicate for claim in study.paper.statements if claim.kind == "result"]
    assert len(said) == len(set(said))


def test_flows_are_checks_beneath_their_sentences(study: Study) -> None:
    """Flows are checks beneath their sentences, so that sentences of all flows are not counted a
    hundred times: 72 values of three gateways less six that REDn is not said to attain (3, 5 and 10
    Mbit/s at 160 and 200 ms), 48 of two gateways less one, under two readings each."""
    rows = [claim for claim in study.paper.claims if claim.id.startswith("flows/")]
    assert len(rows) == 2 * ((3 * 24 - 6) + (48 - 1))
    assert {str(claim.kind) for claim in rows} == {"repeat"}
    counted = {entry.id for entry in study.paper.statements if entry.kind == "result"}
    assert {claim.follows for claim in rows} == {
        "s3.1.1/short-attain",
        "s3.1.2/all-very-close",
        "s4.1.1/all-attain",
        "s4.2.1/two/all-but-one",
        "s4.2.1/one/all",
    }
    assert {claim.follows for claim in rows} <= counted


def test_a_flow_attains_what_its_best_seconds_reach() -> None:
    """A flow attains what its best five seconds of a phase reach, without those in which it still
    gets what the phase before gave. With 1 Mbit/s due in O, 5 s of 0.9 after its beginning are
    best: a tenth is lacking. In U, from which it continues, 5 s of 4 of 5 Mbit/s are best; in B,
    its start, 5 s of 1."""
    from forebay_studies.redn.measure_traces import Trace, _own, reached, unreached
    from forebay_studies.redn.network import flows, phases

    flow = next(f for f in flows(SINGLE) if f.path.rate == 1 and f.path.rtt == 200)
    received = np.full(150, 0.5e6)
    received[0:5] = 1.0e6
    received[50:55] = 7e6
    received[80:85] = 4e6
    received[100:105] = 4e6
    received[120:125] = 0.9e6
    traces = [Trace(p, flow.path, received[_own(p, flow)]) for p in phases(SINGLE)]
    assert [trace.best for trace in traces] == pytest.approx([1.0e6, 4e6, 0.9e6])
    assert unreached(traces) == {"unreached_1mbps_200ms_ratio": pytest.approx(0.2)}
    assert reached(traces) == {
        "b_1mbps_200ms_reached_bps": pytest.approx(1.0e6),
        "u_1mbps_200ms_reached_bps": pytest.approx(4e6),
        "u_1mbps_200ms_reached_higher_bps": pytest.approx(2e6),
        "o_1mbps_200ms_reached_bps": pytest.approx(0.9e6),
    }


def test_growth_is_told_from_its_halves() -> None:
    """A queue that grows with the square of time gains three times as much in the second half: with
    41 s of t^2 the means over 5 s about 2, 20 and 38 s are these squares, and 2, the variance of 5:
    6, 402 and 1446. One that grows evenly gains 20 - 2 and 38 - 20."""
    from forebay_studies.redn.measure_axes import growth

    seconds = np.arange(41.0)
    assert growth(seconds**2, "") == {
        "u_rise_first_s": pytest.approx(402.0 - 6.0),
        "u_rise_second_s": pytest.approx(1446.0 - 402.0),
    }
    assert growth(seconds, "") == {
        "u_rise_first_s": pytest.approx(18.0),
        "u_rise_second_s": pytest.approx(18.0),
    }


def test_a_flow_lacks_what_it_lacks_most() -> None:
    """A flow lacks what it lacks most: an excess in one phase, or of its replica, makes up for
    nothing in another. Table 4.1 gives a flow of 3 Mbit/s 3 in B, 9 in U and 3 in O; here it gets
    6, 4.5 and 2.7: it lacks none, a half and a tenth."""
    from forebay_studies.redn.measure_flows import Half, _lacking
    from forebay_studies.redn.network import flows, phases

    found = [f for f in flows(SINGLE) if f.path.rate == 3 and f.path.rtt == 30]
    assert [f.path.replica for f in found] == ["a", "b"]
    got = np.repeat([6e6, 4.5e6, 2.7e6], 50)
    # First halves are no part of it.
    got[50:75] = 0.0
    halves = [
        Half(phase, flow, received[phase.half])
        for phase in phases(SINGLE)
        for flow, received in zip(found, (got, 0.0 * got), strict=True)
    ]
    assert _lacking(halves) == {"lack_3mbps_30ms_ratio": pytest.approx(0.5)}


def test_conditioning_is_compared_where_nothing_is_red() -> None:
    """Conditioning is compared in seconds without red traffic, as page 47 says "exactly" of no
    others: a conditioner of 3 Mbit/s lets 2.7 of 3 Mbit/s through as green, and 6 of 7 as green and
    yellow when it tags the rest with red."""
    from forebay_studies.redn.measure_flows import _without_red
    from forebay_studies.redn.network import Phase, flows

    path = next(f.path for f in flows(SINGLE) if f.path.rate == 3)
    mbps = np.array([[2.7, 0.3, 0.0], [3.0, 3.0, 1.0]])
    colours = [1e6 * np.tile(part, 50) for part in mbps.T]
    seen = SimpleNamespace(colour=colours, sent=sum(colours))
    spans = [Phase("b", 0.0, 50.0), Phase("u", 50.0, 100.0)]
    assert _without_red(seen, path, spans) == {
        f"{path.pair}_green_without_red_ratio": pytest.approx(0.9),
        f"{path.pair}_conforming_without_red_ratio": pytest.approx(1.0),
    }


def test_every_grid_point_is_a_scenario_of_the_thesis(study: Study) -> None:
    """Every grid point is a scenario of the thesis, with its paths: 48 through one bottleneck, 96
    where there are two, six roundtrip delays and four expected throughputs, each path as long as
    printed."""
    links = {"single": 1 + 2 * 48, "dual": 2 + 2 * 96, "mix": 1 + 2 * 48}
    for name, claim in {str(c.point["network"]): c for c in study.paper.claims}.items():
        facts = check(study.job(claim.point, 0))
        # Duplex: a link each way.
        assert facts["links"] == 2 * links[name], name
    table = study.network(SINGLE).to_dict()["links"]
    for name, link in table.items():
        found = re.fullmatch(r"in-(\d+)-(\d+)-[ab]", name)
        if found:
            rate, rtt = int(found[1]), int(found[2])
            one_way = 2 * float(link["delay"].removesuffix(" ms")) + 2.0
            assert one_way == rtt / 2, name
            bucket = link["conditioner"]["adaptive_token_bucket"]
            assert (bucket["cir"], bucket["pir"]) == (f"{rate} Mbit/s", f"{2 * rate} Mbit/s")


def test_guidelines_give_the_printed_thresholds() -> None:
    """Guidelines give the printed thresholds: with R packets/s, the maximum threshold is R * 0.5 s
    * 2 * 0.1, the middle one R * 15 ms, the minimum half of it (section 4.1), but for the second
    gateway of two, whose printed ones follow from 443.52 Mbit/s."""
    from forebay_studies.redn.network import gateways

    for point, rates in (
        (SINGLE, (201.6,)),
        ({**SINGLE, "network": "dual"}, (201.6, 443.52)),
        ({**SINGLE, "network": "mix"}, (273.6,)),
    ):
        for gate, mbps in zip(gateways(point), rates, strict=True):
            packets = mbps * 1e6 / 8000
            assert gate.maximum == int(packets * 0.5 * 2 * 0.1 + 1e-6)
            assert gate.middle == int(packets * 0.015 + 1e-6)
            assert gate.minimum == int(packets * 0.015 + 1e-6) // 2


def test_who_stops_and_starts_again_has_a_new_connection(study: Study) -> None:
    """A flow that stops and starts again has a new connection, and no window from before: in B-U-O
    the flows of 10 Mbit/s have two connections, in B-O-U one over two phases."""
    from forebay_studies.redn.network import flows

    def spans(scenario: str, rate: int) -> set[tuple[float, float]]:
        point = {**SINGLE, "scenario": scenario}
        return {(f.start_s, f.stop_s) for f in flows(point) if f.path.rate == rate}

    assert spans("b-u-o", 10) == {(0, 50), (100, 150)}
    assert spans("b-u-o", 5) == {(100, 150)}
    assert spans("b-u-o", 1) == {(0, 150)}
    assert spans("b-o-u", 10) == {(0, 100)}
    assert spans("b-o-u", 5) == {(50, 100)}
    assert spans("b-o-u", 3) == {(0, 150)}


def test_a_run_tells_what_it_measured(study: Study) -> None:
    """Quantities are those of the run: what the receivers got adds up to what the link carried less
    what was dropped behind the conditioners, colours add up to what was sent, and no early drop is
    missed by the samples."""
    from forebay_studies.redn.network import flows
    from forebay_studies.redn.series import Gate, Path, column

    job = study.job(MIX, 0, extra=('duration="12 s"',))
    runs = []
    run_jobs([job], lambda _, run: runs.append(run), 1)
    (run,) = runs
    core = run.link("core")
    got = sum(row["throughput_bps"] for row in run.document["groups"])
    # What is on the way at the end is less than a second's packets of 12.
    assert got == pytest.approx(core["throughput_bps"], rel=0.01)
    assert column(run, "series/links.core", "early_drops").sum() == core["drop_reasons"]["early"]
    gate = Gate(run, "core", 273.6)
    # A packet under way at the end counts in part or whole: one of 12 s * 34200 packets/s.
    near = 3 / (12 * 34200)
    assert gate.utilization.mean() == pytest.approx(core["utilization"], rel=near)
    carried = core["throughput_bps"] / 8000
    # Little's law over the whole run, and over its seconds weighted by their packets.
    weighted = (gate.delay * gate.utilization).sum() / gate.utilization.sum()
    assert weighted == pytest.approx(core["mean_queue_packets"] / carried, rel=near)
    path = Path(run, "in-3-30-a")
    assert sum(colour.sum() for colour in path.colour) == pytest.approx(path.sent.sum())
    assert len({flow.name for flow in flows(MIX)}) == len(run.document["groups"])
