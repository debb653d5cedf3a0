"""Methods of laws in a form that numba compiles: what the state shows in the interpreter as a text,
a sequence or a method becomes numbers and calls.

`law.excess == "drop"` compares the place of the word, `law.weights[i]` reads memory, `law._next(x)`
is a call of the method with the law, and `refuse(...)` loses its texts: a creation that refuses is
repeated by the interpreter.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from forebay.errors import UserError, nearest
from forebay.laws.declared import Declaration
from forebay.laws.helpers import refuse
from forebay.laws.interpreted import shown
from forebay.laws.numbers import NEVER
from forebay.laws.sources import names_of

__all__ = ["LIST", "METHOD", "UncompilableError", "rewritten"]

LIST = "_forebay_list_"
"""Beginning of the name of the function that gives a list of the law."""

METHOD = "_forebay_method_"
"""Beginning of the name of the function that is a method of the law."""


class UncompilableError(Exception):
    """What a law does cannot be compiled; the message says why."""


def rewritten(function: Callable[..., Any], law: Declaration) -> types.CodeType:
    """The code of a function of a law, as it is compiled.

    Raises `UncompilableError`, and `UserError` for a word that is none of its parameter's.
    """
    code: types.CodeType = function.__code__
    refusing = {name for name, value in names_of(function).items() if value is refuse}
    rewriter = _Rewriter(law, refusing, code)
    if not rewriter.concerns(set(code.co_names)):
        return code
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(_dedented(lines))
    except (OSError, TypeError, SyntaxError):
        raise UncompilableError(f"the text of {code.co_name} is not at hand") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise UncompilableError(f"{code.co_name} is no function with a def")
    node.decorator_list = []
    ast.increment_lineno(tree, first - 1)
    rewriter.visit(node)
    return _compiled(tree, code)


def _dedented(lines: Sequence[str]) -> str:
    """Lines moved to the left as far as the first is indented."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "".join(line[indent:] if not line[:indent].strip() else line for line in lines)


def _compiled(tree: ast.Module, like: types.CodeType) -> types.CodeType:
    """The code of the function in a tree, with the free variables of another."""
    if like.co_freevars:
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(name) for name in like.co_freevars],
            kwonlyargs=[], kw_defaults=[], defaults=[],
        )  # fmt: skip
        outer = ast.FunctionDef("_around", arguments, tree.body, [], lineno=1, col_offset=0)
        tree = ast.Module([outer], [])
    ast.fix_missing_locations(tree)
    flags = like.co_flags & __future__.annotations.compiler_flag
    made = compile(tree, like.co_filename, "exec", flags, dont_inherit=True)
    found = _code_in(made, like.co_name)
    if found is None or found.co_freevars != like.co_freevars:
        raise UncompilableError(f"{like.co_name} uses variables of a function around it")
    return found


def _code_in(code: types.CodeType, name: str) -> types.CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found = constant if constant.co_name == name else _code_in(constant, name)
            if found is not None:
                return found
    return None


class _Rewriter(ast.NodeTransformer):
    def __init__(self, law: Declaration, refusing: set[str], code: types.CodeType) -> None:
        self.words = {p.name: p.choices for p in law.parameters if p.choices and not p.list}
        self.texts = {p.name for p in law.parameters if p.type.is_text or (p.choices and p.list)}
        self.texts |= {f"{p.name}_in_packets" for p in law.parameters if p.name in self.texts}
        lists = [p for p in law.parameters if p.list and p.name not in self.texts]
        self.lists = {p.name for p in lists}
        self.lists |= {f"{p.name}_in_packets" for p in lists if p.type.words == 2}
        self.helpers = set(law.helpers)
        self.refusing = refusing
        self.code = code

    def concerns(self, names: set[str]) -> bool:
        """True if one of these names may have to be rewritten."""
        known = {*self.words, *self.texts, *self.lists, *self.helpers, *self.refusing, "refuse"}
        return bool(names & known)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compares places of words instead of words."""
        if len(node.ops) == 1:
            for this, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                if isinstance(this, ast.Attribute) and this.attr in self.words:
                    return self._word_compared(node, this, other)
        self.generic_visit(node)
        return node

    def _word_compared(self, node: ast.Compare, word: ast.Attribute, other: ast.expr) -> ast.AST:
        operation, name = node.ops[0], word.attr
        if isinstance(operation, ast.Is | ast.IsNot) and _is_none(other):
            operation = ast.Eq() if isinstance(operation, ast.Is) else ast.NotEq()
            places: ast.expr = ast.Constant(NEVER)
        elif isinstance(operation, ast.Eq | ast.NotEq) and isinstance(other, ast.Constant):
            places = ast.Constant(self._place(name, other))
        elif isinstance(operation, ast.In | ast.NotIn) and isinstance(
            other, ast.Tuple | ast.List | ast.Set
        ):
            places = ast.Tuple(
                [ast.Constant(self._place(name, each)) for each in other.elts], ast.Load()
            )
        else:
            raise self._unfit(node, f"{name} is compared to what is no word")
        # Attributes in it are numbers already.
        return ast.copy_location(ast.Compare(word, [operation], [places]), node)

    def _place(self, name: str, given: ast.expr) -> int:
        words = self.words[name]
        if _is_none(given):
            return NEVER
        value = given.value if isinstance(given, ast.Constant) else None
        if isinstance(value, str) and value in words:
            return words.index(value)
        if not isinstance(value, str):
            raise self._unfit(given, f"{name} is compared to what is no word")
        raise UserError(
            f"{self._where(given)}: {name} is compared to {value!r}{nearest(value, words)}; its "
            f"words are {', '.join(words)}"
        )

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Reads lists; refuses what has no form in compiled code."""
        self.generic_visit(node)
        if node.attr in self.words or node.attr in self.texts:
            raise self._unfit(node, f"{node.attr} is a text")
        if node.attr not in self.lists:
            return node
        if not isinstance(node.ctx, ast.Load):
            raise self._unfit(node, f"{node.attr} is a list of the scenario")
        called = ast.Call(ast.Name(LIST + node.attr, ast.Load()), [node.value], [])
        return ast.copy_location(called, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Refuses to write to lists, as the interpreter does."""
        of = node.value
        writes = not isinstance(node.ctx, ast.Load)
        if writes and isinstance(of, ast.Attribute) and of.attr in self.lists:
            raise self._unfit(node, f"{of.attr} is a list of the scenario")
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Calls methods with the law; leaves the texts of refusals out."""
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name in self.refusing or (name == "refuse" and isinstance(called, ast.Attribute)):
            node.args = [ast.Constant(None), ast.Constant(None)]
            node.keywords = []
            return node
        if isinstance(called, ast.Attribute) and called.attr in self.helpers:
            node.args.insert(0, called.value)
            name = ast.Name(METHOD + called.attr, ast.Load())
            node.func = ast.copy_location(name, called)
        self.generic_visit(node)
        return node

    def _unfit(self, node: ast.AST, why: str) -> UncompilableError:
        return UncompilableError(f"{self._where(node)}: {why}")

    def _where(self, node: ast.AST) -> str:
        return f"{shown(self.code.co_filename)}, line {getattr(node, 'lineno', 0)}"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
