"""A plain installation: what runs scenarios needs no library of an extra, and all else names it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from forebay import Network, queue
from forebay.cli.commands import main
from forebay.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries of extras are not there."""
    for name in EXTRAS:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A short transfer."""
    path = tmp_path / "short.toml"
    net = Network("short", duration="2 s")
    law = queue.droptail(limit="20 packets")
    net.link("wire", "A", "B", rate="1 Mbit/s", delay="1 ms", queue=law).flows("bulk", "A", "B")
    path.write_text(net.to_toml(), encoding="utf-8")
    return path


def test_extras_are_those_of_the_package() -> None:
    """An error would name an extra that installs something else, or that there is not."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    for library, extra in EXTRAS.items():
        found = {each.partition(">")[0] for each in project["optional-dependencies"][extra]}
        assert library in found
        assert library not in {each.partition(">")[0] for each in project["dependencies"]}


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    "words",
    [
        ["run", "SCENARIO"],
        ["run", "SCENARIO", "--replications", "2", "--out", "OUT"],
        ["run", "SCENARIO", "--set", "record.series=100ms", "--flent", "OUT"],
        ["check", "SCENARIO"],
        ["mechanisms", "red"],
        ["linux", "SCENARIO"],
        ["studies"],
        ["new"],
    ],
)
def test_a_plain_installation_runs_scenarios(
    words: list[str], scenario: Path, tmp_path: Path
) -> None:
    """Who only wants to run a scenario would have to install 400 MB more."""
    places = {"SCENARIO": str(scenario), "OUT": str(tmp_path / "out")}
    assert main([places.get(word, word) for word in words]) == 0


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["run", "SCENARIO", "--out", "OUT"], "tables"),
        (["run", "SCENARIO", "--replications", "2", "--out", "OUT", "--format", "csv"], "tables"),
        (["sweep", "SCENARIO"], "plots"),
        (["report", "OUT"], "plots"),
        (["reproduce", "af", "--out", "OUT"], "studies"),
        (["transports", "af", "--out", "OUT"], "studies"),
    ],
)
def test_what_needs_an_extra_names_it(
    words: list[str],
    extra: str,
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command would end in a traceback, or after its runs, in place of saying what to install."""
    places = {"SCENARIO": str(scenario), "OUT": str(tmp_path / "out")}
    assert main([places.get(word, word) for word in words]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert f"pip install 'forebay[{extra}]'" in complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("plain")
def test_results_name_the_extra_of_what_is_asked(scenario: Path) -> None:
    """A script would end in an import deep within, and intervals, which need none, fail too."""
    results = Network.from_toml(scenario).run(replications=2)
    assert results.interval("groups", "bulk", "goodput_bps").mean > 0
    asked: dict[str, Any] = {
        "tables": lambda: results.flows,
        "plots": lambda: results.plot("bars"),
        "frames": lambda: results.to_pandas("flows"),
    }
    for extra, ask in asked.items():
        with pytest.raises(ImportError, match=rf"forebay\[{extra}\]"):
            ask()
    with pytest.raises(ImportError, match=r"forebay\[frames\]"):
        results.to_polars("flows")


@pytest.mark.parametrize("name", ["flows", "summary", "delays"])
def test_tables_are_frames(name: str, scenario: Path) -> None:
    """Rows or columns would be lost on the way into pandas or polars."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    results = Network.from_toml(scenario).record(delays=True).run(replications=2)
    table = results.summary() if name == "summary" else getattr(results, name)
    for frame, kind in ((results.to_pandas(name), pandas), (results.to_polars(table), polars)):
        assert isinstance(frame, kind.DataFrame)
        assert frame.shape == table.shape
        assert list(frame.columns) == table.column_names


def test_frames_of_what_was_not_recorded_are_refused(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip in a name would give an empty frame."""
    monkeypatch.setattr("forebay.run.results.need", lambda *_: None)
    with pytest.raises(KeyError, match="no table 'flow' was recorded"):
        Network.from_toml(scenario).run().to_pandas("flow")
