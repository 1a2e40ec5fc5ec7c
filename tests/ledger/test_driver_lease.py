"""One driver a run: a second is refused while the first lives, and takes over when it is dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.store.failures import DriverBusy
from ledger.store.lock import DriverLease, read_driver

HOLD = (
    "import sys, pathlib; from ledger.store.lock import DriverLease\n"
    "lease = DriverLease(pathlib.Path(sys.argv[1])); lease.__enter__()\n"
    "print('held', flush=True); sys.stdin.read()\n"
)


def test_a_second_driver_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    with DriverLease(tmp_path) as lease:
        lease.beat()
        with pytest.raises(DriverBusy, match=str(os.getpid())) as caught, DriverLease(tmp_path):
            raise AssertionError("two drivers")
        assert caught.value.exit_code == 2
        driver = read_driver(tmp_path)
        assert driver is not None
        assert driver.pid == os.getpid()
    assert read_driver(tmp_path) is None
    with DriverLease(tmp_path):
        pass


def test_the_lease_of_a_killed_driver_is_free(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(DriverBusy, match=str(child.pid)), DriverLease(tmp_path):
            raise AssertionError("two drivers")
        child.send_signal(signal.SIGKILL)
    assert (tmp_path / "driver").read_bytes()
    assert read_driver(tmp_path) is None
    with DriverLease(tmp_path):
        pass


def test_a_driver_of_another_boot_is_dead(tmp_path: Path) -> None:
    (tmp_path / "driver").write_text(f'{{"pid":{os.getpid()},"boot":"another","heartbeat":1}}\n')
    assert read_driver(tmp_path) is None
    with DriverLease(tmp_path):
        assert read_driver(tmp_path) is not None


def test_an_error_inside_gives_the_lease_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), DriverLease(tmp_path):
        raise ZeroDivisionError
    with DriverLease(tmp_path):
        pass
