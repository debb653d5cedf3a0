"""Distributions of sizes from files."""

from __future__ import annotations

from pathlib import Path

import pytest

import forebay
from forebay.cli.commands import main

SCENARIO = """
name = "sizes"
duration = "20 s"
[links.line]
from = "a"
to = "b"
rate = "100 Mbit/s"
delay = "1 ms"
[flows.web]
from = "a"
to = "b"
tcp = {{}}
traffic = {{ transfers = {{ load = "10 Mbit/s", sizes = {{ cdf = {{ {cdf} }} }} }} }}
[record]
transfers = true
"""


def completed(folder: Path, cdf: str) -> list[int]:
    """The sizes of the transfers of a run."""
    path = folder / "sizes.toml"
    path.write_text(SCENARIO.format(cdf=cdf), encoding="utf-8")
    table = forebay.Network.from_toml(path).run().table("transfers")
    return [row["size_bytes"] for row in table.to_pylist()]


def test_a_file_gives_the_same_transfers_as_its_points(tmp_path: Path) -> None:
    """A file gives the same transfers as its points in the scenario."""
    lines = ["share,size_bytes", "# measured at our edge", "0.3,1000", "0.8,10000", "1,100000"]
    (tmp_path / "objects.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    listed = completed(tmp_path, 'sizes = ["1 kB", "10 kB", "100 kB"], shares = [0.3, 0.8, 1.0]')
    assert len(listed) > 500
    assert completed(tmp_path, f'file = "{tmp_path / "objects.csv"}"') == listed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read"),
        ("size_bytes,share\n1000,0.5\n500,1\n", '"objects.csv", line 3: size_bytes 500 B'),
        ("size_bytes,shares\n1000,1\n", '"objects.csv", line 1: "shares" is not a column'),
        ("size_bytes,share\n1000,0.9\n", '"objects.csv", line 2: share ends with 0.9'),
    ],
)
def test_a_wrong_file_is_refused_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    """A wrong file is refused at its line."""
    if text is not None:
        (tmp_path / "objects.csv").write_text(text, encoding="utf-8")
    path = tmp_path / "sizes.toml"
    path.write_text(SCENARIO.format(cdf='file = "objects.csv"'), encoding="utf-8")
    assert main(["run", str(path)]) == 2
    error = capsys.readouterr().err
    assert "flows.web.traffic.transfers.sizes.cdf.file" in error
    assert message in error.replace("\n", " ")
