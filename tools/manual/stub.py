"""The type stub of the package, from the mechanisms' own definitions in the engine."""

from __future__ import annotations

from forebay.scenario.catalogue import Catalogue, Field, Page
from forebay.scenario.mechanism import annotation, key_annotation

__all__ = ["stub"]


def stub(known: Catalogue) -> str:
    """The stub of the package: its exports, and every mechanism with its parameters."""
    lines = [
        "# Generated from the engine's definitions by `make docs`; do not edit.",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal",
        "",
        "from forebay.run.results import Results as Results",
        "from forebay.errors import ScenarioWarning as ScenarioWarning",
        "from forebay.errors import UserError as UserError",
        "from forebay.run.plots import style as style",
        "from forebay.scenario.mechanism import Mechanism as Mechanism",
        "from forebay.scenario.network import Network as Network",
        "from forebay.scenario.network import Node as Node",
        "",
        "__version__: str",
    ]
    for category in known.categories:
        lines += ["", f"class _{category.name.capitalize()}:"]
        for page in category.pages:
            lines += _function(page, "Mechanism", method=True)
        if not category.pages:
            lines.append("    ...")
        lines += ["", f"{category.name}: _{category.name.capitalize()}"]
    for page in known.of_flows().values():
        lines += ["", *_function(page, "dict[str, Any]", method=False)]
    return "\n".join(lines) + "\n"


def _function(page: Page, returns: str, method: bool) -> list[str]:
    margin = "    " if method else ""
    name = page.name.rsplit(".", 1)[-1]
    parameters = ["self"] if method else []
    fields = [_parameter(field) for field in page.fields]
    fields += [f"{key}: {key_annotation(page, key)} | None = ..." for key in page.mechanisms]
    if fields:
        parameters += ["*", *fields]
    one = f"{margin}def {name}({', '.join(parameters)}) -> {returns}: ..."
    if len(one) <= 100:
        return [one]
    return [
        f"{margin}def {name}(",
        *(f"{margin}    {parameter}," for parameter in parameters),
        f"{margin}) -> {returns}: ...",
    ]


def _parameter(field: Field) -> str:
    return f"{field.name}: {annotation(field).replace(chr(39), chr(34))}" + (
        "" if field.required else " = ..."
    )
