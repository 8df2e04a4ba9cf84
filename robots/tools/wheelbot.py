"""Wheelbot: a chassis, four wheels and a laser turret. x is forward, z up, the origin at axle height."""
from solids import arc, box, cylinder, frame, hull, merge, prism, revolve, rounded_rectangle

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MINUS_Z = (0, 0, -1)

AXLE, TRACK = 92.0, 83.0      # of the wheels' centres, from the middle, along x and y
RADIUS, WIDTH = 45.0, 34.0    # of a wheel
HALF_WIDTH = 62.0             # of the chassis
DECK = 52.0
TURRET_X = 62.0

# The side of the chassis, (x, z), counter-clockwise: flat below, a sloping nose, a short tail.
SIDE = [(-138, -20), (124, -20), (147, 0), (147, 12), (112, 40), (84, DECK), (-128, DECK), (-147, 34), (-147, -4)]


def across(profile, low, high, bevel=0.0):
    """A profile in (x, z), drawn along y."""
    return frame(prism([(x, -z) for x, z in reversed(profile)], low, high, bevel), X, MINUS_Z, Y)


def wheels(drawing):
    """A drawing of the left front wheel's place, at all four."""
    left = drawing.moved(x=AXLE) + drawing.moved(x=-AXLE)
    return left + left.turned("z", 180)


def chassis():
    return across(SIDE, -HALF_WIDTH, HALF_WIDTH, 6)


def deck():
    """Dark: the deck plate with its rails, bumpers, the belly, and the axle housings."""
    plate = prism(rounded_rectangle(84, 46, 8, 5), DECK - 1, DECK + 2, 0.8).moved(-28)
    bumper = prism(rounded_rectangle(4.5, 70, 4, 5), -8, 6, 1)
    belly = box(-122, 112, -48, 48, -24, -18, 2)
    housing = frame(cylinder(17, 50, 66, 24, 1.5), X, MINUS_Z, Y)
    rail = merge(box(-104, 26, -1.5, 1.5, 8, 11), *(box(x - 2, x + 2, -1.5, 1.5, 0, 9) for x in (-102, -39, 24)))
    rails = merge(*(rail.moved(0, y, DECK + 2) for y in (-40, 40)))
    return merge(plate, bumper.moved(143.5), bumper.moved(-143.5), belly, wheels(housing), rails)


def turret():
    """The laser scanner: a foot, and a cap over the dark window."""
    return merge(cylinder(24, DECK - 2, DECK + 8, 40, 1.5), cylinder(22, DECK + 17, DECK + 26, 40, 3)).moved(TURRET_X)


def window():
    return cylinder(20, DECK + 7, DECK + 18, 40).moved(TURRET_X)


def lamps():
    """Headlamps in the nose, and two bright stripes along the flanks."""
    lamp = frame(cylinder(6.5, -12, 4, 20, 0.8), Y, Z, X)
    stripe = prism(rounded_rectangle(30, 3, 2.5, 5), HALF_WIDTH - 1, HALF_WIDTH + 0.4)
    flank = frame(stripe, X, MINUS_Z, Y).moved(0, 0, 30)
    return merge(lamp.moved(132, 40, 26), lamp.moved(132, -40, 26), flank, flank.turned("z", 180))


def tyre():
    """A round-shouldered tyre about y, with lugs."""
    half = WIDTH / 2
    outline = ([(31, -half + 3), (36, -half)] + arc(37.5, 5 - half, 5, -90, 0, 5)
               + [(RADIUS - 1.6, half - 7)] + arc(37.5, half - 5, 5, 0, 90, 5) + [(36, half), (31, half - 3)])
    lug = prism([(-2.6, -half + 3), (2.6, -half + 3), (4.4, -1), (-0.8, -1)], RADIUS - 4, RADIUS, 0.6)
    other = prism([(-0.8, 1), (4.4, 1), (2.6, half - 3), (-2.6, half - 3)], RADIUS - 4, RADIUS, 0.6)
    pattern = frame(lug + other, Y, Z, X)  # lugs stand out along x, their length along z
    lugs = merge(*(pattern.turned("z", 360 * k / 24) for k in range(24)))
    return frame(revolve(outline, 48) + lugs, X, MINUS_Z, Y)


def rim():
    """A dished rim with six spokes, the same on both sides."""
    half = WIDTH / 2
    barrel = revolve([(29, -half + 2), (32.5, -half + 2), (32.5, half - 2), (29, half - 2)], 40)
    spoke = box(8, 30, -3.6, 3.6, -half + 6, half - 6, 1)
    spokes = merge(*(spoke.turned("z", 60 * k) for k in range(6)))
    return frame(merge(barrel, spokes, cylinder(11, -half + 3, half - 3, 24, 1.5)), X, MINUS_Z, Y)


def meshes():
    hull_points = [(x, y, z) for y in (-HALF_WIDTH, HALF_WIDTH) for x, z in SIDE]
    return {"chassis_hull": hull(hull_points), "chassis": chassis(), "deck": deck(), "turret": turret(),
            "window": window(), "lamps": lamps(), "tyre": tyre(), "rim": rim()}
