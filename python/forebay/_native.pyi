from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from numpy.typing import NDArray

class ScenarioError(Exception): ...

class _Job(TypedDict):
    text: str
    name: str
    set: Sequence[str]
    seed: int | None
    replication: int
    until: str | None
    record: bool
    threads: int
    command: str | None

_Tables = dict[str, dict[str, NDArray[Any] | list[str]]]

def version() -> str: ...
def build() -> str: ...
def catalogue() -> str: ...
def result_columns() -> str: ...
def schema() -> str: ...
def check(text: str, name: str, overrides: Sequence[str]) -> str: ...
def run_batch(
    jobs: Sequence[_Job],
    threads: int,
    done: Callable[[int, str, _Tables], None],
    failed: Callable[[int, str], None],
    tick: Callable[[list[float]], None] | None = None,
) -> None: ...
