"""Sealed positions and flips as the keys of a verification's row: before, after, and what changed (DETECTORS FM-1)."""

from __future__ import annotations

from typing import Any

from ledger.events import Flip, Verification
from ledger.interchange.skill_places import Places
from ledger.state.book import Book


class PositionRows:
    """Positions and flips of a run by the verification that they are about."""

    def __init__(self, book: Book, places: Places) -> None:
        self._before: dict[str, dict[str, str]] = {}
        self._flips: dict[str, list[dict[str, Any]]] = {}
        about: dict[str, str] = {}
        for identity, position in book.state.positions.items():
            about[identity] = position.on
            self._before.setdefault(position.on, {})[position.role] = position.stance
        for event in book.of(Flip):
            facts = book.state.flips[event.id or ""]
            refs = [places.ref(one.ref, event.by) for one in event.because]
            because = None if not refs else refs[0] if len(refs) == 1 else refs
            if event.of in about:
                row = {"because": because, "role": facts.role, "to": event.to}
                self._flips.setdefault(about[event.of], []).append(row)

    def of(self, event: Verification, keys: frozenset[str]) -> dict[str, Any]:
        """`positions_pre`, `positions_post` and `flips` of a verification, as far as `keys` has them."""
        before = self._before.get(event.id or "")
        if before is None:
            return {}
        flips = self._flips.get(event.id or "", [])
        after = before | {flip["role"]: flip["to"] for flip in flips}
        found = {"positions_pre": before, "positions_post": after, "flips": flips}
        own = event.by != "import"
        return {key: value for key, value in found.items() if own or f"verifications.{key}" in keys}
