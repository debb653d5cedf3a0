"""The command line: what each command takes; what it does is in the module named after it.

Exit status: 0 done; 2 the user's input is wrong (one message on stderr, no traceback); 130
interrupted, with finished runs kept; 1 anything else. `--json` prints one document on stdout and
nothing else. Heavy libraries are imported by the command that needs them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from forebay.errors import UserError, nearest

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    try:
        status = forebay.main(
            list(arguments) if arguments is not None else None,
            prog_name="forebay",
            standalone_mode=False,
        )
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.UsageError as error:
        return _complain(_usage(error), 2)
    except click.ClickException as error:
        return _complain(error.format_message(), 2)
    except UserError as error:
        return _complain(str(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has left; what Python would still flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("FOREBAY_TRACEBACK"):
            raise
        detail = "; FOREBAY_TRACEBACK=1 shows where" if not isinstance(error, OSError) else ""
        return _complain(f"{type(error).__name__}: {error}{detail}", 1)


def _complain(message: str, status: int) -> int:
    for line in message.splitlines() or [""]:
        print(f"forebay: error: {line}", file=sys.stderr)
    return status


def _usage(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    if error.ctx is not None:
        message += f"; see `{error.ctx.command_path} --help`"
    return message


class _Commands(click.Group):
    """A group that offers the nearest command for one it does not know."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            ctx.fail(f'no command "{name}"{nearest(name, known)}; commands: {", ".join(known)}')
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of their definition, which is the order a newcomer needs them."""
        return list(self.commands)


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from forebay.run import version

    click.echo(f"forebay {version()}")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def forebay() -> None:
    """Simulate queues, markers and congestion control, packet by packet, with error bars."""


Command = Callable[..., Any]


def _json(command: Command) -> Command:
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout, nothing else."
    )(command)


def _out(default: str) -> Callable[[Command], Command]:
    return click.option(
        "--out", type=click.Path(path_type=Path), metavar="DIR", help=f"Where results go{default}."
    )


def _jobs(command: Command) -> Command:
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Runs at a time (default: as many as there are cores). Results do not depend on it.",
    )(command)


@forebay.command()
@_json
def studies(as_json: bool) -> None:
    """List the published studies that can be reproduced."""
    from forebay.studies_list import list_studies

    list_studies(as_json)


@forebay.command()
@click.argument("study", metavar="STUDY|all")
@click.option("--quick", is_flag=True, help="Fewer replications: within two minutes on two cores.")
@click.option("--claims", metavar="GLOB", help='Only these claims, such as "t3.2/*".')
@click.option(
    "--replications",
    type=click.IntRange(min=2),
    metavar="N",
    help="So many everywhere, instead of as many as the claims need.",
)
@_jobs
@_out(" (default: out/STUDY)")
@_json
def reproduce(study: str, **options: Any) -> int:
    """Re-do a published study: its claims, published value beside measured value."""
    from forebay.reproduce import Request, reproduce_studies

    return reproduce_studies(study, Request(**options))


@forebay.command()
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="Root seed.")
@click.option(
    "--replication",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    metavar="N",
    help="Other random numbers under the same seed (default 0).",
)
@click.option("--until", metavar="T", help='Simulated time, such as "10 s".')
@click.option(
    "--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change a key of the scenario."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Cores for this run (default 1), if the network has delays at which it can be divided. "
    "Results do not depend on it.",
)
@_out(" (default: nowhere)")
@_json
def run(scenario: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Run a scenario file once and show its flows and links."""
    from forebay.show import run_scenario

    run_scenario(scenario, options, out, as_json)


@forebay.command()
@click.argument("sweep_file", metavar="SWEEP.toml", type=click.Path(path_type=Path))
@_jobs
@click.option(
    "--executor",
    default="local",
    metavar="local|dask:ADDRESS",
    help="Where runs happen (default: local, on this machine's cores).",
)
@_out(" (default: out/NAME)")
@click.option("--resume", is_flag=True, help="Keep the runs already in the output folder.")
@_json
def sweep(sweep_file: Path, **options: Any) -> None:
    """Run a scenario over a grid of parameters, with replications."""
    from forebay.sweep import run_sweep

    run_sweep(sweep_file, **options)


@forebay.command()
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(path_type=Path))
@click.option(
    "--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change a key of the scenario."
)
@_json
def check(scenario: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Check a scenario file without running it."""
    from forebay.show import check_scenario

    check_scenario(scenario, overrides, as_json)


@forebay.command()
@click.argument("name", required=False)
@_json
def mechanisms(name: str | None, as_json: bool) -> None:
    """List the mechanisms, or show the page of one with its parameters and source."""
    from forebay.show import show_mechanisms

    show_mechanisms(name, as_json)


@forebay.command()
def schema() -> None:
    """Print the JSON schema of scenario files, for editors that check while you type."""
    from forebay.run import native

    click.echo(native().schema())


@forebay.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def report(folder: Path) -> None:
    """Build the HTML report of a folder of results again."""
    from forebay.report import build_report

    click.echo(f"report: {build_report(folder)}")


@forebay.command()
@click.argument("name", required=False)
@_json
def bench(name: str | None, as_json: bool) -> None:
    """Run the standard benchmarks: time and memory, each in a process of its own."""
    from forebay.bench import run_benchmarks

    run_benchmarks(name, as_json)
