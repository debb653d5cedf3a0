"""A scenario in which every mechanism of the catalogue occurs."""

from __future__ import annotations

from typing import Any

from forebay.scenario.catalogue import catalogue
from manual.writing import parameters, toml

__all__ = ["everything"]

CBR = {"cbr": {"rate": "5 Mbit/s", "size": "500 B"}}
OVERFLOWING = {
    "rate": "100 Mbit/s",
    "delay": "100 us",
    "queue": {"droptail": {"limit": "5 packets"}},
}
"""A link with a short buffer: some controls have bounds only where packets are lost."""
RECORDS = ("adjustments", "calls", "classes", "delays", "jitter", "losses", "paces", "reductions",
           "transfers", "waits")  # fmt: skip
"""Records that are switched on."""


def everything() -> str:
    """A scenario that uses every mechanism once, as its example has it."""
    head = ['duration = "20 ms"', 'hosts.a0.tags = ["some"]']
    record = ["[record]", 'series = "10 ms"', "trace = 100", 'synchronization = "100 ms"']
    record += [f"{name} = true" for name in RECORDS]
    for number, page in enumerate(p for c in catalogue().categories for p in c.pages):
        ends = {"from": f"a{number}", "to": f"b{number}"}
        link: dict[str, Any] = {**ends, "rate": "10 Mbit/s", "tags": ["all"]}
        flow: dict[str, Any] = {**ends, "tags": ["all"]}
        mechanism = {page.name: parameters(page)}
        if page.kind == "traffic":
            flow |= {"traffic": mechanism, "tcp": {}}
        elif page.kind == "sizes":
            transfers = {"transfers": {"rate": "50 /s", "sizes": mechanism}}
            flow |= {"traffic": transfers, "tcp": {}}
        elif page.kind in ("admission", "termination"):
            head.append(f"aggregates.a{number} = {toml({page.kind: mechanism})}")
            voice = {"voice": {"codec": "g711_20ms"}}
            flow |= {"aggregate": f"a{number}", "traffic": voice, "calls": {"initial": 1}}
        elif page.kind == "control":
            link |= OVERFLOWING
            flow |= {"tcp": {"control": mechanism}}
        elif page.kind in ("activity", "pace"):
            # Paced sources need both; their round-trip time is that of the link.
            link |= {"delay": "1 ms"}
            paced: dict[str, Any] = {
                "activity": {"files": {"rate": "500 kbit/s"}},
                page.kind: mechanism,
            }
            policing = {"at": link["from"], "peak": {"rate": "1 Mbit/s"}}
            if "files" in paced["activity"]:
                paced["frames"] = {"payload": "1508 B"}
            flow |= {"paced": paced, "policing": policing, "late_after": "20 ms"}
        elif page.kind == "adaptation":
            flow |= {"media": {"adaptation": mechanism}}
        elif page.kind == "fairness":
            ring = {"stations": [*ends.values(), f"c{number}"], "rate": "622.08 Mbit/s"}
            head.append(f"rings.r{number} = {toml(ring | {'fairness': mechanism})}")
            # A ring and a link join two nodes once: the link leads on.
            link["from"] = f"d{number}"
            flow |= {"traffic": CBR, "udp": {"echo": True}}
        else:
            head += _on_node(page.kind, mechanism, ends["from"])
            link |= _on_link(page.kind, mechanism)
            flow |= {"traffic": CBR, "udp": {}}
            flow |= _between(page.kind, mechanism, ends["from"])
        head += [f"links.l{number} = {toml(link)}", f"flows.f{number} = {toml(flow)}"]
    # Dotted keys belong to the top level: they go before the table.
    return "\n".join([*head, *record]) + "\n"


def _on_node(kind: str, mechanism: dict[str, Any], node: str) -> list[str]:
    """The lines of a mechanism of a node."""
    memory = {"memory": "100 kB", "sharing": mechanism}
    own = {"path": mechanism} if kind == "path" else {}
    fabric = {"fat_tree": {"k": 4}, "rate": "10 Mbit/s", **own}
    if kind in ("path", "pairs"):
        return [f"fabrics.fabric-{node} = {toml(fabric)}"]
    return [f"switches.{node} = {toml(memory)}"] if kind == "sharing" else []


def _between(kind: str, mechanism: dict[str, Any], node: str) -> dict[str, Any]:
    """The keys of flows between the hosts of the fabric that a mechanism needs."""
    fabric: dict[str, Any] = {"from": f"fabric-{node}", "to": f"fabric-{node}"}
    own = {"pairs": mechanism} if kind == "pairs" else {"count": 2}
    return {**fabric, **own} if kind in ("path", "pairs") else {}


def _on_link(kind: str, mechanism: dict[str, Any]) -> dict[str, Any]:
    """The keys of a mechanism of a link."""
    if kind in ("sharing", "path", "pairs"):
        return {}
    # A detector can look at the queue.
    limited = {"queue": {"droptail": {"limit": "20 packets"}}} if kind == "detector" else {}
    return {kind: mechanism, **limited}
