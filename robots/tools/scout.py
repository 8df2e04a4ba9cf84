"""Scout: two halves on a hinge, and a wheel on either side about the same axis. x is forward, z up,
the origin in the hinge's middle, at axle height."""
from solids import arc, box, cylinder, frame, hull, merge, prism, revolve, rounded_rectangle

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MINUS_Z = (0, 0, -1)

DOCK = 60.0                   # from the hinge to the plane where two Scouts meet
RADIUS, WIDTH = 48.0, 20.0    # of a wheel
TRACK = 50.0                  # of the wheels' centres, from the middle
HALF_WIDTH = 34.0             # of the body
HALF_HEIGHT = 28.0
GAP = 0.5                     # from the body's end to the plane of the dock

# The side of the front half, (x, z), counter-clockwise: round about the hinge, slanted below so that
# it passes over rims.
SIDE = [(0, -20), (40, -HALF_HEIGHT), (52, -HALF_HEIGHT), (DOCK - GAP, -20), (DOCK - GAP, 22), (52, HALF_HEIGHT), (12, HALF_HEIGHT), (0, 20)]


def across(profile, low, high, bevel=0.0):
    """A profile in (x, z), drawn along y."""
    return frame(prism([(x, -z) for x, z in reversed(profile)], low, high, bevel), X, MINUS_Z, Y)


def half_hull():
    return hull([(x, y, z) for y in (-HALF_WIDTH, HALF_WIDTH) for x, z in SIDE])


def half():
    """A half without its trim; the rear one is the same, turned."""
    return across(SIDE, -HALF_WIDTH, HALF_WIDTH, 3)


def trim():
    """Dark: the dock's frame with its four pins, a little before the body's end, which would shine through, and a window for the eyes."""
    plate = frame(prism(rounded_rectangle(26, 19, 5, 5), DOCK - 4, DOCK - 0.1, 0.6), Y, Z, X)
    pins = merge(*(frame(cylinder(2.5, DOCK - 2, DOCK, 12), Y, Z, X).moved(0, y, z) for y in (-19, 19) for z in (-13, 13)))
    window = box(18, 46, -20, 20, HALF_HEIGHT - 1, HALF_HEIGHT + 1.5, 1)
    return merge(plate, pins, window)


def knuckle():
    """Bright: the barrel of the hinge, and a stripe along each flank."""
    barrel = frame(cylinder(17, -HALF_WIDTH - 3, HALF_WIDTH + 3, 32, 1.5), X, MINUS_Z, Y)
    return barrel


def tyre():
    """Round-shouldered, about y, with lugs."""
    low = -WIDTH / 2
    outline = ([(34, low + 2), (39, low)] + arc(41.5, low + 4, 4, -90, 0, 4) + arc(41.5, -low - 4, 4, 0, 90, 4)
               + [(39, -low), (34, -low - 2)])
    lug = prism([(-2.4, low + 2), (2.4, low + 2), (4.5, -low - 2), (-0.3, -low - 2)], RADIUS - 4, RADIUS, 0.5)
    lugs = merge(*(frame(lug, Y, Z, X).turned("z", 360 * k / 24) for k in range(24)))
    return frame(revolve(outline, 48) + lugs, X, MINUS_Z, Y)


def rim():
    half_width = WIDTH / 2
    barrel = revolve([(31, -half_width + 2), (35, -half_width + 2), (35, half_width - 2), (31, half_width - 2)], 40)
    spokes = merge(*(box(7, 32, -3, 3, -half_width + 4, half_width - 4, 1).turned("z", 72 * k) for k in range(5)))
    return frame(merge(barrel, spokes, cylinder(10, -half_width + 2, half_width - 2, 24, 1)), X, MINUS_Z, Y)


def meshes():
    return {"half_hull": half_hull(), "half": half(), "trim": trim(), "knuckle": knuckle(), "tyre": tyre(), "rim": rim()}
