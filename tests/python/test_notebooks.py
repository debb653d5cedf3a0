"""Notebooks: each runs from its first cell to its last, and objects show themselves in one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from forebay import Network, queue
from forebay.run.progress import in_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def small() -> Network:
    """A link with a transfer and a source of packets that asks to be escaped."""
    net = Network("a <b> network", duration="4 s", warm_up="1 s")
    law = queue.droptail(limit="50 packets")
    net.link("wire", "A", "B", rate="5 Mbit/s", delay="5 ms", queue=law)
    return net.flows("bulk", "A", "B", count=2)


# Packages of the kernel, not ours, warn of what they will change.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first thing that a reader tries would fail. Each says what must come out, in asserts."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "python"), *_given()]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    shown = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    assert any("text/html" in data for data in shown)
    assert any("image/svg+xml" in data for data in shown)


def _given() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def test_there_are_three_notebooks_without_outputs() -> None:
    """The repository would hold pictures that are out of date."""
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells)


def test_a_network_shows_its_topology(small: Network) -> None:
    """A notebook would show how many links there are, and not where they lead."""
    shown = small._repr_html_()
    assert "5 Mbit/s, 5 ms" in shown
    assert "A to B" in shown
    assert "<b> network" not in shown


def test_results_show_a_summary_and_plots(small: Network) -> None:
    """A notebook would show raw keys, or nothing of what was recorded."""
    plain = small.run(replications=2)._repr_html_()
    assert "throughput" in plain
    assert "throughput_bps" not in plain
    assert "<img" not in plain
    recorded = small.record(series="100 ms", delays=True).run()._repr_html_()
    assert recorded.count("<img") == 2
    assert "1 replication of 4 s" not in plain


def test_a_mechanism_shows_its_parameters() -> None:
    """A reader would have to look defaults up. The target of CoDel is 5 ms (RFC 8289)."""
    shown = queue.codel(interval="50 ms")._repr_html_()
    assert "<b>50 ms</b>" in shown
    assert "5 ms</td>" in shown


def test_no_kernel_no_bar_of_a_notebook() -> None:
    """Progress would be drawn for a notebook into a log."""
    assert not in_notebook()
