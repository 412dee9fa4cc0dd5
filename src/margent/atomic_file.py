"""A new file that takes another's place when it is complete, and never before."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PREFIX, _SUFFIX = ".margent-", ".tmp"
# A killed process leaves its temporary file behind. No file takes nearly so long to write.
_LEFT_BEHIND_SECONDS = 24 * 3600


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces `path` at the end of the block; an exception leaves what was there.

    The bytes go to a temporary file in the same folder, are flushed to the disk and then take the name in one step,
    with the permissions of the file that they replace. A file that some process has mapped is not disturbed (Windows
    refuses to replace it while it is mapped). What killed processes left in the folder more than a day ago is removed.
    """
    target = checked_target(path)
    temporary = target.with_name(f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
    try:
        with open(temporary, "xb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == os.fspath(temporary):  # a name the caller never gave
            error.filename = os.fspath(path)
        raise
    _sync_folder(target.parent)
    _remove_leftovers(target.parent)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """The file that `path` leads to, through links; `OSError` or `ValueError` where no file can be put in its place."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write to {os.fspath(path)}: it is not a regular file")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", os.fspath(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder may not be written to", os.fspath(path))
    return target


def _sync_folder(folder: Path) -> None:
    """Make the new name outlast a power cut, where the system can: the file is in place and whole either way."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_leftovers(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND_SECONDS:
                        os.unlink(entry.path)
