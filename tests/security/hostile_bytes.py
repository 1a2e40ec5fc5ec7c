"""Bytes that want to hang, exhaust or crash a reader, by name."""

from __future__ import annotations

from typing import Final

HOSTILE_JSON: Final = {
    "huge": b'{"a":"' + b"x" * 10_000_000 + b'"}',
    "open brackets": b"[" * 5_000_000,
    "deep": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "deep and short": b'{"sections":' + b"[" * 900 + b"]" * 900 + b"}",
    "a key twice": b'{"sections":[],"sections":[],"responds_to":[],"options":[]}',
    "NaN": b'{"sections":NaN}',
    "Infinity": b'{"sections":-Infinity}',
    "beyond every double": b'{"sections":1e999}',
    "300000 digits": b'{"sections":' + b"9" * 300_000 + b"}",
    "nothing": b" ",
    "zero bytes": b"\0" * 100,
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "a lone surrogate": b'{"sections":"\\ud800"}',
    "a key with a lone surrogate": b'{"sections\\ud800":[],"responds_to":[],"options":[]}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "no UTF-8": b'{"a":"\xff"}',
    "an escape code": b'{"sections":[{"name":"main","text":"\\u001b[31m"}],"responds_to":[],"options":[]}',
    "a C1 byte": '{"sections":[{"name":"main","text":"\u009b31m"}],"responds_to":[],"options":[]}'.encode(),
    "a key that is a code": b'{"\\u001b]0;x\\u0007":"\\u202e"}',
    "a list": b"[]",
}

_BEGUN: Final = b'[deliberation]\nquestion = "q"\n'
HOSTILE_TOML: Final = {
    "huge": b'[deliberation]\nquestion="' + b"x" * 10_000_000 + b'"\n',
    "deep": _BEGUN + b"x = " + b"[" * 100_000 + b"]" * 100_000,
    "deep tables": _BEGUN + b"x = " + b"{a = " * 100_000,
    "a dotted key": b"a." * 100_000 + b"b = 1\n",
    "a dotted header": b"[" + b'"a" . ' * 100_000 + b"b]\n",
    "many dotted keys": b"".join(b"a%d.b.c.d.e.f.g.h.i.j.k.l = 1\n" % n for n in range(30_000)),
    "a key twice": _BEGUN + b'question = "r"\n',
    "nan": b"[deliberation]\nquestion = nan\n",
    "inf": _BEGUN + b"check_every = inf\n",
    "10000 digits": _BEGUN + b"check_every = " + b"9" * 10_000,
    "every byte": bytes(range(256)),
    "an escape code": b'[deliberation]\nquestion = "\\u001b[31m"\n',
    "a C1 byte": b'[deliberation]\nquestion = "\\u009b31m"\n',
    "too many rounds": _BEGUN + b"".join(b"[[round]]\nround = %d\n" % n for n in range(1, 60_000)),
}
