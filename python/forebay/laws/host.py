"""Functions of the engine that laws call, `forebay_host` in `forebay_law.h`."""

from __future__ import annotations

import ctypes
from typing import Any

from forebay.native import native

__all__ = ["HOST", "compiled_host"]

_Double, _Whole, _Code = ctypes.c_double, ctypes.c_int64, ctypes.c_int32

# Pointers are whole numbers, as numba has no others; facts and streams are handed on as they came.
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "fail": (None, _Whole, ctypes.c_char_p, ctypes.c_char_p),
    "drop": (None, _Whole, _Whole, _Code),
    "ln": (_Double, _Double),
    "ln_1p": (_Double, _Double),
    "exp": (_Double, _Double),
    "exp_m1": (_Double, _Double),
    "pow": (_Double, _Double, _Double),
    "cbrt": (_Double, _Double),
    "uniform": (_Double, _Whole),
    "exponential": (_Double, _Whole),
    "normal": (_Double, _Whole),
    "below": (_Whole, _Whole, _Whole),
}


class _CHost(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("forebay_version", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in _SIGNATURES),
    )


class _Host:
    """Functions of the engine by their names, each looked up once. They do not give the
    interpreter's lock away: that would cost more than what they do."""

    def __getattr__(self, name: str) -> Any:
        if name not in _SIGNATURES:
            raise AttributeError(name)
        function = ctypes.PYFUNCTYPE(*_SIGNATURES[name])(_address(name))
        setattr(self, name, function)
        return function


HOST = _Host()
"""The functions as the interpreter calls them."""


def compiled_host(name: str) -> Any:
    """A function as compiled laws call it."""
    return ctypes.CFUNCTYPE(*_SIGNATURES[name])(_address(name))


def _address(name: str) -> int:
    return int(getattr(_CHost.from_address(native().law_host()), name))
