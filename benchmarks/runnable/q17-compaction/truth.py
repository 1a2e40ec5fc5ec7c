"""Decides the question by running the given program."""

from compaction import by_size, levelled, tiered, whole

OPTIONS = {
    "O-1": by_size,
    "O-2": levelled,
    "O-3": tiered,
    "O-4": whole,
}


def cost(written, looked):
    """In entries written."""
    return written + 500 * looked


found = {option: cost(*way()) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} in all")
print("answer:", min(found, key=found.get))
