"""Which crate may depend on which, and which library belongs to which crate.

The drawing in ARCHITECTURE.md, for `Cargo.toml`: a crate can name only what it depends on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence

from tidy.source import Finding, Source

__all__ = ["CRATES", "LIBRARIES", "check", "check_source"]

CRATES: dict[str, tuple[str, ...]] = {
    "units": (),
    "parameters": ("units",),
    "kernel": ("units",),
    "network": ("units", "kernel"),
    "engine": ("units", "kernel", "network"),
    "mechanisms": ("units", "parameters", "kernel", "network"),
    "invariants": ("units", "network"),
    "scenario": (
        "units",
        "parameters",
        "kernel",
        "network",
        "engine",
        "mechanisms",
        "invariants",
    ),
    "scripts": ("units", "parameters", "kernel", "network", "engine", "mechanisms"),
    "python": ("network", "scenario", "scripts"),
    "wasm": ("parameters", "scenario"),
    "fuzz": ("units", "kernel", "network", "mechanisms", "scripts", "scenario"),
}
"""What each crate may know of the others."""

LIBRARIES = {
    "arbitrary": ("fuzz", "steps read from the bytes of a fuzzer"),
    "blake3": (
        "parameters scenario python",
        "the hash of a scenario and of its data files, and of the sources of a build",
    ),
    "etherparse": ("scenario", "headers of captured packets"),
    "hdrhistogram": ("network", "distributions of delays and of completion times"),
    "libm": ("kernel", "the one math library, behind forebay_kernel::math"),
    "numpy": ("python", "nothing below crates/python knows of Python"),
    "petgraph": ("scenario", "routes, laid when the network is wired"),
    "pyo3": ("python", "nothing below crates/python knows of Python"),
    "rand_core": ("kernel", "the random streams"),
    "rand_xoshiro": ("kernel", "the random streams"),
    "serde": (
        "mechanisms scripts scenario python wasm",
        "rows of results as data; the engine knows no format",
    ),
    "serde_json": (
        "scripts invariants scenario python wasm",
        "results as JSON; the engine knows no format",
    ),
    "toml": ("scenario", "the one place that knows TOML"),
}
"""The crates that may use a library, and what for."""

WHY_CRATE = "arrows point one way (ARCHITECTURE.md, The house)"
WHY_NEW = "a library is a part of the house: give it a crate and a reason in tools/tidy/arrows.py"


def check(sources: Sequence[Source]) -> Iterator[Finding]:
    """Dependencies that go the wrong way, and entries of the tables that nothing uses."""
    seen = set()
    for source in sources:
        parts = source.path.split("/")
        if len(parts) == 3 and parts[0] == "crates" and parts[2] == "Cargo.toml":
            seen |= {(parts[1], name) for name in _dependencies(source)}
            yield from check_source(source)
    listed = {(crate, f"forebay-{name}") for crate, names in CRATES.items() for name in names}
    for library, (crates, _) in LIBRARIES.items():
        listed |= {(crate, library) for crate in crates.split()}
    for crate, name in sorted(listed - seen):
        yield Finding("tools/tidy/arrows.py", 1, f"`{crate}` may use `{name}`", "it does not")


def check_source(source: Source) -> Iterator[Finding]:
    """Dependencies of one crate that it must not have."""
    crate = source.path.split("/")[1]
    if crate not in CRATES:
        yield Finding(source.path, 1, f"crate `{crate}` is not in the house", WHY_CRATE)
        return
    for name in _dependencies(source):
        line = 1 + next((i for i, text in enumerate(source.lines) if text.startswith(name)), 0)
        if name.startswith("forebay-"):
            if name.removeprefix("forebay-") not in CRATES[crate]:
                what = f"`{crate}` depends on `{name}`"
                yield Finding(source.path, line, what, WHY_CRATE)
        elif name not in LIBRARIES:
            yield Finding(source.path, line, f"`{crate}` depends on `{name}`", WHY_NEW)
        elif crate not in LIBRARIES[name][0].split():
            owner, purpose = LIBRARIES[name]
            what = f"`{crate}` depends on `{name}`"
            yield Finding(source.path, line, what, f"it belongs to `{owner}`: {purpose}")


def _dependencies(source: Source) -> list[str]:
    """What the crate itself needs; what its tests need is theirs."""
    table = tomllib.loads(source.text)
    found = [*table.get("dependencies", {}), *table.get("build-dependencies", {})]
    for target in table.get("target", {}).values():
        found += target.get("dependencies", {})
    return found
