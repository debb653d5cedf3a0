"""The command line: what each command takes; what it does is in the module named after it.

Exit status: 0 done; 2 the user's input is wrong (one message on stderr, no traceback); 130
interrupted (Ctrl-C, or SIGTERM of `find`, `reproduce` and `sweep`), with finished runs kept; 1
anything else, such as a script of packets that fails. `--json` prints one document on stdout and
nothing else. Whatever takes long to import is imported by the command that needs it.
"""

# ruff: noqa: T201, PLC0415 (prints errors; a command imports what it needs, --help nothing)

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from forebay.cli.complaints import complain, drop_output, told, with_laws
from forebay.cli.options import (
    CHECK,
    CONTINUED,
    EXPORTS,
    FORMAT,
    FORMATS,
    JOBS,
    JSON,
    KEEP_FINISHED,
    LAB,
    LAW_TIMEOUT,
    LAWS,
    LIMITS,
    LINUX,
    NO_LAWS,
    QUANTITY,
    REPLICATIONS,
    RUN_LAWS,
    SCENARIO,
    SEED,
    SEEDS,
    SET,
    STACKS,
    STORED,
    SUITE,
    TABLES,
    UNTIL,
    flag,
    out,
    path,
    repeated,
)
from forebay.cli.parser import Argument, Parser, Whole, argument
from forebay.errors import MachineError, UserError
from forebay.extras import missing_library, need
from forebay.native import ENGINE, native, own_engine
from forebay.run.jobs import build, version
from forebay.run.laws import VARIABLE, limit_calls, load_files
from forebay.run.progress import say_warnings

Function = Callable[..., int | None]
"""Does a command, given the value of each of its arguments and options by name; what it returns is
the exit status, 0 if it returns none."""

__all__ = ["COMMANDS", "PARSER", "main"]

INTERRUPTED = 130

COMMANDS: dict[str, Parser] = {}
"""The parsers of all commands by name, in the order in which a newcomer needs them."""

PARSER = Parser(
    prog="forebay",
    usage="forebay COMMAND [OPTIONS] [ARGUMENTS]",
    description="Simulate queues, markers and congestion control, packet by packet, with error "
    "bars. Of each command, `forebay COMMAND --help` tells what it takes.",
)
PARSER.add_argument(
    "--version",
    action="store_true",
    help="Show the version of the engine and its build, a hash of its sources.",
)
PARSER.add_argument(
    "--include",
    action="store_true",
    help="Show the folder of forebay_law.h, with which laws of one's own are compiled.",
)
_SUBPARSERS = PARSER.add_subparsers(metavar="COMMAND", title="commands", prog="forebay")
_ENVIRONMENT = {
    "FOREBAY_STUDIES=DIR in the environment": "the studies below DIR in place of our own; their "
    "Python modules are run by `reproduce` and `report`",
    "FOREBAY_DATA_ROOT=DIR in the environment": "files that scenarios name must lie below DIR",
    "FOREBAY_SUITES=DIR in the environment": "the suites below DIR in place of our own",
    f"FOREBAY_LAWS=PATH{os.pathsep}PATH in the environment": "laws of one's own for every command "
    "that has --laws: code that runs with your rights; load only what you trust",
    f"{ENGINE}=LIBRARY in the environment": "an engine of one's own, with transports of one's own; "
    "it is such code, too",
}
for _name, _meaning in _ENVIRONMENT.items():
    PARSER.add_argument_group(_name, _meaning)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    if sys.stdout is None:
        # It was closed when the process began; what is printed goes nowhere.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return status
    except UserError as error:
        return complain(with_laws(error.lines), 2)
    except ModuleNotFoundError as error:
        return complain(missing_library(error), 2)
    except MachineError as error:
        return complain([str(error)], 1)
    except KeyboardInterrupt as stop:
        # Past the ^C that the terminal has shown.
        print(file=sys.stderr)
        return complain(["; ".join(["interrupted", *map(str, stop.args)])], INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has left; what Python would still flush has nowhere to go.
        drop_output()
        return 1
    except OSError as error:
        return complain([told(error)], 1)
    except Exception as error:
        if os.environ.get("FOREBAY_TRACEBACK"):
            raise
        detail = "FOREBAY_TRACEBACK=1 shows where"
        return complain([f"{type(error).__name__}: {error}; {detail}"], 1)


def _run(words: list[str]) -> int:
    if words[:1] == ["--complete"]:
        # What the scripts of `completion` call at each press of the key.
        from forebay.cli.completion import candidates

        print("\n".join(candidates(PARSER, COMMANDS, words[1:])))
        return 0
    try:
        values = vars(PARSER.parse_args(words))
    except SystemExit:
        # The help of a command has been printed.
        return 0
    if values.pop("version"):
        own = own_engine()
        print(f"forebay {version()} (build {build()}{f', engine {own}' if own else ''})")
        return 0
    if values.pop("include"):
        from forebay.laws import header

        print(header().parent)
        return 0
    function = values.pop("function", None)
    if function is None:
        PARSER.print_help()
        return 0
    laws, timeout = values.pop("laws", None), values.pop("law_timeout", None)
    if timeout is not None:
        limit_calls(timeout)
    if laws is not None:
        _load_laws(laws)
    return function(**values) or 0


def _load_laws(paths: Sequence[str]) -> None:
    """Load the laws of one's own for a command that has `LAWS`, before anything of it is read."""
    others = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    say_warnings([*load_files(others, VARIABLE), *load_files(paths, "--laws")])


def _command(*arguments: Argument) -> Callable[[Function], Function]:
    """The function is a command that takes `arguments`: it has its name, with hyphens, and its
    docstring is the command's summary, one sentence."""

    def add(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        parser = _SUBPARSERS.add_parser(name, help=function.__doc__, description=function.__doc__)
        parser.later(*arguments)
        parser.set_defaults(function=function)
        COMMANDS[name] = parser
        return function

    return add


def _need_formats(command: str, formats: Sequence[str]) -> None:
    if "parquet" in formats:
        need(f"{command} --format parquet", "pyarrow")


def _kinds() -> Iterable[str]:
    from forebay.cli.new import kinds

    return kinds()


def _studies() -> Iterable[str]:
    from forebay.study.folders import study_folders

    return study_folders()


def _suites() -> Iterable[str]:
    from forebay.suite.folders import suite_folders

    return suite_folders()


def _mechanisms() -> Iterable[str]:
    from forebay.scenario.catalogue import catalogue

    known = catalogue()
    return [*(category.name for category in known.categories), *known.names()]


def _benchmarks() -> Iterable[str]:
    from forebay.cli.bench import names

    return names()


@_command(
    argument(
        "kind", metavar="KIND", nargs="?", complete=_kinds, help="Which; a list of all without it."
    ),
    argument("file", metavar="FILE", nargs="?", type=path, help="Where to (default: KIND.toml)."),
)
def new(kind: str | None, file: Path | None) -> None:
    """Write a commented scenario to start from."""
    from forebay.cli.new import new_scenario

    new_scenario(kind, file)


@_command(JSON)
def studies(as_json: bool) -> None:
    """List the published studies that can be reproduced: ours, or those below $FOREBAY_STUDIES."""
    from forebay.cli.studies import list_studies

    list_studies(as_json)


@_command(
    argument(
        "study",
        metavar="STUDY|all",
        complete=lambda: [*_studies(), "all"],
        help="The study, or all of them.",
    ),
    flag(
        "--quick",
        "Fewer replications, planned by the study's recorded result: about two "
        "minutes on two idle cores.",
    ),
    argument("--claims", metavar="GLOB", help='Only these claims, such as "t3.2/*".'),
    argument(
        "--replications",
        metavar="N",
        type=REPLICATIONS,
        help="So many everywhere, instead of as many as the claims need.",
    ),
    JOBS,
    out(" (default: out/STUDY)"),
    KEEP_FINISHED,
    *RUN_LAWS,
    JSON,
)
def reproduce(study: str, **options: Any) -> int:
    """Re-do a published study: its claims, published value beside measured value."""
    need("reproduce", "matplotlib", "pyarrow", "scipy")
    from forebay.cli.reproduce import Request, reproduce_studies

    return reproduce_studies(study, Request(**options))


@_command(
    argument("study_id", metavar="STUDY", complete=_studies, help="The study."),
    argument(
        "--replications",
        metavar="N",
        type=REPLICATIONS,
        help="So many runs of each grid point.",
    ),
    JOBS,
    out(" (default: out/STUDY/transports)"),
    KEEP_FINISHED,
    *RUN_LAWS,
    JSON,
)
def transports(study_id: str, **options: Any) -> int:
    """Re-do a study under today's transports: which of its conclusions hold with them?"""
    need("transports", "matplotlib", "pyarrow", "scipy")
    from forebay.cli.transports import compare_transports

    return compare_transports(study_id, **options)


@_command(
    SCENARIO,
    SEED,
    argument(
        "--replication",
        metavar="N",
        type=SEEDS,
        default=0,
        help="Other random numbers under the same seed (default 0).",
    ),
    argument(
        "--replications",
        metavar="N",
        type=REPLICATIONS,
        help="So many runs, numbered from --replication on: means and 95 %% intervals of all.",
    ),
    UNTIL,
    SET,
    argument(
        "--threads",
        metavar="N",
        type=Whole(1),
        help="Cores for a run (default 1), if the network has delays at which it can be divided; "
        "with --replications, for all of them (default: all cores). Results do not depend on it.",
    ),
    *LIMITS,
    CHECK,
    argument(
        "--ties",
        metavar="shuffle",
        choices=("shuffle",),
        help="Count simultaneous arrivals, and say whether results are the same in other orders "
        "of them.",
    ),
    QUANTITY,
    out(" (default: nowhere)"),
    FORMAT,
    *EXPORTS,
    *RUN_LAWS,
    JSON,
)
def run(
    scenario: str,
    out: Path | None,
    as_json: bool,
    ties: str | None,
    format: str | None,
    replications: int | None,
    threads: int | None,
    **options: Any,
) -> None:
    """Run a scenario file once, or several times, and show its flows and links."""
    from forebay.cli.run import Exports, Show

    formats = FORMATS.get(format or "", ())
    _need_formats("run", formats)
    if formats and out is None:
        raise UserError("--format: tables are written to the folder of --out; name one")
    exports = Exports(*(options.pop(name) for name in ("flent", "ns2", "captures", "force")))
    show = Show(as_json, ties is not None, formats, exports, options.pop("quantities"))
    if replications is not None:
        if show.ties:
            raise UserError("--replications, --ties: orders of events are compared in one run")
        if name := exports.asked:
            raise UserError(
                f"--replications, {name}: such a file holds one run; name --replication"
            )
        from forebay.cli.replications import replicate_scenario

        replicate_scenario(scenario, options, replications, threads, out, show)
        return
    from forebay.cli.run import run_scenario

    options["threads"] = threads or 1
    run_scenario(scenario, options, out, show)


@_command(
    argument("sweep_file", metavar="SWEEP.toml", type=path, help="The file that says what is run."),
    *STORED,
    SEED,
    UNTIL,
    SET,
    CHECK,
    out(" (default: out/NAME)"),
    FORMAT,
    *CONTINUED,
    *LIMITS,
    *RUN_LAWS,
    JSON,
)
def sweep(sweep_file: Path, format: str | None, **options: Any) -> int:
    """Run a scenario with other values of its parameters, and replications: what is not there."""
    from forebay.cli.stored import StoredOptions
    from forebay.cli.sweep import run_sweep

    formats = FORMATS.get(format or "", ())
    _need_formats("sweep", formats)

    limits = {key: options.pop(key) for key in ("max_packets", "max_memory", "timeout")}
    return run_sweep(sweep_file, StoredOptions(**options, formats=formats, limits=limits))


@_command(
    argument("file", metavar="SWEEP.toml", type=path, help="The sweep file with its [find]."),
    *STORED, SEED, UNTIL, SET, out(" (default: out/NAME)"), *CONTINUED, *LIMITS, *RUN_LAWS, JSON,
)  # fmt: skip
def find(file: Path, **options: Any) -> int:
    """Find the largest or smallest value at which a condition holds: 0 if one is found, else 1."""
    from forebay.cli.find import run_find
    from forebay.cli.stored import StoredOptions

    limits = {key: options.pop(key) for key in ("max_packets", "max_memory", "timeout")}
    return run_find(file, StoredOptions(**options, limits=limits))


@_command(
    argument("name", metavar="NAME", nargs="?", complete=_suites, help="Which; a list without it."),
    flag("--list", "List its cells, and run nothing.", "list_only"),
    *SUITE,
)
def suite(name: str | None, list_only: bool, as_json: bool, **options: Any) -> int:
    """Run a published evaluation for laws of one's own, beside its baseline: tables and page."""
    from forebay.cli.stored import StoredOptions
    from forebay.cli.suite import Request, list_cells, list_suites, run_suite

    if name is None:
        list_suites(as_json)
        return 0
    laws = {category: options.pop(category) for category in ("queue", "control", "adaptation")}
    asked = ("rate", "cells", "replications", "quick", "seed", "against", "grid")
    request = Request(laws, **{key: options.pop(key) for key in asked})
    if list_only:
        list_cells(name, request, as_json)
        return 0
    return run_suite(name, request, StoredOptions(**options, as_json=as_json))


@_command(argument("file", metavar="TABLE.toml", type=path, help="The file of the table."), *STACKS)
def stacks(file: Path, as_json: bool, **options: Any) -> int:
    """Run protocol stacks on networks, as a table with intervals, and compare with a baseline."""
    from forebay.cli.stacks import Request, run_stacks
    from forebay.cli.stored import StoredOptions

    asked = ("program", "networks", "replications", "quick", "baseline", "save_baseline")
    request = Request(**{key: options.pop(key) for key in (*asked, "markdown")})
    return run_stacks(file, request, StoredOptions(**options, as_json=as_json))


@_command(SCENARIO, SET, LAWS, JSON)
def check(scenario: str, overrides: list[str], as_json: bool) -> None:
    """Check a scenario file without running it."""
    from forebay.cli.check import check_scenario

    check_scenario(scenario, overrides, as_json)


@_command(
    argument(
        "file",
        metavar="PATH",
        help="A Python file or a shared library with laws. It is code that runs with your rights: "
        "check only what you trust.",
    ),
    argument(
        "--checks",
        metavar="GLOB",
        default="*",
        dest="pattern",
        help='Only these checks, such as "my_codel/parameters" or "*/tcp*".',
    ),
    out(" of checks that fail: scenarios to run again (default: out/law-check)"),
    LAW_TIMEOUT,
    JSON,
)
def law_check(file: str, pattern: str, out: Path | None, as_json: bool) -> int:
    """Check laws of one's own in networks of all kinds: 0 if they are sound, 1 if one is not."""
    from forebay.cli.law_check import check_laws

    return check_laws(file, pattern, out, as_json)


@_command(
    SCENARIO,
    *LINUX,
    *RUN_LAWS,
    JSON,
)
def linux(scenario: str, **options: Any) -> None:
    """Print a shell script that builds a scenario on Linux: namespaces, veth, tc and sysctl."""
    from forebay.cli.linux import print_script

    print_script(scenario, **options)


@_command(
    argument(
        "name",
        metavar="NAME",
        nargs="?",
        complete=_mechanisms,
        help="A mechanism, a category or a section of scenario files.",
    ),
    LAWS,
    JSON,
)
def mechanisms(name: str | None, as_json: bool) -> None:
    """List the mechanisms, or show the page of one with its parameters and source."""
    from forebay.cli.mechanisms import show_mechanisms

    show_mechanisms(name, as_json)


@_command(
    argument("files", metavar="FILE...", nargs="+", help="The scripts."),
    repeated(
        "--set",
        "KEY=VALUE",
        "Change a parameter of the connection, such as recovery=newreno.",
        "overrides",
    ),
    *RUN_LAWS,
    JSON,
)
def tcp_script(files: list[str], overrides: list[str], as_json: bool) -> int:
    """Hold TCP to scripts of packets: 0 if all pass, 1 if one fails, 2 if one cannot be read."""
    from forebay.cli.tcp_script import run_scripts

    return run_scripts(files, overrides, as_json)


@_command(LAWS)
def schema() -> None:
    """Print the JSON schema of scenario files, for editors that check while you type."""
    print(native().schema())


@_command(
    argument(
        "scenario",
        metavar="SCENARIO.toml",
        nargs="?",
        help="The scenario file (default: lessons).",
    ),
    *LAB,
)
def lab(
    scenario: str | None,
    write: Path | None,
    port: int | None,
    no_browser: bool,
    force: bool,
) -> None:
    """Watch a scenario run in a page in the browser, and change it there."""
    from forebay.cli.lab import open_lab

    open_lab(scenario, write, port or 0, not no_browser, force)


COMMANDS["lab"].refuse("--laws", NO_LAWS)


@_command(argument("folder", metavar="DIR", type=path, help="The folder."), TABLES)
def report(folder: Path, style: str | None) -> None:
    """Build the pages of a folder of results again: report.html, and a study's README.md."""
    from forebay.report.build import build_report, build_tables

    if style is not None:
        print(build_tables(folder, style), end="")
        return
    print(f"report: {build_report(folder)}")


COMMANDS["report"].refuse("--laws", "a page is made of results, and runs no laws of one's own")


@_command(
    argument(
        "name",
        metavar="NAME",
        nargs="?",
        complete=_benchmarks,
        help="One of them; all if left out.",
    ),
    JSON,
)
def bench(name: str | None, as_json: bool) -> None:
    """Run the standard benchmarks: time and memory, each in a process of its own."""
    from forebay.cli.bench import run_benchmarks

    run_benchmarks(name, as_json)


@_command(
    argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish.")
)
def completion(shell: str) -> None:
    """Print what makes a shell complete commands, options, studies, mechanisms and benchmarks."""
    from forebay.cli.completion import SCRIPTS

    print(SCRIPTS[shell], end="")
