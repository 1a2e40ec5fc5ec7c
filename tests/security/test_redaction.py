"""After `redact`, whoever reads every file of the run, decoded and raw, finds no line of what was redacted.

Or the command refused, changed nothing, and said a place where a line stands. Searched by code of its own, which shares
nothing with the product: every JSON string of every file, strings within strings, the raw bytes, in four Unicode forms,
line by line. Lines of less than eight characters are not searched for, nor, in replies, words that stand alone
(such are ids and roles) and what stands in a prompt or a reply schema.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest

from ledger.audit.verify import verify
from ledger.store.store import RunStore
from roles.seats.port import Answer
from rounds.run.human_actions import note
from rounds.run.session import ReplyRefused, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.blob_lines import blobs_of
from tests.cli.conftest import Moot, content, moot
from tests.protocols.scripts import reply
from tests.rounds.openings import clock

__all__ = ["moot"]

PROTOCOLS = ("single-pass", "devils-advocate", "panel", "priority", "comparative", "council")
WORDS = (
    *("zebra", "caf\u00e9", "quay/side", "na\u00efve", 'the "blue" door', "4711-0815", "\ufb01rewall", "a&b"),
    *("\u00c5ngstr\u00f6m", "C:\\new\\table", "100%25", "\u4e2d\u6587\u5b57", "tr\u0323\u0307ee", "hunter2"),
    *(
        "Zo\u00eb",
        "x<y>z",
        "\U0001f511 key",
        "mango",
        "lantern",
        "orbit",
        "velvet",
        "cobalt",
        "harbour",
        "quartz",
    ),
)
FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
LINE_MIN = 8
SMALL, WHOLE = 15, 200


def line(rng: random.Random) -> str:
    """A line of a few odd words."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 6)))


def lines(rng: random.Random, most: int) -> str:
    """Some lines; a few of them too short to be searched for by themselves."""
    return "\n".join(
        rng.choice(("-", "ab 12", line(rng), line(rng), line(rng))) for _ in range(rng.randint(1, most))
    )


def spelled(value: Any, rng: random.Random) -> str:
    """JSON as somebody else might write it."""
    if isinstance(value, str):
        return '"' + "".join(_character(one, rng) for one in value) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spelled(key, rng)}:{spelled(one, rng)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n ".join(spelled(one, rng) for one in value) + "]"
    return json.dumps(value)


def _character(one: str, rng: random.Random) -> str:
    ways: list[Callable[[], str]] = [lambda: json.dumps(one, ensure_ascii=False)[1:-1]]
    ways.append(lambda: json.dumps(one)[1:-1])
    if one == "/":
        ways.append(lambda: "\\/")
    if ord(one) < 0x10000 and rng.random() < 0.2:
        return f"\\u{ord(one):04X}" if rng.random() < 0.5 else f"\\u{ord(one):04x}"
    return rng.choice(ways)()


def planted(value: Any, words: str, rng: random.Random) -> Any:
    """The value with the words at the end of some of its longer strings."""
    if isinstance(value, dict):
        return {key: planted(one, words, rng) for key, one in value.items()}
    if isinstance(value, list):
        return [planted(one, words, rng) for one in value]
    if isinstance(value, str) and " " in value and rng.random() < 0.3:
        return f"{value} {unicodedata.normalize(rng.choice(FORMS), words)}"
    return value


def played(path: Path, secret: str, document: str, rng: random.Random) -> RunSession:
    """A finished run with the words in its document, its replies and a note."""
    table = {
        "deliberation": {
            "question": "Which door is the right one?",
            "protocol": rng.choice(PROTOCOLS),
            "goals": ["No line is lost"],
            "options": ["the first", "the second", "the third"],
        },
        "context": [{"name": "facts.md", "text": document}],
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    files = {"deliberation.toml": opening.toml.encode()}
    session = start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=clock())
    quoted = rng.random() < 0.5
    while asked := session.pending():
        made = orjson.loads(reply(session.book(), asked[0].step, asked[0].brief.saw))
        words = rng.choice(("", secret, rng.choice(document.splitlines()) if quoted else ""))
        leaky = planted(made, words, rng) if words else made
        for value in (leaky, made):
            try:
                session.submit(asked[0].step.id, spelled(value, rng).encode(), Answer("host", "trusted"))
                break
            except ReplyRefused:
                continue
    if rng.random() < 0.3:
        note(session, f"Somebody wrote {secret}")
    return session


def readings(raw: bytes) -> Iterator[str]:
    """Everything that a file says: as it is, and each string in it that is JSON, to any depth."""
    text = raw.decode("utf-8", "replace")
    yield text
    for piece in (text, *text.splitlines()):
        try:
            yield from within(json.loads(piece))
        except ValueError:
            continue


def within(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in '{["':
            try:
                yield from within(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from (*within(key), *within(one))
    elif isinstance(value, list):
        for one in value:
            yield from within(one)


def places(run: Path, texts: list[str]) -> list[str]:
    """Where a line of the texts stands: files, and `@seq` for lines of the ledger."""
    wanted = {
        (form, " ".join(unicodedata.normalize(form, one).split()))
        for text in texts
        for one in text.splitlines()
        for form in FORMS
        if len(one.strip()) >= LINE_MIN
    }
    found: list[str] = []
    for name, raw in content(run).items():
        parts = [raw]
        if name.endswith(".jsonl"):
            parts = raw.splitlines()
        for part in parts:
            said = [
                (form, " ".join(unicodedata.normalize(form, one).split()))
                for one in readings(part)
                for form in FORMS
            ]
            if any(words in text for form, words in wanted for kind, text in said if kind == form):
                found.append(_place(name, part))
    return found


def _place(name: str, part: bytes) -> str:
    """A file, or a line of one, as a refusal names it."""
    if not name.endswith(".jsonl"):
        return name
    line = json.loads(part)
    return f"blobs/{line['sha256']}" if name == "blobs.jsonl" else f"@{line['seq']}"


def case(seed: int, moot: Moot, root: Path) -> str:
    """One random case; how it ended."""
    rng = random.Random(seed)
    secret, document = lines(rng, 4), lines(rng, 8)
    if rng.random() < 0.5:
        document = f"{document}\n{secret}\nquartz behind it"
    run = root / f"run-{seed}"
    session = played(run, secret, document, rng)
    if rng.random() < 0.15:
        (run / "report.html").write_text(f"<pre>{secret}</pre>")
    (root / "words").write_text(f"{unicodedata.normalize(rng.choice(FORMS), secret)}\n", encoding="utf-8")
    answered = [event.step for event in session.book().events if event.call is not None and event.step]
    step = rng.choice(answered)
    texts = {"document": [document], "secret": [secret], "step": said_by(run, step)}
    what = rng.choice(("document", "document", "secret", "secret", "step"))
    out = what == "secret" or rng.random() < 0.5
    named = {"document": ("K-1",), "secret": ("--secret", str(root / "words")), "step": (step,)}[what]
    copy = root / f"copy-{seed}"
    before = content(run)
    done = moot("redact", run, *named, *(("--out", copy) if out else ()), "--reason", "r e a s o n")
    if done.code == 0:
        left = places(copy if out else run, texts[what])
        assert left == [], f"seed {seed}: {what} still stands in {left}"
        assert verify(copy if out else run).ok, f"seed {seed}"
        assert not out or content(run) == before
        return f"{what} {'copied' if out else 'removed'}"
    assert done.code == 2, f"seed {seed}: {done}"
    assert content(run) == before, f"seed {seed}: refused, and changed"
    assert not copy.exists()
    return f"{what} refused {'copy' if out else 'in place'}: {named_truly(done.err, run, texts[what], seed)}"


def said_by(run: Path, step: str) -> list[str]:
    """The strings of a step's replies."""
    run_blobs = blobs_of(run)
    replies = [
        event.call.reply for event in RunStore(run).events() if event.call is not None and event.step == step
    ]
    told = [one for sha in replies for one in within(orjson.loads(run_blobs[sha]))]
    own = own_words(run)
    return [one for one in told if " " in one.strip() and one not in own]


def own_words(run: Path) -> str:
    """The prompts and reply schemas, which name criteria and the like: their words are moot's, not the step's."""
    run_blobs = blobs_of(run)
    calls = [event.call for event in RunStore(run).events() if event.call is not None]
    schemas = {orjson.loads(run_blobs[call.brief])["schema"] for call in calls}
    own = {*schemas, *(call.prompt_set for call in calls)}
    return "\n".join(one for sha in sorted(own) for one in within(orjson.loads(run_blobs[sha])))


def named_truly(said: str, run: Path, texts: list[str], seed: int) -> str:
    """A refusal names places where lines stand, or says that nothing holds the words."""
    if "no line and no blob holds the words (" in said or "at least 4 characters" in said:
        assert places(run, texts) == [], f"seed {seed}: {said}"
        return "not there"
    if all(len(one.strip()) < LINE_MIN for text in texts for one in text.splitlines()):
        return "too short for this search"
    named = re.findall(r"@[0-9]+|report\.html|deliberation\.toml|blobs/[0-9a-f]{64}", said)
    assert named, f"seed {seed}: no place in {said}"
    assert set(named) & set(places(run, texts)), f"seed {seed}: {said}"
    return "places named"


def _cases(moot: Moot, root: Path, seeds: range) -> Counter[str]:
    return Counter(case(seed, moot, root) for seed in seeds)


@pytest.mark.slow
def test_nothing_is_left_or_the_place_is_said(moot: Moot, tmp_path: Path) -> None:
    """F-1, F-2, F-17: a slice of the cases."""
    assert len(_cases(moot, tmp_path, range(SMALL))) > 3


@pytest.mark.campaign
def test_nothing_is_left_or_the_place_is_said_in_200_cases(moot: Moot, tmp_path: Path) -> None:
    """F-1, F-2, F-17: by document, step and secret; of several lines, in other spellings and Unicode forms."""
    ended = _cases(moot, tmp_path, range(SMALL, SMALL + WHOLE))
    assert ended.total() == WHOLE
    assert {one.split()[1] for one in ended} >= {"removed", "copied", "refused"}, ended
