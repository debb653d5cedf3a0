"""Forebay: packet-level simulation of traffic management, with error bars.

    from forebay import Network, queue

`Network` builds and runs a scenario; `queue`, `conditioner`, `shaper`, `admission`, `termination`,
`fairness`, `traffic`, `sizes`, `control`, `detector`, `explicit_rate`, `impairment`, `activity`,
`pace` and `adaptation` hold the mechanisms, `tcp`, `udp`, `media`, `calls` and `paced` the
parameters of a transport, `policing` those of policing. `law` makes a class a law of one's own, and
`forebay.laws` holds what such a class is written with.
What is wrong with a scenario is raised as `UserError`, what is hardly meant in it is a
`ScenarioWarning`; `style` is how plots look.

Everything is imported when it is first used, so that the command line starts at once.
"""

# ruff: noqa: PLC0415 (imports a name when it is used)

from __future__ import annotations

_HOMES = {
    "Network": "forebay.scenario.network",
    "Node": "forebay.scenario.network",
    "Results": "forebay.run.results",
    "Mechanism": "forebay.scenario.mechanism",
    "ScenarioWarning": "forebay.errors",
    "UserError": "forebay.errors",
    "style": "forebay.run.plots",
    "law": "forebay.laws",
}
_CATEGORIES = (
    "queue", "conditioner", "shaper", "admission", "termination", "fairness", "traffic", "sizes",
    "control", "detector", "explicit_rate", "impairment", "activity", "pace",
    "adaptation",
)  # fmt: skip
_PACKAGES = ("laws",)
_TRANSPORTS = ("tcp", "udp", "media", "calls", "paced", "policing")

__all__ = [*_HOMES, *_CATEGORIES, *_TRANSPORTS, *_PACKAGES, "__version__"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'forebay' has no attribute {name!r}")
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"forebay.{name}")
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    elif name in _CATEGORIES:
        found = import_module("forebay.scenario.mechanism").category(name)
    elif name in _TRANSPORTS:
        found = import_module("forebay.scenario.mechanism").transport(name)
    else:
        found = import_module("forebay.run.jobs").version()
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
