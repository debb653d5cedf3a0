"""The command `linux`: a scenario as a shell script of ip, tc and sysctl."""

from __future__ import annotations

import re
from pathlib import Path

from forebay.cli.terminal import print_json
from forebay.errors import UserError
from forebay.linux.script import link_script, network_script
from forebay.run.jobs import check, load

__all__ = ["print_script"]


def print_script(
    scenario: Path | str,
    overrides: list[str],
    link: str | None,
    dev: str | None,
    allow: list[str],
    out: Path | None,
    as_json: bool,
) -> None:
    """`forebay linux`: prints the script, or raises `UserError` with a key path."""
    if (link is None) != (dev is None):
        raise UserError("--link, --dev: a link needs its device, and a device its link")
    # Linux's names are 15 characters at most; nothing that a shell acts upon may be among them.
    if dev is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}", dev):
        raise UserError(f'--dev: "{dev}"; allowed is the name of a device, such as eth0')
    values = check(load(scenario).but(overrides=overrides))["resolved"]
    if link is not None and dev is not None:
        script, remarks = link_script(values, link, dev, allow)
    else:
        script, remarks = network_script(values, allow)
    if out is not None:
        out.write_text(script, encoding="utf-8")
    if as_json:
        print_json(
            {"script": script, "notes": remarks.notes, "approximations": remarks.approximations}
        )
    elif out is None:
        print(script, end="")
