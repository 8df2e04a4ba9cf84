"""Many worlds stepped together."""

from __future__ import annotations

import os
import pathlib
import signal
import threading
import time
from typing import Iterator

import numpy as np
import pytest
from conftest import ROOT, chain

import volvox


def snakes(count: int) -> list[volvox.World]:
    return [volvox.load("remod3d/snake", settings={"modules": 3, "disturbed": True}, seed=i + 1) for i in range(count)]


def test_a_device_is_asked_for_by_name() -> None:
    with pytest.raises(volvox.InputError, match="abacus"):
        volvox.Population(snakes(1), 1, device="abacus")


# The kernels of a GPU on the processor, in the place of the library for one.
ROBOTS = ROOT / "build/release/lib/librobots_processor.so"


@pytest.mark.skipif(not ROBOTS.exists(), reason="librobots_processor is not built")
def test_a_device_moves_what_it_can_with_the_same_bits(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    (tmp_path / "world.sdf").write_text(chain("commanded", count=1))

    def robots() -> list[volvox.World]:
        return [volvox.load(str(tmp_path / "world.sdf"), seed=seed, precision="double") for seed in (1, 2)]

    monkeypatch.setenv("VOLVOX_ROBOTS_CUDA_LIBRARY", str(ROBOTS))
    alone, together = robots(), volvox.Population(robots(), 1, device="cuda")
    together.step(20)
    for world in alone:
        world.step(20)
    assert [world.state_hash for world in together] == [world.state_hash for world in alone]
    on_device = together.on_device
    assert on_device["failure"] == "" and on_device["ticks"] > 20, on_device


def test_without_a_device_the_processor_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOLVOX_ROBOTS_CUDA_LIBRARY", "/nowhere/librobots.so")
    alone, together = snakes(1), volvox.Population(snakes(1), 1, device="cuda")
    together.step(5)
    alone[0].step(5)
    assert together[0].state_hash == alone[0].state_hash
    assert "/nowhere/librobots.so" in together.on_device["failure"]
    assert together.on_device["ticks"] == 0


def test_the_same_bits_alone_and_together() -> None:
    alone = []
    for world in snakes(5):
        world.step(30)
        alone.append(world.state_hash)
    for threads in (1, 2, 4):
        population = volvox.Population(snakes(5), threads)
        population.step(10)
        population.step(20, [4, 3, 2, 1, 0])
        assert [world.state_hash for world in population] == alone
        assert len(population) == 5 and population[2].tick == 30
        population.close()
    assert len(set(alone)) == 5


def test_arrays_follow_and_only_those_named_are_stepped() -> None:
    population = volvox.Population(snakes(3), 2)
    poses = [world.poses for world in population]
    before = [array.copy() for array in poses]
    population.step(20, [0, 2])
    assert [world.tick for world in population] == [20, 0, 20]
    assert [not np.array_equal(a, b) for a, b in zip(poses, before)] == [True, False, True]


def test_bad_populations() -> None:
    worlds = snakes(2)
    with pytest.raises(volvox.InputError, match="twice"):
        volvox.Population([worlds[0], worlds[0]])
    for threads in (0, 1.5, "2"):
        with pytest.raises(volvox.InputError, match="threads"):
            volvox.Population(worlds, threads)  # type: ignore[arg-type]
    with pytest.raises(volvox.InputError, match="made of worlds"):
        volvox.Population([worlds[0], 3])  # type: ignore[list-item]
    population = volvox.Population(worlds)
    with pytest.raises(volvox.InputError, match="no world 2"):
        population.step(1, [2])
    with pytest.raises(volvox.BusyError):
        population.step(1, [1, 1])
    with pytest.raises(volvox.InputError, match="-1 ticks"):
        population.step(-1)
    worlds[1].close()
    with pytest.raises(volvox.ClosedError):
        population.step(1)
    population.step(1, [0])
    assert worlds[0].tick == 1
    with volvox.load("remod3d/snake") as controlled:
        controlled.add_controller(lambda world: None)
        with pytest.raises(volvox.InputError, match="Python"):
            volvox.Population([controlled]).step()


def test_progress_is_told_and_changes_nothing() -> None:
    with_it, without = volvox.Population(snakes(3), 2), volvox.Population(snakes(3), 2)
    told: list[int] = []
    with_it.step(50, progress=told.append)
    without.step(50)
    assert told[-1] == 50 and told == sorted(told)
    assert [world.state_hash for world in with_it] == [world.state_hash for world in without]

    def give_up(ticks: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        with_it.step(5, progress=give_up)
    assert len({world.tick for world in with_it}) == 1  # whole ticks, the same for all
    with_it.step(1)
    with pytest.raises(TypeError):
        with_it.step(1, progress=3)  # type: ignore[arg-type]


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """A shell that starts the tests in the background has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_batch_between_ticks(hears_ctrl_c: None) -> None:
    """Also where many ticks of all worlds would take minutes."""
    population = volvox.Population([volvox.load("remod3d/scatter", settings={"modules": 100}, seed=i) for i in range(4)], 2)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        population.step(1_000_000)
    assert time.monotonic() - begun < 30  # a loaded machine; unhindered it takes half a second
    ticks = {world.tick for world in population}
    assert len(ticks) == 1
    population.step(1)
    assert population[0].tick == ticks.pop() + 1
