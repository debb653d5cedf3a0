"""A plain installation: what runs scenarios needs no library of an extra, and all else names it."""

from __future__ import annotations

import json
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
    """Extras that errors name are those of the package, and each installs the library that is
    missing."""
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
        ["run", "SCENARIO", "--out", "OUT"],
        ["run", "SCENARIO", "--out", "OUT", "--format", "csv"],
        ["run", "SCENARIO", "--replications", "2", "--out", "OUT", "--format", "csv"],
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
    """A plain installation runs scenarios: the 400 MB of optional libraries are not needed."""
    places = {"SCENARIO": str(scenario), "OUT": str(tmp_path / "out")}
    assert main([places.get(word, word) for word in words]) == 0


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["run", "SCENARIO", "--out", "OUT", "--format", "parquet"], "tables"),
        (["sweep", "SCENARIO", "--out", "OUT", "--format", "both"], "tables"),
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
    """A command that needs an extra says in one line what to install, before it runs anything."""
    places = {"SCENARIO": str(scenario), "OUT": str(tmp_path / "out")}
    assert main([places.get(word, word) for word in words]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert f"pip install 'forebay[{extra}]'" in complaint
    assert not (tmp_path / "out").exists()


@pytest.fixture
def sweep(scenario: Path) -> Path:
    """A sweep of two points over the transfer."""
    path = scenario.with_name("rates.toml")
    path.write_text(
        'scenario = "short.toml"\nreplications = 2\nquantities = ["links.wire.utilization"]\n'
        '[grid]\nlinks.wire.rate = ["1 Mbit/s", "2 Mbit/s"]\n',
        encoding="utf-8",
    )
    return path


def test_a_plain_installation_sweeps(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Means and runs are the same with and without extras; extras add Parquet and plots.

    What is made without them is CSV and a page that says what draws plots, and goes when they are
    there."""
    out = tmp_path / "out"
    words = ["sweep", str(sweep), "--out", str(out), "--json"]
    with monkeypatch.context() as lacking:
        for name in EXTRAS:
            lacking.setitem(sys.modules, name, None)
        assert main(words) == 0
        assert {path.name for path in out.glob("*.*")} >= {"runs.csv", "summary.csv", "sweep.json"}
        assert not list(out.rglob("*.parquet"))
        page = (out / "report.html").read_text(encoding="utf-8")
        assert "pip install &#39;forebay[plots]&#39;" in page
        assert page.count("<figure") == 0
        assert main(["report", str(out)]) == 0
        assert (out / "report.html").read_text(encoding="utf-8") == page
    plain = json.loads(capsys.readouterr().out.partition("\nreport: ")[0])
    means = (out / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[2] for row in means[1:]] == [str(it["mean"]) for it in plain["summary"]]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == plain
    assert not list(out.rglob("*.csv"))
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "forebay[plots]" not in page
    assert page.count("<figure") > 0


def test_a_page_shows_what_a_plain_installation_recorded(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A series that was kept as CSV is drawn like one that was kept as Parquet."""
    recorded = ["run", str(scenario), "--set", "record.series=100ms", "--set", "record.delays=true"]
    plain, whole = tmp_path / "plain", tmp_path / "whole"
    with monkeypatch.context() as lacking:
        for name in EXTRAS:
            lacking.setitem(sys.modules, name, None)
        assert main([*recorded, "--out", str(plain)]) == 0
        assert (plain / "tables/series/links.wire.csv").exists()
        assert main(["report", str(plain)]) == 2
        assert "pip install 'forebay[plots]'" in capsys.readouterr().err
    assert main([*recorded, "--out", str(whole)]) == 0
    for folder in (plain, whole):
        assert main(["report", str(folder)]) == 0
    pages = [(folder / "report.html").read_text(encoding="utf-8") for folder in (plain, whole)]
    drawn = [page.partition("<figure")[2].rpartition("</figure>")[0] for page in pages]
    assert drawn[0] == drawn[1] != ""


@pytest.mark.usefixtures("plain")
def test_results_name_the_extra_of_what_is_asked(scenario: Path) -> None:
    """Results name the extra of the method that needs it; intervals need none."""
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
    """Tables become frames of pandas and polars with all their rows and columns."""
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
    """Frames of a table that was not recorded are refused: a slip in a name gives no empty
    frame."""
    monkeypatch.setattr("forebay.run.results.need", lambda *_: None)
    with pytest.raises(KeyError, match="no table 'flow' was recorded"):
        Network.from_toml(scenario).run().to_pandas("flow")
