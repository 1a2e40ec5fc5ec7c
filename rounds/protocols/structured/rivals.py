"""Choice of the option for a role's claim of a round: the least tested options come first.

Left to themselves, roles raise claims about the leader, and about two options at once; in recorded runs an option
was then left without a single tested claim. With the rule `rivals`, each role gets one option per round for its claim.
"""

from __future__ import annotations

from typing import Final

from detectors.stopping.readiness import counted_alone, dropped
from ledger.state.state import State
from rounds.protocols.schedule import active_roles

RULE: Final = "rivals"
SPREAD: Final = "spread"


def spreads(state: State) -> bool:
    """Return whether roles get an option for their claim; runs opened without the rule never did."""
    return state.opening.rules.get(RULE) == SPREAD and len(state.options) > 1


def option_for(state: State, round_: int, role: str) -> str | None:
    """Return the option for a role's claim, of those that no verdict dropped; `state` is that at the opening of phase
    D.

    A pending claim about one option alone counts like a test. Roles choose one after the other, in
    role order, and ties follow the order of the options.
    """
    counts, gone = counted_alone(state), dropped(state)
    # Without pending claims in the count, all roles of a round would be sent to the same option.
    for claim in state.claims.values():
        if claim.status == "pending" and len(claim.about) == 1 and claim.about[0] in counts:
            counts[claim.about[0]] += 1
    living = {option: count for option, count in counts.items() if option not in gone}
    # With one living option there is no rival left to spread claims over.
    for author in active_roles(state, round_) if len(living) > 1 else ():
        option = min(living, key=living.__getitem__)
        living[option] += 1
        if author == role:
            return option
    return None


YOURS: Final = """\
let the claim that you raise be about {option} alone (`about`: {option} and no other), for it or against it: options
can be compared only when each was tested. Where nothing about {option} alone is worth a test, say so in a finding, and
raise what is"""
