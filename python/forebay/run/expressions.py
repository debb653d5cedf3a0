"""Derived quantities: expressions over the values of a run, with units.

    flows.game.goodput / flows.bulk.goodput           a ratio of two rates is a share
    flows."up link".p99_delay - 20 ms                 names that are not bare are in quotes
    jain(flows[video].goodput)                        over all rows with a tag
    worst(links[*].loss_ratio) < 1 %                  a truth value, for `forebay find`

A quantity is `KIND.NAME.COLUMN`, or a field of the run itself, such as `events`; a column may be
given without its unit. `KIND[TAG].COLUMN` is a list, over the rows that have the tag, and
`KIND[*].COLUMN` one over all rows (`forebay.run.rows`, which also has the short forms). Numbers may
have units. There are `+ - * / **`, `< <= > >=` with `and or not`, and functions:

    abs sqrt log exp                of a number, or of each of a list
    min max                         of several numbers, or of a list
    sum mean median jain count      of a list
    percentile(list, 95)            in percent, by rank: no interpolation
    time_to_fairness(list, 10 %)    of recorded series (`forebay.run.fairness`)
    worst best                      of a list: the least of rates (bit/s, packets/s) is the worst,
                                    and the greatest of all else: delays, losses, times, queues

Arithmetic on lists is element by element, with a number or a list of the same rows.

What is added or compared must have one unit; a bare number goes with counts, and 0 with everything.
The unit of a result follows from those of its parts: an amount over a time is a rate, 1 B is 8 bit.
A value that is not counted, such as a percentile of too few packets, and a division by zero give no
value but a reason (`Answer`). Python's parser reads expressions; nothing is evaluated by it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forebay.errors import UserError, nearest
from forebay.run.arithmetic import (
    MAPPED,
    OPERATORS,
    REDUCERS,
    Count,
    applied,
    by_zero_as,
    percentile,
    reduced,
)
from forebay.run.dimensions import BARE, NUMBER, SHARE, TRUTH, Dimension, of_symbol
from forebay.run.fairness import groups_in, time_to_fairness
from forebay.run.rows import (
    SHORT_FORMS,
    AbsentError,
    Document,
    Lack,
    Reference,
    Rows,
    Value,
)
from forebay.run.tokens import WORDS, Known, Literal, Source, Token, complaint, tokenised
from forebay.units import Unit

__all__ = [
    "FUNCTIONS",
    "Answer",
    "Comparison",
    "Condition",
    "Expression",
    "derived",
    "named",
    "read",
]

MAX_CHARACTERS = 1000
MAX_DEPTH = 100
FAIRNESS = "time_to_fairness"
FUNCTIONS = sorted({*MAPPED, *REDUCERS, "best", "worst", "count", "percentile", FAIRNESS})
ALLOWED = (
    "allowed are quantities, numbers with units, + - * / **, < <= > >=, and, or, not, parentheses "
    f"and {', '.join(FUNCTIONS)}"
)
_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What an expression is in one run: a value, or the `reason` why there is none.

    With `absent` the run has no such row at all; with `few` it is a percentile that stands on too
    few samples, which is a value of its own but not one to compute with.
    """

    value: float | None
    reason: str = ""
    absent: bool = False
    few: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison: it holds where `margin` is below 0, or at 0 unless it is `strict`."""

    text: str
    margin: Expression
    strict: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """Conditions of which `every` must hold, or else one."""

    parts: tuple[Condition | Comparison, ...]
    every: bool


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of an expression: how it is computed, in base units, and what of it is known before.

    `literal` is the value of a number that is written out, and `plain` that it is a column of one
    row and nothing else.
    """

    dimension: Dimension
    of: Callable[[Document], Value]
    is_list: bool = False
    nonnegative: bool = False
    literal: float | None = None
    plain: bool = False
    condition: Condition | Comparison | None = None


class Expression:
    """An expression that was read: `text` is what its author wrote, and `name` what tables call it.

    `is_plain` says that it is a column of the engine's, `nonnegative` that no value can be below 0,
    and `condition` what it compares, if it does.
    """

    def __init__(self, text: str, node: _Node, source: Source, name: str = "") -> None:
        self.text = text
        self.name = name or text
        self.node = node
        self._source = source

    @property
    def unit(self) -> Unit:
        """The unit of its values."""
        return self.node.dimension.unit

    def unit_of(self, values: Iterable[float | None]) -> Unit:
        """The unit in which some of its values are shown together: a quotient that is above 1 among
        them is no part of a whole, and a plain number rather than a percentage."""
        is_share = self.node.dimension == SHARE and not self.is_plain
        above = any(value is not None and abs(value) > 1.0 for value in values)
        return NUMBER.unit if is_share and above else self.unit

    @property
    def is_plain(self) -> bool:
        """True if it is a column of one row."""
        return self.node.plain

    @property
    def needs_series(self) -> bool:
        """True if it is computed of recorded series."""
        return self._source.series

    @property
    def nonnegative(self) -> bool:
        """True if no value can be below 0."""
        return self.node.nonnegative

    @property
    def is_truth(self) -> bool:
        """True if it is true or false: 1 or 0."""
        return self.node.dimension == TRUTH

    @property
    def condition(self) -> Condition | Comparison | None:
        """What it compares, if it is a truth value."""
        return self.node.condition

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons that its condition is made of."""
        return [] if self.condition is None else _comparisons(self.condition)

    @property
    def title(self) -> str:
        """What stands above its table: name, text, and the unit where values do not show it."""
        told = self.text if self.name == self.text else f"{self.name} = {self.text}"
        if self.is_truth:
            return f"{told} (share of runs in which it holds)"
        shown = self.is_plain or self.unit.spoken or self.unit.symbol in ("share", "number")
        return told if shown else f"{told} ({self.unit.symbol})"

    def called(self, name: str) -> Expression:
        """The same under a name."""
        return Expression(self.text, self.node, self._source, name)

    def error(self, what: str) -> UserError:
        """A complaint about it."""
        return complaint(self._source.place, self.text, what)

    def of(self, document: Document) -> Answer:
        """What it is in a run. Raises `UserError` where lists turn out to be of different rows."""
        try:
            found = self.node.of(document)
        except AbsentError as error:
            return Answer(None, str(error), absent=True)
        except ValueError as error:
            raise self.error(str(error)) from None
        assert not isinstance(found, Rows), self.text
        if not isinstance(found, Lack):
            return Answer(found / self.node.dimension.size)
        if self.is_plain and found.value is not None:
            return Answer(found.value, few=True)
        return Answer(None, str(found))


def read(text: str, place: str, names: Mapping[str, Expression] | None = None) -> Expression:
    """Read an expression; `place` is what messages call the place where it stands, and `names` are
    expressions that it may name.

    Raises `UserError` that says what is wrong, from which character on, and what is allowed.
    """
    if names and text.strip() in names:
        return names[text.strip()]
    source = Source(place, text)
    node = _read(source, names or {})
    if node.is_list:
        raise complaint(place, text, "is a list; reduce it by mean, sum, worst, jain or the like")
    return Expression(text.strip(), node, source)


def derived(table: Mapping[str, str], place: str) -> dict[str, Expression]:
    """Read a table of names and their expressions, each of which may name those above it. Raises
    `UserError`."""
    found: dict[str, Expression] = {}
    for name, text in table.items():
        found[name] = _definition(name, text, f"{place}.{name}", found)
    return found


_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)


def named(texts: Iterable[str], place: str) -> list[Expression]:
    """Read several `EXPRESSION` or `NAME = EXPRESSION`, each of which may name those before it.
    Raises `UserError`."""
    known: dict[str, Expression] = {}
    for text in texts:
        found = _NAMED.fullmatch(text)
        name = found[1] if found else text.strip()
        if name in known:
            raise UserError(f'{place}: "{name}" is there twice')
        known[name] = (
            _definition(name, found[2], place, known) if found else read(text, place, known)
        )
    return list(known.values())


def _definition(name: str, text: str, place: str, known: Mapping[str, Expression]) -> Expression:
    if not re.fullmatch(r"[^\W\d]\w*", name) or name in (*WORDS, *FUNCTIONS):
        taken = ", ".join([*WORDS, *FUNCTIONS])
        raise UserError(f"{place}: a name has letters, digits and _, and is none of {taken}")
    return read(text, place, known).called(name)


def _read(source: Source, names: Mapping[str, Expression]) -> _Node:
    if not source.text.strip():
        raise UserError(f"{source.place}: is empty; {ALLOWED}")
    if len(source.text) > MAX_CHARACTERS:
        told = f"has {len(source.text)} characters; allowed are {MAX_CHARACTERS}"
        raise complaint(source.place, source.text, told)
    text, tokens = tokenised(source, names)
    start = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _Reader(source, text.strip(), start, tokens, names).node(tree.body)
    except SyntaxError as error:
        at = start + max((error.offset or 1) - 1, 0)
        raise source.error(at, f"is no expression; {ALLOWED}") from None
    except (RecursionError, MemoryError):
        raise complaint(source.place, source.text, "is nested too deeply") from None


class _Reader:
    """Makes nodes of Python's syntax tree, as far as it is allowed."""

    def __init__(
        self,
        source: Source,
        text: str,
        start: int,
        tokens: Mapping[str, Token],
        names: Mapping[str, Expression],
    ) -> None:
        self._source = source
        self._text = text
        self._start = start
        self._tokens = tokens
        self._names = names
        self._depth = 0

    def node(self, tree: ast.expr) -> _Node:
        """The node of a part. Raises `UserError`, and `RecursionError` if parts are nested too
        deeply."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RecursionError
        found = self._made(tree)
        self._depth -= 1
        return found

    def _made(self, tree: ast.expr) -> _Node:
        match tree:
            case ast.Name(id=name) if name in self._tokens:
                return self._token(self._tokens[name])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(self.node(operand), tree)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _negated(self._truth(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._binary(_OPERATORS[type(op)], left, right, tree)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(tree, [left, *others], ops)
            case ast.BoolOp(op=op, values=values):
                nodes = [self._truth(value) for value in values]
                return _joined(nodes, isinstance(op, ast.And))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, arguments, tree)
        raise self._error(tree, f"is not allowed; {ALLOWED}")

    def _error(self, tree: ast.expr, what: str) -> UserError:
        before = self._text.encode()[: tree.col_offset].decode()
        return self._source.error(self._start + len(before), what)

    def _token(self, token: Token) -> _Node:
        if isinstance(token, Known):
            self._source.series |= self._names[token.name].needs_series
            return replace(self._names[token.name].node, plain=False)
        if isinstance(token, Literal):
            value = token.value
            return _Node(token.dimension, lambda _: value, False, value >= 0.0, value)
        if token.declared is not None:
            return _column(token, token.declared.unit)
        text = SHORT_FORMS[token.column][0].format(it=token.row)
        node = _read(Source(self._source.place, text), {})
        of = by_zero_as(node.of, f"{text.rpartition(' / ')[2]} is 0")
        return replace(node, of=of, nonnegative=True, plain=False)

    def _negative(self, node: _Node, tree: ast.expr) -> _Node:
        self._refuse_truth(node, tree)
        found = _mapped(lambda a: -a, "-", [node], node.dimension)
        return found if node.literal is None else replace(found, literal=-node.literal)

    def _binary(self, op: str, left: ast.expr, right: ast.expr, tree: ast.expr) -> _Node:
        a, b = self.node(left), self.node(right)
        for node, part in ((a, left), (b, right)):
            self._refuse_truth(node, part)
        if op == "**":
            dimension = self._power(a, b, tree)
        elif op in ("*", "/"):
            dimension = a.dimension.times(b.dimension, 1 if op == "*" else -1)
        else:
            dimension = self._same([a, b], tree, f"both sides of {op}")
        found = _mapped(OPERATORS[op], op, [a, b], dimension)
        return replace(found, nonnegative=op != "-" and a.nonnegative and b.nonnegative)

    def _power(self, base: _Node, exponent: _Node, tree: ast.expr) -> Dimension:
        if exponent.dimension.powers:
            raise self._error(tree, f"an exponent has no unit; this is in {exponent.dimension}")
        if not base.dimension.powers:
            return base.dimension
        if exponent.literal is None:
            told = f"an exponent of {base.dimension} is a number, as the unit depends on it"
            raise self._error(tree, told)
        return base.dimension.to_the(Fraction(exponent.literal).limit_denominator(12))

    def _same(self, nodes: Sequence[_Node], tree: ast.expr, what: str) -> Dimension:
        """The one dimension of all, of which zeros have every one."""
        for node in nodes:
            self._refuse_truth(node, tree)
        having = [node for node in nodes if node.literal != 0.0 or node.dimension != BARE]
        found = having[0].dimension if having else BARE
        for node in having[1:]:
            both = found.sum_with(node.dimension)
            if both is None:
                told = f"{what} must have one unit; read {found} and {node.dimension}"
                raise self._error(tree, told)
            found = both
        return found

    def _truth(self, tree: ast.expr) -> _Node:
        node = self.node(tree)
        if node.dimension != TRUTH:
            raise self._error(
                tree, f"and, or and not take comparisons; this is in {node.dimension}"
            )
        return node

    def _refuse_truth(self, node: _Node, tree: ast.expr) -> None:
        if node.dimension == TRUTH:
            raise self._error(tree, "a comparison is true or false; nothing is computed of that")

    def _compared(
        self, tree: ast.expr, parts: Sequence[ast.expr], ops: Sequence[ast.cmpop]
    ) -> _Node:
        nodes = [self.node(part) for part in parts]
        found = []
        for op, left, right in zip(ops, range(len(ops)), range(1, len(parts)), strict=True):
            sign = _OPERATORS.get(type(op))
            if sign is None:
                raise self._error(tree, "values are compared by < <= > >=; few are ever equal")
            a, b = nodes[left], nodes[right]
            if a.is_list or b.is_list:
                told = "single values are compared; reduce a list by worst, best, mean or the like"
                raise self._error(parts[left] if a.is_list else parts[right], told)
            dimension = self._same([a, b], tree, f"both sides of {sign}")
            if sign in (">", ">="):
                a, b = b, a
            text = self._words(parts[left], parts[right])
            margin = Expression(text, _mapped(OPERATORS["-"], "-", [a, b], dimension), self._source)
            found.append(_truth_node(Comparison(text, margin, strict=sign in ("<", ">"))))
        return found[0] if len(found) == 1 else _joined(found, every=True)

    def _words(self, left: ast.expr, right: ast.expr) -> str:
        """What was written from the begin of one part to the end of another."""
        encoded = self._text.encode()
        begin = self._start + len(encoded[: left.col_offset].decode())
        end = self._start + len(encoded[: right.end_col_offset].decode())
        return self._source.text[begin:end]

    def _call(self, name: str, arguments: Sequence[ast.expr], tree: ast.expr) -> _Node:
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise self._error(
                tree, f'no function "{name}"{nearest(name, FUNCTIONS)}; there are {known}'
            )
        if name == FAIRNESS:
            return self._fairness(arguments, tree)
        nodes = [self.node(argument) for argument in arguments]
        wanted = 2 if name == "percentile" else 1
        several = name in ("min", "max") and len(nodes) > 1
        if len(nodes) != wanted and not several:
            takes = "a list and a percentage" if name == "percentile" else "one value"
            raise self._error(tree, f"{name} takes {takes}")
        for node in nodes:
            self._refuse_truth(node, tree)
        if several:
            dimension = self._same(nodes, tree, f"the values of {name}")
            found = _mapped(MAPPED[name], name, nodes, dimension)
            return replace(found, nonnegative=all(node.nonnegative for node in nodes))
        if name in ("abs", "sqrt", "log", "exp"):
            return self._of_one(name, nodes[0], tree)
        if not nodes[0].is_list:
            told = f"{name} takes a list, such as flows[*].goodput_bps or groups[TAG].mean_delay_s"
            raise self._error(arguments[0], told)
        return self._reduced(name, nodes, tree)

    def _fairness(self, arguments: Sequence[ast.expr], tree: ast.expr) -> _Node:
        *rows, last = arguments or [tree]
        tokens = [self._tokens.get(getattr(each, "id", "")) for each in rows]
        try:
            found = groups_in(tokens)
            near = self._share(self.node(last), last)
        except ValueError as error:
            raise self._error(tree, str(error)) from None
        self._source.series = True
        return _Node(of_symbol("s"), lambda run: time_to_fairness(run, found, near), False, True)

    def _of_one(self, name: str, node: _Node, tree: ast.expr) -> _Node:
        dimension = node.dimension
        if name == "sqrt":
            dimension = dimension.to_the(Fraction(1, 2))
        elif name in ("log", "exp"):
            if dimension.powers:
                raise self._error(tree, f"{name} takes a number or a share; this is in {dimension}")
            dimension = NUMBER
        found = _mapped(MAPPED[name], name, [node], dimension)
        return replace(found, nonnegative=name != "log")

    def _reduced(self, name: str, nodes: Sequence[_Node], tree: ast.expr) -> _Node:
        of, dimension = nodes[0].of, nodes[0].dimension
        if name == "count":
            return _Node(NUMBER, Count(of), nonnegative=True)
        if name == "percentile":
            function = percentile(self._share(nodes[1], tree))
        else:
            function = REDUCERS[_EXTREMES[name][_is_rate(dimension)] if name in _EXTREMES else name]
        unit = SHARE if name == "jain" else dimension
        nonnegative = nodes[0].nonnegative or name == "jain"
        return _Node(
            unit, lambda document: reduced(function, name, of(document)), nonnegative=nonnegative
        )

    def _share(self, node: _Node, tree: ast.expr) -> float:
        value = node.literal
        if value is not None and node.dimension == BARE and 1.0 < value <= 100.0:
            return value / 100.0
        if value is not None and node.dimension == SHARE and 0.0 < value <= 1.0:
            return value
        raise self._error(tree, "a percentage is a number above 1 and up to 100, as 95 or 95 %")


_EXTREMES = {"worst": ("max", "min"), "best": ("min", "max")}
"""What is worst and best, of all but rates and of rates."""


def _is_rate(dimension: Dimension) -> bool:
    powers = dict(dimension.powers)
    return powers.keys() in ({"bit", "s"}, {"packets", "s"}) and powers["s"] == -1


def _column(token: Reference, symbol: str) -> _Node:
    dimension = of_symbol(symbol)
    size = dimension.size

    def of(document: Document) -> Value:
        found = token.value(document)
        return (
            found
            if size == 1.0 or isinstance(found, Lack)
            else applied(lambda value: value * size, "", [found])
        )

    plain = not token.tag
    return _Node(dimension, of, bool(token.tag), nonnegative=True, plain=plain)


def _mapped(
    function: Callable[..., float], what: str, nodes: Sequence[_Node], dimension: Dimension
) -> _Node:
    parts = [node.of for node in nodes]
    return _Node(
        dimension,
        lambda document: applied(function, what, [of(document) for of in parts]),
        any(node.is_list for node in nodes),
    )


def _truth_node(condition: Condition | Comparison) -> _Node:
    return _Node(
        TRUTH,
        lambda document: _holds(condition, document),
        nonnegative=True,
        condition=condition,
    )


def _holds(condition: Condition | Comparison, document: Document) -> Value:
    """1 if a condition holds in a run, else 0."""
    if isinstance(condition, Comparison):
        margin = condition.margin.node.of(document)
        if isinstance(margin, Lack | Rows):
            return margin
        return float(margin < 0.0 or (margin == 0.0 and not condition.strict))
    parts = [_holds(part, document) for part in condition.parts]
    decisive = 0.0 if condition.every else 1.0
    if any(part == decisive for part in parts):
        return decisive
    return next((part for part in parts if isinstance(part, Lack)), 1.0 - decisive)


def _joined(nodes: Sequence[_Node], every: bool) -> _Node:
    parts = tuple(node.condition for node in nodes if node.condition is not None)
    return _truth_node(Condition(parts, every))


def _comparisons(condition: Condition | Comparison) -> list[Comparison]:
    if isinstance(condition, Comparison):
        return [condition]
    return [found for part in condition.parts for found in _comparisons(part)]


def _negated(node: _Node) -> _Node:
    assert node.condition is not None
    return _truth_node(_opposite(node.condition))


def _opposite(condition: Condition | Comparison) -> Condition | Comparison:
    """What holds where a condition does not."""
    if isinstance(condition, Condition):
        return Condition(tuple(map(_opposite, condition.parts)), not condition.every)
    margin = condition.margin
    node = _mapped(lambda a: -a, "-", [margin.node], margin.node.dimension)
    turned = Expression(margin.text, node, Source("", margin.text))
    return Comparison(f"not {condition.text}", turned, not condition.strict)
