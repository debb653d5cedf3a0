"""Progress on stderr: what runs, how far it is, how fast, and when it will end.

Silent unless stderr is a terminal, so that logs and pipes stay clean. `NO_COLOR` is respected.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from forebay.text import clock

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Meter", "meter", "note"]


class Meter:
    """Counts finished runs and the shares of those under way; draws if there is where to."""

    def __init__(self, total: int, what: str, bar: Progress | None = None) -> None:
        self.total = total
        self._what = what
        self._bar = bar
        self._task: TaskID | None = None
        self._begun = time.monotonic()
        self._finished = 0
        self._partly = 0.0
        self._most = 0.0
        if bar is not None:
            self._task = bar.add_task(what, total=float(total), state="")

    def expect(self, more: int) -> None:
        """More runs turned out to be needed."""
        self.total += more
        self._draw()

    def finished(self) -> None:
        """One more run is done."""
        self._finished += 1
        # Its share is still among those last heard of.
        self._partly = max(0.0, self._partly - 1.0)
        self._draw()

    def tick(self, shares: Sequence[float]) -> None:
        """The shares done of all runs of the present batch."""
        self._partly = sum(share for share in shares if 0.0 < share < 1.0)
        self._draw()

    def state(self) -> str:
        """`12/98 runs, 3.1 runs/s, 0:28 left`."""
        elapsed = time.monotonic() - self._begun
        done = self._done()
        text = f"{self._finished}/{self.total} runs"
        if done > 0 and elapsed > 0.5:
            pace = done / elapsed
            text += f", {pace:.2g} runs/s, {clock((self.total - done) / pace)} left"
        return text

    def _done(self) -> float:
        """Runs done, with the shares of those under way; it never goes back."""
        self._most = max(self._most, min(self._finished + self._partly, float(self.total)))
        return self._most

    def _draw(self) -> None:
        if self._bar is not None and self._task is not None:
            done = self._done()
            self._bar.update(self._task, completed=done, total=self.total, state=self.state())


@contextmanager
def meter(total: int, what: str) -> Iterator[Meter]:
    """A `Meter` for `total` runs, drawn on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield Meter(total, what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[state]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Meter(total, what, bar)


def note(message: str) -> None:
    """A line on stderr, only if someone is watching."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr)
