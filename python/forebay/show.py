"""The commands that show one thing: `run`, `check` and `mechanisms`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from forebay import text
from forebay.errors import UserError, nearest, output_folder
from forebay.terminal import console, plain_markup, print_json, table

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from rich.table import Table

    from forebay.catalogue import Category, Page
    from forebay.run import Job, Run

    _Column = tuple[str, Callable[[Mapping[str, Any]], str]]

__all__ = [
    "check_scenario",
    "command_line",
    "run_scenario",
    "show_mechanisms",
]

MANY_FLOWS = 20


def _name(row: Mapping[str, Any]) -> str:
    return plain_markup(row["name"])


_POLICING: Sequence[_Column] = [
    ("name", _name),
    ("marked for peak", lambda row: text.count(row["marked_by_peak"])),
    ("marked for tokens", lambda row: text.count(row["marked_by_bucket"])),
    ("dropped", lambda row: text.count(row["dropped"])),
    ("max queue", lambda row: f"{row['max_queue_packets']} p"),
]
_LATENESS: Sequence[_Column] = [
    ("name", _name),
    ("late", lambda row: text.count(row["late_packets"])),
    ("least delay", lambda row: text.span(row["least_delay_s"])),
]


def run_scenario(
    scenario: Path | str, options: Mapping[str, Any], out: Path | None, as_json: bool
) -> None:
    """`forebay run`: one run of a scenario file, printed and, with `out`, kept.

    `options` are fields of `forebay.run.Job`.

    Raises `UserError` for a wrong scenario or an `out` that cannot be written.
    """
    from forebay.progress import meter
    from forebay.run import load, run_jobs

    job = load(scenario).but(record=out is not None, **options)
    if out is not None:
        output_folder(out)
    runs: list[Run] = []
    with meter(1, os.path.basename(scenario)) as progress:
        run_jobs([job], lambda _index, run: runs.append(run), 1, progress.tick)
    run = runs[0]
    document = {**run.document, "command": command_line(scenario, job)}
    if out is not None:
        _keep(out, job, run, document)
    if as_json:
        print_json(document)
        return
    show_run(run)
    if out is not None:
        print(f"results: {out}; a page of them: forebay report {shlex.quote(str(out))}")


def command_line(scenario: Path | str, job: Job) -> str:
    """The command that gives the same run again."""
    words = ["forebay", "run", str(scenario)]
    for flag, value in (("--seed", job.seed), ("--until", job.until)):
        if value is not None:
            words += [flag, str(value)]
    if job.replication:
        words += ["--replication", str(job.replication)]
    for assignment in job.overrides:
        words += ["--set", assignment]
    return shlex.join(words)


def _keep(out: Path, job: Job, run: Run, document: Mapping[str, Any]) -> None:
    from forebay.store import write_tables, write_text

    write_text(out / "scenario.toml", job.text)
    write_tables(out, run.tables)
    write_text(out / "run.json", json.dumps(document, indent=1) + "\n")


def show_run(run: Run) -> None:
    """Tables of one run: flows (groups, if there are many flows), calls, paced sources, late and
    policed packets if any, and links."""
    document = run.document
    out = console()
    out.print(
        f"[bold]{plain_markup(document['name'])}[/]: {document['simulated_s']:g} s simulated in "
        f"{text.span(document['wall_s'])}, {text.count(document['events'])} events, "
        f"{text.count(document['packet_hops'])} packet hops"
    )
    out.print(
        f"seed {document['seed']}, replication {document['replication']}, scenario "
        f"{document['scenario_hash']}, version {document['version']}, digest {document['digest']}"
    )
    flows = document["flows"]
    if len(flows) > MANY_FLOWS:
        out.print(_flow_table(document["groups"], f"{len(flows)} flows, by group"))
    else:
        out.print(_flow_table(flows, "flows"))
    if document["calls"]:
        out.print(_call_table(document["calls"]))
    if document["paced"]:
        out.print(_paced_table(document["paced"]))
        if framed := [row for row in document["paced"] if row["sent_frames"]]:
            out.print(_frames_table(framed))
    if document["policing"]:
        out.print(_filled("policing", _POLICING, document["policing"]))
    if document["lateness"]:
        out.print(_filled("late packets", _LATENESS, document["lateness"]))
    out.print(_link_table(document["links"]))


def _flow_table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    columns: list[_Column] = [
        ("name", _name),
        ("flows", lambda row: str(row.get("flows", 1))),
        ("sent", lambda row: text.count(row["sent_packets"])),
        ("delivered", lambda row: text.count(row["delivered_packets"])),
        ("dropped", lambda row: text.count(row["dropped_packets"])),
        ("marked", lambda row: text.count(row["marked_packets"])),
        ("throughput", lambda row: text.rate(row["throughput_bps"])),
        ("goodput", lambda row: text.rate(row["goodput_bps"])),
        ("mean delay", lambda row: _delay(row)),
    ]
    if not any("flows" in row for row in rows):
        columns = [column for column in columns if column[0] != "flows"]
    if not any(row["marked_packets"] for row in rows):
        columns = [column for column in columns if column[0] != "marked"]
    return _filled(title, columns, rows)


def _call_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns: list[_Column] = [
        ("name", _name),
        ("admitted", lambda row: text.count(row["admitted"])),
        ("blocked", lambda row: text.count(row["blocked"])),
        ("refused", lambda row: text.count(row["refused"])),
        ("blocking", lambda row: text.share(row["blocking_ratio"])),
        ("rerouted", lambda row: text.count(row["rerouted"])),
        ("terminated", lambda row: text.count(row["terminated"])),
        ("ended", lambda row: text.count(row["ended"])),
        ("present", lambda row: f"{row['mean_present']:.2f}"),
        ("max", lambda row: text.count(row["max_present"])),
    ]
    rare = [name for name in ("refused", "rerouted") if not any(row[name] for row in rows)]
    columns = [column for column in columns if column[0] not in rare]
    return _filled("calls (present: time average and maximum)", columns, rows)


def _paced_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns: list[_Column] = [
        ("name", _name),
        ("sources", lambda row: text.count(row["sources"])),
        ("sessions", lambda row: text.count(row["sessions"])),
        ("mean rate", lambda row: text.share(row["mean_scale"])),
        ("least", lambda row: text.share(row["least_scale"])),
        ("heeded", lambda row: _notices("accepted", row)),
        ("ignored", lambda row: _notices("ignored", row)),
        ("transfers", lambda row: text.count(row["transfers"])),
        ("mean time", lambda row: text.span(row["transfer_s"]) if row["transfers"] else "-"),
    ]
    if not any(row["transfers"] for row in rows):
        columns = columns[:-2]
    return _filled("paced sources: rate over nominal rate, and notifications", columns, rows)


def _frames_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns: list[_Column] = [
        ("name", _name),
        ("sent", lambda row: text.count(row["sent_frames"])),
        ("sent again", lambda row: text.count(row["resent_frames"])),
        ("whole", lambda row: text.count(row["whole_frames"])),
        ("lost", lambda row: text.count(row["lost_frames"])),
        ("arrival", lambda row: text.span(row["arrival_s"]) if row["arrival_s"] else "-"),
    ]
    return _filled("frames, and until when files arrive", columns, rows)


def _notices(fate: str, row: Mapping[str, Any]) -> str:
    return text.count(row[f"{fate}_rate_notices"] + row[f"{fate}_discard_notices"])


def _delay(row: Mapping[str, Any]) -> str:
    return text.span(row["mean_delay_s"]) if row["delivered_packets"] else "-"


def _link_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    used = [row for row in rows if sum(row["arrived_packets"])]
    idle = len(rows) - len(used)
    title = f"links ({idle} idle ones left out)" if idle else "links"
    columns: list[_Column] = [
        ("name", _name),
        ("throughput", lambda row: text.rate(row["throughput_bps"])),
        ("use", lambda row: text.share(row["utilization"])),
        ("arrived", lambda row: text.count(sum(row["arrived_packets"]))),
        ("dropped", lambda row: text.count(row["drops"])),
        ("marked", lambda row: text.count(row["marks"])),
        ("ThM", lambda row: text.count(row["threshold_marks"])),
        ("mean queue", lambda row: f"{row['mean_queue_packets']:.2f} p"),
        ("max queue", lambda row: f"{row['max_queue_packets']} p"),
    ]
    if not any(row["marks"] for row in used):
        columns = [column for column in columns if column[0] != "marked"]
    if not any(row["threshold_marks"] for row in used):
        columns = [column for column in columns if column[0] != "ThM"]
    return _filled(title, columns, used)


def _filled(
    title: str,
    columns: Sequence[_Column],
    rows: Sequence[Mapping[str, Any]],
) -> Table:
    grown = table(title, *(name for name, _ in columns))
    for row in rows:
        grown.add_row(*(show(row) for _, show in columns))
    return grown


def check_scenario(scenario: Path | str, overrides: list[str], as_json: bool) -> None:
    """`forebay check`: says what the scenario consists of, or raises `UserError`."""
    from forebay.run import check, load

    found = check(load(scenario).but(overrides=overrides))
    if as_json:
        print_json(found)
        return
    print(
        f"{scenario}: fine. {found['name']}: {found['nodes']} nodes, {found['links']} links, "
        f"{found['flows']} flows; {found['duration_s']:g} s, counted from "
        f"{found['warm_up_s']:g} s; scenario {found['scenario_hash']}"
    )


def show_mechanisms(name: str | None, as_json: bool) -> None:
    """`forebay mechanisms`: the catalogue, one category, or the page of a mechanism or section.

    Raises `UserError` for an unknown name.
    """
    from forebay.catalogue import catalogue

    known = catalogue()
    categories = [category for category in known.categories if name in (None, category.name)]
    pages = known.named(name) if name else []
    if name and not pages and not categories:
        names = known.names()
        near = nearest(name, [category.name for category in known.categories] + names)
        raise UserError(f'no mechanism "{name}"{near}; there are {_list(names)}')
    if as_json:
        pages += [page for category in categories for page in category.pages]
        document = [page.as_dict() for page in pages] if name else known.as_dict()
        print_json(document)
        return
    for page in pages:
        _show_page(page)
    if not pages:
        _show_categories(categories, None if name else known.sections)


def _show_page(page: Page) -> None:
    out = console()
    out.print(f"[bold]{plain_markup(page.name)}[/]  ({page.kind})")
    out.print(f"{plain_markup(page.summary)}")
    if page.source:
        out.print(f"Source: {plain_markup(page.source)}")
    out.print(_field_table(page.fields) if page.fields else "No parameters.")
    if page.mechanisms:
        out.print(f"Also takes: {', '.join(page.mechanisms)}")


def _show_categories(categories: Sequence[Category], sections: Sequence[Page] | None) -> None:
    out = console()
    for category in categories:
        rows = table(f"{category.name}: {category.contract}", "name", "what it is", left=2)
        for page in category.pages:
            rows.add_row(page.name, plain_markup(page.summary))
        out.print(rows)
        out.print()
    if sections:
        names = ", ".join(page.name for page in sections)
        out.print(f"Sections of a scenario file: {plain_markup(names)}")
    out.print("A page for one: forebay mechanisms NAME")


def _field_table(fields: Iterable[Any]) -> Table:
    rows = table("parameters", "name", "default", "meaning", "source", left=4)
    for field in fields:
        default = "required" if field.required else field.default_text
        about = f"{field.meaning} ({field.takes})"
        for word, meaning in zip(field.choices, field.choice_meanings, strict=True):
            about += f"\n{word}: {meaning}"
        source = "" if field.source == "-" else field.source
        rows.add_row(field.name, plain_markup(default), plain_markup(about), plain_markup(source))
    return rows


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
