"""Changes of a scenario: at a grid point, in a sensitivity run, in a design, in a case.

Changes are said in data wherever they can be: sections that go, and keys that get other values.
What depends on the grid point in another way is a function of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forebay.scenario.network import Network
from forebay.study.grades import Parameter

__all__ = ["Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a network.

    Sections in `remove` go; then `by` is called with the network and the grid point or case; then
    `set` gives keys values, by path. A path may have `*` for any one name
    (`flows.*.tcp.delayed_ack`); a key is set in every section that its path names, and nowhere if
    the network has none. In values that are text, `{name}` stands for a parameter of the grid
    point.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    by: Callable[[Network, Any], None] | None = None

    def apply(self, network: Network, where: Any, point: Mapping[str, Parameter]) -> list[str]:
        """Change a network; the paths of `set` that it has no section for.

        `where` is what `by` is told, `point` holds the parameters that texts may name. Raises
        `KeyError` for a section to be removed, or a parameter, that is not there.
        """
        network.remove(*self.remove)
        if self.by is not None:
            self.by(network, where)
        found = {path: network.set_each(path, _filled(to, point)) for path, to in self.set.items()}
        return [path for path, count in found.items() if not count]


def _filled(value: Any, point: Mapping[str, Parameter]) -> Any:
    """A value with the point's parameters in its texts."""
    if isinstance(value, str):
        return value.format_map(point)
    if isinstance(value, list):
        return [_filled(entry, point) for entry in value]
    if isinstance(value, dict):
        return {key: _filled(entry, point) for key, entry in value.items()}
    return value
