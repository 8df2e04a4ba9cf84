"""ATRON, drawn as its north hemisphere: z is the joint's axis, the docks look out 45 degrees above the equator.

All but the hooks of the male docks stays within a ball of 55 mm, and neighbours in the lattice
are 112 mm apart: a hemisphere can turn while all the places around the module are taken.
"""
from solids import Mesh, box, circle, cosine, cylinder, dot, hull, merge, prism, rounded_rectangle, sine, tube

BALL = 55.0    # radius of the module
FLAT = 50.0    # from the centre to the bevelled face that carries a dock
DOCK = 56.0    # from the centre to the plane where two docks meet: half the lattice distance
POLE = 54.0    # the flat on the pole
EQUATOR = 1.0  # half the gap between the hemispheres

MALE, FEMALE = (0, 180), (90, 270)  # longitudes; the south hemisphere is turned by a quarter


def on_dock(drawing, longitude):
    """A drawing with z out of a dock, x towards the pole and its origin in the module's centre."""
    return drawing.turned("z", 180).turned("y", 45).turned("z", longitude)


def hemisphere_points(rim, equator, pole, rings):
    """The bevelled hemisphere: a circle around each flat, and rings of the ball between them.

    rim: points around a flat; equator, pole and rings (latitude, count): points a quarter turn.
    A point of a ring that would lie on a flat, or hardly above it, is left out.
    """
    width = (BALL ** 2 - FLAT ** 2) ** 0.5
    flat = Mesh([(x, y, FLAT) for x, y in circle(width, rim, 180 / rim)])
    points = [p for k in range(4) for p in on_dock(flat, 90 * k).points]
    points += [(x, y, EQUATOR) for x, y in circle(BALL - 0.8, 4 * equator)]
    points += [(x, y, POLE) for x, y in circle((BALL ** 2 - POLE ** 2) ** 0.5, 4 * pole, 45 / pole)]
    docks = [(cosine(45) * cosine(k), cosine(45) * sine(k), sine(45)) for k in (0, 90, 180, 270)]
    for latitude, count in rings:
        z, radius = BALL * sine(latitude), BALL * cosine(latitude)
        ring = [(x, y, z) for x, y in circle(radius, 4 * count, 45 / count)]
        points += [p for p in ring if all(dot(p, d) < FLAT - 0.6 for d in docks)]
    return points


def hemisphere_hull():
    """276 points: what the seed paper's ATRON has."""
    return hull(hemisphere_points(16, 12, 3, [(4, 11), (13, 8), (22, 7), (29, 7), (36, 7), (44, 7), (52, 7),
                                              (60, 7), (66, 7), (73, 4)]))


# ---- for the eye -----------------------------------------------------------------------------------

def hemisphere():
    return hull(hemisphere_points(40, 24, 8, [(2.5, 24), (8, 24), (14, 22), (20, 20), (26, 18), (32, 16), (38, 16),
                                              (45, 16), (52, 14), (58, 14), (64, 12), (70, 10), (75, 8)]))


def octagon(radius):
    return circle(radius, 8, 22.5)


def males():
    """Blue plates with a raised block, through which the hooks come."""
    plate = prism(octagon(21.5), FLAT - 1, FLAT + 1.2, 0.6)
    block = prism(rounded_rectangle(9, 14, 3, 5), FLAT, FLAT + 3, 0.8)
    return merge(*(on_dock(merge(plate, block), k) for k in MALE))


def females():
    """White plates, framed around the bars that the hooks take hold of."""
    plate = prism(octagon(21.5), FLAT - 1, FLAT + 1.2, 0.6)
    wall = tube(rounded_rectangle(12, 17, 4, 6), rounded_rectangle(9, 14, 2.5, 6), FLAT, FLAT + 3)
    return merge(*(on_dock(merge(plate, wall), k) for k in FEMALE))


def trim():
    """What is dark: three hooks on a male dock, the middle one the other way; two bars on a female."""
    hook = merge(box(-3, 3, -1.8, 1.8, FLAT, DOCK, 0.5), box(2, 6, -1.8, 1.8, DOCK - 2.5, DOCK, 0.5))
    hooks = merge(hook.moved(y=-9), hook.turned("z", 180), hook.moved(y=9))
    bar = box(-1.2, 1.2, -14, 14, FLAT + 1.4, FLAT + 2.8, 0.3)
    bars = merge(box(-9, 9, -14, 14, FLAT, FLAT + 1.3), bar.moved(x=-4.5), bar.moved(x=4.5))
    screw = merge(*(cylinder(1.3, FLAT, FLAT + 1.4, 10).moved(18 * cosine(a), 18 * sine(a)) for a in (45, 135, 225, 315)))
    cap = cylinder(6, POLE - 1, POLE + 0.5, 24, 0.3)
    return merge(cap, *(on_dock(hooks + screw, k) for k in MALE), *(on_dock(bars + screw, k) for k in FEMALE))


def ring():
    """The slip ring in the gap between the hemispheres."""
    return cylinder(51, -EQUATOR - 0.5, EQUATOR + 0.5, 64)


def meshes():
    return {"hemisphere_hull": hemisphere_hull(), "hemisphere": hemisphere(), "males": males(),
            "females": females(), "trim": trim(), "ring": ring()}
