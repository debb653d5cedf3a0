"""The figures of the redn study: numbers and captions as in the thesis's list of figures."""

import re

import pyarrow as pa
import pytest

from forebay.run.jobs import Run, run_jobs
from forebay.study.definition import Study
from forebay.study.loading import load_study
from forebay.study.results import Outcome, Samples

FLOWS = "Per-Flow Throughputs"
QUEUES = "Average Queue Lengths and Overall Queuing Delay"
EFFECTIVE = "Effective Maximum Packet Marking Probabilities of"

# By number, from the list of figures (pages vi to viii): what a slip of one number would move.
CAPTIONS = {
    "3.4": f"{QUEUES} with Self-Configuring REDn",
    "4.2": "Traffic Conditionings with Adaptive Token Bucket Traffic Conditioner",
    "4.7": f"{EFFECTIVE} Adaptive REDn",
    "4.9": f"{FLOWS} of Flows Traversing Two Adaptive REDn Gateways",
    "4.16": f"{EFFECTIVE} the Second Adaptive REDn Gateway",
    "4.18": "Average Queue Lengths with Adaptive REDn",
    "A.3": "Bottleneck Link Utilization with Adaptive REDn",
    "A.8": "Early Drop Ratio with Adaptive REDn",
    "A.13": f"{EFFECTIVE} Adaptive REDn",
    "A.15": f"{FLOWS} of Flows Traversing One Adaptive REDn Gateway",
    "A.20": f"{EFFECTIVE} the Second Adaptive REDn Gateway",
    "A.24": f"{QUEUES} at the Second Adaptive REDn Gateway",
    "A.26": "Early Drop Ratios with Adaptive REDn",
    "A.33": "Utilizations of Bottleneck Links with Adaptive REDn",
    "A.35": f"{EFFECTIVE} the Second Adaptive REDn Gateway",
}

# First figures of the sections of appendix A, and the runs of these sections.
SECTIONS = {
    "A.1": ("single", "ecn", "b-u-o"),
    "A.5": ("single", "drop", "b-o-u"),
    "A.10": ("single", "ecn", "b-o-u"),
    "A.14": ("dual", "ecn", "b-u-o"),
    "A.21": ("dual", "drop", "b-o-u"),
    "A.29": ("dual", "ecn", "b-o-u"),
}


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("redn")


def test_a_reader_of_the_thesis_finds_each_figure_under_its_number(study: Study) -> None:
    """Each figure is under the number of the thesis, with that section's run."""
    from forebay_studies.redn.figures import sequence

    shown = {one.number: one for one, _ in sequence()}
    # Without laws (1.1, 1.2, 2.1, 2.2, 3.5) and networks (4.1, 4.8).
    assert list(shown) == [
        *("3.1", "3.2", "Table 3.1", "3.3", "3.4"),
        *(f"4.{number}" for number in range(2, 19) if number != 8),
        *(f"A.{number}" for number in range(1, 36)),
    ]
    assert {number: shown[number].caption for number in CAPTIONS} == CAPTIONS
    for number, run in SECTIONS.items():
        point = shown[number].point
        assert (point["network"], point["marking"], point["scenario"]) == run, number


def test_a_run_is_drawn(study: Study) -> None:
    """A run is drawn in all its figures, with the curves of all its flows.

    Section 4.3 is the shortest run: 50 s, in which all flows send.
    """
    (recording,) = (one for one in study.recordings if one.point["network"] == "mix")
    tables: dict[str, pa.Table] = {}

    def keep(_: int, run: Run) -> None:
        for name, columns in recording.tables(run).items():
            tables[name] = pa.table(dict(columns))

    run_jobs([study.recording_job(recording)], keep)
    flows = tables["flows"]
    # Time, and one of the two flows of each of 6 delays and 4 expected throughputs.
    assert (flows.num_rows, flows.num_columns) == (50, 1 + 6 * 4)
    names = [name for name in flows.column_names if name != "time_s"]
    received = sum(float(flows[name].to_numpy().mean()) for name in names)
    # One of two replicas each: about half of what the bottleneck carries.
    assert 0.4 * 273.6e6 < received < 0.6 * 273.6e6
    assert study.figures is not None
    drawn = study.figures(Outcome(study, Samples(), {recording.id: tables}))
    assert [figure.id for figure in drawn] == [
        "figure-1-1",
        "figure-3-5",
        "figure-4-17",
        "figure-4-18",
    ]
    # Three panels with four flows each, a point a second.
    lines = [path.count("L") for path in re.findall(r' d="([^"]*)"', drawn[2].svg)]
    assert sum(points >= 40 for points in lines) == 12
