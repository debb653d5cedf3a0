"""Being ended from outside: SIGTERM is taken as Ctrl-C is, so that finished runs are kept.

Python raises the exception of a signal wherever the main thread happens to be. Where it is in a
callback of the garbage collector or of the import system, the exception is printed or dropped, and
the program would run on. So a signal is also remembered, and whatever comes next in a long
computation asks `raise_if_interrupted`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from forebay.run.repeat import quoted

__all__ = ["how_to_continue", "raise_if_interrupted", "terminated_like_interrupted"]

_interrupted = threading.Event()


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM and SIGINT raise `KeyboardInterrupt`, and are remembered until this ends; a SIGINT
    that is ignored, as in the background of a shell, stays so. Only in the main thread, which
    alone gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        _interrupted.set()
        raise KeyboardInterrupt

    _interrupted.clear()
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        _interrupted.clear()


def how_to_continue(folder: Path, words: Sequence[str]) -> str:
    """Message about runs that were interrupted: the folder of those that had finished, and the
    command that makes the others."""
    return f"finished runs are in {folder}; to continue: {quoted([*words, '--resume'])}"


def raise_if_interrupted() -> None:
    """Raise `KeyboardInterrupt` if a signal asked for the end whose own exception was lost."""
    if _interrupted.is_set():
        raise KeyboardInterrupt
