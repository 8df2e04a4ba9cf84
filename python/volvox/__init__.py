"""Volvox: a simulator for modular, self-reconfigurable robots.

::

    import volvox

    with volvox.load("remod3d/snake", settings={"modules": 5}) as world:
        world.step(60)
        print(world.time, world.poses[world.module_links, :3])

docs/python.md is the guide. SI units, radians, z up, quaternions w, x, y, z.
"""

from __future__ import annotations

from . import _core
from ._core import __version__
from .behavior import Agent, Behavior, Controller, Message
from .errors import (
    BusyError,
    ClosedError,
    Diagnostic,
    InputError,
    RunFailed,
    StateError,
    VolvoxError,
    VolvoxWarning,
)
from .events import DockEvent, MessageEvent, Network
from .mjcf import read_mjcf
from .notebook import Film
from .population import Population
from .recording import Recording, Show, Track, Verification
from .report import Report
from .robot_spec import RobotSpec
from .world import World, load
from .world_spec import WorldSpec


def experiments() -> list[str]:
    """The names of all experiments, such as "remod3d/snake"."""
    return _core.experiments()


def engines() -> list[str]:
    """The names of all physics engines."""
    return _core.engines()


def behaviors() -> list[str]:
    """The names of all behaviors of Volvox."""
    return _core.behaviors()


__all__ = [
    "Agent",
    "Behavior",
    "BusyError",
    "ClosedError",
    "Controller",
    "Diagnostic",
    "DockEvent",
    "Film",
    "InputError",
    "Message",
    "MessageEvent",
    "Network",
    "Population",
    "Recording",
    "Report",
    "RobotSpec",
    "RunFailed",
    "Show",
    "StateError",
    "Track",
    "Verification",
    "VolvoxError",
    "VolvoxWarning",
    "World",
    "WorldSpec",
    "__version__",
    "behaviors",
    "engines",
    "experiments",
    "load",
    "read_mjcf",
]
