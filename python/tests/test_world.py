"""Worlds: the same bits as the command's, arrays that are views, snapshots."""

from __future__ import annotations

import gc
import math
import pathlib
import subprocess
import sys
import weakref
from fractions import Fraction

import numpy as np
import pytest
from conftest import chain, command_json, world_text

import volvox


def test_version_and_lists() -> None:
    assert volvox.__version__.count(".") == 2
    assert "remod3d/snake" in volvox.experiments()
    assert {"native", "bullet", "none"} <= set(volvox.engines())
    assert "snake" in volvox.behaviors()


@pytest.mark.parametrize(
    ("experiment", "settings", "seconds", "engine"),
    [
        ("remod3d/snake", {"modules": "5"}, 1.0, "native"),
        ("remod3d/snake", {"modules": "4", "disturbed": "true"}, 0.5, "bullet"),
        ("roles/walker", {}, 0.5, "native"),
        ("remod3d/car_dock", {}, 0.3, "native"),
        ("dprsim/flood", {}, None, ""),
    ],
)
def test_same_hash_and_metrics_as_the_command(
    experiment: str, settings: dict[str, str], seconds: float | None, engine: str, tmp_path: pathlib.Path
) -> None:
    words = ["run", experiment, "--seed", "7", "--out", str(tmp_path)]
    words += ["--duration", str(seconds)] if seconds else []
    words += ["--engine", engine] if engine else []
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    told = command_json(*words)
    with volvox.load(experiment, settings=settings, seed=7, duration=seconds, engine=engine) as world:
        report = world.run()
    assert report["state_hash"] == told["state_hash"]
    assert report["ticks"] == told["ticks"] and report["modules"] == told["modules"]
    # Other than the wall time's.
    assert dict(report["metrics"]) == told["metrics"]


def test_same_hash_at_any_number_of_threads_and_however_it_is_stepped() -> None:
    hashes = set()
    for threads, pieces in ((1, [30]), (2, [1] * 30), (3, [7, 0, 23])):
        with volvox.load("remod3d/snake", settings={"modules": 6}, threads=threads, seed=3) as world:
            for ticks in pieces:
                world.step(ticks)
            assert world.tick == 30 and world.threads == threads
            hashes.add(world.state_hash)
    assert len(hashes) == 1


def test_reading_and_pictures_do_not_change_a_run(snake: volvox.World) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 5}) as other:
        other.step(20)
        for _ in range(20):
            snake.step()
            _ = snake.poses.sum() + snake.dock_loads.sum() + snake.percepts("accelerometer").sum()
        assert snake.state_hash == other.state_hash


def test_dt_seed_and_settings(snake: volvox.World) -> None:
    assert snake.settings["modules"] == "5" and snake.seed == 1 and snake.engine == "native"
    for dt in ("1/120", 1 / 120, Fraction(1, 120)):
        with volvox.load("remod3d/snake", dt=dt, settings={"modules": 3, "disturbed": True}, seed=5) as world:
            assert math.isclose(world.dt, 1 / 120) and world.settings["disturbed"] == "true"
            world.step(120)
            assert world.time == 1.0


def test_arrays_have_shapes_and_names(snake: volvox.World) -> None:
    links, docks = len(snake.link_names), len(snake.dock_names)
    assert snake.module_names == ["s0", "s1", "s2", "s3", "s4"] and set(snake.module_models) == {"superbot"}
    assert snake.poses.shape == (links, 7) and snake.velocities.shape == (links, 6)
    assert snake.joint_positions.shape == snake.joint_velocities.shape == snake.joint_torques.shape == (15,)
    assert snake.dock_loads.shape == (docks, 4) and snake.dock_phases.shape == snake.dock_partners.shape == (docks,)
    assert len(snake.motor_names) == 15 and snake.motor_names[0].startswith("s0.")
    assert [snake.joint_names[j] for j in snake.motor_joints] == snake.motor_names
    assert [snake.link_names[i].split(".")[0] for i in snake.module_links] == snake.module_names
    assert np.allclose(np.linalg.norm(snake.poses[:, 3:], axis=1), 1)
    assert snake.link_modules[snake.link_names.index("s3.head")] == 3
    assert (snake.link_modules == -1).sum() == 1  # the ground
    assert (snake.motor_torque > 0).all() and (snake.motor_lower < snake.motor_upper).all()


def test_arrays_are_views_that_follow_the_world(snake: volvox.World) -> None:
    poses, angles, loads = snake.poses, snake.joint_positions, snake.dock_loads
    accelerations = snake.percepts("accelerometer")
    before = poses.copy()
    snake.step(60)
    assert poses is snake.poses and not np.array_equal(poses, before)
    assert poses.base is not None and not poses.flags.writeable and not poses.flags.owndata
    assert np.abs(angles).max() > 0.01 and np.abs(loads).max() > 0.1
    assert np.array_equal(accelerations, snake.percepts("accelerometer")) and np.isfinite(accelerations).all()
    angle = snake.percepts("yaw.angle")
    assert angle.shape == (5, 1)
    with pytest.raises(ValueError, match="read-only"):
        poses[0, 0] = 1


def test_arrays_outlive_their_world() -> None:
    world = volvox.load("remod3d/snake", settings={"modules": 3})
    poses, percepts = world.poses, world.percepts("pitch.angle")
    world.step(3)
    kept = poses.copy()
    world.close()
    del world
    gc.collect()
    assert np.array_equal(poses, kept) and percepts.shape == (3, 1)


def test_views_stay_when_docks_join_and_part() -> None:
    """Docking makes the engine's own arrays grow."""
    with volvox.load("remod3d/car_dock", seed=2) as world:
        phases, partners, loads, poses = world.dock_phases, world.dock_partners, world.dock_loads, world.poses
        addresses = [array.__array_interface__["data"] for array in (phases, partners, loads, poses)]
        first = (phases == 2).sum()
        kinds = set()
        for _ in range(140):
            world.step(30)
            kinds |= {event.kind for event in world.events}
            engaged = np.flatnonzero(phases == 2)
            assert (partners[partners[engaged]] == engaged).all()
            if {"engaged", "released"} <= kinds:
                break
        assert {"captured", "engaged", "released"} <= kinds, kinds
        assert first > 0
        assert addresses == [array.__array_interface__["data"] for array in (phases, partners, loads, poses)]
        assert len(set(world.organisms.tolist())) >= 1


def test_commands_move_motors() -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3, "sync": "clock"}, behaviors={"snake": "commanded"}) as world:
        world.step(10)
        assert np.abs(world.joint_positions).max() < 0.05
        targets = np.zeros(9)
        targets[world.motor_names.index("s1.pitch")] = 0.4
        world.command(targets)
        world.step(60)
        moved = dict(zip(world.joint_names, world.joint_positions))
        assert abs(moved["s1.pitch"] - 0.4) < 0.1 and abs(moved["s0.pitch"]) < 0.1
        world.command([1.0], "velocity", motors=[world.motor_names.index("s0.roll")])
        world.step(5)
        assert world.joint_velocities[world.joint_names.index("s0.roll")] > 0.2
        world.act("yaw", [0.1, 0.2, 0.3])
        world.act("front", 0.0, modules=[2])
        world.step(60)
        assert world.joint_positions[world.joint_names.index("s2.yaw")] > 0.15
        assert not world.dock_enabled[world.dock_names.index("s2.front")]


def test_commands_are_part_of_the_state() -> None:
    arguments = {"settings": {"modules": 3, "sync": "clock"}, "behaviors": {"snake": "commanded"}}
    with volvox.load("remod3d/snake", **arguments) as world:  # type: ignore[arg-type]
        world.command(np.full(9, 0.2))
        world.step(10)
        snapshot = world.snapshot()
        world.step(20)
        end = world.state_hash
        world.restore(snapshot)
        world.step(20)
        assert world.state_hash == end
        other = world.fork()
        assert other.state_hash == end
        world.step(5)
        other.step(5)
        assert other.state_hash == world.state_hash != end
        other.command(np.zeros(9))
        world.step(5)
        other.step(5)
        assert other.state_hash != world.state_hash
        other.close()


def test_snapshots_go_to_the_command_and_come_from_it(tmp_path: pathlib.Path) -> None:
    words = ["run", "remod3d/snake", "--set", "modules=4"]
    whole = command_json(*words, "--duration", "1", "--out", str(tmp_path / "whole"))
    with volvox.load("remod3d/snake", settings={"modules": 4}, duration=1) as world:
        world.step(30)
        (tmp_path / "half.snap").write_bytes(world.snapshot())
    rest = command_json(*words, "--duration", "1", "--restore", str(tmp_path / "half.snap"), "--out", str(tmp_path / "rest"))
    assert rest["state_hash"] == whole["state_hash"]
    command_json(*words, "--duration", "0.5", "--save", str(tmp_path / "other.snap"), "--out", str(tmp_path / "half"))
    with volvox.load("remod3d/snake", settings={"modules": 4}, duration=1, restore=tmp_path / "other.snap") as world:
        assert world.tick == 30
        assert world.run()["state_hash"] == whole["state_hash"]


def test_a_restored_run_reports_the_same_metrics() -> None:
    with volvox.load("remod3d/snake", settings={"modules": 4}, duration=1.5) as world:
        world.step(40)
        snapshot = world.snapshot()
        world.step(50)
        first = world.end()
        with pytest.raises(volvox.RunFailed, match="has ended"):
            world.step()
        world.restore(snapshot)
        assert world.run().metrics == first.metrics
        history = first.history
        assert (np.diff(history["time_s"]) > 0).all() and len(history["centre_x_m"]) == len(history["time_s"])


def test_sdf_as_text_file_and_path(tmp_path: pathlib.Path) -> None:
    text = chain("hold")
    (tmp_path / "mine.sdf").write_text(text)
    hashes = set()
    for source in (text, str(tmp_path / "mine.sdf"), tmp_path / "mine.sdf"):
        with volvox.load(source) as world:
            world.step(10)
            hashes.add(world.state_hash)
            forked = world.fork()
            assert forked.state_hash == world.state_hash
    assert len(hashes) == 1


def test_messages_and_network(snake: volvox.World) -> None:
    snake.watch_messages()
    snake.step(30)
    messages = snake.messages
    assert messages and {message.module for message in messages} <= set(snake.module_names)
    assert all(message.arrived >= message.sent for message in messages)
    assert any(message.content for message in messages) and all(message.sender for message in messages)
    assert snake.network.sent > 0 and snake.network.delivered > 0


def test_inputs(snake: volvox.World) -> None:
    before = snake.centre_of_mass
    for _ in range(10):
        snake.push("s2", (0, 200, 0))
        snake.step()
    assert snake.centre_of_mass[1] - before[1] > 0.005
    snake.set_parameter("amplitude", 0.0)
    snake.step()
    with pytest.raises(volvox.InputError, match="no behavior has a parameter 'amplitud'; did you mean 'amplitude'"):
        snake.set_parameter("amplitud", 1)
    with pytest.raises(volvox.InputError, match="no behavior of 's1' has a parameter 'no_such'; there are: "):
        snake.set_parameter("no_such", 1, module="s1")
    with pytest.warns(volvox.VolvoxWarning, match="no behavior has a parameter 'amplitude' that takes the value 'wide'"):
        snake.set_parameter("amplitude", "wide")  # only the behavior knows what it takes
        snake.step()


def test_warnings_of_worlds() -> None:
    with pytest.warns(volvox.VolvoxWarning, match="nothing here has a mind") as told:
        world = volvox.load(world_text(""))
    assert any("nothing here" in text for _, text in world.log)
    with pytest.warns(volvox.VolvoxWarning, match="an input was refused") as refused, volvox.load("remod3d/snake") as snake:
        snake.set_parameter("amplitude", "wide")
        snake.run(0.1)
    assert [warning.filename for warning in [*told, *refused]] == [__file__, __file__], "where the user can mend it"


def test_pictures(snake: volvox.World) -> None:
    picture = snake.picture("left", width=160, height=120)
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8 and picture.std() > 1
    snake.step(60)
    assert not np.array_equal(snake.picture("left", width=160, height=120), picture)
    with pytest.raises(volvox.InputError):
        snake.picture("nowhere")


def test_results_in_a_folder(tmp_path: pathlib.Path) -> None:
    times: list[float] = []
    with volvox.load("remod3d/snake", settings={"modules": 3}, duration=1) as world:
        report = world.run(out=tmp_path / "results", progress=times.append)
    assert times == sorted(times) and math.isclose(times[-1], 1.0)
    for name in ("summary.json", "metrics.csv", "report.html"):
        assert (tmp_path / "results" / name).stat().st_size > 100
    assert report["status"] == "done" and len(report) == len(list(report)) and "metrics" in repr(report)
    frame = pytest.importorskip("pandas") and report.frame()
    assert frame.index.name == "time_s" and len(frame) > 10


def test_worlds_are_freed() -> None:
    """Also those whose controller refers to them."""
    world = volvox.load("remod3d/snake", settings={"modules": 3})
    world.add_controller(lambda _, me=world: None)
    world.step(2)
    reference = weakref.ref(world)
    del world
    gc.collect()
    assert reference() is None


def test_import_is_light() -> None:
    """The environments and pandas are imported when they are asked for, not before."""
    code = "import sys, volvox; print(*[m for m in ('gymnasium', 'pandas', 'pettingzoo') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
