"""What must not be called or named, where, and why.

A Rust ban is a row of tokens, found wherever they stand behind one another outside comments and
strings, in macros too; imports count as if each path were written out. A Python ban is the full
name of what is called, whatever it was imported as.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidy import arrows
from tidy.rust import Token
from tidy.source import Finding, Source

__all__ = ["PYTHON", "RUST", "Ban", "check", "check_source"]


@dataclass(frozen=True, slots=True)
class Ban:
    """What is banned in the files below some folders, and why.

    `but` names the files that may, each with its reason; `tests` says whether the ban holds in
    tests and examples as well (Rust only: a Python test is a file of its own).
    """

    name: str
    what: tuple[str, ...]
    why: str
    where: tuple[str, ...]
    but: Mapping[str, str] = field(default_factory=dict)
    tests: bool = True


CRATES = ("crates/",)
ENGINE = tuple(f"crates/{name}/" for name in arrows.CRATES if name not in ("python", "fuzz"))
"""Crates that take text and give numbers."""

MATH_NAMES = """
    ln log log2 log10 ln_1p exp exp2 exp_m1 powf powi cbrt hypot sin cos tan sin_cos asin acos atan
    atan2 sinh cosh tanh asinh acosh atanh gamma ln_gamma
"""
MATH = frozenset(MATH_NAMES.split())
"""Methods of `f64` that the platform's library computes; square roots are exact everywhere."""

RUST = (
    Ban(
        "hash maps",
        ("HashMap", "HashSet"),
        "their order is random and would reach results; use BTreeMap, BTreeSet or a vector",
        CRATES,
    ),
    Ban(
        "wall clock",
        ("Instant", "SystemTime", "UNIX_EPOCH"),
        "a simulation has one clock, that of its event list",
        CRATES,
        but={
            "crates/python/src/batch.rs": "how long a run took is reported to the user",
            "crates/scenario/tests/scenarios/bad_text.rs": "measures how long a refusal takes",
        },
    ),
    Ban(
        "platform math",
        # Laws and scenes have logs, too: `.log(` would find these.
        (*(f".{name}(" for name in MATH - {"log"}), *(f"f64::{name}" for name in MATH)),
        "its digits differ between platforms; use forebay_kernel::math",
        CRATES,
    ),
    Ban(
        "foreign randomness",
        ("thread_rng", "rand::rng", "rand::random", "OsRng", "RandomState", "from_os_rng"),
        "a run is decided by its seed; draw from a named stream of forebay_kernel::streams",
        CRATES,
    ),
    Ban(
        "printing",
        ("println!", "print!", "eprintln!", "eprint!"),
        "the engine gives results and problems as values; what is said to a user is Python's",
        CRATES,
        but={
            "crates/scenario/examples/run.rs": "a program that talks to its user",
            "crates/python/build.rs": "a program that talks to cargo",
        },
    ),
    Ban(
        "the machine",
        ("std::fs", "std::net", "std::process", "std::env", "std::io"),
        "the engine takes text and gives numbers; files and the rest are Python's",
        ENGINE,
        tests=False,
    ),
    Ban(
        "threads",
        ("std::thread",),
        "the order of threads must not reach results; whole runs go side by side in crates/python",
        ENGINE,
        but={"crates/engine/src/parallel.rs": "partitions of one run, in lockstep; see its head"},
        tests=False,
    ),
    Ban(
        "unfinished work",
        ("todo!", "unimplemented!", "dbg!"),
        "what is merged is finished",
        CRATES,
    ),
    Ban(
        "unsafe code",
        ("unsafe",),
        "no speed gained here is worth a wrong number that goes unseen",
        CRATES,
        but={
            "crates/kernel/src/memory.rs": "a hint, which cannot reach a number; see its head",
            "crates/wasm/src/exports.rs": "names of functions; it holds no unsafe block",
        },
    ),
)

PYTHON = (
    Ban(
        "printing",
        ("print",),
        "a function gives its result back, so that it can be used from Python and tested",
        ("python/",),
        but={
            "python/forebay/cli/bench.py": "the command `bench`",
            "python/forebay/cli/commands.py": "the commands' errors",
            "python/forebay/run/progress.py": "the progress of a long command",
            "python/forebay/cli/run.py": "the command `run`",
            "python/forebay/cli/check.py": "the command `check`",
            "python/forebay/cli/linux.py": "the command `linux`",
            "python/forebay/cli/studies.py": "the command `studies`",
            "python/forebay/cli/tcp_script.py": "the command `tcp-script`",
            "python/forebay/cli/terminal.py": "what commands print with",
        },
    ),
    Ban(
        "wall clock",
        (
            *(f"time.{name}" for name in ("time", "monotonic", "perf_counter", "process_time")),
            *(f"time.{name}_ns" for name in ("time", "monotonic", "perf_counter")),
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
        ),
        "results and grades must not depend on when or how fast they were made",
        ("python/", "studies/", "docs/"),
        but={
            "python/forebay/cli/bench.py": "measures time",
            "python/forebay/linux/datagrams.py": "sends on a real network",
            "python/forebay/linux/machine.py": "reports how long it took",
            "python/forebay/run/progress.py": "says how long it will take",
            "python/forebay/study/driver.py": "reports how long it took",
        },
    ),
    Ban(
        "foreign randomness",
        ("random", *(f"numpy.random.{n}" for n in ("seed", "rand", "random", "normal", "choice"))),
        "a result is decided by its seed; use numpy.random.default_rng(seed)",
        ("python/", "studies/", "docs/", "tests/"),
        but={"python/forebay/linux/datagrams.py": "sends on a real network, without NumPy"},
    ),
)


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """What is banned and there, and exceptions that nothing needs."""
    for source in sources:
        yield from check_source(source)
    given = {source.path: source for source in sources}
    for ban in (*RUST, *PYTHON):
        for path in ban.but:
            if path not in given or not any(_found(given[path], ban)):
                what = f"exception of {path} from the ban on {ban.name}"
                yield Finding("tools/tidy/bans.py", 1, what, "nothing there needs it")


def check_source(source: Source) -> Iterator[Finding]:
    """What is banned and stands in one file."""
    for ban in {".rs": RUST, ".py": PYTHON}.get(source.suffix, ()):
        if source.path.startswith(ban.where) and source.path not in ban.but:
            for line, what in sorted(set(_found(source, ban))):
                yield Finding(source.path, line, f"`{what}` ({ban.name})", ban.why)


def _found(source: Source, ban: Ban) -> Iterator[tuple[int, str]]:
    """Lines and what of the ban stands there."""
    for what in ban.what:
        if source.suffix == ".py":
            for line, name in source.names:
                if name == what or name.startswith(f"{what}."):
                    yield line, what
        else:
            for token in _places(source, re.findall(r"\w+|::|[^\w\s]", what)):
                if ban.tests or not token.test:
                    yield token.line, what


def _places(source: Source, wanted: Sequence[str]) -> Iterator[Token]:
    # Most words of most bans are nowhere in a file.
    if not all(word in source.text for word in wanted):
        return
    row = source.tokens
    for start, token in enumerate(row):
        there = row[start : start + len(wanted)] if token.text == wanted[0] else []
        if wanted == [other.text for other in there]:
            yield token
