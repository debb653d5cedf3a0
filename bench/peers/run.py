#!/usr/bin/env python3
"""Times forebay beside other simulators on the standard benchmarks, and prints the ratios.

Every program runs as a whole process, in turn (A B C, A B C, ...), so that a slow spell of the
machine falls on all of them; ratios are taken within each turn, and shown with their spread.
Needs Python 3.11 and nothing else. See README.md beside this file for what is compared with what.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from programs import (
    BENCHMARKS,
    LENGTH,
    VENV,
    Outcome,
    Program,
    Settings,
    UnavailableError,
    programs_for,
    versions,
)

ROOT = Path(__file__).resolve().parents[2]
MEASURED = Path(__file__).with_name("measured.py")
WIDTH = 100
FOREBAY = "forebay"
QUICK_SCALE, QUICK_RUNS = 0.1, 3


class FailedError(Exception):
    """A program ended badly or printed what cannot be read; the message says which and how."""


@dataclass(frozen=True)
class Sample:
    """One run of one program, as a whole process."""

    wall_s: float
    user_s: float
    peak_rss_bytes: int
    outcome: Outcome

    @property
    def ns_per_hop(self) -> float:
        """Wall time of the event loop for each link that a packet crosses, ns."""
        return self.outcome.loop_wall_s * 1e9 / self.outcome.packet_hops


@dataclass
class Series:
    """All runs of one program, or why there are none."""

    name: str
    samples: list[Sample] = field(default_factory=list)
    status: str = "ok"  #: ok, unavailable or failed
    message: str = ""
    share: float = 1.0  #: of the benchmark's length

    def spread(self, quantity: str) -> list[float]:
        """Least, median and greatest of a quantity of :class:`Sample` over the runs."""
        return spread([getattr(sample, quantity) for sample in self.samples])

    def ratio(self, base: Series | None, quantity: str) -> list[float] | None:
        """Spread of this quantity over the base's of the same turn; None without such pairs.

        Whole runs of different lengths are no such pairs.
        """
        if base is None or self is base or (quantity == "wall_s" and self.share != base.share):
            return None
        if not self.samples or len(self.samples) != len(base.samples):
            return None
        pairs = zip(self.samples, base.samples, strict=True)
        return spread([getattr(a, quantity) / getattr(b, quantity) for a, b in pairs])


def forebay_of(all_series: list[Series]) -> Series | None:
    """The series that ratios are taken against, if it was asked for."""
    return next((series for series in all_series if series.name == FOREBAY), None)


def spread(values: Sequence[float]) -> list[float]:
    """Least, median and greatest."""
    return [min(values), statistics.median(values), max(values)]


def run_once(command: list[str], program: Program, timeout_s: float) -> Sample:
    """Runs a program to its end and measures it; raises :class:`FailedError`.

    User time and peak memory are the kernel's account of the process and its waited-for children.
    """
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as answer,
    ):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(MEASURED), str(answer.fileno()), *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=[answer.fileno()],
            start_new_session=True,  # so that the program is stopped with the process around it
        )
        try:
            process.wait(timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        text, errors, counted = (_read(file) for file in (out, err, answer))
    if not counted:
        raise FailedError(f"stopped after {timeout_s:g} s")
    status, wall_s, user_s, peak = counted.split()
    if status != "0":
        last = errors.strip().splitlines()[-1:] or ["nothing on stderr"]
        raise FailedError(f"exit status {status}: {last[0]}")
    try:
        outcome = program.read(text)
    except (ValueError, KeyError, TypeError) as error:
        raise FailedError(f"cannot read its result: {error}") from error
    # Linux counts the peak in kibibytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Sample(float(wall_s), float(user_s), int(peak) * unit, outcome)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def compare(
    benchmark: str, programs: list[Program], settings: Settings, runs: int, timeout_s: float
) -> list[Series]:
    """Prepares all programs of a benchmark and runs them in turn, ``runs`` times."""
    all_series = [
        Series(
            program.name,
            share=1.0 if program.name == FOREBAY else min(program.share, settings.scale),
        )
        for program in programs
    ]
    commands = {}
    for program, series in zip(programs, all_series, strict=True):
        try:
            commands[program.name] = program.prepare(settings)
        except UnavailableError as reason:
            series.status, series.message = "unavailable", str(reason)
    for turn in range(runs):
        for program, series in zip(programs, all_series, strict=True):
            if series.status != "ok":
                continue
            print(f"{benchmark} run {turn + 1}/{runs}: {program.name}", file=sys.stderr)
            try:
                sample = run_once(commands[program.name], program, timeout_s)
                series.samples.append(sample)
            except FailedError as reason:
                series.status, series.message, series.samples = "failed", str(reason), []
    return all_series


# --- the result as JSON ------------------------------------------------------------------------


def as_json(benchmark: str, all_series: list[Series]) -> dict[str, Any]:
    """One benchmark's entry in the document of --json; times in s, spreads [min, median, max]."""
    base = forebay_of(all_series)
    return {"name": benchmark, "programs": [_program_json(series, base) for series in all_series]}


def _program_json(series: Series, base: Series | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": series.name, "status": series.status}
    if series.status != "ok":
        return entry | {"message": series.message}
    last = series.samples[-1].outcome
    return entry | {
        "runs": len(series.samples),
        "share_of_length": series.share,
        "wall_s": series.spread("wall_s"),
        "user_s": series.spread("user_s"),
        "peak_rss_bytes": max(sample.peak_rss_bytes for sample in series.samples),
        "packet_hops": last.packet_hops,
        "events": last.events,
        "ns_per_hop": series.spread("ns_per_hop"),
        "ratio_wall": series.ratio(base, "wall_s"),
        "ratio_ns_per_hop": series.ratio(base, "ns_per_hop"),
        "last_result": last.details,
    }


# --- the result as a table ---------------------------------------------------------------------

HEAD_1 = f"{'':13}{'wall, s':^24}{'user, s':>8}{'peak':>7}{'packet':>9}{'ns/hop':>8}"
HEAD_2 = (
    f"{'program':13}{'min':>8}{'median':>8}{'max':>8}{'median':>8}{'MB':>7}{'hops':>9}{'median':>8}"
)
RATIO_1 = f"{'wall, times forebay':^27}"
RATIO_2 = f"{'min':>9}{'median':>9}{'max':>9}"


def as_table(benchmark: str, all_series: list[Series], scale: float) -> list[str]:
    """The lines printed for one benchmark, none longer than 100 columns."""
    unit = "packets" if benchmark == "s3-mm1" else "s simulated"
    runs = max((len(series.samples) for series in all_series), default=0)
    base = forebay_of(all_series)
    length = f"{LENGTH[benchmark] * (1 if base else scale):,.12g} {unit}"
    lines = [f"{benchmark}: {length}, {runs} run{'s' * (runs != 1)} each, in turn"]
    lines.append((HEAD_1 + (RATIO_1 if base else "")).rstrip())
    lines.append(HEAD_2 + (RATIO_2 if base else ""))
    for series in all_series:
        lines += [_row(series, base)] if series.samples else _absent(series)
    for series in all_series:
        lines += _notes(series, base)
    return lines


def _row(series: Series, base: Series | None) -> str:
    walls = "".join(f"{number(value):>8}" for value in series.spread("wall_s"))
    user = number(series.spread("user_s")[1])
    peak = max(sample.peak_rss_bytes for sample in series.samples) / 1e6
    hops = series.samples[-1].outcome.packet_hops / 1e6
    each = number(series.spread("ns_per_hop")[1])
    ratio = series.ratio(base, "wall_s") or []
    ratios = "".join(f"{number(value):>9}" for value in ratio)
    return f"{series.name:13}{walls}{user:>8}{peak:>7.0f}{hops:>7.2f} M{each:>8}{ratios}"


def _absent(series: Series) -> list[str]:
    lines = f"{series.name:13}{series.status}: {series.message}".splitlines()
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, subsequent_indent="  ")]


def _notes(series: Series, base: Series | None) -> Iterator[str]:
    """Below the table: the ratio for each hop, what the run carried, and what to be wary of."""
    if not series.samples:
        return
    last = series.samples[-1].outcome
    part = series.share / base.share if base else series.share
    if base and part != 1:
        yield f"  {series.name}: ran {part:.3g} of the length; compare for each hop"
    ratio = series.ratio(base, "ns_per_hop")
    if ratio and base:
        low, middle, high = (number(value) for value in ratio)
        yield f"  {series.name}: event loop, for each hop, {middle} ({low} to {high}) times forebay"
        off = last.packet_hops / part / base.samples[-1].outcome.packet_hops - 1
        if abs(off) > 0.05:
            yield f"  {series.name}: {off:+.0%} hops against forebay; compare for each hop"
    carried = [
        f"{label} {last.details[key] / divisor:.{digits}f}{unit}"
        for key, label, divisor, digits, unit in CARRIED
        if key in last.details
    ]
    if carried:
        yield f"  {series.name} carried: {', '.join(carried)}"
    whole, loop = series.samples[-1].wall_s, last.loop_wall_s
    if series is base and whole > 1.5 * loop + 1:
        yield f"  forebay's process took {whole:.1f} s for a reported {loop:.1f} s: it did more"
        yield "  than the benchmark once, so that only the ratio for each hop is fair to it"


CARRIED = (
    ("tcp_bps", "TCP", 1e6, 2, " Mbit/s"),
    ("udp_bps", "UDP", 1e6, 2, " Mbit/s"),
    ("green_share", "green", 0.01, 1, " %"),
    ("utilization", "utilization", 1, 4, ""),
    ("mean_in_system", "mean number in system", 1, 3, ""),
)


def number(value: float) -> str:
    """Three significant digits; from 100 on, all digits before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}"


# --- the command -------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line; a wrong one ends the program with status 2."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("--only", action="append", choices=BENCHMARKS, metavar="NAME", help="this benchmark only")
    add("--runs", type=int, metavar="N", help="runs of each program (default: 5, quick: 3)")
    add("--quick", action="store_true", help="peers a tenth of the length: ratios by hop only")
    add("--json", action="store_true", help="one JSON document on stdout instead of tables")
    add("--skip-forebay", action="store_true", help="time the peers alone")
    add("--forebay", type=Path, default=ROOT / ".venv/bin/forebay", metavar="PATH")
    add("--venv", type=Path, default=VENV, metavar="DIR", help="where ns.py and daytone are")
    add("--scale", type=float, metavar="SHARE", help="share of the length that peers run")
    add("--build-dir", type=Path, metavar="DIR", help="keep what is built (default: thrown away)")
    add("--timeout", type=float, default=900, metavar="S", help="for one run (default: 900 s)")
    options = parser.parse_args(arguments)
    if options.runs is None:
        options.runs = QUICK_RUNS if options.quick else 5
    if options.scale is None:
        options.scale = QUICK_SCALE if options.quick else 1.0
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: at least 1")
    if options.scale <= 0:
        parser.error(f"--scale {options.scale:g}: more than 0")
    return options


@contextlib.contextmanager
def build_dir(chosen: Path | None) -> Iterator[Path]:
    """The directory for what is built: the chosen one, or a temporary one that is thrown away."""
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen
    else:
        with tempfile.TemporaryDirectory(prefix="forebay-peers-") as made:
            yield Path(made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what was asked for; 0 done, 1 a program failed, 2 wrong usage, 130 interrupted."""
    options = parse(arguments)
    failed = False
    entries = []
    found = versions(options.venv)
    if not options.json:
        print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(", ".join(f"{name} {version}" for name, version in found.items()) or "no peers found")
    with build_dir(options.build_dir) as directory:
        settings = Settings(directory, options.forebay, options.scale, options.venv)
        for benchmark in options.only or BENCHMARKS:
            chosen = programs_for(benchmark)[1 if options.skip_forebay else 0 :]
            all_series = compare(benchmark, chosen, settings, options.runs, options.timeout)
            failed |= any(series.status == "failed" for series in all_series)
            entries.append(as_json(benchmark, all_series))
            if not options.json:
                print("", *as_table(benchmark, all_series, options.scale), sep="\n", flush=True)
    if options.json:
        machine = {"platform": platform.platform(), "cores": os.cpu_count(), "versions": found}
        json.dump({"machine": machine, "runs": options.runs, "benchmarks": entries}, sys.stdout)
        print()
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
