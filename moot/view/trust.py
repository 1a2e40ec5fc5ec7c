"""Two sentences on how an outcome came about: reasons to trust it, and the effort spent.

trust_text(book) and looked_at_text(run, book) are fields of `moot.view.outcome.Outcome`.

Among the reasons are prompts that a server probably cut, because it counted fewer tokens than the prompt can be.
Ollama and servers like it drop what does not fit into their context, and say nothing. What a token is differs by
model, so the bound is one that holds for all: a word between spaces is at least one token, and so are four characters
of a script that puts no spaces between words. Measured with five tokenizers (o200k, cl100k, Llama 2, Llama 3, Claude)
on recorded prompts and on texts in 11 languages, code, logs and tables: prompts take 1.39 to 2.62 tokens per word,
nothing takes less than 1.00. Chinese, Japanese, Korean and Thai take 0.42 or more per character. A bound in bytes
would not do: English prompts have 2.8 to 4.3 bytes per token, Arabic, Russian, Hindi and Thai up to 8.1, a padded
table 9.2. So in English a cut of less than a third stays unseen.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

import orjson

from ledger.events import Amendment, Concern, Decision, Memo, Statement, Verification
from ledger.plain_text import counted, some
from ledger.state.book import Book
from ledger.state.state import WAIT, WAIT_PATH, State
from ledger.store.blobs import named_by_brief
from moot.view import words
from moot.view.agreement import alarms_clause, families_text
from moot.view.experiments import test_text
from moot.view.judgements import has_beliefs, named
from moot.view.labels import Calls, calls_of
from moot.view.marks import times_run
from moot.view.seats import dollars, unrecorded_text, written_text
from moot.view.text import listed
from rounds.protocols import is_watched
from rounds.run.outcome import quorum_of

if TYPE_CHECKING:
    from rounds.run.budget import Amounts

TESTS_NAMED: Final = 3
TOKENS_MIN: Final = 1_000
"""A smaller count is no whole prompt: some servers only count tokens that were not in their cache."""
UNSPACED_CHARACTERS_PER_TOKEN: Final = 4
# Thai to Tibetan, Myanmar, Khmer; Chinese, Japanese, and Korean, which has spaces but is written as densely.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
FRONT: Final = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
"""Front matter of a decision record: it must open the file, as the `---` of a horizontal rule may come later."""
KEYS: Final = frozenset({"moot-run", "moot-head", "moot-decisions"})


def trust_text(book: Book) -> str:
    """Return origin, seats and families, isolation, quorum, alarms, and the seats' view of the process."""
    state, calls = book.state, calls_of(book.events)
    parts = [_made_how(book, calls), *_starts_from(book)]
    if calls.all:
        roles = len({respondent.role for respondent in calls.answered})
        families = sorted({family.name for family in calls.families if family})
        models = sorted({respondent.model for respondent in calls.answered if respondent.model})
        who = f"model named by its caller: {', '.join(models)}" if models else "model not named"
        if families:
            who = f"{counted(len(families), 'model family')} ({', '.join(families)})"
        # Agreement across families is stronger than agreement within one, so it follows the cast.
        cast = len(state.opening.cast)
        share = f"{roles} of " * (roles < cast)
        parts += [f"{share}{counted(max(roles, cast), 'role')}, {who}", named(book, families_text(book))]
        # A seat that received half of a prompt did not have its brief, so a line on isolation would mislead.
        parts.append(cut_prompts_text(book, calls.all) or _apart(calls))
    quorum = quorum_of(state)
    if quorum.declared and quorum.kind != "imported":
        parts.append(state.quorum.text + ("" if quorum.kind == "whole" else f" ({quorum.kind.upper()})"))
    # While a run goes on, sentences of its memo are still being checked.
    parts += [_sentences_checked(book)] if state.finished else []
    parts += [*_waived(book), named(book, alarms_clause(book)), _process(book)]
    return "; ".join(filter(None, parts)) + "."


def _waived(book: Book) -> Iterator[str]:
    """Yield what people waived: answers that the run would have waited for, and what held it up."""
    if book.state.opening.rules.get(WAIT) == "off" and any(event.for_human for event in book.of(Concern)):
        yield "opened not to wait for answers"
    for event in book.events:
        who = getattr(event, "name", None) or "a person"
        if isinstance(event, Amendment) and any(change.path == WAIT_PATH for change in event.change):
            yield f"{who} said not to wait for answers (@{event.seq})"
        if isinstance(event, Decision) and event.type == "override" and event.cites[0].type == "verification":
            yield f"{who} let the run go on past what held it up ({event.id})"


def _apart(calls: Calls) -> str:
    """Return whether replies can have used more than their prompt: isolation is enforced, or trusted."""
    if calls.enforced == calls.all:
        return "each reply was written from its prompt alone"
    replies = f"{calls.trusted} of {counted(calls.all, 'reply')}"
    prompt = "its prompt" if calls.all == 1 else "their prompt"
    return f"isolation not enforced: {replies} may have used more than {prompt}"


def _sentences_checked(book: Book) -> str:
    """Return how many sentences of the answer are supported by what they cite; empty without a memo."""
    texts = dict[str, str]()
    for event in book.of(Memo):
        for n, sentence in enumerate(event.sentences, 1):
            verdict = book.state.sentences.get(f"{event.id}#s{n}")
            # A rewritten memo repeats sentences, which keep the verdict of the earlier check.
            texts[sentence.text] = verdict or texts.get(sentence.text, "")
    if not texts:
        return ""
    memo = book.of(Memo)[-1]
    judged = [texts[sentence.text] for sentence in memo.sentences]
    if not any(judged):
        return "no sentence of the answer was checked against what it cites"
    # A sentence of judgment cites nothing: a check that accepts it found no support for it.
    cited = [texts[sentence.text] for sentence in memo.sentences if sentence.refs]
    supported, removed, bare = cited.count("supported"), len(memo.removed), len(judged) - len(cited)
    # The reply that checks rewritten sentences may be lost.
    lost = cited.count("")
    answers = [texts[sentence.text] for sentence in memo.sentences if sentence.field == "answer"]
    text = f"{supported} of {len(cited) + removed} sentences that cite something are supported by it"
    text += f", {lost} {'was' if lost == 1 else 'were'} not checked" * bool(lost)
    text += " (the answer itself only in part)" * ("partly" in answers)
    text += f", {counted(removed, 'unsupported one')} {'was' if removed == 1 else 'were'} removed" * bool(
        removed
    )
    if not answers:
        text += " (the option stands in the place of the answer's sentence)"
    return text + f", {bare} {'cites' if bare == 1 else 'cite'} nothing" * bool(bare)


def _made_how(book: Book, calls: Calls) -> str:
    """Return how the run came about: live, made up, played, imported, forked or redacted."""
    origin = book.state.opening.origin
    if origin.type == "import":
        return f"imported from {origin.tool or 'another system'}, which moot cannot vouch for"
    kind = {"fork": f"a fork of {origin.of}", "redaction": "a redacted copy"}.get(origin.type, "live run")
    fake = sum(event.call is not None and event.call.simulated == "fake" for event in book.events)
    # A demo must never be quoted as the opinion of a model.
    if fake and fake == calls.all and kind == "live run":
        return f"no live run: {counted(fake, 'reply')} made up by a program"
    if fake:
        return f"{kind}, {fake} of {counted(calls.all, 'reply')} made up by a program"
    played = f", {calls.recorded} of {counted(calls.all, 'reply')} played from an earlier run"
    return kind + played * bool(calls.recorded)


def _starts_from(book: Book) -> Iterator[str]:
    """Yield the earlier decisions that the run was given as a starting point: decision records among its documents."""
    for document in book.state.opening.context:
        content = book.blobs.read(document.sha256) or b""  # redacted, or lost: `verify` says which
        match = FRONT.match(content.decode("utf-8", "replace"))
        # A full YAML parser is not needed: `moot report` writes one key per line, values in JSON.
        pairs = (line.partition(": ") for line in match[1].splitlines()) if match else ()
        front = {key: value for key, colon, value in pairs if colon}
        # Other documents may have front matter of their own; only all three keys mark a record.
        if front.keys() >= KEYS:
            decisions = [
                name for name in _value(front["moot-decisions"]).split(", ") if name not in ("", "nobody")
            ]
            which = listed(decisions, "what was decided there")
            yield f"starts from {which} of {_value(front['moot-run'])} ({document.id})"


def _value(json: str) -> str:
    """Return a value of the front matter as text; empty where it does not parse."""
    if not json.startswith('"'):
        return json
    try:
        return str(orjson.loads(json))
    # A user may edit the record by hand, and a broken value must not stop the run.
    except orjson.JSONDecodeError:
        return ""


def _process(book: Book) -> str:
    """Return the failure modes that half of the retrospectives saw, and whether an alarm agrees."""
    reviews = [event for event in book.of(Statement) if event.type == "retrospective"]
    seen = Counter(tick.mode for event in reviews for tick in event.checklist if tick.seen == "yes")
    raised = {alarm.fm for alarm in book.state.alarms}
    modes = [
        f"{words.failure(mode)}, seen by {number} of {len(reviews)}"
        # A failure mode that seats saw and detectors missed is worth a remark.
        + ("" if mode in raised or not is_watched(book.state.opening) else " although no alarm was raised")
        for mode, number in seen.most_common()
        # One role alone may misjudge the process, so half of them have to agree.
        if 2 * number >= len(reviews)
    ]
    more = f" ({len(modes) - 2} more: moot log RUN --kind statement)" if len(modes) > 2 else ""
    return f"the seats say of the process: {', '.join(modes[:2])}{more}" if modes else ""


def looked_at_text(run: str, book: Book, unrecorded: Amounts | None = None) -> str:
    """Return rounds, replies, tokens or words, cost, tests, and why the run ended."""
    state, spend = book.state, book.state.spend
    tokens = spend.tokens_in + spend.tokens_out
    parts = [
        counted(len(state.rounds), "round"),
        counted(spend.calls, "reply"),
        # Host seats report no tokens, and words are the next best measure of effort.
        f"{tokens:,} tokens" if tokens else written_text(book),
        dollars(spend) if spend.calls else "",
        unrecorded_text(unrecorded),
    ]
    unseen = ""
    if has_beliefs(book):
        from moot.view.forecasts import unseen_text

        unseen = unseen_text(book)
    return (
        "; ".join(filter(None, (", ".join(filter(None, parts)), _tests(run, book), unseen, _ended(state))))
        + "."
    )


def _tests(run: str, book: Book) -> str:
    """Return how many tests were run and reproduced, their verdicts, and the command that repeats them."""
    experiments = book.state.experiments
    claims = book.state.claims.values()
    # The closing synthesis settles what is still pending without asking anything new (SD-19): that is no test.
    how = {
        check.id: "calculation" if check.by == "controller" else "reading"
        for check in book.of(Verification)
        if check.phase != "S"
    } | {event.id: "a person" for event in book.of(Decision)}
    ways = Counter(way for claim in claims for way in {how.get(move.by) for move in claim.moves})
    checked = ", ".join(f"{ways[way]} of {len(claims)} by {way}" for way in sorted(filter(None, ways)))
    judged = [test_text(book, of) for of, facts in experiments.items() if facts.judged]
    started = sum(times_run(book, of) > 0 for of in experiments)
    reproduced = sum(facts.class_ == "reproduced" for facts in experiments.values())
    # The sentence names a few tests, and the rest is counted.
    tests = some(judged, TESTS_NAMED)
    if started:
        tests += f"; again: moot replay {shlex.quote(run)} --re-run"
    ran = f"{started} of {counted(len(judged), 'test')} run, {reproduced} reproduced ({tests})"
    # Where claims are tested by reading, it would be false to say that no test was run.
    none = "no program was run" if checked else f"no test was run{_why_untested(book)}"
    return f"{ran if judged else none}{f', claims checked: {checked}' * bool(checked)}"


def _why_untested(book: Book) -> str:
    """Return why a `crux` run had nothing to test, in parentheses; empty elsewhere."""
    if not has_beliefs(book) or not book.state.looks:
        return ""
    from rounds.protocols.crux.assignments import (
        why_nothing_was_tested,  # its texts cost other protocols 0.1 s
    )

    reason = why_nothing_was_tested(book.state)
    return f" ({reason})" if reason else ""


def _ended(state: State) -> str:
    """Return why the run ended, or where it is."""
    if state.opening.origin.type == "import":
        return "whether and why it ended is not recorded"
    if state.closing is None:
        opening = state.opening
        return f"not stopped: {words.round_in(opening.protocol, state.round, len(opening.plan))}, phase {state.phase}"
    return f"{state.closing.state}: {words.why_closed(state.closing.reason)}"


def cut_prompts_text(book: Book, prompts: int) -> str:
    """Return how many prompts were probably cut, with the first of them; empty without suspicion."""

    # Prompts are large and shared by repair attempts, so each is read and counted once.
    @cache
    def least(sha256: str) -> int:
        # A missing blob counts as 0 tokens, so a redacted prompt never raises the suspicion.
        return tokens_min((book.blobs.read(sha256) or b"").decode("utf-8", "replace"))

    cut: dict[str, str] = {}
    for event in book.events:
        for attempt in event.call.attempts if event.call is not None else ():
            if attempt.tokens_in is not None and attempt.tokens_in >= TOKENS_MIN:
                # The server receives the blocks of the brief and the reply schema, which are blobs of their own.
                blobs = named_by_brief(book.blobs.read(attempt.brief) or b"")
                whole = sum(least(blob.sha256) for blob in blobs)
                if attempt.tokens_in < whole:
                    cut.setdefault(event.step or "", f"{attempt.tokens_in:,} tokens of at least {whole:,}")
    if not cut:
        return ""
    step, tokens = next(iter(cut.items()))
    return (
        f"{len(cut)} of {counted(prompts, 'prompt')} probably truncated by the server ({step}: it counted {tokens}):"
        " set its context length, see docs/seats.md"
    )


def tokens_min(text: str) -> int:
    """Return a number of tokens that no model falls below for a text."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // UNSPACED_CHARACTERS_PER_TOKEN
