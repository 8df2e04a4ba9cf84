"""Many worlds stepped together."""

from __future__ import annotations

from typing import Callable, Iterator, Optional, Sequence

from . import _core
from ._arguments import whole
from .errors import InputError
from .world import World

__all__ = ["Population"]


class Population(Sequence[World]):
    """Worlds that are stepped together, over threads. A world has the same bits alone and in a population.

    Worlds with behaviors or controllers in Python are refused: the interpreter would run one of them at a time.
    With device="cuda", an NVIDIA GPU moves the worlds that it can, with the same bits; on_device says which it did not.
    """

    def __init__(self, worlds: Sequence[World], threads: int = 1, device: str = "cpu") -> None:
        self._worlds = list(worlds)
        for world in self._worlds:
            if not isinstance(world, World):
                raise InputError(f"a population is made of worlds, and {world!r} is none; use volvox.load()")
        self._core = _core.Population([world._core for world in self._worlds], whole(threads, "threads", 1, 1024), device)

    def __getitem__(self, index: int) -> World:  # type: ignore[override]
        return self._worlds[index]

    def __len__(self) -> int:
        return len(self._worlds)

    def __iter__(self) -> Iterator[World]:
        return iter(self._worlds)

    def step(
        self,
        ticks: int = 1,
        which: Optional[Sequence[int]] = None,
        *,
        progress: Optional[Callable[[int], object]] = None,
    ) -> None:
        """Steps all worlds, or those of these indices. Ctrl-C stops after whole ticks, the same for all worlds.

        progress is called a few times a second, and at the end, with the ticks that were made; what it raises stops the
        stepping like Ctrl-C. The worlds are in use meanwhile. Raises RunFailed where a world fails; the others have made
        their ticks then.
        """
        chosen = list(range(len(self._worlds))) if which is None else [whole(i, "which", -(2**31), 2**31 - 1) for i in which]
        self._core.step(ticks, chosen, progress)

    @property
    def on_device(self) -> dict[str, object]:
        """Of the ticks so far: `ticks` that the GPU made, `left` (why it did not make others, with how many), `failure`."""
        ticks, left, failure = self._core.on_device()
        return {"ticks": ticks, "left": left, "failure": failure}

    def close(self) -> None:
        """Closes all worlds."""
        for world in self._worlds:
            world.close()
