"""The named variants of a protocol that a deliberation file chooses, and the rules that every new run has."""

from __future__ import annotations

from ledger.state import decided
from ledger.state.decided import ANSWERS_QUOTED, WITH_QUESTION
from roles.protocol import Protocol, Rules
from rounds.protocols import losses, with_prompts
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
    prompts = {"prompts": deliberation.rules.get("prompts")}
    chosen = with_prompts(protocol, prompts) if "prompts" in protocol.variants else protocol
    for rule, values in chosen.variants.items():
        if rule == "positions":
            continue
        value = deliberation.rules.get(rule, values[0])
        if value not in values:
            raise DeliberationError(
                f"rule {rule} of {protocol.name} is not {value!r}", name, f"choose one of {', '.join(values)}"
            )
        found[rule] = value
    found |= _of_version(deliberation, chosen, found, name)
    found["screening"] = RULES_VERSION
    key, value = decided.RULE
    found[key] = value
    found[losses.RULE] = losses.VERSION
    found[ANSWERS_QUOTED] = WITH_QUESTION
    return found


def _of_version(
    deliberation: Deliberation, chosen: Protocol, found: Rules, name: str
) -> dict[str, str | int | bool | None]:
    """`positions` as it is said in either of two places, `off` in one of them being off, where the version has it."""
    values = chosen.variants.get("positions")
    if values is None:
        return {}
    said = deliberation.rules.get("positions"), deliberation.deliberation.positions
    wanted = "off" if "off" in said else said[0] or said[1] or values[0]
    if wanted not in values:
        raise DeliberationError(
            f"positions = {wanted} is not known to {found.get('prompts')}",
            name,
            f"choose {' or '.join(values)}",
        )
    return {"positions": wanted}
