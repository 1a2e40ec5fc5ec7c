"""Decides the question by trying every word."""

from shell_words import lost

words, total = lost(4)
print(f"{len(words)} of {total} words are lost, such as {', '.join(map(repr, words[:6]))}")
print(
    "answer:",
    "O-1" if len(words) <= 25 else "O-2" if len(words) <= 60 else "O-3" if len(words) <= 120 else "O-4",
)
