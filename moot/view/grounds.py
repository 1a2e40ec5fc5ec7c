"""Grounds of a decision: the claims and checks it cites, the tests of those claims, down to quoted sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import msgspec

from ledger.events import (
    Argument,
    Artifact,
    Belief,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    DriftCheck,
    Event,
    ExperimentPlanned,
    Memo,
    Response,
    Verification,
    Vote,
)
from ledger.events.answers import MemoSentence
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence
from ledger.events.ids import cite_type, parse_reference, role_of
from ledger.result import Result
from ledger.state.book import Book, Sections, contains_quote, passages, per_book, sections_of
from ledger.state.decided import concern_standing, fallen_under
from ledger.state.state import State
from moot.view.events import words_of
from moot.view.marks import (
    RESULTS,
    STATUSES,
    Mark,
    how_tested,
    last_test,
    mark_of,
    shown_as,
    status_mark,
    times_run,
)
from rounds.protocols.sides import is_given_up


class Quote(Result, frozen=True):
    """A piece of evidence: place, words, author; `holds` is null where the place cannot be read."""

    ref: str
    words: str | None
    by: str | None
    holds: bool | None


class Ground(msgspec.Struct, frozen=True):
    """One ground of a decision, with its own grounds, down to quotes.

    A verdict under a claim has the `quotes` that belong to that claim. `pooled` are quotes that were given for
    `pool` claims together and cannot be told apart. `class_` is the evidence level of a claim, `tested` says
    how the claim, or one move of it, was tested.
    """

    id: str
    kind: str
    relation: str
    by: str
    text: str
    standing: str
    quotes: tuple[Quote, ...]
    under: tuple[Ground, ...]
    pooled: tuple[Quote, ...] = ()
    pool: int = 0
    class_: str = ""
    tested: str = ""

    @property
    def mark(self) -> Mark:
        """Return the mark of a claim's status, with its evidence level where it has one."""
        return status_mark(self.standing, self.class_, self.tested)

    @property
    def pooled_text(self) -> str:
        """Return what the pooled quotes are, in words; empty where there are none."""
        also = "also " if self.quotes else ""
        return f"{also}the verdict's evidence, given for {self.pool} claims together" if self.pooled else ""

    @property
    def foremost(self) -> Foremost:
        """Return the first quote that holds, of this ground or of a test of it, never of a cited decision."""
        # A decision under a decision has quotes of its own, which say nothing about this one.
        tests = () if self.kind == "decision" else self.under
        for ground in (self, *tests):
            for quote in ground.quotes:
                # A quote that cannot be checked may still be right; only a proven mismatch is skipped.
                if quote.words and quote.holds is not False:
                    return Foremost(quote, ground.id if ground.kind == "verification" else None, "")
        # A pooled quote may belong to another claim, so it is never shown as this one's evidence.
        pooled = next((holder for holder in (self, *tests) if holder.pooled), None)
        return Foremost(None, None, f"{pooled.pooled_text}: see {pooled.id}" if pooled else "")


class Foremost(msgspec.Struct, frozen=True):
    """The one quote to show for a ground and the verification that quotes it, else the place of its evidence."""

    quote: Quote | None
    test: str | None
    elsewhere: str


DEPTH_MAX: Final = 3
"""Maximum chain of decisions on decisions; below it a reader looks up the id."""


Sectioned = Callable[[Event], Sections]
"""Function that returns the sections of an event."""


def remembered() -> Sectioned:
    """Return a cached `sections_of`."""
    # Grounds return to the same artifacts again and again, so each is taken apart only once.
    taken_apart: dict[int, Sections] = {}

    def sections(event: Event) -> Sections:
        if event.seq not in taken_apart:
            taken_apart[event.seq] = sections_of(event)
        return taken_apart[event.seq]

    return sections


def rests_on(
    book: Book, decision: Decision, depth: int = DEPTH_MAX, sections: Sectioned | None = None
) -> tuple[Ground, ...]:
    """Return the grounds of a decision, in the order in which it cites them."""
    lookup = sections or remembered()
    # A ruling counts lost votes as refusals, although nothing in them can be cited.
    votes = book.of(Vote) if decision.made_by == "rule" else ()
    lost = [Cite(type="vote", id=vote.id, relation="lost") for vote in votes if vote.fallback]  # type: ignore[arg-type]
    return tuple(_cited(book, cite.id, cite.relation, depth, lookup) for cite in (*decision.cites, *lost))


def ground_of(book: Book, identity: str, depth: int) -> Ground:
    """Return any event of the ledger as a ground, with its own grounds, or with all that it is about and refers to."""
    lookup = remembered()
    ground = _cited(book, identity, "", depth, lookup)
    event = _event(book, identity)
    if event is None or ground.under:
        return ground
    if isinstance(event, Memo):
        return msgspec.structs.replace(ground, under=tuple(_sentences(book, event, lookup)))
    # Few readers ask for a single event, and the rules load slowly.
    from validators.rules.references import references

    refs = {ref: "cites" for _, ref in references(event)} | dict.fromkeys(
        words_of(event, book).about, "about"
    )
    # A tension may also be between roles, whose names are identifiers.
    named = [ref for ref in refs if not ref.isidentifier()]
    return msgspec.structs.replace(ground, under=tuple(_place(book, ref, refs[ref], lookup) for ref in named))


def _event(book: Book, identity: str) -> Event | None:
    """Return the event with an id, or at a place such as @12, by which kinds without ids are named."""
    at = (event for event in book.events if f"@{event.seq}" == identity)
    return next(at, None) if identity.startswith("@") else book.by_id.get(identity)


def _place(book: Book, ref: str, relation: str, sections: Sectioned) -> Ground:
    """Return a place that an event refers to, in its own words, without what those rest on."""
    reference = parse_reference(ref)
    ground = _cited(book, ref if ref.startswith("@") else reference.id, relation, 1, sections)
    at = passages(reference, book.by_id, book.state.opening, book.blobs, sections) if "#" in ref else None
    text = " ".join(at or [ground.text])
    return msgspec.structs.replace(ground, id=ref, text=text, quotes=(), under=(), pooled=())


def _sentences(book: Book, memo: Memo, sections: Sectioned) -> Iterator[Ground]:
    """Yield the sentences of a memo, each with the places that it rests on and what its check found."""
    for n, sentence in enumerate(memo.sentences, 1):
        identity = f"{memo.id}#s{n}"
        standing = book.state.sentences.get(identity, "").replace("not", "not supported")
        under = tuple(_place(book, ref, "cites", sections) for ref in sentence.refs)
        yield Ground(
            identity, "sentence", sentence.field.replace("_", " "), "", sentence.text, standing,
            quotes_in(book, sentence)[:1], under,
        )  # fmt: skip


def quotes_in(book: Book, sentence: MemoSentence) -> tuple[Quote, ...]:
    """Return the quote of a sentence at each of its references that has the words; the first need not be one."""
    pieces = (Evidence(ref=ref, quote=sentence.quote) for ref in sentence.refs if sentence.quote)
    return tuple(quote for quote in quotes_of(book, pieces) if quote.holds)


def quotes_of(
    book: Book, evidence: Iterable[Evidence], sections: Sectioned = sections_of
) -> tuple[Quote, ...]:
    """Return evidence with its author and whether the words are at the cited place."""
    return tuple(_quote(book, entry, sections) for entry in evidence)


def _cited(book: Book, identity: str, relation: str, depth: int, sections: Sectioned) -> Ground:
    """Return a cited event as a ground; without a relation it was asked for by its id."""
    event = _event(book, identity)
    by = "" if event is None else event.by
    standing, evidence, under = "", tuple[Evidence, ...](), tuple[Ground, ...]()
    match event:
        case Claim():
            return _claim(book, event, relation, sections)
        case Verification():
            return _verification(book, event, relation, sections)
        case ExperimentPlanned():
            return _experiment(book, event, relation)
        case Decision():
            kind, text, standing = "decision", event.text, decision_standing(book.state, identity)
            # Decisions may cite each other in a hostile ledger; the depth ends any cycle.
            under = rests_on(book, event, depth - 1, sections) if depth > 1 else ()
        case Concern():
            kind, text, evidence = event.type, event.text, event.evidence
            standing = concern_standing(book.state, identity)
        case Challenge():
            # What a challenge claims; its text may be the fix that it proposes.
            kind, text, evidence = "challenge", event.claim, event.evidence
            # How it was answered is what a decision rests on.
            answers = (answer for answer in book.of(Response) if relation and answer.to == identity)
            under = tuple(_cited(book, answer.id, "answered by", 1, sections) for answer in answers)
        case Argument():
            kind, text, evidence = "argument", f"{event.claim} {event.reasoning}", event.quotes
            standing = f"given up by {event.by}" if is_given_up(book, event) else ""
        case DriftCheck():
            kind, text, standing = "drift check", event.notes, event.verdict
            evidence = tuple(chain.from_iterable(anchor.evidence for anchor in event.anchors))
        # What a decision cites is no longer sealed. Asked for by its id, it may be.
        case Belief() if relation or not words_of(event, book).sealed:
            kind, text, by = "forecast", forecast_text(book, event), event.role
        case Vote() if event.fallback:
            kind, text = "vote", f"no vote was given in the {'last' if event.ballot == 2 else 'first'} ballot"
            by = role_of(event.id)
        case Vote():
            numbers = f"{event.confidence}% sure that acting is right, risk {event.risk} of 100"
            kind, text = "vote", f"{event.decision} by rule, {numbers}: {event.reasoning}"
        # A citation may name an event that a partial or hostile ledger does not hold.
        case None:
            documents = {document.id: document.name for document in book.state.opening.context}
            labels = {label.id: label.text for label in (*book.state.options, *book.state.opening.goals)}
            kind, text = cite_type(identity) or "event", (documents | labels).get(identity, "")
            standing = "" if text else "not on the ledger"
        case _:
            wording = words_of(event, book)
            text = "" if wording.sealed else wording.text or wording.what
            kind, standing = event.kind, wording.mark.word
    quotes = quotes_of(book, evidence, sections)
    return Ground(identity, kind, relation, by, text, standing, quotes, under)


def forecast_text(book: Book, event: Belief) -> str:
    """Return a role's forecast, the likeliest first, from what it was before a result: `O-3 31% → 40%, O-1 2%`."""
    earlier = [
        belief.points for belief in book.of(Belief) if belief.role == event.role and belief.seq < event.seq
    ]
    before = earlier[-1] if event.derived and earlier else event.points
    return ", ".join(
        f"{option} {points}%"
        if before.get(option, 0) == points
        else f"{option} {before.get(option, 0)}% → {points}%"
        # A line may end before the last option, which then is the least likely one.
        for option, points in sorted(event.points.items(), key=lambda item: -item[1])
    )


def _claim(book: Book, event: Claim, relation: str, sections: Sectioned) -> Ground:
    """Return a claim with the checks that moved it; an untested claim has the place where it was raised."""
    facts = book.state.claims[event.id]
    tests: list[Ground] = []
    for entry in facts.history:
        test = book.by_id.get(entry.by)
        # Moves that count decide the status; the others stay visible in the history alone.
        if entry.counts and isinstance(test, Verification):
            ground = _test_of(book, event, test, entry.bearing or "", sections)
            tests.append(msgspec.structs.replace(ground, tested=how_tested(book, entry)))
        elif entry.counts and isinstance(test, ExperimentPlanned):
            tests.append(_experiment(book, test, entry.bearing or ""))
    source = event.raised_at_artifact
    # Only an untested claim leans on its source: tests bring evidence of their own.
    quotes = quotes_of(book, (Evidence(ref=source),), sections) if source and not tests else ()
    last = last_test(book, event.id)
    return Ground(
        event.id,
        "claim",
        relation,
        event.raised_by,
        event.text,
        facts.status,
        quotes,
        tuple(tests),
        class_=last.class_ if last is not None else "",
        tested=how_tested(book, last) if last is not None else "",
    )


def _experiment(book: Book, event: ExperimentPlanned, relation: str) -> Ground:
    """Return an experiment as a ground: its question and its verdict."""
    facts = book.state.experiments[event.id]
    how = shown_as(facts.class_, times_run(book, event.id)) if facts.class_ else ""
    standing = (facts.verdict or "not judged") + (f", {how}" if how else "")
    return Ground(event.id, "experiment", relation, event.by, event.question, standing, (), (), tested=how)


def _test_of(book: Book, claim: Claim, event: Verification, relation: str, sections: Sectioned) -> Ground:
    """Return a verification as a ground of one claim, with the evidence that moved that claim."""
    ground = _verification(book, event, relation, sections)
    moves = [change.evidence for change in event.claim_status_changes if change.claim_id == claim.id]
    # Where the evidence is recorded per claim, nothing needs to be inferred.
    if any(moves):
        return msgspec.structs.replace(ground, quotes=quotes_of(book, chain.from_iterable(moves), sections))
    claims = {*event.claims_affected, *(change.claim_id for change in event.claim_status_changes)}
    # With one claim in the verdict all its evidence is that claim's.
    if len(claims) < 2:
        return ground
    # A verdict on several claims of an import lists its evidence once for all of them. A quote is a claim's
    # own only where it comes from the claim, from the place where it was raised, or is named in its text.
    own = tuple(quote for quote in ground.quotes if _is_about(quote, claim))
    pooled = tuple(quote for quote in ground.quotes if quote not in own)
    return msgspec.structs.replace(ground, quotes=own, pooled=pooled, pool=len(claims))


def _is_about(quote: Quote, claim: Claim) -> bool:
    """Return whether a piece of evidence is recognizably about this claim."""
    texts = (claim.text, claim.testable_as)
    # The lookahead keeps `#step-1` from matching inside `#step-12`.
    place = re.compile(rf"{re.escape(quote.ref)}(?![\w-])")
    return (
        parse_reference(quote.ref).id == claim.id
        or quote.ref == claim.raised_at_artifact
        or ("#" in quote.ref and any(place.search(text) for text in texts))
        or (quote.words is not None and contains_quote(texts, quote.words))
    )


def _verification(book: Book, event: Verification, relation: str, sections: Sectioned) -> Ground:
    """Return a verification as a ground, with its evidence."""
    quotes = quotes_of(book, event.evidence_refs, sections)
    return Ground(event.id, "verification", relation, event.by, event.notes, event.result, quotes, ())


def ground_standing(ground: Ground) -> str:
    """Return a status or result with its shape; for other kinds the plain words."""
    if ground.kind == "claim" and ground.standing in STATUSES:
        return ground.mark.plain
    if ground.kind == "verification":
        return mark_of(RESULTS, ground.standing).plain
    return f"{ground.kind}, {ground.standing}" if ground.standing else ground.kind


def decision_standing(state: State, identity: str) -> str:
    """Return `in force`, `overturned by D-…`, or `AT RISK: C-… fell`."""
    facts = state.decisions[identity]
    if facts.overturned_by is not None:
        return f"overturned by {facts.overturned_by}"
    fallen = [ground.id for ground in fallen_under(state, identity)]
    return f"AT RISK: {', '.join(fallen)} fell" if fallen else "in force"


def _quote(book: Book, evidence: Evidence, sections: Sectioned) -> Quote:
    """Return a piece of evidence, held against the place that it names."""
    reference = parse_reference(evidence.ref)
    # Files that an import cites are not on the ledger, so nothing can be checked against them.
    if book.state.is_import and reference.id not in book.by_id:
        return Quote(evidence.ref, evidence.quote, None, None)
    values = passages(reference, book.by_id, book.state.opening, book.blobs, sections)
    # A reference without a quote holds as soon as the place exists.
    holds = values is not None and (evidence.quote is None or contains_quote(values, evidence.quote))
    return Quote(evidence.ref, evidence.quote, _author(book, reference.id), holds)


def _author(book: Book, identity: str) -> str | None:
    """Return the author of what a reference names: a role, or the name of a context document."""
    event: Event | None = book.by_id.get(identity)
    match event:
        case Artifact():
            return event.role
        case Claim():
            return event.raised_by
        case None:
            # Context documents are not events, so the name of the document serves as the author.
            return {document.id: document.name for document in book.state.opening.context}.get(identity)
        case _:
            return event.by


class Sources(msgspec.Struct, frozen=True):
    """Indexes of a book that several views share: events by round, and closers of concerns.

    A live view keeps one instance and adds new events to it, since entries never change once they are written.
    """

    by_round: dict[int, list[Event]] = msgspec.field(default_factory=dict[int, list[Event]])
    closers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Concern → the decision or disposition that closed it."""
    sections: Sectioned = msgspec.field(default_factory=remembered)

    def take(self, events: Iterable[Event]) -> None:
        """Add the events that follow."""
        for event in events:
            # Events after the end carry the last round's number but do not belong to the round.
            if event.phase != "close":
                self.by_round.setdefault(event.round, []).append(event)
            if isinstance(event, Disposition):
                # The first closer counts: a later event cannot close what is closed already.
                self.closers.setdefault(event.of, f"@{event.seq}")
            elif isinstance(event, Decision):
                for cite in event.cites:
                    if cite.relation == "resolves":
                        self.closers.setdefault(cite.id, event.id)

    def round_of(self, book: Book, round_: int) -> Book:
        """Return the book with only the events of one round; state and ids stay those of the whole."""
        return Book(tuple(self.by_round.get(round_, ())), book.state, book.by_id, book.blobs)


@per_book
def sources_of(book: Book) -> Sources:
    """Return the sources of a whole book."""
    sources = Sources()
    sources.take(book.events)
    return sources
