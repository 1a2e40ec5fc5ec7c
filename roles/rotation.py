"""Who leads a round: the active role that has led least so far (SD-52)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def next_lead(roles: Sequence[str], leads_so_far: Iterable[str | None], absent: str | None = None) -> str:
    """The lead of the next round.

    `roles` are the roles that can lead, in protocol order, which breaks ties; `leads_so_far` are the leads of all
    earlier rounds, stress rounds too, and names that are no role count for nobody. The absent role cannot lead.
    Somebody must be left: a round in which every role is absent is a caller's bug.
    """
    led = list(leads_so_far)
    present = [role for role in roles if role != absent]
    assert present, "a round needs a role that is present"
    return min(present, key=led.count)
