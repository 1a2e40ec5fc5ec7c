"""The agenda of a run: what its cruxes are worth now, by the newest numbers, and which of them are still open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from detectors.beliefs.parameters import CruxTerms
from detectors.beliefs.pool import ByRole
from detectors.beliefs.triage import CruxValue
from detectors.beliefs.update import CruxResult, Predicted, shifted
from detectors.beliefs.values import Conditional, evsi, mean_conditional, posterior
from ledger.events.values import EvidenceClass, HowTested

ByClaim = Mapping[str, "OpenCrux"]
"""Every crux of a run by its claim's id, in the order in which they came up."""


class AskedCrux(NamedTuple):
    """A crux in the round that asked about it: sealed numbers by role, predictions, the result and its class."""

    claim: str
    how: HowTested
    given: Mapping[str, Conditional]
    predicts: Mapping[str, Predicted]
    result: CruxResult | None = None
    evidence: EvidenceClass | None = None
    handed_in: bool = False
    """A person or a measurement has spoken: nobody is asked about it again."""

    @property
    def held(self) -> bool | None:
        """True or False for a result that is one way or the other."""
        return {"holds": True, "fails": False}.get(self.result or "")


class OpenCrux(NamedTuple):
    """A crux as the rounds left it, with the newest numbers by role; `rounds`: in how many it was asked about.

    `settled`: held or failed, be it by argument where nothing better is to be had here. `argued`: an argued verdict
    came, and a second counts nothing.
    """

    claim: str
    how: HowTested
    given: Mapping[str, Conditional]
    rounds: int
    settled: bool
    argued: bool


class ShownCrux(NamedTuple):
    """A crux of a round as it is shown: the means over the pool, and what a test is worth at two qualities."""

    claim: str
    how: HowTested
    numbers: Conditional | None
    reproduced: Fraction | None
    argued: Fraction | None
    result: CruxResult | None
    evidence: EvidenceClass | None


def agenda_after(
    number: int,
    agenda: ByClaim,
    cruxes: Sequence[AskedCrux],
    before: ByRole,
    after: ByRole,
    terms: CruxTerms,
) -> dict[str, OpenCrux]:
    """Every crux with the numbers that the next look reads: moved along with each role's belief of this round."""
    found = dict(agenda)
    for crux in cruxes:
        found[crux.claim] = _asked(number, found.get(crux.claim), crux, terms)
    return {
        claim: one._replace(
            given={
                role: shifted(given, before[role], after[role]) if role in before else given
                for role, given in one.given.items()
            }
        )
        for claim, one in found.items()
    }


def _asked(number: int, known: OpenCrux | None, crux: AskedCrux, terms: CruxTerms) -> OpenCrux:
    """The crux after a round that asked about it. Round 1 proposes: it counts as no round of asking."""
    given = crux.given or (known.given if known else {})
    settled, argued = (known.settled, known.argued) if known else (False, False)
    if crux.held is not None and crux.evidence is not None:
        quality = terms.parameters.qualities[crux.evidence]
        if not (argued and crux.evidence == "argued"):
            given = {
                role: one._replace(q=posterior(one.q, crux.held, quality)) for role, one in given.items()
            }
        settled = settled or crux.evidence != "argued" or quality >= (terms.here(crux.how) or 0)
        argued = argued or crux.evidence == "argued"
    settled = settled or crux.handed_in
    counted = (number > 1 and bool(crux.given)) or crux.result is not None
    return OpenCrux(crux.claim, crux.how, given, (known.rounds if known else 0) + counted, settled, argued)


def is_open(crux: OpenCrux, terms: CruxTerms) -> bool:
    """Not settled, and not asked about as often as may be."""
    return not crux.settled and crux.rounds < terms.parameters.crux.rounds_asked_at_most


def mean_in_pool(given: Mapping[str, Conditional], roles: ByRole) -> Conditional | None:
    """The mean over roles with numbers that are in the pool; None without any."""
    named = [one for role, one in given.items() if role in roles]
    return mean_conditional(named) if named else None


def shown_cruxes(
    cruxes: Sequence[AskedCrux], agenda: ByClaim, roles: ByRole, terms: CruxTerms
) -> Iterator[ShownCrux]:
    """The tested with the sealed numbers before the result, the open with those that the stop reads."""
    tested = {crux.claim: crux for crux in cruxes if crux.result is not None}
    qualities = terms.parameters.qualities
    for claim, crux in agenda.items():
        if claim not in tested and not is_open(crux, terms):
            continue
        asked = tested.get(claim)
        numbers = mean_in_pool(asked.given if asked else crux.given, roles)
        yield ShownCrux(
            claim=claim,
            how=crux.how,
            numbers=numbers,
            reproduced=evsi(numbers, qualities["reproduced"]) if numbers else None,
            argued=evsi(numbers, qualities["argued"]) if numbers else None,
            result=asked.result if asked else None,
            evidence=asked.evidence if asked else None,
        )


def value_of(crux: OpenCrux, mean: Conditional, terms: CruxTerms) -> CruxValue:
    """What a test of an open crux is worth, in points: 0 here where nobody here can test it."""
    here = terms.here(crux.how)
    return CruxValue(
        claim=crux.claim,
        how=crux.how,
        at_best=evsi(mean, terms.parameters.at_best[crux.how]),
        here=Fraction() if here is None else evsi(mean, here),
        testable=here is not None,
        planned=crux.rounds > 0,
    )
