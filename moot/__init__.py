"""moot: structured deliberations, kept in a ledger that can be checked.

    import moot

    session = moot.start({"deliberation": {"question": "Which storage?", "protocol": "priority"}})
    outcome = session.play(lambda step: answer(step.brief, step.schema))
    outcome.answer

Only names under `moot` are stable (docs/library.md); the other packages are its implementation. Everything is imported
on first use. A `run` argument takes a path or a `Run`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # isort: off
    import moot.errors as errors
    from ledger.interchange.jugalbandi import jugalbandi_counts as jugalbandi_counts
    from moot.api import (
        Run as Run,
        check as check,
        diff as diff,
        export_run as export_run,
        import_run as import_run,
        list_runs as list_runs,
        open_run as open_run,
        report as report,
        signals as signals,
        verify as verify,
    )
    from moot.app.opening import (
        gate as gate,
        protocols as protocols,
    )
    from moot.app.driving import (
        resume as resume,
        run_deliberation as run_deliberation,
        run_deliberation_async as run_deliberation_async,
        start as start,
    )
    from moot.app.forks import fork as fork
    from moot.app.session import Session as Session
    from moot.view.outcome import Outcome as Outcome
    from moot.view.results import Submission as Submission
    from moot.view.steps import OpenStep as OpenStep
    from rounds.protocols.votes import aggregate_votes as aggregate_votes
    from rounds.screening import screen as screen
    # isort: on

__version__: Final = "0.1.0"

_PLACES: Final = {
    "Run": "moot.api",
    "check": "moot.api",
    "diff": "moot.api",
    "export_run": "moot.api",
    "fork": "moot.app.forks",
    "gate": "moot.app.opening",
    "import_run": "moot.api",
    "list_runs": "moot.api",
    "open_run": "moot.api",
    "protocols": "moot.app.opening",
    "report": "moot.api",
    "resume": "moot.app.driving",
    "run_deliberation": "moot.app.driving",
    "run_deliberation_async": "moot.app.driving",
    "signals": "moot.api",
    "start": "moot.app.driving",
    "verify": "moot.api",
    "Session": "moot.app.session",
    "OpenStep": "moot.view.steps",
    "Outcome": "moot.view.outcome",
    "Submission": "moot.view.results",
    "aggregate_votes": "rounds.protocols.votes",
    "jugalbandi_counts": "ledger.interchange.jugalbandi",
    "screen": "rounds.screening",
}
"""Public name → its module."""

__all__ = [*_PLACES, "__version__", "errors", "version"]  # pyright: ignore[reportUnsupportedDunderAll]


def version() -> str:
    """Return the version of moot, as `run_opened.moot` records it."""
    return __version__


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("moot.errors")
    # Lazy imports (PEP 562): `import moot` stays fast, whatever a program uses of it.
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
