"""A ring that spreads 100,000 keys over servers; each server has points on the ring by a 32-bit hash of its name."""

from bisect import bisect

KEYS = 100_000


def fnv(text):
    """FNV-1a, 32 bits."""
    found = 0x811C9DC5
    for byte in text.encode():
        found = ((found ^ byte) * 0x01000193) & 0xFFFFFFFF
    return found


def mixed(text):
    """FNV-1a with the last mixing steps of MurmurHash3."""
    found = fnv(text)
    found = ((found ^ (found >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    found = ((found ^ (found >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return found ^ (found >> 16)


def ring(servers, points, hashed):
    """Sorted (place, server)."""
    return sorted((hashed(f"server-{s}#{p}"), s) for s in range(servers) for p in range(points))


def most(servers, points, hashed):
    """Keys of the fullest server, as a multiple of the mean."""
    places = ring(servers, points, hashed)
    starts = [place for place, _ in places]
    held = [0] * servers
    for key in range(KEYS):
        index = bisect(starts, hashed(f"user:{key}")) % len(places)
        held[places[index][1]] += 1
    return max(held) * servers / KEYS


def moved(servers, points, hashed):
    """Share of keys that change their server when one is added."""
    before, after = ring(servers, points, hashed), ring(servers + 1, points, hashed)
    starts = [[place for place, _ in each] for each in (before, after)]
    changed = 0
    for key in range(KEYS):
        place = hashed(f"user:{key}")
        old = before[bisect(starts[0], place) % len(before)][1]
        new = after[bisect(starts[1], place) % len(after)][1]
        changed += old != new
    return changed / KEYS
