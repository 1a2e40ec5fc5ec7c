"""Decides the question by running the given program."""

from cache import at_random, lfu, lru, segmented, trace

OPTIONS = {
    "O-1": lru,
    "O-2": at_random,
    "O-3": segmented,
    "O-4": lfu,
}

pages = list(trace())
found = {option: way(pages) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} misses")
print("answer:", min(found, key=found.get))
