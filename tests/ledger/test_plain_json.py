"""JSON of a stranger is decoded by one function with one error; every reader of it takes any bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detectors.forecasts.report import WrongTable, read_table
from ledger.plain_json import NotJson, decoded
from ledger.redaction.removal import _strings
from ledger.store.blobs import named_by_brief
from ledger.store.lock import read_driver
from ledger.store.spending import Spending, SpendingUnreadable
from moot.app.speech import read_speech

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "ledger", "roles", "detectors", "validators", "rounds", "moot")
OTHERS = {
    "ledger/plain_json.py": "the function",
    "ledger/format/canonical.py": "lines of a ledger, with errors of their own",
    "rounds/protocols/structured/making.py": "a value that was just encoded",
}
"""Modules that call the decoder, and why."""
NESTED = 20_000
HOSTILE = [
    b"", b"null", b"[]", b"1", b'"x"', b"\xff", b'{"a":"\xff"}', b'{"\xff":1}', b"[" * NESTED, b'{"x":' + b"[" * 990,
    b'{"x":' * NESTED, b'{"x":' + b"[" * 980 + b"]" * 980 + b"}", b"[" * 1_000 + b"]" * 1_000, b'{"steps":"\xff"}',
    b'{"asked":"\xff"}', b'{"act":"\xff"}', b'{"blocks":[{"sha256":"\xff"}]}', b'{"host":"\xff"}',
]  # fmt: skip


class Row(msgspec.Struct):
    """Any value of a type."""

    a: str = ""


def test_every_error_of_the_decoder_is_one() -> None:
    assert decoded(b'{"a":"x"}', Row) == Row("x")
    for content in (b"", b"[]", b"[" * NESTED, b'{"a":"\xff"}', b'{"x":' * NESTED, b'{"a":1}'):
        with pytest.raises(NotJson, match=r"."):
            decoded(content, Row)


def test_every_other_call_of_the_decoder_has_a_reason() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    words = ("msgspec.json.decode", "json.Decoder(", "from msgspec import json")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in files
        for word in words
        if word in path.read_text("utf-8")
    }
    assert found <= set(OTHERS), "decode through ledger/plain_json.py, or say here why not"


def _driver(content: bytes, place: Path) -> Any:
    (place / "driver").write_bytes(content)
    return read_driver(place)


def _spending(content: bytes, place: Path) -> Any:
    (place / "spending.jsonl").write_bytes(content)
    return list(Spending(place).entries())


def _speech(content: bytes, place: Path) -> Any:
    (place / "speech").write_bytes(content)
    return read_speech(place)


READERS: dict[str, tuple[Callable[[bytes, Path], Any], type[Exception] | tuple[()]]] = {
    "driver": (_driver, ()),
    "speech": (_speech, ()),
    "spending": (_spending, SpendingUnreadable),
    "table": (lambda content, _: read_table(content), WrongTable),
    "brief": (lambda content, _: list(named_by_brief(content)), ()),
    "reply": (lambda content, _: list(_strings(content)), ()),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_takes_or_refuses_any_bytes(reader: str, tmp_path: Path) -> None:
    read, refusal = READERS[reader]
    for content in HOSTILE:
        try:
            read(content, tmp_path)
        except refusal:
            continue


CROWD = """
import sys, threading
from typing import Any
import msgspec
from ledger.plain_json import converted

sys.setswitchinterval(1e-6)
for n in range(200):
    inner = msgspec.defstruct(f"Inner{n}", [(f"f{i}", int) for i in range(40)])
    outer: Any = msgspec.defstruct(f"Outer{n}", [("x", inner), ("y", list[inner])])
    value = {"x": {f"f{i}": i for i in range(40)}, "y": []}
    gate = threading.Barrier(4)
    def go(outer=outer, value=value, gate=gate):
        gate.wait()
        converted(value, outer)
    threads = [threading.Thread(target=go) for _ in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
"""


def test_threads_that_meet_a_type_for_the_first_time_at_once_all_convert() -> None:
    """msgspec itself ends the process with a segmentation fault: the viewer did, at its first page."""
    done = subprocess.run([sys.executable, "-c", CROWD], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_types_are_looked_up_in_one_place() -> None:
    direct = re.compile(r"msgspec\.convert\((?!.*built)|json\.decode\(.*type=|[^N]Decoder\((?!\)|built)")
    found = {
        str(path.relative_to(ROOT))
        for package in ("ledger", "moot", "roles", "rounds", "detectors", "validators")
        for path in (ROOT / package).rglob("*.py")
        if direct.search(path.read_text("utf-8"))
    }
    assert found <= {"ledger/plain_json.py", "detectors/parameters.py"}
