"""The standard benchmarks: what is compared with what, and the document they give."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from forebay.cli import bench
from forebay.run.jobs import Job, check

MILLION = (bench.SCENARIOS / "s4-million.toml").read_text(encoding="utf-8")


def test_s4_million_has_a_million_flows_on_a_fast_dumbbell() -> None:
    """The benchmark is what its name and the contract say: 1,000,000 flows, half of them TCP, the
    others ON/OFF over UDP, over a link of 100 Gbit/s or more, all of them present at once before
    the end."""
    found = check(Job(MILLION))
    assert found["flows"] == 1_000_000
    assert found["duration_s"] == 1.0
    document = tomllib.loads(MILLION)
    counts: dict[str, int] = {"tcp": 0, "udp": 0}
    for flows in document["flows"].values():
        (transport,) = counts.keys() & flows.keys()
        counts[transport] += flows["count"]
        if transport == "udp":
            assert "on_off" in flows["traffic"]
            assert "start" not in flows
        else:
            assert flows["start"]["uniform"] == ["0 s", "0.4 s"]
        assert "stop" not in flows
    assert counts == {"tcp": 500_000, "udp": 500_000}
    assert document["links"]["bottleneck"]["rate"] == "100 Gbit/s"


def test_a_thousandth_differs_in_size_alone() -> None:
    """The thousandth of a benchmark differs from the whole in flows, rates and buffers alone, which
    are divided by 1000, so that every flow keeps its share and every packet its queue in time:
    costs of a packet hop are compared between scenarios whose packets have the same work to do."""
    overrides = bench.smaller(MILLION, 1000)
    whole, part = (check(Job(MILLION, overrides=chosen)) for chosen in ((), overrides))
    assert part["flows"] == 1000
    changed = {
        key: (value, part["resolved"][key])
        for key, value in whole["resolved"].items()
        if value != part["resolved"][key]
    }
    assert changed.pop("links.bottleneck.queue.droptail.limit") == ("125 MB", "125 kB")
    for key, (before, after) in changed.items():
        section, _, field = key.split(".")
        assert (section, field) in {("flows", "count"), ("links", "rate")}, key
        if field == "count":
            assert int(before) == 1000 * int(after), key
        else:
            assert before.replace(" Gbit/s", " Mbit/s") == after != before, key
    assert len(changed) == len(tomllib.loads(MILLION)["flows"]) + 7


@pytest.mark.parametrize("quantity", ["100", "fast Gbit/s", "100Gbit/s"])
def test_only_quantities_are_divided(quantity: str) -> None:
    """A size that is no number with a unit is refused, so that no part of a benchmark keeps a size
    of the whole."""
    scenario = f'[flows.a]\n[links.b]\nrate = "{quantity}"\n'
    with pytest.raises(ValueError, match="number and a unit"):
        bench.smaller(scenario, 10)


def test_a_compared_benchmark_tells_how_cost_grows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compared benchmark tells how cost grows with the network: here a scenario is compared with
    its tenth, and the ratio follows from the two costs told."""
    scenario = """
duration = "1 s"
[links.wire]
from = "a"
to = "b"
rate = "10 Mbit/s"
queue = { droptail = { limit = "10 kB" } }
[flows.voice]
from = "a"
to = "b"
count = 100
udp = {}
traffic = { on_off = { rate = "64 kbit/s", size = "200 B" } }
"""
    (tmp_path / "small.toml").write_text(scenario, encoding="utf-8")
    monkeypatch.setattr(bench, "SCENARIOS", tmp_path)
    monkeypatch.setattr(bench, "ENSEMBLES", {})
    part = bench._Benchmark("small", replications=3, part=10)
    monkeypatch.setattr(bench, "PARTS", {"small": part})

    def in_this_process(name: str, *options: str) -> dict[str, Any]:
        return bench._child(name, part="--part" in options)

    monkeypatch.setattr(bench, "_measure", in_this_process)
    bench.run_benchmarks(None, as_json=True)
    (row,) = json.loads(capsys.readouterr().out)["benchmarks"]
    assert row["flows"] == 100
    assert row["bytes_per_flow"] == row["peak_rss_bytes"] / 100
    assert 0 < row["setup_s"] < row["wall_s"] + 1
    assert row["run_s"] < row["wall_s"]
    cost = row["ns_per_hop_without_setup"]
    assert cost == pytest.approx(1e9 * row["run_s"] / row["packet_hops"])
    assert row["cost_growth"] == pytest.approx(cost / row["ns_per_hop_thousand"])
    bench.run_benchmarks("small", as_json=False)
    assert "times that of a" in capsys.readouterr().out
