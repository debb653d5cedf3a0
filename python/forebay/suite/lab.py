"""Links from a suite's page to the lab: the scenario of a cell in the address of the lab's page."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["LAB", "fragment", "scenario_links"]

LAB = "lab.html"
"""The lab's page beside that of the suite, where the installation has one."""

LONGEST = 60_000
"""Most characters of a fragment that the lab reads (`lab/src/fragment.ts`)."""


def fragment(scenario: str) -> str:
    """The fragment of an address with which the lab's page shows the scenario of that text."""
    shared = json.dumps({"text": scenario, "set": [], "replication": 0}).encode()
    packed = zlib.compress(shared, level=9, wbits=-zlib.MAX_WBITS)
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def scenario_links(
    folder: Path, document: Mapping[str, Any], paths: Iterable[str]
) -> dict[str, str]:
    """Addresses of scenarios by their paths in the folder of a suite's results: the lab with the
    scenario in it, or the file where the lab is not there, or has not the law."""
    links = {path: path for path in paths}
    if not (folder / LAB).is_file():
        return links
    own = [re.escape(law["name"]) for law in document.get("laws", ())]
    has_own = re.compile(rf"\b({'|'.join(own)})\b") if own else None
    for path in links:
        try:
            scenario = (folder / path).read_text(encoding="utf-8")
        except OSError:
            continue
        found = fragment(scenario)
        if len(found) <= LONGEST and not (has_own and has_own.search(scenario)):
            links[path] = LAB + found
    return links
