"""Remove the directory of a run, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from ledger.store.disk import writing
from ledger.store.failures import DriverBusy, LedgerError
from ledger.store.lock import DriverLease, locked
from ledger.store.store import RunStore
from ledger.store.streams import FILES, STREAM_FILES
from moot.errors import MootError
from moot.view.results import RemovedRun

HEAD: Final = "head"
_STAGING: Final = re.compile(r"\..+\.tmp|.+\.tmp", re.DOTALL)
LOCK_SECONDS: Final = 2.0


def check_is_run(path: Path) -> None:
    """Refuse a directory that is not a run, a link to one, and one that holds a file moot did not write.

    A person may have opened a run in a directory of other files, so an unknown file stops the removal.
    """
    # Following a link would empty a directory elsewhere and leave the link behind.
    if path.is_symlink():
        raise MootError("not_a_run", "this is a link to a directory", str(path), "name the directory itself")
    names = {entry.name for entry in os.scandir(path)}
    if not (path / HEAD).is_file() or (path / HEAD).is_symlink() or not names & STREAM_FILES:
        raise MootError("not_a_run", "this directory is no run", str(path), "name the directory of a run")
    # Staging files of an interrupted write are moot's own, and are no reason to keep the directory.
    strange = sorted(name for name in names - FILES if not _STAGING.fullmatch(name))
    if strange:
        what = f"the directory also holds {', '.join(strange[:3])}, which moot did not write"
        raise MootError("not_only_a_run", what, str(path), "move it elsewhere first")


def reason_to_keep(path: Path) -> str | None:
    """Return why removing a run needs confirmation; None for a run that is over or unreadable."""
    try:
        # Taking the lease is the only sure sign: a lease file alone may be left over from a crash.
        with DriverLease(path):
            pass
    except DriverBusy:
        return "a process is writing it"
    # A damaged run can be removed: its lease says nothing that would be worth keeping.
    except (LedgerError, OSError):
        return None
    try:
        state = RunStore(path).book().state
    except (LedgerError, OSError, ValueError):
        return None
    if state.life == "running":
        return "it waits for replies or a person"
    return None


def remove_run(path: Path) -> RemovedRun:
    """Remove the directory of a run that `check_is_run` accepted. Links inside it are removed, never followed.

    Streams and head go last: until then an interrupted removal leaves a run, which can be removed again.
    """
    # Listed before the lock is taken, so that a file that appears meanwhile stops the `rmdir`.
    entries = sorted(os.scandir(path), key=lambda entry: (entry.name == HEAD, entry.name in STREAM_FILES))
    with writing(path), locked(path, LOCK_SECONDS):
        for entry in entries:
            # A link to a directory counts as a file here, so only the link is removed.
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.name != "lock":
                os.unlink(entry.path)
        # The lock goes only now, while it is held: removed earlier, another process could lock a new file meanwhile.
        (path / "lock").unlink(missing_ok=True)
        path.rmdir()
    return RemovedRun(run=str(path), removed=sorted(entry.name for entry in entries))
