"""moot: structured deliberations, kept in a ledger that can be checked.

    import moot

    run = moot.open_run("runs/2026-03-04-kfmr")
    moot.check(run).ok
    moot.signals(run, profile="text").advice

Everything here is imported when it is first used. A `run` argument takes a path or a `Run`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ledger.interchange.jugalbandi_counts import (
        jugalbandi_counts as jugalbandi_counts,
    )
    from moot.api import (
        Run as Run,
    )
    from moot.api import (
        check as check,
    )
    from moot.api import (
        diff as diff,
    )
    from moot.api import (
        import_run as import_run,
    )
    from moot.api import (
        open_run as open_run,
    )
    from moot.api import (
        run_deliberation as run_deliberation,
    )
    from moot.api import (
        run_deliberation_async as run_deliberation_async,
    )
    from moot.api import (
        signals as signals,
    )
    from moot.api import (
        verify as verify,
    )
    from rounds.protocols.debate_score import (
        score_debate as score_debate,
    )
    from rounds.protocols.votes import (
        aggregate_votes as aggregate_votes,
    )
    from rounds.screening import (
        screen as screen,
    )

__version__: Final = "0.1.0"

_RULES: Final = {
    "aggregate_votes": "rounds.protocols.votes",
    "jugalbandi_counts": "ledger.interchange.jugalbandi_counts",
    "score_debate": "rounds.protocols.debate_score",
    "screen": "rounds.screening",
}
"""Pure functions, one for every rule in code: name → where it lives."""

__all__ = [
    "Run",
    "__version__",
    "aggregate_votes",
    "check",
    "diff",
    "import_run",
    "jugalbandi_counts",
    "open_run",
    "run_deliberation",
    "run_deliberation_async",
    "score_debate",
    "screen",
    "signals",
    "verify",
    "version",
]


def version() -> str:
    """The version of moot, as `run_opened.moot` records it."""
    return __version__


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_RULES.get(name, "moot.api")), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
