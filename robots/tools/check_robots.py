#!/usr/bin/env python3
"""Checks the robots against their figures: run it after any change under robots/.

    python3 robots/tools/check_robots.py

What is checked: the meshes and inertias are those that make_meshes.py draws; hulls are convex,
closed and have their number of points; extents, masses and limits; modules that are docked lie
exactly where they should. Prints a line for each thing that is wrong; status 1 if there is any.
"""
import sys
from math import cos, hypot, pi, sin
from xml.etree import ElementTree

sys.dont_write_bytecode = True  # the source tree stays clean
import make_meshes
from make_meshes import HULL, ROBOTS, collision_mesh, placed, pose_of
from solids import Mesh, cross, dot, merge, read_obj, subtract

VOLVOX = "{https://volvox.sim/sdf}"
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def near(a, b, tolerance=1e-6):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b))


class Robot:
    """What an SDF file says, at zero joint angles, in the module's frame."""

    def __init__(self, name):
        self.name, self.folder = name, ROBOTS / name
        self.model = ElementTree.parse(self.folder / f"{name}.sdf").getroot().find("model")
        self.links = {link.get("name"): link for link in self.model.findall("link")}
        self.joints = {joint.get("name"): joint for joint in self.model.findall("joint")}
        self.docks = {dock.get("name"): dock for dock in self.model.findall(VOLVOX + "dock")}

    def mass(self):
        return sum(float(link.find("inertial/mass").text) for link in self.links.values())

    def collisions(self):
        return [(link, c) for link in self.links.values() for c in link.findall("collision")]

    def hulls(self):
        return [c.find("geometry/" + HULL) for _, c in self.collisions() if c.find("geometry/" + HULL) is not None]

    def solid(self):
        return merge(*(placed(collision_mesh(c, self.folder), pose_of(link)) for link, c in self.collisions()))

    def size(self):
        points = self.solid().points
        return [max(p[i] for p in points) - min(p[i] for p in points) for i in range(3)]

    def limits(self, joint):
        axis = self.joints[joint].find("axis/limit")
        return [float(axis.find(key).text) for key in ("lower", "upper")]

    def dock_frame(self, name):
        """Origin and axes x, y, z of a dock."""
        dock = self.docks[name]
        values = [float(v) for v in dock.get("pose").split()]
        pose = values[:3] + [v * 180 / pi for v in values[3:]]
        corners = placed(placed(Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), pose),
                         pose_of(self.links[dock.get("link")])).points
        return [corners[0]] + [subtract(corner, corners[0]) for corner in corners[1:]]


def docked(robot, a, b):
    """Origin and axes of the module that hangs with dock b on dock a of a module at the origin, turn 0."""
    origin_a, x, y, z = robot.dock_frame(a)
    origin_b, *axes_b = robot.dock_frame(b)
    engaged = [tuple(-v for v in x), tuple(-v for v in y), z]  # b's axes: x opposed, z together

    def turned(v):  # from the frame of b's module
        parts = [dot(v, axis) for axis in axes_b]
        return tuple(sum(parts[k] * engaged[k][i] for k in range(3)) for i in range(3))

    return [subtract(origin_a, turned(origin_b))] + [turned(v) for v in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]


def check_hull(path):
    """Every point is a corner, every edge has two faces, and no point lies above a face."""
    mesh = read_obj(path)
    expect(len({i for t in mesh.triangles for i in t}) == len(mesh.points), f"{path.name}: a point is not a corner")
    edges = sorted((t[k], t[(k + 1) % 3]) for t in mesh.triangles for k in range(3))
    expect(edges == sorted((b, a) for a, b in edges) and len(set(edges)) == len(edges), f"{path.name}: not closed")
    worst = 0.0
    for i, j, k in mesh.triangles:
        a = mesh.points[i]
        normal = cross(subtract(mesh.points[j], a), subtract(mesh.points[k], a))
        worst = max(worst, max(dot(normal, subtract(p, a)) for p in mesh.points) / hypot(*normal))
    # a few micrometres come from the five digits of the file
    expect(worst < 5e-6, f"{path.name}: a point lies {worst:.2g} m above a face")


def check_superbot(robot):
    hulls, boxes = robot.hulls(), [c for _, c in robot.collisions() if c.find("geometry/box") is not None]
    points = [len(read_obj(robot.folder / h.get("mesh")).points) for h in hulls]
    expect(points == [78] * 8 and len(boxes) == 2, f"superbot: {len(boxes)} boxes and hulls of {points} points, not 2 and 8 of 78")
    expect(near(robot.size(), (0.168, 0.084, 0.084)), f"superbot: size {robot.size()}")
    expect(list(robot.links) == ["tail", "tail_core", "head_core", "head"], "superbot: links")
    expect(list(robot.joints) == ["yaw", "roll", "pitch"], "superbot: joints")
    expect(near(robot.limits("yaw") + robot.limits("pitch"), (-pi / 2, pi / 2) * 2), "superbot: limits of yaw and pitch")
    expect(near(robot.limits("roll"), (-0.75 * pi, 0.75 * pi)), "superbot: limits of roll")
    straight = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for a, b, place in (("front", "back", (0.168, 0, 0)), ("left", "right", (0, 0.084, 0)), ("top", "bottom", (0, 0, 0.084))):
        origin, *axes = docked(robot, a, b)
        expect(near(origin, place, 1e-12), f"superbot: {a} to {b} lies at {origin}")
        expect(all(near(u, v, 1e-12) for u, v in zip(axes, straight)), f"superbot: {a} to {b} is turned")


def check_atron(robot):
    expect([len(read_obj(robot.folder / h.get("mesh")).points) for h in robot.hulls()] == [276] * 2, "atron: hulls")
    radius = max(hypot(*p) for p in robot.solid().points)
    expect(0.0545 < radius < 0.05501, f"atron: radius {radius}")
    expect(sorted(d.get("gender") for d in robot.docks.values()) == ["female"] * 4 + ["male"] * 4, "atron: genders")
    for a in robot.docks:
        for b in robot.docks:
            if robot.docks[a].get("gender") == robot.docks[b].get("gender"):
                continue
            origin, _, _, axis = docked(robot, a, b)
            expect(abs(hypot(*origin) - 0.112) < 1e-9, f"atron: {a} to {b} is {hypot(*origin)} m away")
            expect(sorted(round(abs(c) / 0.112 * 2 ** 0.5, 6) for c in origin) == [0, 1, 1], f"atron: {a} to {b} is off the lattice")
            expect(abs(axis[2]) < 1e-9, f"atron: axes of {a} and {b} are not at right angles")


def check_conro(robot):
    expect(near(robot.size(), (0.1, 0.045, 0.045)), f"conro: size {robot.size()}")
    origin, x, _, z = docked(robot, "n", "s")
    expect(near(origin, (0.1, 0, 0), 1e-12) and near(x, (1, 0, 0), 1e-12) and near(z, (0, 0, 1), 1e-12), "conro: n to s")
    expect({d: e.get("gender") for d, e in robot.docks.items()} == {"s": "female", "n": "male", "e": "male", "w": "male"}, "conro: genders")


def check_catom(robot):
    radius, length, mass = 0.005, 0.01, 0.001
    inertia = robot.links["body"].find("inertial/inertia")
    expect(near([float(inertia.find(k).text) for k in ("ixx", "iyy", "izz")],
                [mass * (3 * radius ** 2 + length ** 2) / 12] * 2 + [mass * radius ** 2 / 2], 1e-12), "catom: inertia")
    for k in range(12):
        origin, x, _, z = robot.dock_frame(f"f{k}")
        out = (cos(k * pi / 6), sin(k * pi / 6), 0)
        expect(near(origin, [radius * c for c in out], 1e-9) and near(x, out, 1e-9) and near(z, (0, 0, 1), 1e-9), f"catom: feature {k}")
    origin, x, *_ = docked(robot, "f0", "f6")
    expect(near(origin, (2 * radius, 0, 0), 1e-9) and near(x, (1, 0, 0), 1e-9), "catom: f0 to f6")


def check_wheelbot(robot):
    wheels = [name for name in robot.joints if name.startswith("wheel_")]
    motors = [m.get("joint") for m in robot.model.findall(VOLVOX + "motor")]
    expect(len(wheels) == 4 and motors == wheels, "wheelbot: four driven wheels")
    expect(abs(min(p[2] for p in robot.solid().points) + 0.045) < 1e-6, "wheelbot: the wheels carry it")


def check_quadrotor(robot):
    rotors = [a for a in robot.model.findall(VOLVOX + "actuator") if a.get("type") == "rotor"]
    expect(len(rotors) == 4, "quadrotor: four rotors")
    places = [[float(v) for v in r.get("pose").split()[:2]] for r in rotors]
    expect(near([sum(p[i] for p in places) for i in (0, 1)], (0, 0)), "quadrotor: the rotors' thrust passes beside the middle")
    turns = [1 if r.get("clockwise") == "true" else -1 for r in rotors]
    expect(turns[0] == turns[2] == -turns[1] == -turns[3], "quadrotor: neighbours must turn against each other")
    centre = [float(v) for v in robot.links["body"].find("inertial/pose").text.split()]
    expect(near(centre[:2], (0, 0)), f"quadrotor: centre of mass {centre}")
    lift = sum(float(r.get("thrust")) * float(r.get("max_speed")) ** 2 for r in rotors)
    expect(lift > 2 * 9.81 * robot.mass(), f"quadrotor: {lift} N do not lift it")


def check_scout(robot):
    expect(list(robot.joints) == ["hinge", "wheel_left", "wheel_right"], "scout: joints")
    expect(near(robot.limits("hinge"), (-pi / 2, pi / 2)), "scout: limits of the hinge")
    expect(abs(min(p[2] for p in robot.solid().points) + 0.048) < 1e-6, "scout: the wheels carry it")
    origin, *axes = docked(robot, "back", "front")
    expect(near(origin, (-0.12, 0, 0), 1e-9), f"scout: back to front lies at {origin}")
    expect(all(near(u, v, 1e-7) for u, v in zip(axes, [(1, 0, 0), (0, 1, 0), (0, 0, 1)])), "scout: back to front is turned")


def check_files():
    objs = sorted(ROBOTS.glob("*/meshes/*.obj"))
    used = {robot / e.get("mesh") if e.tag == HULL else robot / e.text for robot in ROBOTS.iterdir() if robot.is_dir()
            for sdf in robot.glob("*.sdf") for e in ElementTree.parse(sdf).iter() if e.tag in (HULL, "uri")}
    for path in objs:
        expect(path.stat().st_size < 150_000, f"{path.name}: over 150 kB")
        expect(path in used, f"{path.name}: no robot uses it")
    total = sum(path.stat().st_size for path in ROBOTS.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expect(total < 2_000_000, f"robots/ has {total} bytes, over 2 MB")


def main():
    expect(make_meshes.make(check=True) == 0, "meshes or inertias are not those of make_meshes.py: run it")
    masses = {"superbot": 0.6, "atron": 0.85, "conro": 0.1, "wheelbot": 2.0, "catom": 0.001, "quadrotor": 1.0, "scout": 0.8}
    checks = {"superbot": check_superbot, "atron": check_atron, "conro": check_conro, "wheelbot": check_wheelbot, "catom": check_catom,
              "quadrotor": check_quadrotor, "scout": check_scout}
    for name, mass in masses.items():
        robot = Robot(name)
        expect(abs(robot.mass() - mass) < 1e-9, f"{name}: mass {robot.mass()} kg")
        for path in sorted({robot.folder / h.get("mesh") for h in robot.hulls()}):
            check_hull(path)
        checks[name](robot)
    check_files()
    for failure in failures:
        print("wrong: " + failure)
    print(f"{len(masses)} robots checked, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
