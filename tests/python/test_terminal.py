"""What commands print with: pages that look the same with rich and without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forebay.cli.terminal import Grid, print_page

FACTS = [": 5 s simulated in 1.00 ms", "seed 1, replication 0"]
FLOWS = Grid("flows", ["name", "sent", "mean delay"], [["tcp[0]", "1 888", "40.92 ms"],
                                                       ["a long name", "5", "-"]])  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], name: str, grids: list[Grid]) -> str:
    """What the page looks like."""
    print_page(name, FACTS, grids)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("small", FLOWS),
        ("small", Grid("links", ["name", "use"], [])),
        ("small", Grid("links (2 idle ones left out)", ["name", "use"], [["a", "1 %"]])),
        ("small", Grid("links", ["name", "use"], [["wire" * 30, "1 %"]])),
        ("small", Grid("links", ["name", "use"], [["wire " * 30, "1 %"]])),
        ("small", Grid("links", ["name", "use"], [["[bold]:smile:\\", ":b:"]])),
        ("small", Grid("links", ["name", "use"], [["网", "1 %"]])),
        ("[red]café[/]", FLOWS),
        (":smile", FLOWS),
        ("word " * 20, FLOWS),
    ],
)
def test_a_page_looks_the_same_without_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, grid: Grid
) -> None:
    """What a command prints would depend on whether anything in it needed rich."""
    found = printed(capsys, name, [grid, FLOWS])
    # Says to rich that this is no terminal, and to us that rich is to decide.
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert found == printed(capsys, name, [grid, FLOWS])


def test_colour_can_be_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe to a pager that shows colours would have none."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b[1m" not in printed(capsys, "small", [FLOWS])
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1m" in printed(capsys, "small", [FLOWS])


def test_a_page_for_a_file_needs_no_rich(scenario: Path) -> None:
    """A short run would take four times as long to show as to do."""
    script = (
        "import sys; from forebay.cli.commands import main; "
        f"main(['run', {str(scenario)!r}, '--until', '1.1 s']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("small: 1.1 s simulated in ")
    assert "rich" not in done.stderr.split()
