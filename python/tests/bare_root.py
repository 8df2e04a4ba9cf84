"""Runs in a bare Debian 12 with the wheel and NumPy only (cmake/python_wheel --bare): what the package must do there."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile

import volvox


def main() -> None:
    command = [str(pathlib.Path(sys.executable).parent / "volvox")]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    assert volvox.__version__ in version, version
    with tempfile.TemporaryDirectory() as folder:
        hashes = []
        for start in (command, [sys.executable, "-m", "volvox"]):
            done = subprocess.run(
                [*start, "run", "remod3d/snake", "--set", "modules=5", "--duration", "2", "--json", "--quiet", "--record", "--out", folder],
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            hashes.append(json.loads(done.stdout)["state_hash"])
        assert subprocess.run([*command, "replay", folder, "--verify"], capture_output=True).returncode == 0
        with volvox.load("remod3d/snake", settings={"modules": 5}) as world:
            world.step(120)
            hashes.append(world.state_hash)
        assert len(set(hashes)) == 1, hashes
        assert volvox.Recording(folder).last_tick == 120
    for engine in volvox.engines():
        with volvox.load("remod3d/snake", settings={"modules": 3}, engine=engine) as world:
            world.step(10)
            assert world.depth(width=32, height=24).shape == (24, 32)
            print(f"engine {engine}: {world.state_hash}")
    for name in ("arenas/pit_snake", "remod3d/track_to_snake", "swarmsimx/formation", "evolution/gait"):
        with volvox.load(name) as world:
            world.step(2)
    with volvox.load("remod3d/snake") as world:
        assert world.picture(width=320, height=240).shape == (240, 320, 3)
    files = importlib.metadata.files("volvox") or []
    licences = [file.name for file in files if "third-party" in str(file)]
    assert len(licences) > 10, licences
    assert any(file.name == "index.html" for file in files), "the viewer"
    print(f"volvox {volvox.__version__} works here; {len(licences)} licences of others: {', '.join(sorted(licences))}")


if __name__ == "__main__":
    main()
