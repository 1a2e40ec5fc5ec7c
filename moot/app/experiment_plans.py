"""A person's plan of an experiment, from files and words of a command line to the event; nothing is run by it.

exit = 0                       stdout ~ ^lost: 0$            json:/lost <= 0            stdout near 3.14 +- 0.01
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from ledger.events import Event, ExperimentPlanned
from ledger.events.envelope import DECIMAL_PATTERN
from ledger.events.experiments import ExperimentControl, ExperimentLimits, InputBlob, NamedBlob, Predicate
from ledger.events.ids import event_id
from ledger.format.canonical import decode, encode
from ledger.language.words import first_words
from ledger.state.experiments import QUESTION_WORDS_MAX, plan_problems
from ledger.store.blobs import hash_of
from ledger.store.disk import read_plain
from moot.app.session import Session, kept_words
from moot.environment import now
from moot.errors import MootError, usage
from rounds.run import human_actions

FILE_BYTES_MAX: Final = 1 << 20
OUTPUT_BYTES: Final = 65_536
_PREDICATE: Final = re.compile(
    r"(?P<of>exit|stdout|stderr|json(?::(?P<pointer>/\S*))?)\s+(?P<test>=|~|>=|<=|near)\s+"
    r"(?P<value>.+?)(?:\s+\+-\s+(?P<tolerance>\S+))?"
)
_TESTS: Final[dict[str, Any]] = {
    "=": "equals",
    "~": "matches",
    ">=": "at_least",
    "<=": "at_most",
    "near": "near",
}


@dataclass(frozen=True, slots=True)
class PlanWish:
    """A person's options for an experiment, with defaults for the rest. Files are paths.

    `must_fail`, `must_hold`: `NAME=FILE` replaces a file; any other words are run instead of `argv`.
    """

    claims: Sequence[str]
    programs: Sequence[str]
    argv: Sequence[str] = ()
    inputs: Sequence[str] = ()
    question: str | None = None
    pass_if: Sequence[str] = ()
    fail_if: Sequence[str] = ()
    must_fail: Sequence[str] = ()
    must_hold: Sequence[str] = ()
    times: int = 3
    seed: int = 0
    seconds: int = 60
    memory_mib: int = 512


def plan_experiment(session: Session, wish: PlanWish, name: str | None = None) -> tuple[Event, ...]:
    """Append a plan to the ledger, with its author. Raises `MootError` with every problem of the plan."""
    blobs: dict[str, bytes] = {}
    plan = _planned(session, wish, blobs)
    _refuse_unwritable(plan)
    problems = list(plan_problems(plan))
    if problems:
        fix = "see docs/experiments.md; a control is --must-fail NAME=FILE or --must-fail 'WORDS'"
        more = "".join(f"  {problem}\n" for problem in problems) if len(problems) > 1 else ""
        raise MootError("plan_refused", problems[0], "experiment plan", fix, more=more)
    return human_actions.plan_experiment(session.inner, plan, blobs, name)


def _refuse_unwritable(plan: ExperimentPlanned) -> None:
    """Raise `MootError` for words and numbers that no ledger keeps, before anything is written."""
    try:
        # A round trip through the ledger's own codec finds everything that it would refuse later; id, seq and time
        # are stand-ins.
        decode(encode(msgspec.structs.replace(plan, seq=1, at=now())))
    except ValueError as error:  # `NotCanonical`, or text that is no Unicode
        fix = "shorten it, or leave the character out; numbers are whole or decimal, without an exponent"
        raise usage(f"no ledger keeps this plan: {error}", fix, "experiment plan") from None


def read_predicate(text: str) -> Predicate:
    """Parse a predicate as a person writes it. Raises `MootError`."""
    parts = _PREDICATE.fullmatch(text.strip())
    if parts is None:
        fix = (
            "write such as 'exit = 0', 'stdout ~ ^lost: 0$', 'json:/lost <= 0' or 'stdout near 3.14 +- 0.01'"
        )
        raise usage(f"no predicate {text!r}", fix, "--pass-if")
    of: Any = parts["of"].partition(":")[0]
    if parts["tolerance"] is not None and not re.match(DECIMAL_PATTERN, parts["tolerance"]):
        fix = "write a decimal number with at most nine places, such as 0.01"
        raise usage(f"no tolerance {parts['tolerance']!r}", fix, "--pass-if")
    pointer = (parts["pointer"] or "") if of == "json" else None
    return Predicate(
        of=of, test=_TESTS[parts["test"]], value=parts["value"], pointer=pointer, tolerance=parts["tolerance"]
    )


def _planned(session: Session, wish: PlanWish, blobs: dict[str, bytes]) -> ExperimentPlanned:
    if not wish.claims or not wish.programs:
        raise usage("say which claim and which program", "--claim C-1-1 --program test.py", "experiment plan")
    files = tuple(_kept(path, blobs) for path in wish.programs)
    argv = tuple(wish.argv) or ("python3", files[0].name)
    inputs = (_kept(path, blobs) for path in wish.inputs)
    controls: tuple[tuple[Literal["fail", "hold"], Sequence[str]], ...] = (
        ("fail", wish.must_fail),
        ("hold", wish.must_hold),
    )
    return ExperimentPlanned(
        # Round, phase and id are set when the plan is appended: only then is the run's state known under its lock.
        id=event_id("experiment_planned", 0, 1),
        round=0,
        phase="open",
        by="human",
        claims=tuple(wish.claims),
        question=kept_words(wish.question or _question(session, wish.claims[0]), "--question"),
        files=files,
        argv=argv,
        inputs=tuple(InputBlob(name=blob.name, sha256=blob.sha256, origin="a person") for blob in inputs),
        pass_if=tuple(read_predicate(text) for text in wish.pass_if or ("exit = 0",)),
        fail_if=tuple(read_predicate(text) for text in wish.fail_if or ("exit = 1",)),
        controls=tuple(_control(must, words, files, argv, blobs) for must, words in controls if words),
        k=wish.times,
        limits=ExperimentLimits(
            wall_seconds=wish.seconds,
            cpu_seconds=wish.seconds,
            memory_bytes=wish.memory_mib * 1024**2,
            output_bytes=OUTPUT_BYTES,
        ),
        seed=wish.seed,
    )


def _control(
    must: Literal["fail", "hold"],
    texts: Sequence[str],
    files: tuple[NamedBlob, ...],
    argv: tuple[str, ...],
    blobs: dict[str, bytes],
) -> ExperimentControl:
    """Build a control: the same program with a file replaced or added, or with other words to run."""
    instead = {name: path for name, path in map(_replacement, texts) if name}
    words = next((_words(text, must) for text in texts if not _replacement(text)[0]), argv)
    kept = (NamedBlob(name=name, sha256=_kept(path, blobs).sha256) for name, path in instead.items())
    # A later file with the same name wins, so a control replaces the program's file and keeps all others.
    changed = {blob.name: blob for blob in (*files, *kept)}
    return ExperimentControl(must=must, files=tuple(changed.values()), argv=words)


def _words(text: str, must: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        fix = "close every quote, or name a file: NAME=FILE"
        raise usage(f"{text!r} cannot be read: {error}", fix, f"--must-{must}") from None


def _replacement(text: str) -> tuple[str, str]:
    """Split `NAME=FILE` into name and path; return no name where these are words to run."""
    name, equals, path = text.partition("=")
    return (name, path) if equals and re.fullmatch(r"[A-Za-z0-9._-]+", name) else ("", "")


def _question(session: Session, claim: str) -> str:
    """Return the claim's own proposed test, cut to the length of a question."""
    test = str(getattr(session.inner.book().by_id.get(claim), "testable_as", "Does it hold?"))
    return first_words(test, QUESTION_WORDS_MAX)


def _kept(path: str, blobs: dict[str, bytes]) -> NamedBlob:
    content = read_plain(Path(path), FILE_BYTES_MAX)
    # The plan names contents, not paths: a file that changes later cannot change what was planned.
    sha256 = hash_of(content)
    blobs[sha256] = content
    return NamedBlob(name=Path(path).name, sha256=sha256)
