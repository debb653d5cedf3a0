"""The page that every report fills in: one self-contained HTML file.

A page asks nothing of any network: styles and drawings are inside it. It follows the reader's light
or dark setting, prints, and fits a phone.
"""

from __future__ import annotations

from typing import Any

__all__ = ["REPORT", "render"]

REPORT = "report.html"
"""The name of the file."""


def render(template: str, **context: Any) -> str:
    """Fill one of the templates in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("forebay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**context)
