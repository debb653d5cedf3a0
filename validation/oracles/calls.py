"""Cells: calls that are blocked, against Erlang, Engset, and the queue without loss."""

from __future__ import annotations

from collections.abc import Callable

from measuring import Cell, Sampled
from theory import engset, erlang_b

from forebay.run.jobs import Run

__all__ = ["CELLS"]

# The unit of time is the mean holding time, 1 s. Calls send next to nothing.
PILOT_S = 200.0


def _system(calls: str, lines: int | None) -> Callable[[float], str]:
    admission = f"admission = {{ capacity = {{ calls = {lines} }} }}\n" if lines else ""

    def text(seconds: float) -> str:
        return (
            f'duration = "{seconds + 20:.6f} s"\nwarm_up = "20 s"\n'
            '[links.l]\nfrom = "a"\nto = "b"\nrate = "1 Gbit/s"\nduplex = false\n'
            f"[aggregates.ab]\n{admission}"
            '[flows.x]\nfrom = "a"\nto = "b"\naggregate = "ab"\n'
            f'calls = {{ {calls}, holding = "1 s" }}\n'
            'traffic = { cbr = { rate = "8 bit/s", size = "65535 B" } }\n'
        )

    return text


def _blocking(run: Run) -> float:
    return float(run.call_class("x")["blocking_ratio"])


def _present(run: Run) -> float:
    return float(run.call_class("x")["mean_present"])


def _erlang() -> list[Cell]:
    cells = []
    for offered, lines in ((1, 1), (1, 2), (2, 4), (5, 5), (7.5, 10), (10, 10), (20, 25), (40, 40)):
        text = _system(f'rate = "{offered:g} /s"', lines)
        check = Sampled(text, _blocking, erlang_b(offered, lines), PILOT_S)
        cells.append(Cell("Erlang B", f"{offered:g} erlang, {lines} lines, blocking", check))
    for offered, lines in ((5, 8), (12, 12)):
        carried = offered * (1.0 - erlang_b(offered, lines))
        check = Sampled(_system(f'rate = "{offered} /s"', lines), _present, carried, PILOT_S)
        cells.append(Cell("Erlang B", f"{offered} erlang, {lines} lines, present", check))
    return cells


def _engset() -> list[Cell]:
    cells = []
    for sources, rate, lines in ((20, 0.2, 5), (10, 0.5, 4), (6, 1.0, 3), (50, 0.1, 6)):
        text = _system(f'rate = "{rate:g} /s", sources = {sources}', lines)
        check = Sampled(text, _blocking, engset(sources, rate, lines), PILOT_S)
        cells.append(Cell("Engset", f"{sources} sources at {rate}, {lines} lines, blocking", check))
    return cells


def _unlimited() -> list[Cell]:
    """M/M/oo: by Little's law rate times holding time calls are present, single or in batches."""
    cells = []
    for rate, batch in ((5, 1.0), (30, 1.0), (10, 2.5)):
        # `rate` is that of batches.
        text = _system(f'rate = "{rate} /s", batch = {batch}', None)
        check = Sampled(text, _present, rate * batch, PILOT_S)
        cells.append(Cell("M/M/oo", f"{rate}/s in batches of {batch:g}, present", check))
    return cells


CELLS: list[Cell] = [*_erlang(), *_engset(), *_unlimited()]
