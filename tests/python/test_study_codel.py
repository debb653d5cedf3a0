"""The codel study: its grid points against the authors' script, and how drops are shared out."""

from __future__ import annotations

import math

import pytest

from forebay.study import Point, Study, load_study


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("codel")


def edge(kbps: int, queue: str) -> Point:
    """A grid point of the consumer edge."""
    return {"family": "edge", "rate_kbps": kbps, "queue": queue}


@pytest.mark.parametrize(("kbps", "size"), [(512, 500), (1500, 1500)])
def test_the_edge_has_the_buffers_of_the_script(study: Study, kbps: int, size: int) -> None:
    """A buffer is what the rate sends in 100 ms in packets of 500 B below 1 Mbit/s and else of
    1500 B: 13 at both rates (512 kbit/s x 0.1 s / 4000 bit = 12.8; 1.5 Mbit/s x 0.1 s / 12,000 bit
    = 12.5, and Tcl rounds halves up). Tail drop of ns-2 holds one less."""
    packets = 13
    for queue, held in (("codel", packets), ("droptail", packets - 1)):
        made = study.network(edge(kbps, queue)).to_dict()
        for link in (made["links"]["core"], made["links"]["core"]["reverse"]):
            assert link["queue"][queue]["limit"] == f"{held} packets"
        assert made["flows"]["ftp"]["tcp"]["mss"] == f"{size - 52} B"


def test_access_links_are_ten_times_as_fast(study: Study) -> None:
    """Every access link has ten times the rate of the bottleneck, at every rate: one that kept
    that of another grid point would be the bottleneck itself."""
    for kbps in (3000, 100_000):
        point: Point = {
            "family": "static", "rate_kbps": kbps, "rtt_ms": 100, "load": "mixed",
            "queue": "red", "packet": 1500,
        }  # fmt: skip
        links = study.network(point).to_dict()["links"]
        rates = {links[name]["rate"] for name in links if name != "core"}
        assert rates == {f"{kbps / 100:g} Mbit/s"}
        assert links["core"]["rate"] == f"{kbps / 1000:g} Mbit/s"


def test_round_trips_are_those_that_a_point_tells(study: Study) -> None:
    """Twice the delays on the way of the web are the round trip, and each FTP has 2 ms more than
    the one before, from 2 ms above that of the web on."""
    point: Point = {
        "family": "static", "rate_kbps": 10_000, "rtt_ms": 30, "load": "mixed",
        "queue": "codel", "packet": 1500,
    }  # fmt: skip
    links = study.network(point).to_dict()["links"]

    def trip(source: str) -> float:
        names = (f"{source}_server", "core", f"{source}_client")
        return 2 * sum(float(links[name]["delay"].split()[0]) for name in names)

    assert trip("web") == pytest.approx(30)
    assert [trip(f"ftp{number}") for number in (1, 2, 3, 4)] == pytest.approx([32, 34, 36, 38])


def test_red_has_what_ns2_sets_up(study: Study) -> None:
    """RED's thresholds are at least 5 and 15 packets, and at 100 Mbit/s what 5 ms take in packets
    of 500 B, halved: 25,000 /s x 5 ms / 2 = 62.5, and three times as many; the weight is
    1 - exp(-1/C) of C packets a second."""
    for kbps, least, most in ((3000, 5, 15), (100_000, 63, 188)):
        point: Point = {
            "family": "static", "rate_kbps": kbps, "rtt_ms": 100, "load": "ftp4",
            "queue": "red", "packet": 1500,
        }  # fmt: skip
        red = study.network(point).to_dict()["links"]["core"]["queue"]["red"]
        assert red["min_threshold"] == f"{least} packets"
        assert red["max_threshold"] == f"{most} packets"
        assert red["weight"] == pytest.approx(1 - math.exp(-4 / kbps))


def test_the_rate_changes_as_the_article_says(study: Study) -> None:
    """100, 10, 1, 50, 1 and 100 Mbit/s, for 50 s each."""
    from forebay_studies.codel.network import rate_at

    assert [rate_at(at) / 1e6 for at in (0, 25, 50.1, 125, 175, 225, 299)] == [
        100, 100, 10, 1, 50, 1, 100,
    ]  # fmt: skip
    assert study.network({"family": "dynamic", "buffer": 830, "queue": "codel"}).check()


def test_jain_is_one_for_equal_shares_and_falls_to_one_in_n() -> None:
    """Equal shares of drops are fair; where one of n sources loses all, the index is 1/n."""
    from forebay_studies.codel.measure import jain

    assert jain([0.02, 0.02, 0.02]) == pytest.approx(1)
    assert jain([0.1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain([0, 0]) == 1
