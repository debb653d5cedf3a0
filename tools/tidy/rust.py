"""Rust files: syntax trees, and tokens, which are the same inside macros and outside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

__all__ = ["leaves", "line_of", "parse", "text_of", "tokens", "walk"]


_PARSER = Parser(Language(tree_sitter_rust.language()))
_QUOTED = (
    "line_comment",
    "block_comment",
    "string_literal",
    "raw_string_literal",
    "char_literal",
)


def parse(text: str, path: str) -> Node:
    """The syntax tree of a file.

    Raises `SyntaxError` if it has none: in half a tree nothing would be found.
    """
    root = _PARSER.parse(text.encode()).root_node
    if root.has_error:
        broken = next(node for node in walk(root) if node.is_error or node.is_missing)
        raise SyntaxError(f"{path}:{line_of(broken)}: cannot be read as Rust")
    return root


def tokens(root: Node, path: str) -> list[str]:
    """The tokens without tests, comments, strings and characters, then what is imported: every path
    written out, each behind a comma."""
    tests = {line for part in _tests(root, path) for line in part}
    found = []
    for leaf in leaves(root, skip=_QUOTED):
        if line_of(leaf) not in tests:
            found.append(text_of(leaf))
    for node in walk(root):
        argument = node.child_by_field_name("argument") if node.type == "use_declaration" else None
        if argument is not None and line_of(node) not in tests:
            for imported in _paths(argument):
                found += [",", *re.findall(r"\w+|::|\*", imported)]
    return found


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in order."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.children))


def leaves(node: Node, skip: Sequence[str] = ()) -> Iterator[Node]:
    """The leaves below a node, in order, without what lies in a node of a kind to skip."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in skip:
            continue
        below = one.children
        if below:
            waiting.extend(reversed(below))
        else:
            yield one


def text_of(node: Node) -> str:
    """Returns the text that a node covers."""
    return node.text.decode() if node.text is not None else ""


def line_of(node: Node) -> int:
    """The line that a node begins in, from 1."""
    return node.start_point.row + 1


def _tests(root: Node, path: str) -> Iterator[range]:
    """The lines that only a test or an example is made of."""
    parts = path.split("/")
    if "tests" in parts or "examples" in parts or parts[-1] == "tests.rs":
        yield range(1, root.end_point.row + 2)
        return
    for node in walk(root):
        if node.type == "attribute_item" and "".join(text_of(node).split()) == "#[cfg(test)]":
            item = node.next_named_sibling
            while item is not None and item.type in ("attribute_item", "line_comment"):
                item = item.next_named_sibling
            if item is not None:
                yield range(line_of(node), item.end_point.row + 2)


def _paths(node: Node, before: str = "") -> Iterator[str]:
    """`a::{b, c::D}` as `a::b` and `a::c::D`."""
    if node.type == "use_list":
        for child in node.named_children:
            yield from _paths(child, before)
    elif node.type == "scoped_use_list":
        path, listed = node.child_by_field_name("path"), node.child_by_field_name("list")
        inner = f"{before}{text_of(path)}::" if path is not None else before
        if listed is not None:
            yield from _paths(listed, inner)
    elif node.type == "use_as_clause":
        path = node.child_by_field_name("path")
        if path is not None:
            yield from _paths(path, before)
    elif node.type == "self":
        yield before.removesuffix("::")
    else:
        yield before + text_of(node)
