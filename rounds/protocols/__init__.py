"""The protocols: one file each with laws at the top and the table below, each imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from ledger.events import RunOpened
from ledger.state.state import State
from ledger.store.failures import StrangeRun
from roles.protocol import Protocol, awaited_answers, awaited_experiments, opening_problem

_PLACES: Final[Mapping[str, str]] = {
    "structured": "structured:STRUCTURED",
    "crux": "crux:CRUX",
    "jugalbandi": "jugalbandi:JUGALBANDI",
    "single-pass": "single_pass:SINGLE_PASS",
    "council": "single_pass:COUNCIL",
    "debate": "debate:DEBATE",
    "adversarial": "adversarial:ADVERSARIAL",
    "devils-advocate": "devils_advocate:DEVILS_ADVOCATE",
    "comparative": "comparative:COMPARATIVE",
    "cross-examination": "cross_examination:CROSS_EXAMINATION",
    "ratchet": "ratchet:RATCHET",
    "panel": "panel:PANEL",
    "priority": "priority:PRIORITY",
    "tribunal": "tribunal:TRIBUNAL",
}
"""Module below this package and constant in it, by protocol name."""

DEFAULT_PROTOCOL: Final = "structured"
"""The protocol that plans and rounds belong to."""


MEANINGS: Final[Mapping[str, str]] = {
    "positions": "what each role seals before the checks: what it would answer now, or what it expects of each check",
    "rivals": "spread tells each role which option its claim of a round is about, those tested least first",
    "validate": "when the rules are asked; after each phase an error holds the run up until it is mended or overridden",
    "lengths": "how long texts may be; published asks for the lengths of the source, about twice as long",
    "rounds": "2: the revised plan is challenged again",
    "memo": "whether a role writes the answer for people; off gives the leader",
    "stakes": "what a wrong answer costs: high tests more and never stops after one answer, low tests less",
    "wait": "whether the run waits for a person's answer; off ends with the question open",
    "dispositions": "three: a criticism may also be escalated to a person",
    "members": "how many do the same side by side",
    "judges": "how many judge, the order swapped from one to the next",
    "rubric": "what is scored from 1 to 10: logic30 weighs logic and evidence 30 % each, evidence40 evidence 40 %",
    "scale": "the words of the verdict",
    "criteria": "which criteria are weighed",
    "analysts": "how many analyses are made",
    "reviewers": "how many reviewers sit on the panel",
    "voting": "by which of two published rules the votes are counted",
}
"""Meaning of each variant, as shown to people."""

RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "positions": ("beliefs", "sealed", "off"),
    "rivals": ("spread", "free"),
    "validate": ("phase", "round"),
    "lengths": ("short", "published"),
    "rounds": ("1", "2"),
    "memo": ("on", "off"),
    "stakes": ("low", "normal", "high"),
    "wait": ("on", "off"),
    "dispositions": ("two", "three"),
    "judges": ("1", "2", "3", "4", "5"),
    "rubric": ("logic30", "evidence40"),
    "voting": ("documented", "shipped"),
    "scale": ("approve_reject", "green_amber_red", "ready_fixes_rethink"),
    "analysts": ("2", "3", "4", "5"),
    "criteria": ("architecture", "vendor", "tool", "strategy"),
    "members": ("3", "5", "9", "17", "33", "65"),
    "reviewers": ("2", "3", "4", "5"),
}
"""Named variants that `[rules]` can choose, each with all values that some protocol has."""


class ProtocolUnknown(KeyError):
    """A protocol that this version lacks; `fix` names the remedy."""

    exit_code = 2

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix

    def __str__(self) -> str:
        return self.what


def _at(place: str) -> Protocol:
    # Imported on first use: one command needs one protocol, and all of them together would slow every start.
    module, _, constant = place.partition(":")
    protocol: Protocol = getattr(import_module(f"{__name__}.{module}"), constant)
    return protocol


class _Protocols(Mapping[str, Protocol]):
    """Mapping of names to protocols, in the order of the table."""

    def __getitem__(self, name: str) -> Protocol:
        place = _PLACES.get(name)
        if place is None:
            raise ProtocolUnknown(f"this moot has no protocol {name!r}", "see `moot gate`")
        return _at(place)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


PROTOCOLS: Final[Mapping[str, Protocol]] = _Protocols()


def protocol_of(opened: RunOpened, where: object = "") -> Protocol:
    """Return the protocol that a run, kept at `where`, was opened with. Raises `ProtocolUnknown` and `StrangeRun`."""
    protocol = named_protocol(opened)
    problem = opening_problem(protocol, opened)
    # A ledger may be written by hand: its opening can name roles or rules that the protocol does not have.
    if problem is not None:
        raise StrangeRun(f"ORD001: {problem}", str(where))
    return protocol


def awaited_of(state: State) -> tuple[str, ...]:
    """Return questions to a person that a run waits for; none for a protocol that is not installed."""
    protocol = PROTOCOLS.get(state.opening.protocol)
    return awaited_answers(protocol, state) if protocol is not None and state.waits else ()


def experiments_awaited(state: State) -> tuple[str, ...]:
    """Return experiments that a run waits for; none for a protocol that is not installed."""
    protocol = PROTOCOLS.get(state.opening.protocol)
    return awaited_experiments(protocol, state) if protocol is not None and state.unjudged else ()


def is_watched(opened: RunOpened) -> bool:
    """Return whether a run has stop signals, alarms and a synthesis; False for a protocol that is not installed."""
    protocol = PROTOCOLS.get(opened.protocol)
    return protocol is not None and protocol.watched


def named_protocol(opened: RunOpened) -> Protocol:
    """Return the protocol that an opening names, before it is known whether it can run. Raises `ProtocolUnknown`."""
    if opened.protocol not in PROTOCOLS:
        what = f"this moot has no protocol {opened.protocol!r}"
        raise ProtocolUnknown(what, f"install moot {opened.moot}, which wrote the run")
    return PROTOCOLS[opened.protocol]
