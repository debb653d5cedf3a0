"""A run in flent's data format, version 4 (`.flent.gz`), for flent's plots.

The file says that it is of flent's test `tcp_nup`, whose plots take any number of streams: each
group of TCP flows that was sampled is a stream `TCP upload::N` (its goodput in Mbit/s; single flows
where those were sampled), with smoothed round-trip time and window in its raw values. Each group of
datagrams is a series `Ping (ms) NAME`: the latest round-trip time, of a single flow that is
answered (`udp = { echo = true }`), or the mean delay of what arrived in an interval, one way. The
first of these, of round trips if there are any, is called `Ping (ms) ICMP`, too, the series that
the plots of the test look for.
`SERIES_META` says which group a series is of. Times are simulated ones, from the epoch on.

The format: https://flent.org/data-format.html, and `flent/resultset.py` of flent 2.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from forebay.errors import UserError
from forebay.run.jobs import Run

__all__ = ["flent_bytes", "flent_document"]

VERSION = 4
EPOCH = "1970-01-01T00:00:00.000000Z"
PING = "Ping (ms) ICMP"
ROUND_TRIP = "rtt_s"
RAW = {
    "tcp_rtt": (("srtt_s", "mean_srtt_s"), 1e3),
    "tcp_cwnd": (("cwnd_bytes", "mean_cwnd_bytes"), 1.0),
}
"""Keys of raw values: the columns that they are from, and by what these are multiplied."""

Columns = Mapping[str, Any]


def flent_bytes(run: Run, name: str) -> bytes:
    """A run as the content of a file for flent that is called `name`.

    Raises `UserError` if it has no series of flows.
    """
    text = json.dumps(flent_document(run, name), indent=2, sort_keys=True)
    # No time of writing within: the same run gives the same file.
    return gzip.compress(text.encode("utf-8"), mtime=0)


def flent_document(run: Run, filename: str) -> dict[str, Any]:
    """Content of the file. Raises `UserError` if the run has no series of flows."""
    sampled = {
        name.removeprefix("series/flows."): columns
        for name, columns in run.tables.items()
        if name.startswith("series/flows.")
    }
    if not sampled:
        raise UserError(
            "--flent: no series of flows was recorded; set record.series in the scenario, or "
            "--set record.series=200ms"
        )
    times = sorted({float(t) for columns in sampled.values() for t in columns["time_s"]})
    step = min((b - a for a, b in pairwise(times)), default=times[0])
    streams = list(_streams(sampled))
    results = {name: _at(columns, _goodput(columns), times) for name, _, columns in streams}
    raw = {name: _raw(columns, _goodput(columns)) for name, _, columns in streams}
    meta = {name: _series_meta(results[name], "Mbits/s", group) for name, group, _ in streams}
    for name, values, unit in _over_streams(list(results.values())):
        results[name] = values
        meta[name] = _series_meta(values, unit, "")
    pings = [(f"Ping (ms) {group}", group, found) for group, found in _datagrams(sampled)]
    if pings:
        usual = max(pings, key=lambda ping: ROUND_TRIP in ping[2])
        pings.append((PING, *usual[1:]))
    for name, group, columns in pings:
        waits = _scaled(columns.get(ROUND_TRIP, columns["mean_delay_s"]), 1e3)
        results[name] = _at(columns, waits, times)
        raw[name] = _raw(columns, waits)
        meta[name] = _series_meta(results[name], "ms", group)
    return {
        "version": VERSION,
        "metadata": _metadata(run.document, filename, step, times[-1], len(streams))
        | {"SERIES_META": meta},
        "x_values": times,
        "results": results,
        "raw_values": raw,
    }


def _metadata(
    document: Mapping[str, Any], filename: str, step: float, end: float, streams: int
) -> dict[str, Any]:
    command = (
        f"forebay {document['version']}, scenario {document['scenario_hash']}, "
        f"seed {document['seed']}, replication {document['replication']}"
    )
    return {
        "NAME": "tcp_nup",
        "TITLE": document["name"],
        "NOTE": f"{command}; simulated; delays of datagrams without echo are one way",
        "TIME": EPOCH,
        "T0": EPOCH,
        "LENGTH": document["simulated_s"],
        "TOTAL_LENGTH": end,
        "STEP_SIZE": step,
        "HOST": "simulated",
        "HOSTS": ["simulated"],
        "LOCAL_HOST": "simulated",
        "IP_VERSION": 4,
        "FLENT_VERSION": None,
        "TEST_PARAMETERS": {"upload_streams": str(streams)},
        "DATA_FILENAME": filename,
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
    }


def _streams(sampled: Mapping[str, Columns]) -> Iterable[tuple[str, str, Columns]]:
    """Series that are sampled of TCP: name of the series, group or flow, columns. A group of which
    single flows are sampled would count these twice."""
    singles = {name.partition("[")[0] for name in sampled if "[" in name}
    found = [
        (group, columns)
        for group, columns in sampled.items()
        if RAW["tcp_cwnd"][0][0] in columns
        or (RAW["tcp_cwnd"][0][1] in columns and group not in singles)
    ]
    for number, (group, columns) in enumerate(found, start=1):
        yield f"TCP upload::{number}", group, columns


def _datagrams(sampled: Mapping[str, Columns]) -> Iterable[tuple[str, Columns]]:
    windows = RAW["tcp_cwnd"][0]
    for group, columns in sampled.items():
        if not any(name in columns for name in windows):
            yield group, columns


def _goodput(columns: Columns) -> list[float | None]:
    return _scaled(columns["goodput_bps"], 1e-6)


def _scaled(values: Iterable[Any], by: float) -> list[float | None]:
    """Values in another unit; `None`, which JSON has, for those that there are not."""
    return [float(v) * by if v is not None and math.isfinite(v) else None for v in values]


def _at(
    columns: Columns, values: Sequence[float | None], times: Sequence[float]
) -> list[float | None]:
    known = dict(zip(map(float, columns["time_s"]), values, strict=True))
    return [known.get(time) for time in times]


def _raw(columns: Columns, values: Sequence[float | None]) -> list[dict[str, float]]:
    """Samples as they were taken, without those of which nothing is known."""
    entries: list[dict[str, float]] = [{"t": float(t)} for t in columns["time_s"]]
    wanted: dict[str, Sequence[float | None]] = {"val": values}
    for key, (names, by) in RAW.items():
        for name in names:
            if name in columns:
                wanted[key] = _scaled(columns[name], by)
    for key, found in wanted.items():
        for entry, value in zip(entries, found, strict=True):
            # A round-trip time of 0 is that of a connection without a sample.
            if value is not None and (value > 0 or key == "val"):
                entry[key] = value
    return [entry for entry in entries if "val" in entry]


def _over_streams(
    streams: Sequence[Sequence[float | None]],
) -> Iterable[tuple[str, list[float | None], str]]:
    """Sum, mean and Jain's index of the streams at each time, as flent computes them."""
    if not streams:
        return
    there = [[v for v in at if v is not None] for at in zip(*streams, strict=True)]
    sums = [math.fsum(at) if at else None for at in there]
    means = [math.fsum(at) / len(at) if at else None for at in there]
    yield "TCP upload sum", sums, "Mbits/s"
    yield "TCP upload avg", means, "Mbits/s"
    yield "TCP upload fairness", [_jain(at) for at in there], "Idx"


def _jain(values: Sequence[float]) -> float | None:
    squares = math.fsum(v * v for v in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares else None


def _series_meta(values: Sequence[float | None], unit: str, group: str) -> dict[str, Any]:
    known = [v for v in values if v is not None]
    mean = math.fsum(known) / len(known) if known else None
    return {"UNITS": unit, "MEAN_VALUE": mean} | ({"FLOW": group} if group else {})
