"""Decides the question by visiting every reachable state of the protocol under each change."""

from lock import inside, reachable

OPTIONS = {"O-1": "free any", "O-2": "late door", "O-3": "owner at 7", "O-4": "free door"}

broken = []
for option, change in (("as given", None), *OPTIONS.items()):
    distance = reachable(change)
    bad = [steps for state, steps in distance.items() if inside(state) > 1]
    first = min(bad, default=None)
    print(f"{option} {change}: {len(distance)} states, {len(bad)} with two inside, the first after {first}")
    broken += [option] if bad else []
(answer,) = broken
print("answer:", answer)
