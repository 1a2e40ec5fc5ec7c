"""Quote each kind of event in a brief.

Our own words are heads and labels. Every line of quoted text follows a bar, so that no text can end its quotation or
pass for a head:

    A-3-critic · adversarial_test_case by critic, round 3 · confidence 4
    #attack-1 action | Cut the power between the two appends.
    observable | The head names an event that the stream lacks.

The text after one bar (and after the bars on the lines that follow it) is one string value of its section, and a reply
can quote it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, cycle
from typing import Any, Final, NamedTuple, cast

import msgspec

from ledger.events import (
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    Flip,
    Identified,
    Position,
    RoundOpened,
    RunOpened,
    Statement,
    Verification,
)
from ledger.events.envelope import Envelope, Evidence
from ledger.state.book import Book, rows_of, sections_of
from ledger.state.decided import conditions_of, overridden
from ledger.state.state import CheckFacts, ClaimFacts, State
from roles.objections import AGAINST, objection_in
from roles.prompt_set import bar


class Quoted(msgspec.Struct, frozen=True):
    """Quotation with its name, its text without a final line feed, and the seqs of the events it shows."""

    name: str
    text: str
    seqs: tuple[int, ...]


Quotations = tuple[Quoted, ...]


def _listed(label: str, words: Sequence[str]) -> list[str]:
    return [bar(label, ", ".join(words))] if words else []


def optional(label: str, text: str | None) -> list[str]:
    """Return `text` behind bars, or no line when it is empty."""
    return [bar(label, text)] if text else []


def evidence(pieces: Sequence[Evidence]) -> Iterator[str]:
    """Yield the reference of each piece of evidence, and its quote if it has one."""
    for piece in pieces:
        yield bar("evidence", piece.ref)
        yield from optional("quote", piece.quote)


def graded(label: str, grade: int | None) -> str:
    """Return a grade with its label for a head; empty where none was given."""
    return f"{label} {grade}" if grade else ""


def quotation(event: Envelope, head: Sequence[str | None], *lines: str) -> Quoted:
    """Return the quotation of an event: a head of the parts that are there, and the lines below it."""
    name = event.id if isinstance(event, Identified) else ""
    return Quoted(name, "\n".join([" · ".join(filter(None, head)), *lines]), (event.seq,))


def _quoted(event: Identified, head: str, *lines: str, grade: str = "") -> Quoted:
    return quotation(event, (event.id, head, grade), *lines)


def question(opened: RunOpened) -> Quoted:
    """Quote the question with its goals and options."""
    lines = [bar("question", opened.question)]
    lines += [bar(entry.id, entry.text) for entry in (*opened.goals, *opened.options)]
    return Quoted("question", "\n".join(lines), (opened.seq,))


def goals(opened: RunOpened) -> Quoted:
    """Quote only the goals."""
    return Quoted("goals", "\n".join(bar(goal.id, goal.text) for goal in opened.goals), (opened.seq,))


def document(identity: str, name: str, content: bytes) -> str:
    """Quote a context document with the line numbers that `K-n#Lx-Ly` uses."""
    lines = content.decode("utf-8", "replace").split("\n")
    # A final line feed ends the last line and starts no new one.
    kept = lines[:-1] if lines[-1] == "" and len(lines) > 1 else lines
    numbered = (bar(f"L{n}", line) for n, line in enumerate(kept, 1))
    return "\n".join([bar(f"{identity} · document", name), *numbered])


def plan(opened: RoundOpened, *, absent_only: bool) -> Quoted:
    """Quote lead, focus and absent role of a round, or only the absent role."""
    absent = f"absent this round: {opened.absent or 'nobody'}"
    if absent_only:
        return Quoted("plan", absent, (opened.seq,))
    lines = [f"round {opened.round}", f"lead: {opened.lead or 'nobody'}", absent, bar("focus", opened.focus)]
    return Quoted("plan", "\n".join(lines), (opened.seq,))


def statement(event: Statement) -> Quoted:
    """Quote the sections of a statement, with its paragraphs numbered throughout, as in `#p3`."""
    lines: list[str] = []
    numbers = count(1)
    for section in event.sections:
        # The name is not ours: without line feeds it cannot pass for another head.
        lines.append("#" + " ".join(section.name.split()))
        paragraphs = (paragraph for paragraph in section.text.split("\n\n") if paragraph.strip())
        lines += [bar(f"#p{next(numbers)}", paragraph) for paragraph in paragraphs]
    lines += _listed("responds to", event.responds_to) + _listed("options", event.options)
    return _quoted(event, f"{event.type} by {event.by}, round {event.round}", *lines)


_LABELS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "behavioral_trace_set": {"step": ("action", "delta")},
    "identity_invariant_check": {
        "invariant": ("always", "measured by", "tolerance", "why it matters"),
        "invariant-evidence": ("ref", "quote"),
        "invariant-failure": ("scenario", "mechanism"),
        "verdict": ("verdict", "condition"),
    },
    "operator_walkthrough": {
        "goal": ("session goal", "starting context", "persona", "role", "skill"),
        "step": ("action", "outcome"),
        "verdict": ("goal achieved", "time to first output", "would recommend"),
    },
    "adversarial_test_case": {
        "hypothesis": ("hypothesis", "why this target"),
        "preconditions": ("1", "2", "3", "4", "5", "6", "7", "8"),
        "attack": ("action", "observable"),
        "expected": ("broken", "robust"),
        "verdict": ("verdict", "reason"),
    },
}
"""Artifact type → word of the anchor → labels of the section's values, repeated when there are more values."""


def artifact(event: Artifact) -> Quoted:
    """Quote every section of an artifact under its anchor, value by value."""
    confidence, target = event.body.get("confidence"), event.body.get("target")
    sections = sections_of(event).items()
    return quotation(
        event,
        (
            event.id,
            f"{event.type} by {event.role}, round {event.round}",
            f"confidence {confidence}" if isinstance(confidence, int) else "",
        ),
        *optional("target", target if isinstance(target, str) else None),
        *(line for anchor, texts in sections for line in _section(anchor, texts, _labels(event, anchor))),
        *_listed("cites", event.cites),
    )


def _section(anchor: str, texts: Sequence[str], labels: Sequence[str]) -> Iterator[str]:
    # The anchor goes on the first line only; the lines after it belong to the same section.
    for n, (text, label) in enumerate(zip(texts, cycle(labels), strict=False)):
        head = f"#{anchor} {label}".rstrip() if n == 0 else label
        yield bar(head, text)


def _labels(event: Artifact, anchor: str) -> tuple[str, ...]:
    word = anchor.rstrip("0123456789").rstrip("-")
    if word == "trace" and "-step-" not in anchor:
        traces = rows_of(event.body, "traces")
        # A trace has nested fields, so its labels are computed from the event and not listed in `_LABELS`.
        head = traces[int(anchor.removeprefix("trace-")) - 1]
        return tuple(chain.from_iterable(_paths(key, head[key]) for key in head if key != "steps")) or ("",)
    if word == "friction":
        step = rows_of(event.body, "friction")[int(anchor.removeprefix("friction-")) - 1].get("step")
        return (f"(at step {step})",) if isinstance(step, int) else ("",)
    return _LABELS.get(event.type, {}).get("step" if word.endswith("-step") else word, ("",))


def _paths(label: str, value: Any) -> Iterator[str]:
    """Yield a label for every string in `value`, in the order of `ledger.state.book.strings`."""
    if isinstance(value, str):
        yield label.replace("_", " ")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _paths(key, inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[Any]", value):
            yield from _paths(label, inner)


def claim(
    event: Claim,
    facts: ClaimFacts,
    checks: Mapping[str, CheckFacts],
    *,
    whole: bool = True,
    placed: bool = True,
) -> Quoted:
    """Quote a claim with the status in `facts` and the verifications behind it.

    `whole`: with its test, not only the text. `placed`: with the place where it was raised and the goal it serves.
    """
    status, seqs = _status(facts, checks)
    return _claim(event, status, seqs, whole=whole, placed=placed)


def raised(event: Claim) -> Quoted:
    """Quote a claim as it was raised, with status `pending`."""
    return _claim(event, "pending", ())


def standing(event: Claim, state: State) -> Quoted:
    """Quote the current status of a claim, without its text."""
    status, seqs = _status(state.claims[event.id], state.checks)
    return Quoted(event.id, _claim_head(event, status), (event.seq, *seqs))


def _claim_head(event: Claim, status: str) -> str:
    return f"{event.id} · claim by {event.raised_by}, round {event.round} · {status}"


def _claim(
    event: Claim, status: str, seqs: tuple[int, ...], *, whole: bool = True, placed: bool = True
) -> Quoted:
    lines = [_claim_head(event, status), bar("text", event.text)]
    if whole:
        lines.append(bar("testable as", event.testable_as))
    if whole and placed:
        lines += optional("raised at", event.raised_at_artifact) + optional("serves", event.anchor_ref)
    if whole:
        lines += _listed("about", event.about) + optional("supersedes", event.supersedes)
    return Quoted(event.id, "\n".join(lines), (event.seq, *seqs))


def _status(facts: ClaimFacts, checks: Mapping[str, CheckFacts]) -> tuple[str, tuple[int, ...]]:
    # An illegal move stays on the ledger but changed no status (SD-44).
    moves = [entry for entry in facts.history if entry.legal]
    words: list[str] = []
    for entry in moves:
        check, weighs_less = checks.get(entry.by), ", moves nothing" if entry.outweighed else ""
        if check:
            words.append(f"{entry.by} ({check.result}, {entry.bearing}{weighs_less})")
        elif entry.bearing:
            words.append(f"{entry.by} (run, {entry.bearing}{weighs_less})")
        else:
            words.append(f"replaced by {entry.by}")
    return ": ".join([facts.status, *([", ".join(words)] if words else [])]), tuple(e.seq for e in moves)


def position(event: Position) -> Quoted:
    """Quote a position, which was sealed before the verdict."""
    head = f"position of {event.by} on check {event.check_id}: {event.stance}"
    return _quoted(event, head, bar("reason", event.reason), grade=graded("confidence", event.confidence))


def verification(event: Verification, classes: bool = True) -> Quoted:
    """Quote a verdict with notes, evidence and changed claims. `classes`: show the evidence class of each change."""
    moved = (
        (change, f" ({change.class_})" if classes and change.class_ else "")
        for change in event.claim_status_changes
    )
    head = (
        event.id,
        f"check {event.check_id}, {event.check}",
        event.result,
        graded("confidence", event.confidence),
    )
    return quotation(
        event,
        head,
        bar("notes", event.notes),
        *evidence(event.evidence_refs),
        *(
            bar("claim", f"{change.claim_id}: {change.bearing}{class_}, so {change.to}")
            for change, class_ in moved
        ),
    )


def flip(event: Flip) -> Quoted:
    """Quote the change of a sealed position, with its new evidence."""
    new = list(evidence(event.because)) or ["no new evidence was given"]
    return _quoted(event, f"{event.by} changes {event.of}: {event.from_} to {event.to}", *new)


def concern(event: Concern) -> Quoted:
    """Quote a concern, a tension or a question."""
    return _quoted(
        event,
        f"{event.type} by {event.by}, round {event.round}",
        bar("text", event.text),
        *_listed("between", event.between),
        *evidence(event.evidence),
        grade=graded("severity", event.severity),
    )


def drift_check(event: DriftCheck) -> Quoted:
    """Quote a drift check: its verdict, its notes and the goals that are not fully served."""
    lacking = (
        f"{anchor.goal} is served: {anchor.served}" for anchor in event.anchors if anchor.served != "yes"
    )
    head = f"drift check of round {event.round}: {event.verdict}"
    return _quoted(event, head, bar("notes", event.notes), *lacking)


def objection(event: Statement) -> Quoted | None:
    """Quote the objection in a review; None when it has none."""
    text = objection_in(event)
    head = f"objection by {event.by}, round {event.round}"
    return None if text is None else _quoted(event, head, bar(f"#{AGAINST}", text))


def place(event: Event, ref: str, texts: Sequence[str]) -> Quoted:
    """Quote passages of a record that is not shown as a whole."""
    head = f"{ref} · of a {event.kind} by {event.by}, round {event.round}"
    return Quoted(ref, "\n".join([head, *(bar("", text) for text in texts)]), (event.seq,))


class DecisionWords(NamedTuple):
    """Labels for fields of a decision. A prompt set without words of its own uses the names of the fields."""

    falsifiers: str = "falsifier"
    requirements: str = "requirement"


FIELD_NAMES: Final = DecisionWords()


def decision(event: Decision, words: DecisionWords = FIELD_NAMES) -> Quoted:
    """Quote a decision with its grounds, its conditions and its dissent."""
    conditions = conditions_of(event)
    return _quoted(
        event,
        f"{event.type} decision by {event.by} ({event.made_by}), round {event.round}",
        bar("text", event.text),
        *_listed("rests on", [f"{cite.id} ({cite.relation})" for cite in event.cites]),
        *optional("serves", event.anchor_ref),
        *_listed("about", event.about),
        *(bar(words.falsifiers, text) for text in conditions.falsifiers),
        *(bar(words.requirements, text) for text in conditions.requirements),
        *(bar(f"against it, {entry.role} ({entry.ref})", entry.text) for entry in event.dissent),
        grade=graded("confidence", event.confidence),
    )


OUTPUT_SHOWN: Final = 2_000
"""Characters of the output of a person's test that a prompt shows."""


def person_answer(book: Book, event: Decision) -> Quoted:
    """Quote a person's answer with the question, claim and test it answers, and its result if there is one."""
    lines = [
        f"{event.id} · answered by a person" + ("" if event.result is None else f": the claim {event.result}")
    ]
    # An override of an answer answers the same question.
    cites = book.state.decisions[overridden(book.state, event.id)].cites
    cited_events = [book.by_id[cite.id] for cite in cites if cite.id in book.by_id]
    claims = [cited for cited in cited_events if isinstance(cited, Claim)]
    for concern in cited_events:
        if isinstance(concern, Concern):
            lines.append(bar(f"question {concern.id}", concern.text))
            named = (book.by_id.get(identity) for identity in concern.between)
            claims += [cited for cited in named if isinstance(cited, Claim)]
    for claim in claims:
        lines += [bar(f"claim {claim.id}", claim.text), bar("test", claim.testable_as)]
    lines.append(bar("answer", event.text))
    if event.output is not None:
        # The blob may be redacted; then the answer is still worth showing.
        content = (book.blobs.read(event.output) or b"").decode("utf-8", "replace")
        lines.append(bar("produced", content[:OUTPUT_SHOWN]))
    return Quoted(event.id, "\n".join(lines), (event.seq, *(cited.seq for cited in (*cited_events, *claims))))


BY_ITSELF: Final[Mapping[str, Callable[[Any], Quoted]]] = {
    "statement": statement,
    "artifact": artifact,
    "position": position,
    "verification": verification,
    "flip": flip,
    "concern": concern,
    "decision": decision,
    "drift_check": drift_check,
}
"""Kind → quoting function, for kinds whose quotation depends on the event alone (a claim's needs its status too)."""
