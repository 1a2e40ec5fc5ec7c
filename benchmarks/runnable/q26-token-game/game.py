"""A game for two: piles of tokens; who cannot move loses.

A move takes from one pile: 1 token; or 2 tokens if the pile is larger than the one to the left of it; or 3 tokens
if another pile has an even number of tokens (0 counts); or half of a pile that is divisible by 4, and then puts
1 token on the pile to the right of it, if there is one. Nobody may take the last token of the leftmost pile that
is not empty while another pile has 5 tokens or more."""

from functools import cache

START = (12, 13, 12)


def moves(piles):
    """Every position that one move leads to."""
    leftmost = next((i for i, n in enumerate(piles) if n), None)
    found = []
    for i, n in enumerate(piles):
        others = piles[:i] + piles[i + 1 :]
        takes = [1] if n else []
        if n >= 2 and i and n > piles[i - 1]:
            takes.append(2)
        if n >= 3 and any(other % 2 == 0 for other in others):
            takes.append(3)
        if n and n % 4 == 0:
            takes.append(n // 2)
        for take in takes:
            if take == n and i == leftmost and any(other >= 5 for other in others):
                continue
            after = list(piles)
            after[i] -= take
            if take == n // 2 and n % 4 == 0 and i + 1 < len(piles):
                after[i + 1] += 1
            found.append(tuple(after))
    return found


@cache
def wins(piles):
    """Whether who is to move can win."""
    return any(not wins(after) for after in moves(piles))
