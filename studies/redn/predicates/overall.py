"""Predicates of the architecture as a whole: delay and distribution together."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from forebay.study import Quantities, Truth, all_of
from forebay_studies.redn.criteria import ADAPTIVE, ARCHITECTURE
from forebay_studies.redn.predicates.flows import adaptive_all_attain, distribution
from forebay_studies.redn.predicates.gateways import (
    delay_short,
    full_utilization,
    probability_follows,
)


def architecture_attains_goals(
    run: Quantities, runs: Collection[str] = ARCHITECTURE.keys()
) -> Truth:
    """In each of the runs of Adaptive REDn the queuing delay is mostly short at every gateway, and
    the distribution is the assured one, to 10 % in the mean over the RTTs."""
    points = [ARCHITECTURE[name] for name in runs]
    return all_of(delay_short(run, point) & distribution(run, point) for point in points)


single_attains_goals = partial(architecture_attains_goals, runs=("adaptive",))
single_others_attain_goals = partial(architecture_attains_goals, runs=("ecn", "bou", "bou_ecn"))
dual_attains_goals = partial(architecture_attains_goals, runs=("dual",))
dual_others_attain_goals = partial(
    architecture_attains_goals, runs=("dual_ecn", "dual_bou", "dual_bou_ecn")
)


def algorithm_correct(run: Quantities) -> Truth:
    """The thesis's evidence together: all attain, delay moderate, link full, and the effective
    maximum probability greater where the load is."""
    return (
        adaptive_all_attain(run)
        & delay_short(run, ADAPTIVE)
        & full_utilization(run, ADAPTIVE)
        & probability_follows(run, ADAPTIVE)
    )
