"""DEC002, warning: of the claims that a decision rests on, at least one has been tested and has not fallen.

Said at the event that made it so, and gone with the one that mends it. It is not the same as AT RISK
(`ledger.decided`), which one fallen claim is enough for and an untested one is not: runs without `rules.decisions`
called it so, and keep the words. Source: SD-47, SD-78, SD-99, FORMAT 5 (*in force*).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.decided import SUPPORT, counts_deliberated
from ledger.events import Decision
from ledger.lifecycle import FALLEN
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Stretches of time in which every claim that a decision rests on was pending or fallen."""
    for event in docket.events:
        if isinstance(event, Decision):
            claims = tuple(
                cite.id for cite in event.cites if cite.type == "claim" and cite.relation in SUPPORT
            )
            if claims:
                yield from _stretches(event, claims, docket)


def _stretches(decision: Decision, claims: tuple[str, ...], docket: Docket) -> Iterator[Breach]:
    moments = {decision.seq}
    moments.update(seq for claim in claims for seq, _, _ in docket.changes(claim) if seq > decision.seq)
    since: int | None = None
    for seq in sorted(moments):
        shaky = all(_is_shaky(claim, seq, docket) for claim in claims)
        if shaky and since is None:
            since = seq
        elif not shaky and since is not None:
            yield _breach(decision, claims, since, seq, docket)
            since = None
    if since is not None:
        yield _breach(decision, claims, since, None, docket)


def _is_shaky(claim: str, through: int, docket: Docket) -> bool:
    status = docket.status_at(claim, through)
    return status is None or status == "pending" or status in FALLEN


def _breach(
    decision: Decision, claims: tuple[str, ...], since: int, until: int | None, docket: Docket
) -> Breach:
    standing = ", ".join(f"{claim} is {docket.status_at(claim, since) or 'unknown'}" for claim in claims)
    says = "rests on no tested claim that stands" if counts_deliberated(docket.book.state) else "is AT RISK"
    return Breach(since, f"{decision.id} {says}: {standing}", until=until)


RULE: Final = Rule(
    code="DEC002",
    name="decision_rests_on_tested_claims",
    severity="warning",
    summary="Of the claims that a decision rests on, at least one has been tested and has not fallen.",
    check=check,
)
