"""Run all benchmarks or one part: `python -m benchmarks [PART] [OPTIONS]`. The parts are modules of this package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Final

PARTS: Final = (
    "commands",
    "commits",
    "crux",
    "gate",
    "ledger",
    "model_seats",
    "recorded",
    "signals",
    "viewer",
)
"""Modules of this package, each with a `main` that returns 1 when a target is missed."""


def measure(part: str, options: list[str]) -> int:
    """Run one part and return its exit code."""
    main: Callable[[list[str]], int] = import_module(f"benchmarks.{part}").main
    return main(options)


def main(arguments: list[str]) -> int:
    """Run the named part, or all parts; return 1 when a target is missed."""
    if arguments:
        part, *options = arguments
        if part not in PARTS:
            print(f"no part {part!r}: {', '.join(PARTS)}", file=sys.stderr)
            return 2
        return measure(part, options)
    missed = False
    for part in PARTS:
        print(f"\n{part}", flush=True)
        missed |= measure(part, []) != 0
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
