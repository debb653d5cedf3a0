"""How command lines are read, and what their help says."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import front
import pytest

from forebay.cli.command import Command
from forebay.cli.commands import COMMANDS
from forebay.cli.options import Whole, argument, flag, option
from forebay.cli.parser import parse
from forebay.errors import UserError


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
    """A command would do something else than it was told."""
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
    """A mistyped option would be taken for something else, or for nothing."""
    with pytest.raises(UserError) as refusal:
        COMMAND.read(words.split())
    assert str(refusal.value) == f"{complaint}; see `forebay work --help`"


WORDS = [
    "f",
    "",
    "-",
    "--",
    "-1",
    "7",
    "--count",
    "--count=2",
    "--set",
    "--json",
    "--jsn",
    "--help",
]


def test_plain_words_are_read_as_the_parser_reads_them() -> None:
    """What a command does would depend on how its words happened to be read.

    All command lines of up to four of these words, some of which are plain.
    """
    command = Command(work, [each for each in COMMAND.parameters if each.key != "place"])
    plain = 0
    for length in range(5):
        for words in itertools.product(WORDS, repeat=length):
            values = command.read_plain(words)
            if values is not None:
                assert values == parse(command, words)
                plain += 1
    # One of three arguments among up to three flags makes 30 of them, and options make more.
    assert plain > 50


@pytest.mark.parametrize("words", ["f", "--set a=1 f --count 7 --set b=2 --json"])
def test_plain_words_need_no_parser(words: str) -> None:
    """Every run would begin with importing one."""
    command = Command(work, [each for each in COMMAND.parameters if each.key != "place"])
    assert command.read_plain(words.split()) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_all_that_a_command_takes(forebay: front.Forebay, name: str) -> None:
    """One would have to read the source; and 80 columns are what every terminal has."""
    out = forebay(name, "--help").out
    assert out == forebay(name, "anything", "-h").out
    assert max(map(len, out.splitlines())) <= 80
    flat = " ".join(out.split())
    for parameter in COMMANDS[name].parameters:
        assert " ".join(parameter.row()) in flat
        assert parameter.meaning
    assert COMMANDS[name].summary in flat


def test_without_a_command_there_is_help(forebay: front.Forebay) -> None:
    """Who types the bare name would be left alone."""
    answer = forebay()
    assert (answer.status, answer.out) == (0, forebay("--help").out)


def test_a_run_imports_little(scenario: Path) -> None:
    """A short run would mostly be start-up: libraries for tables, drawings and checks take many
    times longer to import than the whole command line, and none is needed to print JSON."""
    script = (
        "import sys; before = set(sys.modules); import forebay.__main__; "
        f"sys.argv[1:] = ['run', {str(scenario)!r}, '--until', '1.1 s', '--json']; "
        "status = forebay.cli.commands.main(); "
        "print(status, *(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    status, *imported = done.stderr.split()
    assert status == "0"
    assert "forebay._native" in imported
    others = {name.partition(".")[0] for name in imported} - {"forebay"}
    assert others <= sys.stdlib_module_names
    assert not others & {"argparse", "asyncio", "dataclasses", "inspect", "typing"}
    assert not {"forebay.cli.parser", "forebay.cli.show_run", "forebay.cli.terminal"} & set(
        imported
    )
