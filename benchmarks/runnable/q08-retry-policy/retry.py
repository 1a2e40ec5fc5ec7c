"""A service near its limit, an outage of 20 s, and clients that retry what fails."""

import heapq
from random import Random

SECONDS = 180.0
OUTAGE = (40.0, 60.0)
ARRIVALS_PER_S = 80.0
SERVERS = 10
SERVICE_S = 0.1
TIMEOUT_S = 1.0


def exponential(attempt, rng):
    """0.25 s, doubled each time."""
    return 0.25 * 2**attempt


def full_jitter(attempt, rng):
    """Anything up to eight times the exponential wait."""
    return rng.uniform(0, 2.0 * 2**attempt)


def simulate(wait=exponential, tries=6, queue_max=200, budget=None, newest_first=False, seed=2):
    """Requests that got an answer within the time-out of one of their tries, and all that were made.

    A server works on a request to the end even if its client has gone. A full queue turns requests away
    without a word: the client waits for its time-out. `budget`: retries may be at most this share of first
    tries so far."""
    rng = Random(seed)
    events, order = [], 0
    queue, busy = [], 0
    made = answered = retries = 0

    def push(moment, kind, body):
        nonlocal order
        order += 1
        heapq.heappush(events, (moment, order, kind, body))

    def start(now):
        nonlocal busy
        while queue and busy < SERVERS and not OUTAGE[0] <= now < OUTAGE[1]:
            request = queue.pop(-1 if newest_first else 0)
            busy += 1
            push(now + rng.expovariate(1 / SERVICE_S), "done", request)

    push(rng.expovariate(ARRIVALS_PER_S), "first", None)
    push(OUTAGE[1], "back", None)
    while events:
        now, _, kind, body = heapq.heappop(events)
        if kind in ("first", "again"):
            if kind == "first":
                made += 1
                body = {"try": 0, "answered": False}
                if now < SECONDS:
                    push(now + rng.expovariate(ARRIVALS_PER_S), "first", None)
            body["current"] = body["try"]
            if len(queue) < queue_max:
                queue.append((body, body["try"]))
            push(now + TIMEOUT_S, "timeout", (body, body["try"]))
        elif kind == "done":
            busy -= 1
            request, attempt = body
            if request["current"] == attempt and not request["answered"]:
                request["answered"] = True
                answered += 1
        elif kind == "timeout":
            request, attempt = body
            request["current"] = None
            allowed = budget is None or retries < budget * made
            if not request["answered"] and attempt + 1 < tries and allowed:
                retries += 1
                request["try"] = attempt + 1
                push(now + wait(attempt, rng), "again", request)
        start(now)
    return answered, made
