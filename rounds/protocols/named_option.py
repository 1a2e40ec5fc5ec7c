"""Named options: whether a decision says in a field, and not only in its words, which option it is for."""

from __future__ import annotations

from typing import Final

from ledger.events import RunOpened

VERSION: Final = 3
"""Version of `single-pass` and `council` from which a reply to a question with options names one of them, or none."""
_PROTOCOLS: Final = frozenset({"single-pass", "council"})


def names_its_option(opening: RunOpened) -> bool:
    """Return whether each decision of a run names its option in `about`."""
    if opening.v == 1:  # replies in version 1 of the format have no field for it
        return False
    return opening.protocol in _PROTOCOLS and opening.protocol_version >= VERSION and bool(opening.options)
