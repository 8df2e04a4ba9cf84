"""Exceptions and warnings of Volvox.

Every error says what is wrong and what to do; errors in files also say where.
"""

from __future__ import annotations

import os
import traceback
from typing import NamedTuple, Sequence

__all__ = [
    "BusyError",
    "ClosedError",
    "Diagnostic",
    "InputError",
    "RunFailed",
    "StateError",
    "VolvoxError",
    "VolvoxWarning",
]


class Diagnostic(NamedTuple):
    """One thing that is wrong."""

    file: str
    """Where; empty if it is not in a file."""
    line: int
    """0 if it is not known."""
    what: str
    """What is wrong."""
    fix: str
    """What to do."""


class VolvoxError(Exception):
    """The base of all exceptions that Volvox raises by itself."""

    def __init__(self, text: str, diagnostics: Sequence[tuple[str, int, str, str]] = ()) -> None:
        super().__init__(text)
        self.diagnostics = [Diagnostic(*each) for each in diagnostics]

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n  more: volvox docs {self.page}" if self.page else text

    @property
    def page(self) -> str:
        """The page of the site that explains it, as `volvox docs PAGE` takes it; empty if there is none."""
        from . import _core  # which raises these errors itself

        for file, _, what, fix in self.diagnostics or [Diagnostic("", 0, super().__str__(), "")]:
            if page := _core.help_page(file, what, fix):
                return page
        return ""

    @property
    def file(self) -> str:
        """The file of the first error; empty if it is not in a file."""
        return self.diagnostics[0].file if self.diagnostics else ""

    @property
    def line(self) -> int:
        """The line of the first error; 0 if it is not known."""
        return self.diagnostics[0].line if self.diagnostics else 0

    @property
    def fix(self) -> str:
        """What to do about the first error."""
        # Errors of this package itself are written "what is wrong; what to do".
        return self.diagnostics[0].fix if self.diagnostics else super().__str__().partition("; ")[2]


class InputError(VolvoxError, ValueError):
    """Something that was given is wrong: a file, a setting, a name, an array."""


class RunFailed(VolvoxError, RuntimeError):
    """A tick failed. The world stays as it was at the failure; restore a snapshot to go on.

    Where code in Python raised the exception that ended the tick, that exception is the cause of this one.
    """

    @property
    def fix(self) -> str:
        """What to do about it."""
        return super().fix or "mend what failed; then load the world again, or restore a snapshot from before"


class ClosedError(VolvoxError, ValueError):
    """The world was closed."""


class BusyError(VolvoxError, RuntimeError):
    """The world is in use: by another thread, by the call that is running, or by the process before a fork."""


class StateError(VolvoxError, RuntimeError):
    """The state cannot be saved, hashed or restored. The message names what does not list its state."""


class VolvoxWarning(UserWarning):
    """Something in a world or a run that a user should know."""


def describe(error: BaseException) -> str:
    """One line about an exception, with the file and line where it was raised."""
    text = traceback.format_exception_only(type(error), error)[-1].strip().splitlines()[0]
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    return f"{text} ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"
