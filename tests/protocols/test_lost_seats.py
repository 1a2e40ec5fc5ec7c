"""What a lost seat means: every protocol with every set of roles lost, and with every single step lost (R-1, R-2).

Played by scripted seats through the driver and the command line. The default run takes structured with one role lost
at a time; the whole is for campaigns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.events import Belief
from ledger.events.envelope import SeatKind
from ledger.plain_text import counted
from ledger.state.book import Book
from moot.app import opening
from moot.app.session import Session
from roles.seats.port import Request, Seat, SeatFailed, SeatReply
from rounds.protocols import PROTOCOLS
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from tests.cli.conftest import Moot, moot
from tests.protocols.playing import VARIANTS, begin, subsets
from tests.protocols.scripts import reply
from tests.rounds import openings
from tests.rounds.scripted import Script
from validators import rulebook

pytestmark = pytest.mark.slow

__all__ = ["moot"]  # a fixture

PLAIN: Final = sorted(PROTOCOLS.keys() - {"structured"})
DECIDES: Final[Mapping[str, str]] = {
    "structured": "S.close",
    "jugalbandi": "resolve",
    "single-pass": "plan",
    "council": "plan",
    "debate": "judging",
    "adversarial": "verdict",
    "devils-advocate": "verdict",
    "comparative": "scoring",
    "cross-examination": "assessment",
    "ratchet": "revision",
    "panel": "verdict",
    "priority": "rating",
    "tribunal": "revise",
    "crux": "B",
}
"""Protocol → the kind of step that its outcome is, said once more."""
Replies = Callable[[Book, Any, tuple[int, ...]], bytes]


class Losing:
    """A seat that answers by script, and refuses the steps of lost roles and lost steps."""

    kind: SeatKind = "command"

    def __init__(self, session: RunSession, lost: frozenset[str], replies: Replies) -> None:
        self._session, self._lost, self._replies = session, lost, replies

    async def reply(self, request: Request) -> SeatReply:
        """The scripted reply, or none."""
        if request.step.role in self._lost or request.step.id in self._lost:
            raise SeatFailed("refused", "lost in a test")
        content = self._replies(self._session.book(), request.step, request.brief.saw)
        return SeatReply(content=content, seat="command", isolation="trusted", simulated="fake")


def opened(path: Path, name: str, rules: dict[str, str] | None = None) -> RunSession:
    """A new run, as small as the protocol allows."""
    if name == "structured":
        return openings.begin(path, openings.rows(1, drift=[1]))
    if name == "jugalbandi":  # what it waits for, a person answers: tests/protocols/test_waiting.py
        rules = {"wait": "off", **(rules or {})}
    return begin(path, name, rules, options=2 if name == "comparative" else 3)


def ended(
    moot: Moot,
    path: Path,
    session: RunSession,
    lost: frozenset[str],
    monkeypatch: pytest.MonkeyPatch,
    replies: Replies | None = None,
) -> Book:
    """The run played to its end by `moot run`, with all that is said of it held to what its ledger says."""
    script: Replies = replies or (Script().reply if session.protocol.name == "structured" else reply)
    seat = Losing(session, lost, script)
    made: dict[str, Seat] = dict.fromkeys(session.book().state.roles, seat)

    def opened_already(*_: object, **__: object) -> tuple[Session, dict[str, Seat]]:
        return Session(session.run.path), made

    with monkeypatch.context() as patched:
        patched.setattr(opening, "opened", opened_already)
        said = moot("run", "-q", "The opening is given.", "--seats", "host", "--no-live")
    book = session.book()
    state = book.state
    about = f"{session.protocol.name} without {sorted(lost)}"
    assert state.finished, about
    answered, gone = len(state.answered), len(state.given_up)
    kind = DECIDES[session.protocol.name]
    decided = any(f".{kind}." in step or step.endswith(f".{kind}") for step in state.answered)
    word = "quorum" if not gone else "DEGRADED" if decided else "UNANSWERED"
    counts = f"{answered} of {counted(answered + gone, 'requested reply')} accepted"
    first = f"{word}: {counts}"
    assert said.code == (5 if gone else 0), about
    assert said.out.splitlines()[-3].startswith(first), (about, said.out.splitlines()[-3:])
    for verb in ("status", "decisions"):
        shown = moot(verb, path).out
        assert shown.startswith(first) if gone else counts in " ".join(shown.split()), about
    told = moot("decisions", path, "--json").json
    outcome = told["quorum"]
    assert (outcome["declared"], outcome["actual"]) == (answered + gone, answered), about
    assert outcome["kind"] == {"quorum": "whole"}.get(word, word.lower()), about
    assert sorted(one["step"] for one in outcome["lost"]) == sorted(state.given_up), about
    assert json.loads(moot("status", path, "--json").out)["quorum"] == outcome
    cited_replies_exist(book, told["decisions"])
    if not decided:
        assert not [one for one in told["decisions"] if one["type"] == "final"], about
    report = rulebook.check(book, session.verdicts.context())
    assert not [finding for finding in report.findings if finding.severity == "error"], about
    assert re_execute(book, session.protocol, session.controller).identical, about
    return book


def cited_replies_exist(book: Book, decisions: list[dict[str, Any]]) -> None:
    """Every decision cites something, and only what a seat said, or what was decided on such things."""
    for decision in decisions:
        assert decision["cites"], decision
        for cite in decision["cites"]:
            event = book.by_id[cite["id"]]
            said_by_a_seat = event.step in book.state.answered
            ruled = event.kind in ("decision", "verification") and event.by == "controller"
            # a belief that follows by Bayes from numbers that the role gave before the result
            derived = isinstance(event, Belief) and event.derived and _gave_its_numbers(book, event)
            assert said_by_a_seat or ruled or derived, (decision["id"], cite)


def _gave_its_numbers(book: Book, derived: Belief) -> bool:
    sealed = [belief for belief in book.of(Belief) if belief.role == derived.role and not belief.derived]
    return any(belief.given and belief.step in book.state.answered for belief in sealed)


def test_every_row_of_every_protocol_says_what_its_loss_means() -> None:
    """R-2: the table has an entry for each kind of step, and exactly one kind decides in each protocol.

    In `crux` it is E where options are made of the answers, and B elsewhere.
    """
    assert set(PROTOCOLS) == set(DECIDES)
    for name, losses in ((name, protocol.losses) for name, protocol in PROTOCOLS.items()):
        assert {kind.split(".safety")[0] for kind, loss in losses.items() if loss.decides} == {
            DECIDES[name],
            *(["E"] if name == "crux" else []),
        }


@pytest.mark.parametrize("name", PLAIN)
def test_any_roles_lost(name: str, tmp_path: Path, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-2: quorum first, the exit code follows, and decisions rest on replies that exist."""
    roles = opened(tmp_path / "whole", name).book().state.roles
    for n, lost in enumerate(subsets(roles)):
        path = tmp_path / str(n)
        ended(moot, path, opened(path, name), lost, monkeypatch)


@pytest.mark.parametrize("name", PLAIN)
def test_any_step_lost(name: str, tmp_path: Path, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-2: the same with every single step."""
    path = tmp_path / "whole"
    steps = ended(moot, path, opened(path, name), frozenset(), monkeypatch).state.answered
    for n, step in enumerate(steps):
        path = tmp_path / str(n)
        ended(moot, path, opened(path, name), frozenset({step}), monkeypatch)


def test_structured_without_one_role_or_all(
    tmp_path: Path, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-2: four roles and a verifier, each lost alone, and all of them."""
    for n, lost in enumerate([*({role} for role in openings.ROLES), set(openings.ROLES)]):
        path = tmp_path / str(n)
        ended(moot, path, opened(path, "structured"), frozenset(lost), monkeypatch)


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "rules"), VARIANTS, ids=[f"{name}-{rules}" for name, rules in VARIANTS])
def test_variants_without_any_roles_or_any_step(
    name: str, rules: dict[str, str], tmp_path: Path, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-2: two rounds, several judges, more members: every set of roles, then every single step."""
    path = tmp_path / "whole"
    state = ended(moot, path, opened(path, name, rules), frozenset(), monkeypatch).state
    single = (frozenset({step}) for step in state.answered)
    for n, lost in enumerate([*subsets(state.roles), *single]):
        path = tmp_path / str(n)
        ended(moot, path, opened(path, name, rules), lost, monkeypatch)


@pytest.mark.campaign
def test_structured_without_any_roles_or_any_step(
    tmp_path: Path, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-2: every set of roles, then every single step."""
    path = tmp_path / "whole"
    steps = ended(moot, path, opened(path, "structured"), frozenset(), monkeypatch).state.answered
    for n, lost in enumerate([*subsets(openings.ROLES), *(frozenset({step}) for step in steps)]):
        path = tmp_path / str(n)
        ended(moot, path, opened(path, "structured"), lost, monkeypatch)
