"""Reports on hosts: what each sent, received and read over a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forebay.errors import UserError
from forebay.run.results import Results

__all__ = ["HostReport", "reports"]


@dataclass(frozen=True)
class HostReport:
    """Report on a host over the whole run, warm-up included.

    `sent` and `received` count datagrams, their `_bytes` are without headers of UDP and IP.
    `marked` of the received had CE; `missed` came before the host started, or to an address that it
    had left. Its application read `delivered` bytes, at `goodput_bps` from its start until it
    finished, or to the end. `finished_s` is when it did, and `failed` when and why it could not
    continue. `figures` are the application's own.
    """

    name: str
    nodes: list[str]
    sent: int
    sent_bytes: int
    received: int
    received_bytes: int
    marked: int
    missed: int
    delivered: int
    started_s: float
    finished_s: float | None
    failed: tuple[float, str] | None
    figures: Mapping[str, float]
    goodput_bps: float


def reports(results: Results) -> list[dict[str, HostReport]]:
    """The reports on hosts of each replication, by name: that of the node, with a number from the
    second host there on. Raises `UserError` for results of a network without hosts."""
    return [_reports(document) for document in results.documents]


def _reports(document: Mapping[str, Any]) -> dict[str, HostReport]:
    rows = document.get("stacks")
    if rows is None:
        raise UserError("these results are of a network without stacks (forebay.host.attach)")
    names = HostReport.__annotations__
    found = [HostReport(**{name: row[name] for name in names}) for row in rows]
    return {report.name: report for report in found}
