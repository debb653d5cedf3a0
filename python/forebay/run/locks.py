"""Locks on the bytes of a file that tell which processes live, and folders on a network.

The system gives a lock up when the process that holds it ends, however it ends: killed, or with the
machine. So no time is measured, and no number of a process is taken for that of another.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

from forebay.errors import unwritable

__all__ = ["LOCK", "Locks", "in_use", "on_network"]

LOCK = "runs.lock"

# Not everywhere; without it, two sweeps in one folder may make a run twice, and lose nothing.
_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:
    _fcntl = None

NETWORKS = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "gpfs"),
    *("glusterfs", "fuse.glusterfs", "fuse.sshfs"),
)
"""File systems on which processes of several machines may meet, who share no memory."""


class Locks:
    """One file whose bytes are locks, each known by a number. A process opens it once.

    Raises `UserError` if the file cannot be made, and `MachineError` when the disk is full.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            raise unwritable(f"{path}: cannot be written to", error) from None

    def hold(self, number: int) -> None:
        """Hold a lock until the file is closed or the process ends."""
        if _fcntl is not None:
            _fcntl.lockf(self._file, _fcntl.LOCK_EX, 1, number)

    def held(self, number: int, count: int = 1) -> bool:
        """Returns true if another process holds a lock, or one of so many (0: of all) from there
        on."""
        if _fcntl is None:
            return False
        try:
            _fcntl.lockf(self._file, _fcntl.LOCK_EX | _fcntl.LOCK_NB, count, number)
        except OSError:
            return True
        _fcntl.lockf(self._file, _fcntl.LOCK_UN, count, number)
        return False

    def close(self) -> None:
        """Give up all locks."""
        os.close(self._file)


def in_use(path: Path) -> bool:
    """Returns true if another process holds any lock of a file; not if there is no such file."""
    if _fcntl is None or not path.exists():
        return False
    locks = Locks(path)
    try:
        # From the first number to the end of all.
        return locks.held(1, 0)
    finally:
        locks.close()


def on_network(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Returns true if a folder lies on a file system that several machines share, as far as one can
    tell.

    `mounts` lists what is mounted where; without such a list no folder does.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    place = folder.resolve()
    found, kind = -1, ""
    for fields in (line.split(" ") for line in lines):
        if len(fields) < 3:
            continue
        # Spaces in names are written as octal numbers.
        root = Path(fields[1].replace("\\040", " "))
        if place.is_relative_to(root) and len(root.parts) >= found:
            found, kind = len(root.parts), fields[2]
    return kind in NETWORKS
