"""Probe that the self-test runs inside a sandbox: it tries to get out, and prints as JSON which attempts succeeded.

It is given the port of a listener, the path of a secret outside, the process that started it, and the bounds. It is
run as a program of its own and never imported.
"""

import ctypes
import json
import mmap
import os
import resource
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def reaches_network(port: int) -> bool:
    """Connect to the parent's listener on loopback, and to an address that lies outside."""
    # The addresses outside are a documentation network and a public resolver: a connection to
    # either proves a route.
    for address in (("127.0.0.1", port), ("192.0.2.1", 80), ("1.1.1.1", 53)):
        with suppress(OSError), socket.create_connection(address, timeout=0.3):
            return True
    return False


def reads(path: str) -> bool:
    """Read a file or list a directory."""
    with suppress(OSError):
        return bool(os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes())
    return False


def writes_outside() -> bool:
    """Write anywhere but in the work directory."""
    for directory in ("/", "/usr", "/etc", "/usr/bin", sys.prefix, "/tmp", "/var/tmp", "/root", "/home"):
        with suppress(OSError):
            # The mark is removed at once; where the write succeeds the machine must not keep a
            # trace of the test.
            mark = Path(directory, f"moot-was-here-{os.getpid()}")
            mark.touch()
            mark.unlink()
            return True
    return False


def changes_the_kernel() -> bool:
    """Open a setting of the whole machine for writing; nothing is written."""
    settings = ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "kernel/hostname")
    # Only the permission is asked for: really writing to these files would change the machine.
    return any(os.access(f"/proc/sys/{name}", os.W_OK) for name in settings) or os.access(
        "/proc/sysrq-trigger", os.W_OK
    )


def sees_processes(parent: int) -> bool:
    """Signal the process that started the test, or see its words."""
    with suppress(OSError):
        words = Path(f"/proc/{parent}/cmdline").read_bytes()
        if b"moot" in words or b"pytest" in words:
            return True
    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    # A process table of its own holds the probe and a few processes of the sandbox.
    return len(numbers) > 10


def is_privileged() -> bool:
    """Mount something, or become another user."""
    with suppress(OSError, AttributeError):
        os.setuid(0)
        return True
    with suppress(OSError, subprocess.SubprocessError):
        return (
            subprocess.run(["mount", "-t", "tmpfs", "t", "/work"], capture_output=True, timeout=5).returncode
            == 0
        )
    return False


def keeps_memory_unseen() -> bool:
    """Take memory that belongs to no process: anonymous files, shared mappings, System V segments."""
    libc = ctypes.CDLL(None, use_errno=True)
    with suppress(OSError, AttributeError):
        # Each attempt gives its memory back at once: where it succeeds, the finding is what counts.
        os.close(os.memfd_create("x"))
        return True
    with suppress(OSError, ValueError):
        mmap.mmap(-1, 4096).close()
        return True
    with suppress(OSError), open("/dev/zero", "r+b") as zero:
        mmap.mmap(zero.fileno(), 4096).close()
        return True
    return bool(libc.shmget(0, 4096, 0o1600) >= 0)


def makes_namespaces() -> bool:
    """Become root of a new user namespace, where tmpfs can be mounted without a limit."""
    child = os.fork()
    if child == 0:
        # In a child, because a namespace cannot be left again and later attempts need the present one.
        os._exit(0 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def adds_a_key() -> bool:
    """Leave a key in the kernel's keyring of this user."""
    # glibc has no wrapper for this call, so its number is needed; on other processors the filter
    # refuses to work anyway.
    number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
    if number is None:
        return False
    words = ctypes.c_char_p(b"user"), ctypes.c_char_p(b"moot"), ctypes.c_char_p(b"x")
    return bool(ctypes.CDLL(None).syscall(number, *words, 1, -4) >= 0)


def starts_too_many(bound: int) -> bool:
    """Start more processes than the bound allows; all of them end with this process."""
    started: list[int] = []
    try:
        for _ in range(bound + 8):
            # Children must stay alive: the kernel's limit counts processes that exist at the same time.
            child = os.fork()
            if child == 0:
                os.read(0, 1)
                import time

                time.sleep(5)
                os._exit(0)
            started.append(child)
    except OSError:
        return False
    finally:
        for child in started:
            os.kill(child, 9)
            os.waitpid(child, 0)
    return True


def takes_too_much(memory: int) -> bool:
    """Take more memory than the bound allows, and touch it."""
    with suppress(MemoryError):
        taken = bytearray(memory)
        return len(taken) == memory
    return False


def writes_too_much(bound: int) -> bool:
    """Write a file beyond the bound."""
    import signal

    # The signal would end the probe before it could report; ignored, the write fails with an error instead.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with suppress(OSError), open("big", "wb") as file:
        for _ in range(bound // 65_536 + 2):
            file.write(b"x" * 65_536)
        file.flush()
    size = os.path.getsize("big") if os.path.exists("big") else 0
    with suppress(OSError):
        os.unlink("big")
    return size > bound


def main() -> None:
    """Try everything once."""
    bounds = json.loads(Path("given.json").read_text())
    Path("left.txt").write_text("written inside")
    # Without a writable work directory every other attempt would fail too, and prove nothing about the walls.
    if Path("left.txt").read_text() != "written inside":
        sys.exit("what a program writes in its work directory is not there afterwards")
    tried = {
        "network": reaches_network(bounds["port"]),
        "secret_file": reads(bounds["secret"]),
        "home": any(reads(path) for path in bounds["homes"]),
        "parents_files": reads(bounds["checkout"]),
        "writes_outside": writes_outside(),
        "other_processes": sees_processes(bounds["parent"]),
        "environment": any(name in os.environ for name in bounds["variables"]),
        "privileges": is_privileged(),
        "kernel_settings": changes_the_kernel(),
        "memory": takes_too_much(bounds["memory"] * 2),
        "shared_memory": keeps_memory_unseen(),
        "namespaces": makes_namespaces(),
        "kernel_keys": adds_a_key(),
        "file_size": writes_too_much(bounds["file"]),
        "processes": starts_too_many(bounds["processes"]),
        "cpu_limit": not 0 < resource.getrlimit(resource.RLIMIT_CPU)[0] <= bounds["cpu"],
    }
    print(json.dumps(tried, sort_keys=True))


if __name__ == "__main__":
    main()
