"""Mechanisms as Python functions, made from the engine's own definitions.

`forebay.queue.red(min_threshold="20 packets", ...)` has the signature, defaults and documentation
of the mechanism `red` in the category `queue` of the catalogue. The same for every category:
`queue`, `conditioner`, `shaper`, `admission`, `termination`, `fairness`, `traffic`, `sizes`,
`control`, `detector`, `explicit_rate`, `impairment`, `activity`, `pace`, `adaptation`.
`forebay.tcp` and the like hold the parameters of a transport, `forebay.policing` those of policing.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from forebay.errors import nearest
from forebay.scenario.catalogue import Field, Page, catalogue
from forebay.scenario.notebook import mechanism_html

__all__ = [
    "Category",
    "Mechanism",
    "annotation",
    "key_annotation",
    "named",
    "names",
    "plain",
]


class Mechanism:
    """A mechanism with its parameters: what a scenario writes as `{ name = { ... } }`."""

    def __init__(self, kind: str, name: str, parameters: Mapping[str, Any]) -> None:
        self.kind = kind
        self.name = name
        self.parameters = dict(parameters)

    def to_dict(self) -> dict[str, Any]:
        """As a scenario holds it."""
        return {self.name: plain(self.parameters)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.name, repr(sorted(self.parameters.items()))))

    def _repr_html_(self) -> str:
        return mechanism_html(self.kind, self.name, self.parameters)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.kind}.{self.name}({given})"


class Category:
    """The mechanisms of one category, as functions; those that are loaded later as well."""

    def __init__(self, name: str, contract: str, pages: Mapping[str, Page]) -> None:
        self.__name__ = name
        self.__doc__ = f"{contract}\n\n" + "\n".join(
            f"- `{page.name}`: {page.summary}" for page in pages.values()
        )

    @property
    def _pages(self) -> dict[str, Page]:
        found = (each.pages for each in catalogue().categories if each.name == self.__name__)
        return {page.name: page for pages in found for page in pages}

    def __getattr__(self, name: str) -> Callable[..., Mechanism]:
        if name.startswith("__"):
            raise AttributeError(name)
        pages = self._pages
        if name not in pages:
            raise AttributeError(
                f"no {self.__name__} {name!r}{nearest(name, pages)}; there are {', '.join(pages)}"
            )
        made = _function(self.__name__, pages[name])
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return list(self._pages)

    def __repr__(self) -> str:
        return f"<{self.__name__}: {', '.join(self._pages)}>"


def named(name: str) -> Category | Callable[..., dict[str, Any]] | None:
    """The category of that name, or a function that holds the parameters of the transport of that
    name (`tcp`, ..) or of `policing`; `None` if there is neither."""
    for found in catalogue().categories:
        if found.name == name:
            return Category(name, found.contract, {page.name: page for page in found.pages})
    page = catalogue().of_flows().get(name)
    return None if page is None else _holder(name, page)


def names() -> list[str]:
    """Every name that `named` knows."""
    return [*(category.name for category in catalogue().categories), *catalogue().of_flows()]


def plain(value: Any) -> Any:
    """A value as TOML can hold it: mechanisms become tables, absent values go."""
    if isinstance(value, Mechanism):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        return str(value)
    return value


def _function(kind: str, page: Page) -> Callable[..., Mechanism]:
    def make(**parameters: Any) -> Mechanism:
        _check(f"{kind}.{page.name}", page, parameters)
        return Mechanism(kind, page.name, parameters)

    _dress(make, f"{kind}.{page.name}", page, Mechanism)
    return make


def _holder(name: str, page: Page) -> Callable[..., dict[str, Any]]:
    def make(**parameters: Any) -> dict[str, Any]:
        _check(name, page, parameters)
        return {key: plain(value) for key, value in parameters.items() if value is not None}

    _dress(make, name, page, dict)
    return make


def _check(name: str, page: Page, parameters: Mapping[str, Any]) -> None:
    """Only names, as for any Python function; the engine checks values."""
    allowed = [field.name for field in page.fields] + list(page.mechanisms)
    for given in parameters:
        if given not in allowed:
            raise TypeError(
                f"{name}() has no parameter {given!r}{nearest(given, allowed)}; there are "
                f"{', '.join(allowed) or 'none'}"
            )
    missing = [field.name for field in page.fields if field.required]
    missing = [field for field in missing if field not in parameters]
    if missing:
        raise TypeError(f"{name}() needs {', '.join(missing)}")


def _dress(make: Any, name: str, page: Page, returns: type) -> None:
    """Give a function the signature and documentation of what it makes."""
    make.__name__ = page.name.rsplit(".", 1)[-1]
    make.__qualname__ = name
    make.__doc__ = _documentation(page)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.required else field.default,
            annotation=annotation(field),
        )
        for field in page.fields
    ]
    parameters += [
        inspect.Parameter(
            key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=key_annotation(page, key)
        )
        for key in page.mechanisms
    ]
    make.__signature__ = inspect.Signature(parameters, return_annotation=returns)


def _documentation(page: Page) -> str:
    lines = [page.summary, ""]
    if page.source:
        lines += [f"Source: {page.source}.", ""]
    for field in page.fields:
        default = "required" if field.required else f"default {field.default_text}"
        about = f"{field.name}: {field.meaning} ({field.takes}; {default})"
        lines += textwrap.wrap(about, 92, subsequent_indent="    ")
        for word, meaning in zip(field.choices, field.choice_meanings, strict=True):
            lines += textwrap.wrap(f"    {word}: {meaning}", 92, subsequent_indent="        ")
    for key in page.mechanisms:
        inner = _inner(page, key)
        if inner is not None:
            allowed = ", ".join(field.name for field in inner.fields)
            about = f"{key}: {inner.summary} Each: {allowed}. (default -)"
            lines += textwrap.wrap(about, 92, subsequent_indent="    ")
    return "\n".join(lines)


def _inner(page: Page, key: str) -> Page | None:
    """The page of a list of tables that stands under `key` of a section, if such a list does."""
    return next((p for p in catalogue().sections if p.name == f"{page.name}.{key}[]"), None)


def key_annotation(page: Page, key: str) -> str:
    """The Python type of what stands under a key of a section that is no plain parameter."""
    if _inner(page, key) is not None:
        return "Sequence[Mapping[str, Any]]"
    if any(section.name == f"{page.name}.{key}" for section in catalogue().sections):
        return "Mapping[str, Any]"
    return "Mechanism"


def annotation(field: Field) -> str:
    """The Python type of a parameter, as a stub writes it."""
    simple = {"whole number": "int", "true or false": "bool", "number": "float"}
    if field.choices:
        one = f"Literal[{', '.join(map(repr, field.choices))}]"
    elif field.mechanism is not None:
        one = "Mechanism | Mapping[str, Any] | str"
    elif field.kind.startswith("codepoint"):
        one = "str | int | Sequence[str | int]" if "a list" in field.kind else "str | int"
    elif field.kind.startswith(("rule", "table")):
        one = "Mapping[str, Any]"
    else:
        one = simple.get(field.kind, "str")
    return f"Sequence[{one}]" if field.list else one
