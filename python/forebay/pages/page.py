"""The page that every report fills in: one self-contained HTML file.

A page asks nothing of any network: styles and drawings are inside it. It follows the reader's light
or dark setting, prints, and fits a phone.
"""

# ruff: noqa: PLC0415 (slow to import, seldom needed)

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import printable
from forebay.run.outputs import PAGE, Output, refuse_losses

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["REPORT", "refuse_foreign_report", "render"]

REPORT = "report.html"
"""The name of the file."""
OWN = "forebay.pages"


def refuse_foreign_report(folder: Path, option: str) -> None:
    """Raise `UserError`, which begins with `option`, if the place of a folder's report is taken by
    a file that is none."""
    refuse_losses([Output(option, folder / REPORT, PAGE)], [], advice="move it away")


def coded(words: str) -> Markup:
    """A sentence with what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in printable(words, keep="\n\t").split("`")]
    if len(parts) % 2 == 0:
        return Markup("`").join(parts)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def render(template: str, *, package: str = OWN, **context: Any) -> str:
    """Fill one of the templates in; `package` has those that are not for all pages."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """A text from outside without characters that a browser would act upon."""
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return printable(value, keep="\n\t") if is_text else value

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in dict.fromkeys((package, OWN))]),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coded"] = coded
    return environment.get_template(template).render(**context)
