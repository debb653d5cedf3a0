"""Output of commands: one width, one look of tables, colour for terminals alone."""

from __future__ import annotations

import pytest

from forebay.cli.terminal import WIDTH, Grid, print_page

FACTS = [": 5 s simulated in 1.00 ms", "seed 1, replication 0"]
FLOWS = Grid("flows", ["name", "sent", "mean delay"], [["tcp[0]", "1 888", "40.92 ms"],
                                                       ["a long name", "5", "-"]])  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], name: str, grids: list[Grid]) -> str:
    """Returns the page as printed."""
    print_page(name, FACTS, grids)
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns are aligned, so that numbers of several digits can be compared."""
    assert [line.rstrip() for line in printed(capsys, "small", [FLOWS]).splitlines()] == [
        "small: 5 s simulated in 1.00 ms",
        "seed 1, replication 0",
        "flows",
        "name           sent   mean delay",
        "─" * 32,
        "tcp[0]        1 888     40.92 ms",
        "a long name       5            -",
    ]


@pytest.mark.parametrize("columns", ["20", "400"])
@pytest.mark.parametrize("name", ["wire" * 30, "wire " * 30, "[red]café[/]", ":smile:", "\\", "网"])
def test_a_page_for_a_file_has_at_most_100_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, columns: str
) -> None:
    """A page for a file has at most 100 columns, whatever the terminal that it is written from, and
    whole names: markup in them is text."""
    monkeypatch.setenv("COLUMNS", columns)
    grid = Grid("links", ["name", "use"], [[name, "1 %"]])
    lines = printed(capsys, name, [grid, FLOWS]).splitlines()
    assert max(map(len, lines)) <= WIDTH
    table = lines[lines.index(next(line for line in lines if line.startswith("links"))) :]
    shown = "".join(line.partition("1 %")[0] for line in table)
    assert name.replace(" ", "") in shown.replace(" ", "")


def test_colour_can_be_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Colour can be asked for and declined; a file has none by default."""
    assert "\x1b[" not in printed(capsys, "small", [FLOWS])
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1m" in printed(capsys, "small", [FLOWS])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(capsys, "small", [FLOWS])


@pytest.mark.parametrize("name", ["x", "small", "wire" * 12, "[red]café[/]"])
def test_what_fits_looks_as_rich_draws_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """What fits is drawn without Rich, and looks the same."""
    grid = Grid("links (queues in packets)", ["name", "use", "mean queue"], [[name, "1 %", "0.5"]])
    plain = printed(capsys, name, [grid, FLOWS])
    # Set for a terminal that Rich is to look at.
    monkeypatch.setenv("TTY_INTERACTIVE", "0")
    assert printed(capsys, name, [grid, FLOWS]) == plain
