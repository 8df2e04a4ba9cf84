#!/usr/bin/env python3
"""Draws the robots: writes robots/*/meshes/*.obj, and the inertias into robots/*/*.sdf.

    python3 robots/tools/make_meshes.py           writes what has changed
    python3 robots/tools/make_meshes.py --check   writes nothing; status 1 if a file would change

Every link is taken as solid and of uniform density: its <inertial> follows from its <mass> and
its collision shapes, which therefore must not overlap within a link.
"""
import re
import sys
from math import pi
from pathlib import Path
from xml.etree import ElementTree

sys.dont_write_bytecode = True  # the source tree stays clean
import atron
import conro
import quadrotor
import scout
import superbot
import wheelbot
from solids import box, cylinder, merge, moments, number, obj_text, read_obj

ROBOTS = Path(__file__).resolve().parent.parent
HULL = "{https://volvox.sim/sdf}hull"


def pose_of(element):
    """The <pose> of an element, as x, y, z (m) and roll, pitch, yaw in degrees."""
    pose = element.find("pose")
    if pose is None:
        return [0.0] * 6
    values = [float(v) for v in pose.text.split()]
    if pose.get("degrees") != "true":
        values[3:] = [v * 180 / pi for v in values[3:]]
    return values


def placed(mesh, pose):
    """The mesh in the frame in which it has this pose."""
    x, y, z, roll, pitch, yaw = pose
    return mesh.turned("x", roll).turned("y", pitch).turned("z", yaw).moved(x, y, z)


def collision_mesh(collision, folder):
    """The shape of a <collision>, in metres, in its link's frame."""
    geometry = collision.find("geometry")
    hull = geometry.find(HULL)
    if hull is not None:
        mesh = read_obj(folder / hull.get("mesh"))
    elif geometry.find("box") is not None:
        x, y, z = (float(v) / 2 for v in geometry.find("box/size").text.split())
        mesh = box(-x, x, -y, y, -z, z)
    elif geometry.find("cylinder") is not None:
        radius, length = (float(geometry.find("cylinder/" + v).text) for v in ("radius", "length"))
        mesh = cylinder(radius, -length / 2, length / 2, 360)
    else:
        raise ValueError(f"{folder}: collision {collision.get('name')} has a shape that is not handled")
    return placed(mesh, pose_of(collision))


def inertial_text(link, folder):
    """The <inertial> element of a link: its mass spread evenly over its collision shapes."""
    mass = float(link.find("inertial/mass").text)
    volume, first, second = moments(merge(*(collision_mesh(c, folder) for c in link.iter("collision"))))
    centre = [f / volume for f in first]
    about = [[mass * (second[i][j] / volume - centre[i] * centre[j]) for j in range(3)] for i in range(3)]
    trace = sum(about[i][i] for i in range(3))

    def entry(i, j):
        value = (trace if i == j else 0.0) - about[i][j]
        return number(0.0 if abs(value) < 1e-6 * trace else value)

    rows = ["<inertial>", "  <pose>" + " ".join(number(c if abs(c) > 1e-7 else 0) for c in centre) + " 0 0 0</pose>",
            f"  <mass>{link.find('inertial/mass').text}</mass>", "  <inertia>"]
    rows += [f"    <{name}>{entry(i, j)}</{name}>" for name, i, j in
             (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))]
    rows += ["  </inertia>", "</inertial>"]
    return rows


def with_inertias(path):
    """The text of an SDF file with every <inertial> computed anew; all else is kept."""
    text = path.read_text(encoding="utf-8")
    for link in ElementTree.fromstring(text).iter("link"):
        pattern = re.compile(rf'(<link name="{link.get("name")}">.*?\n)( *)<inertial>.*?</inertial>', re.DOTALL)
        head, indent = pattern.search(text).groups()
        block = "\n".join(indent + row for row in inertial_text(link, path.parent))
        text = pattern.sub(lambda match: head + block, text, count=1)
    return text


def update(path, text, check):
    """Writes a file if its text differs; says whether it did."""
    old = path.read_text(encoding="utf-8") if path.exists() else None
    if old == text:
        return False
    print(("differs: " if check else "wrote ") + str(path.relative_to(ROBOTS.parent)))
    if not check:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return True


def make(check=False):
    """Writes all that has changed, or only tells of it; how many files that is."""
    changed = 0
    for robot in (superbot, atron, conro, quadrotor, scout, wheelbot):
        name = robot.__name__
        for part, mesh in robot.meshes().items():
            text = obj_text(mesh, f"{name} {part}, metres; written by robots/tools/make_meshes.py")
            changed += update(ROBOTS / name / "meshes" / f"{part}.obj", text, check)
        sdf = ROBOTS / name / f"{name}.sdf"
        changed += update(sdf, with_inertias(sdf), check)
    return changed


def main():
    check = "--check" in sys.argv[1:]
    return 1 if make(check) and check else 0


if __name__ == "__main__":
    sys.exit(main())
