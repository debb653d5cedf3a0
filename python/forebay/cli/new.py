"""The command `new`: a commented scenario to start from."""

from __future__ import annotations

from pathlib import Path

from forebay.cli.terminal import print_page
from forebay.errors import UserError, nearest, unwritable
from forebay.run.repeat import quoted

__all__ = ["kinds", "new_scenario", "template"]

TEMPLATES = Path(__file__).parents[1] / "scenario" / "templates"


def kinds() -> dict[str, str]:
    """Scenarios to start from: the first line of each, by name."""
    return {path.stem: _head(path) for path in sorted(TEMPLATES.glob("*.toml"))}


def template(kind: str) -> str:
    """The text of a scenario to start from. Raises `UserError` for an unknown kind."""
    known = kinds()
    if kind not in known:
        raise UserError(f'no kind "{kind}"{nearest(kind, known)}; there are {", ".join(known)}')
    return (TEMPLATES / f"{kind}.toml").read_text(encoding="utf-8")


def new_scenario(kind: str | None, file: Path | None) -> None:
    """Write a scenario of a kind, by default to `KIND.toml`; list the kinds if none is given.

    Raises `UserError` for an unknown kind, or a file that is there already or cannot be written.
    """
    if kind is None:
        found = kinds()
        width = max(map(len, found))
        lines = [f"  {name:{width}}  {head}" for name, head in found.items()]
        print_page("forebay new KIND", [": writes a commented scenario to start from", *lines], [])
        return
    path = file or Path(f"{kind}.toml")
    text = template(kind).replace(f"{kind}.toml", quoted([str(path)]))
    try:
        with path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise UserError(f"{path}: exists already; name another file") from None
    except OSError as error:
        raise unwritable(f"{path}: cannot be written", error) from None
    print_page(str(path), [f": {kinds()[kind]}", f"run it: forebay run {quoted([str(path)])}"], [])


def _head(path: Path) -> str:
    """The first sentence of a template's comment."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip().removesuffix(".")
