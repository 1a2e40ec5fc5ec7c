"""Meanings of codes and terms: rules, failure modes, stop checks, statuses, event kinds, ids, exit codes, terms.

The entries come from the tables that the rest of moot reads, so a new rule or kind is explained without a change
here. Only the terms below are written for this purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from inspect import getdoc
from typing import Final

from detectors.parameters import gate_parameters
from detectors.report import NAMES as SIGNAL_NAMES
from ledger.events import KINDS
from ledger.events.ids import LABELS as LETTERS, is_id, kind_of, parse_step
from ledger.plain_text import first_sentence
from ledger.result import Result
from moot.errors import EXIT_CODES
from moot.view import marks
from moot.view.labels import LABELS
from moot.view.marks import LEVELS, SHOWN_AS, Mark
from moot.view.outcome_text import ROWS, STATUS_HELP, STATUSES as OUTCOME_STATUSES
from moot.view.stop_checks import HEADLINES, conditions_of_gates
from moot.view.text import folded, joined
from moot.view.words import CLOSINGS, FAILURE_MODES, FAILURE_SIGNS
from roles.outcome_status import OutcomeStatus
from rounds.protocols import PROTOCOLS
from rounds.protocols.adversarial import SCALES
from validators.rulebook import RULES

TERMS: Final[Mapping[str, str]] = {
    "run": "One deliberation: a directory with a ledger. RUN is its path, its id under ./runs, or @last.",
    "event": "One line of the ledger. Events are only appended; everything moot shows is computed from them.",
    "ledger": "The three event streams of a run, in one hash chain, with the texts they name.",
    "protocol": "The table of steps of a deliberation. `moot gate` lists the protocols.",
    "step": "One request to one role, such as r1.B.critic: round 1, phase B, the critic.",
    "round": "One pass through the steps of a protocol.",
    "phase": "A group of steps in a round. Steps of one phase do not see each other's replies.",
    "role": "Who a step is given to: action, guardian, observer, critic, verifier and others.",
    "seat": "What answers for a role: a model, a program, a person, an agent host or a recording.",
    "prompt": "The exact text a seat receives for a step. Its file and event field are called brief.",
    "brief": "The exact text a seat receives for a step. On screens it is called the prompt.",
    "reply": "What a seat returns for a step.",
    "claim": "A testable statement with a status: pending, confirmed, refuted, partly refuted, unclear or superseded.",
    "crux": "A claim whose test could change the answer. It is also the protocol that looks for such claims.",
    "forecast": "A role's points over the options, such as 58% for O-1, given before it sees the others.",
    "group forecast": "The mean of the roles' forecasts.",
    "experiment": "A program that is run in the sandbox to test a claim.",
    "evidence level": "How a claim was tested: ran, measured by a person, calculated, quoted, argued or stated.",
    "decision": "What was decided, with what it rests on and who disagrees.",
    "outcome": "The summary of a run: the answer, how sure, who disagrees, what would change it.",
    "condition": "What must be met for a decision to hold.",
    "falsifier": "What would prove a decision wrong.",
    "revisit if": "What would be a reason to open a decision again.",
    "open question": "A question that only a person can answer. Answer it with `moot answer RUN ID TEXT`.",
    "stop check": "One criterion for stopping. `moot signals` shows them all.",
    "gate": "One criterion for stopping, also called a stop check. The verb `moot gate` chooses a protocol.",
    "failure mode": "A way in which a deliberation goes wrong, FM-1 to FM-9. `moot signals` looks for them.",
    "alarm": "A failure mode that was detected. `moot ack` closes it with a reason.",
    "rule": "A law of the ledger. `moot check` lists where a run breaks one.",
    "finding": "A place where a rule is broken.",
    "isolation": "Whether a seat could have read more than its prompt: enforced, or trusted.",
    "seal": "A signed checkpoint of a ledger's head. Kept apart from the run, it detects a rewritten ledger.",
    "fork": "A run that shares the beginning of another run, byte for byte, and continues differently.",
    "stress round": "A round in which one role is absent, to show what it contributes.",
}
"""Term → its meaning. Terms that have a table of their own (kinds, rules, checks, statuses) are not here."""

TABLES: Final = {
    "label": LABELS,
    "headline of the stop checks": HEADLINES,
    "row of an outcome": ROWS,
    "term": TERMS,
}
"""What a word is → the table of such words with their meanings."""

ID_LETTERS: Final[Mapping[str, str]] = {
    "option": "An option of the question.",
    "goal": "A goal that a good outcome serves.",
    "document": "A document that the roles were given.",
}
"""Letter of an id that no event has → its meaning."""


_SOURCES: Final = re.compile(r"\s\([^()]*\b[A-Z][A-Z0-9]*[- ]\d[^()]*\)(?=\.)")
"""Source marks at the end of an event's docstring."""


class Meaning(Result, frozen=True):
    """One meaning of a code or term. `kind` is what it is a code of."""

    code: str
    kind: str
    title: str
    text: str


class Explanation(Result, frozen=True):
    """Every meaning of what was asked."""

    asked: str
    entries: list[Meaning]


def explain(term: str) -> Explanation:
    """Return every meaning of a code or term; no entries where moot knows none."""
    wanted = _plain(term)
    entries = [entry for entry in all_entries() if wanted in _names(entry)]
    # Ids of events are endless, so they are recognized by form after the tables had their turn.
    return Explanation(term, entries or list(_by_form(term.strip())))


def nearest(term: str) -> str | None:
    """Return the known code or term that is most like an unknown one."""
    known = {name: entry.code for entry in all_entries() for name in _names(entry)}
    # A cutoff of 0.5 finds typos and still rejects words that only share a few letters.
    close = get_close_matches(_plain(term), known, 1, 0.5)
    return known[close[0]] if close else None


def all_entries() -> Iterator[Meaning]:
    """Yield every entry, kind by kind."""
    yield from (
        Meaning(str(number), "exit code", f"exit code {number}", _sentence(text))
        for number, text in EXIT_CODES.items()
    )
    yield from (
        Meaning(
            rule.code,
            f"rule ({rule.severity})",
            rule.name.replace("_", " "),
            f"{rule.summary} {rule.reason}".strip(),
        )
        for rule in RULES
    )
    yield from (
        Meaning(mode, "failure mode", title, FAILURE_SIGNS[mode]) for mode, title in FAILURE_MODES.items()
    )
    yield from (
        Meaning(name, "stop check", name.replace("_", " "), _sentence(f"holds when {holds}"))
        for name, holds in conditions_of_gates(gate_parameters()).items()
    )
    yield from (
        Meaning(signal, "stop signal", title, f"One of the six stop signals: {title[:1].lower()}{title[1:]}.")
        for signal, title in SIGNAL_NAMES.items()
    )
    yield from (
        Meaning(
            status.value,
            "status of an outcome",
            OUTCOME_STATUSES[status],
            _sentence(STATUS_HELP[status]),
        )
        for status in OutcomeStatus
    )
    yield from (
        Meaning(code, kind, mark.word, mark.meaning or _sentence(mark.word))
        for kind, table in marks.KINDS.items()
        for code, mark in table.items()
    )
    yield from (
        Meaning(mark.word, "mark", mark.word, mark.meaning)
        for mark in vars(marks).values()
        if isinstance(mark, Mark) and mark.meaning
    )
    yield from (Meaning(code, "evidence level", SHOWN_AS[code], text) for code, text in LEVELS.items())
    on_scale = "A verdict of the judge on a proposal. The scale is"
    yield from (
        Meaning(verdict, "verdict of a judge", verdict, f"{on_scale} {', '.join(scale)}, the best first.")
        for scale in SCALES.values()
        for verdict in scale
    )
    yield from (
        Meaning(code, "reason why a run ends", code.replace("_", " "), _sentence(text))
        for code, text in CLOSINGS.items()
    )
    for name, row in KINDS.items():
        # Event docstrings end with source marks such as (SD-44), which mean nothing to a user.
        kind, meaning = name.replace("_", " "), first_sentence(_SOURCES.sub("", getdoc(row.model) or ""))
        yield Meaning(name, "event kind", kind, f"{meaning} It is in the stream `{row.stream}`.")
        if row.id:
            text = f"Ids with {row.letter}- name an event of the kind {kind}: {meaning}"
            yield Meaning(f"{row.letter}-", "id letter", kind, text)
    yield from (
        Meaning(f"{LETTERS[what]}-", "id letter", text.rstrip("."), text) for what, text in ID_LETTERS.items()
    )
    for name, protocol in PROTOCOLS.items():
        text = f"{_sentence(protocol.summary)} For {protocol.fits}. `moot gate {name}` shows its roles."
        yield Meaning(name, "protocol", name, text)
    yield from (
        Meaning(term, kind, term, text) for kind, texts in TABLES.items() for term, text in texts.items()
    )


def explanation_text(explanation: Explanation, width: int) -> str:
    """Return what `moot explain` prints."""
    lines: list[str] = []
    for entry in explanation.entries:
        title = "" if _plain(entry.title) == _plain(entry.code) else f"  {entry.title}"
        lines += [f"{entry.code}{title}  ({entry.kind})", *folded(entry.text, width=width)]
    return joined(lines)


def _names(entry: Meaning) -> set[str]:
    """Return what an entry answers to, in plain form."""
    # People ask for plurals, such as "claims", as often as for the term itself.
    also = {"term": f"{entry.code}s", "exit code": f"exit {entry.code}"}.get(entry.kind, entry.code)
    return {_plain(name) for name in (entry.code, entry.title, also)}


def _by_form(term: str) -> Iterator[Meaning]:
    """Explain an id, a step or a place in the ledger by its form."""
    kind = kind_of(term)
    if kind in KINDS and is_id(term):
        code, title = f"{KINDS[kind].letter}-", kind.replace("_", " ")
        yield from (entry for entry in all_entries() if entry.code == code and entry.title == title)
    if is_id(term) and (label := ID_LETTERS.get(kind)):
        yield Meaning(term, "id", label.rstrip("."), label)
    if re.fullmatch(r"@[0-9]+", term):
        yield Meaning(
            term,
            "place",
            f"event {term[1:]}",
            "The event with this number, counted from 0 over all streams.",
        )
    if step := parse_step(term):
        act = f", {step.act}" if step.act else ""
        text = f"The step of {step.role} in round {step.round}, phase {step.phase}{act}."
        yield Meaning(term, "step", f"step of {step.role}", text)


def _plain(name: str) -> str:
    """Return a name without case, quotes, and what stands between its words."""
    # Codes appear as `not_ready`, `not-ready` and "not ready"; all of them find the same entry.
    return re.sub(r"[\s_-]+", " ", name.strip(" `'\"").casefold()).strip()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
