"""A long scripted run and its fork, for tests that need what only many rounds bring.

`long_run` is a `structured` deliberation of thirteen rounds by the plan `standard-13`: every role is absent once, drift
is checked twice, claims are refuted and superseded, a person answers a question, one alarm is acknowledged and another
one stays open. `long_fork` shares its first six rounds, goes through round 7 without the critic, and is still open in
round 9. Scripted seats wrote every reply, and the question says so. The bytes depend on the source alone: instants and
seeds are fixed.

Both are made once per version of the source and kept under `.pytest_cache`. A test that writes copies them first.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import random
import shutil
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

from detectors.stopping.questions import deciding_questions
from ledger.state.book import Book
from ledger.store.store import RunStore
from roles.asof import status_at_opening
from roles.protocol import Step, awaited_answers
from roles.seats.port import Answer
from rounds.run import human_actions
from rounds.run.forking import Wish, fork
from rounds.run.session import Clock, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.scripted import Script

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ("ledger", "roles", "rounds", "validators", "detectors", "schemas", "tests/rounds")
NAME: Final = "scripted-standard-13"
FORK: Final = f"{NAME}.r7-without-critic"
KEPT_SECONDS: Final = 3600
"""How long the runs of an earlier version of the source are kept."""
OPTIONS: Final = ("three streams with one hash chain", "one journal with a hash chain", "one SQLite database")
LEADER, RIVAL, UNTESTED = "O-2", "O-3", "O-1"
TABLE: Final[dict[str, Any]] = {
    "deliberation": {
        "question": "SCRIPTED, for tests: which storage keeps every line of an audit ledger?",
        "goals": ["No acknowledged line is ever lost.", "Tampering with any stored byte is evident."],
        "options": list(OPTIONS),
        "protocol": "structured",
        "plan": "standard-13",
    },
    "context": [{"name": "facts.md", "text": "one writer\nmany readers\nno lost line\n"}],
}
ANSWER: Final = Answer(seat="host", isolation="trusted", provider="scripted", simulated="fake")
PERSON: Final = "Ada Example"
ACTS_BEFORE: Final = "r5.B.action"
"""The step that is open when the person acts."""
FORK_ENDS: Final = "r9.E.check1.verifier"
"""The step that is open when the fork is left: its claims of round 9 are pending."""

PARTS: Final = (
    "the writer", "the reader", "the head file", "the hash chain",
    "the index", "the lock", "the backup", "the replay",
)  # fmt: skip
CAUSES: Final = (
    "a power cut", "a full disk", "a second writer", "a torn write",
    "a changed byte", "a slow disk", "a clock step", "a restore",
)  # fmt: skip
OUTCOMES: Final = (
    "loses no line", "ends with one error", "reports the line number", "needs no repair",
    "takes under one second", "keeps the last commit", "leaves one file to check", "names the file",
)  # fmt: skip


FAILURES: Final = ("loses a line", "shows half a commit", "cannot be repaired")
QUESTIONS: Final = (
    "Which team owns the archive tapes?",
    "Are segments hashed before compression?",
    "May the auditors read the files without our tools?",
    "Does a container change what fsync means?",
    "Who keeps the signing key during holidays?",
    "Which country may hold a second copy?",
    "Is Windows among the platforms of next year?",
    "How many hours may the nightly restore take on the old disks?",
    "What does an hour of downtime cost?",
    "Are personal names allowed in a note?",
    "How many hours may the restore of a night take on the old disks?",
    "Who pays for a third server?",
    "Does the index need its own lock?",
)
"""What the lead of each round asks; round 11 asks again what round 8 did."""
FOR_THE_ROLES: Final = (13,)
DECIDING: Final = {3: LEADER, 11: RIVAL}
CONFIRMED: Final = "tested_confirmed"
CLAIMS_AT_FIRST, FLOOD_UNTIL = 4, 3
"""Claims of an artifact in the first rounds, so many that FM-5 is raised."""


class LongScript(Script):
    """A script whose claims name options, parts and outcomes, and whose lead asks a person now and then."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        """Return the scripted reply of a step, with sentences in place of most strings of words."""
        reply = json.loads(super().reply(book, step, saw))
        rng = random.Random(f"{self.seed}/{step.id}/long")
        round_ = step.name.round
        if step.task.startswith("D."):
            drafts = reply["proposed_claims"]
            wanted = CLAIMS_AT_FIRST if round_ <= FLOOD_UNTIL else len(drafts)
            more = [drafts[0] | {"supersedes": None} for _ in range(wanted - len(drafts))]
            reply["proposed_claims"] = [*drafts, *more]
        for place, draft in enumerate((*reply.get("proposed_claims", ()), *reply.get("claims", ()))):
            if "testable_as" in draft:
                draft |= _claim(rng, round_, step.role, place)
        if step.task.startswith("E.check"):
            reply["claims"] = _tests(book, step, rng, saw, reply)
        if step.task == "E.belief":
            reply["belief"] = _forecast(round_, step.role)
        if step.task == "G":
            reply["concerns"] = [_question(round_)]
        for decision in reply.get("decisions", ()):
            decision["text"] = f"The team keeps {LEADER}: {_event(rng)} (round {round_})."
            decision["about"] = [LEADER]
            decision["cites"] += _precedents(book, saw)[-1:]
            decision["falsifiers"] = [f"A test shows that {_event(rng, FAILURES)}."]
        if step.task == "S.close":
            reply["decisions"] = _finals(book, saw, reply["decisions"][0])
        return json.dumps(reply).encode()


def _event(rng: random.Random, outcomes: tuple[str, ...] = OUTCOMES) -> str:
    return f"after {rng.choice(CAUSES)} {rng.choice(PARTS)} {rng.choice(outcomes)}"


def _claim(rng: random.Random, round_: int, role: str, place: int) -> dict[str, Any]:
    """Return the words of a claim; none is about `UNTESTED`."""
    about, name = [LEADER], "the journal"
    if (round_ + place) % 3 == 0:
        about, name = [RIVAL, LEADER], "the journal and the database"
    return {
        "text": f"In {name}, {_event(rng)} ({role}, round {round_}, {place + 1}).",
        "testable_as": f"Cause it {rng.randint(3, 99)} times and count the lines that are left.",
        "about": about,
        "how": "document" if rng.random() < 0.9 else "execution",
        "anchor_ref": rng.choice(["G-1", "G-2"]),
    }


def _tests(
    book: Book, step: Step, rng: random.Random, saw: tuple[int, ...], reply: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return what a check says of claims: of each fourth claim of its round, and of up to two earlier ones.

    It passes over one claim in six, which then stays pending for some rounds.
    """
    number = int(step.task.removeprefix("E.check")) - 1
    claims = [
        str(event.id)
        for event in (book.events[seq] for seq in saw)
        if event.kind == "claim" and status_at_opening(book.state, str(event.id), step) != "superseded"
    ]
    new = [claim for claim in claims if book.state.claims[claim].round == step.name.round]
    old = [claim for claim in claims if claim not in new]
    picked = [*new[number::4], *rng.sample(old, min(2, len(old)))]
    bearings = {
        "ROBUST": ["supports"],
        "BROKEN": ["supports", "contradicts", "partly_contradicts"],
        "UNCLEAR": ["inconclusive"],
    }[reply["result"]]
    return [
        {"claim_id": claim, "bearing": rng.choice(bearings), "evidence": reply["evidence"][:1]}
        for claim in picked
        if rng.random() > 1 / 6
    ]


def _forecast(round_: int, role: str) -> list[dict[str, Any]]:
    """Return a role's points: the critic prefers the rival in the first rounds, and is least sure to the end."""
    points = {"action": 70, "guardian": 60, "observer": 65, "critic": 30 if round_ < 4 else 45}[role]
    return [{"option": LEADER, "points": points}, {"option": RIVAL, "points": 100 - points}]


def _question(round_: int) -> dict[str, Any]:
    """Return what a lead asks; `DECIDING` has the rounds whose question decides, and the option that it is about."""
    return {
        "type": "question",
        "text": QUESTIONS[round_ - 1],
        "severity": 2,
        "between": [],
        "evidence": [],
        "for_human": round_ not in FOR_THE_ROLES,
        "deciding": DECIDING.get(round_),
    }


def _precedents(book: Book, saw: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return citations of the earlier decisions that a brief shows."""
    known = [str(book.events[seq].id) for seq in saw]
    return [{"id": one, "relation": "builds-on"} for one in known if one in book.state.decisions]


def _finals(book: Book, saw: tuple[int, ...], draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Return two final decisions: one rests on confirmed claims, one on earlier decisions."""
    state, known = book.state, [str(book.events[seq].id) for seq in saw]
    confirmed = [one for one in known if one in state.claims and state.claims[one].status == CONFIRMED]
    main = draft | {
        "text": f"Use {LEADER} ({OPTIONS[1]}).",
        "cites": [{"id": claim, "relation": "based-on"} for claim in confirmed[-5:]],
        "requirements": [{"text": "The backup is restored once a month.", "by": "person"}],
    }
    later = draft | {
        "text": f"Test {RIVAL} again within a year.",
        "about": [RIVAL],
        "cites": _precedents(book, saw)[-10:],
        "dissent": [],
    }
    return [main, later]


def clock(year: int = 2026) -> Clock:
    """Return instants one second apart."""
    seconds = itertools.count(1)

    def now() -> str:
        hours, rest = divmod(next(seconds), 3600)
        return f"{year}-01-01T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000000Z"

    return now


def play(session: RunSession, script: Script, last: str | None = None) -> None:
    """Answer each open step in turn until none is open, or `last` is."""
    while asked := session.pending():
        step, brief = asked[0].step, asked[0].brief
        if step.id == last:
            return
        content = script.reply(session.book(), step, brief.saw)
        session.submit(step.id, content, ANSWER)


def _act(session: RunSession) -> None:
    """Answer what decides, acknowledge the flood of claims and leave a note, as a person does between two rounds."""
    state = session.book().state
    (question,) = deciding_questions(state)
    human_actions.answer(
        session, question.id, "Yes: they get the files and a page that explains them.", PERSON
    )
    human_actions.acknowledge(session, "FM-5", "The first rounds list what is known.", PERSON)
    human_actions.note(session, "Scripted: the person read the first four rounds.", PERSON)


def make(folder: Path) -> None:
    """Write the run and its fork into `folder`."""
    opening = resolve(checked(TABLE), {}, moot="0.1.0")
    files = {"deliberation.toml": opening.toml.encode()}
    session = start(
        folder / NAME,
        opening.event,
        blobs=opening.blobs,
        files=files,
        verdicts=standard,
        clock=clock(),
    )
    play(session, LongScript(13), ACTS_BEFORE)
    _act(session)
    play(session, LongScript(13))
    (question,) = awaited_answers(session.protocol, session.book().state)
    human_actions.answer(session, question, "Two hours at most.", PERSON)
    play(session, LongScript(13))
    wish = Wish(7, without="critic")
    parent = RunStore(folder / NAME)
    forked = fork(parent, folder / FORK, wish, name=NAME, moot="0.1.0", clock=clock(2027))
    play(forked, LongScript(14), FORK_ENDS)


def _key() -> str:
    """Return a hash of everything that the bytes of the runs depend on."""
    digest = hashlib.sha256(sys.version.encode())
    files = [path for source in SOURCES for path in (ROOT / source).rglob("*") if path.suffix != ".pyc"]
    for path in sorted((*files, Path(__file__))):
        if path.is_file():
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _folder() -> Path:
    """Return the directory of the two runs; the first process that asks for it makes them."""
    place = ROOT / ".pytest_cache" / "long-run"
    place.mkdir(parents=True, exist_ok=True)
    folder = place / _key()
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = place / "unfinished"
            for earlier in (path for path in place.iterdir() if path.is_dir()):
                # Another process may still read the runs of the source as it was when that process began.
                if earlier == unfinished or time.time() - earlier.stat().st_mtime > KEPT_SECONDS:
                    shutil.rmtree(earlier)
            make(unfinished)
            unfinished.rename(folder)  # whoever finds it finds it whole
    return folder


def long_run() -> Path:
    """Return the directory of the finished run of thirteen rounds."""
    return _folder() / NAME


def long_fork() -> Path:
    """Return the directory of the fork, which is open in round 9."""
    return _folder() / FORK
