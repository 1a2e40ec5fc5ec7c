"""Results of a study as one HTML file that can be mailed: no script, no external address."""

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


def study_page(report: StudyReport) -> str:
    """Return the document."""
    return render(
        "study.html",
        policy=policy(),
        style=style(),
        question=report.question,
        answer=answer_of(report),
        planned=planned_told(report),
        so_far=so_far_told(report),
        sections=sections_of(report),
        holds_not=report.holds_not,
        arms=report.arms,
    )
