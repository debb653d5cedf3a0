"""Fixtures of several files of tests."""

from __future__ import annotations

import importlib
import signal
from pathlib import Path
from typing import Any

import front
import pytest

# Processes of tests are sent these signals. Where the tests run in the background of a shell or
# under nohup they are ignored, and processes inherit that.
for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def forebay(capfd: pytest.CaptureFixture[str]) -> front.Forebay:
    """The command line."""
    return front.Forebay(capfd)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A small scenario file."""
    path = tmp_path / "small.toml"
    path.write_text(front.SCENARIO, encoding="utf-8")
    return path


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small study, found by the command line instead of the real ones; its folder."""
    folder = front.write_study(tmp_path / "studies")
    monkeypatch.setenv("FOREBAY_STUDIES", str(folder.parent))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example of two kernels."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "examples"))
    return importlib.import_module("two_kernels")
