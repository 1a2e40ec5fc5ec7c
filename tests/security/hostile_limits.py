"""Programs that try to use more than they may where nobody looks: memory of no process, files nobody sees, the kernel.

They run after `START` of hostile_programs.py. Each prints OUT when it got through: when it holds more than the limits
of test_hostile_programs.py allow (200 MB of memory, 64 MB of files), or made what should be refused. `hold` waits until
somebody has looked.
"""

# ruff: noqa: E501  # a program a line
from __future__ import annotations

from typing import Final

from tests.security.hostile_programs import START

HELPERS: Final = (
    START
    + """
import ctypes, mmap
MB = 2**20
libc = ctypes.CDLL(None, use_errno=True)
machine = os.uname().machine
def call(x86, arm, *words):
    return libc.syscall(x86 if machine == "x86_64" else arm, *words)
def hold(megabytes):
    if megabytes > 220:
        time.sleep(1)
        print("OUT", megabytes)
def hold_files(megabytes):
    if megabytes > 70:
        time.sleep(1)
        print("OUT", megabytes)
"""
)

_UNOWNED_MEMORY: Final = {
    "anonymous files": "fs = [os.memfd_create('x') for _ in range(40)]\nfor f in fs: os.write(f, b'x' * (15 * MB))\nhold(600)",
    "anonymous files by the system call": "fs = [call(319, 279, b'x', 0) for _ in range(40)]\nfor f in fs: os.write(f, b'x' * (15 * MB))\nhold(600)",
    "secret memory": "f = call(447, 447, 0)\nif f >= 0: os.ftruncate(f, MB); print('OUT')",
    "files of shared memory": "for n in range(40): open(f'/dev/shm/{n}', 'wb').write(b'x' * (10 * MB))\nhold(400)",
    "files in every directory": "n = 0\nfor d in ('/dev', '/dev/shm', '/run', '/tmp', '/var/tmp', '/proc', '/', '/dev/mqueue'):\n    try:\n        for k in range(30): n += open(f'{d}/f{k}', 'wb').write(b'x' * (10 * MB)) // MB\n    except OSError: pass\nhold(n)",
    "a tmpfs in namespaces of its own": "r = subprocess.run(['unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs x /dev/shm && head -c 300000000 /dev/urandom > /dev/shm/f && sleep 1'])\nprint('OUT' if r.returncode == 0 else '')",
    "a user namespace by the system call": "print('OUT' if libc.unshare(0x10000000) == 0 else '')",
    "a user namespace by clone": "r = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nprint('OUT' if r > 0 else '')",
    "a user namespace by clone3": "a = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)\nr = call(435, 435, a, 88)\nif r == 0: os._exit(0)\nprint('OUT' if r > 0 else '')",
    "a mount without mount": "print('OUT' if call(430, 430, b'tmpfs', 0) >= 0 else '')",
    "the control groups of outside": "print('OUT' if libc.mount(b'none', b'/work', b'cgroup2', 0, None) == 0 else '')",
    "segments of System V": "taken = 0\nfor n in range(30):\n    s = libc.shmget(0, 15 * MB, 0o1600)\n    if s < 0: break\n    libc.shmat.restype = ctypes.c_void_p\n    p = libc.shmat(s, None, 0); ctypes.memset(p, 1, 15 * MB); libc.shmdt(ctypes.c_void_p(p)); taken += 15\nhold(taken)",
    "queues of System V": "made = [libc.msgget(0, 0o1600) for _ in range(20_000)]\nprint('OUT' if made[0] >= 0 else '')",
    "semaphores of System V": "print('OUT' if libc.semget(0, 30_000, 0o1600) >= 0 else '')",
    "message queues": "print('OUT' if call(240, 180, b'q', 0o102, 0o600, 0) >= 0 else '')",
    "a shared mapping that is let go": "taken = 0\nfor n in range(40):\n    m = mmap.mmap(-1, 10 * MB); m.write(b'x' * (10 * MB)); m.madvise(mmap.MADV_DONTNEED); taken += 10\nhold(taken)",
    "a shared mapping of a child that never looks": "taken = 0\nfor n in range(20):\n    m = mmap.mmap(-1, 15 * MB); m.write(b'x' * (15 * MB))\n    if os.fork() == 0: time.sleep(3); os._exit(0)\n    m.close(); taken += 15\nhold(taken)",
    "a shared mapping of zeros": "f = open('/dev/zero', 'r+b'); taken = 0\nfor n in range(40):\n    m = mmap.mmap(f.fileno(), 10 * MB); m.write(b'x' * (10 * MB)); m.madvise(mmap.MADV_DONTNEED); taken += 10\nhold(taken)",
    "huge pages": "libc.mmap.restype = ctypes.c_void_p\np = libc.mmap(None, 2 * MB, 3, 0x40022, -1, 0)\nprint('OUT' if p != ctypes.c_void_p(-1).value else '')",
    "pages given to pipes": "b = ctypes.create_string_buffer(64 * 1024)\nv = (ctypes.c_size_t * 2)(ctypes.addressof(b), 65536)\nr, w = os.pipe()\nprint('OUT' if call(278, 75, w, v, 1, 0) > 0 else '')",
    "large pipes": "import fcntl\nfor n in range(50):\n    r, w = os.pipe(); print('OUT' if fcntl.fcntl(w, 1031, MB) >= MB else '')",
    "pipes in many processes": "for _ in range(28):\n    if os.fork() == 0: break\ntaken = 0\nfor n in range(60):\n    r, w = os.pipe(); os.set_blocking(w, False)\n    try:\n        while True: taken += os.write(w, b'x' * 65536)\n    except OSError: pass\ntime.sleep(2)\nprint('OUT' if taken > 9 * MB else '')",
    "local sockets in many processes": "for _ in range(28):\n    if os.fork() == 0: break\ntaken = 0\nfor n in range(55):\n    a, b = socket.socketpair(); keep = globals().setdefault('keep', []); keep += [a, b]; a.setblocking(False); b.setblocking(False)\n    for s in (a, b):\n        try:\n            while True: taken += s.send(b'x' * 65536)\n        except OSError: pass\ntime.sleep(2)\nprint('OUT' if taken > 9 * MB else '')",
    "large buffers of sockets": "a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MB); print('OUT')",
    "sockets over loopback": "s = socket.create_server(('127.0.0.1', 0)); print('OUT')",
    "sockets of odd families": "for f in (2, 10, 16, 17, 38, 40):\n    try: socket.socket(f, socket.SOCK_DGRAM if f != 38 else 5); print('OUT', f)\n    except OSError: pass",
    "memory in swapped places": "m = mmap.mmap(-1, 300 * MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
    "memory a bit at a time": "kept = []\nfor _ in range(30):\n    if os.fork() == 0:\n        for n in range(40): kept.append(b'x' * MB); time.sleep(0.02)\n        time.sleep(3); os._exit(0)\ntime.sleep(2.5)\nprint('OUT')",
    "connections that nobody accepts": "s = socket.socket(socket.AF_UNIX); s.bind('s'); s.listen(4096); n = 0\nfor _ in range(4000):\n    c = socket.socket(socket.AF_UNIX); c.setblocking(False)\n    try:\n        c.connect('s')\n        while True: n += c.send(b'x' * 65536)\n    except OSError: pass\n    c.close()\nhold(n // MB)",
    "datagrams that nobody reads": "keep = []; n = 0\nfor k in range(60):\n    a = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); a.bind(f'd{k}'); keep.append(a)\n    for _ in range(600):\n        c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); c.setblocking(False)\n        try: n += c.sendto(b'x' * 200_000, f'd{k}')\n        except OSError: break\n        finally: c.close()\nhold(n // MB)",
    "sockets in flight": "import array\nkeep = []; n = 0\nfor k in range(6):\n    a, b = socket.socketpair(); keep += [a, b]; a.setblocking(False)\n    for _ in range(100):\n        fs = []\n        for _ in range(25):\n            c, d = socket.socketpair(); c.setblocking(False); d.setblocking(False)\n            for s in (c, d):\n                try:\n                    while True: n += s.send(b'x' * 65536)\n                except OSError: pass\n            fs += [c, d]\n        try: a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [f.fileno() for f in fs]))])\n        except OSError: break\n        finally:\n            for f in fs: f.close()\nhold(n // MB)",
    "many small mappings": "libc.mmap.restype = ctypes.c_void_p; libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)\np = libc.mmap(None, 150 * MB, 0, 0x4022, -1, 0)\nfor k in range(0, 150 * MB, 8192):\n    if libc.mprotect(p + k, 4096, 1): break\nfor _ in range(4):\n    try: os.fork()\n    except OSError: pass\ntime.sleep(2)\nprint(len(open('/proc/self/maps').readlines()))\ntime.sleep(3)",
    "children of a moment": "while True:\n    ps = []\n    for _ in range(24):\n        p = os.fork()\n        if p == 0: x = b'x' * (18 * MB); os._exit(0)\n        ps.append(p)\n    for p in ps: os.waitpid(p, 0)",
}  # fmt: skip
_UNSEEN_FILES: Final = {
    "files that are open and unlinked": "n = 0; keep = []\ntry:\n    for k in range(10):\n        f = open('f', 'wb'); os.unlink('f'); keep.append(f); n += f.write(b'x' * (15 * MB)) // MB; f.flush()\nexcept OSError: pass\nhold_files(n)",
    "files that nobody may list": "os.mkdir('d'); n = 0\ntry:\n    for k in range(10):\n        n += open(f'd/{k}', 'wb').write(b'x' * (15 * MB)) // MB\n        os.chmod('d', 0o300)\nexcept OSError: pass\nos.chmod('d', 0)\nhold_files(n)",
    "room that is reserved": "n = 0\ntry:\n    for k in range(10):\n        f = os.open(f'{k}', os.O_CREAT | os.O_WRONLY); os.posix_fallocate(f, 0, 15 * MB); n += 15\nexcept OSError: pass\nhold_files(n)",
    "a mapping of a file with holes": "n = 0\nfor k in range(10):\n    f = open(f'{k}', 'w+b'); f.truncate(15 * MB); m = mmap.mmap(f.fileno(), 0)\n    for p in range(0, 15 * MB, 4096): m[p] = 1\n    n += 15\nhold_files(n)",
    "empty files without end": "n = 0\ntry:\n    while True: open(f'e{n}', 'w').close(); n += 1\nexcept OSError: pass\nprint('OUT' if n > 1.1 * 4_096 else '')",
    "directories without end": "n = 0\nwhile n < 200_000: os.mkdir(f'd{n}'); n += 1\nprint('OUT')",
    "links without end": "open('f', 'w').close(); n = 0\nwhile n < 200_000: os.link('f', f'l{n}'); n += 1\nprint('OUT')",
    "symbolic links without end": "n = 0\nwhile n < 200_000: os.symlink('x' * 1000, f's{n}'); n += 1\nprint('OUT')",
    "files in hiding": "print('OUT' if libc.prctl(4, 0) == 0 else '')\nn = 0\nwhile n < 200_000: open(f'e{n}', 'w').close(); n += 1\nprint('OUT')",
    "words on a file": "n = 0\nopen('f', 'w').close()\nwhile n < 200_000: os.setxattr('f', f'user.{n}', b'x' * 4000); n += 1\nprint('OUT')",
    "a program that runs as its owner": "open('s', 'wb').write(open('/bin/sh', 'rb').read()); os.chmod('s', 0o6777)\nprint('OUT' if subprocess.run(['./s', '-c', 'test $(id -u) = 0']).returncode == 0 else '')",
    "pages of a file in pipes": "n = 0; keep = []\nfor k in range(60):\n    f = os.open('f', os.O_RDWR | os.O_CREAT | os.O_TRUNC); os.write(f, b'x' * 65536); os.lseek(f, 0, 0)\n    r, w = os.pipe(); keep += [r, w]\n    n += os.splice(f, w, 65536); os.ftruncate(f, 0); os.close(f)\nhold_files(n // MB)",
}  # fmt: skip
_KERNEL: Final = {
    "a key for the next one": "print('OUT' if call(248, 217, b'user', b'moot', b'x', 1, -4) >= 0 else '')",
    "the keyring of the session": "print('OUT' if call(250, 219, 0, -3, 1, 0, 0) >= 0 else '')",
    "a keyring of its own": "print('OUT' if call(250, 219, 1, b'moot', 0, 0, 0) >= 0 else '')",
    "rings of requests": "p = (ctypes.c_char * 120)()\nprint('OUT' if call(425, 425, 4096, p) >= 0 else '')",
    "requests without waiting": "c = ctypes.c_ulong(0)\nprint('OUT' if call(206, 0, 60_000, ctypes.byref(c)) == 0 else '')",
    "a program in the kernel": "a = (ctypes.c_char * 120)()\nprint('OUT' if call(321, 280, 0, a, 120) >= 0 else '')",
    "faults for itself": "print('OUT' if call(323, 282, 1) >= 0 else '')",
    "counters of the processor": "a = (ctypes.c_char * 120)()\nprint('OUT' if call(298, 241, a, 0, -1, -1, 0) >= 0 else '')",
    "watches on files": "print('OUT' if call(294, 26, 0) >= 0 else '')",
    "timers without end": "t = ctypes.c_void_p(); n = 0\nwhile n < 5_000 and call(222, 107, 1, None, ctypes.byref(t)) == 0: n += 1\nprint('OUT' if n > 400 else '')",
    "numbers of another kind": "r = libc.syscall(0x40000000 + 319, b'x', 0) if machine == 'x86_64' else -1\nprint('OUT' if r >= 0 else '')",
    "the system calls of 32 bits": "import struct\nlibc.mmap.restype = ctypes.c_void_p\nif machine == 'x86_64':\n    code = bytes.fromhex('b814000000cd80c3')\n    p = libc.mmap(None, 4096, 7, 0x22, -1, 0); ctypes.memmove(p, code, len(code))\n    print('OUT' if ctypes.CFUNCTYPE(ctypes.c_int)(p)() > 0 else '')",
    "going on by every call": "p = os.fork()\nif p == 0: time.sleep(3); os._exit(0)\ninfo = (ctypes.c_char * 128)(); ctypes.memset(info, 0, 128); ctypes.c_int.from_buffer(info, 8).value = -1\nfd = os.pidfd_open(p)\nfor x, a, w in ((62, 129, (p, 18)), (200, 130, (p, 18)), (234, 131, (p, p, 18)), (129, 138, (p, 18, info)), (297, 240, (p, p, 18, info)), (424, 424, (fd, 18, None, 0))):\n    if call(x, a, *w) == 0: print('OUT', x)",
    "going on by a timer": "t = ctypes.c_void_p(); e = (ctypes.c_int * 16)(0, 0, 18, 0)\nprint('OUT' if call(222, 107, 1, e, ctypes.byref(t)) == 0 else '')",
    "rules for itself": "fds = []; a = (ctypes.c_uint64 * 2)(0x1fff, 0)\nr = call(444, 444, a, 8, 0)\nprint('OUT' if r >= 0 else '', r)",
}  # fmt: skip
LIMIT_PROGRAMS: Final = {
    name: HELPERS + text
    for group in (_UNOWNED_MEMORY, _UNSEEN_FILES, _KERNEL)
    for name, text in group.items()
}
"""Name → program."""
