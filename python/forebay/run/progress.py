"""Progress on stderr: what runs, how far it is, how fast, and when it will end.

Silent unless stderr is a terminal, so that logs and pipes stay clean; only `say` is not. `NO_COLOR`
is respected.
"""

# ruff: noqa: T201, TID251, PLC0415 (prints how long a command will take)

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from forebay.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Any

    from rich.progress import Progress

__all__ = ["Meter", "meter", "note", "say", "say_warnings"]


class Meter:
    """Counts finished runs and the shares of those under way, and draws them if it is `visible`.

    `work` is what all `total` runs cost, in any unit, where they differ in that; the time left is
    estimated from what was done of it. In a `with` statement: what is drawn goes at its end.
    """

    def __init__(
        self, total: int, what: str, visible: bool = False, work: float | None = None
    ) -> None:
        self.total = total
        self._work = float(total) if work is None else work
        self._what = printable(what)
        self._visible = visible
        self._bar: Progress | None = None
        self._begun = time.monotonic()
        self._finished = 0
        self._complete = 0.0
        self._partly = 0.0
        self._most = 0.0
        self._costs: Sequence[float] = ()
        self._cell: Any = None
        self._drawn = 0.0

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._cell is not None:
            self._cell.update({"text/html": ""}, raw=True)

    def expect(self, more: int, work: float | None = None) -> None:
        """More runs turned out to be needed; fewer, if negative."""
        self.total += more
        self._work += more if work is None else work
        self._draw()

    def batch(self, costs: Sequence[float]) -> None:
        """The next shares are those of runs that cost so much."""
        self._costs = costs

    def finished(self, cost: float = 1.0) -> None:
        """One more run is done. Raises `KeyboardInterrupt` if a signal asked for the end."""
        _raise_if_interrupted()
        self._finished += 1
        self._complete += cost
        # Its share is still among those last heard of.
        self._partly = max(0.0, self._partly - cost)
        self._draw()

    def tick(self, shares: Sequence[float]) -> None:
        """The shares done of all runs of the present batch. Raises `KeyboardInterrupt` if a signal
        asked for the end."""
        _raise_if_interrupted()
        costs = self._costs or [1.0] * len(shares)
        pairs = zip(shares, costs, strict=True)
        self._partly = sum(share * cost for share, cost in pairs if 0.0 < share < 1.0)
        self._draw()

    def state(self) -> str:
        """`12/98 runs, 3.1 runs/s, 0:28 left`."""
        elapsed = time.monotonic() - self._begun
        done = self._done()
        text = f"{self._finished}/{self.total} runs"
        if done > 0 and elapsed > 0.5:
            pace = f"{done / self._work * self.total / elapsed:.2g} runs/s"
            text += f", {pace}, {_clock((self._work - done) * elapsed / done)} left"
        return text

    def _done(self) -> float:
        """Work done, with the shares of runs under way; it never goes back."""
        self._most = max(self._most, min(self._complete + self._partly, self._work))
        return self._most

    def _draw(self) -> None:
        if not self._visible:
            return
        if self._bar is None:
            # Not before there is something to tell: a short run is done before rich is imported.
            if in_notebook():
                self._draw_in_notebook()
                return
            self._bar = _bar()
            self._bar.add_task(self._what, total=self._work, state="")
            self._bar.start()
        done = self._done()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=done, total=self._work, state=self.state())

    def _draw_in_notebook(self) -> None:
        """A line below the cell, drawn anew a few times a second at most."""
        from html import escape

        from IPython import display as notebook

        elapsed = time.monotonic() - self._begun
        if elapsed - self._drawn < 0.25:
            return
        self._drawn = elapsed
        share = f'<progress value="{self._done() / self._work:.3f}"></progress>'
        shown = {"text/html": f"{share} {escape(self._what)}: {self.state()}"}
        if self._cell is None:
            show: Any = notebook.display
            self._cell = show(shown, raw=True, display_id=True)
        else:
            self._cell.update(shown, raw=True)


def meter(total: int, what: str, work: float | None = None) -> Meter:
    """A `Meter` for `total` runs that cost `work`, drawn on stderr if that is a terminal, and below
    the cell of a notebook."""
    return Meter(total, what, sys.stderr.isatty() or in_notebook(), work)


def in_notebook() -> bool:
    """Returns true if this is the kernel of a notebook, whose stderr is no terminal."""
    shell = sys.modules.get("IPython")
    kernel = shell.get_ipython() if shell is not None else None
    return kernel is not None and hasattr(kernel, "kernel")


def note(message: str) -> None:
    """A line on stderr, only if someone is watching."""
    if sys.stderr.isatty():
        say(message)


def say(message: str) -> None:
    """A line on stderr, also in logs: what a reader of the result needs to know."""
    print(printable(message), file=sys.stderr)


def say_warnings(warnings: Iterable[str]) -> None:
    """The warnings of a scenario on stderr, a line each."""
    for warning in warnings:
        say(f"forebay: warning: {warning}")


def _raise_if_interrupted() -> None:
    """As `forebay.run.interrupts` has it; a single run does not import that."""
    interrupts = sys.modules.get("forebay.run.interrupts")
    if interrupts is not None:
        interrupts.raise_if_interrupted()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[state]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _clock(seconds: float) -> str:
    """A waiting time: `0:42`, `1:02:03`."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
