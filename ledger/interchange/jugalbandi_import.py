"""A published Jugalbandi result as three runs: single pass, council, jugalbandi (JB-8, JB-21).

    {"task": "…", "single_pass": {"raw_output": "…"}, "council": {"raw_outputs": ["…", "…", "…"]},
     "jugalbandi": {"raw_outputs": {"proposer": "…", "challenger": "…", "resolver": "…"}}}

Every assumption, challenge and disposition becomes an event, read by structure as `jugalbandi_counts` counts them; the
whole text of each reply stands beside them as a statement. Nothing is guessed: a disposition without a challenge at its
place, or a challenge without one, is a note.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

import orjson

from ledger.events import Assumption, Challenge, Disposition, Event, RoundOpened, RunOpened, Statement
from ledger.events.claims import StatementType
from ledger.events.decisions import Budgets, CastMember, Labelled, Origin, PlanRow, StopRule
from ledger.events.values import GENESIS, Section
from ledger.interchange.jugalbandi_counts import (
    DISPOSITION_HEAD,
    DISPOSITIONS,
    TAG_HEAD,
    TAGS,
    assumption_lines,
    jugalbandi_counts,
    without_code,
)
from ledger.interchange.report import BadLine
from ledger.interchange.skill_import import Imported
from ledger.interchange.skill_opening import Terms

TEXT_MAX: Final = 8_000
SECTION_MAX: Final = 60_000
"""Characters of a section; a longer reply becomes several."""
NAMES: Final = ("single-pass", "council", "jugalbandi")
_MARKUP: Final = re.compile(r"^[\s#*]+|[\s*]+$")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Headed(NamedTuple):
    """A word at the head of a passage (a tag, a disposition), the head line after it, and what follows."""

    word: str
    head: str
    body: str


def read_result(content: bytes, name: str, terms: Terms) -> dict[str, Imported]:
    """Name of a run → what it comes to. A file that is no result is one bad line."""
    try:
        result: Any = orjson.loads(content)
        jugalbandi_counts(result)
        task = str(result["task"] if isinstance(result["task"], str) else result["task"]["prompt"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return {"jugalbandi": Imported((), {}, (BadLine(name, 0, f"not a result file: {error}"),))}
    if len(task) > SECTION_MAX:
        too_long = f"a task of {len(task)} characters, more than the {SECTION_MAX} that a question may have"
        return {"jugalbandi": Imported((), {}, (BadLine(name, 0, too_long),))}
    origin = f"sha256:{hashlib.sha256(content).hexdigest()}"
    raw = cast("Mapping[str, str]", result["jugalbandi"]["raw_outputs"])
    outputs = {
        "single-pass": [("solo", str(result["single_pass"]["raw_output"]))],
        "council": [("solo", str(text)) for text in result["council"]["raw_outputs"]],
        "jugalbandi": [(role, str(raw[role])) for role in ("proposer", "challenger", "resolver")],
    }
    return {name: _run(name, task, outputs[name], origin, terms) for name in NAMES}


def _run(name: str, task: str, outputs: list[tuple[str, str]], origin: str, terms: Terms) -> Imported:
    notes: list[str] = []
    events: list[Event] = [_opening(name, task, outputs, origin, terms)]
    events.append(RoundOpened(round=1, phase="A", by="import", focus=task, plan_row=0))
    numbers = {"Q": 0, "X": 0}
    pending: list[str] = []
    for repeat, (role, text) in enumerate(outputs, 1):
        text = _CONTROL.sub("", text)
        match role:
            case "challenger":
                events.append(_statement("challenge", role, 1, "review", text))
                found = list(_challenges(text, "S-1-plan-proposer", role, numbers))
                events += found
                pending = [str(event.id) for event in found]
            case "resolver":
                events.append(_statement("resolve", role, 1, "plan", text))
                events += _dispositions(text, pending, notes)
            case _:
                events.append(_statement("plan", role, repeat if name == "council" else 1, "plan", text))
                events += _assumptions(text, role, numbers)
    return Imported(tuple(events), {}, (), notes=tuple(notes))


def _opening(name: str, task: str, outputs: list[tuple[str, str]], origin: str, terms: Terms) -> RunOpened:
    roles = tuple(dict.fromkeys(role for role, _ in outputs))
    phases = ("plan", "challenge", "resolve") if name == "jugalbandi" else ("plan",)
    return RunOpened(
        round=0,
        phase="open",
        by="import",
        protocol=name,
        protocol_version=1,
        question=task,
        goals=(Labelled(id="G-1", text=task[:TEXT_MAX]),),
        cast=tuple(CastMember(role=role, title="", charge="", seat="") for role in roles),
        plan=(PlanRow(round=1, phases=phases),),
        stop=StopRule(profile=terms.profile, params=terms.params, check_every=3, not_before=0),
        budgets=Budgets(),
        prompt_set=GENESIS,
        brief_version=2,
        seed=0,
        rules={},
        origin=Origin(type="import", of=origin, tool="jugalbandi"),
        moot=terms.moot,
    )


def _by(phase: str) -> dict[str, Any]:
    return {"round": 1, "phase": phase, "by": "import"}


def _statement(phase: str, role: str, repeat: int, kind: StatementType, text: str) -> Statement:
    suffix = f"~{repeat}" if repeat > 1 else ""
    return Statement(
        **_by(phase),
        id=f"S-1-{phase}-{role}{suffix}",
        type=kind,
        sections=tuple(
            Section(name="text" if n == 1 else f"text-{n}", text=part)
            for n, part in enumerate(parts(text), 1)
        ),
        words=len(text.split()),
    )


def parts(text: str) -> Iterator[str]:
    """The whole text in parts that a section holds, cut behind a line where one ends; joined they are the text."""
    while len(text) > SECTION_MAX:
        cut = text.rfind("\n", SECTION_MAX // 2, SECTION_MAX) + 1 or SECTION_MAX
        yield text[:cut]
        text = text[cut:]
    yield text


def _assumptions(text: str, role: str, numbers: dict[str, int]) -> Iterator[Event]:
    del role
    for line in assumption_lines(text):
        numbers["Q"] += 1
        yield Assumption(**_by("plan"), id=f"Q-1-{numbers['Q']}", text=line[:TEXT_MAX], section="text")


def _challenges(text: str, target: str, role: str, numbers: dict[str, int]) -> Iterator[Challenge]:
    del role
    for found in headed(text, TAG_HEAD, TAGS):
        numbers["X"] += 1
        yield Challenge(
            **_by("challenge"),
            id=f"X-1-{numbers['X']}",
            target=target,
            tag=cast("Any", found.word),
            type="attack",
            claim=(found.head or found.word)[:TEXT_MAX],
            text=(found.body or found.head or found.word)[:TEXT_MAX],
            rank=numbers["X"],
        )


def _dispositions(text: str, challenges: list[str], notes: list[str]) -> Iterator[Event]:
    found = list(headed(text, DISPOSITION_HEAD, DISPOSITIONS))
    if len(found) != len(challenges):
        notes.append(
            f"{len(challenges)} challenges and {len(found)} dispositions: those without a partner are left out"
        )
    for identity, one in zip(challenges, found, strict=False):
        reason = (one.head or one.body or one.word)[:TEXT_MAX]
        yield Disposition(
            **_by("resolve"),
            of=identity,
            disposition=cast("Any", one.word),
            reason=reason,
            revision=(one.body or reason)[:TEXT_MAX] if one.word == "accepted" else None,
            question=(one.body or reason)[:TEXT_MAX] if one.word == "escalated" else None,
        )


def headed(text: str, head: re.Pattern[str], words: tuple[str, ...]) -> Iterator[Headed]:
    """The passages that begin with a word at their head, in order; heads inside code do not count."""
    lines = text.splitlines()
    outside = without_code(lines)
    starts = [n for n, line in enumerate(lines) if outside[n] and head.match(line)]
    for place, start in enumerate(starts):
        found = head.match(lines[start])
        assert found is not None, "a start is where the head matched"
        end = starts[place + 1] if place + 1 < len(starts) else len(lines)
        yield Headed(
            next(word for word in words if word.lower() == found[1].lower()),
            _MARKUP.sub("", lines[start][found.end() :]).lstrip("—–-: ").strip(),
            "\n".join(lines[start + 1 : end]).strip(),
        )
