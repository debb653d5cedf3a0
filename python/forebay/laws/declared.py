"""What a class declares that `forebay.law` decorates: parameters, state, methods, and their texts.

Meanings stand in its docstring, of which the first paragraph is the summary, a line for each name;
lines that are indented deeper continue it. A source of its own stands in brackets at the end, the
unit of a probe in parentheses behind the name, and words of a closed set behind a dot:

    target: Delay that a standing queue may have. [RFC 8289, section 5]
    average (packets): Average queue, by which
        packets are dropped.
    excess.mark: They are marked.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forebay.errors import UserError, nearest
from forebay.laws import types as given
from forebay.laws.checks import check_code
from forebay.laws.numbers import FLAGS, KINDS, Kind

__all__ = ["Declaration", "Declared", "Parameter", "declare"]


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A type of parameters: its number in the interface, and the words that a value takes."""

    number: int
    of_c: str = "i64"
    words: int = 1
    is_text: bool = False


_WORD = ParameterType(4)
_TYPES: dict[Any, ParameterType] = {
    float: ParameterType(1, "f64"),
    int: ParameterType(2),
    bool: ParameterType(3),
    given.Span: ParameterType(5),
    given.Rate: ParameterType(6),
    given.Size: ParameterType(7),
    given.Length: ParameterType(8, words=2),
    given.Frequency: ParameterType(9, "f64"),
    str: ParameterType(10, is_text=True),
}
_PROBE_UNITS: dict[Any, str] = {
    given.Time: "s",
    given.Span: "s",
    given.Size: "bytes",
    given.Rate: "bit/s",
}


@dataclass(frozen=True, slots=True)
class Text:
    """What the docstring says of a name."""

    meaning: str = ""
    source: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. `default` is as a scenario has it, `None` if there is none."""

    name: str
    type: ParameterType
    text: Text
    list: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    choice_meanings: tuple[str, ...] = ()
    default: str | None = None

    @property
    def shows_none(self) -> bool:
        """True if methods see `None` where it is left out."""
        return not self.list and (self.type.is_text or bool(self.choices))


@dataclass(frozen=True, slots=True)
class Remembered:
    """A quantity of the state. `start` is what it begins with: a number, or one for each place."""

    name: str
    of_c: str
    count: int | None
    start: Any
    probe: bool
    unit: str
    is_time: bool
    text: Text


@dataclass(frozen=True, slots=True)
class Declaration:
    """A law as it was declared."""

    kind: str
    name: str
    summary: str
    source: str
    example: str
    flags: int
    parameters: tuple[Parameter, ...]
    quantities: tuple[Remembered, ...]
    methods: Mapping[str, Callable[..., Any]]
    create: Callable[..., Any] | None
    helpers: Mapping[str, Callable[..., Any]]
    of: type
    place: str

    @property
    def about(self) -> Kind:
        """What is known of its kind."""
        return KINDS[self.kind]


@dataclass(slots=True)
class Declared:
    """What `forebay.law` was called with."""

    kind: str
    name: str | None = None
    summary: str | None = None
    source: str = "-"
    example: str = ""
    flags: Mapping[str, bool] = field(default_factory=dict)


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def declare(cls: type, options: Declared, names: Mapping[str, Any], place: str) -> Declaration:
    """What a class declares; `names` are those that its annotations may use besides its module's.

    Raises `UserError`, which begins with `place`, the file and line of the class.
    """
    try:
        return _declare(cls, options, names, place)
    except UserError as error:
        raise UserError(f"{place}: {cls.__name__}: {error}") from None


def _declare(cls: type, options: Declared, names: Mapping[str, Any], place: str) -> Declaration:
    if options.kind not in KINDS:
        raise UserError(
            f'there is no kind "{options.kind}"{nearest(options.kind, KINDS)}; '
            f"kinds are {', '.join(KINDS)}"
        )
    name = options.name or _snake(cls.__name__)
    if not _NAME.fullmatch(name):
        raise UserError(f'"{name}" is no name; allowed are small letters, digits and underscores')
    annotations = _annotations(cls, names)
    texts, paragraph = _texts(cls, annotations)
    parameters, quantities = [], []
    for key, annotation in annotations.items():
        if isinstance(annotation, given.Quantity):
            quantities.append(_quantity(cls, key, annotation, texts))
        else:
            parameters.append(_parameter(cls, key, annotation, texts))
    _check_names(parameters, quantities)
    methods, create, helpers = _methods(cls, options.kind, annotations)
    absent = {each.name for each in parameters if each.optional and not each.shows_none}
    for function in (*methods.values(), *helpers.values(), *filter(None, [create])):
        check_code(function, absent)
    return Declaration(
        kind=options.kind,
        name=name,
        summary=_sentence(options.summary or paragraph or f"The law {name}"),
        source=options.source,
        example=inspect.cleandoc(options.example),
        flags=_flags(options),
        parameters=tuple(parameters),
        quantities=tuple(quantities),
        methods=methods,
        create=create,
        helpers=helpers,
        of=cls,
        place=place,
    )


def _snake(name: str) -> str:
    """`MyCoDel` as `my_co_del`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _annotations(cls: type, names: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of a class and of those that it inherits from, evaluated."""
    found: dict[str, Any] = {}
    for each in reversed(cls.__mro__[:-1]):
        try:
            found |= inspect.get_annotations(each, locals={**names, **vars(each)}, eval_str=True)
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"its annotations cannot be read: {error}") from None
    return found


_LINE = re.compile(r"(\w+(?:\.[\w-]+)?)(?: \(([^)]+)\))?: (.+)")
_SOURCE = re.compile(r"(.*\S)\s*\[([^\]]+)\]\.?")


def _texts(cls: type, names: Mapping[str, Any]) -> tuple[dict[str, Text], str]:
    """What the docstring says of each name, and its first paragraph."""
    texts: dict[str, Text] = {}
    paragraph: list[str] = []
    open_at, name, unit, words, first = -1, "", "", [""], True

    def close() -> None:
        if name:
            meaning, source = " ".join(words), ""
            if found := _SOURCE.fullmatch(meaning):
                meaning, source = found[1], found[2]
            texts[name] = Text(_sentence(meaning), source, unit)

    for line in [*inspect.cleandoc(cls.__doc__ or "").splitlines(), ""]:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        found = _LINE.fullmatch(text)
        if found and found[1].partition(".")[0] in names:
            close()
            open_at, name, unit, words, first = indent, found[1], found[2] or "", [found[3]], False
        elif name and text and indent > open_at:
            words.append(text)
        else:
            close()
            name = ""
            first = first and bool(text or not paragraph)
            if first and text:
                paragraph.append(text)
    return texts, " ".join(paragraph)


def _parameter(cls: type, name: str, annotation: Any, texts: Mapping[str, Text]) -> Parameter:
    one, optional, is_list = annotation, False, False
    if typing.get_origin(one) in (typing.Union, types.UnionType):
        others = [each for each in typing.get_args(one) if each is not types.NoneType]
        optional = len(others) < len(typing.get_args(one))
        one = others[0] if len(others) == 1 else one
    if typing.get_origin(one) is list:
        (one,), is_list = typing.get_args(one), True
    choices: tuple[str, ...] = ()
    if typing.get_origin(one) is typing.Literal:
        choices, kind = typing.get_args(one), _WORD
        if not all(isinstance(word, str) for word in choices):
            raise UserError(f"{name}: words of a closed set are texts; here are {choices}")
    elif isinstance(one, type | types.NoneType) and one in _TYPES:
        kind = _TYPES[one]
    else:
        raise UserError(
            f"{name}: {_shown(annotation)} is no type of a parameter; allowed are "
            f"{', '.join(each.__name__ for each in _TYPES)}, Literal[words], list[...] of these, "
            "... | None if it may be left out; what the law remembers is State[...] or Probe[...]"
        )
    default = None
    value = _assigned(cls, name)
    if value is not None:
        default = _default(name, value, kind, is_list, choices)
    meanings = tuple(texts.get(f"{name}.{word}", Text()).meaning for word in choices)
    text = texts.get(name, Text())
    return Parameter(name, kind, text, is_list, optional, choices, meanings, default)


def _assigned(cls: type, name: str) -> Any:
    """What a class gives a name, or `None`."""
    return next((vars(each)[name] for each in cls.__mro__[:-1] if name in vars(each)), None)


def _shown(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _default(name: str, value: Any, kind: ParameterType, is_list: bool, choices: Any) -> str:
    """A default as a scenario has it."""
    if is_list:
        if not isinstance(value, list | tuple):
            raise UserError(f"{name} = {value!r}: the default of a list is a list")
        each = (_default(name, one, kind, False, choices) for one in value)
        return f"[{', '.join(each)}]"
    if choices and value not in choices:
        near = nearest(str(value), choices)
        raise UserError(f"{name} = {value!r}{near}: allowed are {', '.join(choices)}")
    texts = kind not in (_TYPES[float], _TYPES[int], _TYPES[bool])
    fits = {
        _TYPES[float]: isinstance(value, int | float) and not isinstance(value, bool),
        _TYPES[int]: isinstance(value, int) and not isinstance(value, bool),
        _TYPES[bool]: isinstance(value, bool),
    }.get(kind, isinstance(value, str))
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        allowed = 'a text, as a scenario has it: "5 ms"' if texts else "a number, or true or false"
        raise UserError(f"{name} = {value!r}: its default is {allowed}")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(float(value) if kind == _TYPES[float] else value)


def _quantity(cls: type, name: str, of: given.Quantity, texts: Mapping[str, Text]) -> Remembered:
    of_c = "f64" if of.type is float else "i64"
    start = _assigned(cls, name)
    start = 0 if start is None else start
    allowed = int | float if of_c == "f64" else int
    values = start if isinstance(start, list | tuple) else (start,)
    if not all(isinstance(value, allowed) for value in values):
        raise UserError(f"{name} = {start!r}: it begins with a number of its type")
    if isinstance(start, list | tuple) and len(start) != of.count:
        raise UserError(f"{name} = {start!r}: it has {of.count or 'no'} places to begin with")
    text = texts.get(name, Text())
    unit = of.unit or text.unit or _PROBE_UNITS.get(of.type, "1")
    is_time = of.type in (given.Time, given.Span)
    if is_time and unit != "s":
        raise UserError(f'{name}: a time is shown in s, not in "{unit}"')
    return Remembered(name, of_c, of.count, start, of.probe, unit, is_time, text)


def _check_names(parameters: list[Parameter], quantities: list[Remembered]) -> None:
    taken: dict[str, str] = {}
    all_of_them: list[Parameter | Remembered] = [*parameters, *quantities]
    for each in all_of_them:
        names = [each.name]
        if isinstance(each, Parameter) and each.type.words == 2:
            names.append(f"{each.name}_in_packets")
        if isinstance(each, Parameter) and each.list:
            names += [f"{each.name}_at", f"{each.name}_count"]
        for name in names:
            if name in taken:
                raise UserError(f"{each.name}: the name {name} is taken by {taken[name]}")
            if name.startswith("_") or hasattr(ctypes.Structure, name):
                raise UserError(f"{each.name}: no name of a parameter or of state")
            taken[name] = each.name


_Methods = tuple[
    dict[str, Callable[..., Any]], Callable[..., Any] | None, dict[str, Callable[..., Any]]
]


def _methods(cls: type, kind: str, annotations: Mapping[str, Any]) -> _Methods:
    """The decisions, the creation, and other methods, whose names begin with an underscore."""
    about = KINDS[kind]
    members: dict[str, Any] = {}
    for each in reversed(cls.__mro__[:-1]):
        members |= vars(each)
    methods: dict[str, Callable[..., Any]] = {}
    helpers: dict[str, Callable[..., Any]] = {}
    for name, member in members.items():
        if name in annotations or (name.startswith("__") and name.endswith("__")):
            continue
        if not isinstance(member, types.FunctionType):
            raise UserError(
                f"{name}: has no type; annotate a parameter (Span, float, ...) or state "
                "(State[int]), and put constants into the module"
            )
        if name in about.calls or name == "create":
            if len(inspect.signature(member).parameters) != 2:
                raise UserError(f"{name}: is called with the law and the facts: {name}(law, at)")
            methods[name] = member
        elif name.startswith("_"):
            helpers[name] = member
        else:
            allowed = ["create", *about.calls]
            raise UserError(
                f"{name}: no method of the kind {kind}{nearest(name, allowed)}; they are "
                f"{', '.join(allowed)}, and methods of its own begin with an underscore"
            )
    create = methods.pop("create", None)
    lacking = [name for name in about.needs if name not in methods]
    if lacking and (not about.any or len(lacking) == len(about.needs)):
        needed = (" or " if about.any else " and ").join(about.needs)
        raise UserError(f"a law of the kind {kind} has the method {needed}")
    return methods, create, helpers


def _flags(options: Declared) -> int:
    bits = 0
    for name, value in options.flags.items():
        bit, kinds = FLAGS[name]
        if value and options.kind not in kinds:
            raise UserError(f"{name} is for laws of the kind {', '.join(kinds)}")
        bits |= bit if value else 0
    return bits
