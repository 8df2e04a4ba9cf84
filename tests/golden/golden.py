"""The golden file: for each scene a name, the state hash at its end, and the arguments of `volvox run`."""
import json
import os
import pathlib
import subprocess

FILE = pathlib.Path(__file__).parent / "hashes.txt"
THREADS = (1, 2, 3, 8, 32)
INSTRUCTION_SETS = ("sse2", "avx2", "avx512")


class Scene:
    """The arguments end with --duration SECONDS."""

    def __init__(self, name, state_hash, *arguments):
        self.name, self.state_hash, self.arguments = name, state_hash, list(arguments)
        assert arguments[-2] == "--duration", name

    def half(self):
        """The same, stopped half way."""
        return Scene(self.name, self.state_hash, *self.arguments[:-1], str(float(self.arguments[-1]) / 2))


def read():
    """The scenes of the golden file, in its order."""
    lines = (line.split() for line in FILE.read_text().splitlines())
    return [Scene(*words) for words in lines if words and not words[0].startswith("#")]


def run(program, scene, *options, folder=None, **environment):
    """What `volvox run SCENE --json` prints."""
    command = [program, "run", *scene.arguments, *map(str, options), "--quiet", "--json"]
    done = subprocess.run(command, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, cwd=folder,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def instruction_sets(program):
    """Those that this machine has."""
    return [isa for isa in INSTRUCTION_SETS if asked_for(program, isa).returncode == 0]


def asked_for(program, isa):
    return subprocess.run([program, "list", "engines"], capture_output=True, text=True,
                          env={**os.environ, "VOLVOX_ISA": isa})
