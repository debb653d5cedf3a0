"""Values as TOML writes them on one line, for `PATH=VALUE` assignments."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["inline"]


def inline(value: Any) -> str:
    """`value` on one line: a number, a string, a truth value, or lists and tables of these.

    JSON's forms of all but tables are TOML's. Raises `TypeError` for what neither can write.
    """
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {inline(entry)}" for key, entry in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)
