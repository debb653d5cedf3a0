"""The command line: what each command takes; what it does is in the module named after it.

Exit status: 0 done; 2 the user's input is wrong (one message on stderr, no traceback); 130
interrupted (Ctrl-C, or SIGTERM of `reproduce` and `sweep`), with finished runs kept; 1 anything
else, such as a script of packets that fails. `--json` prints one document on stdout and nothing
else. Whatever takes long to import is imported by the command that needs it.
"""

# ruff: noqa: T201, PLC0415 (prints errors; a command imports what it needs, --help nothing)

from __future__ import annotations

import errno
import os
import sys

from forebay.cli.command import Command
from forebay.cli.options import HELP, Parameter, Whole, argument, flag, option
from forebay.errors import MachineError, UserError, nearest, printable
from forebay.extras import missing_library, need
from forebay.run.jobs import build, native, version
from forebay.run.limits import MOST_RUNS, memory_size, seconds

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Any

    Function = Callable[..., int | None]

__all__ = ["COMMANDS", "main"]

INTERRUPTED = 130

COMMANDS: dict[str, Command] = {}
"""All commands by name, in the order in which a newcomer needs them."""


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
        return _complain(error.lines, 2)
    except ModuleNotFoundError as error:
        return _complain(missing_library(error), 2)
    except MachineError as error:
        return _complain([str(error)], 1)
    except KeyboardInterrupt as stop:
        # Past the ^C that the terminal has shown.
        print(file=sys.stderr)
        return _complain(["; ".join(["interrupted", *map(str, stop.args)])], INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has left; what Python would still flush has nowhere to go.
        _drop_output()
        return 1
    except OSError as error:
        return _complain([_told(error)], 1)
    except Exception as error:
        if os.environ.get("FOREBAY_TRACEBACK"):
            raise
        detail = "FOREBAY_TRACEBACK=1 shows where"
        return _complain([f"{type(error).__name__}: {error}; {detail}"], 1)


def _told(error: OSError) -> str:
    """What the system could not do, and with which file."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF):
        # All other files are named by those who write them.
        _drop_output()
        return f"standard output: {error.strerror}"
    return f"{type(error).__name__}: {error}"


def _drop_output() -> None:
    """Have what is left of standard output go nowhere: Python flushes it again when it ends."""
    # Imported where needed: most output has a reader.
    import contextlib

    # In a test it may be no file.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    first = words.pop(0) if words else HELP[0]
    if first in HELP:
        print(_help())
        return 0
    if first == "--complete":
        # What the scripts of `completion` call at each press of the key.
        from forebay.cli.completion import candidates

        print("\n".join(candidates(COMMANDS, words)))
        return 0
    if first == "--version":
        print(f"forebay {version()} (build {build()})")
        return 0
    command = COMMANDS.get(first)
    if command is None:
        what = "option" if first.startswith("-") else "command"
        near = nearest(first, [*COMMANDS, *HELP, "--version"])
        raise UserError(f'no {what} "{first}"{near}; commands: {", ".join(COMMANDS)}')
    if any(word in HELP for word in words):
        print(command.help())
        return 0
    return command(words)


def _help() -> str:
    """What `forebay --help` prints."""
    rows = (f"  {command.name:<12}{command.summary}" for command in COMMANDS.values())
    return "\n".join(
        [
            "usage: forebay COMMAND [OPTIONS] [ARGUMENTS]",
            "",
            "Simulate queues, markers and congestion control, packet by packet, with error bars.",
            "",
            *rows,
            "",
            "Of each command, `forebay COMMAND --help` tells what it takes; `forebay --version` is",
            "the version of the engine and its build, a hash of its sources.",
            "",
            "FOREBAY_STUDIES=DIR in the environment: the studies below DIR in place of our own.",
            "Their Python modules are run by `reproduce` and `report`.",
            "FOREBAY_DATA_ROOT=DIR: files that scenarios name must lie below DIR.",
        ]
    )


def _complain(lines: Sequence[str], status: int) -> int:
    for line in lines:
        try:
            print(f"forebay: error: {printable(line)}", file=sys.stderr)
        except OSError:
            # Standard error is closed, too.
            break
    return status


def _path(word: str) -> Path:
    from pathlib import Path

    if not word:
        raise UserError('""; allowed is a path')
    return Path(word)


def _shuffle(word: str) -> bool:
    if word != "shuffle":
        raise UserError(f'"{word}"; allowed is shuffle')
    return True


def _command(*parameters: Parameter) -> Callable[[Function], Function]:
    """The function is a command that takes `parameters`."""

    def add(function: Function) -> Function:
        command = Command(function, parameters)
        COMMANDS[command.name] = command
        return function

    return add


_FORMATS = {"csv": ("csv",), "parquet": ("parquet",), "both": ("csv", "parquet")}


def _formats(word: str) -> tuple[str, ...]:
    if word not in _FORMATS:
        raise UserError(f'"{word}"{nearest(word, _FORMATS)}; allowed are {", ".join(_FORMATS)}')
    return _FORMATS[word]


def _need_formats(command: str, formats: Sequence[str]) -> None:
    if "parquet" in formats:
        need(f"{command} --format parquet", "pyarrow")


def _out(default: str) -> Parameter:
    return option("--out", "DIR", f"Where results go{default}.", read=_path)


_FORMAT = option(
    "--format",
    "csv|parquet|both",
    "Write every table of the results in these formats as well, below tables/ of the folder.",
    key="formats",
    read=_formats,
    names=lambda: _FORMATS,
    default=(),
)


def _kinds() -> Iterable[str]:
    from forebay.cli.new import kinds

    return kinds()


def _studies() -> Iterable[str]:
    from forebay.study.folders import study_folders

    return study_folders()


def _mechanisms() -> Iterable[str]:
    from forebay.scenario.catalogue import catalogue

    known = catalogue()
    return [*(category.name for category in known.categories), *known.names()]


def _benchmarks() -> Iterable[str]:
    from forebay.cli.bench import names

    return names()


def _force(files: str) -> Parameter:
    return flag("--force", f"Have the files {files} replace others than those of earlier runs.")


_JSON = flag("--json", "Print one JSON document on stdout, nothing else.", key="as_json")
_JOBS = option(
    "--jobs",
    "N",
    "Runs at a time (default: as many as there are cores). Results do not depend on it.",
    read=Whole(1),
)
_SET = option("--set", "PATH=VALUE", "Change a key of the scenario.", key="overrides", many=True)
_LIMITS = (
    option(
        "--max-packets",
        "N",
        "A run whose sources send more fails.",
        key="max_packets",
        read=Whole(1, 2**63 - 1),
    ),
    option(
        "--max-memory",
        "SIZE",
        'A run that would take more fails, such as "4 GB" (default: what the machine has left).',
        key="max_memory",
        read=memory_size,
    ),
    option("--timeout", "SECONDS", "A run that takes longer fails.", read=seconds),
)
_CHECK = flag(
    "--check",
    "Repeat the run, observed, and check everything that must hold in any run; takes some thirty "
    "times as long.",
)
_TIES = option(
    "--ties",
    "shuffle",
    "Count simultaneous arrivals, and say whether results are the same in other orders of them.",
    key="shuffle",
    read=_shuffle,
    names=lambda: ["shuffle"],
    default=False,
)
_SCENARIO = argument("SCENARIO.toml", "scenario", "The scenario file.")
_SEEDS = Whole(0, 2**63 - 1)
_REPLICATIONS = Whole(2, MOST_RUNS)
_SEED = option("--seed", "N", "Root seed.", read=_SEEDS)
_UNTIL = option("--until", "T", 'Simulated time, such as "10 s".')


@_command(
    argument("KIND", "kind", "Which; a list of all without it.", required=False, names=_kinds),
    argument("FILE", "file", "Where to (default: KIND.toml).", required=False, read=_path),
)
def new(kind: str | None, file: Path | None) -> None:
    """Write a commented scenario to start from."""
    from forebay.cli.new import new_scenario

    new_scenario(kind, file)


@_command(_JSON)
def studies(as_json: bool) -> None:
    """List the published studies that can be reproduced: ours, or those below $FOREBAY_STUDIES."""
    from forebay.cli.studies import list_studies

    list_studies(as_json)


@_command(
    argument(
        "STUDY|all", "study", "The study, or all of them.", names=lambda: [*_studies(), "all"]
    ),
    flag(
        "--quick",
        "Fewer replications, planned by the study's recorded result: about two "
        "minutes on two idle cores.",
    ),
    option("--claims", "GLOB", 'Only these claims, such as "t3.2/*".'),
    option(
        "--replications",
        "N",
        "So many everywhere, instead of as many as the claims need.",
        read=_REPLICATIONS,
    ),
    _JOBS,
    _out(" (default: out/STUDY)"),
    flag("--resume", "Keep the finished runs that the journal in the output folder holds."),
    _JSON,
)
def reproduce(study: str, **options: Any) -> int:
    """Re-do a published study: its claims, published value beside measured value."""
    need("reproduce", "matplotlib", "pyarrow", "scipy")
    from forebay.cli.reproduce import Request, reproduce_studies

    return reproduce_studies(study, Request(**options))


@_command(
    argument("STUDY", "study_id", "The study.", names=_studies),
    option("--replications", "N", "So many runs of each grid point.", read=_REPLICATIONS),
    _JOBS,
    _out(" (default: out/STUDY/transports)"),
    flag("--resume", "Keep the finished runs that the journal in the output folder holds."),
    _JSON,
)
def transports(study_id: str, **options: Any) -> int:
    """Re-do a study under today's transports: which of its conclusions hold with them?"""
    need("transports", "matplotlib", "pyarrow", "scipy")
    from forebay.cli.transports import compare_transports

    return compare_transports(study_id, **options)


@_command(
    _SCENARIO,
    _SEED,
    option(
        "--replication",
        "N",
        "Other random numbers under the same seed (default 0).",
        read=_SEEDS,
        default=0,
    ),
    option(
        "--replications",
        "N",
        "So many runs, numbered from --replication on: means and 95 % intervals of all.",
        read=_REPLICATIONS,
    ),
    _UNTIL,
    _SET,
    option(
        "--threads",
        "N",
        "Cores for a run (default 1), if the network has delays at which it can be divided; with "
        "--replications, for all of them (default: all cores). Results do not depend on it.",
        read=Whole(1),
    ),
    *_LIMITS,
    _CHECK,
    _TIES,
    _out(" (default: nowhere)"),
    _FORMAT,
    option(
        "--flent",
        "FILE.flent.gz",
        "Write the series of flows in flent's data format, for its plots.",
        read=_path,
    ),
    option("--ns2", "FILE", "Write the packet trace as text in the format of ns-2.", read=_path),
    option(
        "--capture",
        "LINK=FILE",
        "Write what a packet analyser sees at a link, as pcapng; once for each link.",
        key="captures",
        many=True,
    ),
    _force("of --flent, --ns2 and --capture"),
    _JSON,
)
def run(
    scenario: str,
    out: Path | None,
    as_json: bool,
    shuffle: bool = False,
    formats: Sequence[str] = (),
    replications: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> None:
    """Run a scenario file once, or several times, and show its flows and links."""
    from forebay.cli.run import Exports, Show

    _need_formats("run", formats)
    if formats and out is None:
        raise UserError("--format: tables are written to the folder of --out; name one")
    exports = Exports(*(options.pop(name) for name in ("flent", "ns2", "captures", "force")))
    show = Show(as_json, shuffle, formats, exports)
    if replications is not None:
        if shuffle:
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
    argument("SWEEP.toml", "sweep_file", "The file that says what is run.", read=_path),
    _JOBS,
    option(
        "--executor",
        "local|dask:ADDRESS",
        "Where runs happen (default: local, on this machine's cores).",
        default="local",
        names=lambda: ["local", "dask:"],
    ),
    _SEED,
    _UNTIL,
    _SET,
    _CHECK,
    _out(" (default: out/NAME)"),
    _FORMAT,
    flag("--resume", "Continue what the output folder holds; there must be something to continue."),
    flag("--fresh", "Move the output folder aside, under a number, and begin anew."),
    flag("--retry", "Make runs that failed once more."),
    *_LIMITS,
    _JSON,
)
def sweep(sweep_file: Path, **options: Any) -> int:
    """Run a scenario with other values of its parameters, and replications: what is not there."""
    _need_formats("sweep", options["formats"])
    from forebay.cli.sweep import SweepOptions, run_sweep

    limits = {key: options.pop(key) for key in ("max_packets", "max_memory", "timeout")}
    return run_sweep(sweep_file, SweepOptions(**options, limits=limits))


@_command(_SCENARIO, _SET, _JSON)
def check(scenario: str, overrides: list[str], as_json: bool) -> None:
    """Check a scenario file without running it."""
    from forebay.cli.check import check_scenario

    check_scenario(scenario, overrides, as_json)


@_command(
    _SCENARIO,
    option("--link", "NAME", "The tc commands for this link alone; with --dev."),
    option("--dev", "DEVICE", "The device that sends for the link, such as eth0."),
    _SET,
    option(
        "--allow",
        "KEYPATH",
        "Accept what Linux only approximates, by its key path or its last name.",
        many=True,
    ),
    option("--out", "FILE", "Where the script goes (default: standard output).", read=_path),
    _force("of --out"),
    flag("--run", "Run it, and print what it gives beside the simulated run."),
    option(
        "--in",
        "WHERE",
        "Where it runs: uml, a kernel of its own in simulated time (the default), or netns.",
        key="where",
    ),
    _JSON,
)
def linux(scenario: str, **options: Any) -> None:
    """Print a shell script that builds a scenario on Linux: namespaces, veth, tc and sysctl."""
    from forebay.cli.linux import print_script

    print_script(scenario, **options)


@_command(
    argument(
        "NAME",
        "name",
        "A mechanism, a category or a section of scenario files.",
        required=False,
        names=_mechanisms,
    ),
    _JSON,
)
def mechanisms(name: str | None, as_json: bool) -> None:
    """List the mechanisms, or show the page of one with its parameters and source."""
    from forebay.cli.mechanisms import show_mechanisms

    show_mechanisms(name, as_json)


@_command(
    argument("FILE...", "files", "The scripts.", many=True),
    option(
        "--set",
        "KEY=VALUE",
        "Change a parameter of the connection, such as recovery=newreno.",
        key="overrides",
        many=True,
    ),
    _JSON,
)
def tcp_script(files: list[str], overrides: list[str], as_json: bool) -> int:
    """Hold TCP to scripts of packets: 0 if all pass, 1 if one fails, 2 if one cannot be read."""
    from forebay.cli.tcp_script import run_scripts

    return run_scripts(files, overrides, as_json)


@_command()
def schema() -> None:
    """Print the JSON schema of scenario files, for editors that check while you type."""
    print(native().schema())


@_command(
    argument("SCENARIO.toml", "scenario", "The scenario file (default: lessons).", required=False),
    option("--write", "FILE.html", "Write the page to a file, which opens from disk.", read=_path),
    _force("of --write"),
    option("--port", "N", "Serve it there (default: any that is free).", read=Whole(0, 65535)),
    flag("--no-browser", "Open no browser; the address is printed.", key="no_browser"),
)
def lab(
    scenario: str | None,
    write: Path | None,
    port: int | None,
    no_browser: bool = False,
    force: bool = False,
) -> None:
    """Watch a scenario run in a page in the browser, and change it there."""
    from forebay.cli.lab import open_lab

    open_lab(scenario, write, port or 0, not no_browser, force)


@_command(argument("DIR", "folder", "The folder.", read=_path))
def report(folder: Path) -> None:
    """Build the pages of a folder of results again: report.html, and a study's README.md."""
    from forebay.report.build import build_report

    print(f"report: {build_report(folder)}")


@_command(
    argument("NAME", "name", "One of them; all if left out.", required=False, names=_benchmarks),
    _JSON,
)
def bench(name: str | None, as_json: bool) -> None:
    """Run the standard benchmarks: time and memory, each in a process of its own."""
    from forebay.cli.bench import run_benchmarks

    run_benchmarks(name, as_json)


@_command(
    argument("SHELL", "shell", "bash, zsh or fish.", names=lambda: ["bash", "zsh", "fish"]),
)
def completion(shell: str) -> None:
    """Print what makes a shell complete commands, options, studies, mechanisms and benchmarks."""
    from forebay.cli.completion import script

    print(script(shell))
