"""The named variants of a protocol that a deliberation file chooses."""

from __future__ import annotations

from roles.protocol import Protocol
from rounds.screening import RULES_VERSION
from rounds.setup.deliberation import Deliberation
from rounds.setup.toml_file import DeliberationError


def chosen_rules(
    deliberation: Deliberation, protocol: Protocol, name: str
) -> dict[str, str | int | bool | None]:
    """Return every named variant outright; `positions` can be set in two places, and `off` in either is off."""
    chosen: dict[str, str | int | bool | None] = {}
    for rule in deliberation.rules:
        if rule not in protocol.variants:
            known = ", ".join(protocol.variants) or "none"
            raise DeliberationError(
                f"no rule {rule!r} in protocol {protocol.name}", name, f"its rules are: {known}"
            )
    # Defaults are written out: a later version may change one, and this run must keep what
    # it was opened with.
    for rule, values in protocol.variants.items():
        if rule == "positions":
            continue
        value = deliberation.rules.get(rule, values[0])
        if value not in values:
            raise DeliberationError(
                f"rule {rule} of {protocol.name} is not {value!r}", name, f"choose one of {', '.join(values)}"
            )
        chosen[rule] = value
    return {**chosen, **_positions(deliberation, protocol, name), "screening": RULES_VERSION}


def _positions(deliberation: Deliberation, protocol: Protocol, name: str) -> dict[str, str]:
    """Return `positions` from either of two places, `off` in one of them being off."""
    values = protocol.variants.get("positions")
    if values is None:
        return {}
    settings = deliberation.rules.get("positions"), deliberation.deliberation.positions
    # Turning positions off loses evidence, and the waiver of the opening must then be true in every case.
    wanted = "off" if "off" in settings else settings[0] or settings[1] or values[0]
    if wanted not in values:
        raise DeliberationError(
            f"positions = {wanted} is not known to {protocol.name}",
            name,
            f"choose {' or '.join(values)}",
        )
    return {"positions": wanted}
