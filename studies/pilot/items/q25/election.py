"""Five nodes elect a leader by time-outs, as Raft does; the leader dies now and then and comes back later."""

import heapq
from random import Random

NODES = 5
BEAT_MS = 25
LIFE_MS, DOWN_MS = 4_000, 3_000
END_MS = 600_000


def delay(rng):
    """Milliseconds on the way: mostly 5 to 20, one in twelve caught behind a slow disk."""
    return rng.uniform(60, 260) if rng.random() < 1 / 12 else rng.uniform(5, 20)


def simulate(low, high, seed=4):
    """(share of the time without a live leader that a majority follows, elections begun)."""
    rng = Random(seed)
    events, order = [], 0
    term, voted, role = [0] * NODES, [0] * NODES, ["follower"] * NODES
    alive, votes, timer = [True] * NODES, [0] * NODES, [0] * NODES
    without, last, elections = 0.0, 0.0, 0

    def push(moment, *event):
        nonlocal order
        order += 1
        heapq.heappush(events, (moment, order, event))

    def rest(node, now):
        timer[node] += 1
        push(now + rng.uniform(low, high), "timeout", node, timer[node])

    def send(now, sender, *message):
        for other in range(NODES):
            if other != sender:
                push(now + delay(rng), "message", other, (sender, *message))

    def led():
        leaders = [n for n in range(NODES) if alive[n] and role[n] == "leader"]
        return any(sum(alive[f] and term[f] == term[n] for f in range(NODES)) > NODES // 2 for n in leaders)

    for node in range(NODES):
        rest(node, 0.0)
    while events:
        now, _, event = heapq.heappop(events)
        if now > END_MS:
            break
        without += (now - last) * (not led())
        last = now
        kind, node = event[0], event[1]
        if kind == "back":
            alive[node], role[node] = True, "follower"
            rest(node, now)
        elif not alive[node]:
            continue
        elif kind == "timeout" and event[2] == timer[node] and role[node] != "leader":
            elections += 1
            term[node] += 1
            role[node], voted[node], votes[node] = "candidate", term[node], 1
            send(now, node, "vote", term[node])
            rest(node, now)
        elif kind == "beat" and role[node] == "leader" and event[2] == term[node]:
            send(now, node, "beat", term[node])
            push(now + BEAT_MS, "beat", node, term[node])
        elif kind == "die" and role[node] == "leader" and event[2] == term[node]:
            alive[node] = False
            push(now + DOWN_MS, "back", node)
        elif kind == "message":
            sender, what, said = event[2]
            if said > term[node]:
                term[node] = said
                if role[node] != "follower":
                    role[node] = "follower"
                    rest(node, now)
            if said < term[node]:
                continue
            if what == "vote" and voted[node] < said:
                voted[node] = said
                rest(node, now)
                push(now + delay(rng), "message", sender, (node, "yes", said))
            elif what == "yes" and role[node] == "candidate":
                votes[node] += 1
                if votes[node] > NODES // 2:
                    role[node] = "leader"
                    push(now, "beat", node, term[node])
                    push(now + rng.expovariate(1 / LIFE_MS), "die", node, term[node])
            elif what == "beat":
                rest(node, now)
    return without / END_MS, elections
