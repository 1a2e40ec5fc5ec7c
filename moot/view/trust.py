"""Two sentences on how an outcome came about: reasons to trust it, and the effort spent.

trust_told(book) and looked_at_told(run, book) are fields of `moot.view.outcome.Outcome`."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from ledger.events import ExperimentJudged, Memo, Statement
from ledger.plain_text import counted
from ledger.state.book import Book
from ledger.state.state import State
from ledger.store.blobs import named_by_brief
from moot.view import words
from moot.view.agreement import alarms_told, families_told
from moot.view.costs import beyond_told, written
from moot.view.experiments import test_told
from moot.view.judgements import named
from moot.view.labels import Calls, calls_of
from moot.view.memo import has_beliefs, unseen_told, why_untested
from moot.view.seats import dollars, family_of
from moot.view.text import listed
from rounds.protocols import is_watched
from rounds.run.outcome import RunOutcome
from rounds.run.outcome import outcome_of as quorum_of

if TYPE_CHECKING:
    from rounds.run.budget import Amounts


TESTS_NAMED: Final = 3


def trust_told(book: Book) -> str:
    """Return origin, seats and families, isolation, quorum, alarms, and the seats' view of the process."""
    state, calls = book.state, calls_of(book.events)
    quorum = quorum_of(state)
    parts = [_made_how(book, calls.all, calls.recorded), *_starts_from(book)]
    if calls.all:
        families = {family_of(respondent.provider, respondent.model) for respondent in calls.answered}
        roles = len({respondent.role for respondent in calls.answered})
        named_ = sorted({family.name for family in families if family})
        models = sorted({respondent.model for respondent in calls.answered if respondent.model})
        who = (
            f"{counted(len(named_), 'model family')} ({', '.join(named_)})"
            if named_
            else f"model named by its caller: {', '.join(models)}"
            if models
            else "model not named"
        )
        parts.append(f"{counted(roles, 'role')}, {who}")
        # Agreement across families is stronger than agreement within one, so it follows the cast.
        if agreed := families_told(book):
            parts.append(named(book, agreed))
        cut = cut_prompts(book)
        # A seat that received half of a prompt did not have its brief, so a line on isolation would mislead.
        parts.append(cut_told(cut, calls.all) or _apart(calls))
    parts.append(_quorum(quorum))
    if book.of(Memo) and state.finished:
        # While a run goes on, sentences of its memo are still being checked.
        parts.append(_sentences_checked(book))
    alarms = [words.failure(alarm.fm) for alarm in state.open_alarms()]
    parts.append(named(book, alarms_told(book, alarms)))
    return "; ".join(part for part in (*parts, _process(book)) if part) + "."


def _apart(calls: Calls) -> str:
    """Return whether replies can have used more than their prompt: isolation is enforced, or trusted."""
    if calls.enforced == calls.all:
        return "each reply was written from its prompt alone"
    replies = f"{calls.trusted} of {counted(calls.all, 'reply')}"
    return f"isolation not enforced: {replies} may have used more than their prompt"


def model_families(book: Book) -> int | None:
    """Return how many model families answered; None where one of them is not named."""
    families = {
        family_of(respondent.provider, respondent.model) for respondent in calls_of(book.events).answered
    }
    return len(families) if families and None not in families else None


def _sentences_checked(book: Book) -> str:
    """Return how many sentences of the answer are supported by what they cite."""
    memo, texts = book.of(Memo)[-1], dict[str, str]()
    for event in book.of(Memo):
        for n, sentence in enumerate(event.sentences, 1):
            verdict = book.state.sentences.get(f"{event.id}#s{n}")
            # A rewritten memo repeats sentences, which keep the verdict of the earlier check.
            texts[sentence.text] = verdict or texts.get(sentence.text, "")
    judged = [texts[sentence.text] for sentence in memo.sentences]
    if not any(judged):
        return "no sentence of the answer was checked against what it cites"
    supported, removed = judged.count("supported"), len(memo.removed)
    text = f"{supported} of {len(judged) + removed} sentences are supported by what they cite"
    return (
        f"{text}, {counted(removed, 'unsupported one')} {'was' if removed == 1 else 'were'} removed"
        if removed
        else text
    )


def _made_how(book: Book, replies: int, recorded: int) -> str:
    origin = book.state.opening.origin
    fake = sum(event.call is not None and event.call.simulated == "fake" for event in book.events)
    match origin.type:
        case "import":
            return f"imported from {origin.tool or 'another system'}, which moot cannot vouch for"
        case "fork":
            kind = f"a fork of {origin.of}"
        case "redaction":
            kind = "a redacted copy"
        case _:
            kind = "live run"
    all_ = counted(replies, "reply")
    # A demo must never be quoted as the opinion of a model.
    if fake and fake == replies and kind == "live run":
        return f"no live run: {all_} made up by a program"
    if fake:
        return f"{kind}, {fake} of {all_} made up by a program"
    return f"{kind}, {recorded} of {all_} played from an earlier run" if recorded else kind


def _starts_from(book: Book) -> Iterator[str]:
    """Yield the earlier decisions that the run was given as a starting point."""
    for earlier in followed(book):
        decisions = listed(earlier.decisions) if earlier.decisions else "what was decided there"
        yield f"starts from {decisions} of {earlier.run} ({earlier.document})"


def _quorum(quorum: RunOutcome) -> str:
    if quorum.kind == "imported" or not quorum.declared:
        return ""
    lost = "" if quorum.kind == "whole" else f" ({quorum.kind.upper()})"
    return f"{quorum.actual} of {counted(quorum.declared, 'step')} answered{lost}"


def _process(book: Book) -> str:
    """Return the failure modes that half of the retrospectives saw, and whether an alarm agrees."""
    reviews = [event for event in book.of(Statement) if event.type == "retrospective"]
    if not reviews:
        return ""
    seen = Counter(mode for event in reviews for mode in modes_seen(event))
    # One role alone may misjudge the process, so half of them have to agree.
    often = [(mode, number) for mode, number in seen.most_common(2) if 2 * number >= len(reviews)]
    if not often:
        return ""
    raised = {alarm.fm for alarm in book.state.alarms}
    modes = [
        f"{words.failure(mode)}, seen by {number} of {len(reviews)}"
        # A failure mode that seats saw and detectors missed is worth a remark.
        + ("" if mode in raised or not is_watched(book.state.opening) else " although no alarm was raised")
        for mode, number in often
    ]
    return f"the seats say of the process: {', '.join(modes)}"


def modes_seen(event: Statement) -> tuple[str, ...]:
    """Return the failure modes that the author of a retrospective saw; earlier runs say it in their sections."""
    # Earlier versions wrote the checklist as text into sections.
    if event.checklist:
        return tuple(tick.mode for tick in event.checklist if tick.seen == "yes")
    sections = (section for section in event.sections if section.name.startswith("fm-"))
    return tuple(section.name.upper() for section in sections if section.text.startswith("seen: yes"))


def looked_at_told(run: str, book: Book, beyond: Amounts | None = None) -> str:
    """Return rounds, replies, tokens or words, cost, tests, and why the run ended."""
    state = book.state
    spend = state.spend
    parts = [
        counted(len(state.rounds), "round"),
        counted(spend.calls, "reply"),
    ]
    if spend.tokens_in or spend.tokens_out:
        parts.append(f"{spend.tokens_in + spend.tokens_out:,} tokens")
    else:
        # Host seats report no tokens, and words are the next best measure of effort.
        parts.append(written(book).told)
    if spend.calls:
        parts.append(dollars(spend))
    parts += [lost] if (lost := beyond_told(beyond)) else []
    unseen = unseen_told(book) if has_beliefs(book) else ""
    return (
        "; ".join(part for part in (", ".join(parts), _tests(run, book), unseen, _ended(state)) if part) + "."
    )


def _tests(run: str, book: Book) -> str:
    """Return how many tests were run and reproduced, their verdicts, and the command that repeats them."""
    judged = {verdict.of: verdict for verdict in book.of(ExperimentJudged)}
    measured = sum(
        any(move.class_ == "measured" for move in claim.moves) for claim in book.state.claims.values()
    )
    by_hand = f"{counted(measured, 'claim')} measured by a person" if measured else ""
    if not judged:
        return f"no program was run, {by_hand}" if measured else f"no test was run{why_untested(book)}"
    # The sentence names a few tests, and the rest is counted.
    tests = [test_told(book, of) for of in list(judged)[:TESTS_NAMED]]
    more = [f"{len(judged) - TESTS_NAMED} more"] if len(judged) > TESTS_NAMED else []
    reproduced = sum(verdict.class_ == "reproduced" for verdict in judged.values())
    counts = f"{counted(len(judged), 'test')} run, {reproduced} reproduced"
    again = f"{counts} ({', '.join([*tests, *more])}; again: moot replay {shlex.quote(run)} --re-run)"
    return f"{again}, {by_hand}" if measured else again


def _ended(state: State) -> str:
    if state.opening.origin.type == "import":
        return "whether and why it ended is not recorded"
    if state.closing is None:
        opening = state.opening
        return f"not stopped: {words.round_in(opening.protocol, state.round, len(opening.plan))}, phase {state.phase}"
    return f"{state.closing.state}: {words.CLOSINGS.get(state.closing.reason, state.closing.reason)}"


TOKENS_MIN: Final = 1_000
"""A smaller count is no whole prompt: some servers only count tokens that were not in their cache."""
UNSPACED_CHARACTERS_PER_TOKEN: Final = 4
# Thai to Tibetan, Myanmar, Khmer; Chinese, Japanese, and Korean, which has spaces but is written as densely.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class CutPrompt(NamedTuple):
    """An attempt whose server counted fewer tokens than its prompt has at least."""

    step: str
    tokens: int
    tokens_min: int


def cut_prompts(book: Book) -> list[CutPrompt]:
    """Return the attempts whose prompt was probably cut, in the order of the ledger."""
    counts: dict[str, int] = {}

    # Prompts are large and shared by repair attempts, so each is read and counted once.
    def least(sha256: str) -> int:
        if sha256 not in counts:
            # A missing blob counts as 0 tokens, so a redacted prompt never raises the suspicion.
            counts[sha256] = tokens_min((book.blobs.read(sha256) or b"").decode("utf-8", "replace"))
        return counts[sha256]

    return [
        CutPrompt(step, tokens, prompt)
        for step, brief, tokens in _counted(book)
        if tokens
        # The server receives the blocks of the brief and the reply schema, which are blobs of their own.
        < (prompt := sum(least(named.sha256) for named in named_by_brief(book.blobs.read(brief) or b"")))
    ]


def _counted(book: Book) -> Iterator[tuple[str, str, int]]:
    """Yield step, brief and tokens of every attempt whose server counted a whole prompt."""
    for event in book.events:
        for attempt in event.call.attempts if event.call is not None else ():
            if attempt.tokens_in is not None and attempt.tokens_in >= TOKENS_MIN:
                yield event.step or "", attempt.brief, attempt.tokens_in


def tokens_min(text: str) -> int:
    """Return a number of tokens that no model falls below for a text."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // UNSPACED_CHARACTERS_PER_TOKEN


def cut_told(cut: list[CutPrompt], prompts: int) -> str:
    """Return the suspicion in words; empty without one."""
    if not cut:
        return ""
    first, steps = cut[0], len({prompt.step for prompt in cut})
    return (
        f"{steps} of {counted(prompts, 'prompt')} probably truncated by the server ({first.step}: it counted"
        f" {first.tokens:,} tokens of at least {first.tokens_min:,}): set its context length, see docs/seats.md"
    )


# The front matter must open the file, as the `---` of a horizontal rule may come later.
FRONT: Final = re.compile(r"---\n(.*?\n)---\n(.*)", re.DOTALL)
KEYS: Final = frozenset({"moot-run", "moot-head", "moot-decisions"})


class EarlierDecision(NamedTuple):
    """An earlier decision among the documents of a run: the document's id, the run, its decisions."""

    document: str
    run: str
    decisions: tuple[str, ...]


def _parted(text: str) -> tuple[dict[str, str], str]:
    """Return front matter by key, and the rest; empty front matter where a text has none."""
    match = FRONT.fullmatch(text)
    if match is None:
        return {}, text
    # A full YAML parser is not needed: `moot report` writes one key per line, values in JSON.
    pairs = (line.partition(": ") for line in match[1].splitlines())
    return {key: value for key, colon, value in pairs if colon}, match[2]


def _value(front: Mapping[str, str], key: str) -> str:
    """Return a value as text; empty where it does not parse."""
    value = front.get(key, "")
    if not value.startswith('"'):
        return value
    try:
        return str(orjson.loads(value))
    # A user may edit the record by hand, and a broken value must not stop the run.
    except orjson.JSONDecodeError:
        return ""


def _decisions(front: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in _value(front, "moot-decisions").split(", ") if name not in ("", "nobody"))


def followed(book: Book) -> Iterator[EarlierDecision]:
    """Yield the decision records among the documents of a run, which are its starting points."""
    for document in book.state.opening.context:
        content = book.blobs.read(document.sha256)
        if content is None or not content.startswith(b"---\n"):
            continue  # redacted, or lost: `verify` says which
        front, _ = _parted(content.decode("utf-8", "replace"))
        # Other documents may have front matter of their own; only all three keys mark a record.
        if front.keys() >= KEYS:
            yield EarlierDecision(document.id, _value(front, "moot-run"), _decisions(front))
