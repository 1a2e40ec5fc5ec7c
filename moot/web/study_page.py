"""What a study found as one HTML file that can be mailed: no script, no address outside."""

from __future__ import annotations

from moot.view.study_report import (
    StudyReport,
    answer_of,
    planned_told,
    sections_of,
    so_far_told,
)
from moot.web.report import policy, style
from moot.web.templating import render


def study_page(found: StudyReport) -> str:
    """The document."""
    return render(
        "study.html",
        policy=policy(),
        style=style(),
        question=found.question,
        answer=answer_of(found),
        planned=planned_told(found),
        so_far=so_far_told(found),
        sections=sections_of(found),
        holds_not=found.holds_not,
        arms=found.arms,
    )
