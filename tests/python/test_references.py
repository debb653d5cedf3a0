"""Measurements of flent and irtt as reference curves in plots."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay.errors import UserError
from forebay.run.references import read_curves

FLENT: dict[str, Any] = {
    "version": 4,
    "metadata": {"SERIES_META": {"TCP upload::1": {"UNITS": "Mbits/s"}}},
    "x_values": [0.0, 0.2, 0.4],
    "results": {
        "Ping (ms) ICMP": [20.5, None, 31.0],
        "TCP upload::1": [4.0, 4.5, 5.0],
    },
}


def trip(at_ms: int, rtt_ms: float, lost: str = "false") -> dict[str, Any]:
    """A round trip as irtt writes it; all times in ns."""
    send = 1_700_000_000_000_000_000 + at_ms * 1_000_000
    return {
        "seqno": at_ms,
        "lost": lost,
        "timestamps": {"client": {"send": {"wall": send, "monotonic": at_ms}}},
        "delay": {} if lost != "false" else {"rtt": int(rtt_ms * 1e6)},
    }


def write(folder: Path, name: str, document: Any) -> Path:
    """Write a JSON file, packed if its name ends so."""
    path = folder / name
    content = json.dumps(document).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def results() -> forebay.Results:
    """A run with series and distributions of delay."""
    net = forebay.Network("access", duration="2 s")
    queue = forebay.queue.droptail(limit="50 packets")
    net.link("line", "a", "b", rate="5 Mbit/s", delay="10 ms", queue=queue)
    net.flows("upload", "a", "b")
    net.record(series="100 ms", delays=True)
    return net.run()


def test_values_are_those_of_the_files(tmp_path: Path) -> None:
    """Values are those of the files, in base units: 20.5 ms are 0.0205 s, 4 Mbit/s are 4e6 bit/s;
    what was lost is no point; times of irtt count from its first packet."""
    ping, upload = read_curves(write(tmp_path, "a.flent.gz", FLENT))
    assert (ping.name, ping.unit) == ("Ping (ms) ICMP", "s")
    assert ping.time == (0.0, 0.4)
    assert ping.values == pytest.approx((0.0205, 0.031))
    assert (upload.unit, upload.values) == ("bit/s", (4e6, 4.5e6, 5e6))
    trips = {"round_trips": [trip(0, 12.5), trip(100, 0, "true"), trip(200, 13.5)]}
    (rtt,) = read_curves(write(tmp_path, "irtt.json", trips))
    assert (rtt.name, rtt.unit) == ("rtt", "s")
    assert rtt.time == pytest.approx((0.0, 0.2), abs=1e-6)
    assert rtt.values == pytest.approx((0.0125, 0.0135))


def test_a_reference_is_drawn_beside_the_run(tmp_path: Path) -> None:
    """A reference is drawn beside the run in the unit of the curves."""
    file = write(tmp_path, "a.flent.gz", FLENT)
    run = results()
    figure = run.plot("series", "throughput_bps", reference={"router": file})
    (axis,) = figure.axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert "Mbit/s" in axis.get_ylabel()
    assert list(lines["router"].get_ydata()) == pytest.approx([4.0, 4.5, 5.0])
    figure = run.plot("cdf", reference={"router": (file, "Ping (ms) ICMP")})
    (axis,) = figure.axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert "(ms)" in axis.get_xlabel()
    assert list(lines["router"].get_xdata()) == pytest.approx([20.5, 20.5, 31.0])
    figure = run.plot("series", "throughput_bps", reference=file)
    assert "TCP upload::1" in [line.get_label() for line in figure.axes[0].get_lines()]


def test_what_is_no_reference_is_refused(tmp_path: Path) -> None:
    """A file that is no reference, or is damaged, is refused by name, without a traceback."""
    run = results()
    other = write(tmp_path, "other.json", {"some": "thing"})
    with pytest.raises(UserError, match=r"other\.json: neither flent's data"):
        run.plot("cdf", reference=other)
    broken = tmp_path / "broken.flent.gz"
    broken.write_bytes(gzip.compress(json.dumps(FLENT).encode())[:-9])
    with pytest.raises(UserError, match="damaged"):
        run.plot("cdf", reference=broken)
    short = write(tmp_path, "short.flent.gz", FLENT | {"x_values": [0.0]})
    with pytest.raises(UserError, match=r"short\.flent\.gz: damaged"):
        read_curves(short)
    with pytest.raises(UserError, match=r"missing: cannot be read"):
        read_curves(tmp_path / "missing")
    file = write(tmp_path, "a.flent.gz", FLENT)
    with pytest.raises(UserError, match=r"no series 'Ping'.*there are Ping \(ms\) ICMP"):
        run.plot("cdf", reference={"router": (file, "Ping")})
    with pytest.raises(UserError, match="to compare with"):
        run.plot("series", "queue_packets", place="links", reference=file)
    with pytest.raises(ValueError, match="'cdf' and 'series'"):
        run.plot("bars", reference=file)
    lost = write(tmp_path, "lost.json", {"round_trips": [trip(0, 0, "true")]})
    with pytest.raises(UserError, match="no values"):
        read_curves(lost)
