"""Decides the question by running the given program with each size."""

from pool import simulate

OPTIONS = {"O-1": 12, "O-2": 20, "O-3": 32, "O-4": 64}

found = {option: simulate(size) for option, size in OPTIONS.items()}
for option, (commits, gave_up) in found.items():
    print(f"{option} {OPTIONS[option]} connections: {commits} commits, {gave_up} given up")
print("answer:", max(found, key=found.get))
