"""A page cache of fixed size under a mixed load: point reads, a report that loops, now and then a scan."""

from collections import Counter, OrderedDict
from random import Random

PAGES = 4_000
SIZE = 300
LENGTH = 120_000


def trace(seed=11):
    """Page numbers in the order in which they are asked for."""
    rng = Random(seed)
    hot = list(range(PAGES))
    rng.shuffle(hot)
    report, position, scan = list(range(1_000, 1_280)), 0, []
    for moment in range(LENGTH):
        if moment % 9_000 == 0:
            rng.shuffle(hot)  # what is popular changes
        if moment % 6_000 == 3_000:
            start = rng.randrange(PAGES - 500)
            scan = list(range(start + 499, start - 1, -1))
        draw = rng.random()
        if scan and draw < 0.5:
            yield scan.pop()
        elif draw < 0.62:
            yield hot[min(int(rng.paretovariate(0.75)) - 1, PAGES - 1)]
        else:
            yield report[position]
            position = (position + 1) % len(report)


def lru(pages):
    """Misses when the page that was used longest ago goes."""
    kept, misses = OrderedDict(), 0
    for page in pages:
        if page in kept:
            kept.move_to_end(page)
            continue
        misses += 1
        if len(kept) == SIZE:
            kept.popitem(last=False)
        kept[page] = True
    return misses


def fifo(pages):
    """Misses when the page that came in longest ago goes."""
    kept, misses = OrderedDict(), 0
    for page in pages:
        if page in kept:
            continue
        misses += 1
        if len(kept) == SIZE:
            kept.popitem(last=False)
        kept[page] = True
    return misses


def lfu(pages):
    """Misses when the page with the fewest uses since it came in goes, of equals the oldest."""
    uses, misses = Counter(), 0
    for page in pages:
        if page not in uses:
            misses += 1
            if len(uses) == SIZE:
                del uses[min(uses, key=uses.get)]
        uses[page] += 1
    return misses


def segmented(pages, protected_size=200):
    """Misses when a page has to be used twice before it is kept apart from pages that were used once."""
    once, twice, misses = OrderedDict(), OrderedDict(), 0
    for page in pages:
        if page in twice:
            twice.move_to_end(page)
        elif page in once:
            del once[page]
            twice[page] = True
            if len(twice) > protected_size:
                once[twice.popitem(last=False)[0]] = True
        else:
            misses += 1
            once[page] = True
        if len(once) + len(twice) > SIZE:
            once.popitem(last=False)
    return misses


def at_random(pages, seed=5):
    """Misses when any page may go."""
    rng, kept, place, misses = Random(seed), [], {}, 0
    for page in pages:
        if page in place:
            continue
        misses += 1
        if len(kept) == SIZE:
            slot = rng.randrange(SIZE)
            del place[kept[slot]]
            kept[slot] = page
            place[page] = slot
        else:
            place[page] = len(kept)
            kept.append(page)
    return misses
