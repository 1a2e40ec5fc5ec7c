"""Beliefs on a run's page: a plot an option, what each crux is worth, and nothing of a round that is open."""

from __future__ import annotations

import re
from pathlib import Path

from ledger.events import Belief
from moot.view.beliefs import beliefs_of
from moot.view.events import words_of
from moot.web.followed import Followed
from moot.web.views.overview import overview
from tests.protocols.crux_seats import begin, submit
from tests.protocols.test_crux import CONTESTED
from tests.web.viewer import Viewer


def test_the_page_shows_what_the_numbers_are(served: Viewer, runs: Path) -> None:
    run = Followed(runs / "crux")
    run.catch_up()
    found = beliefs_of("crux", run.book())
    assert found is not None
    page = served.get("/run/crux").body
    section = page[page.index('id="beliefs"') :]
    section = section[: section.index("</section>")]
    spoken = [one for one in (*found.options, "none") if any(row.pool[one] for row in found.rounds)]
    assert section.count("<figure>") == len(spoken) == 2
    for row in found.rounds:
        for option in spoken:
            told = re.search(rf"round {row.round}: pool {row.pool[option]:g}; ([^<]*)", section)
            assert told is not None
            assert told[1].count(",") + 1 == len(row.roles)
    for crux in found.rounds[-1].cruxes:
        assert f'/card/{crux.claim}"' in section or f">{crux.claim}</a>" in section
    assert "holds (quoted from a document), round 2" in section


def test_beliefs_of_an_open_round_are_sealed(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    for _ in range(3):
        submit(session, session.asked()[0], CONTESTED)
    run = Followed(tmp_path / "run")
    run.catch_up()
    assert run.state.beliefs
    assert overview(run).beliefs is None
    for belief in run.book().of(Belief):
        card = words_of(belief, run.book())
        assert card.sealed
        assert not any(str(points) in card.said for points in belief.points.values())


def test_they_open_with_their_round(runs: Path) -> None:
    run = Followed(runs / "crux")
    run.catch_up()
    assert not any(words_of(belief, run.book()).sealed for belief in run.book().of(Belief))


def test_other_protocols_have_none(served: Viewer) -> None:
    assert 'id="beliefs"' not in served.get("/run/recorded").body
