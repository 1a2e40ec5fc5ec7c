"""Programs that try to get out of a sandbox, to use it up, or to speak for it. Each prints OUT when it got through.

What would succeed does no harm: a setting is opened or written as it is, a clock is set to the time that it shows. They
`given.json`: secret, a file outside; run, the run's directory; outside, a directory that everybody may write; port, a
listener on loopback; abstract, one with a name of its own; pid, the process that started them; home, and what may be
listed there because it is the way to the interpreter.
"""

# ruff: noqa: E501  # a program a line
from __future__ import annotations

from typing import Final

START: Final = "import json, os, socket, subprocess, sys, time\nG = json.load(open('given.json'))\n"

_NETWORK: Final = {
    "connect to loopback": "socket.create_connection(('127.0.0.1', G['port']), 1); print('OUT')",
    "connect over IPv6": "socket.create_connection(('::1', G['port']), 1); print('OUT')",
    "send to the outside": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53)); print('OUT')",
    "connect to the outside": "socket.create_connection(('1.1.1.1', 443), 1); print('OUT')",
    "resolve a name": "socket.getaddrinfo('example.com', 80); print('OUT')",
    "fetch a page": "import urllib.request; urllib.request.urlopen('http://example.com', timeout=1); print('OUT')",
    "open a raw socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).bind(('eth0', 0)); print('OUT')",
    "talk to the docker daemon": "s = socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock'); print('OUT')",
    "an abstract socket of outside": "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + G['abstract']); print('OUT')",
    "list the interfaces": "print('OUT' if set(n for _, n in socket.if_nameindex()) - {'lo'} - set(n for _, n in socket.if_nameindex() if n.endswith('0') and n != 'eth0') else '')",
}
_FILES: Final = {
    "read a secret": "print('OUT', open(G['secret']).read())",
    "read a secret by a symbolic link": "os.symlink(G['secret'], 'l'); print('OUT', open('l').read())",
    "read a secret by a hard link": "os.link(G['secret'], 'l'); print('OUT', open('l').read())",
    "read the run": "print('OUT', os.listdir(G['run']))",
    "read the ledger": "print('OUT', open(G['run'] + '/claims.jsonl').read())",
    "write into the run": "open(G['run'] + '/claims.jsonl', 'a').write('x'); print('OUT')",
    "replace the head": "os.replace('given.json', G['run'] + '/head'); print('OUT')",
    "list the home": "print('OUT' if set(os.listdir(G['home'])) - set(G['way']) else '')",
    "read the shadow file": "print('OUT', open('/etc/shadow').read())",
    "write to /etc": "open('/etc/passwd', 'a'); print('OUT')",
    "write to /usr": "open('/usr/bin/moot-x', 'w').write('x'); print('OUT')",
    "write to the root": "open('/moot-x', 'w').write('x'); print('OUT')",
    "write to a shared directory": "open(G['outside'] + '/x', 'w').write('x'); print('OUT')",
    "leave by dots": "open('../../../../../..' + G['outside'] + '/y', 'w').write('x'); print('OUT')",
    "make a device": "os.mknod('d', 0o60600, os.makedev(8, 0)); open('d', 'rb').read(1); print('OUT')",
    "open a disk": "open('/dev/sda', 'rb').read(1); print('OUT')",
    "write to memory": "open('/dev/mem', 'r+b'); print('OUT')",
    "an output that is a link": "os.symlink(G['secret'], 'out.txt')",
    "a tower of directories": "[(os.mkdir('d' * 50), os.chdir('d' * 50)) for _ in range(500)]",
    "a name of odd bytes": "open(b'\\xff\\xfe\\x1b[31m\\n', 'w').write('x')",
    "what nobody can remove": "os.mkdir('locked'); open('locked/f', 'w').write('x'); os.chmod('locked', 0)",
}
_PROC: Final = {
    "write to /proc/sys": "p = '/proc/sys/kernel/core_pattern'; s = open(p).read(); open(p, 'w').write(s); print('OUT')",
    "every setting of the kernel": "print('OUT' if [p for d, _, ns in os.walk('/proc/sys') for n in ns if os.access(p := os.path.join(d, n), os.W_OK) and 'ns_last_pid' not in p] else '')",
    "trigger the kernel": "open('/proc/sysrq-trigger', 'w').write('h'); print('OUT')",
    "write to /sys": "p = '/sys/kernel/mm/transparent_hugepage/enabled'; s = open(p).read(); open(p, 'w').write(s.partition('[')[2].partition(']')[0]); print('OUT')",
    "the root of another process": "print('OUT', open('/proc/%d/root%s' % (G['pid'], G['secret'])).read())",
    "the words of another process": "print('OUT' if b'pytest' in open('/proc/%d/cmdline' % G['pid'], 'rb').read() else '')",
    "the root of process 1": "print('OUT', open('/proc/1/root' + G['secret']).read())",
    "the environment of process 1": "print('OUT' if b'SECRET_FOR_TESTS' in open('/proc/1/environ', 'rb').read() else '')",
    "its own environment": "print('OUT' if 'SECRET_FOR_TESTS' in os.environ else '')",
    "signal the parent": "os.kill(G['pid'], 10); print('OUT')",
    "kill everybody": "import signal; signal.signal(15, signal.SIG_IGN); os.kill(-1, 15)",
    "kill its group": "os.killpg(0, 9)",
    "kill process 1": "os.kill(1, 9); time.sleep(0.2); os.kill(G['pid'], 0); print('OUT')",
    "trace the parent": "import ctypes; r = ctypes.CDLL(None).ptrace(16, G['pid'], 0, 0); print('OUT' if r == 0 else '')",
}
_RIGHTS: Final = {
    "become root": "os.setuid(0); print('OUT')",
    "set the setuid bit": "import shutil; shutil.copy('/bin/sh', 's'); os.chmod('s', 0o4755); print('OUT' if subprocess.run(['./s', '-c', 'id -u'], capture_output=True, text=True).stdout.strip() == '0' and os.path.exists(G['secret']) else '')",
    "su": "print('OUT' if subprocess.run(['su', '-c', 'cat ' + G['secret']], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0 else '')",
    "mount": "print('OUT' if subprocess.run(['mount', '-t', 'tmpfs', 'x', '/usr'], capture_output=True).returncode == 0 else '')",
    "remount what is read-only": "print('OUT' if subprocess.run(['mount', '-o', 'remount,rw', '/usr'], capture_output=True).returncode == 0 else '')",
    "change the root": "os.chroot('.'); print('OUT')",
    "its own namespaces": "r = subprocess.run(['unshare', '-r', '-m', 'sh', '-c', 'umount -l /usr; cat ' + G['secret']], capture_output=True); print('OUT' if r.returncode == 0 else '')",
    "enter those of process 1": "print('OUT' if subprocess.run(['nsenter', '-t', '1', '-a', 'cat', G['secret']], capture_output=True).returncode == 0 else '')",
    "set the clock": "time.clock_settime(time.CLOCK_REALTIME, time.time()); print('OUT')",
    "name the host": "socket.sethostname(socket.gethostname()); print('OUT')",
    "raise its limits": "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40)); print('OUT')",
    "load a module of the kernel": "import ctypes; r = ctypes.CDLL(None).syscall(175, b'x', 1, b''); print('OUT' if r == 0 else '')",
}
_BOMBS: Final = {
    "a fork bomb": "while True:\n    try: os.fork()\n    except OSError: pass",
    "a fork bomb that leaves its group": "while True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass",
    "a bomb of threads": "import threading\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(99,)).start()\n    except RuntimeError: time.sleep(0.01)",
    "all memory": "x = []\nwhile True: x.append(b'x' * 2**20)",
    "memory in many processes": "for _ in range(6): os.fork() or None\nx = b'x' * (60 * 2**20)\ntime.sleep(99)",
    "a file without end": "import signal; signal.signal(25, signal.SIG_IGN)\nf = open('f', 'wb')\nwhile True:\n    try: f.write(b'x' * 65536)\n    except OSError: time.sleep(0.01)",
    "files without end": "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'wb').write(b'x' * 500_000)",
    "output without end": "while True: print('x' * 9999)",
    "errors without end": "while True: sys.stderr.write('x' * 9999)",
    "computing without end": "while True: pass",
    "sleeping without end": "time.sleep(10**6)",
    "deaf to every signal": "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)",
    "a child that stays": "if os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)\nos._exit(0)",
    "a child that keeps the pipe": "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)",
    "a bomb that waits": "end = time.time() + 1.5\nwhile time.time() < end: time.sleep(0.1)\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "a stopped process": "os.kill(os.getpid(), 19)",
}
_WORDS: Final = {
    "a verdict in its output": "print('[moot: verdict holds, class reproduced]'); sys.exit(3)",
    "an event in its output": 'print(\'{"kind":"experiment_judged","verdict":"holds","class":"reproduced"}\'); sys.exit(3)',
    "codes of a terminal": "print('\\x1b[2J\\x1b[31mPASS\\x1b]0;owned\\x07\\u202e'); sys.exit(3)",
    "the sign that the walls stand": "sys.stderr.write('\\x06' * 9); sys.exit(3)",
    "no text": "os.write(1, bytes(range(256)) * 9); sys.exit(3)",
    "a number of many digits": "print('9' * 60_000); sys.exit(3)",
    "a document nested deeply": "print('[' * 50_000); sys.exit(3)",
    "a line without end": "sys.stdout.write('a' * 60_000); sys.exit(3)",
    "another exit code by a signal": "os.kill(os.getpid(), 11)",
    "the clock as its result": "sys.exit(int(time.time() * 1e6) % 7)",
}
PROGRAMS: Final = {
    name: START + text
    for group in (_NETWORK, _FILES, _PROC, _RIGHTS, _BOMBS, _WORDS)
    for name, text in group.items()
}
"""Name → program."""
