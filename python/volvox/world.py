"""A world: load it, step it, read and command it as arrays."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import tempfile
import weakref
from fractions import Fraction
from types import TracebackType
from typing import Any, Callable, Literal, Mapping, NoReturn, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _codec, _core, foreign, gazebo, notebook, usd
from ._arguments import Chosen, Floats, choose, dict_of, floats, numbers, suggestion, text_of_settings, tick_length, warn, whole
from .errors import ClosedError, InputError, RunFailed, StateError
from .events import DockEvent, MessageEvent, Network
from .report import Report
from .robot_spec import RobotSpec
from .world_spec import WorldSpec

__all__ = ["World", "load"]

Control = Literal["position", "velocity", "torque", "off"]


class World:
    """A world that is being simulated, made by volvox.load().

    Arrays are views: they show the state after the last step without being asked for again, are read-only, and stay
    valid for ever (after close() they keep the last state). Rows are in the order of the lists of names. SI units, world
    frame, z up; quaternions are w, x, y, z.

    One thread uses a world at a time; stepping lets other threads of Python run. Ctrl-C stops step() after a whole tick.
    A world is also a context manager, which closes it.
    """

    def __init__(self, core: _core.World, arguments: dict[str, Any], folder: Optional[tempfile.TemporaryDirectory[str]]) -> None:
        self._core = core
        self._arguments = arguments
        self._folder = folder
        self._controllers: list[tuple[str, Callable[[World], None], Any]] = []
        self._log: list[tuple[str, str]] = []
        self._chosen: dict[tuple[str, ...], npt.NDArray[np.int32]] = {}
        known = core.description()
        self.experiment: str = known["experiment"]
        """Its name, or the name of its file."""
        self.file: str = known["file"]
        """Its world file; empty if it has none."""
        self.engine: str = known["engine"]
        self.seed: int = known["seed"]
        self.threads: int = known["threads"]
        self.settings: dict[str, str] = known["settings"]
        """All settings with their values."""
        self.dt: float = known["dt_s"]
        """The length of a tick, in s."""
        self.ticks: int = known["ticks"]
        """The length of the whole run, in ticks, as the experiment or the argument duration says."""
        self.module_names: list[str] = known["modules"]
        self.module_models: list[str] = known["models"]
        """The robot that each module is."""
        self.module_links: npt.NDArray[np.int32] = np.array(known["first_links"], dtype=np.int32)
        """The first link of each module: world.poses[world.module_links] has a pose a module."""
        self.link_names: list[str] = known["links"]
        """Of all modules and obstacles, such as s3.head."""
        self.link_modules: npt.NDArray[np.int32] = np.array(known["link_modules"], dtype=np.int32)
        """The module of each link; -1: an obstacle."""
        self.joint_names: list[str] = known["joints"]
        self.dock_names: list[str] = known["docks"]
        self.dock_modules: npt.NDArray[np.int32] = np.array(known["dock_modules"], dtype=np.int32)
        """The module of each dock; -1: an obstacle."""
        self.motor_names: list[str] = known["motors"]
        """The joints of modules that have a motor."""
        self.motor_joints: npt.NDArray[np.int32] = np.array(known["motor_joints"], dtype=np.int32)
        """The joint of each motor: world.joint_positions[world.motor_joints]."""
        self.motor_modules: npt.NDArray[np.int32] = np.array(known["motor_modules"], dtype=np.int32)
        """The module of each motor."""
        limits = np.array(known["motor_limits"], dtype=np.float64).reshape(-1, 4)
        self.motor_lower: Floats = limits[:, 0]
        """rad or m; -1e300: it has no limit"""
        self.motor_upper: Floats = limits[:, 1]
        """rad or m"""
        self.motor_speed: Floats = limits[:, 2]
        """The largest velocity, in rad/s or m/s."""
        self.motor_torque: Floats = limits[:, 3]
        """The largest torque, in N m or N; joint_torques may pass it by about a tenth (see there)."""
        self.particle_kind_names: list[str] = known["particle_kinds"]
        """What particles are: "fluid", then "debris 0" and "cloth 0" and so on; empty: the world has none."""
        self._note_log()

    # --- Life ----------------------------------------------------------------------------------

    def __enter__(self) -> World:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the world and frees it. It cannot be used any more; arrays keep the last state."""
        self._core.close()
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._core.closed

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a World cannot be pickled or copied: use fork(), or pass the arguments of volvox.load() and snapshot() on"
        )

    def __repr__(self) -> str:
        if self.closed:
            return f"<volvox.World {self.experiment}, closed>"
        return f"<volvox.World {self.experiment}: {len(self.module_names)} modules, {self.engine}, {self.time:.3f} s>"

    def _repr_html_(self) -> str:
        return notebook.world_as_html(self)

    # --- Time ----------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """The next tick to be simulated."""
        return self._core.tick

    @property
    def time(self) -> float:
        """Simulated time, in s."""
        return self._core.time

    def step(self, ticks: int = 1) -> None:
        """Simulates so many ticks. Raises RunFailed if one fails; Ctrl-C raises KeyboardInterrupt between two."""
        try:
            self._core.step(ticks)
        except RunFailed as failure:
            raised = self._core.take_raised()
            if raised is None:
                raise
            if not isinstance(raised, Exception):  # Ctrl-C within a callback
                raise raised from failure
            raise failure from raised
        finally:
            self._note_log()

    def run(
        self,
        seconds: Optional[float] = None,
        *,
        out: Optional[Union[str, os.PathLike[str]]] = None,
        record: bool = False,
        progress: Optional[Callable[[float], None]] = None,
    ) -> Report:
        """Simulates to the end of the run, or for so many seconds, ends it and returns its results.

        out: a folder for summary.json, metrics.csv, report.html and, with record, the recording. progress is called a
        few times a second with the simulated time in s.
        """
        if seconds is not None and not (isinstance(seconds, (int, float, np.integer, np.floating)) and 0 <= seconds <= 1e9):
            raise InputError(f"a run of {seconds!r} s is not possible; give seconds from 0 to 1e9")
        last = self.ticks if seconds is None else self.tick + round(seconds / self.dt)
        if record:
            if out is None:
                raise InputError("a recording needs a folder; give out=FOLDER")
            self.record(out)
        chunk = max(1, round(0.25 / self.dt)) if progress else max(1, last - self.tick)
        while self.tick < last:
            self.step(min(chunk, last - self.tick))
            if progress:
                progress(self.time)
        report = self.end()
        if out is not None:
            self._core.write(os.fspath(out))
        return report

    def end(self) -> Report:
        """Ends the experiment and returns the results so far. The world cannot be stepped any more."""
        text = self._core.end()
        self._note_log()
        return Report(text, self._core.history(), self._core.report_page().decode(errors="replace"))

    # --- State ---------------------------------------------------------------------------------

    @functools.cached_property
    def poses(self) -> Floats:
        """(links, 7): the position x, y, z in m and the quaternion w, x, y, z of each link's frame."""
        return self._core.state_array("poses")

    @functools.cached_property
    def velocities(self) -> Floats:
        """(links, 6): the velocity of each link's centre of mass in m/s and its angular velocity in rad/s."""
        return self._core.state_array("velocities")

    @functools.cached_property
    def _joints(self) -> Floats:
        return self._core.state_array("joints")

    @functools.cached_property
    def joint_positions(self) -> Floats:
        """(joints,): rad, not wrapped, or m."""
        return self._joints[:, 0]

    @functools.cached_property
    def joint_velocities(self) -> Floats:
        """(joints,): rad/s or m/s."""
        return self._joints[:, 1]

    @functools.cached_property
    def joint_torques(self) -> Floats:
        """(joints,): of the motors, the mean over the last tick, in N m or N. Engine native keeps a motor to its limit within
        about a tenth (docs/python.md, "A torque may pass its limit a little")."""
        return self._joints[:, 2]

    @functools.cached_property
    def dock_loads(self) -> Floats:
        """(docks, 4): axial (positive when pulled apart) and shear in N, bending and torsion in N m."""
        return self._core.state_array("dock_loads")

    @functools.cached_property
    def dock_phases(self) -> npt.NDArray[np.uint8]:
        """(docks,): 0 free, 1 latching, 2 engaged."""
        return self._core.state_array("dock_phases")

    @functools.cached_property
    def dock_enabled(self) -> npt.NDArray[np.bool_]:
        """(docks,)"""
        return self._core.state_array("dock_enabled").view(np.bool_)

    @functools.cached_property
    def dock_broken(self) -> npt.NDArray[np.bool_]:
        """(docks,)"""
        return self._core.state_array("dock_broken").view(np.bool_)

    @functools.cached_property
    def dock_partners(self) -> npt.NDArray[np.int32]:
        """(docks,): the dock at the other end; -1 if it is free."""
        return self._core.state_array("dock_partners")

    @functools.cached_property
    def particle_positions(self) -> Floats:
        """(particles, 3): of water, grains and points of cloth, in m. A row always means the same particle; NaN where
        it is not there: not emitted yet, or drained."""
        return self._core.state_array("particle_positions")

    @functools.cached_property
    def particle_velocities(self) -> Floats:
        """(particles, 3): in m/s; NaN where a particle is not there."""
        return self._core.state_array("particle_velocities")

    @functools.cached_property
    def particle_kinds(self) -> npt.NDArray[np.int32]:
        """(particles,): what each is, an index into particle_kind_names; -1: it is not there."""
        return self._core.state_array("particle_kinds")

    def percepts(self, name: str) -> Floats:
        """(modules, k): the numbers of a percept, such as "yaw.angle" or "accelerometer", as the modules sensed them at
        the start of the last tick, with their noise. NaN where a module does not have it. A dock ("front.dock") has four,
        0 or 1: enabled, engaged, latching, broken. A view, too."""
        return self._core.percept_array(name)

    @property
    def centre_of_mass(self) -> tuple[float, float, float]:
        """Of all modules, in m."""
        return self._core.centre_of_mass()

    @property
    def organisms(self) -> npt.NDArray[np.int64]:
        """(modules,): modules that docks hold together have the same number."""
        return np.array(self._core.organisms(), dtype=np.int64)

    @property
    def events(self) -> list[DockEvent]:
        """The docks that connected or came apart in the last step(). A population does not collect them."""
        return [DockEvent(*event) for event in self._core.events()]

    def watch_messages(self) -> None:
        """From now on, `messages` has the messages of each step()."""
        self._core.watch_messages()

    @property
    def messages(self) -> list[MessageEvent]:
        """The messages that arrived in the last step(), if watch_messages() was called before."""
        return [MessageEvent(*event) for event in self._core.messages()]

    @property
    def network(self) -> Network:
        """Counts of messages since the start."""
        return Network(*self._core.network())

    @property
    def log(self) -> list[tuple[str, str]]:
        """The lines that modules and the simulator wrote so far: level and text."""
        self._note_log()
        return list(self._log)

    # --- Commands ------------------------------------------------------------------------------

    def command(
        self, targets: npt.ArrayLike, control: Control = "position", *, motors: Optional[Chosen] = None
    ) -> None:
        """Commands motors: a number for each of motor_names, or for those that `motors` chooses.

        motors: indices, or names ("s3.pitch"), in which * stands for anything: motors="*.pitch" is all of them, in the
        order of motor_names. Units: rad or m ("position"), rad/s or m/s ("velocity"), N m or N ("torque"). Commands
        hold until they are changed. A behavior that commands the same motor in a tick has the last word, and a
        VolvoxWarning says so: load the world with behaviors={"its behavior": "commanded"} to command it alone.
        """
        indices = None if motors is None else choose(motors, self.motor_names, "motors", self._chosen)
        count = len(self.motor_names) if indices is None else len(indices)
        self._core.command(numbers(targets, (count,), "targets", "motor"), indices, control)

    def act(
        self,
        action: str,
        values: npt.ArrayLike,
        *,
        control: Control = "position",
        modules: Optional[Chosen] = None,
    ) -> None:
        """Sets an action by name for all modules, or for those of `modules`, indices or names as in command(): a row
        for each.

        Joints take a number (see command), docks 0 or 1 (enabled), rotors rad/s, thrusters three numbers in N, lamps
        three from 0 to 1.
        """
        indices = None if modules is None else choose(modules, self.module_names, "modules", self._chosen)
        count = len(self.module_names) if indices is None else len(indices)
        array = floats(values, "values")
        if array.ndim == 0:
            array = np.full(count, float(array))
        self._core.act(action, np.ascontiguousarray(array), indices, control)

    def push(self, module: str, force: Sequence[float], *, link: str = "") -> None:
        """Pushes a link (empty: the module's first) with a force in N, world axes, in the next tick. It is recorded."""
        self._find_module(module)
        links = [name[len(module) + 1 :] for name in self.link_names if name.startswith(module + ".")]
        if link and link not in links:
            raise InputError(f"'{module}' has no link '{link}'; {suggestion(link, links)}")
        if not np.all(np.isfinite(np.asarray(force, dtype=np.float64))):
            raise InputError(f"the force is {tuple(force)}; give finite numbers")
        self._core.give("push", module, link, "", 0.0, [float(f) for f in force])

    def place(self, module: str, pose: Sequence[float], velocity: Optional[Sequence[float]] = None) -> None:
        """Moves a body that is <volvox:driven/> in the next tick: x, y, z in m and the quaternion w, x, y, z; velocity: linear
        and angular, else it is at rest. It pushes others and is not pushed. It is recorded."""
        self._find_module(module)
        x, y, z, w, i, j, k = numbers(pose, (7,), "the pose", "of x, y, z, w, x, y, z").tolist()
        numbers_of = [x, y, z, i, j, k, w]
        if velocity is not None:
            numbers_of += numbers(velocity, (6,), "the velocity", "axis").tolist()
        if not np.isfinite(numbers_of).all():
            raise InputError("the pose has a NaN or an infinity; give finite numbers")
        self._core.give("pose", module, "", " ".join(map(repr, numbers_of)), 0.0, [0.0, 0.0, 0.0])

    def set_percept(self, module: str, sensor: str, value: float) -> None:
        """The number of a sensor of type "external", from the next tick on. It is recorded."""
        self._find_module(module)
        if not np.isfinite(value):
            raise InputError(f"the percept is {value}; give a finite number")
        self._core.give("percept", module, sensor, "", float(value), [0.0, 0.0, 0.0])

    def set_parameter(self, name: str, value: object, *, module: str = "") -> None:
        """Changes a parameter of a behavior in the next tick, of all modules or of one. It is recorded."""
        if module:
            self._find_module(module)
        self._core.give("parameter", module, name, str(value), 0.0, [0.0, 0.0, 0.0])

    def add_controller(self, controller: Any, name: str = "") -> None:
        """Calls controller.step(world), or controller(world), at the start of every tick, in the thread of step().

        It reads the world's arrays and calls command() or act(), for all modules at once. Its attribute `state` names the
        attributes that change, for snapshots and state hashes: () if there are none.
        """
        call = getattr(controller, "step", controller)
        if not callable(call):
            raise InputError("this is no controller; give a callable, or an object with a method step(world)")
        label = name or getattr(controller, "__name__", "") or type(controller).__name__
        self._controllers.append((label, call, controller))
        undeclared = [each for each, _, holder in self._controllers if _codec.declared(holder) is None]
        self_ref = weakref.ref(self)
        self._core.set_controller(
            functools.partial(_control, self_ref), functools.partial(_controller_state, self_ref), "".join(undeclared[:1])
        )

    # --- Snapshots -----------------------------------------------------------------------------

    @property
    def state_hash(self) -> str:
        """One number for the whole state, as the command prints it: the same seed gives the same, at any number of
        threads and after restore()."""
        return self._core.state_hash()

    def snapshot(self) -> bytes:
        """The whole state as bytes. Without controllers it is what `volvox run --save` writes."""
        return self._core.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Back to a snapshot of this world, or of one that was loaded with the same arguments."""
        if not isinstance(snapshot, bytes):
            raise TypeError(f"a snapshot is bytes, not {type(snapshot).__name__}")
        self._core.restore(snapshot)

    def fork(self) -> World:
        """A second world in the same state, which goes its own way. Controllers are not copied: add them again."""
        if self._controllers:
            raise InputError("a world with controllers cannot be forked; load it again, add them, and restore(snapshot())")
        return _make(dict(self._arguments, restore=self.snapshot()), self._folder)

    # --- Output --------------------------------------------------------------------------------

    def record(self, folder: Union[str, os.PathLike[str]]) -> None:
        """Records from now on, into FOLDER/recording.mcap (volvox.Recording, `volvox replay`). Before the first step."""
        path = pathlib.Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self._core.record(os.fspath(path / "recording.mcap"))
        if self._folder is not None:  # a replay needs the world, whose own files go with it
            shutil.copytree(self._folder.name, path / "world", dirs_exist_ok=True)

    def picture(self, camera: str = "", *, width: int = 640, height: int = 480, docks: str = "state") -> npt.NDArray[np.uint8]:
        """(height, width, 3): a picture, sRGB. camera: corner, front, back, left, right, top, "X,Y,Z", "X,Y,Z:X,Y,Z" or
        MODULE.SENSOR; docks: none, state or load."""
        return self._core.picture(camera, int(width), int(height), docks)

    def depth(self, camera: str = "", *, width: int = 640, height: int = 480, range: float = 100.0) -> npt.NDArray[np.float32]:
        """(height, width): how far what is seen lies along the camera's axis, in m; inf where nothing is within `range`
        m. camera: as in picture(), whose pixels it shares. By ray casting at colliders and particles, as sensors
        see them."""
        return self._core.depth(camera, int(width), int(height), float(range))

    def mjcf(self) -> tuple[str, list[str]]:
        """The world at its start as MJCF, for MuJoCo 3 or later, and what MJCF cannot say, in words: links are bodies,
        motors actuators, engaged docks welds, free docks sites. The keyframe "start" has all positions. As `volvox
        export --mjcf`."""
        return self._core.mjcf()

    def sdf(self) -> tuple[str, list[str]]:
        """The world as it is now as plain SDF for Gazebo (gz-sim), and what it cannot say, in words: links are where they
        are, servos are JointPositionController, engaged docks DetachableJoint, which a topic detaches. Meshes are named by
        their whole path. For SDF with all that Volvox knows see WorldSpec."""
        if self.closed:
            raise ClosedError("this world is closed; load it again, or keep it open")
        return gazebo.plain_sdf(self)

    def usd(self, file: Union[str, os.PathLike[str]]) -> list[str]:
        """Writes the world at its start as USD (.usda, .usdc or .usd), with the rigid bodies, joints and drives of UsdPhysics, and
        returns what that cannot say, in words: links are rigid bodies, engaged docks fixed joints, motors drives. Needs mujoco
        and usd-core: pip install volvox[usd]."""
        return usd.write_usd(self, file)

    def film(
        self,
        seconds: float,
        *,
        rate: float = 10.0,
        camera: str = "",
        width: int = 480,
        height: int = 270,
        docks: str = "state",
        speed: float = 1.0,
    ) -> notebook.Film:
        """Steps for so many seconds and takes `rate` pictures a simulated second. In Jupyter the result shows itself, with
        a slider, without a server; Film.save() writes it as a page."""
        return notebook.film(
            self, seconds, rate=rate, camera=camera, width=width, height=height, docks=docks, speed=speed
        )

    def _find_module(self, name: str) -> None:
        names = {link.split(".", 1)[0] for link in self.link_names} | set(self.module_names)
        if not any(link.startswith(name + ".") for link in self.link_names):
            raise InputError(f"there is no module '{name}'; {suggestion(name, sorted(names))}")

    def _note_log(self) -> None:
        for level, text in self._core.take_log():
            self._log.append((level, text))
            if level == "warning":
                warn(text)


def _control(reference: weakref.ref[World]) -> None:
    world = reference()
    if world is not None:
        for _, call, _ in world._controllers:
            call(world)


def _controller_state(reference: weakref.ref[World], data: Optional[bytes]) -> Optional[bytes]:
    world = reference()
    if world is None:
        raise ClosedError("this world is gone; load it again")
    holders = [holder for _, _, holder in world._controllers]
    if data is None:
        if not any(_codec.declared(holder) for holder in holders):
            return b""
        return _codec.pack([_codec.state_of(holder) for holder in holders])
    if not data and not any(_codec.declared(holder) for holder in holders):
        return None
    states = _codec.unpack(data)
    if not isinstance(states, list) or len(states) != len(holders):
        raise StateError(f"the snapshot is not of a world with {len(holders)} controllers; add those that it was taken with")
    for holder, state in zip(holders, states):
        _codec.set_state(holder, state)
    return None


def _make(arguments: dict[str, Any], folder: Optional[tempfile.TemporaryDirectory[str]]) -> World:
    return World(_core.World(**arguments), arguments, folder)


def load(
    experiment: Union[str, os.PathLike[str], WorldSpec, RobotSpec],
    *,
    settings: Optional[Mapping[str, object]] = None,
    seed: int = 1,
    engine: str = "",
    dt: Union[None, str, float, Fraction] = None,
    duration: Optional[float] = None,
    threads: int = 1,
    substep: Optional[float] = None,
    precision: Optional[str] = None,
    behaviors: Optional[Mapping[str, Any]] = None,
    plugins: Sequence[Union[str, os.PathLike[str]]] = (),
    restore: Union[None, bytes, str, os.PathLike[str]] = None,
    accept_changes: bool = False,
) -> World:
    """Loads a world and starts its modules.

    experiment: the name of an experiment ("remod3d/snake"), an SDF or URDF file, SDF as text (beginning with "<"), or a
    WorldSpec that was built in code (a RobotSpec stands alone on a ground). Also a .xacro file (pip install xacro) and
    MJCF (an .xml file, or text that begins with "<mujoco"; pip install mujoco): what it says and Volvox cannot is warned of.
    settings: what `--set` changes, such as {"modules": 20}. seed: of everything random. engine: native, bullet, ode,
    mujoco or none. dt: the length of a tick in s ("1/60"). duration: of the whole run, in s. threads: the result does
    not depend on it. substep: the longest physics step, in s. precision: "mixed" (floats where they are enough; native
    only, and its default) or "double". restore: a snapshot to begin with, as bytes or a file.

    behaviors: by the names that the world uses, a class derived from volvox.Behavior; "commanded", for modules that only
    World.command and World.act move; or the name of another behavior of Volvox.

    Raises InputError, with file, line and what to do.
    """
    if isinstance(plugins, (str, os.PathLike)):
        plugins = [plugins]
    arguments: dict[str, Any] = {
        "engine": engine,
        "seed": whole(seed, "the seed", 0, 2**64 - 1),
        "threads": whole(threads, "threads", 1, 1024),
        "dt": tick_length(dt),
        "substep": substep,
        "precision": precision,
        "duration": duration,
        "settings": text_of_settings({} if settings is None else settings),
        "plugins": [os.fspath(plugin) for plugin in plugins],
        "behaviors": dict_of(behaviors, "behaviors", "{'snake': Wave}"),
        "restore": restore if restore is None or isinstance(restore, bytes) else pathlib.Path(restore).read_bytes(),
        "accept_changes": accept_changes,
    }
    where, folder = _on_disk(experiment)
    try:
        return _make({"experiment": where, **arguments}, folder)
    except BaseException:
        if folder is not None:
            folder.cleanup()
        raise


def _on_disk(
    experiment: Union[str, bytes, os.PathLike[str], WorldSpec, RobotSpec],
) -> tuple[str, Optional[tempfile.TemporaryDirectory[str]]]:
    """The name or the file of what shall be loaded, and the folder that was made for what is no file yet."""
    source = os.fsdecode(experiment) if isinstance(experiment, bytes) else experiment
    if not isinstance(source, (WorldSpec, RobotSpec)):
        source = foreign.converted(source)
    if isinstance(source, str) and not source.lstrip().startswith("<"):
        return source, None
    folder = tempfile.TemporaryDirectory(prefix="volvox_")
    try:
        if not isinstance(source, str):
            return str(source.save(pathlib.Path(folder.name) / "world.sdf")), folder
        is_urdf = "<robot" in source and "<sdf" not in source
        file = pathlib.Path(folder.name) / ("robot.urdf" if is_urdf else "world.sdf")
        file.write_text(source.lstrip(), encoding="utf-8", errors="surrogateescape")
        return str(file), folder
    except BaseException:
        folder.cleanup()
        raise
