"""What happened in a world: docks, messages."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DockEvent", "MessageEvent", "Network"]


class DockEvent(NamedTuple):
    """Two docks that connected or came apart."""

    time: float
    """s, the end of the tick"""
    kind: str
    """captured, engaged, released, broken, jammed or slipped"""
    dock: str
    """such as s3.front"""
    partner: str
    """the other one"""
    load: tuple[float, float, float, float]
    """of `dock` when it broke or slipped: axial and shear in N, bending and torsion in N m; else zeros"""


class MessageEvent(NamedTuple):
    """A message that arrived."""

    sent: float
    """s"""
    arrived: float
    """s"""
    sender: str
    """the module that sent it"""
    module: str
    """the module that got it"""
    outlet: str
    """the dock, radio or bus where it came in"""
    type: str
    """the name of its type in C++"""
    content: str
    """as JSON; empty where it is long or not known"""


class Network(NamedTuple):
    """Counts of messages since the start."""

    sent: int
    delivered: int
    lost: int
