"""Crates of the engine, as other projects depend on them: by the repository or by a registry."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
VERSION = WORKSPACE["package"]["version"]
PRIVATE = {"forebay-fuzz", "forebay-host-c", "forebay-native", "forebay-python", "forebay-wasm"}
"""Crates that are parts of programs, of which no crate of another project makes use."""


def _packages() -> list[dict[str, Any]]:
    words = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return packages


PUBLISHED = {package["name"]: package for package in _packages() if package["publish"] != []}


def test_what_is_published_are_the_libraries() -> None:
    """All crates below crates/ can be published but those that are parts of programs: a module for
    Python, one for pages, a library for C and bodies of fuzz targets. Examples cannot."""
    folders = {f"forebay-{path.name}" for path in (ROOT / "crates").iterdir() if path.is_dir()}
    assert folders >= PRIVATE
    assert set(PUBLISHED) == folders - PRIVATE


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_crate_says_what_it_is(name: str) -> None:
    """Name, description of its own, keywords, categories, licence and README are what a registry
    shows; crates.io takes up to five keywords of 20 characters and five categories."""
    package = PUBLISHED[name]
    others = [other["description"] for other in PUBLISHED.values() if other is not package]
    assert package["description"]
    assert package["description"] not in others
    assert 1 <= len(package["keywords"]) <= 5
    for keyword in package["keywords"]:
        assert re.fullmatch(r"[a-z0-9][a-z0-9_+-]{0,19}", keyword), keyword
    assert 1 <= len(package["categories"]) <= 5
    assert "MIT OR Apache-2.0" in package["license"]
    assert package["version"] == VERSION
    assert package["rust_version"] == WORKSPACE["package"]["rust-version"]
    assert package["readme"] == "README.md"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_package_has_licences_and_an_example_that_is_run(name: str) -> None:
    """The folder of a crate is all that its package has: the texts of both licences, a short README
    whose example is a documentation test, and each file that its sources include."""
    folder = Path(PUBLISHED[name]["manifest_path"]).parent
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (folder / licence).read_bytes() == (ROOT / licence).read_bytes()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# {name}\n")
    assert len(re.findall(r"^```rust\n", readme, re.M)) == 1
    front = (folder / "src/lib.rs").read_text(encoding="utf-8")
    assert 'doc = include_str!("../README.md")' in front
    for source in (folder / "src").rglob("*.rs"):
        for included in re.findall(
            r'include(?:_str|_bytes)?!\("([^"]+)"\)', source.read_text(encoding="utf-8")
        ):
            assert (source.parent / included).resolve().is_relative_to(folder), (source, included)


def test_own_licences_of_files_are_stated() -> None:
    """A crate with a file under a licence of its own names that licence too, since its package
    goes without the repository's LICENSE-DATA."""
    for name, package in PUBLISHED.items():
        folder = Path(package["manifest_path"]).parent
        own = [path for path in (folder / "src").rglob("LICENSE*") if path.is_file()]
        assert bool(own) == (" AND " in package["license"]), (name, own)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_crate_asks_for_versions(name: str) -> None:
    """A dependency on a crate of the workspace has this version beside its path, and is published
    itself: a package has no paths."""
    for dependency in PUBLISHED[name]["dependencies"]:
        if dependency.get("path"):
            assert dependency["req"] == f"^{VERSION}", dependency["name"]
            assert dependency["name"] in PUBLISHED, dependency["name"]
