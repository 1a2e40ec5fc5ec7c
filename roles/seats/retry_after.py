"""The wait that a service asks for in its headers: seconds, milliseconds or a date (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the service asks to wait; None without a readable wait, and then the driver chooses."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", value):
            return float(value) * unit
    until = _instant(headers.get("retry-after", ""))
    if until is None:
        return None
    # The server's own clock made the date, so its Date header is the better start; without it ours has to do.
    start = _instant(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - start).total_seconds())


def _instant(value: str) -> datetime | None:
    try:
        instant = parsedate_to_datetime(value)
    # A server may send anything here; what is no date asks for no wait.
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
