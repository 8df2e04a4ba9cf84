"""Behaviors in Python: the program of one module."""

from __future__ import annotations

from typing import Any, ClassVar, Optional, Protocol, Sequence

from ._core import Agent, Message

__all__ = ["Agent", "Behavior", "Controller", "Message"]


class Behavior:
    """The program of a module. Every module that has it gets an object of its own, made without arguments.

    ::

        class Wave(volvox.Behavior):
            state = ("phase",)

            def start(self, agent):
                self.phase = 0.0

            def step(self, agent):
                self.phase += 2.0 * agent.dt
                agent.move_to("pitch", 0.3 * math.sin(self.phase))

        world = volvox.load("remod3d/snake", behaviors={"snake": Wave})

    Use only the agent: its percepts, its clock, its random numbers. The same seed then gives the same run.
    """

    state: ClassVar[Optional[Sequence[str]]] = None
    """The attributes that change, for snapshots and state hashes: () if there are none. Without it the world is
    refused where its state is needed, and the message names this behavior. Attributes may be None, booleans, numbers,
    text, bytes, arrays, and lists, tuples, sets and dicts of them."""

    period: float = 0.0
    """Seconds between two calls of step; 0: every tick."""

    def start(self, agent: Agent) -> None:
        """Once, before the first tick; percepts can be read."""

    def step(self, agent: Agent) -> None:
        """Once a tick, or once a period."""
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self, agent)")

    def receive(self, agent: Agent, message: Message) -> bool:
        """A message has arrived. True takes it; otherwise it waits for agent.read()."""
        return False

    def end_tick(self, agent: Agent) -> None:
        """All messages of the tick have arrived."""

    def tune(self, agent: Agent) -> None:
        """A parameter was changed during the run: read again what start has stored."""


class Controller(Protocol):
    """Commands all modules of a world at once, at the start of every tick (volvox.World.add_controller)."""

    def step(self, world: Any) -> None:
        """Reads the world's arrays and calls world.command or world.act."""
