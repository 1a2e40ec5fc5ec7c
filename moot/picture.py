"""Pictures for the documentation, drawn from a run by the views themselves:

python -m moot.picture live RUN docs/images/demo.svg --after r3.E.check3.verifier
python -m moot.picture signals RUN signals.svg --profile gates --at 310
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.terminal_theme import MONOKAI

from ledger.state.book import Book, commit_end
from ledger.store.store import RunStore
from moot.terminal.live_layout import Stage
from moot.terminal.panel import read_panel, whole_panel
from moot.view.scene import scene_of
from roles.protocol import open_steps
from rounds.protocols import protocol_of

COLUMNS: Final = 130
_FONT_FACES: Final = "@font-face"


def live(run: RunStore, after: str) -> str:
    """The live view as it stood when the step `after` had been answered, as an SVG that fetches nothing."""
    whole = run.book()
    seq = whole.state.answered[after]
    past = whole.first(commit_end(whole.events, seq))
    return _drawn(Stage(scene_of(past, _asked(past), None, ())), run)


def signals(run: RunStore, profile: str | None = None, at: int | None = None) -> str:
    """The stop panel as `moot signals` prints it, now or after event `at`."""
    import moot
    from moot.app.signals import thresholds_of

    ours = moot.open_run(run.path)
    report = msgspec.structs.replace(moot.signals(ours, profile, at), run=run.path.name)
    thresholds = thresholds_of(ours, ours.state) if report.profile == "gates" else None
    return _drawn(whole_panel(read_panel(ours.stream(at)), report, thresholds), run)


def _asked(past: Book) -> dict[str, float]:
    opened = past.state.opened
    return {step.id: 0.0 for step in open_steps(protocol_of(opened), past.state)} if opened else {}


def _drawn(content: object, run: RunStore) -> str:
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        markup=False,
    )
    console.print(content)
    picture = console.export_svg(title=f"moot · {run.path.name} (recorded)", theme=MONOKAI)
    return _without_fonts(picture)


def _without_fonts(picture: str) -> str:
    """Rich's template names fonts on the web; a picture in a repository fetches nothing."""
    kept: list[str] = []
    inside = False
    for line in picture.splitlines():
        inside = inside or _FONT_FACES in line
        if not inside:
            kept.append(line.rstrip())
        inside = inside and "}" not in line
    return "\n".join(kept).replace("Fira Code, monospace", "monospace") + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Write one picture."""
    parser = argparse.ArgumentParser(prog="python -m moot.picture", description=__doc__)
    parser.add_argument("view", choices=("live", "signals"))
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--after", help="live: the step that had just been answered")
    parser.add_argument("--profile", help="signals: the profile, if not the run's own")
    parser.add_argument("--at", type=int, help="signals: as they read after this event")
    said = parser.parse_args(arguments)
    run = RunStore(said.run)
    if said.view == "live":
        picture = live(run, said.after or next(reversed(run.book().state.answered)))
    else:
        picture = signals(run, said.profile, said.at)
    said.file.parent.mkdir(parents=True, exist_ok=True)
    said.file.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
