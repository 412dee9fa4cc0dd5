"""A file is replaced whole, with its permissions, or not at all."""

from __future__ import annotations

import os
import stat
import time

import pytest

from margent.atomic_file import atomic_file


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_file(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_permissions_stay(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_keeps_pointing_at_the_file(tmp_path):
    path, link = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old")
    link.symlink_to(path)
    with atomic_file(link) as file:
        file.write(b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"


def test_what_killed_processes_left_is_removed_after_a_day(tmp_path):
    old, recent, other = (tmp_path / name for name in (".margent-1.tmp", ".margent-2.tmp", "mine.tmp"))
    for path in (old, recent, other):
        path.write_bytes(b"x")
    for path in (old, other):
        os.utime(path, (0, time.time() - 2 * 24 * 3600))
    with atomic_file(tmp_path / "a") as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == [".margent-2.tmp", "a", "mine.tmp"]


def test_devices_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="/dev/null: it is not a regular file"), atomic_file("/dev/null"):
        pass
    with pytest.raises(FileNotFoundError, match="no such folder"), atomic_file(tmp_path / "nowhere" / "a"):
        pass
