"""Four limiters, all meant for 100 requests in 10 seconds a client, and the clients that they meet."""

from collections import deque
from random import Random

LIMIT, WINDOW_S = 100, 10.0


def arrivals(seed=14, seconds=3_000.0):
    """Moments of one client's requests: idle, steady, and bursts of a batch job that backs off after a refusal."""
    rng = Random(seed)
    now = 0.0
    while now < seconds:
        draw = rng.random()
        if draw < 0.35:
            now += rng.uniform(2, 14)
        elif draw < 0.6:
            for _ in range(rng.randint(40, 160)):
                now += rng.expovariate(9)
                yield now
        else:
            for _ in range(rng.randint(60, 190)):
                now += rng.uniform(0.005, 0.04)
                yield now


class FixedWindow:
    """At most LIMIT in each window by the clock."""

    def __init__(self):
        self.window, self.count = -1, 0

    def admits(self, now):
        window = int(now // WINDOW_S)
        if window != self.window:
            self.window, self.count = window, 0
        self.count += 1  # refused requests count, too
        return self.count <= LIMIT


class SlidingLog:
    """At most LIMIT admitted in the last WINDOW_S."""

    def __init__(self):
        self.log = deque()

    def admits(self, now):
        while self.log and self.log[0] <= now - WINDOW_S:
            self.log.popleft()
        if len(self.log) >= LIMIT:
            return False
        self.log.append(now)
        return True


class SlidingCounter:
    """Admitted in this window plus the share of the last window that still lies within WINDOW_S."""

    def __init__(self):
        self.window, self.count, self.before = 0, 0, 0

    def admits(self, now):
        window = int(now // WINDOW_S)
        if window != self.window:
            self.before = self.count if window == self.window + 1 else 0
            self.window, self.count = window, 0
        part = 1 - (now / WINDOW_S - window)
        if self.count + self.before * part >= LIMIT:
            return False
        self.count += 1
        return True


class TokenBucket:
    """10 tokens a second, at most 60 saved."""

    def __init__(self, capacity=60):
        self.capacity, self.tokens, self.last = capacity, float(capacity), 0.0

    def admits(self, now):
        self.tokens = min(self.capacity, self.tokens + (now - self.last) * LIMIT / WINDOW_S)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


def admitted(limiter):
    """Requests admitted over all seeds, of how many."""
    found = [limiter_.admits(now) for seed in range(20) for limiter_ in [limiter()] for now in arrivals(seed)]
    return sum(found), len(found)
