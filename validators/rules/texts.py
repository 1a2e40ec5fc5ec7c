"""Artifacts and texts: their parts fit together, they are short, they commit themselves, and none is a formality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from ledger.events import Artifact, Claim, Decision, RoundOpened, RunClosed, Statement, Verification
from ledger.events.ids import parse_reference, round_of
from ledger.language.words import sentence_count, word_count
from ledger.state.book import rows_of, words_of_artifact
from roles.evidence import claims_with_ids
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

TRACES: Final = ("happy_path", "edge_case", "cross_round")


@rule("ART001", "error", source="SD-6, SD-10, SD-13, FORMAT 3")
def artifact_agrees_with_itself(event: Artifact, index: LedgerIndex) -> Iterator[str]:
    """The parts of an artifact fit together: friction and steps, verdict and its reason, sections.

    Friction names a step that was walked. A FAIL names its mechanism and a CONDITIONAL_PASS its condition, and no other
    verdict does. The three traces are in their order. Findings and proposed claims name sections that exist.
    """
    sections = index.sections(event)
    named = [
        *(entry.section for entry in event.findings),
        *(entry.section for entry in event.proposed_claims),
    ]
    # One finding per name: several entries of one missing section are one mistake.
    for name in dict.fromkeys(named):
        if name not in sections:
            yield f"{event.id} has no section {name!r}"
    for problem in _body(event):
        yield f"{event.id}: {problem}"


def _body(event: Artifact) -> Iterator[str]:
    match event.type:
        case "behavioral_trace_set":
            kinds = tuple(trace.get("kind") for trace in rows_of(event.body, "traces"))
            if kinds != TRACES:
                yield f"the traces are {', '.join(map(str, kinds))}, not {', '.join(TRACES)}"
        case "identity_invariant_check":
            verdict = event.body.get("verdict")
            for key, needed_by in (("mechanism", "FAIL"), ("condition", "CONDITIONAL_PASS")):
                if (verdict == needed_by) != bool(event.body.get(key)):
                    yield f"{key} is given if and only if the verdict is {needed_by}"
        case "operator_walkthrough":
            steps = len(rows_of(event.body, "steps"))
            for friction in rows_of(event.body, "friction"):
                step = friction.get("step")
                # An imported body has no checked shape, so the number may be of any type.
                if not isinstance(step, int) or not 1 <= step <= steps:
                    yield f"friction at step {step}; there are {steps}"
        case "adversarial_test_case":
            pass


CONDITIONAL: Final = re.compile(r"\b(would|could|might|may|should)\b", re.IGNORECASE)
"""Words for what would be done, not for what was done."""


@rule("STY002", "warning", of="operator_walkthrough", source="SD-13")
def walkthrough_is_walked(event: Artifact) -> Iterator[str]:
    """The steps of a walkthrough are told as done, not as what would be done.

    "Would click" was never tried. Friction shows only where the steps were really taken.
    """
    steps = [n for n, text in enumerate(texts(event, "steps", "action"), 1) if CONDITIONAL.search(text)]
    if steps:
        yield f"{event.id} tells step {', '.join(map(str, steps))} in the conditional mood"


GENERIC: Final = re.compile(
    r"^(the |an? )?((typical|average|generic|regular|normal|any|some|standard) )?"
    r"(user|operator|person|developer|engineer|customer|end user|somebody|someone|persona|n/?a|none|tbd)$",
    re.IGNORECASE,
)
VAGUE: Final = re.compile(
    r"^(average|medium|normal|typical|basic|some|standard|n/?a|none|tbd|skilled|mixed)\.?$", re.IGNORECASE
)


@rule("STY003", "warning", of="operator_walkthrough", source="SD-12, SD-13")
def persona_is_concrete(event: Artifact) -> Iterator[str]:
    """The operator of a walkthrough is a concrete person: a name, a role, a checkable level of skill.

    "A typical user" gets through everything.
    """
    persona = part(event, "persona")
    if GENERIC.match(text(persona, "name").strip()):
        yield f"{event.id}: {text(persona, 'name')!r} is nobody in particular"
    if VAGUE.match(text(persona, "skill").strip()):
        yield f"{event.id}: the skill {text(persona, 'skill')!r} says nothing that could be checked"


WISH: Final = re.compile(
    r"\b(should|hopefully|ideally|try to|tries to|aim to|aims to|strive|strives|reasonable|as much as possible"
    r"|good enough|user[- ]friendly|appropriate|adequate)\b",
    re.IGNORECASE,
)
EXACT: Final = re.compile(
    r"[0-9]|\b(zero|no|none|never|one|two|three|four|five|ten|every|each|all|exact|exactly|identical)\b",
    re.IGNORECASE,
)


@rule("STY004", "warning", of="identity_invariant_check", source="SD-10, SD-11")
def invariant_is_falsifiable(event: Artifact) -> Iterator[str]:
    """An invariant is measured by something and has a tolerance; it is not a wish.

    "Should always be reasonable" cannot be violated.
    """
    invariant = part(event, "invariant")
    wish = WISH.search(text(invariant, "always"))
    if wish:
        yield f"{event.id}: the invariant is a wish ({wish[0].lower()!r})"
    tolerance = text(invariant, "tolerance")
    # An empty tolerance is a fault of the shape and not of the wording.
    if tolerance and not EXACT.search(tolerance):
        yield f"{event.id}: the tolerance {tolerance[:60]!r} names no quantity"


@rule("STY005", "warning", of="behavioral_trace_set", source="SD-8")
def edge_case_has_its_own_trigger(event: Artifact) -> Iterator[str]:
    """The edge case of a trace set begins with another trigger than the happy path.

    The same trigger twice is one trace told twice.
    """
    triggers = [
        # Triggers are compared by their words alone: case, spacing and a full stop do not make another
        # trigger.
        " ".join(text.casefold().split()).rstrip(".")
        for text in texts(event, "traces", "trigger")
    ]
    if len(triggers) > 1 and triggers[0] and triggers[0] == triggers[1]:
        yield f"{event.id}: happy path and edge case share their trigger"


@rule("STY006", "warning", of="behavioral_trace_set", source="SD-6, SD-7, SD-9")
def cross_round_trace_uses_the_past(event: Artifact) -> Iterator[str]:
    """After round 1, the cross-round trace builds on something from an earlier round.

    A deliberation whose rounds do not use each other starts anew every time.
    """
    # Round 1 has no past to build on.
    if event.round <= 1:
        return
    for trace in rows_of(event.body, "traces"):
        if trace.get("kind") == "cross_round" and not _reaches_back(trace.get("hooks"), event.round):
            yield f"{event.id}: the cross-round trace names nothing of an earlier round"


def _reaches_back(hooks: Any, round_: int) -> bool:
    for hook in cast("list[Any]", hooks) if isinstance(hooks, list) else []:
        round_named = round_of(parse_reference(hook).id) if isinstance(hook, str) else None
        if round_named is not None and round_named < round_:
            return True
    return False


def part(event: Artifact, key: str) -> dict[str, Any]:
    """Return an object in the body; empty when it is missing."""
    value = event.body.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text(values: dict[str, Any], key: str) -> str:
    """Return a string of an object; empty when it is missing."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def texts(event: Artifact, key: str, field: str) -> list[str]:
    """Return one field of every object of a list in the body."""
    return [text(entry, field) for entry in rows_of(event.body, key)]


HEDGES: Final = re.compile(
    r"\b(might|maybe|perhaps|possibly|presumably|arguably|somewhat|probably|it seems|seems to|appears to|kind of"
    r"|sort of|could be argued|more or less)\b",
    re.IGNORECASE,
)


def hedges(text: str) -> Iterator[str]:
    """Yield the hedging words of a text, lower case."""
    return (match[0].lower() for match in HEDGES.finditer(text))


WORDS_MAX: Final = 600
MINUTES_MAX: Final = 30


@rule("WRD001", "warning", source="SD-4")
def artifact_is_short(event: Artifact) -> Iterator[str]:
    """An artifact has at most {WORDS_MAX} words and takes at most {MINUTES_MAX} minutes.

    Habitual overrun means that the schema has become too heavy to be read by those who should attack it.
    """
    # The recorded count is used. WRD003 checks that it is right, so the texts are counted once.
    if event.words > WORDS_MAX:
        yield f"{event.id} has {event.words} words; the budget is {WORDS_MAX}"
    if event.minutes is not None and event.minutes > MINUTES_MAX:
        yield f"{event.id} took {event.minutes} minutes; the budget is {MINUTES_MAX}"


PROPOSAL, SUPPLEMENT, CLOSING = (0, 500), (0, 250), (100, 200)
BUDGETS_WORDS: Final[Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "structured": {"proposal": PROPOSAL, "supplement": SUPPLEMENT},
    "debate": {"closing": CLOSING},
}
"""Protocol → type of statement → fewest and most words."""
PUBLISHED_WORDS: Final[Mapping[str, tuple[int, int]]] = {"proposal": (600, 800), "supplement": (200, 400)}
"""The same of `structured` under the rule `lengths = published`, and of its imports."""


@rule("WRD002", "warning", source="SD-18, XS-6", version=4)
def statement_keeps_its_length(event: Statement, index: LedgerIndex) -> Iterator[str]:
    """A proposal, a supplement and the closing of a debate keep their lengths.

    A proposal has at most {PROPOSAL[1]} words, a supplement at most {SUPPLEMENT[1]}, a closing {CLOSING[0]} to
    {CLOSING[1]}. In a longer text the weak point is never read. The published lengths ask for
    {PUBLISHED_WORDS[proposal][0]} to {PUBLISHED_WORDS[proposal][1]} words of a proposal and
    {PUBLISHED_WORDS[supplement][0]} to {PUBLISHED_WORDS[supplement][1]} of a supplement, so that there is
    something to attack.
    """
    opened = index.opened
    if opened is None:
        return
    # Imports were written under the published lengths, and judging them by others would be unfair.
    is_published = opened.rules.get("lengths") == "published" or opened.origin.type == "import"
    budgets = (
        PUBLISHED_WORDS
        if opened.protocol == "structured" and is_published
        else BUDGETS_WORDS.get(opened.protocol, {})
    )
    least, most = budgets.get(event.type, (0, event.words))
    if not least <= event.words <= most:
        wanted = f"{least} to {most}" if least else f"at most {most}"
        yield f"{event.id} has {event.words} words; a {event.type} has {wanted}"


@rule("WRD003", "error", source="FORMAT 2 (`words`: counted by us)", applies_to_imports=False)
def words_are_counted(event: Statement | Artifact) -> Iterator[str]:
    """The recorded number of words is the number of words.

    Length budgets are judged by it, and a seat does not count its own.
    """
    if isinstance(event, Statement):
        words = sum(word_count(section.text) for section in event.sections)
    else:
        words = words_of_artifact(event.body, event.findings)
    if event.words != words:
        yield f"{event.id} has {words} words, not {event.words}"


SENTENCES_MAX: Final = 3


@rule("WRD004", "warning", source="SD-37, SD-42")
def text_keeps_its_sentences(event: Claim | Verification) -> Iterator[str]:
    """A claim and the notes of a verification have one to three sentences.

    A claim of many sentences is several claims, and one verdict cannot test them all.
    """
    what, text = ("the claim", event.text) if isinstance(event, Claim) else ("the notes", event.notes)
    count = sentence_count(text)
    if count > SENTENCES_MAX:
        yield f"{event.id}: {what} run to {count} sentences; {SENTENCES_MAX} are enough"


CLAIMS: Final = (5, 7)
DECISIONS: Final = (1, 3)
LESS_UNDER_STRESS: Final = 2


@rule("VOL001", "warning", source="SD-48, SD-82")
def round_keeps_its_volume(index: LedgerIndex) -> Iterator[Breach]:
    """A round raises {CLAIMS[0]} to {CLAIMS[1]} claims and takes {DECISIONS[0]} to {DECISIONS[1]} decisions.

    Far more is noise that goes untested; far fewer is silence. Reported when the next round opens or the run ends. A
    stress round, one role short, may raise fewer.
    """
    if not index.watched:
        return
    opened: RoundOpened | None = None
    claims = decisions = artifacts = 0
    for event in index.events:
        match event:
            case RoundOpened() | RunClosed(state="finished"):
                # a round of synthesis alone has no artifacts and is left out
                if opened is not None and (artifacts or index.is_imported(opened.seq)):
                    yield from _norms(event.seq, opened, claims, decisions)
                opened = event if isinstance(event, RoundOpened) else None
                claims = decisions = artifacts = 0
            case Claim():
                claims += 1
            case Decision(type="round"):
                decisions += 1
            case Artifact():
                artifacts += 1
            case _:
                pass


def _norms(seq: int, opened: RoundOpened, claims: int, decisions: int) -> Iterator[Breach]:
    # One of four roles is absent, so fewer claims are expected by design.
    least = CLAIMS[0] - (LESS_UNDER_STRESS if opened.absent else 0)
    for count, fewest, most, what in (
        (claims, least, CLAIMS[1], "claims"),
        (decisions, *DECISIONS, "decisions"),
    ):
        if not fewest <= count <= most:
            yield Breach(seq, f"round {opened.round} has {count} {what}; {fewest} to {most} are usual")


@rule("STY001", "warning", source="SD-42, AD-4, AD-14")
def claim_is_plain(event: Claim) -> Iterator[str]:
    """A claim commits itself; it does not hedge.

    A claim that something "might perhaps" be the case cannot be refuted.
    """
    hedging = dict.fromkeys(hedges(event.text))
    if hedging:
        yield f"{event.id} hedges: {', '.join(hedging)}"


@rule("STY012", "warning", source="FORMAT 2 (`claim.places`)")
def claim_is_readable_outside(event: Claim, index: LedgerIndex) -> Iterator[str]:
    """The words of a claim name no ids of the run; what it is about is listed in `places`.

    Outside the run, "the mechanism of S-2-B-action#p3" means nothing.
    """
    opened = index.opened
    if opened is None:
        return
    # Ids from the question itself are readable outside, when the asker used them.
    labelled = (*opened.goals, *opened.options)
    labels = {*(entry.id for entry in labelled), *(document.id for document in opened.context)}

    def is_known(identity: str) -> bool:
        return identity in labels or index.earlier(identity, event.seq) is not None

    for name, ids in claims_with_ids(event, is_known):
        yield f"{name} names {', '.join(ids)} in its words; refs belong into `places`"
