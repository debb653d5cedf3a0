"""Checks of one law: whether it is documented, keeps what must hold in any run, repeats itself, and
shares nothing."""

from __future__ import annotations

import csv
import json
import math
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from forebay.battery.places import Place, halves, main_place, parameter_place, places_of
from forebay.battery.runs import Bench, Outcome
from forebay.battery.values import changes, shown
from forebay.run.laws import near
from forebay.run.repeat import quoted

__all__ = ["Check", "Examination"]

NOT_REPEATED = "result-unwatched"
"""The invariant that a run which differs when it is repeated breaks."""

REPLICATIONS = 6
"""Number of replications that go side by side."""

MANY = 20_000
"""Packets that a run with an extreme parameter may send: traffic may have any rate."""

SOON = 10.0
"""Seconds that such a run may take."""

SENT_MUCH = ("its sources sent more than", "it took longer than")
"""Words of the engine on a run that sent more packets than it may, or wrote more to TCP."""

FAULTS_SHOWN = 3
"""Maximum number of faults of one check that are told."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a law: its name, what came of it in a line, the numbers behind that, and for one
    that failed the command that repeats it. `passed` is `None` for one that was not made."""

    name: str
    passed: bool | None
    told: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    repeat: str | None = None


class Examination:
    """The checks of one law. `law` is what `forebay.laws.Law` says of it, `page` its entry in
    the engine's catalogue, `pattern` which checks are made: those whose `LAW/CHECK` it matches."""

    def __init__(
        self, law: Mapping[str, Any], page: Mapping[str, Any], bench: Bench, pattern: str = "*"
    ) -> None:
        self.law = law
        self.page = page
        self.bench = bench
        self.pattern = pattern
        self.category: str = law["category"]
        self.name: str = law["name"]
        self.example: dict[str, Any] = {}
        self.accepted: dict[str, dict[str, Any]] = {}
        self._unrepeated: list[str] = []
        self._repeated = 0
        self._main = Outcome()

    def checks(self) -> Iterator[Check]:
        """All checks, one after the other as they are made."""
        table = self._table()
        if self._wants("table"):
            yield table
        if table.passed is False and not self.example and self.page["example"].strip():
            return
        yield from self._places()
        if self._main.document is None:
            for name in ("parameters", "repeats", "instances", "threads", "probes"):
                if self._wants(name):
                    yield Check(name, None, "not made: its example does not run")
            return
        yield from self._made("limit", self._limit)
        yield from self._made("parameters", self._parameters)
        yield from self._made("repeats", self._repeats)
        yield from self._made("interpreted", self._interpreted)
        yield from self._made("instances", self._instances)
        yield from self._made("threads", self._threads)
        yield from self._made("probes", self._probes)
        yield from self._made("cost", self._cost)

    def _wants(self, check: str) -> bool:
        return fnmatchcase(f"{self.name}/{check}", self.pattern)

    def _made(self, name: str, make: Callable[[], Check | None]) -> Iterator[Check]:
        if self._wants(name):
            check = make()
            if check is not None:
                yield check

    def _again(self, check: str) -> str:
        """The command that makes one check again."""
        file, *options = self.bench.laws()[1:]
        words = ["forebay", "law-check", file, "--checks", f"{self.name}/{check}"]
        return quoted([*words, *options])

    def section(self, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The law as a scenario chooses it, by default with the parameters of its example."""
        given = dict(self.example if parameters is None else parameters)
        if self.is_scheduler and "classes" not in given:
            given["classes"] = [{"droptail": {"limit": "20 packets"}}] * 2
        return {self.name: given}

    @property
    def is_scheduler(self) -> bool:
        """Returns true if it takes classes."""
        found = (field for field in self.page["fields"] if field["name"] == "classes")
        return any(field["kind"].startswith("queue such as") for field in found)

    def _own_fields(self) -> list[Mapping[str, Any]]:
        """The parameters without those of schedulers, which are the engine's."""
        shared = self.page.get("shared", ()) if self.is_scheduler else ()
        return [field for field in self.page["fields"] if field["name"] not in shared]

    # ---- What its table says ------------------------------------------------------------------

    def _table(self) -> Check:
        """The table of the law: it can be read by people, and its example by the engine."""
        faults = []
        for what in (*self._own_fields(), *self.page["probes"]):
            if not what["meaning"].strip():
                faults.append(f"{what['name']} has no meaning")
        faults += [f"{probe['name']} has no unit" for probe in self.page["probes"]
                   if not probe["unit"].strip()]  # fmt: skip
        if not self.page["summary"].strip():
            faults.append("it has no summary")
        try:
            self.example = tomllib.loads(self.page["example"])
        except tomllib.TOMLDecodeError as error:
            faults.append(f"its example is not TOML: {error}")
        told = f"{_count(len(self._own_fields()), 'parameter')}, "
        told += _count(len(self.page["probes"]), "probe")
        if self.page["source"] in ("", "-"):
            told += "; no source is named"
        if faults:
            return Check("table", False, _few(faults), {"faults": faults}, self._shown())
        return Check("table", True, told)

    def _shown(self) -> str:
        words = ["forebay", "mechanisms", f"{self.category}.{self.name}"]
        return quoted([*words, "--laws", near(self.bench.path)])

    # ---- Networks -----------------------------------------------------------------------------

    def _places(self) -> Iterator[Check]:
        """Runs in all places of its category, checked against all invariants."""
        names = {field["name"] for field in self.page["fields"]}
        marking = self.section({**self.example, "ecn": True}) if "ecn" in names else None
        found = places_of(self.category, self.section(), self.is_scheduler, marking)
        first = [place for number, place in enumerate(found) if not number]
        wanted = [place for place in found if self._wants(place.name)]
        made = list({place.name: place for place in (*first, *wanted)}.values())
        outcomes = self.bench.run([self.bench.job(each.scenario, check=True) for each in made])
        checks = [self._place(*pair) for pair in zip(made, outcomes, strict=True)]
        # A run that breaks an invariant continues where that is not looked for.
        broken = _broken(outcomes[0].reason)
        self._main = self._alone(made[0]) if broken else outcomes[0]
        yield from (check for check in checks if self._wants(check.name))

    def _alone(self, place: Place) -> Outcome:
        """A run that breaks an invariant, without looking for that; none if it ends early."""
        return self.bench.run([self.bench.job(place.scenario)])[0]

    def _place(self, place: Place, outcome: Outcome) -> Check:
        document = outcome.document
        if document is not None:
            self._repeated += 1
            return self._counted(place, outcome)
        if self.category == "traffic" and outcome.refused and "udp" in place.name:
            return Check(place.name, True, f"refused: {outcome.reason}")
        broken = _broken(outcome.reason)
        if broken == [NOT_REPEATED]:
            self._unrepeated.append(place.name)
            return Check(place.name, True, f"{place.about}: holds, and does not repeat itself")
        repeat = self.bench.keep(f"{self.name}-{place.name}", place.scenario, "--check")
        told = f"{place.about}: {_in_line(outcome.reason)}"
        return Check(place.name, False, told, {"broken": broken}, repeat)

    def _counted(self, place: Place, outcome: Outcome) -> Check:
        row = outcome.link(place.link)
        arrived, departed = sum(row["arrived_packets"]), sum(row["departed_packets"])
        numbers = {"arrived": arrived, "departed": departed, "dropped": row["drops"],
                   "marked": row["marks"], "max_queue": row["max_queue_packets"]}  # fmt: skip
        told = f"{place.about}: {arrived:,} packets, {row['drops']:,} dropped"
        if row["marks"]:
            told += f", {row['marks']:,} marked"
        left = arrived - departed - row["drops"]
        if place.empties and left:
            repeat = self.bench.keep(f"{self.name}-{place.name}", place.scenario)
            told = f"{place.about}: {left:,} of {arrived:,} packets wait for ever"
            return Check(place.name, False, told, {**numbers, "left": left}, repeat)
        return Check(place.name, True, told, numbers)

    def _limit(self) -> Check | None:
        """A queue holds no more than its parameter `limit` says."""
        fields = [field for field in self.page["fields"] if field["name"] == "limit"]
        if self.category != "queue" or not fields or "length" not in fields[0]["kind"]:
            return None
        limits = {"7 packets": 7, "4000 B": 4}
        found = []
        for limit, most in limits.items():
            law = self.section({**self.example, "limit": limit})
            place = main_place(self.category, law)
            flow = {"from": "s", "to": "b", "udp": {},
                    "traffic": {"cbr": {"rate": "10 Mbit/s", "size": "1000 B"}}}  # fmt: skip
            scenario = {**place.scenario, "flows": {"load": flow}, "duration": "1 s"}
            outcome = self.bench.run([self.bench.job(scenario)])[0]
            if outcome.document is None:
                # What must be in the unit of the limit, or below it, is another's to choose.
                if outcome.refused:
                    continue
                repeat = self.bench.keep(f"{self.name}-limit", scenario)
                return Check("limit", False, f"{limit}: {_in_line(outcome.reason)}", {}, repeat)
            held = outcome.link(place.link)["max_queue_packets"]
            found.append(f"{held} packets of 1000 B with {limit}")
            if held > most:
                repeat = self.bench.keep(f"{self.name}-limit", scenario)
                numbers = {"limit": limit, "held": held}
                return Check("limit", False, f"holds {found[-1]}", numbers, repeat)
        return Check("limit", True, f"holds {', '.join(found)}" if found else "refuses others")

    # ---- Parameters ---------------------------------------------------------------------------

    def _parameters(self) -> Check:
        """Extreme values of parameters are refused by their key, or survived."""
        plain = [(None, None, self.example), *changes(self._own_fields(), self.example)]
        udp = self.category == "traffic" and self._is_for_udp()
        scenarios = [
            parameter_place(self.category, self.section(given), udp).scenario for *_, given in plain
        ]
        limits = {"max_packets": MANY, "timeout": SOON}
        jobs = [self.bench.job(each, check=True, **limits) for each in scenarios]
        outcomes = self.bench.run(jobs)
        refused, faults, kept = 0, [], ""
        for (name, value, given), scenario, outcome in zip(plain, scenarios, outcomes, strict=True):
            if outcome.document is not None:
                if name is not None and outcome.digest != outcomes[0].digest:
                    self.accepted[name] = given
                continue
            fault = _fault_of(outcome)
            if self.category == "traffic" and any(words in fault for words in SENT_MUCH):
                continue
            if not fault:
                refused += 1
                continue
            told = "the example" if name is None else shown(name, value)
            faults.append(f"{told}: {fault}")
            kept = kept or self.bench.keep(f"{self.name}-parameters", scenario, "--check")
        numbers = {"values": len(plain) - 1, "refused": refused, "faults": faults}
        if faults:
            return Check("parameters", False, _few(faults), numbers, kept)
        told = f"{_count(len(plain) - 1, 'value')}: {refused} refused by key, the others run"
        return Check("parameters", True, told, numbers)

    def _is_for_udp(self) -> bool:
        """Returns true if traffic can be sent by UDP, with the parameters of its example."""
        place = parameter_place(self.category, self.section(), udp=True)
        return not self.bench.run([self.bench.job(place.scenario)])[0].refused

    # ---- Repetition ---------------------------------------------------------------------------

    def _repeats(self) -> Check:
        """The same run gives the same, again, in other processes, on two threads."""
        job = self.bench.job(main_place(self.category, self.section()).scenario)
        first = self.bench.run([job, job, job.but(threads=2)], fresh={"PYTHONHASHSEED": "1"})
        second = self.bench.run([job], fresh={"PYTHONHASHSEED": "2"})
        ways = {"again": first[1], "on two threads": first[2], "in another process": second[0],
                "in a third process": self._main}  # fmt: skip
        expected = first[0].digest
        faults = [
            f"{way}: {_digest(outcome)} instead of {expected or _digest(first[0])}"
            for way, outcome in ways.items()
            if not expected or outcome.digest != expected
        ]
        if self._unrepeated:
            places = _list(self._unrepeated)
            faults.append(f"observed, in the same process: another result in {places}")
        digests = {way: outcome.digest for way, outcome in ways.items()}
        numbers = {"digest": expected, **digests, "unrepeated": self._unrepeated}
        if faults:
            return Check("repeats", False, _few(faults), numbers, self._again("repeats"))
        divided = first[2].document is not None and first[2].document["regions"] > 1
        told = f"digest {expected} again, observed, in 3 processes"
        told += ", on 2 threads" if divided else ""
        return Check("repeats", True, told, numbers)

    def _interpreted(self) -> Check | None:
        """A law in Python gives the same interpreted as compiled."""
        ran_as = self.law["ran_as"]
        if not self.law["file"].endswith(".py"):
            return None
        if ran_as == "python":
            return Check("interpreted", None, "interpreted alone: nothing to compare")
        scenarios = [
            place.scenario for place in places_of(self.category, self.section(), self.is_scheduler)
        ][:4]
        jobs = [self.bench.job(scenario) for scenario in scenarios]
        compiled = self.bench.run(jobs)
        interpreted = self.bench.run(jobs, fresh={"FOREBAY_LAWS_COMPILE": "no"})
        for scenario, one, other in zip(scenarios, compiled, interpreted, strict=True):
            if one.digest != other.digest or not one.digest:
                told = f"{_digest(one)} compiled, {_digest(other)} interpreted"
                self.bench.keep(f"{self.name}-interpreted", scenario)
                return Check("interpreted", False, told, {}, self._again("interpreted"))
        told = f"{_count(len(jobs), 'run')} with the same digests as under {ran_as}"
        return Check("interpreted", True, told)

    def _instances(self) -> Check:
        """Two of it in one network, with other parameters, do what each does alone."""
        if not self.accepted:
            self._parameters()
        others = [*self.accepted.values(), self.example]
        networks = [
            halves(self.category, (self.section(), self.section(other))) for other in others
        ]
        jobs = [self.bench.job(each) for network in networks for each in network]
        outcomes = self.bench.run(jobs)
        for number, network in enumerate(networks):
            one, two, both = outcomes[3 * number : 3 * number + 3]
            if two.document is None and number < len(networks) - 1:
                # Accepted for as long as parameters were tried.
                continue
            fault, numbers = _difference(one, two, both)
            if fault:
                self.bench.keep(f"{self.name}-instances", network[2])
                return Check("instances", False, fault, numbers, self._again("instances"))
        how = "equal parameters"
        if self.accepted:
            how = f"other values of {_list(list(self.accepted))}"
        return Check("instances", True, f"two in one network, with {how}, as each alone")

    def _threads(self) -> Check:
        """Replications that go side by side in threads give what each gives alone."""
        scenario = main_place(self.category, self.section()).scenario
        numbers = range(REPLICATIONS)
        alone = self.bench.run([self.bench.job(scenario, replication=each) for each in numbers])
        options = ("--replications", str(REPLICATIONS), "--threads", "4")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scenario.toml"
            path.write_text(self.bench.job(scenario).text, encoding="utf-8")
            ran = self.bench.command(["run", str(path), *options, "--json"])
        repeat = self._again("threads")
        if ran.status:
            return Check("threads", False, _in_line(ran.said), {}, repeat)
        rows = json.loads(ran.output)["replications"]
        beside = {row["replication"]: row["digest"] for row in rows}
        for number, outcome in zip(numbers, alone, strict=True):
            if outcome.digest != beside.get(number):
                told = f"{_digest(outcome)} alone, {beside.get(number)} beside others"
                return Check("threads", False, f"replication {number}: {told}", {}, repeat)
        return Check("threads", True, f"{REPLICATIONS} replications side by side, as each alone")

    # ---- What is shown ------------------------------------------------------------------------

    def _probes(self) -> Check | None:
        """Series show the probes, as numbers, and showing them changes nothing."""
        names = [probe["name"] for probe in self.page["probes"]]
        scenario = main_place(self.category, self.section()).scenario
        plain = self.bench.run([self.bench.job(scenario)])[0]
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "scenario.toml", Path(folder) / "out"
            observed = {**scenario, "record": {"series": "100 ms"}}
            path.write_text(self.bench.job(observed).text, encoding="utf-8")
            words = ["run", str(path), "--out", str(out), "--format", "csv", "--json"]
            ran = self.bench.command(words)
            seen = _series(out / "tables" / "series", names) if not ran.status else {}
        if ran.status:
            repeat = self.bench.keep(f"{self.name}-probes", observed)
            return Check("probes", False, _in_line(ran.said), {}, repeat)
        digest = json.loads(ran.output)["digest"]
        faults = []
        if digest != plain.digest:
            faults.append(f"{digest} with series, {_digest(plain)} without")
        for probe in self.page["probes"]:
            values = seen.get(probe["name"], [])
            finite = [value for value in values if math.isfinite(value)]
            if not values and not self.is_scheduler:
                faults.append(f"no series has {probe['name']}")
            elif len(finite) < len(values) and probe["unit"] != "s":
                faults.append(f"{probe['name']} is no number in {len(values) - len(finite)} of "
                              f"{len(values)} samples")  # fmt: skip
        if faults:
            repeat = self.bench.keep(f"{self.name}-probes", observed, "--out", "out/probes")
            return Check("probes", False, _few(faults), {"faults": faults}, repeat)
        ranges = {name: [min(seen[name]), max(seen[name])] for name in names if seen.get(name)}
        told = [f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in ranges.items()]
        return Check("probes", True, _few(told) or "none, and series change nothing", ranges)

    def _cost(self) -> Check:
        """The time that it takes: for information, as that depends on the machine."""
        scenario = {**main_place(self.category, self.section()).scenario, "duration": "20 s"}
        jobs = [self.bench.job(scenario)] * 3
        outcomes = [each for each in self.bench.run(jobs, fresh={}) if each.document is not None]
        if not outcomes:
            return Check("cost", None, "not measured: 20 s of its example do not run")
        facts = [each.document for each in outcomes if each.document is not None]
        seconds = min(fact["wall_s"] - fact["setup_s"] for fact in facts)
        hops = max(1, facts[0]["packet_hops"])
        told = f"{seconds / hops * 1e9:,.0f} ns for each packet and link, all of the run, "
        told += f"{'interpreted' if self.law['ran_as'] == 'python' else self.law['ran_as']}"
        return Check("cost", None, told, {"seconds": seconds, "packet_hops": hops})


def _fault_of(outcome: Outcome) -> str:
    """What is wrong with how a run ended that did not finish; empty if the scenario was refused by
    a key, with a reason."""
    if not outcome.refused:
        return _in_line(outcome.reason)
    silent = ("its create returned", "it failed, and says nothing")
    if any(words in outcome.reason for words in silent):
        return f"refused without a reason: {_in_line(outcome.reason)}"
    return ""


def _broken(reason: str) -> list[str]:
    """The names of the invariants that a checked run broke."""
    lines = [line for line in reason.splitlines() if line.startswith("  ")]
    return [line.split()[0] for line in lines if not line.startswith("   ")]


def _in_line(reason: str) -> str:
    """A reason on one line, without the sentences that explain invariants."""
    lines = [line.strip() for line in reason.splitlines()]
    return " ".join(line for line in lines if not line.startswith("("))


def _digest(outcome: Outcome) -> str:
    return outcome.digest or f"no result ({_in_line(outcome.reason)})"


def _difference(one: Outcome, two: Outcome, both: Outcome) -> tuple[str, dict[str, Any]]:
    """The first difference between two networks that share nothing, alone and in one scenario;
    empty if there is none."""
    if one.document is None or two.document is None or both.document is None:
        ended = next(each for each in (one, two, both) if each.document is None)
        return _in_line(ended.reason), {}
    alone = [*_rows(one.document), *_rows(two.document)]
    for row, beside in zip(sorted(alone), sorted(_rows(both.document)), strict=True):
        if row != beside:
            kind, name, text = row
            was, now = json.loads(text), json.loads(beside[2])
            key = next(key for key in was if was[key] != now.get(key))
            told = f"{key} of {name} is {was[key]} alone, and {now[key]} beside another"
            return told, {"place": f"{kind}.{name}", "alone": was[key], "beside": now[key]}
    return "", {}


def _rows(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The rows of flows and links of a run, as they can be compared."""
    return [
        (kind, row["name"], json.dumps(row, sort_keys=True))
        for kind in ("flows", "links")
        for row in document[kind]
    ]


def _series(folder: Path, names: Sequence[str]) -> dict[str, list[float]]:
    """The values of probes in the series of a run: of each flow and class where there are some."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for column, value in row.items():
                    for name in set(names) & {column, *column.split(".")}:
                        found.setdefault(name, []).append(float(value or "nan"))
    return found


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _list(words: Sequence[str]) -> str:
    return ", ".join(words)


def _few(faults: Sequence[str]) -> str:
    """The first faults, and how many there are besides."""
    more = len(faults) - FAULTS_SHOWN
    return "; ".join(faults[:FAULTS_SHOWN]) + (f"; and {more} more" if more > 0 else "")
