"""Attacks on the viewer's server, on the real command: every claim of src/volvox/view/web/web_server.h. README.md lists them."""
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import CommandTest
from watcher import Watcher


class ViewerAttack(CommandTest):
    def serve(self, *more, descriptors=None, duration="1e5", **environment):
        """Starts a run with a viewer, and reads its address."""
        limit = None if descriptors is None else lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        self.errors = open(os.path.join(self.folder, "errors"), "w+b")
        self.process = subprocess.Popen(
            [self.program, "run", "remod3d/snake", "--set", "modules=3", "--duration", duration, "--view", "--out", "out",
             *(more or ["--no-browser"])], cwd=self.folder, stderr=self.errors, stdout=subprocess.DEVNULL, preexec_fn=limit,
            env={**{k: v for k, v in os.environ.items() if "DISPLAY" not in k}, **environment})
        self.addCleanup(self.errors.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        found = self.until(lambda: re.search(r"http://(\S+?):(\d+)/(\S*)", self.said()) or self.process.poll() is not None)
        if "has not been built" in self.said():
            self.skipTest(self.said())
        self.assertTrue(hasattr(found, "group"), self.said())
        self.port, self.query = int(found.group(2)), found.group(3)

    def said(self):
        return pathlib.Path(self.errors.name).read_text(errors="replace")

    def until(self, condition):
        for _ in range(1200):
            if value := condition():
                return value
            time.sleep(0.05)
        self.fail(f"waited in vain\n{self.said()}")

    def end(self):
        """As with Ctrl-C; the results must be there. A run that nobody watched has not begun, and says so by its status."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(60)
        summary = json.loads(self.read("out", "summary.json"))
        self.assertEqual(status, 0 if summary["ticks"] > 0 else 1, self.said())
        self.assertEqual(summary["status"], "stopped", summary)
        self.assertIn("state_hash", summary)
        return summary

    def get(self, path, head="", host=None):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\nConnection: close\r\n{head}\r\n".encode())
            answer = b""
            while more := connection.recv(1 << 16):
                answer += more
        return answer.decode(errors="replace")

    def page_comes(self):
        page = self.get("/" + self.query)
        self.assertIn("200 OK", page.splitlines()[0])
        self.assertIn("<canvas", page)
        return page

    def watch(self):
        watcher = Watcher(self.port, self.query)
        self.addCleanup(watcher.close)
        return watcher

    def moves(self, watcher):
        """The run goes on: two states with different ticks."""
        ticks = set()
        for state in watcher.texts("state"):
            ticks.add(state["tick"])
            if len(ticks) > 1:
                return

    # --- Who does not know the token -------------------------------------------------------------------------------
    def test_nothing_is_served_without_the_token(self):
        self.serve()
        self.assertRegex(self.query, r"^\?token=[0-9a-f]{32}$")
        page = self.page_comes()
        script = re.search(r'src="\.(/assets/[^"]*\.js)(\?[^"]*)"', page)
        self.assertEqual(script.group(2), self.query, "the page asks for its script with the token")
        self.assertIn("200 OK", self.get(script.group(1) + script.group(2)))
        for path in ["/", "/index.html", script.group(1), "/socket", "/nothing", "/?token=", "/?token=" + 32 * "0", "/" + self.query[:-1]]:
            answer = self.get(path)
            self.assertIn(" 403 ", answer.splitlines()[0], path)
            self.assertNotIn(self.query, answer)
            self.assertLess(len(answer), 1000, "not a byte of a file")
        stranger = Watcher(self.port, "")
        stranger.close()
        self.assertIn(b" 403 ", stranger.answer)
        self.end()

    def test_no_token_only_if_asked(self):
        self.serve("--no-browser", "--no-token")
        self.assertEqual(self.query, "")
        self.page_comes()
        for host in ["evil.example", f"evil.example:{self.port}"]:
            self.assertIn(" 403 ", self.get("/", host=host))
        self.assertIn(" 403 ", self.get("/", head="Origin: http://evil.example\r\n"))
        self.end()

    def test_half_open_sockets_lock_nobody_out(self):
        self.serve()
        idle = [self.enterContext(socket.create_connection(("127.0.0.1", self.port))) for _ in range(200)]
        for connection in idle[::2]:
            try:
                connection.sendall(b"GET / HTTP/1.1\r\n")
            except OSError:
                pass  # pushed out already
        self.page_comes()
        self.moves(self.watch())
        self.end()

    def test_strangers_bytes_neither_crash_nor_print(self):
        self.serve()
        for seed in range(40):
            dice = random.Random(seed)
            start = dice.choice([b"", b"GET ", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"])
            with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
                try:
                    connection.sendall(start + b"\x1b[2J" + dice.randbytes(dice.randrange(1, 20_000)))
                except OSError:
                    pass
        self.page_comes()
        self.end()
        self.assertNotIn("\x1b", self.said())

    # --- Who knows it, and misbehaves ------------------------------------------------------------------------------
    def test_slow_readers_do_not_cost_the_run_its_results(self):
        self.serve(descriptors=96)
        script = re.search(r'"\.(/assets/[^"]*\.js[^"]*)"', self.page_comes()).group(1)
        slow = []
        for _ in range(400):
            connection = self.enterContext(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", self.port))
            connection.sendall(f"GET {script} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            slow.append(connection)
        self.assertLess(len(os.listdir(f"/proc/{self.process.pid}/fd")), 80)
        self.page_comes()
        self.end()

    def test_newcomers_do_not_tell_everybody_everything_again(self):
        self.serve()
        first = self.watch()
        seen = []
        for message in first.texts("metrics"):
            seen += message["points"]
            if len(seen) > 25:  # newcomers are told of them at the next frame
                break
        for _ in range(30):
            watcher = Watcher(self.port, self.query)
            history = next(watcher.texts("metrics"))["points"]
            self.assertGreater(len(history), 20, "a newcomer is told what has been")
            watcher.close()
        for message in first.texts("metrics"):
            times = [point[0] for point in message["points"]]
            self.assertGreater(times[0], seen[-1][0], "and nobody is told it twice")
            seen += message["points"]
            if seen[-1][0] >= history[-1][0]:
                break
        self.end()

    def test_what_newcomers_are_told_does_not_grow_with_the_run(self):
        """Of 50,000 samples a newcomer gets at most what the run itself keeps, from the start to the present."""
        self.serve("--no-browser", "--engine", "none", "--dt", "1/20")
        first = self.watch()
        first.send('{"type":"speed","factor":0}')
        for state in first.texts("state"):
            if state["tick"] > 50_000:
                break
        history = next(self.watch().texts("metrics"))["points"]
        self.assertLess(len(history), 16_384 + 8_192)
        times = [point[0] for point in history]
        self.assertEqual((times[0], times), (0, sorted(set(times))))
        self.assertGreater(times[-1], 1500)
        self.end()

    def test_clients_do_not_exhaust_the_memory(self):
        self.serve("--no-browser", "--paused")
        memory = lambda: int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1))
        before = memory()
        deep = '{"type":"input","x":' + 30_000 * "[" + 30_000 * "]" + "}"
        for _ in range(4):
            watcher = self.watch()
            for _ in range(150):
                watcher.send(deep)
            watcher.send('{"type":"rays"}' + 60_000 * " ")
        self.page_comes()
        self.assertLess(memory() - before, 200_000, "kB")
        watcher = self.watch()
        watcher.send('{"type":"play"}')
        self.moves(watcher)
        self.end()

    def test_nonsense_of_clients(self):
        self.serve()
        for text, opcode in [(200_000 * "x", 1), (b"\x00\x01", 2), (b"\xff\xfe", 1), (b"x", 3), (b"", 11)]:
            watcher = self.watch()
            watcher.send(text, opcode)
            with self.assertRaises((ConnectionError, OSError)):
                while True:
                    watcher.message()
        flood = self.watch()
        with self.assertRaises((ConnectionError, OSError)):
            for _ in range(3000):
                flood.send("{}")
            while True:
                flood.message()
        polite = self.watch()
        for text in ["", "[]", "{", '{"type":7}', '{"type":"step","ticks":"x"}', '{"type":"speed","factor":-1e308}', '{"type":"watch","module":[]}',
                     '{"type":"input","kind":"push","module":"nobody","force":[1e999,null,{}]}', '{"type":"seek","tick":1e300}', '{"type":"play"}']:
            polite.send(text)
        self.moves(polite)
        self.end()

    def test_too_many_viewers(self):
        self.serve()
        watchers = [self.watch() for _ in range(16)]
        with self.assertRaisesRegex(ConnectionError, "too many viewers"):
            last = self.watch()
            while True:
                last.message()
        watchers[0].close()
        self.moves(watchers[1])
        self.end()

    # --- The terminal and the shell --------------------------------------------------------------------------------
    def test_no_escapes_reach_the_terminal(self):
        self.serve()
        watcher = self.watch()
        for settings in [{"modules": "\x1b]0;owned\x07"}, {"\x1b[2J": "1"}, {"modules": "\u009b31m", "amplitude": "\x1b[31m"}]:
            watcher.send(json.dumps({"type": "reset", "settings": settings}))
            next(watcher.texts("error"))
        watcher.send(json.dumps({"type": "input", "kind": "\x1b[2J", "module": "\x1b[2J"}))
        watcher.send(json.dumps({"type": "input", "kind": "parameter", "module": "\x1b[2J", "name": "\x1b[2J", "text": "\x1b[2J"}))
        self.moves(watcher)
        self.end()
        self.assertNotIn("\x1b", self.said())
        self.assertNotIn("\x9b", self.said())
        # The same words in a file and on the command line.
        self.write("bad.sdf", '<sdf version="1.9"><world name="w"><model name="a"><joint name="&#155;31m" type="\u009b31m"/></model></world></sdf>')
        self.write("\x1b[31mtask.json", "{}")
        for arguments in [["evolve", "\x1b[31mtask.json"], ["run", "bad.sdf"], ["run", "\x1b[2J"], ["run", "remod3d/snake", "--set", "\x1b[2J=1"], ["\x1b[2J"], ["replay", "\x1b[2J"],
                          ["run", "remod3d/snake", "--engine", "\x1b[2J"], ["view", "\x1b[2J"], ["run", "remod3d/snake", "--view", "--host", "\x1b[2J"]]:
            done = self.run_program(*arguments, status=None)
            self.assertNotEqual(done.returncode, 0, arguments)
            for escape in "\x1b\u009b":
                self.assertNotIn(escape, done.stderr + done.stdout, arguments)

    def test_no_escapes_of_what_is_exported(self):
        self.write("sensor.sdf", '''<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w"><model name="a"><link name="l">
            <collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision></link>
            <volvox:sensor name="s" type="a&#155;31mRED" link="l"/><volvox:mind behavior="idle"/></model></world></sdf>''')
        done = self.run_program("export", "sensor.sdf", "--mjcf", "a.xml", status=None)
        self.assertNotIn("\u009b", done.stderr + done.stdout)

    def test_the_host_reaches_no_shell(self):
        """A desktop whose xdg-open writes down what it was given."""
        self.write("bin/xdg-open", '#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "$VOLVOX_OPENED.part"\nls -l /proc/$$/fd >> "$VOLVOX_OPENED.part"\nmv "$VOLVOX_OPENED.part" "$VOLVOX_OPENED"\n')
        os.chmod(os.path.join(self.folder, "bin/xdg-open"), 0o755)
        opened = os.path.join(self.folder, "opened")
        self.serve("--host", "::1%'; touch was_here; '", DISPLAY=":99", VOLVOX_OPENED=opened, PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"])
        self.until(lambda: os.path.exists(opened))
        count, address, *descriptors = self.read("opened").splitlines()
        self.assertEqual((count, address), ("1", f"http://[::1]:{self.port}/{self.query}"))
        self.assertNotIn("socket:", "".join(descriptors), "the browser inherits no socket")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "was_here")))
        self.end()


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
