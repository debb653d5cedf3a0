"""The site, built by Zensical of pages that are put together first, without any other host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import tomli_w

from manual.links import Links
from manual.navigation import navigation
from manual.sources import Page, pages

__all__ = ["build", "outside", "stage"]

HERE = Path(__file__).parent
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video)\b[^>]*?\s(?:src|href|srcset)=[\"']?"
    r"((?:https?:)?//[^\s\"'>]+)"
    r"|(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\s\"')]+)"
)


def build(folder: Path, work: Path) -> None:
    """Build the site into `folder`, by way of the folder `work`; raises `SystemExit` where a link
    leads nowhere, or a page would load something from another host."""
    stage(work)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=work, check=False
    )
    if done.returncode:
        raise SystemExit(f"the site is not built: zensical ended with {done.returncode}")
    loads = sorted(set(outside(work / "site")))
    if loads:
        raise SystemExit("pages load from other hosts:\n" + "\n".join(loads))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(work / "site", folder)


def stage(folder: Path) -> None:
    """Write all that Zensical reads into `folder`, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    found = pages()
    links = Links({page.source: page.target for page in found})
    for page in found:
        place = folder / "pages" / page.target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(links.mend(page), encoding="utf-8")
        for name, content in page.pictures.items():
            (place.parent / name).write_bytes(content)
    for target, text in links.lists.items():
        place = folder / "pages" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for target, path in links.copies.items():
        place = folder / "pages" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    shutil.copytree(HERE / "assets", folder / "pages/assets")
    _configure(folder, found)


def _configure(folder: Path, found: list[Page]) -> None:
    config = tomllib.loads((HERE / "zensical.toml").read_text(encoding="utf-8"))
    config["project"]["nav"] = navigation(found)
    (folder / "zensical.toml").write_text(tomli_w.dumps(config), encoding="utf-8")


def outside(folder: Path) -> Iterator[str]:
    """Yields what pages and style sheets load from another host: file and address."""
    for path in [*folder.rglob("*.html"), *folder.rglob("*.css")]:
        for found in LOADED.finditer(path.read_text(encoding="utf-8")):
            address = found[1] or found[2]
            yield f"{path.relative_to(folder)}: {address}"
