"""Decides the question by running the given program."""

from limits import FixedWindow, SlidingCounter, SlidingLog, TokenBucket, admitted

OPTIONS = {
    "O-1": FixedWindow,
    "O-2": SlidingLog,
    "O-3": SlidingCounter,
    "O-4": TokenBucket,
}

found = {option: admitted(way)[0] for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} admitted")
print("answer:", max(found, key=found.get))
