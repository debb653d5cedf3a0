"""The atm study: its transcription against the thesis's arithmetic, and what a run must tell."""

import itertools
import math
import tomllib

import pytest

from forebay.run.jobs import Run, check, run_jobs
from forebay.study.definition import Point, Study
from forebay.study.loading import load_study

CELL_BITS = 424

MIX: Point = {"scenario": 3, "case": 2, "sources": 57}

# Voice and video sources by their number: five voice for each of video.
SENDING = {count: (48 + 5 * step, 24 + step) for step, count in enumerate(range(72, 121, 6))}

# Captions in the thesis's text, as far as they are legible: kind and runs by number.
CAPTIONS = {
    14: ("Cell loss ratio, voice and video", 1, 1),
    18: ("Cell loss ratio, voice and video", 1, 3),
    19: ("Cells later than 20 ms, voice and video", 1, 3),
    22: ("Total traffic load sent", 2, 3),
    26: ("Cell loss ratio, data", 2, 2),
    29: ("Cell loss ratio, data", 2, 3),
    35: ("Cell loss ratio, voice and video", 3, 1),
    36: ("Cells later than 20 ms, voice and video", 3, 1),
    37: ("Cell loss ratio, data", 3, 1),
    38: ("Average file transfer time", 3, 1),
    42: ("Cell loss ratio, data", 3, 2),
    44: ("Throughput of data", 3, 2),
    48: ("Average file transfer time", 3, 3),
}


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("atm")


def _runs(study: Study, points: list[Point], seconds: int) -> list[Run]:
    found: dict[int, Run] = {}
    jobs = [study.job(point, 0, extra=[f'duration="{seconds} s"']) for point in points]
    run_jobs(jobs, found.__setitem__)
    return [found[number] for number in range(len(points))]


def test_no_finding_is_counted_twice(study: Study) -> None:
    """No finding is counted twice: a sentence about all numbers of sources is one result, a rate
    that is a file's size over its time is none, and no value of the graphs, which have three runs
    each (section 7.4), counts as exact."""
    results = [claim for claim in study.paper.claims if claim.kind == "result"]
    said = [entry.predicate for entry in study.paper.statements if entry.kind == "result"]
    assert len({(claim.id.partition("/")[0], claim.quantity) for claim in results}) >= 15
    assert not [claim.id for claim in results if claim.quantity.startswith("data_rate")]
    assert {claim.runs for claim in results} == {3}
    assert len(said) == len(set(said))
    highest = {claim.published for claim in results if claim.statistic == "highest"}
    assert highest == {13, 6, 1.5}
    everywhere = [claim.id for claim in results if claim.published == 0]
    most = {1: 120, 2: 29, 3: 113}
    assert len(everywhere) == 5
    assert all(f"/n{most[c.point['scenario']]}/" in c.id for c in results if c.published == 0)


def test_the_load_as_sent_is_what_slow_start_leaves(study: Study) -> None:
    """The sentence about a load of 1.1 (section 8.1) is judged where that load is sent, which is
    what slow start leaves: in sessions of 15 s on average, the first round trips are shares (1 - q)
    q^k of the time, with q = exp(-0.56 s/15 s), and lack 50, 40, 30, 20 and 10 % of the rate: 5.2 %
    of it. The nearest to 1.1 is then 1.17 less that, of 120 sources."""
    q = math.exp(-0.56 / 15)
    lost = sum((0.5 - 0.1 * step) * q**step * (1 - q) for step in range(5))
    assert lost == pytest.approx(0.052, abs=0.001)
    calculated = {claim: (16e3 * v + 176e3 * w) / 6e6 for claim, (v, w) in SENDING.items()}
    nearest = min(calculated, key=lambda count: abs((1 - lost) * calculated[count] - 1.1))
    (claim,) = (c for c in study.paper.claims if c.id.startswith("f15/") and c.kind == "result")
    assert claim.point["sources"] == nearest


def test_sources_add_up_to_the_printed_totals(study: Study) -> None:
    """Sources add up to the totals that the thesis prints (chapter 7), with five voice sources more
    for each of video and of data."""
    from forebay_studies.atm.criteria import COUNTS
    from forebay_studies.atm.network import sources

    for scenario, counts in COUNTS.items():
        grid = [sources({"scenario": scenario, "case": 1, "sources": n}) for n in counts]
        assert [sum(numbers) for numbers in grid] == list(counts)
        more = {
            tuple(b - a for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(grid)
        }
        assert more == {{1: (5, 1, 0), 2: (0, 0, 2), 3: (5, 1, 1)}[scenario]}


def test_overload_begins_where_the_thesis_says(study: Study) -> None:
    """Overload begins where the thesis says: voice and video exceed the capacity from 96 sources
    on, as 16 and 176 kbit/s are half of the averages 32 and 352 of section 6.2.1, as sessions take
    half of the time."""
    from forebay_studies.atm.measure import MEAN_BPS
    from forebay_studies.atm.network import sources

    assert MEAN_BPS == {"voice": 64e3 / 2 / 2, "video": (512e3 + 192e3) / 2 / 2}
    loads = {}
    for count in range(72, 121, 6):
        voice, video, _ = sources({"scenario": 1, "case": 1, "sources": count})
        loads[count] = (16e3 * voice + 176e3 * video) / 6e6
    assert [count for count, load in loads.items() if load > 1] == [96, 102, 108, 114, 120]


def test_policing_is_that_of_table_2(study: Study) -> None:
    """Policing is that of Table 2: a bucket lets a burst of 0.5 s at the peak rate pass (section
    3.1): (arrival rate - drain rate) * burst / 424 bit, rounded up."""
    scenario = tomllib.loads(study.scenario)
    for kind, peak, drain in (("voice", 64, 36), ("video", 512, 391)):
        policing = scenario["flows"][kind]["policing"]
        assert policing["peak"]["rate"] == f"{peak} kbit/s"
        assert policing["bucket"]["rate"] == f"{drain} kbit/s"
        assert policing["bucket"]["depth"] == math.ceil((peak - drain) * 1e3 * 0.5 / CELL_BITS)


def test_every_grid_point_is_a_scenario_of_table_1(study: Study) -> None:
    """Every grid point is a scenario of Table 1, with its kinds of sources and mechanisms: Case 1
    none, Case 2 all, Case 3 no detection by input rate."""
    kinds = {1: {"voice", "video"}, 2: {"data"}, 3: {"voice", "video", "data"}}
    points = {tuple(sorted(claim.point.items())) for claim in study.paper.claims}
    for key in sorted(points):
        point = dict(key)
        facts = check(study.job(point, 0))["resolved"]
        present = {name.split(".")[1] for name in facts if name.startswith("flows.")}
        assert present == kinds[point["scenario"]], point
        detecting = {name.split(".")[3] for name in facts if ".detector." in name}
        expected = {1: set(), 2: {"input_rate"}, 3: {"discard"}}[point["case"]]
        assert detecting == expected, point
        policed = any(".policing." in name for name in facts)
        assert policed == (point["case"] != 1), point
        steps = any(".pace.steps." in name for name in facts)
        assert steps == (point["case"] != 1), point


def test_a_session_is_that_of_the_thesis(study: Study) -> None:
    """A session is that of the thesis (section 6.2.1): 15 s with ON and OFF, or high and low rate,
    of 0.5 s each. 44 sources for 180 s are some 250 sessions, whose mean rate has a standard error
    of 3 % (ON) at most, so 12 % is beyond four of them (1 in 10,000)."""
    from forebay_studies.atm.measure import quantities

    point: Point = {"scenario": 1, "case": 1, "sources": 96}
    (run,) = _runs(study, [point], 180)
    found = quantities(run, point)
    assert found["voice_pattern_bps"] == pytest.approx(32e3, rel=0.12)
    assert found["video_pattern_bps"] == pytest.approx(352e3, rel=0.12)
    assert found["periods_count"] == pytest.approx(12, rel=0.15)


def test_a_file_alone_takes_what_slow_start_costs(study: Study) -> None:
    """A file alone on the link takes 16 s and what slow start costs: 5 round trips of 0.56 s at 0.5
    to 0.9 of the rate lack 1.5 round trips of it (16.84 s); the first ones, cut off by the end of
    the run, a little more."""
    from forebay_studies.atm.measure import quantities

    point: Point = {"scenario": 2, "case": 1, "sources": 15}
    (run,) = _runs(study, [point], 180)
    found = quantities(run, point)
    assert found["file_time_completed_s"] == pytest.approx(16 + 1.5 * 0.56, rel=1e-3)
    assert found["file_time_completed_s"] <= found["file_time_s"] < 17.5
    assert found["round_trips_count"] == pytest.approx(180 / 0.56)


def test_no_cell_is_counted_twice_or_not_at_all(study: Study) -> None:
    """No cell is counted twice or not at all: what is sent is received, dropped at the satellite
    link or under way for 280 ms (at most 6 Mbit/s of it) and in its queues."""
    from forebay_studies.atm.measure import quantities

    point: Point = {"scenario": 3, "case": 1, "sources": 113}
    (run,) = _runs(study, [point], 20)
    found = quantities(run, point)
    capacity = 6e6 * 20 / CELL_BITS
    lost = found["dropped_count"] / capacity
    received = found["throughput_ratio"] + found["realtime_throughput_ratio"]
    under_way = found["sent_ratio"] - received - lost
    room = (6e6 * 0.28 / CELL_BITS + 512 + 1024 + 2) / capacity
    assert 0 <= under_way < room + 0.01
    assert found["utilization_ratio"] <= 1.0
    by_kind = found["realtime_loss_ratio"] * (found["sent_ratio"] - found["data_sent_ratio"])
    by_kind += found["data_loss_ratio"] * found["data_sent_ratio"]
    assert by_kind == pytest.approx(lost, rel=1e-9)


def test_control_slows_sources_down_to_their_floor_and_no_further(study: Study) -> None:
    """Control slows voice and video sources down to half of their nominal rate and no further
    (section 5.3), and notifications of a port come no closer than 50 ms at one source (section
    5.1)."""
    from forebay_studies.atm.measure import quantities

    points = [MIX | {"case": case, "sources": 113} for case in (2, 3)]
    for run, point in zip(_runs(study, points, 60), points, strict=True):
        found = quantities(run, point)
        assert found["voice_rate_min_ratio"] >= 0.5
        assert found["video_rate_min_ratio"] >= 0.5
        assert found["notification_gap_min_s"] > 0.05 - 0.001
        assert (found["rate_notifications_count"] > 0) == (point["case"] == 2)


def test_a_reader_of_the_thesis_finds_each_figure_under_its_number(study: Study) -> None:
    """Each graph is under its number, with its scenario and case."""
    from forebay_studies.atm.figures import sequence

    shown = {graph.number: graph for graph in sequence()}
    assert list(shown) == list(range(11, 50))
    for number, (caption, scenario, case) in CAPTIONS.items():
        graph = shown[number]
        assert (graph.kind.caption, graph.scenario, graph.case) == (caption, scenario, case)


def test_both_bottlenecks_of_the_larger_network_are_overloaded() -> None:
    """Both bottlenecks of the larger network are overloaded, so that networks are compared in
    congestion: through either go two of the three parts, which want 16, 176 and 243.6 kbit/s a
    source (a file of 8 Mbit each 32.84 s)."""
    load_study("atm")
    from forebay_studies.atm.extensions import EACH, LINK_BPS

    wanted = 2 * (16e3 * EACH.voice + 176e3 * EACH.video + 8e6 / 32.84 * EACH.data)
    assert wanted / LINK_BPS == pytest.approx(1.4, abs=0.05)


def test_policing_holds_a_flood_to_its_contract(study: Study) -> None:
    """Policing holds a flood to its contract: of 4096 kbit/s the peak rate controller lets 512
    through, and a queue of 512 cells (0.4 s), and of these the leaky bucket leaves 391 unmarked,
    and 143 cells."""
    point: Point = {"scenario": 1, "case": 2, "sources": 96, "change": "flood"}
    seconds = 60
    (run,) = _runs(study, [point], seconds)
    queued, pool = 512 * CELL_BITS / seconds, 143 * CELL_BITS / seconds
    admitted = study.quantities(run, point)["offenders_admitted_bps"]
    assert admitted == pytest.approx(512e3 + queued, rel=0.01)
    (policed,) = (row for row in run.document["policing"] if row["name"] == "offenders")
    marked = policed["marked_by_bucket"] * CELL_BITS / seconds
    assert marked == pytest.approx(512e3 - 391e3 - pool, rel=0.05)


def test_a_second_bucket_sees_no_fault_in_a_source_at_its_peak_rate(study: Study) -> None:
    """A second bucket marks nothing of a source at its peak rate, although the jitter of the access
    link empties buckets of that rate: nothing is marked but by the buckets of the average, so all
    is as with peak rate controllers, which have nothing to do."""
    plain: Point = {"scenario": 1, "case": 2, "sources": 96}
    points: list[Point] = [plain, {**plain, "change": "two-buckets-kept"}]
    ones = [sum(run.link("satellite")["arrived_packets"][2:]) for run in _runs(study, points, 20)]
    assert ones[0] > 0
    assert ones[1] == pytest.approx(ones[0], rel=0.01)


def test_burst_sources_keep_their_average(study: Study) -> None:
    """Sources that burst above their peak keep their average: 2048 kbit/s for 62.5 ms and 192 for
    662.5 ms are 352 on average (section 6.2.1.2)."""
    point: Point = {"scenario": 1, "case": 2, "sources": 96, "change": "bursty"}
    (run,) = _runs(study, [point], 180)
    (row,) = (row for row in run.document["paced"] if row["name"] == "offenders")
    assert row["nominal_bps"] == pytest.approx((2048 * 62.5 + 192 * 662.5) / 725 * 1e3, rel=0.05)


def test_no_control_slows_nobody_and_marks_nothing(study: Study) -> None:
    """Designs without control slow no source and mark nothing, and the networks that are compared
    have traffic that control can slow."""
    (network,) = (one for one in study.comparisons if one.id == "network")
    (case, *_) = network.cases
    designs = {design.id: design for design in network.every_design}
    heeded, marked = {}, {}
    for name in ("full", "nothing"):
        job = network.job(study, designs[name], case, 0, quick=False)
        found: dict[int, Run] = {}
        run_jobs([job.but(until="12 s")], found.__setitem__)
        document = found[0].document
        heeded[name] = sum(row["accepted_rate_notices"] for row in document["paced"])
        marked[name] = sum(row["marked_by_bucket"] for row in document["policing"])
    assert heeded["nothing"] == marked["nothing"] == 0
    assert heeded["full"] > 0
    assert marked["full"] > 0


def test_who_is_to_ask_for_a_rate_does(study: Study) -> None:
    """In the comparison with explicit rates the kinds of a design, and no others, ask for a rate
    and hear no notifications, and voice and video stay above half their rates."""
    (explicit,) = (one for one in study.comparisons if one.id == "explicit")
    (case, *_) = explicit.cases
    kinds = {"full": set(), "nothing": set(), "abr-data": {"data"}}
    for design in explicit.every_design:
        job = explicit.job(study, design, case, 0, quick=False)
        found: dict[int, Run] = {}
        run_jobs([job.but(until="12 s")], found.__setitem__)
        paced = found[0].document["paced"]
        asking = {row["name"] for row in paced if row["resource_cells_back"]}
        assert asking == kinds.get(design.id, {"voice", "video", "data"}), design.id
        heeded = sum(row["accepted_rate_notices"] for row in paced)
        assert (heeded > 0) == (design.id == "full"), design.id
        for row in paced:
            if row["name"] != "data" and design.id.startswith("abr-all"):
                assert row["least_scale"] == pytest.approx(0.5, abs=0.002), design.id


def test_files_in_frames_are_sent_again(study: Study) -> None:
    """Files in the frames of the comparison are sent again where lost, and useful data are counted
    once: 9180 and 1500 B of IP with 8 B of LLC/SNAP and 8 B of AAL5's trailer take 192 and 32 cells
    of 48 B, and no more of them is of use than is sent."""
    (frames,) = (one for one in study.comparisons if one.id == "frames")
    cells = {-(-(case["payload_bytes"] + 8) // 48) for case in frames.cases}
    assert cells == {192, 32}
    case = frames.cases[-1]
    assert (case["sources"], case["payload_bytes"]) == (113, 1508)
    for design in frames.every_design:
        found: dict[int, Run] = {}
        job = frames.job(study, design, case, 0, quick=False)
        run_jobs([job.but(until="25 s")], found.__setitem__)
        (data,) = (row for row in found[0].document["paced"] if row["name"] == "data")
        measured = frames.measure(study, design, case, found[0])
        assert 0.0 < measured["useful_ratio"] <= measured["throughput_ratio"]
        assert 0.0 <= measured["useless_ratio"] <= 1.0
        assert data["polls"] > 0
        assert data["resent_frames"] <= data["lost_frames"]
        if design.id != "full":
            assert data["resent_frames"] > 0
