"""The columns of a table, its stacks, and the cells that each makes of a network.

A cell is one of a suite (`forebay.suite.cells`) with one column: networks are its cells, stacks its
laws. All columns of a network have the same seed and replications, and so the same random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from forebay.run.axes import VARIANT, Combination
from forebay.run.expressions import read
from forebay.run.jobs import Job
from forebay.run.sweep import Sweep, plan
from forebay.stacks.definition import StackFile, Table
from forebay.stacks.networks import STACK, Network
from forebay.stacks.programs import Program
from forebay.stacks.python_stacks import located_stack, version
from forebay.suite.cells import Cell, Measure
from forebay.suite.definition import CellFile, Metric, Place
from forebay.suite.laws import ECN, law_of
from forebay.suite.pilots import Part

__all__ = ["Column", "column_of", "measures_of", "part_of"]

TCP = f"flows.{STACK}.tcp"

NEEDS_ECN = ("dctcp", "prague")
"""Models that are refused without ECN, and have it in every network."""


@dataclass(frozen=True, slots=True)
class Column:
    """A stack as a column: `told` says what it is, `keys` are those that a model sets. Of others
    `stack` is the name by which it is asked for, and `part` tells its runs from those of others,
    and of other versions, in a journal."""

    label: str
    kind: str
    told: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    stack: str = ""
    part: str = ""


def column_of(table: Table, label: str, stack: StackFile, program: Program | None) -> Column:
    """The column of a stack. Raises `UserError` for one that there is not; `program` is there if
    any stack is of one."""
    place = f'{table.path}: stacks."{label}"'
    if stack.model:
        law = law_of(stack.model, "control", f"{place}.model")
        keys: dict[str, Any] = dict([law.assignment(Place(at=f"{TCP}.control"), {})])
        if law.page.name in NEEDS_ECN:
            keys[f"{TCP}.{ECN}"] = True
        return Column(label, "model", f"Forebay's TCP, {law.written}", keys)
    if stack.program:
        assert program is not None
        found = program.version(stack.program, f"{place}.program")
        part = f"program {stack.program} {found} {program.contents}"
        reason = program.unseeded[stack.program]
        repeats = f" (its runs do not repeat digit by digit: {reason})" if reason else ""
        told = f"{stack.program}, {found}{repeats}"
        return Column(label, "program", told, {}, stack.program, part)
    name = located_stack(stack.python, table.path.parent, f"{place}.python")
    found = version(name)
    return Column(label, "python", f"{stack.python}, {found}", {}, name, f"python {name} {found}")


def part_of(table: Table, network: Network, column: Column) -> Part:
    """The cell of a network and a stack with the point of its sweep. Raises `UserError` for a
    network that cannot be run."""
    measures = list(measures_of(network))
    sweep = Sweep(
        path=table.path,
        name=network.name,
        scenario=Job(network.text, str(network.path), stack=column.stack),
        replications=table.replications,
        seed=None,
        quantities=(),
        axes=([Combination({VARIANT: column.label}, column.keys)],),
    )
    file = CellFile(title=network.name, section="", weight="", scenario=str(network.path))
    cell = Cell(network.name, file, sweep, measures, (), {}, (), {})
    return cell, [replace(entry, part=column.part) for entry in plan(sweep)]


def measures_of(network: Network) -> Iterator[Measure]:
    """The quantities of a network: of the stack, of its share beside each rival, and of pings."""
    own = f"groups.{STACK}"
    sent = f"{own}.sent_packets"
    yield _measure("goodput", "goodput", f"{own}.goodput", "more", headline=True)
    yield _measure("delay_p50", "one-way delay, median", f"{own}.p50_delay", "less")
    yield _measure("delay_p95", "one-way delay, 95 %", f"{own}.p95_delay", "less", headline=True)
    yield _measure("loss", "loss", f"{own}.loss_ratio", "less", headline=True)
    yield _measure("resent", "retransmitted", f"{own}.retransmissions / {sent}", "less")
    yield _measure("marked", "marked", f"{own}.marked_packets / {sent}", "neither")
    if network.transfers:
        done = f"transfers.{STACK}"
        yield _measure("file_mean", "completion, mean", f"{done}.mean_completion", "less")
        yield _measure("file_max", "completion, last", f"{done}.max_completion", "less",
                       headline=True)  # fmt: skip
    for rival in network.rivals:
        of = f'{own}.goodput / ({own}.goodput + groups."{rival}".goodput)'
        yield _measure("share", "share of both", of, "neither", rival, headline=True)
    for ping in network.pings:
        rtt = f'round_trips."{ping}"'
        yield _measure("ping_p50", "ping, median", f"{rtt}.p50_rtt", "less", ping)
        yield _measure("ping_p95", "ping, 95 %", f"{rtt}.p95_rtt", "less", ping, headline=True)
        yield _measure("ping_loss", "pings lost", f"{rtt}.loss_ratio", "less", ping)


def _measure(
    key: str, words: str, text: str, better: Any, part: str = "", *, headline: bool = False
) -> Measure:
    name = f"{key}.{part}" if part else key
    quantity = read(text, "quantity").called(name)
    metric = Metric(quantity=text, words=words, better=better, headline=headline)
    return Measure(name, words, part, quantity, metric)
