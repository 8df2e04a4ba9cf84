"""Quadrotor: a cross of four arms with a rotor each, skids below. x is forward, z up."""
from solids import arc, box, cylinder, frame, merge, prism, revolve, rounded_rectangle

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)

ARM = 200.0            # from the middle to a rotor's axis
RADIUS = 127.0         # of a rotor
ROTOR_Z = 53.0         # the middle of a rotor's disc
SKID_Y, SKID_Z = 80.0, -110.0


def four(drawing):
    """A drawing on the front arm, on all four."""
    return merge(*(drawing.turned("z", 90 * k) for k in range(4)))


def plates():
    """Dark: two plates with posts, the arms, motor mounts, and the landing gear."""
    plate = prism(rounded_rectangle(62, 62, 26, 6), -2, 2, 0.8)
    post = merge(*(cylinder(3, -22, 22, 12).moved(x, y) for x in (-42, 42) for y in (-42, 42)))
    arm = box(30, ARM + 8, -7, 7, -7, 7, 1.5)
    mount = cylinder(17, -9, 12, 24, 2).moved(ARM)
    skid = frame(cylinder(6, -100, 100, 16, 2), Y, Z, X).moved(0, SKID_Y, SKID_Z)
    struts = merge(*(box(x - 4, x + 4, -4, 4, 0, 104) for x in (-45, 45)))
    legs = merge(struts.turned("x", -159).moved(0, 40, -14), skid)
    return merge(plate.moved(z=-22), plate.moved(z=22), post, four(arm), four(mount), legs, legs.turned("z", 180))


def canopy():
    """The dome over the electronics, and the battery below."""
    dome = revolve([(0.01, 24)] + [(52, 24)] + arc(0, 24, 52, 4, 86, 10) + [(0.01, 76)], 40)
    battery = box(-52, 52, -20, 20, -48, -24, 4)
    return merge(dome, battery)


def motors():
    """Bright: the motors' bells and the spinners."""
    bell = cylinder(14, 12, 44, 28, 3)
    spinner = revolve([(0.01, 44), (9, 44), (8, 56), (4, 64), (0.01, 67)], 20)
    return four(merge(bell, spinner).moved(ARM))


def propellers():
    """Two twisted blades on each arm."""
    half = [(6, -5), (34, -11), (80, -10), (118, -5), (RADIUS - 1, -1), (RADIUS - 1, 3), (118, 6), (70, 9), (30, 8), (6, 5)]
    blade = prism(half, -1.1, 1.1).turned("x", 9)
    both = merge(blade, blade.turned("z", 180))
    turned = [both.turned("z", angle) for angle in (35, -20, 60, 5)]
    return merge(*(t.moved(ARM, 0, ROTOR_Z).turned("z", 90 * k) for k, t in enumerate(turned)))


def marker():
    """Which way is forward: a band about the front arm, and a lamp at its end."""
    band = box(95, 150, -8.5, 8.5, -8.5, 8.5, 1.5)
    lamp = frame(cylinder(7, ARM + 14, ARM + 22, 20, 2), Y, Z, X)
    return merge(band, lamp)


def meshes():
    return {"plates": plates(), "canopy": canopy(), "motors": motors(), "propellers": propellers(), "marker": marker()}
