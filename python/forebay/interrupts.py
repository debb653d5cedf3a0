"""Being ended from outside: SIGTERM is taken as Ctrl-C is, so that finished runs are kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["terminated_like_interrupted"]


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM raises `KeyboardInterrupt`; only in the main thread, which alone gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
