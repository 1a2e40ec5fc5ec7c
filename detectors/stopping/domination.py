"""FM-4, domination: one role whose claims are cited, and who leads, far beyond its share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from detectors.observations import deliberating_roles
from detectors.stopping.betting import Stream, e_values, mixed, product, share_stream
from detectors.stopping.parameters import GateParameters
from detectors.stopping.reading import ModeReading, late_of, read, thresholds
from detectors.stopping.rounds import RoundUnits, Units
from ledger.state.state import State


def domination(
    state: State, rounds: Sequence[RoundUnits], parameters: GateParameters, planned: int
) -> ModeReading:
    """Return FM-4 after the last round, for the role with the most evidence."""
    roles = deliberating_roles(state)
    bets = domination_bets(parameters, len(roles))
    per_role: dict[str, tuple[tuple[float, ...], list[Stream], list[Units]]] = {}
    for role in roles:
        units = [
            Units(
                [by for raised, by in each.cited_claims if raised == role],
                [by for raised, by in each.cited_claims if raised != role],
            )
            for each in rounds
        ]
        # A round that a role was absent from is no trial: it could not have led.
        leads = [(int(each.lead == role), int(each.absent != role)) for each in rounds]
        c = share_stream([unit.counts for unit in units], *bets[0])
        lead = share_stream(leads, *bets[1])
        streams = [c, lead, product(c, lead)]
        values = [e_values(stream, planned) for stream in streams]
        per_role[role] = (mixed(parameters.stakes.domination, values), streams, units)
    each_role = zip(*(values for values, _, _ in per_role.values()), strict=True)
    # The mean of e-values is an e-value, so looking at every role costs no false alarms.
    mean = [math.fsum(at) / len(roles) for at in each_role]  # the same whatever the roles' order
    # The mean over roles decides the alarm. The sentence names the one role that carries most of it.
    who = max(roles, key=lambda role: per_role[role][0][-1] if rounds else 0.0)
    return read(
        "FM-4",
        mean,
        per_role[who][2],
        per_role[who][1],
        needed=parameters.domination_cited.citations_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{{bad}} of {{units}} claims that decisions cite since R{{onset}} are {who}'s, who led "
        f"{sum(each.lead == who for each in rounds)} of {len(rounds)} rounds",
        subject=who,
        tolerated=bets[0][0],
        late=math.fsum(late_of(streams[:1], parameters) for _, streams, _ in per_role.values()) / len(roles),
    )


def domination_bets(
    parameters: GateParameters, roles: int
) -> tuple[tuple[float, tuple[float, ...]], tuple[float, tuple[float, ...]]]:
    """Return the tolerated shares of citations and of leads among `roles` roles, and the worse shares to bet on."""
    return parameters.domination_cited.bet(roles), parameters.domination_led.bet(roles)
