"""A cuckoo table: two places for each key, buckets of two entries, and a hash that is cheap."""

BUCKETS = 4_096
PLACES = 2
MAX_MOVES = 200


def first(key):
    """The bucket by the lower bits of a product."""
    return (key * 2_654_435_761 & 0xFFFFFFFF) >> 20


def second(key, bucket):
    """The other bucket, from the one it is in and a tag of the key (so that a move needs no full key)."""
    tag = (key * 0x5BD1E995 >> 13) & 0xFF
    return bucket ^ ((tag * 0xC6A4A793 >> 7) & (BUCKETS - 1))


def keys():
    """Account numbers: a block of 997 is given to a branch and not used up."""
    branch = 0
    while True:
        start = branch * 65_536 + 17
        yield from range(start, start + 997 - branch % 13 * 40)
        branch += 1


def fill():
    """How many keys went in before one found no place, and the moves made so far."""
    table = [[] for _ in range(BUCKETS)]
    stored = moves = 0
    for key in keys():
        bucket, turn = first(key), 0
        other = second(key, bucket)
        if len(table[bucket]) >= PLACES > len(table[other]):
            bucket = other
        while len(table[bucket]) >= PLACES:
            turn += 1
            if turn > MAX_MOVES:
                return stored, moves
            victim = table[bucket].pop((turn * 7 + key) % PLACES)
            table[bucket].append(key)
            key, bucket = victim, second(victim, bucket)
            moves += 1
        table[bucket].append(key)
        stored += 1
    return stored, moves


def load():
    """Share of all places that are taken when the first key finds none."""
    return fill()[0] / (BUCKETS * PLACES)
