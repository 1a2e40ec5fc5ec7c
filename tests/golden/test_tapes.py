"""A recording plays in a run of its own, also when the prompts that ship today are others than its own."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from ledger.store.store import RunStore
from moot.api import run_deliberation
from roles.prompt_set import installed_prompt_set, prompt_set_hash

EXAMPLES = Path(__file__).parents[2] / "runs" / "examples"


def _today(run: Path, folder: Path, *, waits: bool) -> Path:
    """Copy a recorded deliberation as it is written today: profiles of release 0.1 have another name.

    One that does not wait closes without a person's answers.
    """
    text = re.sub(
        r"^profile = .*$", 'profile = "gates"', (run / "deliberation.toml").read_text("utf-8"), flags=re.M
    )
    if not waits:
        rules = '[rules]\nwait = "off"\n'
        text = text.replace("[rules]\n", rules, 1) if "[rules]\n" in text else f"{text}\n{rules}"
    copied = folder / "deliberation.toml"
    copied.write_text(text, "utf-8")
    for name in ("blobs.jsonl", "head"):
        shutil.copy(run / name, folder / name)
    return copied


@pytest.mark.parametrize(
    "name", [pytest.param("storage-minimum-8", marks=pytest.mark.slow), "debate-services", "ratchet-notice"]
)
def test_a_recording_plays_with_its_own_prompts(name: str, tmp_path: Path) -> None:
    recorded = RunStore(EXAMPLES / name)
    wish = tomllib.loads((EXAMPLES / name / "deliberation.toml").read_text("utf-8"))
    # Nobody answers the recorded questions of `structured`.
    waits = wish["deliberation"].get("protocol", "structured") != "structured"
    own = _today(EXAMPLES / name, tmp_path, waits=waits)
    played = run_deliberation(own, seats=f"tape:{EXAMPLES / name}", out=tmp_path / "played")
    before, after = recorded.state(), played.book.state
    assert after.finished
    assert after.answered.keys() == before.answered.keys()
    books = (recorded.book(), played.book)
    briefs = [{event.step: event.call.brief for event in book.events if event.call} for book in books]
    assert briefs[0] == briefs[1]
    proven = {event.call.isolation for event in played.book.events if event.call}
    assert proven == {"trusted"}, "a recording proves no more than what was recorded"
    assert before.opened is not None
    assert after.opened is not None
    assert (after.opened.prompt_set, after.opened.brief_version) == (
        before.opened.prompt_set,
        before.opened.brief_version,
    )


def test_one_of_them_was_made_with_other_prompts_than_today() -> None:
    opened = RunStore(EXAMPLES / "storage-minimum-8").state().opened
    assert opened is not None
    assert opened.prompt_set != prompt_set_hash(installed_prompt_set("structured"))
