"""The volvox command: `python -m volvox` is `volvox`."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Becomes the command of the package, with its arguments; its exit status is that of this program."""
    command = pathlib.Path(__file__).resolve().parent / "_native" / "bin" / "volvox"
    if not command.is_file():
        sys.exit(f"volvox: {command} is missing; install the package again")
    os.execv(command, ["volvox", *sys.argv[1:]])


if __name__ == "__main__":
    main()
