"""The system call filter of the sandbox: a seccomp program that bubblewrap loads before a program starts.

It closes what namespaces and resource limits leave open: memory that belongs to no process (shared memory, memfd,
System V segments, kernel keys, pinned pages), namespaces and mounts inside the sandbox, and sockets other than local
ones. Everything else is allowed; a refused call fails with an error, and the program goes on.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple


class Architecture(NamedTuple):
    """A processor's audit number, and the numbers of its system calls."""

    audit: int
    calls: Mapping[str, int]


# Calls younger than 2018 have one number on all processors.
_COMMON: Final = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "mount_setattr": 442,
    "memfd_secret": 447, "pidfd_send_signal": 424, "landlock_create_ruleset": 444,
}  # fmt: skip
ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(
        0xC000003E,
        _COMMON
        | {
            "mmap": 9, "shmget": 29, "socket": 41, "setsockopt": 54, "clone": 56, "kill": 62, "semget": 64,
            "msgget": 68, "fcntl": 72, "rt_sigqueueinfo": 129, "pivot_root": 155, "prctl": 157, "chroot": 161,
            "mount": 165, "umount2": 166, "tkill": 200, "io_setup": 206, "timer_create": 222, "tgkill": 234,
            "mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250, "inotify_init": 253, "unshare": 272,
            "vmsplice": 278, "inotify_init1": 294, "rt_tgsigqueueinfo": 297, "perf_event_open": 298,
            "fanotify_init": 300, "setns": 308, "memfd_create": 319, "bpf": 321, "userfaultfd": 323,
        },
    ),
    "aarch64": Architecture(
        0xC00000B7,
        _COMMON
        | {
            "io_setup": 0, "fcntl": 25, "inotify_init1": 26, "umount2": 39, "mount": 40, "pivot_root": 41,
            "chroot": 51, "vmsplice": 75, "unshare": 97, "timer_create": 107, "kill": 129, "tkill": 130, "tgkill": 131,
            "rt_sigqueueinfo": 138, "prctl": 167, "mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194,
            "socket": 198, "setsockopt": 208, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220,
            "mmap": 222, "rt_tgsigqueueinfo": 240, "perf_event_open": 241, "fanotify_init": 262, "setns": 268,
            "memfd_create": 279, "bpf": 280, "userfaultfd": 282,
        },
    ),
}  # fmt: skip

_SENDS: Final = {
    "kill": 1, "tkill": 1, "tgkill": 2, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2, "pidfd_send_signal": 1,
}  # fmt: skip
"""Calls that send a signal, with the place of its number among the arguments."""
# Calls whose arguments decide; all others of an architecture are refused with one error.
_BY_ARGUMENT: Final = {
    "clone",
    "clone3",
    "mmap",
    "socket",
    "setsockopt",
    "fcntl",
    "prctl",
    "timer_create",
    *_SENDS,
}
_CONTINUE: Final = 18
"""SIGCONT. sandbox.py stops a program to look at its memory, and nothing else may let it go on."""
_NEW_NAMESPACES: Final = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_SHARED_ANONYMOUS: Final = 0x21
"""MAP_SHARED (or MAP_SHARED_VALIDATE) with MAP_ANONYMOUS: pages that outlive their mapping and count in no process."""
_HUGE_PAGES: Final = 0x40000
_LOCAL_SOCKETS: Final = 1
_SOCKET_OPTIONS: Final = 1
_BUFFER_SIZES: Final = (7, 8, 32, 33)
"""SO_SNDBUF and SO_RCVBUF, and their FORCE forms."""
_PIPE_SIZE: Final = 1031
"""F_SETPIPE_SZ."""
_DUMPABLE: Final = 4
"""PR_SET_DUMPABLE, by which a program would hide its files and its root from the person who runs moot."""
_X32: Final = 0x40000000
"""From here on x86_64 numbers belong to its 32-bit form, which the table does not know."""

# The filter is a small program for the kernel's packet filter machine: load a word, test
# it, return a verdict.
# Opcodes of classic BPF, and the offsets of `struct seccomp_data`.
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def is_supported() -> bool:
    """Return whether the filter knows this machine's processor."""
    return platform.machine() in ARCHITECTURES


def program() -> bytes:
    """Return the filter for this machine, as the kernel reads it. Raises `LookupError` for an unknown processor."""
    return assemble(ARCHITECTURES[platform.machine()])


def assemble(architecture: Architecture) -> bytes:
    """Return the filter of one architecture."""
    calls = architecture.calls
    instructions = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, architecture.audit, skip=1),
        # Another architecture has other numbers, so a call under a foreign number would
        # slip through the table.
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
        # The 32-bit form of x86_64 shares the audit number; its calls are refused as a whole.
        _instruction(_IF_AT_LEAST, _X32, otherwise=1),
        _refusal(errno.ENOSYS),
    ]
    for name, number in calls.items():
        if name not in _BY_ARGUMENT:
            instructions += _on(number, [_refusal(errno.EPERM)])
    # The flags of clone3 lie in memory, which a filter cannot read; without the call, C libraries use clone. The signal
    # of a timer of timer_create lies there too; without the call, programs use alarm.
    for name in ("clone3", "timer_create"):
        instructions += _on(calls[name], [_refusal(errno.ENOSYS)])
    instructions += _on(calls["clone"], _unless(_IF_ANY_BIT, 0, _NEW_NAMESPACES))
    for name, place in _SENDS.items():
        instructions += _on(calls[name], _unless(_IF_EQUAL, place, _CONTINUE))
    instructions += _on(
        calls["mmap"],
        [
            *_unless(_IF_ANY_BIT, 3, _HUGE_PAGES),
            *_unless(_IF_EQUAL, 3, _SHARED_ANONYMOUS, mask=_SHARED_ANONYMOUS),
        ],
    )
    instructions += _on(
        calls["socket"],
        [
            _instruction(_LOAD, _argument(0)),
            # Local sockets stay: programs use them between their own processes, and no
            # network is reachable anyway.
            _instruction(_IF_EQUAL, _LOCAL_SOCKETS, skip=1),
            _refusal(errno.EAFNOSUPPORT),
        ],
    )
    instructions += _on(
        calls["setsockopt"],
        [
            _instruction(_LOAD, _argument(1)),
            _instruction(_IF_EQUAL, _SOCKET_OPTIONS, skip=1),
            _instruction(_RETURN, _ALLOW),
            # Larger buffers would be kernel memory beyond what usage.py counts for each socket.
            *(part for option in _BUFFER_SIZES for part in _unless(_IF_EQUAL, 2, option)),
        ],
    )
    instructions += _on(calls["fcntl"], _unless(_IF_EQUAL, 1, _PIPE_SIZE))
    instructions += _on(calls["prctl"], _unless(_IF_EQUAL, 0, _DUMPABLE))
    return b"".join([*instructions, _instruction(_RETURN, _ALLOW)])


def _instruction(code: int, value: int, *, skip: int = 0, otherwise: int = 0) -> bytes:
    """Return one instruction; a test jumps over `skip` instructions where it is true, over `otherwise` where not."""
    return struct.pack("=HBBI", code, skip, otherwise, value)


def _refusal(error: int) -> bytes:
    return _instruction(_RETURN, _ERROR | error)


def _argument(number: int) -> int:
    """Return the offset of the lower half of an argument: both architectures are little-endian."""
    return _ARGUMENTS + 8 * number


def _on(number: int, then: Iterable[bytes]) -> list[bytes]:
    """Return what decides over one call; a call that nothing in `then` refuses is allowed."""
    body = [*then, _instruction(_RETURN, _ALLOW)]
    # Calls that are not this one jump over the whole body to the next test.
    return [_instruction(_IF_EQUAL, number, otherwise=len(body)), *body]


def _unless(test: int, argument: int, value: int, *, mask: int | None = None) -> Iterator[bytes]:
    """Refuse a call when an argument passes a test; go on otherwise."""
    yield _instruction(_LOAD, _argument(argument))
    if mask is not None:
        yield _instruction(_AND, mask)
    yield _instruction(test, value, otherwise=1)
    yield _refusal(errno.EPERM)
