"""People and hardware in the loop: a joystick's bytes through a FIFO, UDP and a serial line in both directions, recorded and replayed."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, NECK, WORLD_BEGIN, CommandTest

EV_SYN, EV_KEY, EV_ABS, BTN_JOYSTICK = 0, 1, 3, 0x120

WORLD = WORLD_BEGIN + """  <volvox:run duration="{duration}" dt="1/50"/>
  {extension}
""" + GROUND + """  <model name="wall"><static>true</static><pose>2 0 1 0 0 0</pose><link name="wall">
    <collision name="box"><geometry><box><size>0.2 20 2</size></box></geometry></collision></link></model>
  <model name="robot"><pose>0 0 0.5 0 0 0</pose>
    <link name="body"><inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
      <collision name="box"><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision></link>
    <volvox:driven/>
    <volvox:sensor name="range" type="range" link="body" max_range="10"/>
    <volvox:sensor name="stick" type="external" link="body"/>
    <volvox:sensor name="trigger" type="external" link="body"/>
    <volvox:mind behavior="idle"/>
  </model>
  <model name="arm"><pose>0 5 0.05 0 0 0</pose>
""" + NECK + """    <volvox:mind behavior="idle"/>
  </model>
</world>
</sdf>
"""


class DeviceTest(CommandTest):
    def world(self, extension, duration=1):
        return self.write("world.sdf", WORLD.format(extension=extension, duration=duration))

    def start(self, world, *arguments):
        self.process = subprocess.Popen([self.program, "run", world, "--real-time", "--record", "--json", "--out", "out", *arguments], cwd=self.folder,
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.process.kill)

    def finish(self):
        out, errors = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0, errors)
        report = json.loads(out)
        self.assertEqual(report["reproducible"], "with_inputs")
        # A replay applies the same inputs at the same ticks without the device, and gives the same bits.
        self.run_program("replay", "out", "--verify", "--quiet")
        self.run_program("export", "out", "--csv")
        return self.read("out", "csv", "inputs.csv").split("\n")[1:-1]


def event(kind, code, value):
    return struct.pack("llHHi", 0, 0, kind, code, value)


class Joystick(DeviceTest):
    def wait_until_read(self, fifo):
        waiting = bytearray(4)
        for _ in range(2000):
            fcntl.ioctl(fifo, termios.FIONREAD, waiting)
            if int.from_bytes(waiting, sys.byteorder) == 0:
                return
            time.sleep(0.01)
        self.fail("the run does not read the device")

    def test_axes_and_buttons_become_percepts_and_set_joints(self):
        fifo = os.path.join(self.folder, "event0")
        os.mkfifo(fifo)
        keep_open = os.open(fifo, os.O_RDWR)  # a FIFO without a writer is at its end
        self.addCleanup(os.close, keep_open)
        self.start(self.world(f'<volvox:extension name="joystick" device="{fifo}" axis0="robot.stick" axis1="arm.neck 1.5" button0="robot.trigger" force="arm.neck.torque"/>'))
        os.write(keep_open, event(EV_ABS, 0, 32767) + event(EV_ABS, 1, -32767) + event(EV_KEY, BTN_JOYSTICK, 1) + event(EV_SYN, 0, 0))
        self.wait_until_read(keep_open)
        time.sleep(0.4)
        os.write(keep_open, event(EV_ABS, 0, 100) + event(EV_SYN, 0, 0) + b"\\0" * 7)  # within the dead zone; and an incomplete event
        inputs = self.finish()
        told = [line.split(",")[1:4] + [float(line.split(",")[5])] for line in inputs]
        self.assertIn(["percept", "robot", "stick", 1.0], told)
        self.assertIn(["joint", "arm", "neck", -1.5], told)
        self.assertIn(["percept", "robot", "trigger", 1.0], told)
        joints = [float(line.split(",")[2]) for line in self.read("out", "csv", "joints.csv").split("\n")[1:-1] if "neck" in line]
        self.assertLess(min(joints), -1)

    def test_what_is_wrong_is_said(self):
        for attributes, words in {'': "no device", 'device="/nowhere/event7"': "/nowhere/event7", 'device="world.sdf" axis0="robot.stik"': "choose one of: stick, trigger",
                                  'device="world.sdf" axis0="robt.stick"': "did you mean 'robot'", 'device="world.sdf" axis0="stick"': "MODULE.NAME",
                                  'device="world.sdf" axsi0="robot.stick"': "axsi0"}.items():
            done = self.run_program("run", self.world(f'<volvox:extension name="joystick" {attributes}/>'), "--quiet", status=2)
            self.assertIn(words, done.stderr)


class SocketTest(DeviceTest):
    def setUp(self):
        super().setUp()
        self.socket = self.enterContext(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(20)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            self.port = other.getsockname()[1]

    def hear(self):
        lines = dict(line.split(" ", 1) for line in self.socket.recv(65536).decode().split("\n") if line)
        return {name: json.loads(value) for name, value in lines.items()}


class Udp(SocketTest):
    def test_a_real_robot_in_a_virtual_world(self):
        """The robot's pose comes from outside; the readings of its simulated range sensor are sent back."""
        own = self.socket.getsockname()[1]
        self.start(self.world(f'<volvox:extension name="udp" port="{self.port}" to="127.0.0.1:{own}" send="robot.range arm.neck.torque"/>', duration=1.5))
        seen = []
        for i in range(30):
            self.hear()
            x = 0.03 * i
            self.socket.sendto(f"pose robot {x} 0 0.5 0 0 0 1\npercept robot stick 0.5\njoint arm neck 1\nnonsense\n".encode(), ("127.0.0.1", self.port))
            heard = self.hear()
            seen.append(heard["robot.range"][0])
            self.assertIsInstance(heard["arm.neck.torque"], (int, float))  # the force to feel
        self.assertAlmostEqual(max(seen), 1.9, places=2)  # the wall's face is at 1.9 m
        self.assertLess(min(seen), 1.2)
        inputs = self.finish()
        self.assertTrue(any("pose,robot" in line for line in inputs))

    def test_bad_datagrams_do_no_harm(self):
        own = self.socket.getsockname()[1]
        self.start(self.world(f'<volvox:extension name="udp" port="{self.port}" to="127.0.0.1:{own}" send="robot.range"/>', duration=1.5))
        self.hear()  # it runs
        for bad in [b"", b"\\xff" * 5000, b"joint arm neck nan", b"joint arm neck 1e999", b"joint nobody neck 1", b"pose robot 1 2 3", b"pose arm 0 0 0 0 0 0 1",
                    b"pose robot 1e300 0 0 0 0 0 1", b"percept robot range 1", b"push robot body 1 2", b"parameter * x", b"joint arm neck 1 2"] * 3:
            self.socket.sendto(bad, ("127.0.0.1", self.port))
            time.sleep(0.005)
        self.socket.sendto(b"percept robot stick 1", ("127.0.0.1", self.port))
        self.assertGreater(self.hear()["robot.range"][0], 1)
        inputs = self.finish()
        self.assertEqual({line.split(",")[3] for line in inputs}, {"stick"})

    def test_a_force_to_feel_is_told(self):
        own = self.socket.getsockname()[1]
        self.start(self.world(f'<volvox:extension name="udp" port="{self.port}" to="127.0.0.1:{own}" force="arm.neck.torque 100"/>'))
        self.hear()
        self.socket.sendto(b"joint arm neck 1.5", ("127.0.0.1", self.port))
        self.assertEqual(max(self.hear()["force"] for _ in range(25)), 1)  # the largest force that is sent
        self.finish()

    def test_what_is_wrong_is_said(self):
        self.socket.close()
        for attributes, words in {'port="99999"': "99999", 'host="everywhere"': "not an address", 'send="robot.rnge"': "choose one of", 'to="x"': "not an address"}.items():
            done = self.run_program("run", self.world(f'<volvox:extension name="udp" {attributes}/>'), "--quiet", status=2)
            self.assertIn(words, done.stderr)


class Serial(DeviceTest):
    """A pseudo terminal stands for a real serial line."""

    def setUp(self):
        super().setUp()
        self.line, other = pty.openpty()
        self.device = os.ttyname(other)
        self.addCleanup(os.close, self.line)
        self.addCleanup(os.close, other)
        self.heard = b""

    def hear(self):
        """The next report, by name."""
        end = time.monotonic() + 20
        while self.heard.count(b"time ") < 2:
            self.assertLess(time.monotonic(), end, f"no report arrives: {self.heard}")
            if select.select([self.line], [], [], 1)[0]:
                self.heard += os.read(self.line, 65536)
        first, second = [match.start() for match in re.finditer(b"time ", self.heard)][:2]
        report, self.heard = self.heard[first:second], self.heard[second:]
        return {name: json.loads(value) for name, value in (line.split(" ", 1) for line in report.decode().split("\n") if line)}

    def extension(self, attributes):
        return f'<volvox:extension name="serial" device="{self.device}" {attributes}/>'

    def test_both_ways_with_a_force_to_feel(self):
        self.start(self.world(self.extension('baud="921600" send="robot.range" force="arm.neck.torque 2"'), duration=1.5))
        self.assertAlmostEqual(self.hear()["robot.range"][0], 1.9, places=2)
        os.write(self.line, b"pose robot 0.9 0 0.5 0 0 0 1\r\npercept robot st")  # a line may arrive in pieces
        time.sleep(0.1)
        os.write(self.line, b"ick 0.5\njoint arm neck 1.5\n")
        reports = [self.hear() for _ in range(40)]
        self.assertLess(min(report["robot.range"][0] for report in reports), 1.2)
        forces = [report["force"] for report in reports]
        self.assertGreater(max(forces), 0.1)  # the torque of the motor is reported as a force
        self.assertLessEqual(max(forces), 1)
        inputs = self.finish()
        self.assertTrue(any(line.split(",")[1:4] == ["percept", "robot", "stick"] for line in inputs))

    def test_bad_bytes_are_counted_and_do_no_harm(self):
        self.start(self.world(self.extension('send="robot.range"'), duration=1.5))
        self.hear()
        bad = [bytes(range(128, 256)), b"\0\1\2", b"joint arm neck", b"joint arm neck x", b"hello", b"x" * 3000, b"percept \xffrobot stick 1", b"joint arm neck 1 2"]
        os.write(self.line, b"".join(line + b"\n" for line in bad) + b"\n\r\n" + b"percept robot stick 1\n")
        for _ in range(20):
            self.hear()
        out, errors = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0, errors)
        report = json.loads(out)
        self.assertEqual(report["metrics"]["serial_bad_lines"], len(bad))
        self.run_program("export", "out", "--csv")
        self.assertEqual([line.split(",")[3] for line in self.read("out", "csv", "inputs.csv").split("\n")[1:-1]], ["stick"])

    def test_a_line_where_nobody_listens_stops_nothing(self):
        report = self.run_json(self.world(self.extension('send="robot.range arm.neck.torque"'), duration=60), "--out", "out")
        self.assertEqual(report["status"], "done")
        self.assertGreater(report["metrics"]["serial_dropped"], 0)

    def test_what_is_wrong_is_said(self):
        for attributes, words in {'': "no device", 'device="/nowhere/tty7"': "/nowhere/tty7", 'device="world.sdf"': "not a serial line", f'device="{self.device}" baud="1234"': "1234 baud",
                                  f'device="{self.device}" force="arm.nek.torque"': "choose one of"}.items():
            done = self.run_program("run", self.world(f'<volvox:extension name="serial" {attributes}/>'), "--quiet", status=2)
            self.assertIn(words, done.stderr)


class Viewed(SocketTest):
    """A watched run that has a UDP port can be reset."""

    def web_socket(self, port, query):
        connection = self.enterContext(socket.create_connection(("127.0.0.1", port), timeout=20))
        connection.sendall(f"GET /socket{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           "Sec-WebSocket-Key: dm9sdm94IHZvbHZveCB2bw==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.assertEqual(connection.recv(12), b"HTTP/1.1 101")
        return connection

    def test_reset_frees_the_port_first(self):
        own = self.socket.getsockname()[1]
        world = self.world(f'<volvox:extension name="udp" port="{self.port}" to="127.0.0.1:{own}" send="robot.range"/>', duration=600)
        self.process = subprocess.Popen([self.program, "run", world, "--view", "--no-browser", "--port", "0", "--out", "out"], cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait, 20)
        self.addCleanup(self.process.kill)
        first = self.process.stderr.readline()
        if "viewer is at" not in first:
            self.skipTest(first)
        port, query = re.search(r":(\d+)/(\S*)", first).groups()
        connection = self.web_socket(int(port), query)
        while self.hear()["time"] < 1:
            pass
        text = b'{"type":"reset"}'
        connection.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)  # masked with zeros
        end = time.monotonic() + 20
        while self.hear()["time"] >= 1:  # reports start again from 0: the new run has the port
            self.assertLess(time.monotonic(), end, "the run was not reset")
        self.socket.sendto(b"pose robot 0.9 0 0.5 0 0 0 1", ("127.0.0.1", self.port))
        while self.hear()["robot.range"][0] > 1.2:
            self.assertLess(time.monotonic(), end, "the new run does not listen at its port")


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
