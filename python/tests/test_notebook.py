"""Worlds in Jupyter: what they show of themselves, films without a server, and the notebooks of the package."""

from __future__ import annotations

import base64
import html
import json
import pathlib
import re
import struct
import zlib

import numpy as np
import pytest
from conftest import ROOT

import volvox
import volvox.notebook

VIEWER = list(pathlib.Path(volvox.__file__).parent.glob("_native/share/volvox/web/dist/index.html"))
NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


def decoded(data: bytes) -> np.ndarray:
    """A PNG of ours, read by the book."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + content)
        parts[kind] = content
        at += 12 + size
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 1).all()
    return np.cumsum(rows[:, 1:].reshape(height, width, 3), axis=1, dtype=np.uint64).astype(np.uint8)


def test_png() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (7, 11, 3), dtype=np.uint8)
    assert np.array_equal(decoded(volvox.notebook.png(picture)), picture)
    for bad in (picture[0], picture.astype(float), picture[:0]):
        with pytest.raises(volvox.InputError, match="this is no picture"):
            volvox.notebook.png(bad)


def test_a_world_shows_itself(snake: volvox.World) -> None:
    text = snake._repr_html_()
    assert "remod3d/snake" in text and "<td style='text-align:left'>5</td>" in text
    assert "http" not in text
    found = re.search(r"base64,([^']+)", text)
    if found:
        assert decoded(base64.b64decode(found[1])).shape == (270, 480, 3)
    else:
        assert "picture" in text, "it says why there is none"
    snake.close()
    assert "closed" in snake._repr_html_()


def test_a_film(tmp_path: pathlib.Path) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}) as world, volvox.load("remod3d/snake", settings={"modules": 3}) as other:
        try:
            world.picture(width=32, height=32)
        except volvox.InputError as error:
            pytest.skip(f"pictures cannot be drawn here: {error}")
        film = world.film(1, rate=6, width=64, height=48)
        other.step(60)
        assert world.tick == 60 and world.state_hash == other.state_hash, "a film changes nothing"
        assert film.frames.shape == (7, 48, 64, 3) and film.times[-1] == pytest.approx(1)
        assert (film.frames[0] != film.frames[-1]).any()
        for bad in ({"seconds": -1}, {"seconds": 1e5}, {"seconds": 1, "rate": float("nan")}):
            with pytest.raises(volvox.InputError):
                world.film(**bad)
    text = film._repr_html_()
    assert text.count("data:image/png") == 8 and "http" not in text and "src=\"//" not in text
    film.save(tmp_path / "film.html")
    assert (tmp_path / "film.html").read_text().startswith("<!doctype html>")
    with pytest.raises(volvox.InputError, match="as many times"):
        volvox.Film([], [])


def test_a_report_shows_itself(tmp_path: pathlib.Path) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}, duration=2) as world:
        report = world.run(out=tmp_path / "results")
    assert report.page == (tmp_path / "results/report.html").read_text(), "as the command writes it"
    assert all(f">{name}<" in report.page for name in report.metrics)
    plots = re.findall(r"<svg.*?</svg>", report.page, re.DOTALL)
    assert sum("time (s)" in plot and "<polyline" in plot for plot in plots) >= 3
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", report.page), "it loads nothing"
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', report._repr_html_())[1]) == report.page  # type: ignore[index]
    report.save_page(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.page
    with pytest.raises(volvox.InputError, match="height"):
        report.show(height=1)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebooks_run(notebook: pathlib.Path, tmp_path: pathlib.Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pages = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in pages.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(pages, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in pages.cells if cell.cell_type == "code" for output in cell.outputs]
    htmls = [str(output.get("data", {}).get("text/html", "")) for output in shown]
    assert any("volvox-film" in text for text in htmls)
    assert any("<iframe" in text and "Metrics" in text and "&lt;svg" in text for text in htmls)
    if VIEWER:
        assert any("<iframe" in text and "volvox-recording" in text for text in htmls)


def messages_in(page: str) -> list[bytes]:
    """What a page holds: hello, the tree, and a frame for each tick that it shows."""
    found = re.search(r'id="volvox-recording">([A-Za-z0-9+/=]+)</script>', page)
    assert found is not None
    data, at, messages = base64.b64decode(found[1]), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        messages.append(data[at + 8 : at + 8 + size])
        at += 8 + (size + 3) // 4 * 4
    return messages


@pytest.mark.skipif(not VIEWER, reason="the viewer is not built")
def test_a_recording_as_a_page(tmp_path: pathlib.Path) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}, duration=1) as world:
        world.run(out=tmp_path / "results", record=True)
    recording = volvox.Recording(tmp_path / "results")
    track = recording.read(every=6)
    hello, tree, *frames = messages_in(recording.page(every=6))
    assert json.loads(hello)["name"] == "remod3d/snake" and json.loads(hello)["mode"] == "replay" and tree[:4] == b"VXS1"
    assert len(frames) == len(track.times) == 11
    for frame, poses, time in zip(frames, track.poses, track.times):
        assert frame[:4] == b"VXF1" and struct.unpack_from("<d", frame, 24)[0] == pytest.approx(time)
        drawn = np.frombuffer(frame, np.float32, 7 * len(recording.links), 40).reshape(-1, 7)
        assert np.array_equal(drawn[:, :3], poses[:, :3]) and np.array_equal(drawn[:, 3:6], poses[:, 4:])
    assert len(messages_in(recording.page())) == 2 + 61, "all ticks fit"
    recording.save_page(tmp_path / "run.html", every=6)
    page = (tmp_path / "run.html").read_text()
    assert page == recording.page(every=6) and "src=" not in page.split("<body>")[0], "it loads nothing"
    shown = recording.show(every=6, height=300)
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', shown._repr_html_())[1]) == page  # type: ignore[index]
    assert "remod3d/snake" in repr(shown) and "<iframe" in recording._repr_html_()
    for bad in ({"every": -1}, {"height": 3}):
        with pytest.raises(volvox.InputError):
            recording.show(**bad)
