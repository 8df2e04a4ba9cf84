"""Self-reconfiguration as a task on the graph of docked modules: actions are changes of the graph, and physics decides
what comes of them."""

from __future__ import annotations

from typing import Any, Optional

import gymnasium
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..world_spec import WorldSpec
from ..world import World, load

__all__ = ["Reconfigure"]

Array = npt.NDArray[np.float32]


class Reconfigure(gymnasium.Env[Any, Any]):
    """SuperBots that lie on the ground, docked front to back (the ring of remod3d/rolling_track laid flat). They begin as a
    straight chain and shall become the same chain cut elsewhere: the edge that is missing shall be another one.

    The graph has a node for each module and an edge k between the front of module k and the back of module k + 1 (of the last,
    module 0). Actions: 0 to n - 1 open edge k; n bends all modules, which closes a ring if the docks at the ends of a chain
    then meet; n + 1 straightens them. The shortest way is to bend, to open the wanted edge and, if you like, to straighten.
    Edges that are open when the modules bend are closed again where their docks meet.

    Seen are n numbers for the edges (1: engaged), n for those that are wanted, how much the modules are bent (0: straight,
    1: a ring) and how many pieces there are, less 1. infos have "action_mask" (edges that are there can be opened) and "edges",
    pairs of modules. Each edge that differs from the wanted graph costs 1 when it comes and gives 1 when it goes, each action
    costs 0.05, and the wanted graph ends the episode with 10.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}
    most_steps = 16

    def __init__(self, modules: int = 6, *, render_mode: Optional[str] = None, world_seed: int = 1, threads: int = 1) -> None:
        if not (isinstance(modules, int) and 4 <= modules <= 8):
            raise InputError(f"a ring of {modules} SuperBots is not possible here; give 4 to 8")  # the ends of ten do not meet: the ground holds them back
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"there is no render mode '{render_mode}'; use rgb_array, or None")
        self.render_mode = render_mode
        self.modules = modules
        self.observation_space = gymnasium.spaces.Box(-1.0, float(modules), (2 * modules + 2,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(modules + 2)
        self.world = self._ring(world_seed, threads)
        names = self.world.dock_names
        self._fronts = np.array([names.index(f"t{k}.front") for k in range(modules)])
        self._backs = np.array([names.index(f"t{(k + 1) % modules}.back") for k in range(modules)])
        kinds = [name.split(".")[1] for name in self.world.motor_names]
        self._curved = np.array([kind != "roll" for kind in kinds])
        self._bend_to(1.0, 30)
        self._start = self.world.snapshot()
        self._chains: dict[int, bytes] = {}
        self._wanted = np.ones(modules, np.bool_)
        self._bent = 1.0
        self._steps = -1

    def _ring(self, seed: int, threads: int) -> World:
        angle = np.pi / self.modules
        spec = WorldSpec("reconfigure", duration=3600)
        spec.add_ground()
        spec.add_population(
            "t", "superbot", type="ring", count=self.modules, pose=(0, 0, 0.0425, 0, 0, 0), from_="front", to="back", turn=1,
            joints={"yaw": angle, "roll": np.pi / 2, "pitch": angle}, behavior="commanded",
        )  # fmt: skip
        return load(spec, seed=seed, threads=threads)

    def _bend_to(self, bent: float, ticks: int, before: Optional[float] = None) -> None:
        """Bends all modules alike, over so many ticks."""
        start = bent if before is None else before
        for part in np.linspace(0, 1, max(2, ticks // 4)):
            now = start + (bent - start) * part
            self.world.command(np.where(self._curved, now * np.pi / self.modules, np.pi / 2))
            self.world.step(4)

    def _edges(self) -> npt.NDArray[np.bool_]:
        partners, phases = self.world.dock_partners, self.world.dock_phases
        return np.asarray((phases[self._fronts] == 2) & (partners[self._fronts] == self._backs))

    def _open(self, edge: int) -> None:
        self.world.act("front", 0, modules=f"t{edge}")
        self.world.step(20)

    def _curl(self) -> None:
        """A little more than a ring, because the ground holds the ends back, until all docks have met or do not."""
        for edge in np.flatnonzero(~self._edges()).tolist():
            self.world.act("front", 1, modules=f"t{edge}")
        self._bend_to(1.0, 240, before=self._bent)
        for bent in np.arange(1.01, 1.13, 0.01):
            if self._edges().all():
                break
            self._bend_to(float(bent), 12, before=float(bent) - 0.01)
        self._bend_to(1.0, 24)
        self._bent = 1.0

    def _straighten(self) -> None:
        self._bend_to(0.0, 240, before=self._bent)
        self.world.step(30)
        self._bent = 0.0

    def _chain(self, edge: int) -> bytes:
        """The start of an episode: the straight chain without this edge. Made once."""
        if edge not in self._chains:
            self.world.restore(self._start)
            self._bent = 1.0
            self._open(edge)
            self._straighten()
            self._chains[edge] = self.world.snapshot()
        return self._chains[edge]

    def _seen(self) -> Array:
        edges = self._edges()
        pieces = len(set(self.world.organisms.tolist()))
        return np.concatenate([edges, self._wanted, [self._bent, pieces - 1]]).astype(np.float32)

    def _wrong(self) -> int:
        return int((self._edges() != self._wanted).sum())

    def _info(self) -> dict[str, Any]:
        edges = self._edges()
        pairs = [(int(k), int(k + 1) % self.modules) for k in np.flatnonzero(edges)]
        return {"action_mask": np.concatenate([edges, [True, True]]).astype(np.int8), "edges": pairs, "time_s": self.world.time}

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode. options: "cut" and "goal", the edges that are missing and shall be missing; else they are drawn."""
        super().reset(seed=seed)
        cut, goal = (int(k) for k in self.np_random.choice(self.modules, 2, replace=False))
        cut, goal = (options or {}).get("cut", cut), (options or {}).get("goal", goal)
        for edge in (cut, goal):
            if not (isinstance(edge, (int, np.integer)) and 0 <= edge < self.modules):
                raise InputError(f"there is no edge {edge}; give 0 to {self.modules - 1}")
        self.world.restore(self._chain(int(cut)))
        self._bent, self._steps = 0.0, 0
        self._wanted = np.arange(self.modules) != goal
        return self._seen(), self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Opens an edge, bends or straightens, and simulates until that is done."""
        if self._steps < 0:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise InputError(f"there is no action {action!r}; give 0 to {self.modules + 1}")
        before = self._wrong()
        if action < self.modules:
            self._open(int(action))
        elif action == self.modules:
            self._curl()
        else:
            self._straighten()
        self._steps += 1
        wrong = self._wrong()
        reward = float(before - wrong) - 0.05 + (10.0 if wrong == 0 else 0.0)
        return self._seen(), reward, wrong == 0, self._steps >= self.most_steps, self._info()

    def render(self) -> Any:
        """A picture, where render_mode is rgb_array."""
        return self.world.picture("top") if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Closes the world."""
        self.world.close()
