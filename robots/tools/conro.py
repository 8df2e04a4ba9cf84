"""CONRO: base (the female end), body (two servos) and head (the cube of pins), each in its link's frame.

x points from the female end to the north dock, y to the west. The base turns about y, in whose
axis the frames of base and body lie; the head about z, in whose axis the frame of the head lies.
"""
from solids import arc, box, cylinder, frame, hull, merge, prism, rounded_rectangle

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MINUS_X, MINUS_Y, MINUS_Z = (-1, 0, 0), (0, -1, 0), (0, 0, -1)

SOUTH = 30.0   # from the pitch axis to the south dock
AXES = 30.0    # from the pitch axis to the yaw axis
NORTH = 40.0   # from the yaw axis to the north dock; the sum is the module's 100 mm
SIDE = 22.5    # from the middle to the east and west docks
DOCK_X = 30.0  # from the yaw axis to the east and west docks
WIDTH, FRONT, HEIGHT = 14.0, 13.0, 19.0  # the body: half width, radius about the yaw axis, half height
PIN = 8.0      # from the middle of a dock to each of its two pins or holes


def body_points(count):
    """Round about the pitch axis behind, about the yaw axis in front."""
    back = [(x, y, z) for y in (-WIDTH, WIDTH) for x, z in arc(0, 0, HEIGHT, 90, 270, count)]
    front = [(x, y, z) for z in (-HEIGHT, HEIGHT) for x, y in arc(AXES, 0, FRONT, -90, 90, count)]
    return back + front


# ---- for the eye -----------------------------------------------------------------------------------

def on_faces(drawing):
    """A drawing with z out of the dock and y up, on the north, west and east docks."""
    return merge(frame(drawing.moved(z=NORTH), Y, Z, X),
                 frame(drawing.moved(z=SIDE), MINUS_X, Z, Y).moved(x=DOCK_X),
                 frame(drawing.moved(z=SIDE), X, Z, MINUS_Y).moved(x=DOCK_X))


def base():
    """Aluminium: the female plate and the fork that holds the pitch servo."""
    plate = prism(rounded_rectangle(17, 17, 4, 6), 26, SOUTH, 0.8)
    arm = prism([(-27, -12), (-22, -12)] + arc(0, 0, 7, -90, 90, 13) + [(-22, 12), (-27, 12)], 14.5, 17.5, 0.5)
    return merge(frame(plate, MINUS_Y, Z, MINUS_X), frame(arm, X, MINUS_Z, Y), frame(arm, X, Z, MINUS_Y))


def base_trim():
    """Dark: the holes for the pins, the latch between them, infra-red windows, the pivots."""
    holes = merge(*(cylinder(3.2, SOUTH - 0.5, SOUTH + 0.05, 20).moved(y) for y in (-PIN, PIN)))
    latch = prism(rounded_rectangle(3, 6, 1, 4), SOUTH - 0.5, SOUTH + 0.05)
    windows = merge(*(cylinder(2, SOUTH - 0.5, SOUTH + 0.05, 16).moved(0, z) for z in (-11, 11)))
    pivot = cylinder(3.5, 16, 18.2, 20, 0.4)
    return merge(frame(merge(holes, latch, windows), MINUS_Y, Z, MINUS_X),
                 frame(pivot, X, MINUS_Z, Y), frame(pivot, X, Z, MINUS_Y))


def body():
    return hull(body_points(21))


def servos():
    """Light bands and horns that set off the two servos from the housing."""
    horn = cylinder(6, HEIGHT - 0.5, HEIGHT + 0.5, 24)
    side = cylinder(6, WIDTH - 0.5, WIDTH + 0.5, 24)
    label = box(9, 22, WIDTH - 0.9, WIDTH + 0.1, -9, 9, 0.2)
    return merge(horn.moved(AXES), horn.turned("x", 180).moved(AXES), label, label.turned("x", 180),
                 frame(side, X, MINUS_Z, Y), frame(side, X, Z, MINUS_Y))


def board():
    """The circuit board with its chips stands on the body's back, between the axes."""
    return merge(box(2, 20, -11, 11, HEIGHT - 0.5, HEIGHT + 1.2), box(5, 11, -6, 6, HEIGHT, HEIGHT + 2.2, 0.3))


def head():
    """White plastic: the cube of the passive connector, and the fork that the yaw servo turns."""
    cube = box(20, NORTH, -SIDE, SIDE, -12.5, 12.5, 1.5)
    fork = prism(arc(0, 0, 9, 90, 270, 17) + [(20, -9), (20, 9)], 19.5, 22.5, 0.5)
    web = box(15.5, 21, -9, 9, -22.5, 22.5, 0.8)
    return merge(cube, web, fork, fork.turned("x", 180))


def pins():
    """Aluminium: two pins on each of the three faces, with a groove for the latch, and the yaw pivots."""
    pin = merge(cylinder(2.6, -0.5, 1.8, 20), cylinder(2.0, 1.5, 2.8, 20), cylinder(2.6, 2.5, 4.5, 20, 0.7))
    pivot = cylinder(3.5, 22, 22.7, 20, 0.2)
    return merge(on_faces(pin.moved(PIN) + pin.moved(-PIN)), pivot, pivot.turned("x", 180))


def windows():
    """Dark: the infra-red emitter and receiver on each face."""
    return on_faces(merge(*(cylinder(2, -0.5, 0.15, 16).moved(0, z) for z in (-8, 8))))


def meshes():
    return {"body_hull": hull(body_points(13)), "base": base(), "base_trim": base_trim(), "body": body(),
            "servos": servos(), "board": board(), "head": head(), "pins": pins(), "windows": windows()}
