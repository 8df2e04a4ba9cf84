"""Worlds and robots that are built or changed in code."""

from __future__ import annotations

import math
import pathlib

import numpy as np
import pytest

import volvox
from conftest import command, command_json


def cart() -> volvox.RobotSpec:
    """A box on two wheels with a dock and an eye."""
    robot = volvox.RobotSpec("cart")
    robot.add_link("body", "box", (0.1, 0.06, 0.03), mass=0.3, friction=0.05, color=(1, 0.5, 0))
    for x in (0.045, -0.045):  # skids, so that it does not tip over
        robot.add_shape("body", "sphere", 0.01, pose=(x, 0, -0.0145), friction=0.05)
    for side, y in (("left", 0.04), ("right", -0.04)):
        robot.add_link(f"{side}_wheel", "cylinder", (0.025, 0.01), mass=0.03, pose=(0, y, 0, math.pi / 2, 0, 0))
        robot.add_joint(side, "body", f"{side}_wheel", "continuous", axis=(0, 0, -1), effort=0.2, velocity=10, motor=(0, 0.05))
    robot.add_dock("front", "body", (0.06, 0, 0), kind="cart", symmetry=2, latch_time=0.2, axial=20)
    robot.add_sensor("eye", "range", "body", (0.06, 0, 0), max_range=2)
    robot.set_mind("commanded")
    return robot


def test_built_in_code_is_what_the_file_says(tmp_path: pathlib.Path) -> None:
    spec = volvox.WorldSpec("snake", duration=1)
    spec.add_ground()
    spec.add_population("s", "superbot", count=4, pose=(0, 0, 0.0425), from_="back", to="front", behavior="snake", parameters={"amplitude": 0.25})
    with volvox.load(spec, seed=3) as world:
        assert world.module_names == ["s0", "s1", "s2", "s3"]
        world.step(60)
        assert command_json("run", str(spec.save(tmp_path / "snake.sdf")), "--seed", "3")["state_hash"] == world.state_hash
    with volvox.load(spec, seed=3, threads=2) as again:
        again.step(60)
        assert again.state_hash == world_hash(spec)


def world_hash(spec: volvox.WorldSpec) -> str:
    with volvox.load(spec, seed=3) as world:
        world.step(60)
        return world.state_hash


def test_a_robot_of_ones_own_rolls_and_docks() -> None:
    spec = volvox.WorldSpec("carts", duration=5)
    spec.add_ground()
    robot = cart()
    spec.add_module("a", robot, pose=(-0.25, 0, 0.025))
    spec.add_module("b", robot, pose=(0.25, 0, 0.025, 0, 0, math.pi))
    with volvox.load(spec) as world:
        world.command(np.full(4, 4.0), "velocity")
        world.step(30)
        assert 0.02 < world.poses[world.module_links[0], 0] + 0.25 < 0.1  # 4 rad/s of 25 mm: 0.1 m/s
        assert world.percepts("eye")[0, 0] == pytest.approx(world.poses[world.module_links[1], 0] - 0.05 - world.poses[world.module_links[0], 0] - 0.06, abs=5e-3)
        kinds = []
        for _ in range(240):
            world.step()
            kinds += [event.kind for event in world.events]
        assert kinds == ["captured", "engaged"]


@pytest.mark.parametrize("shape, size", [("box", (0.1, 0.2, 0.3)), ("sphere", 0.1), ("cylinder", (0.1, 0.3)), ("capsule", (0.1, 0.3))])
def test_inertia_is_that_of_the_solid(shape: str, size: object) -> None:
    """Against a sum over points in the shape."""
    robot = volvox.RobotSpec("r")
    robot.add_link("l", shape, size, mass=2.0)  # type: ignore[arg-type]
    random = np.random.default_rng(1)
    points = random.uniform(-0.26, 0.26, (2_000_000, 3))
    x, y, z = points.T
    r = np.hypot(x, y)
    inside = {
        "box": (abs(x) < 0.05) & (abs(y) < 0.1) & (abs(z) < 0.15),
        "sphere": r * r + z * z < 0.01,
        "cylinder": (r < 0.1) & (abs(z) < 0.15),
        "capsule": r * r + np.maximum(abs(z) - 0.15, 0) ** 2 < 0.01,
    }[shape]
    p = points[inside]
    expected = 2.0 * np.array([(p[:, 1] ** 2 + p[:, 2] ** 2).mean(), (p[:, 0] ** 2 + p[:, 2] ** 2).mean(), (p[:, 0] ** 2 + p[:, 1] ** 2).mean()])
    found = [float(robot.root.findtext(f".//{axis}") or 0) for axis in ("ixx", "iyy", "izz")]
    assert np.allclose(found, expected, rtol=0.02)


def test_obstacles_terrain_and_depth() -> None:
    spec = volvox.WorldSpec("arena", duration=1)
    rows, columns = 21, 31
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1.5, 1.5, columns), indexing="ij")
    spec.add_terrain("hills", 0.2 * x + 0.1 * y, (3, 2))
    spec.add_box("crate", (0.2, 0.2, 0.2), pose=(1, 0.5, 1), mass=1.0)
    spec.add_sphere("ball", 0.1, pose=(-1, -0.5, 1))
    spec.add_cylinder("post", 0.05, 1.0, pose=(0, 0, 2))
    with pytest.warns(volvox.VolvoxWarning, match="nothing here has a mind"):
        world = volvox.load(spec)
    # From 10 m above, looking down: 201 x 201 pixels.
    seen = world.depth("0,0,10:0,0,0", width=201, height=201)
    assert seen.dtype == np.float32 and seen.shape == (201, 201)
    assert seen[100, 100] == pytest.approx(10 - 2.5, abs=1e-5)  # the top of the post
    # A ray at a known angle meets the plane z = 0.2 x + 0.1 y where it should.
    tangent = math.tan(math.radians(15)) / 201
    for row, column in ((70, 100), (130, 70), (100, 140)):
        across, up = (2 * column - 200) * tangent, (200 - 2 * row) * tangent
        assert seen[row, column] == pytest.approx(10 / (1 + 0.2 * across + 0.1 * up), abs=2e-3)  # x to the right, y up
    assert np.isinf(world.depth("0,0,10:0,0,20", width=8, height=8)).all()
    assert np.isinf(world.depth("0,0,10:0,0,0", width=8, height=8, range=5)).all()
    for wrong in ({"width": 0}, {"height": 100_000}, {"range": -1.0}, {"range": float("nan")}, {"camera": "nowhere"}):
        with pytest.raises(volvox.InputError):
            world.depth(**wrong)
    crate = world.link_names.index("crate.body")
    before = world.poses[crate, 2]
    world.step(15)
    assert before - world.poses[crate, 2] == pytest.approx(9.81 * 0.25**2 / 2, rel=0.03)  # it falls; what has no mass stays
    assert world.poses[world.link_names.index("ball.body"), 2] == 1


def test_depth_shares_its_pixels_with_the_picture() -> None:
    with volvox.load("remod3d/snake", settings={"modules": 5}) as world:
        camera = "0.3,-1,0.3:0.3,0,0"
        depth = world.depth(camera, width=160, height=120)
        rows, columns = np.mgrid[:120, :160]
        tangent = np.tan(np.radians(15)) / 120
        x, y = (2 * columns + 1 - 160) * tangent, (120 - 2 * rows - 1) * tangent
        ahead = np.array([0, 1, -0.3]) / np.hypot(1, 0.3)
        up = np.array([0, 0.3, 1]) / np.hypot(1, 0.3)
        ground = 0.3 / -(ahead[2] + up[2] * y)  # how far the ground lies along the axis
        assert np.nanmax(depth - ground) < 1e-4  # nothing is seen below it
        near = depth < ground - 0.02
        assert 0.02 < near.mean() < 0.5 and 0.8 < depth[near].min()  # the snake, 1 m away
        picture = world.picture(camera, width=160, height=120).astype(int)
        # Where the depth jumps, there is an outline in the picture, too.
        edge = np.zeros_like(near)
        edge[:, 1:] |= abs(np.diff(near.astype(int), axis=1)) > 0
        change = np.zeros(near.shape)
        change[:, 1:] = abs(np.diff(picture.sum(axis=2), axis=1))
        if edge.any():
            assert np.median(change[edge]) > 5 * max(1.0, float(np.median(change[~edge])))


def test_an_experiment_can_be_changed(tmp_path: pathlib.Path) -> None:
    spec = volvox.WorldSpec.read("remod3d/snake")
    assert spec.names == ["ground", "s"]
    spec.change("s", pose=(0, 0, 0.06))
    spec.add_box("wall", (0.05, 2, 0.3), pose=(-0.4, 0, 0.15))
    weak = volvox.RobotSpec.read("superbot")
    weak.change_dock("front", axial=1.0)
    spec.change("s", robot=weak)
    with volvox.load(spec, settings={"modules": 3}) as world:
        assert len(world.module_names) == 3 and "wall.body" in world.link_names
        world.step(10)
    spec.set_behavior("s", "idle")
    spec.remove("wall")
    assert spec.names == ["ground", "s"]
    file = spec.save(tmp_path / "changed.sdf")
    done = command("run", str(file), "--duration", "0.1", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr


def test_connections_and_settings() -> None:
    spec = volvox.WorldSpec("pair", duration=1)
    spec.add_setting("height", 0.1, "where it begins, m", min=0, max=1)
    spec.add_ground()
    spec.add_module("a", "superbot", behavior="idle", joints={"pitch": 0.2})
    spec.find("a").set("pose", "0 0 ${height} 0 0 0")
    spec.add_module("b", "superbot", behavior="idle")
    spec.connect("a.front", "b.back", turn=1)
    with volvox.load(spec, settings={"height": 0.3}) as world:
        assert world.poses[world.module_links[0], 2] == pytest.approx(0.3)
        assert world.organisms[0] == world.organisms[1]
        assert world.joint_positions[world.joint_names.index("a.pitch")] == pytest.approx(0.2)
    spec.remove("b")
    with volvox.load(spec) as world:
        assert world.module_names == ["a"]


def test_saving_overwrites_nothing_else(tmp_path: pathlib.Path) -> None:
    spec = volvox.WorldSpec("carts", duration=1)
    robot = cart()
    spec.add_module("a", robot, pose=(0, 0, 0.1))
    with pytest.raises(volvox.InputError, match="cart.sdf is the file of a robot"):
        spec.save(tmp_path / "cart.sdf")
    assert not list(tmp_path.iterdir())
    mine = tmp_path / "cart.sdf"
    mine.write_text("of somebody else")
    with pytest.raises(volvox.InputError, match="there is another .*cart.sdf"):
        spec.save(tmp_path / "carts.sdf")
    assert [file.name for file in tmp_path.iterdir()] == ["cart.sdf"] and mine.read_text() == "of somebody else"
    spec.save(tmp_path / "carts.sdf", overwrite=True)
    assert mine.read_text() == robot.sdf()
    spec.save(tmp_path / "carts.sdf")  # again: what is there is the same
    assert volvox.WorldSpec.read(tmp_path / "carts.sdf").names == ["a"]


def test_what_is_refused_changes_nothing() -> None:
    spec = volvox.WorldSpec()
    spec.add_ground()
    spec.add_box("crate", (1, 1, 1), pose=(0, 0, 5))
    spec.add_module("a", "superbot", behavior="idle", pose=(0, 0, 0.1))
    robot, bad = cart(), object()
    before, robot_before = spec.sdf(), robot.sdf()
    for wrong in (
        lambda: robot.add_shape("body", "sphere", 0.1, pose=(1, 2)),
        lambda: robot.add_shape("body", "sphere", 0.1, color=(1, 2)),
        lambda: robot.add_shape("body", "sphere", 0.1, friction=bad),
        lambda: robot.add_link("l", "sphere", 0.1, mass=1, inertia=(1, 2)),
        lambda: robot.add_joint("j", "body", "left_wheel", axis=(1, 2)),
        lambda: robot.add_dock("d", "body", (1, 2)),
        lambda: robot.change_dock("front", axial=5, latch_time=None, shear=bad),
        lambda: robot.set_mind("idle", x=bad),
        lambda: spec.change("a", pose=(1, 2)),
        lambda: spec.change("ground", pose=(1, 2)),
        lambda: spec.change("a", pose=(0, 0, 1), robot="roombots", good=1, wrong=bad),
        lambda: spec.change("a", pose=(0, 0, 1), robot=bad),
        lambda: spec.change("a", robot=robot, wrong=bad),
        lambda: spec.set_behavior("a", "snake", x=bad),
    ):
        with pytest.raises(volvox.InputError):
            wrong()  # type: ignore[no-untyped-call]
        assert spec.sdf() == before and robot.sdf() == robot_before and not spec._files


def test_depth_sees_water() -> None:
    with volvox.load("remod3d/fluid") as world:
        seen = world.depth("1.5,0.5,8:1.5,0.5,0", width=160, height=160)  # from above: x to the right
    assert seen[80, 39] == pytest.approx(8 - 0.625, abs=0.025)  # x = 0.5: the column of water, to half a spacing and a radius
    assert seen[80, 120] == pytest.approx(8, abs=1e-4)  # x = 2.6: the dry floor


def test_what_is_wrong_is_said() -> None:
    spec = volvox.WorldSpec()
    spec.add_ground()
    robot, renamed = cart(), cart()
    renamed.root[0].set("name", "world")
    for wrong, words in (
        (lambda: spec.add_ground(), "already"),
        (lambda: volvox.WorldSpec("world"), "cannot be named"),
        (lambda: volvox.RobotSpec("world"), "cannot be named"),
        (lambda: spec.add_module("a", renamed), "cannot be named"),  # load() would have put it over the world
        (lambda: spec.add_module("a b", "superbot"), "cannot be a name"),
        (lambda: spec.add_module("a", "superbot", pose=(1, 2)), "give 6 numbers"),
        (lambda: spec.add_module("a", "superbot", parameters={"x": 1}), "give behavior="),
        (lambda: spec.add_box("x", (1, 2)), "give 3 positive"),
        (lambda: spec.add_box("x", (1, 2, float("nan"))), "give 3 positive"),
        (lambda: spec.add_sphere("x", -1), "give 1 positive"),
        (lambda: spec.add_box("x", (1, 1, 1), mass=0), "more than 0"),
        (lambda: spec.add_terrain("x", [[1.0, float("inf")], [0, 0]], (1, 1)), "finite"),
        (lambda: spec.add_terrain("x", [1.0, 2.0], (1, 1)), "at least 2 x 2"),
        (lambda: spec.add_mesh("x", "nowhere.obj"), "there is no file"),
        (lambda: spec.connect("a", "b.c"), "MODULE.DOCK"),
        (lambda: spec.find("grund"), "did you mean 'ground'"),
        (lambda: spec.change("ground", count=3), "only its pose"),
        (lambda: spec.remove("nobody"), "there is no 'nobody'"),
        (lambda: robot.add_link("l", "cone", 1, mass=1), "there is no shape 'cone'"),
        (lambda: robot.add_joint("j", "body", "whel"), "has no link"),
        (lambda: robot.add_dock("d", "nowhere"), "has no link"),
        (lambda: robot.change_dock("frnt", axial=1), "did you mean 'front'"),
        (lambda: robot.remove("nothing"), "has no 'nothing'"),
        (lambda: volvox.WorldSpec.read("remod3d/snak"), "snake"),
        (lambda: volvox.WorldSpec.read("<sdf><world"), "not XML"),
        (lambda: volvox.WorldSpec.read("<sdf version='1.9'/>"), "no <world>"),
        (lambda: volvox.RobotSpec.read("superbt"), "superb"),
    ):
        with pytest.raises(volvox.InputError, match=words):
            wrong()  # type: ignore[no-untyped-call]
    spec.add_module("a", "superbot", behavior="idle", pose=(0, 0, 0.1))
    spec.find("a").set("posse", "1")
    with pytest.raises(volvox.InputError) as failure:
        volvox.load(spec)
    assert failure.value.line > 0  # the reader of SDF has the last word
