"""The measurement of memory over time, on processes whose memory is known."""

import sys

import pytest
import soak

GROWING = (
    "import time\nkept = []\nwhile True:\n    kept.append(b'x' * 100_000)\n    time.sleep(0.01)"
)
STEADY = "import time\nblock = b'x' * 10_000_000\ntime.sleep(60)"


def test_a_process_that_grows_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """If this fails, a leak of 10 MB a second passes."""
    samples, status = soak.watch([sys.executable, "-c", GROWING], 3.0)
    assert status is None
    assert not soak.report("front", samples, status)
    assert "slope of the second half +" in capsys.readouterr().out


def test_a_process_that_does_not_grow_holds() -> None:
    """If this fails, the growth of a process that only starts counts as a leak."""
    samples, status = soak.watch([sys.executable, "-c", STEADY], 3.0)
    assert soak.report("front", samples, status)
    assert samples[-1][1] > 10  # the block, and Python around it


def test_a_process_that_ends_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    """If this fails, a soak that crashes in its first minute looks like one that held."""
    samples, status = soak.watch([sys.executable, "-c", "raise SystemExit(3)"], 60.0)
    assert not soak.report("engine", samples, status)
    assert "exit status 3" in capsys.readouterr().out
