"""Values of Python as bytes, and back, for state hashes, snapshots and messages.

The same values give the same bytes in every process. pickle and marshal do not: they note which objects are the same.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from .errors import StateError

from_json = json.loads


def pack(value: Any) -> bytes:
    """None, booleans, numbers, text, bytes, arrays, lists, tuples, sets and dicts of them."""
    out: list[bytes] = []
    try:
        _pack(value, out)
    except RecursionError:
        raise StateError("a value holds itself, or is nested too deep to be part of a state or a message; use flat lists") from None
    return b"".join(out)


def _sized(tag: bytes, data: bytes) -> bytes:
    return tag + struct.pack("<Q", len(data)) + data


def _pack(value: Any, out: list[bytes]) -> None:
    if value is None:
        out.append(b"n")
    elif value is True or value is False:
        out.append(b"t" if value else b"f")
    elif isinstance(value, int):
        try:
            out.append(_sized(b"i", str(int(value)).encode()))
        except ValueError:  # Python writes no more than 4300 digits
            raise StateError("a whole number of thousands of digits cannot be part of a state or a message; use bytes") from None
    elif isinstance(value, float):
        out.append(b"d" + struct.pack("<d", value))
    elif isinstance(value, str):
        out.append(_sized(b"s", value.encode(errors="surrogatepass")))
    elif isinstance(value, (bytes, bytearray)):
        out.append(_sized(b"b", bytes(value)))
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.hasobject:
            raise StateError("an array of objects cannot be part of a state or a message; use an array of numbers")
        head = json.dumps([array.dtype.str, array.shape]).encode()
        out.append(_sized(b"a", head) + _sized(b"b", np.ascontiguousarray(array).tobytes()))
    elif isinstance(value, (list, tuple)):
        out.append((b"l" if isinstance(value, list) else b"u") + struct.pack("<Q", len(value)))
        for each in value:
            _pack(each, out)
    elif isinstance(value, (set, frozenset)):
        packed = sorted(pack(each) for each in value)
        out.append(b"e" + struct.pack("<Q", len(packed)) + b"".join(packed))
    elif isinstance(value, dict):
        out.append(b"m" + struct.pack("<Q", len(value)))
        for key, each in value.items():
            _pack(key, out)
            _pack(each, out)
    else:
        raise StateError(
            f"a value of type {type(value).__name__} cannot be part of a state or a message; "
            "use numbers, text, bytes, arrays, and lists, tuples, sets and dicts of them"
        )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise StateError("a packed value ends too early; use another snapshot")
        self.at += size
        return self.data[self.at - size : self.at]

    def size(self) -> int:
        return int(struct.unpack("<Q", self.take(8))[0])

    def value(self) -> Any:
        tag = self.take(1)
        if tag in b"ntf":
            return {b"n": None, b"t": True, b"f": False}[tag]
        if tag == b"d":
            return struct.unpack("<d", self.take(8))[0]
        if tag == b"i":
            return int(self.take(self.size()))
        if tag == b"s":
            return self.take(self.size()).decode(errors="surrogatepass")
        if tag == b"b":
            return self.take(self.size())
        if tag == b"a":
            kind, shape = json.loads(self.take(self.size()))
            self.take(1)
            return np.frombuffer(self.take(self.size()), dtype=np.dtype(kind)).reshape(shape).copy()
        if tag in b"lue":
            values = [self.value() for _ in range(self.size())]
            return values if tag == b"l" else tuple(values) if tag == b"u" else set(values)
        if tag == b"m":
            return {self.value(): self.value() for _ in range(self.size())}
        raise StateError("a packed value is damaged; use another snapshot")


def unpack(data: bytes) -> Any:
    """The value that pack() made bytes of."""
    reader = _Reader(data)
    try:
        value = reader.value()
    except RecursionError:
        raise StateError("a packed value is nested too deep; use another snapshot") from None
    if reader.at != len(data):
        raise StateError("a packed value has bytes left over; use another snapshot")
    return value


def declared(holder: Any) -> tuple[str, ...] | None:
    """The names of the attributes that are its state; None: it does not say."""
    names = getattr(holder, "state", None)
    if names is None or isinstance(names, str):
        return None if names is None else (names,)
    if not isinstance(names, (tuple, list)) or not all(isinstance(each, str) for each in names):
        raise StateError(f"the state of {getattr(holder, '__name__', type(holder).__name__)} is {names!r}; give a tuple of names, such as ('phase',)")
    return tuple(names)


def state_of(holder: Any) -> bytes:
    """The attributes that holder.state names, as bytes."""
    values = {}
    for name in declared(holder) or ():
        try:
            values[name] = getattr(holder, name)
        except AttributeError:
            raise StateError(
                f"{type(holder).__name__}.state names '{name}', which it does not have; set it in __init__ or start"
            ) from None
    return pack(values)


def set_state(holder: Any, data: bytes) -> None:
    """Sets the attributes from what state_of() returned."""
    values = unpack(data)
    names = declared(holder) or ()
    if not isinstance(values, dict) or tuple(values) != names:
        raise StateError(f"the state of {type(holder).__name__} lists other attributes than {', '.join(names) or 'none'}; use the class that the snapshot was taken with")
    for name, value in values.items():
        setattr(holder, name, value)
