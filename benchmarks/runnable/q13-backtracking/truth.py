"""Decides the question by running the given matcher on each pattern."""

from matcher import steps

OPTIONS = {"O-1": "((a|b)+b)*c", "O-2": "(b*a|b)*c", "O-3": "(a+|b|ab)*c", "O-4": "(ab?|b+)*c"}

found = {option: steps(pattern, "abbab" * 5) for option, pattern in OPTIONS.items()}
for option, (matched, count) in found.items():
    print(f"{option} {OPTIONS[option]}: {'matched' if matched else 'no match'}, {count} steps")
print("answer:", max(found, key=lambda option: found[option][1]))
