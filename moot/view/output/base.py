"""What `--json` prints: results of the library, and those that only a verb has."""

from __future__ import annotations

from ledger.result import Result as Output

__all__ = ["Output"]
