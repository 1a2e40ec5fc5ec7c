"""Decides the question by measuring the given program on this machine."""

import sqlite3

from upsert import look_first, rebuild, replace, seconds, upsert

OPTIONS = {replace: "O-1", upsert: "O-2", rebuild: "O-3", look_first: "none"}

found = {way: seconds(way) for way in OPTIONS}
print(f"SQLite {sqlite3.sqlite_version}")
for way, value in found.items():
    print(f"{way.__name__}: {value:.2f} s")
quickest, second = sorted(found, key=found.get)[:2]
print(f"{second.__name__} / {quickest.__name__}: {found[second] / found[quickest]:.2f}")
print("answer:", OPTIONS[quickest] if found[second] >= 1.5 * found[quickest] else "O-4")
