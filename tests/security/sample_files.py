"""Good files of every format that moot reads, made once per folder, to be damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

from ledger.store.spending import Entry, Spending
from moot.mcp.rights import rights_in
from roles.seats.port import Answer
from rounds.run.session import start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import parse
from rounds.setup.opening import resolve
from tests.cli.test_experiment import PLAN
from tests.data import JUGALBANDI
from tests.ledger.interchange.sources import SMALL, source
from tests.protocols import crux_seats, playing, scripts
from tests.rounds.experimenting import READS, WORLD, with_claims
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script
from tests.security.doors import call
from tests.security.strange_runs import SHORT
from tests.security.test_fuzz import TOML
from tests.studies.scripted import conducted, taped

ANSWER: Final = Answer(seat="host", isolation="trusted")
ROOT: Final = Path(__file__).resolve().parents[2]
MEASURES: Final = "item,arm,repetition,measure,value\none,single,1,words,3\ntwo,devil,2,words,4.5\n"
CRUX: Final = crux_seats.contested("execution", "calculation", "document", "person")
TABLE: Final[Mapping[str, Any]] = {
    "options": ["O-1", "O-2"], "stakes": "normal", "experiments": True, "documents": True,
    "frame": {"ill_posed": False, "objection": False},
    "forecasts": {"action": {"O-1": 60, "O-2": 40}, "critic": {"O-1": 30, "O-2": 60, "none": 10}},
    "cruxes": [{
        "claim": "C-1-1", "how": "execution",
        "proposed": {"action": {"probability": 50, "if_true": {"O-1": 90, "O-2": 10},
                                "if_false": {"O-1": 30, "O-2": 70}}},
        "numbers": {"critic": {"probability": 40, "if_true": {"O-1": 80, "O-2": 20},
                               "if_false": {"O-1": 20, "O-2": 80}}},
        "verdicts": [{"result": "holds", "level": "reproduced"}],
    }],
}  # fmt: skip


def _finished(place: Path) -> None:
    play(begin(place / "run", rows(3, absent={2: "critic"}, drift=[3])))
    shutil.copytree(playing.played("ratchet"), place / "good")
    shutil.copy(ROOT / "detectors/parameters.toml", place)
    (place / "edited.md").write_text("# The outcome, edited\n\nThree streams, and one more line.\n")


def _opened(place: Path) -> None:
    opening = resolve(parse(TOML), {}, moot="0.2.0")
    session = start(
        place / "run", opening.event, blobs=opening.blobs, files={"deliberation.toml": opening.toml.encode()},
        verdicts=standard, clock=clock(),
    )  # fmt: skip
    step = session.pending()[0]
    session.submit(step.step.id, Script().reply(session.book(), step.step, step.brief.saw), ANSWER)
    spending = Spending(place / "run")
    for number in (1, 2, 3):
        spending.note(Entry("reserve", number, "r1.B.action", 1, 10, 5))
        spending.note(Entry("settle", number, "r1.B.action", 1, 8, 4))
    speech = {"step": "r1.B.action", "since": session.now(), "words": "so far"}
    (place / "run/speech").write_text(json.dumps({"asked": [speech]}))
    (place / "secret.txt").write_text("ledger")
    rights_in(place)


def _copied(place: Path) -> None:
    """Make a redacted copy of an open run, and a crux run whose document and program are known to the ledger."""
    _opened(place / "first")
    with chdir(place):
        (place / "first/secret.txt").write_text("one writer")
        words = ("redact", "first/run", "--secret", "first/secret.txt", "--reason", "x", "--out", "run")
        code, _, problem = call(words)
        assert code == 0, problem
    shutil.copytree(playing.played("ratchet"), place / "good")
    (place / "secret.txt").write_text("ledger")


def _question(place: Path) -> None:
    (place / "question.toml").write_bytes(TOML)
    shutil.copy(ROOT / "roles/seats/prices.toml", place)
    (place / "facts.md").write_text("# Facts\n\nOne writer. 40 lines a second.\n")


def _replies(place: Path) -> None:
    """Make open runs of every protocol, each with a good reply to one of its open steps beside it."""
    for protocol in SHORT:
        for depth in (0, 2, 5):
            session = playing.begin(place / f"{protocol}-{depth}", protocol)
            for _ in range(depth):
                if open_steps := session.pending():
                    playing.submit(session, open_steps[0])
            if open_steps := session.pending():
                content = scripts.reply(session.book(), open_steps[0].step, open_steps[0].brief.saw)
                (place / f"{protocol}-{depth}.json").write_bytes(content)
    session, script = begin(place / "whole", rows(1)), Script()
    for depth in range(14):
        step = session.pending()[0]
        content = script.reply(session.book(), step.step, step.brief.saw)
        if depth % 3 == 0:
            shutil.copytree(place / "whole", place / f"structured-{depth}")
            (place / f"structured-{depth}.json").write_bytes(content)
        session.submit(step.step.id, content, ANSWER)
    shutil.rmtree(place / "whole")
    session = crux_seats.begin(place / "whole")
    for depth in range(40):
        if not (open_steps := session.pending()):
            break
        if depth % 2 == 0:
            content = json.dumps(crux_seats.reply(session.book(), open_steps[0].step, CRUX)).encode()
            shutil.copytree(place / "whole", place / f"crux-at-{depth}")
            (place / f"crux-at-{depth}.json").write_bytes(content)
        crux_seats.submit(session, open_steps[0], CRUX)
    shutil.rmtree(place / "whole")


def _skill(place: Path) -> None:
    for name, content in source(SMALL, {"artifacts/one.md": b"# one\n"}).items():
        (place / "state" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "state" / name).write_bytes(content)


def _jugalbandi(place: Path) -> None:
    for file in JUGALBANDI:
        shutil.copy(file, place)


def _tape(place: Path) -> None:
    playing.begin(place / "run", "ratchet")
    shutil.copytree(playing.played("ratchet"), place / "tape")


def _study(place: Path) -> None:
    conducted(taped(place / "made", ["one", "two"], "repetitions = 2\n", arms=2))
    for path in (place / "made/study").iterdir():
        shutil.move(path, place / path.name)
    (place / "keys.toml").write_text('[answers]\none = "O-1"\ntwo = "O-2"\n')
    (place / "measures.csv").write_text(MEASURES)


def _table(place: Path) -> None:
    (place / "table.json").write_text(json.dumps(TABLE))


def _sealed(place: Path) -> None:
    shutil.copytree(playing.played("ratchet"), place / "run")
    with chdir(place):
        assert call(("seal", "--new-key", "alice.key"))[0] == 0
        assert call(("seal", "run", "--key", "alice.key", "--out", "seal.note"))[0] == 0
    shutil.rmtree(place / "run/checkpoints")


def _checks(place: Path) -> None:
    """Make a finished run with two series beside it, which takes a sandbox."""
    contents = {"test.py": READS, "data.txt": "good", "bad.txt": "bad", "other.txt": " good "}
    for name, text in contents.items():
        (place / name).write_text(text)
    crux_seats.play(with_claims(place / "run"), WORLD)
    (place / "secret.txt").write_text("good")
    with chdir(place):
        for words in (("experiment", "plan", "run", *PLAN), *[("experiment", "run", "run", "E-1-1")] * 2):
            code, _, problem = call(words)
            assert code == 0, problem


def _asked(place: Path) -> None:
    """Make a run that waits for a person."""
    crux_seats.play(crux_seats.begin(place / "run"), CRUX)
    (place / "output.txt").write_text("restored in 2 h 10 min\n")


def _repository(place: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=Eve", "-c", "user.email=eve@example.org", *words],
                       cwd=place, check=True, capture_output=True)  # fmt: skip

    git("init", "-q", "-b", "main")
    for number in (1, 2, 3):
        (place / "a.py").write_text("".join(f"line = {n}\n" for n in range(number, 40)))
        git("add", "-A")
        git("commit", "-qm", f"change {number}")
        if number == 2:  # packs and loose objects both
            git("gc", "-q")
    shutil.rmtree(place / ".git/hooks", ignore_errors=True)


_MAKERS: Final[Mapping[str, Callable[[Path], None]]] = {
    "finished": _finished, "opened": _opened, "question": _question, "replies": _replies, "skill": _skill,
    "jugalbandi": _jugalbandi, "tape": _tape, "study": _study, "table": _table, "sealed": _sealed, "checks": _checks,
    "asked": _asked, "copied": _copied, "repository": _repository,
}  # fmt: skip


def make_samples(name: str, place: Path) -> None:
    """Make the good files of that name in a new directory, all of them or none."""
    making = place.with_name(f"{name}.making")
    making.mkdir(parents=True)
    _MAKERS[name](making)
    making.rename(place)
