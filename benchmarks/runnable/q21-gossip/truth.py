"""Decides the question by running the given program."""

from gossip import mean_messages, pull, push, push_to_four, tired_then_pull

OPTIONS = {
    "O-1": push_to_four,
    "O-2": pull,
    "O-3": tired_then_pull,
    "O-4": push,
}

found = {option: mean_messages(way) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value:.0f} messages")
print("answer:", max(found, key=found.get))
