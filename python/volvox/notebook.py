"""How worlds show themselves in Jupyter: pictures and films inside the page, which need no server and load nothing."""

from __future__ import annotations

import base64
import html
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._files import replace_file
from .errors import BusyError, InputError, VolvoxError

if TYPE_CHECKING:
    from .world import World

__all__ = ["Film", "film", "png"]

_MOST_FRAMES = 600

_PLAYER = """<div class="volvox-film" style="display:inline-block;font-family:sans-serif;font-size:13px">
<img alt="%(title)s" style="display:block;max-width:100%%" src="%(first)s">
<div style="display:flex;gap:.6em;align-items:center;margin-top:.3em"><button type="button" aria-label="play or pause">&#9654;</button>
<input type="range" min="0" max="%(last)d" value="0" aria-label="time" style="flex:1"><span style="min-width:5em">%(begin).2f s</span></div>
<script type="application/json">%(data)s</script>
<script>(function () {
  const root = document.currentScript.parentElement, data = JSON.parse(root.querySelector("script").textContent);
  const image = root.querySelector("img"), slider = root.querySelector("input"), label = root.querySelector("span"), button = root.querySelector("button");
  let timer = null;
  function show() { image.src = data.frames[slider.value]; label.textContent = data.times[slider.value].toFixed(2) + " s"; }
  function stop() { clearInterval(timer); timer = null; button.textContent = "\\u25b6"; }
  slider.addEventListener("input", function () { stop(); show(); });
  button.addEventListener("click", function () {
    if (timer !== null) return stop();
    button.textContent = "\\u23f8";
    timer = setInterval(function () { slider.value = (Number(slider.value) + 1) %% data.frames.length; show(); }, data.pause);
  });
})();</script></div>"""


def png(picture: npt.NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, 3) as the content of a PNG file."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or 0 in picture.shape:
        raise InputError(f"this is no picture: {picture.shape} and {picture.dtype}; give (height, width, 3) and 8 bits")
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 0] = 1  # each pixel less the one to its left: even surfaces are then zeros
    rows[:, 1:4] = picture[:, 0]
    rows[:, 4:] = (picture[:, 1:].astype(np.int16) - picture[:, :-1]).astype(np.uint8).reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


def _address(picture: npt.NDArray[np.uint8]) -> str:
    return "data:image/png;base64," + base64.b64encode(png(picture)).decode()


class Film:
    """Pictures of a world at several times. In Jupyter it shows itself, with a slider and a button; it needs no server."""

    def __init__(self, frames: Sequence[npt.NDArray[np.uint8]], times: Sequence[float], title: str = "film", speed: float = 1.0) -> None:
        if not frames or len(frames) != len(times):
            raise InputError(f"a film of {len(frames)} pictures and {len(times)} times is not possible; give as many times as pictures, and at least one")
        self.frames: npt.NDArray[np.uint8] = np.stack(frames)
        """(frames, height, width, 3), sRGB"""
        self.times: npt.NDArray[np.float64] = np.array(times, dtype=np.float64)
        """(frames,), s"""
        self.title: str = title
        """What it shows."""
        self.speed: float = speed
        """How fast it plays: simulated s a s."""

    def __repr__(self) -> str:
        return f"<volvox.Film {self.title}: {len(self.times)} pictures, {self.times[0]:.2f} to {self.times[-1]:.2f} s>"

    def _repr_html_(self) -> str:
        pictures = [_address(frame) for frame in self.frames]
        pause = 1000 * (self.times[-1] - self.times[0]) / max(1, len(self.times) - 1) / self.speed
        data = json.dumps({"frames": pictures, "times": [round(float(t), 6) for t in self.times], "pause": max(15.0, float(pause))})
        return _PLAYER % {
            "title": html.escape(self.title, quote=True),
            "first": pictures[0],
            "last": len(pictures) - 1,
            "begin": self.times[0],
            "data": data.replace("</", "<\\/"),
        }

    def save(self, file: Any) -> None:
        """Writes it as a page of its own, which can be opened in any browser."""
        page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(self.title)}</title>{self._repr_html_()}</html>\n'
        replace_file(file, page.encode(errors="replace"))  # a title may have bytes that are not UTF-8


def film(
    world: World,
    seconds: float,
    *,
    rate: float = 10.0,
    camera: str = "",
    width: int = 480,
    height: int = 270,
    docks: str = "state",
    speed: float = 1.0,
) -> Film:
    """Steps a world for so many seconds and takes `rate` pictures a simulated second."""
    if not 0 < seconds < 1e6 or not 0 < rate < 1e4:
        raise InputError(f"a film of {seconds} s with {rate} pictures a second is not possible; give positive numbers")
    every = max(1, round(1 / (rate * world.dt)))
    last = world.tick + max(1, round(seconds / world.dt))
    if (last - world.tick) / every > _MOST_FRAMES:
        raise InputError(f"this film would have more than {_MOST_FRAMES} pictures; give a smaller rate, or fewer seconds")
    frames, times = [world.picture(camera, width=width, height=height, docks=docks)], [world.time]
    while world.tick < last:
        world.step(min(every, last - world.tick))
        frames.append(world.picture(camera, width=width, height=height, docks=docks))
        times.append(world.time)
    return Film(frames, times, world.experiment, speed)


def world_as_html(world: World) -> str:
    """What a world shows of itself in Jupyter: a picture, where pictures can be drawn, and what it is."""
    try:
        return _described(world) if not world.closed else f"<p>{html.escape(repr(world))}</p>"
    except BusyError:  # another thread is stepping it
        return f"<p>{html.escape(repr(world))}, being stepped</p>"


def _described(world: World) -> str:
    engaged = int(np.count_nonzero(world.dock_phases == 2)) // 2
    facts: list[tuple[str, object]] = [
        ("experiment", world.experiment),
        ("engine", world.engine),
        ("time", f"{world.time:.3f} s, tick {world.tick} of {world.ticks}"),
        ("modules", len(world.module_names)),
        ("organisms", len(set(world.organisms))),
        ("docks engaged", engaged),
    ]
    if world.particle_kind_names:
        facts.append(("particles", int(np.count_nonzero(world.particle_kinds >= 0))))
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(str(value))}</td></tr>" for name, value in facts)
    shown: Optional[str]
    try:
        shown = _address(world.picture(width=480, height=270))
    except BusyError:
        raise
    except VolvoxError as error:
        shown = None
        rows += f"<tr><th style='text-align:left'>picture</th><td style='text-align:left'>{html.escape(str(error).splitlines()[0])}</td></tr>"
    image = f"<img alt='{html.escape(world.experiment, quote=True)}' style='max-width:100%' src='{shown}'>" if shown else ""
    return f"<div>{image}<table>{rows}</table></div>"
