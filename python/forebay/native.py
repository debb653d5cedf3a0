"""The native module, `forebay._native`: the engine, as Python calls it.

It is the one of the package, or, where `FOREBAY_ENGINE` in the environment names a shared library,
an engine of one's own: the same with transports and kinds of rows of a crate outside
(`examples/own-element`). It is code, and runs with the rights of the user: load what you trust.
"""

# ruff: noqa: PLC0415 (the engine may not be built; most processes load no other)

from __future__ import annotations

import os
import sys
from typing import Any

from forebay.errors import UserError

__all__ = ["ENGINE", "VERSION", "native", "own_engine", "program"]

ENGINE = "FOREBAY_ENGINE"
"""Variable of the environment that names the library of an engine of one's own."""

VERSION = "0.1.0"
"""Version of this package, which an engine has too."""

_NAME = "forebay._native"


def native() -> Any:
    """The native module. Raises `UserError` if it was not built, or if an engine of one's own
    cannot be loaded."""
    if (loaded := sys.modules.get(_NAME)) is not None:
        return loaded
    if (path := own_engine()) is not None:
        return _load(path)
    try:
        from forebay import _native
    except ImportError as error:
        raise UserError(
            f"the engine is not built ({error}); run `make setup` in a checkout, "
            "or install the wheel"
        ) from None
    return _native


def own_engine() -> str | None:
    """The library of the engine of one's own that this process has, if it has one."""
    return os.environ.get(ENGINE) or None


def program() -> list[str]:
    """The words with which a command begins that is run by the engine of this process."""
    own = own_engine()
    return ["forebay"] if own is None else ["env", f"{ENGINE}={own}", "forebay"]


def _load(path: str) -> Any:
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_file_location

    try:
        with open(path, "rb") as file:
            contents = file.read()
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror or error}") from None
    # Processes that are started later may have another folder; what has no folder would be looked
    # for where the system has its libraries.
    os.environ[ENGINE] = full = os.path.abspath(path)
    spec = spec_from_file_location(_NAME, full, loader=ExtensionFileLoader(_NAME, full))
    assert spec is not None
    assert spec.loader is not None
    try:
        module: Any = module_from_spec(spec)
        spec.loader.exec_module(module)
        version = module.version()
    except (ImportError, SystemError, AttributeError, TypeError) as error:
        raise _refused(path, f"cannot be loaded: {error}") from None
    if version != VERSION:
        raise _refused(
            path, f"was built for Forebay {version}; this is {VERSION}: build it for that"
        )
    # So that what it computes is not taken for what another engine has computed.
    module.set_library(contents)
    sys.modules[_NAME] = module
    setattr(sys.modules["forebay"], _NAME.rpartition(".")[2], module)
    return module


def _refused(path: str, why: str) -> UserError:
    return UserError(
        f"{ENGINE}: {path}: {why}; it is to be the shared library of an engine of one's own "
        "(forebay_python::engine!)"
    )
