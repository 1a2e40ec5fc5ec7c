"""Choose the lead of a round: the present role with the fewest leads so far (SD-52)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def next_lead(roles: Sequence[str], leads_so_far: Iterable[str | None], absent: str | None = None) -> str:
    """Return the lead of the next round.

    `roles`: the roles that can lead, in protocol order, which breaks ties. `leads_so_far`: the leads of all earlier
    rounds, stress rounds included; other names are ignored. The absent role cannot lead. At least one role must be
    present.
    """
    led = list(leads_so_far)
    present = [role for role in roles if role != absent]
    assert present, "a round needs a role that is present"
    # `min` returns the first of equals, so ties go to the role that is earlier in protocol order.
    return min(present, key=led.count)
