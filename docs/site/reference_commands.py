"""The reference of the commands: what they say of themselves."""

from __future__ import annotations

import pathlib
import re
import subprocess

INTRODUCTION = """# Commands
Generated from what the command itself says: `volvox COMMAND --help`. `volvox help --man` prints it as a man page.

Exit status: 0 done; 1 the run failed; 2 bad input, with file, line and what to do. `--json` prints one object on standard output
and nothing else there; progress goes to standard error.
"""


def help_of(volvox: pathlib.Path, *words: str) -> str:
    done = subprocess.run([str(volvox), *words, "--help"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.replace(str(volvox), "volvox").rstrip()


def subcommands(text: str) -> list[str]:
    found = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return re.findall(r"^  ([a-z]+)(?: |$)", found.group(1), re.MULTILINE) if found else []


def page(volvox: pathlib.Path) -> str:
    out = [INTRODUCTION]
    top = help_of(volvox)
    for name in subcommands(top):
        if name in ("help", "version"):
            continue
        text = help_of(volvox, name)
        out.append(f"## volvox {name}\n\n```text\n{text}\n```\n")
        for inner in subcommands(text):
            out.append(f"### volvox {name} {inner}\n\n```text\n{help_of(volvox, name, inner)}\n```\n")
    return "\n".join(out)
