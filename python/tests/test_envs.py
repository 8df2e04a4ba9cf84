"""Environments: the libraries' own checkers, repeatability, and what the tasks reward."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import volvox

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import volvox.envs  # noqa: E402

MODULES = ["Snake", "Walker", "Dock", "Track", "Pit", "Formation"]
TASKS = [*MODULES, "Wave"]  # each module an agent, or one for all


@pytest.mark.parametrize("task", TASKS)
def test_gymnasium_accepts_it(task: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=DeprecationWarning)
        env = gymnasium.make(f"volvox/{task}-v0")
        check_env(env.unwrapped, skip_render_check=True)
        env.close()


def test_pictures_of_an_environment() -> None:
    env = volvox.envs.make("Snake", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape == (480, 640, 3)
    with pytest.raises(volvox.InputError):
        volvox.envs.make("Snake", render_mode="human")


def play(env: Any, seed: int, steps: int = 12) -> list[Any]:
    seen, _ = env.reset(seed=seed)
    random = np.random.default_rng(seed)
    story: list[Any] = [seen.tolist()]
    for _ in range(steps):
        seen, reward, terminated, truncated, _ = env.step(random.uniform(-1, 1, env.action_space.shape).astype(np.float32))
        story.append((seen.tolist(), float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return story


@pytest.mark.parametrize("task", TASKS)
def test_episodes_repeat_and_differ(task: str) -> None:
    env, other = volvox.envs.make(task), volvox.envs.make(task, threads=2)
    first = play(env, 3)
    assert play(env, 4) != first
    assert play(env, 3) == first == play(other, 3)


@pytest.mark.parametrize("task", TASKS)
def test_a_vector_is_as_many_single_ones(task: str) -> None:
    count, steps = 3, 10
    vector = volvox.envs.make_vec(task, count, threads=2)
    single = [volvox.envs.make(task) for _ in range(count)]
    seen, _ = vector.reset(seed=5)
    alone = np.array([env.reset(seed=5 + i)[0] for i, env in enumerate(single)])
    # Both draw from generators of the same seed.
    assert np.array_equal(seen, alone) and vector.observation_space.contains(seen)
    random = np.random.default_rng(0)
    for _ in range(steps):
        actions = random.uniform(-1, 1, vector.action_space.shape).astype(np.float32)
        seen, rewards, terminated, truncated, _ = vector.step(actions)
        told = [env.step(action) for env, action in zip(single, actions)]
        assert np.array_equal(seen, np.array([each[0] for each in told]))
        assert rewards.tolist() == [each[1] for each in told]
        assert terminated.tolist() == [each[2] for each in told] and truncated.tolist() == [each[3] for each in told]
        if (terminated | truncated).any():
            break
    vector.close()


def test_a_vector_begins_anew_by_itself() -> None:
    task = volvox.envs.Snake(3)
    task.seconds = 0.4
    vector = volvox.envs.make_vec(task, 2)
    first, _ = vector.reset(seed=1)
    zero = np.zeros(vector.action_space.shape, dtype=np.float32)
    most = round(task.seconds * 60 / task.ticks_per_step)
    for _ in range(most):
        seen, rewards, _, truncated, _ = vector.step(zero)
    assert truncated.all()
    begun, rewards, terminated, truncated, _ = vector.step(zero)
    assert not rewards.any() and not truncated.any() and not terminated.any()
    assert not np.array_equal(begun, seen) and not np.array_equal(begun, first)
    _, _, _, truncated, _ = vector.step(zero)
    assert not truncated.any()
    mask = np.array([True, False])
    again, _ = vector.reset(seed=[1, None], options={"reset_mask": mask})
    assert np.array_equal(again[0], first[0]) and not np.array_equal(again[1], first[1])


def test_gymnasium_makes_vectors() -> None:
    vector = gymnasium.make_vec("volvox/Snake-v0", num_envs=2, vectorization_mode="vector_entry_point")
    vector.reset(seed=0)
    vector.step(vector.action_space.sample())
    vector.close()


@pytest.mark.parametrize("task", MODULES)
def test_pettingzoo_accepts_it(task: str) -> None:
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    env = volvox.envs.parallel_env(task)
    parallel_api_test(env, num_cycles=60)
    parallel_seed_test(lambda: volvox.envs.parallel_env(task), num_cycles=10)
    assert env.state().shape == (len(env.possible_agents) * env.task.observation_size,)


def test_one_action_for_all_is_no_task_for_agents() -> None:
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
    with pytest.raises(volvox.InputError, match="one action for the whole robot"):
        volvox.envs.parallel_env("Wave")


def test_a_wave_along_the_snake() -> None:
    """Lagging modules make a wave, which moves the snake the other way when it is turned round."""
    env = volvox.envs.make("Wave")
    rewards = {}
    for lag in (-0.7, 0, 0.7):
        env.reset(seed=1)
        rewards[lag] = sum(env.step(np.array([0.5, 0.5, lag], np.float32))[1] for _ in range(3))
        assert env.world.tick == 3 * 60 + 4, "three periods after the start"
    assert rewards[0.7] > 2 > 0 > -2 > rewards[-0.7] and abs(rewards[0]) < 1, rewards


def test_a_module_that_breaks_off_is_no_agent_any_more() -> None:
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
    env = volvox.envs.parallel_env(volvox.envs.Snake(5))
    env.reset(seed=0)
    env.world.act("front", 0.0, modules=[4])  # the dock by which the last module holds
    gone: set[str] = set()
    for _ in range(5):
        _, _, terminated, _, _ = env.step({agent: np.zeros(2, np.float32) for agent in env.agents})
        gone |= {agent for agent, over in terminated.items() if over}
    assert gone == {"s4"} and env.agents == ["s0", "s1", "s2", "s3"]
    with pytest.raises(volvox.InputError, match="s4"):
        env.step({"s4": np.zeros(2)})
    env.reset()
    assert len(env.agents) == 5


def test_a_gait_is_rewarded() -> None:
    """A wave that runs one way earns, one that runs the other way costs, and lying still does neither."""
    env = volvox.envs.make("Snake")
    earned = []
    for amplitude, way in ((0.0, 1), (0.375, -1), (0.375, 1)):
        env.reset(seed=1)
        total = 0.0
        for step in range(75):
            phase = np.pi * step / 15 - way * 2 * np.pi * np.arange(5) / 6
            total += env.step(np.stack([amplitude * np.sin(phase), np.zeros(5)], axis=1).ravel())[1]
        earned.append(total)
    still, forwards, backwards = earned
    assert abs(still) < 0.1 and forwards > 1 and backwards < -1, earned


@pytest.mark.parametrize("seed", range(5))
def test_driving_at_the_other_docks(seed: int) -> None:
    """A driver who turns towards the other dock: what a cart sees is enough to dock."""
    env = volvox.envs.make("Dock")
    seen, _ = env.reset(seed=seed)
    total, docked, truncated = 0.0, False, False
    while not docked and not truncated:
        left = seen.reshape(2, 6)[:, 1] + 0.1 * seen.reshape(2, 6)[:, 3]
        turn = np.clip(8 * left, -0.5, 0.5)
        speed = np.where(np.abs(left) < 0.05, 0.4, 0.1)
        seen, reward, docked, truncated, _ = env.step(np.stack([speed - turn, speed + turn], axis=1).ravel())
        total += reward
    assert docked and total > 12, total


@pytest.mark.parametrize("bad", [np.zeros(3), np.full(10, np.nan), np.zeros((5, 2)), np.zeros(10) + 1j, "left"])
def test_bad_actions(bad: Any) -> None:
    env = volvox.envs.make("Snake")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(10))
    env.reset(seed=1)
    with pytest.raises(volvox.InputError):
        env.step(bad)
    env.step(np.zeros(10))
    vector = volvox.envs.make_vec("Snake", 2)
    vector.reset(seed=1)
    before = [world.state_hash for world in vector.population]
    with pytest.raises(volvox.InputError):
        vector.step([np.ones(10), bad])
    assert [world.state_hash for world in vector.population] == before


def test_bad_tasks() -> None:
    with pytest.raises(volvox.InputError, match="Snake, Walker, Dock"):
        volvox.envs.make("Snak")
    with pytest.raises(volvox.InputError):
        volvox.envs.make_vec("Snake", 0)


def test_the_pit_can_be_crossed_and_fallen_into() -> None:
    """Stiff and slightly bent up, the chain spans it; limp, its head goes down."""
    env = volvox.envs.make("Pit")
    results = {}
    for name, hinge in (("bent", 0.1), ("drooping", -1.0)):
        env.reset(seed=1)
        total, ended = 0.0, False
        for _ in range(150):
            action = np.tile([hinge, 0.7], 8).astype(np.float32)
            _, reward, ended, truncated, _ = env.step(action)
            total += reward
            if ended or truncated:
                break
        results[name] = (total, ended)
    assert results["bent"][1] and results["bent"][0] > 15, results
    assert results["drooping"][0] < 10, results
    env.close()


def test_quadrotors_can_hold_their_formation() -> None:
    """A simple controller: tilt towards the place, and hold the height."""
    env = volvox.envs.make("Formation")
    seen, _ = env.reset(seed=2)
    total, ended = 0.0, False
    for _ in range(int(6.0 * 50)):
        s = seen.reshape(4, 15).astype(float)
        way, speed, up, turn = s[:, :3], s[:, 3:6], s[:, 6:9], s[:, 9:12]
        wanted = np.clip(1.5 * way - 2.2 * speed, -2, 2)
        lift = 1 + wanted[:, 2] / 9.81
        forward = 0.25 * (wanted[:, 0] / 9.81 - up[:, 0]) * 4 - 0.25 * turn[:, 1]
        left = 0.25 * (wanted[:, 1] / 9.81 - up[:, 1]) * 4 + 0.25 * turn[:, 0]
        thrust = np.stack([lift - forward, lift - left, lift + forward, lift + left], axis=1)  # front, left, back, right
        action = (np.sqrt(np.clip(thrust, 0.2, 2)) - 1) / 0.4
        seen, reward, ended, truncated, _ = env.step(action.astype(np.float32).ravel())
        total += reward
        if ended or truncated:
            break
    distance = float(np.linalg.norm(seen.reshape(4, 15)[:, :3], axis=1).max())
    assert not ended and distance < 0.2 and total > 5, (ended, distance, total)
    env.close()


class Joining(volvox.envs.Task):
    """Two SuperBots that are docked and a third that lies before them, close enough to be caught."""

    name = "Joining"
    action_size = 1
    observation_size = 1
    ticks_per_step = 10
    seconds = 4.0
    joins = True

    def load(self, seed: int = 1, threads: int = 1) -> volvox.World:
        spec = volvox.WorldSpec("joining", gravity=(0, 0, 0), duration=self.seconds)
        spec.add_population("m", "superbot", count=2, from_="front", to="back", behavior="commanded")
        spec.add_module("lone", "superbot", pose=(0.341, 0, 0), behavior="commanded")
        return volvox.load(spec, seed=seed, threads=threads)

    def scatter(self, world: volvox.World, random: Any) -> None:
        pass

    def act(self, world: volvox.World, actions: Any) -> None:
        world.act("front", np.where(actions[:, 0] < -0.5, 0.0, 1.0))

    def observe(self, world: volvox.World) -> Any:
        return world.poses[world.module_links, :1]

    def progress(self, world: volvox.World) -> float:
        return 0.0


def test_agents_come_and_go() -> None:
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
    env = volvox.envs.parallel_env(Joining(), lives=2)
    names = env.world.module_names
    assert env.possible_agents == names + [f"{name}#2" for name in names]
    seen, _ = env.reset(seed=1)
    assert sorted(seen) == sorted(env.agents) == ["m0", "m1"]
    for _ in range(12):  # they catch the third
        seen, rewards, gone, _, _ = env.step({agent: np.zeros(1) for agent in env.agents})
        if "lone" in env.agents:
            break
    assert "lone" in env.agents and "lone" in seen and "lone" in rewards and not gone["lone"]
    # m1 lets it go: its agent ends, and does not come back under that name.
    seen, _, gone, _, _ = env.step({agent: np.full(1, -1.0) for agent in env.agents})
    assert "lone" in gone and gone["lone"] and "lone" not in env.agents
    for _ in range(20):
        env.step({agent: np.zeros(1) for agent in env.agents})
        if "lone#2" in env.agents:
            break
    assert "lone#2" in env.agents and "lone" not in env.agents
    with pytest.raises(volvox.InputError, match="no agent lone "):
        env.step({"lone": np.zeros(1)})
    with pytest.raises(volvox.InputError, match="lives"):
        volvox.envs.parallel_env("Snake", lives=0)
    env.close()


def test_a_chain_is_cut_elsewhere() -> None:
    """All pairs of where the chain is cut and where it shall be, the shortest way; and gymnasium's checker."""
    env = gymnasium.make("volvox/Reconfigure-v0").unwrapped
    check_env(env, skip_render_check=True)
    bend, hashes = 6, set()
    for cut, goal in itertools.permutations(range(6), 2):
        seen, info = env.reset(seed=1, options={"cut": cut, "goal": goal})
        assert env.observation_space.contains(seen) and len(info["edges"]) == 5 and (cut, (cut + 1) % 6) not in info["edges"]
        assert info["action_mask"].tolist() == [int(k != cut) for k in range(6)] + [1, 1]
        seen, reward, terminated, _, info = env.step(bend)
        assert len(info["edges"]) == 6 and reward == pytest.approx(0.95) and not terminated, "a ring"
        seen, reward, terminated, truncated, info = env.step(goal)
        assert terminated and reward == pytest.approx(10.95) and not truncated
        assert len(info["edges"]) == 5 and (goal, (goal + 1) % 6) not in info["edges"]
        hashes.add(env.world.state_hash)
    assert len(hashes) == 30
    env.close()


def test_what_does_not_reconfigure() -> None:
    env, other = volvox.envs.Reconfigure(4), volvox.envs.Reconfigure(4, threads=2)
    stories = []
    for each in (env, other, env):
        each.reset(seed=3, options={"cut": 0, "goal": 2})
        told = [each.step(action) for action in (1, 2, 5, 4, 5)]
        assert told[0][1] == pytest.approx(-1.05) and told[0][0][-1] == 1, "a wrong edge is opened, and there are two pieces"
        stories.append([step[0].tolist() for step in told] + [each.world.state_hash])
    assert stories[0] == stories[1] == stories[2], "the same bits at any number of threads, and again"
    for bad in (6, -1, 1.5, "open", None):
        with pytest.raises(volvox.InputError, match="no action"):
            env.step(bad)
    with pytest.raises(volvox.InputError, match="no edge 9"):
        env.reset(options={"cut": 9})
    with pytest.raises(volvox.InputError, match="give 4 to 8"):
        volvox.envs.Reconfigure(3)
    env.reset(seed=1, options={"cut": 0, "goal": 2})
    for k in range(16):
        _, _, terminated, truncated, _ = env.step(5)
    assert truncated and not terminated
    with pytest.raises(gymnasium.error.ResetNeeded):
        volvox.envs.Reconfigure(4).step(0)
