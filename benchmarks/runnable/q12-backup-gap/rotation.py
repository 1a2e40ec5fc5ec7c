"""Backups once a day, of which some are kept; the pruning runs every day after the backup."""

from datetime import date, timedelta
from itertools import pairwise

DAYS = 900
FIRST = date(2023, 3, 8)
MISSED = 11
"""Every 11th day the machine is off and there is no backup, and nothing is pruned."""


def prune(kept, today):
    """The backups that stay: each rule marks what it wants, and what no rule wants is deleted."""
    wanted = set(sorted(kept)[-6:])  # the last six
    wanted |= {day for day in kept if day.weekday() == 6 and today - day <= timedelta(days=45)}
    by_month = {}
    for day in sorted(kept, reverse=True):
        by_month.setdefault((day.year, day.month), day)  # the newest of each month that is still there
    wanted |= {
        day for (year, month), day in by_month.items() if (today.year - year) * 12 + today.month - month <= 9
    }
    by_quarter = {}
    for day in sorted(kept):
        if day.day <= 7:
            by_quarter.setdefault((day.year, (day.month - 1) // 3), day)
    wanted |= set(by_quarter.values())
    return wanted


def worst_gaps():
    """The largest number of days between neighbouring backups of the last 365, and how many are kept.

    Looked at every day after the first 400."""
    kept, worst = set(), 0
    for number in range(DAYS):
        today = FIRST + timedelta(days=number)
        if number % MISSED == MISSED - 1:
            continue
        kept = prune(kept | {today}, today)
        if number > 400:
            year = sorted(day for day in kept if today - day <= timedelta(days=365))
            year.insert(0, today - timedelta(days=365))
            worst = max(worst, *((b - a).days for a, b in pairwise(year)))
    return worst, len(kept)
