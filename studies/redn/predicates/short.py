"""Predicates of short-lived and sporadic flows (section 2.2)."""

from __future__ import annotations

from forebay.study import Point, Quantities, Truth, at
from forebay_studies.redn import criteria as thesis

WITH = thesis.setting("short", scenario="o")
ALIKE = thesis.setting("short-alike", scenario="o")
BY_RATE = thesis.setting("short-tsw", scenario="o")


def short_flows_least_marked(run: Quantities) -> Truth:
    """Of the packets of short-lived and sporadic flows at most half as many are dropped as of those
    of long-lived flows."""
    short, long = (at(run, WITH, f"{kind}_drop_ratio") for kind in ("short", "long"))
    return short <= thesis.MUCH * long


def short_flows_favoured(run: Quantities, without: Point = ALIKE) -> Truth:
    """Fewer of the packets of short-lived and sporadic flows are dropped than where all packets are
    alike."""
    return at(run, WITH, "short_drop_ratio") < at(run, without, "short_drop_ratio")


def short_flows_favoured_over_rate(run: Quantities) -> Truth:
    """The same against conditioning by rate."""
    return short_flows_favoured(run, BY_RATE)


def short_flows_sooner(run: Quantities) -> Truth:
    """Transfers of eight segments take less time in the mean than where all packets are alike."""
    return at(run, WITH, "web_slowdown_ratio") < at(run, ALIKE, "web_slowdown_ratio")
