"""The scripts in the folders of `examples/` show what they are there for, in their quick forms."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def script(path: str) -> ModuleType:
    """A script as a module."""
    name = "example_" + Path(path).stem
    spec = importlib.util.spec_from_file_location(name, FOLDER / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_prague_and_cubic_share_links_of_many_rates(tmp_path: Path) -> None:
    """Prague and CUBIC share links of many rates: their goodputs stay within a factor of 2.5, and
    only Prague waits briefly.

    RFC 9332, section 2.1: the coupling makes rates equal at typical round trips, and within a
    factor of a few at others. The low latency queue is marked from a millisecond or one packet on,
    which the next one follows; the classic one varies around its target of 15 ms.
    """
    points = script("l4s/sweep.py").main(["--quick", "--format", "svg", "--out", str(tmp_path)])
    assert len(points) == 4
    for point in points:
        transmission = 12 / point.rate
        assert 0.4 < point.ratio < 2.5, point
        assert point.low_delay < 1 + 2 * transmission, point
        assert 15 < point.classic_delay < 45, point
    assert (tmp_path / "ratio.svg").exists()
    assert (tmp_path / "delay.svg").exists()


def test_queues_of_flows_keep_latency_low_and_contain_a_source(tmp_path: Path) -> None:
    """Queues of flows keep latency low and contain an unresponsive source; shared queues do
    neither.

    A packet of a sparse flow waits for one packet of 1500 B of each of the flows that were served
    before it at most, not for what those have queued (RFC 8290, section 5.6): behind eight flows, 5
    ms at 20 Mbit/s and 20 ms at 5 Mbit/s. Behind tail drop it waits for 256 packets at most, of 150
    and 600 ms. Beside the source of 15 Mbit/s, four transfers have four of five equal shares, or,
    where all share a queue that drops each packet alike, little more than the source leaves.
    """
    main = script("rrul/rrul.py").main
    found = main(["--quick", "--format", "svg", "--out", str(tmp_path)])
    for name in ("fq_codel", "cake"):
        row = found[name]
        assert row["wait_down"] < 5, name
        assert row["wait_up"] < 20, name
        assert row["tcp"] / (row["tcp"] + row["udp"]) == pytest.approx(0.8, abs=0.03), name
    for name in ("droptail", "codel", "pie"):
        row = found[name]
        assert row["wait_down"] > 10, name
        assert row["wait_up"] > 40, name
        assert row["tcp"] < 0.4 * (row["tcp"] + row["udp"]), name
    assert 100 < found["droptail"]["wait_down"] < 155
    assert all(
        (tmp_path / f"{name}.svg").exists() for name in ("latency", "shares", "unresponsive")
    )
