"""What Python commands is recorded, so that such runs replay: by the command, and in Python."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import volvox
from conftest import chain, command


class Wave(volvox.Behavior):
    state = ("phase",)

    def start(self, agent: volvox.Agent) -> None:
        self.phase = 0.0

    def step(self, agent: volvox.Agent) -> None:
        self.phase += 3 * agent.dt
        agent.move_to("pitch", 0.2 * np.sin(self.phase) + 0.02 * agent.random())


class Gait:
    """A controller with a state."""

    state = ("calls",)

    def __init__(self) -> None:
        self.calls = 0

    def step(self, world: volvox.World) -> None:
        self.calls += 1
        world.command(0.3 * np.sin(0.05 * self.calls - np.arange(len(world.motor_names))))


@pytest.mark.parametrize("threads", [1, 2])
def test_array_commands_replay(tmp_path: pathlib.Path, threads: int) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 4}, behaviors={"snake": "commanded"}, duration=1, threads=threads) as world:
        world.command(np.linspace(-0.1, 0.1, len(world.motor_names)))  # before the recording begins
        world.record(tmp_path)
        for tick in range(40):
            if tick % 3 == 0:
                world.command(0.3 * np.sin(3 * world.time - np.arange(4)), motors="*.pitch")
            if tick == 20:
                world.act("front", 0, modules="s2")
                world.push("s0", (0, 5, 0))
            world.step()
        report = world.run(out=tmp_path)
        assert report["reproducible"] == "with_inputs"
    found = volvox.Recording(tmp_path).verify(threads=3 - threads)
    assert found.same and found.ticks == found.of == 60, found
    done = command("replay", str(tmp_path), "--verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_controllers_replay_without_them(tmp_path: pathlib.Path) -> None:
    with volvox.load("remod3d/snake", settings={"modules": 4}, behaviors={"snake": "commanded"}, duration=0.5) as world:
        world.add_controller(Gait())
        world.record(tmp_path)
        world.run(out=tmp_path)
    assert volvox.Recording(tmp_path).verify().same
    assert command("replay", str(tmp_path), "--verify").returncode == 0


def test_worlds_in_code_replay(tmp_path: pathlib.Path) -> None:
    """Their files go with them into the folder of the recording."""
    spec = volvox.WorldSpec("arena", duration=0.5)
    spec.add_terrain("hills", np.random.default_rng(1).uniform(0, 0.02, (9, 9)), (4, 4))
    spec.add_population("s", "superbot", count=3, pose=(0, 0, 0.08), from_="back", to="front", behavior="commanded")
    with volvox.load(spec) as world:
        world.record(tmp_path)
        world.command(np.full(len(world.motor_names), 0.1))
        world.run(out=tmp_path)
    done = command("replay", str(tmp_path), "--verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_classes_are_given_again(tmp_path: pathlib.Path) -> None:
    with volvox.load(chain("wave"), behaviors={"wave": Wave}, duration=0.5) as world:
        world.record(tmp_path)
        world.run(out=tmp_path)
    done = command("replay", str(tmp_path), "--verify")
    assert done.returncode == 2 and "python:wave" in done.stderr and "verify(behaviors=" in done.stderr
    recording = volvox.Recording(tmp_path)
    assert recording.verify(behaviors={"wave": Wave}).same
    with pytest.raises(volvox.InputError, match="python:wave"):
        recording.verify()

    class Other(Wave):
        def step(self, agent: volvox.Agent) -> None:
            agent.move_to("pitch", 0.3)

    found = recording.verify(behaviors={"wave": Other})
    assert not found.same and found.module.startswith("m") and found.time > 0


def test_a_command_is_in_a_snapshot_at_once() -> None:
    def load() -> volvox.World:
        return volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": "commanded"})

    with load() as world, load() as other:
        world.command(np.full(len(world.motor_names), 0.2))
        other.restore(world.snapshot())
        world.step(20), other.step(20)
        assert world.state_hash == other.state_hash
        # What was commanded to a state that is gone is gone, too.
        before = world.snapshot()
        world.command(np.full(len(world.motor_names), -0.2))
        world.restore(before)
        world.step(20), other.step(20)
        assert world.state_hash == other.state_hash


def test_a_controller_without_state_has_the_hash_of_its_commands() -> None:
    def by_hand(world: Any) -> None:
        world.command(np.full(len(world.motor_names), 0.1))

    by_hand.state = ()  # type: ignore[attr-defined]
    with volvox.load(chain("commanded")) as world, volvox.load(chain("commanded")) as other:
        world.add_controller(by_hand)
        world.step(5)
        for _ in range(5):
            by_hand(other)
            other.step()
        assert world.state_hash == other.state_hash
