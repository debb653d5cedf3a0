"""The battery on a generator known to be good, and on sequences known to be bad.

The streams themselves are tested in crates/kernel/tests/streams.rs and by `make validate
ONLY=streams`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import battery
import streams

WORDS = 1 << 18


def philox(words: int) -> battery.Words:
    """Words of Philox 4x64 (Salmon and others 2011), which shares nothing with the engine's."""
    return np.random.Generator(np.random.Philox(11)).integers(0, 2**32, words, dtype=np.uint32)


@pytest.mark.parametrize("name", list(battery.TESTS))
def test_a_good_generator_passes(name: str) -> None:
    """A good generator passes every test."""
    assert battery.TESTS[name](philox(WORDS)) > 1e-4


def randu(words: int) -> battery.Words:
    """RANDU (IBM 1968), which falls mainly in the planes: x' = 65539 x mod 2^31, shifted up."""
    found = np.empty(words, dtype=np.uint32)
    state = 1
    for index in range(words):
        state = 65539 * state % 2**31
        found[index] = 2 * state
    return found


def biased(words: int) -> battery.Words:
    """One bit in two hundred is set that should not be."""
    marks = np.random.default_rng(2).random(words) < 0.16
    return philox(words) | np.where(marks, np.uint32(1 << 9), np.uint32(0)).astype(np.uint32)


def held(words: int) -> battery.Words:
    """Each word a little like the one before: its upper half with probability 1/20."""
    good = philox(words)
    kept = np.random.default_rng(3).random(words) < 0.05
    kept[0] = False
    good[kept] = (good[np.flatnonzero(kept) - 1] & np.uint32(0xFFFF_0000)) | (
        good[kept] & np.uint32(0xFFFF)
    )
    return good


def copied(words: int) -> battery.Words:
    """The lowest bit of each word is that above it: fewer runs, and as many ones."""
    good = philox(words)
    return (good & np.uint32(0xFFFF_FFFE)) | ((good >> np.uint32(1)) & np.uint32(1))


BAD = [
    (randu, "rank"), (randu, "weights"), (biased, "frequency"), (biased, "weights"),
    (held, "correlation"), (held, "serial"), (held, "gap"), (copied, "runs"),
    (held, "collisions"), (held, "permutation"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name"), BAD, ids=[f"{m.__name__}-{n}" for m, n in BAD])
def test_a_bad_generator_fails(make: object, name: str) -> None:
    """A bad generator fails: no test passes anything."""
    assert callable(make)
    assert battery.TESTS[name](make(WORDS)) < streams.FAILED


def test_a_lattice_fails_birthday_spacings_and_uniformity() -> None:
    """A lattice fails birthday spacings and uniformity, the two tests that look at words of 32
    bits."""
    coarse = philox(WORDS) & np.uint32(0xFFFF_FC00)
    assert battery.birthday_spacings(coarse) < streams.FAILED
    assert battery.uniformity(philox(WORDS) >> np.uint32(1)) < streams.FAILED


def test_the_record_is_of_a_full_run_that_passed() -> None:
    """The record is of a full run that passed."""
    document = json.loads(streams.RESULT.read_text())
    assert document["words"] == streams.WORDS
    right = [row for row in document["rows"] if row["names"] in streams.NAMES]
    wrong = [row for row in document["rows"] if row["names"] in streams.WRONG]
    assert len(right) == 2 * 2 * len(streams.NAMES)
    assert min(map(streams.least, right)) >= streams.FAILED
    assert all(streams.least(row) < streams.FAILED for row in wrong)
    assert streams.overall(right) >= streams.TOGETHER
    verdicts = [row["verdict"] for row in document["dieharder"]]
    assert len(verdicts) > 50
    assert "FAILED" not in verdicts


def test_lines_of_dieharder_are_read() -> None:
    """Lines of dieharder are read, failures among them. The lines are as version 3.31.1 prints
    them."""
    text = (
        "#   test_name   |ntup| tsamples |psamples|  p-value |Assessment\n"
        "   diehard_birthdays|   0|       100|     100|0.26570074|  PASSED  \n"
        "          sts_serial|  15|    100000|     100|0.99715030|   WEAK   \n"
        "        sts_monobit|   1|    100000|     100|0.00000000|  FAILED  \n"
    )
    assert streams.parse(text) == [
        ("diehard_birthdays", 0.26570074, "PASSED"),
        ("sts_serial", 0.9971503, "WEAK"),
        ("sts_monobit", 0.0, "FAILED"),
    ]
