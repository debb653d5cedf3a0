"""The command `tcp-script` and the pages made of scripts."""

from __future__ import annotations

import tomllib
from pathlib import Path

import front
import pytest

from forebay.errors import UserError
from forebay.run.scripts import run_script, script_language
from manual.conformance import conformance

ROOT = Path(__file__).resolve().parents[2]

PASSES = """\
--mss=1000 B
0  write(4, ..., 500) = 500
+0 > . 1:501(500) ack 1
+1 > . 1:501(500) ack 1
"""

FAILS = PASSES.replace("+1 >", "+2 >")
WRONG = PASSES.replace("write", "wirte")


@pytest.fixture
def scripts(tmp_path: Path) -> list[Path]:
    """One that passes, one that fails, and one that cannot be read."""
    paths = [tmp_path / f"{name}.pkt" for name in ("passes", "fails", "wrong")]
    for path, text in zip(paths, (PASSES, FAILS, WRONG), strict=True):
        path.write_text(text)
    return paths


def test_the_exit_status_tells_failed_from_unreadable(
    forebay: front.Forebay, scripts: list[Path]
) -> None:
    """The exit status tells scripts that fail from those that cannot be read."""
    passes, fails, wrong = scripts
    assert forebay("tcp-script", passes).status == 0
    failed = forebay("tcp-script", passes, fails)
    assert failed.status == 1
    assert failed.out.splitlines() == [
        f"{passes}: passed (2 checks)",
        f"{fails}: failed; expected (-) and seen (+):",
        "         0.000000 line 2: write(4, ..., 500) = 500",
        "         0.000000 line 3: > . 1:501(500) ack 1",
        "-        2.000000 line 4: > . 1:501(500) ack 1",
        "+        1.000000 > . 1:501(500) ack 1",
        "2 scripts: 1 passed, 1 failed",
    ]
    mixed = forebay("tcp-script", fails, wrong, passes)
    assert mixed.status == 2
    assert f"{wrong}: line 2, column 4" in mixed.err
    assert f"{passes}: passed" in mixed.out


def test_what_is_no_script_is_refused(forebay: front.Forebay, tmp_path: Path) -> None:
    """A file that is no script is refused by name, without a traceback."""
    latin = tmp_path / "elsewhere.pkt"
    latin.write_bytes(b"// caf\xe9\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one.pkt").write_text(PASSES)
    (tmp_path / "right.pkt").write_text(PASSES)
    assert "no such file (did you mean" in forebay.refused("tcp-script", tmp_path / "rigth.pkt")
    assert "a file such as" in forebay.refused("tcp-script", folder)
    assert "line 1: not UTF-8" in forebay.refused("tcp-script", latin)
    assert "FILE" in forebay.refused("tcp-script")
    message = forebay.refused("tcp-script", tmp_path / "right.pkt", "--set", "mss=1")
    assert "--mss: 1 has no unit" in message


def test_assignments_change_the_connection(forebay: front.Forebay, scripts: list[Path]) -> None:
    """Assignments change the connection of a script, to try it with another TCP than the one at its
    head."""
    answer = forebay("tcp-script", scripts[1], "--set", "rto_initial=2 s", "--json")
    assert answer.status == 0
    document = answer.document()
    assert (document["passed"], document["failed"]) == (1, 0)
    assert document["scripts"][0]["role"] == "sender"
    assert document["scripts"][0]["difference"] == []


def test_a_script_is_run_from_python() -> None:
    """A script is run from Python without a process."""
    assert run_script(PASSES, "x")["passed"]
    with pytest.raises(UserError, match="x: line 2, column 4"):
        run_script(WRONG, "x")


def test_what_is_ignored_says_why() -> None:
    """Each part of the language that is ignored has a reason, so that a user knows whether a script
    means the same."""
    language = script_language()
    listed = [each for table in language["ignored"].values() for each in table]
    assert len(listed) > 20
    assert all(each["what"] and len(each["why"]) > 6 for each in listed)
    assert len({each["name"] for each in language["names"]}) == len(language["names"])


def test_no_claim_is_both_kept_and_not_claimed() -> None:
    """No claim of the table of conformance is both kept and not claimed."""
    path = ROOT / "validation/tcp-scripts/conformance.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    page = conformance()
    for each in table["not_claimed"]:
        assert set(each) == {"rfc", "section", "claim", "why"}
        assert each["why"].replace("*", "\\*") in page, each
    rows = [line for line in page.splitlines() if line.endswith("| passed |")]
    kept = {line.split(" | ")[1] for line in rows}
    assert len(rows) > 100
    assert not kept & {each["claim"] for each in table["not_claimed"]}
