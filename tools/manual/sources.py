"""Pages of the site: the committed ones, examples and notebooks, and those of the program."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manual.reference import reference

__all__ = ["ROOT", "Page", "committed", "pages"]

ROOT = Path(__file__).resolve().parents[2]

COMMITTED = (
    "*.md",
    "docs/**/*.md",
    "examples/**/README.md",
    "studies/*/README.md",
    "studies/*/results.md",
    "studies/*/transports.md",
    "suites/*/README.md",
    "suites/*/results.md",
    "bench/**/README.md",
    "validation/**/README.md",
)
"""Markdown files of the repository that are pages."""


@dataclass
class Page:
    """A page: where its links start from in the repository, its place in the site, its Markdown,
    and pictures that belong to it, by name."""

    source: str
    target: str
    text: str
    pictures: dict[str, bytes] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first heading, without Markdown."""
        found = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        return re.sub(r"[`*]|\[|\]\([^)]*\)", "", found[1]) if found else Path(self.target).stem


def pages() -> list[Page]:
    """Every page; links are still those of the repository."""
    found = [*_committed(), _examples(), *_notebooks()]
    found += [
        Page(f"docs/reference/{name}.md", f"reference/{name}.md", text)
        for name, text in reference().items()
    ]
    return found


def committed() -> list[Path]:
    """The Markdown files of the repository that are pages."""
    return sorted({path for pattern in COMMITTED for path in ROOT.glob(pattern)})


def _committed() -> Iterator[Page]:
    for path in committed():
        source = path.relative_to(ROOT).as_posix()
        yield Page(source, _target(source), path.read_text(encoding="utf-8"))


def _target(source: str) -> str:
    """`docs/guides/lab.md` as `guides/lab.md`; a README by the name of its folder, or as the index
    of a part of the navigation."""
    if source == "docs/README.md":
        return "contents.md"
    folder, _, name = source.removeprefix("docs/").rpartition("/")
    if name != "README.md":
        return f"{folder}/{name.lower()}".lstrip("/")
    is_part = not folder or folder.startswith(("studies/", "suites/"))
    return f"{folder}/index.md".lstrip("/") if is_part else f"{folder}.md"


def _examples() -> Page:
    """The scenarios of `examples/` on one page, each with its opening comment as text."""
    lines = ["# Examples", "", "Short scenarios, each run by `forebay run examples/NAME.toml`."]
    for path in sorted((ROOT / "examples").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        lines += ["", f"## {path.stem}", "", f'```toml title="{path.name}"', text.rstrip(), "```"]
    return Page("examples/index.md", "examples/index.md", "\n".join(lines) + "\n")


def _notebooks() -> Iterator[Page]:
    for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        page = Page(f"docs/notebooks/{path.name}", f"notebooks/{path.stem}.md", "")
        for number, cell in enumerate(notebook["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                page.text += f"{source}\n\n"
                continue
            page.text += f"```python\n{source}\n```\n\n"
            for output in cell["outputs"]:
                page.text += _output(page, f"{path.stem}-{number}", output)
        yield page


def _output(page: Page, name: str, output: Mapping[str, Any]) -> str:
    """Returns what a cell of a notebook printed, drew or gave, as Markdown."""
    data = output.get("data", {})
    if picture := data.get("image/png"):
        page.pictures[f"{name}.png"] = base64.b64decode("".join(picture))
        return f"![What the cell above draws]({name}.png)\n\n"
    if drawn := data.get("image/svg+xml"):
        page.pictures[f"{name}.svg"] = "".join(drawn).encode()
        return f"![What the cell above draws]({name}.svg)\n\n"
    if table := data.get("text/html"):
        # One line, so that no part of it is read as Markdown.
        return f'<div class="output">{" ".join("".join(table).split())}</div>\n\n'
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```\n\n" if text else ""
