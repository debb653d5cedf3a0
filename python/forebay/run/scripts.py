"""Scripts of packets that hold the model of TCP to its standards."""

# ruff: noqa: PLC0415 (slow to import, seldom needed)

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import UserError
from forebay.run.jobs import native

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["run_script", "script_language"]


def run_script(text: str, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Run a script, which messages call `name`; what came of it.

    `overrides` are `KEY=VALUE` assignments that count more than the lines at its head. Keys:
    `name`; `role`, the end of the connection that it tests; `purpose` and `claims` (`rfc`,
    `section`, `text`) of its first comment; `passed`; `checks`, the number of packets and
    assertions compared; `difference`, lines that were expected behind `-` and seen behind `+`.
    Raises `UserError` if it cannot be read or asks for what the model does not have.
    """
    import json

    engine = native()
    try:
        document: dict[str, Any] = json.loads(engine.tcp_script(text, name, list(overrides)))
    except engine.ScriptError as error:
        raise UserError(str(error)) from None
    return document


def script_language() -> dict[str, Any]:
    """Language of scripts, besides packets.

    Keys: `ignored`, by kind, each a `what` and a `why`; `names`, the quantities that assertions can
    name, each a `name` and a `meaning`; `constants`.
    """
    import json

    language: dict[str, Any] = json.loads(native().tcp_script_language())
    return language
