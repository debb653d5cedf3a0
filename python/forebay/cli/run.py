"""The command `run`: one run of a scenario file."""

# ruff: noqa: T201, PLC0415 (prints; `run --json` needs neither tables nor files)

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import UserError, nearest, output_folder
from forebay.paths import names_below
from forebay.run.jobs import check, files_read, load, run_jobs
from forebay.run.laws import law_files
from forebay.run.progress import meter, note, say_warnings
from forebay.run.repeat import command_line, quoted

if TYPE_CHECKING:
    from forebay.run.expressions import Expression
    from forebay.run.jobs import Job, Run
    from forebay.run.outputs import Output

__all__ = [
    "Exports",
    "Show",
    "announce",
    "begin_files",
    "files_for",
    "kept_text",
    "read_quantities",
    "run_scenario",
]

SCENARIO = "scenario.toml"


class Exports:
    """Files for other programs: the data of flent, the trace format of ns-2, and captures of links
    for Wireshark, as `LINK=FILE`; with `force`, whatever stands in their places. Raises `UserError`
    for a capture that is not."""

    def __init__(
        self,
        flent: Path | None = None,
        ns2: Path | None = None,
        captures: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        self.flent = flent
        self.ns2 = ns2
        self.force = force
        self.captures: dict[str, Path] = {}
        for word in captures:
            link, _, file = word.rpartition("=")
            if not link or not file:
                raise UserError(f'--capture: "{word}"; allowed is LINK=FILE')
            if link in self.captures:
                raise UserError(f'--capture: link "{link}" twice; a link has one file')
            self.captures[link] = Path(file)

    @property
    def words(self) -> tuple[str, ...]:
        """The options that name them, with their values."""
        named = [("--flent", self.flent), ("--ns2", self.ns2)]
        captures = [("--capture", f"{link}={file}") for link, file in self.captures.items()]
        given = [(name, str(value)) for name, value in [*named, *captures] if value is not None]
        return tuple(word for pair in given for word in pair)

    @property
    def asked(self) -> str:
        """The first of the options that name them; empty if there is none."""
        return next(iter(self.words), "")

    def recording(self, job: Job) -> Job:
        """`job` with what it must record for these files. Raises `UserError` for a link that its
        scenario does not have."""
        if not self.captures:
            return job
        values = check(job)["resolved"]
        links = names_below(values, "links")
        links += [f"{link}.reverse" for link in links]
        for link in self.captures:
            if link not in links:
                near = nearest(link, links)
                raise UserError(f'--capture: no link "{link}"{near}; there are {", ".join(links)}')
        given = values.get("record.capture", "absent")
        # A list of words in TOML is one in JSON.
        known = [] if given == "absent" else json.loads(given)
        wanted = json.dumps([*dict.fromkeys([*known, *self.captures])])
        return job.but(overrides=[*job.overrides, f"record.capture={wanted}"])

    def refuse_losses(self, job: Job, others: Sequence[Path]) -> None:
        """Raise `UserError` if one of the files would replace what the run reads, `others` that it
        writes, or what was not written by the same option."""
        if not self.asked:
            return
        from forebay.run import outputs

        inputs = [*map(Path, files_read(job)), *others]
        outputs.refuse_losses(self._outputs(), inputs, force=self.force)

    def write(self, job: Job, run: Run) -> None:
        """Write the files of a run."""
        for output in self._outputs() if self.asked else ():
            if output.name == "--flent":
                from forebay.run.flent import flent_bytes

                output.write(flent_bytes(run, output.path.name))
            elif output.name == "--ns2":
                from forebay.run.ns2 import ns2_bytes

                output.write(ns2_bytes(job, run))
        for link, output in zip(self.captures, self._captures(), strict=True):
            output.write(bytes(run.tables[f"capture-{link}"]["byte"]))

    def _outputs(self) -> list[Output]:
        from forebay.run.outputs import FLENT, NS2, Output

        found = [("--flent", self.flent, FLENT), ("--ns2", self.ns2, NS2)]
        named = [Output(name, path, kind) for name, path, kind in found if path is not None]
        return [*named, *self._captures()]

    def _captures(self) -> list[Output]:
        if not self.captures:
            return []
        from forebay.run.outputs import CAPTURE, Output

        return [
            Output(f"--capture: link {link}", path, CAPTURE) for link, path in self.captures.items()
        ]


class Show:
    """Output of a run: one JSON document, or tables; results of other orders of simultaneous
    events, if `ties`; the formats in which all tables are written, if any; files for other
    programs; and expressions over the results."""

    def __init__(
        self,
        as_json: bool,
        ties: bool,
        formats: Sequence[str],
        exports: Exports,
        quantities: Sequence[str] = (),
    ) -> None:
        self.as_json = as_json
        self.ties = ties
        self.formats = formats
        self.exports = exports
        self.quantities = quantities

    @property
    def words(self) -> list[str]:
        """The options that name the expressions."""
        return [word for text in self.quantities for word in ("--quantity", text)]


def run_scenario(
    scenario: Path | str, options: Mapping[str, Any], out: Path | None, show: Show
) -> None:
    """`forebay run`: one run of a scenario file, printed and, with `out`, kept.

    `options` are fields of `forebay.run.jobs.Job`.

    Raises `UserError` for a wrong scenario or an `out` that cannot be written.
    """
    records = out is not None or bool(show.exports.asked)
    job = show.exports.recording(load(scenario).but(record=records, **options))
    if show.ties:
        job = job.but(ties=0)
    kept = () if out is None else ("--out", str(out))
    command = " ".join(filter(None, [command_line(job.name, job), quoted(show.words)]))
    job = job.but(command=command, outputs=(*kept, *show.exports.words))
    names = files_for(out, job, ["run.json"]) if out is not None else []
    show.exports.refuse_losses(job, [out / name for name in names] if out is not None else [])
    quantities = read_quantities(show.quantities, job)
    if any(quantity.needs_series for quantity in quantities):
        job = job.but(record=True)
    run = _run(job, os.path.basename(scenario), show.ties)
    if quantities:
        run = _with_derived(run, quantities)
    if out is not None:
        from forebay.run.resolved import resolved_scenario

        # What stands in the folder must tell what was run, wherever the files it read are then.
        run = type(run)({**run.document, "scenario": resolved_scenario(job)}, run.tables)
        _keep(out, names, job, run, show.formats)
    show.exports.write(job, run)
    if show.as_json:
        print(run.text)
        return
    from forebay.cli.show_run import show_run

    show_run(run, quantities)
    if out is not None:
        print(f"results: {out}; a page of them: forebay report {quoted([str(out)])}")


def read_quantities(texts: Sequence[str], job: Job) -> list[Expression]:
    """The expressions of `--quantity`. Raises `UserError` for a wrong one, or one of what the
    scenario does not have, before it is run."""
    if not texts:
        return []
    from forebay.run.expressions import named
    from forebay.run.fairness import NO_SERIES
    from forebay.run.quantities import refuse_absent
    from forebay.run.resolved import ABSENT

    found = named(texts, "--quantity")
    for quantity in found:
        if quantity.needs_series and check(job)["resolved"]["record.series"] == ABSENT:
            raise quantity.error(NO_SERIES)

    def made(trials: Sequence[Job]) -> list[Mapping[str, Any]]:
        documents: list[Mapping[str, Any]] = []
        run_jobs(trials, lambda _, run: documents.append(run.document), 1)
        return documents

    refuse_absent(found, [job.but(check=False, ties=None)], made)
    return found


def _with_derived(run: Run, quantities: Sequence[Expression]) -> Run:
    """The run with values of expressions in its document; `null` for one without a value."""
    from forebay.run.rows import Recorded

    recorded = Recorded(run)
    answers = {quantity.name: quantity.of(recorded) for quantity in quantities}
    values: dict[str, float | bool | None] = {n: answer.value for n, answer in answers.items()}
    for quantity in quantities:
        if quantity.is_truth and (value := values[quantity.name]) is not None:
            values[quantity.name] = bool(value)
    reasons = {name: answer.reason for name, answer in answers.items() if answer.value is None}
    told = {"derived": values, **({"lacking": reasons} if reasons else {})}
    return type(run)({**run.document, **told}, run.tables)


def _run(job: Job, label: str, ties: bool) -> Run:
    """The run, with what other orders of simultaneous events give in its document if `ties`."""
    jobs = [job]
    if ties:
        from forebay.run.ties import compare_orders, in_other_orders

        jobs += in_other_orders(job)
    runs: dict[int, Run] = {}
    with meter(len(jobs), label) as progress:
        run_jobs(jobs, runs.__setitem__, 1, progress.tick, announce)
    run = runs[0]
    if ties:
        found = compare_orders([runs[place] for place in range(len(jobs))])
        return type(run)({**run.document, "ties": found}, run.tables)
    return run


def files_for(out: Path, job: Job, names: Sequence[str]) -> list[str]:
    """The files of a run that will be written to `out` besides tables: `names` and the scenario,
    unless it is there. Raises `UserError` if they cannot be."""
    from forebay.run.store import refuse_foreign

    output_folder(out)
    found = [*names, SCENARIO]
    try:
        if (out / SCENARIO).read_text(encoding="utf-8") == kept_text(job):
            # It may be the very file that is run.
            found.remove(SCENARIO)
    except (OSError, ValueError):
        pass
    refuse_foreign(out, found)
    return found


def begin_files(out: Path, names: Sequence[str], job: Job) -> None:
    """Runs are done: list the files of `files_for` as ours, and write the scenario."""
    from forebay.run.store import take_over, write_text

    take_over(out, names)
    if SCENARIO in names:
        write_text(out / SCENARIO, kept_text(job))


def kept_text(job: Job) -> str:
    """The scenario as it is kept with results: with what it has from files beside it, which may
    change or not come along."""
    # Few scenarios have any, and to find out takes longer than some runs.
    words = ("include", "schedule", "trace")
    if not law_files() and not any(word in job.text for word in words):
        return job.text
    from forebay.run.portable import portable_text

    return portable_text(job) or job.text


def announce(packets: Sequence[int], warnings: Sequence[Sequence[str]]) -> None:
    """Say, before runs of one scenario begin, what is hardly meant in it, and how long they are."""
    say_warnings(warnings[0])
    each = "" if len(packets) == 1 else " in each run"
    note(f"about {packets[0]:,} packets are expected{each}")


def _results(run: Run) -> Mapping[str, Any]:
    from forebay.run.tables import result_tables

    return result_tables([({"replication": run.document["replication"]}, run.document)])


def _keep(out: Path, names: Sequence[str], job: Job, run: Run, formats: Sequence[str]) -> None:
    from forebay.run.store import write_tables, write_text

    begin_files(out, names, job)
    write_tables(out, run.tables, _results(run) if formats else {}, formats)
    write_text(out / "run.json", run.text + "\n")
