"""What the self-test runs inside a sandbox: it tries to get out, and prints what it managed, as JSON.

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
            mark = Path(directory, f"moot-was-here-{os.getpid()}")
            mark.touch()
            mark.unlink()
            return True
    return False


def changes_the_kernel() -> bool:
    """Open a setting of the whole machine for writing; nothing is written."""
    settings = ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "kernel/hostname")
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
    return len(numbers) > 10


def is_privileged() -> bool:
    """Mount something, or become somebody else."""
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
    """Become root of a user namespace of one's own, where tmpfs can be mounted without a limit."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def adds_a_key() -> bool:
    """Leave a key in the kernel's keyring of this user."""
    number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
    if number is None:
        return False
    words = ctypes.c_char_p(b"user"), ctypes.c_char_p(b"moot"), ctypes.c_char_p(b"x")
    return bool(ctypes.CDLL(None).syscall(number, *words, 1, -4) >= 0)


def starts_too_many(bound: int) -> bool:
    """Start more processes than the bound allows; they wait for nothing and end with us."""
    started: list[int] = []
    try:
        for _ in range(bound + 8):
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
    given = json.loads(Path("given.json").read_text())
    Path("left.txt").write_text("written inside")
    if Path("left.txt").read_text() != "written inside":
        sys.exit("what a program writes in its work directory is not there afterwards")
    tried = {
        "network": reaches_network(given["port"]),
        "secret_file": reads(given["secret"]),
        "home": any(reads(path) for path in given["homes"]),
        "parents_files": reads(given["checkout"]),
        "writes_outside": writes_outside(),
        "other_processes": sees_processes(given["parent"]),
        "environment": any(name in os.environ for name in given["variables"]),
        "privileges": is_privileged(),
        "kernel_settings": changes_the_kernel(),
        "memory": takes_too_much(given["memory"] * 2),
        "shared_memory": keeps_memory_unseen(),
        "namespaces": makes_namespaces(),
        "kernel_keys": adds_a_key(),
        "file_size": writes_too_much(given["file"]),
        "processes": starts_too_many(given["processes"]),
        "cpu_limit": not 0 < resource.getrlimit(resource.RLIMIT_CPU)[0] <= given["cpu"],
    }
    print(json.dumps(tried, sort_keys=True))


if __name__ == "__main__":
    main()
