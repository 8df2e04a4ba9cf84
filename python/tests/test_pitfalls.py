"""What new users met: mistakes that must be told, and things that must be there."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import chain, command_json

import volvox


class Still(volvox.Behavior):
    state = ()

    def step(self, agent: volvox.Agent) -> None:
        pass


@pytest.mark.parametrize("what", ["commanded", Still, "hold"])
def test_a_behavior_that_no_module_has(what: Any) -> None:
    with pytest.raises(volvox.InputError, match="(?s)'snak'.*did you mean 'snake'"):
        volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snak": what})
    with pytest.raises(volvox.InputError, match="the modules of this world have: snake"):
        volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"hold": what})


def test_a_command_that_a_behavior_overrules() -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}) as world:
        with pytest.warns(volvox.VolvoxWarning, match="'snake' of module 's0' commands 'pitch'.*commanded") as caught:
            for _ in range(5):
                world.command([1.0, 1.0, 1.0], motors="*.pitch")
                world.step()
        assert len(caught) == 1, "it is said once"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": "commanded"}) as world:
            world.command([1.0, 1.0, 1.0], motors="*.pitch")
            world.step(5)
        with volvox.load(chain("own"), behaviors={"own": Still}) as world:  # a behavior that leaves the motors alone
            world.command([1.0, 1.0, 1.0], motors="*.pitch")
            world.step(60)
            assert np.all(world.joint_positions[world.motor_joints][2::3] > 0.9)


def test_docks_as_percepts(snake: volvox.World) -> None:
    snake.step()
    docks = snake.percepts("front.dock")
    assert docks.shape == (5, 4)
    assert docks[:, 0].all() and not docks[:, 2:].any(), "enabled; neither latching nor broken"
    assert sorted(docks[:, 1]) == [0, 1, 1, 1, 1], "all but the head are engaged in front"
    engaged = {name: phase == 2 for name, phase in zip(snake.dock_names, snake.dock_phases)}
    assert [engaged[f"{module}.front"] for module in snake.module_names] == list(docks[:, 1].astype(bool))


def test_a_wrong_state() -> None:
    class Missing(volvox.Behavior):
        state = ("phase",)

        def step(self, agent: volvox.Agent) -> None:
            pass

    class Unfit(Missing):
        def start(self, agent: volvox.Agent) -> None:
            self.phase = object()

    for behavior, what in ((Missing, "names 'phase', which it does not have"), (Unfit, "type object")):
        with volvox.load(chain("own"), behaviors={"own": behavior}) as world:
            world.step(2)
            for call in (lambda w=world: w.state_hash, world.snapshot):
                with pytest.raises(volvox.StateError, match=what):
                    call()
            world.step()

    class Number(Missing):
        state = 5  # type: ignore[assignment]

    with pytest.raises(volvox.InputError, match="give a tuple of names"):
        volvox.load(chain("own"), behaviors={"own": Number})


def test_motors_and_modules_by_name() -> None:
    with volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": "commanded"}) as world:
        pitch = [i for i, name in enumerate(world.motor_names) if name.endswith(".pitch")]
        hashes = []
        start = world.snapshot()
        for chosen in (pitch, "*.pitch", ["s0.pitch", "s1.pitch", "s2.pitch"], np.array(["s0.pitch", "s[12].pitch"])):
            world.restore(start)
            world.command([0.1, 0.2, 0.3], motors=chosen)
            world.act("front", 0, modules=["s1"])
            world.step(10)
            hashes.append(world.state_hash)
        assert len(set(hashes)) == 1
        for bad, what in (("s0.pich", "did you mean 's0.pitch'"), (["s9.pitch"], "s9.pitch"), (["s0.pitch", 1], "both")):
            with pytest.raises(volvox.InputError, match=what):
                world.command([0.0], motors=bad)
        with pytest.raises(volvox.InputError, match="did you mean 's1'"):
            world.act("front", 0, modules="s11")
        assert world.state_hash == hashes[0]


def test_one_number_for_all_modules() -> None:
    hashes = []
    for values in (0.2, np.full(3, 0.2)):
        with volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": "commanded"}) as world:
            world.act("pitch", values)
            world.step(5)
            hashes.append(world.state_hash)
    assert hashes[0] == hashes[1]


def test_pushing_what_is_not_there(snake: volvox.World) -> None:
    before = snake.state_hash
    for call, what in (
        (lambda: snake.push("s33", (1, 0, 0)), "did you mean 's3'"),
        (lambda: snake.push("s3", (1, 0, 0), link="haed"), "did you mean 'head'|there are"),
        (lambda: snake.push("s3", (1, 0, float("nan"))), "finite"),
        (lambda: snake.set_parameter("amplitude", 1, module="x9"), "no module 'x9'"),
    ):
        with pytest.raises(volvox.InputError, match=what):
            call()
    assert snake.state_hash == before


PARTICLES = """<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="tank">
<volvox:run duration="0.2" dt="1/60"/>
<model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><box><size>2 2 0.2</size></box></geometry>
</collision></link><pose>0 0 -0.1 0 0 0</pose></model>
<volvox:fluid spacing="0.05"><volvox:volume pose="0 0 0.5 0 0 0" size="0.2 0.2 0.2"/></volvox:fluid>
<volvox:debris radius="0.02"><volvox:volume pose="0.6 0 0.3 0 0 0" size="0.1 0.1 0.1"/>
<volvox:emitter pose="-0.6 0 0.5 0 0 0" radius="0.03" speed="1" most="20"/></volvox:debris>
<volvox:cloth pose="0 0.5 0.3 0 0 0" width="0.2" height="0.2" columns="5" rows="4"/>
</world></sdf>"""


def test_particles(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tank.sdf").write_text(PARTICLES)
    with volvox.load(tmp_path / "tank.sdf") as world:
        assert world.particle_kind_names == ["fluid", "debris 0", "cloth 0"]
        where, speed, kinds = world.particle_positions, world.particle_velocities, world.particle_kinds
        fluid, cloth = kinds == 0, kinds == 2
        assert fluid.sum() == 64 and cloth.sum() == 20 and np.isnan(where[kinds == -1]).all()
        assert np.allclose(where[fluid].mean(axis=0), [0, 0, 0.5], atol=1e-6)
        grains = int((kinds == 1).sum())
        world.step(12)
        assert np.array_equal(kinds == 0, fluid), "a row always means the same particle"
        assert (kinds == 1).sum() > grains, "grains were emitted"
        fallen = where[fluid][:, 2].mean()
        assert fallen == pytest.approx(0.5 - 9.81 * 0.2**2 / 2, abs=0.03)
        assert speed[fluid][:, 2].mean() == pytest.approx(-9.81 * 0.2, rel=0.05)
        with pytest.raises(ValueError):
            where[0, 0] = 1.0  # read-only
        report = world.end()
        assert report.metrics["fluid_particles"] == 64 and report.metrics["drained"] == 0
        assert report.metrics["solid_particles"] == (kinds > 0).sum()
        assert report.metrics["emitted"] == (kinds == 1).sum() - grains
    assert command_json("run", "tank.sdf", cwd=tmp_path)["metrics"]["fluid_particles"] == 64
    with volvox.load("remod3d/snake", settings={"modules": 3}) as dry:
        assert dry.particle_positions.shape == (0, 3) and dry.particle_kind_names == []
