"""Decides the question by trying every interleaving."""

from snapshots import anomalies

OPTIONS = {"O-1": "snapshot", "O-2": "read committed", "O-3": "in place"}

found = {option: anomalies(isolation) for option, isolation in OPTIONS.items()}
for option, (bad, total) in found.items():
    print(f"{option} {OPTIONS[option]}: {bad} of {total}")
least = [option for option in found if found[option] == min(found.values())]
print("answer:", "O-4" if least == ["O-1", "O-2"] else least[0])
