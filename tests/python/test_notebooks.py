"""Notebooks: each runs from its first cell to its last, and objects show themselves in one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from forebay import Network, queue
from forebay.run.progress import in_notebook

pytestmark = pytest.mark.long

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
    """Notebooks run, and the asserts in them on what must come out hold."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "python"), *_given()]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    kept = [_shown(cell) for cell in notebook.cells]
    client.execute()
    shown = [_shown(cell) for cell in notebook.cells]
    assert any("text/html" in kinds for kinds, _ in shown)
    assert any("image/svg+xml" in kinds for kinds, _ in shown)
    if os.environ.get("FOREBAY_WRITE_DOCS"):
        _write(path, notebook)
    else:
        assert shown == kept, "FOREBAY_WRITE_DOCS=1 keeps what they show"


def _shown(cell: Any) -> tuple[list[str], str]:
    """The kinds of what a cell shows, and what it prints."""
    outputs = [output for output in cell.get("outputs", []) if not _is_progress(output)]
    return (
        [kind for output in outputs for kind in sorted(output.get("data", {}))],
        "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout"),
    )


def _is_progress(output: Any) -> bool:
    """Returns True if this is the line of progress, which long cells alone have."""
    return output.get("output_type") == "display_data" and list(output["data"]) == ["text/html"]


def _write(path: Path, notebook: Any) -> None:
    """Keep a notebook with what it shows, without what differs from run to run."""
    for cell in notebook.cells:
        cell.metadata = {}
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not _is_progress(output)]
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def _given() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def test_notebooks_are_kept_with_what_they_show() -> None:
    """Notebooks are kept with their pictures, which forges show without running them."""
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        assert path.stat().st_size < 1_000_000
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        plots = [cell for cell in cells if ".plot(" in "".join(cell["source"])]
        assert plots
        for cell in plots:
            assert any("image/svg+xml" in output.get("data", {}) for output in cell["outputs"])


def test_a_network_shows_its_topology(small: Network) -> None:
    """A network shows its links with the nodes that they join."""
    shown = small._repr_html_()
    assert "5 Mbit/s, 5 ms" in shown
    assert "A to B" in shown
    assert "<b> network" not in shown


def test_results_show_a_summary_and_plots(small: Network) -> None:
    """Results show a summary in words and plots of what was recorded."""
    plain = small.run(replications=2)._repr_html_()
    assert "throughput" in plain
    assert "throughput_bps" not in plain
    assert "<img" not in plain
    recorded = small.record(series="100 ms", delays=True).run()._repr_html_()
    assert recorded.count("<img") == 2
    assert "1 replication of 4 s" not in plain


def test_a_mechanism_shows_its_parameters() -> None:
    """A mechanism shows its parameters with their defaults. The target of CoDel is 5 ms (RFC
    8289)."""
    shown = queue.codel(interval="50 ms")._repr_html_()
    assert "<b>50 ms</b>" in shown
    assert "5 ms</td>" in shown


def test_no_kernel_no_bar_of_a_notebook() -> None:
    """Without a kernel there is no bar of a notebook: logs get none."""
    assert not in_notebook()
