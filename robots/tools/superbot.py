"""SuperBot, drawn as one half: x points out of the end dock, y is the axis of the half's joint.

The head half stands in the module as drawn; the tail half is the same, turned so that its x
points back and its joint axis up. The shell is a U of three plates that meet in mitres; the core
turns inside it. Only docks reach 42 mm from the joint, all else ends at 41, so that parts which are not
joined pass each other with a millimetre to spare at every angle of every joint.
"""
from solids import (arc, at, circle, cylinder, frame, hull, inset, loft, merge, prism,
                    rounded_rectangle, tube)

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MINUS_Y, MINUS_Z = (0, -1, 0), (0, 0, -1)

DOCK = 42.0      # from the joint axis to the face of a dock: half of an 84 mm cube
RIM = 40.0       # where the bevel around a dock face ends
HEIGHT = 41.0    # half height of the shell across both dock directions
INNER = 36.0     # inner face of the shell's plates
CORE = 35.5      # half width of the core, and with half a millimetre less its half height
CORE_BACK = 40.5  # the core ends 1.5 mm before the roll plane; a turntable fills the gap


def shell_outline(front, height, corner, back, back_count, corner_count):
    """A side plate: square towards the end dock, round behind, where it turns past the core."""
    x, z = front - corner, height - corner
    return ([(8, -height)] + arc(x, -z, corner, 270, 360, corner_count)
            + arc(x, z, corner, 0, 90, corner_count) + [(8, height)]
            + arc(0, 0, back, 105, 255, back_count))


def side_plate(back_count, corner_count, face=DOCK):
    """The left plate of the shell, y from INNER to the dock face."""
    rim = shell_outline(RIM, HEIGHT, 6.5, 40.0, back_count, corner_count)
    mitre = shell_outline(INNER, HEIGHT, 2.5, 40.0, back_count, corner_count)
    slope = (face - RIM) * 2
    rings = [at(mitre, INNER), at(rim, RIM), at(inset(rim, slope), face)]
    return frame(loft(rings), X, MINUS_Z, Y)


def front_rings(counts, face=DOCK):
    """The end plate, x from INNER to the dock face, as rings with `counts` points on a corner."""
    slope = (face - RIM) * 2
    rings = [(INNER, INNER, 40.5, 1.0), (38.5, 38.5, 38.8, 2.0), (RIM, RIM, 36.6, 4.0),
             (face, RIM - slope, 36.6 - 1.3 * slope, 4.0)]
    return [[(x, y, z) for y, z in rounded_rectangle(width, height, corner, count)]
            for (x, width, height, corner), count in zip(rings, counts)]


def side_hull():
    return hull(side_plate(14, 5).points)


def front_hull():
    # Two points on the hidden mitre, a tenth of a millimetre proud, bring the count to 78.
    extra = [(INNER, INNER + 0.1, 0.0), (INNER, -INNER - 0.1, 0.0)]
    return hull([p for ring in front_rings((4, 5, 5, 5)) for p in ring] + extra)


def core_hull():
    """The round front of the core, a half cylinder about the joint axis; a box is behind it."""
    half = arc(0, 0, CORE - 0.5, -90, 90, 39)
    return hull([(x, y, z) for y in (-CORE, CORE) for x, z in half])


# ---- for the eye -----------------------------------------------------------------------------------

FACE = DOCK - 0.6  # the shell's face, on which the dock's plate and jaws stand
FACES = ((Y, Z, X), (X, MINUS_Z, Y), (X, Z, MINUS_Y))  # x, y, z of a drawing laid on each dock face


def on_docks(drawing):
    """A drawing with z out of the dock and z = 0 in its face, on the end and both sides."""
    lifted = drawing.moved(z=DOCK)
    return merge(*(frame(lifted, *axes) for axes in FACES))


def shell():
    left = side_plate(30, 8, FACE)
    right = left.turned("x", 180)
    return merge(loft(front_rings((8, 8, 8, 8), FACE)), left, right)


def docks():
    """White plates with a round opening for the jaws."""
    outer = rounded_rectangle(26, 26, 7, 10)
    return on_docks(merge(tube(outer, circle(12, 40, 4.5), -0.8, -0.3),
                          tube(circle(15.5, 40), circle(14, 40), -0.4, -0.15)))


def latches():
    """What is dark on a dock: hub, four sliding jaws, infra-red windows, and the shell's screws."""
    jaw = prism([(5, -3), (9, -4.5), (19, -4.5), (19, 4.5), (9, 4.5), (5, 3)], -0.8, 0, 0.3)
    jaws = merge(*(jaw.turned("z", 90 * k) for k in range(4)))
    windows = merge(*(cylinder(1.8, -0.8, -0.1, 12).moved(x, y) for x in (-19, 19) for y in (-19, 19)))
    hub = cylinder(12.2, -0.8, -0.55, 40)
    screw = cylinder(1.7, FACE - 0.2, FACE + 0.35, 10)
    ends = [frame(screw.moved(y, z), Y, Z, X) for y in (-31, 31) for z in (-26, 26)]
    sides = [frame(screw.moved(x, z), *axes) for axes in FACES[1:]
             for x, z in ((31, 30), (31, -30), (-31, 13), (-31, -13))]
    return merge(on_docks(merge(hub, jaws, windows)), *ends, *sides)


def core():
    """The body of the core, round in front about the joint axis."""
    half = CORE - 0.5
    outline = (arc(0, 0, half, -90, 90, 33) + arc(4 - CORE_BACK, half - 4, 4, 90, 180, 5)
               + arc(4 - CORE_BACK, 4 - half, 4, 180, 270, 5))
    return frame(prism(outline, -CORE, CORE, 1.2), X, MINUS_Z, Y)


def trim():
    """The turntable of the roll joint, a ring around the core's back, and vents above and below."""
    turntable = merge(cylinder(31, -DOCK, -CORE_BACK, 48), cylinder(33.5, -CORE_BACK - 0.5, -CORE_BACK + 0.5, 48))
    slot = prism(rounded_rectangle(1.4, 17, 1.3, 4), CORE - 0.7, CORE - 0.2)
    slots = merge(*(slot.moved(x) for x in (-31, -26, -21, -16)))
    return merge(frame(turntable, Y, Z, X), slots, slots.turned("x", 180))


def meshes():
    return {"shell_side_hull": side_hull(), "shell_front_hull": front_hull(), "core_hull": core_hull(),
            "shell": shell(), "docks": docks(), "latches": latches(), "core": core(), "trim": trim()}
