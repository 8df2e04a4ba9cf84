"""Files that are replaced as a whole."""

from __future__ import annotations

import errno
import os
import pathlib
from typing import Union


def replace_file(file: Union[str, os.PathLike[str]], content: bytes) -> None:
    """Writes the file completely or not at all: beside it, synced, then renamed. A full disk or a kill leaves the old one."""
    path = pathlib.Path(file)
    if path.exists() and not path.is_file():  # a pipe or device
        path.write_bytes(content)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into; make it first", str(path.parent))
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as written:
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
