"""The attribution of instructions to parts of the engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import where

PROFILE = """\
events: Ir

fl=(1) /x/crates/elements/src/link/mod.rs
fn=(1) <forebay_elements::link::FifoLink as forebay_network::element::Element>::wake
10 100
fi=(2) /x/crates/kernel/src/event_list.rs
+5 40
fe=(1)
cfi=(3) /x/crates/network/src/context.rs
cfn=(2) forebay_network::context::Context::forward
calls=7 30
* 900

fl=(3)
fn=(2)
20 30
fi=(4) /rustc/library/core/src/slice/index.rs
-3 5
"""


def test_lines_belong_to_the_part_that_they_stand_in() -> None:
    """Lines belong to the part that they stand in.

    Of the profile above, by callgrind's format: 100 in link/mod.rs, 40 of event_list.rs built into
    it, 30 in context.rs, and 5 of the standard library in the same function. The 900 behind
    `calls` are the callee's, counted there.
    """
    expected = {"links": 100, "event list": 40, "engine": 35}
    assert where.attribute(PROFILE) == expected


@pytest.mark.parametrize(
    ("file", "function", "part"),
    [
        ("/x/crates/kernel/src/digest.rs", "Partition::deliver_pending", "digest"),
        (
            "/rustc/core.rs",
            "forebay_elements::tcp::sender::send::Sender::send",
            "TCP",
        ),
        ("/rustc/alloc.rs", "malloc", where.REST),
    ],
)
def test_a_line_of_a_library_belongs_where_it_was_built_in(
    file: str, function: str, part: str
) -> None:
    """A line of a library belongs to the part that it was built into: the standard library is no
    part of the engine."""
    assert where.part(file, function) == part
