"""Values of the draft that several modules of this study need."""

from __future__ import annotations

import math

MBPS = 1e6
"""Bit/s in a Mbit/s, the unit of the draft's rates and of `sr_mbps`."""

ACTIVITY = 1.004 / (1.004 + 1.590)
"""Share of the time that a source with silence suppression sends (section 3.2)."""

PEAK_BPS = {"g711_20ms": 80e3, "g711_10ms": 96e3, "g729_20ms": 24e3, "dual_rate": 144e3}
"""Data rate of each codec of section 3.1 while it sends, IP headers included."""

VOICE_MBPS = {"large": 40, "small": 0.8}
"""SR of the voice runs by their number of flows (sections 4.2 and 4.3)."""

NO_LOSS = 200
"""`forward_pct` of the voice runs without loss: a link of twice SR takes all of the load."""


def codec_bps(name: str, silence_suppression: bool) -> float:
    """Mean data rate of a source."""
    return PEAK_BPS[name] * (ACTIVITY if silence_suppression else 1.0)


def px_bucket(sr_mbps: float) -> str:
    """Token bucket of a meter at SR on a single link (sections 3.1.1.1 and 3.1.1.2)."""
    return "50 kB" if sr_mbps > 1 else "10 kB"


def whole(flows: float) -> int:
    """A number of flows; half a flow counts as one."""
    return math.floor(flows + 0.5)
