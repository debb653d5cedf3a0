"""Compute what vectors expect, by models in exact arithmetic.

    python validation/vectors/derive/derive.py            # which files differ
    python validation/vectors/derive/derive.py --write    # write what those are to expect

States are asked for by their instants and names in `expected.state`; departures are listed where
the file has the key. A mechanism without a model here has vectors computed by hand.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from bbr3 import expected_of_bbr3
from cake import Cake
from cobalt import Cobalt
from codel import CoDel
from control import CONTROLS, expected_of_control
from dualpi2 import DualPi2
from fq_codel import FqCoDel
from fq_pie import FqPie
from gred import Gred
from link import Case, Log, Model, read, run
from pie import Pie
from schedulers import SCHEDULERS
from sfq import Sfq
from shapers import Htb, Tbf
from sharing import SHARINGS, expected_of_memory
from tcp_episodes import expected_of_sender

FOLDER = Path(__file__).resolve().parents[1]

MODELS: dict[str, Callable[[Case, Log], Model]] = {
    "cake": lambda case, log: Cake(case.parameters, case.link_bps, log),
    "cobalt": lambda case, log: Cobalt(case.parameters, case.link_bps, log),
    "codel": lambda case, log: CoDel(case.parameters, log),
    "dualpi2": lambda case, log: DualPi2(case.parameters, log),
    "fq_codel": lambda case, log: FqCoDel(case.parameters, log),
    "fq_pie": lambda case, log: FqPie(case.parameters, log),
    "gred": lambda case, log: Gred(case.parameters, case.link_bps, log),
    "htb": lambda case, log: Htb(case.parameters, log),
    "pie": lambda case, log: Pie(case.parameters, log),
    "sfq": lambda case, log: Sfq(case.parameters, log),
    "tbf": lambda case, log: Tbf(case.parameters, case.link_bps, log),
}


def scheduler(case: Case, log: Log) -> Model:
    """A scheduler with classes."""
    return SCHEDULERS[case.mechanism](case.parameters, case.link_bps, log)


MODELS |= dict.fromkeys(SCHEDULERS, scheduler)

# Congestion controls that work with samples of delivery rates.
SAMPLED = {"bbr3": expected_of_bbr3}

# Whole senders.
SENDERS = {"tcp": expected_of_sender}

# Memories of switches.
MEMORIES = dict.fromkeys(SHARINGS, expected_of_memory)


def paths() -> list[Path]:
    """The vectors of which a model computes the numbers."""
    known = {*MODELS, *CONTROLS, *SAMPLED, *SENDERS, *MEMORIES}
    return sorted(path for path in FOLDER.glob("*/*.toml") if path.parent.name in known)


def expected(path: Path) -> dict[str, Any]:
    """Returns the expectation of a vector that the model of its mechanism has, in the form of the
    file."""
    if path.parent.name in SENDERS:
        return SENDERS[path.parent.name](path)
    if path.parent.name in MEMORIES:
        return MEMORIES[path.parent.name](path)
    if path.parent.name in {*CONTROLS, *SAMPLED}:
        states = SAMPLED.get(path.parent.name, expected_of_control)(path)["state"]
        return {"state": [{name: plain(x) for name, x in row.items()} for row in states]}
    case, log = read(path), Log()
    outcome = run(case, MODELS[case.mechanism](case, log), log)
    written = tomllib.loads(path.read_text())["expected"]
    lists = {key: rows for key, rows in outcome.items() if rows and key != "departures"}
    if "departures" in written:
        lists = {"departures": outcome["departures"], **lists}
    if "state" in lists:
        lists["state"] = [{name: plain(x) for name, x in row.items()} for row in lists["state"]]
    return lists


def plain(value: Fraction | int) -> int | float:
    """A number of a file."""
    return int(value) if value == int(value) else float(value)


def section(lists: dict[str, Any]) -> str:
    """The section `expected`."""
    lines = ["[expected]"]
    for key, rows in lists.items():
        lines += [f"{key} = [", *(wrapped(key, rows)), "]"]
    return "\n".join(lines) + "\n"


def wrapped(key: str, rows: list[Any]) -> Iterator[str]:
    """The rows of a list, several to a line."""
    if key == "episodes":
        yield from (f'"""\n{text}""",' for text in rows)
        return
    if key == "state":
        for row in rows:
            yield from states(row)
        return
    if key == "held":
        yield from (f"  {row}," for row in rows)
        return
    if key == "taken":
        yield f"  {', '.join(map(str, rows))},"
        return
    line = " "
    for row in rows:
        text = " [" + ", ".join(f'"{x}"' if isinstance(x, str) else str(x) for x in row) + "],"
        if len(line) + len(text) > 100:
            yield line
            line = " "
        line += text
    yield line


def states(row: dict[str, Any]) -> Iterator[str]:
    """The rows of a state: an inline table may not be broken, so a long one becomes several."""
    start = f"  {{ at_ns = {row['at_ns']}"
    line = start
    for name, value in row.items():
        item = f", {quoted(name)} = {value}"
        if len(line) + len(item) > 96:
            yield line + " },"
            line = start
        line += item if name != "at_ns" else ""
    yield line + " },"


def quoted(name: str) -> str:
    """A key of TOML."""
    return f'"{name}"' if "." in name else name


def main() -> int:
    """Compare, or write."""
    status = 0
    for path in paths():
        found, text = expected(path), path.read_text()
        if tomllib.loads(text)["expected"] == found:
            continue
        status = 1
        sys.stdout.write(f"{path.relative_to(FOLDER)} differs\n")
        if "--write" in sys.argv:
            path.write_text(text[: text.index("[expected]")] + section(found))
    return status


if __name__ == "__main__":
    sys.exit(main())
