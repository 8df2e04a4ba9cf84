"""A small kit of solids for drawing robots: profiles, lofts, hulls, mass properties, OBJ files.

Lengths are millimetres; files are written in metres. Only the standard library, and no random
numbers: the same script writes the same bytes on every machine.
"""
from math import cos, hypot, pi, sin


class Mesh:
    """Triangles over shared points; the triangles of a solid run counter-clockwise seen from outside."""

    def __init__(self, points=(), triangles=()):
        self.points = [tuple(p) for p in points]
        self.triangles = [tuple(t) for t in triangles]

    def __add__(self, other):
        shift = len(self.points)
        moved = [(a + shift, b + shift, c + shift) for a, b, c in other.triangles]
        return Mesh(self.points + other.points, self.triangles + moved)

    def mapped(self, function):
        """The mesh with every point mapped by a function that keeps orientation."""
        return Mesh([function(p) for p in self.points], self.triangles)

    def moved(self, x=0, y=0, z=0):
        return self.mapped(lambda p: (p[0] + x, p[1] + y, p[2] + z))

    def turned(self, axis, degrees):
        """Turned about a coordinate axis ("x", "y" or "z") by the right-hand rule."""
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        c, s = cosine(degrees), sine(degrees)

        def turn(p):
            q = list(p)
            q[i], q[j] = c * p[i] - s * p[j], s * p[i] + c * p[j]
            return tuple(q)

        return self.mapped(turn)


def merge(*meshes):
    total = Mesh()
    for mesh in meshes:
        total = total + mesh
    return total


def cosine(degrees):
    return {0: 1.0, 90: 0.0, 180: -1.0, 270: 0.0}.get(degrees % 360, cos(degrees * pi / 180))


def sine(degrees):
    return cosine(degrees - 90)


# ---- profiles: convex polygons in a plane, counter-clockwise -----------------------------------

def circle(radius, count, start=0.0):
    return arc(0, 0, radius, start, start + 360 - 360 / count, count)


def arc(x, y, radius, start, end, count):
    """`count` points of an arc, both ends included."""
    steps = [start + (end - start) * i / (count - 1) for i in range(count)]
    return [(x + radius * cosine(a), y + radius * sine(a)) for a in steps]


def rounded_rectangle(half_x, half_y, radius, count):
    """`count` points on each of the four rounded corners."""
    x, y = half_x - radius, half_y - radius
    return (arc(x, y, radius, 0, 90, count) + arc(-x, y, radius, 90, 180, count)
            + arc(-x, -y, radius, 180, 270, count) + arc(x, -y, radius, 270, 360, count))


def inset(profile, distance):
    """The profile with every edge moved inwards; the number of points stays the same."""
    result = []
    for i, (x, y) in enumerate(profile):
        (x0, y0), (x1, y1) = profile[i - 1], profile[(i + 1) % len(profile)]
        ax, ay, bx, by = x - x0, y - y0, x1 - x, y1 - y
        la, lb = hypot(ax, ay), hypot(bx, by)
        nx, ny = -ay / la - by / lb, ax / la + bx / lb  # sum of the two inward normals
        scale = 2 * distance / (nx * nx + ny * ny)
        result.append((x + nx * scale, y + ny * scale))
    return result


# ---- solids -------------------------------------------------------------------------------------

def loft(rings):
    """A closed solid through rings of equally many points, the first facing down, the last up."""
    n = len(rings[0])
    points = [p for ring in rings for p in ring]
    triangles = []
    for level in range(len(rings) - 1):
        for i in range(n):
            a, b = level * n + i, level * n + (i + 1) % n
            triangles += [(a, b, b + n), (a, b + n, a + n)]
    top = (len(rings) - 1) * n
    for i in range(1, n - 1):
        triangles += [(0, i + 1, i), (top, top + i, top + i + 1)]
    return Mesh(points, triangles)


def at(profile, z):
    return [(x, y, z) for x, y in profile]


def prism(profile, low, high, bevel=0.0):
    """A profile drawn along z, its upper and lower edges bevelled."""
    if not bevel:
        return loft([at(profile, low), at(profile, high)])
    small = inset(profile, bevel)
    return loft([at(small, low), at(profile, low + bevel), at(profile, high - bevel), at(small, high)])


def box(x0, x1, y0, y1, z0, z1, bevel=0.0):
    return prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, bevel)


def cylinder(radius, low, high, count=32, bevel=0.0):
    return prism(circle(radius, count), low, high, bevel)


def revolve(outline, count):
    """A closed outline of (radius, z), counter-clockwise with the radius to the right, turned about z."""
    points, triangles, n = [], [], len(outline)
    for k in range(count):
        c, s = cosine(360 * k / count), sine(360 * k / count)
        points += [(r * c, r * s, z) for r, z in outline]
    for k in range(count):
        here, there = k * n, (k + 1) % count * n
        for i in range(n):
            j = (i + 1) % n
            triangles += [(here + i, there + i, there + j), (here + i, there + j, here + j)]
    return Mesh(points, triangles)


def tube(outer, inner, low, high):
    """A plate along z with a hole; outer and inner profile have equally many points."""
    n = len(outer)
    points = at(outer, low) + at(outer, high) + at(inner, high) + at(inner, low)
    triangles = []
    for side in range(4):
        for i in range(n):
            a, b = side * n + i, side * n + (i + 1) % n
            c, d = ((side + 1) % 4) * n + (i + 1) % n, ((side + 1) % 4) * n + i
            triangles += [(a, b, c), (a, c, d)]
    return Mesh(points, triangles)


def frame(mesh, x, y, z):
    """The mesh with its own axes laid along the given directions (right-handed)."""
    return mesh.mapped(lambda p: tuple(p[0] * x[i] + p[1] * y[i] + p[2] * z[i] for i in range(3)))


# ---- convex hulls -------------------------------------------------------------------------------

def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def hull(points):
    """The convex hull of points in convex position, as a mesh over exactly these points.

    The topology is that of the points pulled in by a little more the farther out they lie, so
    that points on one flat face are strictly convex too and none is lost.
    """
    n = len(points)
    centre = tuple(sum(p[i] for p in points) / n for i in range(3))
    arms = [subtract(p, centre) for p in points]
    size = max(dot(a, a) for a in arms)
    bulged = [tuple(c * (1 - 1e-5 * dot(a, a) / size) for c in a) for a in arms]

    def above(face, p):
        a, b, c = (bulged[i] for i in face)
        return dot(cross(subtract(b, a), subtract(c, a)), subtract(bulged[p], a)) > 0

    # A first tetrahedron: extremes in x, then the farthest from the line, then from the plane.
    i0 = min(range(n), key=lambda i: bulged[i])
    i1 = max(range(n), key=lambda i: bulged[i])
    line = subtract(bulged[i1], bulged[i0])
    off = [cross(line, subtract(p, bulged[i0])) for p in bulged]
    i2 = max(range(n), key=lambda i: dot(off[i], off[i]))
    i3 = max(range(n), key=lambda i: abs(dot(off[i2], subtract(bulged[i], bulged[i0]))))
    if above((i0, i1, i2), i3):
        i1, i2 = i2, i1
    faces = [(i0, i1, i2), (i0, i3, i1), (i1, i3, i2), (i2, i3, i0)]
    for p in range(n):
        if p in (i0, i1, i2, i3):
            continue
        visible = [f for f in faces if above(f, p)]
        edges = {(f[k], f[(k + 1) % 3]) for f in visible for k in range(3)}
        rim = sorted(e for e in edges if (e[1], e[0]) not in edges)
        faces = [f for f in faces if f not in visible] + [(a, b, p) for a, b in rim]
    return Mesh(points, faces)


# ---- mass properties ------------------------------------------------------------------------------

def moments(mesh):
    """Volume, first and second moments (int 1, int x, int x x^T) of a closed mesh about the origin."""
    volume, first, second = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
    for triangle in mesh.triangles:
        a, b, c = (mesh.points[i] for i in triangle)
        v = dot(a, cross(b, c)) / 6  # of the tetrahedron with the origin
        s = [a[i] + b[i] + c[i] for i in range(3)]
        volume += v
        for i in range(3):
            first[i] += v * s[i] / 4
            for j in range(3):
                corners = a[i] * a[j] + b[i] * b[j] + c[i] * c[j]
                second[i][j] += v * (corners + s[i] * s[j]) / 20
    return volume, first, second


# ---- files ----------------------------------------------------------------------------------------

def number(value, digits=5):
    """A number with so many significant digits; -0 and what is below a nanometre are 0."""
    return format(0.0 if abs(value) < 1e-9 else value, f".{digits}g")


def obj_text(mesh, comment):
    """The Wavefront OBJ text of a mesh given in millimetres."""
    lines = [f"# {comment}"]
    lines += ["v " + " ".join(number(c / 1000) for c in p) for p in mesh.points]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.triangles]
    return "\n".join(lines) + "\n"


def read_obj(path):
    """A mesh from an OBJ file of triangles, in the file's units."""
    mesh = Mesh()
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                mesh.points.append(tuple(float(w) for w in words[1:4]))
            elif words[:1] == ["f"]:
                mesh.triangles.append(tuple(int(w) - 1 for w in words[1:4]))
    return mesh
