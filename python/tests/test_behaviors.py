"""Behaviors in Python: of one module, and of all modules at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import chain

import volvox


class Wave(volvox.Behavior):
    """A wave by the module's own clock; everything that changes is listed."""

    state = ("phase", "heard", "notes")

    def start(self, agent: volvox.Agent) -> None:
        self.phase = agent.parameter("phase", 0.5)
        self.heard = 0
        self.notes: dict[str, Any] = {}

    def step(self, agent: volvox.Agent) -> None:
        self.phase += (2 + 0.1 * agent.normal()) * agent.dt
        agent.move_to("pitch", 0.3 * math.sin(self.phase))
        agent.broadcast({"phase": self.phase, "name": agent.name, "where": np.arange(3.0)})
        while message := agent.read():
            self.heard += 1
            self.notes[message.outlet] = message.content["where"]


def test_a_behavior_moves_its_module_and_talks() -> None:
    with volvox.load(chain("wave"), behaviors={"wave": Wave}) as world:
        world.watch_messages()
        world.step(30)
        assert np.abs(world.joint_positions).max() > 0.1
        assert world.network.delivered > 50
        assert world.messages


def test_its_state_is_in_hash_and_snapshot() -> None:
    with volvox.load(chain("wave"), behaviors={"wave": Wave}, seed=9) as world:
        world.step(20)
        snapshot, middle = world.snapshot(), world.state_hash
        world.step(20)
        end = world.state_hash
        assert end != middle
        world.restore(snapshot)
        assert world.state_hash == middle
        world.step(20)
        assert world.state_hash == end
        with volvox.load(chain("wave"), behaviors={"wave": Wave}, seed=9, threads=2) as again:
            again.step(40)
            assert again.state_hash == end
        forked = world.fork()
        forked.step(3)
        world.step(3)
        assert forked.state_hash == world.state_hash


class Forgetful(volvox.Behavior):
    """Does not list its state."""

    def step(self, agent: volvox.Agent) -> None:
        agent.move_to("pitch", 0.1)


@pytest.mark.parametrize("what", ["state_hash", "snapshot", "record", "fork"])
def test_undeclared_state_is_refused_by_name(what: str, tmp_path: Any) -> None:
    with volvox.load(chain("forgetful"), behaviors={"forgetful": Forgetful}) as world:
        world.step(0)
        with pytest.raises(volvox.StateError, match="'forgetful' does not list its state") as caught:
            {
                "state_hash": lambda: world.state_hash,
                "snapshot": world.snapshot,
                "record": lambda: world.record(tmp_path),
                "fork": world.fork,
            }[what]()
        assert "state = " in caught.value.fix
        world.step(2)  # it runs all the same


def test_percepts_actions_and_docks() -> None:
    seen: dict[str, Any] = {}

    class Look(volvox.Behavior):
        state = ()

        def start(self, agent: volvox.Agent) -> None:
            seen["percepts"], seen["actions"], seen["outlets"] = agent.percepts, agent.actions, agent.outlets

        def step(self, agent: volvox.Agent) -> None:
            seen["acceleration"] = agent.percept("accelerometer")
            seen["angle"] = agent.angle("yaw"), agent.percept("yaw.angle")
            seen["dock"] = agent.dock("front")
            seen["random"] = agent.random()
            seen["time"], seen["dt"] = agent.time, agent.dt
            agent.act("roll", 0.1)
            agent.enable_dock("left", False)
            agent.act("right", False)
            agent.log(f"{agent.name} is here")

    with volvox.load(chain("look", 1), behaviors={"look": Look}) as world:
        world.step(60)
        assert "accelerometer" in seen["percepts"] and "pitch" in seen["actions"] and "front" in seen["outlets"]
        assert seen["acceleration"][2] == pytest.approx(9.81, abs=0.5)
        assert seen["angle"][0] == seen["angle"][1] and 0 <= seen["random"] < 1
        assert seen["dock"] == {"enabled": True, "engaged": False, "latching": False, "broken": False, "neighbor": ""}
        assert seen["dt"] == pytest.approx(1 / 60) and seen["time"] == pytest.approx(59 / 60)
        assert world.joint_positions[world.joint_names.index("m0.roll")] == pytest.approx(0.1, abs=0.03)
        assert not world.dock_enabled[world.dock_names.index("m0.left")]
        assert any("m0 is here" in text for _, text in world.log)


@pytest.mark.parametrize(
    "content", [True, 7, -(2**62), 2**80, 2.5, "über", b"\x00\xff", None, [1, "a"], (1.0, {2: [3]}), {"x": np.eye(2)}]
)
def test_messages_arrive_as_they_were_sent(content: Any) -> None:
    got: list[Any] = []

    class Talk(volvox.Behavior):
        state = ()

        def step(self, agent: volvox.Agent) -> None:
            if agent.name == "m0":
                agent.broadcast(content)

        def receive(self, agent: volvox.Agent, message: volvox.Message) -> bool:
            got.append(message.content)
            return True

    with volvox.load(chain("talk", 2), behaviors={"talk": Talk}) as world:
        world.step(4)
    assert got and all(type(each) is type(content) for each in got)
    assert str(got[0]) == str(content)


def test_values_without_an_end_are_refused() -> None:
    holds_itself: list[Any] = []
    holds_itself.append(holds_itself)
    for value, what in ((holds_itself, "holds itself"), (10**5000, "thousands of digits"), ([object()], "type object")):
        with pytest.raises(volvox.StateError, match=what) as refused:
            volvox._codec.pack(value)
        assert refused.value.fix.startswith("use ")
    with pytest.raises(volvox.StateError, match="nested too deep"):
        volvox._codec.unpack(b"l\x01\0\0\0\0\0\0\0" * 100_000)


def test_a_period_is_kept() -> None:
    calls: list[float] = []

    class Slow(volvox.Behavior):
        state = ()
        period = 0.1

        def step(self, agent: volvox.Agent) -> None:
            calls.append(agent.time)

    with volvox.load(chain("slow", 1), behaviors={"slow": Slow}) as world:
        world.step(60)
    assert len(calls) == 10 and np.allclose(np.diff(calls), 0.1, atol=1 / 60)


def test_unread_parameters_are_refused_except_in_a_stand_in() -> None:
    parameters = '<volvox:parameter name="lenght" value="1"/>'
    with pytest.raises(volvox.InputError, match="lenght"):
        volvox.load(chain("wave", 2, parameters), behaviors={"wave": Wave})
    with volvox.load("remod3d/snake", settings={"modules": 3}, behaviors={"snake": Wave}) as world:
        world.step(2)


def test_errors_in_a_behavior_end_the_tick_and_tell_where() -> None:
    class Breaks(volvox.Behavior):
        state = ()

        def step(self, agent: volvox.Agent) -> None:
            if agent.time > 0.1:
                raise LookupError("lost my way")

    with volvox.load(chain("breaks"), behaviors={"breaks": Breaks}) as world:
        world.step(3)
        before = world.snapshot()
        with pytest.raises(volvox.RunFailed, match=r"LookupError: lost my way \(test_behaviors.py, line \d+\)") as caught:
            world.step(60)
        assert isinstance(caught.value.__cause__, LookupError) and "m0" in str(caught.value)
        with pytest.raises(volvox.RunFailed, match="failed before"):
            world.step()
        world.restore(before)
        world.step(2)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (lambda agent: agent.percept("nose"), "nose"),
        (lambda agent: agent.move_to("nose", 0.0), "nose"),
        (lambda agent: agent.move_to("pitch", math.nan), "finite"),
        (lambda agent: agent.act("pitch", math.inf), "finite"),
        (lambda agent: agent.send("nowhere", 1), "nowhere"),
        (lambda agent: agent.broadcast(object()), "type object"),
        (lambda agent: agent.send("front", 1, mailbox=99999), "mailbox"),
        (lambda agent: agent.move_to("pitch", "far"), "TypeError"),
    ],
)
def test_bad_calls_of_an_agent(body: Any, what: str) -> None:
    class Bad(volvox.Behavior):
        state = ()

        def step(self, agent: volvox.Agent) -> None:
            body(agent)

    with volvox.load(chain("bad", 2), behaviors={"bad": Bad}) as world:
        with pytest.raises(volvox.RunFailed, match=what):
            world.step()


def test_an_agent_is_valid_only_within_its_calls() -> None:
    kept: list[volvox.Agent] = []

    class Keep(volvox.Behavior):
        state = ()

        def step(self, agent: volvox.Agent) -> None:
            kept.append(agent)

    world = volvox.load(chain("keep", 1), behaviors={"keep": Keep})
    world.step()
    with pytest.raises(volvox.BusyError, match="only within a call"):
        kept[0].move_to("pitch", 0)
    world.close()
    with pytest.raises(volvox.BusyError):
        _ = kept[0].time


def test_classes_that_are_none() -> None:
    class NoStep:
        pass

    class Raises(volvox.Behavior):
        def __init__(self) -> None:
            raise ValueError("not today")

        def step(self, agent: volvox.Agent) -> None: ...

    class Misnamed(volvox.Behavior):
        state = ("phase",)

        def step(self, agent: volvox.Agent) -> None: ...

    class Odd(volvox.Behavior):
        state = ("thing",)

        def start(self, agent: volvox.Agent) -> None:
            self.thing = object()

        def step(self, agent: volvox.Agent) -> None: ...

    with pytest.raises(volvox.InputError, match="not a class with a method step"):
        volvox.load(chain("x"), behaviors={"x": NoStep})
    with pytest.raises(volvox.InputError, match="not today"):
        volvox.load(chain("x"), behaviors={"x": Raises})
    with pytest.raises(volvox.InputError, match="no behavior named 'snak'"):
        volvox.load(chain("x"), behaviors={"x": "snak"})
    for odd, what in ((Misnamed, "names 'phase'"), (Odd, "type object")):
        with volvox.load(chain("x"), behaviors={"x": odd}) as world:
            world.step()
            with pytest.raises(Exception, match=what):
                world.snapshot()


class Waves:
    """All modules at once."""

    state = ("phase",)

    def __init__(self) -> None:
        self.phase = 0.0

    def step(self, world: volvox.World) -> None:
        self.phase += 3 * world.dt
        self.seen = world.joint_positions.copy()
        pitch = np.array([i for i, name in enumerate(world.motor_names) if name.endswith(".pitch")])
        world.command(0.3 * np.sin(self.phase - np.arange(len(pitch))), motors=pitch)


def test_controllers_command_all_modules() -> None:
    with volvox.load(chain("commanded"), behaviors={"commanded": "commanded"}) as world:
        waves = Waves()
        world.add_controller(waves)
        world.step(30)
        assert np.abs(world.joint_positions).max() > 0.1
        # It saw the state at the start of the last tick.
        assert not np.array_equal(waves.seen, world.joint_positions)
        last = world.joint_positions.copy()
        world.step()
        assert np.array_equal(waves.seen, last)


def test_the_state_of_controllers_is_in_hash_and_snapshot() -> None:
    def begin() -> tuple[volvox.World, Waves]:
        world = volvox.load(chain("commanded"), behaviors={"commanded": "commanded"})
        waves = Waves()
        world.add_controller(waves)
        return world, waves

    world, waves = begin()
    world.step(20)
    snapshot, phase, middle = world.snapshot(), waves.phase, world.state_hash
    waves.phase += 1
    assert world.state_hash != middle
    waves.phase = phase
    world.step(15)
    end = world.state_hash
    world.restore(snapshot)
    assert waves.phase == phase and world.state_hash == middle
    world.step(15)
    assert world.state_hash == end
    other, _ = begin()
    other.restore(snapshot)
    other.step(15)
    assert other.state_hash == end
    with pytest.raises(volvox.StateError, match="without controllers|with controllers"):
        volvox.load(chain("commanded"), behaviors={"commanded": "commanded"}).restore(snapshot)
    with pytest.raises(volvox.InputError, match="forked"):
        world.fork()


def test_controllers_that_do_not_list_their_state_are_refused_by_name() -> None:
    with volvox.load(chain("commanded"), behaviors={"commanded": "commanded"}) as world:
        world.add_controller(lambda world: None, name="my waves")
        world.step(3)
        with pytest.raises(volvox.StateError, match="'my waves'"):
            _ = world.state_hash
        with pytest.raises(volvox.StateError, match="'my waves'"):
            world.snapshot()


def test_a_controller_that_fails_or_steps() -> None:
    with volvox.load(chain("commanded"), behaviors={"commanded": "commanded"}) as world:
        world.add_controller(lambda world: world.step())
        with pytest.raises(volvox.RunFailed, match="being used") as caught:
            world.step()
        assert isinstance(caught.value.__cause__, volvox.BusyError)
    with volvox.load(chain("commanded"), behaviors={"commanded": "commanded"}) as world:
        world.add_controller(lambda world: world.command([math.nan] * 9))
        with pytest.raises(volvox.RunFailed, match="m0.yaw is nan"):
            world.step()
        with pytest.raises(volvox.InputError, match="callable"):
            world.add_controller(3)
