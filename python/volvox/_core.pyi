"""The extension module. Its classes are used through volvox.World, volvox.Recording and volvox.Population."""

from typing import Any, Callable, Optional, overload

import numpy as np
import numpy.typing as npt

__version__: str

def experiments() -> list[str]: ...
def engines() -> list[str]: ...
def behaviors() -> list[str]: ...
def library() -> str: ...
def experiment_file(name: str) -> str: ...
def robot_file(name: str) -> str: ...
def open_recording(path: str) -> Recording: ...

class Message:
    """A message that has arrived at a module."""

    @property
    def outlet(self) -> str:
        """The dock, radio or bus where it came in: agent.send(message.outlet, ...) answers it."""
    @property
    def mailbox(self) -> int:
        """The mailbox it was sent to."""
    @property
    def sender(self) -> int:
        """The sender's address, if it came by radio or bus; else -1."""
    @property
    def power(self) -> float:
        """Received power in W, if it came by radio."""
    @property
    def sent(self) -> float:
        """When it was sent, in s of simulated time."""
    @property
    def arrived(self) -> float:
        """When it arrived, in s of simulated time."""
    @property
    def content(self) -> Any:
        """What was sent; a message of a C++ type as a dict, or None where its type is not known."""

class Agent:
    """All that a module can know and do. Valid only within a call of its behavior. SI units, angles in rad."""

    @property
    def name(self) -> str:
        """The module's name."""
    @property
    def time(self) -> float:
        """The module's own clock, in s."""
    @property
    def dt(self) -> float:
        """The length of a tick, in s."""
    @property
    def address(self) -> int:
        """Its address on radios and buses."""
    @property
    def percepts(self) -> list[str]:
        """The names of its percepts."""
    @property
    def actions(self) -> list[str]:
        """The names of its actions."""
    @property
    def outlets(self) -> list[str]:
        """Its docks, radios and buses."""
    @property
    def waiting(self) -> int:
        """How many messages wait to be read."""
    def percept(self, name: str) -> Any:
        """The reading of a sensor: a number, a tuple of three, or a dict."""
    def angle(self, joint: str) -> float:
        """The position of a joint, in rad or m."""
    def dock(self, name: str) -> dict[str, Any]:
        """A dock: enabled, engaged, latching, broken, and neighbor, the name of the dock at its other end."""
    def move_to(self, joint: str, position: float) -> None:
        """Commands a motor to a position, in rad or m. A command holds until it is changed."""
    def turn(self, joint: str, velocity: float) -> None:
        """Commands a motor to a velocity, in rad/s or m/s."""
    def push(self, joint: str, torque: float) -> None:
        """Commands a motor to a torque, in N m or N."""
    def enable_dock(self, dock: str, enabled: bool = True) -> None:
        """Lets a dock connect, or lets go what is connected."""
    def act(self, action: str, command: Any) -> None:
        """Any action by name: a number, a bool for a dock, three numbers for a thruster (N) or a lamp (0 to 1)."""
    def send(self, outlet: str, content: Any, *, mailbox: int = 0, to: int = -1) -> None:
        """Sends a message: numbers, text, bytes, arrays, and lists, tuples and dicts of them. C++ behaviors understand
        numbers (double, int64, bool), text and bytes."""
    def broadcast(self, content: Any) -> None:
        """Sends a message at all docks."""
    def read(self, outlet: Optional[str] = None) -> Optional[Message]:
        """Takes the oldest message that waits, of all or of one outlet; None if there is none."""
    def random(self) -> float:
        """A random number in [0, 1) of the module's own stream. Use no other random numbers: runs then repeat."""
    def normal(self) -> float:
        """A random number with mean 0 and standard deviation 1, of the same stream."""
    @overload
    def parameter(self, name: str, default: bool) -> bool: ...
    @overload
    def parameter(self, name: str, default: int) -> int: ...
    @overload
    def parameter(self, name: str, default: float) -> float: ...
    @overload
    def parameter(self, name: str, default: str) -> str: ...
    def log(self, text: str) -> None:
        """Writes a line into the world's log."""

class World:
    def __init__(
        self,
        experiment: str,
        engine: str,
        seed: int,
        threads: int,
        dt: Optional[str],
        substep: Optional[float],
        precision: Optional[str],
        duration: Optional[float],
        settings: dict[str, str],
        plugins: list[str],
        behaviors: dict[str, Any],
        restore: Optional[bytes],
        accept_changes: bool,
    ) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def tick(self) -> int: ...
    @property
    def time(self) -> float: ...
    def step(self, ticks: int) -> None: ...
    def end(self) -> str: ...
    def close(self) -> None: ...
    def description(self) -> dict[str, Any]: ...
    def state_array(self, name: str) -> npt.NDArray[Any]: ...
    def percept_array(self, name: str) -> npt.NDArray[np.float64]: ...
    def command(
        self, targets: npt.NDArray[np.float64], motors: Optional[npt.NDArray[np.int32]], control: str
    ) -> None: ...
    def act(
        self, action: str, values: npt.NDArray[np.float64], modules: Optional[npt.NDArray[np.int32]], control: str
    ) -> None: ...
    def give(self, kind: str, module: str, name: str, text: str, value: float, force: list[float]) -> None: ...
    def events(self) -> list[tuple[float, str, str, str, tuple[float, float, float, float]]]: ...
    def messages(self) -> list[tuple[float, float, str, str, str, str, str]]: ...
    def watch_messages(self) -> None: ...
    def history(self) -> dict[str, list[float]]: ...
    def mjcf(self) -> tuple[str, list[str]]: ...
    def state_hash(self) -> str: ...
    def snapshot(self) -> bytes: ...
    def restore(self, snapshot: bytes) -> None: ...
    def set_controller(
        self, call: Callable[[], None], state: Callable[[Optional[bytes]], Optional[bytes]], undeclared: str
    ) -> None: ...
    def record(self, file: str) -> None: ...
    def write(self, folder: str) -> None: ...
    def picture(self, camera: str, width: int, height: int, docks: str) -> npt.NDArray[np.uint8]: ...
    def depth(self, camera: str, width: int, height: int, range: float) -> npt.NDArray[np.float32]: ...
    def take_log(self) -> list[tuple[str, str]]: ...
    def take_raised(self) -> Optional[BaseException]: ...
    def centre_of_mass(self) -> tuple[float, float, float]: ...
    def organisms(self) -> list[int]: ...
    def network(self) -> tuple[int, int, int]: ...

class Population:
    def __init__(self, worlds: list[World], threads: int) -> None: ...
    def step(self, ticks: int, which: list[int]) -> None: ...

class Recording:
    @property
    def first_tick(self) -> int: ...
    @property
    def last_tick(self) -> int: ...
    @property
    def dt(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def warning(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def description(self) -> dict[str, str]: ...
    @property
    def results(self) -> dict[str, str]: ...
    @property
    def modules(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def docks(self) -> list[str]: ...
    def page(self, every: int) -> bytes: ...
    def read(self, first: int, last: int, every: int) -> dict[str, Any]: ...
    def verify(
        self, behaviors: dict[str, Any], threads: int, accept_changes: bool
    ) -> tuple[bool, int, int, float, str, str, str]: ...
