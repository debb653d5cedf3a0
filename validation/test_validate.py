"""`make validate`: portions that are run, resumed and refused."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import validate


@pytest.fixture
def portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three portions of shell commands that write their parts to a file, which is returned."""
    ran = tmp_path / "ran"
    table: dict[str, dict[str, Any]] = {
        "short": {"command": f"echo short >> {ran}; echo all 3 agree"},
        "parted": {"command": f"echo {{part}} >> {ran}; [ {{part}} != 1 ] || [ -e {tmp_path}/ok ]"},
        "told": {"command": f"echo {{arguments}} >> {ran}", "arguments": "--usual"},
    }
    for portion in table.values():
        portion |= {"proves": "something", "minutes": 1}
    table["parted"]["parts"] = 3
    monkeypatch.setattr(validate, "PORTIONS", table)
    monkeypatch.setattr(validate, "ROOT", tmp_path)
    monkeypatch.setattr(validate, "OUT", tmp_path / "out")
    monkeypatch.setattr(validate, "STATE", tmp_path / "out" / "state.json")
    return ran


def test_what_passed_is_not_run_again(
    portions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failed part is run again and what passed is not: hours of proofs continue where a mistake
    or an interruption ended them."""
    assert validate.main([]) == 1
    assert portions.read_text().split() == ["short", "0", "1", "2", "--usual"]
    assert "validate: FAILED: parted" in capsys.readouterr().out
    (tmp_path / "ok").touch()
    assert validate.main([]) == 0
    assert portions.read_text().split()[5:] == ["1"]
    assert validate.main(["list"]) == 0
    assert "parted                   1  3 of 3" in capsys.readouterr().out


def test_a_change_of_the_tree_takes_every_proof_anew(
    portions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof is one of a tree: after a change it says nothing."""
    assert validate.main(["short"]) == 0
    monkeypatch.setattr(validate, "_tree", lambda: "another")
    assert validate.main(["list"]) == 0
    assert validate._done() == {}


def test_arguments_reach_the_command_and_prove_nothing(portions: Path) -> None:
    """A shorter form of a proof does not count as the proof."""
    assert validate.main(["told", "--", "--quick", "a b"]) == 0
    assert portions.read_text() == "--quick a b\n"
    assert validate._done() == {}


def test_what_is_asked_wrongly_is_refused(
    portions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2 with the nearest name, before anything is run."""
    assert validate.main(["shrt"]) == 2
    assert 'no portion "shrt"; did you mean "short"?' in capsys.readouterr().err
    assert validate.main(["short", "told", "--", "--quick"]) == 2
    assert not portions.exists()


def test_the_page_names_every_portion() -> None:
    """validation/README.md is where one looks for what proves what, and in how many minutes."""
    page = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    for name, portion in validate.PORTIONS.items():
        assert f"`{name}`" in page or f"`-{name.removeprefix('mutants-')}`" in page, name
        assert portion["minutes"] > 0
    total = page.split("| portion |")[1].split("\n\n")[0]
    told = [int(line.split("|")[-2]) for line in total.splitlines()[2:]]
    assert sum(told) == sum(portion["minutes"] for portion in validate.PORTIONS.values())


def test_commands_name_files_that_are_there() -> None:
    """A portion whose program was moved fails after hours of others."""
    for name, portion in validate.PORTIONS.items():
        for word in portion["command"].split():
            if word.startswith("validation/"):
                assert (validate.ROOT / word).is_file(), (name, word)
        command = portion["command"].replace("{part}", "0").replace("{arguments}", "")
        done = subprocess.run(["bash", "-n", "-c", command], check=False, capture_output=True)
        assert done.returncode == 0, (name, done.stderr)
