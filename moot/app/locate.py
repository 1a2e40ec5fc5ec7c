"""Where a run is: a directory, an id under ./runs, or @last."""

from __future__ import annotations

from pathlib import Path

from moot.app.settings import read_settings
from moot.errors import MootError

LAST = "@last"
SHOWN = 5


def find_run(said: str) -> Path:
    """The directory of a run. That it holds one is for the reader to see. Raises `MootError` with what there is."""
    runs = read_settings().runs
    if said == LAST:
        return _last(runs)
    for path in (Path(said), runs / said):
        if said and path.is_dir():
            return path
    if said and Path(said).exists():
        raise MootError("not_a_run", f"{said!r} is a file", said, "give the directory that holds it")
    raise MootError("not_a_run", f"no run {said!r}", str(runs), _mend(said, runs))


def runs_under(runs: Path) -> list[Path]:
    """Directories with a ledger below `runs`, the last committed first."""
    heads = [head for pattern in ("*/head", "examples/*/head") for head in runs.glob(pattern)]
    return [
        head.parent for head in sorted(heads, key=lambda head: (-head.stat().st_mtime_ns, head.parent.name))
    ]


def _last(runs: Path) -> Path:
    found = [path for path in runs_under(runs) if path.parent == runs]
    if not found:
        raise MootError("not_a_run", "there is no last run", str(runs), "start one with `moot run`")
    return found[0]


def _mend(said: str, runs: Path) -> str:
    from difflib import get_close_matches

    names = [str(path.relative_to(runs)) for path in runs_under(runs)]
    near = get_close_matches(said, names, 1, 0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return f"runs there: {', '.join(names[:SHOWN])}{more}"
    return "start one with `moot run`, or give a run's directory"
