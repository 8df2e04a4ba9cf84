"""Recordings as arrays."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Mapping, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import dict_of, whole
from ._files import replace_file
from .errors import InputError, VolvoxError
from .events import DockEvent

__all__ = ["Recording", "Show", "Track", "Verification"]


class Track(NamedTuple):
    """What a recording holds, tick by tick. SI units, world frame."""

    ticks: npt.NDArray[np.int64]
    """(n,)"""
    times: npt.NDArray[np.float64]
    """(n,), s"""
    poses: npt.NDArray[np.float32]
    """(n, links, 7): x, y, z in m and the quaternion w, x, y, z of each link"""
    joint_positions: npt.NDArray[np.float64]
    """(n, joints), rad or m"""
    joint_velocities: npt.NDArray[np.float64]
    """(n, joints), rad/s or m/s"""
    joint_torques: npt.NDArray[np.float64]
    """(n, joints), N m or N"""
    dock_flags: npt.NDArray[np.uint32]
    """(n, docks): 1 enabled + 2 latching + 4 engaged + 8 broken"""
    dock_partners: npt.NDArray[np.int32]
    """(n, docks): the dock at the other end, -1 if it is free"""
    dock_loads: npt.NDArray[np.float32]
    """(n, docks): the load as a fraction of the dock's strength"""
    hashes: list[str]
    """The state hash of each tick."""
    events: list[DockEvent]
    """The docks that connected or came apart in these ticks."""


class Verification(NamedTuple):
    """What Recording.verify() found."""

    same: bool
    """Whether every tick came out as it was recorded, to the last bit."""
    ticks: int
    """that were simulated again"""
    of: int
    """ticks that the recorded run made"""
    time: float
    """s: of the first tick that differs"""
    module: str
    """the module that differs; empty: none"""
    field: str
    """what differs"""
    detail: str
    """the recorded and the new value"""


class Show:
    """A page inside a notebook. Made by Recording.show()."""

    def __init__(self, page: str, height: int, title: str) -> None:
        if not 50 <= height <= 10000:
            raise InputError(f"a height of {height} pixels is not possible; give 50 to 10000")
        self.page: str = page
        """The text of the page."""
        self.height: int = height
        """px"""
        self.title: str = title
        """What it shows."""

    def __repr__(self) -> str:
        return f"<volvox.Show {self.title}: {len(self.page) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        # A frame of its own: its script and style do not meet those of the notebook, which it cannot reach.
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title, quote=True)}" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{html.escape(self.page, quote=True)}"></iframe>'
        )


class Recording:
    """A recording that `volvox run --record` or World.record wrote: the folder of the run, or the file itself."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._core = _core.open_recording(os.fspath(path))
        self.file: str = self._core.file
        self.links: list[str] = self._core.links
        self.joints: list[str] = self._core.joints
        self.docks: list[str] = self._core.docks
        self.modules: list[str] = self._core.modules
        self.first_tick: int = self._core.first_tick
        self.last_tick: int = self._core.last_tick
        self.dt: str = self._core.dt
        self.complete: bool = self._core.complete
        """False: the run was killed, or the world was not ended."""
        self.warning: str = self._core.warning
        """What to know before relying on it; empty: nothing."""
        self.description: dict[str, str] = self._core.description
        """The settings of the run: experiment, engine, seed, ..."""

    @property
    def summary(self) -> Optional[dict[str, Any]]:
        """The results of the run, as `volvox run --json` prints them; None if it did not end."""
        text = self._core.results.get("summary")
        return None if text is None else json.loads(text)

    def read(self, first: Optional[int] = None, last: Optional[int] = None, every: int = 1) -> Track:
        """The ticks first, first + every, ..., up to last; without arguments all of them."""
        start = self.first_tick if first is None else first
        values = self._core.read(start, self.last_tick if last is None else last, every)
        joints = values["joints"]
        return Track(
            values["ticks"],
            values["times"],
            values["poses"],
            joints[:, :, 0],
            joints[:, :, 1],
            joints[:, :, 2],
            values["dock_flags"],
            values["dock_partners"],
            values["dock_loads"],
            values["hashes"],
            [DockEvent(*event) for event in values["events"]],
        )

    def page(self, every: int = 0) -> str:
        """The viewer with this recording inside, as the text of an HTML page that any browser shows without a server.

        every: shows every so many ticks; 0: as many as fit into 12 MB. As `volvox export --page`.
        """
        return self._core.page(int(every)).decode()

    def save_page(self, file: Union[str, os.PathLike[str]], every: int = 0) -> None:
        """Writes page() as a file, completely or not at all."""
        replace_file(file, self.page(every).encode())

    def show(self, every: int = 0, height: int = 450) -> Show:
        """For Jupyter: the viewer with this recording, so high in pixels, which plays and scrubs without a server. The
        notebook keeps it: about a megabyte, and what was recorded."""
        return Show(self.page(every), height, f"recording of {self.description.get('name', self.file)}")

    def _repr_html_(self) -> str:
        try:
            return self.show()._repr_html_()
        except VolvoxError as error:  # no viewer in this installation, or too much for a page
            return f"<p>recording {html.escape(self.file)}, ticks {self.first_tick} to {self.last_tick}; {html.escape(str(error))}</p>"

    def verify(
        self, *, behaviors: Optional[Mapping[str, Any]] = None, threads: int = 1, accept_changes: bool = False
    ) -> Verification:
        """Runs the experiment again with the recorded inputs, and compares every tick. As `volvox replay --verify`.

        behaviors: the classes that volvox.load() was given, for a run whose modules were programmed in Python. What
        command(), act(), push() and controllers did is in the recording. accept_changes: also with files that have
        changed since. Ctrl-C stops it.
        """
        return Verification(*self._core.verify(dict_of(behaviors, "behaviors", "{'snake': Wave}"), whole(threads, "threads", 1, 1024), accept_changes))
