"""The command `linux`: a scenario as a shell script of ip, tc and sysctl, and its run."""

# ruff: noqa: T201 (the command prints)

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import text
from forebay.cli.terminal import Grid, print_json, print_page
from forebay.errors import UserError, nearest
from forebay.linux.compare import compared, jain_index
from forebay.linux.machine import PLACES
from forebay.linux.script import link_script, network_script
from forebay.linux.values import Remarks
from forebay.run.jobs import check, files_read, load
from forebay.run.laws import near
from forebay.run.outputs import SCRIPT, Output, refuse_losses
from forebay.run.progress import say_warnings

__all__ = ["print_script"]


@dataclass
class _Options:
    """The options of the command, as its page describes them."""

    overrides: list[str]
    link: str | None
    dev: str | None
    allow: list[str]
    out: Path | None
    as_json: bool
    run: bool
    where: str | None
    force: bool


def print_script(scenario: Path | str, **options: Any) -> None:
    """`forebay linux`: prints the script, or raises `UserError` with a key path.

    With `run`, the script is run, and what it gives is printed beside the simulated run.
    """
    wanted = _Options(**options)
    _check(wanted)
    job = load(scenario).but(overrides=wanted.overrides)
    found = check(job)
    say_warnings(found["warnings"])
    values = found["resolved"]
    try:
        script, remarks = _script(wanted, values)
    except UserError as error:
        raise _said_of_laws(error, found.get("laws", ())) from None
    if wanted.out is not None:
        output = Output("--out", wanted.out, SCRIPT)
        inputs = map(Path, files_read(job))
        refuse_losses([output], inputs, force=wanted.force)
        output.write(script.encode())
    told = {"notes": remarks.notes, "approximations": remarks.approximations}
    if wanted.run:
        document = {**compared(job, values, script, wanted.where or "uml"), **told}
        if document["linux"]["switches"]:
            document["notes"] = [note for note in remarks.notes if ".cubic.hystart: " not in note]
        if wanted.as_json:
            print_json(document)
        else:
            _show(document)
    elif wanted.as_json:
        print_json({"script": script, **told})
    elif wanted.out is None:
        print(script, end="")


def _script(wanted: _Options, values: dict[str, str]) -> tuple[str, Remarks]:
    if wanted.link is not None and wanted.dev is not None:
        return link_script(values, wanted.link, wanted.dev, wanted.allow)
    return network_script(values, wanted.allow)


def _said_of_laws(error: UserError, laws: Iterable[Mapping[str, Any]]) -> UserError:
    """The error, or in place of one about a law of one's own what that is: no law of Linux is known
    to be the nearest."""
    own = {row["name"]: row["file"] for row in laws}
    path = str(error).partition(": ")[0]
    name = path.rpartition(".")[2]
    if name not in own:
        return error
    return UserError(f"{path}: Linux has no {name}: it is a law of {near(own[name])}")


def _check(wanted: _Options) -> None:
    link, dev, where = wanted.link, wanted.dev, wanted.where
    if (link is None) != (dev is None):
        raise UserError("--link, --dev: a link needs its device, and a device its link")
    # Linux's names are 15 characters at most; nothing that a shell acts upon may be among them.
    if dev is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}", dev):
        raise UserError(f'--dev: "{dev}"; allowed is the name of a device, such as eth0')
    if wanted.run and link is not None:
        raise UserError("--run, --link: a run is of the whole scenario")
    if where is not None and not wanted.run:
        raise UserError("--in: only with --run")
    if where not in (None, *PLACES):
        near = nearest(str(where), PLACES)
        raise UserError(f'--in: no place "{where}"{near}; allowed are {", ".join(PLACES)}')


def _show(document: Mapping[str, Any]) -> None:
    linux, simulated = document["linux"], document["simulated"]
    low, high = sorted(linux["load"])
    tick = f"{linux['tick_hz']} Hz" if linux["tick_hz"] else "unknown"
    clock = {"simulated": "simulated time", "real": "real time"}[linux["clock"]]
    facts = [
        f": Linux {linux['kernel']} ({linux['where']}, {clock}, tick {tick}) beside the simulated "
        f"run, {linux['measured_s']:.3f} s of each",
        f"{text.span(linux['wall_s'])} of wall time at a load of {low:.1f} to {high:.1f} on "
        f"{linux['cores']} cores; digest {simulated['digest']}, version {simulated['version']}",
        *(f"Linux differs: {note}" for note in document["notes"]),
        *(f"approximated: {note}" for note in document["approximations"]),
    ]
    if not linux["kept_pace"]:
        facts.append("no verdict: the machine was too busy, or timers came late")
    grids = []
    for title, key in (("flows", "flows"), ("links", "links")):
        grids.append(_grid(title, simulated[key], linux[key]))
    print_page(document["name"], facts, grids)


def _grid(
    title: str, ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]
) -> Grid:
    """Each quantity simulated, on Linux, and by how much Linux has more."""
    found = {row["name"]: row for row in theirs}
    rows = []
    for row in ours:
        for key in list(row)[1:]:
            if row["name"] not in found:
                continue
            mine, other = row[key], found[row["name"]][key]
            what = key.removesuffix("_bps").removesuffix("_packets").removesuffix("_s")
            show: Callable[[float], str] = text.rate if key.endswith("_bps") else text.count
            if key == "shares_bps":
                if len(mine) < 2:
                    continue
                what, show = "Jain's index", "{:.3f}".format
                mine, other = jain_index(mine), jain_index(other)
            elif key.endswith("_delay_s"):
                show = text.span
            more = f"{100 * (other / mine - 1):+.2f} %" if mine else "-"
            rows.append((f"{row['name']}: {what.replace('_', ' ')}", show(mine), show(other), more))
    return Grid(title, ["quantity", "simulated", "Linux", "difference"], rows)
