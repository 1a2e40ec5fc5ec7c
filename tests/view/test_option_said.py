"""Which option an answer names when it uses the option's words and not its id."""

from __future__ import annotations

import pytest

from moot.view.judgements import option_said

ESTIMATORS = {
    "O-1": "`midhinge`: the mean of the 3rd and the 10th reading in order",
    "O-2": "`mean`: the plain mean",
    "O-3": "`middle`: the median",
}
BANDS = {"O-1": "below 1.2 of the mean", "O-2": "1.2 to 1.5 of the mean"}
RULES = {"O-1": "`most_work_left`", "O-2": "`first_come`"}


@pytest.mark.parametrize(
    ("options", "said", "named"),
    [
        (
            ESTIMATORS,
            "Report midhinge, the mean of the 3rd and the 10th reading in order: of the four.",
            "O-1",
        ),
        (ESTIMATORS, "The mean of all twelve readings is the best. The middle is second.", "O-2"),
        (ESTIMATORS, "Not the mean but the middle should be reported here.", "O-3"),
        (ESTIMATORS, "Take the middle rather than the mean, as readings jump.", "O-3"),
        (ESTIMATORS, "The `Middle` is what we report from now on.", "O-3"),
        (ESTIMATORS, "Meaningful readings are needed before anything is reported.", None),
        (BANDS, "Plan for 1.2 to 1.5 of the mean, and run the program.", "O-2"),
        (RULES, "Take `most_work_left`: with it the last job is done earliest.", "O-1"),
        (RULES, "", None),
        ({}, "Take the first.", None),
    ],
)
def test_the_option_whose_words_come_first_is_meant(
    options: dict[str, str], said: str, named: str | None
) -> None:
    assert option_said(options, said) == named
