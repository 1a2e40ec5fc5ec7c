"""A database with 8 cores, 4 disk channels and row locks, behind a pool of connections and 200 eager clients.

Time goes by in ticks of 0.1 ms. A transaction takes a connection, then repeats: work on a core, read from
a disk channel, and update a row under a lock that it keeps until its end. Locks are taken in any order; who
waits longer than LOCK_WAIT gives everything up and begins again."""

from collections import deque
from random import Random

CORES, CHANNELS, ROWS, HOT = 8, 4, 2_000, 40
STEPS = 4
LOCK_WAIT = 400
TICKS = 100_000


class Transaction:
    """What is left to do: a list of (kind, ticks or row)."""

    def __init__(self, rng):
        self.plan = []
        for _ in range(STEPS):
            self.plan.append(("cpu", rng.randint(4, 16)))
            if rng.random() < 0.6:
                self.plan.append(("disk", rng.randint(10, 60)))
            row = rng.randrange(HOT) if rng.random() < 0.35 else rng.randrange(ROWS)
            self.plan.append(("lock", row))
        self.plan.append(("cpu", 4))
        self.restart()

    def restart(self):
        """From the beginning."""
        self.at, self.left, self.waited, self.rows = 0, None, 0, set()


def simulate(size, seed=9):
    """Commits and given-up attempts with a pool of this size."""
    rng = Random(seed)
    active = deque(Transaction(rng) for _ in range(size))
    owner, commits, gave_up = {}, 0, 0
    for _ in range(TICKS):
        cores, channels = CORES, CHANNELS
        runnable = sum(1 for one in active if one.plan[one.at][0] == "cpu")
        slowed = 1.0 / (1.0 + 0.012 * max(0, runnable - CORES))  # caches and switches
        for _ in range(len(active)):
            one = active.popleft()
            kind, amount = one.plan[one.at]
            if kind == "lock":
                holder = owner.setdefault(amount, one)
                if holder is one:
                    one.rows.add(amount)
                    one.at, one.left, one.waited = one.at + 1, None, 0
                else:
                    one.waited += 1
                    if one.waited > LOCK_WAIT:
                        gave_up += 1
                        for row in one.rows:
                            del owner[row]
                        one.restart()
            elif (kind == "cpu" and cores) or (kind == "disk" and channels):
                one.left = amount if one.left is None else one.left
                if kind == "cpu":
                    cores -= 1
                    one.left -= slowed
                else:
                    channels -= 1
                    one.left -= 1
                if one.left <= 0:
                    one.at, one.left = one.at + 1, None
            if one.at == len(one.plan):
                commits += 1
                for row in one.rows:
                    del owner[row]
                one = Transaction(rng)
            active.append(one)
        active.rotate(-1)
    return commits, gave_up
