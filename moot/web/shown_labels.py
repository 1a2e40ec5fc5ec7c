"""What a page says before anything else: the labels of `moot.view`, and what nobody can vouch for."""

from __future__ import annotations

from moot.view.banners import Label, labels_of
from moot.web.followed import Followed


def labels_shown(run: Followed) -> tuple[Label, ...]:
    """Labels of a run, the gravest first; the last says how many replies came from seats that were not kept apart."""
    return (*labels_of(run.state, run.replies), *_unverified(run))


def _unverified(run: Followed) -> tuple[Label, ...]:
    calls = run.calls
    if not calls.trusted:
        return ()
    said = (
        f"{calls.trusted} of {calls.all} replies came from seats that could have read more than their brief; "
        "the ledger proves what each brief contained, not what else was known"
    )
    return (Label("UNVERIFIED", said),)
