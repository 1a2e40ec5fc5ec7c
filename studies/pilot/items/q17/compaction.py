"""A store of sorted runs that merges them by four policies, under updates of which few keys get most."""

from random import Random

MEMTABLE = 1_000
WRITES = 300_000
KEYS = 60_000


def writes(seed=10):
    """Keys in the order in which they are written; one in ten thousand begins a sweep over a range."""
    rng = Random(seed)
    sweep = []
    for _ in range(WRITES):
        if rng.random() < 0.0001:
            start = rng.randrange(KEYS - 4_000)
            sweep = list(range(start, start + 4_000))
        if sweep:
            yield sweep.pop()
        else:
            yield int(KEYS * rng.random() ** 4)


def flushes():
    """The set of keys of every full memtable."""
    table = set()
    for key in writes():
        table.add(key)
        if len(table) == MEMTABLE:
            yield frozenset(table)
            table = set()


def levelled(factor=8):
    """A level is one run, `factor` times as large as the one above; what is too large is merged into the next."""
    levels, written, looked = [frozenset()], 0, 0
    for run in flushes():
        written += len(run)
        levels[0] |= run
        written += len(levels[0])
        index = 0
        while len(levels[index]) > MEMTABLE * factor ** (index + 1) / 2:
            if index + 1 == len(levels):
                levels.append(frozenset())
            levels[index + 1] |= levels[index]
            levels[index] = frozenset()
            written += len(levels[index + 1])
            index += 1
        looked += sum(map(bool, levels))
    return written, looked


def tiered(factor=4):
    """A tier holds up to `factor` runs; when it is full they become one run of the next tier."""
    tiers, written, looked = [[]], 0, 0
    for run in flushes():
        written += len(run)
        tiers[0].append(run)
        index = 0
        while len(tiers[index]) == factor:
            if index + 1 == len(tiers):
                tiers.append([])
            merged = frozenset().union(*tiers[index])
            written += len(merged)
            tiers[index + 1].append(merged)
            tiers[index] = []
            index += 1
        looked += sum(map(len, tiers))
    return written, looked


def by_size(ratio=1.6, least=3):
    """Merge the newest runs when `least` or more of them are each at most `ratio` × the sum of the newer ones."""
    runs, written, looked = [], 0, 0
    for run in flushes():
        written += len(run)
        runs.append(run)
        total, take = len(runs[-1]), 1
        while take < len(runs) and len(runs[-take - 1]) <= ratio * total:
            take += 1
            total += len(runs[-take])
        if take >= least:
            merged = frozenset().union(*runs[-take:])
            written += len(merged)
            runs[-take:] = [merged]
        looked += len(runs)
    return written, looked


def whole(every=12):
    """Merge everything into one run whenever there are `every` runs."""
    runs, written, looked = [], 0, 0
    for run in flushes():
        written += len(run)
        runs.append(run)
        if len(runs) == every:
            merged = frozenset().union(*runs)
            written += len(merged)
            runs = [merged]
        looked += len(runs)
    return written, looked
