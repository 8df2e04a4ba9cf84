"""Runs the volvox command as a process, for the tests written in Python."""
import json
import os
import subprocess
import tempfile
import unittest


class CommandTest(unittest.TestCase):
    """Each test has its own temporary folder, where its commands run."""

    program = None  # the volvox command

    def setUp(self):
        self.enterContext(temporary := tempfile.TemporaryDirectory(prefix="volvox test "))
        self.folder = temporary.name

    def run_program(self, *arguments, status=0, program=None, **environment):
        """The finished process. Its exit status must be `status` (None: any). A command may take at most a minute."""
        done = subprocess.run([program or self.program, *map(str, arguments)], cwd=self.folder, text=True, timeout=60,
                              capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        if status is not None:
            self.assertEqual(done.returncode, status, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
        return done

    def run_json(self, *arguments, **options):
        """The output of --json, which is exactly one object."""
        return json.loads(self.run_program("run", *arguments, "--json", **options).stdout)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(text, bytes) else "w") as file:
            file.write(text)
        return path

    def read(self, *names):
        with open(os.path.join(self.folder, *names)) as file:
            return file.read()
