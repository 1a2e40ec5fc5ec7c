"""Prompts for the five stages of setting up a deliberation, to be taken one at a time (SD-20)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "stages"


class SetupStage(NamedTuple):
    """A stage: the name of its prompt and file, its title, and what it settles."""

    name: str
    title: str
    does: str

    def speaker(self) -> Callable[[], str]:
        """Return a function that returns the text, as the server registers it."""

        def text() -> str:
            return (FOLDER / f"{self.name}.md").read_text("utf-8")

        return text


STAGES: Final = (
    SetupStage(
        "stage-1-question",
        "1. Domain and question",
        "settle what is deliberated, for what goals, between which options",
    ),
    SetupStage(
        "stage-2-casting",
        "2. Casting",
        "settle who the roles are, before any round",
    ),
    SetupStage(
        "stage-3-schedule",
        "3. Plan and budget",
        "settle rounds, stress rounds, drift checks, and limits",
    ),
    SetupStage(
        "stage-4-rounds",
        "4. Rounds",
        "run the rounds: one agent a seat, looks at the signals, alarms answered",
    ),
    SetupStage(
        "stage-5-synthesis",
        "5. Synthesis and retrospective",
        "say what was decided, on what it rests, what stayed open, and how the run went",
    ),
)
