"""Documentation: every block of README and tutorial does what the page shows.

In a page

- a block ```` ```toml NAME ```` is written to the file NAME, so is one of `pkt`, `python` or `c`;
- a block ```` ```console ```` holds commands after `$ ` and what they print, on either stream;
- a block ```` ```rust FILE ```` stands in that file of the repository, word by word;
- a block ```` ```python ```` is executed; a ```` ```text ```` block right behind it is what it
  prints;
- a block whose first line says `file=NAME` belongs to a whole that a test of its own builds.

Blocks of a page run in order, in a folder of their own. Digits that a clock makes, or the version
of a compiler, are compared as "some number"; a line `...` stands for any lines. After a change that
is meant to move outputs,
`FOREBAY_WRITE_DOCS=1 pytest tests/python/test_docs.py` writes what is printed now into the pages;
read what changed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import forebay
from forebay.run.jobs import Job, check
from forebay.scenario.catalogue import catalogue
from manual import records, writing

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXECUTED = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "validation/README.md")]
EXECUTED += sorted((DOCS / "tutorial").glob("*.md"))
EXECUTED += sorted((DOCS / "guides").glob("*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
WRITE = "FOREBAY_WRITE_DOCS" in os.environ


@dataclass
class Block:
    """A fenced block: its language, the rest of that line, its text, and where the text lies."""

    language: str
    argument: str
    text: str
    start: int
    end: int


FENCE = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(found[1], found[2] or "", found[3], found.start(3), found.end(3))
        for found in FENCE.finditer(page)
    ]


CLOCKED = [
    (re.compile(r"simulated in [\d. ]+ (us|ms|s),"), "simulated in SOME TIME,"),
    (re.compile(r"(\d+) runs in \d+ s"), r"\1 runs in SOME s"),
    (re.compile(r"numba [\d.]+"), "numba SOME VERSION"),
]


def settled(text: str) -> list[str]:
    """The lines of an output without what differs between two runs of the same command."""
    for pattern, word in CLOCKED:
        text = pattern.sub(word, text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def agrees(shown: str, printed: str) -> bool:
    """True if a page shows what was printed; `...` stands for any lines."""
    parts = [re.escape(line) if line != "..." else None for line in settled(shown)]
    pattern = "".join(r"(?:.*\n)*?" if part is None else part + r"\n" for part in parts)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in settled(printed))) is not None


SESSION = """
import contextlib, io, json, sys

names = {"__name__": "__main__"}
for line in sys.stdin:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(json.loads(line), sys.argv[1], "exec"), names)
    print(json.dumps(output.getvalue()), flush=True)
"""


class Session:
    """The Python of a reader who types the blocks of a page: a process of its own, as the laws that
    it loads stay there."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.errors = (folder.parent / f"{folder.name}.errors").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-c", SESSION, str(path)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
        )

    def run(self, text: str) -> str:
        """What a block prints."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{json.dumps(text)}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            self.errors.seek(0)
            raise AssertionError(self.errors.read())
        return str(json.loads(answer))

    def end(self) -> None:
        """End the process."""
        self.process.communicate()
        self.errors.close()


class Page:
    """A page being executed; `text` is the page as it should be."""

    def __init__(self, path: Path, folder: Path, write: bool = False) -> None:
        self.path = path
        self.write = write
        self.text = path.read_text(encoding="utf-8")
        self.folder = folder
        self.session: Session | None = None
        self.edits: list[tuple[int, int, str]] = []

    def run(self) -> None:
        """Run every block, in order."""
        try:
            self._run()
        finally:
            if self.session is not None:
                self.session.end()

    def _run(self) -> None:
        found = blocks(self.text)
        for at, block in enumerate(found):
            if block.argument.startswith("file="):
                continue
            if block.language == "toml" and block.argument:
                tomllib.loads(block.text)
                (self.folder / block.argument).write_text(block.text, encoding="utf-8")
            elif block.language in ("pkt", "python", "c") and block.argument:
                (self.folder / block.argument).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                self.commands(block)
            elif block.language == "python":
                self.python(block, found[at + 1] if at + 1 < len(found) else None)

    def commands(self, block: Block) -> None:
        """Run the commands of a block and compare what each prints."""
        rebuilt = []
        for command, shown in transcript(block.text):
            printed = run_command(command, self.folder)
            if self.write and "..." not in shown.splitlines() and not agrees(shown, printed):
                shown = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
            rebuilt.append(f"$ {command}\n{shown}")
            assert agrees(shown, printed), f"{self.path.name}: $ {command}\n{printed}"
        self.edits.append((block.start, block.end, "".join(rebuilt)))

    def python(self, block: Block, following: Block | None) -> None:
        """Execute a block and compare what it prints, if the page shows it."""
        if self.session is None:
            self.session = Session(self.path, self.folder)
        printed = self.session.run(block.text)
        if following is None or following.language != "text":
            return
        if self.text[block.end : following.start] != "```\n\n```text\n":
            return
        shown = following.text
        if self.write and "..." not in shown.splitlines():
            shown = printed
            self.edits.append((following.start, following.end, shown))
        assert agrees(shown, printed), f"{self.path.name}: it prints\n{printed}"

    def save(self) -> None:
        """Write the outputs that were printed into the page."""
        text = self.text
        for start, end, replacement in sorted(self.edits, reverse=True):
            text = text[:start] + replacement + text[end:]
        self.path.write_text(text, encoding="utf-8")


def transcript(text: str) -> Iterator[tuple[str, str]]:
    """Commands and what is shown below each."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run_command(command: str, folder: Path) -> str:
    """Text that a `forebay` command prints on both streams."""
    words = shlex.split(command)
    assert words[0] == "forebay", f"only forebay commands are executed, not {words[0]}"
    done = subprocess.run(
        [sys.executable, "-m", "forebay", *words[1:]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    # A script of packets or a check that fails is no error of the program.
    allowed = (0, 1, 2) if words[1] in ("tcp-script", "suite") else (0, 2)
    assert done.returncode in allowed, done.stdout
    return done.stdout


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_pages_do_what_they_show(path: Path, tmp_path: Path) -> None:
    """Pages do what they show: who types what is there sees the same."""
    page = Page(path, tmp_path, WRITE)
    assert any(block.language in ("console", "python", "toml") for block in blocks(page.text))
    page.run()
    if WRITE:
        page.save()


def test_a_wrong_page_would_be_noticed(tmp_path: Path) -> None:
    """The checks above notice a page that shows something else."""
    assert agrees("a\n...\nd\n", "a\nb\nc\nd\n")
    assert agrees(
        "a: 20 s simulated in 7.07 ms, 9 events\n", "a: 20 s simulated in 1.2 s, 9 events"
    )
    assert not agrees(
        "a: 20 s simulated in 7.07 ms, 9 events", "a: 20 s simulated in 1 s, 8 events"
    )
    assert not agrees("a\nb\n", "a\nb\nc\n")
    assert not agrees("a\n...\n", "b\na\n")
    wrong = tmp_path / "wrong.md"
    wrong.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        Page(wrong, tmp_path).run()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Links between pages lead to files that exist."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_shown_is_the_code(path: Path) -> None:
    """The code that a page shows stands in the file that it names."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "rust":
            source = (ROOT / block.argument).read_text(encoding="utf-8")
            # Line breaks are the formatter's business.
            shown, there = ("".join(text.split()) for text in (block.text, source))
            assert shown in there, f"{path.name} shows what is not in {block.argument}"


def test_what_pages_say_of_records_is_in_the_records() -> None:
    """Counts and tables that pages give of records are those in the records; `make docs` writes
    them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert records.readme(text) == text
    assert records.transports() == (DOCS / "transports.md").read_text(encoding="utf-8")


def test_conclusions_that_hold_are_counted() -> None:
    """The conclusions that still hold with a transport are counted over the points at which it was
    tried.

    Of three sentences that hold with the own transport, all were tried with `new`, of which one
    holds, and one with `rare`, which holds; the fourth does not hold and counts nowhere.
    """
    grades = [
        {"": "holds", "new": "holds", "rare": "holds"},
        {"": "holds", "new": "fails"},
        {"": "holds", "new": "imprecise"},
        {"": "fails", "new": "holds", "rare": "holds"},
    ]
    document = {
        "statements": [{"grades": each} for each in grades],
        "transports": [{"id": "new", "title": "New"}, {"id": "rare", "title": "Rare"}],
    }
    assert records.surviving(document) == (3, {"New": "1", "Rare": "1 of 1"})


def test_examples_are_the_same_from_python() -> None:
    """The two ways to write a mechanism that the reference shows, in a file and in Python, are the
    same."""
    names = {name: getattr(forebay, name) for name in forebay.__all__ if name.islower()}
    for page in (page for category in catalogue().categories for page in category.pages):
        given = writing.parameters(page)
        (written,) = tomllib.loads("\n".join(writing.setting(page, given))).values()
        python = "\n".join(writing.call(page, given))
        assert eval(python, names).to_dict() == written, python


UNITS = {
    "links.a.delay": ("ps", "ns", "us", "ms", "s", "min", "h"),
    "links.a.rate": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"),
    "flows.f.traffic.cbr.size": ("B", "kB", "KiB"),
    "links.a.queue.droptail.limit": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "packets"),
}


@pytest.mark.parametrize(("key", "units"), UNITS.items(), ids=UNITS)
def test_units_named_in_the_guide_exist(key: str, units: tuple[str, ...]) -> None:
    """The engine takes every unit that the guide to scenario files names."""
    text = (
        'duration = "2 s"\nlinks.a = { from = "x", to = "y", rate = "1 Mbit/s" }\n'
        'flows.f = { from = "x", to = "y", udp = { header = "1 B" }, '
        'traffic = { cbr = { rate = "1 Mbit/s", size = "100 B" } } }\n'
    )
    guide = (DOCS / "guides" / "scenario-files.md").read_text(encoding="utf-8")
    for unit in units:
        assert f"`{unit}`" in guide
        assert check(Job(text, overrides=(f"{key}=1 {unit}",)))["flows"] == 1
