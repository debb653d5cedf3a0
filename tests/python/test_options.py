"""Reading of command lines, and their help."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import front
import pytest

from forebay.cli.commands import COMMANDS
from forebay.cli.parser import Parser, Whole
from forebay.errors import UserError


@pytest.fixture
def parser() -> Parser:
    """The parser of a command."""
    found = Parser(prog="forebay work")
    found.add_argument("file", metavar="FILE")
    found.add_argument("place", metavar="PLACE", nargs="?")
    found.add_argument("--count", metavar="N", type=Whole(1, 9), default=3, help="How often.")
    found.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    found.add_argument("--kind", choices=("plain", "fancy"))
    found.add_argument("--json", action="store_true", dest="as_json")
    return found


DEFAULTS = {"file": "f", "place": None, "count": 3, "set": [], "kind": None, "as_json": False}


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
def test_words_become_values(parser: Parser, words: str, values: dict[str, object]) -> None:
    """Words of a command line become the values that they state."""
    assert vars(parser.parse_args(words.split())) == DEFAULTS | values


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
        ("f --kind fncy", '--kind: "fncy" (did you mean "fancy"?); allowed are plain, fancy'),
    ],
)
def test_slips_are_refused(parser: Parser, words: str, complaint: str) -> None:
    """Mistyped options are refused, with a pointer to the help."""
    with pytest.raises(UserError) as refusal:
        parser.parse_args(words.split())
    assert str(refusal.value) == f"{complaint}; see `forebay work --help`"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_all_that_a_command_takes(forebay: front.Forebay, name: str) -> None:
    """Help describes all that a command takes, within the 80 columns that every terminal has."""
    out = forebay(name, "--help").out
    assert out == forebay(name, "-h").out
    assert max(map(len, out.splitlines())) <= 80
    flat = " ".join(out.split())
    for action in COMMANDS[name].actions:
        assert action.help
        written = action.option_strings[-1:] + ([action.metavar] if action.metavar else [])
        assert f"{' '.join(written)} {action.help.replace('%%', '%')}" in flat
    assert COMMANDS[name].description in flat


def test_without_a_command_there_is_help(forebay: front.Forebay) -> None:
    """Without a command there is the help."""
    answer = forebay()
    assert (answer.status, answer.out) == (0, forebay("--help").out)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("rnu", 'COMMAND: "rnu" (did you mean "run"?); allowed are new, studies, '),
        ("--versoin", 'no option "--versoin" (did you mean "--version"?); see `forebay --help`'),
        ("run one.toml --jsn", 'no option "--jsn" (did you mean "--json"?); see `forebay run'),
        ("run one.toml --format cvs --out o", '--format: "cvs" (did you mean "csv"?); allowed are'),
        ("reproduce rdn", 'no study "rdn" (did you mean "redn"?); there are af, atm, cake, '),
        ("run nothing.toml", "nothing.toml: no such file"),
    ],
)
def test_slips_are_told_in_one_line(forebay: front.Forebay, words: str, complaint: str) -> None:
    """Slips of every kind are refused in one line, with the same status."""
    (line,) = forebay.refused(*words.split()).splitlines()
    assert line.startswith(f"forebay: error: {complaint}")


@pytest.mark.parametrize("word", ["--help", "studies"])
def test_a_command_answers_at_once(word: str) -> None:
    """A command answers at once: within 0.3 s, above which a wait is felt. Processor time is
    counted, which depends least on what else the machine does, and the least of ten."""
    least = 1.0
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "forebay", word], stdout=subprocess.DEVNULL, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        least = min(least, taken)
    assert least < 0.3


def test_a_run_needs_no_library(scenario: Path) -> None:
    """A run needs no library, as start-up takes most of a short run: libraries for tables, drawings
    and checks take longer to import than the whole command line, and none is needed to print JSON.
    """
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
