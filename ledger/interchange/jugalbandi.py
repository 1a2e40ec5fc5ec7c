"""Published Jugalbandi results: imported as ledgers, and counted again by the published text rules and by structure.

The published rules count list lines and words (JB-9 … JB-14) and reproduce the stored numbers. The structural counts
read headings and the bold word at the head of a paragraph, outside code fences (JB-13, JB-15, JB-17, JB-21), so prose
does not mislead them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

import orjson

from ledger.events import Assumption, Challenge, Disposition, Event, RoundOpened, RunOpened, Statement
from ledger.events.claims import StatementType
from ledger.events.envelope import GENESIS, Section
from ledger.events.ids import event_id, label_id
from ledger.events.run import (
    Budgets,
    CastMember,
    Labelled,
    Origin,
    PlanRow,
    StopRule,
)
from ledger.interchange.report import BadLine
from ledger.interchange.skill_import import Imported, Terms
from ledger.language.words import word_count
from ledger.plain_text import plain_lines, without_mark
from ledger.result import Result
from ledger.store.blobs import hash_of

TAGS: Final = ("STRUCTURAL", "ASSUMPTION", "MISSING")
DISPOSITIONS: Final = ("accepted", "rejected", "escalated")
OVERLAP: Final = 0.3
"""How much of what the smaller passes found is taken for new (JB-14)."""

_LIST_LINE: Final = re.compile(r"^\s*(?:[-*]|\d+\.)\s", re.MULTILINE)
_SECOND_LEVEL: Final = re.compile(r"^##(?!#).*$", re.MULTILINE)
_ANY_BELOW_FIRST: Final = re.compile(r"^##.*$", re.MULTILINE)
_THIRD_LEVEL: Final = re.compile(r"^### ", re.MULTILINE)
_ASSUMPTIONS: Final = re.compile(r"^##(?!#).*assumption.*$", re.M | re.I)
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
TAG_HEAD: Final = re.compile(
    rf"^\s*(?:#{{2,4}}\s+|\*\*)(?:C?\d+[.:)]?\s*(?:[—–-]\s*)?)?\[({'|'.join(TAGS)})\]", re.I
)
DISPOSITION_HEAD: Final = re.compile(
    r"^\s*(?:[-*]\s+)?(?:\*\*\s*(?:Disposition:?\s*)?)(accepted|rejected|escalated)\b[^*]*\*\*", re.I
)


class StructuralCounts(Result, frozen=True):
    """What the transcripts hold by structure: listed assumptions, tagged challenges, and how each was disposed of."""

    assumptions: int
    challenges: dict[str, int]
    dispositions: dict[str, int]


class JugalbandiCounts(Result, frozen=True):
    """`published` has the field names of the stored result (JB-8), `structural` what is really there."""

    published: dict[str, Any]
    structural: StructuralCounts


class NotAResult(ValueError):
    """Object that is not a published Jugalbandi result; the message names what is missing."""


def jugalbandi_counts(result: Mapping[str, Any]) -> JugalbandiCounts:
    """Count the raw outputs of one result file again. Raises `NotAResult`."""
    try:
        single = str(result["single_pass"]["raw_output"])
        council = [str(text) for text in result["council"]["raw_outputs"]]
        raw = result["jugalbandi"]["raw_outputs"]
        proposer, challenger, resolver = (str(raw[role]) for role in ("proposer", "challenger", "resolver"))
    except (KeyError, TypeError) as missing:
        raise NotAResult(f"a result has {missing}") from None
    return JugalbandiCounts(
        published=_published(single, council, proposer, challenger, resolver),
        structural=StructuralCounts(
            assumptions=len(assumption_lines(proposer)),
            challenges=_headed(challenger, TAG_HEAD, TAGS),
            dispositions=_headed(resolver, DISPOSITION_HEAD, DISPOSITIONS),
        ),
    )


def _published(
    single: str, council: list[str], proposer: str, challenger: str, resolver: str
) -> dict[str, Any]:
    alone = published_assumptions(single, baseline=True)
    passes = [published_assumptions(text) for text in council]
    # The published harness counts a tag wherever it occurs, even inside prose. Its numbers are reproduced,
    # errors included.
    tags = {tag: len(re.findall(re.escape(f"[{tag}]"), challenger, re.I)) for tag in TAGS}
    words = {word: len(re.findall(rf"\*{{0,2}}{word}\*{{0,2}}", resolver, re.I)) for word in DISPOSITIONS}
    proposed = published_assumptions(proposer)
    most = max(passes, default=0)
    return {
        "single_pass": {"assumptions_surfaced": alone, "self_critiques": published_critiques(single)},
        "council": {
            "total_assumptions": sum(passes),
            "total_critiques": sum(published_critiques(text) for text in council),
            # The published harness rounds halves up. Python's `round` goes to even, which would differ from
            # stored estimates at every half.
            "unique_assumptions_estimate": int(most + OVERLAP * (sum(passes) - most) + 0.5),
        },
        "jugalbandi": {
            "proposer_assumptions": proposed,
            "challenger_challenges": sum(tags.values()),
            "challenge_tags": tags,
            "resolver_dispositions": words,
        },
        "delta": {
            "new_assumptions_found": max(0, proposed - alone),
            "non_trivial_challenges": sum(tags.values()),
            "plan_changed": words["accepted"] > 0,
        },
    }


def published_assumptions(text: str, *, baseline: bool = False) -> int:
    """Count list lines of the first section about assumptions (JB-9, JB-10).

    The baseline's section ends at any `##…`.
    """
    section = _section(text, _ASSUMPTIONS, baseline=baseline)
    return 0 if section is None else len(_LIST_LINE.findall(section))


def assumption_lines(text: str) -> list[str]:
    """Return the outermost entries of the assumptions section, outside code. Sub-points of an entry do not count."""
    section = _section("\n".join(_outside_code(text)), _ASSUMPTIONS)
    if section is None:
        return []
    entries = [line for line in section.splitlines() if _LIST_LINE.match(line)]
    # Models indent whole lists, so the smallest indentation in use marks the top level, not column 0.
    outermost = min((len(line) - len(line.lstrip()) for line in entries), default=0)
    kept = [line for line in entries if len(line) - len(line.lstrip()) == outermost]
    return [_LIST_LINE.sub("", line, count=1).strip() or line.strip() for line in kept]


def published_critiques(text: str) -> int:
    """Count third-level headings of the first section about critiques or flaws, else its list lines (JB-11)."""
    section = _section(text, re.compile(r"^##(?!#).*(?:crit|flaw).*$", re.M | re.I))
    if section is None:
        return 0
    return len(_THIRD_LEVEL.findall(section)) or len(_LIST_LINE.findall(section))


def _section(text: str, heading: re.Pattern[str], *, baseline: bool = False) -> str | None:
    match = heading.search(text)
    if match is None:
        return None
    rest = text[match.end() :]
    end = (_ANY_BELOW_FIRST if baseline else _SECOND_LEVEL).search(rest)
    return rest[: end.start()] if end else rest


def _headed(text: str, head: re.Pattern[str], words: tuple[str, ...]) -> dict[str, int]:
    heads = Counter(match[1].lower() for line in _outside_code(text) if (match := head.match(line)))
    return {word: heads[word.lower()] for word in words}


def _outside_code(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for line, kept in zip(lines, without_code(lines), strict=True) if kept]


def without_code(lines: list[str]) -> list[bool]:
    """Return for each line whether it is outside code fences and not a fence itself."""
    kept: list[bool] = []
    inside = False
    for line in lines:
        fence = _FENCE.match(line) is not None
        kept.append(not fence and not inside)
        inside ^= fence
    return kept


TEXT_MAX: Final = 8_000
SECTION_MAX: Final = 60_000
"""Characters of a section; a longer reply becomes several."""
NAMES: Final = ("single-pass", "council", "jugalbandi")
_MARKUP: Final = re.compile(r"^[\s#*]+|[\s*]+$")


class Headed(NamedTuple):
    """Word at the head of a passage (a tag, a disposition), the rest of the head line, and what follows."""

    word: str
    head: str
    body: str


def read_result(content: bytes, name: str, terms: Terms) -> dict[str, Imported]:
    """Return name of a run → its import. A file that is not a result gives one bad line."""
    try:
        result: Any = orjson.loads(without_mark(content))
        jugalbandi_counts(result)
        task = str(result["task"] if isinstance(result["task"], str) else result["task"]["prompt"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return {"jugalbandi": Imported((), {}, (BadLine(name, 0, f"not a result file: {error}"),))}
    if len(task) > SECTION_MAX:
        too_long = f"a task of {len(task)} characters, more than the {SECTION_MAX} that a question may have"
        return {"jugalbandi": Imported((), {}, (BadLine(name, 0, too_long),))}
    origin = f"sha256:{hash_of(content)}"
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
    challenges: list[Challenge] = []
    for repeat, (role, output) in enumerate(outputs, 1):
        text = plain_lines(output)
        match role:
            case "challenger":
                challenges = list(_challenges(text))
                events += [_statement("challenge", role, 1, "review", text), *challenges]
            case "resolver":
                events += [
                    _statement("resolve", role, 1, "plan", text),
                    *_dispositions(text, challenges, notes),
                ]
            case _:
                taken = sum(isinstance(event, Assumption) for event in events)
                events.append(_statement("plan", role, repeat if name == "council" else 1, "plan", text))
                events += _assumptions(text, taken)
    return Imported(tuple(events), {}, (), notes=tuple(notes))


def _opening(name: str, task: str, outputs: list[tuple[str, str]], origin: str, terms: Terms) -> RunOpened:
    roles = tuple(dict.fromkeys(role for role, _ in outputs))
    phases = ("plan", "challenge", "resolve") if name == "jugalbandi" else ("plan",)
    return RunOpened(
        round=0,
        phase="open",
        by="import",
        protocol=name,
        question=task,
        goals=(Labelled(id=label_id("goal", 1), text=task[:TEXT_MAX]),),
        cast=tuple(CastMember(role=role, title="", charge="", seat="") for role in roles),
        plan=(PlanRow(round=1, phases=phases),),
        stop=StopRule(profile=terms.profile, params=terms.params, check_every=3, not_before=0),
        budgets=Budgets(),
        prompt_set=GENESIS,
        seed=0,
        rules={},
        origin=Origin(type="import", of=origin, tool="jugalbandi"),
        moot="",
    )


def _by(phase: str) -> dict[str, Any]:
    return {"round": 1, "phase": phase, "by": "import"}


def _statement(phase: str, role: str, repeat: int, kind: StatementType, text: str) -> Statement:
    return Statement(
        **_by(phase),
        id=event_id("statement", 1, phase, role, repeat=repeat),
        type=kind,
        sections=tuple(
            Section(name="text" if n == 1 else f"text-{n}", text=part)
            for n, part in enumerate(parts(text), 1)
        ),
        words=word_count(text),
    )


def parts(text: str) -> Iterator[str]:
    """Yield the text in parts that fit a section, cut after a line if possible. Joined, they are the text."""
    while len(text) > SECTION_MAX:
        cut = text.rfind("\n", SECTION_MAX // 2, SECTION_MAX) + 1 or SECTION_MAX
        yield text[:cut]
        text = text[cut:]
    yield text


def _assumptions(text: str, taken: int) -> Iterator[Event]:
    for n, line in enumerate(assumption_lines(text), taken + 1):
        identity = event_id("assumption", 1, n)
        yield Assumption(**_by("plan"), id=identity, text=line[:TEXT_MAX], section="text")


def _challenges(text: str) -> Iterator[Challenge]:
    for n, passage in enumerate(headed(text, TAG_HEAD, TAGS), 1):
        yield Challenge(
            **_by("challenge"),
            id=event_id("challenge", 1, n),
            target=event_id("statement", 1, "plan", "proposer"),
            tag=cast("Any", passage.word),
            type="attack",
            claim=(passage.head or passage.word)[:TEXT_MAX],
            text=(passage.body or passage.head or passage.word)[:TEXT_MAX],
            rank=n,
        )


def _dispositions(text: str, challenges: list[Challenge], notes: list[str]) -> Iterator[Event]:
    passages = list(headed(text, DISPOSITION_HEAD, DISPOSITIONS))
    if len(passages) != len(challenges):
        notes.append(
            f"{len(challenges)} challenges and {len(passages)} dispositions: those without a partner are left out"
        )
    for challenge, passage in zip(challenges, passages, strict=False):
        reason = (passage.head or passage.body or passage.word)[:TEXT_MAX]
        yield Disposition(
            **_by("resolve"),
            of=challenge.id,
            disposition=cast("Any", passage.word),
            reason=reason,
            revision=(passage.body or reason)[:TEXT_MAX] if passage.word == "accepted" else None,
            question=(passage.body or reason)[:TEXT_MAX] if passage.word == "escalated" else None,
        )


def headed(text: str, head: re.Pattern[str], words: tuple[str, ...]) -> Iterator[Headed]:
    """Yield the passages that begin with one of `words` at their head, in order; heads inside code do not count."""
    lines = text.splitlines()
    outside = without_code(lines)
    starts = [n for n, line in enumerate(lines) if outside[n] and head.match(line)]
    for place, start in enumerate(starts):
        match = head.match(lines[start])
        assert match is not None, "a start is where the head matched"
        end = starts[place + 1] if place + 1 < len(starts) else len(lines)
        yield Headed(
            next(word for word in words if word.lower() == match[1].lower()),
            _MARKUP.sub("", lines[start][match.end() :]).lstrip("—–-: ").strip(),
            "\n".join(lines[start + 1 : end]).strip(),
        )
