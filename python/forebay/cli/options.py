"""Options that several commands take, and kinds of options."""

from __future__ import annotations

from pathlib import Path

from forebay.cli.parser import Argument, Whole, argument
from forebay.errors import UserError
from forebay.run.limits import MAX_RUNS, memory_size, seconds, wall_time

__all__ = [
    "CHECK",
    "CONTINUED",
    "EXPORTS",
    "FORMAT",
    "FORMATS",
    "JOBS",
    "JSON",
    "KEEP_FINISHED",
    "LAB",
    "LAWS",
    "LAW_TIMEOUT",
    "LIMITS",
    "LINUX",
    "NO_LAWS",
    "QUANTITY",
    "REPLICATIONS",
    "RUN_LAWS",
    "SCENARIO",
    "SEED",
    "SEEDS",
    "SET",
    "STACKS",
    "STORED",
    "SUITE",
    "TABLES",
    "UNTIL",
    "flag",
    "force",
    "out",
    "path",
    "repeated",
]


def path(word: str) -> Path:
    """The path that `word` is. Raises `UserError` for none."""
    if not word:
        raise UserError('""; allowed is a path')
    return Path(word)


def flag(name: str, help: str, dest: str | None = None) -> Argument:
    """An option without a value, true where it is named."""
    return argument(name, action="store_true", dest=dest, help=help)


def repeated(name: str, metavar: str, help: str, dest: str | None = None) -> Argument:
    """An option that may be given several times: its values are a list."""
    return argument(name, metavar=metavar, action="append", default=[], dest=dest, help=help)


def out(default: str) -> Argument:
    """The folder of results; `default` tells in the help which it is where none is named."""
    return argument("--out", metavar="DIR", type=path, help=f"Where results go{default}.")


FORMATS = {"csv": ("csv",), "parquet": ("parquet",), "both": ("csv", "parquet")}
FORMAT = argument(
    "--format",
    metavar="csv|parquet|both",
    choices=FORMATS,
    help="Write every table of the results in these formats as well, below tables/ of the folder.",
)
TABLES = argument(
    "--format",
    metavar="latex|markdown",
    choices=("latex", "markdown"),
    dest="style",
    help="Print tables of means and intervals for a paper instead.",
)


def force(files: str) -> Argument:
    """The option that lets files of a run replace those of others."""
    return flag("--force", f"Have the files {files} replace others than those of earlier runs.")


EXPORTS = (
    argument(
        "--flent",
        metavar="FILE.flent.gz",
        type=path,
        help="Write the series of flows in flent's data format, for its plots.",
    ),
    argument(
        "--ns2",
        metavar="FILE",
        type=path,
        help="Write the packet trace as text in the format of ns-2.",
    ),
    repeated(
        "--capture",
        "LINK=FILE",
        "Write what a packet analyser sees at a link, as pcapng; once for each link.",
        "captures",
    ),
    force("of --flent, --ns2 and --capture"),
)
JSON = flag("--json", "Print one JSON document on stdout, nothing else.", "as_json")
JOBS = argument(
    "--jobs",
    metavar="N",
    type=Whole(1),
    help="Runs at a time (default: as many as there are cores). Results do not depend on it.",
)
SET = repeated("--set", "PATH=VALUE", "Change a key of the scenario.", "overrides")
LIMITS = (
    argument(
        "--max-packets",
        metavar="N",
        type=Whole(1, 2**63 - 1),
        help="A run whose sources send more fails.",
    ),
    argument(
        "--max-memory",
        metavar="SIZE",
        type=memory_size,
        help='A run that would take more fails, such as "4 GB" (default: what the machine has '
        "left).",
    ),
    argument("--timeout", metavar="SECONDS", type=seconds, help="A run that takes longer fails."),
)
CHECK = flag(
    "--check",
    "Repeat the run, observed, and check everything that must hold in any run; takes some thirty "
    "times as long.",
)
SCENARIO = argument("scenario", metavar="SCENARIO.toml", help="The scenario file.")
# Commands that read scenarios take LAWS, those that run them RUN_LAWS; `forebay.cli.commands` loads
# the laws before it calls a command that has either.
LAWS = repeated(
    "--laws",
    "PATH",
    "Load laws of one's own, a Python file or a shared library; once for each, after those of "
    "FOREBAY_LAWS. They are code that runs with your rights: load only what you trust.",
)
LAW_TIMEOUT = argument(
    "--law-timeout",
    metavar="T",
    type=wall_time,
    help='A call of such a law that takes longer, such as "2 s", ends the process (default 10 s).',
)
RUN_LAWS = (LAWS, LAW_TIMEOUT)
NO_LAWS = "the page of the lab has an engine of its own, which cannot load laws of one's own"
QUANTITY = repeated(
    "--quantity",
    "EXPR",
    "Show what an expression over the results gives, such as "
    '"flows.a.goodput / flows.b.goodput", or NAME=EXPR; once for each.',
    "quantities",
)
# Commands that keep runs in a journal, and continue what a folder holds.
STORED = (
    JOBS,
    argument(
        "--executor",
        metavar="local|dask:ADDRESS",
        default="local",
        complete=lambda: ["local", "dask:"],
        help="Where runs happen (default: local, on this machine's cores).",
    ),
)
CONTINUED = (
    flag("--resume", "Continue what the output folder holds; there must be something to continue."),
    flag("--fresh", "Move the output folder aside, under a number, and begin anew."),
    flag("--retry", "Make runs that failed once more."),
)
SEEDS = Whole(0, 2**63 - 1)
SEED = argument("--seed", metavar="N", type=SEEDS, help="Root seed.")
UNTIL = argument("--until", metavar="T", help='Simulated time, such as "10 s".')
REPLICATIONS = Whole(2, MAX_RUNS)
LAB = (
    argument(
        "--write",
        metavar="FILE.html",
        type=path,
        help="Write the page to a file, which opens from disk.",
    ),
    force("of --write"),
    argument(
        "--port",
        metavar="N",
        type=Whole(0, 65535),
        help="Serve it there (default: any that is free).",
    ),
    flag("--no-browser", "Open no browser; the address is printed."),
)
LINUX = (
    argument("--link", metavar="NAME", help="The tc commands for this link alone; with --dev."),
    argument("--dev", metavar="DEVICE", help="The device that sends for the link, such as eth0."),
    SET,
    repeated(
        "--allow",
        "KEYPATH",
        "Accept what Linux only approximates, by its key path or its last name.",
    ),
    argument(
        "--out",
        metavar="FILE",
        type=path,
        help="Where the script goes (default: standard output).",
    ),
    force("of --out"),
    flag("--run", "Run it, and print what it gives beside the simulated run."),
    argument(
        "--in",
        metavar="WHERE",
        dest="where",
        help="Where it runs: uml, a kernel of its own in simulated time (the default), or netns.",
    ),
)
_KEPT = (out(" (default: out/NAME)"), *CONTINUED[:2], *RUN_LAWS, JSON)
SUITE = (
    repeated("--queue", "LAW", "A queue law under test: NAME, or NAME:FILE.toml with parameters."),
    repeated("--control", "LAW", "A congestion control, likewise."),
    repeated("--media", "LAW", "A rate adaptation of media, likewise.", "adaptation"),
    argument("--rate", metavar="RATE", help='Rate of the bottleneck, such as "50 Mbit/s".'),
    argument("--cells", metavar="GLOB", help='Only these cells, such as "burst/*".'),
    argument("--replications", metavar="N", type=REPLICATIONS, help="So many runs of each cell."),
    flag("--quick", "Fewer replications: about a minute."),
    flag("--grid", "All points of the suite's grid, if it has one."),
    argument(
        "--against",
        metavar="DIR",
        type=path,
        help="The folder of an earlier result: what became better or worse; 1 if something is "
        "worse.",
    ),
    SEED,
    *STORED,
    *_KEPT,
)
STACKS = (
    argument(
        "--with",
        metavar="PROGRAM",
        dest="program",
        help="The program that runs stacks of a program: one built from forebay-host.",
    ),
    argument("--networks", metavar="GLOB", help='Only these networks, such as "b*".'),
    argument("--replications", metavar="N", type=REPLICATIONS, help="So many runs of each cell."),
    flag("--quick", "Three replications."),
    argument(
        "--baseline",
        metavar="FILE",
        type=path,
        help="An earlier result: what became better or worse; 1 if something is worse.",
    ),
    argument(
        "--save-baseline",
        metavar="FILE",
        type=path,
        help="Where the result goes, for --baseline later.",
    ),
    argument(
        "--markdown",
        metavar="FILE",
        type=path,
        help="Where the tables go as Markdown, for a pull request.",
    ),
    JOBS,
    *_KEPT,
)
KEEP_FINISHED = flag(
    "--resume", "Keep the finished runs that the journal in the output folder holds."
)
