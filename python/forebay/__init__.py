"""Forebay: packet-level simulation of traffic management, with error bars.

    from forebay import Network, queue

`Network` builds and runs a scenario; `queue`, `conditioner`, `shaper`, `admission`, `termination`,
`fairness`, `traffic`, `sizes`, `control`, `detector`, `explicit_rate`, `impairment`, `activity`,
`pace` and `adaptation` hold the mechanisms, `tcp`, `udp`, `media`, `calls` and `paced` the
parameters of a transport, `policing` those of policing; an engine of one's own has further ones.
`law` makes a class a law of one's own, and `forebay.laws` holds what such a class is written with;
`forebay.host` puts protocol stacks in Python on a network.
What is wrong with a scenario is raised as `UserError`, what is hardly meant in it is a
`ScenarioWarning`; `style` is how plots look.

Everything is imported when it is first used, so that the command line starts at once.
"""

# ruff: noqa: PLC0415 (imports a name when it is used)

from __future__ import annotations

from typing import Any

_HOMES = {
    "Network": "scenario.network",
    "Node": "scenario.network",
    "Results": "run.results",
    "Mechanism": "scenario.mechanism",
    "ScenarioWarning": "errors",
    "UserError": "errors",
    "style": "run.plots",
    "law": "laws",
}
_PACKAGES = ("laws", "host")
_OWN = (*_HOMES, *_PACKAGES, "__version__")


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [*_OWN, *_mechanisms().names()]
    if name in _PACKAGES:
        return _module(name)
    if name in _HOMES:
        found = getattr(_module(_HOMES[name]), name)
    elif name == "__version__":
        found = _module("run.jobs").version()
    else:
        found = _named(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWN, *_mechanisms().names()})


def _named(name: str) -> object:
    """The category or transport of that name, of those that the engine has."""
    from importlib.util import find_spec

    told = f"module 'forebay' has no attribute {name!r}"
    # An import finds a module that is no attribute yet.
    if name.startswith("_") or find_spec(f"forebay.{name}") is not None:
        raise AttributeError(told)
    found = _mechanisms().named(name)
    if found is None:
        near = _module("errors").nearest(name, [*_OWN, *_mechanisms().names()])
        raise AttributeError(f"{told}{near}")
    return found


def _mechanisms() -> Any:
    return _module("scenario.mechanism")


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(f"forebay.{name}")
