"""The site: pages of the repository and of the program, built without a network."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from manual import build, sources
from manual.links import Links
from manual.navigation import navigation
from manual.reference import reference
from manual.sources import ROOT, Page

GUIDE = "docs/guides/new.md"


def mended(text: str, source: str = GUIDE) -> tuple[str, Links]:
    """A page of docs/guides as the site has it, beside the places that its links found."""
    places = {
        GUIDE: "guides/new.md",
        "docs/README.md": "contents.md",
        "studies/af/README.md": "studies/af/index.md",
        "docs/reference/queue.md": "reference/queue.md",
        "docs/reference/results.md": "reference/results.md",
    }
    links = Links(places)
    return links.mend(Page(source, "guides/new.md", text)), links


@pytest.mark.parametrize(
    ("written", "there"),
    [
        ("[s](../../studies/af)", "[s](../studies/af/index.md)"),
        ("[s](../../studies/af/README.md#x)", "[s](../studies/af/index.md#x)"),
        ("[r](../README.md#results)", "[r](../reference/results.md)"),
        ("[c](../README.md#elsewhere)", "[c](../contents.md#elsewhere)"),
        ("[f](../../Cargo.toml)", "[f](../files/Cargo.toml.txt)"),
        ("[b](../../examples/own-law/src)", "[b](../files/examples/own-law/src/index.md)"),
        ("[h](https://example.org) [i](#in)", "[h](https://example.org) [i](#in)"),
        ("`forebay mechanisms red`", "[`forebay mechanisms red`](../reference/queue.md#red)"),
        ("`forebay mechanisms queue`", "[`forebay mechanisms queue`](../reference/queue.md)"),
        ("```toml a.toml\n# [x](y)\n```", '```toml title="a.toml"\n# [x](y)\n```'),
    ],
)
def test_links_lead_to_the_site(written: str, there: str) -> None:
    """A link that is right on a forge would lead out of the site."""
    assert mended(written)[0] == there


def test_files_that_pages_ask_for_come_along() -> None:
    """A link to a source file would lead nowhere in the site, or one be forgotten."""
    _, links = mended("[f](../../Cargo.toml) ![p](../images/where.svg)")
    assert links.copies == {
        "files/Cargo.toml.txt": ROOT / "Cargo.toml",
        "files/docs/images/where.svg": ROOT / "docs/images/where.svg",
    }
    with pytest.raises(SystemExit, match=re.escape(f"{GUIDE}: nowhere.md: there is no such file")):
        mended("[n](nowhere.md)")


def test_new_pages_are_in_the_navigation() -> None:
    """A new guide would be built and found by nothing but the search."""
    pages = [
        Page("README.md", "index.md", "# Home"),
        Page("docs/README.md", "contents.md", "# All\n[b](guides/b.md)"),
        Page("docs/transports.md", "transports.md", "# T"),
        Page("docs/tutorial/1.md", "tutorial/1.md", "# One"),
        Page("docs/guides/a.md", "guides/a.md", "# `A` [new](x) guide"),
        Page("docs/guides/b.md", "guides/b.md", "# B"),
        Page("docs/gallery/g.md", "gallery/g.md", "# G"),
        Page("studies/af/README.md", "studies/af/index.md", "# Af"),
        Page("docs/reference/queue.md", "reference/queue.md", "# Queue"),
        Page("other/README.md", "other/index.md", "# Other"),
    ]
    entries: dict[str, Any] = {}
    for entry in navigation(pages):
        entries |= entry
    assert entries["Guides"] == [{"B": "guides/b.md"}, {"A new guide": "guides/a.md"}]
    assert entries["Examples"] == [{"Gallery": [{"G": "gallery/g.md"}]}]
    assert all(f'"{page.target}"' in json.dumps(entries) for page in pages)


def test_a_forge_has_a_heading_for_each_page_of_the_program() -> None:
    """Links that lead to the reference would lead to the top of a page without the site."""
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    headings = {each.lower().replace(" ", "-") for each in re.findall(r"^### (.+)$", text, re.M)}
    pages = reference()
    assert headings <= pages.keys()
    for path in sources.committed():
        for used in re.findall(r"docs/README\.md#([\w-]+)", path.read_text(encoding="utf-8")):
            assert used in headings, path
    assert all(len(each.encode()) < 100_000 for each in pages.values())


def test_loads_from_elsewhere_are_noticed(tmp_path: Path) -> None:
    """A page would ask another host, and tell it who reads; links that one follows do not."""
    (tmp_path / "a.html").write_text(
        '<a href="https://a.example">a</a><script async src="https://b.example/x.js"></script>'
        '<img src="own.svg"><link rel="x" href=//c.example>'
    )
    (tmp_path / "a.css").write_text('@import "https://d.example"; b { src: url(own.woff) }')
    assert sorted(build.outside(tmp_path)) == [
        "a.css: https://d.example",
        "a.html: //c.example",
        "a.html: https://b.example/x.js",
    ]


@pytest.mark.skipif(
    importlib.util.find_spec("zensical") is None, reason="there is no zensical; `make site`"
)
def test_the_site_is_built(tmp_path: Path) -> None:
    """A link or an anchor would be dead in the site, or a page be missing: the build is strict."""
    build.build(tmp_path / "site", tmp_path / "work")
    site = tmp_path / "site"
    assert all((site / "reference" / f"{name}.html").is_file() for name in reference())
    queue = (site / "reference/queue.html").read_text(encoding="utf-8")
    assert 'id="adaptive-red"' in queue
    assert "assets/iframe-worker.js" in queue
    assert "wf2q_plus" in (site / "search.js").read_text(encoding="utf-8")
