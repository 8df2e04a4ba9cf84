"""Runs the volvox command as a process, for the tests written in Python."""
import json
import os
import subprocess
import tempfile
import unittest

# Parts of worlds: the first lines, a ground, and the inside of a model that turns its head.
WORLD_BEGIN = """<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="w">
"""
GROUND = """  <model name="ground"><static>true</static><link name="ground">
    <collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
"""
NECK = """    <link name="foot"><inertial><mass>2</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
      <collision name="foot"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision></link>
    <link name="head"><pose>0 0 0.08 0 0 0</pose>
      <inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial></link>
    <joint name="neck" type="revolute"><parent>foot</parent><child>head</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-2</lower><upper>2</upper><effort>1</effort><velocity>6</velocity></limit></axis></joint>
    <volvox:motor joint="neck" kp="2" kd="0.2"/>
"""

# A small task of an evolution.
TASK = {
    "experiment": "evolution/organism",
    "fitness": [{"metric": "moved_m", "better": "more"}],
    "trial": {"duration": 0.5, "count": 2, "friction": [0.8, 1.2], "noise": [0.01], "fitness_by": "worst"},
    "body": {"robot": "superbot", "modules": [1, 4]},
    "mind": {"behavior": "oscillators", "shared": {"frequency": [0.3, 1.2]}, "each": {"lag": [0, 6], "pitch.amplitude": [0, 1]}},
    "algorithm": {"name": "ga", "population": 8, "generations": 4},
}


class CommandTest(unittest.TestCase):
    """Each test has its own temporary folder, where its commands run."""

    program = None  # the volvox command

    def setUp(self):
        self.enterContext(temporary := tempfile.TemporaryDirectory(prefix="volvox test "))
        self.folder = temporary.name

    def run_program(self, *arguments, status=0, program=None, timeout=60, **environment):
        """The finished process. Its exit status must be `status` (None: any). A command may take at most `timeout` seconds."""
        done = subprocess.run([program or self.program, *map(str, arguments)], cwd=self.folder, text=True, timeout=timeout,
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
