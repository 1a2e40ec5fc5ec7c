"""Decides the question by running the given program."""

from elevator import inside_first, nearest, oldest, ride, sweep

OPTIONS = {
    "O-1": oldest,
    "O-2": sweep,
    "O-3": nearest,
    "O-4": inside_first,
}

found = {option: ride(way)[0] for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value:.1f} s on average")
print("answer:", min(found, key=found.get))
