"""The pcn study's other settings: what they change of a grid point, and what is read from it."""

import numpy as np
import pytest

from forebay.study.definition import Study
from forebay.study.loading import load_study


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("pcn")


ADMISSION = {"family": "admission", "test": "overload", "size": "M", "media_delay_s": 10}
ROW = {
    "family": "row",
    "sr_mbps": 16,
    "traffic": "cbr",
    "preferential": True,
    "s_bytes": 1064,
    "nodes": 3,
}
PARKING = {
    "family": "parking",
    "sr_mbps": 4,
    "traffic": "cbr",
    "preferential": True,
    "s_bytes": 1064,
}


def test_batches_keep_the_offered_load(study: Study) -> None:
    """Batches keep the offered load and make it burstier: at N = 50 and twice the base load 2 * 45
    * 50 = 4500 calls arrive an hour, so batches of five arrive 900 times."""
    calls = study.network({**ADMISSION, "batch": 5}).section("flows")["eh"]["calls"]
    assert float(calls["rate"].split()[0]) == pytest.approx(900)
    assert calls["batch"] == 5


def test_settings_of_the_ar_meter(study: Study) -> None:
    """Settings of the AR meter change no more than they say: 90 % of the 4 Mbit/s of 50 flows of 80
    kbit/s are 3.6 Mbit/s, and 200 kB have a threshold of half of that, as 20 kB do."""

    def meter(**changed: int) -> object:
        link = study.network({**ADMISSION, **changed}).section("links")["ab"]
        return link["conditioners"][0]["ar_meter"]

    rate, bucket = meter(ar_pct=90), meter(ar_kb=200)
    assert rate == {"rate": "3600000 bit/s", "size": "20 kB", "threshold": "10 kB"}
    assert bucket == {"rate": "3920000 bit/s", "size": "200 kB", "threshold": "100 kB"}


def test_slow_reroute_brings_all_flows(study: Study) -> None:
    """A slow reroute brings all flows: 16 Mbit/s of G.711 are 200 flows, 160 within the first
    second and 40 within the next five."""
    calls = study.network({**ROW, "reroute": "slow"}).section("flows")["eh_added"]["calls"]
    assert [(surge["at"], surge["calls"], surge["over"]) for surge in calls["surges"]] == [
        ("5.0 s", 160, "1 s"),
        ("6.0 s", 40, "5 s"),
    ]


def test_new_flows_enter_every_aggregate(study: Study) -> None:
    """New flows enter every aggregate and not one alone: 1 % of the 50 flows of 4 Mbit/s a second
    are 1800 an hour, in each of the three."""
    flows = study.network({**PARKING, "new_per_s_pct": 1}).section("flows")
    for name in ("eh", "eg", "fh"):
        assert float(flows[name]["calls"]["rate"].split()[0]) == pytest.approx(1800)


def test_reaction_counts_from_the_crossing(study: Study) -> None:
    """Reaction time counts from the crossing of AR to blocking, without load that fell below AR
    again or time that was blocked already.

    Samples of 50 ms: one crossing that recedes, one that is blocked two samples later, one that is
    blocked four samples later: (0.1 + 0.2) / 2 s.
    """
    from forebay_studies.pcn.observed import reaction

    assert study.id == "pcn"  # reading the study is what makes its modules importable
    above = np.array([0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1], dtype=bool)
    blocking = np.array([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1], dtype=bool)
    assert reaction(above, blocking) == pytest.approx(0.15)
    assert np.isnan(reaction(above, np.zeros_like(blocking)))
