"""Brief of a step: derived from the ledger, ordered by a layout, made of templates and quotations (FORMAT 5, 6)."""

from roles.brief.context import Block, BriefCache, BriefUnavailable
from roles.brief.derive import REPAIR_CHARACTERS_MAX, Brief, derive, repair

__all__ = ["REPAIR_CHARACTERS_MAX", "Block", "Brief", "BriefCache", "BriefUnavailable", "derive", "repair"]
