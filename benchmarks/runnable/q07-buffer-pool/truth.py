"""Decides the question by running the given program."""

from pool import refused

OPTIONS = {"O-1": "next", "O-2": "first", "O-3": "worst", "O-4": "best"}

found = {option: refused(fit) for option, fit in OPTIONS.items()}
for option, (missed, pieces) in found.items():
    print(f"{option} {OPTIONS[option]}: {missed} refused, at most {pieces} free extents")
print("answer:", min(found, key=found.get))
