"""What people give to a world, checked: arrays, indices, names, lengths of ticks. Errors say what was given and what is wanted."""

from __future__ import annotations

import difflib
import fnmatch
import operator
import os
import sys
import warnings
from fractions import Fraction
from typing import Any, Mapping, Optional, Sequence, SupportsIndex, Union, cast

import numpy as np
import numpy.typing as npt

from .errors import InputError, VolvoxWarning

Floats = npt.NDArray[np.float64]
Chosen = Union[npt.ArrayLike, str, Sequence[str]]


def warn(text: str) -> None:
    """A VolvoxWarning at the line outside of this package that called it: there the user can do something about it."""
    package = os.path.dirname(__file__) + os.sep
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, VolvoxWarning, stacklevel=level)


def whole(value: object, what: str, least: int, most: int) -> int:
    """A whole number within bounds; no number with a fraction is rounded, and no text is read."""
    if not hasattr(value, "__index__") or isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} is {value!r}; give a whole number")
    number = operator.index(cast(SupportsIndex, value))
    if not least <= number <= most:
        raise InputError(f"{what} is {number}; give a whole number from {least} to {most if most < 2**40 else '2**64 - 1'}")
    return number


def floats(values: npt.ArrayLike, what: str) -> Floats:
    """An array of real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers are not real ones")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be read ({error}); give real numbers") from None


def numbers(values: npt.ArrayLike, shape: tuple[int, ...], what: str, each: str) -> Floats:
    array = floats(values, what)
    if array.shape != shape:
        if array.ndim == 0 and len(shape) == 1:
            raise InputError(f"{what} is one number; give {shape[0]}, one for each {each}")
        raise InputError(f"{what} has the shape {array.shape}; give {shape}, one number for each {each}")
    return np.ascontiguousarray(array)


def suggestion(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    some = ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")
    return (f"did you mean '{near[0]}'? " if near else "") + f"there are: {some or 'none'}"


def indices(values: npt.ArrayLike, what: str) -> npt.NDArray[np.int32]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{what} is an array of shape {array.shape} and type {array.dtype}; give a list of whole numbers")
    if array.size and (array.min() < 0 or array.max() > 2**31 - 1):
        raise InputError(f"{what} has a negative number; give numbers from 0")
    return np.ascontiguousarray(array, dtype=np.int32)


def tick_length(dt: Union[None, str, float, Fraction]) -> Optional[str]:
    if dt is None or isinstance(dt, str):
        return dt
    if isinstance(dt, Fraction):
        return f"{dt.numerator}/{dt.denominator}"
    if not isinstance(dt, (int, float, np.integer, np.floating)) or not 0 < dt < float("inf"):
        raise InputError(f"dt is {dt}; give the length of a tick in s, such as 1/60")
    # 1/60 as a float is not a sixtieth; the nearest simple fraction is what was meant.
    fraction = Fraction(dt).limit_denominator(1_000_000)
    return f"{fraction.numerator}/{fraction.denominator}"


def dict_of(given: Optional[Mapping[str, Any]], what: str, example: str) -> dict[str, Any]:
    """A copy; empty for None."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; give a dict, such as {example}")
    return dict(given or {})


def text_of_settings(settings: Mapping[str, object]) -> dict[str, str]:
    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)

    return {str(name): text(value) for name, value in dict_of(settings, "settings", "{'modules': 5}").items()}


def choose(chosen: Chosen, names: list[str], what: str, known: dict[tuple[str, ...], npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """Indices, from indices or from names with *; names are looked up once, and kept in `known`."""
    if isinstance(chosen, str):
        chosen = (chosen,)
    elif isinstance(chosen, np.ndarray) and chosen.dtype.kind == "U":
        chosen = tuple(str(each) for each in chosen.ravel())
    if not isinstance(chosen, (list, tuple)) or not any(isinstance(each, str) for each in chosen):
        return indices(chosen, what)
    key = (what, *(str(each) for each in chosen))
    if key not in known:
        found: list[int] = []
        for each in chosen:
            if not isinstance(each, str):
                raise InputError(f"{what} has both names and numbers; give one of them")
            fitting = [i for i, name in enumerate(names) if name == each or fnmatch.fnmatchcase(name, each)]
            if not fitting:
                raise InputError(f"{what}: there is no '{each}'; {suggestion(each, names)}")
            found += fitting
        known[key] = np.array(found, dtype=np.int32)
    return known[key]
