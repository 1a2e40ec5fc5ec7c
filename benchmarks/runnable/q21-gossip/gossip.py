"""A rumour among 600 nodes in 20 racks, by several ways to gossip; a fifth of the messages between racks is lost."""

from random import Random

NODES, RACKS = 600, 20
LOSS = 0.2
LOCAL = 0.7
ENOUGH = 0.999


def partner(node, rng):
    """Somebody of one's own rack with probability LOCAL, else anybody."""
    if rng.random() < LOCAL:
        return node % RACKS + RACKS * rng.randrange(NODES // RACKS)
    return rng.randrange(NODES)


def arrives(one, other, rng):
    """Whether a message gets through."""
    return one % RACKS == other % RACKS or rng.random() >= LOSS


def push(rng, fanout=1):
    """Who knows tells `fanout` others each round."""
    knows, messages, rounds = {0}, 0, 0
    while len(knows) < ENOUGH * NODES and rounds < 500:
        rounds += 1
        for node in sorted(knows):
            for _ in range(fanout):
                other = partner(node, rng)
                messages += 1
                if arrives(node, other, rng):
                    knows.add(other)
    return messages, rounds, len(knows)


def pull(rng):
    """Who does not know asks one other each round: a message, and one more for an answer that has the rumour."""
    knows, messages, rounds = {0}, 0, 0
    while len(knows) < ENOUGH * NODES and rounds < 500:
        rounds += 1
        fresh = set()
        for node in range(NODES):
            if node in knows:
                continue
            other = partner(node, rng)
            messages += 1
            if arrives(node, other, rng) and other in knows:
                messages += 1
                if arrives(other, node, rng):
                    fresh.add(node)
        knows |= fresh
    return messages, rounds, len(knows)


def tired_then_pull(rng, patience=2):
    """Push until one has met `patience` who knew; meanwhile who does not know asks one other every third round."""
    knows, tired, messages, rounds = {0}, {}, 0, 0
    while len(knows) < ENOUGH * NODES and rounds < 500:
        rounds += 1
        fresh = set()
        for node in range(NODES):
            if node in knows and tired.get(node, 0) < patience:
                other = partner(node, rng)
                messages += 1
                if arrives(node, other, rng):
                    tired[node] = tired.get(node, 0) + (other in knows)
                    fresh.add(other)
            elif node not in knows and rounds % 3 == 0:
                other = partner(node, rng)
                messages += 1
                if arrives(node, other, rng) and other in knows:
                    messages += 1
                    if arrives(other, node, rng):
                        fresh.add(node)
        knows |= fresh
    return messages, rounds, len(knows)


def push_to_four(rng):
    """Who knows tells four others each round."""
    return push(rng, fanout=4)


def mean_messages(way, turns=40):
    """Messages on average over seeds."""
    return sum(way(Random(seed))[0] for seed in range(turns)) / turns
