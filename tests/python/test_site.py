"""The site: pages of the repository and of the program, built without a network."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import chromium
import pytest

from forebay.drawing import to_file
from manual import build, sources
from manual.links import Links
from manual.navigation import navigation
from manual.pictures import FOLDER, PACKAGED, PICTURES, block
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
    """Links that are right on a forge lead to the pages of the site."""
    assert mended(written)[0] == there


def test_files_that_pages_ask_for_come_along() -> None:
    """Files that pages link to come along, and a missing one stops the build."""
    _, links = mended("[f](../../Cargo.toml) ![p](../images/where.svg)")
    assert links.copies == {
        "files/Cargo.toml.txt": ROOT / "Cargo.toml",
        "files/docs/images/where.svg": ROOT / "docs/images/where.svg",
    }
    with pytest.raises(SystemExit, match=re.escape(f"{GUIDE}: nowhere.md: there is no such file")):
        mended("[n](nowhere.md)")


def test_new_pages_are_in_the_navigation() -> None:
    """New pages are in the navigation, found by more than the search."""
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
        Page("examples/index.md", "examples/index.md", "# Examples"),
        Page("other/README.md", "other.md", "# Other"),
    ]
    entries: dict[str, Any] = {}
    for entry in navigation(pages):
        entries |= entry
    assert entries["Guides"] == [{"B": "guides/b.md"}, {"A new guide": "guides/a.md"}]
    assert entries["Examples"] == ["examples/index.md", {"Gallery": [{"G": "gallery/g.md"}]}]
    assert entries["Project"] == [{"Other": "other.md"}]
    assert all(f'"{page.target}"' in json.dumps(entries) for page in pages)


def test_a_forge_has_a_heading_for_each_page_of_the_program() -> None:
    """The page for a forge has a heading for each page of the program, so that links to the
    reference lead to the right place without the site."""
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    headings = {each.lower().replace(" ", "-") for each in re.findall(r"^### (.+)$", text, re.M)}
    pages = reference()
    assert headings <= pages.keys()
    for path in sources.committed():
        for used in re.findall(r"docs/README\.md#([\w-]+)", path.read_text(encoding="utf-8")):
            assert used in headings, path
    assert all(len(each.encode()) < 100_000 for each in pages.values())


ILLUSTRATED = [
    *sorted((ROOT / "docs/tutorial").glob("*.md")),
    *(ROOT / f"docs/guides/{name}.md" for name in ("lab", "linux", "performance", "plots")),
    *(ROOT / f"docs/guides/{name}.md" for name in ("protocol-implementers", "statistics")),
]


@pytest.mark.parametrize("path", ILLUSTRATED, ids=lambda path: path.stem)
def test_pages_have_pictures(path: Path) -> None:
    """Pages have pictures with descriptions for those who do not see them."""
    shown = re.findall(r"!\[([^\]]+)\]\(\.\./images/([\w.-]+)\)", path.read_text(encoding="utf-8"))
    assert shown
    assert all(len(words) > 30 for words, _ in shown)


def test_pictures_are_drawn_of_what_pages_show() -> None:
    """Pictures are drawn of the scenarios that pages show, and are small enough for a slow line."""
    text = "".join(path.read_text(encoding="utf-8") for path in ILLUSTRATED)
    for name in PICTURES:
        assert f"(../images/{name}.svg)" in text
        assert (ROOT / f"docs/images/{name}.svg").stat().st_size < 60_000
    for name, copy in PACKAGED.items():
        assert copy.read_bytes() == (FOLDER / f"{name}.svg").read_bytes()
    drawn = ElementTree.fromstring(to_file(PICTURES["first-run"]()))
    words = {each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"limit 50 packets", "limit 10 packets", "queue (packets)"} <= words
    with pytest.raises(SystemExit, match=r"no block nowhere\.toml"):
        block("tutorial/1-first-run.md", "nowhere.toml")


def test_loads_from_elsewhere_are_noticed(tmp_path: Path) -> None:
    """Loads from elsewhere are noticed, which tell another host who reads; links that one follows
    do not."""
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built where Zensical is installed; a link or an anchor that is dead stops that."""
    pytest.importorskip("zensical", reason="there is no zensical; `make site` installs it")
    folder = tmp_path_factory.mktemp("site")
    build.build(folder / "site", folder / "work")
    return folder / "site"


def test_the_site_is_built(site: Path) -> None:
    """The site has every page of the reference, its mechanisms, and a search that needs no other
    host."""
    assert all((site / "reference" / f"{name}.html").is_file() for name in reference())
    queue = (site / "reference/queue.html").read_text(encoding="utf-8")
    assert 'id="adaptive-red"' in queue
    assert "assets/iframe-worker.js" in queue


def test_the_site_works_from_disk(site: Path) -> None:
    """The site works from disk, with its search, without other hosts, and within the width of a
    phone."""
    chromium.needs(chromium.PLAYWRIGHT, chromium.CHROMIUM)
    pages = ["index", "reference/queue", "guides/statistics", "studies/redn/results"]
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", PROGRAM, "-"]
        + [str(each) for each in (chromium.PLAYWRIGHT, chromium.CHROMIUM, site)]
        + [f"{page}.html" for page in pages],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["elsewhere"] == []
    assert found["sideways"] == []
    assert found["first"].startswith("wf2q_plus")


PROGRAM = """
const [, where, executablePath, site, ...pages] = process.argv.slice(1);
const playwright = await import(where);
const browser = await playwright.chromium.launch({executablePath, args: ["--no-sandbox"]});
const found = {elsewhere: [], sideways: [], first: ""};
for (const width of [1280, 390]) for (const name of pages) {
  const page = await browser.newPage({viewport: {width, height: 850}});
  page.on("request", (request) => {
    if (/^(https?|wss?):/.test(request.url())) found.elsewhere.push(request.url());
  });
  page.on("pageerror", (error) => found.elsewhere.push(String(error)));
  await page.goto(`file://${site}/${name}`);
  await page.waitForTimeout(300);
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) {
    found.sideways.push(`${name} at ${width}`);
  }
  await page.close();
}
const page = await browser.newPage();
await page.goto(`file://${site}/index.html`);
await page.waitForLoadState("load");
await page.keyboard.press("Control+k");
await page.keyboard.type("wf2q_plus", {delay: 50});
const first = page.locator("ol li a, li a").filter({hasText: "wf2q_plus"}).first();
await first.waitFor({timeout: 20000});
found.first = (await first.innerText()).trim();
await browser.close();
console.log(JSON.stringify(found));
"""
