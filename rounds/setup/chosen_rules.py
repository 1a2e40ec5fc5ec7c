"""The named variants of a protocol that a deliberation file chooses."""

from __future__ import annotations

from roles.protocol import Protocol
from rounds.screening import RULES_VERSION
from rounds.setup.deliberation import Deliberation
from rounds.setup.toml_file import DeliberationError


def chosen_rules(
    deliberation: Deliberation, protocol: Protocol, name: str
) -> dict[str, str | int | bool | None]:
    """Every named variant outright; `positions` can be said in two places, and `off` in either is off."""
    found: dict[str, str | int | bool | None] = {}
    for rule in deliberation.rules:
        if rule not in protocol.variants:
            known = ", ".join(protocol.variants) or "none"
            raise DeliberationError(
                f"no rule {rule!r} in protocol {protocol.name}", name, f"its rules are: {known}"
            )
    for rule, values in protocol.variants.items():
        if rule == "positions":
            continue
        value = deliberation.rules.get(rule, values[0])
        if value not in values:
            raise DeliberationError(
                f"rule {rule} of {protocol.name} is not {value!r}", name, f"choose one of {', '.join(values)}"
            )
        found[rule] = value
    return {**found, **_positions(deliberation, protocol, name), "screening": RULES_VERSION}


def _positions(deliberation: Deliberation, protocol: Protocol, name: str) -> dict[str, str]:
    """Return `positions` as it is said in either of two places, `off` in one of them being off."""
    values = protocol.variants.get("positions")
    if values is None:
        return {}
    said = deliberation.rules.get("positions"), deliberation.deliberation.positions
    wanted = "off" if "off" in said else said[0] or said[1] or values[0]
    if wanted not in values:
        raise DeliberationError(
            f"positions = {wanted} is not known to {protocol.name}",
            name,
            f"choose {' or '.join(values)}",
        )
    return {"positions": wanted}
