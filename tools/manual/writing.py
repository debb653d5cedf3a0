"""Values, settings and calls, written as a scenario file and as Python have them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from forebay.scenario.catalogue import Page

__all__ = ["call", "parameters", "setting", "toml"]


def setting(page: Page, given: Mapping[str, Any]) -> list[str]:
    """A line of a scenario file, or a section where the line would be long."""
    one = f"{page.kind} = {toml({page.name: given})}"
    if len(one) <= 100:
        return [one]
    rows = [f"[{page.kind}.{page.name}]"]
    for name, value in given.items():
        row = f"{name} = {toml(value)}"
        if len(row) > 100 and isinstance(value, list):
            rows += [f"{name} = [", *(f"  {toml(item)}," for item in value), "]"]
        else:
            rows.append(row)
    return rows


def call(page: Page, given: Mapping[str, Any]) -> list[str]:
    """A call, broken as `ruff format` breaks it."""
    shown = [f"{name}={_python(value)}" for name, value in given.items()]
    one = f"{page.kind}.{page.name}({', '.join(shown)})"
    if len(one) <= 100:
        return [one]
    rows = [f"{page.kind}.{page.name}("]
    for name, value in given.items():
        rows += _broken(f"    {name}=", value)
    return [*rows, ")"]


def _broken(head: str, value: Any) -> list[str]:
    """An item of a list, a dictionary or a call behind `head`: several lines where it is long."""
    one = f"{head}{_python(value)},"
    if len(one) <= 100 or not isinstance(value, list | dict):
        return [one]
    indent = " " * (len(head) - len(head.lstrip()))
    deeper = f"{indent}    "
    if isinstance(value, list):
        opening, closing = "[", "]"
        rows = [_broken(deeper, item) for item in value]
    else:
        opening, closing = "{", "}"
        rows = [_broken(f"{deeper}{_python(key)}: ", item) for key, item in value.items()]
    return [f"{head}{opening}", *(line for row in rows for line in row), f"{indent}{closing},"]


def parameters(page: Page) -> dict[str, Any]:
    """Parameters with which a mechanism works."""
    return tomllib.loads(page.example)


def toml(value: Any) -> str:
    """A value as a scenario file has it, in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {toml(v)}' for k, v in value.items())} }}" if value else "{}"
    return repr(value)


def _python(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_python(k)}: {_python(v)}' for k, v in value.items())}}}"
    return repr(value)
