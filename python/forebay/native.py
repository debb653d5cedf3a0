"""The native module, `forebay._native`: the engine, as Python calls it."""

# ruff: noqa: PLC0415 (the engine may not be built)

from __future__ import annotations

from typing import Any

from forebay.errors import UserError

__all__ = ["native"]


def native() -> Any:
    """The native module. Raises `UserError` if it was not built."""
    try:
        from forebay import _native
    except ImportError as error:
        raise UserError(
            f"the engine is not built ({error}); run `make setup` in a checkout, "
            "or install the wheel"
        ) from None
    return _native
