"""Changes of networks: paths with wildcards, sections as patterns, what differs."""

from __future__ import annotations

import pytest

from forebay import Network
from forebay.study import Change, load_study
from forebay.study.tasks import variant_points

TEXT = """
name = "two"
duration = "10 s"
[links.in]
from = "A"
to = "B"
rate = "1 Mbit/s"
queue = "droptail"
[links.out]
from = "B"
to = "C"
rate = "2 Mbit/s"
queue = { red = { weight = 0.002 } }
[flows.some]
from = "A"
to = "C"
tcp = { sack = true }
"""


@pytest.fixture
def network() -> Network:
    """Two links and a flow."""
    return Network.from_text(TEXT)


def test_a_pattern_changes_every_section_that_it_names(network: Network) -> None:
    """A pattern changes every section that it names, and makes none that is not there."""
    assert network.set_each("links.*.rate", "3 Mbit/s") == 2
    assert network.set_each("links.*.queue.red.weight", 0.1) == 1
    assert network.set_each("links.*.queue.droptail.limit", "9 packets") == 1
    assert network.set_each("flows.*.udp.header", "0 B") == 0
    links = network.to_dict()["links"]
    assert {link["rate"] for link in links.values()} == {"3 Mbit/s"}
    assert links["in"]["queue"] == {"droptail": {"limit": "9 packets"}}
    assert links["out"]["queue"] == {"red": {"weight": 0.1}}
    assert "udp" not in network.section("flows.some")


def test_a_section_is_taken_as_a_pattern(network: Network) -> None:
    """A section that is taken as a pattern leaves the network, and what is made after it does not
    change with it."""
    copy = network.copy()
    pattern = network.take("links.in")
    network.update({"links.a": pattern | {"to": "C"}, "links.b": pattern})
    assert list(network.section("links")) == ["out", "a", "b"]
    pattern["rate"] = "9 Mbit/s"
    assert network.section("links.b")["rate"] == "1 Mbit/s"
    assert network.differences(copy) == [
        'links.a={ "from" = "A", "to" = "C", "rate" = "1 Mbit/s", "queue" = "droptail" }',
        'links.b={ "from" = "A", "to" = "B", "rate" = "1 Mbit/s", "queue" = "droptail" }',
        "without links.in",
    ]
    with pytest.raises(KeyError, match="no section links"):
        network.remove("links.none")
    with pytest.raises(KeyError, match="no section flows"):
        network.section("flows.none.tcp")


def test_a_change_removes_then_calls_then_sets(network: Network) -> None:
    """A change removes, then calls, then sets: what a sensitivity run sets is not overwritten by
    what makes the grid point."""
    change = Change(
        {"duration": "{seconds} s", "flows.*.tcp.mss": "500 B"},
        ("links.out",),
        lambda net, point: net.set("duration", "1 s").set("links.in.to", point["end"]),
    )
    where = {"seconds": 5, "end": "C"}
    assert change.apply(network, where, where) == []
    found = network.to_dict()
    assert (found["duration"], found["links"]["in"]["to"]) == ("5 s", "C")
    assert found["flows"]["some"]["tcp"] == {"sack": True, "mss": "500 B"}
    assert list(found["links"]) == ["in"]
    missing = Change({"flows.none.count": 2, "warm_up": "1 s"})
    assert missing.apply(network, where, where) == ["flows.none.count"]


@pytest.mark.parametrize(
    "name", ["af", "atm", "cake", "codel", "dctcp", "l4s", "pcn", "redn", "rpr"]
)
def test_every_sensitivity_run_changes_something(name: str) -> None:
    """Every sensitivity run changes something: a path with a slip names no section, and then an
    assumption seems not to matter."""
    study = load_study(name)
    for variant in study.variants:
        points = variant_points(study, variant)
        changed = [
            study.job(point, 0, variant).text != study.job(point, 0).text for point in points
        ]
        assert any(changed), variant.id
