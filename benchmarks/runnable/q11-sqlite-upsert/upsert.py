"""Four ways to bring 40,000 changed rows into a table of 50,000 in memory, one transaction each."""

import sqlite3
from random import Random
from time import process_time

ROWS, CHANGES = 50_000, 40_000


def changes(seed=3):
    """(key, amount, note): half of the keys are there already."""
    rng = Random(seed)
    return [
        (f"k{rng.randrange(ROWS * 2):07d}", rng.randrange(1_000), "n" * rng.randrange(60))
        for _ in range(CHANGES)
    ]


def prepared():
    """A database with the table, its rows and three indexes."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("CREATE TABLE item (key TEXT PRIMARY KEY, amount INTEGER, note TEXT)")
    base.execute("CREATE INDEX by_amount ON item (amount)")
    base.execute("CREATE INDEX by_note ON item (note)")
    base.execute("CREATE INDEX by_both ON item (note, amount)")
    base.execute("BEGIN")
    base.executemany(
        "INSERT INTO item VALUES (?, ?, ?)", ((f"k{n:07d}", n % 977, "o" * (n % 50)) for n in range(ROWS))
    )
    base.execute("COMMIT")
    return base


def upsert(base, rows):
    """INSERT … ON CONFLICT DO UPDATE, row by row."""
    change = "ON CONFLICT (key) DO UPDATE SET amount = excluded.amount, note = excluded.note"
    base.executemany(f"INSERT INTO item VALUES (?, ?, ?) {change}", rows)


def replace(base, rows):
    """INSERT OR REPLACE, row by row."""
    base.executemany("INSERT OR REPLACE INTO item VALUES (?, ?, ?)", rows)


def look_first(base, rows):
    """SELECT by key, then UPDATE or INSERT from Python."""
    for key, amount, note in rows:
        if base.execute("SELECT 1 FROM item WHERE key = ?", (key,)).fetchone():
            base.execute("UPDATE item SET amount = ?, note = ? WHERE key = ?", (amount, note, key))
        else:
            base.execute("INSERT INTO item VALUES (?, ?, ?)", (key, amount, note))


def rebuild(base, rows):
    """Drop the indexes, upsert, make the indexes again."""
    base.execute("DROP INDEX by_amount")
    base.execute("DROP INDEX by_note")
    base.execute("DROP INDEX by_both")
    upsert(base, rows)
    base.execute("CREATE INDEX by_amount ON item (amount)")
    base.execute("CREATE INDEX by_note ON item (note)")
    base.execute("CREATE INDEX by_both ON item (note, amount)")


def seconds(way, turns=2):
    """The least processor time of a transaction over some turns, each on a fresh database."""
    found, rows = [], changes()
    for _ in range(turns):
        base = prepared()
        begin = process_time()
        base.execute("BEGIN")
        way(base, rows)
        base.execute("COMMIT")
        found.append(process_time() - begin)
        base.close()
    return min(found)
