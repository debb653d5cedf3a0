"""Runs whose series are kept for the figures: one of each scenario, line and law of the slides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from forebay.study.definition import Point, Recording, Run
from forebay_studies.rpr.criteria import LINES, SCENARIOS, Setting
from forebay_studies.rpr.series import ABOUT_A_MS, Array, Flags, Samples

Columns = dict[str, Array]

VIEW_S = {1: (1.0, 1.063), 3: (0.0, 0.8), 4: (1.0, 1.063)}
"""Time of a run that figures show: three periods of bursts; under constant load the start and some
swings."""

EVERY = {1: 1, 3: 6, 4: 1}
"""Of the samples, one in so many is kept for what laws do."""

SENT_BIN_S = {1: 0.00025, 3: 0.002, 4: 0.00025}
"""Spans over which the traffic generated is counted."""

RAMP_STEPS = 250
RAMPS = 3
"""Steps of a ramp that are kept, and ramps of a run."""

PACKET_BITS = 12000.0


def shown_settings() -> list[Setting]:
    """The runs of the slides: the constants of RFC 2892 for SRP-fa, VoQ with its own buffer; and
    SRP-fa with thresholds that a burst exceeds."""
    laws = (("srp-fa", "rfc"), ("srp-fa", "small"), ("voq", "single"))
    return [Setting(s, line, *law) for s in SCENARIOS for law in laws for line in LINES]


def recording_id(setting: Setting) -> str:
    """Id of the recording of a setting."""
    return f"s{setting.scenario}-{setting.line}-{setting.law}-{setting.buffers}"


def _keep(run: Run, point: Point) -> Mapping[str, Columns]:
    """Throughputs, what laws do, and the traffic generated, in the view of the figures."""
    samples = Samples(run, point)
    start, end = VIEW_S[samples.scenario]
    seen = (samples.time > start) & (samples.time <= end)
    tables = {"rates": _rates(samples, seen), "control": _control(samples, seen)}
    if "trace" in run.tables:
        tables["sent"] = _sent(run, samples)
    if point["law"] == "srp-fa":
        tables["ramps"] = _ramps(samples)
    return tables


def _rates(samples: Samples, seen: Flags) -> Columns:
    """Throughputs at the hub over a millisecond, as parts of the line."""
    whole = int(seen.sum()) // ABOUT_A_MS

    def means(series: Array) -> Array:
        shown = series[seen][: whole * ABOUT_A_MS].reshape(whole, ABOUT_A_MS)
        found: Array = shown.mean(axis=1)
        return found

    return {
        "time_s": means(samples.time),
        "f": means(samples.throughput("f")),
        "d": means(samples.throughput("d")),
    }


def _control(samples: Samples, seen: Flags) -> Columns:
    """Allowed rates as parts of the line, and D's transit buffer in bytes."""
    kept = np.flatnonzero(seen)[:: EVERY[samples.scenario]]
    found = {
        "time_s": samples.time[kept],
        "allowed": samples.allowed()[kept],
        "transit_bytes": samples.span("D", "transit_low_bytes")[kept],
    }
    if samples.voq:
        level = "low" if samples.scenario == 1 else "high"
        found["d_allowed"] = samples.span("D", f"allow_bps.{level}.3")[kept] / samples.line
        found["share"] = samples.span("D", "share_bps")[kept] / samples.line
    else:
        found["usage"] = samples.span("F", "usage_bps")[kept] / samples.line
    return found


def _sent(run: Run, samples: Samples) -> Columns:
    """The traffic generated in bit/s, from the start as far as the trace goes."""
    trace = run.tables["trace"]
    time, flows = np.asarray(trace["time_s"]), np.asarray(trace["flow"])
    sent = np.asarray(trace["event"]) == "sent"
    width = SENT_BIN_S[samples.scenario]
    bins = np.arange(0.0, float(time[-1]), width)
    found: Columns = {"time_s": bins[:-1] + width / 2}
    for name in ("f", "d"):
        counted, _ = np.histogram(time[sent & (flows == name)], bins)
        found[f"{name}_bps"] = counted * PACKET_BITS / width
    return found


def _ramps(samples: Samples) -> Columns:
    """Allowed rates from the step at which a message set them lowest; short ramps end in NaN."""
    allowed = samples.allowed()
    found: Columns = {"steps": np.arange(RAMP_STEPS + 1.0)}
    rises = sorted(samples.ramps(), key=lambda ramp: ramp[0] - ramp[1])[:RAMPS]
    for number, (first, last) in enumerate(rises, 1):
        kept = np.full(RAMP_STEPS + 1, np.nan)
        rise = allowed[first : min(last, first + RAMP_STEPS) + 1]
        kept[: len(rise)] = rise
        found[f"ramp{number}"] = kept
    return found


RECORDINGS = [
    Recording(
        recording_id(setting), {"family": "slides", **setting._asdict()}, interval=None, keep=_keep
    )
    for setting in shown_settings()
]
