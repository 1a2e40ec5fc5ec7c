"""One reader for every text that comes in: each content is taken the same way at each door, or refused by name."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from moot.app.inputs import LISTING
from tests.cli.conftest import Moot, Said
from tests.cli.test_inputs import given

ASK = ("run", "-q", "Ready?", "--protocol", "single-pass", "--seats", "host", "--out", "run")

TAKEN = {
    "CR LF": (b"one\r\ntwo\r\n", "one\ntwo\n"),
    "CR alone": (b"one\rtwo\r", "one\ntwo\n"),
    "mixed": (b"one\r\ntwo\nthree\rfour\xc2\x85five", "one\ntwo\nthree\nfour\nfive"),
    "U+2028": ("one\u2028two\u2029".encode(), "one\u2028two\u2029"),
    "form feed": (b"one\ftwo\n", "onetwo\n"),
    "ANSI": (b"\x1b[31mred\x1b[0m \x1b]0;title\x07\n", "red \n"),
    "other controls": (b"a\x01b\x7f\n", "a\u2401b\u2421\n"),
    "NFD": ("cafe\u0301\n".encode(), "caf\u00e9\n"),
    "UTF-8 with a mark": (b"\xef\xbb\xbfone\n", "one\n"),
    "UTF-16": ("one\n字\n".encode("utf-16"), "one\n字\n"),
    "UTF-16, big end": (b"\xfe\xff" + "one\n".encode("utf-16-be"), "one\n"),
    "UTF-32": ("one\n".encode("utf-32"), "one\n"),
    "bidirectional": ("a\u202eb\u2066c\u200bd\n".encode(), "a\u202eb\u2066c\u200bd\n"),
    "no line end": (b"one", "one"),
}
REFUSED = {
    "UTF-16 without a mark": ("one\ntwo\n".encode("utf-16-le"), "UTF-16 or UTF-32 without a byte order mark"),
    "UTF-32 without a mark": ("one\n".encode("utf-32-be"), "UTF-16 or UTF-32 without a byte order mark"),
    "UTF-16, cut": ("one\n".encode("utf-16") + b"x", "not UTF-16 (byte 10)"),
    "UTF-16, half a pair": (b"\xff\xfe\x00\xd8a\x00", "not UTF-16 (byte 2)"),
    "Latin-1": (b"caf\xe9\n", "not UTF-8 (byte 3)"),
    "a lone surrogate": (b"a\xed\xa0\x80b\n", "not UTF-8 (byte 1)"),
    "a NUL byte": (b"one\0two three four five\n", "binary"),
    "NUL bytes at the end": (b"one\n" + b"x" * 9_000 + b"\0\0\0", "binary"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
    "empty": (b"", "empty"),
    "white space": (b" \n\r\n", "empty"),
    "a mark alone": (b"\xef\xbb\xbf", "empty"),
}


def pipe(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words],
        cwd="in", env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True, check=True,
    )  # fmt: skip


DELIBERATION = '[deliberation]\nquestion = "Ready?"\nprotocol = "single-pass"\n'
WHOLE = ("file", "deliberation file", "standard input")
"""Doors at which one bad text refuses the run; at the others it is left out."""
DOORS = (*WHOLE, "directory", "change")


def through(
    door: str, contents: Mapping[str, bytes], moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> tuple[Said, str]:
    """Open a run with the contents of files, by name, and return what was said and what is put before the names."""
    Path("in").mkdir()
    for name, content in contents.items():
        Path("in", name).write_bytes(content)
    if door == "standard input":
        (content,) = contents.values()
        pipe(monkeypatch, content)
        return moot(*ASK, "--context", "-"), ""
    if door == "deliberation file":
        rows = (f'[[context]]\nname = "{name}"\npath = "in/{name}"\n' for name in contents)
        Path("q.toml").write_text(DELIBERATION + "".join(rows))
        return moot("run", "q.toml", "--seats", "host", "--out", "run"), ""
    if door == "file":
        return moot(*ASK, *(word for name in contents for word in ("--context", f"in/{name}"))), ""
    Path("in/other.txt").write_text("other\n")
    if door == "directory":
        return moot(*ASK, "--context", "in"), "in/"
    git("init", "-q", "-b", "main")
    git("commit", "-qm", "base", "--allow-empty")
    git("add", "-A")
    git("commit", "-qm", "change")
    monkeypatch.chdir("in")
    return moot(*ASK, "--context", "git:HEAD~1..HEAD"), ""


@pytest.mark.parametrize("door", [door for door in DOORS if door != "standard input"])
def test_a_text_is_taken_in_the_same_form_at_every_door(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    said, before = through(
        door, {f"{kind}.txt": content for kind, (content, _) in TAKEN.items()}, moot, monkeypatch
    )
    assert said.code == 4, said.err
    documents = given()
    for kind, (_, text) in TAKEN.items():
        assert documents[f"{before}{kind}.txt"] == text


@pytest.mark.parametrize("kind", TAKEN)
def test_a_text_is_taken_from_standard_input(moot: Moot, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    content, text = TAKEN[kind]
    said, _ = through("standard input", {"x.txt": content}, moot, monkeypatch)
    assert said.code == 4, said.err
    assert given()["standard-input.txt"] == text


@pytest.mark.parametrize("door", WHOLE)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_text_is_refused_by_name(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, door: str, kind: str
) -> None:
    content, why = REFUSED[kind]
    said, _ = through(door, {"x.txt": content}, moot, monkeypatch)
    assert said.code == 2
    assert why in said.err
    assert ("standard input" if door == "standard input" else "x.txt") in said.err
    assert "save it as UTF-8" in said.err or why == "empty"


@pytest.mark.parametrize("door", ["directory", "change"])
def test_what_is_no_text_is_left_out_by_name(moot: Moot, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    said, before = through(
        door, {f"{kind}.txt": content for kind, (content, _) in REFUSED.items()}, moot, monkeypatch
    )
    assert said.code == 4, said.err
    for kind, (_, why) in REFUSED.items():
        assert f"{before}{kind}.txt" not in given()
        assert f"{why}  {before}{kind}.txt" in given()[LISTING]


@pytest.mark.parametrize("door", DOORS)
def test_a_huge_text_is_refused_or_left_out_by_name(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    said, before = through(door, {"x.txt": (b"x" * 79 + b"\n") * 660_000}, moot, monkeypatch)
    if door in WHOLE:
        assert said.code == 2
        assert ("standard input" if door == "standard input" else "x.txt") in said.err
        assert "bytes" in said.err
    else:
        assert said.code == 4, said.err
        assert f"52,800,000 bytes  {before}x.txt" in given()[LISTING]


@pytest.mark.parametrize(
    ("spelled", "why"),
    [
        ("utf-8", ""), ("utf-8-sig", ""), ("utf-16", ""), ("utf-32", ""), ("\r\n", ""), ("\r", ""),
        ("latin-1", "not UTF-8"), ("utf-16-le", "without a byte order mark"),
    ],
)  # fmt: skip
def test_a_deliberation_file_is_read_like_any_text(moot: Moot, spelled: str, why: str) -> None:
    text = DELIBERATION.replace("Ready", "Café")
    in_lines = text.replace("\n", spelled).encode() if spelled.strip() == "" else text.encode(spelled)
    Path("q.toml").write_bytes(in_lines)
    said = moot("run", "q.toml", "--seats", "host", "--out", "run")
    assert said.code == (2 if why else 4), said.err
    assert why in said.err
    assert "q.toml" in said.err or not why


REPLY = {
    "plan": "Write one file.\nThen sync.", "assumptions": [{"text": "One writer.", "unrequested": True}],
    "criticisms": [
        {
            "claim": claim, "text": "It grows.", "disposition": "rejected", "reason": "Slowly.", "revision": None,
            "question": None,
        }
        for claim in ("One", "Two", "Three")
    ],
    "decision": "One file.", "revised": "One file, synced.", "confidence": 3,
    "falsifiers": ["It breaks."], "requirements": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (json.dumps(REPLY).encode("utf-8-sig"), ""),
        (json.dumps(REPLY).encode("utf-16"), ""),
        (json.dumps(REPLY).encode("utf-32"), ""),
        (json.dumps(REPLY, indent=1).replace("\n", "\r\n").encode(), ""),
        (json.dumps(REPLY).replace("\\n", "\\r").encode(), ""),
        (json.dumps(REPLY).replace("\\n", "\\u0085").encode(), ""),
        (json.dumps(REPLY).replace("\\n", "\\f").encode(), "plan: control character U+000C"),
        (json.dumps(REPLY).replace("\\n", "\\u001b[31m").encode(), "plan: control character U+001B"),
        (json.dumps(REPLY).replace("\\n", "\\u0000").encode(), "plan: control character U+0000"),
        (json.dumps(REPLY).replace("\\n", "\\ud800").encode(), "plan: a lone surrogate"),
        (json.dumps(REPLY).replace("\\n", "\f").encode(), "Invalid control character at line 1"),
        (json.dumps(REPLY).encode("utf-16-le"), "UTF-16 or UTF-32 without a byte order mark"),
        (json.dumps(REPLY).encode("utf-16") + b"x", "not UTF-8"),
        (json.dumps(REPLY).replace("One writer", "Café").encode() + b"\0", "binary"),
        (b"caf\xe9", "not UTF-8"),
        (b"", "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
    ],
)
def test_a_reply_file(moot: Moot, content: bytes, why: str) -> None:
    moot(*ASK)
    Path("reply.json").write_bytes(content)
    said = moot("submit", "run", "r1.plan.solo", "reply.json")
    assert said.code == (1 if why else 0), said.err
    assert why in said.err
    assert "at at" not in said.err


@pytest.mark.parametrize("content", [b"caf\xe9 = 1", "plan = 1".encode("utf-16-le")])
def test_a_form_that_is_no_text_is_refused(moot: Moot, content: bytes) -> None:
    moot(*ASK)
    Path("reply.toml").write_bytes(content)
    said = moot("submit", "run", "r1.plan.solo", "reply.toml")
    assert said.code == 2
    assert "save it as UTF-8" in said.err


def test_what_is_no_plain_file_is_refused_by_name(moot: Moot) -> None:
    os.mkfifo("pipe")
    Path("link.txt").symlink_to("missing.txt")
    for name in ("pipe", "link.txt", "missing.txt"):
        for words in (
            (*ASK, "--context", name),
            ("run", name),
            ("import", "jugalbandi", name, "--out", "run"),
        ):
            said = moot(*words)
            assert said.code not in (0, 4, 70), said.err
            assert name in said.err


def test_a_link_to_a_text_is_followed_where_a_person_names_it(moot: Moot) -> None:
    Path("real.txt").write_bytes(b"one\r\n")
    Path("link.txt").symlink_to("real.txt")
    assert moot(*ASK, "--context", "link.txt").code == 4
    assert given()["link.txt"] == "one\n"
