"""How command lines are read, and what their help says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import front
import pytest

from forebay.cli import COMMANDS
from forebay.errors import UserError
from forebay.options import Command, Whole, argument, flag, option


def work(**_values: object) -> None:
    """Do something."""


COMMAND = Command(
    work,
    [
        argument("FILE", "file", "What is worked on."),
        argument("PLACE", "place", "Where.", required=False),
        option("--count", "N", "How often.", read=Whole(1, 9), default=3),
        option("--set", "KEY=VALUE", "A setting, of which there may be several.", many=True),
        flag("--json", "As JSON.", key="as_json"),
    ],
)

DEFAULTS = {"file": "f", "place": None, "count": 3, "set": [], "as_json": False}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("f", {}),
        ("f here --json", {"place": "here", "as_json": True}),
        ("--count 7 f", {"count": 7}),
        ("--count=7 f", {"count": 7}),
        ("--set a=1 f --set=b=2 --set c", {"set": ["a=1", "b=2", "c"]}),
        ("-", {"file": "-"}),
        ("-- --json -j", {"file": "--json", "place": "-j"}),
    ],
)
def test_words_become_values(words: str, values: dict[str, object]) -> None:
    """Otherwise a command would do something else than it was told."""
    assert COMMAND.read(words.split()) == DEFAULTS | values


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "the following arguments are required: FILE"),
        ("a b c", '"c" is one argument too many'),
        ("f --jsn", 'no option "--jsn" (did you mean "--json"?)'),
        ("f -j", 'no option "-j"'),
        ("f --json=yes", "--json: ignored explicit argument 'yes'"),
        ("f --count", "--count: expected one argument"),
        ("f --count two", '--count: "two"; allowed is a whole number, 1 to 9'),
        ("f --count 0", '--count: "0"; allowed is a whole number, 1 to 9'),
        ("f --count=10", '--count: "10"; allowed is a whole number, 1 to 9'),
    ],
)
def test_slips_are_refused(words: str, complaint: str) -> None:
    """Otherwise a mistyped option would be taken for something else, or for nothing."""
    with pytest.raises(UserError) as refusal:
        COMMAND.read(words.split())
    assert str(refusal.value) == f"{complaint}; see `forebay work --help`"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_all_that_a_command_takes(forebay: front.Forebay, name: str) -> None:
    """Otherwise one would have to read the source; and 80 columns are what every terminal has."""
    out = forebay(name, "--help").out
    assert out == forebay(name, "anything", "-h").out
    assert max(map(len, out.splitlines())) <= 80
    flat = " ".join(out.split())
    for parameter in COMMANDS[name].parameters:
        assert " ".join(parameter.row()) in flat
        assert parameter.meaning
    assert COMMANDS[name].summary in flat


def test_without_a_command_there_is_help(forebay: front.Forebay) -> None:
    """Otherwise who types the bare name would be left alone."""
    answer = forebay()
    assert (answer.status, answer.out) == (0, forebay("--help").out)


def test_a_run_imports_little(scenario: Path) -> None:
    """Otherwise a short run would mostly be start-up: each of these takes as long to import as the
    rest of the command line, and none is needed for a run that prints JSON."""
    script = (
        "import sys; before = set(sys.modules); from forebay.cli import main; "
        f"main(['run', {str(scenario)!r}, '--until', '1.1 s', '--json']); "
        "print(*(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.split())
    assert "forebay.run" in imported
    assert not imported & {
        "dataclasses", "inspect", "numpy", "pathlib", "pydantic", "rich", "tempfile",
    }  # fmt: skip
