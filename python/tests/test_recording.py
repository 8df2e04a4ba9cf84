"""Recordings: written from Python, read as arrays."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from conftest import command, command_json

import volvox


def test_a_recording_is_what_happened(tmp_path: pathlib.Path) -> None:
    poses, angles, hashes = [], [], []
    with volvox.load("remod3d/snake", settings={"modules": 4}, duration=0.5) as world:
        world.record(tmp_path)
        for _ in range(30):
            world.step()
            poses.append(world.poses.copy())
            angles.append(world.joint_positions.copy())
            hashes.append(world.state_hash)
        report = world.run(out=tmp_path)
        names = world.link_names, world.joint_names, world.dock_names
    recording = volvox.Recording(tmp_path)
    assert recording.complete and recording.summary is not None
    assert recording.summary["state_hash"] == report["state_hash"] == hashes[-1]
    assert recording.description["experiment"] == "remod3d/snake"
    assert (recording.links, recording.joints, recording.docks) == names
    track = recording.read(recording.last_tick - 29)
    assert track.hashes == hashes
    assert np.allclose(track.poses, np.array(poses), atol=1e-6)
    assert np.allclose(track.joint_positions, np.array(angles), atol=1e-6)
    assert track.dock_flags.shape == track.dock_loads.shape == track.dock_partners.shape
    assert np.allclose(np.diff(track.times), 1 / 60)
    some = recording.read(every=10)
    assert len(some.ticks) == len(range(recording.first_tick, recording.last_tick + 1, 10))
    done = command("replay", str(tmp_path), "--verify")
    assert done.returncode == 0, done.stderr


def test_what_the_command_records(tmp_path: pathlib.Path) -> None:
    told = command_json("run", "remod3d/snake", "--set", "modules=3", "--duration", "0.3", "--record", "--out", str(tmp_path))
    track = volvox.Recording(tmp_path / "recording.mcap").read()
    assert track.hashes[-1] == told["state_hash"]


def test_a_closed_world_leaves_a_recording(tmp_path: pathlib.Path) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}) as world:
        world.record(tmp_path)
        world.step(20)
    recording = volvox.Recording(tmp_path)
    assert recording.last_tick == 20 and recording.summary is None


def test_bad_recordings(tmp_path: pathlib.Path, snake: volvox.World) -> None:
    with pytest.raises(volvox.InputError):
        volvox.Recording(tmp_path / "none")
    (tmp_path / "recording.mcap").write_bytes(b"rubbish")
    with pytest.raises(volvox.InputError):
        volvox.Recording(tmp_path)
    snake.record(tmp_path / "good")
    with pytest.raises(volvox.InputError, match="already"):
        snake.record(tmp_path / "more")
    snake.step(5)
    snake.run(0, out=tmp_path / "good")
    recording = volvox.Recording(tmp_path / "good")
    for first, last, every in ((-1, None, 1), (0, 99, 1), (4, 2, 1), (0, None, 0)):
        with pytest.raises(volvox.InputError, match="give ticks from"):
            recording.read(first, last, every)
    for threads in (0, -1, 1.5):  # 0 ended the interpreter once
        with pytest.raises(volvox.InputError, match="threads"):
            recording.verify(threads=threads)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="no such folder.*nowhere"):
        recording.save_page(tmp_path / "nowhere/page.html")
    with volvox.load("remod3d/snake") as late:
        late.step()
        with pytest.raises(volvox.InputError, match="before the first step"):
            late.record(tmp_path / "late")
