"""Draft of a study file with the usual arms, and the smallest difference that its items can show."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.errors import usage
from moot.studies import statistics
from moot.studies.definition import FILE, read_study
from moot.view.study import StudyDraft
from rounds.setup.deliberation import toml_value

DRAWS: Final = 4
SIZES: Final = (12, 30, 100)
"""Numbers of items for which a draft lists the smallest difference that they can show."""
ARMS: Final = f'''
[[arm]]
id = "single"
what = "one reply"
protocol = "single-pass"

[[arm]]
id = "best-of-{DRAWS}"
what = "{DRAWS} independent replies, and one more that chooses among them"
protocol = "single-pass"
best_of = {DRAWS}

[[arm]]
id = "council"
what = "three independent replies side by side; nothing is tested"
protocol = "council"

[[arm]]
id = "crux"
what = "sealed forecasts, then tests of what could change the answer"
protocol = "crux"
# experiments = "on"   # run programs that seats write, inside a sandbox (docs/experiments.md)
'''
EXAMPLE: Final = """[[item]]
id = "example"
question = "Which of two boxes holds more: one of 3 x 4 x 5, or one of 2 x 5 x 6?"
options = ["the first", "the second", "both the same"]
"""


def drafted(folder: Path, question: str | None, items: tuple[str, ...]) -> StudyDraft:
    """Write study.toml; `items` are deliberation files below the folder. Raises `MootError` if it exists already."""
    place = folder / FILE
    if place.exists():
        raise usage("there is a study already", "name another directory", str(place))
    rows = [_row(folder, Path(item)) for item in items]
    asked = question or "Does crux answer more of these questions right than one reply?"
    head = "\n".join(
        (
            "[study]",
            f"question = {toml_value(asked)}",
            'planned = "Right answers of every arm against single, paired by item: 95 % interval, McNemar with Holm."',
            'baseline = "single"',
            "repetitions = 1",
            "seed = 1",
            'equal_cost = "stated"        # or "tokens", "usd", "calls": then every arm needs [arm.budget]',
            '# keys_sha256 = "…"          # of the file with the right answers, so that nobody can fit them later',
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{head}\n\n{''.join(rows) or EXAMPLE}{ARMS}", encoding="utf-8")
    try:
        study = read_study(str(folder))
    # A draft that cannot be read, or was interrupted, must not block the next attempt.
    except BaseException:
        place.unlink()
        raise
    number = len(study.tables)
    # The draft's own number stands among round ones, so that a reader sees what more items would bring.
    sizes = sorted({number, *SIZES})
    return StudyDraft(
        study=str(folder), items=number, shows={str(n): statistics.smallest_difference(n) for n in sizes}
    )


def _row(folder: Path, item: Path) -> str:
    """Return a row for a deliberation file, with its path relative to the study."""
    try:
        inside = item.resolve().relative_to(folder.resolve())
    except ValueError:
        raise usage(f"{item} lies outside the study", f"copy it below {folder}", str(item)) from None
    # Files called deliberation.toml are told apart by their directories.
    name = inside.parent.name if inside.stem == "deliberation" and inside.parent.name else inside.stem
    return f'[[item]]\nid = "{name.lower()}"\nfile = {toml_value(inside.as_posix())}\n\n'
