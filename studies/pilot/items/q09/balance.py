"""Twelve servers behind a balancer that hears how long their queues are only now and then."""

import heapq
from random import Random

SERVERS = 12
REPORT_S = 5.0
LOAD = 0.9
SECONDS = 400.0


def at_random(rng, seen, turn):
    """Any server."""
    return rng.randrange(SERVERS)


def in_turn(rng, seen, turn):
    """One after the other."""
    return turn % SERVERS


def shortest(rng, seen, turn):
    """The server with the shortest queue by the last report, of equals any."""
    least = min(seen)
    return rng.choice([server for server in range(SERVERS) if seen[server] == least])


def better_of_two(rng, seen, turn):
    """Of two servers at random the one with the shorter queue by the last report."""
    one, other = rng.randrange(SERVERS), rng.randrange(SERVERS)
    return one if seen[one] <= seen[other] else other


def service_s(rng):
    """Seconds that a request takes: mostly short, one in twenty long; 0.05 on average."""
    return rng.expovariate(1 / 0.35) if rng.random() < 0.05 else rng.expovariate(1 / 0.0342)


def simulate(rule, seed=6):
    """Milliseconds from arrival to end: mean and 99th percentile."""
    rng = Random(seed)
    rate = LOAD * SERVERS / 0.05
    free_at = [0.0] * SERVERS
    ends = [[] for _ in range(SERVERS)]
    seen, reported, now, turn, took = [0] * SERVERS, 0.0, 0.0, 0, []
    while now < SECONDS:
        now += rng.expovariate(rate)
        while reported + REPORT_S <= now:
            reported += REPORT_S
            for server in range(SERVERS):
                while ends[server] and ends[server][0] <= reported:
                    heapq.heappop(ends[server])
                seen[server] = len(ends[server])
        server = rule(rng, seen, turn)
        turn += 1
        begin = max(now, free_at[server])
        free_at[server] = begin + service_s(rng)
        heapq.heappush(ends[server], free_at[server])
        took.append((free_at[server] - now) * 1_000)
    took.sort()
    return sum(took) / len(took), took[int(len(took) * 0.99)]
