"""The present instant, as a ledger writes it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """`2026-03-04T05:06:07.000000Z`"""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
