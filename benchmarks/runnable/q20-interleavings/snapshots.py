"""Three transactions on three accounts, each a list of reads and writes, under three kinds of isolation."""

ACCOUNTS = {"a": 60, "b": 60, "c": -20}

# A step: ("read", account), ("write", account, rule), ("commit",). A rule gets what was read so far.
PLANS = (
    (
        ("read", "a"),
        ("read", "b"),
        ("write", "a", lambda r: r["a"] - 90 if r["a"] + r["b"] >= 90 else r["a"]),
        ("commit",),
    ),
    (
        ("read", "b"),
        ("read", "c"),
        ("write", "c", lambda r: r["c"] - 30 if r["b"] + r["c"] >= 30 else r["c"]),
        ("commit",),
    ),
    (("read", "a"), ("read", "c"), ("write", "b", lambda r: 60 + min(r["a"], r["c"], 0)), ("commit",)),
)


def orders(left=(4, 4, 4)):
    """Every interleaving: which transaction makes the next step."""
    if not any(left):
        yield ()
        return
    for who, steps in enumerate(left):
        if steps:
            after = tuple(n - (other == who) for other, n in enumerate(left))
            for rest in orders(after):
                yield (who, *rest)


def run(order, isolation):
    """The accounts at the end. `read committed` reads the latest commit; `snapshot` what was there at its first
    step, and aborts when somebody has committed a write to its account since; `in place` shares one copy."""
    committed, versions = dict(ACCOUNTS), dict.fromkeys(ACCOUNTS, 0)
    at = [0, 0, 0]
    snapshots, seen = [None] * 3, [{}, {}, {}]
    began, pending = [None] * 3, [{}, {}, {}]
    for who in order:
        if snapshots[who] is None:
            snapshots[who], began[who] = dict(committed), dict(versions)
        step = PLANS[who][at[who]]
        at[who] += 1
        if step[0] == "read":
            source = snapshots[who] if isolation == "snapshot" else committed
            seen[who][step[1]] = source[step[1]]
        elif step[0] == "write":
            value = step[2](seen[who])
            if isolation == "in place":
                committed[step[1]] = value
            else:
                pending[who][step[1]] = value
        elif isolation != "in place":
            stale = any(versions[account] != began[who][account] for account in pending[who])
            if isolation == "snapshot" and stale:
                continue
            for account, value in pending[who].items():
                committed[account] = value
                versions[account] += 1
    return tuple(committed[account] for account in "abc")


def serial():
    """What the transactions give one after the other, in any order."""
    from itertools import permutations

    return {run([who for who in order for _ in range(4)], "snapshot") for order in permutations(range(3))}


def anomalies(isolation):
    """Of all interleavings those that end as no serial order does, and how many there are."""
    allowed = serial()
    ends = [run(order, isolation) for order in orders()]
    return sum(end not in allowed for end in ends), len(ends)
