"""Models from elsewhere: MJCF and xacro."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import warnings

import numpy as np
import pytest

import volvox

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")

ARM = """<mujoco model="arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <default><geom friction="0.4"/><default class="red"><geom rgba="1 0 0 1"/></default></default>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="upper" pos="0 0 1.5" euler="0.3 0.2 0.1">
      <joint name="shoulder" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1" class="red"/>
      <body name="plate" pos="0.4 0 0" euler="0 0.5 0"><geom type="box" size="0.05 0.02 0.03" mass="0.4" pos="0 0.1 0"/>
        <body name="fore" pos="0.05 0 0">
          <joint name="elbow" axis="0 0 1" pos="-0.02 0 0" range="-1 1.2" limited="true"/>
          <geom type="cylinder" size="0.02 0.15" pos="0.15 0 0" euler="0 1.5708 0" mass="0.5"/>
          <body name="slider" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0" damping="0.5" range="-0.1 0.1" limited="true"/>
            <geom type="sphere" size="0.04" mass="0.2"/></body>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.7 0.8 1"><freejoint/><geom type="ellipsoid" size="0.1 0.08 0.06" density="500"/></body>
  </worldbody>
  <actuator><position joint="slide" kp="50" kv="5" forcerange="-20 20" forcelimited="true"/><motor joint="shoulder" ctrlrange="-3 3" ctrllimited="true" gear="2"/></actuator>
</mujoco>"""


def test_mjcf_swings_and_falls_as_in_mujoco() -> None:
    spec, left_out = volvox.read_mjcf(ARM)
    assert left_out == ["gears: motors are commanded in the units of their joints"]
    model = mujoco.MjModel.from_xml_string(ARM)
    model.opt.timestep = 0.0005
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with volvox.load(spec, dt="1/240") as world:
        assert world.joint_names == ["upper.shoulder", "upper.elbow", "upper.slide"]
        assert world.motor_names == ["upper.shoulder", "upper.slide"]
        assert world.motor_torque.tolist() == [6, 20]  # 3 N m by a gear of 2
        world.command([0.0, 0.03])
        world.act("shoulder", 0, control="off", modules=["upper"])
        data.ctrl[0] = 0.03
        names = {body: world.link_names.index(f"{tree}.{body}") for tree, body in (("upper", "upper"), ("upper", "fore"), ("upper", "slider"), ("ball", "ball"))}
        for body, link in names.items():
            assert np.allclose(world.poses[link, :3], data.body(body).xpos, atol=1e-9)
            assert abs(world.poses[link, 3:] @ data.body(body).xquat) == pytest.approx(1, abs=1e-9)
        worst = 0.0
        for _ in range(96):  # 0.4 s: the arm swings through 60 degrees and meets the limit of its elbow
            world.step()
            while data.time < world.time - 1e-9:
                mujoco.mj_step(model, data)
            worst = max(worst, *(float(np.linalg.norm(world.poses[link, :3] - data.body(body).xpos)) for body, link in names.items()))
        assert abs(data.qpos[0]) > 0.5  # it did swing
        assert worst < 0.012, worst


def test_meshes_terrain_and_what_is_only_seen(tmp_path: pathlib.Path) -> None:
    (tmp_path / "wedge.obj").write_text("v 0 0 0\nv 0.4 0 0\nv 0.4 0.2 0\nv 0 0.2 0\nv 0 0 0.2\nv 0 0.2 0.2\nf 1 3 2\nf 1 4 3\nf 1 2 5\nf 3 4 6\nf 2 3 6\nf 2 6 5\nf 1 5 6\nf 1 6 4\n")
    heights = " ".join(str(0.1 * (i // 3)) for i in range(9))
    (tmp_path / "world.xml").write_text(f"""<mujoco><asset><mesh name="wedge" file="wedge.obj"/>
      <hfield name="hills" nrow="3" ncol="3" size="2 2 0.2 0.1" elevation="{heights}"/></asset><worldbody>
      <geom type="hfield" hfield="hills"/>
      <body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="wedge"/><geom type="sphere" size="0.01" contype="0" conaffinity="0" mass="0"/></body>
      </worldbody></mujoco>""")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", volvox.VolvoxWarning)
        world = volvox.load(tmp_path / "world.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "world.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    # The same rays from above meet the same heights, away from the wedge.
    seen = world.depth("1.5,1.5,5:1.5,1.5,0", width=3, height=3)
    hit = mujoco.mj_ray(model, data, np.array([1.5, 1.5, 5.0]), np.array([0.0, 0, -1]), None, 1, -1, np.zeros(1, np.int32))
    hit = hit[0] if isinstance(hit, (tuple, list)) else hit
    assert seen[1, 1] == pytest.approx(float(hit), abs=2e-3)
    world.step(60)
    assert 0 < world.poses[world.link_names.index("a.a"), 2] < 0.9  # it fell onto the terrain
    world.close()


def test_our_own_mjcf_comes_back() -> None:
    """SDF to MJCF and back: the same bodies, joints and motors; welds are docks again."""
    with volvox.load("remod3d/snake", settings={"modules": 3}) as world:
        text, _ = world.mjcf()
        first = world.poses[world.module_links].copy()
        counts = len(world.joint_names), len(world.motor_names)
    spec, left_out = volvox.read_mjcf(text)
    assert "2 welds are docks that are engaged and do not break" in left_out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", volvox.VolvoxWarning)
        again = volvox.load(spec)
    assert (len(again.joint_names), len(again.motor_names)) == counts
    assert len(set(again.organisms.tolist())) == 1
    assert np.allclose(again.poses[again.module_links, :3], first[:, :3], atol=1e-6)
    again.step(60)
    assert np.isfinite(again.poses).all() and np.abs(again.velocities).max() < 1
    again.close()


def assets() -> list[pathlib.Path]:
    """The models of others that came with a package."""
    found = importlib.util.find_spec("gymnasium")
    if found is None or found.origin is None:
        return []
    return sorted((pathlib.Path(found.origin).parent / "envs/mujoco/assets").glob("*.xml"))


@pytest.mark.parametrize("file", assets(), ids=lambda file: file.stem)
def test_models_of_others(file: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", volvox.VolvoxWarning)
        world = volvox.load(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    driven = {int(model.actuator_trnid[a, 0]) for a in range(model.nu)}
    assert len(world.motor_names) == len(driven)
    mass = sum(float(each.text or 0) for each in volvox.read_mjcf(file)[0].root.findall(".//inertial/mass"))
    moving = sum(float(model.body_mass[b]) for b in range(model.nbody) if model.body_weldid[b] != 0)
    assert mass == pytest.approx(moving, rel=1e-9)
    world.step(20)
    assert np.isfinite(world.poses).all()
    world.close()


def test_bad_mjcf() -> None:
    for text, words in (
        ("<mujoco><worldbody><body><geom/></body></worldbody></mujoco>", "MuJoCo cannot read it"),
        ("<mujoco><worldbody", "MuJoCo cannot read it"),
        ("nowhere.mjcf.xml", "there is no file"),
    ):
        with pytest.raises(volvox.InputError, match=words):
            volvox.read_mjcf(text)


def test_xacro(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    (tmp_path / "tip.obj").write_text("v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    body = """<?xml version="1.0"?><robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
      <xacro:property name="length" value="0.3"/>
      <xacro:macro name="part" params="name">
        <link name="${name}"><inertial><mass value="${2*length}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
          <collision><geometry><mesh filename="tip.obj"/></geometry></collision></link>
      </xacro:macro>
      <xacro:part name="base"/><xacro:part name="hand"/>
      <joint name="wrist" type="revolute"><parent link="base"/><child link="hand"/><origin xyz="${length} 0 0"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>"""
    (tmp_path / "arm.urdf.xacro").write_text(body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", volvox.VolvoxWarning)
        world = volvox.load(tmp_path / "arm.urdf.xacro")
    assert "arm.wrist" in world.joint_names
    base, hand = world.link_names.index("arm.base"), world.link_names.index("arm.hand")
    assert world.poses[hand, 0] - world.poses[base, 0] == pytest.approx(0.3)
    world.close()
    (tmp_path / "bad.xacro").write_text(body.replace("2*length", "2*lenght"))
    with pytest.raises(volvox.InputError, match="lenght"):
        volvox.load(tmp_path / "bad.xacro")
    with pytest.raises(volvox.InputError, match="there is no file"):
        volvox.load(tmp_path / "none.xacro")


def test_xacro_without_an_end_is_ended(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    monkeypatch.setattr(volvox.foreign, "_SECONDS", 2)
    for inside, reason in [
        ("${9**9**9}", "more than 2 s"),
        ("${'a'*10**11}", "10\\*\\*11|more than"),
        ("${__import__('os').system('touch owned')}", "invalid name"),
        ("${1/0}", "division by zero"),
        ("$(arg nothing)", "nothing"),
    ]:
        file = tmp_path / "a.xacro"
        file.write_text(f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><link name="{inside}"/></robot>')
        with pytest.raises(volvox.InputError, match=reason):
            volvox.load(file)
    for text in (b"", b"<robot", b'<robot name="\xff"/>', b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="a.xacro"/></robot>'):
        file.write_bytes(text)
        with pytest.raises(volvox.InputError, match="xacro cannot read it"):
            volvox.load(file)
    assert [path.name for path in tmp_path.iterdir()] == ["a.xacro"]


def test_bad_mjcf_is_an_error(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    body = '<body><freejoint/><geom size="{}" mass="{}"/></body>'
    inside = {
        "many": '<replicate count="100000000" offset="1 0 0"><geom size=".1"/></replicate>',
        "many_of_many": '<replicate count="1000" offset="1 0 0"><replicate count="1000" offset="1 0 0"><geom size=".1"/></replicate></replicate>',
        "negative": body.format(0.1, -1),
        "empty_ball": body.format(0, 1),
        "not_a_number": '<body pos="nan 0 0"><freejoint/><geom size="0.1" mass="1"/></body>',
        "no_mesh": '<geom type="mesh" mesh="x"/>',
        "deep": "<body>" * 5000 + "</body>" * 5000,
        "unknown": "<bodie/>",
    }
    texts = {name: f"<mujoco><worldbody>{text}</worldbody></mujoco>".encode() for name, text in inside.items()}
    texts.update(
        nul=b"<mujoco>\0</mujoco>",
        half=b"<mujoco><worldbody>",
        itself=b'<mujoco><include file="itself.xml"/></mujoco>',
        passwd=b'<mujoco><include file="/etc/passwd"/></mujoco>',
        device=b'<mujoco><include file="/dev/zero"/></mujoco>',
        plugin=b'<mujoco><extension><plugin plugin="mujoco.x"/></extension></mujoco>',
    )
    for name, content in texts.items():
        (tmp_path / f"{name}.xml").write_bytes(content)
        with pytest.raises(volvox.InputError):
            volvox.load(tmp_path / f"{name}.xml")
    (tmp_path / "name.xml").write_bytes(b'<mujoco><worldbody><body name="b\xff"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>')
    with pytest.warns(volvox.VolvoxWarning), volvox.load(tmp_path / "name.xml") as world:
        world.step(1)


def test_copies_of_mjcf_are_counted_as_they_are_made(tmp_path: pathlib.Path) -> None:
    from volvox.mjcf import _check_counts

    flex = '<flexcomp name="{}" type="grid" count="50 50 1" spacing=".1 .1 .1"/>'
    _check_counts(f"<mujoco><worldbody>{flex.format('a')}{flex.format('b')}</worldbody></mujoco>")
    part = '<mujocoinclude><replicate count="1000"><geom size=".1"/></replicate></mujocoinclude>'
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.xml").write_text(part)
    once = '<mujoco><worldbody><include file="parts/part.xml"/></worldbody></mujoco>'
    (tmp_path / "good.xml").write_text(once)
    _check_counts(str(tmp_path / "good.xml"))
    many = once.replace("<include", '<replicate count="101"><include').replace("</worldbody>", "</replicate></worldbody>")
    (tmp_path / "many.xml").write_text(many)
    with pytest.raises(volvox.InputError, match="101000 copies"):
        _check_counts(str(tmp_path / "many.xml"))
    (tmp_path / "itself.xml").write_text('<mujoco><include file="itself.xml"/></mujoco>')
    _check_counts(str(tmp_path / "itself.xml"))
    with pytest.raises(volvox.InputError, match="copies"):  # though it is not whole
        _check_counts('<mujoco><replicate count="1000"><replicate count="1000"><geom/></replicate>')


def test_xacro_runs_nothing_beside_the_model(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    for name in ("json", "resource", "xacro"):
        (tmp_path / f"{name}.py").write_text("open('owned', 'w')")
    (tmp_path / "a.xacro").write_text('<robot name="r"><link name="l"/></robot>')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    monkeypatch.setattr(volvox.foreign.importlib.util, "find_spec", lambda name: name)
    assert "<link" in volvox.foreign.urdf_of_xacro(tmp_path / "a.xacro")
    assert not (tmp_path / "owned").exists()
    monkeypatch.setattr(volvox.foreign.sys, "path", [each for each in volvox.foreign.sys.path if "packages" not in each])
    with pytest.raises(volvox.InputError, match="No module named 'xacro'"):
        volvox.foreign.urdf_of_xacro(tmp_path / "a.xacro")


def test_xacro_that_waits_for_ever_is_ended(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    monkeypatch.setattr(volvox.foreign, "_SECONDS", 1)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.xacro").write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><xacro:include filename="pipe"/></robot>')
    with pytest.raises(volvox.InputError, match="more than 1 s"):
        volvox.foreign.urdf_of_xacro(tmp_path / "a.xacro")
